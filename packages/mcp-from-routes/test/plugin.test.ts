import Fastify from 'fastify'
import t from 'tap'
import mcpFromRoutes from '../src/index.ts'
import { build, SERVER_INFO } from './build.ts'

const tagged = (operationId: string, more: Record<string, unknown> = {}): { schema: Record<string, unknown> } => ({ schema: { operationId, description: 'D.', tags: ['mcp'], ...more } })

t.test('app.mcpTools is the frozen, sorted list of tools once the app is ready', async (t) => {
  const app = await build(t, async (app) => {
    app.get('/b', tagged('b_tool'), async () => 'b')
    await app.register(async (scope) => { scope.get('/', tagged('a_tool'), async () => 'a') }, { prefix: '/inner' })
    app.get('/c', { schema: { operationId: 'c_tool', description: 'Untagged.', tags: ['other'] } }, async () => 'c')
    app.options('/d', tagged('d_tool'), async () => 'd')
  })
  t.strictSame(app.mcpTools, [])
  await app.ready()
  t.strictSame(app.mcpTools.map(({ name, route: { method, url } }) => [name, method, url]), [['a_tool', 'GET', '/inner'], ['b_tool', 'GET', '/b']])
  t.ok(Object.isFrozen(app.mcpTools))
  t.throws(() => Reflect.apply(Array.prototype.push, app.mcpTools, [1]))
})

t.test('nothing else in the host changes', async (t) => {
  const without = Fastify()
  const app = await build(t, (app) => { app.get('/x', tagged('x'), async () => ({ x: 1 })) })
  without.get('/x', tagged('x'), async () => ({ x: 1 }))
  t.teardown(() => without.close())
  const [a, b] = [await app.inject('/x'), await without.inject('/x')]
  t.strictSame([a.statusCode, { ...a.headers, date: '' }, a.body], [b.statusCode, { ...b.headers, date: '' }, b.body])
  t.equal((await app.inject('/nothing')).statusCode, 404)
})

t.test('shared schemas of the scope of the route are seen, even when they are added after it', async (t) => {
  const app = await build(t, async (app) => {
    await app.register(async (scope) => {
      scope.get('/one', tagged('one', { querystring: { type: 'object', properties: { a: { $ref: 'A#' } } } }), async () => 1)
      scope.addSchema({ $id: 'A', type: 'string', maxLength: 1 })
    })
    await app.register(async (scope) => {
      scope.addSchema({ $id: 'A', type: 'integer' })
      scope.get('/two', tagged('two', { querystring: { type: 'object', properties: { a: { $ref: 'A#' } } } }), async () => 1)
    })
  })
  await app.ready()
  t.strictSame(app.mcpTools.map((tool) => Object(tool.inputSchema.properties).a), [{ type: 'string', maxLength: 1 }, { type: 'integer' }])
})

t.test('two apps in one process do not meet', async (t) => {
  const [a, b] = [await build(t, (app) => { app.get('/a', tagged('a'), async () => 'a') }), await build(t, (app) => { app.get('/b', tagged('b'), async () => 'b') })]
  await Promise.all([a.ready(), b.ready()])
  t.strictSame([a.mcpTools.map(({ name }) => name), b.mcpTools.map(({ name }) => name)], [['a'], ['b']])
})

t.test('registered under a prefix, the endpoint and the tools are those of that scope', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.get('/outside', tagged('outside'), async () => 'outside')
  app.register(async (scope) => {
    await scope.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
    scope.get('/inside', tagged('inside'), async () => 'inside')
    scope.addHook('onReady', async () => { t.strictSame(scope.mcpTools.map(({ name }) => name), ['inside']) })
  }, { prefix: '/v1' })
  await app.ready()
  t.equal((await app.inject({ method: 'GET', url: '/v1/mcp' })).statusCode, 405)
  t.equal((await app.inject({ method: 'GET', url: '/mcp' })).statusCode, 404)
})

t.test('boot fails when a tagged route has no operationId', async (t) => {
  const app = await build(t, (app) => { app.get('/x', { schema: { tags: ['mcp'] } }, async () => 1) })
  await t.rejects(async () => { await app.ready() }, { code: 'MCP_FROM_ROUTES_NO_OPERATION_ID', message: 'GET /x is tagged mcp but has no operationId. Add schema.operationId: it is the tool name' })
})

t.test('boot fails when two routes have one name', async (t) => {
  const app = await build(t, (app) => {
    app.get('/x', tagged('same'), async () => 1)
    app.post('/y', tagged('same'), async () => 1)
  })
  await t.rejects(async () => { await app.ready() }, { code: 'MCP_FROM_ROUTES_DUPLICATE_NAME', message: 'GET /x and POST /y both have the operationId same. Give each tagged route its own' })
})

t.test('boot fails when there is no tagged route after the plugin, and routes before it', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.get('/x/:id', tagged('x'), async () => 1)
  app.post('/y', tagged('y'), async () => 1)
  app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
  await t.rejects(async () => { await app.ready() }, { code: 'MCP_FROM_ROUTES_REGISTERED_LATE', message: /these routes were registered before mcp-from-routes: GET \/x\/:id, POST \/y\. Register/ })
})

