import { PGlite } from '@electric-sql/pglite'
import knexFrom, { type Knex } from 'knex'
import { randomUUID } from 'node:crypto'
import root from 'tap'
import { setDatabase } from '../../../test/database-settings.ts'
import { packedDatabase } from '../../../test/packed-database.ts'
import { createAccountIndexes, createPayReconcileTables } from '../src/knex/index.ts'
import { pgliteClient } from './pglite-client.ts'

interface Teardown { teardown (end: () => unknown): void }

/** A PostgreSQL to run the tests on. */
export interface Engine {
  readonly name: string
  /** Why the tests cannot run on it here. */
  readonly skip: string | false
  /** @param idType of the host's accounts and shops. */
  connect (t: Teardown, detailsType?: 'jsonb' | 'json', idType?: string): Promise<Knex>
}

const serverUrl = process.env.TEST_DATABASE_URL

// Starting the engine takes time, so a file's tests share it one after another, each with an empty schema.
let engine: Promise<PGlite> | undefined
// It would keep the process alive.
root.teardown(async () => await (await engine)?.close())

export const pglite: Engine = {
  name: 'PGlite',
  skip: false,
  async connect (t, detailsType = 'jsonb', idType = 'uuid') {
    engine ??= packedDatabase('empty').then(async (loadDataDir) => await PGlite.create({ loadDataDir }))
    const knex = knexFrom({ client: pgliteClient(await engine), connection: {}, pool: { min: 1, max: 1 } })
    t.teardown(() => knex.destroy())
    await knex.raw('drop schema public cascade')
    await knex.raw('create schema public')
    await createTables(knex, detailsType, idType)
    return knex
  }
}

export const postgresql: Engine = {
  name: 'PostgreSQL',
  skip: serverUrl === undefined && 'NOT RUN: set TEST_DATABASE_URL to a PostgreSQL server to run this',
  async connect (t, detailsType = 'jsonb', idType = 'uuid') {
    const name = `pay_reconcile_${randomUUID().replaceAll('-', '')}`
    const server = knexFrom({ client: 'pg', connection: serverUrl ?? '', pool: { min: 0, max: 1 } })
    await server.raw('create database ??', [name])
    await setDatabase(server, name)
    const url = new URL(serverUrl ?? '')
    url.pathname = `/${name}`
    const knex = knexFrom({ client: 'pg', connection: url.href, pool: { min: 0, max: 20 } })
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
