import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { mismatchOf } from '../src/call/mismatch.ts'
import { contractFromTools, diffContracts } from '../src/contract/index.ts'
import type { McpFromRoutesOptions, McpRouteConfig } from '../src/index.ts'
import { build, CLIENTS, connect, listen, post } from './build.ts'
import { runProgram } from './program.ts'

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {}
}
const query = (properties: object) => ({ querystring: { type: 'object', properties } })

function route (schema: object, mcp: McpRouteConfig = {}): (app: FastifyInstance) => void {
  return (app) => {
    app.post(
      '/x/:id',
      { schema: { operationId: 'x', description: 'X.', tags: ['mcp'], ...schema }, config: { mcp } },
      async ({ params }) => params
    )
  }
}

const id: McpRouteConfig = { arguments: { params: { id: { header: 'Item-Id' } } } }
const ajv = { ajv: { customOptions: { keywords: ['x-mcp-header'] } } }

t.test('the program of the documentation runs: official clients repeat the argument, and older ones do not', async (t) => {
  const line = await runProgram(t, 'headers')
  for (const which of CLIENTS) {
    const client = await connect(t, which, new URL(line.slice(line.indexOf('http'))))
    const [tool] = (await client.listTools()).tools
    t.strictSame((tool!.inputSchema as { properties: object }).properties, {
      shop_id: { type: 'string', minLength: 1, ...which !== '1.x' && { 'x-mcp-header': 'Shop-Id' } }
    }, which)
    for (const value of ['s1', ' é "\r\n', '=?base64?eA==?=', '10']) {
      t.match(await client.callTool({ name: 'list_products', arguments: { shop_id: value } }), {
        content: [{ text: JSON.stringify([{ shop_id: value }]) }]
      }, `${which} ${JSON.stringify(value)}`)
    }
  }
})

t.test('an argument that clients could not repeat stops the start', async (t) => {
  const mirrored = (type: unknown, name: unknown = 'A') => ({ type, 'x-mcp-header': name })
  const cases: ReadonlyArray<readonly [schema: object, message: RegExp, config?: unknown]> = [
    ...['number', 'array', 'object', ['string', 'null'], undefined].map((type) =>
      [
        { body: { type: 'object', properties: { a: mirrored(type) } } },
        /the header "A" of a must belong to a string, an integer or a boolean/
      ] as const
    ),
    ...['', 'a b', 'a:b', 'a\r\nb', 'é', 5].map((name) =>
      [
        { body: { type: 'object', properties: { a: mirrored('string', name) } } },
        /is not the name of a header/
      ] as const
    ),
    [
      { body: { type: 'object', properties: { a: mirrored('string', 'Same'), b: mirrored('integer', 'sAME') } } },
      /belongs to another argument too/
    ],
    [{ body: { type: 'object', properties: { a: { type: 'array', items: mirrored('string') } } } }, /is inside a list/],
    [
      { body: { type: 'object', properties: { a: { anyOf: [mirrored('string'), { type: 'integer' }] } } } },
      /is inside a list, an alternative/
    ],
    [
      { body: { type: 'object', properties: { a: { type: 'object', additionalProperties: mirrored('string') } } } },
      /is inside a list/
    ],
    [{}, /\.params\.id\.header must be the name of a header/, { arguments: { params: { id: { header: 'a b' } } } }],
    [{}, /\.headers\.x must have a name, with or without a description, or else a value/, {
      arguments: { headers: { x: { header: 'A' } } }
    }]
  ]
  for (const [schema, message, config] of cases) {
    const app = await build(t, route(schema, config as McpRouteConfig), {}, ajv)
    await t.rejects(async () => await app.ready(), { code: 'MCP_FROM_ROUTES_INVALID_CONFIG', message })
  }
})

