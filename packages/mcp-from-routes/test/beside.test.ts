import { maxHeaderSize } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import t from 'tap'
import type { McpRouteConfig } from '../src/index.ts'
import { build, call, CLIENTS, connect, listen, post, type Teardown } from './build.ts'

/* What stands in the structure of a result beside the route's own JSON: some clients show their models nothing else. */

const LINK = '<?after=7>; rel="next"'
const HEADERS = { link: LINK }
const closed = { type: 'object', properties: { id: { type: 'integer' } }, additionalProperties: false }
const open = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }

interface Case {
  readonly title: string
  /** By status; default is none. */
  readonly response?: Readonly<Record<string, object>>
  readonly mcp?: McpRouteConfig
  readonly sends: unknown
  /** The structure, as JSON. */
  readonly gives: string
  /** Whether the published schema names them. Default is false. */
  readonly isNamed?: true
}

const beside = `"headers":${JSON.stringify(HEADERS)}`
const cases: readonly Case[] = [
  { title: 'among the fields of a record', response: { 200: open }, sends: { id: 1 }, gives: `{"id":1,${beside}}` },
  {
    title: 'of a closed record, whose schema then names them',
    response: { 200: closed },
    sends: { id: 1 },
    gives: `{"id":1,${beside}}`,
    isNamed: true
  },
  {
    title: 'of a closed record that is shared',
    response: { 200: { $ref: 'Closed#' } },
    sends: { id: 1 },
    gives: `{"id":1,${beside}}`,
    isNamed: true
  },
  {
    title: 'of a record of which few fields are published',
    response: { 200: { ...closed, properties: { ...closed.properties, name: { type: 'string' } } } },
    mcp: { output: ['id'] },
    sends: { id: 1, name: 'a' },
    gives: `{"id":1,"name":"a",${beside}}`
  },
  {
    title: 'of an empty record',
    response: { 200: { ...closed, properties: {} } },
    sends: {},
    gives: `{${beside}}`,
    isNamed: true
  },
  { title: 'of a record without a schema', sends: { id: 1 }, gives: `{"id":1,${beside}}` },
  {
    title: 'of JSON with spaces, whose numbers keep their digits',
    sends: '{ "id": 1.10, "n": 12345678901234567890 }\n',
    gives: `{ "id": 1.10, "n": 12345678901234567890 ,${beside}}`
  },
  { title: 'of an empty object with spaces', sends: '{ } ', gives: `{ ${beside}}` },
  {
    title: 'beside a list',
    response: { 200: { type: 'array', items: open } },
    sends: [{ id: 1 }],
    gives: `{"result":[{"id":1}],${beside}}`
  },
  {
    title: 'beside one of several records',
    response: { 200: { anyOf: [closed, { ...closed, properties: { name: { type: 'string' } } }] } },
    sends: { id: 1 },
    gives: `{"result":{"id":1},${beside}}`
  },
  {
    title: 'beside the record of one of several statuses',
    response: { 200: closed, 201: open },
    sends: { id: 1 },
    gives: `{"result":{"id":1},${beside}}`
  },
  {
    title: 'beside a record that may be null',
    response: { 200: { ...closed, type: ['object', 'null'] } },
    sends: { id: 1 },
    gives: `{"result":{"id":1},${beside}}`
  },
  {
    title: 'among the fields of a record in parts',
    response: { 200: { type: 'object', allOf: [closed, { properties: { name: { type: 'string' } } }] } },
    sends: { id: 1, name: 'a' },
    gives: `{"id":1,"name":"a",${beside}}`
  },
  {
    title: 'not where the record has a field of that name',
    response: { 200: { ...closed, properties: { headers: { type: 'array', items: { type: 'string' } } } } },
    sends: { headers: ['a'] },
    gives: '{"headers":["a"]}',
    isNamed: true
  },
  {
    title: 'nor where it may have one',
    response: { 200: { ...open, properties: { ...open.properties, headers: { type: 'integer' } } } },
    sends: { id: 1 },
    gives: '{"id":1}',
    isNamed: true
  },
  {
    title: 'in one of its parts',
    response: {
      200: { type: 'object', allOf: [open, { type: 'object', properties: { headers: { type: 'integer' } } }] }
    },
    sends: { id: 1 },
    gives: '{"id":1}'
  },
  {
    title: 'also one that is not published',
    response: { 200: { ...open, properties: { ...open.properties, headers: { type: 'integer' } } } },
    mcp: { output: ['id'] },
    sends: { id: 1 },
    gives: '{"id":1}'
  },
  { title: 'nor without a schema, if it has one', sends: { headers: 1 }, gives: '{"headers":1}' },
  { title: 'nor where that is null', sends: { headers: null }, gives: '{"headers":null}' },
  {
    title: 'nor in a map, where they would be an entry',
    response: { 200: { type: 'object', additionalProperties: { type: 'integer' } } },
    sends: { a: 1 },
    gives: '{"a":1}'
  },
  {
    title: 'nor in a map with patterns',
    response: { 200: { type: 'object', patternProperties: { '^x-': { type: 'integer' } } } },
    sends: { 'x-a': 1 },
    gives: '{"x-a":1}'
  }
]

