import { Readable } from 'node:stream'
import t from 'tap'
import { run } from '../src/commands/run.ts'
import { recordChange } from '../src/records/trail.ts'
import { deletePerson, SOURCES } from '../src/users/personal-data.ts'
import {
  bearer,
  build,
  client,
  createShop,
  openIdentityProvider,
  openTestDatabase,
  TEST_DATABASE_URL
} from './build.ts'

const NAME = 'ada@people.example'
const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['root', NAME, 'eve'])
const app = await build(t, database, idp, { settings: { MCP_IMPORTS_ENABLED: true } })
const [root, ada, eve] = await Promise.all(
  ['root', NAME, 'eve'].map(async (name) => client(app, '', bearer(await idp.userToken(name))))
) as [Client, Client, Client]
type Client = ReturnType<typeof client>
const me = async (person: Client): Promise<{ readonly id: string, readonly subject: string }> =>
  (await person('GET', '/me')).body
const { id: rootId } = await me(root)
await knex('users').where({ id: rootId }).update({ roles: ['admin'] })
const shop = await createShop(database, 'here')

/** A person of whom every table has something. */
async function busy (): Promise<{ readonly id: string, readonly subject: string }> {
  const { id, subject } = await me(ada)
  const environment = { ...idp.settings, USER: 'op' }
  await knex('users').where({ id }).delete() // so that the command makes it, which records the subject
  const { code } = await run(
    ['admin', 'add', subject],
    environment,
    async () => ({ ...database, close: async () => {} })
  )
  t.equal(code, 0)
  const { id: known } = await me(ada)
  await root('POST', `/shops/${shop}/members`, { user_id: known, role: 'owner' })
  const { body: { id: keyId } } = await ada('POST', `/shops/${shop}/api-keys/`, { name: 'Agent' })
  await ada('POST', `/shops/${shop}/api-keys/${keyId}/revoke`)
  await ada('DELETE', `/shops/${shop}/api-keys/${keyId}`)
  const keyed = client(app, '', { ...bearer(await idp.userToken(NAME)), 'idempotency-key': known })
  const { body: { id: tag } } = await keyed('POST', `/shops/${shop}/tags`, { name: `Sale ${known}`.slice(0, 9) })
  await ada('PATCH', `/shops/${shop}/tags/${tag}`, { name: 'Sold' })
  const { status } = await ada('POST', `/shops/${shop}/imports?file_name=${known}.jsonl`, {
    format: 'jsonl',
    content: '{"name":"Mug"}\n'
  })
  t.equal(status, 202)
  const account = (await ada('POST', `/shops/${shop}/accounts`, { name: 'Account' })).body.id
  await ada('POST', `/admin/accounts/${account}/link-pay`, { pay_customer_id: 'cus_x' })
  await knex('pay_reconcile_audit').insert({
    registration: 'accounts',
    actor: known,
    action: 'link',
    account_id: account,
    shop_id: shop,
    before: '{}',
    after: '{}'
  })
  await knex('pay_reconcile_runs').insert({
    registration: 'accounts',
    id: knex.raw('gen_random_uuid()'),
    mode: 'check',
    dry_run: true,
    actor: known,
    finished_at: knex.fn.now()
  })
  await knex('oauth_grants').insert({
    id: `grant-${known}`,
    subject,
    client_name: 'An app',
    scope: 'openid',
    created_at: knex.fn.now(),
    used_at: knex.fn.now(),
    expires_at: knex.raw("now() + interval '1 day'"),
    provider_token: 'sealed'
  })
  while (await knex('imports').whereNull('finished_at').first('id') !== undefined) {
    await new Promise((resolve) => {
      setTimeout(resolve, 20)
    })
  }
  return { id: known, subject }
}

/** Every column of the database that has the text somewhere. */
async function columnsWith (text: string): Promise<readonly string[]> {
  const { rows: columns } = await knex.raw(
    'select table_name as name, array_agg(column_name::text order by ordinal_position) as columns from ' +
      'information_schema.columns join information_schema.tables using (table_schema, table_name) where ' +
      "table_schema = 'public' and table_type = 'BASE TABLE' group by 1 order by 1"
  )
  const found: string[] = []
  for (const { name, columns: all } of columns as ReadonlyArray<{ name: string, columns: string[] }>) {
    const { rows: [row] } = await knex.raw(
      'select ' +
        `${
          all.map((column) => `bool_or(position(? in coalesce("${column}"::text, '')) > 0) as "${column}"`).join(', ')
        } ` +
        `from "${name}"`,
      all.map(() => text)
    )
    found.push(...all.filter((column) => row[column] === true).map((column) => `${name}.${column}`))
  }
  return found
}

