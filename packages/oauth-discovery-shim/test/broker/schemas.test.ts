import t from 'tap'
import Fastify from 'fastify'
import shim from '../../src/index.ts'
import { acceptor } from '../build.ts'
import { base, fakeIdp, grantOf, loopback, secrets, token } from './world.ts'

interface Described {
  readonly tags: readonly string[] | undefined
  readonly response: Readonly<Record<string, object>>
}

t.test('the host sees schemas that describe the answers of the broker', async t => {
  const idp = await fakeIdp(t)
  const app = Fastify()
  t.teardown(() => app.close())
  const config: object = { auth: 'public' }
  const described = new Map<string, Described>()
  const hidden: string[] = []
  app.addHook('onRoute', ({ method, url, schema, bodyLimit, config: own }) => {
    t.match(own, config, `${String(method)} ${url}`)
    if (method === 'OPTIONS') t.strictSame(structuredClone(schema), { hide: true, response: { 204: { type: 'null' } } }, url)
    // The documents and registration of the identity provider have a test of their own.
    if (method === 'HEAD' || method === 'OPTIONS' || !url.startsWith('/oauth/') || url.includes('.well-known') || url === '/oauth/register') return
    t.equal(bodyLimit, 65_536, url)
    const { operationId, tags, response } = schema as typeof schema & Described
    if (operationId === undefined) hidden.push(`${String(method)} ${url} ${String(schema?.hide)} ${Object.keys(response).join()}`)
    else described.set(operationId, { tags, response })
  })
  await app.register(shim, { publicBaseUrl: base, issuer: idp.issuer, clientId: 'broker-client', config, broker: { secrets } })
  await app.ready()

  t.strictSame([...described].map(([id, { tags, response }]) => [id, tags, Object.keys(response).join()]), [
    ['register_oauth_broker_client', ['oauth'], '201,400,413,429'],
    ['issue_oauth_tokens', ['oauth'], '200,400,401,413,429,502,503'],
    ['revoke_oauth_token', ['oauth'], '200,400,401,413,429,503'],
    ['start_oauth_sign_in', ['oauth'], '200,303,400,429,503'],
    ['decide_oauth_sign_in', ['oauth'], '200,303,400,413,429,503'],
    ['finish_oauth_sign_in', ['oauth'], '303,400,429,503']
  ])
  t.strictSame(hidden, [])

  const problem = (await app.inject({ method: 'POST', url: '/oauth/clients', payload: {} })).json()
  const registered = (await app.inject({ method: 'POST', url: '/oauth/clients', payload: { redirect_uris: [loopback] } })).json()
  const tokens = (await token({ app }, { ...await grantOf({ app, idp }, registered.client_id) })).json()
  const required = new Set(['client_id', 'redirect_uris', 'access_token', 'token_type'])
  const seen = new Set<object>()
  const wrongTypes = (value: unknown): readonly unknown[] => Array.isArray(value) ? [[{}], 'x'] : typeof value === 'number' ? ['x'] : [{}]
  for (const [id, { response }] of described) {
    for (const [status, schema] of Object.entries(response)) {
      // Most errors share one.
      if (seen.has(schema)) continue
      seen.add(schema)
      if (status === '303') t.match(schema, { description: 'The browser is sent on', type: 'null' })
      else if ('content' in schema) t.strictSame(schema, { description: 'A page', content: { 'text/html': { schema: { type: 'string' } } } }, `${id}: ${status}`)
      else if (id === 'revoke_oauth_token' && status === '200') t.strictSame(schema, { description: 'Revoked, or not valid', type: 'null' })
      else {
        const body = status === '201' ? registered : status === '200' ? tokens : problem
        const accepts = await acceptor(t, schema)
        t.equal('additionalProperties' in schema && schema.additionalProperties, Number(status) >= 400, `${id}: ${status}, open`)
        t.ok(await accepts(body), `${id}: ${status}`)
        t.ok(await accepts({ ...body, more: 1 }), `${id}: ${status}, with more`)
        t.notOk(await accepts([]), `${id}: ${status}, a list`)
        for (const [name, value] of Object.entries(body)) {
          for (const wrong of wrongTypes(value)) t.notOk(await accepts({ ...body, [name]: wrong }), `${id}: ${status}, ${name} of another type`)
          const { [name]: _, ...without } = body
          t.equal(await accepts(without), !required.has(name), `${id}: ${status}, without ${name}`)
        }
      }
    }
  }
})
