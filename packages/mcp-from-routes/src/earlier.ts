import type { FastifyInstance, HTTPMethods } from 'fastify'
import type { RouteAddress } from './twins.ts'

/** A route that was there before the plugin. */
export interface EarlierRoute {
  /** `GET /users/:id/notes`; a parameter that two routes name differently is `:id|:user`. */
  readonly label: string
  /** What its path may be: one, but for such a parameter. */
  readonly urls: readonly string[]
  readonly method: string
  readonly constraints: RouteAddress['constraints']
}

const LINE = /^((?:│ {3}| {4})*)(├── |└── )?(.+)$/
const ROUTE = /^(.*?) \([A-Z-]+\)(?: (\{.*\}))?$/

/**
 * The routes there are so far that could have been tools. Fastify shows a plugin none of them, and of what the router
 * knows it gives only a printed tree: a line for each piece of path, with the constraints of the routes that end there.
 */
export function earlierRoutes (app: FastifyInstance): readonly EarlierRoute[] {
  // One tree for all methods would mix up the names of their parameters.
  const methods = app.supportedMethods.filter((method) => method !== 'HEAD' && method !== 'OPTIONS')
  return methods.flatMap((method) => routesOf(method, app.printRoutes({ method: method as HTTPMethods })))
}

function routesOf (method: string, tree: string): readonly EarlierRoute[] {
  const routes: EarlierRoute[] = []
  const path: Array<readonly string[]> = []
  for (const line of tree.split('\n')) {
    const [, indent = '', branch, text = ''] = LINE.exec(line) ?? []
    const route = ROUTE.exec(text)
    const [, piece = text, constraints = '{}'] = route ?? []
    // Without a branch it is one more route at the end of the same path.
    if (branch !== undefined) path.splice(indent.length / 4, path.length, spellings(piece))
    if (route === null) continue
    const urls = path.reduce<readonly string[]>((before, names) => before.flatMap((url) => names.map((name) => url + name)), [''])
    routes.push({ label: `${method} ${path.map((names) => names.join('|')).join('')}`, urls, method, constraints: JSON.parse(constraints) })
  }
  return routes
}

/** A piece of the tree as it may stand in the path of a route. */
function spellings (piece: string): readonly string[] {
  if (piece === '(empty root node)') return ['']
  // The tree holds fixed text as it is found in a URL: there a colon is no parameter, and a percent sign is encoded.
  if (!piece.startsWith(':')) return [piece.replaceAll(':', '::').replaceAll('%25', '%')]
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
