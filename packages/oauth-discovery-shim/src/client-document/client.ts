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

/** Control characters, those that change the direction of text, and those that show nothing. */
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** More marks on one letter than any language writes: they would cover the lines around it. */
const PILE = /(\p{M}{3})\p{M}+/gu

/**
 * One line that can be shown: without characters that could make a page say something else. Never empty.
 */
export function nameFrom (value: unknown, otherwise: string): string {
  const text = typeof value === 'string'
    ? value.slice(0, LONGEST_INPUT).normalize('NFKC').replace(/[\t\n\r\p{Zl}\p{Zp}]/gu, ' ').replace(UNSEEN, '')
      .replace(PILE, '$1').replace(/\s+/g, ' ').trim()
    : ''
  if (text === '') return otherwise
  return text.length > LONGEST_NAME ? `${[...text].slice(0, LONGEST_NAME - 1).join('')}…` : text
}
