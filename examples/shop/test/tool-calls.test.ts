import t from 'tap'
import { BUCKETS, bucketOf, quantile } from '../src/tool-calls/histogram.ts'
import { bearer, build, client, createShop, INSTANT, openIdentityProvider, openTestDatabase } from './build.ts'

t.test('a quantile is at most 12 % off', async (t) => {
  for (const [durations, share, expected] of [
    [[100], 0.5, 100],
    [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.5, 5],
    [[...Array.from({ length: 99 }, () => 20), 900], 0.99, 20],
    [[...Array.from({ length: 98 }, () => 20), 900, 900], 0.99, 900],
    [[0.9, 55_000], 1, 55_000]
  ] as const) {
    const counts = new Array<number>(BUCKETS).fill(0)
    for (const duration of durations) counts[bucketOf(duration)]! += 1
    const found = quantile(counts, share)!
    t.ok(Math.abs(found / expected - 1) <= 0.125, `${found} of ${expected}`)
  }
  t.equal(quantile(new Array(BUCKETS).fill(0), 0.5), null)
  t.strictSame([0, 0.2, 1e9, Infinity].map(bucketOf), [0, 0, BUCKETS - 1, BUCKETS - 1])
})

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['member', 'stranger', 'admin'])
const app = await build(t, database, idp)
const person = async (name: string) => {
  const headers = bearer(await idp.userToken(name))
  return { headers, id: (await client(app, '', headers)('GET', '/me')).body.id as string }
}
const [member, stranger, admin] = [await person('member'), await person('stranger'), await person('admin')]
await knex('users').where({ id: admin.id }).update({ roles: ['admin'] })
const [shop, other] = [await createShop(database, 'shop'), await createShop(database, 'other')]
await knex('shop_members').insert([{ shop_id: shop, user_id: member.id, role: 'staff' }, { shop_id: other, user_id: stranger.id, role: 'owner' }])
const machine = bearer(await idp.machineToken())
const key = (await client(app, `/shops/${shop}`, machine)('POST', '/api-keys/', { name: 'Agent' })).body.plaintext
const agent = { 'x-api-key': key }

async function call (headers: Record<string, string>, name: string, args: object, to = app): Promise<{ isError?: boolean }> {
  const response = await to.inject({
    method: 'POST', url: '/mcp', headers: { ...headers, accept: 'application/json, text/event-stream' }, payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
  })
  return response.json().result
}

const told = async (headers: Record<string, string>, query = '', to = app) => await client(to, '', headers)('GET', `/shops/${shop}/tool-calls${query}`)
const none = { calls: 0, errors: 0, tools: [], hours: [] }

t.test('calls, errors and durations are counted by tool and hour, in the shop that the call was let into', async (t) => {
  t.match((await told(member.headers)).body, none)
  for (let n = 0; n < 3; n++) t.notOk((await call(agent, 'list_tags', {})).isError)
  t.ok((await call(agent, 'create_tag', {})).isError, 'arguments that are refused')
  t.ok((await call(agent, 'list_products', { shop_id: other })).isError, 'an error of the agent of this shop, and no call in the other')
  t.notOk((await call(member.headers, 'create_tag', { shop_id: shop, name: 'Tea' })).isError)
  t.notOk((await call(machine, 'list_tags', { shop_id: shop })).isError)
  t.ok((await call(stranger.headers, 'list_tags', { shop_id: shop })).isError, 'whoever is not let in cannot count')
  t.ok((await call(member.headers, 'get_tag', { shop_id: shop, tag_id: other })).isError)

  const { status, body } = await told(member.headers)
  t.equal(status, 200)
  t.match(body, { since: INSTANT, calls: 8, errors: 3, hours: [{ hour: INSTANT, calls: 8, errors: 3 }] })
  const ms = (tool: { p50_ms: number, p99_ms: number }) => tool.p50_ms > 0 && tool.p99_ms >= tool.p50_ms && tool.p99_ms < 60_000
  t.strictSame(body.tools.map((tool: any) => [tool.tool, tool.calls, tool.errors, ms(tool)]), [['list_tags', 4, 0, true], ['create_tag', 2, 1, true], ['get_tag', 1, 1, true], ['list_products', 1, 1, true]])
  t.match((await client(app, `/shops/${other}`, stranger.headers)('GET', '/tool-calls')).body, none)
})

t.test('replicas add up, and what could not be written is written later', async (t) => {
  const replica = await build(t, database, idp)
  await call(agent, 'list_tags', {}, replica)
  await knex.raw('alter table tool_calls rename to tool_calls_away')
  t.equal((await replica.inject({ url: '/admin/tool-calls', headers: admin.headers })).statusCode, 500)
  await knex.raw('alter table tool_calls_away rename to tool_calls')
  await call(agent, 'list_tags', {}, replica)
  const before = (await told(member.headers)).body.calls
  t.equal((await told(member.headers, '', replica)).body.calls, before + 2)
  await call(agent, 'list_tags', {}, replica)
  await replica.close()
  t.equal((await told(member.headers)).body.calls, before + 3, 'also when the server stops')
})

t.test('a report starts at a full hour; members and admins get it', async (t) => {
  await knex('tool_calls').insert({ shop_id: shop, hour: '2026-01-01T10:00:00Z', tool: 'list_tags', calls: 7, errors: 2, durations: Array(BUCKETS).fill(0) })
  const { body } = await told(member.headers, '?since=2026-01-01T12:59:00%2B02:00')
  t.match(body, { since: '2026-01-01T10:00:00.000Z', hours: [{ hour: '2026-01-01T10:00:00.000Z', calls: 7, errors: 2 }, {}] })
  t.equal((await told(member.headers, '?since=2026-01-01T11:00:00Z')).body.hours.length, 1)
  t.match((await told(member.headers, '?since=soon')), { status: 422, body: { field: 'since' } })
  t.match((await told(member.headers, `?since=${encodeURIComponent("2026-01-01T11:00:00Z' or 1=1")}`)), { status: 422 })
  t.match([(await told(stranger.headers)).status, (await told(agent)).status, (await told({})).status, (await told(admin.headers)).status], [403, 401, 401, 200])

  await call(machine, 'list_tags', { shop_id: other })
  const all = client(app, '', admin.headers)
  t.equal((await all('GET', '/admin/tool-calls')).body.calls, (await told(admin.headers)).body.calls + 1)
  t.equal((await client(app, '', member.headers)('GET', '/admin/tool-calls')).status, 403)
})

t.test('counts of a shop go with it', async (t) => {
  await call(machine, 'list_tags', { shop_id: other })
  t.equal((await client(app, '', admin.headers)('DELETE', `/shops/${other}`)).status, 204)
  t.equal((await client(app, '', admin.headers)('GET', '/admin/tool-calls')).status, 200)
  t.equal(await knex('tool_calls').where({ shop_id: other }).first(), undefined)
})
