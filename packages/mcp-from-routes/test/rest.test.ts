import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import mcpFromRoutes, { type McpRouteConfig } from '../src/index.ts'
import { call, CLIENTS, connect, listen, SERVER_INFO } from './build.ts'

const PATH = { params: { '*': { name: 'path', description: 'Where the object is, such as photos/2026/kettle.jpg.' } } }

/** A storage server: objects by bucket and path, beside routes that no tool may reach. */
function storage (reached: unknown[], mcp: McpRouteConfig = {}): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/object/:bucket/*', {
      schema: {
        operationId: 'get_object',
        description: 'Read an object.',
        tags: ['mcp'],
        response: { 200: { type: 'object', properties: { bucket: { type: 'string' }, path: { type: 'string' } } } }
      },
      config: { mcp: { ...mcp, arguments: PATH } }
    }, async ({ params }) => {
      reached.push(params)
      const { bucket, '*': path } = params as { bucket: string, '*': string }
      return { bucket, path }
    })
    for (const url of ['/object/:bucket/info', '/object/:bucket/', '/object/secret', '/admin', '/*']) {
      app.get(url, async () => {
        reached.push(url)
        return {}
      })
    }
  }
}

t.test('the rest of a path is one argument, whose slashes stay slashes', async (t) => {
  const reached: unknown[] = []
  const { url } = await listen(t, storage(reached))
  for (const kind of CLIENTS) {
    const client = await connect(t, kind, url)
    const { tools } = await client.listTools()
    t.match(tools, [{
      name: 'get_object',
      inputSchema: {
        properties: {
          bucket: { type: 'string' },
          path: { type: 'string', description: /^Where the object is/, minLength: 1 }
        },
        required: ['bucket', 'path']
      }
    }])
    for (
      const path of [
        'a.txt',
        'photos/2026/kettle.jpg',
        'with space/ü 日本.txt',
        'a?b#c',
        '50%',
        '50%25.txt',
        '...',
        '.hidden/..x/y..',
        'a;b=c',
        'a&b',
        "it's (1)",
        'info/x',
        `${'long/'.repeat(100)}x`,
        '%E6%97%A5'
      ]
    ) {
      const result = await client.callTool({ name: 'get_object', arguments: { bucket: 'b', path } })
      t.match(result, { structuredContent: { bucket: 'b', path } }, path)
    }
  }
})

const refused = [
  '..',
  '.',
  '../x',
  'a/..',
  'a/../b',
  './a',
  'a/./b',
  '/a',
  'a/',
  '/',
  'a//b',
  '//host/x',
  '..\\x',
  'a\\b',
  '%2e%2e',
  '%2E./x',
  'a/%2e%2e/b',
  '%252e%252e/x',
  'a%2f..%2fb',
  'a%2f%2fb',
  'a%5c..%5cb',
  '%2fetc',
  'a\u0000b',
  'a%00b',
  'a\nb',
  '\ud800',
  '%25252525252e'
]
for (const [how, mcp] of [['light requests', {}], ['inject', { loopback: 'inject' }]] as const) {
  t.test(`no rest leads out of its route, by ${how}`, async (t) => {
    const reached: unknown[] = []
    const { url } = await listen(t, storage(reached, mcp))
    for (const path of refused) {
      const { isError, content } = await call(url, 'get_object', { bucket: 'b', path }) as {
        isError?: boolean,
        content: ReadonlyArray<{ text: string }>
      }
      t.equal(isError, true, JSON.stringify(path))
      t.match(content[0]?.text, /path (?:must be a relative path such as a\/b\.txt|is not valid Unicode)/)
    }
    t.match(await call(url, 'get_object', { bucket: 'b', path: '' }), { isError: true })
    t.match(await call(url, 'get_object', { bucket: 'b', path: ['a', 'b'] }), { isError: true })
    t.match(await call(url, 'get_object', { bucket: '..', path: 'admin' }), { isError: true })
    t.match(
      await call(url, 'get_object', { bucket: 'b', '*': 'x' }),
      { isError: true },
      'by the name of the argument only'
    )
    t.strictSame(reached, [])
    t.match(
      await call(url, 'get_object', { bucket: 'b', path: 'info' }),
      { isError: true },
      'another route has that path'
    )
    t.strictSame(reached, [])
  })
}

t.test('without a name for it, startup fails and shows one', async (t) => {
  const app = Fastify()
  t.teardown(async () => await app.close())
  await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
  app.get(
    '/files/*',
    { schema: { operationId: 'get_file', description: 'Read a file.', tags: ['mcp'] } },
    async () => 1
  )
  await t.rejects(async () => await app.ready(), {
    code: 'MCP_FROM_ROUTES_INVALID_ARGUMENT',
    message: /GET \/files\/\* .*config\.mcp\.arguments: \{"params":\{"\*":\{"name":"path"\}\}\}/
  })
})

t.test('a fixed rest is sent as it is', async (t) => {
  const { url } = await listen(t, (app) => {
    app.get('/files/*', {
      schema: { operationId: 'get_terms', description: 'Read the terms.', tags: ['mcp'] },
      config: { mcp: { arguments: { params: { '*': { value: 'legal/terms.txt' } } } } }
    }, async ({ params }) => params)
  })
  t.match(await call(url, 'get_terms'), { content: [{ text: '{"*":"legal/terms.txt"}' }] })
})
