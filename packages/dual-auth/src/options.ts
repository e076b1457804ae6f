import type { ChallengeOptions } from './challenge.ts'
import type { Pepper } from './keys/format.ts'
import type { OnKeyEvent } from './keys/events.ts'
import { LOG_N_LIMIT } from './keys/hash.ts'
import { LONGEST_YES, type MayUse } from './keys/may-use.ts'
import type { ApiKeyStore } from './keys/store.ts'
import {
  boolean,
  duration,
  func,
  integer,
  must,
  noOthers,
  object,
  ownOptions,
  safeUrl,
  string,
  strings
} from './option-checks.ts'
import { scopesFromRoute } from './policy.ts'
import type { ClaimRules } from './tokens/identity.ts'
import { INTROSPECTION, type Introspection } from './tokens/introspection.ts'
import { PROVIDERS, TENANT, TOKEN_SHAPES, type ClaimPaths, type Provider } from './tokens/providers.ts'
import type { AuthPolicy, AuthRoute } from './types.ts'

/** How API keys look, where they are stored and what verifying one may cost. */
export interface ApiKeyOptions {
  /** What every key starts with: lower-case words joined by `_`, at most 16 characters. Names your product. */
  readonly marker: string
  /** Newest first: new keys use the first; older ones stay valid and keys move to the first as they are used. */
  readonly peppers: readonly Pepper[]
  readonly store: ApiKeyStore
  /**
   * scrypt cost of a new hash, 1 to 15. Up to 6, keys are verified on the event loop; above, in the thread pool.
   * @default 5
   */
  readonly logN?: number
  /** Header that may carry a key instead of `Authorization`. @default 'x-api-key' */
  readonly headerName?: string
  /**
   * Route parameter that names the owner of keys, such as `workspace_id`.
   * Null: no path names an owner, because there is one organization, or each key acts for a person whom paths do not
   * name.
   * @default 'owner_id'
   */
  readonly ownerParam?: string | null
  /**
   * The one spelling of an owner's id in paths. Your routes may read one owner from several: `01`, `1.0` and `1` are
   * one number, and a key that somebody made for `01` would be listed and counted apart from those of `1`. `'integer'`:
   * digits without leading zeros; `'uuid'`: in lower case; `'slug'`: lower-case ASCII letters, digits, `-` and `_`;
   * every other spelling is no owner. A function returns the id as you store it, or undefined if there is no such
   * owner. Where there is none, API keys get 403 and the management routes 404. Required with
   * `dual-auth/management` by path.
   * @default the value itself
   */
  readonly ownerIdFromParam?: OwnerIds | ((value: string) => string | undefined)
  /**
   * Whether a good key may be used now: `({ createdBy }) => works.has(createdBy)` ends the keys of people who left.
   * Asked at each use, after the key was verified. False is a 401, as for a revoked key, and an event with the reason
   * `not_allowed`. If it throws, takes longer than `storeTimeout` or returns anything else, the call gets 503.
   * @default every good key may
   */
  readonly mayUse?: MayUse
  /**
   * How long calls with a key share a yes of `mayUse`, in milliseconds, at most 1000. Above 0, the function must look
   * at the key alone: the answer to one request lets others in. A no is asked again.
   * @default 0, so that the function is asked at each use
   */
  readonly mayUseCacheTime?: number
  /** Active keys an owner may have. @default 100 */
  readonly maxPerOwner?: number
  /**
   * scrypt runs in libuv's thread pool at once: for new hashes, and for keys at a cost above 6.
   * @default 3, which leaves one of its four threads to file reads and DNS
   */
  readonly concurrency?: number
  /** Keys that may wait for the thread pool; further ones get 503. @default 256 */
  readonly queueLength?: number
  /** How long the store may take to answer, in milliseconds. @default 2000 */
  readonly storeTimeout?: number
}

/** How ids of owners are spelled. */
export type OwnerIds = 'integer' | 'uuid' | 'slug'

/** Where tokens have a fact: the name of a claim, or the path of names to it through nested objects. */
export type ClaimName = string | readonly string[]

