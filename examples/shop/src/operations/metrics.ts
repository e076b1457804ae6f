import { createHash, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KeyEvent, RefusalReason, RefusedEvent } from 'dual-auth'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import type { ToolCallEvent } from 'mcp-from-routes'
import { isProviderError, providerError, type PayProvider, type ProviderFault } from 'pay-reconcile'
import type { Counter, Gauge, Registry } from 'prom-client'
import { quotaExceeded } from '../database/errors.ts'
import type { Database } from '../database/index.ts'
import { OUTCOMES, type Replica } from '../database/replica.ts'
import { SHOP_METRICS_TOKEN } from '../errors.ts'
import { isInner } from '../http/inner-request.ts'
import { KEYED_OUTCOMES } from '../idempotency/repeatable.ts'
import { IMPORT_ENDS } from '../imports/schemas.ts'
import { oldestTurn } from '../imports/step.ts'
import type { Settings } from '../settings/settings.ts'
import { type CalledBy, calledBy } from './called-by.ts'
import { exempt } from './health.ts'
import { TOOLS_VERSION } from './version.ts'

/** The metrics of one app. */
export type Metrics = Awaited<ReturnType<typeof openMetrics>>

/** In seconds. */
const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Methods that are labels; others, which anyone can make up, count as `other`. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Status classes that a route is expected to send. */
const STATUSES = ['2xx', '4xx', '5xx']

/** Why callers are refused, and what the caller is then: others count as `other`. */
const REFUSED_CODES = [
  'DUAL_AUTH_CREDENTIAL_MISSING',
  'DUAL_AUTH_CREDENTIAL_INVALID',
  'DUAL_AUTH_OWNER_FORBIDDEN',
  'DUAL_AUTH_SCOPE_INSUFFICIENT',
  'SHOP_FORBIDDEN',
  'SHOP_USER_INACTIVE',
  'SHOP_ADMIN_ONLY',
  'SHOP_OWNER_ONLY',
  'SHOP_PEOPLE_ONLY',
  'other'
]
const CALLERS = ['api-key', 'user', 'machine', 'anybody'] satisfies Array<CalledBy['caller']>

/** Why a tool call ended early: each reason, so that none can be missing. */
const ENDS: Readonly<Record<NonNullable<ToolCallEvent['ended']>, true>> = {
  'client gone': true,
  timeout: true,
  'too large': true,
  closing: true
}
/** Why a tool call was a success or not. */
const TOOL_OUTCOMES = [
  'ok',
  'refused',
  '3xx',
  '4xx',
  '5xx',
  ...(Object.keys(ENDS) as Array<keyof typeof ENDS>).map(labelOfEnd)
]

/** What may come of each kind of credential. */
const ATTEMPTS: Readonly<Record<string, readonly string[]>> = {
  'api-key': ['accepted', 'refused', 'forbidden', 'unavailable', 'limited'],
  machine: ['accepted', 'forbidden', 'unavailable', 'limited'],
  user: ['accepted', 'forbidden', 'unavailable', 'limited'],
  token: ['refused', 'unavailable', 'limited'],
  none: ['missing', 'limited']
}

/** Each fault, so that none can be missing. */
const FAULTS: Readonly<Record<ProviderFault, true>> = {
  customer_not_found: true,
  key_rejected: true,
  key_forbidden: true,
  rate_limited: true,
  timeout: true,
  unreachable: true,
  error: true,
  refused: true,
  unexpected_object: true,
  unavailable: true,
  aborted: true
}
const PROVIDER_OUTCOMES = [
  'ok',
  ...Object.keys(FAULTS).map((fault) => providerError(fault as ProviderFault).code),
  'unknown'
]

