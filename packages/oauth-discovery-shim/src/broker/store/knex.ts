import type { BrokerStore } from './memory.ts'
import { demandPostgres, rowsOf, type Knex, tableFrom } from './postgres.ts'

/** What this store needs of knex. */
export type KnexForBroker = Knex<string | number>

export interface KnexBrokerStoreOptions {
  /** Name of the table, with its schema if it has one. Default `oauth_broker`. */
  readonly table?: string
}

const RAISE =
  `insert into ?? as stored (key, value, since, expires_at) values (?, ?, now(), now() + make_interval(secs => ?))
on conflict (key) do update set value = excluded.value, since = excluded.since, expires_at = excluded.expires_at
where stored.value < excluded.value or stored.expires_at <= now()
returning value::text`

const READ = 'select value::text, (extract(epoch from since) * 1000)::text as since from ?? where key = ?'

const OTHERWISE = 'use Redis, or write a store of your own'

/** In milliseconds. */
const SWEEP_EVERY = 600_000

/** Creates the table of {@link knexBrokerStore}, for PostgreSQL. Does nothing if it exists. */
export async function createBrokerTable (knex: KnexForBroker, options: KnexBrokerStoreOptions = {}): Promise<void> {
  demandPostgres(knex, 'knexBrokerStore', OTHERWISE)
  const table = tableFrom(options, 'oauth_broker', 'knexBrokerStore')
  await knex.raw(
    'create table if not exists ?? (key text primary key, value integer not null, since timestamptz not null, ' +
      'expires_at timestamptz not null)',
    [table]
  )
}

/**
 * Remembers in a PostgreSQL database, which all replicas share, and deletes expired rows every ten minutes.
 *
 * @see {@link createBrokerTable}
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION} for a knex of another database
 */
export function knexBrokerStore (knex: KnexForBroker, options: KnexBrokerStoreOptions = {}): BrokerStore {
  demandPostgres(knex, 'knexBrokerStore', OTHERWISE)
  const table = tableFrom(options, 'oauth_broker', 'knexBrokerStore')
  let sweepAt = Date.now()

  return {
    async raise (key, value, seconds) {
      if (Date.now() >= sweepAt) {
        sweepAt = Date.now() + SWEEP_EVERY
        await rowsOf(knex, 'delete from ?? where expires_at <= now()', [table])
      }
      const raised = await rowsOf(knex, RAISE, [table, key, value, seconds])
      if (raised.length > 0) return { raised: true }
      const [stored] = await rowsOf<{ readonly value: string, readonly since: string }, string | number>(knex, READ, [
        table,
        key
      ])
      // Gone in between: another replica swept it, so it had expired.
      return stored === undefined
        ? { raised: true }
        : { raised: false, value: Number(stored.value), since: Number(stored.since) }
    }
  }
}
