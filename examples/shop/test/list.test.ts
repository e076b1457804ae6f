import t from 'tap'
import { list as rules } from '../src/catalog/product-schemas.ts'
import { pageOf } from '../src/lists/page.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t)
const app = await build(t, database, idp)
const token = bearer(await idp.machineToken())
const shop = client(app, `/shops/${await createShop(database, 'here')}`, token)
const other = client(app, `/shops/${await createShop(database, 'elsewhere')}`, token)

const category = (await shop('POST', '/categories', { name: 'Kitchen' })).body
const tag = (await shop('POST', '/tags', { name: 'Sale' })).body
for (
  const product of [
    { name: 'Apple', price_amount: 300, status: 'active', sku: 'A-1', tag_ids: [tag.id] },
    { name: 'Banana', price_amount: 100, status: 'active', description: '100%_ripe' },
    { name: 'Cherry', price_amount: 200, category_ids: [category.id], tag_ids: [tag.id] },
    { name: 'Date' },
    { name: 'Elderberry', price_amount: 200, status: 'archived', description: 'back\\slash' }
  ]
) await shop('POST', '/products', product)
await other('POST', '/products', { name: 'Foreign', status: 'active' })

const list = async (query: Record<string, string>) =>
  await shop('GET', `/products?${new URLSearchParams(query).toString()}`)
const names = async (query: Record<string, string>) =>
  (await list(query)).body.map(({ name }: { name: string }) => name)

t.test('a filter that a list does not have is an error of the store too, and not ignored', async (t) => {
  for (const name of ['nmae', 'constructor', '__proto__']) {
    const filter = JSON.parse(`{ "${name}": ["Apple"] }`)
    t.match(await list({ filter: JSON.stringify(filter) }), { status: 422 })
    await t.rejects(
      async () =>
        await pageOf(database.knex, database.knex('products'), rules, { skip: 0, limit: 25, sort: 'name', filter }),
      { code: 'SHOP_INVALID', field: `filter/${name}` },
      name
    )
  }
})

t.test('filter narrows by every field given', async (t) => {
  for (
    const [filter, found] of [
      [{ status: ['active'] }, ['Apple', 'Banana']],
      [{ status: 'active' }, ['Apple', 'Banana']],
      [{ status: ['draft', 'archived'] }, ['Cherry', 'Date', 'Elderberry']],
      [{ slug: ['date', 'apple'] }, ['Apple', 'Date']],
      [{ sku: ['A-1'] }, ['Apple']],
      [{ currency: ['EUR'] }, ['Apple', 'Banana', 'Cherry', 'Date', 'Elderberry']],
      [{ category_ids: [category.id] }, ['Cherry']],
      [{ tag_ids: [tag.id] }, ['Apple', 'Cherry']],
      [{ tag_ids: [tag.id], status: ['active'] }, ['Apple']],
      [{ price_amount_gte: 200 }, ['Apple', 'Cherry', 'Elderberry']],
      [{ price_amount_gte: 100, price_amount_lte: 200 }, ['Banana', 'Cherry', 'Elderberry']],
      [{ q: 'AN' }, ['Banana']],
      [{ q: '%_' }, ['Banana']],
      [{ q: '_' }, ['Banana']],
      [{ q: '\\' }, ['Elderberry']],
      [{}, ['Apple', 'Banana', 'Cherry', 'Date', 'Elderberry']]
    ] as const
  ) t.strictSame(await names({ filter: JSON.stringify(filter) }), found, JSON.stringify(filter))
})