/** The events of keys that have no reason, and the reasons of refusals: each of them, so that none can be missing. */
const KEY_EVENTS: Readonly<Record<Exclude<KeyEvent['type'], 'refused'>, true>> = {
  created: true,
  rotated: true,
  revoked: true,
  first_used: true,
  new_network: true,
  expiring: true,
  unused: true
}
/** What owns keys is a shop here. */
const REFUSALS = {
  unknown: 'unknown',
  revoked: 'revoked',
  expired: 'expired',
  not_allowed: 'not_allowed',
  wrong_owner: 'wrong_shop',
  scope: 'scope'
} as const satisfies Readonly<Record<RefusalReason, string>>

/** Work of the server that no caller waits for. */
const WORK = ['imports', 'broken_imports', 'history', 'tool_calls', 'key_use', 'daily_usage', 'deleted_shops'] as const
export type Work = typeof WORK[number]

/** Of prom-client, and sums of others: a gauge whose name ends in `_total` is refused by `promtool check metrics`. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/**
 * Adds gauges that are read at each scrape.
 *
 * @returns adds one
 */
function gaugesIn (prom: typeof import('prom-client'), registry: Registry) {
  return <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    read: (gauge: Gauge<Label>) => unknown
  ): void => {
    registry.registerMetric(
      new prom.Gauge({
        name,
        help,
        labelNames,
        registers: [],
        async collect (this: Gauge<Label>) {
          await read(this)
        }
      })
    )
  }
}

/**
 * Creates the metrics, in their own registry. All labels come from the code or the routes: never an id, an address or
 * other input of a caller. A counter is there with 0 for every label that it may have: Prometheus sees no increase
 * where a series begins with 1.
 */
