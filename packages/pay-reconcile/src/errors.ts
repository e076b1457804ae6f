import createError, { type FastifyError } from '@fastify/error'

/** A boot error: an option is missing or has a value the plugin cannot work with. */
export const PAY_RECONCILE_INVALID_OPTION =
  createError<[string]>('PAY_RECONCILE_INVALID_OPTION', '%s', 500)

export const PAY_RECONCILE_VALIDATION =
  createError<[string]>('PAY_RECONCILE_VALIDATION', '%s', 422)
export const PAY_RECONCILE_ACCOUNT_NOT_FOUND =
  createError('PAY_RECONCILE_ACCOUNT_NOT_FOUND', 'No such account', 404)
export const PAY_RECONCILE_RUN_NOT_FOUND =
  createError('PAY_RECONCILE_RUN_NOT_FOUND', 'No such reconciliation run', 404)
export const PAY_RECONCILE_SHOP_NOT_FOUND =
  createError('PAY_RECONCILE_SHOP_NOT_FOUND', 'No such shop', 404)
export const PAY_RECONCILE_NO_CUSTOMER_ID =
  createError('PAY_RECONCILE_NO_CUSTOMER_ID', 'The account has no pay_customer_id', 400)
export const PAY_RECONCILE_NO_SECRET_KEY =
  createError('PAY_RECONCILE_NO_SECRET_KEY', 'The shop of the account has no usable pay_secret_key', 400)
/** Several customers carry the account's id: a person must choose, and link it. */
export const PAY_RECONCILE_CUSTOMER_AMBIGUOUS =
  createError('PAY_RECONCILE_CUSTOMER_AMBIGUOUS', 'Several customers at the payment provider carry the id of the account: link one of them', 409)
/** The account was linked to yet another customer each time its snapshot was about to be stored. */
export const PAY_RECONCILE_CUSTOMER_CHANGED =
  createError('PAY_RECONCILE_CUSTOMER_CHANGED', 'The account was linked to another customer meanwhile', 409)
export const PAY_RECONCILE_RUN_ACTIVE =
  createError<[string, string]>('PAY_RECONCILE_RUN_ACTIVE', 'The reconciliation run %s is not done with the shop %s', 409)
/** `details` holds an array or a scalar: nothing can be added to it without losing what is there. */
export const PAY_RECONCILE_DETAILS_NOT_OBJECT =
  createError('PAY_RECONCILE_DETAILS_NOT_OBJECT', 'The details of the account are not a JSON object', 500)
/** The store failed, in a request or for an item or a shop of a bulk run; `cause` is what it threw. */
export const PAY_RECONCILE_STORE_FAILED =
  createError<[options?: { cause: unknown }]>('PAY_RECONCILE_STORE_FAILED', 'Accounts, shops or runs could not be read or stored', 500)

/** In the stopped shops of a bulk run: `mayContinue` said no. */
export const PAY_RECONCILE_RUN_FORBIDDEN =
  createError('PAY_RECONCILE_RUN_FORBIDDEN', 'Whoever started the run may no longer change accounts', 403)

export const PAY_RECONCILE_PROVIDER_CUSTOMER_NOT_FOUND =
  createError('PAY_RECONCILE_PROVIDER_CUSTOMER_NOT_FOUND', 'The payment provider has no such customer', 502)
export const PAY_RECONCILE_PROVIDER_KEY_REJECTED =
  createError('PAY_RECONCILE_PROVIDER_KEY_REJECTED', 'The payment provider rejected the secret key of the shop', 502)
export const PAY_RECONCILE_PROVIDER_KEY_FORBIDDEN =
  createError('PAY_RECONCILE_PROVIDER_KEY_FORBIDDEN', 'The secret key of the shop may not do this at the payment provider', 502)
/** In the stopped shops of a bulk run: each of the shop's customers, two or more, was asked for, and none is known. */
export const PAY_RECONCILE_PROVIDER_KEY_MISMATCH =
  createError('PAY_RECONCILE_PROVIDER_KEY_MISMATCH', 'The payment provider knows no customer of the shop under its key: a test key with live customers, or the reverse?', 502)
export const PAY_RECONCILE_PROVIDER_RATE_LIMITED =
  createError('PAY_RECONCILE_PROVIDER_RATE_LIMITED', 'The payment provider limits the rate of requests', 502)
export const PAY_RECONCILE_PROVIDER_TIMEOUT =
  createError('PAY_RECONCILE_PROVIDER_TIMEOUT', 'The payment provider did not answer in time', 502)
export const PAY_RECONCILE_PROVIDER_UNREACHABLE =
  createError('PAY_RECONCILE_PROVIDER_UNREACHABLE', 'The payment provider could not be reached', 502)
