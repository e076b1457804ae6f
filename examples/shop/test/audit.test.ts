import { setTimeout as sleep } from 'node:timers/promises'
import { startPayStandIn } from 'pay-reconcile/testing'
import t from 'tap'
import { bearer, build, client, createShop, INSTANT, openIdentityProvider, openTestDatabase, UUID } from './build.ts'

const SECRET = 'sk_test_canary'

const standIn = await startPayStandIn({ accounts: { [SECRET]: { customers: [{ id: 'cus_1' }] } }, log: () => {} })
t.teardown(async () => await standIn.close())
const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['owner', 'staff', 'admin'])
const app = await build(t, database, idp, { settings: { PAY_API_URL: standIn.url } })
const machine = client(app, '', bearer(await idp.machineToken()))
const [owner, staff, admin] = await Promise.all(['owner', 'staff', 'admin'].map(async (name) => {
  const as = client(app, '', bearer(await idp.userToken(name)))
  return { as, id: (await as('GET', '/me')).body.id as string }
})) as [Person, Person, Person]
interface Person {
  readonly as: typeof machine
  readonly id: string
}
await knex('users').where({ id: admin.id }).update({ roles: ['admin'] })

const here = await createShop(database, 'here')
const at = `/shops/${here}`
await knex('shop_members').insert([
  { shop_id: here, user_id: owner.id, role: 'owner' },
  { shop_id: here, user_id: staff.id, role: 'staff' }
])

/** What the trail gained by the work, oldest first, without what a test cannot know. */
async function gainedBy (work: () => Promise<unknown>): Promise<object[]> {
  const { length: count } = await knex('history').select('id')
  await work()
  const { body } = await admin.as('GET', '/admin/audit?sort=at&limit=200')
  return body.slice(count).map(({ id, at: time, request_id: request, ...entry }: Record<string, unknown>) => {
    t.match({ id, time, request }, { id: UUID, time: INSTANT, request: /./ })
    return entry
  })
}

const by = (person: Person, name: string) => ({
  actor_kind: 'user',
  actor_id: person.id,
  actor_name: name,
  actor_prefix: null
})
/** Whose history has it: that of the shop itself, or of none if it is about a person. */
const shopOf = (recordKind: string, recordId: string): string | null => {
  if (recordKind === 'user') return null
  return recordKind === 'shop' ? recordId : here
}
const about = (
  [recordKind, recordId, recordName]: readonly [kind: string, id: string, name: string | null],
  operation: string,
  action: string,
  changes: object
) => ({
  shop_id: shopOf(recordKind, recordId),
  operation,
  tool: null,
  confirmed: null,
  action,
  record_kind: recordKind,
  record_id: recordId,
  record_name: recordName,
  changes,
  affected: {},
  reverts: null,
  reverted_by: null,
  revertible: recordKind === 'shop_config'
})

t.test('an API key that is made and revoked is told with who did it, and nothing secret', async (t) => {
  let key: { id: string, prefix: string } = { id: '', prefix: '' }
  let revokedAt = ''
  const gained = await gainedBy(async () => {
    key = (await owner.as('POST', `${at}/api-keys/`, {
      name: 'Printer',
      scopes: ['read'],
      expires_at: '2099-01-01T00:00:00.000Z'
    })).body
    await machine('DELETE', `${at}/api-keys/${key.id}`)
    await owner.as('DELETE', `${at}/api-keys/${key.id}`)
    revokedAt = (await owner.as('GET', `${at}/api-keys/?limit=1000`)).body.find(({ id }: { id: string }) =>
      id === key.id
    ).revoked_at
    await owner.as('POST', `${at}/api-keys/`, { name: 'refused', scopes: ['nothing'] })
  })
  const fresh = (after: unknown) => ({ before: null, after })
  t.strictSame(gained, [
    {
      ...by(owner, 'owner'),
      ...about(['api_key', key.id, 'Printer'], 'create_api_key', 'create', {
        name: fresh('Printer'),
        prefix: fresh(key.prefix),
        scopes: fresh(['read']),
        expires_at: fresh('2099-01-01T00:00:00.000Z')
      })
    },
    {
      actor_kind: 'machine',
      actor_id: 'test-machine',
      actor_name: null,
      actor_prefix: null,
      ...about(['api_key', key.id, 'Printer'], 'revoke_api_key', 'update', { revoked_at: fresh(revokedAt) })
    }
  ])
})

