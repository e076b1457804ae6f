import type { Knex } from 'knex'
import { PAY_RECONCILE_INVALID_OPTION } from '../errors.ts'
import type { HostTables } from './account-table.ts'
import { record, recordsOf, run } from './records.ts'

/** Accounts as they are registered: a table with its schema, and where it holds the customers' ids. */
interface Registration {
  readonly name: string
  readonly accounts: string
  readonly customer: string
}

/**
 * Registers the accounts under their name, in any of all processes over the database. Runs, audit and notes have only
 * this name: under that of other accounts, a run would continue in the wrong table; under two, neither would know of
 * the other.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} if other accounts have the name, or the accounts have another one.
 */
export async function register (
  knex: Knex,
  { registration: name, customerColumn: customer, name: table }: HostTables
): Promise<void> {
  const bindings = { name, customer, table: knex.raw('??', [table]).toString() }
  const found = async () =>
    await recordsOf<Registration & { readonly isOurs: boolean }>(
      knex,
      knex.raw(
        `
    with ours as (${OURS})
    select ${
          record({
            name: 'r.name',
            accounts: 'r.accounts',
            customer: 'r.customer',
            isOurs: 'r.accounts = ours.accounts and r.customer = ours.customer'
          })
        }
    from ours join pay_reconcile_registrations r on r.name = :name
      or (r.accounts = ours.accounts and r.customer = ours.customer)`,
        bindings
      )
    )
  let registered = await found()
  if (registered.length === 0) {
    await run(
      knex,
      knex.raw(
        `insert into pay_reconcile_registrations (name, accounts, customer) select :name, ours.* from (${OURS}) ` +
          'ours on conflict do nothing',
        bindings
      )
    )
    registered = await found()
  }
  for (const { name: other, accounts, customer: column, isOurs } of registered) {
    if (!isOurs) {
      throw new PAY_RECONCILE_INVALID_OPTION(
        `the registration ${name} of this database is that of ${accounts} with customers in ${column}: ` +
          `set registration of knexAccountStore and knexRunStore to a name of its own for ${table} with ` +
          `customers in ${customer}. ` +
          'If these are the same accounts under a new name, update pay_reconcile_registrations set accounts, ' +
          `customer where name = '${name}'`
      )
    }
    if (other !== name) {
      throw new PAY_RECONCILE_INVALID_OPTION(
        `${accounts} with customers in ${column} already has the registration ${other}: ` +
          `set registration of knexAccountStore and knexRunStore to '${other}', and not to '${name}'`
      )
    }
  }
}

/** The schema decides, too: sessions with another search_path may see another table. */
const OURS = `select n.nspname || '.' || c.relname as accounts, :customer::text as customer
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = :table::regclass`
