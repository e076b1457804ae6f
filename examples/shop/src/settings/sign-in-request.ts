import type { Settings } from './settings.ts'

/** What a sign-in requests of the identity provider. */
export interface SignInRequest {
  readonly scopes: readonly string[]
  /** Whether the provider takes the parameter `resource` (RFC 8707). */
  readonly takesResource: boolean
  /** Further parameters of its sign-in page. */
  readonly parameters: Readonly<Record<string, string>>
}

const STANDARD = ['openid', 'email', 'profile']

type Provider = Settings['IDP_PROVIDER']

/**
 * What the providers need beyond the standard scopes, so that their tokens are for this API and can be renewed.
 *
 * @param audience - the first of `IDP_AUDIENCE`
 */
const NEEDED: Readonly<Partial<Record<Provider, (audience: string) => Partial<SignInRequest>>>> = {
  // Without a scope of this API, the token is for Microsoft Graph. It rejects a resource beside scopes.
  entra: (audience) => ({
    scopes: [
      ...STANDARD,
      'offline_access',
      `${/^(?:api|https):/.test(audience) ? audience : `api://${audience}`}/access`
    ],
    takesResource: false
  }),
  // Without an audience, the token is opaque.
  auth0: (audience) => ({ scopes: [...STANDARD, 'offline_access'], parameters: audience === '' ? {} : { audience } }),
  okta: () => ({ scopes: [...STANDARD, 'offline_access'] }),
  zitadel: (audience) => ({
    scopes: [
      ...STANDARD,
      'offline_access',
      ...(audience === '' ? [] : [`urn:zitadel:iam:org:project:id:${audience}:aud`])
    ]
  }),
  authentik: () => ({ scopes: [...STANDARD, 'offline_access'] })
}

/** What people's sign-ins request: those of the console, of the pages of documentation, and of MCP clients. */
export function signInRequest (
  { IDP_PROVIDER: provider, IDP_SCOPES: scopes, IDP_AUDIENCE: [audience = ''] }: Pick<
    Settings,
    'IDP_PROVIDER' | 'IDP_SCOPES' | 'IDP_AUDIENCE'
  >
): SignInRequest {
  return {
    scopes: STANDARD,
    takesResource: true,
    parameters: {},
    ...NEEDED[provider]?.(audience),
    ...(scopes.length > 0 && { scopes })
  }
}

/** The scopes that MCP clients are told to request. With the broker it is the server that refreshes, not the client. */
export function offeredScopes (config: Settings): readonly string[] {
  const { scopes } = signInRequest(config)
  return config.OAUTH_BROKER ? scopes.filter((scope) => scope !== 'offline_access') : scopes
}

/** The scopes that the broker requests, whatever the client asks for. */
export function requiredScopes (config: Settings): readonly string[] {
  return signInRequest(config).scopes.filter((scope) => !STANDARD.includes(scope))
}
