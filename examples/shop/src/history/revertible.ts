import type { Knex } from 'knex'
import { attributeRepository } from '../catalog/attribute-repository.ts'
import { categoryRepository } from '../catalog/category-repository.ts'
import { isLink, LINKS } from '../catalog/product-columns.ts'
import { productRepository } from '../catalog/product-repository.ts'
import { tagRepository } from '../catalog/tag-repository.ts'
import { accountRepository } from '../shops/account-repository.ts'
import { configRepository } from '../shops/config-repository.ts'
import { priceRepository } from '../shops/price-repository.ts'
import type { Facts } from '../shops/record-repository.ts'
import type { ShopScope } from '../shops/scope.ts'
import type { REVERTIBLE_KINDS } from './kinds.ts'

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
  readonly hold: (shop: ShopScope, id: string, trx: Knex.Transaction, fields?: readonly string[]) => Promise<Facts | undefined>
  readonly update: (shop: ShopScope, change: StoredChange, trx: Knex.Transaction) => Promise<unknown>
  /** For records that are created and deleted. */
  readonly life?: {
    readonly table: string
    /** What refers to a record and keeps it from being deleted again, by what to call it. */
    readonly references: Readonly<Record<string, readonly [table: string, column: string]>>
    readonly remove: (shop: ShopScope, id: string, trx: Knex.Transaction) => Promise<void>
    readonly restore: (shop: ShopScope, change: StoredChange, trx: Knex.Transaction) => Promise<unknown>
  }
}

/** The fields of a change as they were before it. */
export function earlier ({ changes }: StoredChange): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(changes).map(([field, { before }]) => [field, before]))
}

const noLinks = Object.fromEntries(Object.keys(LINKS).map((name) => [name, []]))

/** What a product was linked to before a change. */
function earlierLinks (change: StoredChange): object {
  return Object.fromEntries(Object.entries(earlier(change)).filter(([name, value]) => isLink(name) && value !== null))
}

/** @returns how changes are reverted, by the kind of their record */
export function revertibles (knex: Knex): Readonly<Record<typeof REVERTIBLE_KINDS[number], Revertible>> {
  const [products, categories, tags] = [productRepository(knex), categoryRepository(knex), tagRepository(knex)]
  const [attributes, prices, accounts, config] = [attributeRepository(knex), priceRepository(knex), accountRepository(knex), configRepository(knex)]

  return {
    product: {
      hold: products.hold,
      update: async (shop, change, trx) => await products.update(shop, change.record_id, earlier(change), trx),
      life: {
        table: 'products',
        references: { orders: ['order_lines', 'product_id'], prices: ['prices', 'product_id'] },
        remove: products.remove,
        restore: async (shop, change, trx) => await products.restore(shop, change.record_id, change.id, { ...noLinks, ...earlierLinks(change) }, trx)
      }
    },
    category: {
      hold: categories.hold,
      update: async (shop, change, trx) => await categories.update(shop, change.record_id, earlier(change), trx),
      life: {
        table: 'categories',
        references: { products: ['product_categories', 'category_id'], categories: ['categories', 'parent_id'] },
        remove: categories.remove,
        restore: async (shop, change, trx) => await categories.restore(shop, change.record_id, change.id, trx)
      }
    },
    tag: {
      hold: tags.hold,
      update: async (shop, change, trx) => await tags.update(shop, change.record_id, earlier(change), trx),
      life: {
        table: 'tags',
        references: { products: ['product_tags', 'tag_id'] },
        remove: tags.remove,
        restore: async (shop, change, trx) => await tags.restore(shop, change.record_id, change.id, trx)
      }
    },
    attribute: {
      hold: attributes.hold,
      update: async (shop, change, trx) => await attributes.update(shop, change.record_id, earlier(change), trx),
      life: {
        table: 'attributes',
        references: { products: ['product_attributes', 'attribute_id'] },
        remove: attributes.remove,
        restore: async (shop, change, trx) => await attributes.restore(shop, change.record_id, change.id, trx)
      }
    },
    price: {
      hold: prices.hold,
      update: async (shop, change, trx) => await prices.update(shop, change.record_id, earlier(change), trx),
      life: {
        table: 'prices',
        references: {},
        remove: prices.remove,
        restore: async (shop, change, trx) => await prices.restore(shop, change.record_id, change.id, trx)
      }
    },
    account: {
      hold: accounts.hold,
      update: async (shop, change, trx) => await accounts.update(shop, change.record_id, earlierAccount(change), trx),
      life: {
        table: 'accounts',
        references: { orders: ['orders', 'account_id'] },
        remove: accounts.remove,
        restore: async (shop, change, trx) => await accounts.restore(shop, change.record_id, change.id, trx)
      }
    },
    shop_config: {
      hold: async (shop, _id, trx) => ({ ...await config.hold(shop, trx) }),
      update: async (shop, change, trx) => await config.update(shop, shop.caller, earlier(change), { on: trx })
    }
  }
}

/** Details are merged: keys that the change added are null in what takes them away. */
function earlierAccount (change: StoredChange): object {
  const { details } = change.changes
  if (details === undefined) return earlier(change)
  const added = Object.keys(details.after as object).map((name) => [name, null])
  return { ...earlier(change), details: { ...Object.fromEntries(added), ...details.before as object } }
}
