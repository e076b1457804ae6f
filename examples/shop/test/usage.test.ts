import { mock } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { bearer, build, client, createShop, INSTANT, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['member', 'admin'])
const replica = async () =>
  await build(t, database, idp, { settings: { MCP_IMPORTS_ENABLED: true, RATE_LIMIT_MAX: 100_000 } })
const app = await replica()
const [member, admin, machine] = [
  bearer(await idp.userToken('member')),
  bearer(await idp.userToken('admin')),
  bearer(await idp.machineToken())
]
for (const headers of [member, admin]) await app.inject({ url: '/me', headers })
await knex('users').where({ name: 'admin' }).update({ roles: ['admin'] })

/** A shop of the member with an API key, and how to use both. */
async function open (slug: string) {
  const id = await createShop(database, slug)
  await knex('shop_members').insert({
    shop_id: id,
    user_id: (await knex('users').where({ name: 'member' }).first('id')).id,
    role: 'owner'
  })
  const as = (headers: Record<string, string>, on = app) => client(on, `/shops/${id}`, headers)
  const key = (await as(machine)('POST', '/api-keys/', { name: slug })).body
  const agent: Record<string, string> = { 'x-api-key': key.plaintext }
  return {
    ...{ id, key: `/api-keys/${key.id}`, agent, as },
    read: async (on = app) => (await as(agent, on)('GET', '/tags')).status,
    write: async (headers = agent) => await as(headers)('POST', '/tags', { name: `Tag ${Math.random()}` }),
    tool: async (name: string, args: object, headers = agent) =>
      (await client(app, '', { ...headers, accept: 'application/json, text/event-stream' })('POST', '/mcp', {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args }
      })).body.result,
    limit: async (limits: object, of = '', on = app) => (await as(admin, on)('PATCH', `${of}/limits`, limits)).status,
    used: async (of = '', on = app) => (await as(member, on)('GET', `${of}/usage`)).body
  }
}

const counts = (calls: number, writes = 0, imports = 0) => ({ calls, writes, imports })
const none = { calls_per_day: null, writes_per_day: null, imports_per_day: null }
const file = { format: 'jsonl', content: '{ "name": "Imported" }' }

t.test('calls, writes and imports of keys and members count for the day, over REST and tools', async (t) => {
  const { id, key, agent, as, write, tool, used } = await open('counted')
  t.match(await used(), { limits: none, today: counts(0), days: [], keys: [] })
  t.strictSame(
    [(await write()).status, (await as(agent)('POST', '/tags', { name: 7 })).status, (await write(member)).status],
    [201, 422, 201],
    'three calls, of which two are writes'
  )
  for (
    const [args, headers, name = 'import_products'] of [
      [file, agent],
      [{ ...file, dry_run: true }, agent],
      [{ shop_id: id }, member, 'list_tags']
    ] as const
  ) t.notOk((await tool(name, args, headers)).isError, name)
  for (
    const [headers, path] of [
      [member, '/history'],
      [member, ''],
      [member, '/members'],
      [admin, '/tags'],
      [machine, '/tags']
    ] as const
  ) t.equal((await as(headers)('GET', path)).status, 200, 'is free')
  const report = await used()
  const today = { today: counts(6, 3, 1), days: [{ day: new Date().toISOString().slice(0, 10), ...counts(6, 3, 1) }] }
  t.match(report, {
    since: /^\d{4}-\d\d-\d\d$/,
    resets_at: INSTANT,
    ...today,
    keys: [{ name: 'counted', limits: none, today: counts(4, 2, 1) }]
  })
  t.match(await used(key), { limits: none, today: counts(4, 2, 1), days: [counts(4, 2, 1)] })

  await knex('daily_usage').insert(
    ['2026-01-01', '2026-01-02'].map((day) => ({ shop_id: id, meter_id: id, day, ...counts(9) }))
  )
  t.strictSame(await used(), report, 'a report is of 14 days')
  t.match((await as(member)('GET', '/usage?since=2026-01-02')).body, {
    since: '2026-01-02',
    days: [{ day: '2026-01-02', calls: 9 }, { calls: 6 }]
  })
  for (const since of ['soon', '0000-01-01', '2026-02-30']) {
    t.match(await as(member)('GET', `/usage?since=${since}`), { status: 422, body: { field: 'since' } })
  }
  t.equal((await as(admin)('DELETE', '')).status, 204)
  t.strictSame(await knex('daily_usage').where({ shop_id: id }), [])
})

