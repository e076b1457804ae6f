import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import {
  bearer,
  build,
  client,
  createShop,
  INSTANT,
  openIdentityProvider,
  openTestDatabase,
  TEST_DATABASE_URL,
  UUID
} from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['owner', 'staff', 'admin', 'other'])
const app = await build(t, database, idp)

const machine = client(app, '', bearer(await idp.machineToken()))
const people = await Promise.all(['owner', 'staff', 'admin', 'other'].map(async (name) => {
  const as = client(app, '', bearer(await idp.userToken(name)))
  return { as, id: (await as('GET', '/me')).body.id as string }
}))
const [owner, staff, admin, other] = people as [Person, Person, Person, Person]
type Person = typeof people[number]
await knex('users').where({ name: 'admin' }).update({ roles: ['admin'] })
const NOBODY = '00000000-0000-4000-8000-000000000000'

const problem = (statusCode: number, code: string, error: string, message: string, field?: string) => ({
  statusCode,
  code,
  error,
  message,
  ...(field && { field })
})
const invalid = (
  field: string,
  message: string
) => [422, problem(422, 'SHOP_INVALID', 'Unprocessable Entity', message, field)]
const conflict = (field: string, message: string) => [409, problem(409, 'SHOP_CONFLICT', 'Conflict', message, field)]
const forbidden = [403, problem(403, 'SHOP_FORBIDDEN', 'Forbidden', 'You have no access to this shop')]
const ownerOnly = [403, problem(403, 'SHOP_OWNER_ONLY', 'Forbidden', 'Only owners of the shop and admins may do this')]
const lastOwner = [
  409,
  problem(
    409,
    'SHOP_LAST_OWNER',
    'Conflict',
    'This is the last active owner of the shop: make another member an owner first'
  )
]
const gone = (noun: string, id: string) => [404, problem(404, 'SHOP_NOT_FOUND', 'Not Found', `No ${noun} ${id}`)]

/** Status and body, which is what most of these tests are about. */
async function said (answer: ReturnType<typeof machine>): Promise<readonly [number, any]> {
  const { status, body } = await answer
  return [status, body]
}

t.test('an admin makes, changes, closes and deletes a shop', async (t) => {
  const made = await admin.as('POST', '/shops', { name: 'Tea House', currency: 'GBP' })
  const { id, created_at: created } = made.body
  t.match(made.body, { id: UUID, created_at: INSTANT })
  const shop = {
    id,
    slug: 'tea-house',
    name: 'Tea House',
    currency: 'GBP',
    status: 'active',
    created_at: created,
    updated_at: created
  }
  t.strictSame([made.status, made.headers.location, made.body], [201, `/shops/${id}`, shop])
  t.strictSame(await said(admin.as('GET', `/shops/${id}`)), [200, shop])
  t.strictSame(
    await said(admin.as('POST', '/shops', { name: 'Tea House', currency: 'GBP' })),
    conflict('slug', 'slug is taken by another shop')
  )
  t.strictSame(await said(admin.as('POST', '/shops', { name: 'Tea' })), invalid('currency', 'currency is required'))

  const renamed = await admin.as('PATCH', `/shops/${id}`, { name: 'Tea Rooms', slug: 'tea-rooms' })
  t.strictSame([renamed.status, renamed.body], [200, {
    ...shop,
    name: 'Tea Rooms',
    slug: 'tea-rooms',
    updated_at: renamed.body.updated_at
  }])
  t.strictSame((await admin.as('PATCH', `/shops/${id}`, {})).body, renamed.body, 'no change')
  t.equal((await admin.as('DELETE', `/shops/${id}`)).status, 204)
  t.strictSame(await said(admin.as('GET', `/shops/${id}`)), gone('shop', id))
  t.strictSame(await said(admin.as('DELETE', `/shops/${id}`)), gone('shop', id))
})

