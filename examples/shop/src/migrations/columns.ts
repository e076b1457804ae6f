import type { Knex } from 'knex'
import type { RecordTable } from './counting.ts'

/** What a column adds to the size of its record: its name, and its value as JSON. */
function sizeOf (name: string, type: string): string {
  return `case when ${name} is null then 0 else ${name.length + 4} + ${valueSizeOf(name, type)} end`
}

function valueSizeOf (name: string, type: string): string {
  if (/^(?:text|char|varchar)/.test(type)) return `2 + json_bytes(${name})`
  return type.startsWith('jsonb') ? `octet_length(${name}::text)` : '24'
}

/**
 * Adds columns to a table of records, and to the size of its records, by which lists end a page and a shop has its
 * quota. It writes the table anew, and nothing else reads or writes it meanwhile.
 *
 * @param columns - by their names, as `alter table … add` takes them: `text`, `integer not null default 0`
 */
export async function addColumns (
  knex: Knex,
  table: RecordTable,
  columns: Readonly<Record<string, string>>
): Promise<void> {
  const { rows: [{ size }] } = await knex.raw(sizeOfRecords(table))
  const added = Object.entries(columns)
  // What their shops use is corrected by the difference.
  const use = async (sign: string): Promise<void> => {
    await knex.raw(
      `insert into shop_usage (shop_id, kind, records, bytes) select shop_id, '${table}', 0, ${sign}sum(bytes) ` +
        `from ${table} group by shop_id`
    )
  }
  await knex.raw(`lock table ${table} in access exclusive mode`)
  await use('-')
  await knex.raw(`alter table ${table} drop bytes`)
  await knex.raw(`alter table ${table} ${added.map(([name, type]) => `add ${name} ${type}`).join(', ')}`)
  await knex.raw(
    `alter table ${table} add bytes integer generated always as ` +
      `(${[size, ...added.map(([name, type]) => sizeOf(name, type))].join(' + ')}) stored`
  )
  await use('')
}

/** SQL that reads the SQL for the size of a record, as the database has it now. */
export function sizeOfRecords (table: RecordTable): string {
  return `select pg_get_expr(adbin, adrelid) as size from pg_attrdef join pg_attribute on attrelid = adrelid
    and attnum = adnum
    where adrelid = '${table}'::regclass and attname = 'bytes'`
}
