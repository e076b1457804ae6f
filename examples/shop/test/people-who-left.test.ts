import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { run } from '../src/commands/run.ts'
import { deletePerson } from '../src/users/personal-data.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

/*
 * What becomes of the API keys of people who leave: who is removed from a shop, made inactive or deleted. Somebody
 * decides, and until then the keys are refused.
 */

const database = await openTestDatabase(t)
const { knex } = database
const names = ['root', 'boss', 'ann', 'ben', 'cleo'] as const
const idp = await openIdentityProvider(t, names)
const settings = { RATE_LIMIT_MAX: 100_000, MCP_IMPORTS_ENABLED: true }
const app = await build(t, database, idp, { settings })
const replica = await build(t, database, idp, { settings })
const machine = bearer(await idp.machineToken())

interface Person {
  readonly id: string
  readonly subject: string
  readonly headers: Readonly<Record<string, string>>
  readonly as: ReturnType<typeof client>
}
const people = await Promise.all(names.map(async (name): Promise<Person> => {
  const headers = bearer(await idp.userToken(name))
  const as = client(app, '', headers)
  const { id, subject } = (await as('GET', '/me')).body
  return { id, subject, headers, as }
}))
const [root, boss, ann, ben, cleo] = people as [Person, Person, Person, Person, Person]
await knex('users').whereIn('id', [root.id, boss.id]).update({ roles: ['admin'] })

interface Key {
  readonly id: string
  readonly plaintext: string
}

let shops = 0

/** A shop whose owners are Ann and Ben, where each has made a key. */
async function staffed (): Promise<{ readonly shop: string, readonly hers: Key, readonly his: Key }> {
  const shop = await createShop(database, `shop-${++shops}`)
  await knex('users').whereIn('id', [ann.id, ben.id, cleo.id]).update({ active: true })
  await knex('shop_members').insert([ann, ben].map(({ id }) => ({ shop_id: shop, user_id: id, role: 'owner' })))
  return { shop, hers: await made(ann, shop), his: await made(ben, shop) }
}

async function made ({ as }: Pick<Person, 'as'>, shop: string, name = 'Agent'): Promise<Key> {
  const { status, body } = await as('POST', `/shops/${shop}/api-keys/`, { name })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body
}

/** What a key gets, at both replicas. */
async function used (shop: string, { plaintext }: Key): Promise<number | readonly number[]> {
  const statuses = []
  for (const server of [app, replica]) {
    const { statusCode } = await server.inject({ url: `/shops/${shop}/tags`, headers: { 'x-api-key': plaintext } })
    statuses.push(statusCode)
  }
  return new Set(statuses).size === 1 ? statuses[0]! : statuses
}

/** From now on, what was asked before is too old to count. */
function aSecondLater (t: Test): void {
  const now = performance.now.bind(performance)
  const later = now() + 1000
  t.intercept(performance, 'now', { value: () => now() + 1000 })
  t.ok(performance.now() >= later)
}

const audit = async (shop: string, id: string) =>
  (await knex('history').where({ shop_id: shop, record_id: id, action: 'update' }).orderBy('seq')).map((
    { actor_id: by, operation, changes }
  ) => ({ by, operation, changes }))

t.test('the keys of an inactive person are refused on every replica, and work again with the person', async (t) => {
  const { shop, hers, his } = await staffed()
  t.strictSame([await used(shop, hers), await used(shop, his)], [200, 200])
  t.equal((await root.as('PATCH', `/admin/users/${ann.id}`, { active: false })).status, 200)
  aSecondLater(t)
  t.strictSame([await used(shop, hers), await used(shop, his)], [401, 200])
  t.match((await ben.as('GET', `/shops/${shop}/members/${ann.id}/api-keys`)).body, {
    keys: [{ id: hers.id, name: 'Agent' }]
  })
  t.equal((await root.as('PATCH', `/admin/users/${ann.id}`, { active: true })).status, 200)
  t.strictSame([await used(shop, hers), await used(shop, his)], [200, 200], 'a no is not kept')
})

