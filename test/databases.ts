import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { PGlite } from '@electric-sql/pglite'
import knex, { type Knex } from 'knex'
import sqlite from 'node-sqlite3-wasm'
import pg from 'pg'
import root from 'tap'
import { setDatabase } from './database-settings.ts'
import { packedDatabase } from './packed-database.ts'

const dialect = (name: string) =>
  createRequire(import.meta.url)(`knex/lib/dialects/${name}/index.js`) as typeof Knex.Client
const [Postgres, Sqlite] = [dialect('postgres'), dialect('better-sqlite3')]

interface Query {
  sql: string
  bindings?: unknown[]
  response?: unknown
}

/** knex over PGlite: the PostgreSQL dialect, with the engine in this process for its one connection. */
function pgliteClient (engine: PGlite): typeof Knex.Client {
  return class extends Postgres {
    _driver () {
      return {}
    }
    override async acquireRawConnection () {
      return engine
    }
    override async destroyRawConnection () {}
    async _query (connection: PGlite, query: Query) {
      const { rows, affectedRows } = await connection.query(query.sql, query.bindings)
      // knex tells counts from rows by the command, which PGlite does not give.
      query.response = { rows, rowCount: affectedRows, command: query.sql.trimStart().split(/\s/, 1)[0]?.toUpperCase() }
      return query
    }
  }
}

/** A database of its own, empty, and how to be rid of it. */
export interface Database {
  readonly knex: Knex
  /** Address for other processes; undefined for the embedded engine. */
  readonly url?: string
  close(): Promise<void>
}

// Starting an engine takes ten times as long as emptying one. Databases that are open at the same time have one each.
const spareEngines: PGlite[] = []
// They would keep the process alive.
root.teardown(async () => {
  for (const engine of spareEngines) await engine.close()
})

const DROP_ALL = `do $$ declare name text; begin
  for name in select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema' loop
    execute format('drop schema %I cascade', name);
  end loop;
end $$`

async function emptyEngine (): Promise<PGlite> {
  const engine = spareEngines.pop()
  if (engine === undefined) return await PGlite.create({ loadDataDir: await packedDatabase('empty') })
  for (const sql of ['discard all', DROP_ALL, 'create schema public']) await engine.exec(sql)
  return engine
}

/**
 * @param mappers - what a host may have set for its knex
 * @param settings - what a host may have set for the sessions of its database
 */
export async function embeddedDatabase (
  mappers: Pick<Knex.Config, 'postProcessResponse' | 'wrapIdentifier'> = {},
  settings: Readonly<Record<string, string>> = {}
): Promise<Database> {
  const engine = await emptyEngine()
  for (const [name, value] of Object.entries(settings)) {
    await engine.query('select set_config($1, $2, false)', [name, value])
  }
  const db = knex({ client: pgliteClient(engine), connection: {}, pool: { min: 1, max: 1 }, ...mappers })
  return {
    knex: db,
    async close () {
      await db.destroy()
      spareEngines.push(engine)
    }
  }
}

export const SERVER_URL = process.env.TEST_DATABASE_URL

interface ServerOptions {
  /** Of the sessions. Default: those of {@link setDatabase}. */
  readonly settings?: Readonly<Record<string, string>>
  /** The end of `create database`. */
  readonly locale?: string
  /** What a host may have set for its knex. */
  readonly config?: Knex.Config
  /** What a host may have set for the driver: parsers by the type's OID. */
  readonly types?: Readonly<Record<number, (text: string) => unknown>>
}

export async function serverDatabase (
  { settings, locale = '', config = {}, types = {} }: ServerOptions = {}
): Promise<Required<Database>> {
  const admin = knex({ client: 'pg', connection: SERVER_URL ?? '' })
  const name = `test_${randomBytes(6).toString('hex')}`
  await admin.raw(`create database ${name} ${locale}`)
  await setDatabase(admin, name, settings && Object.entries(settings).map((pair) => pair.join('=')).join(';'))
  const url = new URL(SERVER_URL ?? '')
  url.pathname = name
  // The driver takes this, and knex passes it on; its types do not say so.
  const own = {
    types: {
      getTypeParser: (oid: number, format: 'text' | 'binary' = 'text') =>
        types[oid] ?? (pg.types.getTypeParser as (oid: number, format: string) => unknown)(oid, format)
    }
  }
  const db = knex({
    client: 'pg',
    connection: { connectionString: url.href, ...own } as Knex.StaticConnectionConfig,
    ...config
  })
  return {
    knex: db,
    url: url.href,
    async close () {
      await db.destroy()
      await admin.raw(`drop database ${name} with (force)`)
      await admin.destroy()
    }
  }
}

/**
 * What knex uses of better-sqlite3, which is not installed without a compiler everywhere, over the same SQLite in
 * WebAssembly.
 */
class WasmDriver {
  readonly #database: sqlite.Database
  constructor (file: string) {
    this.#database = new sqlite.Database(file)
  }
  close () {
    this.#database.close()
  }
  prepare (sql: string) {
    return {
      reader: /^\s*(?:select|pragma)/i.test(sql),
      all: (values: never[]) => this.#database.all(sql, values),
      run: (values: never[]) => this.#database.run(sql, values)
    }
  }
}

/** SQLite in memory. */
export function sqliteDatabase (config: Knex.Config = {}): Database {
  const client = class extends Sqlite {
    _driver () {
      return WasmDriver
    }
  }
  const db = knex({ client, connection: { filename: ':memory:' }, useNullAsDefault: true, ...config })
  return { knex: db, close: async () => db.destroy() }
}

/** What a host may have set for its sessions, for reasons of its own. */
export const FOREIGN_MYSQL =
  "sql_mode = 'ANSI', time_zone = '+05:45', tx_isolation = 'SERIALIZABLE', lc_time_names = 'de_DE'"

export const MARIADB_URL = process.env.TEST_MARIADB_URL

/** @param settings - what the sessions are set to: `sql_mode = ''` */
export async function mysqlDatabase (
  { settings, config = {} }: { readonly settings?: string, readonly config?: Knex.Config } = {}
): Promise<Required<Database>> {
  const admin = knex({ client: 'mysql2', connection: MARIADB_URL ?? '' })
  const name = `test_${randomBytes(6).toString('hex')}`
  await admin.raw(`create database ${name} character set utf8mb4 collate utf8mb4_general_ci`)
  const url = new URL(MARIADB_URL ?? '')
  url.pathname = name
  const pool = settings === undefined
    ? {}
    : {
      pool: {
        afterCreate: (
          connection: { query(sql: string, done: (error: unknown) => void): void },
          done: (error: unknown, connection: unknown) => void
        ) => {
          connection.query(`set session ${settings}`, (error) => done(error, connection))
        }
      }
    }
  const db = knex({ client: 'mysql2', connection: url.href, ...pool, ...config })
  return {
    knex: db,
    url: url.href,
    async close () {
      await db.destroy()
      await admin.raw(`drop database ${name}`)
      await admin.destroy()
    }
  }
}
