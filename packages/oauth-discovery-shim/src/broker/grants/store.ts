/** A sign-in that goes on: a client that has a refresh token of this server. */
export interface Grant {
  /** That of its chain of refresh tokens. */
  readonly id: string
  /** URL of the client's metadata document, or its id in the options; null for one that registered, whose id is long. */
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
}

/** What is known when tokens were issued. */
export interface Issued extends Omit<Grant, 'createdAt'> {
  /** Whose it is; undefined if these tokens do not say, though those before them may have. */
  readonly subject: string | undefined
}

/** Where grants are recorded. */
export interface GrantStore {
  /** Adds a grant, or what changed of it. One that has ended stays so. */
  record (issued: Issued): Promise<void>
  /** Those of a person that have neither ended nor expired, the last used first. */
  list (subject: string): Promise<readonly Grant[]>
  /** One of them. */
  find (subject: string, id: string): Promise<Grant | undefined>
  end (id: string): Promise<void>
}
