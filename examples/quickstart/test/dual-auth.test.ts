import { readFileSync } from 'node:fs'
import dualAuth, { memoryStore, type ApiKeyOptions, type OnKeyChange, type OnKeyEvent } from 'dual-auth'
import { createApiKeysTable } from 'dual-auth/knex'
import management from 'dual-auth/management'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { embeddedDatabase } from '../../../test/databases.ts'
import { startIssuer } from '../../../packages/dual-auth/test/issuer.ts'
import { newKey } from '../../../packages/dual-auth/test/sample-key.ts'
import { fencesOf, quotes } from '../../../test/docs/fences.ts'
import { keyAlerts } from '../dual-auth-events.ts'
import { apiKeysIn, createPrinterKey, onKeyChange } from '../dual-auth-postgres.ts'
import { currencyOf, storeWithShops } from '../dual-auth-owner.ts'

const readme = readFileSync(new URL('../../../packages/dual-auth/README.md', import.meta.url), 'utf8')
const PEPPER = 'a pepper of at least thirty-two bytes'
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** An API of shops that lets everybody manage keys. */
async function shops (
  t: Test,
  apiKeys: Partial<ApiKeyOptions>,
  { onKeyEvent, onKeyChange }: { readonly onKeyEvent?: OnKeyEvent, readonly onKeyChange?: OnKeyChange } = {}
) {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(dualAuth, {
    apiKeys: {
      marker: 'acme',
      peppers: [{ id: '1', secret: PEPPER }],
      store: memoryStore(),
      ownerParam: 'shop_id',
      ownerIdFromParam: 'slug',
      ...apiKeys
    },
    jwt: 'host',
    policy: () => 'dual',
    ...onKeyEvent && { onKeyEvent }
  })
  await app.register(management, {
    path: '/shops/:shop_id/api-keys',
    canManage: () => 'kim',
    ...onKeyChange && { onKeyChange }
  })
  app.get('/shops/:shop_id/products', async (request) => ({ currency: currencyOf(request) }))
  return {
    app,
    async mint () {
      const url = '/shops/blue/api-keys/'
      const { json } = await app.inject({ method: 'POST', url, payload: { name: 'Printer' } })
      return json() as { id: string, plaintext: string }
    }
  }
}

t.test('the program of the README runs: its key opens its own shop', async (t) => {
  Object.assign(process.env, { PORT: '0' })
  const printed = t.capture(console, 'log')
  const { app } = await import('../dual-auth.ts')
  t.teardown(() => app.close())
  const [, key = ''] = /^KEY=(acme_\S+)$/.exec(String(printed().at(-1)?.args[0])) ?? []
  const get = async (path: string) =>
    await (await fetch(`${app.listeningOrigin}/${path}`, { headers: { 'x-api-key': key } })).text()
  const [quoted] = fencesOf(readme).filter(({ info }) => info === 'text')
  t.ok(
    quotes(
      quoted?.text ?? '',
      (await Promise.all(['shops/blue/products', 'shops/red/products', 'orders'].map(get))).join('\n')
    ),
    'as the README quotes it'
  )
  t.equal(await get('health'), '{"ok":true}')
})

t.test('the program with tokens runs: make a key, use it, see it refused, revoke it', async (t) => {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  Object.assign(process.env, { ISSUER: issuer.url, CLIENT_ID: 'web-app', PORT: '0', PEPPER })
  const { app } = await import('../dual-auth-tokens.ts')
  t.teardown(() => app.close())
  const origin = app.listeningOrigin
  const user = bearer(issuer.user({ 'cognito:groups': ['admin'] }))

  const status = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(origin + path, { headers })).status
  t.equal(await status('/health'), 200)
  t.equal(await status('/orders'), 401)
  t.equal(await status('/orders', user), 200)

  const created = await fetch(`${origin}/shops/admin/api-keys/`, {
    method: 'POST',
    headers: { ...user, 'content-type': 'application/json' },
    body: '{"name":"Label printer","scopes":["read"]}'
  })
  t.equal(created.status, 201)
  const { id, plaintext } = await created.json() as { id: string, plaintext: string }
  const key = { 'x-api-key': plaintext }
  t.equal(await status('/shops/admin/products', key), 200)
  t.equal(await status('/shops/shop-2/products', key), 403)
  t.equal(await status('/orders', key), 401)
  t.equal((await fetch(`${origin}/shops/shop-2/api-keys/`, { headers: user })).status, 403)
  t.equal((await fetch(`${origin}/shops/admin/api-keys/${id}`, { method: 'DELETE', headers: user })).status, 204)
  t.equal(await status('/shops/admin/products', key), 401)
})

