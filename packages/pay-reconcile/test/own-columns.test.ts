import t, { type Test } from 'tap'
import Fastify from 'fastify'
import type { Knex } from 'knex'
import { migrate, reconcileUsers } from '../../../examples/quickstart/pay-reconcile-users.ts'
import { run } from '../src/cli/run.ts'
import { customerIdOf } from '../src/details.ts'
import { hostTables } from '../src/knex/account-table.ts'
import {
  createAccountIndexes,
  knexAccountStore,
  knexRunStore,
  type KnexAccountStoreOptions
} from '../src/knex/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { fast, start, untilOver } from './bulk.ts'
import { engines, pglite } from './database.ts'
import { build, shopKey, superuser, type World } from './world.ts'
import { joined } from '../../../test/joined.ts'

const shop = { secretKey: shopKey }
const columns = {
  id: 'user_id',
  name: 'full_name',
  email: 'email',
  hashName: null,
  customerId: 'stripe_customer_id',
  details: 'stripe'
} as const
const users = { table: 'users', columns, shop } as const satisfies KnexAccountStoreOptions

async function createUsers (knex: Knex, customerId = 'text unique', details = 'jsonb'): Promise<void> {
  await knex.raw(
    'create table users (user_id bigint primary key, email text, full_name text not null, stripe_customer_id ' +
      `${customerId}, stripe ${details}, plan text default 'free')`
  )
}

