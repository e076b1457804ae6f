import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LightMyRequestResponse } from 'fastify'
import t from 'tap'
import { IdempotencyKey, keyFromHeader, LONGEST_KEY } from '../src/idempotency/key.ts'
import { setQuota } from '../src/shops/shop-repository.ts'
import { bearer, build, client, TEST_DATABASE_URL } from './build.ts'
import { bodySchemaOf, callOf, type Furnished, type Headers, openFurnished } from './furnished.ts'

const { app, database, knex, idp, machine, people, requests, furnish, prepare, send, tool, settled } =
  await openFurnished(
    t,
    [
      'ann',
      'bob',
      'boss'
    ]
  )
const [ann, bob, boss] = people as [typeof people[0], typeof people[0], typeof people[0]]

const posts = requests.filter(({ method, route }) =>
  method === 'POST' && route.schema?.hide !== true && route.config?.auth !== 'public'
)
const honoured = posts.filter(({ route }) => route.schema?.headers === IdempotencyKey)
const keyed = (headers: Headers, key: string = randomUUID()): Headers => ({ ...headers, 'idempotency-key': key })

/** Those whose calls are of the whole server. */
const callerOf = (url: string): Headers => url.startsWith('/shops/:') ? machine : boss.headers

/** What tells answers apart that are not the same. */
const answerOf = ({ statusCode, headers, body }: LightMyRequestResponse) => ({
  status: statusCode,
  body,
  type: headers['content-type'],
  location: headers.location,
  etag: headers.etag,
  'retry-after': headers['retry-after']
})
const isReplay = ({ headers }: LightMyRequestResponse): boolean => headers['idempotent-replayed'] === 'true'

const { rows: tables } = await knex.raw(
  "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE " +
    "TABLE' order by 1"
)
/** How many rows each table has. */
async function counts (): Promise<object> {
  const parts = tables.map(({ name }: { name: string }) => `select '${name}' as name, count(*) as count from "${name}"`)
  return Object.fromEntries((await knex.raw(parts.join(' union all '))).rows.map((row: any) => [row.name, row.count]))
}

const create = async (shop: Furnished, headers: Headers, body: object, path = '/products') =>
  await send('POST', `/shops/${shop.id}${path}`, headers, body)
const slug = (): object => ({ name: 'Mug', slug: `mug-${randomUUID()}` })
const productsOf = async ({ id }: Furnished): Promise<number> =>
  Number((await knex('products').where({ shop_id: id }).count())[0]!['count'])

t.test('which calls that create may be repeated is decided for each', (t) => {
  t.strictSame(
    honoured.map(({ name }) => name.replace(/\/$/, '')).toSorted(),
    [
      'POST /shops',
      ...['accounts', 'attributes', 'categories', 'imports', 'orders', 'prices', 'products', 'products/batch', 'tags']
        .map((path) => `POST /shops/:shop_id/${path}`)
    ]
  )
  t.end()
})

for (const { route, name } of honoured) {
  t.test(`${name}: a repeat gets the same answer, byte for byte, and creates nothing`, async (t) => {
    const shop = await furnish()
    await prepare(name, shop)
    const { url, body } = callOf(route, shop) as { url: string, body: Record<string, unknown> }
    const headers = keyed(callerOf(route.url))
    const first = await send('POST', url, headers, body)
    t.ok(first.statusCode < 300, first.body)
    t.notOk(isReplay(first))
    await settled()
    const before = await counts()
    for (const key of [headers['idempotency-key'], `"${headers['idempotency-key']}"`]) {
      const repeat = await send('POST', url, { ...headers, 'idempotency-key': key! }, body)
      t.strictSame(answerOf(repeat), answerOf(first))
      t.ok(isReplay(repeat))
    }
    await settled()
    t.strictSame(await counts(), before, 'nothing was created')

    const another = await send('POST', url, headers, otherThan(body))
    t.match(JSON.parse(another.body), {
      statusCode: 422,
      code: 'SHOP_IDEMPOTENCY_KEY_REUSED',
      field: 'idempotency-key'
    })
    t.strictSame(await counts(), before)
  })
}

/** A body that says something else, and is as good. */
function otherThan (body: Readonly<Record<string, unknown>>): object {
  const others = { name: 'Another', content: '{ "name": "Another" }', amount: 8, currency: 'GBP' }
  const name = Object.keys(others).find((name) => name in body) as keyof typeof others | undefined
  return name === undefined ? { ...body, items: [{ name: 'Another' }] } : { ...body, [name]: others[name] }
}