t.test('a limit ends the calls of a key or a shop until the day is over, and says so', async (t) => {
  const { key, agent, as, read, write, tool, limit, used } = await open('limited')
  t.strictSame([await limit({ writes_per_day: 2, imports_per_day: 0 }), await limit({ calls_per_day: 6 }, key)], [
    200,
    200
  ])
  t.equal((await as(agent)('POST', '/tags', { name: 7 })).status, 422, 'what fails is no write')
  t.strictSame(
    (await Promise.all([write(), write(), write()])).map(({ status }) => status).sort(),
    [201, 201, 429],
    'nor do calls at once exceed it'
  )
  const { body, headers: { 'retry-after': wait } } = await write(member)
  t.match(body, {
    code: 'SHOP_DAILY_WRITES_EXCEEDED',
    message:
      `The daily limit of this shop is reached: 2 writes. Try again after ${(await used()).resets_at}, in ${wait} ` +
      'seconds, or ask an admin of the server to raise it'
  })
  t.ok(Number(wait) > 0 && Number(wait) <= 86_400)
  t.match(await tool('create_tag', { name: 'Tea' }), {
    isError: true,
    content: [{
      text: /daily limit of this shop is reached: 2 writes\. Try again after .*T00:00:00.*SHOP_DAILY_WRITES_EXCEEDED/
    }]
  })
  t.strictSame([(await write(admin)).status, await limit({ writes_per_day: null })], [201, 200])
  t.match(await tool('import_products', file), { isError: true, content: [{ text: /SHOP_DAILY_IMPORTS_EXCEEDED/ }] })
  t.strictSame(
    [await read(), await read(), await read(), await read()],
    [200, 200, 200, 429],
    'three of six calls were used, and refused ones are none'
  )
  t.match([(await as(agent)('GET', '/tags')).body, (await as(member)('GET', '/tags')).status], [{
    code: 'SHOP_KEY_DAILY_CALLS_EXCEEDED',
    message: /this API key is reached: 6 calls/
  }, 200])

  const successor = (await as(machine)('POST', `${key}/rotate`, {})).body
  t.match(await used(`/api-keys/${successor.id}`), { limits: { ...none, calls_per_day: 6 }, today: counts(0) })
  const { body: trail } = await as(admin)(
    'GET',
    `/audit?filter=${encodeURIComponent('{"operation":["update_shop_limits","update_api_key_limits"]}')}&sort=at`
  )
  const set = (before: number | null, after: number | null) => ({ before, after })
  t.strictSame(trail.map(({ actor_name: who, record_kind: kind, changes }: any) => [who, kind, changes]), [
    ['admin', 'shop', { writes_per_day: set(null, 2), imports_per_day: set(null, 0) }],
    ['admin', 'api_key', { calls_per_day: set(null, 6) }],
    ['admin', 'shop', { writes_per_day: set(2, null) }]
  ])
  for (const wrong of [{ calls_per_day: -1 }, { calls_per_day: 1.5 }, { calls_per_day: 2 ** 31 }, { calls: 1 }]) {
    t.equal(await limit(wrong), 422)
  }
})

t.test('replicas know of each other within four seconds, and exceed a limit for no longer', async (t) => {
  const [one, two, three] = [await replica(), await replica(), await replica()]
  for (const each of [one, two]) await each.listen({ host: '127.0.0.1', port: 0 })
  const { read, limit, used } = await open('shared')
  t.equal(await limit({ calls_per_day: 100 }, '', one), 200)
  for (let n = 0; n < 99; n++) await read(one)
  let over = 0
  // Twenty in a second at most.
  for (; over < 90 && await read(two) === 200; over++) await sleep(50)
  t.ok(over < 90, `the other one made ${over} calls`)
  await three.listen({ host: '127.0.0.1', port: 0 })
  for (const each of [one, two, three]) for (; await read(each) === 200; over++) await sleep(50)
  t.strictSame([await read(one), await read(two), await read(three)], [429, 429, 429])
  while ((await used('', one)).today.calls < 99 + over) await sleep(50)
  t.match((await used('', one)).today, counts(99 + over), 'all of them are counted')
})

t.test('calls do not fail because they cannot be counted, and are counted later', async (t) => {
  const { id, read, limit, used } = await open('away')
  t.strictSame([await limit({ calls_per_day: 3 }), await read()], [200, 200])
  for (const table of ['daily_usage', 'daily_limits']) await knex.raw(`alter table ${table} rename to ${table}_away`)
  t.match(await used(), { statusCode: 500 })
  t.strictSame([await read(), await read(), await read()], [200, 200, 429], 'the limit is what was read last')
  for (const table of ['daily_usage', 'daily_limits']) await knex.raw(`alter table ${table}_away rename to ${table}`)
  await knex('api_keys').where({ shop_id: id }).delete()
  t.match(await used(), { today: counts(3), keys: [] }, 'the key is gone, and its calls are the shop’s')
})

t.test('a day ends at midnight in UTC', async (t) => {
  const { id, read, limit, used } = await open('midnight')
  const now = Date.now()
  t.strictSame([await limit({ calls_per_day: 2 }), await read(), (await used()).today.calls], [200, 200, 1])
  mock.timers.enable({ apis: ['Date'], now: now - now % 86_400_000 + 86_399_000 })
  t.teardown(() => mock.timers.reset())
  t.strictSame([await read(), await read()], [200, 429], 'one was stored, one was not')
  mock.timers.tick(1000)
  t.strictSame([await read(), await read(), await read()], [200, 200, 429])
  mock.timers.setTime(now)
  await used()
  t.equal((await knex('daily_usage').where({ shop_id: id, meter_id: id, calls: 2 })).length, 2)
})
