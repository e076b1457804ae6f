import { randomUUID } from 'node:crypto'
import type { RouteOptions } from 'fastify'
import t from 'tap'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t, ['boss'])
const routes: RouteOptions[] = []
const app = await build(t, database, idp, { onRoute: (route) => routes.push({ ...route }) })
const boss = bearer(await idp.userToken('boss'))
await app.inject({ url: '/me', headers: boss })
await database.knex('users').update({ roles: ['admin'] })
const shopId = await createShop(database, 'here')

interface BodySchema {
  type?: string
  properties?: Record<string, BodySchema>
  items?: BodySchema
  additionalProperties?: unknown
}

/** Objects of a body that have named fields and take others too. */
function open (schema: BodySchema, path: string): string[] {
  const inner = [
    ...Object.entries(schema.properties ?? {}),
    ...(schema.items === undefined ? [] : [['items', schema.items] as const])
  ].flatMap(([name, part]) => open(part, `${path}/${name}`))
  return schema.properties !== undefined && schema.additionalProperties !== false ? [path, ...inner] : inner
}

const writes = routes.filter(({ method, url }) =>
  ['POST', 'PUT', 'PATCH', 'DELETE'].includes(String(method)) && (url === '/' || !url.endsWith('/'))
)

t.test('no body takes fields that its route does not know', async (t) => {
  const schemas = writes.flatMap(({ method, url, schema }) =>
    schema?.body === undefined ? [] : [open(schema.body as BodySchema, `${String(method)} ${url}`)]
  )
  t.ok(schemas.length > 20)
  t.strictSame(schemas.flat(), [])
})

t.test('broken JSON is 400 on every route', async (t) => {
  const ignoring = ['/oauth/register'] // takes anything, and reads nothing
  for (const { method, url } of writes.filter(({ url }) => !ignoring.includes(url))) {
    const path = url.replace(':shop_id', shopId).replaceAll(/:\w+/g, randomUUID())
    const { statusCode, body } = await app.inject({
      method: method as 'POST',
      url: path,
      headers: { ...boss, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      payload: '{'
    })
    t.equal(statusCode, 400, `${String(method)} ${url}: ${body}`)
    if (url !== '/mcp') t.equal(JSON.parse(body).code, 'FST_ERR_CTP_INVALID_JSON_BODY', url)
  }
})

t.test('what must be a boolean says which words it takes', async (t) => {
  const call = client(app, '', boss)
  for (
    const [query, field] of [['/admin/users?filter={"active":"yes"}', 'filter/active/0'], [
      `/shops/${shopId}/accounts?filter={"missing_pay":1}`,
      'filter/missing_pay'
    ], [`/shops/${shopId}/api-keys?filter={"revoked":"no"}`, 'filter/revoked']] as const
  ) {
    t.match(await call('GET', query.replaceAll('"', '%22')), {
      status: 422,
      body: { field, message: `${field} must be true or false` }
    })
  }
  t.match((await call('PATCH', `/shops/${shopId}/config`, { prices_include_tax: 'yes' })).body, {
    message: 'prices_include_tax must be true or false'
  })
  t.match((await call('GET', '/admin/accounts?missing_pay=yes')).body, {
    field: 'missing_pay',
    message: 'missing_pay must be one of true, false'
  })
})

t.test('JSON that is not UTF-8, or has too many values, is refused on every route', async (t) => {
  const ignoring = ['/oauth/register']
  for (const { method, url } of writes.filter(({ url }) => !ignoring.includes(url))) {
    const path = url.replace(':shop_id', shopId).replaceAll(/:\w+/g, randomUUID())
    const send = async (payload: string | Buffer) => {
      const { statusCode, body } = await app.inject({
        method: method as 'POST',
        url: path,
        headers: {
          ...boss,
          'content-type': 'application/json; charset=utf-8',
          accept: 'application/json, text/event-stream'
        },
        payload
      })
      return [statusCode, JSON.parse(body)] as const
    }
    for (
      const [payload, status, code] of [[Buffer.from('{"name":"Caf\xe9"}', 'latin1'), 400, 'SHOP_BODY_NOT_UTF8'], [
        Buffer.from('{"name":"Caf\xc3', 'latin1'),
        400,
        'SHOP_BODY_NOT_UTF8'
      ], [`[${'0,'.repeat(30_001)}0]`, 413, 'SHOP_TOO_MANY_VALUES']] as const
    ) {
      const [found, body] = await send(payload)
      t.equal(found, status, `${String(method)} ${url}: ${JSON.stringify(body)}`)
      if (url !== '/mcp') t.equal(body.code, code, url)
    }
  }
  for (
    const type of [
      'application/json ; charset=utf-8',
      'application/json\t;charset=utf-8',
      'Application/JSON ',
      'application/json;'
    ]
  ) {
    const { statusCode, body } = await app.inject({
      method: 'POST',
      url: `/shops/${shopId}/tags`,
      headers: { ...boss, 'content-type': type },
      payload: Buffer.from('{"name":"Caf\xe9"}', 'latin1')
    })
    t.match([statusCode, JSON.parse(body).code], [400, 'SHOP_BODY_NOT_UTF8'], JSON.stringify(type))
  }
  const call = client(app, `/shops/${shopId}`, boss)
  t.match(
    await call('POST', '/products', {
      name: 'Many, but in a text',
      description: '[{,"'.repeat(5000),
      metadata: { list: Array.from({ length: 5000 }, () => 0) }
    }),
    { status: 201 }
  )
})
