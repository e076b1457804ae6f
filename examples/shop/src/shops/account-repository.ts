import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { forgetAccounts } from 'pay-reconcile/knex'
import { invalid } from '../errors.ts'
import { Account, type AccountChanges, type AccountInput, list, MAX_DETAILS } from './account-schemas.ts'
import { recordRepository } from '../records/repository.ts'
import type { ShopScope } from '../access/scope.ts'

type Details = Record<string, unknown>

type AccountRow = Static<typeof Account>

/** The keys of `details` that the payment routes write. */
const PAY_KEYS = ['pay_customer_id', 'pay_customer', 'pay_customer_before_deletion', 'pay_synced_at']

/** Accounts. The shop writes their `details`, except the keys of the payment routes. */
export function accountRepository (knex: Knex) {
  const rows = recordRepository(knex, {
    table: 'accounts',
    noun: 'account',
    ...list,
    record: Account,
    shown: { details: (row) => `(${row}.details - '{${PAY_KEYS.join(',')}}'::text[])` },
    dependents: [{ table: 'orders', link: 'orders', from: 'id', to: 'account_id', lost: 'link', key: ['id'] }],
    onRemoved: async (trx, accountId) => await forgetAccounts(trx, { accountId })
  })

  return {
    ...rows,

    /** @throws {@link SHOP_INVALID} */
    async create (
      shop: ShopScope,
      { details = {}, ...columns }: Static<typeof AccountInput>,
      on: Knex = knex
    ): Promise<AccountRow> {
      return await rows.insert(shop, { ...columns, details: splitDetails(details).set }, on)
    },

    /**
     * Merges `details` in one statement, so that concurrent writers of other keys lose nothing.
     *
     * @throws {@link SHOP_NOT_FOUND} | {@link SHOP_INVALID}
     */
    async update (
      shop: ShopScope,
      id: string,
      { details, ...columns }: Static<typeof AccountChanges>,
      on: Knex = knex
    ): Promise<AccountRow> {
      if (details === undefined) return await rows.update(shop, id, columns, on)
      const { set, removed } = splitDetails(details)
      return await rows.update(shop, id, {
        ...columns,
        details: knex.raw('(details || ?::jsonb) - ?::text[]', [JSON.stringify(set), removed])
      }, on)
    }
  }
}

/** The keys to set, and the keys to remove: those that are null. */
function splitDetails (details: Details): { set: Details, removed: string[] } {
  const key = PAY_KEYS.find((name) => Object.hasOwn(details, name))
  if (key !== undefined) throw invalid(`details/${key}`, `details/${key} is written by the payment routes only`)
  if (Buffer.byteLength(JSON.stringify(details)) > MAX_DETAILS) {
    throw invalid('details', `details must not be larger than ${MAX_DETAILS / 1024} KiB`)
  }
  const entries = Object.entries(details)
  return {
    set: Object.fromEntries(entries.filter(([, value]) => value !== null)),
    removed: entries.filter(([, value]) => value === null).map(([name]) => name)
  }
}
