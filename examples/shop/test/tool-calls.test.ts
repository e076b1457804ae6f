import t from 'tap'
import { callKeeper } from '../src/tool-calls/failed-call.ts'
import { BUCKETS, bucketOf, quantile } from '../src/tool-calls/histogram.ts'
import { bearer, build, client, createShop, INSTANT, openIdentityProvider, openTestDatabase } from './build.ts'

t.test('a quantile is at most 12 % off', async (t) => {
  for (
    const [durations, share, expected] of [
      [[100], 0.5, 100],
      [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.5, 5],
      [[...Array.from({ length: 99 }, () => 20), 900], 0.99, 20],
      [[...Array.from({ length: 98 }, () => 20), 900, 900], 0.99, 900],
      [[0.9, 55_000], 1, 55_000]
    ] as const
  ) {
    const counts = new Array<number>(BUCKETS).fill(0)
    for (const duration of durations) counts[bucketOf(duration)]! += 1
    const found = quantile(counts, share)!
    t.ok(Math.abs(found / expected - 1) <= 0.125, `${found} of ${expected}`)
  }
  t.equal(quantile(new Array(BUCKETS).fill(0), 0.5), null)
  t.strictSame([0, 0.2, 1e9, Infinity].map(bucketOf), [0, 0, BUCKETS - 1, BUCKETS - 1])
})

const API_KEY = `shop_${'k'.repeat(61)}`

t.test('what is kept of a failed call is short and has no secret', async (t) => {
  const keep = callKeeper('shop')
  const long = 'x'.repeat(5000)
  for (
    const [what, args, error, kept, answer] of [
      [
        'as it came',
        { name: 'Tea', price_amount: '79.00' },
        'price_amount must be a whole number or null, not "79.00"',
        { name: 'Tea', price_amount: '79.00' },
        'price_amount must be a whole number or null, not "79.00"'
      ],
      [
        'a key in a text',
        { name: `my key is ${API_KEY}.` },
        `unknown: ${API_KEY}`,
        { name: 'my key is [redacted].' },
        'unknown: [redacted]'
      ],
      ['a key as the name of an argument', { [API_KEY]: 1 }, 'x', { '[redacted]': 1 }, 'x'],
      [
        'secrets by their names',
        {
          metadata: {
            password: 'hunter2!',
            apiKey: ['a', { b: 'c' }],
            accessToken: 7,
            db_password: null,
            tokens: 'seen'
          }
        },
        'x',
        {
          metadata: {
            password: '[redacted]',
            apiKey: '[redacted]',
            accessToken: '[redacted]',
            db_password: '[redacted]',
            tokens: 'seen'
          }
        },
        'x'
      ],
      [
        'an answer that quotes a secret',
        { metadata: { password: 'hunter2!' } },
        'metadata.password must be an object, not "hunter2!"',
        { metadata: { password: '[redacted]' } },
        '[redacted]'
      ],
      [
        'one that quotes the start of a long secret, as JSON',
        { deep: [{ secret: `"${'s'.repeat(300)}` }] },
        'not "\\"sssssss…',
        { deep: [{ secret: '[redacted]' }] },
        '[redacted]'
      ],
      ['the password of a URL', { description: 'https://me:canary@example.com/a and postgres://me:cana…' }, 'x', {
        description: 'https://me:[redacted]@example.com/a and postgres://me:[redacted]…'
      }, 'x'],
      [
        'long strings, lists and objects',
        { text: long, list: Array.from({ length: 30 }, (_, n) => n), deep: { a: { b: { c: { d: { e: 1 } } } } } },
        long,
        {
          text: `${'x'.repeat(199)}…`,
          list: [...Array.from({ length: 20 }, (_, n) => n), '…'],
          deep: { a: { b: { c: { d: { '…': '…' } } } } }
        },
        `${'x'.repeat(999)}…`
      ],
      ['what cannot be stored', { 'n\0': '\0\ud800' }, 'a\0b\ud800\nc', { 'n\0': '\0\ud800' }, 'a b \nc']
    ] as ReadonlyArray<readonly [string, object, string, object, string]>
  ) {
    const { arguments: json, ...rest } = keep(args, error)
    t.strictSame({ ...rest, arguments: JSON.parse(json) }, { answer, arguments: kept }, what)
  }
  const many = keep(
    Object.fromEntries(
      Array.from(
        { length: 2000 },
        (_, n) => [`field ${n}`, { [`secret of ${n}`]: Array(30).fill(long), secret: `secret ${n}` }]
      )
    ),
    'secret 1999'
  )
  t.equal(many.answer, '[redacted]', 'of many secrets, any may be in the answer')
  t.ok(many.arguments.length < 20_000, `${many.arguments.length} characters`)
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
await knex('shop_members').insert([
  { shop_id: shop, user_id: member.id, role: 'staff' },
  { shop_id: other, user_id: stranger.id, role: 'owner' }
])
const machine = bearer(await idp.machineToken())
const key = (await client(app, `/shops/${shop}`, machine)('POST', '/api-keys/', { name: 'Agent' })).body.plaintext
const agent = { 'x-api-key': key }

async function call (
  headers: Record<string, string>,
  name: string,
  args: object,
  to = app
): Promise<{ isError?: boolean }> {
  const response = await to.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...headers, accept: 'application/json, text/event-stream' },
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
  })
  return response.json().result
}