/** The claims that differ from those of the provider. */
export interface ClaimNames {
  /** The id of the client that the token was issued to. */
  readonly client?: ClaimName
  /** The stable id of a person. */
  readonly subject?: ClaimName
  /** A person's name, for display. */
  readonly username?: ClaimName
  /** A person's groups or roles: a list of names, or an object with the names as keys. */
  readonly groups?: ClaimName
  /** The scopes of a person or a machine: a string of scopes separated by spaces, or a list. */
  readonly scopes?: ClaimName
}

/** Which tokens are accepted. */
export interface JwtOptions {
  /**
   * Whose access tokens they are: each provider has other claims. `rfc9068` is the standard, `generic` for those
   * without a preset.
   *
   * @default 'cognito'
   */
  readonly provider?: Provider
  /**
   * The issuer, exactly as in its tokens. Entra's may contain `{tenantid}`: it then stands for each of `tenants`.
   */
  readonly issuer: string
  /** The ids of the tenants whose tokens are accepted. Required if and only if `issuer` contains `{tenantid}`. */
  readonly tenants?: readonly string[]
  /**
   * Accepts `http:` in `issuer`, `jwksUri` and what the issuer says of its keys, on other machines too. Whoever can
   * answer in their place can then issue tokens: only inside a network of your own, such as a cluster.
   *
   * @default false
   */
  readonly insecureHttp?: boolean
  /** Where its signing keys are. @default what its `/.well-known/openid-configuration` says */
  readonly jwksUri?: string
  /**
   * Its signing keys themselves, as a JWK Set (RFC 7517 §5), for an issuer that is this server: it cannot read them
   * from itself before it is up. Nothing is read then.
   *
   * @default they are read
   */
  readonly jwks?: { readonly keys: readonly object[] }
  /**
   * Client ids that people sign in with. Required for Cognito and `generic`, but with `sessionTokens`.
   * `'any'`, for `generic` only: also clients that register themselves. Then `audience` is the URL of this API, which
   * clients request tokens for (RFC 8707), and `machineClients` says which of them are machines.
   * @default any client that has a token for `audience`; with session tokens none
   */
  readonly userClients?: readonly string[] | 'any'
  /**
   * Accepts tokens that name no client, for `generic` only: sessions of people at the provider's own sign-in. Those
   * that name one, as the tokens of other people's apps do, still need one of `userClients`. The provider `supabase`
   * has this on.
   * @default false
   */
  readonly sessionTokens?: boolean
  /**
   * Client ids of machines. Zitadel and authentik do not mark a machine's tokens: only these are machines there.
   * @default any client of the issuer whose token the provider marks as a machine's
   */
  readonly machineClients?: readonly string[]
  /**
   * The scopes that make a caller a machine.
   *
   * @default for Cognito any scope that ends in `/api`, else none is needed
   */
  readonly machineScopes?: readonly string[]
  /**
   * Allowed values of `aud`. Required, but for Cognito: its tokens have an `aud` only if the client requested a
   * resource (RFC 8707), and one without passes.
   */
  readonly audience?: readonly string[]
  /**
   * Accepts tokens without `aud`, of the provider `generic` only. Then any token of `userClients` and `machineClients`
   * opens this API, also one that a person gave to such a client for something else. One with another `aud` stays
   * refused.
   * @default false
   */
  readonly insecureNoAudience?: boolean
  /** Signature algorithms, asymmetric only; `EdDSA` and `Ed25519` are the same. @default ['RS256'] */
  readonly algorithms?: ReadonlyArray<
    'RS256' | 'RS384' | 'RS512' | 'PS256' | 'PS384' | 'PS512' | 'ES256' | 'ES384' | 'ES512' | 'EdDSA' | 'Ed25519'
  >
  /** The claims that differ from those of the provider. @default those of the provider */
  readonly claims?: ClaimNames
  /**
   * Asks the issuer about opaque tokens: `introspection({ … })` of `dual-auth/introspection`. For `generic`, `zitadel`
   * and `keycloak`; one issuer can have it, since an opaque token does not name its own.
   *
   * @default opaque tokens get 401
   */
  readonly introspection?: Introspection
  /** How much clocks may differ, in milliseconds, at most 60000. @default 5000 */
  readonly clockTolerance?: number
  /** Least time between two reads of the keys because of unknown key ids, in milliseconds. @default 30000 */
  readonly jwksCooldown?: number
  /** How long a read of the keys may take, in milliseconds. @default 5000 */
  readonly jwksTimeout?: number
  /** Time between two reads in the background, in milliseconds. @default 600000, ten minutes */
  readonly jwksRefresh?: number
  /** How long keys are used after they were last read, while the issuer is down, in milliseconds. @default 86400000, a day */
  readonly jwksKeep?: number
}

