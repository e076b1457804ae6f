import { check } from '../checks.ts'
import type { Tool } from '../model.ts'

/** Whether a tool's route has at least one of these in `schema.tags`. */
export function hasOneOf (tags: readonly string[]): (tool: Tool) => boolean {
  return ({ public: { route } }) => tags.some((tag) => route.tags.includes(tag))
}

/** @throws {@link MCP_FROM_ROUTES_INVALID_OPTION} for a tag that no tool has */
export function checkTags (tags: readonly string[] = [], tools: ReadonlyMap<string, Tool>, option: string): void {
  const missing = tags.find((tag) => ![...tools.values()].some(hasOneOf([tag])))
  check(missing === undefined, option, `has "${missing}", a tag that no tool has`)
}
