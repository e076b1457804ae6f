import type { Knex } from 'knex'
import { BUCKETS, quantile } from './histogram.ts'
import type { ToolCalls } from './schemas.ts'

interface Row { readonly tool: string, readonly hour: string, readonly calls: number, readonly errors: number, readonly durations: readonly number[] }

/**
 * @param shopId - null for all shops
 * @param since - ISO 8601 in UTC
 */
export async function toolCallsSince (knex: Knex, shopId: string | null, since: string): Promise<ToolCalls> {
  const stored = knex('tool_calls').whereRaw("hour >= date_trunc('hour', ?::timestamptz, 'UTC')", [since]).modify((rows) => { if (shopId !== null) rows.where({ shop_id: shopId }) })
  const sums = [knex.raw('sum(calls)::integer as calls'), knex.raw('sum(errors)::integer as errors')]
  const buckets = Array.from({ length: BUCKETS }, (_, n) => `sum(durations[${n + 1}])::integer`)
  const tools = await stored.clone().groupBy('tool').orderBy([{ column: 'calls', order: 'desc' }, 'tool']).select('tool', ...sums, knex.raw(`array[${buckets.join(', ')}] as durations`)) as Row[]
  const hours = await stored.clone().groupBy('hour').orderBy('hour').select('hour', ...sums) as Row[]
  const total = (name: 'calls' | 'errors'): number => tools.reduce((sum, row) => sum + row[name], 0)
  const start = new Date(since)
  start.setUTCMinutes(0, 0, 0)
  return {
    since: start.toISOString(),
    calls: total('calls'),
    errors: total('errors'),
    tools: tools.map(({ tool, calls, errors, durations }) => ({ tool, calls, errors, p50_ms: quantile(durations, 0.5), p99_ms: quantile(durations, 0.99) })),
    hours
  }
}
