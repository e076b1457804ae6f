import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { PARENT_REQUEST, type ToolCallEvent } from 'mcp-from-routes'
import { MCP_PATH } from '../auth.ts'
import type { Settings } from '../settings/settings.ts'
import { dailyUsage } from '../usage/daily-usage.ts'
import { clientInfoIn } from './clients.ts'
import { type Count, countOfCall, nameOf, storeCounts, sumOf } from './counts.ts'
import { keyUse } from './key-use.ts'
import { unwritten } from '../unwritten.ts'

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
  const counts = unwritten<Count>(MAX_KEPT, sumOf)
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
    try {
      await counts.flush(async (rows) => await storeCounts(knex, rows))
    } catch (error) {
      app.jobFailed('tool_calls', error, 'The counts of tool calls could not be written')
    }
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
      const { request, isError } = event
      const { identity } = request
      const keyId = identity?.kind === 'api-key' ? identity.keyId : null
      const shopId = identity?.kind === 'api-key' ? identity.ownerId : shops.get(request)
      if (shopId === undefined) return
      const count = countOfCall(event, shopId, keyId)
      counts.add(nameOf(count), count)
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
