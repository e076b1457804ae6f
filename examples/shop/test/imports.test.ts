import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { oldestTurn } from '../src/imports/step.ts'
import { setQuota } from '../src/shops/shop-repository.ts'
import { bearer, build, client, createShop, INSTANT, openIdentityProvider, openTestDatabase, UUID } from './build.ts'
import { joined } from '../../../test/joined.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['owner', 'staff'])
const app = await build(t, database, idp, {
  settings: { RATE_LIMIT_MAX: 100_000, MAX_EVENT_LOOP_DELAY: 0, MCP_IMPORTS_ENABLED: true }
})
const machine = bearer(await idp.machineToken())
const person = async (name: string) => {
  const headers = bearer(await idp.userToken(name))
  return { headers, id: (await client(app, '', headers)('GET', '/me')).body.id as string }
}
const [owner, staff] = [await person('owner'), await person('staff')]

type Body = Record<string, any>
let shops = 0

async function openShop () {
  const id = await createShop(database, `shop-${++shops}`)
  await knex('shop_members').insert([
    { shop_id: id, user_id: owner.id, role: 'owner' },
    { shop_id: id, user_id: staff.id, role: 'staff' }
  ])
  const as = client(app, `/shops/${id}`, machine)
  const send = async (
    type: string,
    payload: string | Buffer,
    { query = '', headers = machine }: { query?: string, headers?: Record<string, string> } = {}
  ) => {
    const { statusCode: status, headers: answered, body } = await app.inject({
      method: 'POST',
      url: `/shops/${id}/imports${query}`,
      headers: { ...headers, 'content-type': type },
      payload
    })
    return { status, headers: answered, body: JSON.parse(body) as Body }
  }
  const ended = async (importId: string): Promise<Body> => {
    for (;;) {
      const { body } = await as('GET', `/imports/${importId}`)
      if (!['pending', 'running'].includes(body.status)) return body
      await sleep(20)
    }
  }
  return {
    id,
    as,
    send,
    ended,
    csv: async (lines: readonly string[], query = '') => await send('text/csv', lines.join('\n'), { query }),
    jsonl: async (products: readonly object[], query = '') =>
      await send('application/x-ndjson', products.map((product) => JSON.stringify(product)).join('\n'), { query }),
    /** Imports, and waits. */
    imported: async (type: string, payload: string, query = ''): Promise<Body> => {
      const { status, body } = await send(type, payload, { query })
      if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`)
      return await ended(body['id'])
    },
    make: async (path: string, body: object): Promise<string> => (await as('POST', path, body)).body.id,
    products: async (): Promise<Body[]> =>
      await knex('products').where({ shop_id: id }).orderBy('slug').select(
        'id',
        'name',
        'slug',
        'sku',
        'status',
        'price_amount',
        'description',
        'image_urls'
      ),
    lines: async (importId: string): Promise<Body[]> => (await as('GET', `/imports/${importId}/lines?limit=200`)).body
  }
}

t.test('a CSV file is checked, and applied in the background', async (t) => {
  const { id, csv, ended, make, products, lines, as } = await openShop()
  const tag = await make('/tags', { name: 'New' })
  const known = await make('/products', {
    name: 'Known',
    sku: 'K-1',
    price_amount: 100,
    image_urls: ['https://cdn.example/k.jpg']
  })
  const other = await make('/products', { name: 'By slug', image_urls: ['/gone.svg'] })
  await make('/products', { name: 'Same', sku: 'S-1' })
  const { status, headers, body } = await csv([
    'name,sku,slug,price_amount,tag_ids,description,image_urls,metadata',
    `"Mug, large",M-1,,1900,${tag},"Two
lines"," https://cdn.example/b,1.jpg
/a.svg\u00a0\thttps://cdn.example/c.jpg ","{""erp"": 7}"`,
    'Known,K-1,,150,,,/k.svg,',
    'Same,S-1,,,,,,',
    'Changed,,by-slug,5,,,,',
    'Mug large,,,,,"","",'
  ])
  t.match([status, body], [202, {
    id: UUID,
    shop_id: id,
    status: 'pending',
    total: 5,
    processed: 0,
    created: 0,
    failed: 0,
    error: null,
    errors: [],
    actor_kind: 'machine',
    created_at: INSTANT,
    finished_at: null
  }], JSON.stringify(body))
  t.equal(headers['location'], `/shops/${id}/imports/${body['id'] as string}`)
  t.match(headers['retry-after'], /^\d+$/)
  const done = await ended(body['id'])
  t.match(done, {
    status: 'done',
    total: 5,
    processed: 5,
    created: 2,
    updated: 2,
    unchanged: 1,
    failed: 0,
    error: null,
    started_at: INSTANT,
    finished_at: INSTANT
  }, JSON.stringify(done))
  t.match(await products(), [
    { id: other, name: 'Changed', slug: 'by-slug', price_amount: 5, description: null, image_urls: [] },
    { id: known, name: 'Known', slug: 'known', sku: 'K-1', price_amount: 150 },
    {
      name: 'Mug, large',
      slug: 'mug-large',
      sku: 'M-1',
      price_amount: 1900,
      description: 'Two\nlines',
      status: 'draft',
      image_urls: ['https://cdn.example/b,1.jpg', '/a.svg', 'https://cdn.example/c.jpg']
    },
    { name: 'Mug large', slug: /^mug-large-[0-9a-f]{8}$/, sku: null, price_amount: null, description: '' },
    { name: 'Same', slug: 'same' }
  ])
  t.match((await lines(body['id'])).map(({ line, status }) => [line, status]), [
    [2, 'created'],
    [5, 'updated'],
    [6, 'unchanged'],
    [7, 'updated'],
    [8, 'created']
  ])
  const entries = await knex('history').where({ shop_id: id, operation: 'import_products' }).orderBy('seq')
  t.strictSame(entries.map(({ id }) => id), (await lines(body['id'])).flatMap(({ change_id: change }) => change ?? []))
  t.match(entries[1], {
    actor_kind: 'machine',
    action: 'update',
    record_id: known,
    changes: {
      price_amount: { before: 100, after: 150 },
      image_urls: { before: ['https://cdn.example/k.jpg'], after: ['/k.svg'] }
    }
  })
  t.equal((await knex('import_lines').whereNotNull('product')).length, 0, 'what the lines said is not kept twice')
  t.match((await as('GET', '/imports')).body, [{ id: body['id'], status: 'done' }])
  t.equal((await as('GET', `/imports/${body['id'] as string}`)).headers['retry-after'], undefined)
})