for (
  const [name, load] of [
    ['own-tokens', () => import('../own-tokens.ts')],
    ['fastify-auth', () => import('../fastify-auth.ts')]
  ] as const
) {
  t.test(`the program ${name}, for an app with tokens of its own, runs`, async (t) => {
    Object.assign(process.env, { TOKEN_SECRET: 'a secret of the app, long enough', PEPPER })
    const { app } = await load()
    t.teardown(() => app.close())
    await app.ready()
    const kim = bearer(app.jwt.sign({ sub: 'kim', teams: ['blue'] }))
    const created = await app.inject({
      method: 'POST',
      url: '/teams/blue/api-keys/',
      headers: kim,
      payload: { name: 'Printer' }
    })
    t.match(created.json(), { name: 'Printer', created_by: 'kim' })
    const key = { 'x-api-key': created.json().plaintext }
    const answers = async (team: string, headers: object) => {
      const { statusCode, json } = await app.inject({ url: `/teams/${team}/reports`, headers: { ...headers } })
      return [statusCode, json().by]
    }
    t.strictSame(await answers('blue', key), [200, 'api-key'])
    t.strictSame(await answers('blue', kim), [200, 'a person'])
    t.strictSame(await answers('red', key), [403, undefined])
    t.strictSame(await answers('red', kim), [403, undefined])
    t.strictSame(await answers('blue', {}), [401, undefined])
    t.strictSame(await answers('blue', { ...kim, 'x-api-key': 'acme_x' }), [401, undefined])
    t.equal((await app.inject({ url: '/teams/red/api-keys/', headers: kim })).statusCode, 403)
    t.equal(
      (await app.inject({ url: '/teams/blue/api-keys/', headers: key })).statusCode,
      401,
      'the app finds no token of its own'
    )
  })
}

t.test('the program with keys of people beside those of teams runs', async (t) => {
  const { app, people, teams } = await import('../personal-keys.ts')
  t.teardown(() => app.close())
  const signIn = async (name: string) => ({
    cookie: String((await app.inject({ method: 'POST', url: '/session', payload: { name } })).headers['set-cookie'])
      .split(';')[0]!
  })
  const [ada, kim] = [await signIn('ada'), await signIn('kim')]
  const make = async (headers: object, path: string) => {
    const { statusCode, json } = await app.inject({
      method: 'POST',
      url: `${path}/api-keys/`,
      headers: { ...headers },
      payload: { name: 'Agent' }
    })
    return { ...json(), status: statusCode }
  }
  const get = async (url: string, headers: object = {}) => {
    const { statusCode, json } = await app.inject({ url, headers: { ...headers } })
    return [statusCode, json().of]
  }
  const [mine, theirs, ours] = [await make(kim, '/me'), await make(ada, '/me'), await make(kim, '/teams/blue')]
  t.match([mine, ours], [{ status: 201, created_by: 'kim' }, { status: 201, created_by: 'kim' }])
  t.strictSame(
    [
      (await make({}, '/me')).status,
      (await make(kim, '/teams/red')).status,
      (await make({ 'x-api-key': mine.plaintext }, '/me')).status
    ],
    [401, 403, 401],
    'nobody, no member, and a key'
  )
  const key = ({ plaintext }: { plaintext?: string }) => ({ 'x-api-key': plaintext })
  t.strictSame([
    await get('/me/notes', key(mine)),
    await get('/me/notes', { ...kim, ...key(theirs) }),
    await get('/me/notes', kim)
  ], [[200, 'kim'], [200, 'ada'], [200, 'kim']])
  t.strictSame([
    await get('/teams/blue/notes', key(ours)),
    await get('/teams/blue/notes', kim),
    await get('/teams/red/notes', kim)
  ], [[200, 'blue'], [200, 'blue'], [403, undefined]])
  t.strictSame([
    await get('/teams/blue/notes', key(mine)),
    await get('/teams/red/notes', key(ours)),
    await get('/me/notes', key(ours)),
    await get('/me/notes')
  ], [[403, undefined], [403, undefined], [403, undefined], [401, undefined]])
  const listed = async (headers: object) =>
    (await app.inject({ url: '/me/api-keys/', headers: { ...headers } })).json().map(({ id }: { id: string }) => id)
  t.strictSame([await listed(kim), await listed(ada)], [[mine.id], [theirs.id]])
  t.equal((await app.inject({ method: 'DELETE', url: `/me/api-keys/${theirs.id}`, headers: kim })).statusCode, 404)
  t.equal((await app.inject({ method: 'DELETE', url: `/me/api-keys/${mine.id}`, headers: kim })).statusCode, 204)
  t.strictSame(
    await get('/me/notes', { ...kim, ...key(mine) }),
    [401, undefined],
    'a session does not rescue a revoked key'
  )
  teams.set('blue', ['ada'])
  t.strictSame(await get('/teams/blue/notes', key(ours)), [401, undefined], 'a key of who left the team')
  teams.set('blue', ['ada', 'kim'])
  const another = await make(kim, '/me')
  t.strictSame(
    [await get('/teams/blue/notes', key(ours)), await get('/me/notes', key(another))],
    [[200, 'blue'], [200, 'kim']]
  )
  people.delete('kim')
  t.strictSame(
    await Promise.all([
      get('/teams/blue/notes', key(ours)),
      get('/me/notes', key(another)),
      get('/me/notes', kim),
      get('/me/notes', key(theirs))
    ]),
    [[401, undefined], [401, undefined], [401, undefined], [200, 'ada']],
    'who was locked out: their keys and sessions, and nobody else'
  )
})

