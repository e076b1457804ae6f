import t from 'tap'
import { providerError, PAY_RECONCILE_NO_SECRET_KEY, type ProviderFault, type ProviderFaultFacts } from '../src/errors.ts'
import type { PayCustomer } from '../src/provider/types.ts'
import { reconcileAccount, type AccountWork } from '../src/reconcile/account.ts'
import { doneAccounts, noteChanges } from '../src/reconcile/changes.ts'
import { limitsOf } from '../src/reconcile/limits.ts'
import { readPage, readWithRetries } from '../src/reconcile/page.ts'
import { finishedOf, partAfter } from '../src/reconcile/part.ts'
import { rateLimits } from '../src/reconcile/rate-limit.ts'
import { shopKey } from '../src/reconcile/shop-key.ts'
import type { ShopWork } from '../src/reconcile/shop-work.ts'
import { reconcileShop } from '../src/reconcile/shop.ts'
import { withWaits } from '../src/reconcile/waits.ts'
import type { Account, ChangeStore, CustomerEvent, EventPosition } from '../src/types.ts'
import { standingTime, type Time } from './time.ts'

const account = (id: string, details = {}) => ({ id, shopId: 's', shopName: 'Shop', name: 'Ada', hashName: null, details })
const scanned = (id: string, details = {}) => ({ account: account(id, details), duplicate: false, changedByRun: false })
const run = { id: 'r', mode: 'sync', dryRun: false, shopId: null, actor: 'user-1', requestId: 'req-1', selection: {}, slot: null } as const
const part = { runId: 'r', shopId: 's', total: 0, processed: 0, lastAccount: null, outcomes: {}, drift: {}, paging: null }

/** The work on a shop, and what it logs, pauses and is told to stop by. */
function work (fields: object = {}) {
  const [cancel, interrupt] = [new AbortController(), new AbortController()]
  const logs: unknown[] = []
  const pauses: unknown[] = []
  const log = (level: string) => (facts: object, message: string) => logs.push([level, message, facts])
  return {
    cancel,
    interrupt,
    logs,
    pauses,
    work: {
      run,
      key: { current: 'old', replaced: async () => false },
      log: { warn: log('warn'), error: log('error') },
      rateLimitOf: (key: string) => ({ pause: (duration: number) => pauses.push([key, duration]) }),
      cancelled: cancel.signal,
      interrupted: interrupt.signal,
      ended: AbortSignal.any([cancel.signal, interrupt.signal]),
      ...fields
    } as unknown as ShopWork
  }
}

/** Fails in these ways one after the other, then gives the key it was called with. */
function attempts (...faults: ReadonlyArray<ProviderFault | readonly [ProviderFault, ProviderFaultFacts]>) {
  const keys: string[] = []
  return {
    keys,
    attempt: async (key: string) => {
      keys.push(key)
      const fault = faults[keys.length - 1]
      if (fault !== undefined) throw typeof fault === 'string' ? providerError(fault) : providerError(...fault)
      return key
    }
  }
}
/** Calls the provider once, without limits. */
const direct = (_key: string, caller: AbortSignal, attempt: (signal: AbortSignal) => unknown) => attempt(caller)
const outcome = (promise: Promise<unknown>) => promise.then(value => value, error => error.fault ?? error.message)
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)

t.test('a limit of the rate is waited for as long as it lasts, and the log says so after a while', async t => {
  const time = standingTime(t)
  const { work: of, logs, pauses } = work()
  t.equal(await outcome(withWaits(of, { accountId: 'a' }, attempts(...times(5, 'rate_limited' as const)).attempt)), 'old')
  t.strictSame(logs, [], 'five waits are usual')
  t.strictSame(time.waits, [125, 250, 500, 1000, 2000])
  t.strictSame(pauses, time.waits.map(wait => ['old', wait]), 'nobody else calls under the key meanwhile')
  const { attempt, keys } = attempts(...times(7, ['rate_limited', { retryAfter: 9000 }] as const))
  t.equal(await outcome(withWaits(of, { accountId: 'a' }, attempt)), 'old')
  t.equal(keys.length, 8)
  t.match(logs, [['warn', 'waiting for the payment provider', { err: { fault: 'rate_limited' }, accountId: 'a', runId: 'r', wait: 9000 }]])
  t.equal(logs.length, 1, 'once')
})