export const PAY_RECONCILE_PROVIDER_ERROR =
  createError('PAY_RECONCILE_PROVIDER_ERROR', 'The payment provider answered with an error', 502)
/** The provider understood the request and declined it (400, 402, 409 …). */
export const PAY_RECONCILE_PROVIDER_REFUSED =
  createError('PAY_RECONCILE_PROVIDER_REFUSED', 'The payment provider refused the request', 502)
export const PAY_RECONCILE_PROVIDER_UNEXPECTED_OBJECT =
  createError('PAY_RECONCILE_PROVIDER_UNEXPECTED_OBJECT', 'The payment provider returned something other than the customer asked for', 502)
/** Not sent: too many faults in a row under this key, or too many requests waiting. */
export const PAY_RECONCILE_PROVIDER_UNAVAILABLE =
  createError('PAY_RECONCILE_PROVIDER_UNAVAILABLE', 'The payment provider is failing; the request was not sent', 502)
/** The caller went away or the run was cancelled before the provider answered. */
export const PAY_RECONCILE_ABORTED =
  createError('PAY_RECONCILE_ABORTED', 'The request was given up before the payment provider answered', 502)

/** A run cannot start before another one is done with one of its shops. */
export interface RunActiveError extends FastifyError {
  /** The run in the way, and the first shop that it holds. Named as on the wire. */
  readonly run_id: string
  readonly shop_id: string
}

/** Makes the error for a run that would meet another; what a {@link RunStore} throws from `start`. */
export function runActiveError (runId: string, shopId: string): RunActiveError {
  return Object.assign(new PAY_RECONCILE_RUN_ACTIVE(runId, shopId), { run_id: runId, shop_id: shopId })
}

/** An error about one input. */
export interface ValidationError extends FastifyError {
  /** A path into the query string, the path or the body: `limit`, `filter/missing_pay`; empty: the body as a whole. */
  readonly field: string
}

/** Makes the error for an input that is not as documented. */
export function validationError (field: string, message: string): ValidationError {
  return Object.assign(new PAY_RECONCILE_VALIDATION(message), { field })
}

const providerErrors = {
  customer_not_found: PAY_RECONCILE_PROVIDER_CUSTOMER_NOT_FOUND,
  key_rejected: PAY_RECONCILE_PROVIDER_KEY_REJECTED,
  key_forbidden: PAY_RECONCILE_PROVIDER_KEY_FORBIDDEN,
  rate_limited: PAY_RECONCILE_PROVIDER_RATE_LIMITED,
  timeout: PAY_RECONCILE_PROVIDER_TIMEOUT,
  unreachable: PAY_RECONCILE_PROVIDER_UNREACHABLE,
  error: PAY_RECONCILE_PROVIDER_ERROR,
  refused: PAY_RECONCILE_PROVIDER_REFUSED,
  unexpected_object: PAY_RECONCILE_PROVIDER_UNEXPECTED_OBJECT,
  unavailable: PAY_RECONCILE_PROVIDER_UNAVAILABLE,
  aborted: PAY_RECONCILE_ABORTED
} as const

/** What went wrong upstream; each kind is one error code. */
export type ProviderFault = keyof typeof providerErrors

/** Facts about a fault that may be shown: never a message, header or key of the provider's. */
export interface ProviderFaultFacts {
  /** The provider's own id of the request, to quote to its support. */
  readonly requestId?: string | undefined
  /** How long the provider asked to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined
  /** The error is about the idempotency key: a stored failure, or other parameters than at first. Default false. */
  readonly replayed?: boolean
  /** False: the provider says that another attempt of the request would fail, too. Default true. */
  readonly retryable?: boolean | undefined
}

/** An error of the payment provider: a fixed message, a code, status 502. */
export interface ProviderError extends FastifyError {
  readonly fault: ProviderFault
  /** Named as on the wire: Fastify serializes errors by the names in the response schema. */
  readonly provider_request_id?: string
  readonly retryAfterMs?: number
  readonly replayed?: true
  readonly retryable?: false
}

/**
 * Makes the error for a fault.
 * A {@link PayProvider} throws nothing else: whatever the provider's library threw stays behind,
 * because Fastify would copy its status, headers and message onto the reply.
 */
export function providerError (fault: ProviderFault, facts: ProviderFaultFacts = {}): ProviderError {
  return Object.assign(new providerErrors[fault](), {
    fault,
    ...(facts.requestId !== undefined && { provider_request_id: facts.requestId }),
    ...(facts.retryAfterMs !== undefined && { retryAfterMs: facts.retryAfterMs }),
    ...(facts.replayed && { replayed: facts.replayed }),
    ...(facts.retryable === false && { retryable: facts.retryable })
  })
}

export function isProviderError (error: unknown): error is ProviderError {
  return error instanceof Error && 'fault' in error && Object.hasOwn(providerErrors, String(error.fault))
}
