// What the database holds at the end of a day, and how the next day begins there.
import type { Knex } from 'knex'

/** What HISTORY_DAYS and the day of answers count from, in each table that the server deletes old rows of. */
const TIMES = {
  history: 'at',
  imports: 'finished_at',
  idempotency_keys: 'created_at',
  daily_usage: 'day',
  tool_calls: 'hour',
  key_calls: 'hour',
  failed_calls: 'at',
  key_clients: 'last_seen_at'
} as const

/** Older rows are left as they are. The server deletes rows on the day after they are due at the latest. */
const OLDEST = 10

/**
 * Makes a day of two minutes count as one for the server: every row that it deletes for its age becomes a day older. By
 * its clock, the whole month would be younger than the shortest HISTORY_DAYS. Needs the owner of the tables.
 */
export async function becomeADayOlder (tables: Knex): Promise<void> {
  await tables.transaction(async (trx) => {
    await trx.raw("select set_config('history.erase', 'on', true)")
    for (const [table, time] of Object.entries(TIMES)) {
      // The oldest first: the rows of a day take the place of those of the day before.
      for (let age = OLDEST; age >= 0; age--) {
        await trx.raw(
          `update ?? set ?? = ?? - interval '1 day'
          where ?? <= now() - make_interval(days => ?) and ?? > now() - make_interval(days => ?)`,
          [table, time, time, time, age, time, age + 1]
        )
      }
    }
  })
}

/** @returns the rows of these tables */
export async function datedRows (tables: Knex): Promise<number> {
  const counts = Object.keys(TIMES).map((table) => `(select count(*) from ${table})`)
  return Number((await tables.raw(`select ${counts.join(' + ')} as rows`)).rows[0].rows)
}

/** @returns the largest tables with their indexes, in MB, and the whole database */
export async function sizes (tables: Knex): Promise<Readonly<Record<string, number>>> {
  const { rows } = await tables.raw(`
    (select relname as name, pg_total_relation_size(oid) / 1e6 as megabytes from pg_class where relkind = 'r'
      and relnamespace = 'public'::regnamespace order by 2 desc limit 7)
    union all select 'all', pg_database_size(current_database()) / 1e6`)
  return Object.fromEntries(
    rows.map(({ name, megabytes }: { name: string, megabytes: string }) => [name, Math.round(Number(megabytes))])
  )
}

/** As autovacuum does within minutes, where a server runs without it. */
export async function vacuum (tables: Knex): Promise<void> {
  const { rows: [{ autovacuum }] } = await tables.raw('show autovacuum')
  if (autovacuum === 'off') await tables.raw('vacuum analyze')
}