t.test('an archived shop is closed to its members and keys, and opens again', async (t) => {
  const id = await createShop(database, 'seasonal')
  await knex('shop_members').insert({ shop_id: id, user_id: staff.id })
  const key = client(app, '', {
    'x-api-key': (await machine('POST', `/shops/${id}/api-keys/`, { name: 'a' })).body.plaintext
  })
  const tags = `/shops/${id}/tags`
  const listed = async () => (await staff.as('GET', '/shops?filter={"slug":"seasonal"}')).body.length
  const statuses = async () => [
    (await staff.as('GET', tags)).status,
    (await key('GET', tags)).status,
    await listed(),
    (await machine('GET', tags)).status
  ]
  t.strictSame(await statuses(), [200, 200, 1, 200])
  t.match(await said(admin.as('PATCH', `/shops/${id}`, { status: 'archived' })), [200, { status: 'archived' }])
  t.strictSame(await statuses(), [403, 403, 0, 200])
  t.strictSame(await said(staff.as('GET', tags)), forbidden)
  await admin.as('PATCH', `/shops/${id}`, { status: 'active' })
  t.strictSame(await statuses(), [200, 200, 1, 200])
})

t.test('a deleted shop takes all that is in it along; one with orders stays', async (t) => {
  const id = await createShop(database, 'mistake')
  await machine('POST', `/shops/${id}/products`, { name: 'Cup', price_amount: 1, status: 'active' })
  const account = (await machine('POST', `/shops/${id}/accounts`, { name: 'Ann' })).body.id
  const { plaintext } = (await machine('POST', `/shops/${id}/api-keys/`, { name: 'a' })).body
  const order = await knex('orders').insert({ shop_id: id, account_id: account, currency: 'EUR', total_amount: 1 })
    .returning('id')
  t.strictSame(
    await said(admin.as('DELETE', `/shops/${id}`)),
    conflict('shop_id', 'A shop with orders cannot be deleted: archive it instead')
  )
  await knex('orders').where(order[0]).delete()
  await knex('pay_reconcile_snapshots').insert({
    registration: 'accounts',
    audit_id: account,
    account_id: account,
    shop_id: id,
    customer: JSON.stringify({ name: 'Ann' })
  })
  t.equal((await admin.as('DELETE', `/shops/${id}`)).status, 204)
  for (const table of ['products', 'accounts', 'api_keys', 'pay_reconcile_snapshots']) {
    t.strictSame(await knex(table).where({ shop_id: id }), [], table)
  }
  t.equal((await client(app, '', { 'x-api-key': plaintext })('GET', `/shops/${id}/tags`)).status, 401)
})

t.test('an API key for a shop that is deleted once its caller was let in is a 404', async (t) => {
  const id = await createShop(database, 'vanished')
  // The body is read once the caller was let in.
  const payload = Readable.from((async function* () {
    await knex('shops').where({ id }).delete()
    yield JSON.stringify({ name: 'late' })
  })())
  const headers = { ...bearer(await idp.machineToken()), 'content-type': 'application/json' }
  const response = await app.inject({ method: 'POST', url: `/shops/${id}/api-keys/`, headers, payload })
  t.strictSame([response.statusCode, response.json()], [
    404,
    problem(404, 'DUAL_AUTH_OWNER_UNKNOWN', 'Not Found', 'The owner of the API key does not exist')
  ])
})

t.test('an API key for a shop whose deletion takes longer than a key may is a 404, made or revoked', {
  skip: TEST_DATABASE_URL === undefined && 'two connections are needed for that: set TEST_DATABASE_URL'
}, async (t) => {
  const id = await createShop(database, 'vast')
  const key = (await machine('POST', `/shops/${id}/api-keys/`, { name: 'a' })).body
  const deletion = await knex.transaction()
  await deletion('shops').where({ id }).delete()
  const answers = Promise.all([
    said(machine('POST', `/shops/${id}/api-keys/`, { name: 'late' })),
    said(machine('DELETE', `/shops/${id}/api-keys/${key.id}`))
  ])
  // Longer than the key store is waited for.
  await sleep(2500)
  await deletion.commit()
  const shopGone = [404, problem(404, 'SHOP_GONE', 'Not Found', 'The shop was deleted')]
  t.strictSame(await answers, [shopGone, shopGone])
})

t.test('lists of shops are searched, and have no secrets', async (t) => {
  for (const [slug, currency] of [['list-b', 'USD'], ['list-a', 'EUR'], ['list-c', 'USD']] as const) {
    await createShop(database, slug, currency)
  }
  const { body } = await machine('GET', '/shops?filter={"q":"list-","currency":"USD"}')
  t.strictSame(body.map(({ slug }: { slug: string }) => slug), ['list-b', 'list-c'])
  t.notMatch(JSON.stringify((await machine('GET', '/shops')).body), /pay_secret_key|settings/)
})

