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

/** @returns the ids that stand for more than one secret: what was made under one of them could be taken for the other's */
export function ambiguousIds (texts: readonly string[]): readonly string[] {
  const ids = texts.map((text) => secretFromText(text).id)
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))]
}
