import type { Knex } from 'knex'
import type { AccountLimits } from '../types.ts'
import { customerId } from './account-rows.ts'
import type { IdColumns } from './ids.ts'

/** A part of a run that ended early. */
interface EndedPart {
  readonly shop_id: string
  readonly last_account: string | null
}

/** Whether a run has an item for the account `a`, or recorded it as unchanged while it read pages; in SQL with the run's id twice. */
const isFinished = `(exists (select from pay_reconcile_items f where f.run_id = ? and f.account_id = a.id::text)
  or exists (select from pay_reconcile_unchanged f where f.run_id = ? and f.shop_id = a.shop_id::text and f.account_id = a.id::text))`

/** @returns what limits a query over the accounts `a`. */
export async function limitsFrom (
  knex: Knex, { accounts, failedIn, syncedBefore, linked, customers, changed, unfinishedIn }: AccountLimits, { account: isId, accountType }: IdColumns
): Promise<(query: Knex.QueryBuilder) => void> {
  const ended = failedIn === undefined
    ? []
    : await knex<EndedPart>('pay_reconcile_run_shops').where('run_id', failedIn).whereIn('status', ['stopped', 'cancelled']).select('shop_id', 'last_account')
  return query => {
    if (accounts) query.whereIn('a.id', accounts.filter(isId))
    if (syncedBefore !== undefined) {
      query.whereRaw(`${customerId} is not null and coalesce(a.details->>'pay_synced_at', '') collate "C" < ?`, [syncedBefore])
    }
    if (linked) query.whereRaw(`${customerId} is not null`)
    if (customers) query.whereRaw(`${customerId} = any(?::text[])`, [[...customers]])
    if (changed) query.whereRaw(`exists (select from pay_reconcile_changed c where c.account_id::${accountType} = a.id)`)
    if (unfinishedIn !== undefined) query.whereRaw(`not ${isFinished}`, [unfinishedIn, unfinishedIn])
    if (failedIn === undefined) return
    query.where(any => {
      any.whereRaw("exists (select from pay_reconcile_items i where i.run_id = ? and i.account_id = a.id::text and i.outcome = 'failed')", [failedIn])
      for (const { shop_id: shopId, last_account: last } of ended) {
        any.orWhere(unreached => {
          unreached.where('a.shop_id', shopId)
          // Bound rather than joined, because the column of the host may have a collation of its own.
          if (last !== null) unreached.where('a.id', '>', last)
          unreached.whereRaw(`not ${isFinished}`, [failedIn, failedIn])
        })
      }
    })
  }
}
