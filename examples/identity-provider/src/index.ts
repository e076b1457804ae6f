import { createError } from '@fastify/error'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { cognitoLike } from './cognito.ts'
import { configurationFor } from './configuration.ts'
import { Provider } from './library.ts'
import { signIn } from './sign-in.ts'
import { signingKey } from './signing-key.ts'
import type { IdentityProviderOptions } from './types.ts'

export { subjectOf } from './account.ts'
export { callbacks } from './configuration.ts'
export { accessTokenFor, callbackFrom, type Credentials } from './browser.ts'
export { signingKey } from './signing-key.ts'
export type { IdentityProviderOptions } from './types.ts'

/** The demo identity provider was started where real people might sign in. */
export const DEMO_IDENTITY_PROVIDER_IN_PRODUCTION = createError(
  'DEMO_IDENTITY_PROVIDER_IN_PRODUCTION',
  'The demo identity provider does not start with NODE_ENV=production',
  500
)

/** A running identity provider. */
export interface IdentityProvider {
  readonly issuer: string
  close(): Promise<void>
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
  // Idle connections last: after the default, 5 s, one would close while a client on a busy machine sends on it.
  const server = createServer({ keepAliveTimeout: 60_000 }).listen(options.port, '127.0.0.1')
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
