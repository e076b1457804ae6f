import t, { type Test } from 'tap'
import Fastify from 'fastify'
import type { Knex } from 'knex'
import payReconcile, { type PayReconcileOptions } from '../src/index.ts'
import { knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { fast, start, untilOver } from './bulk.ts'
import { pglite } from './database.ts'
import { build, host, shopKey, type World } from './world.ts'

const columns = { name: 'email', email: 'email', hashName: null, customerId: 'customer', details: 'details' } as const

async function createTable (knex: Knex, table: string, idType: string): Promise<void> {
  await knex.raw(`create table ?? (id ${idType} primary key, email text not null, customer text, details jsonb)`, [
    table
  ])
}

/** A registration over a table of the host, under the only key. */
function of (knex: Knex, table: string, namespace?: string): Partial<PayReconcileOptions> {
  return {
    ...fast,
    accounts: knexAccountStore(knex, { table, columns, shop: { secretKey: shopKey } }),
    runs: knexRunStore(knex, { table }),
    ...(namespace !== undefined && { namespace })
  }
}

const customersOf = ({ standIn }: World) => standIn.account(shopKey).customers
const add = (world: World, id: string, fields: object) => {
  customersOf(world).set(id, { id, object: 'customer', created: Date.now() / 1000 | 0, ...fields })
}
const checkout = ({ app }: World, accountId: string, email?: string) =>
  app.payReconcile.ensureCustomer({ accountId, actor: 'buyer', ...(email !== undefined && { email }) })

async function runOver (world: World, body: object) {
  const id = await start(world, body)
  await untilOver(world, id)
  return (await world.call('GET', `/admin/accounts/reconcile/${id}`)).json()
}

t.test('users and organizations of one app, with the same ids and one account at the provider', async (t) => {
  const knex = await pglite.connect(t)
  for (const table of ['users', 'organizations']) {
    await createTable(knex, table, 'bigint')
    await knex(table).insert([1, 2].map((id) => ({ id, email: `${id}@${table}.example` })))
  }
  const users = await build(t, knex, of(knex, 'users', 'acme-users'))
  const organizations = await host(t, knex, users.standIn, of(knex, 'organizations', 'acme-organizations'))

  const [user, organization] = await Promise.all([
    checkout(users, '1', 'same@example.org'),
    checkout(organizations, '1', 'same@example.org')
  ])
  t.match([user, organization], [{ created: true }, { created: true }])
  t.not(user.customerId, organization.customerId, 'a customer each')
  t.match([customersOf(users).get(user.customerId), customersOf(users).get(organization.customerId)], [
    { metadata: { account_id: '1', account_namespace: 'acme-users' } },
    { metadata: { account_id: '1', account_namespace: 'acme-organizations' } }
  ])
  t.strictSame(users.standIn.requests.flatMap(({ headers: { 'idempotency-key': key } }) => key ?? []).sort(), [
    'account:acme-organizations/1',
    'account:acme-users/1'
  ])

  // Once a search shows the other's, and the key is forgotten.
  const { replays, unsearchable } = users.standIn.account(shopKey)
  replays.clear()
  unsearchable.clear()
  await knex('users').update({ customer: null })
  t.strictSame(await checkout(users, '1'), { customerId: user.customerId, created: true })
  await knex('users').update({ customer: null })
  customersOf(users).delete(user.customerId)
  t.match(
    await runOver(users, { mode: 'link', dry_run: false }),
    { outcomes: { unmatched: 2 } },
    'nor does a run take it'
  )
  t.strictSame(await knex('users').pluck('customer'), [null, null])
})

t.test('two registrations of one app with one namespace, or both without, are refused: equal ids would share a customer', async (t) => {
  const knex = await pglite.connect(t)
  for (const table of ['users', 'organizations']) await createTable(knex, table, 'uuid')
  // As the organization that each person has for themselves: with the id of the person.
  await knex.raw('create table profiles (id uuid primary key, email text not null, customer text, details jsonb)')
  const start = async (...registrations: Array<Partial<PayReconcileOptions>>) => {
    const app = Fastify()
    t.teardown(() => app.close())
    for (const [index, options] of registrations.entries()) {
      app.register(async (scope) => {
        scope.register(payReconcile, {
          accounts: knexAccountStore(knex),
          provider: stripeProvider(),
          authorize: async () => {},
          actor: () => 'a',
          ...options,
          prefix: `/admin/${index}`
        })
      })
    }
    await app.ready()
  }
  const taken = (which: string) => ({
    code: 'PAY_RECONCILE_INVALID_OPTION',
    message: new RegExp(`this app has a registration ${which} already: accounts with equal ids would share a customer`)
  })
  await t.rejects(start(of(knex, 'users', 'acme'), of(knex, 'organizations', 'acme')), taken('with the namespace acme'))
  await t.rejects(start(of(knex, 'users'), of(knex, 'organizations')), taken('without a namespace'))
  await start(of(knex, 'users'), of(knex, 'organizations', 'acme-organizations'), of(knex, 'profiles', 'acme-profiles'))
  await start(of(knex, 'users'), { ...of(knex, 'organizations'), metadataKey: 'organization_id' })
})

t.test('a user and an organization with one UUID get a customer each by the keys of their metadata', async (t) => {
  const knex = await pglite.connect(t)
  const id = '0f8fad5b-d9cb-469f-a165-70867728950e'
  for (const table of ['users', 'organizations']) {
    await createTable(knex, table, 'uuid')
    await knex(table).insert({ id, email: 'ada@example.org' })
  }
  const users = await build(t, knex, of(knex, 'users'))
  const organizations = await host(t, knex, users.standIn, {
    ...of(knex, 'organizations'),
    metadataKey: 'organization_id'
  })
  const both = await Promise.all([
    checkout(users, id, 'ada@example.org'),
    checkout(organizations, id, 'ada@example.org')
  ])
  t.match(both, [{ created: true }, { created: true }])
  t.strictSame(both.map(({ customerId }) => customersOf(users).get(customerId)?.metadata), [
    { account_id: id },
    { organization_id: id }
  ])
})

t.test('the customer of another app is shown with whose it is, and not linked', async (t) => {
  const knex = await pglite.connect(t)
  await createTable(knex, 'users', 'bigint')
  await knex('users').insert([1, 2, 3, 4, 5].map((id) => ({ id, email: `${id}@example.org` })))
  const world = await build(t, knex, of(knex, 'users', 'acme-users'))
  add(world, 'cus_plain', { name: 'Plain', metadata: { account_id: '1' } })
  add(world, 'cus_other', {
    email: '2@example.org',
    metadata: { plan: 'pro', account_id: '2', account_namespace: 'acme-organizations' }
  })
  add(world, 'cus_five', { email: '3@example.org', metadata: { account_id: '5' } })
  add(world, 'cus_shop', { email: '4@example.org', metadata: { woocommerce: '77' } })

  const suggested = await runOver(world, { mode: 'link', dry_run: false })
  t.match(
    suggested.items.map((
      { account_id: id, outcome, reason, candidates }: Record<string, any>
    ) => [
      id,
      outcome,
      reason,
      candidates.map((one: Record<string, unknown>) => [one.pay_customer_id, one.match, one.metadata])
    ]),
    [
      ['1', 'suggested', 'no_namespace', [['cus_plain', 'metadata', { account_id: '1' }]]],
      ['2', 'ambiguous', 'names_another_account', [['cus_other', 'email', {
        account_id: '2',
        account_namespace: 'acme-organizations',
        plan: 'pro'
      }]]],
      ['3', 'ambiguous', 'names_another_account', [['cus_five', 'email', { account_id: '5' }]]],
      ['4', 'suggested', 'email', [['cus_shop', 'email', { woocommerce: '77' }]]],
      ['5', 'suggested', 'no_namespace', [['cus_five', 'metadata', { account_id: '5' }]]]
    ]
  )
  t.strictSame(await knex('users').whereNotNull('customer'), [], 'without a person nothing is linked')
  const [one, two] = suggested.items.map(({ id }: { id: string }) => id)
  t.match((await world.call('POST', '/admin/accounts/reconcile', { mode: 'link', accept: [two] })).json(), {
    statusCode: 422,
    message: /accept.0 is not a suggestion of one customer/
  })
  t.match((await runOver(world, { mode: 'link', accept: [one], dry_run: false })).items, [{
    account_id: '1',
    outcome: 'linked',
    after: 'cus_plain',
    reason: 'accepted'
  }])

  const { customers } = (await world.call('GET', '/admin/accounts/unlinked-customers?shop_id=main')).json()
  t.strictSame(
    customers.map((
      one: Record<string, any>
    ) => [
      one.pay_customer_id,
      one.metadata,
      one.accounts.map((each: Record<string, unknown>) => [each.account_id, each.match])
    ]),
    [
      ['cus_shop', { woocommerce: '77' }, [['4', 'email']]],
      ['cus_five', { account_id: '5' }, [['5', 'metadata'], ['3', 'email']]],
      ['cus_other', { account_id: '2', account_namespace: 'acme-organizations', plan: 'pro' }, [['2', 'email']]]
    ]
  )
  const { customerId } = await checkout(world, '5', '3@example.org')
  t.not(customerId, 'cus_five', 'nor does a checkout take one without a namespace')
})

t.test('without a namespace, an id that others may have is refused', async (t) => {
  const knex = await pglite.connect(t)
  const NAMESPACE = {
    code: 'PAY_RECONCILE_NAMESPACE_REQUIRED',
    statusCode: 500,
    message: /^The id user_1 of an account is no UUID.*: set the option namespace/
  }
  const required = {
    code: 'PAY_RECONCILE_INVALID_OPTION',
    message: /namespace is required, because the ids of accounts are not UUIDs/
  }
  for (const type of ['smallint', 'integer', 'bigint']) {
    await knex.raw('drop table if exists users')
    await createTable(knex, 'users', type)
    await t.rejects(build(t, knex, of(knex, 'users')), required, `at startup, by the type ${type}`)
  }
  for (const type of ['text', 'varchar(50)', 'char(6)']) {
    await knex.raw('drop table if exists users')
    await createTable(knex, 'users', type)
    const world = await build(t, knex, of(knex, 'users'))
    await knex('users').insert({ id: 'user_1', email: 'a@example.org' })
    const asked = world.standIn.requested
    await t.rejects(checkout(world, 'user_1'), NAMESPACE, `at the first such id, of the type ${type}`)
    t.match((await runOver(world, { mode: 'link', dry_run: false })).items, [{
      outcome: 'failed',
      error_code: 'PAY_RECONCILE_NAMESPACE_REQUIRED'
    }])
    t.equal(world.standIn.requested, asked, 'before anything is sent')
    await t.rejects(build(t, knex, of(knex, 'users')), required, 'and at the next startup')
  }
  await knex.raw('drop table users')
  await createTable(knex, 'users', 'text')
  await knex('users').insert({ id: '0F8FAD5B-D9CB-469F-A165-70867728950E', email: 'a@example.org' })
  const world = await build(t, knex, of(knex, 'users'))
  t.match(await checkout(world, '0F8FAD5B-D9CB-469F-A165-70867728950E'), { created: true }, 'UUIDs as text need none')
  t.match([...customersOf(world).values()], [{
    metadata: { account_id: '0F8FAD5B-D9CB-469F-A165-70867728950E', account_namespace: undefined }
  }])
})

t.test('a customer that names its account by a key of the host', (t) => existing(t))

async function existing (t: Test): Promise<void> {
  const knex = await pglite.connect(t)
  await createTable(knex, 'users', 'uuid')
  const ids = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`) as [string, string, string]
  await knex('users').insert(ids.map((id) => ({ id, email: `${id}@example.org` })))
  const world = await build(t, knex, { ...of(knex, 'users'), metadataKey: 'firebaseUID' })
  add(world, 'cus_1', { metadata: { firebaseUID: ids[0] } })
  add(world, 'cus_2', { metadata: { account_id: ids[1] } })
  add(world, 'cus_3', { metadata: { firebaseUID: ids[2], account_namespace: 'staging' } })
  t.strictSame(await checkout(world, ids[0]), { customerId: 'cus_1', created: true })
  t.match(await runOver(world, { mode: 'link', dry_run: false }), { outcomes: { unmatched: 2, unchanged: 1 } })
  const { customerId } = await checkout(world, ids[1])
  t.strictSame(customersOf(world).get(customerId)?.metadata, { firebaseUID: ids[1] })

  for (
    const [options, message] of [
      [{ namespace: '' }, 'namespace must have 1 to 60 letters, digits, _, - and .'],
      [{ namespace: 'a b' }, 'namespace must have'],
      [{ namespace: 'a'.repeat(61) }, 'namespace must have'],
      [{ namespace: 5 }, 'namespace must have'],
      [{ metadataKey: 'a[b]' }, 'metadataKey must have 1 to 40 letters'],
      [{ metadataKey: '' }, 'metadataKey must have'],
      [{ metadataKey: 'account_namespace' }, 'and not be account_namespace']
    ] as const
  ) {
    await t.rejects(host(t, knex, world.standIn, { ...of(knex, 'users'), ...options } as object), {
      code: 'PAY_RECONCILE_INVALID_OPTION',
      message: new RegExp(message.replaceAll('.', '\\.'))
    }, JSON.stringify(options))
  }
}
