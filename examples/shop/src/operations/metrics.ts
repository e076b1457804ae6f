import { createHash, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KeyEvent } from 'dual-auth'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Redis } from 'ioredis'
import type { Knex } from 'knex'
import type { ToolCallEvent } from 'mcp-from-routes'
import { isProviderError, type PayProvider } from 'pay-reconcile'
import type { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { quotaExceeded } from '../database/errors.ts'
import { SHOP_METRICS_TOKEN } from '../errors.ts'
import { credentialKind } from '../http/credential.ts'
import { isInner } from '../http/inner-request.ts'
import { exempt } from './exempt.ts'
import { redisAnswers } from './redis.ts'

/** The metrics of one app. */
export interface Metrics {
  readonly registry: Registry
  readonly http: Histogram<'method' | 'route' | 'status' | 'caller'>
  readonly tools: Histogram<'tool' | 'outcome'>
  readonly auth: Counter<'method' | 'outcome'>
  readonly provider: Histogram<'operation' | 'outcome'>
  readonly quota: Counter<'quota'>
  readonly keyEvents: Counter<'event' | 'reason'>
}

/** In seconds. */
const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Methods that are labels; others, which anyone can make up, count as `other`. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * Creates the metrics, in their own registry. All labels come from the code or the routes: never an id, an address or
 * other input of a caller.
 */
export async function openMetrics (knex: Knex, redis?: Redis): Promise<Metrics> {
  // Loaded here, so that a server without metrics does not load the library.
  const { default: prom } = await import('prom-client')
  const registry = new prom.Registry()
  const registers = [registry]
  prom.collectDefaultMetrics({ register: registry })
  const pool = knex.client.pool as { numUsed (): number, numFree (): number, numPendingAcquires (): number }
  registry.registerMetric(new prom.Gauge({
    name: 'shop_database_connections',
    help: 'Connections in the pool, and callers that wait for one',
    labelNames: ['state'],
    registers: [],
    collect (this: Gauge<'state'>) {
      this.set({ state: 'used' }, pool.numUsed())
      this.set({ state: 'free' }, pool.numFree())
      this.set({ state: 'waited_for' }, pool.numPendingAcquires())
    }
  }))
  const slots = latest(async () => await lastSlots(knex))
  registry.registerMetric(new prom.Gauge({
    name: 'pay_reconcile_slot_timestamp_seconds',
    help: 'The last slot of the schedule for which a run was started, and for which one is finished, in seconds since 1970',
    labelNames: ['mode', 'state'],
    registers: [],
    async collect (this: Gauge<'mode' | 'state'>) {
      this.reset()
      for (const { mode, started, finished } of (await slots())?.value ?? []) {
        this.set({ mode, state: 'started' }, started)
        if (finished !== null) this.set({ mode, state: 'finished' }, finished)
      }
    }
  }))
  registry.registerMetric(new prom.Gauge({
    name: 'pay_reconcile_slot_age_seconds',
    help: 'How long ago the slots were read from the database: 0, unless it does not answer',
    registers: [],
    async collect () {
      const found = await slots()
      if (found === undefined) this.reset()
      else this.set(found.age)
    }
  }))
  if (redis !== undefined) {
    registry.registerMetric(new prom.Gauge({
      name: 'shop_redis_up',
      help: '1 while Redis responds, 0 while it does not and calls are not limited',
      registers: [],
      async collect () { this.set(await redisAnswers(redis) ? 1 : 0) }
    }))
  }
  return {
    registry,
    http: new prom.Histogram({
      name: 'http_request_duration_seconds',
      help: 'Duration of HTTP requests by route template; caller is client, or tool for the inner request of a tool call',
      labelNames: ['method', 'route', 'status', 'caller'],
      buckets: BUCKETS,
      registers
    }),
    tools: new prom.Histogram({
      name: 'mcp_tool_call_duration_seconds',
      help: 'Duration of tool calls; outcome is ok, refused, 3xx, 4xx, 5xx, or the reason why the call ended early',
      labelNames: ['tool', 'outcome'],
      buckets: BUCKETS,
      registers
    }),
    auth: new prom.Counter({
      name: 'auth_attempts_total',
      help: 'Requests to routes that need a credential; method is api-key, machine, user, token for a rejected one, or none',
      labelNames: ['method', 'outcome'],
      registers
    }),
    provider: new prom.Histogram({
      name: 'pay_provider_request_duration_seconds',
      help: 'Duration of requests to the payment provider; outcome is ok or the code of the error',
      labelNames: ['operation', 'outcome'],
      buckets: BUCKETS,
      registers
    }),
    quota: new prom.Counter({
      name: 'shop_quota_exceeded_total',
      help: 'Writes that were rejected because the shop has used its quota; quota is records or bytes',
      labelNames: ['quota'],
      registers
    }),
    keyEvents: new prom.Counter({
      name: 'api_key_events_total',
      help: 'What happened to API keys; reason says why a key was refused, and is empty for other events',
      labelNames: ['event', 'reason'],
      registers
    })
  }
}

/** How long a scrape waits for a value that is read, in milliseconds. */
const READ_LIMIT = 1000

/**
 * The values that a read gives, or those of the last one that succeeded, if it fails or takes too long.
 *
 * @returns with their age in seconds; undefined if no read ever succeeded
 */
function latest<T> (read: () => Promise<T>): () => Promise<{ readonly value: T, readonly age: number } | undefined> {
  let last: { readonly value: T, readonly at: number } | undefined
  let reading: Promise<void> | undefined
  return async () => {
    reading ??= read().then((value) => { last = { value, at: performance.now() } }, () => {}).finally(() => { reading = undefined })
    await Promise.race([reading, sleep(READ_LIMIT, undefined, { ref: false })])
    return last && { value: last.value, age: Math.floor((performance.now() - last.at) / 1000) }
  }
}

interface LastSlot { readonly mode: string, readonly started: number, readonly finished: number | null }

/** The last slots of each mode that was ever scheduled, in seconds since 1970. */
async function lastSlots (knex: Knex): Promise<readonly LastSlot[]> {
  return await knex('pay_reconcile_schedule as s').select<LastSlot[]>('s.mode', knex.raw('extract(epoch from s.slot)::float as started'), knex.raw(`
    (select extract(epoch from max(r.slot))::float from pay_reconcile_runs r
      where r.mode = s.mode and r.slot is not null and r.finished_at is not null) as finished`))
}

/** Counts the writes that exceed a quota. */
export function countQuotas (app: FastifyInstance, { quota }: Metrics): void {
  app.addHook('onError', async (_request, _reply, error) => {
    const exceeded = quotaExceeded(error)
    if (exceeded !== undefined) quota.inc({ quota: exceeded })
  })
}

/** For the option `onKeyEvent`. One event may stand for several refusals. */
export function countKeyEvent ({ keyEvents }: Metrics, event: KeyEvent): void {
  keyEvents.inc({ event: event.type, reason: event.type === 'refused' ? event.reason : '' }, event.type === 'refused' ? event.count : 1)
}

/** Measures requests. Register it before anything that may respond. */
export function measureRequests (app: FastifyInstance, { http }: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    http.observe({
      method: METHODS.has(request.method) ? request.method : 'other',
      route: request.is404 ? 'none' : request.routeOptions.url ?? 'none',
      status: statusClass(reply.statusCode),
      caller: isInner(request) ? 'tool' : 'client'
    }, reply.elapsedTime / 1000)
  })
}