t.test('the program for PostgreSQL runs: a command creates a key, and the plugin writes its audit trail', async (t) => {
  const { knex, close } = await embeddedDatabase()
  t.teardown(close)
  await knex.schema.createTable('audit', (table) => {
    for (const column of ['action', 'key_id', 'shop_id', 'by']) table.text(column)
  })
  const apiKeys = await apiKeysIn(knex, PEPPER)
  const { key, plaintext } = await createPrinterKey(apiKeys)
  const { app } = await shops(t, apiKeys, { onKeyChange })
  t.equal((await app.inject({ url: '/shops/shop-1/products', headers: { 'x-api-key': plaintext } })).statusCode, 200)
  t.equal((await app.inject({ method: 'DELETE', url: `/shops/shop-1/api-keys/${key.id}` })).statusCode, 204)
  t.match(await knex('audit').select('action', 'key_id', 'shop_id'), [{
    action: 'revoke',
    key_id: key.id,
    shop_id: 'shop-1'
  }])
})

t.test('the program that reads the shop with its key runs', async (t) => {
  const { knex, close } = await embeddedDatabase()
  t.teardown(close)
  await createApiKeysTable(knex)
  await knex.raw('create table shops (id text primary key, currency text)')
  await knex('shops').insert({ id: 'blue', currency: 'JPY' })
  const { app, mint } = await shops(t, { store: storeWithShops(knex) })
  const { plaintext } = await mint()
  t.strictSame((await app.inject({ url: '/shops/blue/products', headers: { 'x-api-key': plaintext } })).json(), {
    currency: 'JPY'
  })
})

t.test('the program for events runs: those who look after a shop are told what they should know', async (t) => {
  const day = 86_400_000
  const store = memoryStore()
  await store.insert(
    newKey({
      ownerId: 'blue',
      name: 'Till',
      createdAt: new Date(Date.now() - 100 * day),
      expiresAt: new Date(Date.now() + 5 * day)
    }),
    10
  )
  const told: string[] = []
  const { app, mint } = await shops(t, { store }, {
    onKeyEvent: keyAlerts(async (shopId, message) => {
      told.push(`${shopId}: ${message}`)
    })
  })
  const { id, plaintext } = await mint()
  const call = async (remoteAddress: string) =>
    app.inject({ url: '/shops/blue/products', headers: bearer(plaintext), remoteAddress })
  const manage = async (method: 'GET' | 'DELETE', path = '') =>
    app.inject({ method, url: `/shops/blue/api-keys/${path}` })
  for (const address of ['203.0.113.7', '198.51.100.1']) {
    await call(address)
    await manage('GET')
  }
  await manage('DELETE', id)
  await call('203.0.113.7')
  await app.close()
  t.strictSame(told.toSorted(), [
    'blue: Nobody has used Till for 90 days. Revoke it if nobody needs it.',
    'blue: Printer is used from a new network, 198.51.100.0/24. Revoke it if that is none of yours.',
    `blue: The revoked key ${id} was refused 1 times.`,
    'blue: Till expires in less than 7 days. Rotate it.'
  ])
})
