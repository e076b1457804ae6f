import { randomUUID } from 'node:crypto'
import { importPKCS8, SignJWT } from 'jose'
import type { ProviderMetadata } from '../../provider-metadata.ts'
import type { BrokerSettings, ClientKey } from '../options.ts'

/** What proves to the identity provider that a request is from `clientId`. */
interface Proof {
  readonly headers: Readonly<Record<string, string>>
  readonly form: Readonly<Record<string, string>>
}

/** In seconds: how long an assertion is good for. */
const ASSERTION_LIFETIME = 60

/**
 * How this server authenticates at the identity provider. Without a secret and a key it is a public client.
 *
 * @see [RFC 6749 §2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1),
 *   [RFC 7523 §2.2](https://www.rfc-editor.org/rfc/rfc7523#section-2.2)
 */
export function authentication (
  { clientId, clientSecret, clientKey, clientAuth }: Pick<
    BrokerSettings,
    'clientId' | 'clientSecret' | 'clientKey' | 'clientAuth'
  >
) {
  return async (metadata: ProviderMetadata): Promise<Proof> => {
    if (clientKey !== undefined) return { headers: {}, form: await assertion(clientKey, clientId, metadata) }
    if (clientSecret === undefined) return { headers: {}, form: {} }
    // What a provider does not list is the default, RFC 8414 §2.
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = metadata
    const byForm = (clientAuth ??
      (methods.includes('client_secret_basic') || !methods.includes('client_secret_post')
        ? 'client_secret_basic'
        : 'client_secret_post')) === 'client_secret_post'
    return byForm
      ? { headers: {}, form: { client_secret: clientSecret } }
      : {
        headers: {
          authorization: `Basic ${
            Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString('base64')
          }`
        },
        form: {}
      }
  }
}

async function assertion (
  { pem, alg = 'RS256', header, audience }: ClientKey,
  clientId: string,
  { token_endpoint: endpoint }: ProviderMetadata
): Promise<Proof['form']> {
  const now = Math.floor(Date.now() / 1000)
  const signed = await new SignJWT({ jti: randomUUID() })
    .setProtectedHeader({ typ: 'JWT', ...header, alg })
    .setIssuer(clientId).setSubject(clientId).setAudience(audience ?? endpoint)
    .setIssuedAt(now).setNotBefore(now).setExpirationTime(now + ASSERTION_LIFETIME)
    .sign(await importPKCS8(pem, alg))
  return { client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer', client_assertion: signed }
}

/** How both parts of HTTP Basic authentication are encoded. */
function formEncoded (part: string): string {
  return new URLSearchParams({ part }).toString().slice('part='.length)
}
