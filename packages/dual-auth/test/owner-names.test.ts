import t from 'tap'
import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import { createApiKeysTable, knexStore } from '../src/keys/knex.ts'
import { authenticate, bearer, PEPPER } from './build.ts'
import { embeddedDatabase, serverDatabase, SERVER_URL } from '../../../test/databases.ts'
import { startIssuer } from './issuer.ts'
import { startScanner } from './scanner.ts'

const issuer = await startIssuer()
t.teardown(() => issuer.stop())

const [here, there] = [randomUUID(), randomUUID()]
const names = { table: 'app.workspace_keys', ownerColumn: 'workspace_id' }

for (
  const [engine, open] of [
    ['PGlite', embeddedDatabase],
    ...SERVER_URL === undefined ? [] : [['PostgreSQL', serverDatabase] as const]
  ] as const
) {
  t.test(`a host of workspaces: its word is in the paths, the table and the messages (${engine})`, async (t) => {
    const { knex, close } = await open()
    t.teardown(close)
    await knex.raw('create schema app')
    await knex.raw('create table app.workspaces (id uuid primary key, name text)')
    await knex('app.workspaces').insert([{ id: here, name: 'Here' }, { id: there, name: 'There' }])
    for (let times = 0; times < 2; times++) await createApiKeysTable(knex, names)
    await knex.raw(
      'alter table app.workspace_keys alter workspace_id type uuid using workspace_id::uuid, add foreign key ' +
        '(workspace_id) references app.workspaces'
    )

    const scanner = await startScanner(t)
    const lines: string[] = []
    const app = Fastify({
      logger: {
        level: 'warn',
        stream: {
          write: (line) => {
            lines.push(line)
          }
        }
      }
    })
    t.teardown(() => app.close())
    await authenticate(app, {
      apiKeys: {
        marker: 'acme',
        peppers: [PEPPER],
        store: knexStore(knex, { ...names, owner: { table: 'app.workspaces', columns: ['name'] } }),
        ownerParam: 'workspace_id',
        ownerIdFromParam: (id) => id.toLowerCase()
      },
      jwt: { issuer: issuer.url, userClients: ['web-app'], audience: ['x'] },
      policy: ({ url }) => url.startsWith('/workspaces/:workspace_id/documents') ? 'dual' : 'jwt',
      management: { canManage: () => true, path: '/workspaces/:workspace_id/api-keys' },
      scanning: { keysUrl: scanner.keysUrl }
    })
    app.get('/workspaces/:workspace_id/documents', async (request) => request.identity)
    t.throws(() => app.get('/search/:id', { config: { auth: 'dual' } }, async () => []), {
      message: /^dual-auth: GET \/search\/:id accepts API keys, and its path has no parameter :workspace_id,/
    })
    await app.ready()
    t.strictSame(lines, [])

    const keysOf = (id: string) => `/workspaces/${id}/api-keys/`
    const call = async (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) => {
      const response = await app.inject({
        method,
        url,
        headers: bearer(issuer.user({ aud: 'x' })),
        ...payload && { payload }
      })
      return {
        status: response.statusCode,
        headers: response.headers,
        body: response.body === '' ? null : response.json()
      }
    }
    const use = async (key: string, id: string) => {
      const response = await app.inject({ url: `/workspaces/${id}/documents`, headers: { 'x-api-key': key } })
      return { status: response.statusCode, body: response.json() }
    }
    const { status, body: { id, plaintext } } = await call('POST', keysOf(here), { name: 'Importer', scopes: ['read'] })
    t.equal(status, 201)
    t.match(await use(plaintext, here.toUpperCase()), {
      status: 200,
      body: { kind: 'api-key', keyId: id, ownerId: here, owner: { name: 'Here' } }
    })
    t.match(await use(plaintext, there), {
      status: 403,
      body: { code: 'DUAL_AUTH_OWNER_FORBIDDEN', message: 'The API key has no access to this path' }
    })
    t.match(await call('GET', keysOf(here)), {
      status: 200,
      headers: { 'content-range': 'api-keys 0-100/1' },
      body: [{ id, last_used_at: /./ }]
    })
    t.match(
      await call(
        'GET',
        `${keysOf(here)}?filter=${encodeURIComponent('{"q":"IMP","revoked":false,"scopes":["read"]}')}&sort=-name`
      ),
      { body: [{ id }] }
    )
    t.match(await call('GET', keysOf(there)), { status: 200, body: [] })
    t.match(await call('POST', keysOf(randomUUID()), { name: 'x' }), {
      status: 404,
      body: { code: 'DUAL_AUTH_OWNER_UNKNOWN', message: 'The owner of the API key does not exist' }
    })
    t.match(await call('POST', keysOf('no-uuid'), { name: 'x' }), {
      status: 404,
      body: { code: 'DUAL_AUTH_OWNER_UNKNOWN' }
    })
    t.match(await call('DELETE', `${keysOf(there)}${id}`), {
      status: 404,
      body: { message: 'There is no such API key' }
    })

    const rotated = await call('POST', `${keysOf(here)}${id}/rotate`, {})
    t.match(rotated, { status: 201, body: { replaces: id, replaced: { replaced_by: rotated.body.id } } })
    t.equal((await use(rotated.body.plaintext, here)).status, 200)
    t.equal((await call('DELETE', `${keysOf(here)}${id}`)).status, 204)
    t.equal((await use(plaintext, here)).status, 401)
    const report = JSON.stringify([{ token: rotated.body.plaintext, type: 'acme_api_key', url: '', source: 'commit' }])
    t.match(
      (await app.inject({ method: 'POST', url: '/secret-scanning', headers: scanner.headers(report), payload: report }))
        .json(),
      [{ label: 'true_positive' }]
    )
    t.equal((await use(rotated.body.plaintext, here)).status, 401)
    const store = knexStore(knex, names)
    t.strictSame(await store.takeNotices(new Date(), 10), [])
    t.strictSame(
      (await knex('app.workspace_keys').orderBy('created_at')).map(({ workspace_id: workspace }) => workspace),
      [here, here]
    )
  })
}

t.test('the table of another name is missing, and the message names it', async (t) => {
  const { knex, close } = await embeddedDatabase()
  t.teardown(close)
  await createApiKeysTable(knex)
  await t.rejects(knexStore(knex, { table: 'workspace_keys' }).ready!(), {
    message: /the table workspace_keys, but the table is missing/
  })
  await t.rejects(knexStore(knex, { ownerColumn: 'workspace_id' }).ready!(), {
    message: /the table api_keys, but it has no column workspace_id/
  })
})

for (
  const options of [
    { table: 'a b' },
    { table: '"x"' },
    { table: 'a.b.c' },
    { table: '' },
    { table: 7 },
    { ownerColumn: 'a.b' },
    { ownerColumn: "x'" },
    { ownerColumn: null },
    { column: 'x' }
  ]
) {
  t.test(`knexStore refuses ${JSON.stringify(options)}`, async (t) => {
    const { knex, close } = await embeddedDatabase()
    t.teardown(close)
    t.throws(() => knexStore(knex, options as object), {
      code: 'DUAL_AUTH_INVALID_OPTION',
      message: /^dual-auth: knexStore\./
    })
  })
}
