import type Provider from 'oidc-provider'
import type { IdentityProviderOptions } from './types.ts'

/** Koa's, which is what the provider is made of. */
export type Middleware = Parameters<Provider['use']>[0]

/** The members of a user pool's discovery document; it has no others. */
const DOCUMENTED = new Set([
  'authorization_endpoint',
  'id_token_signing_alg_values_supported',
  'issuer',
  'jwks_uri',
  'response_types_supported',
  'revocation_endpoint',
  'scopes_supported',
  'subject_types_supported',
  'token_endpoint',
  'userinfo_endpoint'
])

/** Makes the provider say what an Amazon Cognito user pool says, and no more. */
export function cognitoLike (
  issuer: string,
  { advertisePkce = false, sendIss = false }: IdentityProviderOptions
): Middleware {
  const { host } = new URL(issuer)

  return async (ctx, next) => {
    // URLs are built from Host: a page elsewhere must not reach this server under a name of its own
    if (ctx.host !== host) ctx.throw(421)
    await next()

    if (ctx.path === '/.well-known/openid-configuration' && ctx.status === 200) {
      const document = Object.entries(ctx.body as object)
      ctx.body = {
        ...Object.fromEntries(document.filter(([name]) => DOCUMENTED.has(name))),
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
        ...advertisePkce && { code_challenge_methods_supported: ['S256'] },
        ...sendIss && { authorization_response_iss_parameter_supported: true }
      }
    }

    const location = ctx.response.get('location')
    if (!sendIss && URL.canParse(location)) {
      const url = new URL(location)
      url.searchParams.delete('iss')
      ctx.set('location', url.href)
    }
  }
}
