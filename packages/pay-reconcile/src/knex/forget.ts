import type { Knex } from 'knex'
import { run } from './records.ts'

/**
 * Deletes the personal data that is kept of accounts which are deleted: the items of runs, with names, e-mail addresses and
 * what differed, and the snapshots that were replaced. The audit stays; it holds ids and hashes. Call it in the transaction
 * of the deletion, after it: a run that has just read an account then either leaves no item of it, or one that is deleted.
 *
 * @param of - the accounts: one by its id, or those of a shop. Ids as responses have them: a UUID in lower case.
 */
export async function forgetAccounts (knex: Knex, of: { readonly accountId: string } | { readonly shopId: string }): Promise<void> {
  const [column, id] = 'accountId' in of ? ['account_id', of.accountId] : ['shop_id', of.shopId]
  for (const table of ['pay_reconcile_items', 'pay_reconcile_snapshots']) await run(knex, knex(table).where(column, id).delete())
}