const told = async (headers: Record<string, string>, query = '', to = app) =>
  await client(to, '', headers)('GET', `/shops/${shop}/tool-calls${query}`)
const none = { calls: 0, errors: 0, tools: [], hours: [] }

t.test('calls, errors and durations are counted by tool and hour, in the shop that was called', async (t) => {
  t.match((await told(member.headers)).body, none)
  for (let n = 0; n < 3; n++) t.notOk((await call(agent, 'list_tags', {})).isError)
  t.ok((await call(agent, 'create_tag', {})).isError, 'arguments that are refused')
  t.ok(
    (await call(agent, 'list_products', { shop_id: other })).isError,
    'an error of the agent of this shop, and no call in the other'
  )
  t.notOk((await call(member.headers, 'create_tag', { shop_id: shop, name: 'Tea' })).isError)
  t.notOk((await call(machine, 'list_tags', { shop_id: shop })).isError)
  t.ok((await call(stranger.headers, 'list_tags', { shop_id: shop })).isError, 'whoever is not let in cannot count')
  t.ok((await call(member.headers, 'get_tag', { shop_id: shop, tag_id: other })).isError)

  const { status, body } = await told(member.headers)
  t.equal(status, 200)
  t.match(body, { since: INSTANT, calls: 8, errors: 3, hours: [{ hour: INSTANT, calls: 8, errors: 3 }] })
  const ms = (tool: { p50_ms: number, p99_ms: number }) =>
    tool.p50_ms > 0 && tool.p99_ms >= tool.p50_ms && tool.p99_ms < 60_000
  t.strictSame(body.tools.map((tool: any) => [tool.tool, tool.calls, tool.errors, ms(tool)]), [
    ['list_tags', 4, 0, true],
    ['create_tag', 2, 1, true],
    ['get_tag', 1, 1, true],
    ['list_products', 1, 1, true]
  ])
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
  await knex('tool_calls').insert({
    shop_id: shop,
    hour: '2026-01-01T10:00:00Z',
    tool: 'list_tags',
    calls: 7,
    errors: 2,
    durations: Array(BUCKETS).fill(0)
  })
  const { body } = await told(member.headers, '?since=2026-01-01T12:59:00%2B02:00')
  t.match(body, {
    since: '2026-01-01T10:00:00.000Z',
    hours: [{ hour: '2026-01-01T10:00:00.000Z', calls: 7, errors: 2 }, {}]
  })
  t.equal((await told(member.headers, '?since=2026-01-01T11:00:00Z')).body.hours.length, 1)
  t.match(await told(member.headers, '?since=soon'), { status: 422, body: { field: 'since' } })

  await call(machine, 'list_tags', { shop_id: other })
  const all = client(app, '', admin.headers)
  t.equal((await all('GET', '/admin/tool-calls')).body.calls, (await told(admin.headers)).body.calls + 1)
})

/** A message of a client to the endpoint. */
async function send (
  headers: Record<string, string>,
  method: string,
  params: object,
  more: Record<string, string> = {}
): Promise<number> {
  return (await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...headers, ...more, accept: 'application/json, text/event-stream' },
    payload: { jsonrpc: '2.0', id: 1, method, params }
  })).statusCode
}

const connect = async (headers: Record<string, string>, clientInfo: object) =>
  await send(headers, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
const callModern = async (headers: Record<string, string>, name: string, clientInfo: object) =>
  await send(
    headers,
    'tools/call',
    {
      name,
      arguments: {},
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': clientInfo
      }
    },
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name }
  )

