import type { Pepper } from './keys/format.ts'
import type { ChallengeOptions } from './challenge.ts'
import type { ApiKeyOptions, DualAuthOptions, JwtOptions, ManagementOptions, ResolvedApiKeyOptions, ResolvedJwtOptions, ResolvedOptions } from './options.ts'
import type { ApiKeyStore } from './keys/store.ts'
import { callable, demand, duration, integer, nothingElse, provider, record, text, texts } from './option-checks.ts'
import { LOG_N_LIMIT } from './keys/hash.ts'
import { scopesFromRoute } from './policy.ts'

const MARKER = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/
const HEADER = /^[a-z0-9-]+$/i
// What the router takes for the name of a parameter ends at any of these.
const PARAM = /^[^\s/:.()*?-]+$/
const ASYMMETRIC = /^(?:(?:RS|PS|ES)(?:256|384|512)|EdDSA)$/
// A quoted-string without anything that needs escaping.
const QUOTABLE = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/
const STORE: ReadonlyArray<keyof ApiKeyStore> = ['find', 'insert', 'list', 'revoke', 'rehash', 'touch']

/**
 * The options, checked and complete. Defaults are for what is left out: null is a value, and a wrong one.
 *
 * @throws {@link DUAL_AUTH_OPTION_INVALID}
 */
export function resolveOptions (options: DualAuthOptions): ResolvedOptions {
  const { apiKeys: keys, jwt, policy, scopes = scopesFromRoute, challenge = {}, management, ...rest } = options
  // Fastify passes on what it was given for itself.
  const { prefix: _prefix, logLevel: _logLevel, logSerializers: _logSerializers, ...unknown } = rest as Record<string, unknown>
  nothingElse('', unknown)
  const apiKeys = resolveApiKeys(keys)
  return {
    apiKeys,
    jwt: resolveJwt(jwt),
    policy: policy === undefined ? () => undefined : callable('policy', policy),
    scopes: callable('scopes', scopes),
    challenge: resolveChallenge(challenge),
    management: management === undefined ? undefined : resolveManagement(management, apiKeys.shopParam)
  }
}

/** @throws {@link DUAL_AUTH_OPTION_INVALID} */
export function resolveApiKeys (options: ApiKeyOptions): ResolvedApiKeyOptions {
  const {
    marker, peppers, store, logN = 5, headerName = 'x-api-key', shopParam = 'shop_id', shopIdFromParam = (value: string) => value,
    maxPerShop = 100, concurrency = 3, queueLength = 256, storeTimeout = 2000, ...rest
  } = record('apiKeys', options)
  nothingElse('apiKeys.', rest)
  demand(typeof marker === 'string' && MARKER.test(marker) && marker.length <= 16 && !marker.startsWith('ey'), 'apiKeys.marker must be lower-case words joined by _, at most 16 characters, and must not start like a JWT (ey)')
  record('apiKeys.store', store)
  demand(STORE.every(method => typeof store[method] === 'function'), `apiKeys.store must be a key store, with the methods ${STORE.join(', ')}`)
  demand(typeof headerName === 'string' && HEADER.test(headerName) && headerName.toLowerCase() !== 'authorization', 'apiKeys.headerName must be the name of a header other than Authorization')
  demand(typeof shopParam === 'string' && PARAM.test(shopParam), 'apiKeys.shopParam must be the name of a route parameter, without its colon')
  demand(integer('apiKeys.logN', logN, 1) <= LOG_N_LIMIT, `apiKeys.logN must be at most ${LOG_N_LIMIT}`)
  return {
    marker,
    peppers: resolvePeppers(peppers),
    store,
    headerName: headerName.toLowerCase(),
    logN,
    shopParam,
    shopIdFromParam: callable('apiKeys.shopIdFromParam', shopIdFromParam),
    maxPerShop: integer('apiKeys.maxPerShop', maxPerShop, 1),
    concurrency: integer('apiKeys.concurrency', concurrency, 1),
    queueLength: integer('apiKeys.queueLength', queueLength, 0),
    storeTimeout: duration('apiKeys.storeTimeout', storeTimeout)
  }
}

