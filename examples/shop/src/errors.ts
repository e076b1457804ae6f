import { createError, type FastifyError } from '@fastify/error'

/** 404. No such route. */
export const SHOP_ROUTE_NOT_FOUND = createError('SHOP_ROUTE_NOT_FOUND', 'No route %s %s', 404)

/** 400. The client sent something that is not HTTP. */
export const SHOP_MALFORMED_REQUEST = createError('SHOP_MALFORMED_REQUEST', 'This is not an HTTP request', 400)

/** 400. The JSON of a request is not UTF-8. */
export const SHOP_BODY_NOT_UTF8 = createError('SHOP_BODY_NOT_UTF8', 'The body is not UTF-8: JSON must be', 400)

/** 413. The JSON of a request has more values than a server reads at once. */
export const SHOP_TOO_MANY_VALUES = createError(
  'SHOP_TOO_MANY_VALUES',
  'The body has more than %d values: send it in several parts',
  413
)

/** 408. The request did not arrive in time. */
export const SHOP_REQUEST_TIMEOUT = createError('SHOP_REQUEST_TIMEOUT', 'Request timed out', 408)

/** 431. The headers are too large. */
export const SHOP_HEADERS_TOO_LARGE = createError('SHOP_HEADERS_TOO_LARGE', 'Request headers are too large', 431)

/** 403. The caller has no access to this shop, or it does not exist. */
export const SHOP_FORBIDDEN = createError('SHOP_FORBIDDEN', 'You have no access to this shop', 403)

/** 403. The person's account is inactive. */
export const SHOP_USER_INACTIVE = createError('SHOP_USER_INACTIVE', 'Your account is inactive', 403)

/** 403. The route is for admins: people whose roles, in the database, include `admin`. */
export const SHOP_ADMIN_ONLY = createError('SHOP_ADMIN_ONLY', 'Only admins may do this', 403)

/** A machine asks for what only people have. */
export const SHOP_PEOPLE_ONLY = createError(
  'SHOP_PEOPLE_ONLY',
  'Only people have connected apps: use the token of one',
  403
)

/** 401. `/metrics` requires `METRICS_TOKEN`. */
export const SHOP_METRICS_TOKEN = createError('SHOP_METRICS_TOKEN', '/metrics requires its bearer token', 401)

/** 403. The route is for owners of the shop, admins and machines. */
export const SHOP_OWNER_ONLY = createError('SHOP_OWNER_ONLY', 'Only owners of the shop and admins may do this', 403)

/** 409. The shop would have no active owner left. */
export const SHOP_LAST_OWNER = createError(
  'SHOP_LAST_OWNER',
  'This is the last active owner of the shop: make another member an owner first',
  409
)

/** 403. The shop has reached `QUOTA_RECORDS` or `QUOTA_BYTES`. */
export const SHOP_QUOTA_EXCEEDED = createError(
  'SHOP_QUOTA_EXCEEDED',
  'The shop has used its quota of %s %s: delete records, or ask the operator of the server for more',
  403
)

/** 404. The shop was deleted during the request. */
export const SHOP_GONE = createError('SHOP_GONE', 'The shop was deleted', 404)

/** 404. No such record in this shop; the same for a record of another shop. */
export const SHOP_NOT_FOUND = createError('SHOP_NOT_FOUND', 'No %s %s', 404)

/** 409. The value of `field` is taken or in use. */
export const SHOP_CONFLICT = createError('SHOP_CONFLICT', '%s', 409)

/** 409. A call with the same `Idempotency-Key` is under way: nothing was done by this one. */
export const SHOP_IDEMPOTENCY_KEY_UNDER_WAY = createError(
  'SHOP_IDEMPOTENCY_KEY_UNDER_WAY',
  'A call with this idempotency-key is under way: repeat it in a second',
  409
)

/** 422. The `Idempotency-Key` stands for a call that said something else: nothing was done. */
export const SHOP_IDEMPOTENCY_KEY_REUSED = createError(
  'SHOP_IDEMPOTENCY_KEY_REUSED',
  'This idempotency-key was used for a call that said something else: use another one for each call',
  422
)

/** 412. The record has changed since the caller read it; `current` is what it is now. */
export const SHOP_PRECONDITION_FAILED = createError(
  'SHOP_PRECONDITION_FAILED',
  'This has changed since you read it: nothing was done. It was last updated at %s',
  412
)

