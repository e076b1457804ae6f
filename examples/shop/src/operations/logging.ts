import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { callerAddress } from '../http/caller-address.ts'
import { CUT, excerpt } from '../http/excerpt.ts'
import { isInner } from '../http/inner-request.ts'
import type { Config } from '../settings/config.ts'

/** What stands where something secret stood. */
const REDACTED = '[redacted]'

/** Fields, in whatever object, whose value is nobody's business. */
const FIELDS = 'authorization|proxy-authorization|x-api-key|cookie|set-cookie|password|plaintext|(?:[a-z_]*_)?(?:secret|secret_?key|token)|code_verifier'
const FIELD = new RegExp(`^(?:${FIELDS})$`, 'i')

/**
 * What is secret in a text, each of it without quotes and backslashes, so that a line stays the JSON that it is:
 * fields of JSON in a message, parameters of a URL or a form, what follows an authentication scheme, payment keys
 * and JSON Web Tokens. API keys are added, which start with a setting. Those that have a least length are secret in
 * front of a cut too, however little is left of them.
 *
 * Anybody can write what these are looked for in, so each has to be linear: once its beginning is found, it takes all
 * that could be part of it, or gives up within a fixed number of characters.
 */
const TEXTS = [
  `((?<="(?:${FIELDS})\\\\{0,8}"\\s?:\\s?\\\\{0,8}")[^"\\\\]+)`,
  '((?<=\\b(?:access_token|refresh_token|id_token|id_token_hint|token|code|code_verifier|client_secret|api_?key|key|password|secret|signature)=)[^&\\s"\'\\\\]+)',
  `((?<=\\b(?:bearer|basic)\\s)${leastOf(8, '[\\w.~+/=-]')})`,
  '(\\b(?:[sr]k_(?:test|live)|whsec)_\\w+)',
  `(\\beyJ${leastOf(16, '[\\w.-]')})`
]

/** At least so many of some characters; fewer when the rest was cut off. */
function leastOf (count: number, characters: string): string {
  return `(?:${characters}{${count},}|${characters}{0,${count - 1}}${CUT})`
}

/** The longest string in a line, in characters. */
const LONGEST = 500

/** The longest message of a fault of the server: what went wrong stands behind the statement that the database refused. */
const LONGEST_FAULT = 8000

/** The longest stack behind the message. */
const LONGEST_STACK = 4000

/** How deep objects are looked through; deeper ones are left out. */
const DEPTH = 8

/** Query parameters that may be read in the log. Others may hold anything: names of customers, pasted keys. */
const LEGIBLE = new Set(['skip', 'limit', 'sort', 'shop_id', 'missing_pay'])

/** What may stand in an `x-request-id`: nothing that could break a log line or a header. */
const REQUEST_ID = /^[\w.:-]{1,128}$/

/**
 * How the server logs: without credentials. Fields are redacted in the objects that are logged, texts in each
 * line as it is written, so that no error or message can carry one past.
 */
export function loggerOptions ({ LOG_LEVEL: level, API_KEY_MARKER: marker }: Pick<Config, 'LOG_LEVEL' | 'API_KEY_MARKER'>) {
  return {
    level,
    formatters: { log: (fields: object) => redactedFields(fields, DEPTH) as Record<string, unknown> },
    hooks: { streamWrite: redactor(marker) },
    serializers: {
      req: (request: FastifyRequest) => ({
        method: request.method, url: excerpt(loggedUrl(request.url)), host: excerpt(request.host), remoteAddress: callerAddress(request)
      }),
      err: errorFields
    }
  }
}

/** Takes secrets out, and cuts long strings. What is neither a plain object nor a list, an error or a request, is left to its serializer. */
export function redactedFields (value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return depth === 0 ? REDACTED : value.map((item) => redactedFields(item, depth - 1))
  if (typeof value === 'string') return excerpt(value, LONGEST)
  if (typeof value !== 'object' || value === null) return value
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  if (depth === 0) return REDACTED
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, FIELD.test(name) ? REDACTED : redactedFields(inner, depth - 1)]))
}

/** @returns what takes secrets out of a line of the log, in which API keys start with `marker` */
export function redactor (marker: string): (line: string) => string {
  const secrets = secretPattern(marker)
  return (line) => line.replace(secrets, REDACTED)
}

/** Matches what is secret in a line. */
export function secretPattern (marker: string): RegExp {
  return new RegExp([...TEXTS, `\\b${marker}_${leastOf(20, '[\\w-]')}`].join('|'), 'gi')
}

/** The path, and of the query what cannot be secret. */
export function loggedUrl (url: string): string {
  const mark = url.indexOf('?')
  if (mark === -1) return url
  const query = url.slice(mark + 1).split('&').map((pair) => {
    const [name = ''] = pair.split('=', 1)
    return LEGIBLE.has(name) ? pair : `${name}=${REDACTED}`
  })
  return `${url.slice(0, mark)}?${query.join('&')}`
}

interface LoggedError {
  readonly type: string
  readonly message: string
  readonly stack: string
  readonly [field: string]: unknown
}

/** Without the bytes of a request that could not be parsed, which Node.js attaches, nor the headers that clients attach. */
function errorFields (error: Error & { readonly code?: unknown, readonly statusCode?: number }): LoggedError {
  const { name, message = '', stack = '', code, statusCode = 500, cause } = error
  const told = excerpt(message, statusCode < 500 ? LONGEST : LONGEST_FAULT)
  return {
    type: name,
    message: told,
    stack: excerpt(stack.replace(message, () => told), told.length + LONGEST_STACK),
    ...(code !== undefined && { code }),
    ...(error.statusCode !== undefined && { statusCode }),
    ...(cause instanceof Error ? { cause: errorFields(cause) } : cause !== undefined && { cause: excerpt(String(cause)) })
  }
}

/** The id of a request: what a proxy or client gave it, when that is well-formed, else a new one. */
export function requestIdOf ({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

/** Tells the caller the id under which the log has the request. */
export function answerRequestId (app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!isInner(request)) reply.header('x-request-id', request.id)
  })
}
