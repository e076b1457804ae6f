/**
 * Where a client stops:
 * `unreachable`: the server does not answer it; `endpoint`: the MCP endpoint does not return 401; `challenge`: the 401
 * names a document that does not exist; `resource`: the documented resource does not match the URL; `metadata`: no usable
 * authorization server metadata; `document`: the server cannot use the client's metadata document; `issuer`: not the expected one; `pkce`: no S256; `registration`: no usable client id;
 * `scope`, `callback`, `provider`: the identity provider rejects the request; `private`: the public server leads to an
 * address that is not public, where the doctor does not go.
 */
export type Reason = 'unreachable' | 'endpoint' | 'challenge' | 'resource' | 'metadata' | 'issuer' | 'pkce' |
  'document' | 'registration' | 'scope' | 'callback' | 'provider' | 'private'

/** The first thing that stops a client. */
export interface Obstacle {
  readonly reason: Reason
  /** What was found and what was expected, in a sentence. */
  readonly detail: string
}

/** The JSON object a step ended with, or what stopped it. */
export type Step = { readonly found: Json, readonly obstacle?: never } | { readonly found?: never, readonly obstacle: Obstacle }

export type Json = Readonly<Record<string, unknown>>

/** In characters: a detail quotes responses, which may have any length. */
const LONGEST_DETAIL = 500

export function stop (reason: Reason, detail: string): { readonly obstacle: Obstacle } {
  return { obstacle: { reason, detail: detail.length > LONGEST_DETAIL ? `${detail.slice(0, LONGEST_DETAIL - 1)}…` : detail } }
}

export function isUrl (value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value)
}

export function list (value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined
}

export function first (value: unknown): string | undefined {
  return list(value)?.[0]
}
