import type { Knex } from 'knex'

/** Of each table. */
export const PARTITIONS = 16

/**
 * Their schemas: in one of its own, a constraint of a partition can have the name of its table's, which error messages
 * are made of.
 */
export const schemas: readonly string[] = Array.from({ length: PARTITIONS }, (_, n) => `partition_${n}`)

/** The tables whose rows are of one shop each, with what has to be made again. */
const TABLES = `
  select relname as name,
    array(select quote_ident(attname) from pg_attribute where attrelid = t.oid and attnum > 0 and not attisdropped
      and attgenerated = '' order by attnum) as columns,
    array(select format('add constraint %I %s', conname, pg_get_constraintdef(oid)) from pg_constraint
      where conrelid = t.oid and contype in ('p', 'u') order by contype) as keys,
    array(select pg_get_indexdef(indexrelid) from pg_index where indrelid = t.oid
      and not exists (select from pg_constraint where conindid = indexrelid and conrelid = t.oid))
    || array(select pg_get_triggerdef(oid) from pg_trigger where tgrelid = t.oid and not tgisinternal) as others
  from pg_class t where relkind = 'r' and relnamespace = 'public'::regnamespace
    and exists (select from pg_attribute where attrelid = t.oid and attname = 'shop_id' and attnotnull
      and atttypid = 'uuid'::regtype)
  order by 1`

/** The foreign keys from and to tables. */
const REFERENCES = `
  select format('alter table %s drop constraint %I', conrelid::regclass, conname) as dropped,
    format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as added
  from pg_constraint where contype = 'f'
    and (conrelid = any(?::text[]::regclass[]) or confrelid = any(?::text[]::regclass[])) order by conrelid`

interface Table {
  readonly name: string
  /** Those that are not generated. */
  readonly columns: readonly string[]
  /** SQL that adds primary and unique keys. */
  readonly keys: readonly string[]
  /** SQL that makes other indexes and triggers. */
  readonly others: readonly string[]
}

/**
 * Makes partitions by the hash of `shop_id` of all tables that can have them. A primary key `(id)` beside a unique
 * `(shop_id, id)` becomes the latter.
 *
 * @returns the names of the tables, and of those of shops that a unique key without the shop keeps whole
 */
export async function partition (
  knex: Knex
): Promise<{ readonly moved: readonly string[], readonly whole: readonly string[] }> {
  return await knex.transaction(async (trx) => {
    const tables = (await trx.raw(TABLES)).rows.map(keyedByShop) as Table[]
    const isMoved = ({ keys }: Table): boolean => keys.every((key) => /\((.*, )?shop_id[,)]/.test(key))
    const moved = tables.filter(isMoved).map(({ name }) => name)
    const { rows: references }: { rows: Array<{ dropped: string, added: string }> } = await trx.raw(REFERENCES, [
      moved,
      moved
    ])
    for (const schema of schemas) await trx.raw(`create schema ${schema}`)
    for (const { dropped } of references) await trx.raw(dropped)
    for (const { name, columns, keys, others } of tables.filter(isMoved)) {
      await trx.raw(`
        alter table ${name} rename to ${name}_whole;
        create table ${name} (like ${name}_whole including defaults including generated including identity
          including constraints including storage) partition by hash (shop_id);
        ${
        schemas.map((schema, n) =>
          `create table ${schema}.${name} partition of ${name} for values with (modulus ${PARTITIONS}, remainder ${n});`
        ).join('\n')
      }
        insert into ${name} (${columns.join()}) overriding system value select ${columns.join()} from ${name}_whole;
        drop table ${name}_whole;`)
      // The key of a table is made of those that its partitions have already.
      for (const schema of [...schemas, 'public']) {
        for (const key of keys) await trx.raw(`alter table ${schema}.${name} ${key}`)
      }
      for (const other of others) await trx.raw(other)
    }
    for (const { added } of references) await trx.raw(added)
    return { moved, whole: tables.filter((table) => !isMoved(table)).map(({ name }) => name) }
  })
}

function keyedByShop (table: Table): Table {
  const [, columns] = /PRIMARY KEY \((?!shop_id)(.*)\)/.exec(table.keys[0]!) ?? []
  const unique = table.keys.findIndex((key) => key.endsWith(`UNIQUE (shop_id, ${columns})`))
  return unique === -1
    ? table
    : {
      ...table,
      keys: table.keys.toSpliced(unique, 1).map((key) => key.replace('PRIMARY KEY (', 'PRIMARY KEY (shop_id, '))
    }
}
