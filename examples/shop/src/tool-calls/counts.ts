import type { Knex } from 'knex'
import type { ToolCallEvent } from 'mcp-from-routes'
import { BUCKETS, bucketOf } from './histogram.ts'
import { type KeyCount, storeKeyCounts } from './key-store.ts'

const HOUR = 3_600_000

/** How often a tool was called in an hour, and how long its calls took. */
export interface Count extends Pick<KeyCount, 'tool' | 'hour'> {
  readonly shop_id: string
  /** Null for people and machines. */
  readonly key_id: string | null
  calls: number
  errors: number
  total_ms: number
  slowest_ms: number
  /** How many calls took how long, see `histogram.ts`. */
  readonly durations: number[]
}

/** @param keyId - null for people and machines */
export function countOfCall (
  { tool, duration, isError }: Pick<ToolCallEvent, 'tool' | 'duration' | 'isError'>,
  shopId: string,
  keyId: string | null
): Count {
  const ms = Math.round(duration)
  const durations = new Array<number>(BUCKETS).fill(0)
  durations[bucketOf(duration)] = 1
  return {
    shop_id: shopId,
    key_id: keyId,
    tool: tool.name,
    hour: new Date(Math.floor(Date.now() / HOUR) * HOUR).toISOString(),
    calls: 1,
    errors: isError ? 1 : 0,
    total_ms: ms,
    slowest_ms: ms,
    durations
  }
}

/** Counts of the same name are added up: that of a key has its shop. */
export function nameOf ({ shop_id: shop, key_id: key, hour, tool }: Count): string {
  return `${key ?? shop} ${hour} ${tool}`
}

/** Adds a count to another. */
export function sumOf (sum: Count, { calls, errors, total_ms: total, slowest_ms: slowest, durations }: Count): Count {
  sum.calls += calls
  sum.errors += errors
  sum.total_ms += total
  sum.slowest_ms = Math.max(sum.slowest_ms, slowest)
  for (let bucket = 0; bucket < BUCKETS; bucket++) sum.durations[bucket]! += durations[bucket]!
  return sum
}

/** Adds counts to those of other replicas: of shops, and of the keys that called. */
export async function storeCounts (knex: Knex, counts: readonly Count[]): Promise<void> {
  await knex.transaction(async (trx) => {
    await storeShopCounts(trx, withoutKeys(counts))
    await storeKeyCounts(trx, counts.filter((count): count is Count & KeyCount => count.key_id !== null))
  })
}

/** The counts of each shop, whoever called. */
function withoutKeys (counts: readonly Count[]): readonly Count[] {
  const sums = new Map<string, Count>()
  for (const count of counts) {
    const ofShop = { ...count, key_id: null, durations: [...count.durations] }
    const sum = sums.get(nameOf(ofShop))
    sums.set(nameOf(ofShop), sum === undefined ? ofShop : sumOf(sum, ofShop))
  }
  return [...sums.values()]
}

/** Those of shops that were deleted meanwhile are dropped. */
async function storeShopCounts (knex: Knex, counts: readonly Count[]): Promise<void> {
  await knex.raw(
    `
    with counted as (
      select * from jsonb_to_recordset(?)
        as counted (shop_id uuid, hour timestamptz, tool text, calls integer, errors integer, durations integer[])
    ),
      open as (select id from shops where id in (select shop_id from counted) order by id for key share)
    insert into tool_calls as stored (shop_id, hour, tool, calls, errors, durations)
    select shop_id, hour, tool, calls, errors, durations from counted where shop_id in (select id from open)
    order by shop_id, hour, tool
    on conflict (shop_id, hour, tool) do update set
      calls = stored.calls + excluded.calls,
      errors = stored.errors + excluded.errors,
      durations = (select array_agg(was + more order by bucket) from unnest(stored.durations, excluded.durations)
        with ordinality sums (was, more, bucket))`,
    [JSON.stringify(counts)]
  )
}
