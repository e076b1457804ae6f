import { createError, type FastifyError } from '@fastify/error'

/** 404. No such route. */
export const SHOP_ROUTE_NOT_FOUND = createError('SHOP_ROUTE_NOT_FOUND', 'No route %s %s', 404)

/** 400. What came is no HTTP request. */
export const SHOP_MALFORMED_REQUEST = createError('SHOP_MALFORMED_REQUEST', 'This is no HTTP request', 400)

/** 408. The request did not come in time. */
export const SHOP_REQUEST_TIMEOUT = createError('SHOP_REQUEST_TIMEOUT', 'The request took too long to come', 408)

/** 431. The headers are larger than the server reads. */
export const SHOP_HEADERS_TOO_LARGE = createError('SHOP_HEADERS_TOO_LARGE', 'The headers of the request are too large', 431)

/** 403. The caller may not enter this shop, or there is no such shop. */
export const SHOP_FORBIDDEN = createError('SHOP_FORBIDDEN', 'You have no access to this shop', 403)

/** 403. The person's account was made inactive. */
export const SHOP_USER_INACTIVE = createError('SHOP_USER_INACTIVE', 'Your account is not active', 403)

/** 403. The route is for admins: people whose roles, in the database, include `admin`. */
export const SHOP_ADMIN_ONLY = createError('SHOP_ADMIN_ONLY', 'Only admins may do this', 403)

/** 401. `/metrics` wants its own token. */
export const SHOP_METRICS_TOKEN = createError('SHOP_METRICS_TOKEN', 'The metrics need their bearer token', 401)

/** 403. The route is for those who answer for the shop: its owners, admins and machines. */
export const SHOP_OWNER_ONLY = createError('SHOP_OWNER_ONLY', 'Only owners of the shop and admins may do this', 403)

/** 409. The shop would have no active owner left. */
export const SHOP_LAST_OWNER = createError('SHOP_LAST_OWNER', 'They are the last active owner of the shop: make somebody else an owner first', 409)

/** 403. The shop has as many records, or bytes in them, as `QUOTA_RECORDS` and `QUOTA_BYTES` allow. */
export const SHOP_QUOTA_EXCEEDED = createError('SHOP_QUOTA_EXCEEDED', 'The shop has used its quota of %s %s: delete what is not needed, or ask the operator of the server for more', 403)

/** 404. The shop was deleted while the request was on its way. */
export const SHOP_GONE = createError('SHOP_GONE', 'The shop was deleted', 404)

/** 404. No such row in this shop; a row of another shop answers the same. */
export const SHOP_NOT_FOUND = createError('SHOP_NOT_FOUND', 'No %s %s', 404)

/** 409. The value of `field` is taken, or in use. */
export const SHOP_CONFLICT = createError('SHOP_CONFLICT', '%s', 409)

/** 422. The value of `field` cannot be accepted. */
export const SHOP_INVALID = createError('SHOP_INVALID', '%s', 422)

/** 422. A record would be larger than 64 KiB, all of its fields together. */
export const SHOP_RECORD_TOO_LARGE = createError('SHOP_RECORD_TOO_LARGE', 'The record would be larger than 64 KiB as JSON: shorten %s', 422)

/** 503. The database cannot be reached, has no connection, memory or disk space free, takes no writes, or ended what was in the way of something else. */
export const SHOP_DATABASE_UNAVAILABLE = createError('SHOP_DATABASE_UNAVAILABLE', 'The database cannot be reached, is too busy or has no space left, try again later', 503)

/** 503. The server has more to do than it can. */
export const SHOP_OVERLOADED = createError('SHOP_OVERLOADED', 'The server has too much to do, try again later', 503)

/** 429. More calls than `RATE_LIMIT_…` allow. */
export const SHOP_RATE_LIMITED = createError('SHOP_RATE_LIMITED', 'Too many %s; try again in %d seconds', 429)

/** 429. More calls at once than `MAX_CONCURRENT_CALLS` allows. */
export const SHOP_TOO_MANY_CONCURRENT_CALLS = createError('SHOP_TOO_MANY_CONCURRENT_CALLS', 'Too many calls at once: %d run and %d wait already', 429)

/** 500. A fault of the server; its details go to the log, under the request's id. */
export const SHOP_INTERNAL = createError('SHOP_INTERNAL', 'Internal server error; request id %s', 500)

/** 500. The payment key of a shop was sealed by a secret that is not in `PAY_KEY_SECRETS`, or is not this shop's. */
export const SHOP_PAY_KEY_UNREADABLE = createError('SHOP_PAY_KEY_UNREADABLE', 'The payment key of shop %s cannot be decrypted', 500)

/** At start. Another process has the embedded database open, or may have. */
export const SHOP_DATA_DIRECTORY_IN_USE = createError(
  'SHOP_DATA_DIRECTORY_IN_USE',
  'The data directory %s is in use by %s. Stop it first, or set DATA_DIR to another directory. ' +
  'If you are certain that it is gone, delete %s'
)

/** At start. Settings that cannot be used, all of them named; or all secrets of the stored keys are missing. */
export const SHOP_SETTINGS = createError('SHOP_SETTINGS', 'These settings cannot be used:\n%s')

/** At start. The tables are not up to date, and `MIGRATE_ON_START` is false. */
export const SHOP_MIGRATIONS_PENDING = createError(
  'SHOP_MIGRATIONS_PENDING',
  'The database lacks these migrations: %s. Run npm run migrate at the top of the repository or in the container, or set MIGRATE_ON_START=true'
)

/** From a command. It was called in another way than it can be. */
export const SHOP_USAGE = createError('SHOP_USAGE', 'Usage: %s')

/** From `npm run token`. There is no such person in the demo. */
export const SHOP_DEMO_USER = createError('SHOP_DEMO_USER', 'Usage: npm run token -- <username>; the users are: %s')

/** From `npm run token`. The demo's identity provider does not answer. */
export const SHOP_DEMO_STOPPED = createError('SHOP_DEMO_STOPPED', 'The demo is not running: start it with npm start')

/** At start. No free port near the wanted one. */
export const SHOP_NO_PORT = createError('SHOP_NO_PORT', 'Ports %d to %d are all taken; set PORT to a free one')

/** A fault in the code: a query on the pool from inside a transaction, which would wait for itself. */
export const SHOP_QUERY_OUTSIDE_TRANSACTION = createError(
  'SHOP_QUERY_OUTSIDE_TRANSACTION',
  'A query inside a transaction must run on the transaction, not on the pool'
)

/** An error that is about one input field, by its path: `name`, `attributes/0/value`, `filter/status`. */
export interface FieldError extends FastifyError {
  readonly field: string
}

/** @returns a 404 that names what was not there */
export function notFound (noun: string, id: string): Error {
  return new SHOP_NOT_FOUND(noun, id)
}

/** @returns a 409 about `field` */
export function conflict (field: string, message: string): FieldError {
  return Object.assign(new SHOP_CONFLICT(message), { field })
}

/** @returns a 422 about `field` */
export function invalid (field: string, message: string): FieldError {
  return Object.assign(new SHOP_INVALID(message), { field })
}