/** Counts accepted and rejected credentials. Register it after the authentication. */
export function countAuthentication (app: FastifyInstance, { auth }: Metrics, marker: string): void {
  app.addHook('onRequest', async (request) => {
    if (request.identity !== null && !isInner(request)) auth.inc({ method: request.identity.kind, outcome: 'accepted' })
  })
  app.addHook('onError', async (request, _reply, error) => {
    const { code } = error as { code?: string }
    const outcome = AUTH_OUTCOMES[code ?? '']
    if (outcome === undefined || isInner(request)) return
    auth.inc({ method: request.identity?.kind ?? credentialKind(request.headers, marker), outcome })
  })
}

const AUTH_OUTCOMES: Readonly<Record<string, string>> = {
  DUAL_AUTH_CREDENTIAL_MISSING: 'missing',
  DUAL_AUTH_CREDENTIAL_INVALID: 'refused',
  DUAL_AUTH_SHOP_FORBIDDEN: 'forbidden',
  DUAL_AUTH_SCOPE_INSUFFICIENT: 'forbidden',
  DUAL_AUTH_BUSY: 'unavailable',
  DUAL_AUTH_STORE_UNAVAILABLE: 'unavailable',
  DUAL_AUTH_PROVIDER_UNAVAILABLE: 'unavailable',
  SHOP_RATE_LIMITED: 'limited',
  SHOP_TOO_MANY_CONCURRENT_CALLS: 'limited'
}

