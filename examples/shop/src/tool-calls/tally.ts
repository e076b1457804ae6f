import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { PARENT_REQUEST, type ToolCallEvent } from 'mcp-from-routes'
import { MCP_PATH } from '../auth.ts'
import type { Settings } from '../settings/settings.ts'
import { dailyUsage } from '../usage/daily-usage.ts'
import { clientInfoIn } from './clients.ts'
import { BUCKETS, bucketOf } from './histogram.ts'
import { type KeyCount, storeKeyCounts } from './key-store.ts'
import { keyUse } from './key-use.ts'

/** How often everything is written, in milliseconds. */
const INTERVAL = 60_000

/** How often replicas tell each other what was used of limits, and read these, in milliseconds. */
const EXCHANGE = 2000

/**
 * How soon after the first message of a client, and the first call of a key, in milliseconds: somebody may be waiting
 * for them.
 */
const SOON = 1000

/** How many counts, and keys that have called, are kept in memory. */
const MAX_KEPT = 20_000

interface Count {
  readonly shop_id: string
  /** Null for people and machines. */
  readonly key_id: string | null
  readonly tool: string
  readonly hour: string
  calls: number
  errors: number
  total_ms: number
  slowest_ms: number
  readonly durations: number[]
}

/**
 * Counts calls of tools by shop and hour and all calls by day, and notes the use of keys: in memory, since a write for
 * each call would cost as much as the call.
 */
export interface Tally {
  /** For the option `onToolCall`. */
  readonly count: (event: ToolCallEvent) => void
  /** Writes what was counted since the last time. A failure is logged, and its counts are written the next time. */
  readonly flush: () => Promise<void>
  /** Tells other replicas what was used of limits, and learns that from them. */
  readonly exchange: () => Promise<void>
}

/** Writes the counts every minute, and when the server stops. */
export function toolTally (
  app: FastifyInstance,
  knex: Knex,
  { API_KEY_MARKER: marker, FAILED_CALLS_KEPT: failedCallsKept }: Pick<Settings, 'API_KEY_MARKER' | 'FAILED_CALLS_KEPT'>
): Tally {
  const shops = new WeakMap<FastifyRequest, string>()
  const keys = keyUse(knex, (error, message) => app.jobFailed('key_use', error, message), marker, failedCallsKept)
  const usage = dailyUsage(app, knex)
  const callers = new Set<string>()
  let counts = new Map<string, Count>()
  let writing = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let sooner: NodeJS.Timeout | undefined
  let exchange: NodeJS.Timeout | undefined

  app.addHook('preValidation', (request, _reply, done) => {
    const outer = request.raw[PARENT_REQUEST]
    if (outer !== undefined) {
      // The shop that the call of a person or machine was let into. The body alone could name any.
      if (request.shop !== undefined) shops.set(outer, request.shop.id)
    } else if (request.identity?.kind === 'api-key' && request.routeOptions.url === MCP_PATH) {
      const info = clientInfoIn(request.body)
      if (info !== undefined && keys.note(request.identity.keyId, info)) flushSoon()
    }
    done()
  })

  async function write (): Promise<void> {
    clearTimeout(sooner)
    sooner = undefined
    await keys.flush()
    await usage.flush()
    if (counts.size === 0) return
    const written = counts
    counts = new Map()
    try {
      await knex.transaction(async (trx) => {
        await store(trx, withoutKeys(written.values()))
        await storeKeyCounts(
          trx,
          [...written.values()].filter((count): count is Count & KeyCount => count.key_id !== null)
        )
      })
    } catch (error) {
      for (const [name, count] of written) add(name, count)
      app.jobFailed('tool_calls', error, 'The counts of tool calls could not be written')
    }
  }

  function add (name: string, count: Count): void {
    const sum = counts.get(name)
    if (sum !== undefined) addTo(sum, count)
    else if (counts.size < MAX_KEPT) counts.set(name, count)
  }

  const flush = async (): Promise<void> => {
    await (writing = writing.then(write))
  }
  const flushSoon = (): void => {
    sooner ??= setTimeout(() => {
      flush().catch(() => {})
    }, SOON).unref()
  }
  let isClosing = false
  const goOn = async (): Promise<void> => {
    await usage.exchange()
    if (!isClosing) {
      exchange = setTimeout(() => {
        goOn().catch(() => {})
      }, EXCHANGE).unref()
    }
  }
  app.addHook('onListen', async () => {
    timer = setInterval(() => {
      flush().catch(() => {})
    }, INTERVAL).unref()
    await goOn()
  })
  app.addHook('onClose', async () => {
    isClosing = true
    clearInterval(timer)
    clearTimeout(exchange)
    await flush()
  })

  return {
    count (event) {
      const { tool, request, duration, isError } = event
      const { identity } = request
      const keyId = identity?.kind === 'api-key' ? identity.keyId : null
      const shopId = identity?.kind === 'api-key' ? identity.ownerId : shops.get(request)
      if (shopId === undefined) return
      const hour = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000).toISOString()
      const durations = new Array<number>(BUCKETS).fill(0)
      durations[bucketOf(duration)] = 1
      const ms = Math.round(duration)
      add(`${keyId ?? shopId} ${hour} ${tool.name}`, {
        shop_id: shopId,
        key_id: keyId,
        tool: tool.name,
        hour,
        calls: 1,
        errors: isError ? 1 : 0,
        total_ms: ms,
        slowest_ms: ms,
        durations
      })
      if (keyId === null) return
      if (isError) keys.keep(keyId, event)
      if (callers.has(keyId)) return
      if (callers.size >= MAX_KEPT) callers.clear()
      callers.add(keyId)
      flushSoon()
    },
    flush,
    exchange: usage.exchange
  }
}

function addTo (sum: Count, { calls, errors, total_ms: total, slowest_ms: slowest, durations }: Count): void {
  sum.calls += calls
  sum.errors += errors
  sum.total_ms += total
  sum.slowest_ms = Math.max(sum.slowest_ms, slowest)
  for (const [bucket, times] of durations.entries()) sum.durations[bucket]! += times
}

/** The counts of each shop, whoever called. */
function withoutKeys (counts: Iterable<Count>): readonly Count[] {
  const sums = new Map<string, Count>()
  for (const count of counts) {
    const name = `${count.shop_id} ${count.hour} ${count.tool}`
    const sum = sums.get(name)
    if (sum !== undefined) addTo(sum, count)
    else sums.set(name, { ...count, durations: [...count.durations] })
  }
  return [...sums.values()]
}

/** Adds counts to those of other replicas. Those of shops that were deleted meanwhile are dropped. */
async function store (knex: Knex, counts: readonly Count[]): Promise<void> {
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