t.test('JSON lines, and files within JSON', async (t) => {
  const { id, jsonl, ended, imported, products, as } = await openShop()
  const { status, body } = await jsonl([
    { name: 'One', metadata: { a: 1 } },
    { name: 'Two', price_amount: 2, status: 'active' }
  ])
  t.equal(status, 202, JSON.stringify(body))
  t.match(await ended(body['id']), { status: 'done', created: 2 })
  for (
    const [format, content] of [
      ['jsonl', '\ufeff{"name":"Three"}\r\n\r\n{"name":"Four"}\r\n'],
      ['csv', '\ufeffname;price_amount\r\nFive;5\r\n;;\r\n']
    ] as const
  ) {
    const sent = await as('POST', '/imports', { format, content })
    t.equal(sent.status, 202, JSON.stringify(sent.body))
    t.match(await ended(sent.body.id), { status: 'done', failed: 0 })
  }
  t.match(await imported('application/json', JSON.stringify({ format: 'csv', content: 'name\tsku\nSix\t6' })), {
    created: 1
  })
  t.strictSame((await products()).map(({ name }) => name).toSorted(), ['Five', 'Four', 'One', 'Six', 'Three', 'Two'])
  for (const wrong of [{}, { format: 'xml', content: 'x' }, { format: 'csv', content: '' }, { content: 'name\nx' }]) {
    t.equal((await as('POST', '/imports', wrong)).status, 422)
  }
  t.match(await as('POST', '/imports'), { status: 422, body: { field: 'content' } })
  t.equal((await knex('imports').where({ shop_id: id, status: 'receiving' })).length, 0)
})