export interface DualAuthOptions {
  readonly apiKeys: ApiKeyOptions
  /**
   * The issuer of tokens, or several: a token is checked by the rules of the one that issued it. False: API keys alone
   * open routes. `'host'`: whoever presents no API key on a `dual` route is left to your own hooks, with `identity`
   * null; a bad key is still refused.
   */
  readonly jwt: JwtOptions | readonly JwtOptions[] | false | 'host'
  /** The policy of a route without `config.auth`; undefined means `jwt`. */
  readonly policy?: (route: AuthRoute) => AuthPolicy | undefined
  /**
   * The scopes that open this route; null lets every key of the owner in. A key with scopes needs one of them, a key
   * without any needs none. Called once for each method of a route, with that `method`.
   * @default `scopesFromRoute`: `read` or `write` by method, and the operation id
   */
  readonly scopes?: (route: AuthRoute) => readonly string[] | null
  /**
   * The scopes that a token needs to call this route, all of them; null for none. A token without them gets 403 and a
   * challenge that names them, so that clients can ask their user for more. Called once for each method of a route,
   * with that `method`. @default none
   */
  readonly tokenScopes?: (route: AuthRoute) => readonly string[] | null
  /** Where clients get a token, for the challenge of a 401. */
  readonly challenge?: ChallengeOptions
  /**
   * Called after events of API keys: created, rotated, revoked, refused, used for the first time or from
   * a new network, about to expire, not used for long. At most once for each event, however many replicas there are. It
   * delays no call, and an error that it throws is only logged. To record changes without gaps, or to veto them, use
   * `management.onKeyChange`. @default none
   */
  readonly onKeyEvent?: OnKeyEvent
}

/** API key options, checked and complete. */
export interface ApiKeySettings extends Required<Omit<ApiKeyOptions, 'peppers' | 'ownerIdFromParam' | 'mayUse'>> {
  readonly mayUse: MayUse | undefined
  readonly ownerIdFromParam: ((value: string) => string | undefined) | undefined
  readonly peppers: readonly [Pepper, ...Pepper[]]
}

/** JWT options, checked and complete. */
export interface JwtSettings extends
  ClaimRules,
  Required<
    Pick<
      JwtOptions,
      | 'provider'
      | 'issuer'
      | 'insecureHttp'
      | 'algorithms'
      | 'jwksCooldown'
      | 'jwksTimeout'
      | 'jwksRefresh'
      | 'jwksKeep'
    >
  >
{
  readonly tenants: readonly string[] | undefined
  readonly jwksUri: string | undefined
  readonly jwks: JwtOptions['jwks']
  readonly introspection: Introspection | undefined
}

/** All options, checked and complete. */
export interface Settings extends Required<Pick<DualAuthOptions, 'policy' | 'scopes' | 'challenge'>> {
  readonly tokenScopes: (route: AuthRoute) => readonly string[]
  readonly apiKeys: ApiKeySettings
  /** None: no tokens are accepted. */
  readonly jwt: readonly JwtSettings[]
  /** Whether the host's own hooks decide about whoever presents no API key. */
  readonly hostSignsIn: boolean
  readonly onKeyEvent: OnKeyEvent | undefined
}

