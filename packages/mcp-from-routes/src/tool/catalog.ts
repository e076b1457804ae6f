import type { FastifyError, FastifyInstance, RouteOptions } from 'fastify'
import {
  MCP_FROM_ROUTES_DUPLICATE_NAME,
  MCP_FROM_ROUTES_INVALID_CONFIG,
  MCP_FROM_ROUTES_INVALID_ROUTES,
  MCP_FROM_ROUTES_UNSUPPORTED_ROUTE,
  MCP_FROM_ROUTES_UNSUPPORTED_VERSION
} from '../errors.ts'
import type { Claim, Extension } from '../extension.ts'
import type { ExposedRoute, Published, Tool } from '../model.ts'
import { checkIsRead } from '../extensions.ts'
import type { Settings } from '../settings.ts'
import type { McpRouteConfig } from '../types.ts'
import { checkFormerName } from './former.ts'
import { checkArgumentNames } from './argument-names.ts'
import { hostStrategies } from './constraints.ts'
import type { EarlierRoutes } from './routes-so-far.ts'
import { probesOf, type Probes } from './probe.ts'
import { queryParser, type QueryParser } from './query.ts'
import { refResolver, type RefResolver } from '../schema/refs.ts'
import { toolFromRoute, type Extend } from './tool.ts'

/**
 * A route that may be published. Its schemas are read when the application is ready: they may be
 * added or completed later.
 */
export interface Candidate {
  readonly scope: FastifyInstance
  /** `GET /products/:id`. */
  readonly label: string
  /** The same, with its constraints. */
  readonly key: string
  /** What extensions say of it. */
  readonly claim: Claim
  readonly url: string
  readonly route: RouteOptions
  /** Whether it is to be a tool. */
  readonly isTool: boolean
  /** Whether the guard will know the route. */
  readonly isMarked: () => boolean
  readonly setTool: (tool: Tool) => void
}

/** Makes the tools once the application is ready. */
export interface ToolReader {
  /** All of them. */
  readonly all: (candidates: readonly Candidate[]) => Published
  /** That of one route, whatever others are called. */
  readonly one: (candidate: Candidate, candidates: readonly Candidate[]) => Tool
}

/** To be called before the host sets up its serializers. */
export function toolReader (
  app: FastifyInstance,
  settings: Settings,
  earlier: EarlierRoutes,
  extensions: readonly Extension[],
  extend: Extend
): ToolReader {
  const probes = probesOf(app)
  const strategies = hostStrategies(app, earlier)
  const resolverOf = sharedResolvers()
  let parser: QueryParser | undefined

  function one (candidate: Candidate, candidates: readonly Candidate[]): Tool {
    const { label } = candidate
    const route = exposedRoute(candidate, probes, parser ??= queryParserOf(app, settings), settings)
    checkIsRead(label, route.config.mcp ?? {}, route.schema.tags ?? [], extensions)
    const published = new Map(candidates.map((one) => [one.label, configOf(one) ?? {}]))
    const tool = toolFromRoute({ ...route, strategies }, settings, resolverOf(route.shared), { extend, published })
    checkArgumentNames(label, tool)
    return tool
  }

  function all (candidates: readonly Candidate[]): Published {
    const tools = new Map<string, Tool>()
    const former = new Map<string, Tool>()
    const read: Tool[] = []
    const renamed: Array<() => void> = []
    const labels = new Map<string, string>()
    const errors: FastifyError[] = []
    for (const candidate of candidates) {
      const { label, claim: { from }, isTool, isMarked, setTool } = candidate
      const attempted = (step: () => void): void => {
        try {
          step()
        } catch (error) {
          // Anything else is a defect.
          if (!isOwnError(error)) throw error
          if (from !== undefined) error.message += ` (${from})`
          errors.push(error)
        }
      }
      attempted(() => {
        const tool = one(candidate, candidates)
        const { name } = tool.public
        const other = labels.get(name)
        if (other !== undefined) throw new MCP_FROM_ROUTES_DUPLICATE_NAME(other, label, name)
        if (!isMarked()) {
          throw new MCP_FROM_ROUTES_UNSUPPORTED_ROUTE(
            label,
            'an onRoute hook replaced its config. Keep the existing properties: route.config = { ...route.config, … }'
          )
        }
        setTool(tool)
        read.push(tool)
        if (isTool) tools.set(name, tool)
        labels.set(name, label)
        const { formerly = [] } = tool.public
        if (formerly.length > 0 && !isTool) {
          throw new MCP_FROM_ROUTES_INVALID_CONFIG(label, 'formerly is for tools, and the route is none')
        }
        // Once all names are known.
        for (const old of formerly) {
          renamed.push(() =>
            attempted(() => {
              checkFormerName(old, tool, labels, former)
              former.set(old, tool)
            })
          )
        }
      })
    }
    for (const check of renamed) check()
    if (errors.length > 0) throw asOneError(errors)
    return { tools: new Map([...tools].sort(([a], [b]) => a < b ? -1 : 1)), former, callable: read }
  }

  return { all, one }
}

