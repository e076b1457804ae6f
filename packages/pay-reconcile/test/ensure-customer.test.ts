import t from 'tap'
import { ensureCustomer } from '../src/customers/ensure.ts'
import { orphanFrom, orphansOf } from '../src/customers/orphans.ts'
import type { Sources } from '../src/customers/types.ts'
import { isProviderError, providerError } from '../src/errors.ts'
import type { Account } from '../src/types.ts'
import { standingTime } from './time.ts'

const account = (id: string, details: Account['details'] = {}) => ({ id, shopId: 's', shopName: 'Shop', name: 'Ada', hashName: null, details })
const caller = { actor: 'buyer-1', requestId: 'req-1', runId: null }
const direct = (_key: string, caller: AbortSignal | undefined, attempt: (signal: AbortSignal) => unknown) => attempt(caller ?? new AbortController().signal)
/** A customer of the account. */
const customer = (id: string, more: object = {}) => ({ id, metadata: { account_id: 'a/1' }, ...more })
const found = (...ids: string[]) => ({ value: ids.map(id => customer(id)), requestId: 'req_found' })

type Call = Readonly<Record<string, unknown>>

/** A provider that says these things, and what it was asked. */
function provider (says: { create?: (key: string) => object, byEmail?: object, bySearch?: () => object, recent?: object, customer?: object | ((id: string) => object) } = {}) {
  const asked: unknown[] = []
  return {
    asked,
    isSecretKey: () => true,
    isCustomerId: () => true,
    async createCustomer ({ idempotencyKey, accountId, name, email }: Call) { asked.push(['create', idempotencyKey, accountId, name, email]); return says.create?.(String(idempotencyKey)) ?? { value: customer('cus_new'), requestId: 'req_new' } },
    async listByAccount ({ email, since }: Call) { asked.push(['list', email ?? Date.now() - (since as Date).getTime()]); return (email ? says.byEmail : says.recent) ?? found() },
    async findByAccount () { asked.push(['search']); return says.bySearch?.() ?? found() },
    async retrieveCustomer ({ customerId }: Call) { asked.push(['retrieve', customerId]); return { value: typeof says.customer === 'function' ? says.customer(String(customerId)) : says.customer ?? customer(String(customerId)), requestId: null } }
  }
}

async function ensured (of: ReturnType<typeof provider>, { wanted = {}, details = {}, store = {} }: { wanted?: object, details?: Account['details'], store?: object } = {}) {
  const links: unknown[] = []
  const accounts = {
    get: async (id: string) => account(id.toLowerCase(), details),
    secretKey: async () => 'key',
    linkedCustomers: async () => new Set(),
    linkedElsewhere: async () => [],
    link: async (change: { accountId: string, customerId: string }, origin: object) => { links.push([change, origin]); return { changed: true, account: account(change.accountId, { pay_customer_id: change.customerId }) } },
    ...store
  }
  const result = await ensureCustomer({ accounts, provider: of, call: direct } as unknown as Sources, { accountId: 'A/1', ...wanted }, caller)
    .catch(error => isProviderError(error) ? error.fault : error.code)
  return { result, links, asked: of.asked }
}

