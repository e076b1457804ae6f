/** A person who has signed in, or who was made an admin before. */
export interface User {
  readonly id: string
  /** The `sub` claim of their tokens. */
  readonly subject: string
  /** The name that they sign in with, for display; null if no token has had it yet. */
  readonly name: string | null
  /** Inactive people are rejected, even with a valid token. */
  readonly active: boolean
  /** `admin` reaches all shops. */
  readonly roles: readonly string[]
}
