import t from 'tap'
import { syncCustomer } from '../src/customers/snapshot.ts'
import type { Sources } from '../src/customers/types.ts'
import { targetsFrom } from '../src/reconcile/accept.ts'
import { reconcileAccount, type AccountWork } from '../src/reconcile/account.ts'
import { acceptedItem, itemOf, itemWithoutCall, linkItem } from '../src/reconcile/item.ts'
import type { Item, Mode } from '../src/reconcile/types.ts'
import type { Account } from '../src/types.ts'

const account = (details: Account['details'] = {}, name = 'Ada'): Account => ({ id: 'a', shopId: 's', shopName: 'Shop', name, hashName: null, details })
const linked = { pay_customer_id: 'cus_1' }
const candidate = { customerId: 'cus_1', match: 'email', name: 'Ada', email: 'ada@example.org', linked: false } as const
const direct = (_key: string, caller: AbortSignal, attempt: (signal: AbortSignal) => unknown) => attempt(caller)

t.test('an item has names that are cut, and the customer before and after', async t => {
  t.strictSame(itemOf({ ...account(linked, 'n'.repeat(300)), shopName: 's'.repeat(300) }, 'synced', { after: null, reason: 'x' }), {
    accountId: 'a',
    accountName: `${'n'.repeat(199)}…`,
    shopId: 's',
    shopName: `${'s'.repeat(199)}…`,
    outcome: 'synced',
    before: 'cus_1',
    after: null,
    reason: 'x',
    drift: [],
    differences: [],
    candidates: [],
    errorCode: null,
    providerRequestId: null
  })
})

t.test('which accounts need no call to the provider', async t => {
  const target = { customerId: 'cus_2', accountName: 'Ada', candidate: null }
  for (const [mode, details, more, wanted] of [
    ['link', linked, {}, ['unchanged', null, 'cus_1', 'cus_1']], ['link', {}, {}, undefined], ['link', linked, { target }, ['skipped', 'changed_meanwhile', 'cus_1', 'cus_1']],
    ['link', linked, { target: { ...target, customerId: 'cus_1' } }, ['unchanged', null, 'cus_1', 'cus_1']],
    ['sync', linked, {}, undefined], ['sync', {}, {}, ['skipped', 'no_customer_id', null, null]], ['changes', linked, {}, undefined], ['changes', {}, {}, ['skipped', 'no_customer_id', null, null]],
    ['check', linked, {}, undefined], ['check', {}, {}, ['drifted', null, null, null, 'missing']],
    ['unlink', linked, {}, ['unlinked', null, 'cus_1', null]], ['unlink', {}, {}, ['unchanged', null, null, null]], ['unlink', linked, { target }, ['skipped', 'changed_meanwhile', 'cus_1', 'cus_1']],
    ['link', linked, { changedByRun: true }, ['linked', 'before_interruption', null, 'cus_1']], ['sync', linked, { changedByRun: true }, ['synced', 'before_interruption', null, 'cus_1']],
    ['changes', linked, { changedByRun: true }, ['synced', 'before_interruption', null, 'cus_1']], ['unlink', {}, { changedByRun: true }, ['unlinked', 'before_interruption', null, null]]
  ] as ReadonlyArray<readonly [Mode, Account['details'], { target?: typeof target, changedByRun?: true }, readonly unknown[] | undefined]>) {
    const item = itemWithoutCall(mode, { account: account(details), duplicate: false, changedByRun: more.changedByRun ?? false }, more.target)
    t.strictSame(item && [item.outcome, item.reason, item.before, item.after, ...item.drift], wanted, `${mode} ${JSON.stringify({ ...details, ...more })}`)
  }
})

t.test('at most ten candidates', async t => {
  const customers = Array.from({ length: 11 }, (_, n) => ({ id: `cus_${n}` }))
  for (const matches of [{ byAccount: customers, byEmail: [] }, { byAccount: [], byEmail: customers }]) t.equal(linkItem(account(), { ...matches, searchRefused: false, providerRequestId: null }, new Set()).candidates.length, 10)
})

