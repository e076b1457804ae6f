import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type Static, Type } from '@sinclair/typebox'
import type {
  ConnectionError,
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchemaValidationError
} from 'fastify'
import {
  isProviderError,
  PAY_RECONCILE_STORE_FAILED,
  type PAY_RECONCILE_RUN_ACTIVE,
  type ProviderError
} from 'pay-reconcile'
import { errorFromDatabase } from '../database/errors.ts'
import {
  type FieldError,
  type ImportError,
  invalid,
  type PreconditionError,
  type RevertError,
  SHOP_HEADERS_TOO_LARGE,
  SHOP_INTERNAL,
  SHOP_MALFORMED_REQUEST,
  SHOP_REQUEST_TIMEOUT,
  SHOP_ROUTE_NOT_FOUND
} from '../errors.ts'
import { excerpt } from '#shared/excerpt'
import { isInner } from './inner-request.ts'
import { FORMS, Problem } from './schemas.ts'

/** The body when the payment provider failed. */
const ProviderProblem = Type.Object({
  ...Problem.properties,
  provider_request_id: Type.Optional(Type.String({ description: 'The id of the request at the payment provider' })),
  missing_permission: Type.Optional(Type.String({ description: 'The permission that a restricted key lacks' })),
  provider_param: Type.Optional(
    Type.String({ description: 'What of the customer the payment provider refused: email or name' })
  ),
  provider_code: Type.Optional(Type.String({ description: 'Why, in the words of the provider: email_invalid' }))
}, { description: 'The payment provider failed; the code says how' })

/** Response schemas for what calls the payment provider. */
export const providerProblems = { 502: ProviderProblem }

/** @returns response schemas for the error statuses that a route sends */
function problems<const Status extends number> (...statuses: readonly Status[]): Record<Status, typeof Problem> {
  return Object.fromEntries(statuses.map((status) => [status, Problem])) as Record<Status, typeof Problem>
}

/** Response schemas for the errors of every route that needs a credential: caller, input, rate limit, server. */
export const refusals = problems(401, 403, 422, 429, 500, 503)

/** The same for a route about a record that may not exist. */
export const readProblems = { ...refusals, ...problems(404) }

/** The same for a route that takes a body: it may be no JSON, too large, or of another type. */
export const writeProblems = { ...readProblems, ...problems(400, 413, 415) }

/** The same for a route whose change may conflict with other records. */
export const conflictProblems = { ...writeProblems, ...problems(409) }

/** The maximum length of a message, in characters: some errors quote the input. */
const LONGEST_MESSAGE = 500

/** Seconds after which a client may retry when the database was down. */
const RETRY_AFTER = 5

/** Responds to every error with a {@link Problem}; details of server errors stay in the log. */
export function answerProblems (app: FastifyInstance): void {
  app.setSchemaErrorFormatter((errors) => errorFromValidation(errors[0] as Fault))

  app.setErrorHandler<FastifyError>(sendProblem)

  app.setNotFoundHandler((request) => {
    throw new SHOP_ROUTE_NOT_FOUND(request.method, excerpt(request.url.split('?')[0]!))
  })
}

/** Sends an error as a {@link Problem}, also one of the framework before a route is found, such as a malformed URL. */
export function sendProblem (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { statusCode, headers, body } = problemFromError(error, request.id)
  if (statusCode >= 500) request.log.error({ err: error }, body.message)
  // The line of the request has the code. What no route was looked for has no such line.
  else if (request.told || isInner(request)) request.log.debug({ err: error }, body.message)
  else request.log.info({ status: statusCode, code: error.code }, 'request')
  // An existing Retry-After is more precise.
  return reply.code(statusCode).header('cache-control', 'no-store').headers(
    reply.hasHeader('retry-after') ? {} : headers
  ).send(body)
}

