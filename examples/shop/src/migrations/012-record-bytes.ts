import type { Knex } from 'knex'
import { measureRecords, type RecordTable } from './counting.ts'
import type { Migration } from './migration.ts'

/*
 * `bytes` of a record becomes a plain column that a trigger sets. As a generated one it had to name each column that
 * it counted, so that a new column was a new expression: PostgreSQL then writes the table anew, and nobody else uses it
 * meanwhile. The trigger counts whatever columns a row has, so `alter table … add` is all that a new one takes.
 *
 * Nothing is counted again: each row keeps its size until it is written, and it is that size which a deletion takes off
 * what its shop uses.
 */

const TABLES: readonly RecordTable[] = ['categories', 'tags', 'attributes', 'products', 'prices', 'accounts', 'orders']

/**
 * SQL for the size of the row `item`: itself as JSON, and what its record has besides. Instants have more or fewer
 * digits, which must not change it.
 *
 * @param apart - columns whose values are not counted, or are in `parts`
 */
function sizeOf (apart: readonly string[], parts = '0'): string {
  const values = ['to_json(item.created_at)', 'to_json(item.updated_at)', ...apart.map((name) => `item.${name}`)]
  return `select 100 + octet_length(to_json(item)::text) - octet_length(concat(${values.join()})) + ${parts}`
}

/** The default is never stored. Servers of the version before look for an expression, and it is one. */
const measure = (table: RecordTable): string => `
  alter table ${table} alter bytes drop expression, alter bytes set default 0;
  ${measureRecords(table)}`

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    -- How many bytes a record has as JSON, at most, from its row.
    create function record_bytes(item anyelement) returns integer language sql stable parallel safe as $$
      ${sizeOf(['bytes'])}
    $$;
    create function record_bytes(item orders) returns integer language sql stable parallel safe as $$
      ${sizeOf(['bytes', 'part_bytes'], 'item.part_bytes')}
    $$;
    -- The pictures of a product are among its parts.
    create function record_bytes(item products) returns integer language sql stable parallel safe as $$
      ${sizeOf(['bytes', 'part_bytes', 'image_urls'], 'item.part_bytes')}
    $$;

    create function measure_record() returns trigger language plpgsql as $$
    begin
      new.bytes := record_bytes(new);
      return new;
    end $$;
    ${TABLES.map(measure).join('')}
  `)
}

export const recordBytes: Migration = { up }
