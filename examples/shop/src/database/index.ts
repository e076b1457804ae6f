import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { createPgConfig } from '@electric-sql/pglite/node-postgres'
import knex, { type Knex } from 'knex'
import pg from 'pg'
import type { Settings } from '../settings/settings.ts'
import { privateDirectory } from '../settings/data-dir.ts'
import { SHOP_NO_INSTANT } from '../errors.ts'
import { lockDirectory } from './directory-lock.ts'
import { failedAtDatabase } from './errors.ts'
import { templateOptions } from './template.ts'
import type { StatementOptions } from './named-statement.ts'
import { PatientPostgresClient, ReplicaPostgresClient } from './patient-client.ts'
import { placeFrom } from './place.ts'
import { openReplica, type Replica } from './replica.ts'
import { settleSession } from './session.ts'
import { type Connection, silenceLimit } from './silence.ts'
import { guardedPostgresClient } from './transaction-guard.ts'

/** An open database. Both engines speak PostgreSQL and return the same JavaScript values. */
export interface Database {
  readonly engine: 'postgres' | 'embedded'
  /** Which one it is, for people: `shop at db.example:5432`, or the directory. Without user and password. */
  readonly place: string
  readonly knex: Knex
  /** Where lists and exports are read, if they are not read here. */
  readonly replica?: Replica
  /** For problems with connections and migrations. */
  readonly log: DatabaseLog
  /** Sets where {@link Database.log} writes. Default: nowhere. */
  logTo(log: DatabaseLog): void
  /** Closes the connections, and the embedded engine with its directory's lock. */
  close(): Promise<void>
}

/** For problems outside of requests; a failed request logs its own. */
export interface DatabaseLog {
  warn(message: string): void
  error(message: string): void
}

/** Connections per process to a PostgreSQL server. */
const POOL_SIZE = 10

/** PostgreSQL would take 128 MB for its pages, and as it fills them with zeros, four times as long to open. */
const EMBEDDED = { startParams: [...PGlite.defaultStartParams, '-c', 'shared_buffers=8MB'] }

/** Time limit for a query to get a connection, in milliseconds. */
const ACQUIRE_TIMEOUT = 10_000

/** Time limit for a statement on a server, in milliseconds. */
export const STATEMENT_LIMIT = 20_000

/** Time limits for a statement on a server, for connecting, and for a connection of the pool, in milliseconds. */
const LIMITS = { statement: STATEMENT_LIMIT, connect: 5_000, acquire: ACQUIRE_TIMEOUT }

/** How much longer than the server lets it run a statement may be without an answer, in milliseconds. */
const SILENCE = 5000

/** At a replica, `silence` being the whole time without an answer: then the primary serves. */
const OF_REPLICA = {
  client: ReplicaPostgresClient,
  limits: { statement: 3000, connect: 1000, acquire: 1000 },
  silence: 4000
}

/** How long an idle connection is silent before TCP probes it, in milliseconds; Linux gives up ten seconds later. */
const KEEP_ALIVE = 10_000

/** What PostgreSQL calls the connections in `pg_stat_activity`, unless `DATABASE_URL` says so. */
const APPLICATION = 'shop'

/**
 * Opens the database of the settings: the server at `DATABASE_URL`, with its replica at `DATABASE_READ_URL`, or the
 * embedded one.
 *
 * @throws {@link SHOP_DATA_DIRECTORY_IN_USE}
 */
export async function openDatabase (
  {
    DATABASE_URL: url,
    DATABASE_READ_URL: readUrl,
    PGPASSWORD: password,
    DATA_DIR: dataDir,
    DATABASE_NAMED_STATEMENTS: namedStatements = true
  }: DatabaseSettings
): Promise<Database> {
  if (url === undefined) return await openEmbedded(join(dataDir, 'database'))
  const database = openPostgres(withPassword(url, password), { namedStatements })
  return readUrl === undefined
    ? database
    : withReplica(database, openPostgres(withPassword(readUrl, password), { namedStatements, ...OF_REPLICA }))
}

type DatabaseSettings =
  & Pick<Settings, 'DATABASE_URL' | 'DATA_DIR'>
  & Partial<Pick<Settings, 'DATABASE_READ_URL' | 'PGPASSWORD' | 'DATABASE_NAMED_STATEMENTS'>>

/** The database, whose lists and exports are read at another server where that is possible. */
function withReplica (database: Database, standby: Database): Database {
  const replica = openReplica(standby, database.knex)
  database.knex.userParams['replica'] = replica
  return {
    ...database,
    replica,
    close: async () => {
      await Promise.all([database.close(), replica.close()])
    }
  }
}

/** The URL with a password, if it has none: the driver ignores one beside a URL. */
function withPassword (url: string, password: string | undefined): string {
  const [, user = ''] = /^\w+:\/\/([^/?]*)@/.exec(url) ?? []
  const hasOwn = /:./.test(user) || /[?&]password=/.test(url)
  if (password === undefined || hasOwn) return url
  return `${url}${url.includes('?') ? '&' : '?'}password=${encodeURIComponent(password)}`
}

interface PostgresOptions extends StatementOptions {
  readonly client?: typeof PatientPostgresClient
  readonly silence?: number
  readonly limits?: typeof LIMITS
}

/**
 * Opens the PostgreSQL server at `url`, in a pool; connects at the first query.
 *
 * @param url - `postgres://user:password@host:port/database`
 * @param client - of knex
 * @param silence - how long a statement may be without an answer, in milliseconds
 * @param limits - for statements, connecting, and waiting for a connection of the pool, in milliseconds
 */