t.test('which failures of a call are waited for', async t => {
  const time = standingTime(t)
  for (const [title, faults, wanted, calls] of [
    ['a closed gate opens', times(3, 'unavailable'), 'old', 4],
    ['or stays closed', times(4, 'unavailable'), 'unavailable', 4],
    ['another failure is none to wait for', ['error'], 'error', 1],
    ['nor is a wrong key', ['key_rejected'], 'key_rejected', 1],
    ['nor one that may too little', ['key_forbidden'], 'key_forbidden', 1],
    ['an interruption has no result', ['aborted'], undefined, 1]
  ] as const) {
    time.waits.length = 0
    const { attempt, keys } = attempts(...faults as ProviderFault[])
    t.equal(await outcome(withWaits(work().work, {}, attempt)), wanted, title)
    t.strictSame([keys.length, time.waits.length], [calls, calls - 1], title)
  }
  t.equal(await outcome(withWaits(work().work, {}, async () => { throw new RangeError('of the store') })), 'of the store')
})

t.test('a key that is replaced is used at once', async t => {
  standingTime(t)
  for (const fault of ['key_rejected', 'key_forbidden'] as const) {
    const { attempt, keys } = attempts(fault)
    const stored = ['old', 'new']
    const key = await shopKey(async () => stored.shift()!)
    t.equal(await outcome(withWaits(work({ key }).work, {}, attempt)), 'new', fault)
    t.strictSame(keys, ['old', 'new'])
    t.equal(await key.replaced('old'), true, 'another account that met the rejection needs not read it')
  }
  const { work: of, logs } = work({ key: { current: 'old', replaced: async () => { throw new RangeError('down') } } })
  t.equal(await outcome(withWaits(of, {}, attempts('key_rejected').attempt)), 'key_rejected')
  t.match(logs, [['error', 'the secret key of the shop could not be read again', { err: { message: 'down' }, runId: 'r' }]])
})

t.test('a run that ends waits no longer', async t => {
  standingTime(t)
  for (const [ending, duringWait, wanted] of [
    ['cancel', false, 'rate_limited'], ['cancel', true, 'rate_limited'], ['interrupt', false, undefined], ['interrupt', true, undefined]
  ] as const) {
    const made = work()
    if (duringWait) Object.assign(made.work, { rateLimitOf: () => ({ pause: () => made[ending].abort() }) })
    else made[ending].abort()
    const { attempt, keys } = attempts('rate_limited')
    t.equal(await outcome(withWaits(made.work, {}, attempt)), wanted, `${ending} ${duringWait ? 'during' : 'before'} the wait`)
    t.equal(keys.length, 1)
  }
})

t.test('a page is read three times at most', async t => {
  const time = standingTime(t)
  for (const [faults, wanted, calls, waits] of [
    [['error', 'timeout'], 'old', 3, [250, 500]],
    [['error', 'error', 'unreachable'], 'unreachable', 3, [250, 500]],
    [[['error', { retryAfter: 3000 }]], 'old', 2, [3000]],
    [['refused'], 'refused', 1, []],
    [['aborted'], undefined, 1, []]
  ] as const) {
    time.waits.length = 0
    const { attempt, keys } = attempts(...faults)
    t.equal(await outcome(readWithRetries(work().work, attempt)), wanted, faults.join())
    t.strictSame([keys.length, time.waits], [calls, waits])
  }
  const ended = work()
  ended.cancel.abort()
  t.equal(await outcome(readWithRetries(ended.work, attempts('error').attempt)), undefined, 'not after the end of the run')
})

t.test('a page says when it was read and where the next one starts', async t => {
  const asked: object[] = []
  let requestedAt = ''
  const page = async (after: string | null, ids: readonly string[], more: boolean) => {
    const provider = {
      async listCustomers ({ signal: _, ...call }: { signal: AbortSignal }) {
        requestedAt = new Date().toISOString()
        asked.push(call)
        return { value: { customers: ids.map(id => ({ id })), more }, requestId: 'req_1' }
      }
    }
    return await readPage(work({ sources: { provider, call: direct } }).work, after)
  }
  const before = new Date().toISOString()
  const { readAt, ...first } = (await page(null, ['cus_1', 'cus_2'], true))!
  t.strictSame(first, { customers: new Map([['cus_1', { id: 'cus_1' }], ['cus_2', { id: 'cus_2' }]]), requestId: 'req_1', next: 'cus_2' })
  t.ok(before <= readAt && readAt <= requestedAt)
  t.match(await page('cus_2', ['cus_3'], false), { next: null })
  t.match(await page('cus_2', [], true), { next: null }, 'behind an empty page there is none')
  t.strictSame(asked, [{ secretKey: 'old' }, { secretKey: 'old', after: 'cus_2' }, { secretKey: 'old', after: 'cus_2' }])
})