t.test('a wrong line keeps the file from being imported, and every one is told', async (t) => {
  const { id, csv, jsonl, send, make, products } = await openShop()
  const elsewhere = await openShop()
  const theirs = await elsewhere.make('/products', { name: 'Theirs', sku: 'T' })
  await make('/products', { name: 'Taken', sku: 'T-1' })
  const own = await make('/products', { name: 'Own' })
  const before = await products()
  const cases: ReadonlyArray<
    readonly [file: Awaited<ReturnType<typeof csv>>, line: number, field: string, message: RegExp]
  > = [
    [await csv(['name,name', 'a,b']), 1, 'name', /two columns/],
    [await csv(['name,colour', 'a,b']), 1, 'colour', /not a known column/],
    [await csv(['name,__proto__', 'a,b']), 1, '__proto__', /not a known column/],
    [await csv(['name,', 'a,b']), 2, '', /Column 2 has no name in the first line, and "b" in this one/],
    [await csv(['colour,size', 'a,b']), 1, '', /2 columns are not known: colour and size/],
    [await csv(['name,sku', 'a']), 2, '', /1 cells, and the first one has 2/],
    [await csv(['name', '"open']), 2, '', /quote is not closed/],
    [await csv(['name', 'a"b']), 2, '', /quote inside a cell/],
    [await csv(['name', '"a"b']), 2, '', /closing quote/i],
    [
      await csv(['name,price_amount', 'a,19.99']),
      2,
      'price_amount',
      /must be a whole number or null, not "19\.99"\. Price in minor units/
    ],
    [await csv(['name,price_amount', 'a,=1+1']), 2, 'price_amount', /must be a whole number or null, not text/],
    [await csv(['name,metadata', 'a,"{""__proto__"": 1}"']), 2, 'metadata', /not JSON/],
    [await csv(['name,metadata', 'a,nonsense']), 2, 'metadata', /not JSON/],
    [await csv(['name,attributes', 'a,{}']), 2, 'attributes', /must be a list, not an object/],
    [await csv(['name,status', 'a,sold']), 2, 'status', /draft, active, archived/],
    [await csv(['sku', 'new']), 2, 'name', /required/],
    [await csv(['name,sku', 'a,same', '"two', 'lines",other', 'c,same']), 5, 'sku', /appears twice/],
    [await csv(['name,slug', 'a,same', 'c,same']), 3, 'slug', /appears twice/],
    [await csv(['name,id', `a,${own}`, `b,${own}`]), 3, 'id', /appears twice/],
    [await csv(['name,id', `a,${theirs}`]), 2, 'id', /not in this shop/],
    [await csv(['name,sku,slug', 'a,new,taken']), 2, 'slug', /taken/],
    [await csv(['name,tag_ids', `a,${theirs}`]), 2, 'tag_ids/0', /not in this shop/],
    [
      await csv(['name,image_urls', 'a,https://cdn.example/a.jpg http://cdn.example/b.jpg']),
      2,
      'image_urls/1',
      /^image_urls\/1 must be an https URL/
    ],
    [
      await csv(['name,image_urls', '"a","https://cdn.example/a.jpg,/b.jpg /b.jpg /b.jpg"']),
      2,
      'image_urls/2',
      /^image_urls\/2 appears twice/
    ],
    [await jsonl([{ name: 'a', image_urls: '/a.svg' }]), 1, 'image_urls', /must be a list, not text/],
    [await csv(['name', 'a\0b']), 2, 'name', /cannot be stored/],
    [await csv(['name,description', `a,${'x'.repeat(200_000)}`]), 2, 'description', /more than 20000/],
    [await csv(['name,description', `a,${'x'.repeat(300_000)}`]), 2, '', /longer than 262144/],
    [
      await csv(['name', ...Array.from({ length: 3 }, (_, n) => `P ${n}`), ','.repeat(600)]),
      5,
      '',
      /more than 500 cells/
    ],
    [await csv(['name,description', `a,"${'x'.repeat(2_000_000)}"`]), 2, '', /longer than/],
    [await jsonl([{ name: 'a' }, { name: 'b', colour: 1 }]), 2, 'colour', /not a known field/],
    [await send('application/jsonl', '{"name":"a"}\nnonsense\n'), 2, '', /not a JSON object/],
    [await send('application/jsonl', '[1]'), 1, '', /not a JSON object/],
    [await send('application/jsonl', 'null'), 1, '', /not a JSON object/],
    [await send('application/jsonl', '{"name":"a","__proto__":{"x":1}}'), 1, '', /not a JSON object/],
    [await send('application/jsonl', '{"name":"a","constructor":{"prototype":{"x":1}}}'), 1, '', /not a JSON object/],
    [await send('application/jsonl', '{"name":"a","metadata":{"n":9007199254740993}}'), 1, 'metadata/n', /too large/],
    [await send('application/jsonl', `{"name":"${'x'.repeat(1_100_000)}"}`), 1, '', /longer than/],
    [
      await jsonl([{ name: 'Large', description: '日'.repeat(20_000), metadata: { q: 'x'.repeat(10_000) } }]),
      1,
      '',
      /64 KiB/
    ]
  ]
  for (const [{ status, body }, line, field, message] of cases) {
    t.match(
      [status, body['code'], body['error_count']],
      [422, 'SHOP_IMPORT_INVALID', 1],
      JSON.stringify(body).slice(0, 300)
    )
    t.match(body['errors'], [{ line, field, message }], JSON.stringify(body).slice(0, 300))
  }
  for (
    const [response, status, told] of [
      [await send('text/csv', Buffer.from('name\r\nTea\r\nCaf\xe9\r\nMug', 'latin1')), 422, {
        code: 'SHOP_IMPORT_INVALID',
        errors: [{ line: 3, field: '', message: /UTF-8/ }]
      }],
      [await send('text/csv', Buffer.from('\ufeffname\na', 'utf16le')), 422, {
        field: 'content',
        message: /content is UTF-16: save the file as CSV UTF-8/
      }],
      [await send('text/csv', Buffer.from('name\na', 'utf16le')), 422, { field: 'content', message: /UTF-16/ }],
      [await send('text/csv', gzipSync('name\na')), 422, { field: 'content', message: /gzip/ }],
      [await send('text/csv', 'PK\x03\x04'), 422, { field: 'content', message: /workbook/ }],
      [await send('text/csv', `name,sku\n${',\n'.repeat(100_001)}`), 422, {
        errors: [{ line: 100_002, message: /more than 100000 lines/ }]
      }],
      [await send('text/csv', 'name\n'), 422, { field: 'content', message: /no products/ }],
      [await send('text/csv', ''), 422, { field: 'content' }],
      [await jsonl(Array.from({ length: 10_001 }, (_, n) => ({ name: `P ${n}` }))), 422, {
        field: 'content',
        message: /more than 10000/
      }],
      [
        await send('text/csv', gzipSync(Buffer.alloc(1_000_000, 'a')), {
          headers: { ...machine, 'content-encoding': 'gzip' }
        }),
        415,
        { code: 'SHOP_ENCODING_UNSUPPORTED' }
      ],
      [await send('text/csv', Buffer.alloc(16 * 1_048_576 + 1, 'a')), 413, { code: 'SHOP_FILE_TOO_LARGE' }],
      [await send('application/xml', '<a/>'), 415, {}],
      [await send('application/json', JSON.stringify({ format: 'csv', content: 'x'.repeat(1_100_000) })), 413, {}]
    ] as const
  ) t.match(response, { status, body: told }, JSON.stringify(response.body).slice(0, 300))
  const many = await jsonl(Array.from({ length: 1000 }, (_, n) => ({ name: n % 2 === 0 ? `P ${n}` : '' })))
  t.match([many.status, many.body['error_count'], many.body['errors'].length], [422, 500, 100])
  t.match(many.body['message'], /^500 of 1000 products cannot be imported. Line 2: name/)
  t.strictSame(await products(), before)
  t.strictSame(await knex('imports').where({ shop_id: id }), [], 'nothing is left of them')
})

t.test('wrong lines can be left out, and a file can be tried', async (t) => {
  const { id, csv, ended, make, lines, products } = await openShop()
  await make('/products', { name: 'Known', sku: 'K', price_amount: 1 })
  const file = ['name,sku,price_amount', 'Known,K,2', 'Wrong,W,x', 'New,N,3', ',,7']
  const dry = await csv(file, '?dry_run=true')
  t.match(dry, {
    status: 200,
    body: {
      total: 4,
      created: 1,
      updated: 1,
      unchanged: 0,
      price_changes: 1,
      failed: 2,
      errors: [{ line: 3, field: 'price_amount' }, { line: 5, field: 'name' }]
    }
  }, JSON.stringify(dry.body))
  t.equal((await products()).length, 1)
  t.strictSame(await knex('imports').where({ shop_id: id }), [])
  const { status, body } = await csv(file, '?skip_invalid=true')
  t.equal(status, 202)
  t.match(await ended(body['id']), {
    status: 'done',
    total: 4,
    processed: 4,
    created: 1,
    updated: 1,
    failed: 2,
    errors: [{ line: 3, field: 'price_amount' }, { line: 5, field: 'name' }]
  })
  t.match((await lines(body['id'])).map(({ line, status }) => [line, status]), [[2, 'updated'], [3, 'failed'], [
    4,
    'created'
  ], [5, 'failed']])
  t.strictSame((await products()).map(({ name, price_amount: price }) => [name, price]), [['Known', 2], ['New', 3]])
})

