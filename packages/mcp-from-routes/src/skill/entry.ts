import type { ServedSkill } from './skills.ts'

/** A skill, in `app.mcpSkills`. */
export interface McpSkill {
  /** Of its SKILL.md: `skill://change-prices/SKILL.md`. */
  readonly uri: string
  readonly name: string
  readonly description: string
  /** The paths of its files, in its folder. */
  readonly files: readonly string[]
  /** The tools whose calls it shows. */
  readonly calls: readonly string[]
}

export function skillFrom ({ entry: { uri, frontmatter: { name, description } }, files, calls }: ServedSkill): McpSkill {
  const folder = uri.slice(0, -'SKILL.md'.length)
  return Object.freeze({ uri, name, description, files: [...files.keys()].map((file) => decodeURIComponent(file.slice(folder.length))), calls: [...new Set(calls.map((call) => call.name))].sort() })
}