t.test('calls keep to their rate, and catch up one second at most', async t => {
  const time = standingTime(t, 10_000)
  const { signal } = new AbortController()
  const waitsOf = async (count: number) => {
    time.waits.length = 0
    for (let n = 0; n < count; n++) await limit.wait(signal)
    return [...time.waits]
  }
  const limitOf = rateLimits(4)
  const limit = limitOf('key')
  t.equal(limitOf('key'), limit)
  t.strictSame(await waitsOf(4), [250, 250, 250])
  time.now += 60_000
  t.strictSame(await waitsOf(8), [250, 250, 250], 'five at once after a minute')
  limit.pause(2000)
  t.strictSame(await waitsOf(2), [2000, 250])
  limit.pause(100)
  t.strictSame(await waitsOf(1), [250], 'a pause makes nothing sooner')
  time.now += 60_000
  await t.rejects(limit.wait(AbortSignal.abort()), { name: 'AbortError' })
})

const day = 24 * 3_600_000

/** Notes changes with a position and pages of events. */
async function noting (time: Time, { position, pages = [[]], accounts = 0, ends = false }: { position?: EventPosition | undefined, pages?: ReadonlyArray<readonly string[]>, accounts?: number, ends?: boolean }) {
  const notes: unknown[] = []
  const reads: unknown[] = []
  const changes = {
    position: async () => position,
    moveTo: async (_shopId: string, to: EventPosition) => { notes.push(to) },
    note: async (_shopId: string, events: readonly CustomerEvent[]) => { notes.push(events.map(({ id }) => id)) },
    noteAll: async () => { notes.push('all') }
  } as unknown as ChangeStore
  const listEvents = async ({ since, after }: { since: Date, after?: string }) => {
    reads.push([time.now - since.getTime(), after])
    const page = pages[Math.min(reads.length, pages.length) - 1]!
    return { value: { events: page.map(id => ({ id })), more: pages.length !== reads.length } }
  }
  const made = work({ sources: { accounts: { shops: async (_shopId: string, only: object) => 'linked' in only ? [{ accounts }] : [] }, provider: { listEvents }, call: direct } })
  if (ends) made.interrupt.abort()
  const done = await noteChanges(made.work, changes, 's')
  return { done, notes, reads }
}

t.test('events are read since the last time, with a quarter of an hour more', async t => {
  const time = standingTime(t)
  const ago = (ms: number) => new Date(time.now - ms).toISOString()
  const until = ago(0)
  const quarter = 15 * 60_000
  t.strictSame(await noting(time, { position: { until: ago(5000), completeAt: ago(day) }, pages: [['evt_1', 'evt_2'], ['evt_3']] }), {
    done: true, notes: [['evt_1', 'evt_2'], ['evt_3'], { until, completeAt: ago(day) }], reads: [[5000 + quarter, undefined], [5000 + quarter, 'evt_2']]
  })
  const all = { done: true, notes: [[], 'all', { until, completeAt: until }], reads: [[quarter, undefined]] }
  t.strictSame(await noting(time, {}), all, 'all are noted the first time')
  t.strictSame(await noting(time, { position: { until: ago(29 * day), completeAt: ago(29 * day) } }), all, 'after 29 days')
  t.strictSame(await noting(time, { position: { until: ago(0), completeAt: ago(29 * day) } }), all, 'or 29 days after that happened the last time')
  t.match(await noting(time, { position: { until: ago(29 * day - 1), completeAt: ago(29 * day - 1) } }), { notes: [[], { until }] }, 'not before')
})

