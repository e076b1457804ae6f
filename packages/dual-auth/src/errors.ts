import createError from '@fastify/error'

/** 500 at boot: an option is missing or wrong. The message names it. */
export const DUAL_AUTH_OPTION_INVALID = createError('DUAL_AUTH_OPTION_INVALID', 'dual-auth: %s', 500)

/** 500 at boot: a route asks for a policy that does not exist. */
export const DUAL_AUTH_POLICY_UNKNOWN = createError('DUAL_AUTH_POLICY_UNKNOWN', "dual-auth: route %s %s has the unknown policy '%s'; it must be 'jwt', 'dual' or 'public'", 500)

/** 401: the route needs a credential and the request brings none. */
export const DUAL_AUTH_CREDENTIAL_MISSING = createError('DUAL_AUTH_CREDENTIAL_MISSING', 'Credentials are required', 401)

/**
 * 401: a credential was presented and is not good here. One body for every reason, so that nothing can be
 * learned from it; the reason is the `cause` and goes to the log.
 */
export const DUAL_AUTH_CREDENTIAL_INVALID = createError('DUAL_AUTH_CREDENTIAL_INVALID', 'The credentials are not valid', 401)

/** 403: the API key belongs to another shop than the one in the path, whether or not that one exists. */
export const DUAL_AUTH_SHOP_FORBIDDEN = createError('DUAL_AUTH_SHOP_FORBIDDEN', 'The API key does not belong to this shop', 403)

/** 403: the API key does not carry a scope that opens the route; the message names those that do. */
export const DUAL_AUTH_SCOPE_INSUFFICIENT = createError('DUAL_AUTH_SCOPE_INSUFFICIENT', 'The API key has none of the scopes that open this: %s', 403)

/** 403: the caller may not manage the API keys of this shop. */
export const DUAL_AUTH_MANAGEMENT_FORBIDDEN = createError('DUAL_AUTH_MANAGEMENT_FORBIDDEN', 'You may not manage the API keys of this shop', 403)

/** 400: `expires_at` is not in the future. */
export const DUAL_AUTH_EXPIRY_PAST = createError('DUAL_AUTH_EXPIRY_PAST', 'expires_at must be in the future', 400)

/** 400: a key was asked for with scopes that open nothing. */
export const DUAL_AUTH_SCOPE_UNKNOWN = createError('DUAL_AUTH_SCOPE_UNKNOWN', 'scopes holds what no route for API keys asks for: %s', 400)

/** 404: a key was asked for, and the store knows of no such shop. For a store to throw. */
export const DUAL_AUTH_SHOP_UNKNOWN = createError('DUAL_AUTH_SHOP_UNKNOWN', 'There is no such shop', 404)

/** 404: the shop has no such key. */
export const DUAL_AUTH_KEY_NOT_FOUND = createError('DUAL_AUTH_KEY_NOT_FOUND', 'The shop has no such API key', 404)

/** 409: the shop already has as many active keys as it may. */
export const DUAL_AUTH_KEY_LIMIT = createError('DUAL_AUTH_KEY_LIMIT', 'The shop already has %d active API keys', 409)

/** 503: more keys are waiting to be verified than the queue holds. */
export const DUAL_AUTH_BUSY = createError('DUAL_AUTH_BUSY', 'Too many API keys are being verified', 503)

/** 503: the key store failed or did not answer in time. */
export const DUAL_AUTH_STORE_UNAVAILABLE = createError('DUAL_AUTH_STORE_UNAVAILABLE', 'API keys cannot be verified at the moment', 503)

/** 503: the identity provider cannot be reached and the token's key is not known. */
export const DUAL_AUTH_PROVIDER_UNAVAILABLE = createError('DUAL_AUTH_PROVIDER_UNAVAILABLE', 'Tokens cannot be verified at the moment', 503)
