import t from 'tap'
import { embeddedDatabase } from '../../../../test/databases.ts'
import {
  createGrantTable,
  knexGrantStore,
  memoryBrokerStore,
  type BrokerOptions,
  type GrantStore
} from '../../src/broker/index.ts'
import { jwtOf } from './corporate.ts'
import {
  brokerWorld,
  clock,
  fakeIdp,
  grantOf,
  register,
  signedIn,
  token,
  type World,
  type WorldOptions
} from './world.ts'

const { knex, close } = await embeddedDatabase()
t.teardown(close)
await createGrantTable(knex)
await createGrantTable(knex)

const DAY = 86_400_000
const tokenOf = (claims: object): string => jwtOf(claims, { alg: 'none' }, {})

/** A server that knows the caller by a header. */
async function open (
  t: World | Parameters<typeof brokerWorld>[0],
  grants: object = {},
  more: WorldOptions = {}
): Promise<World> {
  const idp = more.idp ?? await fakeIdp(t as never)
  const whose: NonNullable<BrokerOptions['grants']>['whose'] = ({ headers }) => ({
    issuer: idp.issuer,
    subject: String(headers['x-person'])
  })
  const world = await brokerWorld(t as never, {
    ...more,
    idp,
    broker: {
      store: memoryBrokerStore(),
      grants: { store: knexGrantStore(knex), whose, ...grants },
      clients: [{ id: 'desk', name: 'Desk', redirectUris: ['http://127.0.0.1/callback'] }],
      ...more.broker
    }
  })
  world.idp.accessToken = () => tokenOf({ sub: 'ada' })
  return world
}

const as = (person: string) => ({ headers: { 'x-person': person } })
const listed = async ({ app }: World, person = 'ada') =>
  (await app.inject({ url: '/oauth/grants', ...as(person) })).json()
const ended = async ({ app }: World, id: string, person = 'ada') =>
  await app.inject({ method: 'DELETE', url: `/oauth/grants/${id}`, ...as(person) })
const refreshed = async (
  world: World,
  { clientId, refreshToken }: { readonly clientId: string, readonly refreshToken: string }
) => (await token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })).json()

t.beforeEach(async () => {
  await knex('oauth_grants').delete()
})

t.test('without the option there are no such routes, and nothing is recorded', async (t) => {
  const world = await brokerWorld(t)
  world.idp.accessToken = () => tokenOf({ sub: 'ada' })
  await signedIn(world)
  t.equal((await world.app.inject('/oauth/grants')).statusCode, 404)
  t.equal((await world.app.inject({ method: 'DELETE', url: '/oauth/grants/x' })).statusCode, 404)
  t.strictSame(await knex('oauth_grants'), [])
})

t.test('a person sees whom they let in, and ends it: the next refresh fails', async (t) => {
  const at = clock(t)
  const start = Date.now()
  const iso = (milliseconds: number): string => new Date(start + milliseconds).toISOString()
  const world = await open(t)
  const desk = await signedIn(world, 'desk')
  at(60_000)
  const agent = await signedIn(world, await register(world.app, undefined, 'An agent'))
  at(120_000)
  const { refresh_token: next } = await refreshed(world, desk)

  const response = await world.app.inject({ url: '/oauth/grants', ...as('ada') })
  t.equal(response.headers['cache-control'], 'no-store')
  t.notOk('access-control-allow-origin' in response.headers, 'other sites may not read it')
  const scope = 'openid email profile'
  const [first, second] = response.json()
  t.strictSame([first, second], [
    {
      id: first.id,
      client_id: 'desk',
      client_name: 'Desk',
      scope,
      created_at: iso(0),
      used_at: iso(120_000),
      access_token_expires_at: iso(3_720_000),
      expires_at: iso(120_000 + 30 * DAY)
    },
    {
      id: second.id,
      client_id: null,
      client_name: 'An agent',
      scope,
      created_at: iso(60_000),
      used_at: iso(60_000),
      access_token_expires_at: iso(3_660_000),
      expires_at: iso(60_000 + 30 * DAY)
    }
  ])
  t.strictSame(await listed(world, 'kim'), [])

  for (const [id, person] of [[first.id, 'kim'], ['x', 'ada'], [`${first.id}'--`, 'ada'], ['%00', 'ada']] as const) {
    t.match(
      (await ended(world, id, person)).json(),
      { statusCode: 404, code: 'OAUTH_DISCOVERY_SHIM_NO_GRANT' },
      `${person}: ${id}`
    )
  }
  t.strictSame((await ended(world, first.id)).json(), {
    id: first.id,
    client_name: 'Desk',
    access_token_expires_at: iso(3_720_000),
    at_provider: 'revoked'
  })
  t.match(await refreshed(world, { ...desk, refreshToken: next }), { error: 'invalid_grant' })
  t.match(await refreshed(world, desk), { error: 'invalid_grant' }, 'within the time of grace, too')
  t.strictSame((await listed(world)).map(({ id }: { id: string }) => id), [second.id])
  t.equal((await ended(world, first.id)).statusCode, 404, 'it is over')
  t.match(await refreshed(world, agent), { access_token: String }, 'the others go on')
  at(31 * DAY)
  t.strictSame(await listed(world), [], 'a refresh token that has expired ends by itself')
})