t.test('a file that cannot be read to its end is refused, also without its wrong lines', async (t) => {
  const { id, csv, jsonl, send } = await openShop()
  for (
    const [what, lines] of [
      ['an open quote', ['name,sku', 'A,1', '"B,2', 'C,3']],
      ['no known column', ['colour,size', 'red,1']],
      ['a column with NUL', ['na\0me', 'A']]
    ] as const
  ) {
    const { status, body } = await csv(lines, '?skip_invalid=true')
    t.match([status, body], [422, { code: 'SHOP_IMPORT_INVALID', error_count: 1 }], what)
    t.notMatch(JSON.stringify(body), /\\u0000/)
  }
  t.equal(
    (await jsonl(
      [{ name: 'A' }, { name: 'B', metadata: { x: 'x'.repeat(1_100_000) } }, { name: 'C' }],
      '?skip_invalid=true'
    )).status,
    422
  )
  t.notMatch(JSON.stringify((await csv(['name,co\0lour', 'A,red'])).body), /\\u0000/)
  t.equal((await send('text/csv', 'name\nA\n', { query: '?skip_invalid=true' })).status, 202)
  t.equal((await knex('imports').where({ shop_id: id })).length, 1)
})

t.test('what is said of a wrong line is short', async (t) => {
  const { jsonl, make, lines, ended } = await openShop()
  const attribute = await make('/attributes', {
    name: 'Kind',
    type: 'select',
    options: Array.from({ length: 90 }, (_, n) => `${n} ${'o'.repeat(190)}`)
  })
  const { status, body } = await jsonl([{ name: 'A', attributes: [{ attribute_id: attribute, value: 'x' }] }, {
    name: 'B',
    ['k'.repeat(5000)]: 1
  }, { name: 'C' }], '?skip_invalid=true')
  t.equal(status, 202)
  await ended(body['id'])
  const said = (await lines(body['id'])).map(({ status, field, message }) =>
    [status, `${field}`.length, `${message}`.length] as const
  )
  t.strictSame(said.map(([status]) => status), ['failed', 'failed', 'created'])
  for (const [, field, message] of said) t.ok(field <= 200 && message <= 500, `${field} and ${message} characters`)
})

t.test('an import that meets itself fails in that line, and keeps no other waiting', async (t) => {
  const { id, make, as } = await openShop()
  const other = await openShop()
  // As if the product had got its SKU after the file was checked: both lines are about it.
  await make('/products', { name: 'P', slug: 'p', sku: 'S1' })
  const actor = JSON.stringify({ kind: 'machine', id: 'm', operation: 'import_products', requestId: null })
  const stuck = await knex.transaction(async (trx) => {
    const [row] = await trx('imports').insert({ shop_id: id, status: 'pending', total: 2, actor }).returning('id')
    for (const [index, line] of [{ name: 'x', sku: 'S1' }, { slug: 'p', name: 'P 2' }].entries()) {
      await trx('import_lines').insert({
        shop_id: id,
        import_id: row.id,
        position: index + 1,
        line: index + 1,
        product: JSON.stringify(line)
      })
    }
    return row.id as string
  })
  t.match(await other.imported('text/csv', 'name\nA'), { status: 'done', created: 1 })
  for (;;) {
    const { body } = await as('GET', `/imports/${stuck}`)
    if (body.status === 'done') break
    await sleep(20)
  }
  t.match((await as('GET', `/imports/${stuck}`)).body, {
    updated: 1,
    failed: 1,
    errors: [{ line: 2, field: 'id', message: /appears twice/ }]
  })
})

t.test('files whose process died take no place', async (t) => {
  const { id, csv } = await openShop()
  const actor = JSON.stringify({ kind: 'machine', id: 'm', operation: 'import_products', requestId: null })
  for (let n = 0; n < 5; n++) {
    await knex('imports').insert({ shop_id: id, actor, created_at: knex.raw("now() - interval '11 minutes'") })
  }
  t.equal((await csv(['name', 'A'])).status, 202)
  t.strictSame(await knex('imports').where({ shop_id: id, status: 'receiving' }), [])
})

t.test('many lines are applied in steps, each once, also by several processes', async (t) => {
  const size = 600
  const { id, jsonl, ended } = await openShop()
  const other = await build(t, database, idp)
  const { body } = await jsonl(
    Array.from({ length: size }, (_, n) => ({ name: `Product ${n}`, sku: `S-${n}`, price_amount: n }))
  )
  // It finds it by itself; a file of its own wakes it.
  await other.inject({
    method: 'POST',
    url: `/shops/${(await openShop()).id}/imports`,
    headers: { ...machine, 'content-type': 'text/csv' },
    payload: 'name\na'
  })
  t.match(await ended(body['id']), { status: 'done', processed: size, created: size })
  t.equal((await knex('products').where({ shop_id: id })).length, size)
  t.equal((await knex('history').where({ shop_id: id, action: 'create' })).length, size)
  t.match(await knex('shop_usage').where({ shop_id: id, kind: 'products' }).sum('records').first(), { sum: `${size}` })
})

t.test('a step of an import, and of its undo, is bounded in bytes too', async (t) => {
  const { id, jsonl, ended, as } = await openShop()
  const of = (n: number) => ({
    name: `P ${n}`,
    sku: `S-${n}`,
    description: 'd'.repeat(19_000),
    metadata: Object.fromEntries(['a', 'b'].map((key) => [key, 'm'.repeat(7000)]))
  })
  /** How many transactions, or savepoints of one, have written the rows. */
  const steps = async (rows: object, where: string): Promise<number> =>
    Number((await knex.from(where).where(rows).select(knex.raw('count(distinct xmin::text) as n')).first())!.n)
  // Large lines, and small ones about large products.
  const made = []
  for (
    const lines of [
      Array.from({ length: 50 }, (_, n) => of(n)),
      Array.from({ length: 50 }, (_, n) => ({ sku: `S-${n}`, price_amount: n }))
    ]
  ) {
    const { body } = await jsonl(lines)
    t.match(await ended(body['id']), { status: 'done', processed: 50, failed: 0 })
    const count = await steps({ import_id: body['id'] }, 'import_lines')
    t.ok(count >= 2 && count < 6, `${count} steps for 1.7 MB`)
    made.unshift(body['id'])
  }
  for (const imported of made) {
    const before = await steps({ shop_id: id, operation: 'revert_changes' }, 'history')
    t.match(await as('POST', '/history/revert', { import_id: imported }), { status: 200, body: { reverted: 50 } })
    const count = await steps({ shop_id: id, operation: 'revert_changes' }, 'history') - before
    t.ok(count >= 2 && count < 6, `${count} steps of an undo`)
  }
})

