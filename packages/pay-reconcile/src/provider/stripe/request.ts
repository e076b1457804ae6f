import { retryAfterFrom } from '../backoff.ts'

/** One HTTP request of the library, and the facts about its response once the headers have arrived. */
export interface StripeRequest {
  readonly signal: AbortSignal
  status?: number
  requestId?: string | undefined
  retryAfter?: number | undefined
  /** The provider stored this response under the idempotency key earlier. */
  replayed?: boolean
  /** False: the provider says that retrying will fail too. */
  retryable?: boolean
}

/**
 * Sends the library's request and returns only the status and the body of the response. No header gets through: not
 * cookies, not notices, which the library would print.
 *
 * A body that is not a JSON object is dropped, because the library would reject where nobody can catch it. So is an error
 * without `error` in its body, because the library would take it for a success.
 */
export async function send (request: StripeRequest | undefined, url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual', ...(request && { signal: request.signal }) })
  const { status, headers } = response
  if (request) {
    request.status = status
    request.requestId = requestIdFrom(headers.get('request-id'))
    request.retryAfter = retryAfterFrom(headers.get('retry-after'))
    request.retryable = headers.get('stripe-should-retry') !== 'false'
    request.replayed = headers.get('idempotent-replayed') === 'true'
  }
  const body = await response.text()
  const usable = body.trimStart().startsWith('{') && (response.ok || body.includes('"error"'))
  return new Response(usable ? body : null, { status })
}

/** A request id that may be shown. Values of any other form are not trusted. */
function requestIdFrom (value: string | null): string | undefined {
  return value !== null && /^req_[A-Za-z0-9]{1,64}$/.test(value) ? value : undefined
}