export async function openMetrics ({ knex, replica }: Pick<Database, 'knex' | 'replica'>) {
  // Loaded here, so that a server without metrics does not load the library.
  const { default: prom } = await import('prom-client')
  const registry = new prom.Registry()
  const registers = [registry]
  const gauge = gaugesIn(prom, registry)
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new prom.Counter({ name, help, labelNames, registers })
  const histogram = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new prom.Histogram({ name, help, labelNames, buckets: BUCKETS, registers })
  prom.collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  const pool = knex.client.pool as { numUsed(): number, numFree(): number, numPendingAcquires(): number }
  gauge(
    'shop_database_connections',
    'Connections in the pool, and callers that wait for one',
    ['state'],
    (connections) => {
      connections.set({ state: 'used' }, pool.numUsed())
      connections.set({ state: 'free' }, pool.numFree())
      connections.set({ state: 'waited_for' }, pool.numPendingAcquires())
    }
  )
  const scheduled = latest(async () => await lastScheduled(knex))
  gauge(
    'pay_reconcile_scheduled_timestamp_seconds',
    'The last time of the schedule for which a run was started, and for which one is finished, in seconds since 1970',
    ['mode', 'state'],
    async (times) => {
      times.reset()
      for (const { mode, started, finished } of (await scheduled())?.value ?? []) {
        times.set({ mode, state: 'started' }, started)
        if (finished !== null) times.set({ mode, state: 'finished' }, finished)
      }
    }
  )
  gauge(
    'pay_reconcile_scheduled_age_seconds',
    'How long ago these times were read from the database: 0, unless it does not answer',
    [],
    async (age) => {
      const found = await scheduled()
      if (found === undefined) age.remove()
      else age.set(found.age)
    }
  )
  const turn = latest(async () => await oldestTurn(knex))
  gauge(
    'shop_import_wait_seconds',
    'How long the import whose turn it is has waited for its next step: 0 if there is none',
    [],
    async (wait) => {
      const found = await turn()
      if (found === undefined) wait.remove()
      // It goes on waiting while the database does not answer.
      else wait.set(found.value === 0 ? 0 : found.value + found.age)
    }
  )
  new prom.Gauge({
    name: 'shop_build_info',
    help: '1: version is that of the server and its tools, node that of Node.js',
    labelNames: ['version', 'node'],
    registers
  })
    .set({ version: TOOLS_VERSION, node: process.version }, 1)
  if (replica !== undefined) measureReplica(prom, registry, replica)
  const metrics = {
    registry,
    requests: counter(
      'http_requests_total',
      'HTTP requests by route template; caller is client, or tool for the inner request of a tool call',
      'method',
      'route',
      'status',
      'caller'
    ),
    toolCalls: counter(
      'mcp_tool_calls_total',
      'Tool calls; outcome is ok, refused, 3xx, 4xx, 5xx, or the reason why the call ended early',
      'tool',
      'outcome'
    ),
    formerNames: counter(
      'mcp_tool_calls_by_former_name_total',
      'Tool calls by a name that the tool no longer has: once there are none, the name can go',
      'tool',
      'former'
    ),
    providerRequests: counter(
      'pay_provider_requests_total',
      'Requests to the payment provider; outcome is ok or the code of the error',
      'operation',
      'outcome'
    ),
    imports: counter(
      'shop_imports_total',
      'Imports that have ended on this replica; outcome is done, failed or cancelled',
      'outcome'
    ),
    keyedCalls: counter(
      'shop_keyed_calls_total',
      'Calls with an Idempotency-Key; outcome is first, repeat, under_way or reused; failures of the first are none',
      'outcome'
    ),
    jobFailures: counter('shop_job_failures_total', 'Failures of work that no caller waits for', 'work'),
    http: histogram(
      'http_request_duration_seconds',
      'Duration of HTTP requests by route template; caller is client, or tool for the inner request of a tool call',
      'method',
      'route',
      'status',
      'caller'
    ),
    tools: histogram(
      'mcp_tool_call_duration_seconds',
      'Duration of tool calls; outcome is ok, refused, 3xx, 4xx, 5xx, or the reason why the call ended early',
      'tool',
      'outcome'
    ),
    auth: counter(
      'auth_attempts_total',
      'Requests to routes that need a credential; method is api-key, machine, user, token for a rejected one, or none',
      'method',
      'outcome'
    ),
    refusals: counter(
      'shop_refusals_total',
      'Requests and tool calls that got 401 or 403, by the code of the error; caller is anybody if it is not known',
      'code',
      'caller'
    ),
    provider: histogram(
      'pay_provider_request_duration_seconds',
      'Duration of requests to the payment provider; outcome is ok or the code of the error',
      'operation',
      'outcome'
    ),
    quota: counter(
      'shop_quota_exceeded_total',
      'Writes that were rejected because the shop has used its quota; quota is records or bytes',
      'quota'
    ),
    keyEvents: counter(
      'api_key_events_total',
      'What happened to API keys; reason says why a key was refused, and is empty for other events',
      'event',
      'reason'
    )
  }
  for (const [method, outcomes] of Object.entries(ATTEMPTS)) {
    for (const outcome of outcomes) metrics.auth.inc({ method, outcome }, 0)
  }
  for (const operation of Object.values(OPERATIONS)) {
    for (const outcome of PROVIDER_OUTCOMES) metrics.providerRequests.inc({ operation, outcome }, 0)
  }
  for (const event of Object.keys(KEY_EVENTS)) metrics.keyEvents.inc({ event, reason: '' }, 0)
  for (const reason of Object.values(REFUSALS)) metrics.keyEvents.inc({ event: 'refused', reason }, 0)
  for (const code of REFUSED_CODES) for (const caller of CALLERS) metrics.refusals.inc({ code, caller }, 0)
  for (const quota of ['records', 'bytes']) metrics.quota.inc({ quota }, 0)
  for (const outcome of IMPORT_ENDS) metrics.imports.inc({ outcome }, 0)
  for (const outcome of KEYED_OUTCOMES) metrics.keyedCalls.inc({ outcome }, 0)
  for (const work of WORK) metrics.jobFailures.inc({ work }, 0)
  return metrics
}

/** Lists of secrets that replicas must have in common, or what one gives out another refuses. */
const SHARED = ['API_KEY_PEPPERS', 'PAY_KEY_SECRETS', 'OAUTH_BROKER_SECRETS', 'OAUTH_BROKER_ASSERTION_KEYS'] as const
type Shared = Pick<Settings, typeof SHARED[number] | 'REDIS_URL'>