t.test('settings have defaults, are changed one by one, and refuse what they cannot mean', async (t) => {
  const id = await createShop(database, 'settings')
  const path = `/shops/${id}/config`
  const { body: before } = await machine('GET', path)
  const defaults = {
    shop_id: id,
    currency: 'EUR',
    locale: 'en',
    time_zone: 'UTC',
    contact_email: null,
    prices_include_tax: true,
    confirm_agent_calls: true,
    metadata: {},
    updated_at: before.updated_at
  }
  t.strictSame(before, defaults)

  const changes = {
    currency: 'JPY',
    locale: 'ja',
    time_zone: 'Asia/Tokyo',
    contact_email: 'post@example.com',
    prices_include_tax: false,
    confirm_agent_calls: false,
    metadata: { theme: { dark: true } }
  }
  const whole = await machine('PATCH', path, changes)
  t.strictSame([whole.status, whole.body], [200, { ...defaults, ...changes, updated_at: whole.body.updated_at }])
  const { body: part } = await machine('PATCH', path, { contact_email: null, metadata: { a: 1 } })
  t.strictSame(part, { ...whole.body, contact_email: null, metadata: { a: 1 }, updated_at: part.updated_at })
  t.strictSame((await machine('GET', path)).body, part)
  t.strictSame((await machine('PATCH', path, {})).body, part, 'no change')
  t.equal(
    (await machine('POST', `/shops/${id}/products`, { name: 'Cup' })).body.currency,
    'JPY',
    'the currency is that of new products'
  )

  for (
    const [body, field, message] of [
      [{ currency: 'yen' }, 'currency', undefined],
      [{ locale: 'no_such locale' }, 'locale', 'locale must be a language tag such as en or pt-BR'],
      [{ time_zone: 'Mars/Olympus' }, 'time_zone', 'time_zone must be a time zone such as Europe/Lisbon'],
      [{ contact_email: 'nobody' }, 'contact_email', undefined],
      [{ prices_include_tax: 'yes' }, 'prices_include_tax', undefined],
      [{ metadata: { a: 'x'.repeat(17_000) } }, 'metadata', 'metadata must not be larger than 16 KiB'],
      [{ colour: 'red' }, 'colour', 'colour is not a known field'],
      [{ pay_secret_key: 'x' }, 'pay_secret_key', 'pay_secret_key is not a known field']
    ] as const
  ) {
    t.match(await said(machine('PATCH', path, body)), [422, {
      code: 'SHOP_INVALID',
      field,
      ...(message && { message })
    }], JSON.stringify(body).slice(0, 60))
  }
  t.strictSame((await machine('GET', path)).body, part, 'a refused change changes nothing')
})

t.test('owners manage the members of their shop, staff see them', async (t) => {
  const id = await createShop(database, 'members')
  const path = `/shops/${id}/members`
  t.match(await said(machine('POST', path, { user_id: owner.id, role: 'owner' })), [201, {
    user_id: owner.id,
    role: 'owner'
  }], 'a machine makes the first one')
  t.strictSame(await said(staff.as('GET', path)), forbidden)

  const added = await owner.as('POST', path, { user_id: staff.id })
  const { created_at: created } = added.body
  const member = {
    id: staff.id,
    shop_id: id,
    user_id: staff.id,
    name: 'staff',
    active: true,
    role: 'staff',
    created_at: created,
    updated_at: created
  }
  t.strictSame([added.status, added.headers.location, added.body], [201, `${path}/${staff.id}`, member])
  t.strictSame(await said(staff.as('GET', `${path}/${staff.id}`)), [200, member], 'in from the next request on')

  t.strictSame(await said(owner.as('PATCH', `${path}/${staff.id}`, {})), [200, member], 'no change')

  t.strictSame(
    await said(owner.as('POST', path, { user_id: staff.id })),
    conflict('user_id', 'user_id is already a member of this shop')
  )
  t.strictSame(
    await said(owner.as('POST', path, { user_id: NOBODY })),
    invalid('user_id', 'user_id is not the id of anybody who has signed in')
  )
  t.strictSame(await said(owner.as('GET', `${path}/${other.id}`)), gone('member', other.id))
  t.strictSame(await said(owner.as('PATCH', `${path}/${other.id}`, { role: 'owner' })), gone('member', other.id))
  t.strictSame(await said(owner.as('DELETE', `${path}/${other.id}`)), gone('member', other.id))

  t.strictSame((await staff.as('GET', `${path}?filter={"role":"owner","q":"OWN"}`)).body.length, 1)

  t.match(await said(owner.as('PATCH', `${path}/${staff.id}`, { role: 'owner' })), [200, { role: 'owner' }])
  t.match(await said(staff.as('PATCH', `${path}/${owner.id}`, { role: 'staff' })), [200, { role: 'staff' }])
  t.strictSame(
    await said(owner.as('PATCH', `${path}/${owner.id}`, { role: 'owner' })),
    ownerOnly,
    'no longer theirs to do'
  )
  t.equal((await owner.as('DELETE', `${path}/${owner.id.toUpperCase()}`)).status, 204, 'anybody may leave')
  t.strictSame(await said(owner.as('GET', path)), forbidden, 'out from the next request on')
  t.strictSame(await said(admin.as('DELETE', `${path}/${staff.id}`)), lastOwner, 'somebody has to answer for the shop')
})

