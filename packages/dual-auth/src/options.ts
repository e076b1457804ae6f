import type { FastifyRequest } from 'fastify'
import type { Pepper } from './api-key.ts'
import type { ApiKeyStore } from './store.ts'
import type { AuthPolicy, AuthRoute } from './policy.ts'
import type { ChallengeOptions } from './challenge.ts'
import type { ClaimRules } from './identity.ts'
import { DUAL_AUTH_OPTION_INVALID } from './errors.ts'
import { LOG_N_LIMIT } from './hash.ts'

/** How API keys look, where they are kept and what checking one may cost. */
export interface ApiKeyOptions {
  /** What every key starts with: lower-case words joined by `_`, at most 16 characters. Names your product. */
  readonly marker: string
  /** Newest first: new keys use the first, older ones stay good and are moved to it as they are used. */
  readonly peppers: readonly Pepper[]
  readonly store: ApiKeyStore
  /** scrypt cost of a new hash, 1 to 15. Up to 6 keys are verified on the event loop, above in the thread pool. @default 5 */
  readonly logN?: number
  /** Header that may carry a key instead of `Authorization`. @default 'x-api-key' */
  readonly headerName?: string
  /** Route parameter that names the shop. @default 'shop_id' */
  readonly shopParam?: string
  /**
   * The shop's id as the host keeps it, from how the path spells it: for ids that can be written in several
   * ways, as a UUID in capitals. @default as it is
   */
  readonly shopIdFromParam?: (value: string) => string
  /** Active keys a shop may have. @default 100 */
  readonly maxPerShop?: number
  /**
   * scrypt runs that libuv's thread pool is given at once: of keys at a cost above 6, and of new hashes.
   * @default 3, which leaves one of its four threads to file reads and DNS
   */
  readonly concurrency?: number
  /** Keys that may wait for the thread pool; beyond that 503. @default 256 */
  readonly queueLength?: number
  /** Milliseconds that the store may take for an answer. @default 2000 */
  readonly storeTimeout?: number
}

/** Which tokens are believed. */
export interface JwtOptions {
  /** The one issuer, exactly as in its tokens. */
  readonly issuer: string
  /** Where its keys are. @default what its `/.well-known/openid-configuration` says */
  readonly jwksUri?: string
  /** Client ids that people sign in with. */
  readonly userClients: readonly string[]
  /** Client ids of machines. @default any client of the issuer that was given a machine scope */
  readonly machineClients?: readonly string[]
  /** The scopes that make a machine. @default any scope that ends in `/api` */
  readonly machineScopes?: readonly string[]
  /** Allowed values of `aud`, checked when a token has one. @default not checked */
  readonly audience?: readonly string[]
  /** Signature algorithms, asymmetric only. @default ['RS256'] */
  readonly algorithms?: ReadonlyArray<ResolvedJwtOptions['algorithms'][number]>
  /** The claim that lists a person's groups. @default 'cognito:groups' */
  readonly groupsClaim?: string
  /** Seconds that clocks may differ, at most 60. @default 5 */
  readonly clockTolerance?: number
  /** Milliseconds between two requests for unknown key ids. @default 30000 */
  readonly jwksCooldown?: number
  /** Milliseconds that reading the keys may take. @default 5000 */
  readonly jwksTimeout?: number
  /** Milliseconds between readings in the background. @default 600000, ten minutes */
  readonly jwksRefresh?: number
  /** Milliseconds that the last good keys are used while the issuer is down. @default 86400000, a day */
  readonly jwksKeep?: number
}

/** The three routes that make, list and revoke keys. */
export interface ManagementOptions {
  /**
   * Whether the caller, a machine or a person in `request.identity`, may manage the keys of this shop.
   * False is a 403; what it throws is the answer.
   */
  readonly canManage: (request: FastifyRequest, shopId: string) => boolean | Promise<boolean>
  /** Path of the collection; must hold the shop parameter. @default '/shops/:shop_id/api-keys' */
  readonly path?: string
}

export interface DualAuthOptions {
  readonly apiKeys: ApiKeyOptions
  readonly jwt: JwtOptions
  /** The policy of a route whose `config.auth` says nothing; undefined means `jwt`. */
  readonly policy?: (route: AuthRoute) => AuthPolicy | undefined
  /**
   * The scopes of which a key needs one on this route, if it carries any; null lets every key of the shop in.
   * @default `scopesFromRoute`: `read` or `write` by method, and the operation id
   */
  readonly scopes?: (route: AuthRoute) => readonly string[] | null
  /** What a 401 tells about where to get a token. */
  readonly challenge?: ChallengeOptions
  /** Mounts the management routes; without it there are none. */
  readonly management?: ManagementOptions
}

/** API key options, checked and complete. */
export interface ResolvedApiKeyOptions extends Required<Omit<ApiKeyOptions, 'peppers'>> {
  readonly peppers: readonly [Pepper, ...Pepper[]]
}

/** JWT options, checked and complete. */
export interface ResolvedJwtOptions extends ClaimRules {
  readonly issuer: string
  readonly jwksUri: string | undefined
  readonly algorithms: ReadonlyArray<'RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512' | 'ES256' | 'ES384' | 'ES512' | 'EdDSA'>
  readonly jwksCooldown: number
  readonly jwksTimeout: number
  readonly jwksRefresh: number
  readonly jwksKeep: number
}

const MARKER = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/
const TOKEN = /^[a-z0-9-]+$/
const ASYMMETRIC = /^(?:(?:RS|PS|ES)(?:256|384|512)|EdDSA)$/
// A quoted-string without anything that needs escaping.
const QUOTABLE = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

