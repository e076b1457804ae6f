import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { sentenceFromShops } from '../src/shops/instructions.ts'
import { bearer, build, createShop, openIdentityProvider, openTestDatabase } from './build.ts'
import { joined } from '../../../test/joined.ts'

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t, ['ada', 'kim'])
const app = await build(t, database, idp)
const [north, south, closed] = [
  await createShop(database, 'north'),
  await createShop(database, 'south', 'JPY'),
  await createShop(database, 'closed')
]
await database.knex('shops').where({ id: closed }).update({ status: 'archived' })
const machine = bearer(await idp.machineToken())

/** What a client with these headers is told when it connects. */
async function told (headers: Readonly<Record<string, string>>): Promise<string> {
  return (await initialized(headers)).instructions
}

async function initialized (
  headers: Readonly<Record<string, string>>
): Promise<{ instructions: string, serverInfo: object }> {
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...headers, accept: 'application/json, text/event-stream' },
    payload: {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    }
  })
  t.equal(statusCode, 200)
  return JSON.parse(body.replace(/^[^{]*/, '')).result
}

t.test('a client is told another version whenever the tools change', async (t) => {
  const tools = readFileSync(new URL('../contract/tools.json', import.meta.url))
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const digest = createHash('sha256').update(tools).digest('hex').slice(0, 12)
  t.strictSame((await initialized(machine)).serverInfo, { name: 'shop', version: `${version}+${digest}` })
})

t.test('an agent learns the id of the shop that its key opens', async (t) => {
  const { plaintext } = (await app.inject({
    method: 'POST',
    url: `/shops/${north}/api-keys/`,
    headers: machine,
    payload: { name: 'agent' }
  })).json()
  t.match(
    await told({ 'x-api-key': plaintext }),
    joined(
      /^Manages the catalogs of shops\. .* Your shop is north, shop_id [0-9a-f-]{36}, currency EUR\. /,
      /Your API key implies it, so you can leave shop_id out\.$/
    )
  )
  t.ok((await told({ 'x-api-key': plaintext })).includes(north))
})

t.test('an agent learns what its key does not open', async (t) => {
  const make = async (payload: object): Promise<string> =>
    (await app.inject({ method: 'POST', url: `/shops/${north}/api-keys/`, headers: machine, payload })).json().plaintext
  const [all, some] = [await make({ name: 'all' }), await make({ name: 'some', scopes: ['read', 'create_tag'] })]
  t.notMatch(await told({ 'x-api-key': all }), /scopes/)
  t.match(
    await told({ 'x-api-key': some }),
    joined(
      /leave shop_id out\. Your API key has the scopes read, create_tag only, /,
      /so only the tools that they open are listed: /
    )
  )
  await database.knex('shops').where({ id: north }).update({ status: 'archived' })
  t.match(
    await told({ 'x-api-key': all }),
    /The shop of your API key is archived: you cannot work in it until an admin reactivates it\.$/
  )
  await database.knex('shops').where({ id: north }).update({ status: 'active' })
})

t.test('a person learns of the shops that they are a member of, and are open', async (t) => {
  const ada = bearer(await idp.userToken('ada'))
  t.match(await told(ada), 'You have no access to any shop yet.')
  const { id } = await database.knex('users').where({ name: 'ada' }).first('id')
  for (const shop of [north, south, closed]) await database.knex('shop_members').insert({ shop_id: shop, user_id: id })
  t.match(
    await told(ada),
    `Your shops are north (shop_id ${north}, currency EUR), south (shop_id ${south}, currency JPY).`
  )
  t.match(await told(bearer(await idp.userToken('kim'))), 'You have no access to any shop yet.')
})

t.test('who reaches every shop learns of all, up to a number', async (t) => {
  t.match(
    await told(machine),
    `Your shops are closed (shop_id ${closed}, currency EUR), north (shop_id ${north}, currency EUR), south ` +
      `(shop_id ${south}, currency JPY).`
  )
  const many = Array.from({ length: 21 }, (_, n) => ({ id: `id-${n}`, slug: `shop-${n}`, currency: 'EUR' }))
  t.match(sentenceFromShops(many), /shop-19 \(shop_id id-19, currency EUR\) and more\.$/)
  t.match(sentenceFromShops(many.slice(0, 20)), /shop-19 \(shop_id id-19, currency EUR\)\.$/)
})
