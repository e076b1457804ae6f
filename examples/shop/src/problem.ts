import { STATUS_CODES } from 'node:http'
import { type Static, Type } from '@sinclair/typebox'
import knex from 'knex'
import type { FastifyError, FastifyInstance, FastifySchemaValidationError } from 'fastify'
import { isProviderError, type ProviderError } from 'pay-reconcile'
import { conflict, type FieldError, invalid, SHOP_DATABASE_UNAVAILABLE, SHOP_INTERNAL, SHOP_ROUTE_NOT_FOUND } from './errors.ts'

/** The body of every answer that is not a success. */
export const Problem = Type.Object({
  statusCode: Type.Integer(),
  code: Type.String({ description: 'Stable, for programs' }),
  error: Type.String({ description: 'The status in words' }),
  message: Type.String({ description: 'For people; its wording may change' }),
  field: Type.Optional(Type.String({ description: 'The input that it is about, as a path: name, attributes/0/value' }))
}, { description: 'An error' })

/** The body when the payment provider failed. */
const ProviderProblem = Type.Object({
  ...Problem.properties,
  provider_request_id: Type.Optional(Type.String({ description: 'What the payment provider knows the request by' }))
}, { description: 'The payment provider failed; the code says how' })

/** Response schemas for what calls the payment provider. */
export const providerProblems = { 502: ProviderProblem }

/** @returns response schemas for the error statuses that a route sends */
export function problems<const Status extends number> (...statuses: readonly Status[]): Record<Status, typeof Problem> {
  return Object.fromEntries(statuses.map((status) => [status, Problem])) as Record<Status, typeof Problem>
}

/** Seconds after which a client may try again when the database was away. */
const RETRY_AFTER = 5

/** Makes every error of the app a {@link Problem}; keeps the details of its own faults in the log. */
export function answerProblems (app: FastifyInstance): void {
  app.setSchemaErrorFormatter((errors) => errorFromValidation(errors[0]!))

  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const { statusCode, headers, body } = problemFromError(error, request.id)
    request.log[statusCode < 500 ? 'info' : 'error']({ err: error }, error.message)
    // Whoever knows better when to come back has said so already.
    return reply.code(statusCode).headers(reply.hasHeader('retry-after') ? {} : headers).send(body)
  })

  app.setNotFoundHandler((request) => {
    throw new SHOP_ROUTE_NOT_FOUND(request.method, request.url.split('?')[0])
  })
}

/**
 * What to answer to an error. Only errors that were made for the client, with a status below 500 or
 * of 503, and those about the payment provider, keep their message.
 *
 * @param requestId - named in the answer to a fault of the server, where its details are logged
 */
export function problemFromError (thrown: FastifyError, requestId: string): ProblemReply {
  const error = errorFromDatabase(thrown) ?? thrown
  const { statusCode: status = 500 } = error
  const told = status < 500 || status === 503 || isProviderError(error) ? error : new SHOP_INTERNAL(requestId)
  const statusCode = told.statusCode ?? 500
  const { field, provider_request_id: providerRequestId } = told as Partial<FieldError & ProviderError>
  return {
    statusCode,
    headers: statusCode === 503 ? { 'retry-after': String(RETRY_AFTER) } : {},
    body: {
      statusCode,
      code: told.code,
      error: STATUS_CODES[statusCode] ?? 'Error',
      message: told.message,
      ...(field !== undefined && { field }),
      ...(providerRequestId !== undefined && { provider_request_id: providerRequestId })
    }
  }
}

interface ProblemReply {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Static<typeof ProviderProblem>
}

/** @returns a 422 that names the field and, where the schema says it, what would have been accepted */
export function errorFromValidation ({ instancePath, keyword, message, params }: FastifySchemaValidationError): FieldError {
  const path = instancePath.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (keyword === 'required') return about([...path, String(params.missingProperty)], 'is required')
  if (keyword === 'additionalProperties') return about([...path, String(params.additionalProperty)], 'is not a known field')
  if (keyword === 'enum') return about(path, `must be one of ${(params.allowedValues as unknown[]).join(', ')}`)
  return about(path, message ?? 'is invalid')
}

function about (path: readonly string[], what: string): FieldError {
  const field = path.join('/')
  return invalid(field, `${field === '' ? 'The input' : field} ${what}`)
}

interface DatabaseError {
  readonly code?: string
  readonly message?: string
  readonly constraint?: string
}

/**
 * What a PostgreSQL error means to the client, by SQLSTATE and by the constraint's name, which
 * holds the field's (see the migrations).
 *
 * @returns undefined when it is not one that a client can do something about
 * @see [PostgreSQL error codes](https://www.postgresql.org/docs/current/errcodes-appendix.html)
 */
function errorFromDatabase (error: DatabaseError): FastifyError | undefined {
  const { code, constraint = '' } = error
  const [, field, rule] = /^(?:shops|products|categories|tags|attributes|product_categories|product_tags|product_attributes|orders)_(.+)_(taken|exists)$/.exec(constraint) ?? []
  if (code === '23505' && field !== undefined && rule === 'taken') return conflict(field, `${field} is taken in this shop`)
  if (code === '23503' && field !== undefined && rule === 'exists') return invalid(field, `${field} names something that is not in this shop`)
  return isUnavailable(error) ? new SHOP_DATABASE_UNAVAILABLE() : undefined
}

/**
 * 57P01-57P03: the server shuts down or starts; 57014: a statement took too long; 53300: no connection
 * free; 40001, 40P01: another transaction was in the way; 08: the connection broke.
 */
const PASSING = /^(57P0[123]|57014|53300|40001|40P01|08...|ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE)$/

function isUnavailable (error: DatabaseError): boolean {
  return PASSING.test(error.code ?? '') || error instanceof knex.KnexTimeoutError ||
    // node-postgres gives these no code.
    /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout)/.test(error.message ?? '')
}
