import { DUAL_AUTH_SHOP_UNKNOWN } from '../errors.ts'

/*
 * What PostgreSQL says of a shop that is not there, once a host has given the column of shop ids a type of its own and
 * tied it to its shops: it is no failure of the database.
 */

/** SQLSTATEs of a text that the column cannot hold: no UUID, no number, too large a number, too long a text. */
const NO_ID: readonly unknown[] = ['22P02', '22003', '22001']
const FOREIGN_KEY = '23503'
// `Key (shop_id)=(…) is not present in table "shops".`, in the server's language. Other foreign keys may be violated too.
const OF_SHOP = /^[^(]*\((?:[^()]*, )?shop_id[,)]/

interface DatabaseError {
  readonly code?: unknown
  readonly detail?: unknown
}

/** Whether a statement with no other input than the shop's id failed because that cannot be one. */
export function isNoShopId (error: DatabaseError): boolean {
  return NO_ID.includes(error.code)
}

/** Whether a row was refused because its shop is not there. */
export function isOfNoShop (error: DatabaseError): boolean {
  return error.code === FOREIGN_KEY && OF_SHOP.test(String(error.detail))
}

/** What the statement gives, or what to have instead where it failed in this way. */
export async function unless<T> (failed: (error: DatabaseError) => boolean, statement: PromiseLike<T>, instead: () => T): Promise<T> {
  try {
    return await statement
  } catch (error) {
    if (failed(error as DatabaseError)) return instead()
    throw error
  }
}

/** @throws {@link DUAL_AUTH_SHOP_UNKNOWN} */
export function shopUnknown (): never {
  throw new DUAL_AUTH_SHOP_UNKNOWN()
}
