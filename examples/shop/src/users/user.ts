/** A person who has signed in, or who was named before they did. */
export interface User {
  readonly id: string
  /** The `sub` claim of their tokens. */
  readonly subject: string
  /** What they sign in with, for display; null until a token has told it. */
  readonly name: string | null
  /** Those who are not active are refused, whatever their token says. */
  readonly active: boolean
  /** `admin` reaches all shops. */
  readonly roles: readonly string[]
}
