import t from 'tap'
import { contractFromTools, diffContracts } from '../src/contract/index.ts'
import type { McpFromRoutesOptions, McpRouteConfig } from '../src/index.ts'
import { build, call, CLIENTS, connect, listen, post } from './build.ts'

// What a model reads of the tools, and what their routes learn of the call.

const record = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'Set by the server' },
    name: { type: 'string', title: 'Name' },
    note: { type: ['string', 'null'], default: 'none' }
  },
  required: ['id', 'name'],
  additionalProperties: false
}
const list = { type: 'array', items: record }

async function outputOf (
  t: Parameters<typeof build>[0],
  response: unknown,
  mcp: McpRouteConfig = {},
  options: Partial<McpFromRoutesOptions> = {}
): Promise<unknown> {
  const app = await build(t, (app) => {
    app.get('/', {
      schema: { operationId: 'read', description: 'D.', tags: ['mcp'], response: { 200: response } },
      config: { mcp }
    }, async () => ({}))
  }, options)
  await app.ready()
  return app.mcpTools[0]?.outputSchema
}

const note = { anyOf: [{ type: 'string' }, { type: 'null' }] }
const brief = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    note,
    headers: { type: 'object', additionalProperties: { type: 'string' } }
  },
  additionalProperties: false
}
const few = {
  type: 'object',
  properties: { id: { type: 'string', description: 'Set by the server' } },
  required: ['id']
}

for (
  const { title, response = record, mcp, options, gives } of [
    { title: 'a brief output has names and types', options: { output: 'brief' as const }, gives: brief },
    { title: 'a route can ask for it by itself', mcp: { output: 'brief' as const }, gives: brief },
    { title: 'false publishes none', options: { output: false as const }, gives: undefined },
    { title: 'nor of one route', mcp: { output: false as const }, gives: undefined },
    {
      title: 'a route has the last word',
      mcp: { output: 'brief' as const },
      options: { output: false as const },
      gives: brief
    },
    { title: 'fields are those of the record, which may have others', mcp: { output: ['id'] }, gives: few },
    {
      title: 'or of each record of a list',
      response: list,
      mcp: { output: ['id'] },
      gives: { type: 'object', properties: { result: { type: 'array', items: few } }, required: ['result'] }
    },
    {
      title: 'or of several answers, one of which may be null',
      response: { anyOf: [record, { type: 'null' }] },
      mcp: { output: ['name'] },
      options: { output: 'brief' as const },
      gives: {
        type: 'object',
        properties: {
          result: { anyOf: [{ type: 'object', properties: { name: { type: 'string' } } }, { type: 'null' }] }
        },
        required: ['result']
      }
    }
  ]
) {
  t.test(title, async (t) => t.strictSame(await outputOf(t, response, mcp, options), gives))
}

t.test('a shared record can be trimmed, and what it no longer uses is gone', async (t) => {
  const app = await build(t, (app) => {
    app.addSchema({
      $id: 'Person',
      type: 'object',
      properties: { id: { type: 'string' }, friends: { type: 'array', items: { $ref: '#' } } }
    })
    app.get('/', {
      schema: { operationId: 'read', description: 'D.', tags: ['mcp'], response: { 200: { $ref: 'Person#' } } },
      config: { mcp: { output: ['id'] } }
    }, async () => ({}))
  })
  await app.ready()
  t.strictSame(app.mcpTools[0]?.outputSchema, { type: 'object', properties: { id: { type: 'string' } } })
})

for (
  const [title, mcp, says] of [
    [
      'an unknown field',
      { output: ['id', 'colour'] },
      /GET \/ has a wrong config\.mcp: output names colour, which is not a field of its result/
    ],
    ['no field', { output: [] }, /output must be 'full', 'brief', false or an array of field names/],
    ['an unknown word', { output: 'short' }, /output must be/],
    ['a search hint that is no string', { searchHint: '' }, /searchHint must be a string/],
    ['a flag that is none', { alwaysLoad: 'yes' }, /alwaysLoad must be true or false/]
  ] as Array<[string, McpRouteConfig, RegExp]>
) {
  t.test(`config.mcp with ${title} fails at startup`, async (t) => {
    await t.rejects(outputOf(t, record, mcp), { code: 'MCP_FROM_ROUTES_INVALID_CONFIG', message: says })
  })
}