/**
 * 409. Later changes stand in the way of a revert; `field` and `later_change_id` are those of the first of `conflicts`.
 */
export const SHOP_REVERT_CONFLICT = createError('SHOP_REVERT_CONFLICT', '%s', 409)

/** 409. Changes of this kind of record cannot be reverted. */
export const SHOP_NOT_REVERTIBLE = createError('SHOP_NOT_REVERTIBLE', '%s cannot be reverted', 409)

/** 503. A revert, or its dry run, takes longer than a place among reverts is kept; nothing was reverted. */
export const SHOP_REVERT_TOO_LONG = createError(
  'SHOP_REVERT_TOO_LONG',
  'Nothing was reverted: that takes longer than %d seconds. Revert the changes since a later time first',
  503
)

/** 422. The value of `field` is invalid. */
export const SHOP_INVALID = createError('SHOP_INVALID', '%s', 422)

/** 422. A number does not fit into its column. */
export const SHOP_OUT_OF_RANGE = createError('SHOP_OUT_OF_RANGE', '%s is out of range for %s', 422)

/** 422. The record would be larger than 64 KiB. */
export const SHOP_RECORD_TOO_LARGE = createError(
  'SHOP_RECORD_TOO_LARGE',
  'The record would be larger than 64 KiB as JSON: shorten %s',
  422
)

/** 422. Lines of a file to import are wrong; `errors` names them. */
export const SHOP_IMPORT_INVALID = createError('SHOP_IMPORT_INVALID', '%s', 422)

/** 413. The file to import is too large. */
export const SHOP_FILE_TOO_LARGE = createError(
  'SHOP_FILE_TOO_LARGE',
  'The file is larger than %d MiB: send it in several parts',
  413
)

/** 400. The client has gone before it had sent all of a file. */
export const SHOP_UPLOAD_ABORTED = createError(
  'SHOP_UPLOAD_ABORTED',
  'The connection closed before the file had arrived',
  400
)

/** 415. The file to import is compressed. */
export const SHOP_ENCODING_UNSUPPORTED = createError(
  'SHOP_ENCODING_UNSUPPORTED',
  'Send the file without Content-Encoding',
  415
)

/** 429. The shop has too many imports that are not finished. */
export const SHOP_TOO_MANY_IMPORTS = createError(
  'SHOP_TOO_MANY_IMPORTS',
  'The shop has %d unfinished imports: wait for one, or cancel it',
  429
)

/**
 * 503. The database cannot be reached, is out of connections, memory or disk space, is read-only, or aborted the
 * transaction.
 */
export const SHOP_DATABASE_UNAVAILABLE = createError(
  'SHOP_DATABASE_UNAVAILABLE',
  'The database cannot be reached, is too busy or is out of disk space; try again later',
  503
)

/** 503. The server is overloaded. */
export const SHOP_OVERLOADED = createError('SHOP_OVERLOADED', 'The server is overloaded; try again later', 503)

/** 429. A limit of `RATE_LIMIT_…` is exceeded. */
export const SHOP_RATE_LIMITED = createError('SHOP_RATE_LIMITED', 'Too many %s; try again in %d seconds', 429)

const DAILY_LIMIT =
  'The daily limit of this %s is reached: %s. Try again after %s, or ask an admin of the server to raise it'

/** 429. The shop has made its calls of the day. */
export const SHOP_DAILY_CALLS_EXCEEDED = createError('SHOP_DAILY_CALLS_EXCEEDED', DAILY_LIMIT, 429)

/** 429. The shop has made its writes of the day. */
export const SHOP_DAILY_WRITES_EXCEEDED = createError('SHOP_DAILY_WRITES_EXCEEDED', DAILY_LIMIT, 429)

/** 429. The shop has made its imports of the day. */
export const SHOP_DAILY_IMPORTS_EXCEEDED = createError('SHOP_DAILY_IMPORTS_EXCEEDED', DAILY_LIMIT, 429)

/** 429. The API key has made its calls of the day. */
export const SHOP_KEY_DAILY_CALLS_EXCEEDED = createError('SHOP_KEY_DAILY_CALLS_EXCEEDED', DAILY_LIMIT, 429)

/** 429. The API key has made its writes of the day. */
export const SHOP_KEY_DAILY_WRITES_EXCEEDED = createError('SHOP_KEY_DAILY_WRITES_EXCEEDED', DAILY_LIMIT, 429)

