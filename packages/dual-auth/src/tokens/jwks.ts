import { createPublicKey, type JsonWebKey } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { invalidCredential } from '../credentials.ts'
import { DUAL_AUTH_INVALID_OPTION, DUAL_AUTH_PROVIDER_UNAVAILABLE } from '../errors.ts'
import { jsonFrom } from '../json-from.ts'
import type { JwtSettings } from '../options.ts'
import { isRecord, TENANT } from './providers.ts'

const MODULUS_MINIMUM = 2048
/** In characters. */
const KID_LIMIT = 128
/** Until keys that could not be read are read again, in milliseconds; twice as long each time, up to `jwksCooldown`. */
const FIRST_RETRY = 1000
/** Of what a document says, in a message, in characters. */
const EXCERPT = 200

/** A public key. */
interface SigningKey {
  readonly kid: string | undefined
  /** The allowed algorithms that it may sign with. */
  readonly algorithms: readonly string[]
  readonly pem: string
  /** The one issuer that it is for; Entra's keys have this, since its tenants share a set. */
  readonly issuer: string | undefined
}

/** The identity provider's signing keys. */
export interface KeySet {
  /**
   * The public key for a token, as PEM.
   *
   * @param token - its issuer is compared, because a key may be for one tenant only
   * @throws {@link DUAL_AUTH_CREDENTIAL_INVALID} if the provider has no such key
   * @throws {@link DUAL_AUTH_PROVIDER_UNAVAILABLE} if the provider cannot be reached
   */
  find(token: { readonly kid: string | undefined, readonly alg: string, readonly issuer: string }): Promise<string>
  /** Where the provider answers questions about tokens, if `introspection` is set; undefined until it is known. */
  introspectionEndpoint(): string | undefined
  /** Whether there are keys: read at least once, and no longer ago than `jwksKeep`. */
  hasKeys(): boolean
  /**
   * Reads the set again because of a token, unless another token was the cause of a read less than `jwksCooldown` ago.
   *
   * @returns whether it was read
   */
  readAgain(): Promise<boolean>
  /** Reads the set now. Logs a failure and returns false; never throws. */
  refresh(): Promise<boolean>
  /**
   * @throws {@link DUAL_AUTH_INVALID_OPTION} if the provider was reached and what it says of itself contradicts the
   * options
   */
  demandIssuer(): void
  /** Stops the refreshes in the background. */
  close(): void
}

/**
 * Caches the whole key set: unknown kids cause at most one request in `jwksCooldown`, a request that hangs ends after
 * `jwksTimeout`, and known keys survive an outage for `jwksKeep`. Libraries that cache key by key, such as get-jwks,
 * ask once for each key, and cannot tell at startup whether there is a usable one.
 */
export function createKeySet (settings: JwtSettings, log: FastifyBaseLogger): KeySet {
  const { jwksCooldown, jwksRefresh, jwksKeep } = settings
  let keys: readonly SigningKey[] = []
  let contradiction: Error | undefined
  let introspectionEndpoint = settings.introspection?.endpoint
  let fetchedAt = -Infinity
  let askedAt = -Infinity
  let reachable = false
  let failures = 0
  let refreshing: Promise<boolean> | null = null
  let timer: NodeJS.Timeout | undefined
  let closed = false

  async function find ({ kid, alg, issuer }: Parameters<KeySet['find']>[0]): Promise<string> {
    const { pem, issuer: owner } = keyFor(current(), kid, alg) ?? await newKeyFor(kid, alg)
    if (owner !== undefined && !isOwner(owner, issuer)) throw invalidCredential('kid is a key of another issuer')
    return pem
  }

  async function newKeyFor (kid: string | undefined, alg: string): Promise<SigningKey> {
    await readAgain()
    const found = keyFor(current(), kid, alg)
    if (found !== undefined) return found
    // While the provider is down, the key may be good: a 401 would make clients sign in again.
    if (!reachable) throw new DUAL_AUTH_PROVIDER_UNAVAILABLE()
    if (kid === undefined) throw invalidCredential('kid is missing')
    const isKnown = current().some((key) => key.kid === kid)
    throw invalidCredential(isKnown ? 'kid is a key for another alg' : 'kid is unknown')
  }

  async function readAgain (): Promise<boolean> {
    const before = fetchedAt
    if (refreshing === null && performance.now() - askedAt >= jwksCooldown) {
      askedAt = performance.now()
      await refresh()
    } else {
      await refreshing
    }
    return fetchedAt !== before
  }

  function current (): readonly SigningKey[] {
    return performance.now() - fetchedAt < jwksKeep ? keys : []
  }

  function refresh (): Promise<boolean> {
    refreshing ??= load().finally(() => {
      refreshing = null
    })
    return refreshing
  }

  async function load (): Promise<boolean> {
    try {
      const published = await readPublished(settings)
      contradiction = undefined
      introspectionEndpoint = published.introspectionEndpoint
      keys = settings.jwks === undefined ? usableKeys(published.jwks, settings.algorithms) : ownKeys(settings)
      fetchedAt = performance.now()
      reachable = true
      failures = 0
    } catch (err) {
      reachable = false
      failures += 1
      if (err instanceof DUAL_AUTH_INVALID_OPTION) contradiction = err
      log.warn({ err, issuer: settings.issuer }, 'the keys of the identity provider could not be read')
    }
    schedule(reachable ? jwksRefresh : Math.min(FIRST_RETRY * 2 ** (failures - 1), jwksCooldown))
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
    if (contradiction !== undefined) throw contradiction
  }

  return {
    find,
    readAgain,
    introspectionEndpoint: () => introspectionEndpoint,
    hasKeys: () => current().length > 0,
    refresh,
    demandIssuer,
    close
  }
}