/** An app with one tool, whose route sends a header. */
function routeOf ({ response, mcp, sends }: Omit<Case, 'title' | 'gives'>, header = LINK) {
  return (app: FastifyInstance): void => {
    app.addSchema({ $id: 'Closed', ...closed })
    app.get('/a', {
      schema: { operationId: 'a', description: 'A.', tags: ['mcp'], ...response && { response } },
      config: { mcp: mcp ?? {} }
    }, async (_request, reply) => {
      if (header !== '') reply.header('link', header)
      return await reply.type('application/json').send(sends)
    })
  }
}

/** The raw structure of the result, by the direct writer and by the SDK's. */
async function structures (url: URL, name = 'a'): Promise<readonly unknown[]> {
  const message = (more: object): object => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: {}, ...more }
  })
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(message({}))
  })
  const [, written] = /"structuredContent":(.*?)(?:,"_meta":.*)?\}\}\s*$/s.exec(await response.text()) ?? []
  // A member that the direct reader does not know leaves the message to the SDK.
  const { body } = await post(url, message({ more: 1 }))
  return [written, (body as { result: { structuredContent: unknown } }).result.structuredContent]
}

for (const { title, gives, isNamed = false, ...one } of cases) {
  t.test(`headers stand in the structure: ${title}`, async (t) => {
    const { app, url } = await listen(t, routeOf(one))
    for (const which of CLIENTS) {
      const { structuredContent } = await (await connect(t, which, url)).callTool({ name: 'a' })
      t.strictSame(structuredContent, JSON.parse(gives), `${which} finds that it is as the schema says`)
    }
    t.strictSame(await structures(url), [gives, JSON.parse(gives)], 'both writers say the same')
    const [tool] = app.mcpTools
    t.equal(Object.hasOwn(Object(tool?.outputSchema?.properties), 'headers'), isNamed)
  })
}

t.test('a record that is read by an old name says that too, with the same room for it', async (t) => {
  const notice = 'The tool b is now called a. The old name still works.'
  const own = { ...closed, properties: { ...closed.properties, notice: { type: 'string' } } }
  for (
    const [response, sends, gives] of [
      [closed, { id: 1 }, { id: 1, headers: HEADERS, notice }],
      [own, { id: 1, notice: 'x' }, { id: 1, notice: 'x', headers: HEADERS }],
      [own, { id: 1 }, { id: 1, headers: HEADERS }]
    ] as const
  ) {
    const { app, url } = await listen(t, routeOf({ response: { 200: response }, mcp: { formerly: ['b'] }, sends }))
    for (const which of CLIENTS) {
      const client = await connect(t, which, url)
      await client.listTools()
      t.match(await client.callTool({ name: 'b' }), {
        structuredContent: gives,
        content: [{}, { text: `link: ${LINK}` }, { text: notice }]
      })
    }
    t.strictSame(await structures(url, 'b'), [JSON.stringify(gives), gives])
    t.strictSame(Object.keys(Object(app.mcpTools[0]?.outputSchema?.properties)).toSorted(), ['headers', 'id', 'notice'])
  }
})

t.test('without headers, a record is what the route sends', async (t) => {
  const { url } = await listen(t, routeOf({ response: { 200: closed }, sends: { id: 1 } }, ''))
  t.strictSame(await call(url, 'a'), { content: [{ type: 'text', text: '{"id":1}' }], structuredContent: { id: 1 } })
})