t.test('an empty page of events before the last loses none', async t => {
  const time = standingTime(t)
  const until = new Date(time.now).toISOString()
  const position = { until, completeAt: until }
  t.strictSame(await noting(time, { position, pages: [['evt_1'], [], ['evt_2']] }), {
    done: true, notes: [['evt_1'], [], 'all', position], reads: [[15 * 60_000, undefined], [15 * 60_000, 'evt_1']]
  }, 'all are noted')
  t.match(await noting(time, { position, pages: [['evt_1'], []] }), { notes: [['evt_1'], [], position] }, 'the last may be empty')
})

t.test('more pages of events than of customers are not read', async t => {
  const time = standingTime(t)
  const position = { until: new Date(time.now).toISOString(), completeAt: new Date(time.now).toISOString() }
  const pages = Array.from({ length: 40 }, (_, n) => [`evt_${n}`])
  for (const [accounts, count] of [[0, 10], [1000, 10], [1201, 13], [3000, 30]] as const) {
    const { reads, notes } = await noting(time, { position, pages, accounts })
    t.equal(reads.length, count, `${accounts} accounts`)
    t.strictSame(notes.slice(-2), ['all', { until: position.until, completeAt: position.until }])
  }
})

t.test('accounts that need not be read again', async t => {
  const item = (accountId: string, outcome: string, errorCode: string | null = null, reason: string | null = null) => ({ accountId, outcome, errorCode, reason })
  t.strictSame(doneAccounts([
    item('synced', 'synced'), item('skipped', 'skipped', null, 'no_customer_id'), item('earlier', 'synced', null, 'before_interruption'),
    item('unknown', 'failed', 'PAY_RECONCILE_PROVIDER_CUSTOMER_NOT_FOUND'), item('odd', 'failed', 'PAY_RECONCILE_PROVIDER_UNEXPECTED_OBJECT'),
    item('list', 'failed', 'PAY_RECONCILE_DETAILS_NOT_OBJECT'), item('down', 'failed', 'PAY_RECONCILE_PROVIDER_ERROR'), item('store', 'failed', 'PAY_RECONCILE_STORE_FAILED')
  ] as never), ['synced', 'skipped', 'unknown', 'odd', 'list'])
})

t.test('which accounts a run goes through', async t => {
  for (const [title, of, targets, limits] of [
    ['all', {}, null, {}],
    ['changed ones', { mode: 'changes' }, null, { changed: true, linked: true }],
    ['named ones', {}, { a: null, b: null }, { accounts: ['a', 'b'] }],
    ['those that failed', { selection: { failed_in: 'r0' } }, null, { failedIn: 'r0' }],
    ['stale ones', { selection: { synced_before: '2026' } }, null, { syncedBefore: '2026' }]
  ] as const) t.strictSame(limitsOf({ ...run, ...of }, targets), limits, title)
})

t.test('progress ends before the first gap, unless a page says which accounts are left', async t => {
  const item = (accountId: string) => ({ accountId, outcome: 'synced', drift: ['differs'] }) as never
  const accounts = ['a', 'b', 'c'].map(id => scanned(id))
  const page = { customers: new Map(), readAt: '', requestId: null, next: 'cus_9' }
  for (const [items, alone, ofPage] of [
    [[item('a'), item('b'), item('c')], 3, 3], [[item('a'), undefined, item('c')], 1, 2], [[undefined, item('b'), item('c')], 0, 2], [[undefined, undefined, undefined], 0, 0]
  ] as const) t.strictSame([finishedOf({ accounts }, items).length, finishedOf({ accounts, page }, items).length], [alone, ofPage])
  const paging = { after: 'cus_1', left: 100, lost: 0, ended: false }
  const before = { ...part, processed: 5, lastAccount: '9', outcomes: { synced: 5 } }
  t.strictSame(partAfter(before, { accounts }, [item('a'), item('b')]), { ...before, processed: 7, lastAccount: 'b', outcomes: { synced: 7 }, drift: { differs: 2 } })
  t.strictSame(partAfter(before, { accounts }, []), before)
  t.match(partAfter({ ...before, paging }, { accounts, page }, [item('a'), item('b')]), { lastAccount: '9', paging: { after: 'cus_1', left: 98 } }, 'a page that is not finished is read again')
  t.match(partAfter({ ...before, paging }, { accounts, page }, accounts.map(({ account }) => item(account.id))), { lastAccount: '9', paging: { after: 'cus_9', left: 97 } })
  const many = times(500, scanned('a'))
  t.match(partAfter({ ...before, paging: { ...paging, left: 5000 } }, { accounts: many, page }, many.map(() => item('a'))), { paging: { after: 'cus_1' } }, 'so is one with as many accounts as a batch has')
})