t.test('what others write meanwhile is neither lost nor in the way', async (t) => {
  const { id, jsonl, ended, as, make } = await openShop()
  const size = 600
  await Promise.all(
    Array.from({ length: 20 }, async (_, n) => await make('/products', { name: `Old ${n}`, sku: `S-${n * 30}` }))
  )
  const { body } = await jsonl(
    Array.from({ length: size }, (_, n) => ({ name: `New ${n}`, sku: `S-${n}`, price_amount: n }))
  )
  const rows = await knex('products').where({ shop_id: id }).select('id')
  let writes = 0
  const writing = (async () => {
    for (
      let n = 0;
      ['pending', 'running'].includes((await as('GET', `/imports/${body['id'] as string}`)).body.status);
      n++
    ) {
      const path = `/products/${rows[n % rows.length].id as string}`
      const { status } = n % 7 === 6
        ? await as('DELETE', path)
        : await as('PATCH', path, { description: `Written ${n}`, tag_ids: [] })
      if (status < 300) writes += 1
    }
  })()
  const done = await ended(body['id'])
  await writing
  t.match(done, { status: 'done', processed: size }, JSON.stringify(done))
  t.ok(
    done['errors'].every(({ message }: Body) => message === 'The product was deleted after the file was checked'),
    JSON.stringify(done['errors'])
  )
  t.ok(writes > 0)
  const skus = await knex('products').where({ shop_id: id }).select('sku')
  t.equal(new Set(skus.map(({ sku }) => sku)).size, skus.length)
  t.equal(done['created'] + done['updated'] + done['failed'], size)
})

t.test('an import is cancelled: what it has written stays', async (t) => {
  const { jsonl, as, ended, products } = await openShop()
  const { body } = await jsonl(Array.from({ length: 1000 }, (_, n) => ({ name: `P ${n}` })))
  const path = `/imports/${body['id'] as string}`
  t.equal((await as('DELETE', path)).status, 204)
  const cancelled = await ended(body['id'])
  t.match(cancelled, { status: 'cancelled', total: 1000, finished_at: INSTANT })
  await sleep(100)
  t.strictSame((await as('GET', path)).body, cancelled)
  t.equal((await products()).length, cancelled['created'])
  t.ok(cancelled['created'] < 1000)
  t.equal((await as('DELETE', path)).status, 204, 'again')
  t.equal(
    (await as('GET', `${path}/lines?filter=${encodeURIComponent('{"status":["skipped"]}')}`)).headers['content-range'],
    `lines 0-25/${1000 - cancelled['created']}`
  )
  const done = await jsonl([{ name: 'Other' }])
  await ended(done.body['id'])
  t.match(await as('DELETE', `/imports/${done.body['id'] as string}`), { status: 409, body: { field: 'status' } })
})

t.test('the quota is checked before, and again', async (t) => {
  t.teardown(async () => await setQuota(knex, { QUOTA_RECORDS: 1_000_000, QUOTA_BYTES: 2 ** 32 }))
  const { id, jsonl, ended, products } = await openShop()
  await setQuota(knex, { QUOTA_RECORDS: 10, QUOTA_BYTES: 2 ** 32 })
  t.match(await jsonl(Array.from({ length: 11 }, (_, n) => ({ name: `P ${n}` }))), {
    status: 403,
    body: { code: 'SHOP_QUOTA_EXCEEDED' }
  })
  await setQuota(knex, { QUOTA_RECORDS: 10, QUOTA_BYTES: 5000 })
  t.match(await jsonl([{ name: 'P', description: 'x'.repeat(6000) }]), {
    status: 403,
    body: { code: 'SHOP_QUOTA_EXCEEDED' }
  })
  t.strictSame(await knex('imports').where({ shop_id: id }), [])
  await setQuota(knex, { QUOTA_RECORDS: 900, QUOTA_BYTES: 2 ** 32 })
  const { body } = await jsonl(Array.from({ length: 900 }, (_, n) => ({ name: `P ${n}` })))
  await setQuota(knex, { QUOTA_RECORDS: 600, QUOTA_BYTES: 2 ** 32 })
  const failed = await ended(body['id'])
  t.match(failed, { status: 'failed', error: /quota of 600 records/ }, JSON.stringify(failed))
  t.equal((await products()).length, failed['created'])
})

t.test('what imports keep of their lines is in the quota', async (t) => {
  t.teardown(async () => await setQuota(knex, { QUOTA_RECORDS: 1_000_000, QUOTA_BYTES: 2 ** 32 }))
  const { id, csv, ended } = await openShop()
  const used = async (): Promise<number> =>
    Number((await knex('shop_usage').where({ shop_id: id, kind: 'imports' }).sum('bytes').first())!['sum'])
  const wrong = ['name,status', 'A,', ...Array.from({ length: 600 }, (_, n) => `P ${n},${'x'.repeat(900)}`)]
  await setQuota(knex, { QUOTA_RECORDS: 1_000_000, QUOTA_BYTES: 1_200_000 })
  const { status, body } = await csv(wrong, '?skip_invalid=true')
  t.equal(status, 202, JSON.stringify(body))
  await ended(body['id'])
  const kept = await used()
  t.ok(kept > 600 * (150 + 900) && kept < 1_200_000, `${kept} bytes`)
  for (let n = 0; n < 3; n++) {
    const again = await csv(wrong, '?skip_invalid=true')
    if (again.status === 202) await ended(again.body['id'])
    else t.match(again, { status: 403, body: { code: 'SHOP_QUOTA_EXCEEDED', message: /bytes/ } })
  }
  t.ok(await used() <= 1_200_000, 'no more than the quota')
  t.match(await csv(wrong, '?skip_invalid=true'), { status: 403 })
  t.equal((await knex('imports').where({ shop_id: id, status: 'receiving' })).length, 0)
  await knex('imports').where({ shop_id: id }).delete()
  t.equal(await used(), 0)
})

