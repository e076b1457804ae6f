import { createHmac } from 'node:crypto'

/** A secret of a setting, such as `2026-01:…`; the part before the colon is its id. */
export interface NamedSecret {
  readonly id: string
  readonly secret: string
}

/** @param text - `id:secret` */
export function secretFromText (text: string): NamedSecret {
  const colon = text.indexOf(':')
  return { id: text.slice(0, colon), secret: text.slice(colon + 1) }
}

/**
 * A pepper. Its id, which is stored with every fingerprint, also tells apart different secrets with the same name.
 *
 * @param text - `id:secret`
 * @returns the id as `id:check`; no id of a setting contains a colon
 */
export function pepperFromText (text: string): NamedSecret {
  const { id, secret } = secretFromText(text)
  // No API key has this value, so it is the fingerprint of none.
  const check = createHmac('sha256', secret).update('check value of an API key pepper').digest('base64url').slice(0, 8)
  return { id: `${id}:${check}`, secret }
}

/** @returns the ids that stand for several secrets, which could be confused */
export function ambiguousIds (texts: readonly string[]): readonly string[] {
  const ids = texts.map((text) => secretFromText(text).id)
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))]
}
