import t, { type Test } from 'tap'
import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import Stripe from 'stripe'
import { setHttpRules } from '../src/admin/http.ts'
import payReconcile from '../src/index.ts'
import { knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { knexWebhookSecrets, webhooks } from '../src/webhooks/index.ts'
import { webhookRoute } from '../src/webhooks/route.ts'
import { fast } from './bulk.ts'
import { engines, pglite, type Engine } from './database.ts'
import { build, host, type World } from './world.ts'
import { joined } from '../../../test/joined.ts'

const { webhooks: signing } = new Stripe('sk_test_none')
const secret = 'whsec_aSecretOfThisShop0000000000000'
const refusal = {
  statusCode: 400,
  code: 'PAY_RECONCILE_WEBHOOK_REFUSED',
  error: 'Bad Request',
  message: 'The delivery was refused'
}

interface Delivery {
  readonly payload?: string | Buffer
  readonly signature?: string
  readonly secret?: string
  /** In seconds from now. */
  readonly at?: number
  readonly headers?: Readonly<Record<string, string>>
}

const event = (type = 'customer.updated'): string =>
  JSON.stringify({
    id: `evt_${randomUUID()}`,
    object: 'event',
    type,
    data: { object: { id: 'cus_0', object: 'customer' } }
  })

function signed (payload: string, { secret: own = secret, at = 0 }: Delivery = {}): string {
  return signing.generateTestHeaderString({ payload, secret: own, timestamp: Math.floor(Date.now() / 1000) + at })
}

async function deliver ({ app }: World, shopId: string, delivery: Delivery = {}) {
  const {
    payload = event(),
    signature = signed(String(payload), delivery),
    headers = { 'content-type': 'application/json; charset=utf-8' }
  } = delivery
  const response = await app.inject({
    method: 'POST',
    url: `/admin/accounts/webhooks/${encodeURIComponent(shopId)}`,
    payload,
    headers: { 'stripe-signature': signature, ...headers }
  })
  return { status: response.statusCode, body: response.body === '' ? '' : response.json() }
}

/** The runs that webhooks have started, oldest first, once they have ended. */
async function runsOf ({ call }: World, atLeast: number): Promise<Array<Record<string, unknown>>> {
  for (;;) {
    const runs = (await call(
      'GET',
      `/admin/accounts/reconcile?sort=started_at&filter=${encodeURIComponent('{"actor":"webhook"}')}`
    )).json()
    if (runs.length >= atLeast && runs.every(({ status }: { status: string }) => status === 'done')) return runs
    await sleep(20)
  }
}

async function world (t: Test, engine: Engine, delay = 50) {
  const knex = await engine.connect(t)
  await knex.raw('alter table shops add pay_webhook_secret text')
  const options = {
    ...fast,
    leaseDuration: 60_000,
    extensions: [webhooks({ secrets: knexWebhookSecrets(knex), delay })]
  }
  const world = await build(t, knex, options)
  const shop = async (key: string, own: string | null = secret) => {
    world.standIn.addAccount(key, { customers: [{ id: 'cus_0', name: 'First' }] })
    const id = await world.addShop({ key })
    await knex('shops').where({ id }).update({ pay_webhook_secret: own })
    const accountId = await world.addAccount(id, { pay_customer_id: 'cus_0' })
    return { id, accountId }
  }
  return { world, options, shop, knex }
}

t.test('what webhooks need is checked at startup, and nothing else opens the route', async (t) => {
  const knex = await pglite.connect(t)
  const { standIn, app } = await build(t, knex, fast)
  const secrets = { find: async () => undefined }
  const { awaited: _, ...runs } = knexRunStore(knex)
  const { webhooks: __, ...provider } = stripeProvider()
  const { changes: ___, ...accounts } = knexAccountStore(knex)
  for (
    const [{ webhooks: own, ...options }, message] of [
      [{ webhooks: true }, /webhooks must be an object \(got a boolean\)/],
      [{ webhooks: null }, /webhooks must be an object \(got null\)/],
      [{ webhooks: {} }, /webhooks\.secrets must be WebhookSecrets/],
      [{ webhooks: { secrets, secret } }, /webhooks\.secret is not an option\. Did you mean secrets\?/],
      [
        { webhooks: { secrets, delay: 0 } },
        /webhooks\.delay must be an integer of milliseconds from 1 to 3600000 \(got 0\)/
      ],
      [{ webhooks: { secrets, config: [] } }, /webhooks\.config must be an object/],
      [{ webhooks: { secrets }, runs: undefined }, /webhooks needs runs with awaited and its function done/],
      [{ webhooks: { secrets }, runs }, /webhooks needs runs with awaited/],
      [{ webhooks: { secrets }, provider }, /webhooks needs a provider with webhooks/],
      [{ webhooks: { secrets }, accounts }, /webhooks needs a provider with listEvents and accounts with changes/],
      [
        { webhooks: { secrets: knexWebhookSecrets(knex) } },
        joined(
          /column "pay_webhook_secret" does not exist: /,
          /knexWebhookSecrets needs accounts with a column id, and shops with a column/
        )
      ],
      [
        { webhooks: { secrets: knexWebhookSecrets(knex, { table: 'people' }) } },
        /relation "people" does not exist: knexWebhookSecrets needs people with a column id/
      ]
    ] as const
  ) {
    await t.rejects(host(t, knex, standIn, { ...fast, extensions: [webhooks(own as never)], ...options } as never), {
      code: 'PAY_RECONCILE_INVALID_OPTION',
      message
    })
  }
  t.equal((await app.inject({ method: 'POST', url: `/admin/accounts/webhooks/${randomUUID()}` })).statusCode, 404)
  const configs: unknown[] = []
  const open = Fastify()
  t.teardown(() => open.close())
  open.addHook('onRoute', ({ url, config }) => {
    if (url.includes('webhooks')) configs.push(config)
  })
  open.register(payReconcile, {
    accounts: knexAccountStore(knex),
    runs: knexRunStore(knex),
    provider: stripeProvider(),
    authorize: async () => {},
    actor: () => 'a',
    prefix: '/pay',
    extensions: [webhooks({ secrets, config: { open: true } as object })]
  })
  await open.ready()
  t.match(configs, [{ open: true }], 'one route, with the config of the host')
})

t.test('a delivery is verified with the secret of its shop, or with one that nobody knows', async (t) => {
  const right = 'whsec_right'
  for (
    const [title, shop, isNew, isAboutCustomers, status, done] of [
      ['a secret', { shopId: 's', secret: right }, true, true, 204, ['noted s 1', 'soon']],
      ['a copy', { shopId: 's', secret: right }, false, true, 400, ['noted s 1']],
      ['about something else', { shopId: 's', secret: right }, true, false, 204, []],
      ['what has not the form of a secret', { shopId: 's', secret: 'blank' }, true, true, 400, []],
      ['no shop', undefined, true, true, 400, []]
    ] as const
  ) {
    const app = Fastify()
    t.teardown(() => app.close())
    const [secrets, seen]: [string[], string[]] = [[], []]
    app.register(async (scope) => {
      setHttpRules(scope)
      webhookRoute(scope, {
        config: {},
        secretOf: async () => shop,
        verifier: {
          isSecret: (secret) => secret.startsWith('whsec_'),
          isSigned: () => true,
          verify: ({ secret }) => {
            secrets.push(secret)
            return { id: '1', isAboutCustomers }
          }
        },
        awaited: {
          note: async (shopId, id) => {
            seen.push(`noted ${shopId} ${id}`)
            return isNew
          },
          start: async () => ({ started: false, left: false }),
          done: async () => {}
        },
        gathering: {
          soon: () => {
            seen.push('soon')
          }
        }
      })
    })
    t.equal((await app.inject({ method: 'POST', url: '/webhooks/s', payload: event() })).statusCode, status, title)
    t.strictSame(seen, done)
    t.match(secrets, [shop?.secret === right ? right : /^whsec_[0-9a-f]{48}$/], 'which takes as long')
  }
})

for (const engine of engines) {
  t.test(`webhooks on ${engine.name}`, { skip: engine.skip }, async (t) => {
    await t.test('a delivery with a valid signature soon leads to a run in the mode changes, whatever it says', (t) =>
      triggers(t, engine))
    await t.test('everything else gets the same refusal, and starts nothing', (t) => refusals(t, engine))
    await t.test('many deliveries, in several processes, are one run', (t) => manyDeliveries(t, engine))
    await t.test('a shop that another run holds waits for its end, also in another process', (t) => heldShop(t, engine))
    await t.test('a run that fails is started again, until everything is stored', (t) => failedRun(t, engine))
    await t.test('what changes while a run is under way is read by another one', (t) => changeDuringRun(t, engine))
    await t.test('thin events are accepted', (t) => thinEvents(t, engine))
    await t.test('a database that fails is 500, so that the provider delivers again', (t) => brokenDatabase(t, engine))
    await t.test('deliveries are forgotten when they are too old to be valid', (t) => expired(t, engine))
  })
}

async function triggers (t: Test, engine: Engine): Promise<void> {
  const { world: created, shop, knex, options } = await world(t, engine)
  const { id, accountId } = await shop('sk_test_hook')
  const asked: string[] = []
  const other = await host(t, knex, created.standIn, { ...options, mayContinue: ({ actor }) => asked.push(actor) < 0 })
  // The name in the event is a lie.
  const payload = JSON.stringify({
    id: 'evt_1',
    object: 'event',
    type: 'customer.updated',
    data: { object: { id: 'cus_0', object: 'customer', name: 'Mallory' } }
  })
  t.strictSame(await deliver(other, id.toUpperCase(), { payload }), { status: 204, body: '' })
  t.match(await runsOf(other, 1), [{
    mode: 'changes',
    dry_run: false,
    shop_id: id,
    scheduled_for: null,
    actor: 'webhook',
    total: 1,
    outcomes: { synced: 1 },
    shops: { total: 1, stopped: [] }
  }])
  t.match(await created.detailsOf(accountId), { pay_customer: { name: 'First' } })
  t.match(await created.audit(accountId), [{ actor: 'webhook', action: 'sync' }])
  t.strictSame(asked, [], 'the host has opened the route itself: mayContinue is not asked')
  // As the documentation of the provider says how to verify by hand: HMAC-SHA256 of the time, a dot and the body; v0 is
  // for tests.
  const byHand = event()
  const time = Math.floor(Date.now() / 1000)
  const v1 = createHmac('sha256', secret).update(`${time}.${byHand}`).digest('hex')
  t.strictSame(
    await deliver(created, id, {
      payload: byHand,
      signature: `t=${time},v1=${'0'.repeat(64)},v1=${v1},v0=${'0'.repeat(64)}`
    }),
    { status: 204, body: '' }
  )
  await runsOf(other, 2)
  while ((await knex('pay_reconcile_awaited')).length > 0) await sleep(20)
  t.strictSame(await deliver(created, id, { payload: event('charge.succeeded') }), { status: 204, body: '' })
  t.strictSame(await knex('pay_reconcile_awaited').pluck('shop_id'), [], 'events about other things start nothing')
  t.notMatch(created.logs() + other.logs(), secret)
}

async function refusals (t: Test, engine: Engine): Promise<void> {
  const { world: created, shop, knex } = await world(t, engine)
  const { id } = await shop('sk_test_refusals')
  const { id: without } = await shop('sk_test_without', null)
  const { id: blank } = await shop('sk_test_blank', ' ')
  const { id: weak } = await shop('sk_test_weak', 'whsec_')
  const payload = event()
  const header = signed(payload)
  const [time = '', v1 = ''] = header.split(',')
  const repeated = event()
  const seen = signed(repeated)
  t.equal((await deliver(created, id, { payload: repeated, signature: seen })).status, 204)
  const queries: string[] = []
  knex.on('query', ({ sql }: { sql: string }) => {
    queries.push(sql)
  })

  for (
    const [name, delivery, shopId = id, isCheap = false] of [
      ['no signature', { signature: '' }, id, true],
      ['a wrong signature', { payload, signature: `${time},v1=${'0'.repeat(64)}` }],
      ['a short one', { payload, signature: `${time},v1=00` }],
      ['no scheme', { payload, signature: time }],
      ['the scheme of test events', { payload, signature: `${time},${v1.replace('v1', 'v0')}` }],
      ['two times', { payload, signature: `t=1,${header}` }, id, true],
      ['another time', { payload, signature: `t=${Number(time.slice(2)) - 1},${v1}` }],
      ['a time that is no number', { payload, signature: `t=x,${v1}` }, id, true],
      ['a header that is too long', { payload, signature: `${header},${'v1=00,'.repeat(400)}` }, id, true],
      // The example of the provider's documentation, from 2017.
      [
        'the signature of the documentation',
        {
          payload,
          signature: 't=1492774577,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd' +
            ',v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39'
        },
        id,
        true
      ],
      ['an old signature', { at: -310 }, id, true],
      ['one from the future', { at: 400 }, id, true],
      ['another body', { payload: `${payload} `, signature: header }],
      ['no body', { payload: '', signature: signed('x') }],
      ['a body that is no event', { payload: 'null' }],
      ['a body that is no JSON', { payload: '{' }],
      ['a body that is not UTF-8', { payload: Buffer.from([0x22, 0xff, 0x22]), signature: signed('"\ufffd"') }],
      [
        'a body that is too large',
        { payload: JSON.stringify({ type: 'customer.updated', filler: 'x'.repeat(600_000) }) },
        id,
        true
      ],
      ['the secret of another shop', { secret: 'whsec_anotherSecret0000000000000000' }],
      ['an empty secret', { secret: ' ' }, blank],
      ['a secret without a rest', { secret: 'whsec_' }, weak],
      ['no secret', {}, without],
      ['an unknown shop', {}, randomUUID()],
      ['an id that the column cannot hold', {}, "' or true --"],
      ['a repeated delivery', { payload: repeated, signature: seen }],
      ['a repeated delivery with more signatures', {
        payload: repeated,
        signature: `v0=1,${seen},v1=${'0'.repeat(64)}`
      }],
      ['a repeated delivery with a byte order mark', { payload: `\ufeff${repeated}`, signature: seen }]
    ] as const satisfies ReadonlyArray<readonly [string, Delivery, string?, boolean?]>
  ) {
    queries.length = 0
    t.strictSame(await deliver(created, shopId, delivery), { status: 400, body: refusal }, name)
    if (isCheap) {
      t.equal(
        queries.filter((sql) => sql.includes('pay_webhook_secret')).length,
        0,
        `${name}: the database is not asked`
      )
    }
  }
  t.strictSame(await runsOf(created, 1).then((runs) => runs.length), 1)
  while ((await knex('pay_reconcile_awaited')).length > 0) await sleep(20)
  const copies = await Promise.all(
    Array.from({ length: 10 }, () => deliver(created, id, { payload, signature: header }))
  )
  t.strictSame(
    copies.map(({ status }) => status).sort(),
    [204, ...Array.from({ length: 9 }, () => 400)],
    'of ten copies at once, one is accepted'
  )
  t.equal((await deliver(created, id, { headers: {} })).status, 204, 'the content type says nothing')
  const long = (length: number): string => event().replace('}', `,"filler":"${'x'.repeat(length)}"}`)
  for (const [bytes, status] of [[524_288, 204], [524_289, 400]] as const) {
    t.equal(
      (await deliver(created, id, { payload: long(bytes - Buffer.byteLength(long(0))) })).status,
      status,
      `${bytes} bytes`
    )
  }
}

async function manyDeliveries (t: Test, engine: Engine): Promise<void> {
  const { world: created, shop, knex, options } = await world(t, engine, 300)
  const other = await host(t, knex, created.standIn, options)
  const { id } = await shop('sk_test_many')
  const { id: second } = await shop('sk_test_second')
  const before = created.standIn.requested
  const statuses = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => (await deliver(n % 2 ? created : other, n % 3 ? id : second)).status)
  )
  t.strictSame([...new Set(statuses)], [204])
  const runs = await runsOf(created, 1)
  await sleep(700)
  t.equal((await runsOf(created, 1)).length, 1, 'both timers have gone off, and one run was started')
  t.match(runs, [{ shop_id: null, total: 2, shops: { total: 2 } }])
  t.equal(
    created.standIn.requests.slice(before).filter(({ url }) => url.startsWith('/v1/events')).length,
    2,
    'one read of events for each shop'
  )
}

