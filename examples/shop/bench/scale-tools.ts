// Servers with so many tools, and nothing else: says how long one took to start, what it holds, where they are, and
// when asked what they have used.
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import { Product, ProductChanges } from '../src/catalog/product-schemas.ts'
import { Uuid } from '../src/http/schemas.ts'

/** What a server with so many tools took to start, and where it is. */
export interface ToolServer {
  /** From the first route until it could listen, in milliseconds of the processor. */
  readonly start: number
  /** On the heap, for the routes, their validators and the tools, in bytes. */
  readonly heap: number
  /** Whose clients all see the same tools, and one that checks for each client which it sees. */
  readonly open: string
  readonly checking: string
}

const count = Number(process.argv[2])
const held = (): number => {
  globalThis.gc!()
  return process.memoryUsage().heapUsed
}

async function server (options: Partial<Parameters<typeof mcpFromRoutes>[1]> = {}) {
  const app = Fastify()
  await app.register(mcpFromRoutes, { path: '/mcp', serverInfo: { name: 'tools', version: '1.0.0' }, ...options })
  const params = Type.Object({ product_id: Uuid() })
  for (let n = 0; n < count; n++) {
    app.patch(`/of-${n}/:product_id`, {
      schema: {
        operationId: `update_product_${n}`,
        summary: `Update a product ${n}`,
        tags: ['mcp'],
        params,
        body: ProductChanges,
        response: { 200: Product }
      }
    }, async () => ({}))
  }
  await app.ready()
  return app
}

const empty = held()
const before = process.cpuUsage()
const app = await server()
const { user, system } = process.cpuUsage(before)
const heap = held() - empty
const listening = { host: '127.0.0.1', port: 0 }
const checking = await server({ canUse: async () => true })
process.on('message', () => {
  process.send!(process.cpuUsage())
})
process.send!(
  {
    start: (user + system) / 1000,
    heap,
    open: await app.listen(listening),
    checking: await checking.listen(listening)
  } satisfies ToolServer
)
process.on('disconnect', () => {
  process.exit()
})
