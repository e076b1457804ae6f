import { randomUUID } from 'node:crypto'
import t from 'tap'
import { ShopScope } from '../src/access/scope.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

/*
 * Who may enter a shop is asked at three doors, and each reads it in a way of its own: of a REST call, of a tool call,
 * whose person is known already, and of work that continues after its call. They must agree.
 */

const database = await openTestDatabase(t)
const { knex } = database
const people = ['owner', 'staff', 'stranger', 'admin', 'inactive'] as const
const idp = await openIdentityProvider(t, [...people])
const app = await build(t, database, idp, { settings: { RATE_LIMIT_MAX: 100_000 } })
const machine = bearer(await idp.machineToken())

const states = ['active', 'archived', 'deleted'] as const
const shops = Object.fromEntries(
  await Promise.all(states.map(async (state) => [state, await createShop(database, `doors-${state}`)] as const))
)
const places = { ...shops, missing: randomUUID() }
const elsewhere = await createShop(database, 'doors-elsewhere')

/** Who calls, and who that is for work that continues. */
interface Who {
  readonly headers: Readonly<Record<string, string>>
  readonly actor: { readonly kind: 'user' | 'machine' | 'api-key', readonly id: string }
}

async function makeKey (shop: string): Promise<Who> {
  const { body } = await client(app, `/shops/${shop}`, machine)('POST', '/api-keys/', { name: 'doors' })
  return { headers: { 'x-api-key': body.plaintext }, actor: { kind: 'api-key', id: body.id } }
}

const who: Record<string, Who> = {
  machine: { headers: machine, actor: { kind: 'machine', id: 'test-machine' } },
  'a key of another shop': await makeKey(elsewhere)
}
for (const name of people) {
  const headers = bearer(await idp.userToken(name))
  who[name] = { headers, actor: { kind: 'user', id: (await client(app, '', headers)('GET', '/me')).body.id } }
}
const keys = Object.fromEntries(await Promise.all(states.map(async (state) => [state, await makeKey(shops[state]!)])))

const join = async (name: string, shop: string, role: 'owner' | 'staff'): Promise<void> =>
  await knex('shop_members').insert({ shop_id: shop, user_id: who[name]!.actor.id, role })
for (const shop of Object.values(shops)) {
  await join('owner', shop, 'owner')
  await join('staff', shop, 'staff')
  await join('inactive', shop, 'owner')
}
await join('stranger', elsewhere, 'owner')
await knex('users').where({ id: who['admin']!.actor.id }).update({ roles: ['admin'] })
await knex('users').where({ id: who['inactive']!.actor.id }).update({ active: false })
for (const status of states) await knex('shops').where({ id: shops[status]! }).update({ status })

/** Which shops each enters. */
const enters: Readonly<Record<string, readonly string[]>> = {
  owner: ['active'],
  staff: ['active'],
  stranger: [],
  inactive: [],
  admin: ['active', 'archived'],
  machine: ['active', 'archived'],
  'a key of another shop': [],
  'a key of the shop': ['active']
}

const doors: Readonly<Record<string, (who: Who, shop: string) => Promise<boolean>>> = {
  'a REST call': async ({ headers }, shop) =>
    (await app.inject({ url: `/shops/${shop}/tags`, headers })).statusCode === 200,
  'a tool call': async ({ headers }, shop) => {
    const { result } = (await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { accept: 'application/json, text/event-stream', ...headers },
      payload: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list_tags', arguments: { shop_id: shop } }
      }
    })).json()
    return result !== undefined && result.isError !== true
  },
  'work that continues': async ({ actor }, shop) =>
    await ShopScope.resume(knex, shop, { ...actor, operation: 'test', requestId: null }).then(
      () => true,
      ({ statusCode }) => {
        t.ok([403, 404, 410].includes(statusCode), `refused with ${statusCode}`)
        return false
      }
    )
}

for (const [door, isOpen] of Object.entries(doors)) {
  for (const [name, entered] of Object.entries(enters)) {
    t.test(`by ${door}, ${name} enters ${entered.join(' and ') || 'none'} of the shops`, async (t) => {
      for (const [state, shop] of Object.entries(places)) {
        const caller = who[name] ?? keys[state] ?? keys['active']!
        t.equal(await isOpen(caller, shop), entered.includes(state), state)
      }
    })
  }
}
