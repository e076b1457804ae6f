import type { FastifyBaseLogger } from 'fastify'

/** A sign-in that goes on: a client that has a refresh token of this server. */
export interface Grant {
  /** That of its chain of refresh tokens. */
  readonly id: string
  /**
   * URL of the client's metadata document, or its id in the options; null for one that registered, whose id is long.
   */
  readonly clientId: string | null
  /** What the client calls itself. */
  readonly clientName: string
  readonly scope: string
  readonly createdAt: Date
  /** When it last got an access token. */
  readonly usedAt: Date
  /** When the last access token expires; null if the identity provider does not say. */
  readonly accessExpiresAt: Date | null
  /** When its refresh token expires. */
  readonly expiresAt: Date
  /**
   * The provider's last refresh token, sealed with `secrets`, so that the provider can be told of the end;
   * undefined if there is nothing to tell it. A store may leave it out: the provider is then not told.
   */
  readonly providerToken?: string | undefined
}

/** What is known when tokens were issued. */
export interface Issued extends Omit<Grant, 'createdAt'> {
  /** Whose it is; undefined if these tokens do not say, though those before them may have. */
  readonly subject: string | undefined
}

/**
 * Whether the identity provider revoked the sign-in; `not_told`: it offers no revocation, or its token is not known.
 */
export type AtProvider = 'revoked' | 'failed' | 'not_told'

/** A grant as the routes return it. */
export interface ConnectedApp {
  readonly id: string
  readonly client_id: string | null
  readonly client_name: string
  readonly scope: string
  readonly created_at: Date
  readonly used_at: Date
  readonly access_token_expires_at: Date | null
  readonly expires_at: Date
}

/** What became of a grant that was ended. */
export interface EndedGrant {
  readonly id: string
  readonly client_name: string
  /** Until when its last access token works; null if the provider does not say. */
  readonly access_token_expires_at: Date | null
  readonly at_provider: AtProvider
}

/**
 * The record of grants, for routes of the host's own, such as those of administrators. The host checks who may call
 * them.
 */
export interface OAuthGrants {
  /** Those of a person, as `GET /oauth/grants` returns them. */
  list(subject: string, log?: FastifyBaseLogger): Promise<readonly ConnectedApp[]>
  /**
   * Ends one of them, as `DELETE /oauth/grants/:id` does.
   *
   * @param log - `request.log`, so that the line about it has the id of the request. Default: that of the app
   * @throws {@link OAUTH_DISCOVERY_SHIM_NO_GRANT}, {@link OAUTH_DISCOVERY_SHIM_STORE_UNAVAILABLE}
   */
  end(subject: string, id: string, log?: FastifyBaseLogger): Promise<EndedGrant>
}

/** Where grants are recorded. */
export interface GrantStore {
  /** Adds a grant, or what changed of it. One that has ended stays so. */
  record(issued: Issued): Promise<void>
  /** Those of a person that have neither ended nor expired, the last used first. */
  list(subject: string): Promise<readonly Grant[]>
  /** One of them. */
  find(subject: string, id: string): Promise<Grant | undefined>
  /** It is listed no more, and its `providerToken` is forgotten. */
  end(id: string): Promise<void>
}