function exposedRoute (
  candidate: Candidate,
  probes: Probes,
  queryParser: QueryParser,
  settings: Settings
): ExposedRoute {
  const { scope, url, route, claim: { name, config } } = candidate
  const { params, querystring, query, body, headers } = (route.schema ?? {}) as {
    params?: unknown,
    querystring?: unknown,
    query?: unknown,
    body?: unknown,
    headers?: unknown
  }
  const validator = route.validatorCompiler ?? scope.validatorCompiler
  const serializer = route.serializerCompiler ?? scope.serializerCompiler
  return {
    method: route.method,
    url,
    schema: route.schema ?? {},
    ...name !== undefined && { name },
    config: (config === undefined
      ? route.config ?? {}
      : { ...route.config, mcp: configOf(candidate) }) as ExposedRoute['config'],
    constraints: route.constraints ?? {},
    websocket: Reflect.get(route, 'websocket') === true,
    attachValidation: route.attachValidation === true,
    shared: scope.getSchemas(),
    keepsToSchema: settings.trustSerializer || probes.keepsToSchema(route.schema?.response, serializer, scope),
    fillsDefaults: probes.fillsDefaults({ params, querystring: querystring ?? query, body }, validator),
    queryParser,
    bodyTypes: probes.bodyTypes(body, validator),
    // With attachValidation the handler decides, whatever the validator says.
    ...route.attachValidation !== true &&
      {
        accepts: {
          path: probes.urlAcceptance('params', params, validator),
          query: probes.urlAcceptance('querystring', querystring ?? query, validator),
          header: (name) => probes.urlAcceptance('headers', headers, validator)(spellingIn(headers, name))
        }
      }
  }
}

/** The name of a header, as a schema spells it. @param name - in lower case */
function spellingIn (headers: unknown, name: string): string {
  const names = Object.keys(Object(Reflect.get(Object(headers), 'properties')))
  return names.find((spelling) => spelling.toLowerCase() === name) ?? name
}

function configOf ({ route, claim: { config } }: Candidate): McpRouteConfig | undefined {
  const own = route.config?.mcp
  return config === undefined ? own : config(own)
}

/** Reads query strings as the router does, which has the host's `querystringParser`. */
function queryParserOf (app: FastifyInstance, { path }: Settings): QueryParser {
  return queryParser((query) => {
    const found: unknown = Reflect.get(
      Object(app.findRoute({ method: 'POST', url: `${path}?${query}`, constraints: {} })),
      'searchParams'
    )
    if (typeof found !== 'object' || found === null) {
      throw new MCP_FROM_ROUTES_UNSUPPORTED_VERSION('Fastify', 'findRoute returns no searchParams')
    }
    return found as Record<string, unknown>
  })
}

/** One resolver for all routes that see the same shared schemas: reading those takes longer than reading one route. */
function sharedResolvers (): (shared: Readonly<Record<string, unknown>>) => RefResolver {
  const known: Array<{ shared: Readonly<Record<string, unknown>>, resolver: RefResolver }> = []
  return (shared) => {
    const ids = Object.keys(shared)
    const same = known.find((entry) =>
      ids.length === Object.keys(entry.shared).length && ids.every((id) => entry.shared[id] === shared[id])
    )
    if (same !== undefined) return same.resolver
    const resolver = refResolver(shared)
    known.push({ shared, resolver })
    return resolver
  }
}

function isOwnError (error: unknown): error is FastifyError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('MCP_FROM_ROUTES_')
}

/** One error as it is; several as one that lists them, so that all can be fixed at once. */
function asOneError (errors: readonly FastifyError[]): Error {
  const [first] = errors
  if (first !== undefined && errors.length === 1) return first
  const lines = errors.map(({ code, message }) => `- ${message} (${code})`)
  return Object.assign(new MCP_FROM_ROUTES_INVALID_ROUTES(errors.length, lines.join('\n')), { errors })
}
