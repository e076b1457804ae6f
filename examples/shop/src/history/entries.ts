import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import type { ListQuery, Page } from '../lists/list.ts'
import { pageOf } from '../lists/page.ts'
import { revertibleBy } from '../records/kinds.ts'
import { type HistoryEntry, list } from './schemas.ts'

/** The columns that are read. What restores a deleted record can be large, and has what the history does not show. */
const COLUMNS = [
  'id',
  'at',
  'shop_id',
  'actor_kind',
  'actor_id',
  'actor_name',
  'actor_prefix',
  'operation',
  'tool',
  'confirmed',
  'action',
  'record_kind',
  'record_id',
  'record_name',
  'changes',
  'affected',
  'request_id',
  'reverts',
  'bytes'
]

const REVERTED_BY = `(select later.id from history later where later.reverts = history.id and not is_reverted(later.id)
  order by later.seq desc limit 1) as reverted_by`

/**
 * @param where - which entries the caller may see
 * @param isOwner - whether the caller may change settings
 * @returns the requested page of the history
 */
export async function entriesOf (
  knex: Knex,
  where: (entries: Knex.QueryBuilder) => void,
  query: ListQuery,
  isOwner = true
): Promise<Page<Static<typeof HistoryEntry>>> {
  const revertible = knex.raw(
    "(record_kind = any(?) and action <> 'event' and not is_reverted(history.id)) as revertible",
    [[...revertibleBy(isOwner)]]
  )
  const entries = knex('history').modify(where).select([...COLUMNS, knex.raw(REVERTED_BY), revertible])
  return await pageOf(knex, knex.from(entries.as('entries')), { ...list, sized: true }, query)
}

/**
 * What tells one state of a shop's history from the others: its newest entry, and how many come with it in an hour. One
 * that was written in a longer transaction, and so appears below the newest, changes that number. Old entries that the
 * server forgets do not.
 *
 * @param isOwner - since owners see more than staff
 */
export async function historyVersion (knex: Knex, shopId: string, isOwner: boolean): Promise<string> {
  const newest = knex('history').where({ shop_id: shopId }).max('at as at')
  const { rows: [{ version }] } = await knex.raw(
    `
    select concat_ws('-', max(seq), count(*)) as version from history where shop_id = ?
      and at > (select at from (?) newest) - interval '1 hour'
  `,
    [shopId, newest] as never
  )
  return isOwner ? `${version}-all` : version
}
