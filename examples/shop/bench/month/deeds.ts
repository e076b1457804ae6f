// What happens once or a few times a day, one after another, while the callers call.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Call, Client } from './client.ts'
import { queryOf } from './load.ts'
import { ADMIN, MACHINE, oneOf, PAYING, type Place, type World } from './world.ts'

/** Lines of the file that a shop imports; the large ones have more to say. */
const LINES = { small: 50, large: 2000 } as const

/** @param pause - between two deeds, in milliseconds */
export async function deedsOf (day: number, world: World, pause: number): Promise<void> {
  const { client, shops, small, large } = world
  const nth = <T>(all: readonly T[], n = day): T => all[n % all.length]!
  const deeds: ReadonlyArray<() => Promise<void>> = [
    async () => await importFile(world, nth(small), LINES.small),
    async () => await importFile(world, nth(large), LINES.large),
    async () => await useKeys(client, nth(shops), world),
    async () => await replaceKey(client, nth(shops, day * 7), world),
    async () => await leave(world, nth(shops, day * 3)),
    async () => await erase(world, nth(shops, day * 5)),
    async () => await undo(world, nth(shops, day * 11)),
    async () => await order(world, nth(shops.slice(0, PAYING.shops))),
    async () => await look(world, nth(shops, day * 13)),
    async () => await exportFile(world, nth(large))
  ]
  for (const deed of deeds) {
    await deed()
    await sleep(pause)
  }
}

/** Calls of one caller in one shop. */
function callsOf (client: Client, headers: Readonly<Record<string, string>>, { id }: Pick<Place, 'id'>) {
  return async (name: string, path: string, more: Partial<Call> = {}): Promise<any> =>
    await client.send({ name, path: path.startsWith('/admin') ? path : `/shops/${id}${path}`, headers, ...more })
}

/** A file of new prices by SKU, and a few new products, is imported and taken back, but for what was changed since. */
async function importFile ({ client, headers }: World, place: Place, lines: number): Promise<void> {
  const call = callsOf(client, headers.get(place.owner)!, place)
  const price = Math.floor(Math.random() * 100_000)
  const file = ['sku,name,price_amount,currency']
  for (let n = 1; n <= lines; n++) file.push(`SKU-${n},Changed by a file ${n},${price + n},EUR`)
  for (let n = 1; n <= 5; n++) file.push(`NEW-${randomUUID()},New by a file ${n},${price + n},EUR`)
  const made = await call('import_products', '/imports', {
    method: 'POST',
    headers: { ...headers.get(place.owner)!, 'content-type': 'text/csv' },
    body: file.join('\n')
  })
  if (made === undefined) return
  let status = made.status
  while (['pending', 'running'].includes(status)) {
    await sleep(200)
    status = (await call('get_import', `/imports/${made.id}`))?.status
  }
  if (status !== 'done') client.fail('an import was not applied', `it is ${status}`)
  await call('revert_changes', '/history/revert', {
    method: 'POST',
    body: { import_id: made.id, skip_conflicts: true }
  })
}

/** A key is made, used, rotated, used and revoked. */
async function useKeys (client: Client, place: Place, { headers }: World): Promise<void> {
  const call = callsOf(client, headers.get(place.owner)!, place)
  const use = async (key: string, expect: number): Promise<void> => {
    const more = { headers: { 'x-api-key': key }, expect }
    await callsOf(client, more.headers, place)('list_tags', '/tags', more)
  }
  const first = await call('create_api_key', '/api-keys/', { method: 'POST', body: { name: 'of a day' } })
  if (first === undefined) return
  await use(first.plaintext, 200)
  const rotate = { method: 'POST', body: { grace: 0 } } as const
  const second = await call('rotate_api_key', `/api-keys/${first.id}/rotate`, rotate)
  if (second === undefined) return
  await use(first.plaintext, 401)
  await use(second.plaintext, 200)
  await call('revoke_api_key', `/api-keys/${second.id}`, { method: 'DELETE' })
  await use(second.plaintext, 401)
}

/** The key that the callers of a shop have been using gives way to another. */
async function replaceKey (client: Client, place: Place, { headers }: World): Promise<void> {
  const call = callsOf(client, headers.get(MACHINE)!, place)
  const made = await call('rotate_api_key', `/api-keys/${place.keyId}/rotate`, { method: 'POST', body: {} })
  if (made !== undefined) Object.assign(place, { key: made.plaintext, keyId: made.id })
}

