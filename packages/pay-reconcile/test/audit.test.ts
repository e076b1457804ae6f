import t, { type Test } from 'tap'
import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { knexAccountStore } from '../src/knex/index.ts'
import { engines, pglite } from './database.ts'
import { build, host, namespaceFor, shopKey, type World } from './world.ts'

type Entry = Readonly<Record<string, unknown>> & {
  readonly id: string,
  readonly at: string,
  readonly account_id: string,
  readonly action: string
}

for (const engine of engines) {
  for (const idType of ['uuid', 'text']) {
    t.test(`with ids of the type ${idType} on ${engine.name}`, { skip: engine.skip }, async (t) => {
      const world = await build(t, await engine.connect(t, 'jsonb', idType), namespaceFor(idType))
      await t.test('the audit', (t) => auditing(t, world))
      await t.test('a replaced snapshot', (t) => readingBack(t, world))
    })
  }
}

async function listed ({ call }: World, query: Record<string, string> = {}): Promise<Entry[]> {
  const response = await call('GET', `/admin/accounts/audit?${new URLSearchParams(query)}`)
  return response.json()
}

async function auditing (t: Test, world: World): Promise<void> {
  const { call, standIn, addShop, addAccount } = world
  const { customers } = standIn.account(shopKey)
  customers.set('cus_1', { id: 'cus_1', object: 'customer' })
  const shopId = await addShop()
  const [one, other] = [await addAccount(shopId), await addAccount(shopId)]
  await call('POST', `/admin/accounts/${one}/link-pay`, { pay_customer_id: 'cus_1' })
  await call('POST', `/admin/accounts/${one}/sync-pay`)
  await call('POST', `/admin/accounts/${other}/link-pay`, { pay_customer_id: 'cus_2' })
  const buyer = await host(t, world.knex, standIn, { actor: () => "o'hara" })
  await buyer.call('POST', `/admin/accounts/${other}/link-pay`, { pay_customer_id: 'cus_1' })

  const all = await listed(world)
  t.match(all, [
    {
      actor: "o'hara",
      action: 'link',
      account_id: other,
      shop_id: shopId,
      run_id: null,
      before: { pay_customer_id: 'cus_2' },
      after: { pay_customer_id: 'cus_1' },
      snapshot_kept: false
    },
    { actor: 'user-1', action: 'link', account_id: other },
    {
      actor: 'user-1',
      action: 'sync',
      account_id: one,
      provider_request_id: /^req_/,
      before: { snapshot_sha256: null },
      after: { snapshot_sha256: /^[0-9a-f]{64}$/ }
    },
    { actor: 'user-1', action: 'link', account_id: one, before: { pay_customer_id: null } }
  ], 'newest first')
  t.equal(all.length, 4)
  const page = await call('GET', '/admin/accounts/audit?skip=1&limit=2')
  t.strictSame([page.headers['content-range'], page.json()], ['audit 1-3/4', all.slice(1, 3)])
  const by = async (filter: object, query = {}) =>
    (await listed(world, { filter: JSON.stringify(filter), ...query })).map(({ id }) =>
      all.findIndex((entry) => entry.id === id)
    )
  for (
    const [filter, wanted] of [
      [{ account_id: one }, [2, 3]],
      [{ actor: ["o'hara", 'nobody'] }, [0]],
      [{ action: 'sync' }, [2]],
      [{ run_id: null, shop_id: shopId }, [0, 1, 2, 3]],
      [{ run_id: randomUUID() }, []],
      [{ before: { pay_customer_id: 'cus_2' } }, [0]],
      [{ at_gte: all[1]!.at, at_lte: all[0]!.at, actor: "o'hara" }, [0]],
      [{ at_gte: '2100-01-01T00:00:00Z' }, []],
      [{ at_lte: '2000-01-01T00:00:00Z' }, []],
      [{ id: all[3]!.id, at: all[3]!.at }, [3]],
      [{ actor: "' or true --" }, []],
      [{ account_id: "x') or ('1'='1" }, []],
      [{ snapshot_kept: true }, []]
    ] as const
  ) t.strictSame(await by(filter), wanted, JSON.stringify(filter))
  t.strictSame(await by({}, { sort: 'at' }), [3, 2, 1, 0])
  for (
    const query of [
      'sort=before',
      'filter={"action":"drop"}',
      'filter={"sql":1}',
      'filter={"run_id":"x"}',
      'filter={"at_gte":"yesterday"}',
      'account_id=x'
    ]
  ) {
    t.equal((await call('GET', `/admin/accounts/audit?${query}`)).statusCode, 422, query)
  }
}

