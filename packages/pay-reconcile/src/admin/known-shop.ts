import { validationError } from '../errors.ts'
import type { AccountStore } from '../types.ts'
import type { RawQuery } from './list-grammar.ts'
import { isUuid } from './list-query.ts'

/**
 * Refuses a list that is empty because the only shop that it asks for does not exist: a misspelt id must not read as a shop
 * without records. A shop that was deleted, and still has records, passes, and so does any UUID: nobody mistypes one for another.
 *
 * @throws {@link PAY_RECONCILE_VALIDATION}
 */
export async function refuseUnknownShop (
  accounts: AccountStore, query: RawQuery, shops: ReadonlyArray<string | number | boolean | null> | undefined, count: number
): Promise<void> {
  const [shopId, ...others] = shops ?? []
  if (count > 0 || typeof shopId !== 'string' || others.length > 0 || isUuid(shopId) || (await accounts.shops(shopId)).length > 0) return
  const field = query.shop_id === undefined ? 'filter/shop_id' : 'shop_id'
  throw validationError(field, `${field.replace('/', '.')} must be the id of a shop`)
}
