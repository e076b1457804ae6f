import type { Knex } from 'knex'
import { itemList } from '../lists/runs.ts'
import { whereListed } from '../lists/listed.ts'
import type { FoundItem, Item, ItemFilter, ItemQuery } from '../reconcile/types.ts'
import { record, recordsOf, countOf } from './records.ts'

/** In bytes of JSON: memory holds several copies of a page. */
const MAX_PAGE_BYTES = 4_194_304

/**
 * One page of a run's items in the order of their accounts, and the count of all. It ends before it exceeds 4 MiB, but
 * has at least one.
 */
export async function itemPage (
  knex: Knex,
  runId: string,
  { skip, limit, filter, since }: ItemQuery
): Promise<{ items: readonly Item[], count: number }> {
  const matching = () =>
    knex('pay_reconcile_items as i').where('i.run_id', runId).modify((query) => where(query, filter, since))
  const page = matching().orderBy('i.account_id').offset(skip).limit(limit).select(
    'i.id',
    'i.account_id',
    'i.item',
    knex.raw('octet_length(i.item::text) as bytes')
  )
  const measured = knex(page.as('p')).select(
    'p.*',
    knex.raw('sum(p.bytes) over (order by p.account_id) as bytes_so_far')
  )
  const rows = await recordsOf<ItemRow>(
    knex,
    knex(measured.as('m')).where('bytes_so_far', '<=', MAX_PAGE_BYTES).orWhere('bytes_so_far', knex.ref('bytes'))
      .orderBy('account_id').select(knex.raw(record({ id: 'm.id::text', item: 'm.item' })))
  )
  return { items: rows.map(itemFrom), count: await countOf(knex, matching()) }
}

/** Items of any runs of a registration; an id that the column cannot hold is unknown. */
export async function itemsById (knex: Knex, registration: string, ids: readonly string[]): Promise<readonly Item[]> {
  const rows = await recordsOf<ItemRow>(
    knex,
    knex('pay_reconcile_items as i').join('pay_reconcile_runs as r', 'r.id', 'i.run_id').where(
      'r.registration',
      registration
    )
      .whereIn('i.id', ids.filter((id) => /^[1-9]\d{0,17}$/.test(id))).select(
        knex.raw(record({ id: 'i.id::text', item: 'i.item' }))
      )
  )
  return rows.map(itemFrom)
}

/** What an item found, without what differs between any two runs. */
const finding = (item: string): string => `${item}.item - '{accountName,shopName,providerRequestId}'::text[]`

function where (query: Knex.QueryBuilder, filter: ItemFilter, since: string | undefined): void {
  whereListed(query, itemList, filter)
  if (since !== undefined) {
    query.whereRaw(
      'not exists (select from pay_reconcile_items e where e.run_id = ? and e.account_id = i.account_id and ' +
        `${finding('e')} = ${finding('i')})`,
      [since]
    )
  }
}

interface ItemRow {
  readonly id: string
  readonly item: FoundItem
}

function itemFrom ({ id, item }: ItemRow): Item {
  return { ...item, id }
}
