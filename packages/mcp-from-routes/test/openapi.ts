import type { FastifySchema } from 'fastify'
import { isObject } from '../src/schema/json-schema.ts'
import type { ExposedRoute } from '../src/tool/tool.ts'

type Json = Record<string, unknown>

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const

/** Reads every operation of an OpenAPI 2 or 3 description as the route of a Fastify application that implements it. */
export function routesFromOpenApi (document: Json): ExposedRoute[] {
  const routes: ExposedRoute[] = []
  const names = new Set<string>()
  // One shared schema holds the whole description, as an application might, so that its references have a target.
  const shared = { openapi: { ...document, $id: 'openapi' } }
  for (const [path, item] of Object.entries(object(document.paths))) {
    for (const method of METHODS) {
      const operation = object(item)[method]
      if (!isObject(operation)) continue
      const own = list(operation.parameters)
      const parameters = [...list(object(item).parameters), ...own].map((parameter) => resolved(document, parameter))
      const schema = schemaOf(document, method, operation, parameters)
      const operationId = uniqueName(names, String(operation.operationId ?? `${method}_${path}`))
      routes.push({
        method: method.toUpperCase(),
        url: path.split('?', 1)[0]?.split('#', 1)[0]?.replace(/\{([^}]+)\}/g, (_match, name: string) =>
          `:${parameterName(name)}`) ?? path,
        schema: {
          ...schema,
          operationId,
          description: String(operation.description || operation.summary || `${method} ${path}`),
          tags: ['mcp']
        },
        config: {},
        constraints: {},
        websocket: false,
        keepsToSchema: true,
        fillsDefaults: true,
        shared
      })
    }
  }
  return routes
}

function schemaOf (document: Json, method: string, operation: Json, parameters: readonly Json[]): FastifySchema {
  const { consumes, produces } = { consumes: document.consumes, produces: document.produces, ...operation } as {
    consumes?: string[],
    produces?: string[]
  }
  // Fastify takes no schema for the body of a GET.
  const body = method === 'get' ? undefined : bodyOf(document, operation, parameters)
  const responses = Object.entries(object(operation.responses)).map((
    [status, response]
  ) => [status === 'default' ? status : status.toLowerCase(), responseOf(resolved(document, response), produces)])
  return {
    ...inPlace(parameters, 'path') && { params: inPlace(parameters, 'path') },
    ...inPlace(parameters, 'query') && { querystring: inPlace(parameters, 'query') },
    ...inPlace(parameters, 'header') && { headers: inPlace(parameters, 'header') },
    ...body !== undefined && { body },
    ...body !== undefined && consumes && { consumes },
    response: Object.fromEntries(responses.filter(([, schema]) => schema !== undefined))
  } as FastifySchema
}

function inPlace (parameters: readonly Json[], place: string): Json | undefined {
  const here = new Map(
    parameters.filter((parameter) => parameter.in === place).map((parameter) => [String(parameter.name), parameter])
  )
  if (here.size === 0) return undefined
  const name = (parameter: string): string => place === 'path' ? parameterName(parameter) : parameter
  return {
    type: 'object',
    properties: Object.fromEntries(
      [...here].map(([key, parameter]) => [name(key), withoutOuterRefs(schemaOfParameter(parameter))])
    ),
    required: [...here].filter(([, parameter]) => parameter.required === true).map(([key]) => name(key))
  }
}

function schemaOfParameter (parameter: Json): Json {
  const { schema, content } = parameter
  const [first] = Object.values(object(content))
  const {
    name,
    in: _in,
    required,
    description,
    style,
    explode,
    allowReserved,
    allowEmptyValue,
    collectionFormat,
    example,
    examples,
    content: _content,
    schema: _schema,
    ...inline
  } = parameter
  const other = isObject(first) ? object(first.schema) : inline
  const found = isObject(schema) ? schema : other
  return typeof description === 'string' ? { description, ...found } : found
}

function bodyOf (document: Json, operation: Json, parameters: readonly Json[]): unknown {
  const old = parameters.find((parameter) => parameter.in === 'body')
  if (old !== undefined) return withoutOuterRefs(object(old.schema))
  if (parameters.some((parameter) => parameter.in === 'formData')) {
    return { content: { 'multipart/form-data': { schema: { type: 'object' } } } }
  }
  const { content } = resolved(document, operation.requestBody)
  if (!isObject(content)) return undefined
  return {
    content: Object.fromEntries(
      Object.entries(content).map(([type, media]) => [type, { schema: withoutOuterRefs(object(object(media).schema)) }])
    )
  }
}

function responseOf (response: Json, produces: readonly string[] | undefined): unknown {
  const { schema, content } = response
  if (isObject(schema)) {
    return produces?.some((type) => type.includes('json')) === false
      ? undefined
      : withoutOuterRefs(schema)
  }
  if (!isObject(content) || Object.keys(content).length === 0) return { type: 'null' }
  return {
    content: Object.fromEntries(
      Object.entries(content).map(([type, media]) => [type, { schema: withoutOuterRefs(object(object(media).schema)) }])
    )
  }
}

/** How many characters of the description the schemas say, with all that they refer to, each part of it once. */
function lengthOfSource (schemas: unknown, { openapi: document }: Json): number {
  const parts = new Set<unknown>([schemas])
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const ref = Reflect.get(value, '$ref')
    // Those in the schemas of a route begin with the shared schema's name.
    const part = typeof ref === 'string' ? resolved(object(document), { $ref: ref.replace(/^openapi/, '') }) : undefined
    if (part !== undefined && !parts.has(part)) {
      parts.add(part)
      visit(part)
    }
    Object.values(value).forEach(visit)
  }
  visit(schemas)
  return [...parts].reduce<number>((sum, part) => sum + JSON.stringify(part).length, 0)
}

/** The schemas of a route that a tool publishes, as they are in the route. */
export function sourcesOf ({ schema, shared }: ExposedRoute): { readonly input: number, readonly output: number } {
  const { params, querystring, body, response } = schema as Json
  const successes = Object.entries(object(response)).filter(([status]) => status.startsWith('2'))
  return { input: lengthOfSource({ params, querystring, body }, shared), output: lengthOfSource(successes, shared) }
}

/** References of a part of the description, made to point into the shared schema. */
function withoutOuterRefs<T> (value: T): T {
  return JSON.parse(
    JSON.stringify(value),
    (key, item: unknown) => key === '$ref' && typeof item === 'string' && item.startsWith('#') ? `openapi${item}` : item
  ) as T
}

function resolved (document: Json, value: unknown): Json {
  if (!isObject(value) || typeof value.$ref !== 'string') return object(value)
  const keys = value.$ref.slice(2).split('/').map((key) =>
    decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')
  )
  return resolved(document, keys.reduce<unknown>((at, key) => object(at)[key], document))
}

/** A router parameter cannot have every name that OpenAPI allows. */
function parameterName (name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, '_')
}

function uniqueName (names: Set<string>, wanted: string): string {
  const base = wanted.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60)
  let name = base
  for (let n = 2; names.has(name); n++) name = `${base}_${n}`
  names.add(name)
  return name
}

function object (value: unknown): Json {
  return isObject(value) ? value : {}
}

function list (value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
