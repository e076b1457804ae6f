import type { AuthorizationServerMetadata } from '../metadata.ts'
import type { Settings } from '../options.ts'
import type { ProviderMetadata } from '../provider-metadata.ts'
import { ASSERTION_ALGORITHMS } from './assertion-algorithms.ts'
import type { BrokerSettings } from './options.ts'

/**
 * Under which name a client knows this authorization server: `root` is the origin, `path` is `/oauth` on it. A client
 * compares the `iss` of an answer with the name that it found first, so each name has a sign-in URL of its own.
 */
export type Name = 'root' | 'path'

/** The issuer of a name. */
export function issuerOf (name: Name, publicBaseUrl: string): string {
  return name === 'root' ? publicBaseUrl : `${publicBaseUrl}/oauth`
}

/** The path of a name's authorization endpoint. */
export function authorizePath (name: Name): string {
  return name === 'root' ? '/oauth/root/authorize' : '/oauth/authorize'
}

/** Of the identity provider's document: what the tokens, which are its own, are checked with. */
const PASSED_ON = ['jwks_uri', 'userinfo_endpoint', 'subject_types_supported', 'id_token_signing_alg_values_supported', 'claims_supported', 'ui_locales_supported']

/**
 * What the broker is and can. Nothing is announced that it does not do itself: a provider's other grants, such as
 * client credentials, are found in the provider's own document.
 *
 * @see [RFC 8414 §2](https://www.rfc-editor.org/rfc/rfc8414#section-2), [RFC 9207 §3](https://www.rfc-editor.org/rfc/rfc9207#section-3)
 */
export function brokerServer (provider: ProviderMetadata, { publicBaseUrl, scopes, broker }: Settings & { readonly broker: BrokerSettings }, name: Name): AuthorizationServerMetadata {
  const withDocuments = broker.documents !== false
  const auth = {
    methods: withDocuments ? ['none', 'private_key_jwt'] : ['none'],
    algorithms: withDocuments && { token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS, revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS }
  }
  return {
    issuer: issuerOf(name, publicBaseUrl),
    authorization_endpoint: `${publicBaseUrl}${authorizePath(name)}`,
    token_endpoint: `${publicBaseUrl}/oauth/token`,
    revocation_endpoint: `${publicBaseUrl}/oauth/revoke`,
    ...broker.registration && { registration_endpoint: `${publicBaseUrl}/oauth/register` },
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: auth.methods,
    revocation_endpoint_auth_methods_supported: auth.methods,
    ...auth.algorithms,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: withDocuments,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    ...Object.fromEntries(PASSED_ON.filter(member => provider[member] !== undefined).map(member => [member, provider[member]]))
  }
}
