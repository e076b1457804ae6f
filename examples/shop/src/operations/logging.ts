import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { isInner } from './inner.ts'

/** What stands where something secret stood. */
const REDACTED = '[redacted]'

/** Fields, in whatever object, whose value is nobody's business. */
const FIELDS = 'authorization|proxy-authorization|x-api-key|cookie|set-cookie|password|plaintext|(?:[a-z_]*_)?(?:secret|secret_?key|token)|code_verifier'
const FIELD = new RegExp(`^(?:${FIELDS})$`, 'i')

/**
 * What is secret in a text, each of it without quotes and backslashes, so that a line stays the JSON that it is:
 * fields of JSON in a message, parameters of a URL or a form, what follows an authentication scheme, payment keys
 * and JSON Web Tokens. API keys are added, which start with a setting.
 */
const TEXTS = [
  `((?<="(?:${FIELDS})\\\\{0,8}"\\s?:\\s?\\\\{0,8}")[^"\\\\]+)`,
  '((?<=\\b(?:access_token|refresh_token|id_token|id_token_hint|token|code|code_verifier|client_secret|api_?key|key|password|secret|signature)=)[^&\\s"\'\\\\]+)',
  '((?<=\\b(?:bearer|basic)\\s)[\\w.~+/=-]{8,})',
  '(\\b(?:[sr]k_(?:test|live)|whsec)_\\w+)',
  '(\\beyJ[\\w-]+\\.[\\w.-]+)'
]

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
      req: ({ method, url, host, ip }: FastifyRequest) => ({ method, url: loggedUrl(url), host, remoteAddress: ip }),
      err: errorFields
    }
  }
}

/** What is neither a plain object nor a list, an error or a request, is left to its serializer. */
export function redactedFields (value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return depth === 0 ? REDACTED : value.map((item) => redactedFields(item, depth - 1))
  if (typeof value !== 'object' || value === null) return value
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  if (depth === 0) return REDACTED
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, FIELD.test(name) ? REDACTED : redactedFields(inner, depth - 1)]))
}

/** @returns what takes secrets out of a line of the log, in which API keys start with `marker` */
export function redactor (marker: string): (line: string) => string {
  const secrets = new RegExp([...TEXTS, `\\b${marker}_[\\w-]{20,}`].join('|'), 'gi')
  return (line) => line.replace(secrets, REDACTED)
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
function errorFields (error: Error & { readonly code?: unknown, readonly statusCode?: unknown }): LoggedError {
  const { name, message, stack, code, statusCode, cause } = error
  return {
    type: name,
    message,
    stack: stack ?? '',
    ...(code !== undefined && { code }),
    ...(statusCode !== undefined && { statusCode }),
    ...(cause instanceof Error ? { cause: errorFields(cause) } : cause !== undefined && { cause: String(cause) })
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
