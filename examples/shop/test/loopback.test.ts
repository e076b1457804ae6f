import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { bearer, build, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

/** The same call of every tool goes through both ways of reaching a route, on apps that share one database. */
const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t)
const apps = {
  light: await build(t, database, idp),
  inject: await build(t, database, idp, {
    onRoute: (route) => { route.config = { ...route.config, mcp: { ...route.config?.mcp, loopback: 'inject' } } }
  })
}
const shop = await createShop(database, 'loopback')
const machine = bearer(await idp.machineToken())

interface Answer { readonly status: number, readonly headers: Readonly<Record<string, unknown>>, readonly body: any }

async function call (way: keyof typeof apps, name: string, args: object, headers: Readonly<Record<string, string>> = machine): Promise<Answer> {
  const response = await apps[way].inject({
    method: 'POST',
    url: '/mcp',
    headers: { accept: 'application/json, text/event-stream', ...headers },
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
  })
  const { date, 'content-length': length, 'ratelimit-remaining': remaining, 'ratelimit-reset': reset, ...rest } = response.headers
  return { status: response.statusCode, headers: rest, body: response.json() }
}

/** Ids, instants and the like are new in every row; what they are replaced with keeps their kind. */
function comparable (answer: Answer): unknown {
  const text = JSON.stringify(answer)
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<instant>')
    .replace(/req-\w+/g, '<request>')
  return JSON.parse(text)
}

const resources = {
  product: { many: 'products', made: { name: 'Kettle — ein Kessel ☕', price_amount: 4200, metadata: { deep: [1, { a: null }] } }, changed: { status: 'active' } },
  category: { many: 'categories', made: { name: 'Things' }, changed: { position: 3 } },
  tag: { many: 'tags', made: { name: 'New' }, changed: { name: 'Newer' } },
  attribute: { many: 'attributes', made: { name: 'Size', type: 'select', options: ['S', 'L'] }, changed: { options: ['S', 'L', 'XL'] } }
}

async function sameAnswer (t: Test, title: string, name: string, args: object, headers?: Readonly<Record<string, string>>): Promise<void> {
  const [light, inject] = [await call('light', name, args, headers), await call('inject', name, args, headers)]
  t.strictSame(comparable(light), comparable(inject), `${name}: ${title}`)
}

t.test('both ways are in use', async (t) => {
  t.ok(apps.light.mcpTools.length === 20)
  t.ok(apps.light.mcpTools.every(({ route }) => route.config.mcp?.loopback === undefined))
  t.ok(apps.inject.mcpTools.every(({ route }) => route.config.mcp?.loopback === 'inject'))
})

for (const [one, { many, made, changed }] of Object.entries(resources)) {
  t.test(`the tools of a ${one} answer the same through the light loopback and through app.inject`, async (t) => {
    const id = `${one}_id`
    const create = async (way: keyof typeof apps, n: number): Promise<{ answer: Answer, id: string }> => {
      const answer = await call(way, `create_${one}`, { shop_id: shop, ...made, [one === 'attribute' ? 'code' : 'slug']: `made${n}` })
      return { answer, id: answer.body.result.structuredContent.id }
    }
    const [light, inject] = [await create('light', 1), await create('inject', 1).catch(() => null)]
    t.equal(inject, null, 'the slug is taken, whichever way the first came')
    const second = await create('inject', 2)
    t.strictSame(comparable(light.answer), JSON.parse(JSON.stringify(comparable(second.answer)).replaceAll('made2', 'made1')), `create_${one}`)

    await sameAnswer(t, 'a slug that is taken', `create_${one}`, { shop_id: shop, ...made, [one === 'attribute' ? 'code' : 'slug']: 'made1' })
    await sameAnswer(t, 'nothing', `create_${one}`, {})
    await sameAnswer(t, 'wrong types', `create_${one}`, { shop_id: shop, name: { a: 1 } })
    await sameAnswer(t, 'an unknown argument', `create_${one}`, { shop_id: shop, ...made, colour: 'red' })
    await sameAnswer(t, 'a row', `get_${one}`, { shop_id: shop, [id]: light.id })
    await sameAnswer(t, 'no such row', `get_${one}`, { shop_id: shop, [id]: randomUUID() })
    await sameAnswer(t, 'no such shop', `get_${one}`, { shop_id: randomUUID(), [id]: light.id })
    await sameAnswer(t, 'no id', `get_${one}`, { shop_id: shop, [id]: 'x y/../z?&#' })
    await sameAnswer(t, 'a list', `list_${many}`, { shop_id: shop, sort: 'name', limit: 1 })
    await sameAnswer(t, 'a filter', `list_${many}`, { shop_id: shop, filter: { q: 'ö&=?#/%' } })
    await sameAnswer(t, 'a filter that there is not', `list_${many}`, { shop_id: shop, filter: { colour: ['red'] } })
    await sameAnswer(t, 'a bad limit', `list_${many}`, { shop_id: shop, limit: -1 })
    await sameAnswer(t, 'a change', `update_${one}`, { shop_id: shop, [id]: light.id, ...changed })
    await sameAnswer(t, 'a change of nothing', `update_${one}`, { shop_id: shop, [id]: light.id })
    await sameAnswer(t, 'a change of no row', `update_${one}`, { shop_id: shop, [id]: randomUUID(), ...changed })
    await sameAnswer(t, 'nobody', `get_${one}`, { shop_id: shop, [id]: light.id }, {})
    await sameAnswer(t, 'a bad key', `get_${one}`, { shop_id: shop, [id]: light.id }, { 'x-api-key': 'shop_bad_key' })
    t.strictSame(comparable(await call('light', `delete_${one}`, { shop_id: shop, [id]: light.id })), comparable(await call('inject', `delete_${one}`, { shop_id: shop, [id]: second.id })))
    await sameAnswer(t, 'gone', `delete_${one}`, { shop_id: shop, [id]: light.id })
  })
}