/** Where an id stays that leads to nobody. */
const PSEUDONYMS = [
  'api_keys.created_by',
  'api_keys.revoked_by',
  'history.actor_id',
  'history.record_id',
  'imports.actor',
  'oauth_grants.id',
  'oauth_grants.subject',
  'pay_reconcile_audit.actor',
  'pay_reconcile_runs.actor'
]

const OP = async () => ({ ...database, close: async () => {} })

t.test('a person is exported: every table that names them, without secrets or data of others', async (t) => {
  const { id, subject } = await busy()
  const named = [
    ...new Set(
      [...await columnsWith(NAME), ...await columnsWith(subject), ...await columnsWith(id)].map((column) =>
        column.split('.')[0]!
      )
    )
  ].sort()
  t.strictSame(
    named,
    [...new Set(Object.keys(SOURCES).map((name) => name.replace('_about', '')))].sort(),
    'the sources are all tables that have something of a person'
  )
  const { status, headers } = await root('GET', `/admin/users/${id}`)
  t.equal(status, 200, String(headers))
  const response = await app.inject({ url: `/admin/users/${id}/export`, headers: bearer(await idp.userToken('root')) })
  t.equal(response.headers['content-type'], 'application/x-ndjson')
  const lines = response.body.trim().split('\n').map((line) => JSON.parse(line))
  t.strictSame([...new Set(lines.map(({ table }) => table))].sort(), named)
  t.match(lines[0], { table: 'users', id, subject, name: NAME })
  t.notMatch(response.body, /sealed|fingerprint|"hash"|Sold|cus_x/)
  const byCommand = await run(['person', 'export', subject], idp.settings, OP)
  t.strictSame([byCommand.code, byCommand.stdout], [0, response.body])
  t.match(await run(['person', 'export', 'nobody'], idp.settings, OP), { code: 1, stderr: /No user nobody/ })
})

t.test('a renamed person has the new name everywhere', async (t) => {
  const { id } = await me(ada)
  await knex('users').where({ id: (await me(eve)).id }).update({ name: NAME })
  t.match(await root('PATCH', `/admin/users/${id}`, { name: 'Grace' }), { status: 200, body: { id, name: 'Grace' } })
  t.strictSame([await columnsWith(NAME), await columnsWith('Grace')], [
    ['users.name'],
    ['history.actor_name', 'history.record_name', 'imports.actor', 'users.name']
  ], 'another person with that name keeps theirs')
  await knex('users').where({ name: NAME }).update({ name: 'eve' })
  t.match(await run(['person', 'rename', id, 'Hedy'], { ...idp.settings, USER: 'op' }, OP), {
    code: 0,
    stdout: `${id}\n`
  })
  t.strictSame(await columnsWith('Grace'), [])
  t.match((await root('GET', '/admin/audit?sort=-at&limit=2')).body, [{
    operation: 'person rename',
    actor_kind: 'command',
    record_id: id,
    record_name: 'Hedy'
  }, { operation: 'update_user', actor_id: rootId, record_id: id, record_name: 'Hedy' }])
  for (const name of ['', ' ', 'x'.repeat(201)]) {
    t.match(await root('PATCH', `/admin/users/${id}`, { name }), { status: 422 })
    t.match(await run(['person', 'rename', id, name], idp.settings, OP), { code: 1 })
  }
})

t.test('a deleted person is named nowhere, and what they did stays', async (t) => {
  const { id, subject } = await me(ada)
  const count = async (): Promise<number> =>
    Number((await knex('history').where({ actor_id: id }).count().first())!['count'])
  const before = await count()
  t.equal((await root('DELETE', `/admin/users/${id}`)).status, 204)
  t.strictSame([await columnsWith(NAME), await columnsWith('Hedy'), await columnsWith(subject)], [[], [], []])
  t.strictSame(await columnsWith(id), PSEUDONYMS)
  t.equal(await count(), before)
  t.match((await root('GET', '/admin/audit?sort=-at&limit=1')).body, [{
    operation: 'delete_user',
    actor_id: rootId,
    action: 'delete',
    record_kind: 'user',
    record_id: id,
    record_name: null,
    changes: { active: { before: true, after: null } }
  }])
  t.match(await knex('oauth_grants').where({ subject: id }).first(), { provider_token: null, ended_at: /^\d{4}-/ })
  t.equal((await root('DELETE', `/admin/users/${id}`)).status, 404)
  t.match(await me(ada), { roles: [] }, 'their next token makes a new person, without rights')
  t.not((await me(ada)).id, id)
  t.equal((await ada('GET', `/shops/${shop}/tags`)).status, 403)
})

