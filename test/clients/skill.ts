import { readFileSync } from 'node:fs'

/** A page of a skill that the shop serves. Clients that know no skills read it as a resource. */
export const SKILL = {
  /** Names it as the title of a scene does. */
  title: 'skill',
  uri: 'skill://change-prices/SKILL.md',
  text: readFileSync(new URL('../../examples/shop/skills/catalog/change-prices/SKILL.md', import.meta.url), 'utf8')
} as const

/** What `resources/read` answers for it. */
export const SKILL_CONTENT = { uri: SKILL.uri, mimeType: 'text/markdown', text: SKILL.text }
