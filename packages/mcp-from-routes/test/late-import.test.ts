import Fastify from 'fastify'
import t from 'tap'

const tagged = (operationId: string): { schema: Record<string, unknown> } => ({
  schema: { operationId, description: 'D.', tags: ['mcp'] }
})
const handler = async (): Promise<number> => 1
const SERVER_INFO = { name: 'test', version: '1.2.3' }

// Created before the plugin is loaded, which then cannot know of earlier routes.
const logged: string[] = []
const created = (lines: string[]) =>
  Fastify({
    logger: {
      level: 'info',
      stream: {
        write: (line: string) => {
          lines.push(JSON.parse(line).msg)
        }
      }
    }
  })
const app = created(logged)
const quiet: string[] = []
const empty = created(quiet)
const { default: mcpFromRoutes } = await import('../src/index.ts')

t.test('no such line where there were no routes before the plugin, as in apps of fastify-cli', async (t) => {
  t.teardown(() => empty.close())
  await empty.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
  empty.get('/y', tagged('y'), handler)
  await empty.ready()
  t.strictSame([quiet, empty.mcpTools.map(({ name }) => name)], [[], ['y']])
})

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
