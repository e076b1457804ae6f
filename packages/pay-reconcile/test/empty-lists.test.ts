import t from 'tap'
import { orphansOf } from '../src/customers/orphans.ts'
import type { Sources } from '../src/customers/types.ts'
import { reconcileAccount, type AccountWork } from '../src/reconcile/account.ts'

const direct = (_key: string, _caller: unknown, attempt: (signal: AbortSignal) => unknown) => attempt(new AbortController().signal)

/** A store that knows nobody, and what it was asked. */
function store () {
  const asked: string[] = []
  const answer = <T>(name: string, value: T) => async () => { asked.push(name); return value }
  return {
    asked,
    accounts: {
      shops: async () => [{ shopId: 's', accounts: 1 }],
      secretKey: async () => 'key',
      linkedCustomers: answer('linkedCustomers', new Set()),
      linkedElsewhere: answer('linkedElsewhere', []),
      accountsLike: answer('accountsLike', [])
    }
  }
}

t.test('a store is not asked about no customers: orphans', async t => {
  for (const [customers, wanted] of [
    [[], []],
    [[{ id: 'cus_1', deleted: true }], ['linkedCustomers', 'linkedElsewhere']],
    [[{ id: 'cus_1' }], ['linkedCustomers', 'linkedElsewhere']],
    [[{ id: 'cus_1', email: 'ada@example.org' }], ['linkedCustomers', 'linkedElsewhere', 'accountsLike']],
    [[{ id: 'cus_1', metadata: { account_id: 'a' } }], ['linkedCustomers', 'linkedElsewhere', 'accountsLike']]
  ] as const) {
    const { accounts, asked } = store()
    const provider = { isSecretKey: () => true, listCustomers: async () => ({ value: { customers, more: false } }) }
    const { next } = await orphansOf({ accounts, provider, call: direct } as unknown as Sources, 's', undefined, undefined)
    t.strictSame([asked, next], [wanted, null], JSON.stringify(customers))
  }
})

t.test('an empty page of customers that is not the last is no end of the orphans: it is a fault of the provider', async t => {
  const provider = { isSecretKey: () => true, listCustomers: async () => ({ value: { customers: [], more: true } }) }
  await t.rejects(orphansOf({ ...store(), provider, call: direct } as unknown as Sources, 's', 'cus_1', undefined), { code: 'PAY_RECONCILE_PROVIDER_LIST_REPEATS' })
})

t.test('a store is not asked about no customers: an account that none matches', async t => {
  const { accounts, asked } = store()
  const work = {
    sources: { accounts, provider: { findByAccount: async () => ({ value: [], requestId: 'req_1' }) }, call: direct },
    run: { mode: 'link', dryRun: false },
    targets: null,
    secretKey: 'key',
    emailOf: () => undefined,
    caller: {}
  }
  const account = { id: 'a', shopId: 's', shopName: 'Shop', name: 'Ada', hashName: null, details: {} }
  t.match(await reconcileAccount(work as unknown as AccountWork, { account, duplicate: false, changedByRun: false }), { outcome: 'unmatched' })
  t.strictSame(asked, [])
})
