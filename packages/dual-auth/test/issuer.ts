import {
  createPrivateKey,
  createSign,
  generateKeyPairSync,
  type KeyObject,
  type KeyPairKeyObjectResult
} from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import { rsaKeyPair } from '../../../test/rsa-keys.ts'

export const NOW = Math.floor(Date.now() / 1000)

/** A signing key of the issuer, with its public half as a JWK. */
export interface SigningKey {
  readonly privateKey: KeyObject
  readonly publicPem: string
  readonly jwk: Record<string, unknown>
}

/** A new key. */
export function signingKey (kid: string, modulusLength = 2048): SigningKey {
  return signingKeyFrom(modulusLength === 2048 ? rsaKeyPair() : generateKeyPairSync('rsa', { modulusLength }), kid)
}

function signingKeyFrom ({ privateKey, publicKey }: KeyPairKeyObjectResult, kid: string): SigningKey {
  return {
    privateKey,
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }
  }
}

// Issuers that run at the same time have different keys; the next one gets the key of one that has stopped.
const spareKeys = new Set<KeyPairKeyObjectResult>()

// Signing takes long as well, and RS256 signs the same input the same way each time.
const signatures = new WeakMap<KeyObject, Map<string, string>>()

function rs256 (key: KeyObject, input: string): string {
  const known = signatures.get(key) ?? new Map<string, string>()
  signatures.set(key, known)
  const signature = known.get(input) ?? createSign('sha256').update(input).sign(key).toString('base64url')
  known.set(input, signature)
  return signature
}

export const segment = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** A JWT; header and claims may be anything, text is taken as the JSON itself. */
export function sign (key: KeyObject | string, header: unknown, claims: unknown): string {
  const input = `${segment(header)}.${segment(claims)}`
  return `${input}.${rs256(typeof key === 'string' ? createPrivateKey(key) : key, input)}`
}

/** An identity provider on loopback: discovery and a key set, which it counts the readings of. */
export interface Issuer {
  readonly url: string
  readonly key: SigningKey
  /** How often the key set was read. */
  fetches: number
  /** The keys it publishes. */
  keys: unknown[]
  /** Answers the key set's requests in place of the keys, when set. */
  fault: RequestListener | null
  /** How often the discovery document was read. */
  discoveries: number
  /** Answers the requests for the discovery document, when set. */
  discoveryFault: RequestListener | null
  /** The issuer that its discovery document names; its URL when null. */
  named: string | null
  /** What it says of opaque tokens, by token; unknown ones are not active. */
  readonly answers: Map<string, unknown>
  /** The requests for that: the credentials of the client and the form. */
  readonly questions: Array<
    { readonly authorization: string | undefined, readonly form: Readonly<Record<string, string>> }
  >
  /** Answers these requests, when set. */
  introspectionFault: RequestListener | null
  /** The endpoint of these requests that its discovery document names; none when null. */
  introspectionEndpoint: string | null
  /** A token with its key. */
  sign(claims: Record<string, unknown>, header?: Record<string, unknown>): string
  user(claims?: Record<string, unknown>, header?: Record<string, unknown>): string
  machine(claims?: Record<string, unknown>, header?: Record<string, unknown>): string
  stop(): Promise<void>
  start(): Promise<void>
}

export async function startIssuer (): Promise<Issuer> {
  const [pair = rsaKeyPair()] = spareKeys
  const key = signingKeyFrom(pair, 'key-1')
  let port = 0
  let server = createServer()

  const issuer: Issuer = {
    get url () {
      return `http://127.0.0.1:${port}/pool`
    },
    key,
    fetches: 0,
    keys: [key.jwk],
    fault: null,
    discoveries: 0,
    discoveryFault: null,
    named: null,
    answers: new Map(),
    questions: [],
    introspectionFault: null,
    introspectionEndpoint: null,
    sign: (claims, header) => sign(key.privateKey, { alg: 'RS256', kid: 'key-1', ...header }, claims),
    user: (claims, header) =>
      sign(key.privateKey, { alg: 'RS256', kid: 'key-1', ...header }, {
        iss: issuer.url,
        sub: 'user-1',
        client_id: 'web-app',
        token_use: 'access',
        scope: 'openid email',
        username: 'ada',
        'cognito:groups': ['staff'],
        iat: NOW - 10,
        exp: NOW + 3600,
        ...claims
      }),
    machine: (claims, header) =>
      sign(key.privateKey, { alg: 'RS256', kid: 'key-1', ...header }, {
        iss: issuer.url,
        sub: 'robot',
        client_id: 'robot',
        token_use: 'access',
        scope: 'shop/api',
        iat: NOW - 10,
        exp: NOW + 3600,
        ...claims
      }),
    async stop () {
      if (server.listening) spareKeys.add(pair)
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
    async start () {
      spareKeys.delete(pair)
      server = createServer((request, response) => {
        if (request.url?.startsWith('/pool/') && request.url.endsWith('/.well-known/openid-configuration')) {
          issuer.discoveries++
          if (issuer.discoveryFault !== null) issuer.discoveryFault(request, response)
          else {
            response.setHeader('content-type', 'application/json').end(
              JSON.stringify({
                issuer: issuer.named ?? issuer.url,
                jwks_uri: `${issuer.url}/jwks`,
                ...issuer.introspectionEndpoint !== null && { introspection_endpoint: issuer.introspectionEndpoint }
              })
            )
          }
        } else if (request.url === '/pool/introspect' && request.method === 'POST') {
          text(request).then((body) => {
            const form = Object.fromEntries(new URLSearchParams(body))
            issuer.questions.push({ authorization: request.headers.authorization, form })
            if (issuer.introspectionFault !== null) return issuer.introspectionFault(request, response)
            const answer = issuer.answers.get(String(form.token)) ?? { active: false }
            response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
          }, () => {})
        } else if (request.url === '/pool/jwks') {
          issuer.fetches++
          if (issuer.fault !== null) issuer.fault(request, response)
          else response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: issuer.keys }))
        } else {
          response.writeHead(404).end()
        }
      })
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      port = (server.address() as AddressInfo).port
    }
  }
  await issuer.start()
  return issuer
}
