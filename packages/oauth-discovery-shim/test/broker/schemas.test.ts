import t from 'tap'
import Fastify from 'fastify'
import oauthBroker from '../../src/broker/index.ts'
import { base, fakeIdp, secrets } from './world.ts'

interface Described {
  readonly tags: readonly string[] | undefined
  readonly response: Readonly<Record<string, object>>
}

t.test('the host sees schemas that describe the answers of the broker', async (t) => {
  const idp = await fakeIdp(t)
  const app = Fastify()
  t.teardown(() => app.close())
  const config: object = { auth: 'public' }
  const described = new Map<string, Described>()
  const hidden: string[] = []
  app.addHook('onRoute', ({ method, url, schema, bodyLimit, config: own }) => {
    t.match(own, config, `${String(method)} ${url}`)
    if (method === 'OPTIONS') {
      t.strictSame(structuredClone(schema), { hide: true, response: { 204: { type: 'null' } } }, url)
    }
    // The documents and registration of the identity provider have a test of their own.
    if (
      method === 'HEAD' || method === 'OPTIONS' || !url.startsWith('/oauth/') || url.includes('.well-known') ||
      url === '/oauth/register'
    ) return
    t.equal(bodyLimit, 65_536, url)
    const { operationId, tags, response } = schema as typeof schema & Described
    if (operationId === undefined) {
      hidden.push(`${String(method)} ${url} ${String(schema?.hide)} ${Object.keys(response).join()}`)
    } else described.set(operationId, { tags, response })
  })
  await app.register(oauthBroker, {
    publicBaseUrl: base,
    issuer: idp.issuer,
    clientId: 'broker-client',
    config,
    secrets
  })
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
})