/** Adds what the app knows of its own state. Call it once the app has these parts. */
export async function measureState (
  app: FastifyInstance,
  { registry }: Metrics,
  settings: Shared,
  reverts: () => { readonly running: number, readonly waiting: number }
): Promise<void> {
  const { default: prom } = await import('prom-client')
  const gauge = gaugesIn(prom, registry)
  gauge('shop_ready', '1 while calls should be sent here, as /readyz says', [], async (ready) => {
    ready.set((await app.readiness()).ready ? 1 : 0)
  })
  gauge(
    'shop_check_ok',
    '1 while a check of /readyz is ok. Not all of them make the server unready',
    ['check'],
    async (checks) => {
      for (const [check, answer] of Object.entries((await app.readiness()).checks)) {
        checks.set(
          { check },
          answer === 'ok' ? 1 : 0
        )
      }
    }
  )
  if (settings.REDIS_URL !== undefined) {
    const help = '1 while Redis counts calls, 0 while it does not and each server limits alone'
    gauge('shop_redis_up', help, [], async (up) => {
      up.set((await app.readiness()).checks['redis'] === 'ok' ? 1 : 0)
    })
  }
  gauge('shop_reverts', 'Reverts of changes that run, and those that wait for their turn', ['state'], (works) => {
    for (const [state, count] of Object.entries(reverts())) works.set({ state }, count)
  })
  const secrets = new prom.Gauge({
    name: 'shop_secrets_info',
    help: '1: digest is the beginning of a hash of a list of secrets, which replicas must have in common',
    labelNames: ['setting', 'digest'],
    registers: [registry]
  })
  for (const setting of SHARED) {
    const list = [settings[setting] ?? []].flat().join(',')
    if (list !== '') secrets.set({ setting, digest: digest(`${setting} ${list}`).toString('hex').slice(0, 8) }, 1)
  }
}

/** What became of reads at a replica, and how far it is behind. */
function measureReplica (prom: typeof import('prom-client'), registry: Registry, replica: Replica): void {
  registry.registerMetric(
    new prom.Counter({
      name: 'shop_replica_reads_total',
      help: 'Pages of lists and exports that the replica was to serve; outcome is served, or why the primary did: ' +
        'behind, away, conflict, slow or failed',
      labelNames: ['outcome'],
      registers: [],
      collect (this: Counter<'outcome'>) {
        this.reset()
        for (const outcome of OUTCOMES) this.inc({ outcome }, replica.reads[outcome])
      }
    })
  )
  const standing = latest(async () => await replica.standing())
  gaugesIn(prom, registry)(
    'shop_replica_lag_seconds',
    'How long ago the last change that the replica has was committed: 0 if it has all, and none while it does ' +
      'not answer',
    [],
    async (lag) => {
      const found = await standing()
      if (found === undefined || found.age > 0 || !found.value.follows) lag.remove()
      else lag.set(found.value.lag)
    }
  )
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
    reading ??= read().then((value) => {
      last = { value, at: performance.now() }
    }, () => {}).finally(() => {
      reading = undefined
    })
    await Promise.race([reading, sleep(READ_LIMIT, undefined, { ref: false })])
    return last && { value: last.value, age: Math.floor((performance.now() - last.at) / 1000) }
  }
}

interface LastScheduled {
  readonly mode: string
  readonly started: number
  readonly finished: number | null
}

/** The last scheduled times of each mode that was ever scheduled, in seconds since 1970. */
async function lastScheduled (knex: Knex): Promise<readonly LastScheduled[]> {
  return await knex('pay_reconcile_schedule as s').select<LastScheduled[]>(
    's.mode',
    knex.raw('extract(epoch from s.scheduled_for)::float as started'),
    knex.raw(`
    (select extract(epoch from max(r.scheduled_for))::float from pay_reconcile_runs r
      where r.mode = s.mode and r.scheduled_for is not null and r.finished_at is not null) as finished`)
  )
}