t.test('a suggestion counts as it was shown', async t => {
  const suggested = itemOf(account(), 'suggested', { reason: 'email', candidates: [candidate] })
  const target = { customerId: 'cus_1', accountName: 'Ada', candidate }
  for (const [title, of, item, wanted] of [
    ['the same', account(), suggested, ['linked', 'accepted', 'cus_1', 0]],
    ['linked by its metadata', account(), itemOf(account(), 'linked', { after: 'cus_1', reason: 'metadata' }), ['linked', 'metadata', 'cus_1', 0]],
    ['another one by its metadata', account(), itemOf(account(), 'linked', { after: 'cus_2', reason: 'metadata' }), ['skipped', 'changed_meanwhile', null, 0]],
    ['linked by another account', account(), { ...suggested, candidates: [{ ...candidate, linked: true }] }, ['skipped', 'linked_to_another_account', null, 1]],
    ['a second candidate', account(), { ...suggested, candidates: [candidate, candidate] }, ['skipped', 'changed_meanwhile', null, 2]],
    ['another name of the customer', account(), { ...suggested, candidates: [{ ...candidate, name: 'Eve' }] }, ['skipped', 'changed_meanwhile', null, 1]],
    ['another name of the account', account({}, 'Eve'), suggested, ['skipped', 'changed_meanwhile', null, 1]],
    ['nothing', account(), itemOf(account(), 'unmatched'), ['skipped', 'changed_meanwhile', null, 0]]
  ] as const) {
    const { outcome, reason, after, candidates } = acceptedItem(of, item, target)
    t.strictSame([outcome, reason, after, candidates.length], wanted, title)
  }
})

t.test('what can be accepted', async t => {
  const item = (id: string, fields: object = {}) => ({ ...itemOf(account(), 'suggested', { candidates: [candidate] }), accountId: `of ${id}`, id, ...fields }) as Item
  const other = { candidates: [{ ...candidate, customerId: 'cus_2' }] }
  const items = [
    item('1'), item('2', other), item('3'), item('4', { ...other, accountId: 'of 1' }), item('5', { candidates: [candidate, candidate] }), item('6', { outcome: 'ambiguous' }), item('7', { shopId: 'other' }),
    item('8', { after: 'cus_8' }), item('9', { after: 'cus_8' }), item('10', { candidates: [] })
  ]
  const target = (customerId: string, of: object | null) => ({ customerId, accountName: 'Ada', candidate: of })
  for (const [mode, ids, shopId, wanted] of [
    ['link', ['1', '2', '1'], 's', { 'of 1': target('cus_1', candidate), 'of 2': target('cus_2', other.candidates[0]!) }],
    ['link', ['1', '7'], null, { 'of 1': target('cus_1', candidate), 'of 7': target('cus_1', candidate) }],
    ['unlink', ['8', '9'], 's', { 'of 8': target('cus_8', null), 'of 9': target('cus_8', null) }],
    ['link', ['1', '11'], 's', 'accept.1 is not the id of an item of the shop'], ['link', ['11'], null, 'accept.0 is not the id of an item'], ['link', ['7'], 's', 'accept.0 is not the id of an item of the shop'],
    ['link', ['1', '5'], 's', 'accept.1 is not a suggestion of one customer'], ['link', ['6'], 's', 'accept.0 is not a suggestion of one customer'], ['link', ['10'], 's', 'accept.0 is not a suggestion of one customer'],
    ['unlink', ['8', '1'], 's', 'accept.1 has no customer to unlink'],
    ['link', ['1', '4'], 's', 'accept.1 is about the same account as another item'], ['link', ['2', '1', '3'], 's', 'accept.2 suggests the same customer as accept.1']
  ] as const) {
    const targets = () => targetsFrom(mode, ids, items, shopId)
    if (typeof wanted === 'string') t.throws(targets, { code: 'PAY_RECONCILE_VALIDATION', field: wanted.split(' ')[0]!.replace('.', '/'), message: wanted })
    else t.strictSame(targets(), wanted, ids.join())
  }
})