t.test('the last active owner of a shop stays one', async (t) => {
  const id = await createShop(database, 'last-owner')
  const path = `/shops/${id}/members`
  await knex('shop_members').insert([
    { shop_id: id, user_id: owner.id, role: 'owner' },
    { shop_id: id, user_id: other.id, role: 'owner' }
  ])
  await admin.as('PATCH', `/admin/users/${other.id}`, { active: false })
  for (const as of [owner.as, admin.as, machine]) {
    t.strictSame(await said(as('DELETE', `${path}/${owner.id}`)), lastOwner)
    t.strictSame(await said(as('PATCH', `${path}/${owner.id}`, { role: 'staff' })), lastOwner)
  }
  t.match(await said(owner.as('PATCH', `${path}/${owner.id}`, { role: 'owner' })), [200, { role: 'owner' }])
  t.equal((await owner.as('DELETE', `${path}/${other.id}`)).status, 204, 'the other one is not active')
  await admin.as('PATCH', `/admin/users/${other.id}`, { active: true })
  await owner.as('POST', path, { user_id: other.id, role: 'owner' })
  t.equal((await owner.as('DELETE', `${path}/${owner.id}`)).status, 204)
})

t.test('the summary of a shop counts its records, and its changes by the days of its own time zone', async (t) => {
  const id = await createShop(database, 'counted')
  await knex('shop_members').insert([
    { shop_id: id, user_id: owner.id, role: 'owner' },
    { shop_id: id, user_id: staff.id, role: 'staff' }
  ])
  const path = `/shops/${id}`
  const make = async (what: string, body: object) => await machine('POST', `${path}/${what}`, body)
  for (const status of ['active', 'active', 'draft', 'archived']) {
    await make('products', { name: `Tea ${status}${Math.random()}`, status, price_amount: 100 })
  }
  for (const name of ['One', 'Two']) await make('accounts', { name })
  await knex('accounts').where({ shop_id: id, name: 'One' }).update({ details: { pay_customer_id: 'cus_1' } })
  const { id: gone } = (await make('api-keys/', { name: 'Revoked' })).body
  await machine('DELETE', `${path}/api-keys/${gone}`)
  const { plaintext: key } =
    (await make('api-keys/', { name: 'Soon over', expires_at: new Date(Date.now() + 86_400_000).toISOString() })).body
  await make('api-keys/', { name: 'Lasting' })
  await client(app, path, { 'x-api-key': key })('POST', '/tags', { name: 'By an agent' })
  await owner.as('POST', `${path}/tags`, { name: 'By a person' })
  await owner.as('PATCH', `${path}/config`, { time_zone: 'Pacific/Kiritimati' })
  const { status, body } = await owner.as('GET', `${path}/summary`)
  t.match([status, body], [200, {
    products: { all: 4, active: 2, draft: 1 },
    orders: { all: 0, pending: 0 },
    api_keys: { active: 2, expiring: 1 },
    accounts: { all: 2, unlinked: 1 }
  }])
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'Pacific/Kiritimati' }).format()
  t.equal(body.days.length, 14)
  t.match(body.days.at(-1), { day: today, agents: 1, people: 2 })
  const seen = (await staff.as('GET', `${path}/summary`)).body.days.at(-1)
  t.match(seen, { agents: 1, people: 2 })
  t.ok(seen.others < body.days.at(-1).others, 'staff do not see what happens to keys')
})