/** One of the staff leaves a shop, is refused there, and comes back. */
async function leave ({ client, headers, ids }: World, place: Place): Promise<void> {
  const call = callsOf(client, headers.get(place.owner)!, place)
  const [name] = place.staff as [string]
  const person = callsOf(client, headers.get(name)!, place)
  await person('list_tags', '/tags')
  await call('remove_member', `/members/${ids.get(name)!}?keys=revoke`, { method: 'DELETE' })
  await person('list_tags', '/tags', { expect: 403 })
  await call('add_member', '/members', { method: 'POST', body: { user_id: ids.get(name), role: 'staff' } })
  await person('list_tags', '/tags')
}

/** Somebody who has a key leaves for good: an admin deletes them, and their key is refused. */
async function erase ({ client, headers, ids, visitor }: World, place: Place): Promise<void> {
  const owner = callsOf(client, headers.get(place.owner)!, place)
  const admin = callsOf(client, headers.get(ADMIN)!, place)
  const authorization = await visitor()
  const { id } = await client.send({ name: 'get_me', path: '/me', headers: authorization }) ?? {}
  await owner('add_member', '/members', { method: 'POST', body: { user_id: id, role: 'owner' } })
  const person = callsOf(client, authorization, place)
  const key = await person('create_api_key', '/api-keys/', { method: 'POST', body: { name: 'of one who leaves' } })
  await person('update_product', `/products/${oneOf(place.products)}`, { method: 'PATCH', body: { price_amount: 1 } })
  await admin('delete_user', `/admin/users/${id}`, { method: 'DELETE' })
  const refused = { 'x-api-key': key?.plaintext }
  await callsOf(client, refused, place)('list_tags', '/tags', { expect: 401 })
}

/** A change is taken back, and that too. */
async function undo ({ client, headers }: World, place: Place): Promise<void> {
  const call = callsOf(client, headers.get(place.owner)!, place)
  const path = `/products/${place.products[0]!}`
  await call('update_product', path, { method: 'PATCH', body: { description: `Changed by mistake ${randomUUID()}` } })
  for (let times = 0; times < 2; times++) {
    const filter = { record_id: place.products[0]! }
    const [change] = await call('list_history', `/history?${queryOf({ filter, limit: 1 })}`) ?? []
    if (change !== undefined) await call('revert_change', `/history/${change.id}/revert`, { method: 'POST', body: {} })
  }
}

/** New customers order and pay. */
async function order ({ client, headers }: World, place: Place): Promise<void> {
  const call = callsOf(client, headers.get(MACHINE)!, place)
  const filter = { status: 'active', price_amount_gte: 1 }
  const [product] = await call('list_products', `/products?${queryOf({ filter, limit: 1 })}`) ?? []
  for (let n = 0; n < PAYING.accounts; n++) {
    const name = `Customer ${randomUUID()}`
    const details = { email: `${randomUUID()}@example.com` }
    const account = await call('create_account', '/accounts', { method: 'POST', body: { name, details } })
    const body = { account_id: account?.id, lines: [{ product_id: product?.id }] }
    const made = await call('create_order', '/orders', { method: 'POST', body })
    await call('create_pay_checkout', '/pay/checkout', { method: 'POST', body: { order_id: made?.id } })
    if (n % 2 === 0) await call('delete_account', `/accounts/${account?.id}`, { method: 'DELETE' })
  }
}

const LOOKED_AT = [
  '/summary',
  '/history',
  '/history/work',
  '/audit',
  '/tool-calls',
  '/usage',
  '/imports',
  '/api-keys/',
  '/members',
  '/waiting-keys',
  '/accounts',
  '/orders',
  '/pay/status'
]

/** An owner looks at what the console shows. */
async function look ({ client, headers }: World, place: Place): Promise<void> {
  const call = callsOf(client, headers.get(place.owner)!, place)
  for (const path of LOOKED_AT) await call(path, path)
  await call('list_key_calls', `/api-keys/${place.keyId}/calls`)
  const admin = callsOf(client, headers.get(ADMIN)!, place)
  for (const path of ['/admin/audit', '/admin/tool-calls', '/admin/users', '/admin/accounts']) await admin(path, path)
}

async function exportFile ({ client, headers }: World, place: Place): Promise<void> {
  await callsOf(client, headers.get(place.owner)!, place)('export_products', '/products/export')
}
