import type { FastifyError } from '@fastify/error'
import { PAY_RECONCILE_STORE_FAILED } from '../errors.ts'

/** In seconds. */
const RETRY_AFTER = '5'

/**
 * What PostgreSQL says of a statement, its values or a missing table or column. No later moment changes that; a right
 * that is missing (42501) is one of the database.
 *
 * @see [PostgreSQL error codes](https://www.postgresql.org/docs/current/errcodes-appendix.html)
 */
const MISTAKE = /^(?:0A|2[1-3]|42(?!501))[0-9A-Z]{3}$/

/**
 * The error of a store that failed: 503 with `Retry-After`, since mostly its database is away, or 500 for a mistake.
 * Its message says nothing of the cause, which holds the statement.
 */
export function storeFailure (cause: unknown): FastifyError {
  return Object.assign(
    new PAY_RECONCILE_STORE_FAILED({ cause }),
    // Headers as Fastify's own error handler sends them.
    isMistake(cause) ? { statusCode: 500 } : { headers: { 'retry-after': RETRY_AFTER } }
  )
}

function isMistake (cause: unknown): boolean {
  // Without a connection, `fetch` throws a TypeError that has a cause.
  if (cause instanceof TypeError) return cause.cause === undefined
  return MISTAKE.test(String(Object(cause).code))
}