/** 429. The API key has made its imports of the day. */
export const SHOP_KEY_DAILY_IMPORTS_EXCEEDED = createError('SHOP_KEY_DAILY_IMPORTS_EXCEEDED', DAILY_LIMIT, 429)

/** 429. More concurrent calls than `MAX_CONCURRENT_CALLS`. */
export const SHOP_TOO_MANY_CONCURRENT_CALLS = createError(
  'SHOP_TOO_MANY_CONCURRENT_CALLS',
  'Too many concurrent calls: %d running and %d waiting',
  429
)

/** 500. A bug or fault of the server; the log has the details under the request id. */
export const SHOP_INTERNAL = createError('SHOP_INTERNAL', 'Internal server error; request id %s', 500)

/** 500. The payment key was encrypted with a secret that is not in `PAY_KEY_SECRETS`, or for another shop. */
export const SHOP_PAY_KEY_UNREADABLE = createError(
  'SHOP_PAY_KEY_UNREADABLE',
  'The payment key of shop %s cannot be decrypted',
  500
)

/** At startup. Another process has the embedded database open, or may have. */
export const SHOP_DATA_DIRECTORY_IN_USE = createError(
  'SHOP_DATA_DIRECTORY_IN_USE',
  'The data directory %s is in use by %s. Stop it first, or set DATA_DIR to another directory. ' +
    'If you are sure that it is gone, delete %s'
)

/** At startup. Lists every invalid or insecure setting; also if the secrets of all stored keys are missing. */
export const SHOP_SETTINGS = createError('SHOP_SETTINGS', 'These settings cannot be used:\n%s')

/**
 * At startup, and from commands. Answers would be wrong, or writes fail, with a setting of the database that the server
 * cannot set itself.
 */
export const SHOP_DATABASE_UNSUITABLE = createError('SHOP_DATABASE_UNSUITABLE', 'The database cannot be used: %s')

/** Values that are no times would be taken for times that are not set. */
export const SHOP_NO_INSTANT = createError(
  'SHOP_NO_INSTANT',
  'The database wrote a time as %s, which is not ISO 8601: does a pooler drop DateStyle?'
)

/** At startup, and from commands. Others hold locks on the tables that a migration changes. */
export const SHOP_MIGRATION_BLOCKED = createError(
  'SHOP_MIGRATION_BLOCKED',
  'Migration %s did not get its locks within %s seconds, and changed nothing. %sRun it again when that ' +
    'transaction is over, or end its session with pg_terminate_backend'
)

/** At startup, and from commands. Migrations are pending. */
export const SHOP_MIGRATIONS_PENDING = createError(
  'SHOP_MIGRATIONS_PENDING',
  'Migrations are pending: %s. Run npm run migrate at the root of the repository or in the container, or set ' +
    'MIGRATE_ON_START=true. Database: %s'
)

/** At startup, and from commands. Migrations are pending, and a pooler in transaction mode cannot run them. */
export const SHOP_MIGRATIONS_POOLED = createError(
  'SHOP_MIGRATIONS_POOLED',
  'Migrations are pending: %s. DATABASE_URL leads through a pooler in transaction mode, which cannot run them. ' +
    'Run npm run migrate with the URL of the PostgreSQL server itself'
)

/** At startup, and from commands. The tables are not those that this version would make. */
export const SHOP_MIGRATIONS_UNKNOWN = createError(
  'SHOP_MIGRATIONS_UNKNOWN',
  'The database has the migration %s, which this version does not know: another program made it, or a version ' +
    'before the first release. Nothing was changed. Run the version that made it, or set DATABASE_URL or DATA_DIR ' +
    'to an empty one'
)

/** From a command. Its arguments are wrong. */
export const SHOP_USAGE = createError('SHOP_USAGE', 'Usage: %s')

/** From `npm run token`. No such person in the demo. */
export const SHOP_DEMO_USER = createError('SHOP_DEMO_USER', 'Usage: npm run token -- <username>; the users are: %s')

/** From `npm run token`. The demo's identity provider does not respond. */
export const SHOP_DEMO_STOPPED = createError('SHOP_DEMO_STOPPED', 'The demo is not running. Start it with npm start')

/** At startup of the demo. No free port near the requested one. */
export const SHOP_NO_PORT = createError('SHOP_NO_PORT', 'Ports %d to %d are all in use. Set PORT to a free one')

