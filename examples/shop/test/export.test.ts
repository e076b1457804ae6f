import { once } from 'node:events'
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { linesFromCsv } from '../src/imports/csv.ts'
import { csvLine } from '../../../shared/csv-line.ts'
import {
  bearer,
  build,
  client,
  createShop,
  openIdentityProvider,
  openTestDatabase,
  TEST_DATABASE_URL
} from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t)
const app = await build(t, database, idp, { settings: { RATE_LIMIT_MAX: 100_000, MAX_EVENT_LOOP_DELAY: 0 } })
const machine = bearer(await idp.machineToken())
let shops = 0

async function openShop () {
  const id = await createShop(database, `shop-${++shops}`)
  const as = client(app, `/shops/${id}`, machine)
  return {
    id,
    make: async (path: string, body: object): Promise<string> => (await as('POST', path, body)).body.id,
    as,
    file: async (query = '', headers = {}) =>
      await app.inject({ url: `/shops/${id}/products/export${query}`, headers: { ...machine, ...headers } }),
    imported: async (type: string, payload: string) => {
      const { headers, body } = await app.inject({
        method: 'POST',
        url: `/shops/${id}/imports`,
        headers: { ...machine, 'content-type': type },
        payload
      })
      for (;;) {
        const found = (await app.inject({ url: headers.location as string, headers: machine })).json()
        if (!['pending', 'running'].includes(found.status)) return found
        if (headers.location === undefined) throw new Error(body)
        await sleep(20)
      }
    },
    fill: async (count: number, row: object = {}) => {
      for (let from = 0; from < count; from += 500) {
        await knex('products').insert(
          Array.from(
            { length: Math.min(500, count - from) },
            (_, n) => ({ shop_id: id, name: `P ${from + n}`, slug: `p-${from + n}`, currency: 'EUR', ...row })
          )
        )
      }
    }
  }
}

/**
 * Strings that files and spreadsheets are known to change. The embedded engine reads no mark at the start of a value.
 */
const HOSTILE = [
  '=1+1',
  '+1',
  '-1',
  '-x',
  '@x',
  '\tx',
  '\rx',
  '\n=1+1',
  '\n\n@x',
  ' =1',
  '\u200b=1',
  "'\n=1",
  "'=1+1",
  "''=1",
  "'quoted'",
  "'",
  '\uff1dx',
  'a,b;c\td',
  'two\nlines',
  'two\r\nlines',
  '"',
  '""',
  'say "so"',
  ' spaces ',
  'null',
  '007',
  '1e5',
  'é日本🫖',
  ...TEST_DATABASE_URL === undefined ? [] : ['\ufeffmark'],
  ',',
  ';',
  '[]',
  '#',
  '\\',
  '\\"'
]

