import { JWT_BEARER, ownIssuer, type AuthorizationServerMetadata } from '../metadata.ts'
import type { ProviderMetadata } from '../provider-metadata.ts'
import { ASSERTION_ALGORITHMS, type BrokerSettings } from './options.ts'

/**
 * Where clients register with the broker. `/oauth/register` is that of the discovery without it, which everybody may
 * use.
 */
export const REGISTRATION = '/oauth/clients'

/** Where the keys of the tokens are that this server issues itself. */
export const KEYS = '/oauth/jwks'

/** Of the identity provider's document: what the tokens, which are its own, are checked with. */
const PASSED_ON = [
  'jwks_uri',
  'userinfo_endpoint',
  'subject_types_supported',
  'id_token_signing_alg_values_supported',
  'claims_supported',
  'ui_locales_supported'
]

/**
 * What the broker is and can. Nothing is announced that it does not do itself: a provider's other grants, such as
 * client credentials, are found in the provider's own document.
 *
 * @see [RFC 8414 §2](https://www.rfc-editor.org/rfc/rfc8414#section-2),
 *   [draft-ietf-oauth-identity-assertion-authz-grant §7.2](https://datatracker.ietf.org/doc/html/draft-ietf-oauth-identity-assertion-authz-grant#section-7.2),
 *   [RFC 9207 §3](https://www.rfc-editor.org/rfc/rfc9207#section-3)
 */
export function brokerServer (
  provider: ProviderMetadata,
  { publicBaseUrl, scopes, registration, documents, assertions }: BrokerSettings
): AuthorizationServerMetadata {
  const withDocuments = documents !== false
  const auth = {
    methods: ['none', ...withDocuments ? ['private_key_jwt'] : []],
    algorithms: withDocuments &&
      {
        token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
        revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS
      }
  }
  return {
    issuer: ownIssuer({ publicBaseUrl }),
    authorization_endpoint: `${publicBaseUrl}/oauth/authorize`,
    token_endpoint: `${publicBaseUrl}/oauth/token`,
    revocation_endpoint: `${publicBaseUrl}/oauth/revoke`,
    ...registration && { registration_endpoint: `${publicBaseUrl}${REGISTRATION}` },
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', ...assertions ? [JWT_BEARER] : []],
    ...assertions && { authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'] },
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: [
      ...auth.methods,
      ...assertions?.clients.length ? ['client_secret_basic', 'client_secret_post'] : []
    ],
    revocation_endpoint_auth_methods_supported: auth.methods,
    ...auth.algorithms,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: withDocuments,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    ...Object.fromEntries(
      PASSED_ON.filter((member) => provider[member] !== undefined).map((member) => [member, provider[member]])
    ),
    // The provider's tokens are checked with the keys of their issuer, which is the provider.
    ...assertions && { jwks_uri: `${publicBaseUrl}${KEYS}` }
  }
}
