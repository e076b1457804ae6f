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
for (const product of [
  { name: 'Apple', price_amount: 300, status: 'active', sku: 'A-1', tag_ids: [tag.id] },
  { name: 'Banana', price_amount: 100, status: 'active', description: '100%_ripe' },
  { name: 'Cherry', price_amount: 200, category_ids: [category.id], tag_ids: [tag.id] },
  { name: 'Date' },
  { name: 'Elderberry', price_amount: 200, status: 'archived', description: 'back\\slash' }
]) await shop('POST', '/products', product)
await other('POST', '/products', { name: 'Foreign', status: 'active' })

const list = async (query: Record<string, string>) => await shop('GET', `/products?${new URLSearchParams(query).toString()}`)
const names = async (query: Record<string, string>) => (await list(query)).body.map(({ name }: { name: string }) => name)

t.test('a page is told in Content-Range, also an empty one and one past the end', async (t) => {
  for (const [query, range, found] of [
    [{}, 'products 0-25/5', ['Apple', 'Banana', 'Cherry', 'Date', 'Elderberry']],
    [{ skip: '1', limit: '2' }, 'products 1-3/5', ['Banana', 'Cherry']],
    [{ skip: '4', limit: '200' }, 'products 4-204/5', ['Elderberry']],
    [{ skip: '5' }, 'products 5-30/5', []],
    [{ skip: '1000000' }, 'products 1000000-1000025/5', []],
    [{ filter: '{"q":"nothing"}' }, 'products 0-25/0', []],
    [{ filter: '{"q":"nothing"}', skip: '3' }, 'products 3-28/0', []],
    [{ filter: '{"status":"active"}', skip: '9' }, 'products 9-34/2', []]
  ] as const) {
    const { status, headers, body } = await list(query)
    t.strictSame([status, headers['content-range'], body.map(({ name }: { name: string }) => name)], [200, range, found], JSON.stringify(query))
  }
})

t.test('a filter that a list does not have is an error of the store too, and not ignored', async (t) => {
  for (const name of ['nmae', 'constructor', '__proto__']) {
    const filter = JSON.parse(`{ "${name}": ["Apple"] }`)
    t.match(await list({ filter: JSON.stringify(filter) }), { status: 422 })
    await t.rejects(async () => await pageOf(database.knex, database.knex('products'), rules, { skip: 0, limit: 25, sort: 'name', filter }), { code: 'SHOP_INVALID', field: `filter/${name}` }, name)
  }
})

t.test('filter narrows by every field given', async (t) => {
  for (const [filter, found] of [
    [{ status: ['active'] }, ['Apple', 'Banana']],
    [{ status: 'active' }, ['Apple', 'Banana']],
    [{ status: ['draft', 'archived'] }, ['Cherry', 'Date', 'Elderberry']],
    [{ slug: ['date', 'apple'] }, ['Apple', 'Date']],
    [{ sku: ['A-1'] }, ['Apple']],
    [{ currency: ['EUR'] }, ['Apple', 'Banana', 'Cherry', 'Date', 'Elderberry']],
    [{ category_id: [category.id] }, ['Cherry']],
    [{ tag_id: [tag.id] }, ['Apple', 'Cherry']],
    [{ tag_id: [tag.id], status: ['active'] }, ['Apple']],
    [{ price_amount_gte: 200 }, ['Apple', 'Cherry', 'Elderberry']],
    [{ price_amount_gte: 100, price_amount_lte: 200 }, ['Banana', 'Cherry', 'Elderberry']],
    [{ q: 'AN' }, ['Banana']],
    [{ q: '%_' }, ['Banana']],
    [{ q: '_' }, ['Banana']],
    [{ q: '\\' }, ['Elderberry']],
    [{}, ['Apple', 'Banana', 'Cherry', 'Date', 'Elderberry']]
  ] as const) t.strictSame(await names({ filter: JSON.stringify(filter) }), found, JSON.stringify(filter))
})

