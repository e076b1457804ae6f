import type { Knex } from 'knex'
import { type Table, TEXT } from '#shared/option-table'
import { PAY_RECONCILE_INVALID_OPTION } from '../errors.ts'
import { settingsBy } from '../option-checks.ts'
import { spellingsOf } from '../lists/spellings.ts'
import { record, recordsOf, run } from './records.ts'

const TABLE: Table<{ readonly [name in 'accountId' | 'shopId' | 'registration']: string | undefined }> = {
  accountId: TEXT,
  shopId: TEXT,
  registration: TEXT
}

/**
 * Deletes the personal data that is kept of accounts which are deleted: the items of runs, with names, e-mail addresses
 * and what differed, and the snapshots that were replaced. The audit stays; it holds ids and hashes. Call it in the
 * transaction of the deletion, after it: a run that has just read an account then either leaves no item of it, or one
 * that is deleted.
 *
 * @param of - the accounts: one by its id, or those of a shop. With the `registration` of the stores,
 *   if the database has more than one.
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} if it has, and none is named; or if there is none of the name.
 */
export async function forgetAccounts (
  knex: Knex,
  of: ({ readonly accountId: string } | { readonly shopId: string }) & { readonly registration?: string }
): Promise<void> {
  settingsBy(TABLE, of, 'forgetAccounts')
  const registration = await registrationFrom(knex, of.registration)
  if (registration === undefined) return
  const [column, id] = 'accountId' in of ? ['account_id', of.accountId] : ['shop_id', of.shopId]
  await run(
    knex,
    knex('pay_reconcile_items').whereIn(column, spellingsOf(id))
      .whereIn('run_id', knex('pay_reconcile_runs').where({ registration }).select('id')).delete()
  )
  await run(knex, knex('pay_reconcile_snapshots').where({ registration }).whereIn(column, spellingsOf(id)).delete())
}

/** @returns the one that is named, or the only one; undefined if nothing was stored yet */
async function registrationFrom (knex: Knex, wanted: string | undefined): Promise<string | undefined> {
  const rows = await recordsOf<{ readonly name: string }>(
    knex,
    knex('pay_reconcile_registrations').orderBy('name').select(knex.raw(record({ name: 'name' })))
  )
  const names = rows.map(({ name }) => name)
  if (names.length === 0 || (wanted !== undefined && names.includes(wanted))) return wanted
  if (wanted !== undefined) {
    throw new PAY_RECONCILE_INVALID_OPTION(
      `forgetAccounts found no registration ${wanted}: this database has ${names.join(', ')}`
    )
  }
  if (names.length > 1) {
    throw new PAY_RECONCILE_INVALID_OPTION(
      'forgetAccounts needs the registration of the accounts, ' +
        `such as { accountId, registration: '${names[0]}' }: this database has ${names.join(', ')}`
    )
  }
  return names[0]
}