async function heldShop (t: Test, engine: Engine): Promise<void> {
  const { world: created, shop, knex, options } = await world(t, engine)
  const { id } = await shop('sk_test_held')
  const runs = knexRunStore(knex)
  const run = {
    id: randomUUID(),
    mode: 'check',
    dryRun: true,
    shopId: id,
    actor: 'user-1',
    requestId: null,
    selection: {},
    scheduledFor: null
  } as const
  await runs.start(run, [{ shopId: id, accounts: 1 }], null)
  const part = await runs.claim(run.id, { owner: randomUUID(), duration: 60_000 })
  t.equal((await deliver(created, id)).status, 204)
  await sleep(200)
  t.strictSame((await runsOf(created, 0)).length, 0)
  t.strictSame(await knex('pay_reconcile_awaited').pluck('shop_id'), [id])
  await created.app.close()
  const other = await host(t, knex, created.standIn, options)
  await sleep(100)
  const { owner } = await knex('pay_reconcile_run_shops').first('owner')
  await runs.finish(part!, { owner, duration: 1 }, 'done', null)
  t.match(await runsOf(other, 1), [{ shop_id: id, outcomes: { synced: 1 } }])
  while ((await knex('pay_reconcile_awaited')).length > 0) await sleep(20)
}

/** The shops that wait for a run, once all runs are settled or one of them is due again. */
async function waiting ({ knex }: World): Promise<string[]> {
  for (;;) {
    const notes = await knex('pay_reconcile_awaited').select('shop_id', 'attempts')
    if (notes.length === 0 || notes.every(({ attempts }) => attempts > 0)) return notes.map(({ shop_id: id }) => id)
    await sleep(20)
  }
}

