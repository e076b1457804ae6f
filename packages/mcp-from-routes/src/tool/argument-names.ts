import { MCP_FROM_ROUTES_INVALID_ARGUMENT } from '../errors.ts'
import { ARGUMENT, PARTS } from './overrides.ts'
import type { Tool } from '../model.ts'

/**
 * Refuses names that some clients cannot send. They are not mapped: agents and contracts rely on the names of
 * arguments, so a person chooses them.
 *
 * @param route - the route as named in errors
 * @throws {@link MCP_FROM_ROUTES_INVALID_ARGUMENT}
 */
export function checkArgumentNames (
  route: string,
  { request: { input: { inputs, places } } }: Pick<Tool, 'request'>
): void {
  const wrong = inputs.filter(({ argument }) => argument !== undefined && !ARGUMENT.test(argument))
  if (wrong.length === 0) return
  const taken = new Set(places.keys())
  const fix: Record<string, Record<string, { name: string }>> = {}
  for (const { place, name } of wrong) {
    const plain = name.replace(/[^A-Za-z0-9_.-]+/g, '_').replace(/^_|_$/g, '').slice(0, 60) ||
      (place === 'path' ? 'path' : 'value')
    let other = plain
    for (let n = 2; taken.has(other); n++) other = `${plain}_${n}`
    taken.add(other)
    fix[PARTS[place]] = { ...fix[PARTS[place]], [name]: { name: other } }
  }
  throw new MCP_FROM_ROUTES_INVALID_ARGUMENT(
    route,
    wrong.map(({ argument }) => JSON.stringify(argument)).join(', '),
    JSON.stringify(fix)
  )
}
