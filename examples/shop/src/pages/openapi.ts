import type { FastifySchema } from 'fastify'
import { Problem } from '../http/problem.ts'

/** An OpenAPI document, as far as it is completed here. */
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
  'Content-Range': 'Which part of a list this is: its unit, what was skipped, what to skip for the next page, and how many records match in all, as in products 0-25/319',
  Location: 'Where what was made can be read',
  'Retry-After': 'Seconds after which to try again',
  'WWW-Authenticate': 'Where to get a token (RFC 6750, RFC 9728)',
  'X-Request-Id': 'The id of the request, as the log has it: the one that the client sent, or a new one',
  'RateLimit-Limit': 'Calls that may be made in a window',
  'RateLimit-Remaining': 'Calls that are left in this window',
  'RateLimit-Reset': 'Seconds until the window ends'
}

type Header = keyof typeof HEADERS

/** What the answers of a status say in headers; the body's schema tells lists. */
function headersOf (status: string, { content }: Answer): readonly Header[] {
  const isList = status === '200' && content?.['application/json']?.schema?.type === 'array'
  return [
    ...(isList ? ['Content-Range'] as const : []),
    ...(['201', '202'].includes(status) ? ['Location'] as const : []),
    ...(['429', '503'].includes(status) ? ['Retry-After'] as const : []),
    ...(status === '401' ? ['WWW-Authenticate'] as const : []),
    ...(status === '429' ? ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const : []),
    'X-Request-Id'
  ]
}

/**
 * Completes the document of the routes: nearly every answer that is no success has the same body, which is described once;
 * answers get their headers. The filter of a list gets an example that matches everything: without one, the pages make one up
 * that matches nothing, and send it.
 */
export function withSharedParts (document: Described): Described {
  let problem: object | undefined
  for (const { parameters = [], responses = {} } of operationsOf(document)) {
    for (const media of parameters.filter(({ name }) => name === 'filter').flatMap(({ content = {} }) => Object.values(content))) media.example = {}
    for (const [status, answer] of Object.entries(responses)) {
      answer.headers = Object.fromEntries(headersOf(status, answer).map((name) => [name, { $ref: `#/components/headers/${name}` }]))
      for (const media of Object.values(answer.content ?? {})) {
        if (media.schema?.description !== Problem.description) continue
        problem ??= media.schema
        media.schema = { $ref: '#/components/schemas/Problem' } as object
      }
    }
  }
  if (problem === undefined) return document
  const headers = Object.fromEntries(Object.entries(HEADERS).map(([name, description]) => [name, { description, schema: { type: 'string' } }]))
  return { ...document, components: { ...document.components, headers, schemas: { Problem: problem } } as object }
}

/**
 * The document as the pages show it: each operation once, under its resource, whatever else it is tagged with; and with
 * the sign-in of people, whose addresses are only known of a running server.
 */
export function forPeople (document: Described, signIn: SignIn | undefined, scopes: readonly string[]): Described {
  for (const operation of operationsOf(document)) {
    const { operationId, tags = [], description = '', security = [] } = operation
    if (tags.length > 1 && tags.includes('mcp')) operation.description = `${description}\n\nAlso a tool for agents: \`${operationId}\`.`
    operation.tags = tags.slice(0, 1)
    if (signIn !== undefined && security.some((way) => 'bearer' in way)) operation.security = [...security, { sign_in: scopes }]
  }
  if (signIn === undefined) return document
  const { authorizationUrl, tokenUrl } = signIn
  const flow = { authorizationUrl, tokenUrl, refreshUrl: tokenUrl, scopes: Object.fromEntries(scopes.map((scope) => [scope, ''])) }
  const scheme = { type: 'oauth2', description: 'Sign in as a person. Leave client_secret empty', flows: { authorizationCode: flow } }
  return { ...document, components: { ...document.components, securitySchemes: { ...document.components?.securitySchemes, sign_in: scheme } } }
}

function operationsOf ({ paths = {} }: Described): Operation[] {
  return Object.values(paths).flatMap((path) => Object.values(path))
}

/** JSON-RPC in both directions: what may be said in it is the protocol's to define. */
const Message = {
  type: 'object',
  required: ['jsonrpc'],
  properties: { jsonrpc: { type: 'string', enum: ['2.0'] }, id: { type: ['string', 'integer'] }, method: { type: 'string' }, params: { type: 'object', additionalProperties: true } },
  additionalProperties: true
} as const

const refused = (description: string) => ({ ...Problem, description })

/** The endpoint of the tools, which is registered without a schema of its own: it reads its messages by itself. */
export const endpointSchema: FastifySchema = {
  operationId: 'mcp',
  summary: 'Call the tools',
  description: 'The Model Context Protocol over streamable HTTP: one JSON-RPC 2.0 message, such as initialize, tools/list or tools/call. ' +
    'Send Accept: application/json, text/event-stream. Every tool is one of the routes here, by the name of its operation.',
  tags: ['mcp'],
  body: { ...Message, examples: [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }] },
  response: {
    200: { description: 'The response to a request', content: { 'application/json': { schema: Message }, 'text/event-stream': { schema: { type: 'string' } } } },
    202: { description: 'A notification was taken', type: 'null' },
    400: { ...Message, description: 'A message that cannot be read' },
    401: refused('No credential, or one that is not good here'),
    403: refused('An origin or credential that may not call it'),
    413: refused('A message that is too large'),
    415: refused('A body that is not JSON'),
    503: refused('The server cannot take it at the moment')
  }
}