t.test('a header that says something else than the call is refused', async (t) => {
  const mirrored = [{ header: 'mcp-param-a', path: ['a'] }, { header: 'mcp-param-b', path: ['in', 'b'] }]
  const base64 = (bytes: string | Buffer): string => `=?base64?${Buffer.from(bytes).toString('base64')}?=`
  const different = /have different values/
  const unreadable = /characters that no header may have, or is not base64/
  const unrepeatable = /cannot repeat the argument a, which must be a string, a number or a boolean/
  const cases: ReadonlyArray<
    readonly [args: Record<string, unknown>, header: string | undefined, message: RegExp | undefined, implied?: unknown]
  > = [
    [{ a: 'x' }, 'x', undefined],
    [{ a: 5 }, '5', undefined],
    [{ a: 5 }, '5.0', undefined],
    [{ a: true }, 'true', undefined],
    [{ a: 'é' }, base64('é'), undefined],
    [{ a: '\ufeffx' }, base64('\ufeffx'), undefined],
    [{ a: '' }, base64(''), undefined],
    [{ a: 'x' }, undefined, /mcp-param-a is missing, which repeats the argument a/],
    [{ a: 'x' }, 'y', different],
    [{ a: 'x' }, 'X', different],
    [{ a: 'x' }, 'x, y', different],
    [{ a: 5 }, '0x5', different],
    [{ a: true }, 'True', different],
    [{ a: '5' }, '5.0', different],
    [{ a: 'x' }, 'é', unreadable],
    [{ a: 'x' }, 'x\u0001', unreadable],
    [{ a: 'x' }, '=?base64?eA?=', unreadable],
    [{ a: 'x' }, '=?base64?e A=?=', unreadable],
    [{ a: 'x' }, base64(Buffer.from([0xff])), unreadable],
    [{ a: 'x' }, '=?BASE64?eA==?=', different],
    [{}, undefined, undefined],
    [{ a: null }, undefined, undefined],
    [{}, 'x', /has a value, and the argument a has none/],
    [{ a: null }, 'x', /has none/],
    [{}, undefined, undefined, 'mine'],
    [{}, 'mine', undefined, 'mine'],
    [{}, 'other', /has none/, 'mine'],
    [{ a: 'other' }, 'other', undefined, 'mine'],
    [{ a: 'mine' }, undefined, undefined, 'mine'],
    [{ a: 'other' }, undefined, undefined, 'mine'],
    [{ a: 'mine' }, 'other', different, 'mine'],
    // In a query string, a validator reads ['x'] as x.
    [{ a: ['x'] }, undefined, unrepeatable],
    [{ a: ['x'] }, 'x', unrepeatable],
    [{ a: {} }, 'x', unrepeatable],
    [JSON.parse('{"__proto__":{"a":"x"}}') as Record<string, unknown>, undefined, undefined]
  ]
  for (const [args, header, message, implied] of cases) {
    const said = mismatchOf(
      mirrored,
      args,
      { ...header !== undefined && { 'mcp-param-a': header } },
      () => implied === undefined ? {} : { a: implied }
    )
    if (message === undefined) t.equal(said, undefined, `${JSON.stringify(args)} ${header}`)
    else t.match(said, message, `${JSON.stringify(args)} ${header}`)
  }
  for (const value of [{ b: 1 }, '{"b":1}']) {
    t.match(
      mismatchOf(mirrored, { in: value }, {}, () => ({})),
      /mcp-param-b is missing, which repeats the argument in\.b/
    )
  }
})

t.test('the endpoint compares them, whichever way the message takes', async (t) => {
  const options: Partial<McpFromRoutesOptions> = {
    impliedArguments: { id: ({ headers }) => headers['x-shop'] as string | undefined }
  }
  const { url } = await listen(t, route({}, id), options)
  const send = async (name: string, args: object, headers: Record<string, string>, more: object = {}) =>
    await post(url, {
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: { name, arguments: args, _meta: MODERN, ...more }
    }, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name, ...headers })
  for (const more of [{}, { requestState: 'x', inputResponses: {} }]) {
    for (const headers of [{}, { 'mcp-param-item-id': '2' }] as const) {
      t.match(await send('x', { id: '1' }, headers as Record<string, string>, more), {
        status: 400,
        body: { id: 7, error: { code: -32020, message: /mcp-param-item-id/ } }
      }, JSON.stringify(more))
    }
  }
  t.match(await send('x', { id: '1' }, { 'mcp-param-item-id': '1' }), {
    status: 200,
    body: { result: { content: [{ text: '{"id":"1"}' }] } }
  })
  t.match(await send('x', {}, { 'x-shop': '9' }), {
    status: 200,
    body: { result: { content: [{ text: '{"id":"9"}' }] } }
  }, 'a caller whose credential implies it is not asked for the header')
  t.match(await send('x', { id: '9' }, { 'x-shop': '9' }), {
    status: 200,
    body: { result: { content: [{ text: '{"id":"9"}' }] } }
  }, 'nor does it find the header in its list')
  const listed = async (headers: Record<string, string>) =>
    (await post(url, { jsonrpc: '2.0', id: 7, method: 'tools/list', params: { _meta: MODERN } }, {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/list',
      ...headers
    })).body as { result: { tools: Array<{ inputSchema: { properties: { id: object } } }> } }
  t.strictSame((await listed({})).result.tools[0]!.inputSchema.properties.id, {
    type: 'string',
    minLength: 1,
    'x-mcp-header': 'Item-Id'
  })
  t.strictSame((await listed({ 'x-shop': '9' })).result.tools[0]!.inputSchema.properties.id, {
    type: 'string',
    minLength: 1
  })
  t.match(await send('x', {}, { 'x-shop': '9', 'mcp-param-item-id': '8' }), {
    status: 400,
    body: { error: { code: -32020 } }
  }, 'nor may it claim another')
  const older = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'x', arguments: { id: '1' } } }
  for (const message of [older, [older]]) {
    t.equal((await post(url, message)).status, 200, 'older clients know no such headers')
    t.match(
      await post(url, message, { 'mcp-param-item-id': '2' }),
      { status: 400, body: { error: { code: -32020 } } },
      'but none says something else than the call does'
    )
  }
})

t.test('a header written in the schema counts as well, at any depth, and the contract tells when one changes', async (t) => {
  const tools = await Promise.all([{}, { 'x-mcp-header': 'Region' }].map(async (keyword) => {
    const app = await build(
      t,
      route({
        body: {
          type: 'object',
          properties: { to: { type: 'object', properties: { region: { type: 'string', ...keyword } } } }
        },
        ...query({ n: { type: 'integer' } })
      }),
      {},
      ajv
    )
    await app.ready()
    return app.mcpTools
  })) as [FastifyInstance['mcpTools'], FastifyInstance['mcpTools']]
  t.match(tools[1], [{ inputSchema: { properties: { to: { properties: { region: { 'x-mcp-header': 'Region' } } } } } }])
  t.match(diffContracts(contractFromTools(tools[0]), contractFromTools(tools[1])).findings, [{
    bump: 'minor',
    path: 'input.to.region',
    change: 'header none → "Region"'
  }])
})
