import type { FastifyError } from '@fastify/error'
import knex from 'knex'
import { remedyForPooler } from './pooler.ts'
import {
  conflict,
  invalid,
  SHOP_DATABASE_UNAVAILABLE,
  SHOP_GONE,
  SHOP_OUT_OF_RANGE,
  SHOP_QUOTA_EXCEEDED,
  SHOP_RECORD_TOO_LARGE,
  taken
} from '../errors.ts'

interface DatabaseError {
  readonly code?: string
  readonly message?: string
  readonly constraint?: string
  /** For a quota: its limit. */
  readonly detail?: string
}

/** The messages for constraints that are not about a taken or missing record of a shop. */
const SENTENCES: Readonly<Record<string, string>> = {
  shops_slug_taken: 'slug is taken by another shop',
  shop_members_user_id_taken: 'user_id is already a member of this shop',
  shop_members_user_id_exists: 'user_id is not the id of anybody who has signed in',
  prices_valid_from_taken:
    'valid_from is taken: the product already has a price in this currency and for this quantity from that time on',
  prices_valid_to_fits: 'valid_to must be after valid_from',
  accounts_details_fits: 'details must not be larger than 64 KiB'
}

/** The fields that can make a record too large. */
const LARGE_FIELDS: Readonly<Record<string, string>> = {
  products_record_fits: 'description, metadata or attributes',
  categories_record_fits: 'description',
  attributes_record_fits: 'options'
}

/**
 * What a PostgreSQL error means for the client, by SQLSTATE and by the name of the constraint, which contains the field
 * (see the migrations).
 *
 * @returns undefined for an error that is none of the client's business
 * @see [PostgreSQL error codes](https://www.postgresql.org/docs/current/errcodes-appendix.html)
 */
export function errorFromDatabase (error: DatabaseError): FastifyError | undefined {
  const { code, constraint = '' } = error
  const [, field, rule] = NAMES.exec(constraint) ?? []
  const sentence = SENTENCES[constraint]
  if (code === '23505' && field !== undefined && rule === 'taken') {
    return sentence === undefined ? taken(field) : conflict(field, sentence)
  }
  if (code === '23503' && field !== undefined && rule === 'exists') {
    return invalid(field, sentence ?? `${field} names something that is not in this shop`)
  }
  const quota = quotaExceeded(error)
  if (quota !== undefined) return new SHOP_QUOTA_EXCEEDED(error.detail, quota)
  if (code === '23514' && constraint in LARGE_FIELDS) return new SHOP_RECORD_TOO_LARGE(LARGE_FIELDS[constraint])
  if (code === '23514' && field !== undefined && rule === 'fits' && sentence !== undefined) {
    return invalid(field, sentence)
  }
  if (code === '22003') return outOfRange(error)
  // It existed when the caller got access.
  if (code === '23503' && constraint.endsWith('_shop_id_fkey')) return new SHOP_GONE()
  return isUnavailable(error) ? new SHOP_DATABASE_UNAVAILABLE() : undefined
}

/** Such as `value "3000000000" is out of range for type integer`, behind the statement. */
const OUT_OF_RANGE = /(?:value "([-+\d.eE]{1,40})" is )?out of range(?: for type ([a-z ]{1,30}))?$/

function outOfRange ({ message = '' }: DatabaseError): FastifyError {
  const [, value, type] = OUT_OF_RANGE.exec(message) ?? []
  return new SHOP_OUT_OF_RANGE(value ?? 'A number', type === undefined ? 'a stored number' : `a stored ${type}`)
}

/** @returns which quota of its shop a write would have exceeded; undefined for any other error */
export function quotaExceeded ({ code, constraint }: DatabaseError): 'records' | 'bytes' | undefined {
  if (code !== '23514') return undefined
  if (constraint === 'shop_quota_records') return 'records'
  return constraint === 'shop_quota_bytes' ? 'bytes' : undefined
}

const NAMES = new RegExp(
  '^(?:shops|accounts|products|categories|tags|attributes|product_categories|product_tags|product_attributes|orders' +
    '|prices|shop_members)_(.+)_(taken|exists|fits)$'
)

/** Whether a statement failed because the database has no disk space left. */
export function isDiskFull ({ code }: DatabaseError): boolean {
  return code === '53100'
}

