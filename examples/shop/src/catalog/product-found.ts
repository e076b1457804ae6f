import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Knex } from 'knex'
import { conflict, type FieldError } from '../errors.ts'
import type { Facts } from '../records/facts.ts'
import type { ShopScope } from '../access/scope.ts'

/** An item that can be written. */
export interface Ready {
  readonly index: number
  readonly id: string
  readonly before: Facts | null
  /** Every field of a new product, and those of another that the item mentions. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** What a check found of the product that an item is about. */
export interface Found {
  /** Null if there was none. */
  readonly id: string | null
  /** Digests of the fields that the item would change; of a new product with a price, of its currency. */
  readonly fields: Readonly<Record<string, string>>
}

export function foundOf ({ id, before, fields }: Ready): Found {
  // The currency may be that of the shop, which may become another.
  if (before === null) {
    return { id: null, fields: fields['price_amount'] == null ? {} : { currency: digest(fields['currency']) } }
  }
  const changed = Object.keys(fields).filter((name) => !isDeepStrictEqual(before[name], fields[name]))
  // A price is one in a currency, also where the item does not name that.
  const named = 'price_amount' in fields && !('currency' in fields) ? [...changed, 'currency'] : changed
  return { id, fields: Object.fromEntries(named.map((name) => [name, digest(before[name])])) }
}

function digest (value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value ?? null)).digest('base64url').slice(0, 16)
}

/** How the product of an item differs from what was found. */
interface Difference {
  readonly index: number
  /** Of the product that there is now; null if it is gone. */
  readonly id: string | null
  /** Null if it is the product as a whole. */
  readonly field: string | null
}

function differenceOf ({ index, id, before, fields }: Ready, found: Found): Difference | undefined {
  const now = before === null ? null : id
  if (now !== found.id) return { index, id: now, field: null }
  if (before === null) {
    const { currency } = found.fields
    // An older version has stored none.
    return currency === undefined || digest(fields['currency']) === currency
      ? undefined
      : { index, id: now, field: 'currency' }
  }
  const field = [...Object.keys(fields), ...Object.keys(found.fields)].find((name) =>
    !isDeepStrictEqual(before[name], fields[name]) && digest(before[name]) !== found.fields[name]
  )
  return field === undefined ? undefined : { index, id, field }
}

/**
 * Compares the products of items with what a check found of them. What an item would set anyhow is no difference.
 *
 * @param found - by the index of the item; null if nothing is known
 * @param follows - whether earlier imports may have changed them, which the person at the client was told
 */
export async function changedSince (
  trx: Knex.Transaction,
  shop: ShopScope,
  items: readonly Ready[],
  found: ReadonlyArray<Found | null>,
  follows: boolean
): Promise<ReadonlyArray<{ readonly index: number, readonly error: FieldError }>> {
  const differences = items.flatMap((item) => {
    const known = found[item.index] ?? null
    return known === null ? [] : differenceOf(item, known) ?? []
  })
  const expected = follows && differences.length > 0 ? await ofImports(trx, shop, differences) : new Set<number>()
  return differences.filter(({ index }) => !expected.has(index)).map(({ index, id, field }) => ({
    index,
    error: conflict(field ?? '', `${whatBecame(id, field)} after the file was checked`)
  }))
}

function whatBecame (id: Difference['id'], field: Difference['field']): string {
  if (field !== null) return `${field} was changed`
  return `The product was ${id === null ? 'deleted' : 'created'}`
}

/** @returns the items whose products were last changed by an import */
async function ofImports (
  trx: Knex.Transaction,
  shop: ShopScope,
  differences: readonly Difference[]
): Promise<ReadonlySet<number>> {
  const { rows }: { readonly rows: ReadonlyArray<{ readonly index: number }> } = await trx.raw(
    `
    select index from jsonb_to_recordset(?::jsonb) as given(index int, id text, field text) where 'import_products' = (
      select operation from history where shop_id = ? and record_kind = 'product' and record_id = given.id
        and (given.field is null or action = 'create' or changes->given.field is not null) order by seq desc limit 1)`,
    [JSON.stringify(differences), shop.id]
  )
  return new Set(rows.map(({ index }) => index))
}
