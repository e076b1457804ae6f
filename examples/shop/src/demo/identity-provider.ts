import createError from '@fastify/error'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { cognitoLike } from './identity-provider/cognito.ts'
import { configurationFor } from './identity-provider/configuration.ts'
import { Provider } from './identity-provider/library.ts'
import { signIn } from './identity-provider/sign-in.ts'
import { signingKey } from './identity-provider/signing-key.ts'

export { accessTokenFor, callbackFrom, type Credentials } from './identity-provider/browser.ts'

/** The demo identity provider was started where real people might sign in. */
export const DEMO_IDENTITY_PROVIDER_IN_PRODUCTION = createError(
  'DEMO_IDENTITY_PROVIDER_IN_PRODUCTION', 'The demo identity provider does not start with NODE_ENV=production', 500)

/** Somebody who can sign in. Passwords are kept as they are: they are printed at start anyway. */
export interface DemoUser {
  readonly username: string
  readonly password: string
  /** Default: the username. */
  readonly name?: string
  /** Default: `<username>@example.com`. */
  readonly email?: string
  /** Claim `cognito:groups`; absent from tokens when empty. Default `[]`. */
  readonly groups?: readonly string[]
}

/** What the demo identity provider needs to know. */
export interface IdentityProviderOptions {
  /** Port on 127.0.0.1; 0 takes a free one. */
  readonly port: number
  readonly users: readonly DemoUser[]
  /** Directory for the signing key (file mode 0600), so that tokens outlive a restart. Default: a new key each start. */
  readonly dataDir?: string
  /** Identifier of the resource server: the public base URL of the shop. Tokens are for it or for a URL under it. */
  readonly resource: string
  /** Id of the public client for browser login. */
  readonly clientId: string
  /** Callback URLs of the public client. Default: `/callback` on port 7777 of `localhost` and `127.0.0.1`. */
  readonly redirectUris?: readonly string[]
  /** The machine client; it may ask for the scope `<resource>/api`. */
  readonly m2m: { readonly clientId: string, readonly clientSecret: string }
  /** Says `code_challenge_methods_supported` in the metadata. Default `false`, as Amazon Cognito. */
  readonly advertisePkce?: boolean
  /** Adds `iss` to callbacks (RFC 9207). Default `false`, as Amazon Cognito. */
  readonly sendIss?: boolean
  /** Validity of access tokens, in seconds. Default 3600, one hour. */
  readonly accessTokenSeconds?: number
}

/** A running identity provider. */
export interface IdentityProvider {
  readonly issuer: string
  close (): Promise<void>
}

/**
 * Starts an identity provider for the demo: real OpenID Connect with a sign-in page, and the tokens,
 * metadata and lifetimes of an Amazon Cognito user pool. Loopback only, refused in production.
 *
 * @throws {@link DEMO_IDENTITY_PROVIDER_IN_PRODUCTION}
 */
export async function startIdentityProvider (options: IdentityProviderOptions): Promise<IdentityProvider> {
  if (process.env['NODE_ENV'] === 'production') throw new DEMO_IDENTITY_PROVIDER_IN_PRODUCTION()

  // the issuer holds the port, so the port comes first
  const server = createServer().listen(options.port, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const provider = new Provider(issuer, configurationFor(options, await signingKey(options.dataDir)))
  provider.use(cognitoLike(issuer, options))
  provider.use(signIn(provider, options.users))
  server.on('request', provider.callback())

  return {
    issuer,
    async close () {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}
