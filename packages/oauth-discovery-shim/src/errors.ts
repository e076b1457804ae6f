import { createError } from '@fastify/error'
import { startupErrorsOf } from '#shared/startup-error'

const createStartupError = startupErrorsOf('oauth-discovery-shim')

/** At startup: an option is missing, wrong or unknown. The message names it. */
export const OAUTH_DISCOVERY_SHIM_INVALID_OPTION = createStartupError(
  'OAUTH_DISCOVERY_SHIM_INVALID_OPTION',
  'oauth-discovery-shim: %s'
)

/** In the log: the identity provider's document was rejected. The message says why. */
export const OAUTH_DISCOVERY_SHIM_PROVIDER_DOCUMENT = createError(
  'OAUTH_DISCOVERY_SHIM_PROVIDER_DOCUMENT',
  "The identity provider's metadata was rejected: %s",
  502
)

/** In a response: the identity provider's document was never read. Sent with `Retry-After`. */
export const OAUTH_DISCOVERY_SHIM_PROVIDER_UNAVAILABLE = createError(
  'OAUTH_DISCOVERY_SHIM_PROVIDER_UNAVAILABLE',
  "The identity provider's metadata is not available yet",
  503
)

/** In a response: `clientId` is empty, so there is no client to register as. */
export const OAUTH_DISCOVERY_SHIM_NO_CLIENT_ID = createError(
  'OAUTH_DISCOVERY_SHIM_NO_CLIENT_ID',
  'Browser login is not configured: this server has no client id to hand out',
  503
)

/** From the doctor: its argument is not an http(s) URL. */
export const OAUTH_DISCOVERY_SHIM_DOCTOR_URL = createError(
  'OAUTH_DISCOVERY_SHIM_DOCTOR_URL',
  '%s is not an http(s) URL',
  400
)

/** From the doctor: a public server, or its own name, leads to a host that is not on the internet. */
export const OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE = createError(
  'OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE',
  '%s is at %s, which is not a public address',
  400
)

/** From `ownIssuerOf`: the server's document cannot be read, so whether it issues tokens is not known. */
export const OAUTH_DISCOVERY_SHIM_DOCTOR_UNREACHABLE = createError(
  'OAUTH_DISCOVERY_SHIM_DOCTOR_UNREACHABLE',
  '%s %s',
  502
)
