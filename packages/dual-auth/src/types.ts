import type { ApiKeyOwner, FastifyContextConfig, FastifySchema } from 'fastify'

/** A caller that presented an API key. */
export interface ApiKeyIdentity {
  readonly kind: 'api-key'
  /** UUID of the key, the one in the management routes; never secret. */
  readonly keyId: string
  /** The one owner the key belongs to. */
  readonly ownerId: string
  /** `read`, `write` or operation ids; empty means every operation of the owner. */
  readonly scopes: readonly string[]
  /**
   * What the store returned of the owner: read with the key when the request arrived, never cached. Absent unless the
   * store returns it, as `knexStore` does with its option `owner`.
   */
  readonly owner?: ApiKeyOwner
}

/** A program that presented a client-credentials access token. */
export interface MachineIdentity {
  readonly kind: 'machine'
  /** The `iss` claim. */
  readonly issuer: string
  readonly clientId: string
  readonly scopes: readonly string[]
}

/** A person who presented an access token of a known app client. */
export interface UserIdentity {
  readonly kind: 'user'
  /** The `iss` claim. */
  readonly issuer: string
  /** The person's id: stable and unique at this issuer; the `sub` claim of most providers. Map your own users by it. */
  readonly subject: string
  /** The name the person signs in with, for display; null when the token has none. */
  readonly username: string | null
  /** The groups claim; empty when the token has none. */
  readonly groups: readonly string[]
  readonly scopes: readonly string[]
}

/** Who is calling. Frozen. */
export type Identity = ApiKeyIdentity | MachineIdentity | UserIdentity

/**
 * Who may call a route. `jwt`: machines and people with a token. `dual`: those and the API keys of the owner that the
 * path names. `any-key`: the same, for a path that names no owner: API keys of every owner. It becomes `dual` with
 * `anyOwner` in the route's `config`. `public`: everybody; credentials are not even read. Without tokens (the option
 * `jwt` is false or `'host'`) `jwt` means nobody, and is what a route without a policy has.
 */
export type AuthPolicy = 'jwt' | 'dual' | 'any-key' | 'public'

/** What is known of a route when its policy is decided. */
export interface AuthRoute {
  readonly method: string | readonly string[]
  readonly url: string
  /** Includes the OpenAPI members that @fastify/swagger declares, whether or not the host registers it. */
  readonly schema?: FastifySchema & { readonly tags?: readonly string[], readonly operationId?: string } | undefined
  readonly config?: FastifyContextConfig | undefined
}
