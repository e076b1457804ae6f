import { MCP_FROM_ROUTES_UNSUPPORTED_ROUTE } from './errors.ts'
import { partsFromPath } from './path.ts'
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
 * leads, but it tells only the names and values of the parameters, which are the same for both.
 *
 * @param addresses - those of all routes, also of those that are no tools
 * @param caseSensitive - whether the router tells `/Users` from `/users`
 * @throws MCP_FROM_ROUTES_UNSUPPORTED_ROUTE naming both routes
 */
export function refuseTwins (tools: Iterable<Tool>, addresses: readonly RouteAddress[], caseSensitive: boolean): void {
  const byShape = new Map<string, RouteAddress[]>()
  for (const address of addresses) {
    for (const method of address.method) {
      const shape = shapeOf(method, address, caseSensitive)
      byShape.set(shape, [...byShape.get(shape) ?? [], address])
    }
  }
  for (const { public: { route: { method, url } }, constraints } of tools) {
    const same = byShape.get(shapeOf(method, { url, constraints }, caseSensitive)) ?? []
    const pattern = same.find((other) => other.url !== url)
    if (pattern !== undefined) throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(`${method} ${url}`, `only the pattern of a parameter tells it from ${method} ${pattern.url}. Give the parameters different names`)
    const host = same.find((other) => String(other.constraints.host) !== String(constraints.host))
    if (host !== undefined) throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(`${method} ${url}`, `only the host tells it from ${method} ${url} of ${String(host.constraints.host ?? 'any host')}. Give it a path of its own`)
  }
}

/** What is left of an address without the patterns of its parameters and without its host. */
function shapeOf (method: string, { url, constraints: { host, ...constraints } }: Omit<RouteAddress, 'method'>, caseSensitive: boolean): string {
  const parts = partsFromPath(url)
  const spelt = (text: string): string => caseSensitive ? text : text.toLowerCase()
  const path = typeof parts === 'string' ? url : parts.map((part) => 'text' in part ? spelt(part.text) : `:${part.param}`).join('')
  return `${method} ${path} ${JSON.stringify(constraints)}`
}