/** For the option `onToolCall`. */
export function measureToolCall ({ tools }: Metrics, { tool, duration, isError, statusCode, ended }: ToolCallEvent): void {
  tools.observe({ tool: tool.name, outcome: ended?.replace(' ', '_') ?? outcomeOf(isError, statusCode) }, duration / 1000)
}

function outcomeOf (isError: boolean, statusCode: number | undefined): string {
  if (!isError) return 'ok'
  return statusCode === undefined ? 'refused' : statusClass(statusCode)
}

function statusClass (status: number): string {
  return `${Math.floor(status / 100)}xx`
}

/** The same provider, with every request measured. */
export function measuredProvider (inner: PayProvider, { provider }: Metrics): PayProvider {
  const measured = <Call, Answer>(operation: string, send: (call: Call) => Promise<Answer>) => async (call: Call): Promise<Answer> => {
    const end = provider.startTimer({ operation })
    try {
      const answer = await send(call)
      end({ outcome: 'ok' })
      return answer
    } catch (error) {
      end({ outcome: isProviderError(error) ? error.code : 'unknown' })
      throw error
    }
  }
  return {
    driftFields: inner.driftFields,
    webhooks: inner.webhooks,
    isSecretKey: (key) => inner.isSecretKey(key),
    isCustomerId: (id) => inner.isCustomerId(id),
    retrieveCustomer: measured('retrieve_customer', (call) => inner.retrieveCustomer(call)),
    createCustomer: measured('create_customer', (call) => inner.createCustomer(call)),
    findByAccount: measured('find_by_account', (call) => inner.findByAccount(call)),
    listByAccount: measured('list_by_account', (call) => inner.listByAccount(call)),
    findByEmail: measured('find_by_email', (call) => inner.findByEmail(call)),
    listCustomers: measured('list_customers', (call) => inner.listCustomers(call)),
    ...(inner.listEvents && { listEvents: measured('list_events', (call: Parameters<NonNullable<PayProvider['listEvents']>>[0]) => inner.listEvents!(call)) })
  }
}

/** `/metrics`, only with its token: the load of a server is not public. */
export async function metricsRoute (app: FastifyInstance, { metrics, token }: { readonly metrics: Metrics, readonly token: string }): Promise<void> {
  const expected = digest(`Bearer ${token}`)
  app.get('/metrics', {
    config: exempt,
    logLevel: 'warn',
    schema: { hide: true }
  }, async (request: FastifyRequest, reply: FastifyReply) => {
    if (!timingSafeEqual(digest(request.headers.authorization ?? ''), expected)) {
      reply.header('www-authenticate', 'Bearer realm="metrics"')
      throw new SHOP_METRICS_TOKEN()
    }
    return await reply.type(metrics.registry.contentType).header('cache-control', 'no-store').send(await metrics.registry.metrics())
  })
}

function digest (text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
