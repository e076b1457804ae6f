import type { Knex } from 'knex'
import { attributeRepository } from '../catalog/attribute-repository.ts'
import { categoryRepository } from '../catalog/category-repository.ts'
import { LINKS } from '../catalog/product-columns.ts'
import { productRepository } from '../catalog/product-repository.ts'
import { tagRepository } from '../catalog/tag-repository.ts'
import { accountRepository } from '../shops/account-repository.ts'
import { configRepository } from '../shops/config-repository.ts'
import { priceRepository } from '../shops/price-repository.ts'
import type { Facts } from '../records/facts.ts'
import type { ShopScope } from '../access/scope.ts'
import type { REVERTIBLE_KINDS } from '../records/kinds.ts'

/** A change as the history has it. */
export interface StoredChange {
  readonly id: string
  readonly seq: number
  readonly at: string
  readonly action: 'create' | 'update' | 'delete' | 'event'
  readonly record_kind: string
  readonly record_id: string
  readonly record_name: string | null
  readonly changes: Readonly<Record<string, { readonly before: unknown, readonly after: unknown }>>
}

/** A change that is to be reverted. */
export interface Listed extends StoredChange {
  /** Whether there is a revert of it, which may have been reverted. */
  readonly was_reverted: boolean
}

/** How changes of a kind of record are reverted: by the same code that makes them, in the transaction of the revert. */
export interface Revertible {
  /** Locks the record, and reads at least the given fields; all by default. Undefined if there is none. */
  readonly hold: (
    shop: ShopScope,
    id: string,
    trx: Knex.Transaction,
    fields?: readonly string[]
  ) => Promise<Facts | undefined>
  readonly update: (shop: ShopScope, change: StoredChange, trx: Knex.Transaction) => Promise<unknown>
  /** For records that are created and deleted. */
  readonly life?: {
    readonly table: string,
    /** What refers to a record and keeps it from being deleted again, by what to call it. */
    readonly references: Readonly<Record<string, readonly [table: string, column: string]>>,
    readonly remove: (shop: ShopScope, id: string, trx: Knex.Transaction) => Promise<void>,
    readonly restore: (shop: ShopScope, change: StoredChange, trx: Knex.Transaction) => Promise<unknown>
  }
}

/** The fields of a change as they were before it. */
export function earlier ({ changes }: StoredChange): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(changes).map(([field, { before }]) => [field, before]))
}

/** What makes changes of a kind of record. */
interface Repository extends Pick<Revertible, 'hold'>, Pick<NonNullable<Revertible['life']>, 'remove'> {
  update(shop: ShopScope, id: string, changes: object, trx: Knex.Transaction): Promise<unknown>
  restore(shop: ShopScope, id: string, change: string, trx: Knex.Transaction, links?: any): Promise<unknown>
}

/**
 * How changes of the records in a table are reverted.
 *
 * @param before - the fields of a record before a change. Default: {@link earlier}
 * @param links - what a record was linked to, for the restore
 */
function recordsIn (
  table: string,
  { hold, update, remove, restore }: Repository,
  references: NonNullable<Revertible['life']>['references'],
  { before = earlier, links }: {
    readonly before?: (change: StoredChange) => object,
    readonly links?: (change: StoredChange) => object
  } = {}
): Revertible {
  return {
    hold,
    update: async (shop, change, trx) => await update(shop, change.record_id, before(change), trx),
    life: {
      table,
      references,
      remove,
      restore: async (shop, change, trx) => await restore(shop, change.record_id, change.id, trx, links?.(change))
    }
  }
}

/** @returns how changes are reverted, by the kind of their record */
export function revertibles (knex: Knex): Readonly<Record<typeof REVERTIBLE_KINDS[number], Revertible>> {
  const config = configRepository(knex)
  return {
    product: recordsIn('products', productRepository(knex), {
      orders: ['order_lines', 'product_id'],
      prices: ['prices', 'product_id']
    }, { links: earlierLinks }),
    category: recordsIn('categories', categoryRepository(knex), {
      products: ['product_categories', 'category_id'],
      categories: ['categories', 'parent_id']
    }),
    tag: recordsIn('tags', tagRepository(knex), { products: ['product_tags', 'tag_id'] }),
    attribute: recordsIn('attributes', attributeRepository(knex), { products: ['product_attributes', 'attribute_id'] }),
    price: recordsIn('prices', priceRepository(knex), {}),
    account: recordsIn('accounts', accountRepository(knex), { orders: ['orders', 'account_id'] }, {
      before: earlierAccount
    }),
    shop_config: {
      hold: async (shop, _id, trx) => ({ ...await config.hold(shop, trx) }),
      update: async (shop, change, trx) => await config.update(shop, shop.caller, earlier(change), { on: trx })
    }
  }
}

/** What a product was linked to before a change. */
function earlierLinks (change: StoredChange): object {
  const before = earlier(change)
  return Object.fromEntries(Object.keys(LINKS).map((name) => [name, before[name] ?? []]))
}

/** Details are merged: keys that the change added are null in what takes them away. */
function earlierAccount (change: StoredChange): object {
  const { details } = change.changes
  if (details === undefined) return earlier(change)
  const added = Object.keys(details.after as object).map((name) => [name, null])
  return { ...earlier(change), details: { ...Object.fromEntries(added), ...details.before as object } }
}