t.test('what is exported and imported again changes nothing', async (t) => {
  const { as, make, file, imported } = await openShop()
  const tags = [await make('/tags', { name: 'A' }), await make('/tags', { name: 'B' })]
  const category = await make('/categories', { name: 'C' })
  const [size, weight, flag] = [
    await make('/attributes', { name: 'S', type: 'text' }),
    await make('/attributes', { name: 'W', type: 'number' }),
    await make('/attributes', { name: 'F', type: 'boolean' })
  ]
  const items: object[] = HOSTILE.map((text, n) => ({
    name: text,
    slug: `hostile-${n}`,
    description: text,
    sku: `${text}${n}`,
    metadata: { [text]: [text, null, 1.5, { deep: text }] },
    attributes: [{ attribute_id: size, value: text }]
  }))
  items.push({ name: 'Bare' }, { name: 'Empty', description: '' }, {
    name: 'Free',
    price_amount: 0,
    status: 'active',
    currency: 'USD'
  }, {
    name: 'Largest',
    price_amount: Number.MAX_SAFE_INTEGER,
    status: 'archived',
    tag_ids: tags,
    category_ids: [category],
    attributes: [{ attribute_id: weight, value: -0.5 }, { attribute_id: flag, value: false }],
    image_urls: ['https://cdn.example/z;1,2.jpg?a=b', '/a.svg', 'https://cdn.example/é日🫖.jpg']
  })
  const made = await as('POST', '/products/batch', { items })
  t.equal(made.status, 200, JSON.stringify(made.body))
  const before = await knex('products').orderBy('id')
  for (const [query, type] of [['', 'text/csv'], ['?format=jsonl', 'application/x-ndjson']] as const) {
    const { statusCode, headers, body } = await file(query)
    t.match([statusCode, headers['content-type']], [200, type])
    const result = await imported(type, body)
    t.match(result, { status: 'done', total: items.length, unchanged: items.length, failed: 0 }, JSON.stringify(result))
  }
  t.strictSame(await knex('products').orderBy('id'), before)
  const { body } = await file()
  t.match(body, /^\ufeffid,sku,name,/, 'spreadsheets read it as UTF-8')
  t.notMatch(body, /(^|[,\n])"\s*[=+@\uff1d]/, 'no spreadsheet computes it')

  const other = await openShop()
  const copy = (await file('?format=jsonl')).body.trim().split('\n').map((line) => {
    const { id: _, category_ids: __, tag_ids: ___, attributes: ____, ...rest } = JSON.parse(line)
    return JSON.stringify(rest)
  }).join('\n')
  t.match(
    await other.imported('application/jsonl', copy),
    { status: 'done', created: items.length },
    'into another shop'
  )
})

t.test('any cell survives being written and read', async (t) => {
  for (const text of HOSTILE) {
    for (const stuck of [text, `${text}${text}`, `'${text}`]) {
      const lines = []
      for await (
        const line of linesFromCsv(
          (async function* () {
            yield csvLine(['name', 'description'])
            yield csvLine([stuck, null])
          })(),
          JSON.parse
        )
      ) if (line.headings === undefined) lines.push(line)
      t.match(lines, [{ product: { name: stuck, description: null } }], JSON.stringify(stuck))
    }
  }
})

t.test('the filter of lists, and the format that the client accepts', async (t) => {
  const { file, fill, id } = await openShop()
  await fill(450)
  await fill(3, { name: 'Tea', status: 'active' }).catch(() => {})
  await knex('products').insert({ shop_id: id, name: 'Tea', slug: 'tea', status: 'active', currency: 'EUR' })
  t.equal((await file()).body.trim().split('\r\n').length, 452)
  const filtered = await file(`?filter=${encodeURIComponent('{"status":"active"}')}`, {
    accept: 'application/x-ndjson'
  })
  t.match(filtered.headers, {
    'content-type': 'application/x-ndjson',
    'content-disposition': 'attachment; filename="products.jsonl"'
  })
  t.match(filtered.body.trim().split('\n').map((line) => JSON.parse(line)), [{ name: 'Tea', slug: 'tea' }])
  const ids = (await file('?format=jsonl')).body.trim().split('\n').map((line) => JSON.parse(line).id)
  t.strictSame(ids, (await knex('products').where({ shop_id: id }).orderBy('id').select('id')).map(({ id }) => id))
  for (const query of ['?format=xml', '?filter=nonsense', `?filter=${encodeURIComponent('{"colour":1}')}`, '?skip=1']) {
    t.equal((await file(query)).statusCode, 422, query)
  }
  t.equal((await file('', machine)).statusCode, 200)
})

t.test('a client that reads slowly holds nothing, and one that goes away ends its file', async (t) => {
  const { id, fill, file } = await openShop()
  await fill(2000)
  await knex('products').where({ shop_id: id }).update({ description: knex.raw("repeat('x', 20000)") })
  const few = `?filter=${encodeURIComponent('{"name":"P 1"}')}`
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  let pages = 0
  const listen = ({ sql }: { sql: string }): void => {
    if (sql.includes('bytes_so_far')) pages += 1
  }
  knex.on('query', listen)
  t.teardown(() => knex.removeListener('query', listen))
  const opened = []
  for (let n = 0; n < 2; n++) {
    const request = get({ port, host: '127.0.0.1', path: `/shops/${id}/products/export`, headers: machine })
    const [response] = await once(request, 'response')
    opened.push({ request, response })
  }
  // Until nothing more is read, which is soon: what is on its way fits into the buffers of the connections.
  let before = -1
  while (pages !== before) {
    before = pages
    await sleep(1000)
  }
  t.ok(pages > 0 && pages < 200, `${pages} of 400 pages were read for clients that read nothing`)
  t.match(await file(few), { statusCode: 429 })
  for (const { request } of opened) request.destroy()
  while ((await file(few)).statusCode === 429) await sleep(20)
  t.equal((await file(few)).statusCode, 200, 'their places are free again')
})