t.test('sort orders by a field in either direction, ties by id, rows without a value last', async (t) => {
  t.strictSame(await names({ sort: '-name' }), ['Elderberry', 'Date', 'Cherry', 'Banana', 'Apple'])
  t.strictSame(await names({ sort: '["name","DESC"]' }), await names({ sort: '-name' }), 'as react-admin says it')
  t.strictSame(await names({ sort: '["name","ASC"]' }), await names({ sort: 'name' }))
  for (const sort of ['["name","sideways"]', '["name","ASC","DESC"]', '[]', '[1,"ASC"]']) t.match(await list({ sort }), { status: 422, body: { field: 'sort' } }, sort)
  const ties = (await list({ filter: '{"price_amount_lte":200,"price_amount_gte":200}', sort: '-price_amount' })).body
  t.strictSame(ties.map(({ id }: { id: string }) => id), ties.map(({ id }: { id: string }) => id).toSorted().toReversed(), 'in the direction of the field')
  for (const sort of ['price_amount', '-price_amount']) t.equal((await names({ sort })).at(-1), 'Date', sort)
})

t.test('pages of a sort with ties hold every row once', async (t) => {
  const pages = await Promise.all([0, 1, 2, 3, 4].map(async (skip) => await names({ sort: 'status', skip: String(skip), limit: '1' })))
  t.strictSame(pages.flat().toSorted(), ['Apple', 'Banana', 'Cherry', 'Date', 'Elderberry'])
})

t.test('a list question that cannot be understood is a 422 that names the field', async (t) => {
  for (const [query, field] of [
    ['limit=0', 'limit'], ['limit=201', 'limit'], ['limit=', 'limit'], ['limit=ten', 'limit'],
    ['skip=-1', 'skip'], ['skip=1000001', 'skip'], ['skip=1.5', 'skip'],
    ['filter=status', 'filter'], ['filter=[]', 'filter'], ['filter="a"', 'filter'], ['filter={}&filter={}', 'filter'],
    ['filter={"colour":"red"}', 'filter/colour'], ['filter={"__proto__":{"a":1}}', 'filter/__proto__'],
    ['filter={"status":"gone"}', 'filter/status/0'], ['filter={"status":[]}', 'filter/status'], ['filter={"tag_id":["x"]}', 'filter/tag_id/0'], [`filter={"tag_id":["urn:uuid:${tag.id}"]}`, 'filter/tag_id/0'],
    ['filter={"q":""}', 'filter/q'], ['filter={"q":["Apple"]}', 'filter/q'], ['filter={"status":null}', 'filter/status'],
    ['filter={"price_amount_lte":null}', 'filter/price_amount_lte'], ['filter={"price_amount_lte":"5"}', 'filter/price_amount_lte'], ['filter={"price_amount_lte":true}', 'filter/price_amount_lte'], ['filter={"q":"\\u0000"}', 'filter/q'], ['filter={"q":{"a":1}}', 'filter/q'],
    ['sort=colour', 'sort'], ['sort=description', 'sort'], ['sort=__proto__', 'sort'], ['sort=["name"', 'sort'], ['sort=["name",{"toString":1}]', 'sort'], ['sort=["id; drop table products","ASC"]', 'sort'],
    ['page=2', 'page']
  ] as const) {
    const answer = await shop('GET', `/products?${query.replaceAll('"', '%22')}`)
    t.match(answer, { status: 422, body: { code: 'SHOP_INVALID', field } }, query)
  }
})

t.test('each resource lists and filters its own rows only', async (t) => {
  await shop('POST', '/categories', { name: 'Pots', parent_id: category.id })
  await shop('POST', '/attributes', { name: 'Depth', type: 'number' })
  for (const [path, range] of [
    ['/categories', 'categories 0-25/2'], [`/categories?filter={"parent_id":"${category.id}"}`, 'categories 0-25/1'],
    ['/categories?filter={"parent_id":[null]}', 'categories 0-25/1'], [`/categories?filter={"parent_id":[null,"${category.id}"]}`, 'categories 0-25/2'],
    ['/tags?filter={"slug":["sale","none"]}', 'tags 0-25/1'],
    ['/attributes?filter={"type":"number"}', 'attributes 0-25/1'], ['/attributes?filter={"type":"text"}', 'attributes 0-25/0']
  ] as const) t.equal((await shop('GET', path.replaceAll('"', '%22'))).headers['content-range'], range, path)
  t.strictSame((await other('GET', '/tags')).body, [])
})
