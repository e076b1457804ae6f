import { ARRAY, arrayOf, type Complete, isFilled, OBJECT, type Rule, type Table } from '#shared/option-table'
import { settingsBy } from './option-checks.ts'
import { ok, refusal, type StandInResponse, type StandInObject, type StandInRequest } from './response.ts'
import { customerWith, tombstone } from './customers.ts'
import { endpointOf, type Objects } from './endpoints.ts'
import { expanded, expandFault } from './expand.ts'
import { parameterFault } from './parameters.ts'

/** A stored response. */
interface Replay {
  readonly request: string
  readonly response: StandInResponse
}

/** The account of one secret key; no other key sees it. */
export interface StandInAccount extends Objects {
  /** Stored responses by idempotency key. */
  readonly replays: Map<string, Replay>
  /**
   * What a restricted key may do: `customers:read`, `customers:write`, `events:read`, `payments:write` …; undefined:
   * all.
   */
  readonly permissions: readonly string[] | undefined
  readonly requestsPerSecond: number
  /** Times of the requests in the last second, in milliseconds since 1970. */
  readonly recent: number[]
  /** Its connected accounts, by their ids. */
  readonly connected: ReadonlyMap<string, StandInAccount>
}

/** What an account starts with. */
export interface StandInAccountOptions {
  /**
   * How long a search shows the state before a write, in milliseconds. Default 60000, as the provider's usually does;
   * 0: an ideal search.
   */
  readonly searchLag?: number
  /**
   * How long a search shows a deleted customer as if it were alive, in milliseconds. Default 24 hours, as the
   * provider's does; 0: an ideal search.
   */
  readonly deletedSearchLag?: number
  /** More requests than this within a second get 429. Default: no limit. */
  readonly requestsPerSecond?: number
  /**
   * Customers; `{ id }` is enough. `deleted: true` leaves only a tombstone, but a search shows the customer as it was.
   */
  readonly customers?: ReadonlyArray<{ readonly id: string, readonly [field: string]: unknown }>
  readonly permissions?: readonly string[]
  /**
   * Accounts that the key reaches through a `Stripe-Account` or `Stripe-Context` header, by id. They share its
   * permissions and its rate limit.
   */
  readonly connected?: Readonly<
    Record<string, Pick<StandInAccountOptions, 'customers' | 'searchLag' | 'deletedSearchLag'>>
  >
}

/** In milliseconds. */
const [minute, day] = [60_000, 24 * 3_600_000]

/** Infinity is one. */
const ANY: Rule = { holds: (value) => typeof value === 'number' && value >= 0, rule: 'must be a number, at least 0' }

const TABLE: Table<Complete<StandInAccountOptions, 'permissions'>> = {
  searchLag: { ...ANY, default: minute },
  deletedSearchLag: { ...ANY, default: day },
  requestsPerSecond: { ...ANY, default: Infinity },
  customers: { ...ARRAY, default: [] },
  permissions: arrayOf(isFilled, 'permissions'),
  connected: { ...OBJECT, default: {} }
}

export function accountWith (options: StandInAccountOptions = {}): StandInAccount {
  const { customers, permissions, searchLag, deletedSearchLag, requestsPerSecond, connected } = settingsBy(
    TABLE,
    options,
    'account'
  )
  const made = customers.map((customer) => customer.deleted === true ? tombstone(customer.id) : customerWith(customer))
    .sort((one, other) => Number(one.created ?? 0) - Number(other.created ?? 0))
  const account: StandInAccount = {
    customers: new Map(made.map((customer) => [customer.id, customer])),
    unsearchable: new Map(
      customers.filter(({ deleted }) => deleted === true).map((
        { deleted: _, ...before }
      ) => [before.id, { until: Date.now() + deletedSearchLag, before: customerWith(before) }])
    ),
    intents: new Map(),
    sessions: new Map(),
    lineItems: new Map(),
    replays: new Map(),
    events: [],
    permissions,
    searchLag,
    deletedSearchLag,
    requestsPerSecond,
    recent: [],
    connected: new Map()
  }
  const others = Object.entries(connected).map(([id, other]) =>
    [id, { ...accountWith(other), permissions, requestsPerSecond, recent: account.recent }] as const
  )
  return { ...account, connected: new Map(others) }
}