/** Responds to what Node cannot parse as a request, on the connection itself, and closes it. */
export function answerClientError (this: FastifyInstance, error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const problem = clientErrors[error.code] ?? new SHOP_MALFORMED_REQUEST()
  const { statusCode, body } = problemFromError(problem, '')
  const text = JSON.stringify(body)
  this.log.info({ status: statusCode, code: error.code }, problem.message)
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${statusCode} ${body.error}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n` +
        `Content-Type: application/json; charset=utf-8\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${text}`
    )
  }
  socket.destroy(error)
}

const clientErrors: Readonly<Record<string, FastifyError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new SHOP_REQUEST_TIMEOUT(),
  HPE_HEADER_OVERFLOW: new SHOP_HEADERS_TOO_LARGE()
}

/**
 * The response to an error. Only errors for the client (a status below 500, or 503) and errors of the payment provider
 * keep their message.
 *
 * @param requestId - named in the response to a server error: the log has its details under it
 */
export function problemFromError (failure: FastifyError, requestId: string): ProblemReply {
  // Its cause is the database's own error.
  const thrown = failure instanceof PAY_RECONCILE_STORE_FAILED ? failure.cause as FastifyError : failure
  // Errors of the database have no status; the client's connection has errors with the same codes.
  const error = thrown.statusCode === undefined ? errorFromDatabase(thrown) ?? thrown : thrown
  const { statusCode: status = 500 } = error
  const told = status < 500 || status === 503 || isProviderError(error) ? error : new SHOP_INTERNAL(requestId)
  const statusCode = told.statusCode ?? 500
  const { field, etag, ...others } = told as Partial<FieldError & PreconditionError>
  return {
    statusCode,
    headers: {
      ...statusCode === 503 && { 'retry-after': String(RETRY_AFTER) },
      ...etag !== undefined && { etag }
    },
    body: {
      statusCode,
      code: told.code,
      error: STATUS_CODES[statusCode] ?? 'Error',
      message: excerpt(told.message, LONGEST_MESSAGE),
      ...(field !== undefined && { field: excerpt(field) }),
      ...Object.fromEntries(
        Object.entries(others).filter(([name, value]) => Object.hasOwn(MORE, name) && value !== undefined)
      )
    }
  }
}

/** What errors tell beside their message and field; the names left out are for the server itself. */
type More = Partial<
  Omit<
    ProviderError & PAY_RECONCILE_RUN_ACTIVE & RevertError & ImportError & PreconditionError,
    keyof FieldError | 'etag' | 'fault' | 'replayed' | 'retryable' | 'retryAfter'
  >
>

/** Each of them, so that none can be missing. */
const MORE: Readonly<Record<keyof More, true>> = {
  provider_request_id: true,
  missing_permission: true,
  provider_param: true,
  provider_code: true,
  run_id: true,
  shop_id: true,
  later_change_id: true,
  conflict_count: true,
  conflicts: true,
  error_count: true,
  errors: true,
  current: true
}

interface ProblemReply {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Static<typeof Problem> & More
}

/** A fault with its value and its schema, as {@link validateInput} keeps them. */
interface Fault extends FastifySchemaValidationError {
  readonly data?: unknown
  readonly parentSchema?: { readonly description?: string }
}

/**
 * @returns a 422 that names the field, what was read, and what is meant: the accepted values or the field's description
 */
export function errorFromValidation (
  { instancePath, keyword, message, params, data, parentSchema }: Fault
): FieldError {
  const path = instancePath.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (keyword === 'required') return about([...path, String(params.missingProperty)], 'is required')
  if (keyword === 'additionalProperties') {
    return about([...path, String(params.additionalProperty)], 'is not a known field')
  }
  if (keyword === 'enum') return about(path, `must be one of ${(params.allowedValues as unknown[]).join(', ')}`)
  if (keyword === 'type') {
    const description = parentSchema?.description
    return about(
      path,
      `must be ${[params.type].flat().map((type) => TYPES[String(type)]).join(' or ')}, not ` +
        `${shown(data)}${description === undefined ? '' : `. ${description}`}`
    )
  }
  const form = keyword === 'pattern' ? FORMS[String(params.pattern)] : undefined
  return about(path, form ?? message ?? 'is invalid')
}

const TYPES: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  null: 'null',
  array: 'a list',
  object: 'an object'
}

/** A value for a message. Of text only numerals are quoted: other text may be a secret in the wrong place. */
function shown (value: unknown): string {
  if (typeof value === 'string') return /^[\d.,+-]{1,30}$/.test(value) ? JSON.stringify(value) : 'text'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

function about (path: readonly string[], what: string): FieldError {
  const field = excerpt(path.join('/'))
  return invalid(field, `${field === '' ? 'The input' : field} ${what}`)
}
