import { isUnseen, visible } from '#shared/visible'

/** How a client proves at the token endpoint that it is that client. `none`: by PKCE alone. */
export type ClientAuth = 'none' | 'private_key_jwt'

/** A program that wants tokens for this server. */
export interface Client {
  readonly id: string
  /**
   * Where what is known of it comes from: its document, its registration, which nobody checked, or the server's
   * options.
   */
  readonly source: 'document' | 'registration' | 'list'
  /** What it calls itself, in one line. */
  readonly name: string
  readonly redirectUris: readonly string[]
  readonly auth: ClientAuth
  /** Its public keys, or their URL. */
  readonly keys?: { readonly jwks: object } | { readonly jwksUri: string }
}

/** In characters. */
const LONGEST_NAME = 60

/** In characters: what is looked at of a name. */
const LONGEST_INPUT = 1000

/** More marks on one letter than any language writes: they would cover the lines around it. */
const PILE = /(\p{M}{3})\p{M}+/gu

/** One line that can be shown: what nobody sees, or what turns the order of letters, is named. Never empty. */
export function nameFrom (value: unknown, otherwise: string): string {
  const text = typeof value === 'string'
    ? value.slice(0, LONGEST_INPUT).normalize('NFKC').replace(PILE, '$1').replace(/\s+/g, ' ').trim()
    : ''
  if (isUnseen(text)) return otherwise
  const shown = Array.from(visible(text))
  return shown.length > LONGEST_NAME ? `${shown.slice(0, LONGEST_NAME - 1).join('')}…` : shown.join('')
}
