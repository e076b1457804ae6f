import { createError, type FastifyError } from '@fastify/error'
import { startupErrorsOf } from '#shared/startup-error'

const createStartupError = startupErrorsOf('pay-reconcile')

/** At startup: an option, a table or a column is missing or cannot be used. */
export const PAY_RECONCILE_INVALID_OPTION = createStartupError<[string]>(
  'PAY_RECONCILE_INVALID_OPTION',
  'pay-reconcile: %s'
)

/** An input is invalid. */
export class PAY_RECONCILE_VALIDATION extends createError<[string]>('PAY_RECONCILE_VALIDATION', '%s', 422) {
  /** A path into the query string, the path or the body: `limit`, `filter/missing_pay`; empty: the body as a whole. */
  readonly field: string

  constructor (field: string, message: string) {
    super(message)
    this.field = field
  }
}

export const PAY_RECONCILE_ACCOUNT_NOT_FOUND = createError('PAY_RECONCILE_ACCOUNT_NOT_FOUND', 'No such account', 404)
/** There is no such run or shop, or no snapshot that a change replaced is kept. */
export const PAY_RECONCILE_NOT_FOUND = createError<[noun: string]>('PAY_RECONCILE_NOT_FOUND', 'No such %s', 404)
export const PAY_RECONCILE_NO_CUSTOMER_ID = createError(
  'PAY_RECONCILE_NO_CUSTOMER_ID',
  'The account has no pay_customer_id',
  400
)
export const PAY_RECONCILE_NO_SECRET_KEY = createError(
  'PAY_RECONCILE_NO_SECRET_KEY',
  'The shop of the account has no usable pay_secret_key',
  400
)
/** Several customers carry the account's id: a person must choose one and link it. */
export const PAY_RECONCILE_CUSTOMER_AMBIGUOUS = createError(
  'PAY_RECONCILE_CUSTOMER_AMBIGUOUS',
  'Several customers at the payment provider carry the id of the account: link one of them',
  409
)
/**
 * The customer that carries the account's id belongs to another account here: of the shop, or of one with the same key.
 * Or the host's column of customer ids is unique, and another account has this one.
 */
export const PAY_RECONCILE_CUSTOMER_TAKEN = createError(
  'PAY_RECONCILE_CUSTOMER_TAKEN',
  'The customer at the payment provider is linked to another account: unlink it there, or link another customer',
  409
)
/** Each time something was about to be stored, the account's customer had been changed. */
export const PAY_RECONCILE_CUSTOMER_CHANGED = createError(
  'PAY_RECONCILE_CUSTOMER_CHANGED',
  'The customer of the account has been changed meanwhile',
  409
)
/** A run cannot start while another one processes one of its shops: a {@link RunStore} throws it from `start`. */
export class PAY_RECONCILE_RUN_ACTIVE extends createError<[string, string]>(
  'PAY_RECONCILE_RUN_ACTIVE',
  'The reconciliation run %s is still processing the shop %s',
  409
) {
  /** The other run, and the first shop it holds. Named as in the response body. */
  readonly run_id: string
  readonly shop_id: string

  constructor (runId: string, shopId: string) {
    super(runId, shopId)
    this.run_id = runId
    this.shop_id = shopId
  }
}

/** Neither a namespace nor a UUID: customers that name such an id may belong to another app, environment or table. */
export const PAY_RECONCILE_NAMESPACE_REQUIRED = createError<[string]>(
  'PAY_RECONCILE_NAMESPACE_REQUIRED',
  'The id %s of an account is no UUID, so that others under the same account at the payment provider may have ' +
    'it, too: ' +
    'set the option namespace of pay-reconcile',
  500
)
/** `details` holds an array or a scalar: nothing can be added to it without losing what is there. */
export const PAY_RECONCILE_DETAILS_NOT_OBJECT = createError(
  'PAY_RECONCILE_DETAILS_NOT_OBJECT',
  'The details of the account are not a JSON object',
  500
)
/** The store failed, in a request or in a bulk run; `cause` is what it threw. 500 if it is a mistake of the store. */
export const PAY_RECONCILE_STORE_FAILED = createError<[options?: { cause: unknown }]>(
  'PAY_RECONCILE_STORE_FAILED',
  'Accounts, shops or runs could not be read or stored',
  503
)

/** In the stopped shops of a bulk run, and in the log for a CSV file: `mayContinue` returned false. */
export const PAY_RECONCILE_RUN_FORBIDDEN = createError(
  'PAY_RECONCILE_RUN_FORBIDDEN',
  'The admin who started this may no longer do it',
  403
)

