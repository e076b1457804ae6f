import { createPublicKey, type JsonWebKey } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import buildGetJwks from 'get-jwks'
import { invalidCredential } from '../credentials.ts'
import { DUAL_AUTH_INVALID_OPTION, DUAL_AUTH_PROVIDER_UNAVAILABLE } from '../errors.ts'
import { jsonFrom } from '../json-from.ts'
import type { JwtSettings } from '../options.ts'
import { isRecord, TENANT } from './providers.ts'

const MODULUS_MINIMUM = 2048
/** In characters. */
const KID_LIMIT = 128
/** Of what a document says, in a message, in characters. */
const EXCERPT = 200

/** A public key. */
interface SigningKey {
  readonly pem: string
  /** The one issuer that it is for; Entra's keys have this, since its tenants share a set. */
  readonly issuer: string | undefined
}

/** The identity provider's signing keys. */
export interface KeySet {
  /**
   * The public key with this id, as PEM.
   *
   * @param issuer that of the token: a key may be for one tenant only
   * @throws {@link DUAL_AUTH_CREDENTIAL_INVALID} if the provider has no such key
   * @throws {@link DUAL_AUTH_PROVIDER_UNAVAILABLE} if the provider cannot be reached
   */
  find (kid: string, issuer: string): Promise<string>
  /** Whether there are keys: read at least once, and no longer ago than `jwksKeep`. */
  hasKeys (): boolean
  /** Reads the set now. Logs a failure and returns false; never throws. */
  refresh (): Promise<boolean>
  /** @throws {@link DUAL_AUTH_INVALID_OPTION} if the provider was reached and says that its issuer is another one */
  demandIssuer (): void
  /** Stops the refreshes in the background. */
  close (): void
}

/**
 * Caches the whole key set. get-jwks alone sends a request for every unknown kid, caches pending requests and drops an
 * entry after a minute. Here unknown kids cause at most one request in `jwksCooldown`, a request that hangs ends after
 * `jwksTimeout`, and known keys survive an outage for `jwksKeep`.
 */
export function createKeySet (settings: JwtSettings, log: FastifyBaseLogger): KeySet {
  const { jwksCooldown, jwksRefresh, jwksKeep } = settings
  let keys: ReadonlyMap<string, SigningKey> = new Map()
  let otherIssuer: Error | undefined
  let fetchedAt = -Infinity
  let askedAt = -Infinity
  let reachable = false
  let refreshing: Promise<boolean> | null = null
  let timer: NodeJS.Timeout | undefined
  let closed = false

  async function find (kid: string, issuer: string): Promise<string> {
    const { pem, issuer: owner } = await keyWithId(kid)
    if (owner !== undefined && !isOwner(owner, issuer)) throw invalidCredential('kid is a key of another issuer')
    return pem
  }

  async function keyWithId (kid: string): Promise<SigningKey> {
    const known = current().get(kid)
    if (known !== undefined) return known
    if (refreshing === null && performance.now() - askedAt >= jwksCooldown) {
      askedAt = performance.now()
      await refresh()
    } else {
      await refreshing
    }
    const found = current().get(kid)
    if (found !== undefined) return found
    // While the provider is down, the key may be good: a 401 would make clients sign in again.
    if (!reachable) throw new DUAL_AUTH_PROVIDER_UNAVAILABLE()
    throw invalidCredential('kid is unknown')
  }

  function current (): ReadonlyMap<string, SigningKey> {
    return performance.now() - fetchedAt < jwksKeep ? keys : new Map()
  }

  function refresh (): Promise<boolean> {
    refreshing ??= load().finally(() => { refreshing = null })
    return refreshing
  }

  async function load (): Promise<boolean> {
    try {
      const body = await readJwks(settings)
      otherIssuer = undefined
      keys = usableKeys(body, settings.algorithms)
      fetchedAt = performance.now()
      reachable = true
    } catch (err) {
      reachable = false
      if (err instanceof DUAL_AUTH_INVALID_OPTION) otherIssuer = err
      log.warn({ err, issuer: settings.issuer }, 'the keys of the identity provider could not be read')
    }
    schedule(reachable ? jwksRefresh : jwksCooldown)
    return reachable
  }

  function schedule (delay: number): void {
    clearTimeout(timer)
    if (!closed) timer = setTimeout(refresh, delay).unref()
  }

  function close (): void {
    closed = true
    clearTimeout(timer)
  }

  function demandIssuer (): void {
    if (otherIssuer !== undefined) throw otherIssuer
  }

  return { find, hasKeys: () => current().size > 0, refresh, demandIssuer, close }
}