t.test('a customer is taken from the page, unless its snapshot is newer', async t => {
  const page = { customers: new Map([['cus_1', { id: 'cus_1', name: 'page' }]]), readAt: '2026-01-31T00:00:00.000Z', requestId: 'req_page', next: null }
  const read = async ({ details, ...more }: { details: object } & Partial<AccountWork>) => {
    const provider = { isCustomerId: () => true, retrieveCustomer: async () => ({ value: { id: 'cus_1', name: 'live' }, requestId: 'req_live' }) }
    const work = { sources: { provider, call: direct }, run: { ...run, mode: 'check' }, targets: null, secretKey: 'key', emailOf: () => undefined, driftFields: undefined, caller: {}, page, ...more }
    return (await reconcileAccount(work as unknown as AccountWork, scanned('a', { pay_customer_id: 'cus_1', ...details }))).providerRequestId
  }
  for (const [syncedAt, wanted] of [
    [undefined, 'req_page'], [5, 'req_page'], ['2026-01-30T23:59:59.999Z', 'req_page'], ['2026-01-31T00:00:00.000Z', 'req_page'], ['2026-01-31T00:00:00.001Z', 'req_live']
  ] as const) t.equal(await read({ details: { pay_synced_at: syncedAt } }), wanted, String(syncedAt))
  t.equal(await read({ details: {}, page: { ...page, customers: new Map<string, PayCustomer>() } }), 'req_live', 'one that is not on the page is read')
  t.equal(await read({ details: {}, page: undefined }), 'req_live', 'so are all without a page')
})

/** Reconciles a shop whose accounts are read one by one, each with these faults. */
async function shop (faults: ReadonlyArray<ProviderFault | undefined>, more: object = {}, next = 'continue', save = async (saved: Account) => ({ account: saved, changed: true })) {
  const stored: Array<readonly unknown[]> = []
  const scans: object[] = []
  const marked: Array<readonly [readonly string[], string]> = []
  let calls = 0
  const accounts = {
    shops: async () => [{ accounts: 1 }],
    scan: async ({ after, ...page }: { after: string | null }) => { scans.push(page); return after === null ? faults.map((_, n) => scanned(String(n), { pay_customer_id: `cus_${n}` })) : [] },
    saveSnapshot: async ({ accountId, customerId }: { accountId: string, customerId: string }) => save(account(accountId, { pay_customer_id: customerId, pay_synced_at: '2026-01-01T00:00:00.000Z' })),
    changes: { moment: async () => 'now', done: async (ids: readonly string[], moment: string) => { marked.push([ids, moment]) }, position: async () => undefined, noteAll: async () => {}, moveTo: async () => {}, note: async () => {} }
  }
  const provider = {
    isCustomerId: () => true,
    retrieveCustomer: async ({ customerId }: { customerId: string }) => { const fault = faults[calls++]; if (fault) throw providerError(fault, { missingPermission: fault === 'key_forbidden' ? 'rak_x' : undefined }); return { value: { id: customerId }, requestId: null } },
    listEvents: async () => ({ value: { events: [], more: false } })
  }
  const made = work({
    sources: { accounts, provider, call: direct },
    targets: null,
    runs: { advance: async (_part: unknown, items: readonly unknown[]) => { stored.push(items); return next } },
    lease: {},
    limits: { perSecond: 0.5, accountsAtOnce: 1, mayContinue: () => true },
    ...more
  })
  const { ending, part: reached } = await reconcileShop(made.work, part)
  return { ending, reached, stored: stored.flat().length, scans, marked, logs: made.logs }
}