t.test('results stay whole where their schema is trimmed, and clients take them', async (t) => {
  const whole = { id: '1', name: 'a', note: null }
  const { url } = await listen(t, (app) => {
    app.get('/one', {
      schema: { operationId: 'one', description: 'D.', tags: ['mcp'], response: { 200: record } },
      config: { mcp: { output: ['id'] } }
    }, async () => whole)
    app.get('/none', {
      schema: { operationId: 'none', description: 'D.', tags: ['mcp'], response: { 200: record } },
      config: { mcp: { output: false } }
    }, async () => whole)
  })
  for (const which of CLIENTS) {
    const client = await connect(t, which, url)
    await client.listTools()
    t.strictSame((await client.callTool({ name: 'one' })).structuredContent, whole, which)
    t.strictSame((await client.callTool({ name: 'none' })).structuredContent, whole, which)
  }
})

t.test('the contract calls a trimmed output breaking, and one without texts a patch', async (t) => {
  const tools = async (mcp: McpRouteConfig): Promise<ReturnType<typeof contractFromTools>> => {
    const app = await build(t, (app) => {
      app.get('/', {
        schema: {
          operationId: 'read',
          description: 'D.',
          tags: ['mcp'],
          response: { 200: { ...record, required: [] } }
        },
        config: { mcp }
      }, async () => ({}))
    })
    await app.ready()
    return contractFromTools(app.mcpTools)
  }
  const full = await tools({})
  t.match(diffContracts(full, await tools({ output: false })), {
    bump: 'major',
    findings: [{ path: 'output', change: 'schema → none' }]
  })
  t.match(diffContracts(full, await tools({ output: ['id'] })), {
    bump: 'major',
    findings: { 0: { path: /output\.(name|note)/, change: 'property → removed' } }
  })
  t.equal(diffContracts(full, await tools({ output: 'brief' })).bump, 'patch')
  t.equal(diffContracts(await tools({ output: ['id'] }), full).bump, 'minor')
})

t.test('a route can say how clients find its tool, and whether they load it at once', async (t) => {
  const app = await build(t, (app) => {
    app.get('/', {
      schema: { operationId: 'read', description: 'D.', tags: ['mcp', 'large'] },
      config: { mcp: { searchHint: 'stock inventory', alwaysLoad: true } }
    }, async () => ({}))
    app.get('/plain', { schema: { operationId: 'plain', description: 'D.', tags: ['mcp'] } }, async () => ({}))
  })
  await app.ready()
  t.strictSame(app.mcpTools.map(({ _meta }) => _meta), [undefined, {
    'mcp-from-routes/large': true,
    'anthropic/maxResultSizeChars': 500_000,
    'anthropic/searchHint': 'stock inventory',
    'anthropic/alwaysLoad': true
  }])
})

t.test('a title may be the name in other letters', async (t) => {
  const app = await build(t, (app) => {
    for (
      const [operationId, summary] of [['get_thing', 'Get a thing'], ['listThings', 'List things'], [
        'put_thing',
        'Replace a thing'
      ]] as const
    ) {
      app.get(
        `/${operationId}`,
        { schema: { operationId, summary, description: 'D.', tags: ['mcp'] } },
        async () => ({})
      )
    }
    app.get('/own', {
      schema: { operationId: 'own', description: 'D.', tags: ['mcp'] },
      config: { mcp: { title: 'Own' } }
    }, async () => ({}))
  })
  await app.ready()
  t.strictSame(app.mcpTools.map(({ name, title }) => [name, title]), [
    ['get_thing', 'Get a thing'],
    ['listThings', 'List things'],
    ['own', 'Own'],
    ['put_thing', 'Replace a thing']
  ])
})

