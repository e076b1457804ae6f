import t, { type Test } from 'tap'
import Fastify from 'fastify'
import { createHmac, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import payReconcile, { type PayReconcileOptions } from '../src/index.ts'
import {
  createPayReconcileTables,
  dropPayReconcileTables,
  forgetAccounts,
  knexAccountStore,
  knexRunStore
} from '../src/knex/index.ts'
import { csv } from '../src/csv/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { webhooks } from '../src/webhooks/index.ts'
import { fast, pause, start, untilOver } from './bulk.ts'
import { engines, pglite } from './database.ts'
import { build, host, shopKey, type World } from './world.ts'
import { joined } from '../../../test/joined.ts'

const columns = { name: 'email', hashName: null, customerId: 'customer', details: 'details' } as const
const size = 60
const secret = 'whsec_ofEveryRegistration00000000'

/** A process with one of the tables, and without a name. */
function of (knex: Knex, table: string): Partial<PayReconcileOptions> & Pick<PayReconcileOptions, 'accounts'> {
  return {
    ...fast,
    namespace: `acme-${table}`,
    accounts: knexAccountStore(knex, { table, columns, shop: { secretKey: shopKey } }),
    runs: knexRunStore(knex, { table }),
    extensions: [webhooks({ secrets: { find: async (shopId) => ({ shopId, secret }) }, delay: 50 }), csv()]
  }
}

/** Two tables of accounts with the same ids, of the only shop. */
async function createAccounts (knex: Knex): Promise<void> {
  for (const table of ['users', 'organizations']) {
    await knex.raw('create table ?? (id bigint primary key, email text not null, customer text, details jsonb)', [
      table
    ])
    await knex(table).insert(
      Array.from(
        { length: size },
        (_, n) => ({ id: n + 1, email: `${n}@${table}.example`, customer: `cus_${table}_${n + 1}` })
      )
    )
  }
}

async function linked (knex: Knex, table: string): Promise<number> {
  return (await knex(table).whereNotNull('customer')).length
}

const ids = (count: number) => Array.from({ length: count }, (_, n) => String(n + 1))

async function runOver (world: World, body: object) {
  const id = await start(world, body)
  await untilOver(world, id)
  return (await world.call('GET', `/admin/accounts/reconcile/${id}?limit=1000`)).json()
}

for (const engine of engines) {
  t.test(`two tables of accounts in one database, on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const knex = await engine.connect(t)
    await createAccounts(knex)
    const users = await build(t, knex, of(knex, 'users'))
    for (const table of ['users', 'organizations']) {
      for (const id of ids(size)) {
        users.standIn.account(shopKey).customers.set(`cus_${table}_${id}`, {
          id: `cus_${table}_${id}`,
          object: 'customer',
          name: `${table} ${id}`
        })
      }
    }
    await t.test('a run goes on in the table in which it began', (t) => interrupted(t, users))
    const organizations = await host(t, knex, users.standIn, of(knex, 'organizations'))
    await t.test('nothing of one is seen through the other', (t) => separate(t, users, organizations))
    await t.test('webhooks, changes and the schedule of one are not those of the other', (t) =>
      inStep(t, users, organizations))
    await t.test('an account of one is forgotten alone', (t) => forgotten(t, users, organizations))
  })
}

async function interrupted (t: Test, users: World): Promise<void> {
  const { knex, standIn } = users
  const runs = knexRunStore(knex, { table: 'organizations' })
  const run = {
    id: randomUUID(),
    mode: 'unlink',
    dryRun: false,
    shopId: null,
    actor: 'a',
    requestId: null,
    selection: { accounts: size },
    scheduledFor: null
  } as const
  await runs.start(run, [{ shopId: 'main', accounts: size }], Object.fromEntries(ids(size).map((id) => [id, null])))
  // A process that dies at once: its lease lapses.
  await runs.claim(run.id, { owner: randomUUID(), duration: 1 })

  // Longer than it takes to look for runs that nobody works on.
  await pause(fast.leaseDuration * 2)
  t.equal(await linked(knex, 'users'), size, 'another registration leaves it alone')
  t.strictSame(await knex('pay_reconcile_run_shops').where({ run_id: run.id }).pluck('status'), ['running'])
  t.match((await users.call('GET', `/admin/accounts/reconcile/${run.id}`)).json(), {
    code: 'PAY_RECONCILE_NOT_FOUND'
  })
  t.match((await users.call('DELETE', `/admin/accounts/reconcile/${run.id}`)).json(), {
    code: 'PAY_RECONCILE_NOT_FOUND'
  })
  t.equal(
    await knexRunStore(knex, { table: 'users' }).claim(run.id, { owner: randomUUID(), duration: 1000 }),
    undefined
  )
  t.match(
    await runOver(users, { mode: 'unlink', accounts: ids(3) }),
    { status: 'done', outcomes: { unlinked: 3 } },
    'nor does it hold the shop of the other'
  )

  const again = await host(t, knex, standIn, of(knex, 'organizations'))
  await untilOver(again, run.id)
  t.strictSame([await linked(knex, 'users'), await linked(knex, 'organizations')], [size, 0])
  await again.app.close()
  await knex('organizations').update({ customer: knex.raw("'cus_organizations_' || id") })
}

async function separate (t: Test, users: World, organizations: World): Promise<void> {
  for (const world of [users, organizations]) {
    await world.call('POST', '/admin/accounts/7/sync-pay')
    await world.call('POST', '/admin/accounts/7/link-pay', { pay_customer_id: 'cus_x' })
  }
  const listed = async (world: World, path: string) => (await world.call('GET', `/admin/accounts/${path}`)).json()
  const changes = await listed(users, 'audit?filter={"account_id":"7"}')
  t.strictSame(
    changes.map(({ before, after }: Record<string, any>) => [before.pay_customer_id, after.pay_customer_id]),
    [['cus_users_7', 'cus_x'], ['cus_users_7', 'cus_users_7']]
  )
  t.equal((await users.call('GET', '/admin/accounts/audit?format=csv')).body.includes('organizations'), false)
  t.match(await listed(users, `audit/${changes[0].id}/snapshot`), { pay_customer: { name: 'users 7' } })
  t.match(await listed(organizations, `audit/${changes[0].id}/snapshot`), { code: 'PAY_RECONCILE_NOT_FOUND' })

  const run = await runOver(users, { mode: 'check' })
  t.match([
    await listed(organizations, `reconcile/${run.id}`),
    await listed(organizations, `reconcile/${run.id}?format=csv`)
  ], [{ statusCode: 404 }, { statusCode: 404 }])
  t.equal((await listed(organizations, 'reconcile')).some(({ id }: { id: string }) => id === run.id), false)
  t.equal((await listed(users, `reconcile?filter={"id":"${run.id}"}`)).length, 1)
  const own = await runOver(organizations, { mode: 'check' })
  t.match(await listed(organizations, `reconcile/${own.id}?since=${run.id}`), { statusCode: 422, field: 'since' })
  t.match(
    (await organizations.call('POST', '/admin/accounts/reconcile', { mode: 'check', failed_in: run.id })).json(),
    { code: 'PAY_RECONCILE_NOT_FOUND' }
  )
  t.match(
    (await organizations.call('POST', '/admin/accounts/reconcile', { mode: 'unlink', accept: [run.items[0].id] }))
      .json(),
    { message: 'accept.0 is not the id of an item' }
  )
}

async function deliver ({ app }: World) {
  const payload = JSON.stringify({ id: `evt_${randomUUID()}`, object: 'event', type: 'customer.updated' })
  const time = Math.floor(Date.now() / 1000)
  const signature = createHmac('sha256', secret).update(`${time}.${payload}`).digest('hex')
  return await app.inject({
    method: 'POST',
    url: '/admin/accounts/webhooks/main',
    payload,
    headers: { 'content-type': 'application/json', 'stripe-signature': `t=${time},v1=${signature}` }
  })
}

async function inStep (t: Test, users: World, organizations: World): Promise<void> {
  const { knex } = users
  const unread = async (table: string) =>
    (await knex(table).whereNotNull('customer').whereRaw("details->'pay_customer' is null")).length
  await knex('pay_reconcile_changed').delete()
  for (const table of ['users', 'organizations']) {
    await knex(table).update({ details: null, customer: knex.raw("'cus_' || ? || '_' || id", [table]) })
  }
  t.equal((await deliver(users)).statusCode, 204)
  while (await unread('users') > 0) await pause()
  await knex('pay_reconcile_runs').whereNull('finished_at').first('id').then(async (row) =>
    row && await untilOver(users, row.id)
  )
  t.equal(await unread('organizations'), size, 'a delivery to one starts nothing of the other')
  t.match(
    await runOver(organizations, { mode: 'changes', dry_run: false }),
    { outcomes: { synced: size } },
    'which reads events from a place of its own'
  )
  t.equal(await unread('organizations'), 0)
  t.match(await runOver(users, { mode: 'changes', dry_run: false }), { total: 0 })
  await users.call('POST', '/admin/accounts/9/unlink-pay')
  await users.call('POST', '/admin/accounts/9/link-pay', { pay_customer_id: 'cus_users_9' })
  t.match(
    await runOver(organizations, { mode: 'changes', dry_run: false }),
    { total: 0 },
    'a link of one is no change of the other'
  )
  t.match(await runOver(users, { mode: 'changes', dry_run: false }), { total: 1, outcomes: { synced: 1 } })

  const [ofUsers, ofOrganizations] = [
    knexRunStore(knex, { table: 'users' }),
    knexRunStore(knex, { table: 'organizations' })
  ]
  const [early, late] = ['2030-01-01T00:00:00.000Z', '2030-01-02T00:00:00.000Z']
  t.strictSame([await ofUsers.lastScheduled('check', early), await ofOrganizations.lastScheduled('check', late)], [
    early,
    late
  ])
  const scheduled = {
    id: randomUUID(),
    mode: 'check',
    dryRun: true,
    shopId: null,
    actor: 'schedule',
    requestId: null,
    selection: {},
    scheduledFor: '2031-01-01T00:00:00.000Z'
  } as const
  t.equal(await ofUsers.startScheduled(scheduled, []), true)
  t.equal(
    await ofOrganizations.startScheduled({ ...scheduled, id: randomUUID() }, []),
    true,
    'a scheduled time is one for each'
  )
  await knex('pay_reconcile_runs').update({ finished_at: knex.raw("now() - interval '31 days'") })
  const count = async () => (await knex('pay_reconcile_runs').whereNotNull('scheduled_for')).length
  await knexRunStore(knex, { table: 'organizations', keepScheduledRuns: 90 }).deleteExpired!()
  t.equal(await count(), 2)
  await ofUsers.deleteExpired!()
  t.equal(await count(), 1, 'each keeps its own for as long as it says')
}

async function forgotten (t: Test, users: World, organizations: World): Promise<void> {
  const { knex } = users
  const kept = async (registration: string) => [
    (await knex('pay_reconcile_items').join('pay_reconcile_runs as r', 'r.id', 'run_id').where({
      registration,
      account_id: '7'
    })).length > 0,
    (await knex('pay_reconcile_snapshots').where({ registration, account_id: '7' })).length > 0
  ]
  for (const world of [users, organizations]) {
    await world.call('POST', '/admin/accounts/7/sync-pay')
    await world.call('POST', '/admin/accounts/7/unlink-pay')
    await runOver(world, { mode: 'check' })
  }
  t.strictSame([await kept('users'), await kept('organizations')], [[true, true], [true, true]])
  await t.rejects(forgetAccounts(knex, { accountId: '7' }), {
    code: 'PAY_RECONCILE_INVALID_OPTION',
    message: /forgetAccounts needs the registration of the accounts.*: this database has organizations, users/
  })
  await t.rejects(forgetAccounts(knex, { accountId: '7', registration: 'user' }), {
    code: 'PAY_RECONCILE_INVALID_OPTION',
    message: /forgetAccounts found no registration user: this database has organizations, users/
  })
  await forgetAccounts(knex, { accountId: '7', registration: 'users' })
  t.strictSame([await kept('users'), await kept('organizations')], [[false, false], [true, true]])
}

t.test('a name that is taken stops startup', async (t) => {
  const knex = await pglite.connect(t)
  await createAccounts(knex)
  const common = { provider: stripeProvider(), authorize: async () => {}, actor: () => 'a', namespace: 'acme' }
  const starting = async (t: Test, ...registrations: Array<Partial<PayReconcileOptions>>) => {
    const app = Fastify()
    t.teardown(() => app.close())
    for (const [index, options] of registrations.entries()) {
      app.register(async (scope) => {
        scope.register(payReconcile, {
          accounts: knexAccountStore(knex),
          ...common,
          ...options,
          prefix: `/admin/${index}`
        })
      })
    }
    await app.ready()
  }
  const rejects = (message: RegExp, ...registrations: Array<Partial<PayReconcileOptions>>) =>
    t.rejects(starting(t, ...registrations), { code: 'PAY_RECONCILE_INVALID_OPTION', message }, String(message))
  const { extensions: _, ...users } = of(knex, 'users')
  const { extensions: __, ...organizations } = of(knex, 'organizations')

  await t.test('each table has a name by default', async (t) => await starting(t, users, organizations))
  await rejects(
    /this app has a registration users already: set registration of accounts and runs to a name of its own/,
    users,
    users
  )
  await rejects(
    /accounts has the registration users, but runs has accounts: pass both the same table, or the same registration/,
    { ...users, runs: knexRunStore(knex) }
  )
  const own = {
    ...knexAccountStore(knex),
    registration: undefined,
    ready: async () => {},
    hasUuids: undefined
  } as never
  await rejects(/this app has a registration without a name already/, { accounts: own }, { accounts: own })

  // In other processes.
  const named = (table: string, registration: string, more = {}) => ({
    accounts: knexAccountStore(knex, { table, columns, shop: { secretKey: shopKey }, registration, ...more })
  })
  await rejects(
    joined(
      /the registration users of this database is that of public.users with customers in customer: /,
      /set registration .* for organizations with customers in customer/
    ),
    named('organizations', 'users')
  )
  await rejects(
    joined(
      /public.users with customers in customer already has the registration users: /,
      /set registration .* to 'users', and not to 'members'/
    ),
    named('users', 'members')
  )
  await rejects(
    joined(
      /the registration users of this database is that of public.users with customers in customer: .* /,
      /for users with customers in details.pay_customer_id/
    ),
    named('users', 'users', { columns: { ...columns, customerId: undefined } })
  )
  await t.test('a second column of the table is another registration', async (t) =>
    await starting(t, users, {
      ...named('users', 'users.eu', { columns: { ...columns, customerId: undefined } }),
      runs: knexRunStore(knex, { table: 'users', registration: 'users.eu' })
    }))
  await t.test('a table that is renamed keeps its name', async (t) => {
    await knex.raw('alter table users rename to people')
    await knex('pay_reconcile_registrations').where({ name: 'users' }).update({ accounts: 'public.people' })
    await starting(t, named('people', 'users'))
  })
  for (const registration of ['', 'a b', 5]) {
    t.throws(() => knexRunStore(knex, { registration: registration as string }), {
      message: /registration must have 1 to 100 letters/
    })
  }

  await knex.raw('create schema other')
  await knex.raw('create table other.organizations (like organizations including all)')
  await knex.raw('set search_path = other, public')
  await rejects(
    /the registration organizations of this database is that of public.organizations/,
    of(knex, 'organizations')
  )
})

t.test('a process whose registration was refused late, as the database was away, starts no runs', async (t) => {
  const knex = await pglite.connect(t)
  await createAccounts(knex)
  await knexAccountStore(knex, { table: 'organizations', columns, shop: { secretKey: shopKey }, registration: 'users' })
    .ready!()
  const { accounts, runs, ...options } = of(knex, 'users')
  let asked = 0
  const late = {
    ...accounts,
    ready: async () => {
      if (asked++ === 0) throw new Error('away')
      await accounts.ready!()
    }
  }
  const id = randomUUID()
  await runs!.start(
    { id, mode: 'unlink', dryRun: false, shopId: null, actor: 'a', requestId: null, selection: {}, scheduledFor: null },
    [{ shopId: 'main', accounts: size }],
    null
  )
  const { logs, call } = await build(t, knex, { ...options, accounts: late, runs })
  while (!/PAY_RECONCILE_INVALID_OPTION.*the tables cannot be checked at the moment/.test(logs())) await pause()
  t.strictSame(await knex('pay_reconcile_run_shops').pluck('status'), ['pending'])
  t.equal(await linked(knex, 'users'), size)
  t.match(
    (await call('GET', '/admin/accounts')).json(),
    { code: 'PAY_RECONCILE_INVALID_OPTION' },
    'nor does a route read the accounts'
  )
})

t.test('tables of an earlier version are refused, with what to do', async (t) => {
  const knex = await pglite.connect(t)
  await dropPayReconcileTables(knex)
  await knex.raw('create table pay_reconcile_schedule (mode text primary key, scheduled_for timestamptz not null)')
  const message = joined(
    /pay_reconcile_schedule was created by an earlier version, .*: /,
    /call dropPayReconcileTables\(knex\) first, which deletes the audit, the runs/
  )
  await t.rejects(createPayReconcileTables(knex), { code: 'PAY_RECONCILE_INVALID_OPTION', message })
  t.equal(await knex.schema.hasTable('pay_reconcile_registrations'), false, 'nothing is created beside them')
  await dropPayReconcileTables(knex)
  await createPayReconcileTables(knex)
  await createPayReconcileTables(knex)
  await knexAccountStore(knex).ready!()
})