t.test('a key tells what it was used for, to those who see the keys of its shop', async (t) => {
  const made = async (shopId: string) =>
    (await client(app, `/shops/${shopId}`, machine)('POST', '/api-keys/', { name: 'Price watcher' })).body
  const [mine, theirs] = [await made(shop), await made(other)]
  const path = `/shops/${shop}/api-keys/${mine.id}/calls`
  const used = async (headers: Record<string, string> = member.headers, url = path) =>
    await client(app, '', headers)('GET', url)
  t.match((await used()).body, {
    last_used_at: null,
    calls: 0,
    errors: 0,
    tools: [],
    hours: [],
    clients: [],
    failed: []
  })

  const [key, foreign] = [{ 'x-api-key': mine.plaintext }, { authorization: `Bearer ${theirs.plaintext}` }]
  await connect(key, { name: 'claude-code', title: 'Claude Code', version: '2.1.330' })
  t.match(
    (await used()).body,
    { calls: 0, clients: [{ name: 'Claude Code', version: '2.1.330' }] },
    'connected, before its first call'
  )
  await call(key, 'list_tags', {})
  await call(key, 'create_tag', { shop_id: shop, name: 7, slug: API_KEY })
  await call(foreign, 'get_tag', { tag_id: 'none of this shop' })
  await callModern(key, 'list_tags', { name: 'agent of 2026', version: '1' })
  const { status, body } = await used()
  t.equal(status, 200)
  t.match(body, {
    since: INSTANT,
    last_used_at: INSTANT,
    calls: 3,
    errors: 1,
    tools: [{ tool: 'list_tags', calls: 2, errors: 0 }, { tool: 'create_tag', calls: 1, errors: 1 }],
    hours: [{ hour: INSTANT, calls: 3, errors: 1 }]
  })
  t.strictSame(body.clients.map(({ name, version }: any) => [name, version]), [
    ['agent of 2026', '1'],
    ['Claude Code', '2.1.330']
  ])
  t.match(body.failed, [{
    at: INSTANT,
    tool: 'create_tag',
    status: 422,
    arguments: JSON.stringify({ shop_id: shop, name: 7, slug: '[redacted]' }),
    answer: /name/
  }])
  t.equal(body.failed.length, 1)
  t.notMatch(JSON.stringify([body, await knex('failed_calls').select()]), 'kkkkkkkk')
  t.match((await told(member.headers)).body.keys.find(({ key_id: id }: any) => id === mine.id), {
    name: 'Price watcher',
    calls: 3,
    errors: 1
  })
  t.strictSame([(await used(machine)).status, (await used(member.headers, `${path}?since=soon`)).status], [200, 422])
})

t.test('what is kept of the use of a key is bounded, whatever clients send', async (t) => {
  const small = await build(t, database, idp, { settings: { FAILED_CALLS_KEPT: 3 } })
  const { id, plaintext } = (await client(app, `/shops/${shop}`, machine)('POST', '/api-keys/', { name: 'Noisy' })).body
  const used = async (to = small) =>
    (await client(to, `/shops/${shop}/api-keys/${id}`, member.headers)('GET', '/calls')).body
  const key = { 'x-api-key': plaintext }
  const fail = async (from: number, to: number) => {
    for (let n = from; n < to; n++) await call(key, 'get_tag', { tag_id: `tag ${n}` }, small)
  }
  const numbers = ({ failed }: any) => failed.map(({ arguments: json }: any) => JSON.parse(json).tag_id)
  await fail(0, 5)
  t.strictSame(numbers(await used()), ['tag 4', 'tag 3', 'tag 2'])
  await fail(5, 6)
  t.strictSame(numbers(await used()), ['tag 5', 'tag 4', 'tag 3'])
  t.equal((await used()).errors, 6)

  for (const clientInfo of [{ name: '' }, { name: 7 }, { name: { a: 1 } }, [], null]) {
    await callModern(key, 'list_tags', clientInfo as object)
  }
  for (let n = 0; n < 9; n++) await connect(key, { name: `client ${n}`, version: '1' })
  await connect(key, { name: `<b>\u202e\0 ${API_KEY} ${'n'.repeat(300)}`, version: 'v'.repeat(300) })
  const { clients } = await used(app)
  t.equal(clients.length, 5)
  t.match(clients[0], { name: /^<b>\u202e \[redacted\] n+…$/, version: `${'v'.repeat(39)}…` })

  const none = await build(t, database, idp, { settings: { FAILED_CALLS_KEPT: 0 } })
  await call(key, 'get_tag', { tag_id: 'not kept' }, none)
  t.equal((await used(none)).errors, 7)
  t.notMatch(numbers(await used(none)), ['not kept'])
})

t.test('counts of a shop go with it', async (t) => {
  await call(machine, 'list_tags', { shop_id: other })
  t.equal((await client(app, '', admin.headers)('DELETE', `/shops/${other}`)).status, 204)
  t.equal((await client(app, '', admin.headers)('GET', '/admin/tool-calls')).status, 200)
  t.equal(await knex('tool_calls').where({ shop_id: other }).first(), undefined)
})