t.test('q finds what has all of its words, in any order and any field, and as often as they are typed', async (t) => {
  const cups = client(app, `/shops/${await createShop(database, 'cups')}`, token)
  for (
    const product of [
      { name: 'Moka Pot, Cobalt', sku: 'MP-3-CO', description: 'For three cups.' },
      { name: 'Moka Pot, Red', sku: 'MP-3-RE', description: 'For three cups.' },
      { name: 'Cobalt Cup', description: 'Goes with our moka,\nor with tea. 50% off.' },
      { name: 'Tea Tin' }
    ]
  ) t.match(await cups('POST', '/products', product), { status: 201 })
  const pages = Array.from({ length: 100 }, (_, n) => String.fromCodePoint(0x4e00 + n))
  for (
    const [q, found] of [
      ['moka cobalt', ['Cobalt Cup', 'Moka Pot, Cobalt']],
      ['cobalt moka pot', ['Moka Pot, Cobalt']],
      ['POT mp-3 CUPS', ['Moka Pot, Cobalt', 'Moka Pot, Red']],
      ['tea 50%', ['Cobalt Cup']],
      ['moka, or', ['Cobalt Cup']],
      ['tin \u200b', ['Tea Tin']],
      ['tea tea  tea', ['Cobalt Cup', 'Tea Tin']],
      ['a b c d e f g h i j k moka', []],
      ['goes with our moka, or with tea. 50% off.', ['Cobalt Cup']],
      ['moka tin', []],
      ['pot %', []],
      [pages.join(' '), []]
    ] as const
  ) {
    const { status, body } = await cups('GET', `/products?filter=${encodeURIComponent(JSON.stringify({ q }))}`)
    t.equal(status, 200)
    t.strictSame(body.map(({ name }: { name: string }) => name), found, q.slice(0, 40))
  }
  t.match(
    (await cups('GET', `/history?filter=${encodeURIComponent('{"q":"create_product tin"}')}`)).body,
    [{ record_name: 'Tea Tin' }]
  )
})

t.test('a list question that cannot be understood is a 422 that names the field', async (t) => {
  for (
    const [query, field] of [
      ['limit=201', 'limit'],
      ['limit=', 'limit'],
      ['skip=1000001', 'skip'],
      ['filter="a"', 'filter'],
      ['filter={"__proto__":{"a":1}}', 'filter/__proto__'],
      ['filter={"status":"gone"}', 'filter/status/0'],
      ['filter={"status":[]}', 'filter/status'],
      ['filter={"tag_ids":["x"]}', 'filter/tag_ids/0'],
      [`filter={"tag_ids":["urn:uuid:${tag.id}"]}`, 'filter/tag_ids/0'],
      ['filter={"q":""}', 'filter/q'],
      ['filter={"q":["Apple"]}', 'filter/q'],
      ['filter={"status":null}', 'filter/status'],
      ['filter={"price_amount_lte":null}', 'filter/price_amount_lte'],
      ['filter={"price_amount_lte":"5"}', 'filter/price_amount_lte'],
      ['filter={"price_amount_lte":true}', 'filter/price_amount_lte'],
      ['filter={"q":"\\u0000"}', 'filter/q'],
      ['filter={"q":{"a":1}}', 'filter/q'],
      ['sort=__proto__', 'sort'],
      ['sort=["name"', 'sort'],
      ['sort=["name",{"toString":1}]', 'sort'],
      ['sort=["id; drop table products","ASC"]', 'sort']
    ] as const
  ) {
    const answer = await shop('GET', `/products?${query.replaceAll('"', '%22')}`)
    t.match(answer, { status: 422, body: { code: 'SHOP_INVALID', field } }, query)
  }
})

t.test('each resource lists and filters its own rows only', async (t) => {
  await shop('POST', '/categories', { name: 'Pots', parent_id: category.id })
  await shop('POST', '/attributes', { name: 'Depth', type: 'number' })
  for (
    const [path, range] of [
      ['/categories', 'categories 0-25/2'],
      [`/categories?filter={"parent_id":"${category.id}"}`, 'categories 0-25/1'],
      ['/categories?filter={"parent_id":[null]}', 'categories 0-25/1'],
      [`/categories?filter={"parent_id":[null,"${category.id}"]}`, 'categories 0-25/2'],
      ['/tags?filter={"slug":["sale","none"]}', 'tags 0-25/1'],
      ['/attributes?filter={"type":"number"}', 'attributes 0-25/1'],
      ['/attributes?filter={"type":"text"}', 'attributes 0-25/0']
    ] as const
  ) t.equal((await shop('GET', path.replaceAll('"', '%22'))).headers['content-range'], range, path)
  t.strictSame((await other('GET', '/tags')).body, [])
})

t.test('a page that starts too far names the parameter that was sent, and its largest value', async (t) => {
  t.match((await shop('GET', '/products?range=[2000000,2000010]')).body, {
    field: 'range',
    message: 'range must not start after 1000000'
  })
  t.match((await shop('GET', '/products?skip=1.5')).body, {
    field: 'skip',
    message: 'skip must be an integer from 0 to 1000000'
  })
})
