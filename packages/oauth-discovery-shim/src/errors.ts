import createError from '@fastify/error'

/** At boot: an option is missing, wrong or unknown; the message names it. */
export const OAUTH_DISCOVERY_SHIM_INVALID_OPTION = createError(
  'OAUTH_DISCOVERY_SHIM_INVALID_OPTION', 'oauth-discovery-shim: %s', 500)

/** At boot: registered under a prefix, where no client looks for a well-known document (RFC 8615). */
export const OAUTH_DISCOVERY_SHIM_PREFIXED = createError(
  'OAUTH_DISCOVERY_SHIM_PREFIXED', 'oauth-discovery-shim: register it at the root, not under the prefix %s', 500)

/** In the log: the identity provider's document was refused; the message says why. */
export const OAUTH_DISCOVERY_SHIM_PROVIDER_DOCUMENT = createError(
  'OAUTH_DISCOVERY_SHIM_PROVIDER_DOCUMENT', 'The identity provider\'s metadata was refused: %s', 502)

/** On the wire: the identity provider's document was never read. Sent with `Retry-After`. */
export const OAUTH_DISCOVERY_SHIM_PROVIDER_UNAVAILABLE = createError(
  'OAUTH_DISCOVERY_SHIM_PROVIDER_UNAVAILABLE', 'The identity provider\'s metadata is not available yet', 503)

/** On the wire: `clientId` is empty, so there is no client to hand out. */
export const OAUTH_DISCOVERY_SHIM_NO_CLIENT_ID = createError(
  'OAUTH_DISCOVERY_SHIM_NO_CLIENT_ID', 'Browser login is not configured: this server has no client id to hand out', 503)

/** From the doctor: the address it was given is not an http(s) URL. */
export const OAUTH_DISCOVERY_SHIM_DOCTOR_URL = createError(
  'OAUTH_DISCOVERY_SHIM_DOCTOR_URL', '%s is not an http(s) URL', 400)

/** From the doctor: a public server leads to a host that is not on the internet, or its own name does. */
export const OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE = createError(
  'OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE', '%s is at %s, which is not a public address', 400)
