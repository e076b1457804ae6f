import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { PARENT_REQUEST, type ToolCallEvent } from 'mcp-from-routes'
import { BUCKETS, bucketOf } from './histogram.ts'

/** How often the counts are written, in milliseconds. */
const INTERVAL = 60_000

/** How many counts are kept while they cannot be written. */
const MAX_KEPT = 20_000

interface Count {
  readonly shop_id: string
  readonly tool: string
  readonly hour: string
  calls: number
  errors: number
  readonly durations: number[]
}

/** Counts calls of tools by shop and hour: in memory, since a write for each call would cost as much as the call. */
export interface Tally {
  /** For the option `onToolCall`. */
  readonly count: (event: ToolCallEvent) => void
  /** Writes what was counted since the last time. A failure is logged, and its counts are written the next time. */
  readonly flush: () => Promise<void>
}

/** Writes the counts every minute, and when the server stops. */
export function toolTally (app: FastifyInstance, knex: Knex): Tally {
  const shops = new WeakMap<FastifyRequest, string>()
  let counts = new Map<string, Count>()
  let writing = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  // The shop that the call of a person or machine was let into. The body alone could name any.
  app.addHook('preValidation', (request, _reply, done) => {
    const outer = request.raw[PARENT_REQUEST]
    if (outer !== undefined && request.shop !== undefined) shops.set(outer, request.shop.id)
    done()
  })

  async function write (): Promise<void> {
    if (counts.size === 0) return
    const written = counts
    counts = new Map()
    try {
      await store(knex, [...written.values()])
    } catch (error) {
      for (const [name, count] of written) add(name, count)
      app.log.warn({ err: error }, 'The counts of tool calls could not be written')
    }
  }

  function add (name: string, count: Count): void {
    const sum = counts.get(name)
    if (sum === undefined) {
      if (counts.size < MAX_KEPT) counts.set(name, count)
      return
    }
    sum.calls += count.calls
    sum.errors += count.errors
    for (const [bucket, times] of count.durations.entries()) sum.durations[bucket]! += times
  }

  const flush = async (): Promise<void> => { await (writing = writing.then(write)) }
  app.addHook('onListen', async () => { timer = setInterval(() => { flush().catch(() => {}) }, INTERVAL).unref() })
  app.addHook('onClose', async () => {
    clearInterval(timer)
    await flush()
  })

  return {
    count ({ tool, request, duration, isError }) {
      const { identity } = request
      const shopId = identity?.kind === 'api-key' ? identity.shopId : shops.get(request)
      if (shopId === undefined) return
      const hour = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000).toISOString()
      const durations = new Array<number>(BUCKETS).fill(0)
      durations[bucketOf(duration)] = 1
      add(`${shopId} ${hour} ${tool.name}`, { shop_id: shopId, tool: tool.name, hour, calls: 1, errors: isError ? 1 : 0, durations })
    },
    flush
  }
}

/** Adds counts to those of other replicas. Those of shops that were deleted meanwhile are dropped. */
async function store (knex: Knex, counts: readonly Count[]): Promise<void> {
  await knex.raw(`
    with counted as (select * from jsonb_to_recordset(?) as counted (shop_id uuid, hour timestamptz, tool text, calls integer, errors integer, durations integer[])),
      open as (select id from shops where id in (select shop_id from counted) order by id for key share)
    insert into tool_calls as stored (shop_id, hour, tool, calls, errors, durations)
    select shop_id, hour, tool, calls, errors, durations from counted where shop_id in (select id from open) order by shop_id, hour, tool
    on conflict (shop_id, hour, tool) do update set
      calls = stored.calls + excluded.calls,
      errors = stored.errors + excluded.errors,
      durations = (select array_agg(was + more order by bucket) from unnest(stored.durations, excluded.durations) with ordinality sums (was, more, bucket))`,
  [JSON.stringify(counts)])
}