t.test('the log tells the routes that were registered before the plugin, by their whole paths', async (t) => {
  const logged: unknown[] = []
  const app = Fastify({ logger: { level: 'info', stream: { write: (line: string) => { logged.push(JSON.parse(line).routes) } } } })
  t.teardown(() => app.close())
  const handler = async (): Promise<number> => 1
  app.options('*', handler)
  app.get('/health', handler)
  app.register(async (scope) => { scope.get('/users/:id/notes', handler).get('/users/:id', handler).post('/users/:user/keys/*', handler).get('/tags/:tag/a', handler).get('/tags/:name/b', handler) }, { prefix: '/v1' })
  await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
  app.get('/x', tagged('x'), handler)
  await app.ready()
  t.strictSame(logged, [['GET /health', 'GET /v1/users/:id', 'GET /v1/users/:id/notes', 'GET /v1/tags/:tag|:name/a', 'GET /v1/tags/:tag|:name/b', 'POST /v1/users/:user/keys/*']])
})

t.test('routes outside the scope of the plugin are none that it misses', async (t) => {
  const app = Fastify({ logger: { level: 'info', stream: { write: (line: string) => t.fail(line) } } })
  t.teardown(() => app.close())
  app.get('/v10', async () => 1)
  app.register(async (scope) => { await scope.register(mcpFromRoutes, { serverInfo: SERVER_INFO }) }, { prefix: '/v1' })
  await app.ready()
})

for (const [option, value, rule] of [
  ['serverInfo', { name: 'x' }, 'must have a name and a version'],
  ['serverInfo', undefined, 'must have a name and a version'],
  ['instructions', '', 'must be a text or a function'],
  ['path', 'mcp', 'must start with a slash and have no parameters'],
  ['path', '/:x', 'must start with a slash and have no parameters'],
  ['exposedTag', '', 'must be a text'],
  ['largeTag', 'mcp', 'must be a text other than exposedTag'],
  ['onRequest', 'authenticate', 'must be a function or an array of functions'],
  ['forwardHeaders', ['Cookie'], 'must not contain cookie'],
  ['forwardHeaders', ['content-type'], 'must not contain content-type'],
  ['forwardHeaders', ['Accept-Version'], 'must not contain accept-version'],
  ['forwardHeaders', ['if-none-match'], 'must not contain if-none-match'],
  ['forwardHeaders', ['a b'], 'must not contain a b'],
  ['forwardHeaders', 'authorization', 'must be an array of header names'],
  ['resultHeaders', ['Set-Cookie'], 'must not contain set-cookie'],
  ['allowedOrigins', ['https://a.example.com/'], 'must be an array of origins like https://app.example.com, without a path'],
  ['allowedOrigins', ['chrome-extension://abc/x'], 'must be an array of origins like https://app.example.com, without a path'],
  ['allowedOrigins', ['chrome-extension://*'], 'must be an array of origins like https://app.example.com, without a path'],
  ['allowedOrigins', ['chrome-extension://abc?x'], 'must be an array of origins like https://app.example.com, without a path'],
  ['allowedOrigins', ['null'], 'must be an array of origins like https://app.example.com, without a path'],
  ['trustSerializer', 'yes', 'must be true or false'],
  ['maxResultBytes', 0, 'must be a positive integer'],
  ['serverInfo', { ...SERVER_INFO, title: 5 }, 'must have a title that is a text, or none'],
  ['cacheScope', 'shared', 'must be private or public'],
  ['allowedOrigin', ['https://a.example.com'], 'is not known']
] as const) {
  t.test(`boot fails on ${option}: ${JSON.stringify(value)}`, async (t) => {
    const app = Fastify()
    t.teardown(() => app.close())
    app.register(mcpFromRoutes, { serverInfo: SERVER_INFO, [option]: value } as never)
    await t.rejects(async () => { await app.ready() }, { code: 'MCP_FROM_ROUTES_BAD_OPTION', message: `Option ${option} ${rule}` })
  })
}

for (const [title, options, rule] of [
  ['canUse', { canUse: () => true }, 'must not be public with canUse: a cache would show one client the tools of another'],
  ['instructions for each client', { instructions: () => 'x' }, 'must not be public with instructions that are a function: a cache would tell one client what is for another']
] as const) {
  t.test(`boot fails on a public cacheScope with ${title}`, async (t) => {
    const app = await build(t, () => {}, { cacheScope: 'public', ...options }).catch((error: unknown) => error)
    t.match(app, { code: 'MCP_FROM_ROUTES_BAD_OPTION', message: `Option cacheScope ${rule}` })
  })
}

t.test('what register itself takes is no option of the plugin', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.register(mcpFromRoutes, { serverInfo: SERVER_INFO, prefix: '/x', logLevel: 'warn', logSerializers: {} })
  await app.ready()
  t.pass('boots')
})
