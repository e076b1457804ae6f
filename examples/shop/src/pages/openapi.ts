import type { FastifySchema } from 'fastify'
import { Problem } from '../http/schemas.ts'

/** The parts of an OpenAPI document that are completed here. */
export interface Described {
  readonly components?: { readonly securitySchemes?: object }
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Operation {
  readonly operationId?: string
  description?: string
  tags?: readonly string[]
  security?: ReadonlyArray<Readonly<Record<string, readonly string[]>>>
  readonly parameters?: ReadonlyArray<{ readonly name: string, readonly content?: Readonly<Record<string, Media>> }>
  readonly responses?: Readonly<Record<string, Answer>>
}

interface Answer {
  readonly content?: Readonly<Record<string, Media>>
  headers?: object
}

interface Media {
  schema?: { readonly description?: string, readonly type?: unknown }
  example?: object
}

/** Where people sign in. */
export interface SignIn {
  readonly authorizationUrl: string
  readonly tokenUrl: string
}

const HEADERS = {
  'Content-Range':
    'The part of the list: its unit, how many records were skipped, the skip of the next page, and how many ' +
    'records match, as in products 0-25/319',
  Link: 'The next page, if there is one and the list has cursors, as in <?limit=25&after=Zk3>; rel="next"',
  Location: 'URL of the created record',
  'Retry-After': 'Seconds after which to retry',
  'WWW-Authenticate': 'Where to get a token (RFC 6750, RFC 9728)',
  'X-Request-Id': 'Id of the request in the log: the one that the client sent, or a new one',
  'RateLimit-Limit': 'Calls allowed per window',
  'RateLimit-Remaining': 'Calls left in this window',
  'RateLimit-Reset': 'Seconds until the window ends'
}

type Header = keyof typeof HEADERS

/**
 * The headers of a response; the schema of the body tells whether it is a list.
 *
 * @param isCollection - whether what is created has a URL
 */
function headersOf (status: string, { content }: Answer, isCollection: boolean): readonly Header[] {
  const isList = status === '200' && content?.['application/json']?.schema?.type === 'array'
  return [
    ...(isList ? ['Content-Range', 'Link'] as const : []),
    ...(isCollection && ['201', '202'].includes(status) ? ['Location'] as const : []),
    ...(['429', '503'].includes(status) ? ['Retry-After'] as const : []),
    ...(status === '401' ? ['WWW-Authenticate'] as const : []),
    ...(status === '429' ? ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const : []),
    'X-Request-Id'
  ]
}

/**
 * Completes the document: nearly all error responses share one schema, and responses get their headers. The filter of a
 * list gets an example that matches everything; without one, Swagger UI invents and sends one that matches nothing.
 */
export function withSharedParts (document: Described): Described {
  let problem: object | undefined
  for (const [path, { parameters = [], responses = {} }] of operationsOf(document)) {
    for (
      const media of parameters.filter(({ name }) => name === 'filter').flatMap(({ content = {} }) =>
        Object.values(content)
      )
    ) media.example = {}
    for (const [status, answer] of Object.entries(responses)) {
      answer.headers = Object.fromEntries(
        headersOf(status, answer, hasRecords(document, path)).map((
          name
        ) => [name, { $ref: `#/components/headers/${name}` }])
      )
      for (const media of Object.values(answer.content ?? {})) {
        if (media.schema?.description !== Problem.description) continue
        problem ??= media.schema
        media.schema = { $ref: '#/components/schemas/Problem' } as object
      }
    }
  }
  if (problem === undefined) return document
  const headers = Object.fromEntries(
    Object.entries(HEADERS).map(([name, description]) => [name, { description, schema: { type: 'string' } }])
  )
  return { ...document, components: { ...document.components, headers, schemas: { Problem: problem } } as object }
}

/**
 * The document as Swagger UI shows it: each operation once, under its resource, whatever its other tags; and with the
 * sign-in of people, whose URLs only a running server knows.
 */
export function forPeople (document: Described, signIn: SignIn | undefined, scopes: readonly string[]): Described {
  for (const [, operation] of operationsOf(document)) {
    const { operationId, tags = [], description = '', security = [] } = operation
    if (tags.length > 1 && tags.includes('mcp')) {
      operation.description = `${description}\n\nAlso a tool for agents: \`${operationId}\`.`
    }
    operation.tags = tags.slice(0, 1)
    if (signIn !== undefined && security.some((way) => 'bearer' in way)) {
      operation.security = [...security, { sign_in: scopes }]
    }
  }
  if (signIn === undefined) return document
  const { authorizationUrl, tokenUrl } = signIn
  const flow = {
    authorizationUrl,
    tokenUrl,
    refreshUrl: tokenUrl,
    scopes: Object.fromEntries(scopes.map((scope) => [scope, '']))
  }
  const scheme = {
    type: 'oauth2',
    description: 'Sign in as a person. Leave client_secret empty',
    flows: { authorizationCode: flow }
  }
  return {
    ...document,
    components: {
      ...document.components,
      securitySchemes: { ...document.components?.securitySchemes, sign_in: scheme }
    }
  }
}

/** Each operation with its path. */
function operationsOf ({ paths = {} }: Described): Array<readonly [path: string, operation: Operation]> {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => [path, operation] as const)
  )
}

/** Whether a record of this collection can be read by its URL. */
function hasRecords ({ paths = {} }: Described, collection: string): boolean {
  return Object.entries(paths).some(([path, methods]) =>
    path.startsWith(collection) && /^\/\{[^}]+\}$/.test(path.slice(collection.length)) && 'get' in methods
  )
}

/** A JSON-RPC message, whose contents the protocol defines. */
const MESSAGE = {
  type: 'object',
  required: ['jsonrpc'],
  properties: {
    jsonrpc: { type: 'string', enum: ['2.0'] },
    id: { type: ['string', 'integer'] },
    method: { type: 'string' },
    params: { type: 'object', additionalProperties: true }
  },
  additionalProperties: true
} as const

const refused = (description: string) => ({ ...Problem, description })

/** Describes the endpoint of the tools, whose route has no schema since it parses its messages itself. */
export const endpointSchema: FastifySchema = {
  operationId: 'mcp',
  summary: 'Call the tools',
  description:
    'The Model Context Protocol over streamable HTTP: one JSON-RPC 2.0 message, such as initialize, tools/list ' +
    'or tools/call. ' +
    'Send Accept: application/json, text/event-stream. Every tool is one of these routes, named by its operation id.',
  tags: ['mcp'],
  body: { ...MESSAGE, examples: [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }] },
  response: {
    200: {
      description: 'The response to a request',
      content: { 'application/json': { schema: MESSAGE }, 'text/event-stream': { schema: { type: 'string' } } }
    },
    202: { description: 'A notification was accepted', type: 'null' },
    400: { ...MESSAGE, description: 'An invalid message' },
    401: refused('No credential, or an invalid one'),
    403: refused('The origin or credential has no access'),
    413: refused('The message is too large'),
    415: refused('The body is not JSON'),
    503: refused('The server is overloaded or not ready')
  }
}