export const PAY_RECONCILE_PROVIDER_CUSTOMER_NOT_FOUND = createError(
  'PAY_RECONCILE_PROVIDER_CUSTOMER_NOT_FOUND',
  'The payment provider has no such customer',
  502
)
export const PAY_RECONCILE_PROVIDER_KEY_REJECTED = createError(
  'PAY_RECONCILE_PROVIDER_KEY_REJECTED',
  'The payment provider rejected the secret key of the shop',
  502
)
export const PAY_RECONCILE_PROVIDER_KEY_FORBIDDEN = createError(
  'PAY_RECONCILE_PROVIDER_KEY_FORBIDDEN',
  'The secret key of the shop may not do this at the payment provider',
  502
)
/** In the stopped shops of a bulk run: the shop has at least two customers and the provider knows none of them. */
export const PAY_RECONCILE_PROVIDER_KEY_MISMATCH = createError(
  'PAY_RECONCILE_PROVIDER_KEY_MISMATCH',
  'The payment provider knows no customer of the shop under its key: a test key with live customers, or the reverse?',
  502
)
export const PAY_RECONCILE_PROVIDER_RATE_LIMITED = createError(
  'PAY_RECONCILE_PROVIDER_RATE_LIMITED',
  'The payment provider limits the rate of requests',
  502
)
export const PAY_RECONCILE_PROVIDER_TIMEOUT = createError(
  'PAY_RECONCILE_PROVIDER_TIMEOUT',
  'The payment provider did not respond in time',
  502
)
export const PAY_RECONCILE_PROVIDER_UNREACHABLE = createError(
  'PAY_RECONCILE_PROVIDER_UNREACHABLE',
  'The payment provider could not be reached',
  502
)
export const PAY_RECONCILE_PROVIDER_ERROR = createError(
  'PAY_RECONCILE_PROVIDER_ERROR',
  'The payment provider responded with an error',
  502
)
/** The provider understood the request and declined it (400, 402, 409 …). */
export const PAY_RECONCILE_PROVIDER_REFUSED = createError(
  'PAY_RECONCILE_PROVIDER_REFUSED',
  'The payment provider refused the request',
  502
)
/** Also a page of a list that shows what the pages before it showed: reading on would never end. */
export const PAY_RECONCILE_PROVIDER_UNEXPECTED_OBJECT = createError(
  'PAY_RECONCILE_PROVIDER_UNEXPECTED_OBJECT',
  'The payment provider returned something other than what was requested',
  502
)
/** Not sent: too many consecutive faults under this key. */
export const PAY_RECONCILE_PROVIDER_UNAVAILABLE = createError(
  'PAY_RECONCILE_PROVIDER_UNAVAILABLE',
  'The payment provider is failing; the request was not sent',
  502
)
/** The client disconnected or the run was interrupted before the provider responded. */
export const PAY_RECONCILE_ABORTED = createError(
  'PAY_RECONCILE_ABORTED',
  'The request was aborted before the payment provider responded',
  502
)

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

/** What went wrong at the provider; each fault has its own error code. */
export type ProviderFault = keyof typeof providerErrors

/** Facts about a fault that may be shown: never a message, header or key of the provider. */
export interface ProviderFaultFacts {
  /** The provider's own id of the request, to quote to its support. */
  readonly requestId?: string | null | undefined
  /** The provider's `Retry-After`, in milliseconds. */
  readonly retryAfter?: number | undefined
  /**
   * The error is about the idempotency key: a stored failure, or other parameters than the first time. Default false.
   */
  readonly replayed?: boolean
  /** False: the provider says that retrying will fail too. Default true. */
  readonly retryable?: boolean | undefined
  /** Of `key_forbidden`: the permission that a restricted key lacks, by the provider's name for it. */
  readonly missingPermission?: string | undefined
  /** Of `refused`: what of the customer a person has to correct. Nothing else may be shown. */
  readonly param?: 'email' | 'name' | undefined
  /** Of `refused`: why, in the provider's words, from a fixed list. */
  readonly providerCode?: string | undefined
}

/** An error of the payment provider: a fixed message, a code, status 502. */
export interface ProviderError extends FastifyError {
  readonly fault: ProviderFault
  /** Named as in the response body: Fastify serializes errors by the names in the response schema. */
  readonly provider_request_id?: string
  readonly missing_permission?: string
  readonly provider_param?: 'email' | 'name'
  readonly provider_code?: string
  readonly retryAfter?: number
  readonly replayed?: true
  readonly retryable?: false
}

/**
 * Creates the error for a fault.
 * A {@link PayProvider} throws nothing else. Fastify would copy the status, headers and message of a library's error to
 * the response.
 */
export function providerError (
  fault: ProviderFault,
  { requestId, retryAfter, replayed, retryable, missingPermission, param, providerCode }: ProviderFaultFacts = {}
): ProviderError {
  return Object.assign(new providerErrors[fault](), {
    fault,
    ...(param !== undefined &&
      {
        message: `The payment provider refused the ${param} of the ` +
          `customer${providerCode === undefined ? '' : ` (${providerCode})`}: correct it and try again`,
        provider_param: param
      }),
    ...(providerCode !== undefined && { provider_code: providerCode }),
    ...(requestId != null && { provider_request_id: requestId }),
    ...(missingPermission !== undefined && { missing_permission: missingPermission }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(replayed && { replayed }),
    ...(retryable === false && { retryable })
  })
}

export function isProviderError (error: unknown): error is ProviderError {
  return error instanceof Error && 'fault' in error && Object.hasOwn(providerErrors, String(error.fault))
}
