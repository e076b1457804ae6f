import { createPrivateKey, createPublicKey, hkdfSync, type JsonWebKey, type KeyObject } from 'node:crypto'
import type { BrokerSecret } from '../seal.ts'

/** The algorithm of all keys. */
export const ALGORITHM = 'EdDSA'

/**
 * What is in front of the 32 bytes of an Ed25519 key, [RFC 8410 §7](https://www.rfc-editor.org/rfc/rfc8410#section-7).
 */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The private key that a secret stands for. */
export function signingKey ({ secret }: BrokerSecret, publicBaseUrl: string): KeyObject {
  const seed = Buffer.from(hkdfSync('sha256', secret, publicBaseUrl, 'oauth-discovery-shim access token v1', 32))
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
}

/**
 * The public keys of the access tokens that the broker issues for assertions, as a JWK Set: for what checks tokens in
 * this server, so that it need not read them from itself. Others read `/oauth/jwks`.
 *
 * @param keys - those of {@link AssertionOptions.keys}
 * @param publicBaseUrl - that of the plugin
 * @see [RFC 7517 §5](https://www.rfc-editor.org/rfc/rfc7517#section-5)
 */
export function brokerKeySet (
  keys: readonly BrokerSecret[],
  publicBaseUrl: string
): { readonly keys: readonly JsonWebKey[] } {
  const { origin } = new URL(publicBaseUrl)
  return {
    keys: keys.map((key) => ({
      ...createPublicKey(signingKey(key, origin)).export({ format: 'jwk' }),
      kid: key.id,
      alg: ALGORITHM,
      use: 'sig'
    }))
  }
}