t.test('a customer is looked for, then created under the id as the database writes it', async t => {
  t.strictSame(await ensured(provider(), { wanted: { name: 'Ada', email: 'ada@example.org' } }), {
    result: { customerId: 'cus_new', created: true },
    links: [[{ action: 'create', accountId: 'a/1', customerId: 'cus_new', expected: null }, { actor: 'buyer-1', requestId: 'req-1', runId: null, providerRequestId: 'req_new' }]],
    asked: [['list', 'ada@example.org'], ['search'], ['create', 'account:a%2F1', 'a/1', 'Ada', 'ada@example.org']]
  })
  t.match(await ensured(provider(), { wanted: { email: '' } }), { asked: [['search'], ['create', 'account:a%2F1']] }, 'an empty address is none')
  for (const [title, says, result, asked] of [
    ['by its address', { byEmail: found('cus_1') }, { customerId: 'cus_1' }, [['list', 'ada@example.org']]],
    ['by a search', { bySearch: () => found('cus_1') }, { customerId: 'cus_1' }, [['list', 'ada@example.org'], ['search'], ['retrieve', 'cus_1']]],
    ['of several, a person must choose', { byEmail: found('cus_1', 'cus_2') }, 'PAY_RECONCILE_CUSTOMER_AMBIGUOUS', [['list', 'ada@example.org']]],
    ['what a search shows is read: deleted, unknown and moved ones do not count', {
      bySearch: () => found('cus_gone', 'cus_moved', 'cus_nowhere', 'cus_1', 'cus_1'),
      customer: (id: string) => {
        if (id === 'cus_nowhere') throw providerError('customer_not_found')
        return customer(id, id === 'cus_gone' ? { deleted: true } : id === 'cus_moved' ? { metadata: { account_id: 'b' } } : {})
      }
    }, { customerId: 'cus_1' }, [['list', 'ada@example.org'], ['search'], ['retrieve', 'cus_gone'], ['retrieve', 'cus_moved'], ['retrieve', 'cus_nowhere'], ['retrieve', 'cus_1']]],
    ['a search that fails', { bySearch: () => { throw providerError('error') } }, 'error', [['list', 'ada@example.org'], ['search']]],
    ['no search', { bySearch: () => { throw providerError('refused') } }, { customerId: 'cus_new' }, [['list', 'ada@example.org'], ['search'], ['create']]]
  ] as const) {
    const { links, ...seen } = await ensured(provider(says), { wanted: { email: 'ada@example.org' } })
    t.match(seen, { result, asked }, title)
    t.equal(seen.asked.length, asked.length)
    if (typeof result === 'object' && result.customerId === 'cus_1') t.match(links, [[{ customerId: 'cus_1' }, { providerRequestId: 'req_found' }]])
  }
})

t.test('an account that has a customer keeps it, unless it was deleted', async t => {
  const details = { pay_customer_id: 'cus_old' }
  t.strictSame(await ensured(provider(), { details }), { result: { customerId: 'cus_old', created: false }, links: [], asked: [['retrieve', 'cus_old']] })
  t.match(await ensured(provider({ customer: { id: 'cus_old', deleted: true } }), { details }), {
    result: { customerId: 'cus_new', created: true }, links: [[{ customerId: 'cus_new', expected: 'cus_old' }]]
  })
  const other = { link: async () => ({ changed: false, account: account('a/1', { pay_customer_id: 'cus_other' }) }) }
  t.match(await ensured(provider(), { store: other }), { result: { customerId: 'cus_other', created: false } }, 'what another checkout linked meanwhile counts')
  for (const store of [{ get: async () => undefined }, { link: async () => ({ changed: false, account: undefined }) }]) {
    t.equal((await ensured(provider(), { store })).result, 'PAY_RECONCILE_ACCOUNT_NOT_FOUND')
  }
})

const key = (number: number) => number === 1 ? 'account:a%2F1' : `account:a%2F1:${number}`
const keysOf = (asked: readonly unknown[]) => asked.flatMap(call => (call as unknown[])[0] === 'create' ? [(call as unknown[])[1]] : [])
const replayed = () => { throw providerError('error', { replayed: true }) }
const keys = (count: number) => Array.from({ length: count }, (_, n) => key(n + 1))

t.test('under ten keys in turn', async t => {
  standingTime(t)
  const failed = (number: number) => (given: string) => given === key(number) ? undefined! : replayed()
  for (const [title, create, result, count] of [
    ['the next key is for what the provider has stored as failed', failed(2), { customerId: 'cus_new' }, 2],
    ['up to the tenth', failed(10), { customerId: 'cus_new' }, 10],
    ['and no further', failed(11), 'error', 10],
    ['a failure of now ends it', () => { throw providerError('error') }, 'error', 1],
    ['so does a refusal', () => { throw providerError('refused') }, 'refused', 1]
  ] as const) {
    const seen = await ensured(provider({ create }))
    t.match(seen, { result }, title)
    t.strictSame(keysOf(seen.asked), keys(count), title)
  }
  const recent = await ensured(provider({ create: replayed, recent: found('cus_recent') }))
  t.match(recent, { result: { customerId: 'cus_recent' } }, 'what the failed request created is found')
  t.strictSame(recent.asked, [['search'], ['create', key(1), 'a/1', undefined, undefined], ['list', 2 * 3_600_000]], 'among the customers of two hours')
  t.equal((await ensured(provider({ create: replayed, recent: found('cus_1', 'cus_2') }))).result, 'PAY_RECONCILE_CUSTOMER_AMBIGUOUS')
})

