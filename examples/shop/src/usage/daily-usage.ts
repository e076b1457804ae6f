import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { dailyLimitExceeded } from '../errors.ts'
import { isReplay } from '../idempotency/repeatable.ts'
import { type Counted, COUNTED, type LimitedUsage, readLimits, storeUsage, type UsageOfDay } from './store.ts'
import { unwritten } from '../unwritten.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a successful call is an import. Default: false. */
    readonly isImport?: boolean
  }
  interface FastifyInstance {
    /**
     * Counts a call that has got into a shop, unless that is over a limit of its day.
     *
     * @throws {@link SHOP_DAILY_CALLS_EXCEEDED} and the other errors of daily limits
     */
    countCall(request: FastifyRequest, reply: FastifyReply): void
  }
  interface FastifyRequest {
    /** What may have to be taken back of what was counted; null if it is nothing. */
    counted: CountedCall | null
  }
}

interface CountedCall {
  readonly shopId: string
  /** Null for a member. */
  readonly keyId: string | null
  readonly day: string
  readonly names: readonly Counted[]
}

/** In milliseconds: days of UTC are all alike. */
export const DAY = 86_400_000

/** How many counts are kept in memory. */
const MAX_KEPT = 20_000

/** The status of a tool call that waits for a person, and comes again with the answer. */
const HELD = 428

const READ: readonly Counted[] = ['calls']
const WRITE: readonly Counted[] = ['calls', 'writes']

/**
 * Tags of routes that do not count, or only if they change something: in a shop that is over its limit, owners see why,
 * and undo what an agent did.
 */
const FREE = 'history'
const FREE_TO_READ: readonly string[] = ['shops', 'members']

/** Counts the calls of API keys and members by day, in memory, and compares them with the limits. */
export interface DailyUsage {
  /** Stores what was counted since the last time. A failure is logged, and its counts are stored the next time. */
  readonly flush: () => Promise<void>
  /** Does so for what has limits, and reads the limits and what all replicas have used of them. */
  readonly exchange: () => Promise<void>
}

/**
 * A write is counted when it begins, and taken back if it fails: so this process alone never exceeds a limit. What
 * others have counted it knows from the last exchange.
 */
export function dailyUsage (app: FastifyInstance, knex: Knex): DailyUsage {
  const counts = unwritten<Writable<UsageOfDay>>(MAX_KEPT, sumOf)
  let limits = new Map<string, LimitedUsage>()
  let working = Promise.resolve()
  const today = clock()

  function add (shopId: string, meterId: string, day: string, names: readonly Counted[], by: 1 | -1): void {
    const count = (name: Counted): number => names.includes(name) ? by : 0
    counts.add(nameOf(meterId, day), {
      shop_id: shopId,
      meter_id: meterId,
      day,
      calls: count('calls'),
      writes: count('writes'),
      imports: count('imports')
    })
  }

  /** @throws {@link SHOP_DAILY_CALLS_EXCEEDED} and the other errors of daily limits */
  function enforce (
    whose: 'shop' | 'API key',
    meterId: string,
    day: string,
    names: readonly Counted[],
    reply: FastifyReply
  ): void {
    const limit = limits.get(meterId)
    if (limit === undefined) return
    const unstored = counts.get(nameOf(meterId, day))
    for (const name of names) {
      const most = limit[`${name}_per_day`]
      const used = unstored.reduce((sum, count) => sum + count[name], limit.day === day ? limit[name] : 0)
      if (most === null || used < most) continue
      const end = Date.parse(day) + DAY
      const wait = Math.max(1, Math.ceil((end - Date.now()) / 1000))
      reply.header('retry-after', String(wait))
      throw dailyLimitExceeded(whose, name, most, new Date(end), wait)
    }
  }

  app.decorateRequest('counted', null)
  app.decorate('countCall', (request, reply) => {
    const { identity, currentUser, shop: { id: shopId }, method } = request
    if (identity?.kind !== 'api-key' && (identity?.kind !== 'user' || currentUser?.roles.includes('admin') === true)) {
      return
    }
    // Each access makes the object anew.
    const { schema, config } = request.routeOptions
    const isRead = method === 'GET' || method === 'HEAD'
    if (schema?.tags?.some((tag) => tag === FREE || (isRead && FREE_TO_READ.includes(tag))) === true) return
    const written = config.isImport === true ? COUNTED : WRITE
    const names = isRead ? READ : written
    const day = today()
    const keyId = identity.kind === 'api-key' ? identity.keyId : null
    if (keyId !== null) enforce('API key', keyId, day, names, reply)
    enforce('shop', shopId, day, names, reply)
    if (keyId !== null) add(shopId, keyId, day, names, 1)
    add(shopId, shopId, day, names, 1)
    if (!isRead) request.counted = { shopId, keyId, day, names }
  })
  app.addHook('onResponse', (request, reply, done) => {
    const [{ counted }, { statusCode }] = [request, reply]
    if (counted !== null && (statusCode >= 400 || isDryRun(request) || isReplay(reply))) {
      const { shopId, keyId, day } = counted
      const names = statusCode === HELD ? counted.names : counted.names.filter((name) => name !== 'calls')
      if (keyId !== null) add(shopId, keyId, day, names, -1)
      add(shopId, shopId, day, names, -1)
    }
    done()
  })

  async function store (isWanted?: (count: UsageOfDay) => boolean): Promise<void> {
    // At the moment when they no longer wait, so that what was stored is neither missing nor counted twice.
    await counts.flush(async (rows) => await storeUsage(knex, rows), isWanted, (sums) => {
      for (const sum of sums) {
        const limit = limits.get(sum.meter_id)
        if (limit !== undefined && sum.day >= limit.day) limits.set(sum.meter_id, { ...limit, ...sum })
      }
    })
  }

  async function inTurn (work: () => Promise<void>): Promise<void> {
    await (working = working.then(work).catch((error: unknown) => {
      app.jobFailed('daily_usage', error, 'The calls of the day could not be stored')
    }))
  }

  return {
    flush: async () => await inTurn(async () => await store()),
    exchange: async () =>
      await inTurn(async () => {
        await store(({ meter_id: id }) => limits.has(id))
        limits = new Map((await readLimits(knex, today())).map((limit) => [limit.meter_id, limit]))
      })
  }
}

function nameOf (meterId: string, day: string): string {
  return `${meterId} ${day}`
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

/** Adds a count to another. */
function sumOf (sum: Writable<UsageOfDay>, { calls, writes, imports }: UsageOfDay): Writable<UsageOfDay> {
  sum.calls += calls
  sum.writes += writes
  sum.imports += imports
  return sum
}

/** @returns a function that tells the day in UTC, `2026-11-23`, which it writes only once */
function clock (): () => string {
  let [number, text] = [NaN, '']
  return () => {
    const now = Math.floor(Date.now() / DAY)
    if (now !== number) [number, text] = [now, dayOf(now * DAY)]
    return text
  }
}

/** @returns the day of a time in UTC: `2026-11-23` */
export function dayOf (time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** Known once it has been validated, so a dry run is let through only while there is room for a write. */
function isDryRun ({ query, body }: FastifyRequest): boolean {
  return [query, body].some((part) => (part as { readonly dry_run?: unknown } | null | undefined)?.dry_run === true)
}
