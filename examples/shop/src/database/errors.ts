import type { FastifyError } from '@fastify/error'
import knex from 'knex'
import { conflict, invalid, SHOP_DATABASE_UNAVAILABLE, SHOP_GONE, SHOP_QUOTA_EXCEEDED, SHOP_RECORD_TOO_LARGE } from '../errors.ts'

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
  prices_valid_from_taken: 'valid_from is taken: the product already has a price in this currency and for this quantity from that time on',
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
 * What a PostgreSQL error means for the client, by SQLSTATE and by the name of the constraint, which contains the field (see
 * the migrations).
 *
 * @returns undefined for an error that is none of the client's business
 * @see [PostgreSQL error codes](https://www.postgresql.org/docs/current/errcodes-appendix.html)
 */
export function errorFromDatabase (error: DatabaseError): FastifyError | undefined {
  const { code, constraint = '' } = error
  const [, field, rule] = NAMES.exec(constraint) ?? []
  const sentence = SENTENCES[constraint]
  if (code === '23505' && field !== undefined && rule === 'taken') return conflict(field, sentence ?? `${field} is taken in this shop`)
  if (code === '23503' && field !== undefined && rule === 'exists') return invalid(field, sentence ?? `${field} names something that is not in this shop`)
  const quota = quotaExceeded(error)
  if (quota !== undefined) return new SHOP_QUOTA_EXCEEDED(error.detail, quota)
  if (code === '23514' && constraint in LARGE_FIELDS) return new SHOP_RECORD_TOO_LARGE(LARGE_FIELDS[constraint])
  if (code === '23514' && field !== undefined && rule === 'fits' && sentence !== undefined) return invalid(field, sentence)
  // It existed when the caller got access.
  if (code === '23503' && constraint.endsWith('_shop_id_fkey')) return new SHOP_GONE()
  return isUnavailable(error) ? new SHOP_DATABASE_UNAVAILABLE() : undefined
}

/** @returns which quota of its shop a write would have exceeded; undefined for any other error */
export function quotaExceeded ({ code, constraint }: DatabaseError): 'records' | 'bytes' | undefined {
  if (code !== '23514') return undefined
  return constraint === 'shop_quota_records' ? 'records' : constraint === 'shop_quota_bytes' ? 'bytes' : undefined
}

const NAMES = new RegExp('^(?:shops|accounts|products|categories|tags|attributes|product_categories|product_tags|product_attributes|orders|prices|shop_members)' +
  '_(.+)_(taken|exists|fits)$')

/**
 * 57P01-57P03: the server shuts down or starts; 57014, 55P03, 57P05, 25P03, 25P04: a statement, a wait for a lock, or an
 * idle or long session or transaction timed out, by a limit of the operator's; 53: out of disk space, memory or connections;
 * 25006: a read-only standby; 40001, 40P01: a conflict with another transaction; 08: the connection broke.
 */
const PASSING = /^(57P0[1235]|57014|55P03|25P0[34]|53...|25006|40001|40P01|08...|ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE)$/

/** Whether a statement failed because the database has no disk space left. */
export function isDiskFull ({ code }: DatabaseError): boolean {
  return code === '53100'
}

/** The same without what is about one statement or transaction. */
const AWAY = /^(57P0[123]|53...|25006|08...|ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE)$/

/** Whether no statement works at the moment. */
export function isAway (error: DatabaseError): boolean {
  return AWAY.test(error.code ?? '') || error instanceof knex.KnexTimeoutError || BROKEN.test(error.message ?? '')
}

/** Whether the database may answer later: it is away, starts, or has no room for this. */
export function isUnavailable (error: DatabaseError): boolean {
  return PASSING.test(error.code ?? '') || error instanceof knex.KnexTimeoutError ||
    BROKEN.test(error.message ?? '')
}

/** Messages of node-postgres, without a code, for lost connections; knex puts the statement before them. */
const BROKEN = /(^| - )(Connection (terminated|ended)|Client (was closed|has encountered a connection error) and is not queryable|timeout (expired|exceeded when trying to connect)|Query read timeout)/
