import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { sets } from '../../../src/extensions/sets/index.ts'
import { build, CLIENTS, connect, listen, post } from '../../build.ts'
import { runProgram } from '../../program.ts'

async function shop (app: FastifyInstance): Promise<void> {
  for (
    const [operationId, tag] of [['list_orders', 'orders'], ['list_products', 'products'], [
      'list_tags',
      'tags'
    ]] as const
  ) {
    app.get(
      `/${operationId}`,
      { schema: { operationId, description: 'D.', tags: ['mcp', tag] } },
      async () => ({ operationId })
    )
  }
}
const SETS = {
  catalog: { path: '/mcp/catalog/', tags: ['products', 'tags'] },
  orders: { path: '/orders-mcp', tags: ['orders'] }
}

t.test('a set serves its tools at its path, and no other', async (t) => {
  const { app, url } = await listen(t, shop, { extensions: [sets(SETS)] })
  for (
    const [path, names] of [
      ['/mcp', ['list_orders', 'list_products', 'list_tags']],
      ['/mcp/catalog', ['list_products', 'list_tags']],
      ['/mcp/catalog/', ['list_products', 'list_tags']],
      ['/orders-mcp', ['list_orders']]
    ] as const
  ) {
    for (const which of CLIENTS) {
      const client = await connect(t, which, new URL(path, url))
      t.strictSame((await client.listTools()).tools.map(({ name }) => name), names, `${which} at ${path}`)
      for (const name of ['list_orders', 'list_products', 'list_tags'] as const) {
        if ((names as readonly string[]).includes(name)) {
          t.match(await client.callTool({ name }), { structuredContent: { operationId: name } })
        } else await t.rejects(client.callTool({ name }), { code: -32602 }, `${name} is unknown at ${path}`)
      }
    }
  }
  t.equal(app.mcpTools.length, 3)
  t.equal((await fetch(new URL('/mcp/catalog', url))).status, 405)
  t.equal((await post(new URL('/mcp/catalog', url), {}, { origin: 'https://evil.example' })).status, 403)
})

t.test('the program in the docs serves a set', async (t) => {
  const line = await runProgram(t, 'sets')
  t.match(line, /^3 tools at http:\S+\/mcp, and 2 of them at http:\S+\/mcp\/catalog$/)
  const client = await connect(t, '2.x auto', new URL(line.slice(line.lastIndexOf('http'))))
  t.strictSame((await client.listTools()).tools.map(({ name }) => name), ['list_products', 'list_tags'])
})

t.test('a set has the authentication and the rules of the endpoint', async (t) => {
  const { url } = await listen(t, shop, {
    extensions: [sets(SETS)],
    onRequest: async (request, reply) => request.headers['x-api-key'] === 'a' ? undefined : reply.code(401).send({}),
    canUse: (tool) => tool.name !== 'list_tags'
  })
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  t.equal((await post(new URL('/mcp/catalog', url), message)).status, 401)
  const { body } = await post(new URL('/mcp/catalog', url), message, { 'x-api-key': 'a' })
  t.strictSame((body as { result: { tools: Array<{ name: string }> } }).result.tools.map(({ name }) => name), [
    'list_products'
  ])
})

for (
  const [title, wrong, says] of [
    [
      'the path of the endpoint',
      { a: { path: '/mcp/', tags: ['tags'] } },
      'mcp-from-routes: sets.a.path is already used by the option path: /mcp/'
    ],
    [
      'the path of another',
      { a: { path: '/a', tags: ['tags'] }, b: { path: '/a/', tags: ['orders'] } },
      'mcp-from-routes: sets.b.path is already used by sets.a: /a/'
    ],
    [
      'a path with parameters',
      { a: { path: '/:a', tags: ['tags'] } },
      "mcp-from-routes: sets.a.path must start with a slash and have no parameters (got '/:a')"
    ],
    [
      'no tags',
      { a: { path: '/a', tags: [] } },
      'mcp-from-routes: sets.a.tags must be a non-empty array of tags (got [])'
    ],
    [
      'an unknown key',
      { a: { path: '/a', tags: ['tags'], tools: [] } },
      'mcp-from-routes: sets.a.tools is not an option. Known: path, tags'
    ],
    [
      'a tag that no tool has',
      { a: { path: '/a', tags: ['tags', 'people'] } },
      'mcp-from-routes: sets.a.tags has "people", a tag that no tool has'
    ]
  ] as Array<[string, Parameters<typeof sets>[0], string]>
) {
  t.test(`a set with ${title} fails at startup`, async (t) => {
    await t.rejects(build(t, shop, { extensions: [sets(wrong)] }).then((app) => app.ready()), {
      code: 'MCP_FROM_ROUTES_INVALID_OPTION',
      message: says
    })
  })
}

t.test('what is no set, or has no tags, fails at startup', async (t) => {
  for (const wrong of [[], { a: 5 }, { a: { path: '/a', tags: 'mcp' } }, { a: { path: '/a', tags: [''] } }]) {
    await t.rejects(build(t, shop, { extensions: [sets(wrong as never)] }), { message: /mcp-from-routes: sets/ })
  }
})

t.test('a set at the path of a route fails at startup, too', async (t) => {
  await t.rejects(
    build(t, (app) => {
      app.post('/a', async () => ({}))
    }, { extensions: [sets({ a: { path: '/a', tags: ['tags'] } })] }),
    { code: 'FST_ERR_DUPLICATED_ROUTE', message: /\/a/ }
  )
})

t.test('a hook that tags and names every route publishes no endpoint', async (t) => {
  const app = await build(
    t,
    (app) => {
      app.get('/a', async () => 1)
    },
    { extensions: [sets({ some: { path: '/mcp/some', tags: ['mcp'] } })] },
    {},
    (app) => {
      app.addHook('onRoute', (route) => {
        route.schema = {
          ...route.schema,
          tags: ['mcp'],
          operationId: `${[route.method].flat().join('_')}${route.url.replaceAll('/', '_')}`,
          description: 'D.'
        }
      })
    }
  )
  await app.ready()
  t.strictSame(app.mcpTools.map(({ name }) => name), ['GET_a'])
})
