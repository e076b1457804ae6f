import Stripe from 'stripe'
import { retryAfterFrom } from '../../retry.ts'
import { providerError, type ProviderError, type ProviderFault } from '../../errors.ts'

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
 * A body that is not a JSON object is dropped, because the library would reject where nobody can catch it. So is an
 * error without `error` in its body, because the library would take it for a success.
 */
export async function send (
  request: StripeRequest | undefined,
  url: string | URL | Request,
  init: RequestInit = {}
): Promise<Response> {
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
  return new Response(usable ? withExactIntegers(body) : null, { status })
}

/** Strings, to leave what is in them, and numbers. A string without an end is one to the end, in linear time. */
const TOKENS = /"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*/g

/** JSON with integers beyond 2^53 as strings: JSON.parse would round them, and a snapshot would keep another number. */
export function withExactIntegers (json: string): string {
  if (!/\d{16}/.test(json)) return json
  return json.replace(
    TOKENS,
    (token) => /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token
  )
}

/** A request id that may be shown. Values of any other form are not trusted. */
function requestIdFrom (value: string | null): string | undefined {
  return value !== null && /^req_[A-Za-z0-9]{1,64}$/.test(value) ? value : undefined
}

/** What a refusal may name: what a person can correct, and why. */
const PARAMS = ['email', 'name'] as const
/** @see [Stripe: error codes](https://docs.stripe.com/error-codes) */
const CODES = [
  'email_invalid',
  'invalid_characters',
  'parameter_invalid_empty',
  'parameter_invalid_string',
  'parameter_invalid_string_blank',
  'parameter_invalid_string_empty'
] as const

/**
 * The error for one that the library threw. Its message, headers and body are dropped, but for the name of a missing
 * permission and what `params` and `codes` list: they contain the end of the key and anything else the provider sent.
 */
export function errorFrom (
  error: unknown,
  { status = 0, requestId, retryAfter, replayed = false, retryable, signal }: StripeRequest
): ProviderError {
  const code = error instanceof Stripe.errors.StripeError ? error.code : undefined
  // The key was used with other parameters. (409: the key is in use right now, which is no reason for another key.)
  const isOtherRequest = status === 400 && error instanceof Stripe.errors.StripeIdempotencyError
  // A response that says why it failed counts, even if the time was up a moment later.
  const fault = signal.aborted && status < 400 ? endedBy(signal) : faultFrom(status, code)
  return providerError(fault, {
    requestId,
    retryable,
    ...(fault === 'key_forbidden' && { missingPermission: permissionIn(error) }),
    ...(fault === 'refused' && error instanceof Stripe.errors.StripeError &&
      { param: PARAMS.find((name) => name === error.param), providerCode: CODES.find((known) => known === code) }),
    ...(fault === 'rate_limited' && { retryAfter }),
    // A stored success with a broken body is not a stored failure: the customer exists, and the next attempt gets it.
    ...((status >= 500 || isOtherRequest) && { replayed: replayed || isOtherRequest })
  })
}

/** Why a request was given up: the time was up, or the caller left. */
function endedBy ({ reason }: AbortSignal): ProviderFault {
  return reason instanceof DOMException && reason.name === 'TimeoutError' ? 'timeout' : 'aborted'
}

/** @param status - of the response; 0 if there was none. */
function faultFrom (status: number, code: string | undefined): ProviderFault {
  if (status === 0) return 'unreachable'
  if (status === 404 || code === 'resource_missing') return 'customer_not_found'
  if (status === 401) return 'key_rejected'
  if (status === 403) return 'key_forbidden'
  if (status === 429) return 'rate_limited'
  // 409: another request with the same idempotency key is in progress, and will end soon.
  return status < 400 || status >= 500 || status === 409 ? 'error' : 'refused'
}

/**
 * The permission that a restricted key lacks: Stripe names it in the message alone, `Having the 'rak_customer_read'
 * permission would allow this request to continue`. A name of any other form is not trusted.
 */
function permissionIn (error: unknown): string | undefined {
  return error instanceof Error ? /'(rak_[a-z0-9_]{1,60})' permission/.exec(error.message)?.[1] : undefined
}
