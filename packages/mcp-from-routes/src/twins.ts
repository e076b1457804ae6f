import type { FastifyError } from 'fastify'
import { MCP_FROM_ROUTES_UNSUPPORTED_ROUTE } from './errors.ts'
import { ownConstraint } from './router.ts'
import type { Router } from './router.ts'
import { mayMeet, mayPrecede, routerPaths } from './router-path.ts'
import type { RouterPath } from './router-path.ts'
import type { Tool } from './tool.ts'

/** Where any route of the application is, tool or not. */
export interface RouteAddress {
  readonly method: readonly string[]
  readonly url: string
  readonly constraints: Readonly<Record<string, unknown>>
}

/** A route that a constraint of the host's own leads to. */
interface Constrained {
  readonly url: string
  readonly paths: readonly RouterPath[]
  readonly constraint: string
  /** Whether it may be the only one that is found, wherever else the request would lead. */
  readonly alone: boolean
}

/** A path of a route that the plugin can tell from others only by what a shape is made of. */
interface Shaped {
  readonly url: string
  readonly unnamed: string
  readonly host: string | undefined
}

/**
 * Finds tools that only the pattern of a parameter or the host tells from another route, as `/users/:id` and
 * `/users/:id(\\d+)`: a call of the tool could run the other one. Before a call the router is asked where it
 * leads, but it tells only the names and values of the parameters, which are the same for both. Nor can it be asked
 * about a constraint of the host's own, which is derived from the request: so no route with one may be where a call
 * of the tool could lead.
 *
 * @param addresses - those of all routes, also of those that are no tools
 * @returns MCP_FROM_ROUTES_UNSUPPORTED_ROUTE for each, naming both routes
 */
export function twinErrors (tools: Iterable<Tool>, addresses: readonly RouteAddress[], router: Router): FastifyError[] {
  const constrained = new Map<string, Constrained[]>()
  const byShape = new Map<string, Shaped[]>()
  for (const { method: methods, url, constraints } of addresses) {
    const paths = routerPaths(url, router)
    const constraint = ownConstraint(router, constraints)
    for (const method of methods) {
      if (constraint !== undefined) add(constrained, method, { url, paths, constraint, alone: Object.keys(constraints).some(router.mustMatch) })
      for (const path of paths) add(byShape, shapeOf(method, path, constraints), { url, unnamed: path.unnamed, host: hostOf(constraints) })
    }
  }
  function problemOf ({ public: { route: { method, url } }, constraints }: Tool): string | undefined {
    for (const path of routerPaths(url, router)) {
      const other = constrained.get(method)?.find((other) => mayLeadTo(other, path))
      if (other !== undefined) return `the constraint ${other.constraint} can lead a call of it to ${method} ${other.url}, which has that constraint. Give one of them a path of its own`
      const same = byShape.get(shapeOf(method, path, constraints)) ?? []
      const pattern = same.find((other) => other.unnamed !== path.unnamed)
      if (pattern !== undefined) return `only the pattern of a parameter tells it from ${method} ${pattern.url}. Give the parameters different names`
      const host = same.find((other) => other.host !== hostOf(constraints))
      if (host !== undefined) return `only the host tells it from ${method} ${url} of ${host.host ?? 'any host'}. Give it a path of its own`
    }
    return undefined
  }
  return [...tools].flatMap((tool) => {
    const { public: { route: { method, url } } } = tool
    const problem = problemOf(tool)
    return problem === undefined ? [] : [new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(`${method} ${url}`, problem)]
  })
}

/** Whether a call of a tool, which has no such constraint, may run the constrained route. */
function mayLeadTo ({ paths, alone }: Constrained, tool: RouterPath): boolean {
  // What cannot be read may lead anywhere.
  if (paths.length === 0) return true
  return paths.some((path) => (alone || mayPrecede(tool, path)) && mayMeet(tool, path))
}

/** What is left of an address without the patterns of its parameters and without its host. */
function shapeOf (method: string, { unpatterned }: RouterPath, { host, ...constraints }: RouteAddress['constraints']): string {
  return `${method} ${unpatterned} ${JSON.stringify(constraints)}`
}

function hostOf ({ host }: RouteAddress['constraints']): string | undefined {
  return host === undefined ? undefined : String(host)
}

function add<T> (lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