t.test('the command deletes too, and the last active admin stays', async (t) => {
  const { id, subject } = await busy()
  await knex('users').where({ id }).update({ roles: [] })
  t.match(await root('DELETE', `/admin/users/${rootId}`), { status: 409, body: { message: /last active admin/ } })
  t.match(await run(['person', 'delete', subject], { ...idp.settings, USER: 'op' }, OP), { code: 0, stdout: `${id}\n` })
  t.strictSame([await columnsWith(NAME), await columnsWith(subject)], [[], []])
  t.match((await root('GET', '/admin/audit?sort=-at&limit=1')).body, [{
    operation: 'person delete',
    actor_kind: 'command',
    actor_id: 'op',
    record_id: id
  }])
})

t.test('one admin of two can delete themselves', async (t) => {
  const { id } = await busy()
  await ada('DELETE', `/admin/users/${id}`)
  t.strictSame([await columnsWith(NAME), (await columnsWith(id)).filter((column) => !PSEUDONYMS.includes(column))], [
    [],
    []
  ])
})

t.test('sign-ins of apps end before the person is deleted', async (t) => {
  const { id, subject } = await me(eve)
  const calls: string[] = []
  const grants = {
    list: async (of: string) => {
      calls.push(`list ${of === subject}`)
      return [{ id: 'one' }, { id: 'two' }]
    },
    end: async (_of: string, grant: string) => {
      calls.push(`end ${grant} while they exist: ${await knex('users').where({ id }).first('id') !== undefined}`)
    }
  }
  const actor = { kind: 'command', id: 'op', operation: 'person delete', requestId: null } as const
  await deletePerson(knex, id, actor, { grants: grants as never })
  t.strictSame(calls, ['list true', 'end one while they exist: true', 'end two while they exist: true'])
})

t.test('nobody is named by what they began before they were deleted, and ended afterwards', async (t) => {
  const { id, subject } = await busy()
  const headers = { ...bearer(await idp.userToken(NAME)), 'content-type': 'application/json' }
  const slow = (url: string, body: object) => {
    const payload = new Readable({ read () {} })
    const response = app.inject({ method: 'POST', url, headers, payload })
    response.catch(() => {})
    return async () => {
      payload.push(JSON.stringify(body))
      payload.push(null)
      return (await response).statusCode
    }
  }
  const ends = [
    slow(`/shops/${shop}/tags`, { name: 'Late' }),
    slow(`/shops/${shop}/imports`, { format: 'jsonl', content: '{"name":"Late"}\n' }),
    slow(`/shops/${shop}/api-keys/`, { name: 'Late' })
  ]
  await new Promise((resolve) => {
    setTimeout(resolve, 300)
  })
  t.equal((await root('DELETE', `/admin/users/${id}`)).status, 204)
  const statuses = []
  for (const end of ends) statuses.push(await end())
  t.strictSame([statuses, await columnsWith(NAME), await columnsWith(subject)], [[201, 403, 404], [], []])
})

t.test('a change that is made while its person is deleted names nobody', {
  skip: TEST_DATABASE_URL === undefined && 'the embedded database has one connection: set TEST_DATABASE_URL'
}, async (t) => {
  const { id } = await busy()
  let deletion: Promise<{ readonly status: number }> | undefined
  await knex.transaction(async (trx) => {
    await recordChange(trx, { kind: 'user', id, name: NAME, operation: 'update_shop', requestId: null }, {
      shopId: shop,
      recordKind: 'shop',
      recordId: shop,
      before: null,
      after: {}
    })
    deletion = root('DELETE', `/admin/users/${id}`)
    await new Promise((resolve) => {
      setTimeout(resolve, 300)
    })
  })
  t.equal((await deletion!).status, 204)
  t.strictSame(await columnsWith(NAME), [])
  t.ok(await knex('history').where({ actor_id: id, operation: 'update_shop' }).first('id'))
})

t.test('who was an admin when their call began deletes nobody any more', async (t) => {
  const [{ id: former }, { id }] = await knex('users').insert(['former', 'victim'].map((subject) => ({ subject })))
    .returning('id') as [{ id: string }, { id: string }]
  const actor = { kind: 'user', id: former, operation: 'delete_user', requestId: null } as const
  const deleted = deletePerson(knex, id, actor, { grants: undefined as never })
  await t.rejects(deleted, { code: 'SHOP_ADMIN_ONLY' })
  t.ok(await knex('users').where({ id }).first('id'))
})