t.test('each change of members, the payment key and settings is told, of shops and people too', async (t) => {
  const made = (await admin.as('POST', '/shops', { name: 'Tea House', currency: 'GBP' })).body
  const shop = `/shops/${made.id}`
  const gained = await gainedBy(async () => {
    await owner.as('PATCH', `${at}/members/${staff.id}`, { role: 'owner' })
    await owner.as('PATCH', `${at}/members/${staff.id}`, {})
    await staff.as('PATCH', `${at}/members/${staff.id}`, { role: 'staff' })
    await owner.as('DELETE', `${at}/members/${staff.id.toUpperCase()}`)
    await owner.as('POST', `${at}/members`, { user_id: staff.id })
    await owner.as('POST', `${at}/members`, { user_id: staff.id })
    await owner.as('DELETE', `${at}/pay/key`)
    for (let times = 0; times < 2; times++) await owner.as('PUT', `${at}/pay/key`, { pay_secret_key: SECRET })
    await owner.as('DELETE', `${at}/pay/key`)
    await owner.as('PATCH', `${at}/config`, { locale: 'pt-BR', time_zone: 'UTC' })
    await owner.as('PATCH', `${at}/config`, { locale: '?' })
    for (let times = 0; times < 2; times++) await admin.as('PATCH', shop, { status: 'archived' })
    await admin.as('DELETE', shop)
    for (let times = 0; times < 2; times++) await admin.as('PATCH', `/admin/users/${staff.id}`, { active: false })
    await admin.as('PATCH', `/admin/users/${staff.id}`, { active: true, roles: [] })
  })
  t.strictSame(gained, [
    {
      ...by(owner, 'owner'),
      ...about(['member', staff.id, 'staff'], 'update_member', 'update', { role: { before: 'staff', after: 'owner' } })
    },
    {
      ...by(staff, 'staff'),
      ...about(['member', staff.id, 'staff'], 'update_member', 'update', { role: { before: 'owner', after: 'staff' } })
    },
    {
      ...by(owner, 'owner'),
      ...about(['member', staff.id, 'staff'], 'remove_member', 'delete', { role: { before: 'staff', after: null } })
    },
    {
      ...by(owner, 'owner'),
      ...about(['member', staff.id, 'staff'], 'add_member', 'create', { role: { before: null, after: 'staff' } })
    },
    {
      ...by(owner, 'owner'),
      ...about(['pay_key', here, null], 'set_pay_key', 'create', { configured: { before: null, after: true } })
    },
    { ...by(owner, 'owner'), ...about(['pay_key', here, null], 'set_pay_key', 'update', {}) },
    {
      ...by(owner, 'owner'),
      ...about(['pay_key', here, null], 'delete_pay_key', 'delete', { configured: { before: true, after: null } })
    },
    {
      ...by(owner, 'owner'),
      ...about(['shop_config', here, null], 'update_shop_config', 'update', {
        locale: { before: 'en', after: 'pt-BR' }
      })
    },
    {
      ...by(admin, 'admin'),
      ...about(['shop', made.id, 'Tea House'], 'update_shop', 'update', {
        status: { before: 'active', after: 'archived' }
      })
    },
    {
      ...by(admin, 'admin'),
      ...about(['shop', made.id, 'Tea House'], 'delete_shop', 'delete', {
        slug: { before: 'tea-house', after: null },
        name: { before: 'Tea House', after: null },
        currency: { before: 'GBP', after: null },
        status: { before: 'archived', after: null }
      })
    },
    {
      ...by(admin, 'admin'),
      ...about(['user', staff.id, 'staff'], 'update_user', 'update', { active: { before: true, after: false } })
    },
    {
      ...by(admin, 'admin'),
      ...about(['user', staff.id, 'staff'], 'update_user', 'update', { active: { before: false, after: true } })
    }
  ], 'and nothing of what was refused, or changed nothing')
  t.notMatch(JSON.stringify(await knex('history')), 'canary')
})