t.test('the keys of a removed member are refused until somebody decides, and are in no other shop', async (t) => {
  const { shop, hers, his } = await staffed()
  const other = await staffed()
  t.equal((await ben.as('DELETE', `/shops/${shop}/members/${ann.id}`)).status, 204)
  aSecondLater(t)
  t.strictSame([await used(shop, hers), await used(shop, his), await used(other.shop, other.hers)], [401, 200, 200])
  const waiting = async (of: string) => (await ben.as('GET', `/shops/${of}/waiting-keys`)).body.keys
  t.match(await waiting(shop), [{ id: hers.id, name: 'Agent', user_id: ann.id, user_name: 'ann' }])
  t.strictSame([(await waiting(shop)).length, (await waiting(other.shop)).length], [1, 0])
  const undecided = await ben.as('GET', `/shops/${shop}/members/${ann.id}/api-keys`)
  t.match(undecided, { status: 200, body: { keys: [{ id: hers.id, shop_id: shop }] } })
  t.match(await ann.as('GET', `/shops/${shop}/members/${ann.id}/api-keys`), { status: 403 })
  const decided = await ben.as('PUT', `/shops/${shop}/members/${ann.id}/api-keys`, {
    keys: 'hand_over',
    keys_to: ben.id
  })
  t.match(decided, { status: 200, body: { keys: [{ id: hers.id }] } })
  t.strictSame([await used(shop, hers), await used(other.shop, other.hers)], [200, 200])
  t.strictSame(await waiting(shop), [])
  t.equal((await ben.as('GET', `/shops/${shop}/members/${ann.id}/api-keys`)).status, 404, 'nothing is left of her')
  t.strictSame(await audit(shop, hers.id), [{
    by: ben.id,
    operation: 'decide_member_keys',
    changes: { created_by: { before: ann.id, after: ben.id } }
  }])
})

t.test('a removal decides about the keys at once: they end, or go on for another member', async (t) => {
  const { shop, hers } = await staffed()
  const second = await made(ann, shop)
  await ben.as('DELETE', `/shops/${shop}/api-keys/${second.id}`)
  const removal = await ben.as('DELETE', `/shops/${shop}/members/${ann.id}?keys=revoke`)
  t.equal(removal.status, 204)
  t.equal(await used(shop, hers), 401, 'at once: no yes counts for a revoked key')
  const [{ status, revoked_at: at }] =
    (await ben.as('GET', `/shops/${shop}/api-keys/?filter=${encodeURIComponent(JSON.stringify({ id: hers.id }))}`)).body
  t.equal(status, 'revoked')
  t.match(await audit(shop, hers.id), [{
    by: ben.id,
    operation: 'remove_member',
    changes: { revoked_at: { before: null, after: at } }
  }])
  t.equal((await knex('api_keys').where({ id: hers.id }).first()).revoked_by, ben.subject)

  const next = await staffed()
  const { status: handed } = await ben.as(
    'DELETE',
    `/shops/${next.shop}/members/${ann.id}?keys=hand_over&keys_to=${ben.id}`
  )
  t.equal(handed, 204)
  aSecondLater(t)
  t.equal(await used(next.shop, next.hers), 200)
  const bens = `/shops/${next.shop}/api-keys/?filter=${encodeURIComponent(JSON.stringify({ created_by: ben.subject }))}`
  t.strictSame(
    (await ben.as('GET', bens)).body.map(({ id }: Key) => id).toSorted(),
    [next.hers.id, next.his.id].toSorted()
  )
})

