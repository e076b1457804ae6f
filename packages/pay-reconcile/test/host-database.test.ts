import t, { type Test } from 'tap'
import { createRequire } from 'node:module'
import createKnex from 'knex'
import { csv } from '../src/csv/index.ts'
import { createPayReconcileTables, knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { knexWebhookSecrets } from '../src/webhooks/index.ts'
import { fast, start } from './bulk.ts'
import { engines, pglite, postgresql, type HostDatabase } from './database.ts'
import { build, shopKey, type World } from './world.ts'

t.setTimeout(300_000)

/** Everything about a session that a statement could depend on. */
const settings = {
  datestyle: 'German',
  default_transaction_isolation: 'serializable',
  timezone: 'Asia/Kathmandu',
  intervalstyle: 'sql_standard',
  bytea_output: 'escape',
  standard_conforming_strings: 'off',
  search_path: "public', 'pg_catalog"
}

const mapped = (row: object) => Object.fromEntries(Object.entries(row).map(([name, value]) => [camel(name), value]))
const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const camelRows = (rows: unknown) => Array.isArray(rows) ? rows.map(mapped) : rows
/** bool, int8, int4, json, date, timestamp, timestamptz, arrays of text, jsonb. */
const everyType = [16, 20, 23, 114, 1082, 1114, 1184, 1009, 3802]

const hosts: ReadonlyArray<readonly [string, HostDatabase]> = [
  ['a session with other settings', { settings }],
  ['repeatable read, the DateStyle SQL, and camelCase rows', {
    settings: { datestyle: 'SQL, DMY', default_transaction_isolation: 'repeatable read' },
    config: { wrapIdentifier: (name, wrap) => wrap(snake(name)), postProcessResponse: camelRows }
  }],
  ['the DateStyle Postgres, camelCase rows of raw statements too, and values as text', {
    settings: { datestyle: 'Postgres, MDY' },
    config: {
      postProcessResponse: (result) => result?.rows ? { ...result, rows: camelRows(result.rows) } : camelRows(result)
    },
    parsers: Object.fromEntries(everyType.map((oid) => [oid, (text: string) => text]))
  }],
  ['the rows of raw statements alone, and values as objects', {
    config: { postProcessResponse: (result) => result?.rows ?? result },
    parsers: {
      16: (text) => text === 't' ? 1 : 0,
      20: BigInt,
      114: (text) => new Map(Object.entries(JSON.parse(text))),
      1184: () => new Date(NaN),
      3802: (text) => [text]
    }
  }]
]

for (const engine of engines) {
  for (const [name, options] of hosts) {
    t.test(`a host with ${name}, on ${engine.name}`, { skip: engine.skip }, async (t) => {
      const knex = await engine.connect(t, 'jsonb', 'bigint', options)
      await everything(
        t,
        await build(t, knex, { ...fast, leaseDuration: 60_000, namespace: 'test', extensions: [csv()] }),
        engine === postgresql
      )
    })
  }
}

for (
  const [name, config, message] of [
    ['turns names into camelCase', {
      wrapIdentifier: (name, wrap) => wrap(camel(name))
    }, /wrapIdentifier of the knex turns pay_reconcile_run_shops into "payReconcileRunShops"/],
    ['renames every column', {
      postProcessResponse: (result) =>
        Array.isArray(result)
          ? result.map((row) =>
            Object.fromEntries(Object.entries(row).map(([name, value]) => [name.toUpperCase(), value]))
          )
          : result
    }, /postProcessResponse of the knex/],
    ['returns something other than rows', {
      postProcessResponse: (result) => result?.rows?.length
    }, /postProcessResponse of the knex/]
  ] as ReadonlyArray<readonly [string, HostDatabase['config'], RegExp]>
) {
  t.test(`a knex that ${name} stops startup`, async (t) => {
    const knex = await pglite.connect(t)
    await knex.raw('alter table shops add pay_webhook_secret text')
    Object.assign(knex.client.config, config)
    for (const store of [knexAccountStore(knex), knexRunStore(knex), knexWebhookSecrets(knex)]) {
      await t.rejects(store.ready!(), { code: 'PAY_RECONCILE_INVALID_OPTION', message })
    }
  })
}

t.test('a knex of another database is refused as soon as it is given', async (t) => {
  const Mysql = createRequire(import.meta.url)('knex/lib/dialects/mysql2')
  const knex = createKnex({
    client: class extends Mysql {
      _driver () {
        return {}
      }
    } as never
  })
  const refusal = { code: 'PAY_RECONCILE_INVALID_OPTION', message: /need PostgreSQL, but this knex speaks mysql/ }
  for (const made of [knexAccountStore, knexRunStore, knexWebhookSecrets]) t.throws(() => made(knex), refusal)
  await t.rejects(createPayReconcileTables(knex), refusal)
})

t.test('a time that is none is an error, and not 1970 or null', async (t) => {
  const knex = await pglite.connect(t)
  await knex.raw(
    'insert into pay_reconcile_audit (registration, at, actor, action, account_id, shop_id, before, after) ' +
      "values ('accounts', 'infinity', 'a', 'link', '1', '7', '{}', '{}')"
  )
  await knex.raw("insert into pay_reconcile_positions values ('accounts', '7', '-infinity', now())")
  const store = knexAccountStore(knex)
  await t.rejects(store.audit({ skip: 0, limit: 1, filter: {}, sort: null }), RangeError)
  await t.rejects(store.changes!.position('7'), RangeError)
})

async function everything (t: Test, world: World, microseconds: boolean): Promise<void> {
  const { call, app, addShop, addAccount, standIn } = world
  const before = Date.now() - 1000
  const isNow = (time: string) =>
    t.ok(Date.parse(time) >= before && Date.parse(time) <= Date.now() + 1000 && time.endsWith('Z'), `${time} is now`)
  const list = async (path: string, filter: object = {}) => {
    const response = await call('GET', `/admin/accounts${path}?filter=${encodeURIComponent(JSON.stringify(filter))}`)
    t.equal(response.statusCode, 200, response.body)
    return response.json() as Array<Record<string, any>>
  }
  const { customers } = standIn.account(shopKey)
  for (const id of ['cus_1', 'cus_2']) customers.set(id, { id, object: 'customer', name: 'Élan' })
  const shopId = await addShop({ id: '7' })
  const ids = ['9007199254740993', '9007199254740992', '3']
  for (const id of ids) await addAccount(shopId, { tier: { n: 1 } }, { id, name: 'Élan' })
  const [one = '', two = '', three = ''] = ids

  t.match(await call('POST', `/admin/accounts/${one}/link-pay`, { pay_customer_id: 'cus_1' }), { statusCode: 200 })
  const synced = (await call('POST', `/admin/accounts/${one}/sync-pay`)).json()
  t.match(synced, { id: one, pay_customer: { name: 'Élan' } })
  t.strictSame(
    (await list('', { id: ids, q: 'éLAN' })).map(({ id, shop_id: shop, details: { tier } }) => [id, shop, tier]),
    [['3', '7', { n: 1 }], [two, '7', { n: 1 }], [one, '7', { n: 1 }]]
  )
  t.strictSame(
    (await list('', { missing_pay: false, details: { tier: { n: 1 } }, pay_synced_at: synced.pay_synced_at })).map((
      { id }
    ) => id),
    [one]
  )

  const created = await Promise.all(
    Array.from({ length: 20 }, () => app.payReconcile.ensureCustomer({ accountId: two, actor: 'buyer' }))
  )
  t.equal(new Set(created.map(({ customerId }) => customerId)).size, 1, 'concurrent checkouts create one customer')
  t.strictSame(await app.payReconcile.ensureCustomer({ accountId: one, actor: 'buyer' }), {
    customerId: 'cus_1',
    created: false
  }, 'a linked account keeps its own')
  const calls = Array.from(
    { length: 20 },
    (_, n) => call('POST', `/admin/accounts/${three}/link-pay`, { pay_customer_id: `cus_1${n}` })
  )
  t.strictSame(
    [...new Set((await Promise.all(calls)).map(({ statusCode }) => statusCode))],
    [200],
    'each of 20 parallel calls succeeds'
  )
  await call('POST', `/admin/accounts/${three}/unlink-pay`)

  const audit = await list('/audit', { account_id: one })
  t.match(audit, [
    { action: 'sync', snapshot_kept: false, after: { pay_customer_id: 'cus_1' } },
    { action: 'link', shop_id: '7' }
  ])
  for (const { at, id } of audit) {
    isNow(at)
    for (const filter of [{ at }, { at_lte: at, at_gte: at }]) {
      t.ok(
        (await list('/audit', filter)).some((entry) => entry.id === id),
        `${JSON.stringify(filter)} finds the change that showed it`
      )
    }
  }
  if (microseconds) {
    t.equal(
      (await world.knex.raw("select 1 from pay_reconcile_audit where date_trunc('milliseconds', at) <> at limit 1")
        .then((result) => result.rows ?? result)).length,
      1,
      'the database knows microseconds'
    )
  }
  const csv = (await call('GET', '/admin/accounts/audit?format=csv')).body
  t.ok(csv.includes(`"${audit[0]!.at}"`) && !csv.includes('"1970-'), 'times of the file')
  customers.set('cus_1', { id: 'cus_1', object: 'customer', name: 'Other' })
  await call('POST', `/admin/accounts/${one}/sync-pay`)
  const [again] = await list('/audit', { account_id: one, snapshot_kept: true })
  isNow((await call('GET', `/admin/accounts/audit/${again?.id}/snapshot`)).json().replaced_at)

  const run = async (body: object) => {
    const id = await start(world, { dry_run: false, ...body })
    t.type(id, 'string')
    for (;;) {
      const found = (await call('GET', `/admin/accounts/reconcile/${id}`)).json()
      if (found.status !== 'running') return found
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  customers.set('cus_3', {
    id: 'cus_3',
    object: 'customer',
    metadata: { account_id: three, account_namespace: 'test' }
  })
  const linked = await run({ mode: 'link' })
  t.match(linked, {
    status: 'done',
    total: 3,
    outcomes: { linked: 1, unchanged: 2 },
    shops: { total: 1, finished: 1, stopped: [] }
  })
  isNow(linked.started_at)
  isNow(linked.finished_at)
  for (
    const filter of [
      { started_at: linked.started_at },
      { finished_at: linked.finished_at, dry_run: false, total: 3, outcomes: { linked: 1 } }
    ]
  ) {
    t.match(await list('/reconcile', filter), [{ id: linked.id }], JSON.stringify(filter))
  }
  t.match(linked.items.find((item: { account_id: string }) => item.account_id === three), {
    outcome: 'linked',
    after: 'cus_3',
    shop_id: '7'
  })
  t.match(await run({ mode: 'check', shop_id: '7' }), { outcomes: { different: 2, unchanged: 1 } })
  t.match(await run({ mode: 'changes' }), { total: 3, outcomes: { synced: 3 } })
  t.match(await run({ mode: 'changes' }), { total: 0, processed: 0 }, 'what is read is not read again')
  t.notMatch(world.logs(), /"level":(40|50)/)
}
