import { createPublicKey, type JsonWebKey } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import buildGetJwks from 'get-jwks'
import { invalidCredential } from '../credentials.ts'
import { DUAL_AUTH_PROVIDER_UNAVAILABLE } from '../errors.ts'
import { isSafeUrl } from '../option-checks.ts'
import type { JwtSettings } from '../options.ts'

/** In bytes; a key set has a few thousand. */
const BODY_LIMIT = 512 * 1024
const MODULUS_MINIMUM = 2048
/** In characters. */
const KID_LIMIT = 128

/** The identity provider's signing keys. */
export interface KeySet {
  /**
   * The public key with this id, as PEM.
   *
   * @throws {@link DUAL_AUTH_CREDENTIAL_INVALID} if the provider has no such key
   * @throws {@link DUAL_AUTH_PROVIDER_UNAVAILABLE} if the provider cannot be reached
   */
  find (kid: string): Promise<string>
  /** Whether there are keys: read at least once, and no longer ago than `jwksKeep`. */
  hasKeys (): boolean
  /** Reads the set now. Logs a failure and returns false; never throws. */
  refresh (): Promise<boolean>
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
  let keys: ReadonlyMap<string, string> = new Map()
  let fetchedAt = -Infinity
  let askedAt = -Infinity
  let reachable = false
  let refreshing: Promise<boolean> | null = null
  let timer: NodeJS.Timeout | undefined
  let closed = false

  async function find (kid: string): Promise<string> {
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

  function current (): ReadonlyMap<string, string> {
    return performance.now() - fetchedAt < jwksKeep ? keys : new Map()
  }

  function refresh (): Promise<boolean> {
    refreshing ??= load().finally(() => { refreshing = null })
    return refreshing
  }

  async function load (): Promise<boolean> {
    try {
      const body = await readJwks(settings)
      const next = keysFromJwks(body, settings.algorithms)
      if (next.size === 0) throw new DUAL_AUTH_PROVIDER_UNAVAILABLE({ cause: 'the key set has no usable key' })
      keys = next
      fetchedAt = performance.now()
      reachable = true
    } catch (err) {
      reachable = false
      log.warn({ err }, 'the keys of the identity provider could not be read')
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

  return { find, hasKeys: () => current().size > 0, refresh, close }
}

/**
 * Whether this can be the id of a key: any string of 1 to 128 characters. It is compared with the ids of the key set and
 * used nowhere else.
 */
export function isKid (kid: unknown): kid is string {
  return typeof kid === 'string' && kid !== '' && kid.length <= KID_LIMIT
}

/**
 * The usable keys of a key set, as PEM by kid: public keys for signatures, of the allowed algorithms, RSA with at least
 * 2048 bits. Of two keys with one kid, the first wins. Everything else in the set is ignored.
 */
export function keysFromJwks (body: unknown, algorithms: readonly string[]): Map<string, string> {
  const keys = new Map<string, string>()
  for (const jwk of jwksFromBody(body)) {
    const { kid, use, alg } = jwk
    if (!isKid(kid) || keys.has(kid)) continue
    if (use !== undefined && use !== 'sig') continue
    if (alg !== undefined && !(typeof alg === 'string' && algorithms.includes(alg))) continue
    const pem = pemFromJwk(jwk)
    if (pem !== null) keys.set(kid, pem)
  }
  return keys
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

/** One deadline covers discovery and key set. Redirects are rejected: they could lead anywhere. */
async function readJwks ({ issuer, jwksUri, jwksTimeout }: JwtSettings): Promise<unknown> {
  const fetchOptions = { signal: AbortSignal.timeout(jwksTimeout), redirect: 'error' as const }
  // A new get-jwks for each read: this module replaces its caches, and its fetch options are fixed at creation.
  const uri = jwksUri ?? await buildGetJwks({ issuersWhitelist: [issuer], fetchOptions }).getJwksUri(`${issuer.replace(/\/$/, '')}/`)
  if (!isSafeUrl(uri)) throw new DUAL_AUTH_PROVIDER_UNAVAILABLE({ cause: 'the URL of the key set is neither https nor on loopback' })
  const response = await fetch(uri, fetchOptions)
  if (!response.ok || response.body === null) throw new DUAL_AUTH_PROVIDER_UNAVAILABLE({ cause: `reading the key set returned ${response.status}` })
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > BODY_LIMIT) throw new DUAL_AUTH_PROVIDER_UNAVAILABLE({ cause: `the key set is larger than ${BODY_LIMIT} bytes` })
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString())
}
