import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { ShopScope } from '../src/access/scope.ts'
import { emptyShop, LARGE_TABLES } from '../src/shops/deletion.ts'
import { shopsRepository } from '../src/shops/shop-repository.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['admin', 'staff'])
const app = await build(t, database, idp)
const machine = client(app, '', bearer(await idp.machineToken()))
const [admin, staff] = await Promise.all(['admin', 'staff'].map(async (name) => {
  const as = client(app, '', bearer(await idp.userToken(name)))
  return { as, id: (await as('GET', '/me')).body.id as string }
})) as [Person, Person]
interface Person {
  readonly as: typeof machine
  readonly id: string
}
await knex('users').where({ name: 'admin' }).update({ roles: ['admin'] })

/** A shop with 2,500 products, as its deletion leaves it if the process ends at once. */
async function deletedShop (slug: string) {
  const id = await createShop(database, slug)
  await knex('shop_members').insert({ shop_id: id, user_id: staff.id })
  const { plaintext } = (await machine('POST', `/shops/${id}/api-keys/`, { name: 'agent' })).body
  await machine('POST', `/shops/${id}/accounts`, { name: 'Ann' })
  await machine('POST', `/shops/${id}/categories`, { name: 'Cups' })
  await knex.raw(
    `insert into products (shop_id, name, slug, currency)
    select ?, 'Cup ' || n, 'cup-' || n, 'EUR' from generate_series(1, 2500) n`,
    [id]
  )
  const actor = { kind: 'machine', id: 'm', name: 'm', operation: 'delete_shop', tool: null, request_id: null } as const
  await shopsRepository(knex).remove(
    await ShopScope.resume(knex, id, actor as never),
    { ...actor, user: null } as never
  )
  return { id, key: client(app, '', { 'x-api-key': plaintext }) }
}
const productsOf = async (id: string): Promise<number> =>
  Number((await knex('products').where({ shop_id: id }).count('* as n'))[0]?.['n'])
const isThere = async (id: string): Promise<boolean> => await knex('shops').where({ id }).first('id') !== undefined

t.test('nobody reaches a deleted shop, whatever is left of it', async (t) => {
  const { id, key } = await deletedShop('large')
  t.equal(await productsOf(id), 2500)
  for (const [as, status] of [[machine, 404], [admin.as, 404], [staff.as, 403], [key, 403]] as const) {
    t.equal((await as('GET', `/shops/${id}/products`)).status, status)
    t.equal((await as('POST', `/shops/${id}/tags`, { name: 'New' })).status, status)
  }
  t.equal((await admin.as('DELETE', `/shops/${id}`)).status, 404)
  for (const as of [machine, admin.as, staff.as]) {
    t.notMatch(JSON.stringify((await as('GET', '/shops')).body), new RegExp(id))
  }
  t.strictSame(await knex('accounts').where({ shop_id: id }), [], 'which runs of pay-reconcile would read')
  t.equal((await admin.as('POST', '/shops', { name: 'Large', slug: 'large', currency: 'EUR' })).status, 201)
})

t.test('a shop is emptied in portions, which may stop anywhere', async (t) => {
  const { id } = await deletedShop('portions')
  const left = []
  for (let stops = 0; await isThere(id); stops++) {
    let asked = 0
    await emptyShop(knex, id, () => asked++ > stops)
    left.push(await productsOf(id))
  }
  t.equal(left[0], 1500, 'one portion')
  t.equal(left.at(-1), 0)
  t.strictSame(left, left.toSorted((a, b) => b - a))
  t.strictSame(await knex('categories').where({ shop_id: id }), [])
  t.strictSame(await knex('api_keys').where({ shop_id: id }), [])
})

t.test('another process deletes what one left', async (t) => {
  const { id } = await deletedShop('left')
  const other = await build(t, database, idp)
  await other.listen({ host: '127.0.0.1', port: 0 })
  while (await isThere(id)) await sleep(20)
  t.equal(await productsOf(id), 0)
})

t.test('a shop that is not deleted is not emptied', async (t) => {
  const id = await createShop(database, 'stays')
  await machine('POST', `/shops/${id}/tags`, { name: 'Stays' })
  await emptyShop(knex, id, () => false)
  t.equal((await machine('GET', `/shops/${id}/tags`)).body.length, 1)
})

t.test('every table that can be large is emptied in portions', async (t) => {
  const { rows } = await knex.raw(`
    with recursive gone as (
      select 'shops'::regclass::oid as id
      union
      select conrelid from gone join pg_constraint on confrelid = gone.id and confdeltype = 'c'
        and conrelid <> all (array[${LARGE_TABLES.map((name) => `'${name}'::regclass`)}])
    )
    select id::regclass::text as name from gone order by name`)
  t.strictSame(
    rows.map(({ name }: { readonly name: string }) => name),
    // These have few rows in a shop, go with its products or accounts, or are emptied by the deletion itself.
    [
      'accounts',
      'api_keys',
      'daily_limits',
      'key_clients',
      'order_lines',
      'orders',
      'prices',
      'shop_members',
      'shops'
    ]
  )
})
