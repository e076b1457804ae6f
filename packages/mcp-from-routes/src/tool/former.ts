import { MCP_FROM_ROUTES_INVALID_CONFIG } from '../errors.ts'
import type { Tool } from '../model.ts'
import { TOOL_NAME } from './definition.ts'

/*
 * The names that tools had: calls by them work until the route no longer has them in `formerly`, and lists do not show
 * them. `endpoint/access.ts` looks them up.
 */

/**
 * The former names of a tool, checked as far as the tool alone tells.
 * @param route - as named in errors
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
 */
export function formerNames (route: string, name: string, given: unknown): readonly string[] {
  if (given === undefined) return []
  const check = (holds: boolean, problem: string): void => {
    if (!holds) throw new MCP_FROM_ROUTES_INVALID_CONFIG(route, `formerly ${problem}`)
  }
  check(Array.isArray(given) && given.length > 0, 'must be an array of the names that the tool had')
  const names = given as readonly unknown[]
  for (const [index, old] of names.entries()) {
    const isName = typeof old === 'string' && TOOL_NAME.test(old)
    check(isName, `has ${JSON.stringify(old)}. A tool name has 1 to 64 letters, digits, _ or -`)
    check(old !== name, `has ${name}, which is the name of the tool still`)
    check(names.indexOf(old) === index, `has ${String(old)} twice`)
  }
  return Object.freeze([...names as readonly string[]])
}

/**
 * Checks that a former name of a tool means nothing else.
 * @param owners - of the current names: their routes, as named in errors
 * @param former - the tools by the former names so far
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
 */
export function checkFormerName (
  old: string,
  { label }: Tool,
  owners: ReadonlyMap<string, string>,
  former: ReadonlyMap<string, Tool>
): void {
  const fail = (problem: string): never => {
    throw new MCP_FROM_ROUTES_INVALID_CONFIG(label, `formerly has ${old}, ${problem}`)
  }
  const owner = owners.get(old)
  if (owner !== undefined) fail(`which is the name of ${owner}`)
  const other = former.get(old)
  if (other !== undefined) fail(`and so has ${other.label}`)
}

/** The former name by which a tool was called; undefined if it was called by its own. */
export function formerNameIn (tool: Tool, called: string): string | undefined {
  return tool.public.formerly === undefined || tool.public.name === called ? undefined : called
}