/** @throws {@link DUAL_AUTH_OPTION_INVALID} */
export function resolveApiKeys (options: ApiKeyOptions): ResolvedApiKeyOptions {
  demand(typeof options === 'object' && options !== null, 'apiKeys is required')
  const { marker, store } = options
  demand(Array.isArray(options.peppers), 'apiKeys.peppers must be a list')
  const [newest, ...older] = options.peppers
  demand(typeof store === 'object' && store !== null && typeof store.find === 'function', 'apiKeys.store must be a key store')
  demand(typeof marker === 'string' && MARKER.test(marker) && marker.length <= 16 && !marker.startsWith('ey'), 'apiKeys.marker must be lower-case words joined by _, at most 16 characters, and must not start like a JWT (ey)')
  if (newest === undefined) throw new DUAL_AUTH_OPTION_INVALID('apiKeys.peppers must hold at least one pepper')
  const peppers = [newest, ...older] as const
  for (const { id, secret } of peppers) {
    demand(id !== '', 'apiKeys.peppers must each have an id')
    demand(Buffer.byteLength(secret) >= 32, `apiKeys.peppers: the secret of '${id}' must have at least 32 bytes`)
  }
  demand(new Set(peppers.map(({ id }) => id)).size === peppers.length, 'apiKeys.peppers must have different ids')
  const headerName = (options.headerName ?? 'x-api-key').toLowerCase()
  demand(TOKEN.test(headerName) && headerName !== 'authorization', 'apiKeys.headerName must be the name of a header other than Authorization')
  const logN = integer('apiKeys.logN', options.logN ?? 5, 1)
  demand(logN <= LOG_N_LIMIT, `apiKeys.logN must be at most ${LOG_N_LIMIT}`)
  return {
    marker,
    peppers,
    store,
    headerName,
    logN,
    shopParam: options.shopParam ?? 'shop_id',
    shopIdFromParam: options.shopIdFromParam ?? (value => value),
    maxPerShop: integer('apiKeys.maxPerShop', options.maxPerShop ?? 100, 1),
    concurrency: integer('apiKeys.concurrency', options.concurrency ?? 3, 1),
    queueLength: integer('apiKeys.queueLength', options.queueLength ?? 256, 0),
    storeTimeout: duration('apiKeys.storeTimeout', options.storeTimeout ?? 2000)
  }
}

/** @throws {@link DUAL_AUTH_OPTION_INVALID} */
export function resolveJwt (options: JwtOptions): ResolvedJwtOptions {
  demand(typeof options === 'object' && options !== null, 'jwt is required')
  const algorithms = options.algorithms ?? ['RS256']
  demand(isTrustworthy(options.issuer), 'jwt.issuer must be an https URL, or http on loopback')
  demand(options.jwksUri === undefined || isTrustworthy(options.jwksUri), 'jwt.jwksUri must be an https URL, or http on loopback')
  demand(isTexts(options.userClients), 'jwt.userClients must be a list of client ids')
  for (const name of ['machineClients', 'machineScopes', 'audience'] as const) {
    // A text would be searched for parts of it.
    demand(options[name] === undefined || isTexts(options[name]), `jwt.${name} must be a list of texts`)
  }
  demand(algorithms.length > 0 && algorithms.every(alg => ASYMMETRIC.test(alg)), 'jwt.algorithms must be asymmetric signature algorithms')
  const clockTolerance = integer('jwt.clockTolerance', options.clockTolerance ?? 5, 0)
  demand(clockTolerance <= 60, 'jwt.clockTolerance must be at most 60 seconds')
  return {
    issuer: options.issuer,
    jwksUri: options.jwksUri,
    userClients: options.userClients,
    machineClients: options.machineClients,
    machineScopes: options.machineScopes,
    audience: options.audience,
    algorithms,
    groupsClaim: options.groupsClaim ?? 'cognito:groups',
    clockTolerance,
    jwksCooldown: duration('jwt.jwksCooldown', options.jwksCooldown ?? 30_000),
    jwksTimeout: duration('jwt.jwksTimeout', options.jwksTimeout ?? 5_000),
    jwksRefresh: duration('jwt.jwksRefresh', options.jwksRefresh ?? 600_000),
    jwksKeep: integer('jwt.jwksKeep', options.jwksKeep ?? 86_400_000, 1)
  }
}

/** @throws {@link DUAL_AUTH_OPTION_INVALID} */
export function resolveChallenge (challenge: ChallengeOptions = {}): ChallengeOptions {
  const { resourceMetadata, scope } = challenge
  demand(resourceMetadata === undefined || (URL.canParse(resourceMetadata) && QUOTABLE.test(resourceMetadata)), 'challenge.resourceMetadata must be an absolute URL in ASCII')
  demand(scope === undefined || QUOTABLE.test(scope), 'challenge.scope must be scopes separated by spaces')
  return challenge
}

function integer (name: string, value: number, minimum: number): number {
  demand(Number.isSafeInteger(value) && value >= minimum, `${name} must be a whole number, at least ${minimum}`)
  return value
}

/** A wait that a timer can hold: a longer one would be taken for none at all. */
function duration (name: string, value: number): number {
  demand(integer(name, value, 1) < 2 ** 31, `${name} must be less than 2^31 milliseconds`)
  return value
}

function isTexts (value: unknown): boolean {
  return Array.isArray(value) && value.every(item => typeof item === 'string' && item !== '')
}

/** https, or http on this machine: keys that come over anything else can be anybody's. */
export function isTrustworthy (url: unknown): boolean {
  if (typeof url !== 'string' || !URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname))
}

function demand (ok: boolean, message: string): asserts ok {
  if (!ok) throw new DUAL_AUTH_OPTION_INVALID(message)
}
