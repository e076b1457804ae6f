import type { Knex } from 'knex'

/** What is counted of each day. */
export const COUNTED = ['calls', 'writes', 'imports'] as const
export type Counted = typeof COUNTED[number]
export type Counts = Readonly<Record<Counted, number>>

/** How many of each a day may have. */
export const LIMITS = ['calls_per_day', 'writes_per_day', 'imports_per_day'] as const
/** Null for any number. */
export type Limits = Readonly<Record<typeof LIMITS[number], number | null>>

/** What the calls of a day are counted for. */
export interface Meter {
  readonly shop_id: string
  /** The id of the API key, or of the shop for all of its calls. */
  readonly meter_id: string
}

/** The counts of a meter on a day: `2026-11-23`, in UTC. */
export interface UsageOfDay extends Meter, Counts {
  readonly day: string
}

/** The limits of a meter, and what has been used of them. */
export interface LimitedUsage extends UsageOfDay, Limits {}

const DAY = "to_char(day, 'YYYY-MM-DD') as day"

/**
 * Adds counts to those of other replicas. Those of shops and keys that were deleted meanwhile are dropped.
 *
 * @returns the sums
 */
export async function storeUsage (knex: Knex, counts: readonly UsageOfDay[]): Promise<readonly UsageOfDay[]> {
  return (await knex.raw(
    `
    with
      given as (
        select * from jsonb_to_recordset(?)
          as given (shop_id uuid, meter_id uuid, day date, calls integer, writes integer, imports integer)
      ),
      open as (select id from shops where id in (select shop_id from given) order by id for key share),
      open_keys as (select id from api_keys where id in (select meter_id from given) order by id for key share)
    insert into daily_usage as stored (shop_id, meter_id, day, calls, writes, imports)
    select shop_id, meter_id, day, calls, writes, imports from given
    where shop_id in (select id from open) and (meter_id = shop_id or meter_id in (select id from open_keys))
    order by shop_id, meter_id, day
    on conflict (shop_id, meter_id, day) do update set
      calls = stored.calls + excluded.calls,
      writes = stored.writes + excluded.writes,
      imports = stored.imports + excluded.imports
    returning shop_id, meter_id, ${DAY}, calls, writes, imports`,
    [JSON.stringify(counts)]
  )).rows
}

/** All limits, with what was used of them on a day. */
export async function readLimits (knex: Knex, day: string): Promise<readonly LimitedUsage[]> {
  const used = knex('daily_usage').where({ day }).as('used')
  const found = await knex('daily_limits').leftJoin(used, (join) => {
    join.on('used.shop_id', 'daily_limits.shop_id').andOn('used.meter_id', 'daily_limits.meter_id')
  })
    .whereRaw(`num_nonnulls(${LIMITS.join(', ')}) > 0`)
    .select(
      'daily_limits.shop_id',
      'daily_limits.meter_id',
      ...LIMITS,
      ...COUNTED.map((name) => knex.raw('coalesce(??, 0) as ??', [name, name]))
    )
  return found.map((limit) => ({ ...limit, day }))
}