t.test('keys are handed over to somebody who may answer for them, and by somebody who may decide', async (t) => {
  const { shop, hers } = await staffed()
  const path = `/shops/${shop}/members/${ann.id}`
  for (
    const [query, field] of [
      ['keys=hand_over', 'keys_to'],
      [`keys=hand_over&keys_to=${cleo.id}`, 'keys_to'],
      [`keys=hand_over&keys_to=${ann.id}`, 'keys_to'],
      [`keys=revoke&keys_to=${ben.id}`, 'keys_to'],
      [`keys_to=${ben.id}`, 'keys_to'],
      ['keys=keep', 'keys']
    ] as const
  ) {
    t.match(await ben.as('DELETE', `${path}?${query}`), { status: 422, body: { field } }, query)
  }
  await knex('shop_members').insert({ shop_id: shop, user_id: cleo.id, role: 'staff' })
  await knex('users').where({ id: cleo.id }).update({ active: false })
  t.match(await ben.as('DELETE', `${path}?keys=hand_over&keys_to=${cleo.id}`), {
    status: 422,
    body: { field: 'keys_to' }
  })
  t.match(await ben.as('PUT', `${path}/api-keys`, {}), { status: 422, body: { field: 'keys' } })
  await knex('users').where({ id: cleo.id }).update({ active: true })
  t.match(await cleo.as('PUT', `${path}/api-keys`, { keys: 'revoke' }), {
    status: 403,
    body: { code: 'SHOP_OWNER_ONLY' }
  })
  t.equal((await ben.as('GET', path)).status, 200, 'nobody was removed')
  t.match(await knex('api_keys').where({ id: hers.id }).first(), { created_by: ann.subject, revoked_at: null })
  await knex('shop_members').where({ shop_id: shop, user_id: ann.id }).update({ role: 'staff' })
  t.match(await ann.as('DELETE', `${path}?keys=hand_over&keys_to=${cleo.id}`), {
    status: 403,
    body: { code: 'SHOP_OWNER_ONLY' }
  })
  t.equal((await ann.as('DELETE', path)).status, 204, 'who leaves by themselves decides nothing')
  t.match(
    await client(app, '', machine)('PUT', `${path}/api-keys`, { keys: 'hand_over', keys_to: cleo.id }),
    { status: 200, body: { keys: [{ id: hers.id }] } },
    'staff may answer for a key'
  )
})

t.test('who makes a person inactive sees their keys in all shops, and decides', async (t) => {
  const [one, two] = [await staffed(), await staffed()]
  await knex('shop_members').insert({ shop_id: one.shop, user_id: cleo.id, role: 'staff' })
  const path = `/admin/users/${ann.id}`
  const listed = async () => (await root.as('GET', `${path}/api-keys`)).body.keys
  const mine = [one, two].map(({ shop, hers }) => ({ id: hers.id, shop_id: shop, name: 'Agent' }))
  for (const key of mine) t.match((await listed()).find(({ id }: Key) => id === key.id), key)
  t.match(await root.as('PATCH', path, { active: false, keys: 'hand_over', keys_to: cleo.id }), {
    status: 422,
    body: { field: 'keys_to', message: /shop-\d+/ }
  }, 'cleo is not in all of these shops')
  t.equal((await ann.as('GET', '/me')).status, 200, 'nothing was done')
  t.match(await root.as('PATCH', path, { active: false, keys: 'hand_over', keys_to: boss.id }), {
    status: 200,
    body: { active: false }
  })
  aSecondLater(t)
  t.strictSame([await used(one.shop, one.hers), await used(two.shop, two.hers)], [200, 200])
  t.strictSame(await listed(), [])
  t.match(await root.as('GET', `${path}/api-keys`), { status: 200 })
  t.match(await ben.as('GET', `${path}/api-keys`), { status: 403 })
  t.match(await audit(two.shop, two.hers.id), [{
    by: root.id,
    operation: 'update_user',
    changes: { created_by: { before: ann.id, after: boss.id } }
  }])
  t.match(await root.as('PATCH', `/admin/users/${boss.id}`, { keys: 'revoke' }), { status: 200 }, 'whenever')
  t.strictSame([await used(one.shop, one.hers), await used(two.shop, two.hers)], [401, 401])
  t.match(await root.as('PATCH', path, { keys_to: boss.id }), { status: 422, body: { field: 'keys_to' } })
})