/**
 * Whether this can be the id of a key: any string of 1 to 128 characters. It is compared with the ids of the key set
 * and used nowhere else.
 */
export function isKid (kid: unknown): kid is string {
  return typeof kid === 'string' && kid !== '' && kid.length <= KID_LIMIT
}

/**
 * The usable keys of a key set: public keys for signatures, of the allowed algorithms, RSA with at least 2048 bits.
 * Everything else in the set is ignored.
 */
export function keysFromJwks (body: unknown, allowed: readonly string[]): readonly SigningKey[] {
  return jwksFromBody(body).flatMap((jwk) => {
    const { kid, use, issuer } = jwk
    const algorithms = allowed.filter((alg) => canSign(jwk, alg))
    if (algorithms.length === 0 || (kid !== undefined && !isKid(kid)) || (use !== undefined && use !== 'sig')) return []
    const pem = pemFromJwk(jwk)
    return pem === null ? [] : [{ kid, algorithms, pem, issuer: typeof issuer === 'string' ? issuer : undefined }]
  })
}

/** The type of key, and the curve, that an algorithm needs (RFC 7518 §3.1, RFC 9864 §2.2). */
const KINDS: ReadonlyArray<readonly [alg: RegExp, kty: string, crv?: RegExp]> = [
  [/^[RP]S/, 'RSA'],
  [/^ES256$/, 'EC', /^P-256$/],
  [/^ES384$/, 'EC', /^P-384$/],
  [/^ES512$/, 'EC', /^P-521$/],
  [/^EdDSA$/, 'OKP', /^Ed/],
  [/^Ed25519$/, 'OKP', /^Ed25519$/]
]

function canSign ({ kty, crv, alg: own }: JsonWebKey, alg: string): boolean {
  return (own === undefined || ofRfc8037(own) === ofRfc8037(alg)) &&
    KINDS.some(([name, type, curve]) => name.test(alg) && kty === type && curve?.test(String(crv)) !== false)
}

/** RFC 9864 names the curve, RFC 8037 did not; a key and its tokens may disagree. */
const ofRfc8037 = (alg: unknown): unknown => alg === 'Ed25519' ? 'EdDSA' : alg

/**
 * Several keys may have one id, RFC 7517 §4.5: then the algorithm decides. A key without an id is used if no other
 * could be meant.
 */
function keyFor (keys: readonly SigningKey[], kid: string | undefined, alg: string): SigningKey | undefined {
  const fitting = keys.filter(({ algorithms }) => algorithms.includes(alg))
  return fitting.find((key) => kid !== undefined && key.kid === kid) ??
    (fitting.length === 1 && fitting[0]!.kid === undefined ? fitting[0] : undefined)
}

/**
 * Whether the tokens of an issuer may be signed with a key of this owner: the issuer, or all tenants of its provider.
 */
function isOwner (owner: string, issuer: string): boolean {
  const [start, end] = owner.split(TENANT)
  return end === undefined ? owner === issuer : issuer.startsWith(String(start)) && issuer.endsWith(end)
}