t.test('a shop has few unfinished imports, and they are applied one after another', async (t) => {
  const { id, jsonl, ended, products } = await openShop()
  const files = await Promise.all(
    Array.from(
      { length: 7 },
      async (_, n) =>
        await jsonl(Array.from({ length: 600 }, (_, i) => ({ name: 'Same', sku: `S-${i}`, price_amount: n })))
    )
  )
  const made = files.filter(({ status }) => status === 202)
  t.ok(
    files.every(({ status, body }) => status === 202 || (status === 429 && body['code'] === 'SHOP_TOO_MANY_IMPORTS'))
  )
  t.ok(made.length < 7 && made.length >= 5, String(made.length))
  const ends = await Promise.all(made.map(async ({ body }) => await ended(body['id'])))
  t.ok(ends.every(({ status, failed }) => status === 'done' && failed === 0), JSON.stringify(ends))
  t.equal((await products()).length, 600)
  const last = (await knex('imports').where({ shop_id: id }).orderBy(['created_at', 'id'])).at(-1)
  const [{ price }] = await knex('products').where({ shop_id: id }).distinct('price_amount as price')
  t.match(files[price], { body: { id: last.id } }, 'the last one wins')
})

t.test('a client that goes away while it sends a file leaves nothing', async (t) => {
  const { id } = await openShop()
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  for (let n = 0; n < 2; n++) {
    const sent = request({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: `/shops/${id}/imports`,
      headers: { ...machine, 'content-type': 'text/csv', 'transfer-encoding': 'chunked' }
    })
    sent.on('error', () => {})
    sent.write('name\n')
    sent.write(Array.from({ length: 600 }, (_, n) => `P ${n}\n`).join(''))
    const received = async (): Promise<number> => (await knex('imports').where({ shop_id: id })).length
    while (await received() === 0) await sleep(10)
    sent.destroy()
    while (await received() > 0) await sleep(10)
  }
  t.strictSame(
    await knex('import_lines').join('imports', 'imports.id', 'import_id').where({ 'imports.shop_id': id }),
    []
  )
  t.strictSame(await knex('products').where({ shop_id: id }), [])
})

/** What a person is asked in each round, by an agent with an API key. */
async function agentOf (shop: string) {
  const made = await client(app, `/shops/${shop}`, machine)('POST', '/api-keys/', { name: 'Agent', scopes: ['write'] })
  return { id: made.body.id as string, headers: { 'x-api-key': made.body.plaintext as string } }
}

/** The calls of an agent whose client can ask. */
async function callerOf (shop: string): Promise<(name: string, args: object, answer?: object) => Promise<Body>> {
  const { headers } = await agentOf(shop)
  return async (name, args, answer = {}) => {
    const { body } = await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: {
        ...headers,
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name
      },
      payload: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name,
          arguments: args,
          ...answer,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } }
          }
        }
      }
    })
    return JSON.parse(body.replace(/^.*data: /s, ''))['result'] ?? JSON.parse(body)
  }
}

