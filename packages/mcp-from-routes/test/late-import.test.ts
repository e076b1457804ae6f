import Fastify from 'fastify'
import t from 'tap'

const tagged = (operationId: string): { schema: Record<string, unknown> } => ({
  schema: { operationId, description: 'D.', tags: ['mcp'] }
})
const handler = async (): Promise<number> => 1
const SERVER_INFO = { name: 'test', version: '1.2.3' }

// Created before the plugin is loaded, which then cannot know of earlier routes.
const logged: string[] = []
const app = Fastify({
  logger: {
    level: 'info',
    stream: {
      write: (line: string) => {
        logged.push(JSON.parse(line).msg)
      }
    }
  }
})
const { default: mcpFromRoutes } = await import('../src/index.ts')

t.test('the log says that a plugin that was imported late knows no earlier routes', async (t) => {
  t.teardown(() => app.close())
  app.get('/x/:id', tagged('x'), handler)
  app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
  await app.ready()
  t.strictSame(logged, [
    'the MCP endpoint has no tools: no route registered after the plugin is tagged "mcp". Register ' +
    'the plugin before the routes, with await',
    'mcp-from-routes was imported after Fastify() ran: routes registered before the plugin are not tools, even ' +
    'if tagged'
  ])
})
