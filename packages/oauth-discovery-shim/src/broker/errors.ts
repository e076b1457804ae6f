import { createError } from '@fastify/error'

/** In a response: the broker refused a request. `error` has OAuth's code, the message says why. */
export const OAUTH_DISCOVERY_SHIM_OAUTH = createError('OAUTH_DISCOVERY_SHIM_OAUTH', '%s', 400)

/** In a response: the person has no such grant, or it has ended. */
export const OAUTH_DISCOVERY_SHIM_NO_GRANT = createError(
  'OAUTH_DISCOVERY_SHIM_NO_GRANT',
  'There is no such sign-in',
  404
)

/** In a response: whoever calls is no person of the identity provider, and has let in no client. */
export const OAUTH_DISCOVERY_SHIM_NO_PERSON = createError(
  'OAUTH_DISCOVERY_SHIM_NO_PERSON',
  "Only people of this server's identity provider have connected apps",
  403
)

/** In a response: the record of grants cannot be read or written at the moment. */
export const OAUTH_DISCOVERY_SHIM_STORE_UNAVAILABLE = createError(
  'OAUTH_DISCOVERY_SHIM_STORE_UNAVAILABLE',
  'The record of sign-ins is not available. Try again in a moment',
  503
)
