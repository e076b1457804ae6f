import Stripe from 'stripe'
import { providerError, type ProviderError, type ProviderFault } from '../../errors.ts'
import type { Exchange } from './exchange.ts'

/**
 * The error that may leave the adapter for one that the library threw: nothing of its message, headers or
 * body is kept, since they hold the tail of the key and whatever the provider set.
 */
export function errorFrom (error: unknown, { status = 0, requestId, retryAfterMs, replayed = false, retryable }: Exchange): ProviderError {
  const code = error instanceof Stripe.errors.StripeError ? error.code : undefined
  // The key was used with other parameters. A 409 says that it is in use at the moment, and is no reason for another one.
  const isOtherRequest = status === 400 && error instanceof Stripe.errors.StripeIdempotencyError
  const fault = faultFrom(status, code)
  return providerError(fault, {
    requestId,
    retryable,
    ...(fault === 'rate_limited' && { retryAfterMs }),
    // A stored success whose body broke on the way is none: the customer is there, and the next attempt gets it.
    ...((status >= 500 || isOtherRequest) && { replayed: replayed || isOtherRequest })
  })
}

/** @param status of the answer; 0 when none came. */
function faultFrom (status: number, code: string | undefined): ProviderFault {
  if (status === 0) return 'unreachable'
  if (status === 404 || code === 'resource_missing') return 'customer_not_found'
  if (status === 401) return 'key_rejected'
  if (status === 403) return 'key_forbidden'
  if (status === 429) return 'rate_limited'
  // 409: the same idempotency key is being worked on; in a moment it will not be.
  return status < 400 || status >= 500 || status === 409 ? 'error' : 'refused'
}