/** Counts the writes that exceed a quota. */
export function countQuotas (app: FastifyInstance, { quota }: Metrics): void {
  app.addHook('onError', async (_request, _reply, error) => {
    const exceeded = quotaExceeded(error)
    if (exceeded !== undefined) quota.inc({ quota: exceeded })
  })
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Logs that work failed which no caller waits for, and counts it. */
    jobFailed(work: Work, error: unknown, message: string): void
  }
}

/** Decorates the app with `jobFailed`. */
export function countJobFailures (app: FastifyInstance, metrics: Metrics | undefined): void {
  app.decorate('jobFailed', (work, err, message) => {
    metrics?.jobFailures.inc({ work })
    app.log.error({ err, work }, message)
  })
}

/** Why a key was refused, in the words of the shop. */
export function reasonOf ({ reason }: RefusedEvent): string {
  return REFUSALS[reason]
}

/** For the option `onKeyEvent`. One event may stand for several refusals. */
export function countKeyEvent ({ keyEvents }: Metrics, event: KeyEvent): void {
  keyEvents.inc(
    { event: event.type, reason: event.type === 'refused' ? reasonOf(event) : '' },
    event.type === 'refused' ? event.count : 1
  )
}

/** Measures requests. Register it before anything that may respond, and before the routes. */
export function measureRequests (app: FastifyInstance, { http, requests }: Metrics): void {
  app.addHook('onRoute', ({ method: methods, url: route, schema }) => {
    const callers = schema?.tags?.includes('mcp') ? ['client', 'tool'] : ['client']
    for (const method of [methods].flat().filter((method) => method !== 'HEAD' && METHODS.has(method))) {
      for (const status of STATUSES) for (const caller of callers) requests.inc({ method, route, status, caller }, 0)
    }
  })
  app.addHook('onResponse', async (request, reply) => {
    const labels = {
      method: METHODS.has(request.method) ? request.method : 'other',
      route: request.is404 ? 'none' : request.routeOptions.url ?? 'none',
      status: statusClass(reply.statusCode),
      caller: isInner(request) ? 'tool' : 'client'
    }
    requests.inc(labels)
    http.observe(labels, reply.elapsedTime / 1000)
  })
}

/** Counts accepted and rejected credentials. Register it after the authentication. */
export function countAuthentication (app: FastifyInstance, { auth }: Metrics): void {
  app.addHook('onRequest', async (request) => {
    if (request.identity !== null && !isInner(request)) auth.inc({ method: request.identity.kind, outcome: 'accepted' })
  })
  app.addHook('onError', async (request, _reply, error) => {
    const { code } = error as { code?: string }
    const outcome = AUTH_OUTCOMES[code ?? '']
    if (outcome === undefined || isInner(request)) return
    auth.inc({ method: request.identity?.kind ?? request.presentedCredential().kind, outcome })
  })
}

const AUTH_OUTCOMES: Readonly<Record<string, string>> = {
  DUAL_AUTH_CREDENTIAL_MISSING: 'missing',
  DUAL_AUTH_CREDENTIAL_INVALID: 'refused',
  DUAL_AUTH_OWNER_FORBIDDEN: 'forbidden',
  DUAL_AUTH_SCOPE_INSUFFICIENT: 'forbidden',
  DUAL_AUTH_BUSY: 'unavailable',
  DUAL_AUTH_STORE_UNAVAILABLE: 'unavailable',
  DUAL_AUTH_PROVIDER_UNAVAILABLE: 'unavailable',
  SHOP_RATE_LIMITED: 'limited',
  SHOP_TOO_MANY_CONCURRENT_CALLS: 'limited'
}

/** Counts the refused callers, of a tool call by what its route said. */
export function countRefusals (app: FastifyInstance, { refusals }: Metrics): void {
  app.addHook('onError', async (request, _reply, { code, statusCode }) => {
    if (statusCode !== 401 && statusCode !== 403) return
    refusals.inc({ code: REFUSED_CODES.includes(code) ? code : 'other', caller: calledBy(request).caller })
  })
}

