import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import shim from '../src/index.ts'
import { options, provider } from './build.ts'

const requests = [
  ['GET', '/.well-known/oauth-protected-resource'],
  ['GET', '/.well-known/oauth-protected-resource/mcp'],
  ['GET', '/.well-known/oauth-authorization-server'],
  ['GET', '/.well-known/openid-configuration'],
  ['GET', '/oauth/.well-known/openid-configuration'],
  ['HEAD', '/.well-known/oauth-authorization-server'],
  ['OPTIONS', '/.well-known/oauth-authorization-server'],
  ['POST', '/oauth/register'],
  ['OPTIONS', '/oauth/register']
] as const

/** Compiles schemas of another language, and fails with those of this package as such a compiler does. */
const notMine = () => {
  throw new RangeError('not my kind of schema')
}
const notMineAtAnswer = () => notMine
/** As a plugin of the host's adds parameters to the description of every route. */
const describeMore = (app: FastifyInstance) =>
  app.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, headers: { type: 'object', properties: { 'x-trace': { type: 'string' } } } }
  })

for (
  const [what, shimOptions] of [
    ['a provider that answers', {}],
    ['a provider that is down', { issuer: 'http://127.0.0.1:9', clientId: '' }]
  ] as const
) {
  t.test(`the host's compilers change no answer: ${what}`, async (t) => {
    const { issuer } = await provider(t)

    async function answers (prepare: (app: FastifyInstance) => unknown) {
      const app = Fastify()
      t.teardown(() => app.close())
      prepare(app)
      await app.register(shim, { ...options(issuer), ...shimOptions })
      return Promise.all(requests.map(async ([method, url]) => {
        const { statusCode, headers, body } = await app.inject({ method, url })
        return { method, url, statusCode, type: headers['content-type'], body }
      }))
    }

    const plain = await answers(() => {})
    for (const { method, url, statusCode, body } of plain) {
      t.ok(statusCode < 300 || statusCode === 503, `${method} ${url}`)
      if (statusCode === 503 && method !== 'HEAD') {
        t.match(
          JSON.parse(body),
          { statusCode: 503, code: /^OAUTH_DISCOVERY_SHIM_/, error: String, message: String },
          `${method} ${url}`
        )
      }
    }
    for (
      const [host, prepare] of [
        ['schemas of another language', (app) => app.setValidatorCompiler(notMine).setSerializerCompiler(notMine)],
        ['answers of another language', (app) => app.setSerializerCompiler(notMineAtAnswer)],
        [
          'schemas of another language, and one for every route',
          (app) => describeMore(app.setValidatorCompiler(notMine))
        ]
      ] as const satisfies ReadonlyArray<readonly [string, (app: FastifyInstance) => unknown]>
    ) {
      t.strictSame(await answers(prepare), plain, host)
    }
  })
}

t.test("the host's own routes are compiled by the host's compilers", async (t) => {
  const { issuer } = await provider(t)
  const app = Fastify()
  t.teardown(() => app.close())
  app.setValidatorCompiler(() => () => ({ error: new Error('the host refuses') }))
  app.setSerializerCompiler(() => () => '"the host answers"')
  await app.register(shim, options(issuer))
  app.get('/checked', { schema: { querystring: {} } }, async () => 'x')
  app.get('/answered', { schema: { response: { 200: { type: 'object' } } } }, async () => ({ x: 1 }))

  t.equal((await app.inject('/checked')).statusCode, 400)
  t.equal((await app.inject('/answered')).body, '"the host answers"')
})

t.test('a host with a parser for every body keeps it, and registration works', async (t) => {
  const { issuer } = await provider(t)
  const app = Fastify()
  t.teardown(() => app.close())
  app.addContentTypeParser('*', { parseAs: 'string' }, async () => 'parsed by the host')
  await app.register(shim, options(issuer))
  app.post('/echo', async ({ body }) => body)

  t.equal((await app.inject({ method: 'POST', url: '/oauth/register', payload: { client_name: 'x' } })).statusCode, 201)
  t.equal(
    (await app.inject({ method: 'POST', url: '/echo', headers: { 'content-type': 'text/xml' }, payload: 'x' })).body,
    'parsed by the host'
  )
})

t.test('the host sees schemas that describe the answers', async (t) => {
  const { issuer } = await provider(t)
  const app = Fastify()
  t.teardown(() => app.close())
  const described: Record<string, { readonly tags: readonly string[] | undefined, readonly statuses: string[] }> = {}
  app.addHook('onRoute', ({ method, url, schema }) => {
    if (method === 'HEAD' || method === 'OPTIONS') return
    const response = schema?.response as Record<string, object>
    if (schema?.operationId !== undefined) {
      described[schema.operationId] = { tags: schema.tags, statuses: Object.keys(response) }
    } else {
      t.match(
        schema,
        { hide: true, response: { 200: Object } },
        `${url}: another address of a document is hidden from descriptions`
      )
    }
  })
  await app.register(shim, { ...options(issuer), resourceName: 'Example shop' })

  const tags = ['oauth discovery']
  t.strictSame(described, {
    get_protected_resource_metadata: { tags, statuses: ['200'] },
    get_authorization_server_metadata: { tags, statuses: ['200', '503'] },
    register_oauth_client: { tags, statuses: ['201', '413', '503'] }
  })
})