t.test('a shop stops after ten failures of the provider in a row', async t => {
  standingTime(t)
  const unavailable = { status: 'stopped', reason: 'PAY_RECONCILE_PROVIDER_UNAVAILABLE' }
  for (const [faults, ending, processed] of [
    [times(12, 'error'), unavailable, 10],
    [times(9, 'timeout'), { status: 'done' }, 9],
    [[...times(9, 'error'), 'customer_not_found', ...times(9, 'unreachable'), undefined, ...times(11, 'error')], unavailable, 30],
    [times(15, 'customer_not_found').concat([undefined as never]), { status: 'done' }, 16],
    [[undefined, 'key_rejected', undefined], { status: 'stopped', reason: 'PAY_RECONCILE_PROVIDER_KEY_REJECTED', missingPermission: undefined }, 2],
    [['key_forbidden', undefined], { status: 'stopped', reason: 'PAY_RECONCILE_PROVIDER_KEY_FORBIDDEN', missingPermission: 'rak_x' }, 1]
  ] as ReadonlyArray<readonly [ReadonlyArray<ProviderFault | undefined>, object, number]>) {
    const result = await shop(faults)
    t.strictSame([result.ending, result.reached.processed, result.stored], [ending, processed, processed], faults.join())
  }
})

t.test('the log names the account and the run that wait, or that fail', async t => {
  standingTime(t)
  t.match((await shop(times(6, 'rate_limited'))).logs, [['warn', 'waiting for the payment provider', { err: { fault: 'rate_limited' }, accountId: '0', runId: 'r' }]])
  const { logs, ending } = await shop([undefined], {}, 'continue', async () => { throw new RangeError('down') })
  t.match(logs, [['error', 'the account was not reconciled', { err: { message: 'down' }, accountId: '0', runId: 'r' }]])
  t.strictSame(ending, { status: 'done' }, 'and the run goes on')
})

t.test('how many accounts are read at a time', async t => {
  standingTime(t)
  for (const [perSecond, accountsAtOnce, limit] of [[0.5, 3, 3], [4.2, 3, 5], [5, 2, 5], [499.5, 2, 500], [100_000, 2, 500]] as const) {
    const { scans } = await shop([undefined], { limits: { perSecond, accountsAtOnce, mayContinue: () => true } })
    t.match(scans, [{ shopId: 's', limit, runId: 'r', only: {} }, { limit }])
  }
})

t.test('a shop ends with its lease, when it is cancelled, or may not go on', async t => {
  standingTime(t)
  const changes = { ...run, mode: 'changes' }
  const forbidden = { limits: { perSecond: 1, accountsAtOnce: 1, mayContinue: () => false } }
  const stopped = { status: 'stopped', reason: 'PAY_RECONCILE_RUN_FORBIDDEN' }
  for (const [title, more, next, ending, marked] of [
    ['lost', { run: changes }, 'lost', { status: 'lost' }, []],
    ['cancelled', { run: changes }, 'cancelled', { status: 'cancelled' }, [[['0'], 'now']]],
    ['done', { run: changes }, 'continue', { status: 'done' }, [[['0'], 'now']]],
    ['a dry run marks nothing as done', { run: { ...changes, dryRun: true } }, 'continue', { status: 'done' }, []],
    ['nor does another mode', {}, 'continue', { status: 'done' }, []],
    ['forbidden', forbidden, 'continue', stopped, []],
    ['a dry run may go on', { ...forbidden, run: { ...run, dryRun: true } }, 'continue', { status: 'done' }, []],
    ['so may one by the schedule', { ...forbidden, run: { ...run, slot: '2026-01-31T00:00:00.000Z' } }, 'continue', { status: 'done' }, []],
    ['and one by a webhook', { ...forbidden, run: { ...run, webhook: true } }, 'continue', { status: 'done' }, []],
    ['no other', { ...forbidden, run: { ...run, webhook: false } }, 'continue', stopped, []]
  ] as const) {
    const result = await shop([undefined], more, next)
    t.strictSame([result.ending, result.marked.filter(([ids]) => ids.length > 0)], [ending, marked], title)
  }
})

t.test('the key of a shop is read again once', async t => {
  const reads = ['one', 'one', 'two']
  const key = await shopKey(async () => { if (reads.length === 0) throw new PAY_RECONCILE_NO_SECRET_KEY(); return reads.shift()! })
  t.strictSame([key.current, await key.replaced('one'), await key.replaced('one'), key.current, await key.replaced('one')], ['one', false, true, 'two', true])
  await t.rejects(key.replaced('two'), { code: 'PAY_RECONCILE_NO_SECRET_KEY' })
})
