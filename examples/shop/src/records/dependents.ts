import type { Knex } from 'knex'
import { newer } from '../database/updated-at.ts'
import { notKnown } from '../errors.ts'
import type { ShopScope } from '../access/scope.ts'

/**
 * What is linked to a record and loses the link when the record is deleted: rows of `link`, whose column `to` has the
 * id of the record. They belong to rows of `table`, whose ids are in `from`, and which change with them.
 */
export interface Dependents {
  readonly table: string
  readonly link: string
  readonly from: string
  readonly to: string
  /** What the deletion does to the rows of `link`: it deletes them, or only clears `to`. */
  readonly lost: 'row' | 'link'
  /** The key that finds a row again which has lost its link. A row that is deleted is kept as a whole. */
  readonly key?: readonly string[]
}

/** Touches what loses a link, in the order of their ids, so that concurrent deletions do not deadlock. */
export async function touch (trx: Knex.Transaction, shop: ShopScope, id: string, linked: Dependents): Promise<void> {
  if (isOwned(linked)) return
  const { table, link, from, to } = linked
  const ids = trx(link).where({ shop_id: shop.id, [to]: id }).select(from)
  const locked = trx(table).where({ shop_id: shop.id }).whereIn('id', ids).orderBy('id').forNoKeyUpdate().select('id')
  await trx(table).where({ shop_id: shop.id }).whereIn('id', locked).update({ updated_at: newer(trx) })
}

/** Whether the rows are deleted with the record, and are no part of another one. */
function isOwned ({ table, link, lost }: Dependents): boolean {
  return table === link && lost === 'row'
}

/** SQL for what the history keeps of the links to the deleted record `item`, by the table of their rows. */
export function keptLinks (dependents: readonly Dependents[]): string {
  const members = dependents.map(({ table, link, to, key }) => {
    const row = key === undefined
      ? `to_jsonb(linked) - '{shop_id,${to},updated_at,bytes}'::text[]`
      : `jsonb_build_object(${key.map((name) => `'${name}', linked.${name}`).join(', ')})`
    return `'${table}', (select coalesce(jsonb_agg(${row}), '[]') from ${link} linked where linked.shop_id = ` +
      `item.shop_id and linked.${to} = item.id)`
  })
  return `jsonb_build_object(${members.join(', ')})`
}

/** SQL for the columns of a table, each with whether it is written: a newer version may have added some. */
export function columnsOf (table: string): string {
  return `(select jsonb_object_agg(attname, attgenerated = '') from pg_attribute
    where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped)`
}

/**
 * @param names - of fields that the history has
 * @param columns - of the table, see {@link columnsOf}
 * @returns those of them that are written
 * @throws {@link SHOP_CONFLICT} about one that is no column
 */
export function writable (names: readonly string[], columns: Readonly<Record<string, boolean>>): readonly string[] {
  const unknown = names.find((name) => !Object.hasOwn(columns, name))
  if (unknown !== undefined) throw notKnown(unknown)
  return names.filter((name) => columns[name])
}

/** SQL for how many rows of each table are linked to the record `item`. */
export function affectedBy (dependents: readonly Dependents[]): string {
  const members = dependents.map(({ table, link, from, to }) =>
    `'${table}', (select count(distinct linked.${from}) from ${link} linked where linked.shop_id = item.shop_id ` +
    `and linked.${to} = item.id)`
  )
  return `jsonb_build_object(${members.join(', ')})`
}

/**
 * Links again what lost its link to a deleted record, which is back. What was deleted since then, or was linked to
 * something else, stays as it is.
 *
 * @param change - the deletion
 */
export async function restoreLinks (
  trx: Knex.Transaction,
  shop: ShopScope,
  id: string,
  change: string,
  linked: Dependents
): Promise<void> {
  const { table, link, from, to, lost, key = [] } = linked
  const rows = `history, jsonb_populate_recordset(null::${link}, restore->'links'->'${table}') kept`
  if (lost === 'row') {
    const still = isOwned(linked)
      ? 'true'
      : `exists (select from ${table} where ${table}.shop_id = ? and ${table}.id = kept.${from})`
    const { rows: [{ names, columns }] } = await trx.raw(
      `select ${columnsOf(link)} as columns, (
      select coalesce(jsonb_agg(distinct name), '[]')
      from jsonb_array_elements(restore->'links'->'${table}') row, jsonb_object_keys(row) name
    ) as names from history where id = ?`,
      [change]
    )
    const written = writable(names, columns)
    if (written.length > 0) {
      await trx.raw(
        `insert into ${link} (shop_id, ${to}, ${written.map(() => '??').join(', ')}) select ?, ?, ${
          written.map(() => 'kept.??').join(', ')
        }
        from ${rows} where history.id = ? and ${still}`,
        [...written, shop.id, id, ...written, change, ...isOwned(linked) ? [] : [shop.id]]
      )
    }
  } else {
    await trx.raw(
      `update ${link} set ${to} = :id from ${rows} where history.id = :change
      and ${link}.shop_id = :shop and ${link}.${to} is null and ${
        key.map((name) => `${link}.${name} = kept.${name}`).join(' and ')
      }`,
      { shop: shop.id, id, change }
    )
  }
  await touch(trx, shop, id, linked)
}
