import type { Knex } from 'knex'
import { RECORDS, usageFunctions } from './009-shop-usage.ts'
import type { Migration } from './migration.ts'

/*
 * The lines of `shop_usage` say of which table their records are, so that they add up to the length of each list. Every
 * statement that changes records leaves a line, also if their size stays the same: the ids of a table's lines are the state
 * that its records are in, and a count is true as long as they are.
 */

const TABLES = Object.keys(RECORDS)

async function up (knex: Knex): Promise<void> {
  await lockRecords(knex)
  await knex.raw('alter table shop_usage add kind text')
  await replaceFunctions(knex, { from: 'uuid, bigint, bigint', kinds: true })
  await knex.raw(`
    with before as (delete from shop_usage returning shop_id, bytes)
    insert into shop_usage (shop_id, records, bytes) select shop_id, 0, sum(bytes) from before group by 1
  `)
  for (const table of TABLES) {
    await knex.raw('insert into shop_usage (shop_id, kind, records, bytes) select shop_id, ?, count(*), 0 from ?? group by 1', [table, table])
  }
}

async function down (knex: Knex): Promise<void> {
  await lockRecords(knex)
  await replaceFunctions(knex, { from: 'uuid, text, bigint, bigint', kinds: false })
  await knex.raw('alter table shop_usage drop kind')
}

async function replaceFunctions (knex: Knex, { from, kinds }: { readonly from: string, readonly kinds: boolean }): Promise<void> {
  await knex.raw(`drop function use_quota(${from}); ${usageFunctions({ kinds })}`)
}

/** Keeps writers out until the migration ends. */
async function lockRecords (knex: Knex): Promise<void> {
  await knex.raw(`lock table shops, ${TABLES.join(', ')} in share row exclusive mode`)
}

export const countedLists: Migration = { up, down }
