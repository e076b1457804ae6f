import { refusal, type StandInAnswer, type StandInRequest } from './answer.ts'
import { answerCustomers, customerWith, tombstone, type StandInCustomer } from './customers.ts'
import { answerIntents, answerSessions, type StandInObject } from './payments.ts'

/** What one secret key has at the stand-in; no other key sees it. */
export interface StandInAccount {
  readonly customers: Map<string, StandInCustomer>
  readonly intents: Map<string, StandInObject>
  readonly sessions: Map<string, StandInObject>
  /** Answers already given, by idempotency key. */
  readonly replays: Map<string, { readonly request: string, readonly answer: StandInAnswer }>
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
export function answerIn (account: StandInAccount, request: StandInRequest, idempotencyKey: string | undefined): StandInAnswer {
  const permission = `${request.path[0] === 'customers' ? 'customers' : 'payments'}:${request.method === 'GET' ? 'read' : 'write'}`
  if (account.permissions && !account.permissions.includes(permission)) {
    return refusal(403, 'invalid_request_error', `The provided key does not have the required permissions for this endpoint (${permission}).`)
  }
  if (idempotencyKey === undefined || request.method !== 'POST') return answerAnew(account, request)

  const text = JSON.stringify([request.path, request.form])
  const known = account.replays.get(idempotencyKey)
  if (known && known.request !== text) {
    return refusal(400, 'idempotency_error', 'Keys for idempotent requests can only be used with the same parameters they were first used with.')
  }
  if (known) return { ...known.answer, headers: { 'idempotent-replayed': 'true' } }
  const answer = answerAnew(account, request)
  account.replays.set(idempotencyKey, { request: text, answer })
  return answer
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