/**
 * Whether this can be the id of a key: any string of 1 to 128 characters. It is compared with the ids of the key set and
 * used nowhere else.
 */
export function isKid (kid: unknown): kid is string {
  return typeof kid === 'string' && kid !== '' && kid.length <= KID_LIMIT
}

/**
 * The usable keys of a key set, by kid: public keys for signatures, of the allowed algorithms, RSA with at least
 * 2048 bits. Of two keys with one kid, the first wins. Everything else in the set is ignored.
 */
export function keysFromJwks (body: unknown, algorithms: readonly string[]): Map<string, SigningKey> {
  const keys = new Map<string, SigningKey>()
  for (const jwk of jwksFromBody(body)) {
    const { kid, use, alg, issuer } = jwk
    if (!isKid(kid) || keys.has(kid)) continue
    if (use !== undefined && use !== 'sig') continue
    if (alg !== undefined && !(typeof alg === 'string' && algorithms.includes(alg))) continue
    const pem = pemFromJwk(jwk)
    if (pem !== null) keys.set(kid, { pem, issuer: typeof issuer === 'string' ? issuer : undefined })
  }
  return keys
}

/** Whether the tokens of an issuer may be signed with a key of this owner: the issuer, or all tenants of its provider. */
function isOwner (owner: string, issuer: string): boolean {
  const [start, end] = owner.split(TENANT)
  return end === undefined ? owner === issuer : issuer.startsWith(String(start)) && issuer.endsWith(end)
}

/** @throws an Error that names the keys there are, if none is usable */
export function usableKeys (body: unknown, algorithms: readonly string[]): ReadonlyMap<string, SigningKey> {
  const keys = keysFromJwks(body, algorithms)
  if (keys.size > 0) return keys
  const kinds = new Set(jwksFromBody(body).map(({ alg, kty, use }) => `${String(alg ?? kty)}${use === undefined || use === 'sig' ? '' : ' not for signatures'}`))
  throw new Error(`the key set has no usable key for ${algorithms.join(', ')}; it has ${[...kinds].join(', ').slice(0, EXCERPT) || 'none'}`)
}

function jwksFromBody (body: unknown): JsonWebKey[] {
  if (typeof body !== 'object' || body === null || !('keys' in body) || !Array.isArray(body.keys)) return []
  return body.keys.filter(key => typeof key === 'object' && key !== null)
}

function pemFromJwk (jwk: JsonWebKey): string | null {
  if (jwk.kty !== 'RSA' && jwk.kty !== 'EC' && jwk.kty !== 'OKP') return null
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    const bits = key.asymmetricKeyDetails?.modulusLength ?? MODULUS_MINIMUM
    return bits < MODULUS_MINIMUM ? null : key.export({ type: 'spki', format: 'pem' }).toString()
  } catch {
    return null
  }
}

/** One deadline covers discovery and key set. */
export async function readJwks ({ issuer, jwksUri, jwksTimeout }: JwtSettings): Promise<unknown> {
  const signal = AbortSignal.timeout(jwksTimeout)
  if (jwksUri !== undefined) return jsonFrom(jwksUri, 'the key set', signal)
  // The document of an app of several tenants is that of all organizations, and has the placeholder in its issuer.
  const base = `${issuer.replace(TENANT, 'organizations').replace(/\/$/, '')}/`
  const url = `${base}.well-known/openid-configuration`
  const document = await jsonFrom(url, 'the discovery document', signal)
  confirmIssuer(issuer, url, document)
  return jsonFrom(await jwksUriIn(document), 'the key set', signal)
}

/**
 * What get-jwks makes of a discovery document. It would read as much as the server sends, so it gets the one that was read
 * within limits: what it appends to the address is behind the `#`, which is not part of a `data:` URL.
 */
async function jwksUriIn (document: unknown): Promise<string> {
  return buildGetJwks().getJwksUri(`data:application/json,${encodeURIComponent(JSON.stringify(document))}#`)
}

/** The issuer must be exactly that of its own document, OpenID Connect Discovery §4.3: else no token of it would be accepted. */
function confirmIssuer (issuer: string, url: string, document: unknown): void {
  const named = isRecord(document) ? document.issuer : undefined
  if (named === issuer) return
  if (typeof named !== 'string') throw new DUAL_AUTH_INVALID_OPTION(`jwt.issuer is ${issuer}, but ${url} is not a discovery document: it names no issuer`)
  throw new DUAL_AUTH_INVALID_OPTION(`jwt.issuer is ${issuer}, but ${url} says that the issuer is ${named.slice(0, EXCERPT)}: set jwt.issuer to exactly that`)
}