t.test('a write and its entry are one: without the entry there is no write', async (t) => {
  await knex.raw("alter table history add constraint audit_is_away check (operation = 'list_audit') not valid")
  t.teardown(async () => await knex.raw('alter table history drop constraint if exists audit_is_away'))
  const before = await Promise.all(
    ['shop_members', 'api_keys', 'shops', 'users'].map(async (table) =>
      await knex(table).orderBy('created_at').select('*')
    )
  )
  for (
    const [status, method, path, body] of [
      [500, 'PATCH', `${at}/members/${staff.id}`, { role: 'owner' }],
      [503, 'POST', `${at}/api-keys/`, { name: 'unseen' }],
      [500, 'PUT', `${at}/pay/key`, { pay_secret_key: SECRET }],
      [500, 'PATCH', `${at}/config`, { locale: 'de' }],
      [500, 'DELETE', at],
      [500, 'PATCH', `/admin/users/${staff.id}`, { roles: ['admin'] }]
    ] as const
  ) t.equal((await admin.as(method, path, body)).status, status, `${method} ${path}`)
  t.strictSame(
    await Promise.all(
      ['shop_members', 'api_keys', 'shops', 'users'].map(async (table) =>
        await knex(table).orderBy('created_at').select('*')
      )
    ),
    before
  )
  await knex.raw('alter table history drop constraint audit_is_away')
})

t.test('entries are listed newest first, for a shop and for all of them', async (t) => {
  const elsewhere = await createShop(database, 'elsewhere')
  await machine('PATCH', `/shops/${elsewhere}/config`, { locale: 'fr' })
  const [own, all] = [await owner.as('GET', `${at}/audit?limit=200`), await admin.as('GET', '/admin/audit?limit=200')]
  t.strictSame([own.status, all.status], [200, 200])
  t.strictSame(own.body, all.body.filter(({ shop_id: shop }: { shop_id: string }) => shop === here))
  t.strictSame(
    all.body.map(({ at: time }: { at: string }) => time),
    all.body.map(({ at: time }: { at: string }) => time).toSorted().toReversed()
  )
  t.match(all.body[0], { shop_id: elsewhere, changes: { locale: { after: 'fr' } } })
  const kinds = async (filter: object) =>
    (await owner.as('GET', `${at}/audit?filter=${encodeURIComponent(JSON.stringify(filter))}`)).body.map((
      { operation }: { operation: string }
    ) => operation)
  t.strictSame(await kinds({ actor_id: [staff.id], action: ['update'], at_gte: own.body.at(-1).at }), ['update_member'])
  t.strictSame(await kinds({ at_lte: '2000-01-01T00:00:00Z' }), [])
})

t.test('a reconciliation ends when the admin who started it is shut out, or is an admin no more', async (t) => {
  await owner.as('PUT', `${at}/pay/key`, { pay_secret_key: SECRET })
  await knex('accounts').insert(
    Array.from(
      { length: 30 },
      (_, n) => ({ shop_id: here, name: `Account ${n}`, details: { pay_customer_id: `cus_unknown_${n}` } })
    )
  )
  const boss = { as: client(app, '', bearer(await idp.userToken('staff'))), id: staff.id }
  for (const [what, change] of [['inactive', { active: false }], ['no admin', { roles: [] }]] as const) {
    await knex('users').where({ id: boss.id }).update({ active: true, roles: ['admin'] })
    const started = await boss.as('POST', '/admin/accounts/reconcile', { mode: 'sync', shop_id: here, dry_run: false })
    t.equal(started.status, 202)
    t.equal((await admin.as('PATCH', `/admin/users/${boss.id}`, change)).status, 200)
    let run = started.body
    while (run.status === 'running') {
      await sleep(50)
      run = (await admin.as('GET', `/admin/accounts/reconcile/${run.id}`)).body
    }
    t.match(
      run,
      { status: 'done', shops: { stopped: [{ shop_id: here, reason: 'PAY_RECONCILE_RUN_FORBIDDEN' }] } },
      what
    )
    t.ok(run.processed < 30, `${run.processed} of 30 accounts`)
  }
})
