import { createHmac, generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto'
import type { Test } from 'tap'
import { rsaKeyPair } from '../../../../test/rsa-keys.ts'
import { serve } from '../build.ts'

type Json = Readonly<Record<string, unknown>>

/** The client of an organization's people, at the organization's provider and at the server. */
export const agent = { id: 'agent', secret: 'the secret of the agent: +long% and random' }

export interface Signing {
  readonly key?: KeyObject
  /** What is signed with HMAC instead. */
  readonly hmac?: string
  readonly header?: Json
}

const part = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** A JWT, written without a library for it. @param claims - JSON, or an object */
export function jwtOf (claims: unknown, header: Json, signing: Signing): string {
  const input = `${part(header)}.${part(claims)}`
  return `${input}.${signatureOf(input, header, signing).toString('base64url')}`
}

function signatureOf (input: string, header: Json, { key, hmac }: Signing): Buffer {
  if (hmac !== undefined) return createHmac('sha256', hmac).update(input).digest()
  if (key === undefined) return Buffer.alloc(0)
  const algorithm = header['alg'] === 'RS384' ? 'sha384' : 'sha256'
  return sign(
    algorithm,
    Buffer.from(input),
    key.asymmetricKeyType === 'ec' ? { key, dsaEncoding: 'ieee-p1363' } : key
  )
}

/** The identity provider of an organization. */
export interface Corporate {
  readonly issuer: string
  readonly keys: {
    readonly rsa: ReturnType<typeof generateKeyPairSync>,
    readonly ec: ReturnType<typeof generateKeyPairSync>
  }
  /** Whether it answers. */
  isUp: boolean
  /** Which scopes its administrator allows. */
  allowed: readonly string[]
  /** An assertion that it would issue, changed. */
  assertion(change?: Json, signing?: Signing): string
  /** What says at its token endpoint who signed in. */
  idToken(subject: string, client?: string): string
}

/**
 * Signs people in elsewhere, and exchanges their ID tokens for assertions, as the extension says (RFC 8693).
 *
 * @param audience - the issuer of the server's tokens
 */
export async function corporate (t: Test, audience: string, resource: string): Promise<Corporate> {
  const keys = { rsa: rsaKeyPair(), ec: generateKeyPairSync('ec', { namedCurve: 'P-256' }) }
  const idTokens = new Map<string, { readonly sub: string, readonly aud: string }>()
  const now = (): number => Math.floor(Date.now() / 1000)

  const idp: Omit<Corporate, 'issuer'> & { issuer: string } = {
    issuer: '',
    keys,
    isUp: true,
    allowed: ['openid', 'email'],
    assertion (change = {}, { header = {}, ...signing } = { key: keys.rsa.privateKey }) {
      const claims = {
        iss: idp.issuer,
        sub: 'U019488227',
        aud: audience,
        resource,
        client_id: agent.id,
        jti: randomUUID(),
        iat: now(),
        exp: now() + 300,
        scope: idp.allowed.join(' '),
        email: 'ada@acme.example',
        ...change
      }
      return jwtOf(claims, { typ: 'oauth-id-jag+jwt', alg: 'RS256', kid: 'rsa', ...header }, {
        key: keys.rsa.privateKey,
        ...signing
      })
    },
    idToken (sub, aud = agent.id) {
      const token = jwtOf({ iss: idp.issuer, sub, aud, iat: now(), exp: now() + 300 }, {
        typ: 'JWT',
        alg: 'RS256',
        kid: 'rsa'
      }, { key: keys.rsa.privateKey })
      idTokens.set(token, { sub, aud })
      return token
    }
  }

  function exchange (form: URLSearchParams): { readonly status: number, readonly body: object } {
    const invalid = (error: string) => ({ status: 400, body: { error } })
    if (form.get('client_id') !== agent.id || form.get('client_secret') !== agent.secret) {
      return { status: 401, body: { error: 'invalid_client' } }
    }
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:token-exchange') {
      return invalid('unsupported_grant_type')
    }
    if (
      form.get('requested_token_type') !== 'urn:ietf:params:oauth:token-type:id-jag' ||
      form.get('subject_token_type') !== 'urn:ietf:params:oauth:token-type:id_token'
    ) return invalid('invalid_request')
    const person = idTokens.get(form.get('subject_token') ?? '')
    if (person?.aud !== agent.id) return invalid('invalid_grant')
    if (form.get('audience') !== audience || form.get('resource') !== resource) return invalid('invalid_target')
    const wanted = form.get('scope')?.split(' ') ?? idp.allowed
    const scope = idp.allowed.filter((one) => wanted.includes(one)).join(' ')
    return {
      status: 200,
      body: {
        issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
        access_token: idp.assertion({ sub: person.sub, scope }),
        token_type: 'N_A',
        scope,
        expires_in: 300
      }
    }
  }

  const jwk = (name: 'rsa' | 'ec', alg: string) => ({
    ...keys[name].publicKey.export({ format: 'jwk' }),
    kid: name,
    alg,
    use: 'sig'
  })
  const origin = await serve(t, async (request, response) => {
    const reply = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    let text = ''
    for await (const chunk of request) text += String(chunk)
    if (!idp.isUp) return reply(503, {})
    if (request.url === '/acme/.well-known/openid-configuration') {
      return reply(200, {
        issuer: idp.issuer,
        authorization_endpoint: `${idp.issuer}/authorize`,
        token_endpoint: `${idp.issuer}/token`,
        jwks_uri: `${idp.issuer}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        identity_chaining_requested_token_types_supported: ['urn:ietf:params:oauth:token-type:id-jag']
      })
    }
    if (request.url === '/acme/keys') return reply(200, { keys: [jwk('rsa', 'RS256'), jwk('ec', 'ES256')] })
    if (request.url !== '/acme/token' || request.method !== 'POST') return reply(404, {})
    const { status, body } = exchange(new URLSearchParams(text))
    return reply(status, body)
  })
  idp.issuer = `${origin}/acme`
  return idp
}
