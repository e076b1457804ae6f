import { OAUTH_DISCOVERY_SHIM_PROVIDER_DOCUMENT } from './errors.ts'
import { isObject, isStrings, parsed } from './json.ts'
import { isSafeUrl } from './safe-url.ts'

/**
 * The identity provider's own document. The members that clients depend on are checked; every other member is passed
 * on unchanged.
 *
 * @see [OpenID Connect Discovery 1.0 §3](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata)
 */
export interface ProviderMetadata {
  readonly issuer: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly response_types_supported: readonly string[]
  readonly token_endpoint_auth_methods_supported?: readonly string[]
  readonly grant_types_supported?: readonly string[]
  readonly code_challenge_methods_supported?: readonly string[]
  readonly [member: string]: unknown
}

/**
 * Parses the identity provider's document. Drops members that no client should use: endpoints that are not `https` (or
 * `http` on loopback), and `null`, which some clients cannot parse.
 *
 * @param text - the body as received
 * @param issuer - the issuer it must carry
 * @param http - whether its endpoints may be http on other machines
 * @throws {@link OAUTH_DISCOVERY_SHIM_PROVIDER_DOCUMENT} not a usable document of that issuer
 */
export function providerMetadataFromText (text: string, issuer: string, http = false): ProviderMetadata {
  const document = objectFromText(text)
  const lists = ['token_endpoint_auth_methods_supported', 'grant_types_supported', 'code_challenge_methods_supported']

  // OpenID Connect Discovery 1.0 §4.3: character by character, or another provider could answer for this one
  must(
    document['issuer'] === issuer,
    `its issuer is ${JSON.stringify(document['issuer'])?.slice(0, 200)} instead of "${issuer}"`
  )
  for (const name of ['authorization_endpoint', 'token_endpoint']) {
    must(isSafeUrl(document[name], http), `${name} must be an https URL, or http on loopback`)
  }
  const types = document['response_types_supported']
  must(isStrings(types) && types.includes('code'), 'response_types_supported must contain code')
  for (const name of lists) {
    must(document[name] == null || isStrings(document[name]), `${name} must be a list of strings`)
  }

  return Object.fromEntries(
    Object.entries(document).filter(([name, value]) =>
      value !== null && (!/_(endpoint|uri)$/.test(name) || isSafeUrl(value, http))
    )
  ) as ProviderMetadata
}

function objectFromText (text: string): Record<string, unknown> {
  // otherwise it would be passed on to clients, some of which assign parsed members to objects
  const value = parsed(text, (key, member) => key === '__proto__' ? undefined : member)
  must(value !== undefined, 'it is not JSON')
  must(isObject(value), 'it is not a JSON object')
  return value
}

function must (condition: boolean, reason: string): asserts condition {
  if (!condition) throw new OAUTH_DISCOVERY_SHIM_PROVIDER_DOCUMENT(reason)
}