const MARKER = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/
const HEADER = /^[a-z0-9-]+$/i
// The router ends the name of a parameter at any of these.
const PARAM = /^[^\s/:.()*?-]+$/
const ASYMMETRIC = /^(?:(?:RS|PS|ES)(?:256|384|512)|EdDSA|Ed25519)$/
// A quoted-string in which nothing needs escaping.
const QUOTABLE = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/
/** Their users choose the audience of a token themselves. */
const OPEN_ISSUERS = new Set(['https://accounts.google.com', 'https://token.actions.githubusercontent.com'])
const SPELLINGS: Readonly<Record<OwnerIds, RegExp>> = {
  integer: /^(?:0|[1-9]\d{0,18})$/,
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  slug: /^[a-z0-9_-]+$/
}
const STORE: ReadonlyArray<keyof ApiKeyStore> = [
  'find',
  'insert',
  'list',
  'revoke',
  'rotate',
  'rehash',
  'touch',
  'takeNotices'
]

/**
 * Checks the options and fills in defaults. A default replaces undefined only: null is a wrong value.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION}
 */
export function settingsFromOptions (options: DualAuthOptions): Settings {
  const {
    apiKeys: keys,
    jwt,
    policy,
    scopes = scopesFromRoute,
    tokenScopes,
    challenge = {},
    onKeyEvent,
    ...rest
  } = options
  for (const room of ['management', 'scanning']) {
    must(
      !Object.hasOwn(rest, room),
      `${room} is a plugin of its own: register the default export of dual-auth/${room} after dual-auth`
    )
  }
  const { prefix: _prefix, ...unknown } = ownOptions(rest) as Record<string, unknown>
  noOthers('', unknown)
  const apiKeys = apiKeySettings(keys)
  const acceptsTokens = jwt !== false && jwt !== 'host'
  must(acceptsTokens || tokenScopes === undefined, 'tokenScopes needs jwt: without it no tokens are accepted')
  return {
    apiKeys,
    jwt: acceptsTokens ? issuerSettings(jwt) : [],
    hostSignsIn: jwt === 'host',
    policy: policy === undefined ? () => undefined : func('policy', policy),
    scopes: func('scopes', scopes),
    tokenScopes: nullAsNone(func('tokenScopes', tokenScopes ?? (() => null))),
    challenge: challengeSettings(challenge),
    onKeyEvent: onKeyEvent === undefined ? undefined : func('onKeyEvent', onKeyEvent)
  }
}

function nullAsNone (tokenScopes: NonNullable<DualAuthOptions['tokenScopes']>): Settings['tokenScopes'] {
  return (route) => tokenScopes(route) ?? []
}

/** @throws {@link DUAL_AUTH_INVALID_OPTION} */
export function apiKeySettings (options: ApiKeyOptions): ApiKeySettings {
  const {
    marker,
    peppers,
    store,
    logN = 5,
    headerName = 'x-api-key',
    ownerParam = 'owner_id',
    ownerIdFromParam,
    mayUse,
    mayUseCacheTime = 0,
    maxPerOwner = 100,
    concurrency = 3,
    queueLength = 256,
    storeTimeout = 2000,
    ...rest
  } = object('apiKeys', options)
  noOthers('apiKeys.', rest)
  must(isMarker(marker), `apiKeys.marker ${MARKER_RULE}`)
  object('apiKeys.store', store)
  must(
    STORE.every((method) => typeof store[method] === 'function'),
    `apiKeys.store must be a key store, with the methods ${STORE.join(', ')}`
  )
  must(
    typeof headerName === 'string' && HEADER.test(headerName) && headerName.toLowerCase() !== 'authorization',
    'apiKeys.headerName must be the name of a header other than Authorization'
  )
  must(
    ownerParam === null || (typeof ownerParam === 'string' && PARAM.test(ownerParam)),
    'apiKeys.ownerParam must be the name of a route parameter, without its colon, or null'
  )
  if (mayUse !== undefined) func('apiKeys.mayUse', mayUse)
  must(
    integer('apiKeys.mayUseCacheTime', mayUseCacheTime, 0) <= LONGEST_YES,
    `apiKeys.mayUseCacheTime must be at most ${LONGEST_YES} milliseconds`
  )
  must(
    mayUse !== undefined || mayUseCacheTime === 0,
    'apiKeys.mayUseCacheTime is for apiKeys.mayUse, which is not set'
  )
  must(integer('apiKeys.logN', logN, 1) <= LOG_N_LIMIT, `apiKeys.logN must be at most ${LOG_N_LIMIT}`)
  return {
    marker,
    peppers: peppersFrom(peppers),
    store,
    headerName: headerName.toLowerCase(),
    logN,
    ownerParam,
    ownerIdFromParam: ownerIdFromParam === undefined ? undefined : idsFrom(ownerIdFromParam),
    mayUse,
    mayUseCacheTime,
    maxPerOwner: integer('apiKeys.maxPerOwner', maxPerOwner, 1),
    concurrency: integer('apiKeys.concurrency', concurrency, 1),
    queueLength: integer('apiKeys.queueLength', queueLength, 0),
    storeTimeout: duration('apiKeys.storeTimeout', storeTimeout)
  }
}