t.test('a schema names no headers where results have none', async (t) => {
  const app = await build(t, routeOf({ response: { 200: closed }, sends: { id: 1 } }), { resultHeaders: [] })
  await app.ready()
  t.strictSame(app.mcpTools[0]?.outputSchema, closed)
})

t.test('the schema of a closed record says what the headers are', async (t) => {
  const app = await build(t, routeOf({ response: { 200: closed }, sends: { id: 1 } }))
  await app.ready()
  const headers = {
    type: 'object',
    additionalProperties: { type: 'string' }
  }
  const schema = { ...closed, properties: { ...closed.properties, headers } }
  t.strictSame(app.mcpTools[0]?.outputSchema, schema)
  t.strictSame(app.mcpTools[0]?.route.output, schema, 'so a contract has one schema')
})

const long = 'x'.repeat(maxHeaderSize)
const sent: ReadonlyArray<readonly [title: string, send: (reply: FastifyReply) => void, headers: object | undefined]> =
  [
    ['in any case', (reply) => reply.header('LiNK', 'a'), { link: 'a' }],
    ['by Node.js', (reply) => reply.raw.setHeader('LINK', 'a'), { link: 'a' }],
    ['twice, in one line', (reply) => reply.header('link', ['a', 'b']), { link: 'a, b' }],
    ['twice, by Node.js', (reply) => reply.raw.appendHeader('Link', 'a').appendHeader('link', 'b'), { link: 'a, b' }],
    ['as a number', (reply) => reply.header('retry-after', 3), { 'retry-after': '3' }],
    ['empty', (reply) => reply.header('link', ''), { link: '' }],
    ['in Latin-1', (reply) => reply.header('location', '/caf\u00e9'), { location: '/caf\u00e9' }],
    ['as long as Node.js reads them', (reply) => reply.header('link', long), { link: long }],
    ['of more: no part of it', (reply) => reply.header('link', `${long}x`), undefined]
  ]
for (const loopback of ['light', 'inject'] as const) {
  for (const [title, send, headers] of sent) {
    t.test(`${loopback}: headers that a route sends ${title}`, async (t) => {
      t.strictSame(await headersOf(t, send, loopback), everywhere(headers))
    })
  }
}

const forged: ReadonlyArray<readonly [title: string, value: string | string[]]> = [
  ['a line break', 'a\r\nretry-after: 1'],
  ['a line feed', 'a\nretry-after: 1'],
  ['a line break in one of two', ['a', 'b\nretry-after: 1']],
  ['a null character', 'a\u0000'],
  ['an escape', 'a\u001b[8m'],
  ['a delete', 'a\u007f'],
  ['an order of letters', 'a\u202eb'],
  ['a hidden letter', 'a\u{e0061}'],
  ['a line separator', 'a\u2028b']
]
for (const [title, value] of forged) {
  t.test(`what HTTP cannot send is in no result: ${title}`, async (t) => {
    const both = (reply: FastifyReply): unknown => reply.header('link', value).header('location', '/b')
    t.strictSame(await headersOf(t, both, 'light'), everywhere({ location: '/b' }))
  })
}

/** The headers of a result: in its structure, in `_meta`, and as the text that says the same. */
async function headersOf (
  t: Teardown,
  send: (reply: FastifyReply) => unknown,
  loopback: 'light' | 'inject'
): Promise<readonly unknown[]> {
  const { url } = await listen(t, (app) => {
    const schema = { operationId: 'a', description: 'A.', tags: ['mcp'] }
    app.get('/a', { schema, config: { mcp: loopback === 'inject' ? { loopback } : {} } }, async (_request, reply) => {
      send(reply)
      return await reply.send({ id: 1 })
    })
  })
  const { content, structuredContent, _meta } = await call(url, 'a')
  return [
    (structuredContent as { headers?: object }).headers,
    (_meta as Record<string, unknown> | undefined)?.['mcp-from-routes/headers'],
    (content as ReadonlyArray<{ text: string }>)[1]?.text
  ]
}

/** What it gives for these headers. */
function everywhere (headers: object | undefined): readonly unknown[] {
  const text = headers && Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join('\n')
  return [headers, headers, text]
}
