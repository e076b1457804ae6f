import Fastify from 'fastify'
import t from 'tap'

const tagged = (operationId: string): { schema: Record<string, unknown> } => ({ schema: { operationId, description: 'D.', tags: ['mcp'] } })
const handler = async (): Promise<number> => 1
const SERVER_INFO = { name: 'test', version: '1.2.3' }

// Both are created before the plugin is loaded, which then knows nothing of the tags of their routes.
const logged: unknown[] = []
const mixed = Fastify({ logger: { level: 'info', stream: { write: (line: string) => { logged.push(JSON.parse(line).routes) } } } })
const early = Fastify()
const { default: mcpFromRoutes } = await import('../src/index.ts')

t.test('the log tells the routes that were registered before a plugin that was loaded late', async (t) => {
  t.teardown(() => mixed.close())
  mixed.options('*', handler)
  mixed.get('/health', handler)
  mixed.register(async (scope) => { scope.get('/users/:id/notes', handler).get('/users/:id', handler).post('/users/:user/keys/*', handler).get('/tags/:tag/a', handler).get('/tags/:name/b', handler) }, { prefix: '/v1' })
  await mixed.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
  mixed.get('/x', tagged('x'), handler)
  await mixed.ready()
  t.strictSame(logged, [['GET /health', 'GET /v1/users/:id', 'GET /v1/users/:id/notes', 'GET /v1/tags/:tag|:name/a', 'GET /v1/tags/:tag|:name/b', 'POST /v1/users/:user/keys/*']])
})

t.test('and startup fails if no tagged route came after it', async (t) => {
  t.teardown(() => early.close())
  early.get('/x/:id', tagged('x'), handler)
  early.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
  await t.rejects(async () => { await early.ready() }, { code: 'MCP_FROM_ROUTES_REGISTERED_LATE', message: /cannot be tools: GET \/x\/:id\. Register it first/ })
})
