/**
 * Where a client stops:
 * `unreachable` the server does not answer it; `endpoint` the MCP endpoint does not ask for a sign-in;
 * `challenge` the 401 leads nowhere; `resource` the documented resource is not the URL; `metadata`
 * no usable authorization server metadata; `issuer` it is not the one expected; `pkce` S256 is not
 * promised; `registration` it is given no client id it can use; `scope`, `callback`, `provider` the
 * identity provider refuses what it asks for. `private` the server, which is public, leads to an address that is not;
 * the doctor does not go there.
 */
export type Reason = 'unreachable' | 'endpoint' | 'challenge' | 'resource' | 'metadata' | 'issuer' | 'pkce' |
  'registration' | 'scope' | 'callback' | 'provider' | 'private'

/** The first thing that stops a client. */
export interface Obstacle {
  readonly reason: Reason
  /** What was found and what would have been right, in a sentence. */
  readonly detail: string
}

/** The JSON object a step ended with, or what stopped it. */
export type Step = { readonly found: Json, readonly obstacle?: never } | { readonly found?: never, readonly obstacle: Obstacle }

export type Json = Readonly<Record<string, unknown>>

/** Characters; a detail quotes what servers answer, at any length. */
const longestDetail = 500

export function stop (reason: Reason, detail: string): { readonly obstacle: Obstacle } {
  return { obstacle: { reason, detail: detail.length > longestDetail ? `${detail.slice(0, longestDetail - 1)}…` : detail } }
}

export function isUrl (value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value)
}

export function list (value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every(item => typeof item === 'string') ? value : undefined
}

export function first (value: unknown): string | undefined {
  return list(value)?.[0]
}