function idsFrom (ids: NonNullable<ApiKeyOptions['ownerIdFromParam']>): (value: string) => string | undefined {
  if (typeof ids === 'function') return ids
  must(
    Object.hasOwn(SPELLINGS, ids),
    "apiKeys.ownerIdFromParam must be 'integer', 'uuid', 'slug', or a function that returns the id of an owner as " +
      'you store it, or undefined for what is none'
  )
  return (value) => SPELLINGS[ids].test(value) ? value : undefined
}

export const MARKER_RULE =
  'must be lower-case words joined by _, at most 16 characters, and must not start like a JWT (ey)'

export function isMarker (marker: unknown): marker is string {
  return typeof marker === 'string' && MARKER.test(marker) && marker.length <= 16 && !marker.startsWith('ey')
}

function peppersFrom (peppers: readonly Pepper[]): ApiKeySettings['peppers'] {
  must(Array.isArray(peppers) && peppers.length > 0, 'apiKeys.peppers must be a list of at least one pepper')
  for (const [i, pepper] of peppers.entries()) {
    const { id, secret, ...rest } = object(`apiKeys.peppers[${i}]`, pepper)
    noOthers(`apiKeys.peppers[${i}].`, rest)
    string(`apiKeys.peppers[${i}].id`, id)
    // Undefined if it comes from an environment variable that is not set.
    must(
      (typeof secret === 'string' || secret instanceof Uint8Array) && Buffer.byteLength(secret) >= 32,
      `apiKeys.peppers[${i}].secret must be a string or Buffer of at least 32 bytes`
    )
  }
  must(new Set(peppers.map(({ id }) => id)).size === peppers.length, 'apiKeys.peppers must have different ids')
  return peppers as readonly Pepper[] as ApiKeySettings['peppers']
}

/** @throws {@link DUAL_AUTH_INVALID_OPTION} */
export function issuerSettings (jwt: JwtOptions | readonly JwtOptions[]): readonly JwtSettings[] {
  const issuers = Array.isArray(jwt)
    ? jwt.map((options, i) => jwtSettings(`jwt[${i}]`, options))
    : [jwtSettings('jwt', jwt as JwtOptions)]
  must(issuers.length > 0, 'jwt must have at least one issuer')
  must(new Set(issuers.map(({ issuer }) => issuer)).size === issuers.length, 'jwt must have different issuers')
  must(
    issuers.filter(({ introspection }) => introspection !== undefined).length <= 1,
    'jwt must have introspection for one issuer only: an opaque token does not name its own'
  )
  must(
    new Set(issuers.map(({ clockTolerance }) => clockTolerance)).size === 1,
    'jwt must have the same clockTolerance for all issuers'
  )
  return issuers
}

