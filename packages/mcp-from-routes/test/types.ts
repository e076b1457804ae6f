// Nothing here runs: it is compiled, and that it compiles is the test.
import Fastify, { type FastifyPluginAsync, type FastifyRequest } from 'fastify'
import mcpFromRoutes, {
  MCP_FROM_ROUTES_INVALID_OPTION,
  PARENT_REQUEST,
  type JsonSchema,
  type McpFromRoutesOptions,
  type McpRouteConfig,
  type McpTool,
  type ToolCallEvent
} from '../src/index.ts'

type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
function holds<T extends true> (): T | undefined {
  return undefined
}

const app = Fastify()
const plugin: FastifyPluginAsync<McpFromRoutesOptions> = mcpFromRoutes
app.register(plugin, { serverInfo: { name: 'x', version: '1' } })
app.register(mcpFromRoutes, {
  serverInfo: { name: 'x', version: '1', title: 'X' },
  onRequest: async (request) => {
    holds<Equals<typeof request.id, string>>()
  },
  canUse: ({ route }, request) => {
    holds<Equals<typeof request, FastifyRequest>>()
    return route.method === 'GET'
  },
  onToolCall: ({ duration, error, statusCode }) => {
    holds<Equals<typeof duration, number>>()
    holds<Equals<typeof error, string | undefined>>()
    holds<Equals<typeof statusCode, number | undefined>>()
  }
})
app.register(mcpFromRoutes, { serverInfo: { name: 'x', version: '1' }, onToolCall: async () => {} })
app.register(mcpFromRoutes, {
  serverInfo: { name: 'x', version: '1' },
  canUse: ({ route }) => route.schema.operationId === 'x' || 'unlisted',
  impliedArguments: {
    id: (request, { route }) => {
      holds<Equals<typeof request, FastifyRequest>>()
      return route.method === 'GET' ? 1 : undefined
    }
  }
})
// @ts-expect-error no such answer
app.register(mcpFromRoutes, { serverInfo: { name: 'x', version: '1' }, canUse: () => 'hidden' })
// @ts-expect-error it must be known when the call comes
app.register(mcpFromRoutes, { serverInfo: { name: 'x', version: '1' }, impliedArguments: { id: async () => 'x' } })
// @ts-expect-error serverInfo is required
app.register(mcpFromRoutes, {})
// @ts-expect-error a version is required
app.register(mcpFromRoutes, { serverInfo: { name: 'x' } })
// @ts-expect-error not an option
app.register(mcpFromRoutes, { serverInfo: { name: 'x', version: '1' }, enabled: true })

holds<Equals<typeof app.mcpTools, readonly McpTool[]>>()
holds<Equals<McpTool['inputSchema'], JsonSchema>>()
holds<Equals<ToolCallEvent['tool'], McpTool>>()
// @ts-expect-error the list cannot be changed
app.mcpTools.push()
// @ts-expect-error nor replaced
app.mcpTools = []

app.get('/x', {
  schema: {
    operationId: 'x',
    description: 'X.',
    tags: ['mcp'] as const,
    summary: 'x',
    hide: false,
    consumes: ['application/json']
  },
  config: { mcp: { title: 'X', annotations: { readOnlyHint: true }, loopback: 'inject' } }
}, async ({ raw, routeOptions }) => {
  const config: McpRouteConfig | undefined = routeOptions.config.mcp
  const parent = raw[PARENT_REQUEST]
  holds<Equals<typeof parent, FastifyRequest | undefined>>()
  return [config, parent?.id]
})
Fastify({ http2: true }).addHook('onRequest', async ({ raw, log }) => {
  const parent = raw[PARENT_REQUEST]
  holds<Equals<typeof parent, FastifyRequest | undefined>>()
  log.info(parent?.id)
})
// @ts-expect-error no extension has it
app.register(mcpFromRoutes, { serverInfo: { name: 'x', version: '1' }, extensions: [() => {}] })
// @ts-expect-error who calls is a string
app.register(mcpFromRoutes, { serverInfo: { name: 'x', version: '1' }, caller: () => 7 })
// @ts-expect-error not a hint
export const config: McpRouteConfig = { annotations: { safe: true } }

export const thrown: Error = new MCP_FROM_ROUTES_INVALID_OPTION('path', 'must start with a slash')
