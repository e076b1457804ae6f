import type { Knex } from 'knex'
import { notKnown } from '../errors.ts'
import { columnsOf, restoreLinks, writable } from './dependents.ts'
import { settle } from './held.ts'
import type { RecordMapping } from './mapping.ts'
import type { RowPlace } from './row.ts'

/** What the history has of a deleted row. */
interface Told {
  /** Their names. */
  readonly fields: readonly string[]
  /** The tables that had links to it. */
  readonly links: readonly string[]
  /** The columns that the table has now, see {@link columnsOf}. */
  readonly columns: Readonly<Record<string, boolean>>
}

/**
 * Restores a deleted row and its links, as the history has them: with the columns of a newer version, too.
 *
 * @param change - the deletion
 * @param work - adds further rows of the record
 * @throws {@link SHOP_CONFLICT} about what is not in the tables
 */
export async function restored<Row> (
  trx: Knex.Transaction,
  mapping: RecordMapping,
  { shop, id }: RowPlace,
  { change, work }: { readonly change: string, readonly work: () => Promise<void> }
): Promise<Row> {
  const names = columnsToRestore(mapping, await toldBy(trx, mapping, change))
  await insertAgain(trx, mapping, names, change)
  await work()
  for (const linked of mapping.dependents) await restoreLinks(trx, shop, id, change, linked)
  return await settle<Row>(trx, mapping, { shop, id }, null)
}

async function toldBy (trx: Knex.Transaction, { table }: RecordMapping, change: string): Promise<Told> {
  const { rows: [told] } = await trx.raw(
    `
    select to_jsonb(array(select jsonb_object_keys(changes))) as fields,
      to_jsonb(array(select key from jsonb_each(restore->'links') where value <> '[]')) as links,
      ${columnsOf(table)} as columns
    from history where id = ?`,
    [change]
  )
  return told
}

/** @throws {@link SHOP_CONFLICT} about a field or a link that this version knows no place for */
function columnsToRestore (
  { written, computed, dependents }: RecordMapping,
  { fields, links, columns }: Told
): readonly string[] {
  const unknown = links.find((name) => !dependents.some(({ table }) => table === name))
  if (unknown !== undefined) throw notKnown(unknown)
  return [...new Set([...written, ...writable(fields.filter((name) => !(name in computed)), columns)])]
}

/** Inserts the row with its id, its facts before the deletion, and what else the history kept of it. */
async function insertAgain (
  trx: Knex.Transaction,
  { table, initial }: RecordMapping,
  names: readonly string[],
  change: string
): Promise<void> {
  await trx.raw(
    `
    insert into ?? (${names.map(() => '??').join(', ')})
    select ${names.map(() => 'item.??').join(', ')}
    from history, jsonb_populate_record(null::??, ?::jsonb
      || jsonb_build_object('id', record_id, 'shop_id', shop_id, 'updated_at', clock_timestamp())
      || coalesce((select jsonb_object_agg(key, value->'before') from jsonb_each(changes)), '{}')
      || (restore->'row')) item
    where history.id = ?`,
    [table, ...names, ...names, table, JSON.stringify(initial), change]
  )
}
