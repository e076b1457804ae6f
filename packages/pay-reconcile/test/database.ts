import { PGlite } from '@electric-sql/pglite'
import knexFrom, { type Knex } from 'knex'
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import root from 'tap'
import { setDatabase } from '../../../test/database-settings.ts'
import { packedDatabase } from '../../../test/packed-database.ts'
import { createAccountIndexes, createPayReconcileTables } from '../src/knex/index.ts'
import { pgliteClient } from './pglite-client.ts'

interface Teardown {
  teardown(end: () => unknown): void
}

/** A PostgreSQL to run the tests on. */
export interface Engine {
  readonly name: string
  /** Why the tests cannot run on it here. */
  readonly skip: string | false
  /** @param idType - of the host's accounts and shops. */
  connect(t: Teardown, detailsType?: 'jsonb' | 'json', idType?: string, host?: HostDatabase): Promise<Knex>
}

/** What a host may have set for its database and its knex. */
export interface HostDatabase {
  /** Of every session. */
  readonly settings?: Readonly<Record<string, string>>
  /** Of a new database, for `create database`; only on a server. */
  readonly locale?: string
  readonly config?: Pick<Knex.Config, 'postProcessResponse' | 'wrapIdentifier'>
  /** Values from the database by the OIDs of their types, in place of what the driver makes of them. */
  readonly parsers?: Readonly<Record<number, (text: string) => unknown>>
}

const serverUrl = process.env.TEST_DATABASE_URL

// Starting the engine takes time, so a file's tests share it one after another, each with an empty schema.
let engine: Promise<PGlite> | undefined
// It would keep the process alive.
root.teardown(async () => await (await engine)?.close())

export const pglite: Engine = {
  name: 'PGlite',
  skip: false,
  async connect (t, detailsType = 'jsonb', idType = 'uuid', { settings = {}, config, parsers } = {}) {
    engine ??= packedDatabase('empty').then(async (loadDataDir) => await PGlite.create({ loadDataDir }))
    const knex = knexFrom({
      client: pgliteClient(await engine, parsers),
      connection: {},
      pool: { min: 1, max: 1 },
      ...config
    })
    t.teardown(() => knex.destroy())
    await knex.raw('reset all')
    await knex.raw('drop schema public cascade')
    await knex.raw('create schema public')
    for (const [name, value] of Object.entries(settings)) await knex.raw(`set ${name} = '${value}'`)
    await createTables(knex, detailsType, idType)
    return knex
  }
}

export const postgresql: Engine = {
  name: 'PostgreSQL',
  skip: serverUrl === undefined && 'NOT RUN: set TEST_DATABASE_URL to a PostgreSQL server to run this',
  async connect (t, detailsType = 'jsonb', idType = 'uuid', { settings = {}, locale, config, parsers } = {}) {
    const name = `pay_reconcile_${randomUUID().replaceAll('-', '')}`
    const server = knexFrom({ client: 'pg', connection: serverUrl ?? '', pool: { min: 0, max: 1 } })
    await server.raw(
      `create database ?? ${locale === undefined ? '' : `template template0 encoding 'UTF8' locale '${locale}'`}`,
      [name]
    )
    await setDatabase(server, name)
    for (const [setting, value] of Object.entries(settings)) {
      await server.raw(`alter database ?? set ${setting} = '${value}'`, [name])
    }
    const url = new URL(serverUrl ?? '')
    url.pathname = `/${name}`
    const types = {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        parsers?.[oid] ?? pg.types.getTypeParser(oid, format as 'text')
    }
    const knex = knexFrom({
      client: 'pg',
      connection: parsers ? { connectionString: url.href, types } as Knex.PgConnectionConfig : url.href,
      pool: { min: 0, max: 20 },
      ...config
    })
    t.teardown(async () => {
      await knex.destroy()
      await server.raw('drop database ?? with (force)', [name])
      await server.destroy()
    })
    await createTables(knex, detailsType, idType)
    return knex
  }
}

export const engines: readonly Engine[] = [pglite, postgresql]

/** The tables of a host, as the contract has them, and the package's own. */
async function createTables (knex: Knex, detailsType: string, idType: string): Promise<void> {
  await knex.raw(`create table shops (id ${idType} primary key, name text not null, pay_secret_key text)`)
  await knex.raw(`create table accounts (id ${idType} primary key, shop_id ${idType} not null references shops,
    name text not null, hash_name text, details ${detailsType} default '{}')`)
  await createPayReconcileTables(knex)
  await createAccountIndexes(knex)
}
