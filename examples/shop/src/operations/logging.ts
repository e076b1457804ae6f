import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { excerpt } from '#shared/excerpt'
import { isInner } from '../http/inner-request.ts'
import { LONGEST, redactedFields, redactor } from '../http/redaction.ts'
import type { Settings } from '../settings/settings.ts'
import { outages, type Places } from './outages.ts'

/** Maximum length of the message of a server error: the reason comes after the SQL statement. */
const LONGEST_FAULT = 8000

/** Maximum length of the stack after the message. */
const LONGEST_STACK = 4000

/** How deep objects are logged. */
const DEPTH = 8

/** A valid `x-request-id`: it cannot break a log line or a header. */
const REQUEST_ID = /^[\w.:-]{1,128}$/

/**
 * The logger's options: it logs no credentials. Fields are redacted in the logged objects, and strings in each line as
 * it is written, so that no error or message can leak one. Lines about an outage are shortened.
 */
export function loggerOptions (
  { LOG_LEVEL: level, API_KEY_MARKER: marker, ...places }: Pick<Settings, 'LOG_LEVEL' | 'API_KEY_MARKER'> & Places
) {
  const shortened = outages(places)
  return {
    level,
    formatters: { log: (fields: object) => redactedFields(fields, DEPTH) as Record<string, unknown> },
    hooks: {
      streamWrite: redactor(marker),
      logMethod (this: unknown, [first, ...rest]: unknown[], write: (...args: any[]) => void, logLevel: number) {
        if (typeof first !== 'object' || first === null) return write.call(this, first, ...rest)
        const fields = first instanceof Error ? { err: first } : first as Readonly<Record<string, unknown>>
        const told = shortened(fields, logLevel)
        if (told !== undefined) write.call(this, told === fields ? first : told, ...rest)
      }
    },
    serializers: { err: errorFields }
  }
}

interface LoggedError {
  readonly type: string
  readonly message: string
  readonly stack: string
  readonly [field: string]: unknown
}

/** Without the bytes of an unparseable request, which Node.js attaches, and without request headers. */
function errorFields (error: Error & { readonly code?: unknown, readonly statusCode?: number }): LoggedError {
  const { name, message = '', stack = '', code, statusCode = 500, cause } = error
  const told = excerpt(message, statusCode < 500 ? LONGEST : LONGEST_FAULT)
  return {
    type: name,
    message: told,
    stack: excerpt(stack.replace(message, () => told), told.length + LONGEST_STACK),
    ...(code !== undefined && { code }),
    ...(error.statusCode !== undefined && { statusCode }),
    ...(cause instanceof Error
      ? { cause: errorFields(cause) }
      : cause !== undefined && { cause: excerpt(String(cause)) })
  }
}

/** The id of a request: the one from a proxy or client if it is valid, else a new one. */
export function requestIdOf ({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

/** Returns the request id to the caller. */
export function answerRequestId (app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!isInner(request)) reply.header('x-request-id', request.id)
  })
}