// Trace context

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01'
const OTHER = '00-11111111111111111111111111111111-2222222222222222-00'

for (
  const [title, meta, headers, gives] of [
    ['reaches the route', { traceparent: TRACE, tracestate: 'a=1', baggage: 'user=1' }, {}, {
      traceparent: TRACE,
      tracestate: 'a=1',
      baggage: 'user=1'
    }],
    ['counts more than headers, which are of the hop', { traceparent: TRACE }, {
      traceparent: OTHER,
      tracestate: 'b=2',
      baggage: 'b=2'
    }, { traceparent: TRACE, baggage: 'b=2' }],
    ['leaves headers alone when it is not there', { other: 1 }, { traceparent: OTHER, tracestate: 'b=2' }, {
      traceparent: OTHER,
      tracestate: 'b=2'
    }],
    ['leaves them alone when it is malformed', { traceparent: 'x', tracestate: 'a=1', baggage: 'a\r\nb' }, {
      traceparent: OTHER
    }, { traceparent: OTHER }]
  ] as const
) {
  t.test(`the trace context in _meta ${title}`, async (t) => {
    const { url } = await listen(t, (app) => {
      app.get(
        '/trace',
        { schema: { operationId: 'trace', description: 'D.', tags: ['mcp'] } },
        async ({ headers: { traceparent, tracestate, baggage } }) => ({ traceparent, tracestate, baggage })
      )
      app.get(
        '/stream',
        {
          schema: {
            operationId: 'stream',
            description: 'D.',
            tags: ['mcp'],
            response: { 200: { content: { 'application/x-ndjson': { schema: { type: 'string' } } } } }
          }
        },
        async ({ headers: { traceparent, tracestate, baggage } }, reply) =>
          reply.type('application/json').send({ traceparent, tracestate, baggage })
      )
    }, { forwardHeaders: ['traceparent', 'tracestate', 'baggage'] })
    for (const name of ['trace', 'stream']) {
      // The second is answered by way of the SDK.
      const { body } = await post(url, {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, _meta: { progressToken: 1, ...meta } }
      }, headers)
      const { result } = body as { result: { content: Array<{ text: string }> } }
      t.strictSame(JSON.parse(result.content[0]?.text ?? ''), gives, name)
    }
  })
}

t.test('headers that are not forwarded are not filled from _meta', async (t) => {
  const { url } = await listen(t, (app) => {
    app.get(
      '/trace',
      { schema: { operationId: 'trace', description: 'D.', tags: ['mcp'] } },
      async ({ headers: { traceparent, baggage } }) => ({ traceparent, baggage })
    )
  })
  const { body } = await post(url, {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'trace', _meta: { traceparent: TRACE, baggage: 'a=1' } }
  })
  t.match(body, { result: { content: [{ text: JSON.stringify({ traceparent: TRACE }) }] } })
})

// What a model reads of a page

t.test('every client gets the number of all matches beside the records', async (t) => {
  const { url } = await listen(t, (app) => {
    app.get(
      '/',
      { schema: { operationId: 'list', description: 'D.', tags: ['mcp'], response: { 200: list } } },
      async (_request, reply) => reply.header('content-range', 'things 0-1/319').send([{ id: '1', name: 'a' }])
    )
  })
  for (const which of CLIENTS) {
    const client = await connect(t, which, url)
    await client.listTools()
    t.match(await client.callTool({ name: 'list' }), {
      structuredContent: { result: [{ id: '1', name: 'a' }], headers: { 'content-range': 'things 0-1/319' } },
      content: [{ type: 'text' }, { type: 'text', text: 'content-range: things 0-1/319' }]
    }, which)
  }
  t.notOk((await call(url, 'list')).isError)
})