t.test('what somebody else changes during a run stays', async t => {
  const work = (mode: Mode, store: object, more: object = {}) => ({
    sources: {
      accounts: { linkedCustomers: async () => new Set(), linkedElsewhere: async () => [], ...store },
      provider: {
        isCustomerId: () => true,
        retrieveCustomer: async () => ({ value: { id: 'cus_1', metadata: { account_id: 'a' } }, requestId: 'req_1' }),
        findByAccount: async () => ({ value: [{ id: 'cus_1' }], requestId: 'req_1' })
      },
      call: direct
    },
    run: { id: 'r', mode, dryRun: false },
    targets: null,
    secretKey: 'key',
    emailOf: () => undefined,
    driftFields: undefined,
    caller: { actor: 'user-1', requestId: 'req-1', runId: 'r' },
    ...more
  }) as unknown as AccountWork
  const by = { actor: 'user-1', requestId: 'req-1', runId: 'r' }
  for (const [mode, details, result, wanted, given] of [
    ['link', {}, { account: account(linked) }, ['linked', 'metadata', null, 'cus_1'], [{ action: 'link', accountId: 'a', customerId: 'cus_1', expected: null }, { ...by, providerRequestId: 'req_1' }]],
    ['link', {}, { account: account({ pay_customer_id: 'cus_2' }) }, ['skipped', 'linked_meanwhile', null, 'cus_2']],
    ['link', {}, { account: undefined }, ['skipped', 'linked_meanwhile', null, null]],
    ['unlink', linked, { changed: true }, ['unlinked', null, 'cus_1', null], [{ accountId: 'a', expected: 'cus_1' }, { ...by, providerRequestId: null }]],
    ['unlink', linked, { changed: false }, ['skipped', 'changed_meanwhile', 'cus_1', null]],
    ['sync', linked, { account: account({ ...linked, pay_synced_at: '2026-01-01T00:00:00.000Z' }) }, ['synced', null, 'cus_1', 'cus_1']],
    ['sync', linked, { account: account(linked) }, ['skipped', 'relinked_meanwhile', 'cus_1', 'cus_1']],
    ['sync', linked, { account: account({ pay_customer_id: 'cus_2' }) }, ['skipped', 'relinked_meanwhile', 'cus_1', 'cus_1']]
  ] as const) {
    const calls: unknown[][] = []
    const write = async (...args: unknown[]) => { calls.push(args); return result }
    const scanned = { account: account(details), duplicate: false, changedByRun: false }
    const item = await reconcileAccount(work(mode, { link: write, unlink: write, saveSnapshot: write }), scanned)
    t.strictSame([item.outcome, item.reason, item.before, item.after], wanted, `${mode} ${JSON.stringify(result)}`)
    if (given) t.strictSame(calls, [given])
    const none = async () => t.fail()
    t.match(await reconcileAccount(work(mode, { link: none, unlink: none, saveSnapshot: none }, { run: { id: 'r', mode, dryRun: true } }), scanned), { outcome: { link: 'linked', unlink: 'unlinked', sync: 'synced' }[mode] }, 'a dry run writes nothing')
  }
})

t.test('a customer is synced unless the account goes from one to another', async t => {
  const sync = async (accounts: ReadonlyArray<Account | undefined>, saved: ReadonlyArray<Account | undefined>) => {
    const [read, written, stored] = [[...accounts], [...saved], [] as unknown[]]
    const sources = {
      accounts: {
        get: async () => read.shift(),
        secretKey: async () => 'key',
        saveSnapshot: async (change: object, origin: object) => { stored.push([change, origin]); return { account: written.shift() } }
      },
      provider: { isSecretKey: () => true, isCustomerId: () => true, retrieveCustomer: async ({ customerId }: { customerId: string }) => ({ value: { id: customerId, name: 'A\0' }, requestId: 'req_1' }) },
      call: direct
    }
    return [await syncCustomer(sources as unknown as Sources, 'a', { actor: 'user-1', requestId: 'req-1', runId: null }).catch(error => error.code), stored]
  }
  const stored = { pay_synced_at: '2026-01-01T00:00:00.000Z' }
  const [one, two] = [account({ ...linked, ...stored }), account({ pay_customer_id: 'cus_2', ...stored })]
  t.match(await sync([one], [one]), [one, [[{ accountId: 'a', customerId: 'cus_1', customer: { id: 'cus_1', name: 'A' }, syncedAt: /Z$/ }, { actor: 'user-1', requestId: 'req-1', runId: null, providerRequestId: 'req_1' }]]])
  t.match(await sync([one, two], [two, two]), [two, { length: 2 }], 'the other one is read')
  t.match(await sync([one, two], [two, one]), ['PAY_RECONCILE_CUSTOMER_CHANGED', { length: 2 }], 'twice at most')
  t.match(await sync([one], [undefined]), ['PAY_RECONCILE_ACCOUNT_NOT_FOUND'], 'an account that is deleted meanwhile')
  t.match(await sync([undefined], []), ['PAY_RECONCILE_ACCOUNT_NOT_FOUND', []])
  t.match(await sync([account()], []), ['PAY_RECONCILE_NO_CUSTOMER_ID', []])
})
