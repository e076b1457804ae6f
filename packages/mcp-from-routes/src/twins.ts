import { MCP_FROM_ROUTES_UNSUPPORTED_ROUTE } from './errors.ts'
import { partsFromPath } from './path.ts'
import type { PathPart } from './path.ts'
import type { Tool } from './tool.ts'

/** Where any route of the application is, tool or not. */
export interface RouteAddress {
  readonly method: readonly string[]
  readonly url: string
  readonly constraints: Readonly<Record<string, unknown>>
}

/**
 * Refuses a tool that only the pattern of a parameter or the host tells from another route, as `/users/:id` and
 * `/users/:id(\\d+)`: a call of the tool could run the other one. Before a call the router is asked where it
 * leads, but it tells only the names and values of the parameters, which are the same for both. Nor can it be asked
 * about a constraint of the host's own, which is derived from the request: so no route with one may be where a call
 * of the tool could lead.
 *
 * @param addresses - those of all routes, also of those that are no tools
 * @param caseSensitive - whether the router tells `/Users` from `/users`
 * @throws MCP_FROM_ROUTES_UNSUPPORTED_ROUTE naming both routes
 */
export function refuseTwins (tools: Iterable<Tool>, addresses: readonly RouteAddress[], caseSensitive: boolean): void {
  const constrained = addresses.filter((address) => ownConstraint(address) !== undefined)
  const byShape = new Map<string, RouteAddress[]>()
  for (const address of addresses) {
    for (const method of address.method) {
      const shape = shapeOf(method, address, caseSensitive)
      byShape.set(shape, [...byShape.get(shape) ?? [], address])
    }
  }
  for (const { public: { route: { method, url } }, path, constraints } of tools) {
    const other = constrained.find((address) => address.method.includes(method) && mayMeet(path, address.url, caseSensitive))
    if (other !== undefined) throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(`${method} ${url}`, `the constraint ${ownConstraint(other)} can lead a call of it to ${method} ${other.url}, which has that constraint. Give one of them a path of its own`)
    const same = byShape.get(shapeOf(method, { url, constraints }, caseSensitive)) ?? []
    const pattern = same.find((other) => other.url !== url)
    if (pattern !== undefined) throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(`${method} ${url}`, `only the pattern of a parameter tells it from ${method} ${pattern.url}. Give the parameters different names`)
    const host = same.find((other) => String(other.constraints.host) !== String(constraints.host))
    if (host !== undefined) throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(`${method} ${url}`, `only the host tells it from ${method} ${url} of ${String(host.constraints.host ?? 'any host')}. Give it a path of its own`)
  }
}

/** The first constraint that is neither of the router's two, whose headers the plugin knows. */
export function ownConstraint ({ constraints }: Pick<RouteAddress, 'constraints'>): string | undefined {
  return Object.keys(constraints).find((name) => name !== 'version' && name !== 'host')
}

/** What is left of an address without the patterns of its parameters and without its host. */
function shapeOf (method: string, { url, constraints: { host, ...constraints } }: Omit<RouteAddress, 'method'>, caseSensitive: boolean): string {
  const parts = partsFromPath(url)
  const spelt = (text: string): string => caseSensitive ? text : text.toLowerCase()
  const path = typeof parts === 'string' ? url : parts.map((part) => 'text' in part ? spelt(part.text) : `:${part.param}`).join('')
  return `${method} ${path} ${JSON.stringify(constraints)}`
}

const ANY = '\0'

/** Whether some path is one of the tool's and one of the other route's as well. */
function mayMeet (path: readonly PathPart[], url: string, caseSensitive: boolean): boolean {
  // A wildcard ends the path, and takes the rest of whatever begins as that does.
  const open = url.endsWith('*')
  const other = partsFromPath(open ? url.slice(0, -1) : url)
  if (typeof other === 'string') return true
  const theirs = pathsOf(open ? [...other, { text: ANY }] : other, caseSensitive)
  return pathsOf(path, caseSensitive).some((mine) => theirs.some((their) => {
    if (!open && mine.length !== their.length) return false
    const fixed = open ? their.slice(0, -1) : their
    return fixed.every((segment, i) => segment === mine[i] || segment.includes(ANY) || mine[i]?.includes(ANY))
  }))
}

/** The segments of a path, and of that without its optional parameter, with ANY in place of each parameter. */
function pathsOf (parts: readonly PathPart[], caseSensitive: boolean): readonly string[][] {
  const last = parts.at(-1)
  const all = last !== undefined && 'param' in last && last.optional ? [parts, parts.slice(0, -1)] : [parts]
  return all.map((some) => {
    const path = some.map((part) => 'text' in part ? part.text : ANY).join('').replace(/\/$/, '')
    return (caseSensitive ? path : path.toLowerCase()).split('/')
  })
}
