import t from 'tap'
import { bearer, build, client, createShop, INSTANT, openIdentityProvider, openTestDatabase, UUID } from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const names = ['ann', 'bob', 'cid', 'dot'] as const
const idp = await openIdentityProvider(t, names)
const app = await build(t, database, idp)
const shop = await createShop(database, 'here')

const people = await Promise.all(names.map(async (name) => {
  const as = client(app, '', bearer(await idp.userToken(name)))
  return { as, id: (await as('GET', '/me')).body.id as string, name }
}))
const [ann, bob, cid, dot] = people as [Person, Person, Person, Person]
type Person = typeof people[number]
const machine = client(app, '', bearer(await idp.machineToken()))
const NOBODY = '00000000-0000-4000-8000-000000000000'

/** Makes these the only active admins. */
async function onlyAdmins (...admins: readonly Person[]): Promise<void> {
  await knex('users').update({ active: true, roles: [] })
  await knex('users').whereIn('id', admins.map(({ id }) => id)).update({ roles: ['admin'] })
}

const last = (field: string) => ({
  statusCode: 409,
  code: 'SHOP_CONFLICT',
  error: 'Conflict',
  message: 'This is the last active admin',
  field
})

t.test('everybody sees who they are', async (t) => {
  await onlyAdmins(ann)
  const subject = (await knex('users').where({ id: bob.id }).first()).subject
  t.strictSame((await bob.as('GET', '/me')).body, { id: bob.id, subject, name: 'bob', active: true, roles: [] })
  t.match((await ann.as('GET', '/me')).body, { id: UUID, name: 'ann', roles: ['admin'] })
  t.strictSame((await machine('GET', '/me')).body, {
    statusCode: 404,
    code: 'SHOP_NOT_FOUND',
    error: 'Not Found',
    message: 'No user behind this token'
  })
})

t.test('admins list people', async (t) => {
  await onlyAdmins(ann)
  await knex('users').where({ id: dot.id }).update({ active: false })
  for (
    const [filter, found] of [
      ['{"role":"admin"}', 'ann'],
      ['{"active":false}', 'dot'],
      ['{"active":true,"q":"BOB"}', 'bob']
    ] as const
  ) {
    t.strictSame(
      (await ann.as('GET', `/admin/users?filter=${filter}`)).body.map(({ name }: { name: string }) => name),
      [found],
      filter
    )
  }
  const { body } = await ann.as('GET', `/admin/users/${bob.id}`)
  t.strictSame(body, {
    id: bob.id,
    subject: body.subject,
    name: 'bob',
    active: true,
    roles: [],
    created_at: body.created_at,
    updated_at: body.updated_at
  })
  t.match(body, { created_at: INSTANT, updated_at: INSTANT })
  t.strictSame((await ann.as('PATCH', `/admin/users/${bob.id}`, {})).body, body, 'no change')
  t.match(await ann.as('GET', `/admin/users/${NOBODY}`), { status: 404, body: { message: `No user ${NOBODY}` } })
  t.match(await ann.as('GET', '/admin/users?filter={"role":"king"}'), { status: 422, body: { field: 'filter/role/0' } })
})

t.test('roles and access are given and taken from the next request on', async (t) => {
  await onlyAdmins(ann)
  await ann.as('PATCH', `/admin/users/${bob.id}`, { roles: ['admin'] })
  t.equal((await bob.as('GET', `/shops/${shop}/tags`)).status, 200)
  await bob.as('PATCH', `/admin/users/${cid.id}`, { active: false })
  t.match(await cid.as('GET', '/me'), { status: 403, body: { code: 'SHOP_USER_INACTIVE' } })
  t.match(await bob.as('PATCH', `/admin/users/${cid.id}`, { active: true }), {
    status: 200,
    body: { name: 'cid', active: true, roles: [] }
  })
  t.equal((await cid.as('GET', '/me')).status, 200)
  await ann.as('PATCH', `/admin/users/${bob.id}`, { roles: [] })
  t.equal((await bob.as('GET', '/admin/users')).status, 403)
  for (
    const [body, field] of [
      [{ roles: ['king'] }, 'roles/0'],
      [{ roles: ['admin', 'admin'] }, 'roles'],
      [{ active: 'no' }, 'active'],
      [{ name: ' ' }, 'name'],
      [{ subject: 'x' }, 'subject']
    ] as const
  ) {
    t.match(await ann.as('PATCH', `/admin/users/${bob.id}`, body), { status: 422, body: { field } })
  }
})

t.test('the last active admin cannot be locked out, not by themselves either', async (t) => {
  await onlyAdmins(ann)
  await knex('users').where({ id: dot.id }).update({ roles: ['admin'], active: false })
  for (
    const [change, field] of [
      [{ roles: [] }, 'roles'],
      [{ active: false }, 'active'],
      [{ roles: [], active: false }, 'active']
    ] as const
  ) {
    t.match(
      await ann.as('PATCH', `/admin/users/${ann.id}`, change),
      { status: 409, body: last(field) },
      'an inactive admin does not count'
    )
  }
  t.match((await ann.as('GET', '/me')).body, { active: true, roles: ['admin'] })
  await ann.as('PATCH', `/admin/users/${dot.id}`, { active: true })
  t.match(
    await ann.as('PATCH', `/admin/users/${ann.id}`, { roles: [] }),
    { status: 200, body: { roles: [] } },
    'of two, one may go'
  )
  t.match(await dot.as('PATCH', `/admin/users/${dot.id}`, { roles: [] }), { status: 409, body: last('roles') })
})
