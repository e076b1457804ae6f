import { createPublicKey, type JsonWebKey } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import buildGetJwks from 'get-jwks'
import type { ResolvedJwtOptions } from '../options.ts'
import { isTrustworthy } from '../option-checks.ts'
import { DUAL_AUTH_CREDENTIAL_INVALID, DUAL_AUTH_PROVIDER_UNAVAILABLE } from '../errors.ts'

/** Bytes; a key set is some kilobytes. */
const BODY_LIMIT = 512 * 1024
const MODULUS_MINIMUM = 2048
/** Characters. */
const KID_LIMIT = 128

/** The identity provider's signing keys. */
export interface KeySet {
  /**
   * The public key with this id, as PEM.
   *
   * @throws {@link DUAL_AUTH_CREDENTIAL_INVALID} when the provider has no such key,
   * {@link DUAL_AUTH_PROVIDER_UNAVAILABLE} when it could not be asked.
   */
  find (kid: string): Promise<string>
  /** Whether there are keys: read at least once, and not longer ago than `jwksKeep`. */
  known (): boolean
  /** Reads the set now; false, and logged, when that failed. Never throws. */
  refresh (): Promise<boolean>
  /** Ends the refreshing in the background. */
  close (): void
}

/**
 * Keeps the last good key set whole. get-jwks alone asks the provider once for every unknown kid, caches
 * pending requests and lets an entry go after a minute; here a stranger's kid costs at most one request in
 * `jwksCooldown`, a hung request ends after `jwksTimeout`, and an outage is survived for `jwksKeep`.
 */
export function createKeySet (options: ResolvedJwtOptions, log: FastifyBaseLogger): KeySet {
  const { jwksCooldown, jwksRefresh, jwksKeep } = options
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
    // Without an answer from the provider a key is not wrong, it is unknown: a 401 would make clients sign in again.
    if (!reachable) throw new DUAL_AUTH_PROVIDER_UNAVAILABLE()
    throw new DUAL_AUTH_CREDENTIAL_INVALID({ cause: 'kid is unknown' })
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
      const body = await readJwks(options)
      const next = keysFromJwks(body, options.algorithms)
      if (next.size === 0) throw new DUAL_AUTH_PROVIDER_UNAVAILABLE({ cause: 'the key set has no usable key' })
      keys = next
      fetchedAt = performance.now()
      reachable = true
    } catch (err) {
      reachable = false
      log.warn({ err }, 'the identity provider did not give its keys')
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

  return { find, known: () => current().size > 0, refresh, close }
}

/**
 * Whether this may be the id of a key: a text of 1 to 128 characters, which providers fill as they like. It is compared
 * with those of the key set and goes nowhere else.
 */
export function isKid (kid: unknown): kid is string {
  return typeof kid === 'string' && kid !== '' && kid.length <= KID_LIMIT
}

/**
 * The usable keys of a key set, as PEM by kid: public keys for signatures, of the allowed algorithms, RSA with
 * at least 2048 bits. Of two keys with one kid the first counts. Whatever else the set holds is passed over.
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

/** One deadline for discovery and key set together; a redirect could lead anywhere and is refused. */
async function readJwks ({ issuer, jwksUri, jwksTimeout }: ResolvedJwtOptions): Promise<unknown> {
  const fetchOptions = { signal: AbortSignal.timeout(jwksTimeout), redirect: 'error' as const }
  // A get-jwks for each reading: its own caches are what this module replaces, and its fetch options are fixed.
  const uri = jwksUri ?? await buildGetJwks({ issuersWhitelist: [issuer], fetchOptions }).getJwksUri(`${issuer.replace(/\/$/, '')}/`)
  if (!isTrustworthy(uri)) throw new DUAL_AUTH_PROVIDER_UNAVAILABLE({ cause: 'the address of the key set is neither https nor on loopback' })
  const response = await fetch(uri, fetchOptions)
  if (!response.ok || response.body === null) throw new DUAL_AUTH_PROVIDER_UNAVAILABLE({ cause: `the key set answered ${response.status}` })
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > BODY_LIMIT) throw new DUAL_AUTH_PROVIDER_UNAVAILABLE({ cause: `the key set is larger than ${BODY_LIMIT} bytes` })
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString())
}
