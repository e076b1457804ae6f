import { isStrings } from '../json.ts'

/**
 * Where a client stops:
 * `unreachable`: the server does not answer it; `endpoint`: the MCP endpoint does not return 401; `challenge`: the 401
 * names a document that does not exist; `resource`: the documented resource does not match the URL; `metadata`: no
 * usable authorization server metadata; `document`: the server cannot use the client's metadata document; `issuer`: not
 * the expected one; `pkce`: no S256; `registration`: no usable client id; `scope`, `callback`, `provider`: the identity
 * provider rejects the request; `client`: it wants a secret for tokens; `private`: the public server leads to an
 * address that is not public, where the doctor does not go.
 */
export type Reason =
  | 'unreachable'
  | 'endpoint'
  | 'challenge'
  | 'resource'
  | 'metadata'
  | 'issuer'
  | 'pkce'
  | 'document'
  | 'registration'
  | 'scope'
  | 'callback'
  | 'provider'
  | 'client'
  | 'private'

/** The first thing that stops a client. */
export interface Obstacle {
  readonly reason: Reason
  /** What was found and what was expected, in a sentence. */
  readonly detail: string
}

/** The JSON object a step ended with, or what stopped it. */
export type Step = { readonly found: Json, readonly obstacle?: never } | {
  readonly found?: never,
  readonly obstacle: Obstacle
}

export type Json = Readonly<Record<string, unknown>>

/** In characters: what responses say may have any length. */
const LONGEST = 500

export function stop (reason: Reason, detail: string): { readonly obstacle: Obstacle } {
  return { obstacle: { reason, detail: cut(detail) } }
}

export function isUrl (value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value)
}

export function list (value: unknown): string[] | undefined {
  return isStrings(value) ? value : undefined
}

export function first (value: unknown): string | undefined {
  return list(value)?.[0]
}

/** @param longest - in characters */
export function cut (text: string, longest = LONGEST): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text
}

/**
 * Escapes a server's text, so that a terminal shows it and does not execute it: control characters (C0, C1, line ends)
 * and those that reorder or hide text become `\u001b`, as in JSON. Longer strings are truncated.
 */
export function printable (text: string): string {
  return cut(text).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) =>
      Array.from(
        { length: character.length },
        (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`
      ).join('')
  )
}
