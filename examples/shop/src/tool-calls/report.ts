import type { Knex } from 'knex'
import { BUCKETS, quantile } from './histogram.ts'
import type { CallsByKey, KeyCalls, ToolCalls } from './schemas.ts'

interface Sums {
  readonly calls: number
  readonly errors: number
}
interface Row extends Sums {
  readonly tool: string
  readonly durations: readonly number[]
}

const sums = (knex: Knex) => [knex.raw('sum(calls)::integer as calls'), knex.raw('sum(errors)::integer as errors')]

const total = (rows: readonly Sums[], name: keyof Sums): number => rows.reduce((sum, row) => sum + row[name], 0)

/** Narrows counts to those from the start of an hour on. */
const sinceHour = (since: string) => (rows: Knex.QueryBuilder): void => {
  rows.whereRaw("hour >= date_trunc('hour', ?::timestamptz, 'UTC')", [since])
}

function startOf (since: string): string {
  const start = new Date(since)
  start.setUTCMinutes(0, 0, 0)
  return start.toISOString()
}

const MOST_CALLS_FIRST = [{ column: 'calls', order: 'desc' }, 'tool']

/**
 * @param shopId - null for all shops
 * @param since - ISO 8601 in UTC
 */
export async function toolCallsSince (knex: Knex, shopId: string | null, since: string): Promise<ToolCalls> {
  const stored = knex('tool_calls').modify(sinceHour(since)).modify((rows) => {
    if (shopId !== null) rows.where({ shop_id: shopId })
  })
  const buckets = Array.from({ length: BUCKETS }, (_, n) => `sum(durations[${n + 1}])::integer`)
  const tools = await stored.clone().groupBy('tool').orderBy(MOST_CALLS_FIRST).select(
    'tool',
    ...sums(knex),
    knex.raw(`array[${buckets.join(', ')}] as durations`)
  ) as Row[]
  const hours = await stored.clone().groupBy('hour').orderBy('hour').select('hour', ...sums(knex))
  return {
    since: startOf(since),
    calls: total(tools, 'calls'),
    errors: total(tools, 'errors'),
    tools: tools.map(({ tool, calls, errors, durations }) => ({
      tool,
      calls,
      errors,
      p50_ms: quantile(durations, 0.5),
      p99_ms: quantile(durations, 0.99)
    })),
    hours
  }
}

/** The API keys of a shop that called, the ones with the most errors first. */
export async function callsByKey (knex: Knex, shopId: string, since: string): Promise<CallsByKey> {
  const used = knex('key_calls').where({ shop_id: shopId }).modify(sinceHour(since)).groupBy('key_id').select(
    'key_id',
    ...sums(knex)
  )
  return await knex('api_keys').join(used.as('used'), 'used.key_id', 'api_keys.id').orderBy([
    { column: 'errors', order: 'desc' },
    { column: 'calls', order: 'desc' },
    'key_id'
  ]).select('key_id', 'name', 'calls', 'errors')
}

/**
 * What an API key was used for.
 *
 * @returns undefined if the shop has no such key
 */
export async function keyCallsSince (
  knex: Knex,
  shopId: string,
  keyId: string,
  since: string
): Promise<KeyCalls | undefined> {
  const key = await knex('api_keys').where({ shop_id: shopId, id: keyId }).first('last_used_at')
  if (key === undefined) return undefined
  const its = (table: string) => knex(table).where({ shop_id: shopId, key_id: keyId })
  const stored = its('key_calls').modify(sinceHour(since))
  const tools: KeyCalls['tools'] = await stored.clone().groupBy('tool').orderBy(MOST_CALLS_FIRST).select(
    'tool',
    ...sums(knex)
  )
  return {
    since: startOf(since),
    last_used_at: key.last_used_at,
    calls: total(tools, 'calls'),
    errors: total(tools, 'errors'),
    tools,
    hours: await stored.clone().groupBy('hour').orderBy('hour').select('hour', ...sums(knex)),
    clients: await its('key_clients').orderBy([{ column: 'last_seen_at', order: 'desc' }, 'name']).select(
      'name',
      'version',
      'first_seen_at',
      'last_seen_at'
    ),
    failed: await its('failed_calls').orderBy([{ column: 'at', order: 'desc' }, { column: 'id', order: 'desc' }])
      .select('at', 'tool', 'status', 'arguments', 'answer')
  }
}
