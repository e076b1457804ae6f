import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { createPgConfig } from '@electric-sql/pglite/node-postgres'
import knexFrom, { type Knex } from 'knex'
import { migrationSource } from '../migrations/index.ts'
import type { Settings } from './settings.ts'

/** Opens the PostgreSQL server of the settings, or else an embedded PostgreSQL, and brings its tables up to date. */
export async function openDatabase ({ databaseUrl, dataDir }: Pick<Settings, 'databaseUrl' | 'dataDir'>) {
  const embedded = databaseUrl === undefined ? await openEmbedded(dataDir) : undefined
  const knex = knexFrom({
    client: 'pg',
    connection: embedded === undefined
      ? { connectionString: databaseUrl!, statement_timeout: 20_000, connectionTimeoutMillis: 5000 }
      : () => createPgConfig(embedded) as Knex.PgConnectionConfig,
    // The embedded database has one connection: within a transaction, query with `trx` alone.
    pool: embedded === undefined ? { min: 0, max: 10 } : { min: 1, max: 1 },
    acquireConnectionTimeout: 10_000,
    // Otherwise the error of a statement, which is logged, contains its values.
    compileSqlOnError: false
  })
  // Replicas that start at the same time take turns. A migration that fails leaves nothing behind.
  await knex.transaction(async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(1)')
    await trx.migrate.latest({ migrationSource })
  })
  const close = async (): Promise<void> => {
    await knex.destroy()
    await embedded?.close()
  }
  return { knex, close }
}

async function openEmbedded (dataDir: string): Promise<PGlite> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  // Two processes would lose each other's rows.
  const file = join(dataDir, 'process')
  const other = existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined
  if (other !== undefined && isRunning(other)) throw new Error(`Stop process ${other} first: it uses ${dataDir}`)
  writeFileSync(file, String(process.pid))
  // PostgreSQL would take 128 MB, and four times as long to open.
  const startParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=8MB']
  return await PGlite.create(join(dataDir, 'database'), { startParams })
}

function isRunning (pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0)
  } catch {
    return false
  }
}