t.test('an admin who is none any more has no keys in shops where they are no member', async (t) => {
  const { shop } = await staffed()
  const key = await made(boss, shop)
  t.equal(await used(shop, key), 200)
  await root.as('PATCH', `/admin/users/${boss.id}`, { roles: [] })
  aSecondLater(t)
  t.equal(await used(shop, key), 401)
  await root.as('PATCH', `/admin/users/${boss.id}`, { roles: ['admin'] })
  t.equal(await used(shop, key), 200)
})

t.test('keys that no person made go on: of machines and commands', async (t) => {
  const { shop } = await staffed()
  const key = await made({ as: client(app, '', machine) }, shop)
  const slug = (await knex('shops').where({ id: shop }).first('slug')).slug
  const command = await run(
    ['key', 'create', '--shop', slug, '--name', 'By hand'],
    { ...idp.settings, USER: 'op' },
    async () => ({ ...database, close: async () => {} })
  )
  t.equal(command.code, 0)
  t.strictSame([await used(shop, key), await used(shop, { id: '', plaintext: command.stdout.trim() })], [200, 200])
})

t.test('a deleted person leaves no key that works, unless somebody took it over', async (t) => {
  const { shop, his } = await staffed()
  const [gone] = await knex('users').insert({ subject: `gone-${shop}` }).returning('*')
  const keys = [await made(ben, shop), await made(ben, shop), await made(ben, shop)]
  const [first, second, third] = keys as [Key, Key, Key]
  await knex('api_keys').whereIn('id', keys.map(({ id }) => id)).update({ created_by: gone.subject })
  await knex('shop_members').insert({ shop_id: shop, user_id: gone.id, role: 'owner' })
  // One that an earlier version left behind, without its maker.
  await knex.transaction(async (trx) => {
    await trx.raw("select set_config('history.erase', 'on', true)")
    await trx('history').where({ record_id: third.id }).update({ actor_id: '00000000-0000-4000-8000-000000000001' })
  })
  await knex('api_keys').where({ id: third.id }).update({ created_by: '00000000-0000-4000-8000-000000000001' })
  t.equal(await used(shop, third), 401)
  const { body: waiting } = await ben.as('GET', `/shops/${shop}/waiting-keys`)
  t.match(waiting.keys, [{ id: third.id, user_id: null, user_name: null }])
  t.match(await root.as('DELETE', `/admin/users/${gone.id}?keys=hand_over&keys_to=${cleo.id}`), {
    status: 422,
    body: { field: 'keys_to' }
  })
  await ben.as('PUT', `/shops/${shop}/members/${gone.id}/api-keys`, { keys: 'hand_over', keys_to: ben.id })
  await knex('api_keys').where({ id: second.id }).update({ created_by: gone.subject })
  t.equal((await root.as('DELETE', `/admin/users/${gone.id}`)).status, 204)
  t.strictSame([await used(shop, first), await used(shop, second), await used(shop, his)], [200, 401, 200])
  t.match(await knex('api_keys').where({ id: second.id }).first(), { revoked_at: /^\d/, created_by: gone.id })
  t.match(await knex('api_keys').where({ id: first.id }).first(), { revoked_at: null, created_by: ben.subject })
})

t.test('a person whose id is in capitals is the same person: the last admin stays, and others are gone', async (t) => {
  const { shop } = await staffed()
  const key = await made(ben, shop)
  const [gone] = await knex('users').insert({ subject: `capitals-${shop}` }).returning('*')
  await knex('api_keys').where({ id: key.id }).update({ created_by: gone.subject })
  await knex('oauth_grants').insert({
    id: `grant-${shop}`,
    subject: gone.subject,
    client_id: 'app',
    client_name: 'App',
    scope: '',
    created_at: knex.fn.now(),
    used_at: knex.fn.now(),
    expires_at: knex.raw("now() + interval '1 day'")
  })
  t.equal((await root.as('DELETE', `/admin/users/${gone.id.toUpperCase()}`)).status, 204)
  t.match(await knex('api_keys').where({ id: key.id }).first(), { created_by: gone.id, revoked_at: /^\d/ })
  t.match(await knex('oauth_grants').where({ id: `grant-${shop}` }).first(), { subject: gone.id })
  t.match(await knex('history').where({ record_id: gone.id, record_kind: 'user' }).select('action'), [{
    action: 'delete'
  }])
  await knex('users').where({ id: boss.id }).update({ roles: [] })
  const last = await root.as('DELETE', `/admin/users/${root.id.toUpperCase()}`)
  await knex('users').where({ id: boss.id }).update({ roles: ['admin'] })
  t.match(last, { status: 409, body: { message: 'This is the last active admin' } })
})