t.test('a stored success is read: the customer may have been deleted since', async t => {
  const stored = () => ({ value: customer('cus_stored'), requestId: 'req_stored', replayed: true })
  const alive = await ensured(provider({ create: stored }))
  t.match(alive, { result: { customerId: 'cus_stored', created: true }, links: [[{}, { providerRequestId: 'req_stored' }]] })
  t.strictSame(alive.asked.at(-1), ['retrieve', 'cus_stored'])
  const deleted = await ensured(provider({ create: stored, customer: { id: 'cus_stored', deleted: true } }))
  t.equal(deleted.result, 'refused', 'all ten are used up')
  t.strictSame(keysOf(deleted.asked), keys(10))
})

t.test('a stored failure that comes after one of now leaves the other keys to later checkouts', async t => {
  // Each request of a checkout may be made twice: the first attempt fails, the second gets what was stored.
  const now = new Set<string>()
  const of = provider()
  const call: Sources['call'] = async (_key, _caller, attempt) => {
    const { signal } = new AbortController()
    return await attempt(signal).catch(async () => await attempt(signal))
  }
  of.createCustomer = async ({ idempotencyKey }) => {
    of.asked.push(['create', idempotencyKey])
    const isFirst = !now.has(String(idempotencyKey))
    now.add(String(idempotencyKey))
    throw providerError('error', { replayed: !isFirst })
  }
  const accounts = { get: async (id: string) => account(id), secretKey: async () => 'key' }
  await t.rejects(ensureCustomer({ accounts, provider: of, call } as unknown as Sources, { accountId: 'a/1' }, caller), { code: 'PAY_RECONCILE_PROVIDER_ERROR' })
  t.strictSame(keysOf(of.asked), [key(1), key(1), key(2), key(2)], 'the first may have been temporary')
})

t.test('a customer may belong to ten accounts', async t => {
  const candidates = Array.from({ length: 12 }, (_, n) => account(String(n), { email: 'ada@example.org' }))
  t.strictSame(orphanFrom({ id: 'cus_1', email: 'ada@example.org', metadata: { account_id: '11' } }, candidates).accounts.map(({ account: { id }, match }) => `${id} ${match}`),
    ['11 metadata', ...Array.from({ length: 9 }, (_, n) => `${n} email`)], 'the one that it names first')
  for (const [customer, matches] of [
    [{ email: 'ADA@example.org' }, 10], [{ email: 'ada@example.com' }, 0], [{ email: '' }, 0], [{ email: 'ada@example.org\0' }, 0], [{ metadata: { account_id: 7 } }, 0], [{ metadata: null }, 0], [{ metadata: 'account_id' }, 0], [{ metadata: { account_id: '7' } }, 1]
  ] as const) t.equal(orphanFrom({ id: 'cus_1', ...customer }, candidates).accounts.length, matches, JSON.stringify(customer))
  t.match(orphanFrom({ id: 'cus_1', name: '', email: 'n'.repeat(300) }, []), { name: null, email: `${'n'.repeat(199)}…` })
})

t.test('orphans: a key of another shop that cannot be read hides nothing of this one', async t => {
  const of = { isSecretKey: () => true, listCustomers: async () => ({ value: { customers: [{ id: 'cus_1', metadata: { account_id: 'a' } }, { id: 'cus_2' }, { id: 'cus_3' }], more: true } }) }
  const asked: unknown[] = []
  const accounts = {
    shops: async () => [{ shopId: 's', accounts: 1 }],
    secretKey: async (shopId: string) => { if (shopId === 'sealed') throw new RangeError('sealed'); return 'key' },
    linkedCustomers: async () => new Set(),
    linkedElsewhere: async () => [{ shopId: 'sealed', customerId: 'cus_1' }, { shopId: 'same', customerId: 'cus_2' }],
    accountsLike: async (...given: unknown[]) => { asked.push(given); return [account('a')] }
  }
  const { orphans, next } = await orphansOf({ accounts, provider: of, call: direct } as unknown as Sources, 's', undefined, undefined)
  t.match([orphans, next], [[{ customerId: 'cus_1', accounts: [{ match: 'metadata' }] }, { customerId: 'cus_3', accounts: [] }], 'cus_3'])
  t.strictSame(asked, [['s', ['a'], []]])
})
