import { createError } from '@fastify/error'
import { startupErrorsOf } from '#shared/startup-error'

const createStartupError = startupErrorsOf('dual-auth')

/** 500 at startup: an option is missing, wrong or unknown. The message names it. */
export const DUAL_AUTH_INVALID_OPTION = createStartupError('DUAL_AUTH_INVALID_OPTION', 'dual-auth: %s')

/** 401: the route needs a credential and the request has none. */
export const DUAL_AUTH_CREDENTIAL_MISSING = createError('DUAL_AUTH_CREDENTIAL_MISSING', 'Credentials are required', 401)

/**
 * 401: the request presented a credential that is not valid here. One body for every reason, so that callers learn
 * nothing from it; the reason is the `cause`, which is logged.
 */
export const DUAL_AUTH_CREDENTIAL_INVALID = createError(
  'DUAL_AUTH_CREDENTIAL_INVALID',
  'The credentials are not valid',
  401
)

/**
 * 403: the API key belongs to another owner than the path names, whether or not that one exists.
 */
export const DUAL_AUTH_OWNER_FORBIDDEN = createError(
  'DUAL_AUTH_OWNER_FORBIDDEN',
  'The API key has no access to this path',
  403
)

/** 403: the API key has no scope that opens the route. The message lists those that do, and those that the key has. */
export const DUAL_AUTH_SCOPE_INSUFFICIENT = createError(
  'DUAL_AUTH_SCOPE_INSUFFICIENT',
  '%s needs %s. This API key has only %s',
  403
)

/**
 * 403: the token lacks scopes that the route needs. The message lists both; the challenge lists all that are needed.
 */
export const DUAL_AUTH_TOKEN_SCOPE_INSUFFICIENT = createError(
  'DUAL_AUTH_TOKEN_SCOPE_INSUFFICIENT',
  '%s needs %s. This token lacks %s',
  403
)

/**
 * 403: an in-process call with an API key that the calling route has verified, on a route that accepts only tokens.
 * From outside such a key is not verified, and gets {@link DUAL_AUTH_CREDENTIAL_INVALID}.
 */
export const DUAL_AUTH_KEY_NOT_ACCEPTED = createError(
  'DUAL_AUTH_KEY_NOT_ACCEPTED',
  '%s accepts no API keys, only tokens',
  403
)

/**
 * 403: the caller may not manage the API keys of the owner that the path names. Thrown by `onKeyChange` too, which
 * undoes the change.
 */
export const DUAL_AUTH_MANAGEMENT_FORBIDDEN = createError(
  'DUAL_AUTH_MANAGEMENT_FORBIDDEN',
  'You may not manage these API keys',
  403
)

/** 400: `expires_at` is not in the future. */
export const DUAL_AUTH_EXPIRY_PAST = createError('DUAL_AUTH_EXPIRY_PAST', 'expires_at must be in the future', 400)

/** 400: the name of a new key consists of spaces and characters that show nothing. */
export const DUAL_AUTH_NAME_BLANK = createError(
  'DUAL_AUTH_NAME_BLANK',
  'name must have a character that can be seen',
  400
)

/** 400: a new key was requested with scopes that no route has. The message lists the known ones. */
export const DUAL_AUTH_SCOPE_UNKNOWN = createError('DUAL_AUTH_SCOPE_UNKNOWN', 'Unknown scopes: %s. Known: %s', 400)

/**
 * 404: keys were requested for an owner that does not exist, or that the path spells in another way than
 * `ownerIdFromParam` allows. Thrown by stores too.
 */
export const DUAL_AUTH_OWNER_UNKNOWN = createError(
  'DUAL_AUTH_OWNER_UNKNOWN',
  'The owner of the API key does not exist',
  404
)

/** 404: the owner that the path names has no such key. */
export const DUAL_AUTH_KEY_NOT_FOUND = createError('DUAL_AUTH_KEY_NOT_FOUND', 'There is no such API key', 404)

/** 409: the owner already has as many active keys as it may have. */
export const DUAL_AUTH_KEY_LIMIT = createError(
  'DUAL_AUTH_KEY_LIMIT',
  '%d API keys are active already: revoke one first',
  409
)

/** 409: the key to rotate is revoked or expired. */
export const DUAL_AUTH_KEY_INACTIVE = createError('DUAL_AUTH_KEY_INACTIVE', 'The API key is %s: create a new one', 409)

/** 409: the key to rotate has a successor that works. The message names the successor. */
export const DUAL_AUTH_KEY_REPLACED = createError(
  'DUAL_AUTH_KEY_REPLACED',
  'The API key was replaced by %s: rotate that one, or revoke it first',
  409
)

/** 503: the queue of keys waiting to be verified is full. */
export const DUAL_AUTH_BUSY = createError('DUAL_AUTH_BUSY', 'Too many API keys are being verified', 503)

/** 503: the key store, or `mayUse`, failed or did not answer in time. */
export const DUAL_AUTH_STORE_UNAVAILABLE = createError(
  'DUAL_AUTH_STORE_UNAVAILABLE',
  'API keys cannot be verified at the moment',
  503
)

/**
 * 503: the identity provider cannot be reached and the token's signing key is not known, or it does not say what an
 * opaque token is.
 */
export const DUAL_AUTH_PROVIDER_UNAVAILABLE = createError(
  'DUAL_AUTH_PROVIDER_UNAVAILABLE',
  'Tokens cannot be verified at the moment',
  503
)

/**
 * 403: a report of leaked keys is not signed with a key that the scanner publishes. The reason is the `cause`, which is
 * logged.
 */
export const DUAL_AUTH_REPORT_REFUSED = createError(
  'DUAL_AUTH_REPORT_REFUSED',
  'The report has no valid signature',
  403
)

/** 400: a signed report of leaked keys is not a list of tokens. */
export const DUAL_AUTH_REPORT_INVALID = createError(
  'DUAL_AUTH_REPORT_INVALID',
  'The report must be a JSON array of objects with a token',
  400
)

/** 413: a signed report has more than `maxTokens` tokens. None of them was revoked. */
export const DUAL_AUTH_REPORT_TOO_LONG = createError(
  'DUAL_AUTH_REPORT_TOO_LONG',
  'The report has more than %d tokens',
  413
)

/** 503: the keys that reports are signed with could not be read. */
export const DUAL_AUTH_SCANNER_UNAVAILABLE = createError(
  'DUAL_AUTH_SCANNER_UNAVAILABLE',
  'Reports cannot be verified at the moment',
  503
)