t.test('a deletion that is refused for its decision ends no sign-in', async (t) => {
  const { shop } = await staffed()
  const key = await made(ben, shop)
  const [gone] = await knex('users').insert({ subject: `kept-${shop}` }).returning('*')
  await knex('api_keys').where({ id: key.id }).update({ created_by: gone.subject })
  const ended: string[] = []
  const grants = {
    list: async () => [{ id: 'one' }],
    end: async (_of: string, id: string) => {
      ended.push(id)
    }
  }
  const actor = { kind: 'command', id: 'op', operation: 'person delete', requestId: null } as const
  for (
    const decision of [
      { keys: 'hand_over' },
      { keys: 'hand_over', keys_to: cleo.id },
      { keys: 'hand_over', keys_to: gone.id },
      { keys: 'revoke', keys_to: ben.id },
      { keys_to: ben.id }
    ] as const
  ) {
    await t.rejects(deletePerson(knex, gone.id, actor, { grants: grants as never, ...decision }), {
      code: 'SHOP_INVALID',
      field: 'keys_to'
    })
  }
  t.strictSame(ended, [])
  await deletePerson(knex, gone.id, actor, { grants: grants as never, keys: 'hand_over', keys_to: ben.id })
  t.strictSame([ended, await used(shop, key)], [['one'], 200])
})

t.test('a person with the name of a machine or a command has none of its keys', async (t) => {
  const { shop } = await staffed()
  const { slug } = await knex('shops').where({ id: shop }).first('slug')
  const { stdout, code } = await run(
    ['key', 'create', '--shop', slug, '--name', 'By hand'],
    { ...idp.settings, USER: 'op' },
    async () => ({ ...database, close: async () => {} })
  )
  t.equal(code, 0)
  const keys = [await made({ as: client(app, '', machine) }, shop), { id: '', plaintext: stdout.trim() }]
  const works = async () => [await used(shop, keys[0]!), await used(shop, keys[1]!)]
  const makers = await knex('api_keys').where({ shop_id: shop, name: 'By hand' }).orWhere({ id: keys[0]!.id }).pluck(
    'created_by'
  )
  t.strictSame([...makers].sort(), ['command:op', 'test-machine'])
  for (const subject of makers) {
    const [{ id }] = await knex('users').insert({ subject }).returning('*')
    aSecondLater(t)
    t.strictSame(await works(), [200, 200], subject)
    t.strictSame((await root.as('GET', `/admin/users/${id}/api-keys`)).body, { keys: [] })
    t.strictSame((await ben.as('GET', `/shops/${shop}/waiting-keys`)).body, { keys: [] })
    t.equal((await root.as('DELETE', `/admin/users/${id}`)).status, 204)
    t.strictSame(await works(), [200, 200], subject)
  }
  t.strictSame(
    (await knex('api_keys').where({ shop_id: shop }).whereIn('created_by', makers)).length,
    2,
    'nor was their maker replaced'
  )
})

t.test('a person who took over a key and is deleted does not take it from who has it then', async (t) => {
  const { shop, hers } = await staffed()
  await ben.as('DELETE', `/shops/${shop}/members/${ann.id}?keys=hand_over&keys_to=${ben.id}`)
  const [late] = await knex('users').insert({ subject: `late-${shop}` }).returning('*')
  await knex.transaction(async (trx) => {
    await trx.raw("select set_config('history.erase', 'on', true)")
    await trx('history').where({ record_id: hers.id, action: 'create' }).update({ actor_id: late.id })
  })
  t.equal((await root.as('DELETE', `/admin/users/${late.id}`)).status, 204)
  t.match(await knex('api_keys').where({ id: hers.id }).first(), { created_by: ben.subject, revoked_at: null })
  t.equal(await used(shop, hers), 200)
})