function resolvePeppers (peppers: readonly Pepper[]): readonly [Pepper, ...Pepper[]] {
  demand(Array.isArray(peppers) && peppers.length > 0, 'apiKeys.peppers must be a list of at least one pepper')
  for (const [i, pepper] of peppers.entries()) {
    const { id, secret, ...rest } = record(`apiKeys.peppers[${i}]`, pepper)
    nothingElse(`apiKeys.peppers[${i}].`, rest)
    text(`apiKeys.peppers[${i}].id`, id)
    // Where the environment lacks the variable, this is undefined.
    demand((typeof secret === 'string' || secret instanceof Uint8Array) && Buffer.byteLength(secret) >= 32, `apiKeys.peppers[${i}].secret must be a text or a Buffer of at least 32 bytes`)
  }
  demand(new Set(peppers.map(({ id }) => id)).size === peppers.length, 'apiKeys.peppers must have different ids')
  return peppers as readonly Pepper[] as readonly [Pepper, ...Pepper[]]
}

function resolveJwt (options: JwtOptions): ResolvedJwtOptions {
  const {
    issuer, jwksUri, userClients, machineClients, machineScopes, audience, algorithms = ['RS256'], groupsClaim = 'cognito:groups', clockTolerance = 5,
    jwksCooldown = 30_000, jwksTimeout = 5_000, jwksRefresh = 600_000, jwksKeep = 86_400_000, ...rest
  } = record('jwt', options)
  nothingElse('jwt.', rest)
  texts('jwt.algorithms', algorithms, 'asymmetric signature algorithms')
  demand(algorithms.length > 0 && algorithms.every(alg => ASYMMETRIC.test(alg)), 'jwt.algorithms must be a list of asymmetric signature algorithms')
  demand(integer('jwt.clockTolerance', clockTolerance, 0) <= 60, 'jwt.clockTolerance must be at most 60 seconds')
  return {
    issuer: provider('jwt.issuer', issuer),
    jwksUri: jwksUri === undefined ? undefined : provider('jwt.jwksUri', jwksUri),
    userClients: texts('jwt.userClients', userClients, 'client ids'),
    machineClients: machineClients === undefined ? undefined : texts('jwt.machineClients', machineClients, 'client ids'),
    machineScopes: machineScopes === undefined ? undefined : texts('jwt.machineScopes', machineScopes),
    audience: audience === undefined ? undefined : texts('jwt.audience', audience),
    algorithms,
    groupsClaim: text('jwt.groupsClaim', groupsClaim),
    clockTolerance,
    jwksCooldown: duration('jwt.jwksCooldown', jwksCooldown),
    jwksTimeout: duration('jwt.jwksTimeout', jwksTimeout),
    jwksRefresh: duration('jwt.jwksRefresh', jwksRefresh),
    jwksKeep: integer('jwt.jwksKeep', jwksKeep, 1)
  }
}

function resolveChallenge (challenge: ChallengeOptions): ChallengeOptions {
  const { resourceMetadata, scope, ...rest } = record('challenge', challenge)
  nothingElse('challenge.', rest)
  demand(resourceMetadata === undefined || (typeof resourceMetadata === 'string' && URL.canParse(resourceMetadata) && QUOTABLE.test(resourceMetadata)), 'challenge.resourceMetadata must be an absolute URL in ASCII')
  demand(scope === undefined || (typeof scope === 'string' && QUOTABLE.test(scope)), 'challenge.scope must be scopes separated by spaces')
  return challenge
}

function resolveManagement (management: ManagementOptions, shopParam: string): Required<ManagementOptions> {
  const { canManage, onKeyChange = () => {}, path = `/shops/:${shopParam}/api-keys`, ...rest } = record('management', management)
  nothingElse('management.', rest)
  demand(typeof path === 'string' && path.split('/').includes(`:${shopParam}`), `management.path must hold :${shopParam}`)
  return { canManage: callable('management.canManage', canManage), onKeyChange: callable('management.onKeyChange', onKeyChange), path }
}
