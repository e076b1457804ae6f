import { OAUTH_DISCOVERY_SHIM_INVALID_OPTION } from '../../errors.ts'
import type { BrokerStore } from './memory.ts'

/** What this store needs of knex. */
export interface KnexForBroker {
  readonly client: { readonly dialect?: unknown }
  raw (sql: string, bindings: readonly [...Array<string | number>]): PromiseLike<unknown>
}

export interface KnexBrokerStoreOptions {
  /** Name of the table, with its schema if it has one. Default `oauth_broker`. */
  readonly table?: string
}

const RAISE = `insert into ?? as stored (key, value, since, expires_at) values (?, ?, now(), now() + make_interval(secs => ?))
on conflict (key) do update set value = excluded.value, since = excluded.since, expires_at = excluded.expires_at
where stored.value < excluded.value or stored.expires_at <= now()
returning value::text`

const READ = 'select value::text, (extract(epoch from since) * 1000)::text as since from ?? where key = ?'

/** SQLSTATE of a statement that met another one, where the database's default is `repeatable read` or `serializable`. */
const MET = '40001'
const MOST_TRIES = 20

/** In milliseconds. */
const SWEEP_EVERY = 600_000

/** Creates the table of {@link knexBrokerStore}, for PostgreSQL. Does nothing if it exists. */
export async function createBrokerTable (knex: KnexForBroker, { table = 'oauth_broker' }: KnexBrokerStoreOptions = {}): Promise<void> {
  demandPostgres(knex)
  await knex.raw('create table if not exists ?? (key text primary key, value integer not null, since timestamptz not null, expires_at timestamptz not null)', [table])
}

/**
 * Remembers in a PostgreSQL database, which all replicas share, and deletes expired rows every ten minutes.
 *
 * @see {@link createBrokerTable}
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION} for a knex of another database
 */
export function knexBrokerStore (knex: KnexForBroker, { table = 'oauth_broker' }: KnexBrokerStoreOptions = {}): BrokerStore {
  demandPostgres(knex)
  /** Each statement is a transaction: the next try sees what the other one wrote. */
  async function run (sql: string, bindings: readonly [...Array<string | number>], tries = 1): Promise<unknown> {
    try {
      return await knex.raw(sql, bindings)
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== MET || tries === MOST_TRIES) throw error
      return await run(sql, bindings, tries + 1)
    }
  }

  const rowsOf = async <Row>(sql: string, bindings: readonly [...Array<string | number>]): Promise<readonly Row[]> =>
    (await run(sql, bindings) as { readonly rows: readonly Row[] }).rows
  let sweepAt = Date.now()

  return {
    async raise (key, value, seconds) {
      if (Date.now() >= sweepAt) {
        sweepAt = Date.now() + SWEEP_EVERY
        await run('delete from ?? where expires_at <= now()', [table])
      }
      const raised = await rowsOf(RAISE, [table, key, value, seconds])
      if (raised.length > 0) return { raised: true }
      const [stored] = await rowsOf<{ readonly value: string, readonly since: string }>(READ, [table, key])
      // Gone in between: another replica swept it, so it had expired.
      return stored === undefined ? { raised: true } : { raised: false, value: Number(stored.value), since: Number(stored.since) }
    }
  }
}

function demandPostgres ({ client: { dialect } }: KnexForBroker): void {
  if (dialect !== 'postgresql') throw new OAUTH_DISCOVERY_SHIM_INVALID_OPTION(`knexBrokerStore needs PostgreSQL, but this knex speaks ${String(dialect)}: use Redis, or write a store of your own`)
}