t.test('a rotation that waits while its person is removed is undone: the key is what was decided', async (t) => {
  const { shop, hers } = await staffed()
  // The rotation has passed every check, and is about to write.
  await knex.raw(
    'create function removed() returns trigger language plpgsql as $$ begin ' +
      `delete from shop_members where shop_id = '${shop}' and user_id = '${ann.id}'; return new; end $$`
  )
  await knex.raw(
    'create trigger removed before insert on api_keys for each row when (new.replaces is not null) execute function ' +
      'removed()'
  )
  const rotation = await ann.as('POST', `/shops/${shop}/api-keys/${hers.id}/rotate`, {})
  await knex.raw('drop function removed() cascade')
  t.match(rotation, { status: 403, body: { code: 'DUAL_AUTH_MANAGEMENT_FORBIDDEN' } })
  t.match(await knex('api_keys').where({ id: hers.id }).first(), { replaced_by: null, expires_at: null })
  t.equal((await knex('api_keys').where({ shop_id: shop })).length, 2)
})

t.test('the successor of a key belongs to who rotated it', async (t) => {
  const { shop, hers } = await staffed()
  const next = (await ben.as('POST', `/shops/${shop}/api-keys/${hers.id}/rotate`, {})).body
  t.strictSame([await used(shop, hers), await used(shop, next)], [200, 200])
  const third = (await ann.as('POST', `/shops/${shop}/api-keys/${next.id}/rotate`, {})).body
  t.equal((await ben.as('DELETE', `/shops/${shop}/members/${ann.id}?keys=revoke`)).status, 204)
  aSecondLater(t)
  t.strictSame([await used(shop, hers), await used(shop, next), await used(shop, third)], [401, 200, 401])
})

t.test('a call under way whose maker is made inactive: what it starts afterwards is refused', async (t) => {
  const { shop, hers } = await staffed()
  const lines = Array.from({ length: 1500 }, (_, n) => `{"name":"New ${n}"}\n`).join('')
  const { body: task } = await client(app, '', { 'x-api-key': hers.plaintext })('POST', '/mcp', {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'import_products', arguments: { shop_id: shop, format: 'jsonl', content: lines } }
  })
  t.equal(task.result?.isError ?? false, false, JSON.stringify(task))
  await root.as('PATCH', `/admin/users/${ann.id}`, { active: false })
  for (;;) {
    const [{ status, error, created }] = (await client(app, `/shops/${shop}`, machine)('GET', '/imports')).body
    if (['pending', 'running'].includes(status)) await sleep(20)
    else {
      t.match([status, error], ['failed', /no access/])
      t.ok(created < 1500)
      break
    }
  }
})

for (
  const [what, lose, code] of [
    ['whose maker leaves', ({ shop }) => ben.as('DELETE', `/shops/${shop}/members/${ann.id}`), 'SHOP_FORBIDDEN'],
    ['that is revoked', ({ shop, hers }) => ben.as('DELETE', `/shops/${shop}/api-keys/${hers.id}`), 'SHOP_FORBIDDEN'],
    ['of a person', ({ shop }) => ben.as('DELETE', `/shops/${shop}/members/${ann.id}`), 'SHOP_FORBIDDEN'],
    [
      'of a person who is made inactive',
      () => root.as('PATCH', `/admin/users/${ann.id}`, { active: false }),
      'SHOP_USER_INACTIVE'
    ]
  ] satisfies ReadonlyArray<
    readonly [string, (place: Awaited<ReturnType<typeof staffed>>) => Promise<{ readonly status: number }>, string]
  >
) {
  t.test(`a body that arrives a second after access was lost changes nothing: with a credential ${what}`, async (t) => {
    const place = await staffed()
    const { shop, hers } = place
    const payload = new Readable({ read () {} })
    // Its caller is let in, and its body has yet to come.
    const begun = new Promise<void>((resolve) => {
      const count = app.countCall
      t.intercept(app, 'countCall', {
        value: (...call: Parameters<typeof count>) => {
          count(...call)
          resolve()
        }
      })
    })
    const headers = what.startsWith('of') ? ann.headers : { 'x-api-key': hers.plaintext }
    const late = app.inject({
      method: 'POST',
      url: `/shops/${shop}/products`,
      headers: { ...headers, 'content-type': 'application/json' },
      payload
    })
    late.catch(() => {})
    await begun
    t.match(await lose(place), { status: /20[04]/ })
    aSecondLater(t)
    payload.push('{"name":"Late"}')
    payload.push(null)
    t.match((await late).json(), { statusCode: 403, code })
    t.strictSame(await knex('products').where({ shop_id: shop }), [])
  })
}