t.test('a sign-in that ends otherwise is listed no more', async (t) => {
  const world = await open(t)
  const revoked = await signedIn(world)
  await token(world, { client_id: revoked.clientId, token: revoked.refreshToken }, '/oauth/revoke')
  const copied = await signedIn(world)
  const { refresh_token: second } = await refreshed(world, copied)
  await refreshed(world, { ...copied, refreshToken: second })
  await refreshed(world, copied)
  const grant = await grantOf(world)
  for (let i = 0; i < 2; i++) await token(world, { ...grant })
  t.strictSame(await listed(world), [])
})

t.test('whose a sign-in is, by the access token or else the ID token', async (t) => {
  const named = ({ iss, oid }: Readonly<Record<string, unknown>>) => `${String(iss)}#${String(oid)}`
  for (
    const [what, claim, access, id, whose] of [
      ['the claim of the option', 'oid', tokenOf({ sub: 'x', oid: 'ada' }), undefined, 'ada'],
      ['an opaque access token', 'sub', 'opaque', tokenOf({ sub: 'ada' }), 'ada'],
      ['an access token without it', 'uid', tokenOf({ sub: 'x' }), tokenOf({ uid: 'ada' }), 'ada'],
      ['no text', 'sub', tokenOf({ sub: 1 }), tokenOf({ sub: 'ada' }), undefined],
      ['a list', 'sub', tokenOf({ sub: ['ada'] }), undefined, undefined],
      ['nobody', 'sub', 'opaque', undefined, undefined],
      ['a function', named, tokenOf({ iss: 'i', oid: 'ada' }), undefined, 'i#ada'],
      ['a function, and an opaque access token', named, 'opaque', tokenOf({ iss: 'i', oid: 'ada' }), 'i#ada'],
      ['a function, and nobody', named, 'opaque', undefined, undefined],
      ['a function that throws', () => JSON.parse('{'), tokenOf({ sub: 'ada' }), undefined, undefined],
      ['a function that returns a promise', async () => 'ada', tokenOf({ sub: 'ada' }), undefined, undefined],
      ['a function that returns nothing', () => '', tokenOf({ sub: 'ada' }), undefined, undefined]
    ] as const
  ) {
    const lines: string[] = []
    const world = await open(t, { subjectClaim: claim as string }, {
      server: { logger: { level: 'warn', stream: { write: (line: string) => lines.push(line) } } }
    })
    world.idp.answer = ({ path, form }) =>
      path === '/token' && form['grant_type'] === 'authorization_code'
        ? { status: 200, body: { access_token: access, refresh_token: 'r', ...id !== undefined && { id_token: id } } }
        : undefined
    await signedIn(world)
    await signedIn(world)
    t.strictSame(
      (await knex('oauth_grants')).map(({ subject }) => subject),
      whose === undefined ? [] : [whose, whose],
      what
    )
    t.equal(
      lines.filter((line) => line.includes('a sign-in is not recorded')).length,
      whose === undefined ? 1 : 0,
      what
    )
    await knex('oauth_grants').delete()
  }
})

t.test('a provider that says nothing about the life of tokens, or issues no refresh token', async (t) => {
  const world = await open(t)
  let more: object = {}
  world.idp.answer = ({ path }) =>
    path === '/token' ? { status: 200, body: { access_token: tokenOf({ sub: 'ada' }), ...more } } : undefined
  await token(world, { ...await grantOf(world) })
  t.strictSame(await listed(world), [], 'there is nothing to end')
  more = { refresh_token: 'r' }
  await signedIn(world)
  const [{ id, client_name: name, access_token_expires_at: expires }] = await listed(world)
  t.equal(expires, null)
  t.strictSame((await ended(world, id)).json(), {
    id,
    client_name: name,
    access_token_expires_at: null,
    at_provider: 'revoked'
  })
})

