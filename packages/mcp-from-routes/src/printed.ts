import type { FastifyInstance, HTTPMethods } from 'fastify'
import { routerPaths } from './router-path.ts'
import type { Router } from './router.ts'
import type { RouteAddress } from './twins.ts'

/** A route as the router prints it. */
export interface PrintedRoute {
  /** `GET /users/:id/notes`; a parameter that two routes name differently is `:id|:user`. */
  readonly label: string
  /** What its path may be: one, but for such a parameter, and for text that begins with a colon. */
  readonly urls: readonly string[]
  readonly method: string
  readonly constraints: RouteAddress['constraints']
}

const LINE = /^((?:│ {3}| {4})*)(├── |└── )?(.+)$/
const ROUTE = /^(.*?) \([A-Z-]+\)(?: (\{.*\}))?$/

/**
 * The routes there are so far that could be tools. Fastify shows a plugin only those of its own scope that come after
 * it, and of what the router knows it gives only a printed tree: a line for each piece of path, with the constraints
 * of the routes that end there.
 */
export function printedRoutes (app: FastifyInstance): readonly PrintedRoute[] {
  // One tree for all methods would mix up the names of their parameters.
  const methods = app.supportedMethods.filter((method) => method !== 'HEAD' && method !== 'OPTIONS')
  return methods.flatMap((method) => routesOf(app, method as HTTPMethods))
}

function routesOf (app: FastifyInstance, method: HTTPMethods): readonly PrintedRoute[] {
  const routes: PrintedRoute[] = []
  const path: string[] = []
  for (const line of app.printRoutes({ method }).split('\n')) {
    const [, indent = '', branch, text = ''] = LINE.exec(line) ?? []
    const route = ROUTE.exec(text)
    const [, piece = text, printed = '{}'] = route ?? []
    // Without a branch it is one more route at the end of the same path.
    if (branch !== undefined) path.splice(indent.length / 4, path.length, piece)
    if (route === null) continue
    const constraints = JSON.parse(printed)
    const names = path.map(spellings)
    const [url = ''] = joined(names)
    // Text that begins with a colon is printed as a parameter is, so the router is asked whether it is one.
    const isCertain = !path.some((piece) => piece.startsWith(':')) || app.hasRoute({ method, url, constraints })
    const urls = joined(isCertain ? names : path.map((piece, i) => piece.startsWith(':') ? [...names[i] ?? [], fixed(piece)] : names[i] ?? []))
    routes.push({ label: `${method} ${names.map((some) => some.join('|')).join('')}`, urls, method, constraints })
  }
  return routes
}

/** The routes that the plugin was not shown, being outside of its scope or before it. */
export function unseenRoutes (printed: readonly PrintedRoute[], seen: readonly RouteAddress[], router: Router): readonly RouteAddress[] {
  const keys = new Set(seen.flatMap(({ method, url, constraints }) => method.flatMap((name) => keysOf(name, url, constraints, router))))
  return printed
    .filter(({ method, urls, constraints }) => !urls.some((url) => keysOf(method, url, constraints, router).some((key) => keys.has(key))))
    .flatMap(({ method, urls, constraints }) => urls.map((url) => ({ method: [method], url, constraints })))
}

/** What no two routes of the router have in common. */
function keysOf (method: string, url: string, constraints: RouteAddress['constraints'], router: Router): readonly string[] {
  // As the tree prints them.
  const text = JSON.stringify(constraints, (_key, value: unknown) => value instanceof RegExp ? String(value) : value)
  return routerPaths(url, router).map(({ unnamed }) => `${method} ${unnamed} ${text}`)
}

/** Every path that takes one spelling of each piece. */
function joined (pieces: ReadonlyArray<readonly string[]>): readonly string[] {
  return pieces.reduce<readonly string[]>((before, names) => before.flatMap((url) => names.map((name) => url + name)), [''])
}

/** A piece of the tree as it may stand in the path of a route, if what begins with a colon is a parameter. */
function spellings (piece: string): readonly string[] {
  if (piece === '(empty root node)') return ['']
  if (!piece.startsWith(':')) return [fixed(piece)]
  const names = ['']
  let depth = 0
  for (let i = 0; i < piece.length; i++) {
    if (piece[i] === '(') depth += 1
    if (piece[i] === ')') depth -= 1
    if (depth === 0 && piece.startsWith('|:', i)) names.push('')
    else names.push(`${names.pop() ?? ''}${piece[i]}`)
  }
  return names
}

/** The tree holds fixed text as it is found in a URL: there a colon is no parameter, and a percent sign is encoded. */
function fixed (piece: string): string {
  return piece.replaceAll(':', '::').replaceAll('%25', '%')
}