t.test('two admins decide about one person at once: one decision counts, and the keys are whole', async (t) => {
  for (let round = 0; round < 3; round++) {
    const { shop, hers } = await staffed()
    const more = await made(ann, shop)
    const path = `/admin/users/${ann.id}`
    const answers = await Promise.all([
      root.as('PATCH', path, { active: false, keys: 'revoke' }),
      boss.as('PATCH', path, { active: false, keys: 'hand_over', keys_to: boss.id }),
      ben.as('DELETE', `/shops/${shop}/members/${ann.id}?keys=hand_over&keys_to=${ben.id}`),
      ben.as('DELETE', `/shops/${shop}/api-keys/${more.id}`),
      ben.as('POST', `/shops/${shop}/api-keys/${hers.id}/rotate`, {})
    ])
    t.strictSame(answers.slice(0, 4).map(({ status }) => status), [200, 200, 204, 204])
    t.ok([201, 409].includes(answers[4]!.status), `the rotation: ${answers[4]!.status}`)
    const [one, two] = [
      await knex('api_keys').where({ id: hers.id }).first(),
      await knex('api_keys').where({ id: more.id }).first()
    ]
    t.ok(one.revoked_at !== null || [boss.subject, ben.subject].includes(one.created_by), 'it is decided about')
    t.not(two.revoked_at, null)
    t.ok((await audit(shop, hers.id)).length >= 1)
  }
})

t.test('who takes keys over may be deleted at the same time: nothing deadlocks, and no key is theirs', async (t) => {
  for (let round = 0; round < 4; round++) {
    const { shop, hers } = await staffed()
    const [late] = await knex('users').insert({ subject: `heir-${shop}` }).returning('*')
    await knex('shop_members').insert({ shop_id: shop, user_id: late.id, role: 'owner' })
    const path = `/shops/${shop}/members/${ann.id}`
    const [handed, deleted] = await Promise.all([
      round % 2 === 0
        ? ben.as('DELETE', `${path}?keys=hand_over&keys_to=${late.id}`)
        : ben.as('PUT', `${path}/api-keys`, { keys: 'hand_over', keys_to: late.id }),
      root.as('DELETE', `/admin/users/${late.id}`)
    ])
    t.ok([200, 204, 422].includes(handed.status), `handed over, or refused: ${handed.status}`)
    t.equal(deleted.status, 204)
    const key = await knex('api_keys').where({ id: hers.id }).first()
    t.equal(key.created_by === late.id, handed.status !== 422)
    t.equal(key.revoked_at !== null, handed.status !== 422, 'it ends with who has it')
  }
})

t.test('refusals are in the audit trail of the shop, with their reason', async (t) => {
  const { shop, hers } = await staffed()
  const other = await build(t, database, idp)
  await knex('users').where({ id: ann.id }).update({ active: false })
  await other.inject({ url: `/shops/${shop}/tags`, headers: { 'x-api-key': hers.plaintext } })
  await other.close()
  t.match(await knex('history').where({ shop_id: shop, action: 'event', operation: 'api_key.refused' }).first(), {
    record_id: hers.id,
    changes: { reason: { after: 'not_allowed' } }
  })
})