t.test('sign-ins do not depend on the record, and a refresh repairs it', async (t) => {
  let isDown = true
  const store = knexGrantStore(knex)
  const failing = Object.fromEntries(
    (['record', 'list', 'find', 'end'] as const).map((name) => [name, async (...input: [never, never]) => {
      if (isDown) throw new Error('connect ECONNREFUSED db.internal:5432')
      return await store[name](...input)
    }])
  ) as unknown as GrantStore
  const lines: string[] = []
  const world = await open(t, { store: failing }, {
    server: { logger: { level: 'error', stream: { write: (line: string) => lines.push(line) } } }
  })
  const client = await signedIn(world)
  t.match(lines.join(''), /a sign-in could not be recorded/)
  for (const response of [await world.app.inject({ url: '/oauth/grants', ...as('ada') }), await ended(world, 'x')]) {
    t.match(response.json(), { statusCode: 503, code: 'OAUTH_DISCOVERY_SHIM_STORE_UNAVAILABLE' })
    t.notMatch(response.body, 'ECONNREFUSED')
    t.match(lines.map((line) => JSON.parse(line)).findLast(({ msg }) => msg === 'the record of sign-ins failed'), {
      reqId: /./
    })
  }
  isDown = false
  await refreshed(world, client)
  t.equal((await listed(world)).length, 1)
})

t.test('a refresh under way when a sign-in is ended does not bring it back', async (t) => {
  const world = await open(t)
  const client = await signedIn(world)
  const [{ id }] = await listed(world)
  const issued = {
    id,
    subject: 'ada',
    clientId: null,
    clientName: 'x',
    scope: 's',
    usedAt: new Date(),
    accessExpiresAt: null,
    expiresAt: new Date(Date.now() + DAY)
  }
  world.idp.wait = async ({ path }) => {
    if (path === '/token') await ended(world, id)
  }
  t.match(await refreshed(world, client), { error: 'invalid_grant' })
  for (const subject of ['ada', undefined]) await knexGrantStore(knex).record({ ...issued, subject })
  t.strictSame(await listed(world), [])
})

