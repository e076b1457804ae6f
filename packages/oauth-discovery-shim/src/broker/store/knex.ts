import type { BrokerStore } from './memory.ts'

/** What this store needs of knex. */
export interface KnexForBroker {
  raw (sql: string, bindings: readonly [...Array<string | number>]): PromiseLike<unknown>
}

export interface KnexBrokerStoreOptions {
  /** Name of the table, with its schema if it has one. Default `oauth_broker`. */
  readonly table?: string
}

const RAISE = `insert into ?? as stored (key, value, since, expires_at) values (?, ?, now(), now() + make_interval(secs => ?))
on conflict (key) do update set value = excluded.value, since = excluded.since, expires_at = excluded.expires_at
where stored.value < excluded.value or stored.expires_at <= now()
returning value`

const READ = 'select value, extract(epoch from since) * 1000 as since from ?? where key = ?'

/** In milliseconds. */
const SWEEP_EVERY = 600_000

/** Creates the table of {@link knexBrokerStore}, for PostgreSQL. Does nothing if it exists. */
export async function createBrokerTable (knex: KnexForBroker, { table = 'oauth_broker' }: KnexBrokerStoreOptions = {}): Promise<void> {
  await knex.raw('create table if not exists ?? (key text primary key, value integer not null, since timestamptz not null, expires_at timestamptz not null)', [table])
}

/**
 * Remembers in a PostgreSQL database, which all replicas share, and deletes expired rows every ten minutes.
 *
 * @see {@link createBrokerTable}
 */
export function knexBrokerStore (knex: KnexForBroker, { table = 'oauth_broker' }: KnexBrokerStoreOptions = {}): BrokerStore {
  const rowsOf = async <Row>(sql: string, bindings: readonly [...Array<string | number>]): Promise<readonly Row[]> =>
    (await knex.raw(sql, bindings) as { readonly rows: readonly Row[] }).rows
  let sweepAt = Date.now()

  return {
    async raise (key, value, seconds) {
      if (Date.now() >= sweepAt) {
        sweepAt = Date.now() + SWEEP_EVERY
        await knex.raw('delete from ?? where expires_at <= now()', [table])
      }
      const raised = await rowsOf(RAISE, [table, key, value, seconds])
      if (raised.length > 0) return { raised: true }
      const [stored] = await rowsOf<{ readonly value: number, readonly since: string }>(READ, [table, key])
      // Gone in between: another replica swept it, so it had expired.
      return stored === undefined ? { raised: true } : { raised: false, value: stored.value, since: Number(stored.since) }
    }
  }
}
