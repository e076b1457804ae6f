import { refusal, type StandInAnswer, type StandInRequest } from './answer.ts'
import { answerCustomers, customerWith, tombstone, type StandInCustomer } from './customers.ts'
import { answerIntents, answerSessions, type StandInObject } from './payments.ts'

/** An answer already given. */
interface Replay {
  readonly request: string
  readonly answer: StandInAnswer
}

/** What one secret key has at the stand-in; no other key sees it. */
export interface StandInAccount {
  readonly customers: Map<string, StandInCustomer>
  readonly intents: Map<string, StandInObject>
  readonly sessions: Map<string, StandInObject>
  /** Answers already given, by idempotency key. */
  readonly replays: Map<string, Replay>
  /** What a restricted key may do: `customers:read`, `customers:write`, `payments:write` …; undefined: all. */
  readonly permissions: readonly string[] | undefined
}

/** What an account starts with. */
export interface StandInAccountOptions {
  /** Customers; each may be a mere `{ id }`. With `deleted: true` only a tombstone is there. */
  readonly customers?: ReadonlyArray<{ readonly id: string, readonly [field: string]: unknown }>
  readonly permissions?: readonly string[]
}

export function accountWith ({ customers = [], permissions }: StandInAccountOptions = {}): StandInAccount {
  const made = customers.map(customer => customer.deleted === true ? tombstone(customer.id) : customerWith(customer))
  return {
    customers: new Map(made.map(customer => [customer.id, customer])),
    intents: new Map(),
    sessions: new Map(),
    replays: new Map(),
    permissions
  }
}

/** Answers a request within an account. A POST with a known idempotency key gets its first answer again. */
export function answerIn (account: StandInAccount, request: StandInRequest): StandInAnswer {
  const permission = `${request.path[0] === 'customers' ? 'customers' : 'payments'}:${request.method === 'GET' ? 'read' : 'write'}`
  if (account.permissions && !account.permissions.includes(permission)) {
    return refusal(403, 'invalid_request_error', `The provided key does not have the required permissions for this endpoint (${permission}).`)
  }
  const known = replayOf(account, request)
  if (known && known.request !== textOf(request)) {
    return refusal(400, 'idempotency_error', 'Keys for idempotent requests can only be used with the same parameters they were first used with.')
  }
  if (known) return { ...known.answer, headers: { 'idempotent-replayed': 'true' } }
  const answer = answerAnew(account, request)
  store(account, request, answer)
  return answer
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

function textOf ({ path, form }: StandInRequest): string {
  return JSON.stringify([path, form])
}

function answerAnew (account: StandInAccount, request: StandInRequest): StandInAnswer {
  return answerKnown(account, request) ??
    refusal(404, 'invalid_request_error', `Unrecognized request URL (${request.method}: /v1/${request.path.join('/')}).`)
}

function answerKnown (account: StandInAccount, request: StandInRequest): StandInAnswer | undefined {
  const [resource, second] = request.path
  if (resource === 'customers') return answerCustomers(account.customers, request)
  if (resource === 'payment_intents') return answerIntents(account.intents, account.customers, request)
  if (resource === 'checkout' && second === 'sessions') return answerSessions(account.sessions, account.customers, request)
  return undefined
}