function jwtSettings (name: string, options: JwtOptions): JwtSettings {
  const {
    provider = 'cognito',
    issuer,
    insecureHttp = false,
    tenants,
    jwksUri,
    jwks,
    userClients,
    sessionTokens = false,
    machineClients,
    machineScopes,
    audience,
    insecureNoAudience = false,
    algorithms = ['RS256'],
    claims = {},
    introspection,
    clockTolerance = 5_000,
    jwksCooldown = 30_000,
    jwksTimeout = 5_000,
    jwksRefresh = 600_000,
    jwksKeep = 86_400_000,
    ...rest
  } = object(name, options)
  noOthers(`${name}.`, rest)
  must(PROVIDERS.includes(provider), `${name}.provider must be one of ${PROVIDERS.join(', ')}`)
  const shape = TOKEN_SHAPES[provider]
  const hasSessions = boolean(`${name}.sessionTokens`, sessionTokens) || shape.sessionTokens === true
  const listed = userClients === undefined && hasSessions ? [] : userClients
  const users = listed === 'any' ? undefined : listed
  if (users !== undefined) strings(`${name}.userClients`, users, 'client ids')
  if (machineClients !== undefined) strings(`${name}.machineClients`, machineClients, 'client ids')
  if (audience !== undefined) strings(`${name}.audience`, audience)
  const insecure = { option: `${name}.insecureHttp`, isSet: boolean(`${name}.insecureHttp`, insecureHttp) }
  safeUrl(`${name}.issuer`, issuer, insecure)
  must(
    !issuer.includes(TENANT) || provider === 'entra',
    `${name}.issuer may contain ${TENANT} only with the provider entra`
  )
  must(
    issuer.includes(TENANT) === (tenants !== undefined),
    `${name}.tenants must be given if and only if ${name}.issuer contains ${TENANT}`
  )
  must(
    !sessionTokens || provider === 'generic',
    `${name}.sessionTokens is for the provider generic; supabase has it on`
  )
  must(
    !sessionTokens || introspection === undefined,
    `${name}.sessionTokens excludes ${name}.introspection: the answer may leave out the client`
  )
  const needsUserClients = shape.needsUserClients === true && !hasSessions
  must(!needsUserClients || userClients !== undefined, `${name}.userClients is required with the provider ${provider}`)
  must(
    !shape.needsAudience || (audience !== undefined && audience.length > 0),
    `${name}.audience is required with the provider ${provider}: it lists the values of aud that mean this API`
  )
  if (userClients === 'any') {
    must(provider === 'generic', `${name}.userClients may be any with the provider generic only`)
    const isUrl = audience!.every((value) => /^https?:/i.test(value) && URL.canParse(value)) && !insecureNoAudience
    must(
      isUrl,
      `${name}.audience must be the URL of this API where ${name}.userClients is any: clients request tokens for that`
    )
    must(
      machineClients !== undefined,
      `${name}.machineClients is required where ${name}.userClients is any: any client could be a machine`
    )
  }
  must(
    !OPEN_ISSUERS.has(issuer) || machineClients !== undefined,
    `${name}.machineClients is required with ${issuer}: anybody gets tokens of it for any audience`
  )
  const inBoth = shape.listsDecide === true ? machineClients?.find((client) => users?.includes(client)) : undefined
  must(
    inBoth === undefined,
    `${name}.machineClients and ${name}.userClients must not both list ${inBoth}: with the provider ${provider} ` +
      'its people would be machines'
  )
  must(
    !boolean(`${name}.insecureNoAudience`, insecureNoAudience) || provider === 'generic',
    `${name}.insecureNoAudience is for the provider generic`
  )
  if (introspection !== undefined) {
    must(
      (introspection as Partial<Introspection> | null)?.name === INTROSPECTION,
      `${name}.introspection must be introspection(…) of ${INTROSPECTION}`
    )
    must(
      shape.fromAnswer !== undefined,
      `${name}.introspection is for the providers ` +
        `${PROVIDERS.filter((known) => TOKEN_SHAPES[known].fromAnswer !== undefined).join(', ')}: generic reads ` +
        'what any issuer answers'
    )
    must(
      jwksUri === undefined || introspection.endpoint !== undefined,
      `${name}.introspection.endpoint is required with ${name}.jwksUri: no discovery document is read that ` +
        'could name it'
    )
    if (introspection.endpoint !== undefined) {
      safeUrl(`${name}.introspection.endpoint`, introspection.endpoint, insecure)
    }
  }
  must(
    jwks === undefined || (jwksUri ?? introspection) === undefined,
    `${name}.jwks excludes ${name}.jwksUri and ${name}.introspection: nothing is read of the issuer`
  )
  must(
    jwks === undefined || Array.isArray(object(`${name}.jwks`, jwks).keys),
    `${name}.jwks must be a JWK Set, with a list of keys`
  )
  strings(`${name}.algorithms`, algorithms, 'asymmetric signature algorithms, such as RS256 or ES256')
  must(
    algorithms.length > 0 && algorithms.every((alg) => ASYMMETRIC.test(alg)),
    `${name}.algorithms must be a list of asymmetric signature algorithms, such as RS256 or ES256`
  )
  must(
    integer(`${name}.clockTolerance`, clockTolerance, 0) <= 60_000,
    `${name}.clockTolerance must be at most 60000 milliseconds`
  )
  return {
    provider,
    shape: insecureNoAudience ? { ...shape, needsAudience: false } : shape,
    issuer,
    insecureHttp,
    tenants: tenants === undefined ? undefined : strings(`${name}.tenants`, tenants, 'tenant ids'),
    jwksUri: jwksUri === undefined ? undefined : safeUrl(`${name}.jwksUri`, jwksUri, insecure),
    jwks,
    userClients: users,
    machineClients,
    sessionTokens: hasSessions,
    checkAllClients: hasSessions || claims.client !== undefined,
    machineScopes: machineScopes === undefined ? undefined : strings(`${name}.machineScopes`, machineScopes),
    audience,
    // One algorithm with two names, of RFC 8037 and RFC 9864.
    algorithms: algorithms.some((alg) => alg.startsWith('Ed'))
      ? [...new Set([...algorithms, 'EdDSA', 'Ed25519'] as const)]
      : algorithms,
    claims: claimPaths(`${name}.claims`, claims, shape.claims),
    introspection,
    clockTolerance,
    jwksCooldown: duration(`${name}.jwksCooldown`, jwksCooldown),
    jwksTimeout: duration(`${name}.jwksTimeout`, jwksTimeout),
    jwksRefresh: duration(`${name}.jwksRefresh`, jwksRefresh),
    jwksKeep: integer(`${name}.jwksKeep`, jwksKeep, 1)
  }
}