/** Begins the counts of all tools. Register it after mcp-from-routes, which knows them when it is ready. */
export function startToolCounts (
  app: FastifyInstance,
  { toolCalls, formerNames }: Pick<Metrics, 'toolCalls' | 'formerNames'>
): void {
  app.addHook('onReady', async () => {
    for (const { name: tool, formerly = [] } of app.mcpTools) {
      for (const outcome of TOOL_OUTCOMES) toolCalls.inc({ tool, outcome }, 0)
      for (const former of formerly) formerNames.inc({ tool, former }, 0)
    }
  })
}

/** For the option `onToolCall`. */
export function measureToolCall (
  { tools, toolCalls, formerNames }: Pick<Metrics, 'tools' | 'toolCalls' | 'formerNames'>,
  event: ToolCallEvent
): void {
  const { tool: { name: tool }, calledAs } = event
  const labels = { tool, outcome: outcomeOf(event) }
  // One of those that the route declares: nothing else finds the tool.
  if (calledAs !== undefined) formerNames.inc({ tool, former: calledAs })
  toolCalls.inc(labels)
  tools.observe(labels, event.duration / 1000)
}

function outcomeOf ({ ended, isError, statusCode }: ToolCallEvent): string {
  if (ended !== undefined) return labelOfEnd(ended)
  if (!isError) return 'ok'
  return statusCode === undefined ? 'refused' : statusClass(statusCode)
}

function labelOfEnd (end: keyof typeof ENDS): string {
  return end.replace(' ', '_')
}

function statusClass (status: number): string {
  return `${Math.floor(status / 100)}xx`
}

/** The requests to the provider, and their names in labels. */
const OPERATIONS = {
  retrieveCustomer: 'retrieve_customer',
  createCustomer: 'create_customer',
  findByAccount: 'find_by_account',
  listByAccount: 'list_by_account',
  findByEmail: 'find_by_email',
  listCustomers: 'list_customers',
  listEvents: 'list_events'
} as const

/** The same provider, with every request measured. */
export function measuredProvider (inner: PayProvider, { provider, providerRequests }: Metrics): PayProvider {
  const measured = (name: keyof typeof OPERATIONS) => async (call: never): Promise<unknown> => {
    const operation = OPERATIONS[name]
    const time = provider.startTimer({ operation })
    const end = (outcome: string): void => {
      time({ outcome })
      providerRequests.inc({ operation, outcome })
    }
    try {
      const answer = await inner[name]!(call)
      end('ok')
      return answer
    } catch (error) {
      end(isProviderError(error) ? error.code : 'unknown')
      throw error
    }
  }
  const offered = (Object.keys(OPERATIONS) as Array<keyof typeof OPERATIONS>).filter((name) =>
    inner[name] !== undefined
  )
  return {
    comparedFields: inner.comparedFields,
    webhooks: inner.webhooks,
    isSecretKey: (key) => inner.isSecretKey(key),
    isCustomerId: (id) => inner.isCustomerId(id),
    ...Object.fromEntries(offered.map((name) => [name, measured(name)])) as unknown as Pick<
      PayProvider,
      keyof typeof OPERATIONS
    >
  }
}

/** `/metrics`, only with one of its tokens: the load of a server is not public. */
export async function metricsRoute (
  app: FastifyInstance,
  { metrics, tokens }: { readonly metrics: Metrics, readonly tokens: readonly string[] }
): Promise<void> {
  const expected = tokens.map((token) => digest(`Bearer ${token}`))
  app.get('/metrics', {
    config: exempt,
    logLevel: 'warn',
    schema: { hide: true }
  }, async (request: FastifyRequest, reply: FastifyReply) => {
    const sent = digest(request.headers.authorization ?? '')
    if (!expected.some((token) => timingSafeEqual(sent, token))) {
      reply.header('www-authenticate', 'Bearer realm="metrics"')
      throw new SHOP_METRICS_TOKEN()
    }
    return await reply.type(metrics.registry.contentType).header('cache-control', 'no-store').send(
      await metrics.registry.metrics()
    )
  })
}

function digest (text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