for (const engine of engines) {
  t.test(`users with a customer's id in a column, on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const knex = await engine.connect(t, 'jsonb', 'bigint')
    await createUsers(knex)
    await createAccountIndexes(knex, users)
    const world = await build(t, knex, {
      ...fast,
      namespace: 'test',
      accounts: knexAccountStore(knex, users),
      runs: knexRunStore(knex, { table: 'users', columns })
    })
    await oneByOne(t, world)
    await inRuns(t, world)
    await writersAtOnce(t, world)

    await knex.raw('set enable_seqscan = off')
    const { rows } = await knex.raw("explain select from ? where a.pay_customer_id = 'cus_1'", [
      hostTables(knex, users).accounts('a')
    ])
    t.match(JSON.stringify(rows), /pay_reconcile_users_pay_id/, 'customers are found by an index')
  })
}

const row = async (knex: Knex, id: number) =>
  await knex('users').where('user_id', id).first('email', 'stripe_customer_id', 'stripe', 'plan')

async function oneByOne (t: Test, { knex, call, standIn, app, audit }: World): Promise<void> {
  await knex('users').insert([
    { user_id: 1, full_name: 'Ada', email: 'ada@example.org', stripe_customer_id: 'cus_1', plan: 'pro' },
    {
      user_id: 2,
      full_name: 'Bob',
      email: null,
      stripe_customer_id: '',
      stripe: '{"email":"of the host","n":12345678901234567890}'
    },
    { user_id: 3, full_name: 'Cid', email: 'cid@example.org', stripe: '[1]' }
  ])
  standIn.account(shopKey).customers.set('cus_1', { id: 'cus_1', object: 'customer', name: 'Ada' })
  const ada = {
    id: '1',
    shop_id: 'main',
    shop_name: 'main',
    name: 'Ada',
    hash_name: null,
    details: { email: 'ada@example.org', pay_customer_id: 'cus_1' },
    pay_customer_id: 'cus_1',
    pay_synced_at: null
  }
  t.strictSame((await call('GET', '/admin/accounts/1')).json(), ada)
  for (
    const [query, ids] of [
      ['missing_pay=true', ['2', '3']],
      ['missing_pay=false', ['1']],
      ['shop_id=main&sort=-name', ['3', '2', '1']],
      ['sort=-hash_name&limit=1', ['3']],
      ['filter={"pay_customer_id":["cus_1",null]}', ['1', '2', '3']],
      ['filter={"q":"AD","shop_name":"main"}', ['1']],
      ['filter={"details":{"email":"cid@example.org"}}', ['3']]
    ] as const
  ) t.strictSame((await call('GET', `/admin/accounts?${query}`)).json().map(({ id }: { id: string }) => id), ids, query)
  t.equal((await call('GET', '/admin/accounts?shop_id=other')).statusCode, 422)

  t.match((await call('POST', '/admin/accounts/2/link-pay', { pay_customer_id: 'cus_1' })).json(), {
    statusCode: 409,
    code: 'PAY_RECONCILE_CUSTOMER_TAKEN'
  }, 'the column allows each id once')
  t.match((await call('POST', '/admin/accounts/2/link-pay', { pay_customer_id: 'cus_2' })).json(), {
    id: '2',
    pay_customer_id: 'cus_2',
    details: { n: 12345678901234567000, pay_customer_id: 'cus_2' }
  })
  t.match((await knex.raw('select stripe::text as stripe from users where user_id = 2')).rows, [{
    stripe: '{"n": 12345678901234567890, "email": "of the host"}'
  }], 'what the host keeps there stays as it is')
  t.match((await call('POST', '/admin/accounts/3/link-pay', { pay_customer_id: 'cus_3' })).json(), {
    code: 'PAY_RECONCILE_DETAILS_NOT_OBJECT'
  })
  t.match((await call('POST', '/admin/accounts/1/sync-pay')).json(), { pay_customer: { name: 'Ada' } })
  t.match(await row(knex, 1), {
    email: 'ada@example.org',
    plan: 'pro',
    stripe_customer_id: 'cus_1',
    stripe: { pay_customer: { id: 'cus_1' }, pay_synced_at: String, email: undefined, pay_customer_id: undefined }
  })
  t.match((await call('POST', '/admin/accounts/1/unlink-pay')).json(), { pay_customer_id: null })
  t.match(await row(knex, 1), { stripe_customer_id: null, stripe: { pay_customer: undefined } })
  t.match((await audit('1')).map(({ action, before, after }) => [action, before, after]), [
    ['sync', { pay_customer_id: 'cus_1', pay_synced_at: null }, { pay_customer_id: 'cus_1', pay_synced_at: String }],
    ['unlink', { pay_customer_id: 'cus_1' }, { pay_customer_id: null, pay_synced_at: null }]
  ])
  const ensured = await Promise.all(
    Array.from({ length: 10 }, () => app.payReconcile.ensureCustomer({ accountId: '1', actor: 'buyer' }))
  )
  t.strictSame(
    [...new Set(ensured.map(({ customerId }) => customerId))],
    [(await row(knex, 1)).stripe_customer_id],
    'checkouts at once create one customer'
  )
}

async function inRuns (t: Test, world: World): Promise<void> {
  const { knex, call, standIn } = world
  const { customers } = standIn.account(shopKey)
  await knex('users').delete()
  customers.clear()
  await knex('users').insert([{ user_id: 1, full_name: 'Ada', email: ' Ada@Example.org' }, {
    user_id: 2,
    full_name: 'Bob',
    email: 'bob@example.org'
  }, { user_id: 3, full_name: 'Cid', stripe_customer_id: 'cus_gone' }])
  customers.set('cus_ada', { id: 'cus_ada', object: 'customer', email: 'ada@example.org' })
  customers.set('cus_bob', {
    id: 'cus_bob',
    object: 'customer',
    metadata: { account_id: '2', account_namespace: 'test' }
  })
  const over = async (body: object) => {
    const id = await start(world, body)
    await untilOver(world, id)
    return (await call('GET', `/admin/accounts/reconcile/${id}`)).json()
  }
  t.match((await call('GET', '/admin/accounts/unlinked-customers?shop_id=main')).json(), {
    customers: [
      { pay_customer_id: 'cus_bob', accounts: [{ account_id: '2' }] },
      { pay_customer_id: 'cus_ada', accounts: [{ account_id: '1', match: 'email' }] }
    ]
  })
  t.match(await over({ mode: 'link', dry_run: false }), { outcomes: { linked: 1, suggested: 1, unchanged: 1 } })
  t.equal((await row(knex, 2)).stripe_customer_id, 'cus_bob')
  t.match(await over({ mode: 'check' }), {
    total: 3,
    outcomes: { different: 3 },
    differences: { missing: 1, never_synced: 1, not_found: 1 }
  })
  t.match(await over({ mode: 'changes', dry_run: false }), { total: 2, outcomes: { synced: 1, failed: 1 } })
  t.match((await row(knex, 2)).stripe.pay_customer, { id: 'cus_bob' })
}

/**
 * Somebody else writes users while a run goes and people link: nobody loses anything, and no snapshot is of another
 * customer.
 */
async function writersAtOnce (t: Test, world: World): Promise<void> {
  const { knex, standIn, call } = world
  const size = 40
  const { customers } = standIn.account(shopKey)
  await knex('users').delete()
  for (let n = 0; n < size * 2; n++) customers.set(`cus_${n}`, { id: `cus_${n}`, object: 'customer', number: n })
  await knex('users').insert(
    Array.from({ length: size }, (_, n) => ({ user_id: n, full_name: `User ${n}`, stripe_customer_id: `cus_${n}` }))
  )
  const runId = await start(world, { mode: 'sync', dry_run: false })
  await Promise.all(Array.from({ length: size }, async (_, n) => {
    await knex.transaction(async (trx) => {
      await trx.raw("update users set plan = 'pro', stripe = coalesce(stripe, '{}') || ?::jsonb where user_id = ?", [
        `{"mine":${n}}`,
        n
      ])
    }, { isolationLevel: 'read committed' })
    if (n % 2 === 0) {
      t.equal(
        (await call('POST', `/admin/accounts/${n}/link-pay`, { pay_customer_id: `cus_${n + size}` })).statusCode,
        200
      )
    }
  }))
  await untilOver(world, runId)
  for (const { user_id: id, plan, stripe, stripe_customer_id: customerId } of await knex('users').orderBy('user_id')) {
    const n = Number(id)
    t.strictSame([plan, stripe.mine, customerId], ['pro', n, `cus_${n % 2 === 0 ? n + size : n}`])
    if (stripe.pay_customer !== undefined || n % 2 === 1) t.equal(stripe.pay_customer?.id, customerId)
  }
}

t.test('options and columns that cannot work stop startup, with their names', async (t) => {
  const knex = await pglite.connect(t, 'jsonb', 'bigint')
  const rejects = async (options: object, message: RegExp) => {
    await t.rejects(async () => await knexAccountStore(knex, options).ready!(), {
      code: 'PAY_RECONCILE_INVALID_OPTION',
      message
    }, String(message))
  }
  await createUsers(knex)
  await t.resolves(knexAccountStore(knex, users).ready!())
  for (
    const [options, message] of [
      [
        { ...users, columns: { ...columns, name: 'nick' } },
        /the column users.nick does not exist: name the right one in columns.name/
      ],
      [
        { ...users, columns: { ...columns, hashName: undefined } },
        /users.hash_name does not exist: name the right one in columns.hashName, or set that to null/
      ],
      [
        { ...users, columns: { ...columns, details: 'plan' } },
        /users.plan must have the type jsonb or json, and not text/
      ],
      [
        { ...users, columns: { ...columns, customerId: 'user_id' } },
        /users.user_id must have the type text, or varchar of 255 at least, and not bigint/
      ],
      [{ ...users, columns: { ...columns, customerId: 'full_name' } }, /users.full_name must allow null/],
      [{ ...users, columns: { ...columns, id: 'stripe' } }, /users.stripe must not have the type jsonb/],
      [
        { ...users, columns: { ...columns, customerID: 'stripe_customer_id' } },
        /columns.customerID is not an option. Did you mean customerId\?/
      ],
      [{ ...users, columns: { ...columns, email: 'email?' } }, /columns.email must be the name of a column/],
      [{ ...users, columns: { ...columns, email: null } }, /columns.email must be the name of a column/],
      [{ ...users, columns: { ...columns, shopId: 'plan' } }, /columns.shopId has no use with shop/],
      [{ ...users, shopTable: 'shops' }, /shopTable and openKey have no use with shop/],
      [{ ...users, shop: { secretKey: undefined } }, /shop.secretKey must be the secret key of the provider/],
      [{ ...users, shop: { ...shop, id: "a' or" } }, /shop.id must be letters, digits, _ and -/]
    ] as const
  ) await rejects(options, message)
  await rejects(
    { ...users, table: 'members', columns: { ...columns, name: 'email', email: 'email' } },
    joined(
      /"members" does not exist: /,
      /knexAccountStore needs members \(user_id, email text, stripe_customer_id text, stripe jsonb\), with ids/
    )
  )
  await knex.raw('alter table users alter stripe_customer_id type varchar(20)')
  await rejects(
    users,
    /users.stripe_customer_id must have the type text, or varchar of 255 at least, and not character varying\(20\)/
  )
  await knex.raw('create table plain (id bigint, shop_id bigint, name text, hash_name text, details text)')
  await rejects({ table: 'plain' }, /plain.details must have the type jsonb or json, and not text/)
})

t.test('columns of several shops, with json and the id in details', async (t) => {
  const knex = await pglite.connect(t, 'jsonb', 'bigint')
  await knex.raw("insert into shops values (7, 'Tea', 'sk_test_tea')")
  await knex.raw(
    'create table people (no bigint primary key, shop bigint not null, label varchar(40) not null, alias text, ' +
      'doc json)'
  )
  await knex.raw(
    "insert into people values (1, 7, 'Ada', 'a', '{\"pay_customer_id\":\"cus_1\"}'), (2, 7, 'Bob', null, null)"
  )
  const store = knexAccountStore(knex, {
    table: 'people',
    columns: { id: 'no', shopId: 'shop', name: 'label', hashName: 'alias', details: 'doc' }
  })
  await createAccountIndexes(knex, {
    table: 'people',
    columns: { id: 'no', shopId: 'shop', name: 'label', hashName: 'alias', details: 'doc' }
  })
  await store.ready!()
  t.equal(await store.secretKey('7'), 'sk_test_tea')
  const origin = { actor: 'a', requestId: null, runId: null, providerRequestId: null }
  await store.link({ action: 'link', accountId: '2', customerId: 'cus_1' }, origin)
  t.match(
    await store.scan({
      shopId: '7',
      after: null,
      limit: 9,
      runId: '00000000-0000-4000-8000-000000000000',
      only: { linked: true }
    }),
    [{ duplicate: true, account: { hashName: 'a' } }, { duplicate: true, account: { name: 'Bob' } }]
  )
  t.match((await store.unlink({ accountId: '2' }, origin)).account, { details: { pay_customer_id: undefined } })
  t.strictSame((await knex('people').where('no', 2).first('doc')).doc, {})
})

for (const engine of engines) {
  t.test(`the program for the users of an app, on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const knex = await engine.connect(t)
    const { standIn: { host, port, protocol, account } } = await build(t, knex)
    await knex.raw('drop table accounts, shops')
    await knex.raw(
      'create table users (id serial primary key, email text not null unique, stripe_customer_id text unique)'
    )
    await knex('users').insert([
      { email: 'ada@example.org', stripe_customer_id: 'cus_1' },
      { email: 'bob@example.org', stripe_customer_id: 'cus_typo' }
    ])
    account(shopKey).customers.set('cus_1', { id: 'cus_1', object: 'customer', email: 'ada@example.org' })
    process.env.STRIPE_SECRET_KEY = shopKey
    await migrate(knex)
    const app = Fastify()
    t.teardown(() => app.close())
    await reconcileUsers(app, {
      knex,
      provider: stripeProvider({ host, port, protocol }),
      authorize: async ({ headers }, reply) =>
        headers.authorization === superuser.authorization ? undefined : reply.code(403).send()
    })
    const address = await app.listen()
    let report = ''
    await run([`--url=${address}/admin/users`, '--mode=check'], { PAY_RECONCILE_TOKEN: 'superuser' }, {
      stdout: {
        write: (text) => {
          report += text
        }
      },
      stderr: { write: () => {} }
    })
    t.match(report, /never_synced +1\nnot_found +1|not_found +1\nnever_synced +1/, report)
    t.equal((await fetch(`${address}/admin/users`)).status, 403)
    const synced = await fetch(`${address}/admin/users/1/sync-pay`, { method: 'POST', headers: superuser })
    t.match(await synced.json(), { id: '1', pay_customer: { id: 'cus_1' } })
    t.equal(
      customerIdOf(
        (await (await fetch(`${address}/admin/users/2`, { headers: superuser })).json() as { details: object })
          .details as never
      ),
      'cus_typo'
    )
  })
}
