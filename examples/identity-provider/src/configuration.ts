import { randomBytes } from 'node:crypto'
import type { Configuration } from 'oidc-provider'
import { accountFrom, userById } from './account.ts'
import { adapterIn } from './adapter.ts'
import { errors, interactionPolicy } from './library.ts'
import { errorPage, show } from './pages.ts'
import type { SigningKey } from './signing-key.ts'
import type { IdentityProviderOptions } from './types.ts'

const MINUTE = 60
const hour = 60 * MINUTE
const day = 24 * hour

/** Of MCP clients whose callback is registered. */
export const callbacks: readonly string[] = ['localhost', '127.0.0.1'].map((host) => `http://${host}:7777/callback`)

/** The provider's configuration: up to three clients, one resource server, the lifetimes of the service's contract. */
export function configurationFor (options: IdentityProviderOptions, key: SigningKey): Configuration {
  const { resource, users, clientId, consoleClientId, m2m, redirectUris = callbacks, accessTokenSeconds = hour } =
    options
  const apiScope = `${resource}/api`

  return {
    adapter: adapterIn(options.dataDir),
    jwks: { keys: [key] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
    clients: [
      {
        client_id: clientId,
        token_endpoint_auth_method: 'none',
        // Not native, whose port on loopback is free: a user pool compares the whole URL.
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        redirect_uris: [...redirectUris],
        scope: 'openid email profile'
      },
      ...consoleClientId === undefined
        ? []
        : [{
          client_id: consoleClientId,
          token_endpoint_auth_method: 'none' as const,
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code' as const],
          redirect_uris: [`${resource}/console/signed-in`],
          scope: 'openid email profile'
        }],
      {
        client_id: m2m.clientId,
        client_secret: m2m.clientSecret,
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
        scope: apiScope
      }
    ],
    // phone is offered by the provider and not allowed to the client, as in the user pool of the contract
    scopes: ['openid', 'email', 'phone', 'profile', apiScope],
    claims: {
      openid: ['sub', 'token_use', 'cognito:username', 'cognito:groups'],
      email: ['email', 'email_verified'],
      phone: ['phone_number'],
      profile: ['name']
    },
    conformIdTokenClaims: false,
    findAccount: (_ctx, id) => accountFrom(userById(users, id)),
    responseTypes: ['code'],
    renderError: (ctx, { error, error_description: description = '' }) =>
      show(ctx, ctx.status, (nonce) => errorPage({ nonce, error, description })),
    interactions: { url: (_ctx, { uid }) => `/sign-in/${uid}`, policy: askingEachTime(clientId) },
    pkce: { required: () => true },
    clientBasedCORS: () => true,
    rotateRefreshToken: false,
    // a user pool's refresh tokens work for their 30 days, whatever became of the browser's session
    expiresWithSession: async () => false,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    // nobody is asked for consent, neither in a user pool nor here: a sign-in grants what was asked for
    async loadExistingGrant ({ oidc: { client, params, provider, result, session } }) {
      const known = result?.consent?.grantId ?? (client && session?.grantIdFor(client.clientId))
      const grant = (known && await provider.Grant.find(known)) ||
        new provider.Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' })
      const scope = String(params?.['scope'] ?? '')
      grant.addOIDCScope(scope)
      for (const indicator of [resource, params?.['resource'] ?? []].flat()) {
        grant.addResourceScope(String(indicator), scope)
      }
      await grant.save()
      return grant
    },
    extraTokenClaims (_ctx, token) {
      const user = 'accountId' in token ? userById(users, token.accountId) : undefined
      return {
        token_use: 'access',
        version: 2,
        ...user && { username: user.username },
        ...user?.groups?.length && { 'cognito:groups': user.groups }
      }
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
      rpInitiatedLogout: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo (_ctx, indicator) {
          if (indicator !== resource && !indicator.startsWith(`${resource}/`)) throw new errors.InvalidTarget()
          return {
            scope: `${apiScope} openid email profile`,
            audience: indicator,
            accessTokenTTL: accessTokenSeconds,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'RS256' } }
          }
        }
      }
    },
    ttl: {
      AccessToken: accessTokenSeconds,
      AuthorizationCode: 5 * MINUTE,
      ClientCredentials: accessTokenSeconds,
      Grant: 30 * day,
      IdToken: hour,
      Interaction: 3 * MINUTE,
      RefreshToken: 30 * day,
      Session: hour
    }
  }
}

/** Several people use the demo in one browser: whoever connects an MCP client says who they are. */
function askingEachTime (clientId: string): NonNullable<NonNullable<Configuration['interactions']>['policy']> {
  const policy = interactionPolicy.base()
  policy.get('consent')!.checks.add(
    new interactionPolicy.Check(
      'asked_each_time',
      'the person has to sign in',
      'interaction_required',
      ({ oidc }) => oidc.client?.clientId === clientId && oidc.result?.consent === undefined
    )
  )
  return policy
}
