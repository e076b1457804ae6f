import { retryAfterFrom } from '../retry-after.ts'

/** One request of a call: what it obeys, and what is known of its answer once the headers are there. */
export interface Exchange {
  readonly signal: AbortSignal
  status?: number
  requestId?: string | undefined
  retryAfterMs?: number | undefined
  /** The answer is one that the provider stored under the idempotency key. */
  replayed?: boolean
  /** False: the provider says that another attempt would fail, too. */
  retryable?: boolean
}

/**
 * Sends the library's request and hands it an answer it can deal with: status and body, no header. Cookies,
 * notices (the library prints them) and the like end here.
 *
 * A body that is not a JSON object is withheld, as is an error without the provider's `error` in it. The
 * library would reject in a place where nobody can catch it for the one, and take the other for a success.
 */
export async function answerOf (exchange: Exchange | undefined, url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual', ...(exchange && { signal: exchange.signal }) })
  const { status, headers } = response
  if (exchange) {
    exchange.status = status
    exchange.requestId = requestIdFrom(headers.get('request-id'))
    exchange.retryAfterMs = retryAfterFrom(headers.get('retry-after'))
    exchange.retryable = headers.get('stripe-should-retry') !== 'false'
    exchange.replayed = headers.get('idempotent-replayed') === 'true'
  }
  const text = await response.text()
  const usable = text.trimStart().startsWith('{') && (response.ok || text.includes('"error"'))
  return new Response(usable ? text : null, { status })
}

/** A request id as it may be shown: upstream text of any other form is not trusted. */
function requestIdFrom (value: string | null): string | undefined {
  return value !== null && /^req_[A-Za-z0-9]{1,64}$/.test(value) ? value : undefined
}
