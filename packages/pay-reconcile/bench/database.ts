import { randomUUID } from 'node:crypto'
import knexFrom, { type Knex } from 'knex'
import { createAccountIndexes, createPayReconcileTables } from '../src/knex/index.ts'

/**
 * Runs work on a new database of the PostgreSQL server that TEST_DATABASE_URL names, with the tables of a host and
 * of the plugin, and drops it. Without a server it says so, and the program ends with 2: on another engine the
 * figures mean nothing.
 *
 * @param fill - rows, before the indexes
 */
export async function onDatabase (
  title: string,
  fill: (knex: Knex) => Promise<void>,
  work: (knex: Knex) => Promise<void>
): Promise<void> {
  const server = process.env.TEST_DATABASE_URL
  if (server === undefined) {
    console.log(
      `NOT MEASURED: ${title}. Set TEST_DATABASE_URL to a PostgreSQL server on which databases may be created.`
    )
    process.exitCode ??= 2
    return
  }
  const name = `pay_bench_${randomUUID().replaceAll('-', '')}`
  const admin = knexFrom({ client: 'pg', connection: server, pool: { min: 0, max: 1 } })
  await admin.raw('create database ??', [name])
  const url = new URL(server)
  url.pathname = `/${name}`
  const knex = knexFrom({ client: 'pg', connection: url.href })
  try {
    await knex.raw('create table shops (id uuid primary key, name text not null, pay_secret_key text)')
    await knex.raw(
      'create table accounts (id uuid primary key default gen_random_uuid(), shop_id uuid not null references ' +
        "shops, name text not null, hash_name text, details jsonb default '{}')"
    )
    await knex.raw('create extension pg_trgm')
    await createPayReconcileTables(knex)
    await fill(knex)
    await createAccountIndexes(knex)
    await knex.raw('vacuum analyze accounts')
    await work(knex)
  } finally {
    await knex.destroy()
    await admin.raw('drop database ?? with (force)', [name])
    await admin.destroy()
  }
}