/** The provider has an event about a customer. */
function happen ({ standIn }: World, key: string, object: object): void {
  standIn.account(key).events.push(
    {
      id: `evt_${randomUUID()}`,
      object: 'event',
      type: 'customer.updated',
      created: Math.floor(Date.now() / 1000),
      data: { object }
    } as never
  )
}

/** As if the pause before the next try was over. */
const due = async ({ knex }: World) => {
  await knex('pay_reconcile_awaited').update({ due: knex.fn.now() })
}

async function failedRun (t: Test, engine: Engine): Promise<void> {
  const { world: created, shop, knex, options } = await world(t, engine)
  const { id, accountId } = await shop('sk_test_outage')
  const retrying = await host(t, knex, created.standIn, {
    ...options,
    leaseDuration: 300,
    attempts: 1,
    breakAfter: 1000
  })
  for (
    const [title, path] of [
      ['the events cannot be read', '/v1/events'],
      ['the customer cannot be read', '/v1/customers/cus_0']
    ] as const
  ) {
    const before = (await runsOf(created, 0)).length
    happen(created, 'sk_test_outage', { id: 'cus_0', object: 'customer' })
    const end = created.standIn.fault({ kind: 'answer', status: 500, secretKey: 'sk_test_outage', path })
    t.equal((await deliver(retrying, id)).status, 204)
    await runsOf(created, before + 1)
    t.strictSame(await waiting(created), [id], `${title}: the shop still waits`)
    await sleep(700)
    t.equal((await runsOf(created, 0)).length, before + 1, 'it is not tried again at once')
    await due(created)
    await runsOf(created, before + 2)
    t.match(
      await knex('pay_reconcile_awaited').select(
        'shop_id',
        'attempts',
        knex.raw('extract(epoch from due - now())::int as pause')
      ),
      [{ shop_id: id, attempts: 2 }]
    )
    const [{ pause }] =
      (await knex.raw('select extract(epoch from due - now())::int as pause from pay_reconcile_awaited')).rows
    t.ok(pause > 60 && pause <= 120, 'each time later')
    await knex('accounts').where('id', accountId).update({ details: { pay_customer_id: 'cus_0' } })
    end()
    await due(created)
    await runsOf(created, before + 3)
    while ((await knex('pay_reconcile_awaited')).length > 0) await sleep(20)
    t.match(
      await created.detailsOf(accountId),
      { pay_customer: { name: 'First' } },
      'after the outage it is stored, without another event'
    )
  }
  await knex('shops').where({ id }).update({ pay_secret_key: null })
  const before = (await runsOf(created, 0)).length
  await deliver(retrying, id)
  await runsOf(created, before + 1)
  t.match(retrying.logs(), 'changes of the shop are left: a run starts again later')
  await knex('accounts').where({ shop_id: id }).delete()
  await knex('shops').where({ id }).delete()
  await due(created)
  while ((await knex('pay_reconcile_awaited')).length > 0) await sleep(20)
  t.pass('a shop that is gone waits no longer')
}