t.test('a person is not taken for one of another issuer whose subject ends alike', async (t) => {
  const other = 'https://tenant.example#same'
  const [plain, foreign, odd] = await knex('users').insert(['same', other, 'odd#%'].map((subject) => ({ subject })))
    .returning('id')
  await knex('oauth_grants').insert({
    id: 'same',
    subject: 'same',
    client_name: 'An app',
    scope: 'openid',
    created_at: knex.fn.now(),
    used_at: knex.fn.now(),
    expires_at: knex.raw("now() + interval '1 day'"),
    provider_token: 'sealed'
  })
  const { body: { id: keyId } } = await root('POST', `/shops/${shop}/api-keys/`, { name: 'Same' })
  await knex('api_keys').where({ id: keyId }).update({ created_by: 'same' })
  const tables = async (id: string): Promise<readonly string[]> =>
    (await app.inject({ url: `/admin/users/${id}/export`, headers: bearer(await idp.userToken('root')) })).body.trim()
      .split('\n').map((line) => JSON.parse(line).table)
  t.strictSame(await tables(foreign.id), ['users'])
  t.strictSame(await tables(plain.id), ['users', 'api_keys', 'oauth_grants'])
  t.strictSame(await tables(odd.id), ['users'])
  const exported = async (): Promise<unknown> => {
    const url = `/admin/users/${plain.id}/export`
    const { body } = await app.inject({ url, headers: bearer(await idp.userToken('root')) })
    return body.trim().split('\n').map((line) => JSON.parse(line)).find(({ table }) => table === 'api_keys').revoked_at
  }
  const expires = async (at: string): Promise<unknown> => {
    await knex('api_keys').where({ id: keyId }).update({ expires_at: at })
    return await exported()
  }
  t.equal(await exported(), null)
  t.equal(await expires('2999-01-01T00:00:00Z'), null)
  t.equal(await expires('2026-01-02T03:04:05Z'), '2026-01-02T03:04:05.000Z', 'since when the key is refused')
  for (const { id } of [foreign, odd]) t.equal((await root('DELETE', `/admin/users/${id}`)).status, 204)
  t.match(await knex('oauth_grants').where({ id: 'same' }).first(), {
    subject: 'same',
    provider_token: 'sealed',
    ended_at: null
  })
  t.match(await knex('api_keys').where({ id: keyId }).first(), { created_by: 'same' })
})

t.test('the history is still append-only', async (t) => {
  await t.rejects(knex('history').update({ actor_name: null }), /append-only/)
  await t.rejects(
    knex.transaction(async (trx) => {
      await trx.raw("select set_config('history.erase', 'on', true)")
      await trx('history').delete()
    }),
    /append-only/
  )
})

/** Columns that can name somebody, by whom. What is a person's, the export and the erasure know. */
const WHOSE: Readonly<Record<string, readonly string[]>> = {
  person: [
    'api_keys.created_by',
    'api_keys.revoked_by',
    'history.actor_id',
    'history.actor_name',
    'history.changes',
    'history.record_name',
    'idempotency_keys.caller_id',
    'imports.actor',
    'imports.file_name',
    'oauth_grants.subject',
    'pay_reconcile_audit.actor',
    'pay_reconcile_runs.actor',
    'shop_members.user_id',
    'users.name',
    'users.subject'
  ],
  'customer of a shop': [
    'accounts.details',
    'accounts.hash_name',
    'accounts.name',
    'history.restore',
    'pay_reconcile_audit.after',
    'pay_reconcile_audit.before',
    'pay_reconcile_items.item',
    'pay_reconcile_runs.targets',
    'pay_reconcile_snapshots.customer'
  ],
  machine: [
    'api_keys.last_used_network',
    'api_keys.name',
    'api_keys.networks',
    'api_keys.replaced_by',
    'history.actor_prefix',
    'key_clients.name',
    'oauth_grants.client_name',
    'pay_reconcile_run_shops.owner'
  ],
  nobody: [
    'attributes.name',
    'attributes.options',
    'categories.name',
    'history.actor_kind',
    'history.affected',
    'idempotency_keys.caller_kind',
    'idempotency_keys.headers',
    'import_lines.found',
    'import_lines.product',
    'knex_migrations.name',
    'order_lines.name',
    'pay_reconcile_registrations.name',
    'pay_reconcile_run_shops.differences',
    'pay_reconcile_run_shops.outcomes',
    'pay_reconcile_run_shops.paging',
    'pay_reconcile_runs.selection',
    'product_attributes.value',
    'products.image_urls',
    'products.metadata',
    'products.name',
    'shops.name',
    'shops.settings',
    'tags.name'
  ]
}

/** Words in the names of columns that can name somebody. */
const NAMING = 'user person people member owner actor caller holder subject by email mail address phone name ip ' +
  'network networks'

t.test('whose every column is that can name somebody', async (t) => {
  const { rows } = await knex.raw(
    `select table_name || '.' || column_name as name
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and table_type = 'BASE TABLE' and (data_type = 'jsonb' or column_name ~ ?)
    order by 1`,
    [`(^|_)(${NAMING.replaceAll(' ', '|')})(_|$)`]
  )
  t.strictSame(
    rows.map(({ name }: { name: string }) => name),
    Object.values(WHOSE).flat().sort(),
    "say here whose a new column is, and let users/personal-data.ts export and erase what is a person's"
  )
  t.strictSame(WHOSE['person']!.map((column) => column.split('.')[0]!).filter((table) => !(table in SOURCES)), [])
})
