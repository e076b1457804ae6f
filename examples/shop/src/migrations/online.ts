import type { Knex } from 'knex'
import { LOCK_LIMIT, MIGRATING } from '../database/lock-waits.ts'
import { whileAtWork } from '../database/long-statements.ts'

/** An index, as `create index` takes it after its name. */
export type Indexes = Readonly<Record<string, string>>

/**
 * Creates and drops indexes while others write to their tables, in a migration that is `online`. An index that a broken
 * run left behind, which PostgreSQL keeps as invalid, is made again.
 *
 * @param create - by their names
 * @param drop - names of indexes that the new ones replace
 */
export async function changeIndexes (
  knex: Knex,
  { create, drop = [] }: { readonly create: Indexes, readonly drop?: readonly string[] }
): Promise<void> {
  await withoutTimeLimit(knex, async (run) => {
    for (const [name, definition] of Object.entries(create)) {
      const { rows: [found] } = await run(
        `select indisvalid as valid from pg_index where indexrelid = to_regclass('${name}')`
      )
      if (found?.['valid'] === true) continue
      await run(`drop index concurrently if exists ${name}`)
      await run(`create index concurrently ${name} on ${definition}`)
    }
    for (const name of drop) await run(`drop index concurrently if exists ${name}`)
  })
}

type Run = (sql: string) => Promise<{ readonly rows: ReadonlyArray<Readonly<Record<string, unknown>>> }>

/** Runs statements on one connection, each by itself and for as long as it takes. */
async function withoutTimeLimit (knex: Knex, work: (run: Run) => Promise<void>): Promise<void> {
  const connection = await knex.client.acquireConnection()
  const run: Run = async (sql) => await knex.raw(sql).connection(connection)
  try {
    // They wait for transactions of others, but nobody waits behind them.
    await run(`set statement_timeout = 0; set lock_timeout = ${LOCK_LIMIT}; set application_name = '${MIGRATING}'`)
    await whileAtWork(knex, connection, async () => {
      await work(run)
    })
  } finally {
    // It may be lost, and is given back all the same: the pool would never close. It is not used again.
    await run('reset statement_timeout; reset lock_timeout; reset application_name').catch((error: unknown) => {
      connection.__knex__disposed = error
    })
    await knex.client.releaseConnection(connection)
  }
}
