import {
  arrayOf,
  BOOLEAN,
  type Complete,
  DURATION,
  filledArrayOf,
  FUNCTION,
  integer,
  isFilled,
  isObject,
  milliseconds,
  OBJECT,
  oneOf,
  type Rule,
  type Table,
  TEXT,
  withoutRegistration
} from '#shared/option-table'
import type { ChallengeOptions } from './challenge.ts'
import type { Pepper } from './keys/format.ts'
import type { OnKeyEvent } from './keys/events.ts'
import { LOG_N_LIMIT } from './keys/hash.ts'
import { LONGEST_YES, type MayUse } from './keys/may-use.ts'
import type { ApiKeyStore } from './keys/store.ts'
import { isSafeUrl, must, settingsBy, WEB_URL } from './option-checks.ts'
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
  /** How long keys are used after they were last read, if the issuer is down, in ms. @default 86400000, a day */
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

const TABLE: Table<
  Complete<DualAuthOptions, 'policy' | 'tokenScopes' | 'onKeyEvent'>
> = {
  apiKeys: { ...OBJECT, secret: true, required: true },
  jwt: {
    holds: (jwt) => jwt === false || jwt === 'host' || (typeof jwt === 'object' && jwt !== null),
    rule: "must be the options of an issuer, an array of them, false or 'host'",
    secret: true,
    required: true
  },
  policy: FUNCTION,
  scopes: { ...FUNCTION, default: scopesFromRoute },
  tokenScopes: FUNCTION,
  challenge: { ...OBJECT, default: {} },
  onKeyEvent: FUNCTION
}

/**
 * Checks the options and fills in defaults.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION}
 */
export function settingsFromOptions (options: DualAuthOptions): Settings {
  for (const room of ['management', 'scanning']) {
    must(
      !Object.hasOwn(options, room),
      `${room} is a plugin of its own: register the default export of dual-auth/${room} after dual-auth`
    )
  }
  const { prefix: _prefix, ...own } = withoutRegistration(options) as { readonly prefix?: unknown }
  const { apiKeys, jwt, policy, scopes, tokenScopes, challenge, onKeyEvent } = settingsBy(TABLE, own)
  const acceptsTokens = jwt !== false && jwt !== 'host'
  must(acceptsTokens || tokenScopes === undefined, 'tokenScopes needs jwt: without it no tokens are accepted')
  return {
    apiKeys: apiKeySettings(apiKeys),
    jwt: acceptsTokens ? issuerSettings(jwt) : [],
    hostSignsIn: jwt === 'host',
    policy: policy ?? (() => undefined),
    scopes,
    tokenScopes: (route) => tokenScopes?.(route) ?? [],
    challenge: settingsBy(CHALLENGE, challenge, 'challenge'),
    onKeyEvent
  }
}

const CHALLENGE: Table<ChallengeOptions> = {
  resourceMetadata: {
    holds: (url) => typeof url === 'string' && URL.canParse(url) && /^https?:/i.test(url) && QUOTABLE.test(url),
    rule: 'must be an absolute URL in ASCII, with http or https'
  },
  scope: {
    holds: (scope) => typeof scope === 'string' && QUOTABLE.test(scope),
    rule: 'must be scopes separated by spaces'
  }
}

export const MARKER_RULE =
  'must be lower-case words joined by _, at most 16 characters, and must not start like a JWT (ey)'

export function isMarker (marker: unknown): marker is string {
  return typeof marker === 'string' && MARKER.test(marker) && marker.length <= 16 && !marker.startsWith('ey')
}

