import type { FastifyRequest } from 'fastify'
import type { Pepper } from './keys/format.ts'
import type { ApiKeyStore, KeyChange } from './keys/store.ts'
import type { AuthPolicy, AuthRoute } from './policy.ts'
import type { ChallengeOptions } from './challenge.ts'
import type { ClaimRules } from './tokens/identity.ts'

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
   * ways, as a UUID in capitals. Undefined where there is no such shop: no API key gets in there, and none is made.
   * @default as it is
   */
  readonly shopIdFromParam?: (value: string) => string | undefined
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
  /**
   * Called for every key that these routes make or revoke, for an audit trail. `transaction` is the transaction of the
   * change: a `Knex.Transaction` for `knexStore`, undefined for `memoryStore`. What is written in it is kept if and only
   * if the change is. If the function throws, the change is undone and the response is 503. @default none
   */
  readonly onKeyChange?: (change: KeyChange, request: FastifyRequest, transaction: unknown) => void | Promise<void>
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
   * Asked once for each method of a route that has several, with `method` that one.
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

/** All options, checked and complete. */
export interface ResolvedOptions extends Required<Pick<DualAuthOptions, 'policy' | 'scopes' | 'challenge'>> {
  readonly apiKeys: ResolvedApiKeyOptions
  readonly jwt: ResolvedJwtOptions
  readonly management: Required<ManagementOptions> | undefined
}
