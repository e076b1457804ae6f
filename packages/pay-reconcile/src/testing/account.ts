import { ok, refusal, type StandInAnswer, type StandInObject, type StandInRequest } from './answer.ts'
import { customerWith, tombstone } from './customers.ts'
import { endpointOf, type Objects } from './endpoints.ts'
import { expanded, expandFault } from './expand.ts'
import { parameterFault } from './parameters.ts'

/** An answer already given. */
interface Replay {
  readonly request: string
  readonly answer: StandInAnswer
}

/** What one secret key has at the stand-in; no other key sees it. */
export interface StandInAccount extends Objects {
  /** Answers already given, by idempotency key. */
  readonly replays: Map<string, Replay>
  /** What a restricted key may do: `customers:read`, `customers:write`, `payments:write` …; undefined: all. */
  readonly permissions: readonly string[] | undefined
  readonly requestsPerSecond: number
  /** When the requests of the last second came, in milliseconds since 1970. */
  readonly recent: number[]
  /** Its connected accounts, by their ids. */
  readonly connected: ReadonlyMap<string, StandInAccount>
}

/** What an account starts with. */
export interface StandInAccountOptions {
  /** Milliseconds after which a search shows what was created, changed or deleted. Default 0. */
  readonly searchLagMs?: number
  /** More requests than this within a second get 429. Default: no limit. */
  readonly requestsPerSecond?: number
  /** Customers; each may be a mere `{ id }`. With `deleted: true` only a tombstone is there. */
  readonly customers?: ReadonlyArray<{ readonly id: string, readonly [field: string]: unknown }>
  readonly permissions?: readonly string[]
  /** Accounts that the key reaches with a `Stripe-Account` header, by their ids. They share its permissions and its rate limit. */
  readonly connected?: Readonly<Record<string, Pick<StandInAccountOptions, 'customers' | 'searchLagMs'>>>
}

export function accountWith (options: StandInAccountOptions = {}): StandInAccount {
  const { customers = [], permissions, searchLagMs = 0, requestsPerSecond = Infinity, connected = {} } = options
  const made = customers.map(customer => customer.deleted === true ? tombstone(customer.id) : customerWith(customer))
    .sort((one, other) => Number(one.created ?? 0) - Number(other.created ?? 0))
  const account: StandInAccount = {
    customers: new Map(made.map(customer => [customer.id, customer])),
    unsearchable: new Map(),
    intents: new Map(),
    sessions: new Map(),
    lineItems: new Map(),
    replays: new Map(),
    permissions,
    searchLagMs,
    requestsPerSecond,
    recent: [],
    connected: new Map()
  }
  const others = Object.entries(connected).map(([id, other]) =>
    [id, { ...accountWith(other), permissions, requestsPerSecond, recent: account.recent }] as const)
  return { ...account, connected: new Map(others) }
}

/** Answers a request within an account. A POST with a known idempotency key gets its first answer again. */
export function answerIn (account: StandInAccount, request: StandInRequest): StandInAnswer {
  if (isOverLimit(account)) {
    const { status, body } = refusal(429, 'Request rate limit exceeded.', { code: 'rate_limit' })
    return { status, body, headers: { 'stripe-rate-limited-reason': 'global-rate' } }
  }
  const [endpoint, id] = endpointOf(request) ?? []
  if (!endpoint || id === undefined) return refusal(404, `Unrecognized request URL (${request.method}: /v1/${request.path.join('/')}).`)

  const permission = `${request.path[0] === 'customers' ? 'customers' : 'payments'}:${request.method === 'GET' ? 'read' : 'write'}`
  if (account.permissions && !account.permissions.includes(permission)) {
    return refusal(403, `The provided key does not have the required permissions for this endpoint (${permission}).`)
  }
  // The provider stores no answer to a request that it has not begun to execute.
  const fault = parameterFault(request.form, endpoint) ?? expandFault(request.form, endpoint.returns)
  if (fault) return fault

  const known = replayOf(account, request)
  if (known && known.request !== textOf(request)) {
    return refusal(400, 'Keys for idempotent requests can only be used with the same parameters they were first used with.', { type: 'idempotency_error' })
  }
  if (known) return { ...known.answer, headers: { 'idempotent-replayed': 'true' } }
  const { status, body } = endpoint.answer(account, request, id)
  const answer = status === 200 ? ok(expanded(account, endpoint.returns, body as StandInObject, request.form)) : { status, body }
  store(account, request, answer)
  return answer
}

/** The account that a request is for: that of the key, or the connected one that its `Stripe-Account` header names. */
export function accountFor (account: StandInAccount, connectedId: string | undefined): StandInAccount | StandInAnswer {
  if (connectedId === undefined) return account
  return account.connected.get(connectedId) ?? refusal(403,
    `The provided key does not have access to account '${connectedId}' (or that account does not exist). Application access may have been revoked.`,
    { code: 'account_invalid' })
}

/** What is stored under the idempotency key of a request. */
export function replayOf ({ replays }: StandInAccount, { method, idempotencyKey }: StandInRequest): Replay | undefined {
  return method === 'POST' && idempotencyKey !== undefined ? replays.get(idempotencyKey) : undefined
}

/** Stores the first answer to a POST under its idempotency key, a failure of the stand-in's own like any other. */
export function store ({ replays }: StandInAccount, request: StandInRequest, answer: StandInAnswer): void {
  const { method, idempotencyKey } = request
  if (method === 'POST' && idempotencyKey !== undefined) replays.set(idempotencyKey, { request: textOf(request), answer })
}

function isOverLimit ({ requestsPerSecond, recent }: StandInAccount): boolean {
  if (requestsPerSecond === Infinity) return false
  const now = Date.now()
  while (recent[0] !== undefined && recent[0] <= now - 1000) recent.shift()
  if (recent.length >= requestsPerSecond) return true
  recent.push(now)
  return false
}

function textOf ({ path, form }: StandInRequest): string {
  return JSON.stringify([path, form])
}