/** What PostgreSQL itself says: five letters and digits. No code of Node.js begins so. */
const SQLSTATE = /^[0-9FHPX][0-9A-Z]{4}$/

/**
 * The classes of errors that no other database and no later moment would change, as the statement is wrong or does not
 * suit its values: mistakes of this program, or values that it should have refused. All others are failures of the
 * database, its settings, its rights or the way to it, and so are errors that a later version of PostgreSQL adds.
 *
 * 03, 0A, 21, 42, 44: the statement, names in it, or what it writes into a view; 22, 23: values, constraints; 54:
 * statements or values that are too large; 09, 20, 27, 2F, 38, 39, P0: functions and triggers of the migrations; 0B,
 * 24, 25, 2D, 34, 3B: the order of statements in a transaction; 0F, 0L, 0P, 0Z, 2B: what this program does not use.
 *
 * @see [PostgreSQL error codes](https://www.postgresql.org/docs/current/errcodes-appendix.html)
 */
const OURS = /^(?:03|09|0A|0B|0F|0L|0P|0Z|20|21|22|23|24|25|27|2B|2D|2F|34|38|39|3B|42|44|54|P0)/

/**
 * In these classes, what is not ours. 25006: a read-only standby; 25P03, 25P04: an idle or long transaction timed out,
 * by a limit of the operator's; 42501: rights are missing; 42P05: a pooler has mixed up prepared statements.
 */
const NOT_OURS = /^(?:25006|25P03|25P04|42501|42P05)$/

/** About one statement, transaction or session: others may work. */
const ONE_STATEMENT = /^(?:57014|57P05|25P0[34]|26...|42P05|40...|55...|72...|XX...)$/

/**
 * What an operator has to mend, and no waiting does: the user or password, the name of the database, its schema,
 * rights.
 */
const WRONG_SETTING = /^(?:28|3D|3F|42)/

/** What the operating system says of a connection. */
const ERRNO = /^E(?!RR_)[A-Z0-9_]+$/

const FAILED = Symbol('the database or the way to it failed')

/** Marks an error that came from the driver, where any could come from elsewhere. @returns the same error */
export function failedAtDatabase<Thrown> (error: Thrown): Thrown {
  // Mistakes of this program in the values of a statement, or what it read.
  const isBug = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError
  const { code, message = '', statusCode } = error as DatabaseError & { readonly statusCode?: number }
  const isFailure = error instanceof Error && !isBug && statusCode === undefined &&
    (code !== undefined || BROKEN.test(message))
  if (isFailure) Object.defineProperty(error, FAILED, { value: true })
  return error
}

/** Marks an error of a connection that could not be opened, whatever it is. @returns the same error */
export function failedToConnect<Thrown extends object> (error: Thrown): Thrown {
  return Object.defineProperty(error, FAILED, { value: true })
}

/** Whether the database, or the way to it, has failed. It may answer later, or when an operator has mended it. */
export function isUnavailable (error: DatabaseError): boolean {
  const { code = '', message = '' } = error
  if (SQLSTATE.test(code)) return !OURS.test(code) || NOT_OURS.test(code)
  return (error as { readonly [FAILED]?: true })[FAILED] === true || error instanceof knex.KnexTimeoutError ||
    BROKEN.test(message)
}

/** Whether no statement works at the moment. */
export function isAway (error: DatabaseError): boolean {
  return isUnavailable(error) && !ONE_STATEMENT.test(error.code ?? '')
}

/** Whether waiting may help. A wrong password, a certificate and a server without TLS have to be mended. */
export function mayPass (error: DatabaseError): boolean {
  const { code = '', message = '' } = error
  if (!isUnavailable(error) || remedyForPooler(error) !== undefined) return false
  if (SQLSTATE.test(code)) return !WRONG_SETTING.test(code)
  return ERRNO.test(code) || error instanceof knex.KnexTimeoutError || BROKEN.test(message)
}

/** Messages of node-postgres, without a code, for lost connections; knex puts the statement before them. */
const BROKEN = new RegExp(
  '(^| - )(Connection (terminated|ended)' +
    '|Client (was closed|has encountered a connection error) and is not queryable' +
    '|timeout (expired|exceeded when trying to connect)|Query read timeout)'
)
