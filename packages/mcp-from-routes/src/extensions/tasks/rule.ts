import type { FastifySchema, RouteOptions } from 'fastify'
import { MCP_FROM_ROUTES_INVALID_CONFIG } from '../../errors.ts'
import type { SeenRoute } from '../../tool/routes-so-far.ts'
import { isObject } from '../../schema/json-schema.ts'
import { partsFromPath, type UrlPart } from '../../tool/path.ts'
import type { Tool } from '../../model.ts'
import { inOneSpelling, type TaskConfig } from './config.ts'
import { hasWholeSegments } from './location.ts'
import { isKnownWord } from './state.ts'

/** A route that tasks may reach. */
export interface TaskRoute {
  readonly method: 'GET' | 'DELETE'
  /** As it was registered, with its prefix. */
  readonly url: string
  readonly path: readonly UrlPart[]
  /** The tool of the route; undefined if it is not a tool. */
  readonly tool: Tool | undefined
}

/** How the work of a tool is followed. */
export interface TaskRule extends Pick<TaskConfig, 'field' | 'words' | 'ttl'> {
  readonly status: TaskRoute
  readonly result: TaskRoute | undefined
  /** Undefined if the app has no DELETE of the status route's path. */
  readonly cancel: TaskRoute | undefined
}

/** Work that a call has started. */
export interface Work {
  readonly rule: TaskRule
  /** The path parameters of the status route. */
  readonly params: ReadonlyMap<string, string>
  /** Milliseconds since 1970. */
  readonly created: number
  /** How long it can be followed, in milliseconds since 1970. */
  readonly until: number
  /** When to ask for the status, in milliseconds. */
  readonly poll: number
  readonly message: string | undefined
}

/** The tools that start work, with how it is followed. */
export type TaskRules = ReadonlyMap<Tool, TaskRule>

/** The part of each route that is kept. */
export type KnownRoute = Pick<RouteOptions, 'method' | 'url' | 'schema' | 'constraints'>

/**
 * Finds the routes that `config.mcp.task` names, once all routes and tools are there. A task reaches these and no
 * other.
 * @param earlier - the routes that were registered before the plugin, which the guard does not know
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
 */
export function taskRules (
  tools: Iterable<Tool>,
  configOf: (tool: Tool) => TaskConfig | undefined,
  routes: readonly KnownRoute[],
  earlier: readonly SeenRoute[]
): TaskRules {
  const all = [...tools]
  const toolAt = (method: string, url: string): Tool | undefined =>
    all.find(({ public: { route } }) => route.method === method && route.url === url)

  function find (label: string, option: string, wanted: string): TaskRoute {
    const fail = (why: string): never => {
      throw new MCP_FROM_ROUTES_INVALID_CONFIG(label, `${option} names ${wanted}, ${why}`)
    }
    const [, method = 'GET', url] = /^([A-Z]+) (\/.*)$/.exec(wanted) ?? []
    if (method !== 'GET') fail('and must name a GET route')
    const isWanted = (route: KnownRoute): boolean =>
      methodsOf(route).includes('GET') &&
      (url === undefined ? schemaOf(route).operationId === wanted : route.url === url)
    const [route, ...others] = routes.filter(isWanted)
    if (route === undefined) {
      return fail(
        earlier.some(isWanted)
          ? 'which was registered before mcp-from-routes. Register it after the plugin'
          : 'which is not a GET route of this app. Write it with its prefix, as in GET /imports/:id, or use its ' +
            'operationId'
      )
    }
    // The guard knows the route of a task by its method and path.
    if (
      others.length > 0 ||
      [...routes, ...earlier].filter((other) => other.url === route.url && methodsOf(other).includes('GET')).length > 1
    ) fail('which matches several routes. Name one')
    if (Object.keys(route.constraints ?? {}).length > 0) fail('which has constraints that a task cannot meet')
    const tool = toolAt('GET', route.url)
    if (tool?.part.asks === true) fail('which asks a person, and a task cannot ask')
    const { querystring } = schemaOf(route)
    const required: unknown = isObject(querystring) ? querystring.required : undefined
    if (Array.isArray(required) && required.length > 0) {
      fail(`which requires the query argument ${required.join(', ')}, which a task does not have`)
    }
    const header = tool?.request.input.inputs.find(({ place, argument = '' }) =>
      place === 'header' && tool.request.required.has(argument)
    )
    if (header !== undefined) fail(`which requires the header ${header.name}, which a task does not have`)
    const path = partsFromPath(route.url)
    if (typeof path === 'string' || !hasWholeSegments(path)) {
      return fail('whose path has a wildcard, an optional parameter, or a parameter that is only part of a segment')
    }
    return { method: 'GET', url: route.url, path, tool }
  }

  function cancelOf (status: TaskRoute): TaskRoute | undefined {
    const found = [...routes, ...earlier].filter((route) =>
      route.url === status.url && methodsOf(route).includes('DELETE')
    )
    if (found.length !== 1 || Object.keys(Reflect.get(Object(found[0]), 'constraints') ?? {}).length > 0) {
      return undefined
    }
    return { ...status, method: 'DELETE', tool: toolAt('DELETE', status.url) }
  }

  return new Map(all.flatMap((tool): ReadonlyArray<readonly [Tool, TaskRule]> => {
    const task = configOf(tool)
    if (task === undefined) return []
    const { label } = tool
    const status = find(label, 'task.status', task.status)
    const result = task.result === undefined ? undefined : find(label, 'task.result', task.result)
    checkWords(label, task, routes.find((route) => route.url === status.url && methodsOf(route).includes('GET')))
    return [[tool, {
      status,
      result,
      cancel: task.cancel ? cancelOf(status) : undefined,
      field: task.field,
      words: task.words,
      ttl: task.ttl
    }]]
  }))
}

/** Rejects status words without a meaning: the first unknown word would end the task. */
function checkWords (label: string, { field, words }: TaskConfig, route: KnownRoute | undefined): void {
  let schema: unknown = Reflect.get(Object(schemaOf(route).response), '200')
  for (const name of field) schema = Reflect.get(Object(Reflect.get(Object(schema), 'properties')), name)
  const values: unknown = isObject(schema)
    ? schema.enum ??
      (Array.isArray(schema.anyOf)
        ? schema.anyOf.map((part) => Reflect.get(Object(part), 'const') as unknown)
        : undefined)
    : undefined
  const strange = Array.isArray(values)
    ? values.filter((word) => typeof word === 'string' && !isKnownWord(word) && !words.has(inOneSpelling(word)))
    : []
  if (strange.length > 0) {
    throw new MCP_FROM_ROUTES_INVALID_CONFIG(
      label,
      `task: the field ${field.join('.')} of the status route can be ${strange.join(', ')}. Say what they mean: ` +
        `words: { ${strange[0]}: 'working' }`
    )
  }
}

function schemaOf (route: KnownRoute | undefined): FastifySchema {
  return route?.schema ?? {}
}

function methodsOf ({ method }: Pick<KnownRoute, 'method'>): readonly string[] {
  return [method].flat()
}