async function readingBack (t: Test, world: World): Promise<void> {
  const { call, knex, standIn, addShop, addAccount } = world
  const { customers } = standIn.account(shopKey)
  const accountId = await addAccount(await addShop())
  const save = async (change: object): Promise<void> => {
    customers.set('cus_3', { id: 'cus_3', object: 'customer', ...change })
    await call('POST', `/admin/accounts/${accountId}/sync-pay`)
  }
  await call('POST', `/admin/accounts/${accountId}/link-pay`, { pay_customer_id: 'cus_3' })
  await save({ name: 'First' })
  await save({ name: 'Second' })
  await save({ name: 'Second' })
  await call('POST', `/admin/accounts/${accountId}/link-pay`, { pay_customer_id: 'cus_4' })
  const entries = await listed(world, { filter: JSON.stringify({ account_id: accountId }) })
  t.strictSame(entries.map(({ action, snapshot_kept: kept }) => [action, kept]), [
    ['link', true],
    ['sync', false],
    ['sync', true],
    ['sync', false],
    ['link', false]
  ], 'a snapshot is kept if another one, or none, took its place')
  const read = (id: string) => call('GET', `/admin/accounts/audit/${id}/snapshot`)
  const [relinked, unchanged, resynced] = entries as [Entry, Entry, Entry]
  t.match((await read(resynced.id)).json(), {
    audit_id: resynced.id,
    account_id: accountId,
    pay_customer_id: 'cus_3',
    pay_customer: { id: 'cus_3', name: 'First' },
    replaced_at: /Z$/
  })
  t.match((await read(relinked.id)).json().pay_customer, { name: 'Second' })
  for (const id of [unchanged.id, randomUUID(), 'x', "' or true --"]) {
    t.match(
      (await read(encodeURIComponent(id))).json(),
      { statusCode: 404, code: 'PAY_RECONCILE_NOT_FOUND' },
      id
    )
  }

  await knex('pay_reconcile_snapshots').where('audit_id', resynced.id).update({
    replaced_at: knex.raw("now() - interval '30 days 1 second'")
  })
  t.equal((await read(resynced.id)).statusCode, 404, 'after 30 days it cannot be read')
  t.strictSame(
    (await listed(world, { filter: JSON.stringify({ account_id: accountId, snapshot_kept: true }) })).map(({ id }) =>
      id
    ),
    [relinked.id]
  )
  await host(t, knex, standIn)
  t.strictSame((await keptUntil(knex, 1)).map((row) => row.audit_id), [relinked.id], 'and is deleted at the next start')

  const forgetful = await host(t, knex, standIn, { accounts: knexAccountStore(knex, { keepSnapshots: 0 }) })
  t.equal((await keptUntil(knex, 0)).length, 0, '0 keeps none')
  await forgetful.call('POST', `/admin/accounts/${accountId}/link-pay`, { pay_customer_id: 'cus_3' })
  await save({ name: 'Third' })
  await forgetful.call('POST', `/admin/accounts/${accountId}/link-pay`, { pay_customer_id: 'cus_4' })
  t.equal((await knex('pay_reconcile_snapshots')).length, 0)
}

/** The snapshots that are kept, once there are so few. */
async function keptUntil (knex: Knex, few: number): Promise<Array<{ audit_id: string }>> {
  for (;;) {
    const rows = await knex('pay_reconcile_snapshots')
    if (rows.length <= few) return rows
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

t.test('the time for which snapshots are kept is checked', async (t) => {
  const knex = await pglite.connect(t)
  for (const keepSnapshots of [-1, 1.5, NaN, 36_501, '30' as never]) {
    t.throws(() => knexAccountStore(knex, { keepSnapshots }), {
      code: 'PAY_RECONCILE_INVALID_OPTION',
      message: /^pay-reconcile: knexAccountStore\.keepSnapshots must be an integer from 0 to 36500 \(got /
    })
  }
  for (const keepSnapshots of [0, 36_500]) t.doesNotThrow(() => knexAccountStore(knex, { keepSnapshots }))
})
