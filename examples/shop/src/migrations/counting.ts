/** The tables whose rows are records of a shop. */
export type RecordTable = 'products' | 'categories' | 'tags' | 'attributes' | 'prices' | 'accounts' | 'orders'

/** Parts of a record that are rows of a table of their own. */
export interface Parts {
  readonly table: string
  readonly record: RecordTable
  /** The column with the id of the record. */
  readonly link: string
  /** How many bytes each row adds to `part_bytes` of its record, in SQL. */
  readonly bytes: string
}

/** Of a UUID in an array of JSON, in bytes. */
export const ID_BYTES = 39

/** The events of a statement, with the names of the rows that a trigger sees of each. */
const EVENTS = {
  insert: 'new table as added',
  update: 'old table as removed new table as added',
  delete: 'old table as removed'
} as const

/**
 * SQL that counts the rows of a table, which must have the columns `shop_id`, `id` and `bytes`, in the usage of their
 * shop.
 */
export function countRecords (table: RecordTable): string {
  return triggersOf(table, 'count_records()')
}

/**
 * SQL that sets `bytes` of each row that is written, whatever columns it has. Triggers fire in the order of their
 * names: this one behind those that count pictures. Where others are off, as in a database that gets its rows by
 * logical replication, it still fires.
 */
export function measureRecords (table: RecordTable): string {
  return `
    create trigger measure_record before insert or update on ${table} for each row execute function measure_record();
    alter table ${table} enable always trigger measure_record;`
}

/** SQL that counts parts in the size of their record. */
export function countParts ({ table, record, link, bytes }: Parts): string {
  const added = `select shop_id, ${link} as id, ${bytes} as bytes from added`
  const removed = `select shop_id, ${link} as id, -(${bytes}) as bytes from removed`
  const change = (rows: string): string => `
    update ${record} set part_bytes = part_bytes + changes.bytes
    from (select shop_id, id, sum(bytes) as bytes from (${rows}) parts group by 1, 2 having sum(bytes) <> 0) changes
    where ${record}.shop_id = changes.shop_id and ${record}.id = changes.id;`
  return `
    create function count_${table}() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then ${change(added)}
      elsif tg_op = 'DELETE' then ${change(removed)}
      else ${change(`${added} union all ${removed}`)}
      end if;
      return null;
    end $$;
    ${triggersOf(table, `count_${table}()`)}`
}

function triggersOf (table: string, count: string): string {
  return Object.entries(EVENTS).map(([event, rows]) =>
    `create trigger count_${event} after ${event} on ${table} referencing ${rows} for each statement execute ` +
    `function ${count};`
  ).join('\n')
}