t.test('agents import with a tool, and ask before several prices change', async (t) => {
  const { id, ended, make } = await openShop()
  for (const n of [1, 2]) await make('/products', { name: `P ${n}`, sku: `S-${n}`, price_amount: 1 })
  const call = await callerOf(id)
  const asked = await call('import_products', {
    format: 'csv',
    content: 'sku,price_amount,name\nS-1,5,P 1\nS-2,6,P 2\nS-3,7,P 3'
  })
  t.match(
    JSON.stringify(asked),
    /input_required.*Import products\? 2 prices change, in 2 products that are changed; 1 are created/,
    JSON.stringify(asked)
  )
  t.strictSame(await knex('imports').where({ shop_id: id }), [])
  const one = await call('import_products', { format: 'csv', content: 'sku,price_amount\nS-1,5' })
  t.match(JSON.stringify(one), /"isError":false|imports\//, JSON.stringify(one))
  const [{ id: imported }] = await knex('imports').where({ shop_id: id }).select('id')
  t.match(await ended(imported), { status: 'done', updated: 1, actor_kind: 'api-key' })
  t.match(
    JSON.stringify(await call('import_products', { format: 'csv', content: 'sku,price_amount\nS-1,x' })),
    /Line 2: price_amount must be a whole number or null, not text/
  )
  t.match(JSON.stringify(await call('get_import', { import_id: imported })), /403|scope/, 'it may only write')
})

/** Runs SQL between the question about an import and the reading of its file by the route. */
async function meanwhile (
  t: { teardown: (end: () => Promise<void>) => void },
  shop: string,
  sql: string
): Promise<void> {
  await knex.raw(
    `create function meanwhile() returns trigger language plpgsql as $$ begin if new.shop_id = '${shop}' then ` +
      `${sql}; end if; return new; end $$`
  )
  await knex.raw('create trigger meanwhile before insert on imports for each row execute function meanwhile()')
  t.teardown(async () => {
    await knex.raw('drop function meanwhile() cascade')
  })
}

t.test('another call in between does not make an import skip its question', async (t) => {
  for (
    const [name, prices, content, change] of [
      [
        'a conflict that is gone',
        1,
        'sku,price_amount,slug\nS-1,5,\nS-2,6,\nS-3,7,taken',
        "update products set slug = 'free' where slug = 'taken'"
      ],
      [
        'prices that were the same',
        5,
        'sku,price_amount\nS-1,5\nS-2,5',
        "update products set price_amount = 1 where sku in ('S-1', 'S-2')"
      ]
    ] as const
  ) {
    await t.test(name, async (t) => {
      const { id, make, as } = await openShop()
      for (const n of [1, 2]) {
        await make('/products', { name: `P ${n}`, sku: `S-${n}`, slug: `s-${n}`, price_amount: prices })
      }
      await make('/products', { name: 'Other', slug: 'taken' })
      await meanwhile(t, id, `${change} and shop_id = new.shop_id`)
      const said = await (await callerOf(id))('import_products', {
        format: 'csv',
        content: content.replace(/,\n/g, ',x\n').replace('5,x', '5,s-1').replace('6,x', '6,s-2')
      })
      t.match(said, { isError: true }, JSON.stringify(said))
      t.match(JSON.stringify(said), /"text":"4(22|09) /)
      t.strictSame(await knex('imports').where({ shop_id: id }), [], 'nothing is imported')
      t.ok(
        (await as('GET', '/products?filter={"sku":["S-1","S-2"]}')).body.every((product: Body) =>
          [1, prices].includes(product['price_amount'])
        )
      )
    })
  }
})

/** Lets no import of the shop be applied until the returned function is called: others take its SKUs each time. */
async function hold (t: { teardown: (end: () => Promise<void>) => void }, shop: string): Promise<() => Promise<void>> {
  await knex.raw(
    `create function held() returns trigger language plpgsql as $$ begin if new.shop_id = '${shop}' then raise ` +
      "'held' using errcode = '23505', constraint = 'products_sku_taken'; end if; return new; end $$"
  )
  await knex.raw('create trigger held before update on import_lines for each row execute function held()')
  const release = async (): Promise<void> => {
    await knex.raw('drop function if exists held() cascade')
  }
  t.teardown(release)
  return release
}

t.test('an import of which each step fails makes no progress, and is told of; others go on', async (t) => {
  const { id, csv, ended } = await openShop()
  const release = await hold(t, id)
  const failures: Error[] = []
  const note = (error: Error): void => {
    failures.push(error)
  }
  knex.on('query-error', note)
  t.teardown(() => {
    knex.removeListener('query-error', note)
  })
  const { body: { id: stuck } } = await csv(['name,sku', 'A,S1'])
  await knex('imports').where({ id: stuck }).update({ updated_at: knex.raw("now() - interval '1 hour'") })
  const other = await openShop()
  for (const name of ['A', 'B']) {
    const { length: before } = failures
    t.match(await other.imported('text/csv', `name\n${name}`), { status: 'done', created: 1 })
    for (let tries = 0; failures.length < before + 4 && tries < 500; tries++) await sleep(20)
  }
  t.ok(await oldestTurn(knex) >= 3600, 'what ShopImportStuck reads')
  await release()
  t.match(await ended(stuck), { status: 'done', created: 1 })
  t.equal(await oldestTurn(knex), 0)
})

t.test('what others change after the file was checked is not overwritten, with a question or without', async (t) => {
  const { id, as, ended, jsonl, make, products } = await openShop()
  const names = ['Patched', 'By a tool', 'Was equal', 'Currency', 'Deleted', 'As the file', 'Another field', 'Nobody']
  const ids: Record<string, string> = {}
  for (const name of names) {
    ids[name] = await make('/products', { name, sku: name, price_amount: name === 'Was equal' ? 2000 : 1000 })
  }
  const call = await callerOf(id)
  const edit = async (): Promise<void> => {
    const patches = [
      ['Patched', { price_amount: 1 }],
      ['Was equal', { price_amount: 1 }],
      ['Currency', { currency: 'USD' }],
      ['As the file', { price_amount: 2000 }],
      ['Another field', { description: 'New' }]
    ] as const
    for (const [name, fields] of patches) t.match(await as('PATCH', `/products/${ids[name]!}`, fields), { status: 200 })
    await call('update_product', { product_id: ids['By a tool'], price_amount: 1 })
    await as('DELETE', `/products/${ids['Deleted']!}`)
    await make('/products', { name: 'Mine', sku: 'Created' })
  }
  const release = await hold(t, id)
  const { body } = await jsonl([...names, 'Created'].map((sku) => ({ name: sku, sku, price: '20.00' })))
  await edit()
  await release()
  const done = await ended(body['id'])
  t.match(done, { status: 'done', updated: 2, unchanged: 1, created: 0, failed: 6 }, JSON.stringify(done))
  t.strictSame(done['errors'].map(({ field, message }: Body) => [field, message]), [
    ...['price_amount', 'price_amount', 'price_amount', 'currency'].map((
      field
    ) => [field, `${field} was changed after the file was checked`]),
    ['', 'The product was deleted after the file was checked'],
    ['', 'The product was created after the file was checked']
  ])
  t.strictSame(Object.fromEntries((await products()).map(({ name, price_amount: price }) => [name, price])), {
    'Another field': 2000,
    'As the file': 2000,
    'By a tool': 1,
    Currency: 1000,
    Mine: null,
    Nobody: 2000,
    Patched: 1,
    'Was equal': 1
  })

  // By an agent: one price changes, or two, which a person is asked about.
  for (
    const [content, questions] of [['Nobody,3000\nAs the file,2000', 0], ['Nobody,4000\nAs the file,5000', 1]] as const
  ) {
    const again = await hold(t, id)
    const args = { format: 'csv', content: `sku,price_amount\n${content}` }
    const first = await call('import_products', args)
    t.equal(first['resultType'] === 'input_required' ? 1 : 0, questions, JSON.stringify(first))
    if (questions > 0) {
      await call('import_products', args, {
        requestState: first['requestState'],
        inputResponses: { confirm: { action: 'accept', content: { confirm: true } } }
      })
    }
    for (const name of ['Nobody', 'As the file']) {
      await as('PATCH', `/products/${ids[name]!}`, { price_amount: 7 + questions })
    }
    await again()
    const [{ id: made }] = await knex('imports').where({ shop_id: id }).orderBy('created_at', 'desc').select('id')
    t.match(await ended(made), {
      status: 'done',
      actor_kind: 'api-key',
      failed: 2,
      errors: [{ line: 2, field: 'price_amount' }, { line: 3, field: 'price_amount' }]
    })
  }
})

t.test('an import behind another one asks about all of its prices, which that one may change', async (t) => {
  const { id, make } = await openShop()
  for (const n of [1, 2]) await make('/products', { name: `P ${n}`, sku: `S-${n}`, price_amount: 5 })
  await knex('imports').insert({ shop_id: id, status: 'receiving', actor: '{}' })
  const said = await (await callerOf(id))('import_products', {
    format: 'csv',
    content: 'sku,price_amount\nS-1,5\nS-2,5'
  })
  t.match(
    JSON.stringify(said),
    joined(
      /input_required.*Import products\? 0 prices change.*/,
      /Another import of the shop is not over. After it, up to 2 prices may change/
    )
  )
})

t.test('an import is undone as a whole', async (t) => {
  const { id, jsonl, csv, ended, make, as, products } = await openShop()
  const tag = await make('/tags', { name: 'New' })
  for (let n = 0; n < 50; n++) {
    await knex('products').insert({
      shop_id: id,
      name: `Old ${n}`,
      slug: `old-${n}`,
      sku: `S-${n}`,
      currency: 'EUR',
      price_amount: n
    })
  }
  const records = async (): Promise<unknown> => {
    const { rows } = await knex.raw(
      "select to_jsonb(row) - '{updated_at}'::text[] as row, array(select tag_id from product_tags where " +
        'product_id = row.id) as tags from products row where shop_id = ? order by id',
      [id]
    )
    return rows
  }
  const before = await records()
  const { body } = await jsonl(
    Array.from(
      { length: 300 },
      (_, n) => ({ name: `New ${n}`, sku: `S-${n}`, price_amount: n + 1, tag_ids: [tag], metadata: { n } })
    )
  )
  const revert = async (more: object = {}) => await as('POST', '/history/revert', { import_id: body['id'], ...more })
  t.match(await ended(body['id']), { created: 250, updated: 50, failed: 0 })
  // Goes on, whatever the server finds of it.
  await knex.raw("create function stay () returns trigger language plpgsql as 'begin return old; end'")
  await knex.transaction(async (trx) => {
    await trx('imports').where({ id: body['id'] }).update({ status: 'running' })
    await trx.raw(
      `create trigger stay before update on imports for each row when (old.id = '${body['id']}') execute ` +
        'function stay()'
    )
  })
  t.match(await revert({ dry_run: true }), { status: 422, body: { field: 'import_id' } }, 'not while it goes on')
  await knex.raw('drop function stay cascade')
  await knex('imports').where({ id: body['id'] }).update({ status: 'done' })
  const after = await records()
  const dry = await revert({ dry_run: true })
  t.match(
    dry,
    { status: 200, body: { reverted: 300, conflict_count: 0, left_out_count: 0 } },
    JSON.stringify(dry.body).slice(0, 300)
  )
  t.strictSame(await records(), after)
  const one = (await products()).find(({ sku }) => sku === 'S-250')!
  await as('PATCH', `/products/${one['id'] as string}`, { name: 'Changed since' })
  t.match(await revert(), { status: 409, body: { code: 'SHOP_REVERT_CONFLICT', field: 'name', conflict_count: 1 } })
  t.strictSame((await records() as unknown[]).length, 300)
  await as('PATCH', `/products/${one['id'] as string}`, { name: one['name'] })
  const price = await make('/prices', { product_id: one['id'], amount: 1, currency: 'USD' })
  t.match(await revert(), { status: 409, body: { conflicts: [{ reason: 'The product is in use by prices' }] } })
  await as('DELETE', `/prices/${price}`)
  let statements = 0
  const listen = (): void => {
    statements += 1
  }
  knex.on('query', listen)
  const undone = await revert()
  knex.removeListener('query', listen)
  t.match(
    undone,
    { status: 200, body: { reverted: 300, conflict_count: 0 } },
    JSON.stringify(undone.body).slice(0, 300)
  )
  t.equal(undone.body.changes.length, 200)
  t.ok(statements < 150, `${statements} statements`)
  t.strictSame(await records(), before)
  const entry = await as(
    'GET',
    `/history?limit=1&filter=${encodeURIComponent(JSON.stringify({ operation: 'import_products', reverted: true }))}`
  )
  t.equal(entry.headers['content-range'], 'history 0-1/300', 'each change knows that it was reverted')
  t.match((await revert()).body, { reverted: 0, left_out_count: 300 })
  // Restored by a revert of those reverts, which are of many records.
  const back = (await as(
    'GET',
    `/history?limit=200&filter=${encodeURIComponent(JSON.stringify({ operation: 'revert_changes', action: 'delete' }))}`
  )).body[0]
  t.equal((await as('POST', `/history/${back.id as string}/revert`, {})).status, 200)
  t.equal((await records() as unknown[]).length, 51)
  for (
    const [wrong, field] of [
      [{}, 'actor_kind'],
      [{ actor_kind: 'user', actor_id: 'x' }, 'since'],
      [{ import_id: body['id'], since: '2026-01-01T00:00:00Z' }, 'since']
    ] as const
  ) {
    t.match(await as('POST', '/history/revert', wrong), { status: 422, body: { field } })
  }
  const other = await openShop()
  t.equal((await other.as('POST', '/history/revert', { import_id: body['id'] })).status, 404)
  t.ok(csv)
})
