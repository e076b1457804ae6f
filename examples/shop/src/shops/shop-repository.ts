import type { Static } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { forgetAccounts } from 'pay-reconcile/knex'
import type { Caller } from '../access/caller.ts'
import { type Change, fieldsOf, recordChange } from '../records/trail.ts'
import { updatedAt } from '../database/updated-at.ts'
import { conflict, notFound } from '../errors.ts'
import { refuseUnknownCurrency } from '../http/values.ts'
import type { Precondition } from '../http/if-match.ts'
import type { ListQuery, Page } from '../lists/list.ts'
import { pageOf } from '../lists/page.ts'
import type { Settings } from '../settings/settings.ts'
import { shopsReached } from '../access/shops-reached.ts'
import type { ShopScope } from '../access/scope.ts'
import { shopsThere } from '../access/shops-there.ts'
import { list, type Shop, type ShopChanges, type ShopInput } from './shop-schemas.ts'
import { slugFromName } from '../records/slug.ts'

type ShopRow = Static<typeof Shop>

/** Of a deleted shop: another may have its slug, and no call to the payment provider is made for it. */
const DELETED = { status: 'deleted', pay_secret_key: null, pay_webhook_secret: null }

/** Never the payment key. */
const COLUMNS = ['id', 'slug', 'name', 'currency', 'status', 'created_at', 'updated_at'] as const

/** The shops themselves. */
export function shopsRepository (knex: Knex) {
  return {
    /** @returns a page of the shops that the caller of the request reaches */
    async list (request: FastifyRequest, query: ListQuery): Promise<Page<ShopRow>> {
      return await pageOf<ShopRow>(knex, shopsReached(knex, request), list, query, COLUMNS)
    },

    async get (shop: ShopScope): Promise<ShopRow> {
      return required(await shopsThere(knex).where({ id: shop.id }).select(COLUMNS), shop)
    },

    /** @throws {@link SHOP_CONFLICT} | {@link SHOP_INVALID} */
    async create (
      caller: Caller,
      { slug, ...columns }: Static<typeof ShopInput>,
      on: Knex = knex
    ): Promise<ShopRow> {
      refuseUnknownCurrency(columns)
      return await on.transaction(async (trx) => {
        const [shop] = await trx('shops').insert({ ...columns, slug: slug ?? slugFromName(columns.name) }).returning(
          COLUMNS
        )
        await recordChange(trx, caller, changeOf(shop, null, fieldsOf(shop, AUDITED)))
        return shop
      })
    },

    /** @throws {@link SHOP_CONFLICT} | {@link SHOP_PRECONDITION_FAILED} */
    async update (
      shop: ShopScope,
      caller: Caller,
      changes: Static<typeof ShopChanges>,
      precondition?: Precondition
    ): Promise<ShopRow> {
      return await knex.transaction(async (trx) => {
        const before = required(await shopsThere(trx).where({ id: shop.id }).forUpdate().select(COLUMNS), shop)
        precondition?.(before)
        const after = required(
          await trx('shops').where({ id: shop.id }).update({ ...changes, updated_at: updatedAt(trx, changes) })
            .returning(COLUMNS),
          shop
        )
        const names = Object.keys(changes)
        if (names.length > 0) {
          await recordChange(trx, caller, changeOf(after, fieldsOf(before, names), fieldsOf(after, names)))
        }
        return after
      })
    },

    /**
     * Deletes the shop: nobody reaches it, or what is in it, any more. {@link ShopDeletion} deletes the rest.
     *
     * @throws {@link SHOP_CONFLICT} when it has orders
     * @throws {@link SHOP_PRECONDITION_FAILED}
     */
    async remove (shop: ShopScope, caller: Caller, precondition?: Precondition): Promise<void> {
      await knex.transaction(async (trx) => {
        // New orders lock the row of the shop, and wait from here on.
        const before = required(await shopsThere(trx).where({ id: shop.id }).forUpdate().select(COLUMNS), shop)
        precondition?.(before)
        const order = await trx('orders').where({ shop_id: shop.id }).first('id')
        if (order !== undefined) throw conflict('shop_id', 'A shop with orders cannot be deleted: archive it instead')
        await trx('shops').where({ id: shop.id }).update({ ...DELETED, slug: `deleted ${shop.id}` })
        // Runs of pay-reconcile read those of all shops.
        await trx('accounts').where({ shop_id: shop.id }).delete()
        await forgetAccounts(trx, { shopId: shop.id })
        await recordChange(trx, caller, changeOf(before, fieldsOf(before, AUDITED), null))
      })
    }
  }
}

/** The fields that the history records of a created or deleted shop. */
const AUDITED = ['slug', 'name', 'currency', 'status'] as const

function changeOf ({ id, name }: ShopRow, before: Change['before'], after: Change['after']): Change {
  return { shopId: id, recordKind: 'shop', recordId: id, recordName: name, before, after }
}

/** @throws {@link SHOP_NOT_FOUND} if the shop was deleted meanwhile */
function required<Row> ([row]: readonly Row[], { id }: ShopScope): Row {
  if (row === undefined) throw notFound('shop', id)
  return row
}

/** Stores the quota of every shop in the database. All servers share it: the one that started last sets it. */
export async function setQuota (
  knex: Knex,
  { QUOTA_RECORDS: records, QUOTA_BYTES: bytes }: Pick<Settings, 'QUOTA_RECORDS' | 'QUOTA_BYTES'>
): Promise<void> {
  await knex('shop_quota').insert({ max_records: records, max_bytes: bytes }).onConflict('only_row').merge()
}
