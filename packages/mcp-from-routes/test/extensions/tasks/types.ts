// Nothing here runs: it is compiled, and that it compiles is the test.
import Fastify from 'fastify'
import { tasks } from '../../../src/extensions/tasks/index.ts'
import mcpFromRoutes from '../../../src/index.ts'

const app = Fastify()
const serverInfo = { name: 'x', version: '1' }
app.register(mcpFromRoutes, { serverInfo, extensions: [tasks()] })
app.post(
  '/y',
  { config: { mcp: { task: { status: 'GET /y/:id', words: { uploading: 'working' } } } } },
  async () => 'y'
)
// @ts-expect-error a task has a route for its status
app.post('/z', { config: { mcp: { task: { result: 'GET /y/:id' } } } }, async () => 'z')
// @ts-expect-error a factory is no extension
app.register(mcpFromRoutes, { serverInfo, extensions: [tasks] })
