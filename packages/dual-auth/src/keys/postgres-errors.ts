import { DUAL_AUTH_SHOP_UNKNOWN } from '../errors.ts'

/*
 * Errors of PostgreSQL that are not failures of the database. Hosts may change the type of the column of shop ids and
 * make it a foreign key; PostgreSQL then reports a shop that does not exist as an error.
 */

/** SQLSTATEs of a string that the column cannot hold: not a UUID, not a number, too large, too long. */
const NO_ID: readonly unknown[] = ['22P02', '22003', '22001']
const FOREIGN_KEY = '23503'
// `Key (shop_id)=(…) is not present in table "shops".`, in the server's language. Other foreign keys may fail too.
const OF_SHOP = /^[^(]*\((?:[^()]*, )?shop_id[,)]/

interface DatabaseError {
  readonly code?: unknown
  readonly detail?: unknown
}

/** Whether a statement whose only input is the shop's id failed because no shop can have that id. */
export function isInvalidShopId (error: DatabaseError): boolean {
  return NO_ID.includes(error.code)
}

/** Whether a row was rejected because its shop does not exist. */
export function isMissingShop (error: DatabaseError): boolean {
  return error.code === FOREIGN_KEY && OF_SHOP.test(String(error.detail))
}

/** SQLSTATE class 42, or 3F000: a missing table, column or schema, or no right to read it. Waiting will not help. */
export function isSchemaError ({ code }: DatabaseError): boolean {
  return /^(42...|3F000)$/.test(String(code))
}

/** Returns the statement's result, or what `recover` returns if the statement failed in the expected way. */
export async function recovering<T> (isExpected: (error: DatabaseError) => boolean, statement: PromiseLike<T>, recover: () => T): Promise<T> {
  try {
    return await statement
  } catch (error) {
    if (isExpected(error as DatabaseError)) return recover()
    throw error
  }
}

/** @throws {@link DUAL_AUTH_SHOP_UNKNOWN} */
export function throwShopUnknown (): never {
  throw new DUAL_AUTH_SHOP_UNKNOWN()
}