t.test('the provider is told, by its last token; whoever ends a sign-in reads whether it was', async (t) => {
  const lines: string[] = []
  const world = await open(t, {}, {
    server: { logger: { level: 'warn', stream: { write: (line: string) => lines.push(line) } } }
  })
  const { idp } = world
  idp.rotates = true
  const client = await signedIn(world)
  await refreshed(world, client)
  const [{ provider_token: stored }] = await knex('oauth_grants')
  t.notMatch(stored, 'idp-refresh', 'the table has no token that opens anything')
  const [{ id }] = await listed(world)
  t.notMatch(JSON.stringify(await listed(world)), stored)
  t.match((await ended(world, id)).json(), { at_provider: 'revoked' })
  const revoked = idp.calls.filter(({ path }) => path === '/revoke').map(({ form }) => form)
  t.match(revoked, [{ token: /^idp-refresh-/, token_type_hint: 'refresh_token', client_id: 'broker-client' }])
  idp.rotates = false
  t.match(
    await (await fetch(`${new URL(idp.issuer).origin}/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: revoked[0]!['token']! })
    })).json(),
    { error: 'invalid_grant' },
    'it was the last one'
  )
  t.strictSame((await knex('oauth_grants')).map(({ provider_token: token }) => token), [null], 'and is forgotten')

  for (
    const [what, prepare, expected] of [
      ['a provider that fails', () => {
        idp.answer = ({ path }) => path === '/revoke' ? { status: 503, body: {} } : undefined
      }, 'failed'],
      ['the token of another row', async () => {
        await knex('oauth_grants').update({ provider_token: stored })
      }, 'not_told'],
      ['a token that was sealed with a secret that is gone', async () => {
        await knex('oauth_grants').update({ provider_token: stored.replace('2026-01', '2025-01') })
      }, 'not_told'],
      ['a row from before', async () => {
        await knex('oauth_grants').update({ provider_token: null })
      }, 'not_told']
    ] as const
  ) {
    await knex('oauth_grants').delete()
    const own = await signedIn(world)
    await prepare()
    const [one] = await listed(world)
    t.match((await ended(world, one.id)).json(), { at_provider: expected }, what)
    t.match(await refreshed(world, own), { error: 'invalid_grant' }, 'here it is over in any case')
    idp.answer = () => undefined
  }
  t.match(lines.join(''), /did not revoke a refresh token/)

  const silent = await open(t, {}, { idp: await fakeIdp(t, { revocation_endpoint: null }) })
  await signedIn(silent)
  t.strictSame(
    await knex('oauth_grants').whereNotNull('provider_token'),
    [],
    'nothing is kept that nobody would be told'
  )
  t.match((await ended(silent, (await listed(silent))[0].id)).json(), { at_provider: 'not_told' })
})

t.test('the host lists and ends those of anybody, by names that a function makes', async (t) => {
  const world = await open(t, {
    subjectClaim: ({ iss, oid }: Record<string, unknown>) =>
      oid === undefined ? undefined : `${String(iss)}#${String(oid)}`
  })
  world.idp.accessToken = () => tokenOf({ iss: 'https://a.example', oid: 'ada' })
  await signedIn(world)
  const { oauthGrants: grants } = world.app
  t.strictSame(await grants!.list('ada'), [])
  const [{ id } = { id: '' }] = await grants!.list('https://a.example#ada')
  await t.rejects(grants!.end('https://b.example#ada', id), { code: 'OAUTH_DISCOVERY_SHIM_NO_GRANT' })
  t.match(await grants!.end('https://a.example#ada', id), { id, at_provider: 'revoked' })
  t.equal((await brokerWorld(t)).app.oauthGrants, undefined)
})

t.test('a person of another issuer with the same subject, and whoever is no person, see and end nothing', async (t) => {
  const world = await open(t)
  const client = await signedIn(world)
  const [{ id }] = await listed(world)
  const whose = (found: unknown): Promise<World> => open(t, { whose: () => found as string }, { idp: world.idp })
  const noPerson = { statusCode: 403, code: 'OAUTH_DISCOVERY_SHIM_NO_PERSON' }
  const { issuer } = world.idp
  for (
    const found of [
      { issuer: 'https://other.example', subject: 'ada' },
      { issuer: `${issuer}/`, subject: 'ada' },
      { kind: 'machine', issuer, clientId: 'ada' },
      { issuer, subject: '' },
      { subject: 'ada' },
      undefined,
      null,
      ''
    ]
  ) {
    const other = await whose(found)
    t.match(await listed(other), noPerson, JSON.stringify(found))
    t.match((await ended(other, id)).json(), noPerson, JSON.stringify(found))
  }
  // A subject alone does not say at which issuer.
  t.match(await listed(await whose('ada')), { statusCode: 500, message: /whose must return \{ issuer, subject \}/ })
  const byFunction = { subjectClaim: () => 'ada', whose: () => ({ issuer, subject: 'ada' }) }
  const named = await open(t, byFunction, { idp: world.idp })
  t.match(await listed(named), { statusCode: 500, message: /whose must return the string that subjectClaim makes/ })
  t.match(await refreshed(world, client), { access_token: String }, 'nothing was ended')
  t.equal((await listed(world)).length, 1)
})

t.test('a host that says no is heard, and expired rows are swept', async (t) => {
  const world = await open(t, {
    whose: async () => {
      throw Object.assign(new Error('People only'), { statusCode: 403 })
    }
  })
  t.match((await world.app.inject('/oauth/grants')).json(), { statusCode: 403, message: 'People only' })
  t.match((await ended(world, 'x')).json(), { statusCode: 403 })

  const at = clock(t)
  const store = knexGrantStore(knex)
  const grant = (id: string) => ({
    id,
    subject: 'ada',
    clientId: null,
    clientName: 'x',
    scope: 's',
    usedAt: new Date(),
    accessExpiresAt: null,
    expiresAt: new Date(Date.now() + 60_000)
  })
  await store.record({ ...grant('old'), usedAt: new Date(Date.now()), expiresAt: new Date(Date.now() + 60_000) })
  at(599_999)
  await store.record(grant('new'))
  t.equal((await knex('oauth_grants')).length, 2, 'not with every sign-in')
  at(600_000)
  await store.record({ ...grant('newest'), expiresAt: new Date(Date.now() + 60_000) })
  t.strictSame((await knex('oauth_grants').orderBy('id').select('id')).map(({ id }) => id), ['new', 'newest'])
})

t.test('a table that lacks a column is refused by its name', async (t) => {
  const table = 'lacking'
  await createGrantTable(knex, { table })
  const columns = Object.keys(await knex(table).columnInfo())
  t.ok(columns.length > 9)
  for (const column of columns) {
    await knex.schema.alterTable(table, (altered) => {
      altered.dropColumn(column)
    })
    await t.rejects(createGrantTable(knex, { table }), { code: '42703', message: new RegExp(column) })
    await knex.schema.dropTable(table)
    await createGrantTable(knex, { table })
  }
})