for (const { route, name } of posts.filter((post) => !honoured.includes(post))) {
  t.test(`${name} refuses a key, rather than ignore it`, async (t) => {
    const shop = await furnish()
    const body = bodySchemaOf(route) === undefined ? undefined : callOf(route, shop).body
    const { url } = callOf({ ...route, schema: { ...route.schema, body: undefined } }, shop)
    const before = await counts()
    const { statusCode, body: text } = await send('POST', url, keyed(boss.headers), body)
    t.match(JSON.parse(text), { code: 'SHOP_INVALID', field: 'idempotency-key', message: /not honoured here/ })
    t.equal(statusCode, 422)
    t.strictSame(await counts(), before)
  })
}

t.test('a key is a string of structured fields, or the same without quotes', (t) => {
  const long = 'k'.repeat(LONGEST_KEY)
  for (
    const [header, key] of [
      ['"8e03978e-40d5"', '8e03978e-40d5'],
      ['8e03978e-40d5', '8e03978e-40d5'],
      ['"a b, c; d"', 'a b, c; d'],
      [String.raw`"a\"b\\c"`, String.raw`a"b\c`],
      [`"${long}"`, long],
      [long, long],
      [`"${String.raw`\"`.repeat(LONGEST_KEY)}"`, '"'.repeat(LONGEST_KEY)]
    ] as const
  ) t.equal(keyFromHeader(header), key)
  for (
    const header of [
      '',
      '""',
      '"a',
      'a"',
      'a b',
      'a, b',
      '"a", "b"',
      '"a";b=1',
      'é',
      '"é"',
      '"\t"',
      String.raw`"\a"`,
      `${long}k`,
      `"${long}k"`
    ]
  ) {
    t.throws(() => keyFromHeader(header), { code: 'SHOP_INVALID', field: 'idempotency-key', statusCode: 422 }, header)
  }
  t.end()
})

t.test('a key that cannot be read creates nothing', async (t) => {
  const shop = await furnish()
  const before = await productsOf(shop)
  for (const key of ['k'.repeat(LONGEST_KEY + 1), 'two words', '"a", "b"', 'k'.repeat(10_000)]) {
    const refused = await create(shop, keyed(machine, key), slug())
    t.match(JSON.parse(refused.body), { code: 'SHOP_INVALID', field: 'idempotency-key' })
  }
  t.equal(await productsOf(shop), before)
})

t.test('the same call in another order of its fields, or with blanks, is a repeat; another query is not', async (t) => {
  const shop = await furnish()
  const headers = keyed(machine)
  const first = await create(shop, headers, { name: 'Mug', metadata: { a: 1, b: [{ c: 1, d: 2 }] } })
  const repeat = await create(shop, headers, { metadata: { b: [{ d: 2, c: 1 }], a: 1 }, name: ' Mug ' })
  t.strictSame([repeat.body, isReplay(repeat)], [first.body, true])
  const content = { format: 'jsonl', content: '{"name":"Imported"}' }
  const imported = keyed(machine)
  t.equal((await create(shop, imported, content, '/imports')).statusCode, 202)
  t.equal(
    JSON.parse((await create(shop, imported, content, '/imports?skip_invalid=true')).body).code,
    'SHOP_IDEMPOTENCY_KEY_REUSED'
  )
  await settled()
})

t.test('a key is of its caller, shop and route: the same word elsewhere is another key', async (t) => {
  const [here, there] = [await furnish(), await furnish()]
  await knex('shop_members').insert([ann, bob].map(({ id }) => ({ shop_id: here.id, user_id: id })))
  const newKey = async (): Promise<Headers> => ({
    'x-api-key': JSON.parse((await create(here, machine, { name: 'Agent' }, '/api-keys/')).body).plaintext
  })
  const callers = [machine, ann.headers, bob.headers, await newKey(), await newKey()]
  for (const caller of callers) {
    const answer = await create(here, keyed(caller, 'same'), slug())
    t.strictSame([answer.statusCode, isReplay(answer)], [201, false])
  }
  for (const [shop, path] of [[there, '/products'], [here, '/tags'], [here, '/categories']] as const) {
    const answer = await create(shop, keyed(machine, 'same'), slug(), path)
    t.strictSame([answer.statusCode, isReplay(answer)], [201, false], path)
  }
  t.equal(await productsOf(here), 1 + callers.length)
})

t.test('what was refused has done nothing, so its key may be used again, also for something else', async (t) => {
  const shop = await furnish()
  const key = keyed(machine)
  const before = await counts()
  t.equal((await create(shop, key, { name: 'Mug', slug: 'theirs' })).statusCode, 409)
  t.equal((await create(shop, key, { name: 'Mug', price_amount: -1 })).statusCode, 422)
  t.equal((await create(shop, key, { name: 'Mug', tag_ids: [randomUUID()] })).statusCode, 422)
  await setQuota(knex, { QUOTA_RECORDS: 1, QUOTA_BYTES: 1 })
  t.equal(JSON.parse((await create(shop, key, { name: 'Mug' })).body).code, 'SHOP_QUOTA_EXCEEDED')
  await knex('shop_quota').delete()
  t.strictSame(await counts(), before)
  const made = await create(shop, key, { name: 'Mug' })
  t.strictSame([made.statusCode, isReplay(made)], [201, false])
  await setQuota(knex, { QUOTA_RECORDS: 1, QUOTA_BYTES: 1 })
  const repeat = await create(shop, key, { name: 'Mug' })
  t.strictSame(
    [repeat.statusCode, repeat.body, isReplay(repeat)],
    [201, made.body, true],
    'a full shop answers repeats'
  )
  await knex('shop_quota').delete()
})

t.test('a repeat is answered as the record was then', async (t) => {
  const shop = await furnish()
  const key = keyed(machine)
  const body = slug()
  const first = await create(shop, key, body)
  const path = first.headers.location!
  for (const method of ['PATCH', 'DELETE'] as const) {
    const changed = await send(method, path, machine, method === 'PATCH' ? { name: 'Cup' } : undefined)
    t.ok(changed.statusCode < 300)
    const repeat = await create(shop, key, body)
    t.strictSame([answerOf(repeat), isReplay(repeat)], [answerOf(first), true])
  }
  t.equal(await productsOf(shop), 1, 'and none is made')
})

t.test('who has lost the right to a call gets no answer to a repeat', async (t) => {
  const shop = await furnish()
  await knex('shop_members').insert({ shop_id: shop.id, user_id: ann.id })
  const { id, plaintext } = JSON.parse((await create(shop, machine, { name: 'Agent' }, '/api-keys/')).body)
  const body = slug()
  const [person, agent] = [keyed(ann.headers), keyed({ 'x-api-key': plaintext })]
  t.equal((await create(shop, person, body)).statusCode, 201)
  t.equal((await create(shop, agent, slug())).statusCode, 201)
  await knex('shop_members').where({ shop_id: shop.id, user_id: ann.id }).delete()
  const refused = await create(shop, person, body)
  t.strictSame([refused.statusCode, isReplay(refused)], [403, false])
  await send('DELETE', `/shops/${shop.id}/api-keys/${id}`, machine)
  t.equal((await create(shop, agent, slug())).statusCode, 401)

  const made = keyed(boss.headers)
  const input = { name: randomUUID(), currency: 'EUR' }
  t.equal((await send('POST', '/shops', made, input)).statusCode, 201)
  await knex('users').where({ id: boss.id }).update({ roles: [] })
  t.equal((await send('POST', '/shops', made, input)).statusCode, 403)
  await knex('users').where({ id: boss.id }).update({ roles: ['admin'] })
  t.ok(isReplay(await send('POST', '/shops', made, input)), 'and gets it again with the right')
})

t.test('the answers of a shop go with it', async (t) => {
  const shop = await furnish()
  t.equal((await create(shop, keyed(machine), slug())).statusCode, 201)
  await prepare('DELETE /shops/:shop_id', shop)
  t.equal((await send('DELETE', `/shops/${shop.id}`, boss.headers)).statusCode, 204)
  t.strictSame(await knex('idempotency_keys').where({ shop_id: shop.id }), [])
})

t.test('of a record and its answer, neither is stored without the other', async (t) => {
  const shop = await furnish()
  const key = keyed(machine)
  const before = await counts()
  await knex.raw('alter table idempotency_keys add constraint none check (false) not valid')
  const failed = await Promise.all([
    create(shop, key, slug()),
    create(shop, keyed(machine), { name: 'Linked', tag_ids: [shop.params['tag_id']] }),
    create(shop, keyed(machine), { items: [slug(), slug()] }, '/products/batch'),
    create(shop, keyed(machine), { format: 'jsonl', content: '{"name":"Imported"}' }, '/imports')
  ])
  t.strictSame(failed.map(({ statusCode }) => statusCode), [500, 500, 500, 500])
  await knex.raw('alter table idempotency_keys drop constraint none')
  t.strictSame(await counts(), before)
  t.equal((await create(shop, key, slug())).statusCode, 201, 'the key is free')
})

t.test('of 200 calls at once with one key, one creates, and the others say so or ask for a repeat', async (t) => {
  const shop = await furnish()
  const many = await build(t, database, idp, { settings: { MAX_CONCURRENT_CALLS: 200, RATE_LIMIT_MAX: 100_000 } })
  const before = await productsOf(shop)
  const headers = keyed(machine)
  const body = slug()
  const answers = await Promise.all(
    Array.from(
      { length: 200 },
      async () => await many.inject({ method: 'POST', url: `/shops/${shop.id}/products`, headers, payload: body })
    )
  )
  const made = answers.filter(({ statusCode }) => statusCode === 201)
  const waiting = answers.filter(({ statusCode }) => statusCode === 409)
  t.equal(made.length + waiting.length, answers.length)
  t.equal(made.filter((answer) => !isReplay(answer)).length, 1)
  t.equal(new Set(made.map(({ body }) => body)).size, 1)
  for (const { headers, body } of waiting) {
    t.equal(headers['retry-after'], '1')
    t.equal(JSON.parse(body).code, 'SHOP_IDEMPOTENCY_KEY_UNDER_WAY')
  }
  t.equal(await productsOf(shop), before + 1)
})

t.test('while the first is under way, a repeat at any replica gets 409', {
  skip: TEST_DATABASE_URL === undefined && 'the embedded database has one connection: set TEST_DATABASE_URL'
}, async (t) => {
  const shop = await furnish()
  const replica = await build(t, database, idp)
  const headers = keyed(machine)
  const body = slug()
  const holder = await knex.transaction()
  await holder('shops').where({ id: shop.id }).forUpdate().first('id')
  const first = create(shop, headers, body)
  const isWaiting = async (): Promise<boolean> =>
    (await knex.raw(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    )).rows.length > 0
  while (!await isWaiting()) await sleep(5)
  const url = `/shops/${shop.id}/products`
  for (const at of [app, replica]) {
    const repeat = await at.inject({ method: 'POST', url, headers, payload: body })
    t.match(
      [repeat.statusCode, repeat.headers['retry-after'], JSON.parse(repeat.body).code],
      [409, '1', 'SHOP_IDEMPOTENCY_KEY_UNDER_WAY']
    )
  }
  await holder.rollback()
  const made = await first
  t.strictSame([made.statusCode, isReplay(made)], [201, false])
  const repeat = await replica.inject({ method: 'POST', url, headers, payload: body })
  t.strictSame([answerOf(repeat), isReplay(repeat)], [answerOf(made), true])
})

t.test('a file is imported once, whatever it was sent as; another file is refused', async (t) => {
  const shop = await furnish()
  const post = async (key: string, payload: string, path = '') =>
    await app.inject({
      method: 'POST',
      url: `/shops/${shop.id}/imports${path}`,
      headers: { ...keyed(machine, key), 'content-type': 'application/x-ndjson' },
      payload
    })
  const lines = '{"name":"One"}\n{"name":"Two"}\n'
  const importsOf = async (): Promise<number> => (await knex('imports').where({ shop_id: shop.id })).length
  const before = [await importsOf(), await productsOf(shop)] as const
  t.equal((await post('file', lines, '?dry_run=true')).statusCode, 200, 'a dry run uses no key')
  const first = await post('file', lines)
  t.equal(first.statusCode, 202)
  await settled()
  for (let times = 0; times < 2; times++) {
    const repeat = await post('file', lines)
    t.strictSame([answerOf(repeat), isReplay(repeat)], [answerOf(first), true])
  }
  const other = await post('file', `${lines}{"name":"Three"}\n`)
  t.equal(JSON.parse(other.body).code, 'SHOP_IDEMPOTENCY_KEY_REUSED')
  const both = await Promise.all([post('both', lines), post('both', lines)])
  t.strictSame(both.map(({ statusCode }) => statusCode).filter((status) => ![202, 409].includes(status)), [])
  t.equal(both.filter((answer) => answer.statusCode === 202 && !isReplay(answer)).length, 1)
  await settled()
  t.strictSame([await importsOf(), await productsOf(shop)], [before[0] + 2, before[1] + 4])
})

t.test('an agent repeats a tool call, also by REST', async (t) => {
  const shop = await furnish()
  const { plaintext } = JSON.parse((await create(shop, machine, { name: 'Agent' }, '/api-keys/')).body)
  const agent = { 'x-api-key': plaintext }
  for (const one of ['product', 'category', 'tag', 'attribute']) {
    const path = `/${one.replace(/y$/, 'ie')}s`
    const args = { name: `By an agent: ${one}`, ...one === 'attribute' && { type: 'text' } }
    const key = randomUUID()
    const call = async (more: object = {}) =>
      JSON.parse((await tool(agent, `create_${one}`, { ...args, idempotency_key: key, ...more })).body).result
    const first = await call()
    t.equal(first.isError, undefined)
    t.strictSame(await call(), first)
    t.strictSame(
      JSON.parse((await create(shop, keyed(agent, key), args, path)).body),
      JSON.parse(first.content[0].text)
    )
    const other = await call({ name: 'Another' })
    t.match(other.content[0].text, /^422 .*SHOP_IDEMPOTENCY_KEY_REUSED/)
    t.equal((await knex(path.slice(1)).where({ shop_id: shop.id, name: args.name })).length, 1)
    t.equal((await knex(path.slice(1)).where({ shop_id: shop.id, name: 'Another' })).length, 0)
  }
})

t.test('nobody is asked again about an import that was done', async (t) => {
  const shop = await furnish()
  const { plaintext } = JSON.parse((await create(shop, machine, { name: 'Agent' }, '/api-keys/')).body)
  const priced = ['One', 'Two'].map((name) => ({ name, sku: name, price_amount: 100 }))
  for (const product of priced) await create(shop, machine, product)
  const content = priced.map((product) => JSON.stringify({ ...product, price_amount: 200 })).join('\n')
  const call = async (key: string, more: object = {}) => {
    const { body } = await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: {
        'x-api-key': plaintext,
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'import_products'
      },
      payload: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'import_products',
          arguments: { format: 'jsonl', content, idempotency_key: key },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } }
          },
          ...more
        }
      }
    })
    return JSON.parse(body).result
  }
  const asked = await call('prices')
  t.equal(asked.resultType, 'input_required')
  const answered = {
    requestState: asked.requestState,
    inputResponses: Object.fromEntries(
      Object.keys(asked.inputRequests).map((name) => [name, { action: 'accept', content: { confirm: true } }])
    )
  }
  const first = await call('prices', answered)
  t.match(first.content[0].text, /^import_products has started the work/)
  await settled()
  const repeat = await call('prices')
  t.strictSame(repeat, first)
  t.equal((await knex('imports').where({ shop_id: shop.id, status: 'done' })).length, 1)
})

t.test('a repeat counts as a call, and as no write', async (t) => {
  const shop = await furnish()
  const { plaintext, id } = JSON.parse((await create(shop, machine, { name: 'Agent' }, '/api-keys/')).body)
  await send('PATCH', `/shops/${shop.id}/api-keys/${id}/limits`, boss.headers, { writes_per_day: 2 })
  const limited = await build(t, database, idp)
  const call = client(limited, `/shops/${shop.id}`, keyed({ 'x-api-key': plaintext }))
  const body = slug()
  t.equal((await call('POST', '/products', body)).status, 201)
  for (let times = 0; times < 3; times++) t.equal((await call('POST', '/products', body)).status, 201)
  t.equal(
    (await client(limited, `/shops/${shop.id}`, { 'x-api-key': plaintext })('POST', '/products', slug())).status,
    201,
    'there was room for another'
  )
})

t.test('pages of other origins may send keys, and see repeats', async (t) => {
  const open = await build(t, database, idp, { settings: { CORS_ORIGINS: 'https://shop.example' } })
  const { headers } = await open.inject({
    method: 'OPTIONS',
    url: '/shops',
    headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' }
  })
  t.match(headers['access-control-allow-headers'], /\bidempotency-key\b/)
  const answer = await open.inject({ url: '/shops', headers: { ...machine, origin: 'https://shop.example' } })
  t.match(answer.headers['access-control-expose-headers'], /\bidempotent-replayed\b/)
})

t.test('metrics tell what became of calls with keys', async (t) => {
  const token = 'm'.repeat(32)
  const measured = await build(t, database, idp, { settings: { METRICS_TOKEN: token } })
  const shop = await furnish()
  const call = client(measured, `/shops/${shop.id}`, keyed(machine))
  const body = slug()
  for (const name of ['Mug', 'Mug', 'Cup']) await call('POST', '/products', { ...body, name })
  const text = (await measured.inject({ url: '/metrics', headers: bearer(token) })).body
  t.strictSame(
    [...text.matchAll(/^shop_keyed_calls_total\{outcome="(\w+)"\} (\d+)$/gm)].map(([, outcome, count]) =>
      `${outcome} ${count}`
    ),
    ['first 1', 'repeat 1', 'under_way 0', 'reused 1']
  )
})
