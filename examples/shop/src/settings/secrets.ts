import { createHmac } from 'node:crypto'

/** A secret of a setting: `2026-01:…` names it by what stands before the colon. */
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
 * A pepper whose id, which is stored beside every fingerprint, also tells its secret from another one under the same name.
 *
 * @param text - `id:secret`
 * @returns the id as `id:check`; no id of a setting contains a colon
 */
export function pepperFromText (text: string): NamedSecret {
  const { id, secret } = secretFromText(text)
  // No API key reads like this, so the value is the fingerprint of none.
  const check = createHmac('sha256', secret).update('check value of an API key pepper').digest('base64url').slice(0, 8)
  return { id: `${id}:${check}`, secret }
}

/** @returns the ids that stand for more than one secret: what was made under one of them could be taken for the other's */
export function ambiguousIds (texts: readonly string[]): readonly string[] {
  const ids = texts.map((text) => secretFromText(text).id)
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))]
}
