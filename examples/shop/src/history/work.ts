import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { spellingsOf } from '../http/schemas.ts'
import { notAfter, revertibleBy, seenBy } from '../records/kinds.ts'
import type { Work, WorkQuery } from './work-schemas.ts'

/** How many changes a page reads: more than an import or a revert makes. */
const READ = 12_000

/** How many pieces of work a page has. */
export const PIECES = 100

/** Two changes of an actor that are further apart are of two pieces of work. */
const PAUSE = '10 minutes'

/** Pages meet between two milliseconds, since times are written so. */
const after = (sql: string): string => `date_trunc('milliseconds', ${sql}) + interval '1 ms'`

/**
 * Groups changes into pieces of work, each of one actor without a pause of ten minutes. A page ends before the 101st
 * piece, or before the 12,001st change: a piece that goes on further back is cut there, so each change is in one piece
 * of one page.
 *
 * @param query - `until`: changes at this time or before, default the newest; the others: changes of that actor or by
 *   that operation only
 * @returns a page, newest first, and where the next one goes on
 */
export async function workOf (
  knex: Knex,
  shopId: string,
  isOwner: boolean,
  { until, actor_id: actorId, ...of }: Static<typeof WorkQuery> = {}
): Promise<{ readonly work: Array<Static<typeof Work>>, readonly next: string | null }> {
  const changes = knex('history').where({ shop_id: shopId, ...of }).whereNot({ action: 'event' }).modify(
    seenBy(isOwner)
  )
  if (actorId !== undefined) changes.whereIn('actor_id', spellingsOf(actorId))
  if (until !== undefined) changes.modify(notAfter(until))
  const newest = changes.clone().orderBy([{ column: 'at', order: 'desc' }, { column: 'id', order: 'desc' }])
  const { rows: [{ work, next }] } = await knex.raw(
    `
    with edge as (select coalesce((select ${after('at')} from (?) beyond), '-infinity') as at),
    read as (
      select history.*, coalesce(at - lag(at) over own > interval '${PAUSE}', true) as begins
      from (?) history where at >= (select at from edge)
        window own as (partition by actor_kind, actor_id order by at, seq)
    ),
    numbered as (
      select *, sum(begins::int) over (partition by actor_kind, actor_id order by at, seq) as piece from read
    ),
    -- Where the page ends: at the newest change of the first piece that is not on it.
    cut as (
      select coalesce((select ${
      after('max(at)')
    } as at from numbered group by actor_kind, actor_id, piece order by 1 desc offset ${PIECES} limit 1),
      (select at from edge)) as at
    ),
    counted as (
      select actor_kind, actor_id, piece, action, record_kind, count(*)::int as count,
        count(distinct record_id)::int as records, min(at) as started, max(at) as ended,
        max(actor_name) as actor_name, min(operation) as first_operation, max(operation) as last_operation,
        bool_or(tool is not null) as by_tool,
        count(*) filter (where record_kind = any(?) and not is_reverted(id))::int as revertible,
        min(rise) as lowest, max(rise) as highest, count(rise)::int as prices
      from (
        select numbered.*, case
          when exact in (0, -100) then exact
          when exact > 0 then greatest(0.01, round(exact, 2))
          when exact < 0 then greatest(-99.99, least(-0.01, round(exact, 2)))
        end as rise
        from numbered cross join lateral (
          select case when action = 'update' and changes->'currency' is null then 100 * (
            (changes->'price_amount'->>'after')::numeric / nullif((changes->'price_amount'->>'before')::numeric, 0) - 1
          ) end as exact
        ) price
      ) changed
      where at >= (select at from cut)
      group by actor_kind, actor_id, piece, action, record_kind
    ),
    pieces as (
      select max(ended) as latest, json_build_object(
        'actor_kind', actor_kind, 'actor_id', actor_id, 'actor_name', max(actor_name), 'by_tool', bool_or(by_tool),
        'operation', case when min(first_operation) = max(last_operation) then min(first_operation) end,
        'started_at', json_instant(min(started)), 'ended_at', json_instant(max(ended)),
        'changes', sum(count), 'revertible', sum(revertible),
        'records', json_agg(
          json_build_object('action', action, 'record_kind', record_kind, 'count', count, 'records', records)
          order by count desc, action, record_kind
        ),
        'prices', case when sum(prices) > 0
          then json_build_object('count', sum(prices), 'lowest', min(lowest), 'highest', max(highest))
        end
      ) as piece
      from counted group by actor_kind, actor_id, piece
    )
    select coalesce((select json_agg(piece order by latest desc) from pieces), '[]') as work,
      (select case when at > '-infinity' then json_instant(at - interval '1 ms') end from cut) as next
  `,
    [
      newest.clone().select('at').offset(READ).limit(1),
      newest.clone().select(
        'id',
        'seq',
        'at',
        'actor_kind',
        'actor_id',
        'actor_name',
        'operation',
        'tool',
        'action',
        'record_kind',
        'record_id',
        'changes'
      ).limit(READ),
      [...revertibleBy(isOwner)]
    ] as never
  )
  return { work, next }
}