const API_KEYS: Table<Complete<ApiKeyOptions, 'ownerIdFromParam' | 'mayUse'>> = {
  marker: { holds: isMarker, rule: MARKER_RULE, required: true },
  peppers: { ...filledArrayOf(() => true, 'peppers'), secret: true, required: true },
  store: {
    holds: (store) => STORE.every((method) => typeof Object(store)[method] === 'function'),
    rule: `must be a key store, with the methods ${STORE.join(', ')}`,
    secret: true,
    required: true
  },
  logN: { ...integer(1, LOG_N_LIMIT), default: 5 },
  headerName: {
    holds: (name) => typeof name === 'string' && HEADER.test(name) && name.toLowerCase() !== 'authorization',
    rule: 'must be the name of a header other than Authorization',
    default: 'x-api-key'
  },
  ownerParam: {
    holds: (name) => name === null || (typeof name === 'string' && PARAM.test(name)),
    rule: 'must be the name of a route parameter, without its colon, or null',
    default: 'owner_id'
  },
  ownerIdFromParam: {
    holds: (ids) => typeof ids === 'function' || (typeof ids === 'string' && Object.hasOwn(SPELLINGS, ids)),
    rule: "must be 'integer', 'uuid', 'slug', or a function that returns the id of an owner as you store it, or " +
      'undefined for what is none'
  },
  mayUse: FUNCTION,
  mayUseCacheTime: { ...milliseconds(0, LONGEST_YES), default: 0 },
  maxPerOwner: { ...integer(1), default: 100 },
  concurrency: { ...integer(1), default: 3 },
  queueLength: { ...integer(0), default: 256 },
  storeTimeout: { ...DURATION, default: 2000 }
}

const PEPPER: Table<Pepper> = {
  id: { ...TEXT, required: true },
  secret: {
    // Undefined if it comes from an environment variable that is not set.
    holds: (secret) => (typeof secret === 'string' || secret instanceof Uint8Array) && Buffer.byteLength(secret) >= 32,
    rule: 'must be a string or Buffer of at least 32 bytes',
    secret: true,
    required: true
  }
}