/** @throws an Error that names the keys there are, if none is usable */
export function usableKeys (body: unknown, algorithms: readonly string[]): readonly SigningKey[] {
  const keys = keysFromJwks(body, algorithms)
  if (keys.some(({ kid }) => algorithms.some((alg) => keyFor(keys, kid, alg) !== undefined))) return keys
  if (keys.length > 0) throw new Error('kid is missing from all keys of the key set: only a single key can do without')
  const kinds = new Set(
    jwksFromBody(body).map(({ alg, kty, use }) =>
      `${String(alg ?? kty)}${use === undefined || use === 'sig' ? '' : ' not for signatures'}`
    )
  )
  throw new Error(
    `the key set has no usable key for ${algorithms.join(', ')}; it has ` +
      `${[...kinds].join(', ').slice(0, EXCERPT) || 'none'}`
  )
}

/** @throws {@link DUAL_AUTH_INVALID_OPTION} if there is no usable key: reading it again would not help */
function ownKeys ({ issuer, jwks, algorithms }: JwtSettings): readonly SigningKey[] {
  try {
    return usableKeys(jwks, algorithms)
  } catch (error) {
    throw new DUAL_AUTH_INVALID_OPTION(`jwt.jwks of ${issuer} cannot be used: ${(error as Error).message}`)
  }
}

function jwksFromBody (body: unknown): JsonWebKey[] {
  if (typeof body !== 'object' || body === null || !('keys' in body) || !Array.isArray(body.keys)) return []
  return body.keys.filter((key) => typeof key === 'object' && key !== null)
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

/** What an issuer publishes of itself, as far as it is needed here. */
interface Published {
  readonly jwks: unknown
  /** Undefined without `introspection`. */
  readonly introspectionEndpoint: string | undefined
}

/** One deadline covers discovery and key set. */
export async function readPublished (
  { issuer, jwksUri, jwks, jwksTimeout, insecureHttp, introspection }: JwtSettings
): Promise<Published> {
  if (jwks !== undefined) return { jwks, introspectionEndpoint: undefined }
  const signal = AbortSignal.timeout(jwksTimeout)
  const read = async (url: string, introspectionEndpoint = introspection?.endpoint) => ({
    jwks: await jsonFrom(url, 'the key set', signal, insecureHttp),
    introspectionEndpoint
  })
  if (jwksUri !== undefined) return read(jwksUri)
  // The document of an app of several tenants is that of all organizations, and has the placeholder in its issuer.
  const base = `${issuer.replace(TENANT, 'organizations').replace(/\/$/, '')}/`
  const url = `${base}.well-known/openid-configuration`
  const document = await jsonFrom(url, 'the discovery document', signal, insecureHttp)
  confirmIssuer(issuer, url, document)
  return read(
    jwksUriIn(document, url),
    introspection === undefined ? undefined : introspection.endpoint ?? introspectionEndpointIn(document, issuer, url)
  )
}

/** Only on the issuer's own origin: a secret and tokens are sent to it. */
function introspectionEndpointIn (document: unknown, issuer: string, url: string): string {
  const named = isRecord(document) ? document.introspection_endpoint : undefined
  if (typeof named === 'string' && URL.canParse(named) && new URL(named).origin === new URL(issuer).origin) return named
  throw new DUAL_AUTH_INVALID_OPTION(
    `jwt.introspection needs an endpoint: ${url} names ` +
      `${typeof named === 'string' ? `${named.slice(0, EXCERPT)}, which is not on the origin of the issuer` : 'none'}`
  )
}

/** OpenID Connect Discovery §3 requires it. */
function jwksUriIn (document: unknown, url: string): string {
  if (isRecord(document) && typeof document.jwks_uri === 'string') return document.jwks_uri
  throw new Error(`the discovery document at ${url} names no jwks_uri`)
}

/**
 * The issuer must be exactly that of its own document, OpenID Connect Discovery §4.3: else no token of it would be
 * accepted.
 */
function confirmIssuer (issuer: string, url: string, document: unknown): void {
  const named = isRecord(document) ? document.issuer : undefined
  if (named === issuer) return
  if (typeof named !== 'string') {
    throw new DUAL_AUTH_INVALID_OPTION(
      `jwt.issuer is ${issuer}, but ${url} is not a discovery document: it names no issuer`
    )
  }
  throw new DUAL_AUTH_INVALID_OPTION(
    `jwt.issuer is ${issuer}, but ${url} says that the issuer is ${named.slice(0, EXCERPT)}: set jwt.issuer to ` +
      'exactly that'
  )
}