/** A bug: a query on the pool inside a transaction, which would wait for itself. */
export const SHOP_QUERY_OUTSIDE_TRANSACTION = createError(
  'SHOP_QUERY_OUTSIDE_TRANSACTION',
  'A query inside a transaction must run on the transaction, not on the pool'
)

/** An error about one input field, named by its path: `name`, `attributes/0/value`, `filter/status`. */
export interface FieldError extends FastifyError {
  readonly field: string
}

/** An error about changes that cannot be reverted. */
export interface RevertError extends FastifyError {
  readonly field?: string
  readonly later_change_id: string | null
  readonly conflict_count: number
  readonly conflicts: ReadonlyArray<
    { readonly field?: string, readonly later_change_id: string | null, readonly reason: string }
  >
}

/** An error about a record that has changed. */
export interface PreconditionError extends FastifyError {
  readonly current: object
  /** Its `ETag`. */
  readonly etag: string
}

/** An error about lines of a file. */
export interface ImportError extends FastifyError {
  readonly error_count: number
  readonly errors: ReadonlyArray<{ readonly line: number, readonly field: string, readonly message: string }>
}

/** How many wrong lines a message has. */
const TOLD = 5

/**
 * @param isHeading - whether the first error is about the columns of the file
 * @returns a 422 about lines of a file
 */
export function importInvalid (
  total: number,
  count: number,
  errors: ImportError['errors'],
  isHeading = false
): ImportError {
  const wrong = isHeading ? count - 1 : count
  const lead = [
    ...isHeading ? ['The file has columns that are not known.'] : [],
    ...wrong > 0 ? [`${wrong} of ${total} products cannot be imported.`] : []
  ]
  const told = errors.slice(0, TOLD).map(({ line, message }) => `Line ${line}: ${message}.`)
  const message = [...lead, ...told, ...count > TOLD ? ['And more.'] : []]
    .join(' ')
  return Object.assign(new SHOP_IMPORT_INVALID(message), { error_count: count, errors })
}

/** @returns a 409 that says what stands in the way of a revert */
export function revertConflict (
  { conflicts, conflict_count: count }: Pick<RevertError, 'conflicts' | 'conflict_count'>
): RevertError {
  const { field, later_change_id: later, reason } = conflicts[0]!
  return Object.assign(new SHOP_REVERT_CONFLICT(reason), {
    ...(field !== undefined && { field }),
    later_change_id: later,
    conflict_count: count,
    conflicts
  })
}

/** @returns a 412 that has the record as it is now, and its `ETag` */
export function preconditionFailed (current: { readonly updated_at: string }, etag: string): PreconditionError {
  return Object.assign(new SHOP_PRECONDITION_FAILED(current.updated_at), { current, etag })
}

/** @returns a 404 that names the missing record */
export function notFound (noun: string, id: string): Error {
  return new SHOP_NOT_FOUND(noun, id)
}

/** @returns a 409 about `field` */
export function conflict (field: string, message: string): FieldError {
  return Object.assign(new SHOP_CONFLICT(message), { field })
}

/** @returns a 409 about a value that another record of the shop has */
export function taken (field: string): FieldError {
  return conflict(field, `${field} is taken in this shop`)
}

/** @returns a 409 about a field that a newer version has written, and this one cannot write */
export function notKnown (field: string): FieldError {
  return conflict(field, `${field} is not known to this version of the server: undo this with the one that wrote it`)
}

const DAILY_LIMITS = {
  shop: { calls: SHOP_DAILY_CALLS_EXCEEDED, writes: SHOP_DAILY_WRITES_EXCEEDED, imports: SHOP_DAILY_IMPORTS_EXCEEDED },
  'API key': {
    calls: SHOP_KEY_DAILY_CALLS_EXCEEDED,
    writes: SHOP_KEY_DAILY_WRITES_EXCEEDED,
    imports: SHOP_KEY_DAILY_IMPORTS_EXCEEDED
  }
} as const

/** @returns a 429 that says which limit of a day is reached, whose, and when the day ends */
export function dailyLimitExceeded (
  whose: 'shop' | 'API key',
  what: 'calls' | 'writes' | 'imports',
  limit: number,
  end: Date,
  seconds: number
): Error {
  return new DAILY_LIMITS[whose][what](whose, `${limit} ${what}`, `${end.toISOString()}, in ${seconds} seconds`)
}

/** @returns a 422 about `field` */
export function invalid (field: string, message: string): FieldError {
  return Object.assign(new SHOP_INVALID(message), { field })
}