/** Responds to a request within an account. A POST with a known idempotency key gets its stored response. */
export function respond (account: StandInAccount, request: StandInRequest): StandInResponse {
  if (isOverLimit(account)) {
    const { status, body } = refusal(429, 'Request rate limit exceeded.', { code: 'rate_limit' })
    return { status, body, headers: { 'stripe-rate-limited-reason': 'global-rate' } }
  }
  const [endpoint, id] = endpointOf(request) ?? []
  if (!endpoint || id === undefined) {
    return refusal(404, `Unrecognized request URL (${request.method}: /v1/${request.path.join('/')}).`)
  }

  const [resource = ''] = request.path
  const verb = request.method === 'GET' ? 'read' : 'write'
  const { permission, named } = PERMISSIONS_OF[resource] ?? { permission: 'payments', named: 'charge' }
  if (account.permissions && !account.permissions.includes(`${permission}:${verb}`)) {
    return refusal(
      403,
      `The provided key '${request.keyEnd}' does not have the required permissions for this endpoint on account ` +
        "'acct_standin'. " +
        `Having the 'rak_${named}_${verb}' permission would allow this request to continue.`
    )
  }
  // The provider stores no response to a request that it has not begun to execute.
  const fault = parameterFault(request.form, endpoint) ?? expandFault(request.form, endpoint.returns)
  if (fault) return fault

  const known = replayOf(account, request)
  if (known && known.request !== fingerprint(request)) {
    return refusal(
      400,
      'Keys for idempotent requests can only be used with the same parameters they were first used with.',
      { type: 'idempotency_error' }
    )
  }
  if (known) return { ...known.response, headers: { 'idempotent-replayed': 'true' } }
  const { status, body } = endpoint.answer(account, request, id)
  const response = status === 200
    ? ok(expanded(account, endpoint.returns, body as StandInObject, request.form))
    : { status, body }
  store(account, request, response)
  return response
}

/** What the endpoints of a resource need, by the stand-in's name and by the provider's. */
const PERMISSIONS_OF: Readonly<Record<string, { readonly permission: string, readonly named: string }>> = {
  customers: { permission: 'customers', named: 'customer' },
  events: { permission: 'events', named: 'event' },
  payment_intents: { permission: 'payments', named: 'payment_intent' },
  checkout: { permission: 'payments', named: 'checkout_session' }
}

/**
 * The account of a request: the key's, or the one in its `Stripe-Account` or `Stripe-Context` header. The key of an
 * organization has no account of its own.
 */
export function accountFor (
  account: StandInAccount,
  connectedId: string | undefined,
  isOrganization: boolean
): StandInAccount | StandInResponse {
  if (connectedId === undefined && isOrganization) {
    return refusal(400, 'The Stripe-Context header is required for requests with an organization API key.')
  }
  if (connectedId === undefined) return account
  return account.connected.get(connectedId) ??
    refusal(
      403,
      `The provided key does not have access to account '${connectedId}' (or that account does not exist). ` +
        'Application access may have been revoked.',
      { code: 'account_invalid' }
    )
}

/** The stored response for the idempotency key of a request. */
export function replayOf ({ replays }: StandInAccount, { method, idempotencyKey }: StandInRequest): Replay | undefined {
  return method === 'POST' && idempotencyKey !== undefined ? replays.get(idempotencyKey) : undefined
}

/** Stores the response to a POST under its idempotency key, even a failure of the stand-in. */
export function store ({ replays }: StandInAccount, request: StandInRequest, response: StandInResponse): void {
  const { method, idempotencyKey } = request
  if (method === 'POST' && idempotencyKey !== undefined) {
    replays.set(idempotencyKey, { request: fingerprint(request), response })
  }
}

function isOverLimit ({ requestsPerSecond, recent }: StandInAccount): boolean {
  if (requestsPerSecond === Infinity) return false
  const now = Date.now()
  while (recent[0] !== undefined && recent[0] <= now - 1000) recent.shift()
  if (recent.length >= requestsPerSecond) return true
  recent.push(now)
  return false
}

function fingerprint ({ path, form }: StandInRequest): string {
  return JSON.stringify([path, form])
}
