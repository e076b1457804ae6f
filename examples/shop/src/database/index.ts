import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { createPgConfig } from '@electric-sql/pglite/node-postgres'
import knex, { type Knex } from 'knex'
import pg from 'pg'
import type { Config } from '../settings/config.ts'
import { privateDirectory } from '../settings/data-dir.ts'
import { lockDirectory } from './directory-lock.ts'
import { templateOptions } from './template.ts'
import { guardedPostgresClient } from './transaction-guard.ts'

/** An open database. Both engines speak PostgreSQL and return the same JavaScript values. */
export interface Database {
  readonly engine: 'postgres' | 'embedded'
  readonly knex: Knex
  /** Says where the driver reports trouble with its connections; nowhere before. */
  logTo (log: DatabaseLog): void
  /** Closes the connections, and the embedded engine with its directory's lock. */
  close (): Promise<void>
}

/** Takes what is worth a line in the log; that of a request that failed is logged with the request. */
export interface DatabaseLog {
  warn (message: string): void
  error (message: string): void
}

/** Connections per process to a PostgreSQL server. */
const POOL_SIZE = 10

/** How long a query may wait for a connection before it fails, in milliseconds. */
const ACQUIRE_TIMEOUT = 10_000

/** How long a statement may run on a server, in milliseconds, and how long connecting may take. */
const STATEMENT_TIMEOUT = 30_000
const CONNECT_TIMEOUT = 5_000

/**
 * Opens the database that the settings name: the server at `DATABASE_URL`, else the embedded one.
 *
 * @throws {@link SHOP_DATA_DIRECTORY_IN_USE}
 */
export async function openDatabase ({ DATABASE_URL: url, DATA_DIR: dataDir }: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>): Promise<Database> {
  return url === undefined ? await openEmbedded(join(dataDir, 'database')) : openPostgres(url)
}

/**
 * Opens the PostgreSQL server at `url`, in a pool; connects at the first query.
 *
 * @param url - `postgres://user:password@host:port/database`
 */
export function openPostgres (url: string): Database {
  const { log, logTo } = relay()
  const db = knex({
    client: 'pg',
    log,
    connection: {
      connectionString: url, statement_timeout: STATEMENT_TIMEOUT, connectionTimeoutMillis: CONNECT_TIMEOUT, ...valueTypes
    },
    pool: { min: 0, max: POOL_SIZE },
    acquireConnectionTimeout: ACQUIRE_TIMEOUT,
    // The message of an error, which is logged, has the statement in it: without its values.
    compileSqlOnError: false
  })
  return { engine: 'postgres', knex: db, logTo, close: async () => await db.destroy() }
}

/**
 * Opens the embedded database in `dataDir`, in this process, and takes its lock. PGlite has one
 * connection, so queries run one after another. PGlite creates files that everybody may write: only the mode of the
 * directory, 0700, keeps other users of the machine out.
 *
 * @param dataDir - where it keeps its files; `null` keeps them in memory
 * @param files - in memory, the packed files to start from; default: an empty database
 * @throws {@link SHOP_DATA_DIRECTORY_IN_USE}
 */
export async function openEmbedded (dataDir: string | null, files?: Blob): Promise<Database> {
  const unlock = dataDir === null ? () => {} : lockDirectory(dataDir)
  try {
    const pglite = dataDir === null
      ? await PGlite.create({ dataDir: 'memory://', ...files ? { loadDataDir: files } : await templateOptions() })
      : await openDirectory(dataDir)
    const { log, logTo } = relay()
    const db = knex({
      client: guardedPostgresClient(),
      log,
      connection: () => Object.assign(createPgConfig(pglite), valueTypes) as Knex.PgConnectionConfig,
      pool: { min: 1, max: 1 },
      acquireConnectionTimeout: ACQUIRE_TIMEOUT,
      // The message of an error, which is logged, has the statement in it: without its values.
      compileSqlOnError: false
    })
    const close = async (): Promise<void> => {
      await db.destroy()
      await pglite.close()
      unlock()
    }
    return { engine: 'embedded', knex: db, logTo, close }
  } catch (error) {
    unlock()
    throw error
  }
}

async function openDirectory (dataDir: string): Promise<PGlite> {
  if (!existsSync(dataDir)) {
    // Made aside and moved into place, so that a start that was killed leaves no half of a database.
    const draft = `${dataDir}.new`
    rmSync(draft, { recursive: true, force: true })
    privateDirectory(draft)
    await (await PGlite.create({ dataDir: draft, ...await templateOptions() })).close()
    renameSync(draft, dataDir)
  }
  privateDirectory(dataDir)
  return await PGlite.create({ dataDir })
}

/** knex wants its log when it is made, before there is an app that has one; without any, it writes to standard output. */
function relay (): { log: Knex.Logger, logTo: Database['logTo'] } {
  let target: DatabaseLog | undefined
  return {
    log: {
      warn: (message: string) => target?.warn(message),
      error: (message: string) => target?.error(message),
      deprecate: (message: string) => target?.warn(message),
      debug: () => {}
    },
    logTo: (log) => { target = log }
  }
}

const { builtins } = pg.types
const dateFromText: (text: string) => Date = pg.types.getTypeParser(builtins.TIMESTAMPTZ, 'text')

/** How the drivers turn column values into JavaScript. Set on each connection, not on the whole process. */
const valueTypes = {
  types: {
    getTypeParser (oid: number, format: string) {
      if (oid === builtins.INT8 && format === 'text') return integerFromText
      if (oid === builtins.TIMESTAMPTZ && format === 'text') return instantFromText
      return pg.types.getTypeParser(oid, format as 'text')
    }
  }
}

/** `bigint` as a number. Money is capped far below 2^53 by its column, so nothing here can be rounded. */
function integerFromText (text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is not a safe integer`)
  return value
}

/** How PostgreSQL writes an instant where the time zone of the session is UTC. */
const INSTANT_IN_UTC = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/

/** `timestamptz` as ISO 8601 in UTC with milliseconds, as it goes over the wire. A list has two of them in each row. */
function instantFromText (text: string): string {
  const [, date, time, fraction = ''] = INSTANT_IN_UTC.exec(text) ?? []
  return date === undefined ? dateFromText(text).toISOString() : `${date}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
}
