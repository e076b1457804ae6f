import type { ProviderMetadata } from './provider-metadata.ts'
import type { Settings } from './options.ts'

/** Path of the issuer and of registration: `$B/oauth`, `$B/oauth/register`. */
const OAUTH = '/oauth'

/** The grant of an assertion, [RFC 7523 §2.1](https://www.rfc-editor.org/rfc/rfc7523#section-2.1). */
export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/**
 * Who protects the MCP endpoint.
 *
 * @see [RFC 9728 §2](https://www.rfc-editor.org/rfc/rfc9728#section-2)
 */
export interface ProtectedResourceMetadata {
  readonly resource: string
  readonly authorization_servers: readonly string[]
  readonly scopes_supported: readonly string[]
  readonly bearer_methods_supported: readonly string[]
  readonly resource_name?: string
}

/**
 * The identity provider's document as this server passes it on.
 *
 * @see [RFC 8414 §2](https://www.rfc-editor.org/rfc/rfc8414#section-2)
 */
export interface AuthorizationServerMetadata extends ProviderMetadata {
  readonly registration_endpoint?: string
}

/**
 * The response to every registration.
 *
 * @see [RFC 7591 §3.2.1](https://www.rfc-editor.org/rfc/rfc7591#section-3.2.1)
 */
export interface ClientRegistration {
  readonly client_id: string
  readonly redirect_uris: readonly string[]
  readonly token_endpoint_auth_method: 'none'
  readonly grant_types: readonly string[]
  readonly response_types: readonly string[]
  readonly scope: string
}

type Site = Pick<Settings, 'publicBaseUrl' | 'mcpPath'>

/**
 * `$B/mcp`, or `$B` on a server without an MCP endpoint. No slash at the end: clients reject a resource that is longer
 * than the URL they were given.
 */
const resource = ({ publicBaseUrl, mcpPath }: Site): string => `${publicBaseUrl}${mcpPath}`

/** The document at the root: the authorization server is this origin. */
export function rootResource (settings: Settings): ProtectedResourceMetadata {
  return protectedResource(settings, settings.publicBaseUrl)
}

/**
 * The document at the path-suffixed URL, which clients request first: the authorization server's issuer equals its URL.
 */
export function pathResource (settings: Settings): ProtectedResourceMetadata {
  return protectedResource(settings, settings.strictDiscovery === 'path' ? ownIssuer(settings) : settings.publicBaseUrl)
}

function protectedResource (settings: Settings, authorizationServer: string): ProtectedResourceMetadata {
  return {
    resource: resource(settings),
    authorization_servers: [authorizationServer],
    scopes_supported: settings.scopes,
    bearer_methods_supported: ['header'],
    ...settings.resourceName !== undefined && { resource_name: settings.resourceName }
  }
}

/** The identity provider's document under its own issuer, plus registration, plus members that clients require. */
export function rootServer (provider: ProviderMetadata, settings: Settings): AuthorizationServerMetadata {
  const {
    registration_endpoint: _registration,
    // for clients with a certificate (RFC 8705 §5), which the one client has not: its auth method is `none`, and its
    // registration does not request certificate-bound tokens (§3.4)
    mtls_endpoint_aliases: _mtls,
    ...rest
  } = provider
  // the default, RFC 8414 §2
  const authMethods = provider.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  return {
    ...rest,
    grant_types_supported: provider.grant_types_supported ?? ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: authMethods.includes('none') ? authMethods : [...authMethods, 'none'],
    ...provider.code_challenge_methods_supported === undefined && settings.advertisePkce &&
      { code_challenge_methods_supported: ['S256'] },
    ...settings.clientId !== '' && { registration_endpoint: `${settings.publicBaseUrl}${OAUTH}/register` }
  }
}

/** The same document under the issuer `$B/oauth`, without members that are true only of the provider's own issuer. */
export function pathServer (provider: ProviderMetadata, settings: Settings): AuthorizationServerMetadata {
  const {
    // a client that expects `iss` compares it with this document's issuer (RFC 9207), which differs
    authorization_response_iss_parameter_supported: _iss,
    client_id_metadata_document_supported: _cimd,
    // signed values override plain ones (RFC 8414 §2.1), and the issuer is one of them
    signed_metadata: _signed,
    ...rest
  } = rootServer(provider, settings)
  return { ...rest, issuer: ownIssuer(settings) }
}

/** The issuer of the second pair of documents. */
export const ownIssuer = ({ publicBaseUrl }: Pick<Settings, 'publicBaseUrl'>): string => `${publicBaseUrl}${OAUTH}`

/**
 * The same client for every request. Auth method `none`: it has no secret. It refreshes tokens unless the
 * provider's document lists only other grants.
 */
export function registration (
  { clientId, redirectUris, scopes }: Settings,
  provider: ProviderMetadata | undefined
): ClientRegistration {
  const refreshes = provider?.grant_types_supported?.includes('refresh_token') ?? true
  return {
    client_id: clientId,
    redirect_uris: redirectUris,
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', ...refreshes ? ['refresh_token'] : []],
    response_types: ['code'],
    scope: scopes.join(' ')
  }
}

/**
 * The `WWW-Authenticate` value of a 401 to a request without credentials: it leads clients to the documents.
 *
 * @see [RFC 9728 §5.1](https://www.rfc-editor.org/rfc/rfc9728#section-5.1)
 */
export function challenge (settings: Settings): string {
  const url = `${settings.publicBaseUrl}/.well-known/oauth-protected-resource${settings.mcpPath}`
  return `Bearer resource_metadata="${url}", scope="${settings.scopes.join(' ')}"`
}