export function openPostgres (
  url: string,
  {
    namedStatements = true,
    client = PatientPostgresClient,
    limits = LIMITS,
    silence = limits.statement + SILENCE
  }: PostgresOptions = {}
): Database {
  const { log, logTo } = relay()
  const limitSilence = silenceLimit(silence, log)
  const db = knex({
    client,
    log,
    connection: {
      connectionString: url,
      statement_timeout: limits.statement,
      connectionTimeoutMillis: limits.connect,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE,
      // The types of knex do not know these of the driver.
      ...{ fallback_application_name: APPLICATION },
      ...valueTypes
    },
    pool: {
      min: 0,
      max: POOL_SIZE,
      afterCreate (
        connection: Connection & Parameters<typeof settleSession>[0],
        done: Parameters<typeof settleSession>[1]
      ) {
        limitSilence(connection)
        settleSession(connection, done)
      }
    },
    acquireConnectionTimeout: limits.acquire,
    // Error messages, which are logged, contain the statement, but not its values.
    compileSqlOnError: false
  })
  db.userParams = { namedStatements }
  db.on('query-error', failedAtDatabase)
  return { engine: 'postgres', place: placeFrom(url), knex: db, log, logTo, close: async () => await db.destroy() }
}

/**
 * Opens the embedded database in `dataDir`, in this process, and takes its lock. PGlite has one
 * connection, so queries run one after another. It creates world-writable files: only the mode of the directory, 0700,
 * keeps out other users of the machine.
 *
 * @param dataDir - the directory of its files; `null` keeps them in memory
 * @param engine - one in memory that stays open when the database is closed; default: a new one
 * @throws {@link SHOP_DATA_DIRECTORY_IN_USE}
 */
export async function openEmbedded (dataDir: string | null, engine?: PGlite): Promise<Database> {
  const unlock = dataDir === null ? () => {} : lockDirectory(dataDir)
  try {
    const pglite = engine ??
      (dataDir === null
        ? await PGlite.create({ ...EMBEDDED, dataDir: 'memory://', ...await templateOptions() })
        : await openDirectory(dataDir))
    const { log, logTo } = relay()
    const db = knex({
      client: guardedPostgresClient(),
      log,
      connection: () => Object.assign(createPgConfig(pglite), valueTypes) as Knex.PgConnectionConfig,
      pool: { min: 1, max: 1, afterCreate: settleSession },
      acquireConnectionTimeout: ACQUIRE_TIMEOUT,
      // Error messages, which are logged, contain the statement, but not its values.
      compileSqlOnError: false
    })
    db.on('query-error', failedAtDatabase)
    const close = async (): Promise<void> => {
      await db.destroy()
      if (engine === undefined) await pglite.close()
      unlock()
    }
    return { engine: 'embedded', place: dataDir ?? 'memory', knex: db, log, logTo, close }
  } catch (error) {
    unlock()
    throw error
  }
}

async function openDirectory (dataDir: string): Promise<PGlite> {
  // There until the database is whole, so that a killed start leaves no partial one.
  const incomplete = join(dataDir, 'incomplete')
  if (existsSync(incomplete)) rmSync(dataDir, { recursive: true })
  const isNew = !existsSync(dataDir)
  privateDirectory(dataDir)
  if (!isNew) return await PGlite.create({ ...EMBEDDED, dataDir })
  writeFileSync(incomplete, '')
  const pglite = await PGlite.create({ ...EMBEDDED, dataDir, ...await templateOptions() })
  rmSync(incomplete)
  return pglite
}

/** knex needs its logger before the app has one; without any, it writes to standard output. */
function relay (): { log: DatabaseLog & Knex.Logger, logTo: Database['logTo'] } {
  let target: DatabaseLog | undefined
  return {
    log: {
      warn: (message: string) => target?.warn(message),
      error: (message: string) => target?.error(message),
      deprecate: (message: string) => target?.warn(message),
      debug: () => {}
    },
    logTo: (log) => {
      target = log
    }
  }
}

const { builtins } = pg.types
/** Null for a text that it cannot read, such as the German `15.01.2026`; a number for the two infinities. */
const dateFromText: (text: string) => Date | number | null = pg.types.getTypeParser(builtins.TIMESTAMPTZ, 'text')

/** How the drivers convert column values. Set on each connection, not for the whole process. */
const valueTypes = {
  types: {
    getTypeParser (oid: number, format: string) {
      if (oid === builtins.INT8 && format === 'text') return integerFromText
      if (oid === builtins.TIMESTAMPTZ && format === 'text') return instantFromText
      return pg.types.getTypeParser(oid, format as 'text')
    }
  }
}

/** `bigint` as a number. Columns limit money to safe integers, so nothing is rounded. */
function integerFromText (text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is not a safe integer`)
  return value
}

/** How PostgreSQL writes an instant where the time zone of the session is UTC. */
const INSTANT_IN_UTC = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/

/** `timestamptz` as ISO 8601 in UTC with milliseconds, as responses have it. Fast, since each row of a list has two. */
function instantFromText (text: string): string {
  const [, date, time, fraction = ''] = INSTANT_IN_UTC.exec(text) ?? []
  return date === undefined ? isoFromText(text) : `${date}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
}

function isoFromText (text: string): string {
  const date = dateFromText(text)
  if (!(date instanceof Date) || Number.isNaN(date.getTime())) throw new SHOP_NO_INSTANT(text)
  return date.toISOString()
}
