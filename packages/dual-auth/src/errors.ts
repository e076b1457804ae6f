import createError from '@fastify/error'

/** 500 at startup: an option is missing, wrong or unknown. The message names it. */
export const DUAL_AUTH_INVALID_OPTION = createError('DUAL_AUTH_INVALID_OPTION', 'dual-auth: %s', 500)

/** 500 at startup: a route has a policy that does not exist. */
export const DUAL_AUTH_POLICY_UNKNOWN = createError('DUAL_AUTH_POLICY_UNKNOWN', "dual-auth: route %s %s has the unknown policy '%s'; it must be 'jwt', 'dual' or 'public'", 500)

/** 401: the route needs a credential and the request has none. */
export const DUAL_AUTH_CREDENTIAL_MISSING = createError('DUAL_AUTH_CREDENTIAL_MISSING', 'Credentials are required', 401)

/**
 * 401: the request presented a credential that is not valid here. One body for every reason, so that callers learn
 * nothing from it; the reason is the `cause`, which is logged.
 */
export const DUAL_AUTH_CREDENTIAL_INVALID = createError('DUAL_AUTH_CREDENTIAL_INVALID', 'The credentials are not valid', 401)

/** 403: the API key belongs to another shop than the one in the path, whether or not that one exists. */
export const DUAL_AUTH_SHOP_FORBIDDEN = createError('DUAL_AUTH_SHOP_FORBIDDEN', 'The API key does not belong to this shop', 403)

/** 403: the API key has no scope that opens the route. The message lists those that do. */
export const DUAL_AUTH_SCOPE_INSUFFICIENT = createError('DUAL_AUTH_SCOPE_INSUFFICIENT', 'The API key needs one of these scopes: %s', 403)

/** 403: the caller may not manage the API keys of this shop. */
export const DUAL_AUTH_MANAGEMENT_FORBIDDEN = createError('DUAL_AUTH_MANAGEMENT_FORBIDDEN', 'You may not manage the API keys of this shop', 403)

/** 400: `expires_at` is not in the future. */
export const DUAL_AUTH_EXPIRY_PAST = createError('DUAL_AUTH_EXPIRY_PAST', 'expires_at must be in the future', 400)

/** 400: a new key was to have scopes that open no route. The message lists those that do. */
export const DUAL_AUTH_SCOPE_UNKNOWN = createError('DUAL_AUTH_SCOPE_UNKNOWN', 'Unknown scopes: %s. Known: %s', 400)

/** 404: a key was to be created for a shop that the store knows does not exist. Thrown by stores. */
export const DUAL_AUTH_SHOP_UNKNOWN = createError('DUAL_AUTH_SHOP_UNKNOWN', 'There is no such shop', 404)

/** 404: the shop has no such key. */
export const DUAL_AUTH_KEY_NOT_FOUND = createError('DUAL_AUTH_KEY_NOT_FOUND', 'The shop has no such API key', 404)

/** 409: the shop already has as many active keys as it may have. */
export const DUAL_AUTH_KEY_LIMIT = createError('DUAL_AUTH_KEY_LIMIT', 'The shop already has %d active API keys', 409)

/** 503: the queue of keys waiting to be verified is full. */
export const DUAL_AUTH_BUSY = createError('DUAL_AUTH_BUSY', 'Too many API keys are being verified', 503)

/** 503: the key store failed or did not answer in time. */
export const DUAL_AUTH_STORE_UNAVAILABLE = createError('DUAL_AUTH_STORE_UNAVAILABLE', 'API keys cannot be verified at the moment', 503)

/** 503: the identity provider cannot be reached and the token's signing key is not known. */
export const DUAL_AUTH_PROVIDER_UNAVAILABLE = createError('DUAL_AUTH_PROVIDER_UNAVAILABLE', 'Tokens cannot be verified at the moment', 503)
