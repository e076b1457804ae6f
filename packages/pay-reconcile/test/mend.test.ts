import t, { type Test } from 'tap'
import { randomUUID } from 'node:crypto'
import { knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import type { RunStore } from '../src/index.ts'
import { untilOver } from './bulk.ts'
import { engines, type Engine } from './database.ts'
import { build, host, namespaceFor, naming, shopKey, type World } from './world.ts'

const fast = { perSecond: 2000, accountsAtOnce: 2, leaseDuration: 60_000 }

type Item = Readonly<Record<string, unknown>> & { readonly id: string, readonly account_id: string }

async function runOver (world: World, body: object) {
  const started = await world.call('POST', '/admin/accounts/reconcile', body)
  if (started.statusCode !== 202) return started.json()
  await untilOver(world, started.json().id)
  return (await world.call('GET', `/admin/accounts/reconcile/${started.json().id}`)).json()
}

const found = (items: readonly Item[]) =>
  items.map(({ account_id: id, outcome, reason, before, after }) => [id, outcome, reason, before, after])

for (const engine of engines) {
  for (const idType of ['uuid', 'text collate "C"', 'bigint']) {
    t.test(`mending with ids of the type ${idType} on ${engine.name}`, { skip: engine.skip }, async (t) => {
      const world = await build(t, await engine.connect(t, 'jsonb', idType), { ...fast, ...namespaceFor(idType) })
      const ids = idsOf(idType)
      await t.test('one account is unlinked', (t) => unlinking(t, world, ids))
      await t.test('accounts are unlinked in a run', (t) => unlinkingMany(t, world, ids))
      await t.test('suggestions are accepted', (t) => accepting(t, world, ids, idType))
      await t.test('a suggestion is accepted whatever its customer is called', (t) => acceptingOdd(t, world, ids))
      await t.test('what failed is tried again', (t) => retrying(t, world, ids))
      await t.test('a run is limited', (t) => limiting(t, world, ids))
    })
  }
}

/** Makes ids in ascending order. */
function idsOf (type: string): () => string {
  let n = 0
  return () => {
    if (type === 'uuid') return `00000000-0000-4000-8000-${String(++n).padStart(12, '0')}`
    return type === 'bigint' ? String(++n) : `Acct ${String.fromCharCode(65 + n / 26 | 0, 65 + n++ % 26)}/ü'`
  }
}

async function unlinking (
  t: Test,
  { call, addShop, addAccount, detailsOf, audit, standIn }: World,
  next: () => string
): Promise<void> {
  standIn.account(shopKey).customers.set('cus_1', { id: 'cus_1', object: 'customer' })
  const accountId = await addAccount(await addShop({ id: next() }), {
    tier: 'gold',
    pay_customer_id: 'cus_1',
    pay_customer_before_deletion: {}
  }, { id: next() })
  const url = `/admin/accounts/${encodeURIComponent(accountId)}`
  await call('POST', `${url}/sync-pay`)

  const other = await call('POST', `${url}/unlink-pay`, { pay_customer_id: 'cus_2' })
  t.match(
    [other.statusCode, other.json()],
    [409, { code: 'PAY_RECONCILE_CUSTOMER_CHANGED' }],
    'only from the customer that is named'
  )
  t.match(await detailsOf(accountId), { pay_customer_id: 'cus_1' })
  const unlinked = await call('POST', `${url}/unlink-pay`, { pay_customer_id: 'cus_1' })
  t.match([unlinked.statusCode, unlinked.json()], [200, {
    id: accountId,
    pay_customer_id: null,
    pay_synced_at: null,
    details: { tier: 'gold' }
  }])
  t.strictSame(await detailsOf(accountId), { tier: 'gold' }, 'the snapshots go too')
  const rows = await audit(accountId)
  t.match(rows.at(-1), {
    actor: 'user-1',
    action: 'unlink',
    before: { pay_customer_id: 'cus_1', snapshot_sha256: /./ },
    after: { pay_customer_id: null, snapshot_sha256: null }
  })
  t.equal((await call('POST', `${url}/unlink-pay`)).statusCode, 200, 'an account without a customer stays as it is')
  t.equal((await audit(accountId)).length, rows.length)
  const [change] = (await call('GET', '/admin/accounts/audit?filter={"action":"unlink"}')).json()
  t.match((await call('GET', `/admin/accounts/audit/${change.id}/snapshot`)).json(), {
    pay_customer_id: 'cus_1',
    pay_customer: { id: 'cus_1' }
  }, 'the snapshot can be read back')

  for (
    const [path, payload, status] of [
      [`${url}/unlink-pay`, { customer: 'x' }, 422],
      [`${url}/unlink-pay`, { pay_customer_id: "' or true" }, 422],
      [`${url}/unlink-pay`, [], 422],
      ['/admin/accounts/no-id/unlink-pay', undefined, 404],
      ['/admin/accounts/a%00b/unlink-pay', undefined, 404]
    ] as const
  ) t.equal((await call('POST', path, payload)).statusCode, status, `${path} ${JSON.stringify(payload)}`)
}

async function unlinkingMany (t: Test, world: World, next: () => string): Promise<void> {
  const { addShop, addAccount, detailsOf, audit } = world
  // A shop without a usable key: nobody is called.
  const shopId = await addShop({ id: next(), key: null })
  const [one, two, none, relinked] = [
    await addAccount(shopId, { pay_customer_id: 'cus_1' }, { id: next() }),
    await addAccount(shopId, { pay_customer_id: 'cus_2' }, { id: next() }),
    await addAccount(shopId, {}, { id: next() }),
    await addAccount(shopId, { pay_customer_id: 'cus_3' }, { id: next() })
  ]
  const body = { mode: 'unlink', shop_id: shopId, accounts: [two, one, one, none] }
  const dry = await runOver(world, body)
  t.match(dry, {
    status: 'done',
    dry_run: true,
    total: 3,
    selection: { accounts: 3 },
    outcomes: { unlinked: 2, unchanged: 1 }
  })
  t.match(await detailsOf(one), { pay_customer_id: 'cus_1' }, 'a dry run changes nothing')
  // Items of this run are accepted below: one account has another customer by then.
  await world.call('POST', `/admin/accounts/${encodeURIComponent(two)}/link-pay`, { pay_customer_id: 'cus_9' })
  const real = await runOver(world, { ...body, dry_run: false, accounts: [one, none] })
  t.strictSame(found(real.items), [[one, 'unlinked', null, 'cus_1', null]])
  t.strictSame(await detailsOf(one), {})
  t.match((await audit(one)).at(-1), { action: 'unlink', run_id: real.id })
  t.match(await detailsOf(relinked), { pay_customer_id: 'cus_3' }, 'an account that is not named stays as it is')

  await addAccount(shopId, { pay_customer_id: 'cus_4' }, { id: next() })
  const differences = await runOver(world, { mode: 'sync', shop_id: shopId })
  t.match(differences.shops.stopped, [{ reason: 'PAY_RECONCILE_NO_SECRET_KEY' }])
}

async function accepting (t: Test, world: World, next: () => string, idType: string): Promise<void> {
  const { call, knex, standIn, addShop, addAccount, detailsOf, audit } = world
  const key = 'sk_test_accept'
  const suggested = ['same', 'called', 'renamed', 'gone', 'moved', 'taken', 'linked', 'metadata']
  standIn.addAccount(key, {
    customers: suggested.map((name) => ({ id: `cus_${name}`, name, email: `${name}@example.org` }))
      .concat([
        { id: 'cus_b1', name: 'b', email: 'both@example.org' },
        { id: 'cus_b2', name: 'b', email: 'both@example.org' }
      ])
  })
  const { customers } = standIn.account(key)
  const [shopId, otherShop] = [await addShop({ id: next(), key }), await addShop({ id: next(), key })]
  const accounts: Record<string, string> = {}
  for (const name of [...suggested, 'both', 'nobody']) {
    accounts[name] = await addAccount(shopId, { email: `${name}@example.org` }, { id: next(), name })
  }
  const dry = await runOver(world, { mode: 'link', shop_id: shopId })
  const items = new Map<string, Item>(dry.items.map((item: Item) => [item['account_name'] as string, item]))
  t.equal(dry.outcomes.suggested, 9)
  const accept = suggested.map((name) => items.get(name)!.id)
  const theirs = await addAccount(otherShop, { email: 'same@example.org' }, { id: next() })
  const [foreign] = (await runOver(world, { mode: 'link', shop_id: otherShop })).items as [Item]

  for (
    const [title, wrong, field] of [
      ['an unknown item', ['999999999'], 'accept/0'],
      ['no number', [accept[0], "1' or true --"], 'accept/1'],
      ['a number that no column holds', ['9'.repeat(40)], 'accept/0'],
      ['an item of another shop', [accept[0], foreign.id], 'accept/1'],
      ['an item with two candidates', [items.get('both')!.id], 'accept/0'],
      ['an item without candidates', [items.get('nobody')!.id], 'accept/0'],
      ['too many', Array(1001).fill('1'), 'accept'],
      ['none', [], 'accept'],
      ['no texts', [1], 'accept/0']
    ] as const
  ) {
    const response = await call('POST', '/admin/accounts/reconcile', {
      mode: 'link',
      shop_id: shopId,
      dry_run: false,
      accept: wrong
    })
    t.match([response.statusCode, response.json()], [422, { code: 'PAY_RECONCILE_VALIDATION', field }], title)
    if (field === 'accept/1') {
      t.match(
        response.json().message,
        'is not the id of an item of the shop',
        "another shop's item is as unknown as any"
      )
    }
  }
  const later = (await runOver(world, { mode: 'link', shop_id: shopId })).items.find((item: Item) =>
    item['account_name'] === 'same'
  )
  t.match(await runOver(world, { mode: 'link', accept: [accept[0], later.id] }), {
    statusCode: 422,
    field: 'accept/1',
    message: /the same account as another item/
  })
  t.match(
    await runOver(world, { mode: 'link', accept: [accept[0], foreign.id] }),
    { status: 'done', total: 2 },
    'without a shop, items of all'
  )
  for (
    const [field, body] of [
      ['accounts', { mode: 'link', accounts: ['1'], failed_in: dry.id }],
      ['accept', { mode: 'sync', accept }],
      ['accept', { mode: 'link', accept, accounts: ['1'] }],
      ['mode', { mode: 'unlink' }],
      ['synced_before', { mode: 'link', synced_before: '2026-01-01T00:00:00Z' }],
      ['failed_in', { mode: 'unlink', failed_in: dry.id }],
      ['synced_before', { mode: 'sync', synced_before: 'yesterday' }],
      ['synced_before', { mode: 'sync', synced_before: '2026-13-01T00:00:00Z' }]
    ] as const
  ) {
    const refusal = await runOver(world, body)
    t.equal(refusal.statusCode, 422, JSON.stringify(body))
    if (field !== 'accounts' && !('accounts' in body)) t.equal(refusal.field, field)
  }

  // Everything that may change between a look and a click.
  await knex('accounts').where('id', accounts['called']).update({ name: 'Somebody Else' })
  customers.set('cus_renamed', { ...customers.get('cus_renamed')!, name: 'somebody else' })
  customers.delete('cus_gone')
  await knex('accounts').where('id', accounts['moved']).update({ details: { email: 'elsewhere@example.org' } })
  await addAccount(shopId, { pay_customer_id: 'cus_taken' }, { id: next() })
  await call('POST', `/admin/accounts/${encodeURIComponent(accounts['linked']!)}/link-pay`, {
    pay_customer_id: 'cus_other'
  })
  customers.set('cus_metadata', { ...customers.get('cus_metadata')!, metadata: naming(accounts['metadata']!, idType) })
  const wanted = [
    [accounts['same'], 'linked', 'accepted', null, 'cus_same'],
    [accounts['called'], 'skipped', 'changed_meanwhile', null, null],
    [accounts['renamed'], 'skipped', 'changed_meanwhile', null, null],
    [accounts['gone'], 'skipped', 'changed_meanwhile', null, null],
    [accounts['moved'], 'skipped', 'changed_meanwhile', null, null],
    [accounts['taken'], 'skipped', 'linked_to_another_account', null, null],
    [accounts['linked'], 'skipped', 'changed_meanwhile', 'cus_other', 'cus_other'],
    [accounts['metadata'], 'linked', 'metadata', null, 'cus_metadata']
  ]
  const tried = await runOver(world, { mode: 'link', shop_id: shopId, accept })
  t.match(tried, { status: 'done', total: 8, selection: { accept: 8 } })
  t.strictSame(found(tried.items), wanted, 'a dry run says what would be linked')
  t.strictSame(await detailsOf(accounts['same']!), { email: 'same@example.org' })
  const run = await runOver(world, { mode: 'link', shop_id: shopId, accept, dry_run: false })
  t.strictSame(found(run.items), wanted, 'only what is as it was shown is linked')
  t.match(await detailsOf(accounts['same']!), { pay_customer_id: 'cus_same' })
  t.strictSame(
    await knex('pay_reconcile_runs').whereNotNull('targets').select('id'),
    [],
    'names and addresses are kept for as long as the run'
  )
  t.match(await audit(accounts['same']!), [{ action: 'link', run_id: run.id, provider_request_id: /^req_/ }])
  t.strictSame(await detailsOf(accounts['renamed']!), { email: 'renamed@example.org' })
  t.strictSame(await audit(theirs), [])

  await call('POST', `/admin/accounts/${encodeURIComponent(accounts['metadata']!)}/link-pay`, {
    pay_customer_id: 'cus_right'
  })
  const linked = run.items.filter((item: Item) => item['outcome'] === 'linked').map((item: Item) => item.id)
  const undone = await runOver(world, { mode: 'unlink', shop_id: shopId, accept: linked, dry_run: false })
  t.strictSame(found(undone.items), [
    [accounts['same'], 'unlinked', null, 'cus_same', null],
    [accounts['metadata'], 'skipped', 'changed_meanwhile', 'cus_right', 'cus_right']
  ], 'what a run linked is undone, unless another customer is linked by now')
}

async function acceptingOdd (t: Test, world: World, next: () => string): Promise<void> {
  const { standIn, addShop, addAccount, detailsOf } = world
  standIn.addAccount('sk_test_odd', { customers: [{ id: 'cus_odd', name: 'A\0da \ud800', email: 'odd@example.org' }] })
  const accountId = await addAccount(await addShop({ id: next(), key: 'sk_test_odd' }), { email: 'odd@example.org' }, {
    id: next()
  })
  const [{ id }] = (await runOver(world, { mode: 'link', accounts: [accountId] })).items
  t.match(
    await runOver(world, { mode: 'link', accept: [id], dry_run: false }),
    { outcomes: { linked: 1 } },
    'PostgreSQL stores neither NUL nor half a character'
  )
  t.match(await detailsOf(accountId), { pay_customer_id: 'cus_odd' })
}

async function retrying (t: Test, world: World, next: () => string): Promise<void> {
  const { call, knex, standIn, addShop, addAccount } = world
  await knex('accounts').delete()
  await knex('shops').delete()
  standIn.addAccount('sk_test_retry', { customers: [{ id: 'cus_1' }, { id: 'cus_2' }] })
  const [fine, locked] = [
    await addShop({ id: next(), key: 'sk_test_retry' }),
    await addShop({ id: next(), key: 'sk_test_later' })
  ]
  const done = await addAccount(fine, { pay_customer_id: 'cus_1' }, { id: next() })
  const missing = await addAccount(fine, { pay_customer_id: 'cus_late' }, { id: next() })
  const unreached = [
    await addAccount(locked, { pay_customer_id: 'cus_1' }, { id: next() }),
    await addAccount(locked, { pay_customer_id: 'cus_1' }, { id: next() })
  ]
  for (let n = 0; n < 2; n++) unreached.push(await addAccount(locked, { pay_customer_id: 'cus_1' }, { id: next() }))
  const run = await runOver(world, { mode: 'sync', dry_run: false })
  t.match(run, {
    outcomes: { synced: 1 },
    shops: { stopped: [{ shop_id: locked, reason: 'PAY_RECONCILE_PROVIDER_KEY_REJECTED' }] }
  })
  standIn.addAccount('sk_test_later', { customers: [{ id: 'cus_1' }] })
  standIn.account('sk_test_retry').customers.set('cus_late', { id: 'cus_late', object: 'customer' })
  const again = await runOver(world, { mode: 'sync', failed_in: run.id, dry_run: false })
  t.match(again, {
    status: 'done',
    total: 5,
    processed: 5,
    selection: { failed_in: run.id },
    outcomes: { synced: 5 },
    shops: { total: 2 }
  })
  t.strictSame(
    again.items.map((item: Item) => item.account_id).sort(),
    [missing, ...unreached].sort(),
    'what failed, and what was not reached'
  )
  t.notOk(again.items.some((item: Item) => item.account_id === done))
  t.match(await runOver(world, { mode: 'sync', failed_in: again.id }), {
    status: 'done',
    total: 0,
    shops: { total: 0 }
  }, 'nothing failed')
  t.match(await runOver(world, { mode: 'sync', shop_id: fine, failed_in: run.id }), {
    status: 'done',
    total: 1,
    outcomes: { synced: 1 }
  })
  for (const unknown of [randomUUID(), 'x', "' or true --"]) {
    t.match((await call('POST', '/admin/accounts/reconcile', { mode: 'sync', failed_in: unknown })).json(), {
      statusCode: 404,
      code: 'PAY_RECONCILE_NOT_FOUND'
    })
  }
}

async function limiting (t: Test, world: World, next: () => string): Promise<void> {
  const { call, knex, standIn, addShop, addAccount } = world
  await knex('accounts').delete()
  standIn.addAccount('sk_test_limits', { customers: [{ id: 'cus_1' }] })
  const [shopId, other] = [
    await addShop({ id: next(), key: 'sk_test_limits' }),
    await addShop({ id: next(), key: 'sk_test_limits' })
  ]
  const linked = { pay_customer_id: 'cus_1' }
  const old = await addAccount(shopId, { ...linked, pay_synced_at: '2026-01-01T00:00:00.000Z' }, { id: next() })
  const never = await addAccount(shopId, linked, { id: next() })
  await addAccount(shopId, { ...linked, pay_synced_at: '2026-03-01T00:00:00.000Z' }, { id: next() })
  await addAccount(shopId, {}, { id: next() })
  const theirs = await addAccount(other, linked, { id: next() })
  const reached = async (body: object) => {
    const run = await runOver(world, body)
    return run.statusCode ? [run.statusCode, run.field] : [run.total, run.items.map((item: Item) => item.account_id)]
  }
  t.strictSame(await reached({ mode: 'sync', shop_id: shopId, synced_before: '2026-02-01T01:00:00+01:00' }), [2, [
    old,
    never
  ]], 'stale accounts')
  t.strictSame(await reached({ mode: 'sync', synced_before: '2025-01-01T00:00:00Z' }), [2, [never, theirs]])
  t.strictSame(await reached({ mode: 'sync', accounts: [never, theirs] }), [2, [never, theirs]], 'named accounts')
  t.strictSame(
    await reached({ mode: 'sync', shop_id: shopId, accounts: [never, theirs] }),
    [422, 'accounts'],
    'of another shop'
  )
  t.strictSame(await reached({ mode: 'sync', accounts: [never, 'no-id', "' or true --", 'a\0b'] }), [422, 'accounts'])
  t.strictSame(await reached({ mode: 'sync', accounts: ['__proto__'] }), [422, 'accounts'])
  t.strictSame(await reached({ mode: 'sync', accounts: Array(1001).fill(never) }), [422, 'accounts'])
  const listed = (await call('GET', '/admin/accounts/reconcile?filter={"selection":{"accounts":2}}')).json()
  t.match(listed, [{ selection: { accounts: 2 } }], 'the list says what a run was limited to')

  const unknown = [
    await addAccount(shopId, { pay_customer_id: 'cus_x' }, { id: next() }),
    await addAccount(shopId, { pay_customer_id: 'cus_y' }, { id: next() })
  ]
  t.match(await runOver(world, { mode: 'check', accounts: unknown }), {
    status: 'done',
    differences: { not_found: 2 },
    shops: { stopped: [] }
  }, 'some unknown customers say nothing about the key')

  const held = await call('POST', '/admin/accounts/reconcile', { mode: 'check', shop_id: other })
  t.equal(
    (await call('POST', '/admin/accounts/reconcile', { mode: 'check', accounts: [never] })).statusCode,
    202,
    'a run holds only the shops of its accounts'
  )
  await untilOver(world, held.json().id)
}

/** A run whose process dies after it changed accounts and before it said so. */
async function dying (t: Test, engine: Engine): Promise<void> {
  const knex = await engine.connect(t)
  const runs = knexRunStore(knex)
  let idle = true
  const world = await build(t, knex, {
    ...fast,
    leaseDuration: 300,
    runs: { ...runs, claimable: async () => idle ? [] : runs.claimable() }
  })
  const shopId = await world.addShop({ key: null })
  const accounts: string[] = []
  for (let n = 0; n < 40; n++) accounts.push(await world.addAccount(shopId, { pay_customer_id: `cus_${n}` }))
  const gone = (): Promise<never> => Promise.reject(new RangeError('gone'))
  let dead = (): void => {}
  const death = new Promise<void>((resolve) => {
    dead = resolve
  })
  const store: RunStore = {
    ...runs,
    renew: gone,
    finish: gone,
    release: gone,
    claimable: async () => [],
    advance: () => {
      dead()
      return gone()
    }
  }
  const dyingHost = await host(t, knex, world.standIn, {
    ...fast,
    perSecond: 10,
    leaseDuration: 300,
    runs: store,
    accounts: knexAccountStore(knex)
  })
  const { id } = (await dyingHost.call('POST', '/admin/accounts/reconcile', {
    mode: 'unlink',
    accounts: accounts.slice(0, 30),
    dry_run: false
  })).json()
  await death
  idle = false
  await untilOver(world, id)
  const run = (await world.call('GET', `/admin/accounts/reconcile/${id}`)).json()
  t.match(run, { status: 'done', processed: 30, outcomes: { unlinked: 30 } }, 'another process finishes it')
  t.ok(run.items.some((item: Item) => item['reason'] === 'before_interruption'))
  const rows = await knex('pay_reconcile_audit').where('run_id', id)
  t.equal(rows.length, 30, 'each account is unlinked once, and no other')
}

for (const engine of engines) {
  t.test(
    `a limited run is taken up by another process on ${engine.name}`,
    { skip: engine.skip },
    (t) => dying(t, engine)
  )
}