async function changeDuringRun (t: Test, engine: Engine): Promise<void> {
  const { world: created, shop, knex } = await world(t, engine)
  const { id, accountId } = await shop('sk_test_during')
  const { customers } = created.standIn.account('sk_test_during')
  created.standIn.fault({ kind: 'slow', delay: 800, times: 1, secretKey: 'sk_test_during', path: '/v1/customers' })
  await deliver(created, id)
  while (
    !created.standIn.requests.some(({ url, secretKey }) =>
      secretKey === 'sk_test_during' && url.startsWith('/v1/customers')
    )
  ) await sleep(20)
  // The events were read already: only the new delivery says that there are others.
  const changed = { ...customers.get('cus_0')!, name: 'Second' }
  happen(created, 'sk_test_during', changed)
  customers.set('cus_0', changed)
  t.equal((await deliver(created, id)).status, 204)
  t.equal((await runsOf(created, 2)).length, 2)
  while ((await knex('pay_reconcile_awaited')).length > 0) await sleep(20)
  t.match(await created.detailsOf(accountId), { pay_customer: { name: 'Second' } })
}

async function thinEvents (t: Test, engine: Engine): Promise<void> {
  const { world: created, shop, knex } = await world(t, engine)
  const { id } = await shop('sk_test_thin')
  const thin = (type: string) =>
    JSON.stringify({
      id: `evt_${randomUUID()}`,
      object: 'v2.core.event',
      type,
      livemode: false,
      created: new Date().toISOString(),
      related_object: null
    })
  for (const type of ['v1.billing.meter.error_report_triggered', 'v2.core.account.updated']) {
    t.equal((await deliver(created, id, { payload: thin(type) })).status, 204, type)
    t.strictSame(await knex('pay_reconcile_awaited').pluck('shop_id'), [], 'not about customers')
  }
  t.equal((await deliver(created, id, { payload: thin('v1.customer.updated') })).status, 204)
  t.equal((await runsOf(created, 1)).length, 1)
  t.strictSame(
    await deliver(created, id, { payload: thin('v1.customer.updated'), secret: 'whsec_anotherSecret0000000000000000' }),
    { status: 400, body: refusal }
  )
}

