import type { FastifyInstance } from 'fastify'
import { attempt } from '../attempt.ts'
import { MCP_FROM_ROUTES_UNSUPPORTED_ROUTE } from '../errors.ts'
import type { EarlierRoutes } from './routes-so-far.ts'

/** The constraints that Fastify has itself, and that a host may read in a way of its own. */
const BUILT_IN = ['host', 'version'] as const
type Constraint = typeof BUILT_IN[number]
type Strategy = Parameters<FastifyInstance['addConstraintStrategy']>[0]

/** The header that Fastify's own strategy for versions reads. */
export const VERSION_HEADER = 'accept-version'

interface RouterConfig {
  readonly constraints?: object
}

/** The strategies that the host put in place of Fastify's. */
export type Strategies = ReadonlyMap<string, Strategy | undefined>

/**
 * Collects them, also those of later calls.
 * @param earlier - the routes so far: with one that has the constraint, Fastify tells nothing
 * @returns undefined for one that nobody can be asked about
 */
export function hostStrategies (app: FastifyInstance, earlier: EarlierRoutes): Strategies {
  const { constraints, routerOptions } = app.initialConfig as RouterConfig & { routerOptions?: RouterConfig }
  const given = Object.values({ ...constraints, ...routerOptions?.constraints }) as Strategy[]
  const strategies = new Map<string, Strategy | undefined>(given.map((strategy) => [strategy.name, strategy]))
  for (const name of BUILT_IN) {
    const isUsed = earlier?.some(({ constraints }) => name in constraints) ?? true
    if (!strategies.has(name) && !isUsed && app.hasConstraintStrategy(name)) strategies.set(name, undefined)
  }
  const add = app.addConstraintStrategy
  app.addConstraintStrategy = function (strategy) {
    add.call(this, strategy)
    strategies.set(strategy.name, strategy)
  }
  return strategies
}

/** A route with constraints, and what a call of it sends. */
interface Constrained {
  readonly label: string
  readonly method: string
  readonly url: string
  readonly constraints: Readonly<Record<string, unknown>>
  /** Headers that every call sends, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether the header may have another value in each call. */
  readonly varies: (name: string) => boolean
  readonly strategies: Strategies | undefined
}

/**
 * The headers by which the router finds the route.
 * @throws {@link MCP_FROM_ROUTES_UNSUPPORTED_ROUTE} if no call would reach it
 */
export function constraintHeaders (route: Constrained): Readonly<Record<string, string>> {
  const { constraints: { version }, strategies } = route
  const own = BUILT_IN.filter((name) => strategies?.has(name) && name in route.constraints)
  const headers: Record<string, string> = Object.assign({}, ...own.map((name) => ownHeaders(route, name)))
  if (version !== undefined && !own.includes('version')) headers[VERSION_HEADER] = builtInVersion(version)
  return headers
}

/** As Fastify keeps it: it does not find 1.2 by 1.2. */
function builtInVersion (version: unknown): string {
  const [major, minor, patch] = String(version).split('.', 3).map((part) => Number(part) || 0)
  return `${major}.${minor ?? 0}.${patch ?? 0}`
}

function ownHeaders (route: Constrained, name: Constraint): Readonly<Record<string, string>> {
  const { label, constraints: { [name]: value }, headers, varies, strategies } = route
  const strategy = strategies?.get(name)
  const refusal = (why: string): Error => {
    const what = `it has the ${name} ${String(value)}, and the app's own strategy for it`
    return new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(label, `${what} ${why}`)
  }
  if (strategy === undefined) throw refusal('was added before mcp-from-routes. Register mcp-from-routes first')
  const asked = (more: object): ReturnType<typeof answerOf> => answerOf(strategy, route, value, { ...headers, ...more })
  const { isMet, read } = asked({})
  // Of the rest, headers say nothing, or those that each caller sends.
  if (isMet || read.length === 0 || read.some(varies)) return {}
  const text = String([value].flat()[0])
  const found = read.find((header) => asked({ [header]: text }).isMet)
  if (found !== undefined) return { [found]: text }
  const fix = `config.mcp.arguments.headers['${read[0]}'].value`
  throw refusal(`reads the header ${read.join(' or ')}. Send one that leads to this route: ${fix}`)
}

interface Store {
  readonly get: (value: unknown) => unknown
  readonly set: (value: unknown, route: unknown) => void
}

/** Whether the strategy leads a request with these headers to the route, and which headers it reads. */
function answerOf (strategy: Strategy, { method, url }: Constrained, value: unknown, headers: object) {
  const read = new Set<string>()
  const proxy = new Proxy(headers, {
    get (sent, name) {
      if (typeof name === 'string') read.add(name.toLowerCase())
      return Reflect.get(sent, name) as unknown
    }
  })
  const isMet = attempt(() => {
    const derive = strategy.deriveConstraint.bind(strategy) as (request: object) => unknown
    const store = strategy.storage() as Store
    const route = {}
    store.set(value, route)
    return store.get(derive({ method, url, headers: proxy })) === route
  }) === true
  return { isMet, read: [...read] }
}
