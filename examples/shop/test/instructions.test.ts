import t from 'tap'
import { sentenceFromShops } from '../src/shops/instructions.ts'
import { bearer, build, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t, ['ada', 'kim'])
const app = await build(t, database, idp)
const [north, south, closed] = [await createShop(database, 'north'), await createShop(database, 'south'), await createShop(database, 'closed')]
await database.knex('shops').where({ id: closed }).update({ status: 'archived' })
const machine = bearer(await idp.machineToken())

/** What a client with these headers is told when it connects. */
async function told (headers: Readonly<Record<string, string>>): Promise<string> {
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...headers, accept: 'application/json, text/event-stream' },
    payload: { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } } }
  })
  t.equal(statusCode, 200)
  return JSON.parse(body.replace(/^[^{]*/, '')).result.instructions
}

t.test('an agent learns the id of the shop that its key opens', async (t) => {
  const { plaintext } = (await app.inject({ method: 'POST', url: `/shops/${north}/api-keys/`, headers: machine, payload: { name: 'agent' } })).json()
  t.match(await told({ 'x-api-key': plaintext }), /^Manages the catalogs of shops\. .* Yours is the shop north, shop_id [0-9a-f-]{36}\.$/)
  t.ok((await told({ 'x-api-key': plaintext })).includes(north))
})

t.test('a person learns of the shops that they are a member of, and are open', async (t) => {
  const ada = bearer(await idp.userToken('ada'))
  t.match(await told(ada), 'You are not let into any shop yet.')
  const { id } = await database.knex('users').where({ name: 'ada' }).first('id')
  for (const shop of [north, south, closed]) await database.knex('shop_members').insert({ shop_id: shop, user_id: id })
  t.match(await told(ada), `Yours are the shops north (shop_id ${north}), south (shop_id ${south}).`)
  t.match(await told(bearer(await idp.userToken('kim'))), 'You are not let into any shop yet.')
})

t.test('who reaches every shop learns of all, up to a number', async (t) => {
  t.match(await told(machine), `Yours are the shops closed (shop_id ${closed}), north (shop_id ${north}), south (shop_id ${south}).`)
  const many = Array.from({ length: 21 }, (_, n) => ({ id: `id-${n}`, slug: `shop-${n}` }))
  t.match(sentenceFromShops(many), /shop-19 \(shop_id id-19\) and more\.$/)
  t.match(sentenceFromShops(many.slice(0, 20)), /shop-19 \(shop_id id-19\)\.$/)
})