async function brokenDatabase (t: Test, engine: Engine): Promise<void> {
  const { world: created, shop, knex } = await world(t, engine)
  const { id } = await shop('sk_test_broken')
  const delivery = { payload: event(), signature: '' }
  const signature = signed(delivery.payload)
  await knex.raw('alter table pay_reconcile_awaited rename to gone')
  t.match(await deliver(created, id, { ...delivery, signature }), {
    status: 500,
    body: { code: 'PAY_RECONCILE_STORE_FAILED', message: 'Accounts, shops or runs could not be read or stored' }
  })
  await knex.raw('alter table gone rename to pay_reconcile_awaited')
  t.equal((await deliver(created, id, { ...delivery, signature })).status, 204, 'the delivery was not noted')
}

async function expired (t: Test, engine: Engine): Promise<void> {
  const { world: created, shop, knex } = await world(t, engine)
  const { id } = await shop('sk_test_expired')
  await deliver(created, id)
  await deliver(created, id)
  const [first] = await knex('pay_reconcile_deliveries').pluck('id')
  await knex('pay_reconcile_deliveries').where({ id: first }).update({ at: knex.raw("now() - interval '2 hours'") })
  const [run] = await runsOf(created, 1)
  await knexRunStore(knex).deleteExpired?.()
  t.equal((await knex('pay_reconcile_deliveries')).length, 1)
  t.equal((await runsOf(created, 1)).length, 1)
  await knex('pay_reconcile_runs').where({ id: run!.id }).update({
    finished_at: knex.raw("now() - interval '31 days'")
  })
  await knexRunStore(knex).deleteExpired?.()
  t.equal((await runsOf(created, 0)).length, 0)
}