/** The provider's claims, with those of the host in their place. */
function claimPaths (name: string, names: ClaimNames, standard: ClaimPaths): ClaimPaths {
  const { client, subject, username, groups, scopes, ...rest } = object(name, names)
  noOthers(`${name}.`, rest)
  must(
    [client].flat().join() !== 'iss',
    `${name}.client must not be iss: the tokens of other people's apps have the same. ` +
      'For sessions, which name no client, set sessionTokens, or the provider supabase'
  )
  const own = Object.entries({ client, subject, username, groups, scopes, machineScopes: scopes })
    .filter((entry): entry is [string, ClaimName] => entry[1] !== undefined)
    .map((
      [fact, claim]
    ) => [fact, [
      typeof claim === 'string' ? [string(`${name}.${fact}`, claim)] : strings(`${name}.${fact}`, claim, 'names')
    ]])
  return { ...standard, ...Object.fromEntries(own) as Partial<ClaimPaths> }
}

function challengeSettings (challenge: ChallengeOptions): ChallengeOptions {
  const { resourceMetadata, scope, ...rest } = object('challenge', challenge)
  noOthers('challenge.', rest)
  must(
    resourceMetadata === undefined ||
      (typeof resourceMetadata === 'string' && URL.canParse(resourceMetadata) && /^https?:/i.test(resourceMetadata) &&
        QUOTABLE.test(resourceMetadata)),
    'challenge.resourceMetadata must be an absolute URL in ASCII, with http or https'
  )
  must(
    scope === undefined || (typeof scope === 'string' && QUOTABLE.test(scope)),
    'challenge.scope must be scopes separated by spaces'
  )
  return challenge
}
