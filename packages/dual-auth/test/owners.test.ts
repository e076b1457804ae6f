import Fastify, { type FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import { createApiKey, memoryStore, type ApiKeyOptions } from '../src/index.ts'
import { authenticate, PEPPER, type Options } from './build.ts'

/** An app whose callers name themselves in a header, as its own sign-in would find them. */
async function server (
  t: Test,
  options: Partial<Options>,
  apiKeys: { ownerParam: string | null, ownerIdFromParam?: ApiKeyOptions['ownerIdFromParam'] } = { ownerParam: null },
  warnings: string[] = []
) {
  const app = Fastify({
    logger: {
      level: 'warn',
      stream: {
        write: (line) => {
          warnings.push(JSON.parse(line).msg)
        }
      }
    }
  })
  t.teardown(() => app.close())
  const ids: string[] = []
  app.addHook('onRoute', ({ schema }) => {
    if (schema !== undefined && 'operationId' in schema) ids.push(String(schema.operationId))
  })
  await authenticate(app, {
    apiKeys: {
      marker: 'acme',
      peppers: [PEPPER],
      store: memoryStore(),
      ownerIdFromParam: 'slug',
      ...apiKeys
    } as ApiKeyOptions,
    jwt: 'host',
    ...options
  })
  app.get('/notes/:id', { config: { auth: 'any-key' } }, async ({ identity }) => identity)
  await app.ready()
  const call = async (
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    headers: Record<string, string> = {},
    payload?: object
  ) => {
    const response = await app.inject({ method, url, headers, ...payload && { payload } })
    return { status: response.statusCode, body: response.body === '' ? null : response.json() }
  }
  return { call, ids: [...new Set(ids)] }
}

const user = ({ headers }: FastifyRequest): string | undefined => headers['x-user'] as string | undefined
const MANAGED = { status: 403, body: { code: 'DUAL_AUTH_MANAGEMENT_FORBIDDEN' } }

for (const jwt of ['host', false] as const) {
  t.test(`keys of one organization, managed by its own sign-in (jwt: ${String(jwt)})`, async (t) => {
    const warnings: string[] = []
    const { call } = await server(
      t,
      {
        jwt,
        management: {
          path: '/api-keys',
          owner: () => 'acme',
          canManage: (request) => user(request) === 'admin' && 'admin'
        }
      },
      { ownerParam: null },
      warnings
    )
    t.strictSame(warnings, [], 'no path is taken for one that forgot its owner')
    const { status, body: { id, plaintext } } = await call('POST', '/api-keys/', { 'x-user': 'admin' }, {
      name: 'Printer',
      scopes: ['read']
    })
    t.equal(status, 201)
    t.match(await call('GET', '/api-keys/', { 'x-user': 'admin' }), {
      status: 200,
      body: [{ id, created_by: 'admin' }]
    })
    t.match(await call('GET', '/notes/7', { 'x-api-key': plaintext }), {
      status: 200,
      body: { kind: 'api-key', ownerId: 'acme', keyId: id }
    })
    for (const headers of [{}, { 'x-user': 'kim' }, { 'x-api-key': plaintext }] as Array<Record<string, string>>) {
      t.match(await call('GET', '/api-keys/', headers), MANAGED)
      t.match(await call('POST', '/api-keys/', headers, { name: 'x' }), MANAGED)
      t.match(await call('DELETE', `/api-keys/${id}`, headers), MANAGED)
    }
    t.equal((await call('DELETE', `/api-keys/${id}`, { 'x-user': 'admin' })).status, 204)
    t.equal((await call('GET', '/notes/7', { 'x-api-key': plaintext })).status, 401)
  })
}

t.test('no caller has no keys: a 403; a number is an error of the host; what owner throws is the answer', async (t) => {
  for (
    const [owner, wanted] of [
      [() => undefined, MANAGED],
      [() => '', MANAGED],
      [() => null as never, MANAGED],
      [() => 7 as never, { status: 500, body: { message: /owner must return the id of the owner as a string/ } }],
      [async () => undefined, MANAGED],
      [() => {
        throw Object.assign(new Error('Sign in'), { statusCode: 401 })
      }, { status: 401, body: { message: 'Sign in' } }]
    ] as const
  ) {
    let asked = 0
    const { call } = await server(t, {
      management: {
        path: '/me/api-keys',
        owner,
        canManage: () => {
          asked++
          return 'me'
        }
      }
    })
    for (
      const [method, url, payload] of [
        ['POST', '/me/api-keys/', { name: 'x' }],
        ['GET', '/me/api-keys/', undefined],
        ['DELETE', '/me/api-keys/5c3f3c1e-0000-4000-8000-000000000000', undefined]
      ] as const
    ) t.match(await call(method, url, {}, payload), wanted)
    t.equal(asked, 0, 'canManage is not asked about nobody')
  }
})

t.test('no key of a person is one of the team with the same id', async (t) => {
  const MEANT = {
    status: 500,
    body: {
      code: 'DUAL_AUTH_INVALID_OPTION',
      message: /^dual-auth: management.owner of \/me\/api-keys must return what no path names/
    }
  }
  for (
    const [ids, id] of [
      ['integer', '7'],
      ['slug', 'kim'],
      ['uuid', '0f8fad5b-d9cb-469f-a165-70867728950e'],
      [(value: string) => value.toLowerCase(), 'kim'],
      [(value: string) => value, 'person:kim']
    ] as const
  ) {
    const { call } = await server(t, {
      management: [
        { path: '/teams/:team/api-keys', canManage: () => 'admin' },
        { path: '/me/api-keys', owner: user, canManage: (request) => user(request)!, operationName: 'my_api_key' }
      ]
    }, { ownerParam: 'team', ownerIdFromParam: ids })
    const { body: { id: key } } = await call('POST', `/teams/${id}/api-keys/`, {}, { name: 'x' })
    const as = { 'x-user': id }
    t.match(await call('POST', '/me/api-keys/', as, { name: 'x' }), MEANT, `${String(ids)}: create`)
    t.match(await call('GET', '/me/api-keys/', as), MEANT, 'list')
    t.match(await call('POST', `/me/api-keys/${key}/rotate`, as, {}), MEANT, 'rotate')
    t.match(await call('DELETE', `/me/api-keys/${key}`, as), MEANT, 'revoke')
    t.match(await call('GET', `/teams/${id}/api-keys/`), { status: 200, body: [{ id: key, status: 'active' }] })
    if (typeof ids !== 'function') {
      t.equal((await call('POST', '/me/api-keys/', { 'x-user': `person:${id}` }, { name: 'x' })).status, 201)
    }
  }
})

t.test('two people whose sign-in is looked up at the same time, the first one last, get a key each', async (t) => {
  const answered: Array<() => void> = []
  const { call } = await server(t, {
    management: [
      { path: '/teams/:team/api-keys', canManage: () => 'admin' },
      {
        path: '/me/api-keys',
        owner: async (request) => {
          const person = user(request)
          if (request.method === 'POST') await new Promise<void>((resolve) => answered.push(resolve))
          return `person:${person}`
        },
        canManage: async (request) => user(request)!,
        operationName: 'my_api_key'
      }
    ]
  }, { ownerParam: 'team' })
  const creating = ['ada', 'bob'].map((person) => call('POST', '/me/api-keys/', { 'x-user': person }, { name: person }))
  while (answered.length < 2) await new Promise(setImmediate)
  for (const answer of answered.toReversed()) answer()
  const [ada, bob] = (await Promise.all(creating)).map(({ body }) => body)
  for (const [person, own, other] of [['ada', ada, bob], ['bob', bob, ada]] as const) {
    const as = { 'x-user': person }
    t.match(await call('GET', '/me/api-keys/', as), { body: [{ id: own.id, name: person, created_by: person }] })
    t.equal((await call('DELETE', `/me/api-keys/${other.id}`, as)).status, 404)
    t.equal((await call('DELETE', `/teams/red/api-keys/${own.id}`)).status, 404)
    t.match(await call('GET', '/notes/7', { 'x-api-key': own.plaintext }), { body: { ownerId: `person:${person}` } })
  }
})

t.test('canManage returns who it is where the host signs in, also with jwt: false', async (t) => {
  const { call } = await server(t, {
    jwt: false,
    management: { path: '/api-keys', owner: () => 'acme', canManage: () => true }
  }, { ownerParam: null })
  t.match(await call('POST', '/api-keys/', {}, { name: 'x' }), {
    status: 500,
    body: { message: /canManage must return the id of the caller/ }
  })
})

t.test('several sets of routes: each is asked about its own owner, and has operation ids of its own', async (t) => {
  const asked: unknown[] = []
  const { call, ids } = await server(t, {
    management: [
      {
        path: '/teams/:team/api-keys',
        canManage: (_request, team) => {
          asked.push(team)
          return 'kim'
        }
      },
      {
        path: '/me/api-keys',
        owner: async (request) => `person:${user(request)}`,
        canManage: (_request, me) => {
          asked.push(me)
          return 'kim'
        },
        operationName: 'my_api_key'
      }
    ]
  }, { ownerParam: 'team' })
  const [team, mine] = [
    await call('POST', '/teams/red/api-keys/', {}, { name: 'x' }),
    await call('POST', '/me/api-keys/', { 'x-user': 'kim' }, { name: 'x' })
  ]
  t.strictSame([team.status, mine.status, asked], [201, 201, ['red', 'person:kim']])
  t.match(await call('POST', `/me/api-keys/${mine.body.id}/rotate`, { 'x-user': 'kim' }, {}), {
    status: 201,
    body: { replaces: mine.body.id }
  })
  t.match(await call('POST', `/me/api-keys/${team.body.id}/rotate`, { 'x-user': 'kim' }, {}), { status: 404 })
  t.strictSame(ids.filter((id) => id.includes('key')).sort(), [
    'create_api_key',
    'create_my_api_key',
    'list_api_keys',
    'list_my_api_keys',
    'revoke_api_key',
    'revoke_my_api_key',
    'rotate_api_key',
    'rotate_my_api_key'
  ])
})

t.test('an owner has one spelling: by no other one a key can be made, listed or used', async (t) => {
  const uuid = '8b5c0d3a-6f0e-4c55-9a55-0f3a3f6c1a01'
  for (
    const [ownerIdFromParam, id, others] of [
      ['integer', '1', [
        '01',
        '1.0',
        '+1',
        '-1',
        ' 1',
        '1 ',
        '1e0',
        '0x1',
        '1n',
        '1_0',
        '\uff11',
        '\u0661',
        '1\u200b',
        '1,',
        `1${'0'.repeat(19)}`,
        uuid,
        'NaN',
        '-0',
        '00'
      ]],
      ['uuid', uuid, [
        uuid.toUpperCase(),
        uuid.replace('c', 'C'),
        uuid.replaceAll('-', ''),
        `{${uuid}}`,
        `urn:uuid:${uuid}`,
        ` ${uuid}`,
        `${uuid}\n`,
        '1',
        uuid.replace('c', '\u0441')
      ]],
      ['slug', 'blue', [
        'Blue',
        'BLUE',
        'blu\u00e9',
        'blue ',
        ' blue',
        'blu\u0435',
        'blue\u00ad',
        'bl\uff55e',
        'blue.',
        'blue\t'
      ]]
    ] as const
  ) {
    const app = Fastify()
    t.teardown(() => app.close())
    const apiKeys = { marker: 'acme', peppers: [PEPPER], store: memoryStore(), ownerParam: 'fleet', ownerIdFromParam }
    const asked: string[] = []
    // As a host whose rows are found by any spelling.
    await authenticate(app, {
      apiKeys,
      jwt: 'host',
      policy: ({ url }) => url === '/fleets/:fleet/trucks' ? 'dual' : undefined,
      management: {
        path: '/fleets/:fleet/api-keys',
        canManage: (_request, fleet) => {
          asked.push(fleet)
          return 'kim'
        }
      }
    })
    app.get('/fleets/:fleet/trucks', async () => [])
    await app.ready()
    const call = async (method: 'GET' | 'POST', fleet: string, path: string, headers: Record<string, string> = {}) => {
      const response = await app.inject({
        method,
        url: `/fleets/${encodeURIComponent(fleet)}/${path}`,
        headers,
        ...method === 'POST' && { payload: { name: 'x' } }
      })
      return { status: response.statusCode, body: response.json() }
    }
    const { status, body: { plaintext } } = await call('POST', id, 'api-keys/')
    t.equal(status, 201)
    for (const other of others) {
      t.match(
        await call('POST', other, 'api-keys/'),
        { status: 404, body: { code: 'DUAL_AUTH_OWNER_UNKNOWN' } },
        `${ownerIdFromParam}: ${JSON.stringify(other)}`
      )
      t.match(await call('GET', other, 'api-keys/'), { status: 404, body: { code: 'DUAL_AUTH_OWNER_UNKNOWN' } })
      t.match(await call('GET', other, 'trucks', { 'x-api-key': plaintext }), {
        status: 403,
        body: { code: 'DUAL_AUTH_OWNER_FORBIDDEN' }
      })
      // One that was made before there was a rule.
      const { plaintext: older } = await createApiKey(apiKeys, {
        ownerId: other,
        name: 'older',
        scopes: 'all',
        createdBy: 'kim'
      })
      t.equal((await call('GET', other, 'trucks', { 'x-api-key': older })).status, 403)
      t.equal((await call('GET', id, 'trucks', { 'x-api-key': older })).status, 403)
    }
    const escaped = `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`
    t.equal(
      (await app.inject({ url: `/fleets/${escaped}/trucks`, headers: { 'x-api-key': plaintext } })).statusCode,
      200,
      'an escaped letter is the letter'
    )
    t.equal((await call('GET', id, 'api-keys/')).body.length, 1)
    t.strictSame([...new Set(asked)], [id], 'canManage is asked about no other spelling')
  }
})
