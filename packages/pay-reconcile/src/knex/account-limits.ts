import type { Knex } from 'knex'
import type { AccountLimits } from '../types.ts'
import type { HostTables } from './account-table.ts'
import type { HostColumns } from './host-columns.ts'
import { record, recordsOf } from './records.ts'

/** A part of a run that ended early. */
interface EndedPart {
  readonly shop_id: string
  readonly last_account: string | null
}

/**
 * Whether a run has an item for the account `a`, or recorded it as unchanged while it read pages; in SQL with the run's
 * id twice.
 */
const IS_FINISHED = `(exists (select from pay_reconcile_items f where f.run_id = ? and f.account_id = a.id::text)
  or exists (select from pay_reconcile_unchanged f where f.run_id = ? and f.shop_id = a.shop_id::text
    and f.account_id = a.id::text))`

type Limit = (query: Knex.QueryBuilder) => void

/** How each limit keeps the accounts `a` that it is about. */
const limitsOf = (
  knex: Knex,
  { account: isId, accountType }: HostColumns,
  customerId: string,
  syncedAt: string,
  registration: string
): {
  readonly [name in keyof AccountLimits]-?: (value: NonNullable<AccountLimits[name]>) => Limit | Promise<Limit>
} => ({
  accounts: (accounts) => (query) => query.whereIn('a.id', accounts.filter(isId)),
  syncedBefore: (time) => (query) =>
    query.whereRaw(`${customerId} is not null and coalesce(${syncedAt}, '') collate "C" < ?`, [time]),
  linked: () => (query) => query.whereRaw(`${customerId} is not null`),
  customers: (customers) => (query) => query.whereRaw(`${customerId} = any(?::text[])`, [[...customers]]),
  changed: () => (query) =>
    query.whereRaw(
      `exists (select from pay_reconcile_changed c where c.registration = ? and c.account_id::${accountType} = a.id)`,
      [registration]
    ),
  unfinishedIn: (runId) => (query) => query.whereRaw(`not ${IS_FINISHED}`, [runId, runId]),
  failedIn: async (runId) => {
    const ended = await recordsOf<EndedPart>(
      knex,
      knex('pay_reconcile_run_shops').where('run_id', runId).whereIn('status', ['stopped', 'cancelled'])
        .select(knex.raw(record({ shop_id: 'shop_id', last_account: 'last_account' })))
    )
    return (query) =>
      query.where((any) => {
        any.whereRaw(
          'exists (select from pay_reconcile_items i where i.run_id = ? and i.account_id = a.id::text and ' +
            "i.outcome = 'failed')",
          [runId]
        )
        for (const { shop_id: shopId, last_account: last } of ended) {
          any.orWhere((unreached) => {
            unreached.where('a.shop_id', shopId)
            // Bound rather than joined, because the column of the host may have a collation of its own.
            if (last !== null) unreached.where('a.id', '>', last)
            unreached.whereRaw(`not ${IS_FINISHED}`, [runId, runId])
          })
        }
      })
  }
})

/**
 * @returns what limits a query over the accounts `a`. @throws TypeError for an unknown limit: without it, a run would
 * change other accounts
 */
export async function limitsFrom (
  knex: Knex,
  only: AccountLimits,
  columns: HostColumns,
  { customerId, syncedAt, registration }: HostTables
): Promise<Limit> {
  const known = limitsOf(knex, columns, customerId('a'), syncedAt('a'), registration) as Readonly<
    Record<string, (value: unknown) => Limit | Promise<Limit>>
  >
  const limits: Limit[] = []
  for (const [name, value] of Object.entries(only)) {
    if (value === undefined) continue
    if (!Object.hasOwn(known, name)) throw new TypeError(`there is no limit ${name}`)
    limits.push(await known[name]!(value))
  }
  return (query) => {
    for (const limit of limits) limit(query)
  }
}