/** @throws {@link DUAL_AUTH_INVALID_OPTION} */
export function apiKeySettings (options: ApiKeyOptions): ApiKeySettings {
  const given = settingsBy(API_KEYS, options, 'apiKeys')
  const { peppers, headerName, ownerIdFromParam: ids, mayUse, mayUseCacheTime } = given
  must(
    mayUse !== undefined || mayUseCacheTime === 0,
    'apiKeys.mayUseCacheTime is for apiKeys.mayUse, which is not set'
  )
  for (const [i, pepper] of peppers.entries()) settingsBy(PEPPER, pepper, `apiKeys.peppers[${i}]`)
  must(new Set(peppers.map(({ id }) => id)).size === peppers.length, 'apiKeys.peppers must have different ids')
  return {
    ...given,
    peppers: peppers as readonly Pepper[] as ApiKeySettings['peppers'],
    headerName: headerName.toLowerCase(),
    ownerIdFromParam: typeof ids === 'string' ? (value) => SPELLINGS[ids].test(value) ? value : undefined : ids
  }
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

const STRINGS = arrayOf(isFilled, 'strings')
const CLIENTS = arrayOf(isFilled, 'client ids')

const JWT: Table<
  Complete<
    JwtOptions,
    'tenants' | 'jwksUri' | 'jwks' | 'userClients' | 'machineClients' | 'machineScopes' | 'audience' | 'introspection'
  >
> = {
  provider: { ...oneOf(...PROVIDERS), default: 'cognito' },
  issuer: { ...WEB_URL, required: true },
  tenants: arrayOf(isFilled, 'tenant ids'),
  insecureHttp: { ...BOOLEAN, default: false },
  jwksUri: WEB_URL,
  // It may have private keys by mistake.
  jwks: {
    holds: (jwks) => isObject(jwks) && Array.isArray(jwks['keys']),
    rule: 'must be a JWK Set, with a list of keys',
    secret: true
  },
  userClients: {
    holds: (clients) => clients === 'any' || CLIENTS.holds(clients),
    rule: `${CLIENTS.rule}, or 'any'`
  },
  sessionTokens: { ...BOOLEAN, default: false },
  machineClients: CLIENTS,
  machineScopes: STRINGS,
  audience: STRINGS,
  insecureNoAudience: { ...BOOLEAN, default: false },
  algorithms: {
    ...filledArrayOf(
      (name) => typeof name === 'string' && ASYMMETRIC.test(name),
      'asymmetric signature algorithms, such as RS256 or ES256'
    ),
    default: ['RS256']
  },
  claims: { ...OBJECT, default: {} },
  introspection: {
    holds: (introspection) => Object(introspection).name === INTROSPECTION,
    rule: `must be introspection(…) of ${INTROSPECTION}`,
    secret: true
  },
  clockTolerance: { ...milliseconds(0, 60_000), default: 5_000 },
  jwksCooldown: { ...DURATION, default: 30_000 },
  jwksTimeout: { ...DURATION, default: 5_000 },
  jwksRefresh: { ...DURATION, default: 600_000 },
  jwksKeep: { ...milliseconds(1), default: 86_400_000 }
}

const CLAIM: Rule = {
  holds: (claim) => isFilled(claim) || STRINGS.holds(claim),
  rule: 'must be the name of a claim, or an array of names'
}
const CLAIMS: Table<ClaimNames> = { client: CLAIM, subject: CLAIM, username: CLAIM, groups: CLAIM, scopes: CLAIM }

function jwtSettings (name: string, options: JwtOptions): JwtSettings {
  const given = settingsBy(JWT, options, name)
  const { provider, issuer, insecureHttp, tenants, jwksUri, jwks, userClients, sessionTokens, machineClients } = given
  const { audience, insecureNoAudience, algorithms, claims, introspection } = given
  const mustBeSafe = (option: string, url: string): void =>
    must(
      isSafeUrl(url, insecureHttp),
      `${name}.${option} must be https, or http on loopback: ${name}.insecureHttp allows http, inside a network of ` +
        'your own'
    )
  const shape = TOKEN_SHAPES[provider]
  const hasSessions = sessionTokens || shape.sessionTokens === true
  const listed = userClients === undefined && hasSessions ? [] : userClients
  const users = listed === 'any' ? undefined : listed
  mustBeSafe('issuer', issuer)
  if (jwksUri !== undefined) mustBeSafe('jwksUri', jwksUri)
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
    !insecureNoAudience || provider === 'generic',
    `${name}.insecureNoAudience is for the provider generic`
  )
  if (introspection !== undefined) {
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
    if (introspection.endpoint !== undefined) mustBeSafe('introspection.endpoint', introspection.endpoint)
  }
  must(
    jwks === undefined || (jwksUri ?? introspection) === undefined,
    `${name}.jwks excludes ${name}.jwksUri and ${name}.introspection: nothing is read of the issuer`
  )
  return {
    ...given,
    shape: insecureNoAudience ? { ...shape, needsAudience: false } : shape,
    userClients: users,
    sessionTokens: hasSessions,
    checkAllClients: hasSessions || claims.client !== undefined,
    // One algorithm with two names, of RFC 8037 and RFC 9864.
    algorithms: algorithms.some((alg) => alg.startsWith('Ed'))
      ? [...new Set([...algorithms, 'EdDSA', 'Ed25519'] as const)]
      : algorithms,
    claims: claimPaths(`${name}.claims`, claims, shape.claims)
  }
}

/** The provider's claims, with those of the host in their place. */
function claimPaths (name: string, names: ClaimNames, standard: ClaimPaths): ClaimPaths {
  const own = settingsBy(CLAIMS, names, name)
  must(
    [own.client].flat().join() !== 'iss',
    `${name}.client must not be iss: the tokens of other people's apps have the same. ` +
      'For sessions, which name no client, set sessionTokens, or the provider supabase'
  )
  const paths = Object.entries({ ...own, machineScopes: own.scopes })
    .filter((entry): entry is [string, ClaimName] => entry[1] !== undefined)
    .map(([fact, claim]) => [fact, [[claim].flat()]])
  return { ...standard, ...Object.fromEntries(paths) as Partial<ClaimPaths> }
}
