import t from 'tap'
import { contractFromApp, diffContracts } from '../../../src/contract/index.ts'
import type { McpFromRoutesOptions, McpRouteConfig, ToolCallEvent } from '../../../src/index.ts'
import { ranking } from '../../../src/extensions/search/ranking.ts'
import { signatureOf } from '../../../src/extensions/search/signature.ts'
import { search, type SearchEndpoint } from '../../../src/extensions/search/index.ts'
import { build, call, CLIENTS, connect, listen, post } from '../../build.ts'
import { runProgram } from '../../program.ts'
import { ALL, NAMES, pathOf, read, READER, route, SEARCH, WRITER, type Result } from './searched.ts'

async function namesIn (url: URL, headers: Record<string, string> = {}): Promise<readonly string[]> {
  const { body } = await post(pathOf(url), { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers)
  return (body as { result: { tools: ReadonlyArray<{ name: string }> } }).result.tools.map(({ name }) => name)
}

t.test('the program of the documentation: official clients find a tool by words, and call it', async (t) => {
  const line = await runProgram(t, 'search')
  t.match(line, /^30 tools at http:\S+\/mcp, and 4 that find them at http:\S+\/mcp\/search$/)
  const url = new URL(line.slice(line.lastIndexOf('http')))
  for (const which of CLIENTS) {
    const client = await connect(t, which, url)
    t.strictSame((await client.listTools()).tools.map(({ name }) => name), NAMES, which)
    t.match(await client.callTool({ name: 'search_tools', arguments: { query: 'write an invoice' } }), {
      content: [{
        text: [
          '2 of 30 tools fit.',
          'create_invoice(title: string) writes: Create a new invoice.',
          'list_invoices(title?: string) reads: List the invoices.'
        ].join('\n')
      }]
    })
    const title = `May ${which}`
    t.match(await client.callTool({ name: WRITER, arguments: { name: 'create_invoice', arguments: { title } } }), {
      structuredContent: { kind: 'invoice', title }
    })
    t.match(await client.callTool({ name: READER, arguments: { name: 'list_invoices', arguments: { title } } }), {
      structuredContent: { result: [{ kind: 'invoice', title }] }
    })
  }
})

t.test('what clients list of a set with search', async (t) => {
  const { app, url } = await listen(t, (app) => {
    route(app, 'GET', 'get_a')
    route(app, 'PUT', 'put_a')
    route(app, 'GET', 'get_b', { schema: { tags: ['mcp', 'b'] } })
  }, { extensions: [search({ path: '/mcp/search' }, { path: '/b', tags: ['b'] })] })
  const { body } = await post(pathOf(url), { jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const { tools } = (body as { result: { tools: unknown } }).result
  t.strictSame(tools, app.mcpSearchTools)
  t.match(app.mcpSearchTools, [
    {
      name: READER,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
    },
    {
      name: WRITER,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false }
    },
    { name: 'describe_tools', annotations: { readOnlyHint: true } },
    { name: 'search_tools', annotations: { readOnlyHint: true } }
  ])
  t.ok(Object.isFrozen(app.mcpSearchTools) && app.mcpSearchTools.every((tool) => Object.isFrozen(tool)))
  t.strictSame(
    app.mcpTools.map(({ name }) => name),
    ['get_a', 'get_b', 'put_a'],
    'the others are still tools, listed at the path of the endpoint'
  )
  const b = new URL('/b', url)
  t.strictSame(
    ((await post(b, { jsonrpc: '2.0', id: 1, method: 'tools/list' })).body as {
      result: { tools: ReadonlyArray<{ name: string }> }
    }).result.tools.map(({ name }) => name),
    [READER, 'describe_tools', 'search_tools'],
    'there is no caller for what no tool does'
  )
  t.match(
    await call(b, 'search_tools', { query: '' }),
    { content: [{ text: /^1 of 1 tools fit\.\nget_b/ }] },
    'a set with tags has only their tools'
  )
  t.match(await call(b, READER, { name: 'get_a' }), {
    isError: true,
    content: [{ text: 'Unknown tool: get_a. Did you mean get_b? Find tools with search_tools' }]
  })
  t.match(
    await call(pathOf(url), 'get_a'),
    { structuredContent: { name: 'get_a' } },
    'a tool can still be called by its name'
  )
  const open = await listen(
    t,
    (app) => route(app, 'PUT', 'put_a', { mcp: { annotations: { openWorldHint: true } } }),
    SEARCH
  )
  const client = await connect(t, '2.x 2026-07-28', pathOf(open.url))
  t.match((await client.listTools()).tools, [{ name: WRITER, annotations: { openWorldHint: true } }, {
    name: 'describe_tools'
  }, { name: 'search_tools' }])
})

t.test('a description has all arguments, as models get them that list the tool', async (t) => {
  const { app, url } = await listen(t, (app) => {
    route(app, 'GET', 'get_a', {
      schema: {
        summary: 'A',
        querystring: { type: 'object', properties: { shop: { type: 'string' } }, required: ['shop'] }
      },
      mcp: { arguments: { querystring: { shop: { header: 'Shop' } } } }
    })
    route(app, 'POST', 'post_a', { schema: { body: { type: 'object', properties: { n: { type: 'integer' } } } } })
  }, SEARCH)
  const [get, create] = app.mcpTools
  const text = await read(url, 'describe_tools', { names: ['post_a', 'nobody', 'get_a', 'post_a'] })
  t.strictSame(text.split('\n').map((line) => line.startsWith('{') ? JSON.parse(line) as unknown : line), [
    { name: 'post_a', callWith: WRITER, description: create!.description, inputSchema: create!.inputSchema },
    'Unknown tool: nobody. Find tools with search_tools',
    {
      name: 'get_a',
      title: 'A',
      callWith: READER,
      description: get!.description,
      inputSchema: { ...get!.inputSchema, properties: { shop: { type: 'string' } } }
    }
  ], 'without the header, which no client could send')
  t.equal(
    await read(url, 'describe_tools', { names: '["post_a"]' }),
    text.split('\n')[0],
    'some models write arrays as JSON'
  )
  t.equal(await read(url, 'describe_tools', { names: 'post_a' }), text.split('\n')[0])
  const small = await listen(t, (app) => route(app, 'GET', 'get_a', { schema: { description: 'x'.repeat(500) } }), {
    ...SEARCH,
    maxResultBytes: 400
  })
  t.match(await call(pathOf(small.url), 'describe_tools', { names: ['get_a'] }), {
    isError: true,
    content: [{ text: /^These descriptions are longer than the 400 bytes/ }]
  })
})

t.test('a call through a search is the call by name', async (t) => {
  const events: ToolCallEvent[] = []
  const id = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }
  const row = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } }
  const { url } = await listen(t, (app) => {
    route(app, 'GET', 'list_rows', {
      schema: { response: { 200: { type: 'array', items: row } } },
      handler: () => [{ a: '1', b: '2' }]
    })
    route(app, 'GET', 'get_row', {
      schema: {
        querystring: { ...id, properties: { ...id.properties, shop: { type: 'string' } }, required: ['id', 'shop'] }
      }
    })
    route(app, 'POST', 'post_row', { schema: { body: id } })
    route(app, 'GET', 'get_nothing', {
      handler: () => {
        throw Object.assign(new Error('none'), { statusCode: 404 })
      }
    })
    route(app, 'GET', 'get_broken', {
      handler: () => {
        throw new Error('secret')
      }
    })
    route(app, 'GET', 'get_much', { handler: () => 'x'.repeat(5000) })
    app.get('/slow', { schema: { operationId: 'get_slow', description: 'D.', tags: ['mcp'] } }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 1000))
    })
    app.get(
      '/private',
      { schema: { operationId: 'get_private', description: 'D.', tags: ['mcp'] } },
      async (_request, reply) => reply.code(401).header('www-authenticate', 'Bearer').send({ message: 'who?' })
    )
    app.get(
      '/picture',
      { schema: { operationId: 'get_picture', description: 'D.', tags: ['mcp'] } },
      async (_request, reply) => reply.type('image/png').send(Buffer.from([1, 2]))
    )
  }, {
    extensions: [ALL],
    impliedArguments: { shop: ({ headers }) => headers['x-api-key'] as string | undefined },
    maxResultBytes: 4000,
    toolTimeout: 100,
    onToolCall: (event) => {
      events.push(event)
    }
  }, { genReqId: () => 'same' })
  const cases: ReadonlyArray<readonly [name: string, args: Record<string, unknown>]> = [
    ['list_rows', {}],
    ['get_row', { id: 5 }],
    ['get_row', { id: '5' }],
    ['get_row', { id: 'x' }],
    ['get_row', {}],
    ['get_row', { id: 5, nothing: 1, constructor: 2, task_progress: 3 }],
    ['post_row', { id: 5 }],
    ['post_row', { id: [] }],
    ['get_nothing', {}],
    ['get_broken', {}],
    ['get_much', {}],
    ['get_slow', {}],
    ['get_private', {}],
    ['get_picture', {}]
  ]
  const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' }
  }
  for (const [name, args] of cases) {
    const by = name.startsWith('post') ? WRITER : READER
    for (const [era, headers, more] of [['legacy', {}, {}], ['modern', modern, { _meta }]] as const) {
      const send = async (called: string, given: object) =>
        await post(pathOf(url), {
          jsonrpc: '2.0',
          id: 'i',
          method: 'tools/call',
          params: { name: called, arguments: given, ...more }
        }, { 'x-api-key': 'mine', ...headers, ...era === 'modern' && { 'mcp-name': called } })
      const [named, found] = [await send(name, args), await send(by, { name, arguments: args })]
      t.strictSame({ status: found.status, body: found.body, authenticate: found.headers.get('www-authenticate') }, {
        status: named.status,
        body: named.body,
        authenticate: named.headers.get('www-authenticate')
      }, `${era} ${name} ${JSON.stringify(args)}`)
      const [first, second] = events.splice(0)
      t.strictSame(
        { ...second, request: 0, duration: 0 },
        { ...first, request: 0, duration: 0 },
        'the host is told the same'
      )
    }
  }
  t.equal(
    (await post(pathOf(url), {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: READER, arguments: { name: 'get_private' } }
    })).status,
    401,
    'a challenge reaches the client as one'
  )
  for (const args of [undefined, '{}', {}]) {
    t.match(await call(pathOf(url), READER, { name: 'list_rows', ...args !== undefined && { arguments: args } }), {
      structuredContent: { result: [{ a: '1', b: '2' }] }
    }, 'no arguments are none, and JSON in a string is read')
  }
  const [, line] = (await read(url, 'search_tools', { query: 'get_row' }, { 'x-api-key': 'mine' })).split('\n')
  t.equal(
    line,
    'get_row(id: integer, shop?: string) reads: What get_row does.',
    'what the credential implies is optional for its caller'
  )
  t.match(
    await read(url, 'search_tools', { query: 'get_row' }),
    /get_row\(id: integer, shop: string\)/,
    'and for no other'
  )
})

t.test('progress, and a batch of an older client, come through a search as by name', async (t) => {
  const { url } = await listen(t, (app) => {
    app.get('/stream', {
      schema: {
        operationId: 'get_stream',
        description: 'D.',
        tags: ['mcp'],
        response: { 200: { content: { 'application/x-ndjson': { schema: { type: 'string' } } } } }
      }
    }, async (_request, reply) => {
      return reply.type('application/x-ndjson').send(
        (await import('node:stream')).Readable.from(['{"progress":1,"total":2}\n', '{"progress":2,"total":2}\n'])
      )
    })
  }, SEARCH)
  const client = await connect(t, '2.x 2026-07-28', pathOf(url))
  for (const params of [{ name: 'get_stream' }, { name: READER, arguments: { name: 'get_stream' } }]) {
    const seen: unknown[] = []
    await (client as unknown as { callTool: (call: object, options: object) => Promise<unknown> }).callTool(params, {
      onprogress: (one: unknown) => {
        seen.push(one)
      }
    })
    t.match(seen, [{ progress: 1, total: 2 }, { progress: 2, total: 2 }], params.name)
  }
  const message = (id: number) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: READER, arguments: { name: 'get_stream' } }
  })
  t.match((await post(pathOf(url), [message(1)])).body, { id: 1, result: { content: [{ type: 'text' }] } })
  t.equal((await post(pathOf(url), [message(1), message(2)])).status, 400, 'one request is one call')
})

// Attacks

t.test('a hidden tool is as one that does not exist', async (t) => {
  let ran = 0
  const canUse: McpFromRoutesOptions['canUse'] = async ({ name }, { headers }) =>
    headers['x-api-key'] === 'staff' || (name === 'unlisted' ? 'unlisted' : name !== 'secrets')
  const { url } = await listen(t, (app) => {
    for (const [method, name] of [['GET', 'public'], ['POST', 'secrets'], ['POST', 'unlisted']] as const) {
      route(app, method, name, {
        handler: () => {
          ran += 1
          return { name }
        }
      })
    }
  }, { ...SEARCH, canUse })
  t.strictSame(
    await namesIn(url),
    [READER, 'describe_tools', 'search_tools'],
    'who may write nothing has no caller for it'
  )
  t.strictSame(await namesIn(url, { 'x-api-key': 'staff' }), NAMES)
  for (const query of ['secrets', 'What secrets does', 'unlisted', '', 'call_writing_tool']) {
    t.notMatch(await read(url, 'search_tools', { query }), /secrets|unlisted/, query)
  }
  t.match(await read(url, 'search_tools', { query: 'secrets' }), /^None of 1 tools/, 'the number tells of none either')
  t.match(await read(url, 'search_tools', { query: 'secrets' }, { 'x-api-key': 'staff' }), /\nsecrets\(\) writes/)
  const same = async (name: string, args: (name: string) => Record<string, unknown>): Promise<void> => {
    const [hidden, none] = await Promise.all(
      ['secrets', 'nothing'].map(async (one) =>
        JSON.stringify(await call(pathOf(url), name, args(one))).replaceAll(one, '…')
      )
    )
    t.equal(hidden, none, `${name} ${JSON.stringify(args('…'))}`)
    t.match(hidden, /Unknown tool: …/)
  }
  await same('describe_tools', (name) => ({ names: [name] }))
  await same('describe_tools', (name) => ({ names: ['public', name] }))
  for (const caller of [READER, WRITER]) {
    await same(caller, (name) => ({ name }))
    await same(caller, (name) => ({ name, arguments: { x: 1 } }))
    await same(caller, (name) => ({ name, arguments: 'x' }))
  }
  t.match(await read(url, 'describe_tools', { names: ['unlisted'] }), /^Unknown tool/)
  t.match(await read(url, READER, { name: 'unlisted' }), /may change something/)
  t.equal(ran, 0)
  t.match(
    await read(url, WRITER, { name: 'unlisted' }),
    /"name":"unlisted"/,
    "as by name: the route's own checks refuse it"
  )
})

t.test('nothing that writes runs by the caller that reads', async (t) => {
  const ran: string[] = []
  const { url } = await listen(t, (app) => {
    const said = (name: string, readOnlyHint?: boolean): Parameters<typeof route>[3] => ({
      mcp: readOnlyHint === undefined ? {} : { annotations: { readOnlyHint } },
      handler: () => {
        ran.push(name)
        return { name }
      }
    })
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) route(app, method, `do_${method}`, said(method))
    route(app, 'GET', 'get_that_counts', said('counts', false))
    route(app, 'POST', 'post_query', said('query', true))
  }, SEARCH)
  for (const name of ['do_POST', 'do_PUT', 'do_PATCH', 'do_DELETE', 'get_that_counts']) {
    t.match(await call(pathOf(url), READER, { name }), {
      isError: true,
      content: [{ text: `${name} was not called: it may change something, so call it with ${WRITER}` }]
    })
  }
  t.strictSame(ran, [])
  t.match(await read(url, READER, { name: 'post_query' }), /query/)
  t.match(await read(url, WRITER, { name: 'post_query' }), /query/, 'the caller that writes may read')
  const lines = (await read(url, 'search_tools', { query: '' })).split('\n').slice(1)
  t.strictSame(lines.map((line) => line.replace(/:.*/, '')), [
    'do_DELETE() writes',
    'do_PATCH() writes',
    'do_POST() writes',
    'do_PUT() writes',
    'get_that_counts() writes',
    'post_query() reads'
  ])
})

t.test('no tool of the search is called through another', async (t) => {
  const { url } = await listen(t, (app) => {
    route(app, 'GET', 'shown')
  }, SEARCH)
  for (
    const name of [
      ...NAMES,
      '',
      'constructor',
      '__proto__',
      'toString',
      'hasOwnProperty',
      'shown\n',
      ' shown',
      'Shown',
      'x'.repeat(100_000)
    ]
  ) {
    const text = await read(url, READER, { name, arguments: { name: 'shown', query: 'shown', names: ['shown'] } })
    t.ok(
      /^Unknown tool: .*[.?] Find tools with search_tools$/s.test(text) && text.length < 300,
      name.slice(0, 50)
    )
    t.match(await read(url, 'describe_tools', { names: [name] }), /^Unknown tool: /)
  }
})

t.test('arguments of another type, and odd queries, are answered at once', async (t) => {
  const { url } = await listen(
    t,
    (app) => {
      for (let n = 0; n < 30; n++) route(app, 'GET', `list_things_${n}`)
      route(app, 'GET', 'constructor_of_things')
    },
    SEARCH,
    { bodyLimit: 3_000_000 }
  )
  const many = 'x'.repeat(1_000_000)
  const refusals: ReadonlyArray<readonly [name: string, args: Record<string, unknown>, text: RegExp]> = [
    ['search_tools', {}, /^query must be a string$/],
    ['search_tools', { query: null }, /must be a string/],
    ['search_tools', { query: 5 }, /must be a string/],
    ['search_tools', { query: ['a'] }, /must be a string/],
    ['search_tools', { query: {} }, /must be a string/],
    ['search_tools', { query: many }, /must not be longer than 500 characters/],
    ['search_tools', { query: 'a', limit: 1000 }, /^Unknown argument "limit"\. search_tools takes query$/],
    ['search_tools', { query: 'a', [many]: 1 }, /^Unknown argument "x{199}…"/],
    ['describe_tools', {}, /^names must be an array of 1 to 10 names/],
    ['describe_tools', { names: [] }, /must be an array/],
    ['describe_tools', { names: [5] }, /must be an array/],
    ['describe_tools', { names: Array(11).fill('list_things_1') }, /must be an array/],
    ['describe_tools', { names: [many] }, /^Unknown tool: x{199}…\./],
    [READER, {}, /^name must be the name of a tool/],
    [READER, { name: ['list_things_1'] }, /^name must be/],
    [
      READER,
      { name: 'list_things_1', arguments: [] },
      /^arguments must be an object with the arguments of list_things_1$/
    ],
    [READER, { name: 'list_things_1', arguments: 'x' }, /^arguments must/],
    [READER, { name: 'list_things_1', arguments: null }, /^arguments must/],
    [
      READER,
      { name: 'list_things_1', id: 5 },
      /^Unknown argument "id"\. call_reading_tool takes name and arguments, which holds those of the tool$/
    ]
  ]
  for (const [name, args, text] of refusals) {
    const result = await call(pathOf(url), name, args) as unknown as Result
    t.ok(result.isError)
    t.match(result.content[0]!.text, text, JSON.stringify(args).slice(0, 80))
    t.ok(result.content[0]!.text.length < 500)
  }
  t.match(
    await read(url, 'search_tools', { query: 'things', task_progress: 'x' }),
    /^31 of/,
    'what clients add for themselves is ignored'
  )
  const nested =
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${READER}","arguments":{"name":"list_things_1","arguments":{"a":${
      '['.repeat(5000)
    }${']'.repeat(5000)}}}}}`
  t.match((await post(pathOf(url), nested)).body, { result: { isError: true } })
  for (
    const query of [
      '',
      ' ',
      '.*',
      '(a+)+$',
      '[',
      '\\',
      '%00',
      '\u0000',
      '\ud800',
      'ﷺ'.repeat(500),
      'a '.repeat(250),
      Array.from({ length: 100 }, (_, n) => `w${n}`).join(' '),
      '"; DROP TABLE',
      '__proto__',
      'toString',
      '../../etc/passwd',
      'ＬＩＳＴ'
    ]
  ) {
    const text = await read(url, 'search_tools', { query })
    t.match(
      text,
      /^(?:31 of 31 tools fit\. These 10 fit best|None of 31 tools has these words)/,
      JSON.stringify(query).slice(0, 40)
    )
    t.ok(text.length < 6000)
  }
  t.match(await read(url, 'search_tools', { query: 'constructor' }), /^1 of 31 tools fit\.\nconstructor_of_things/)
})

t.test('a header that says something else than the call is refused, and none is missed', async (t) => {
  const { url } = await listen(t, (app) => {
    route(app, 'GET', 'get_a', {
      schema: { querystring: { type: 'object', properties: { shop: { type: 'string' } } } },
      mcp: { arguments: { querystring: { shop: { header: 'Shop' } } } }
    })
  }, SEARCH)
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' }
  }
  for (const more of [{}, { _unknown: 1 }]) {
    const send = async (headers: Record<string, string>) =>
      await post(pathOf(url), {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: READER, arguments: { name: 'get_a', arguments: { shop: 'mine' } }, _meta, ...more }
      }, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': READER, ...headers })
    t.match(await send({}), { status: 200, body: { result: { structuredContent: { query: { shop: 'mine' } } } } })
    t.match(await send({ 'mcp-param-shop': 'mine' }), { status: 200 })
    t.match(await send({ 'mcp-param-shop': 'other' }), { status: 400, body: { error: { code: -32020 } } })
    t.equal((await send({ 'mcp-name': 'get_a' })).status, 400, 'the name in the header is that of the caller')
  }
})

t.test('a function of the host that throws fails a search as it fails a call', async (t) => {
  const { url } = await listen(t, (app) => route(app, 'GET', 'get_a'), {
    ...SEARCH,
    canUse: () => {
      throw new Error('database secret')
    }
  })
  for (
    const [name, args] of [['search_tools', { query: 'a' }], ['describe_tools', { names: ['get_a'] }], [READER, {
      name: 'get_a'
    }]] as const
  ) {
    const { status, body } = await post(pathOf(url), {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args }
    }, { accept: 'application/json, text/event-stream' })
    t.equal(
      status,
      (await post(pathOf(url), { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_a' } })).status
    )
    t.strictSame([status, body], [200, { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } }])
    t.match(
      (await post(pathOf(url), [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }]))
        .body,
      { error: { code: -32603, message: 'Internal error' } }
    )
  }
})

// Startup and contract

for (
  const [title, endpoint, message] of [
    [
      'a name of the search',
      { path: '/a' },
      'mcp-from-routes: search needs the name search_tools, which GET /search_tools has. Give that ' +
      'route another operationId'
    ],
    [
      'that name, though the set does not have the route',
      { path: '/a', tags: ['a'] },
      /needs the name search_tools/
    ],
    [
      'empty tags',
      { path: '/a', tags: [] },
      'mcp-from-routes: search.tags must be a non-empty array of tags (got [])'
    ],
    [
      'an unknown key',
      { path: '/a', search: true } as SearchEndpoint,
      'mcp-from-routes: search.search is not an option. Known: path, tags'
    ],
    [
      'a tag that no tool has',
      { path: '/a', tags: ['b'] },
      'mcp-from-routes: search.tags has "b", a tag that no tool has'
    ]
  ] as Array<[string, SearchEndpoint, string | RegExp]>
) {
  t.test(`a search with ${title} stops the start`, async (t) => {
    await t.rejects(
      build(t, (app) => {
        route(app, 'GET', 'search_tools')
        route(app, 'GET', 'x', { schema: { tags: ['mcp', 'a'] } })
      }, { extensions: [search(endpoint)] }).then((app) => app.ready()),
      { code: 'MCP_FROM_ROUTES_INVALID_OPTION', message }
    )
  })
}

t.test('without a search, a route may have such a name', async (t) => {
  const app = await build(t, (app) => {
    for (const name of NAMES) route(app, 'GET', name)
  })
  await app.ready()
  t.notOk(app.hasDecorator('mcpSearchTools'))
})

t.test('the contract has the tools that are found and those that find them', async (t) => {
  const contractOf = async (options: Partial<McpFromRoutesOptions>, names: readonly string[]) => {
    const app = await build(t, (app) => {
      for (const name of names) route(app, name === 'put_a' ? 'PUT' : 'GET', name)
    }, options)
    await app.ready()
    return contractFromApp(app)!
  }
  const bumps = (before: Parameters<typeof diffContracts>[0], after: typeof before) =>
    diffContracts(before, after).findings.map(({ bump, tool }) => `${bump} ${tool}`)
  const [plain, searched, less] = [
    await contractOf({}, ['get_a', 'put_a']),
    await contractOf(SEARCH, ['get_a', 'put_a']),
    await contractOf(SEARCH, ['get_a'])
  ]
  t.strictSame([...searched.keys()], ['get_a', 'put_a', ...NAMES])
  t.strictSame(bumps(plain, searched), [...NAMES, '/mcp/search'].map((name) => `minor ${name}`))
  t.strictSame(bumps(searched, plain), [...NAMES, '/mcp/search'].map((name) => `major ${name}`))
  t.strictSame(bumps(searched, less), ['major put_a'], 'a tool that clients only find is under contract like any other')
})

// Signatures and ranking

t.test('a signature says what a schema says, in one line', (t) => {
  const string = { type: 'string' }
  const signature = (properties: object, required: readonly string[] = [], more: object = {}) =>
    signatureOf({ type: 'object', properties, required, ...more })
  for (
    const [schema, text] of [
      [{}, 'any'],
      [true, 'any'],
      [string, 'string'],
      [{ type: ['string', 'null'] }, 'string | null'],
      [{ enum: ['a', 1, null] }, '"a" | 1 | null'],
      [{ const: 'a' }, '"a"'],
      [{ type: 'string', enum: ['x'.repeat(50), 'b'] }, '… | "b"'],
      [
        { type: 'string', enum: Array.from({ length: 20 }, (_, n) => n) },
        '0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | …'
      ],
      [{ type: 'array', items: string }, 'string[]'],
      [{ type: 'array' }, 'any[]'],
      [{ type: 'array', items: { anyOf: [string, { type: 'integer' }] } }, '(string | integer)[]'],
      [{ oneOf: [string, string] }, 'string'],
      [{ anyOf: [string, {}] }, 'any'],
      [{ allOf: [{ minLength: 1 }, string] }, 'string'],
      [{ allOf: [] }, 'any'],
      [{ type: 'object' }, 'object'],
      [{ type: 'object', properties: { b: string, c: {} }, required: ['b'] }, '{ b: string, c?: any }'],
      [{ $ref: '#/$defs/Node' }, '{ next?: { next?: object } }'],
      [{ $ref: '#/$defs/Loop' }, 'any'],
      [{ $ref: '#/$defs/None' }, 'any'],
      [{ $ref: 'elsewhere' }, 'any'],
      [{ $ref: '#/$defs/__proto__' }, 'any'],
      [5, 'any']
    ] as const
  ) {
    t.equal(
      signature({ a: schema }, [], {
        $defs: {
          Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } },
          Loop: { anyOf: [{ $ref: '#/$defs/Loop' }, string] }
        }
      }),
      `(a?: ${text})`
    )
  }
  t.equal(signature({ a: string, b: string }, ['b']), '(b: string, a?: string)', 'required ones come first')
  t.equal(signatureOf({ type: 'object' }), '()')
  const deep = {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`property_${n}`, string]))
  }
  t.equal(signature({ a: string, b: deep }), '(a?: string, b?: object)', 'records are written out where there is room')
  const long = signature(Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`argument_${n}`, string])), [
    'argument_99'
  ])
  t.ok(
    long.length < 420 && long.startsWith('(argument_99: string, argument_0?: string, ') && long.endsWith(', …)'),
    long
  )
  t.equal(signature({ ['x'.repeat(1000)]: string }), '(…)')
  t.end()
})

t.test('words that every question has do not decide what comes first', async (t) => {
  const app = await build(t, (app) => {
    for (
      const [name, description] of [
        ['list_invoices', 'Invoices.'],
        ['list_customers', 'Customers.'],
        ['cancel_order', 'It is not sent then.'],
        ['get_theme', 'The theme of the shop.'],
        ['check_format', 'Checks the format for you, and what it is.'],
        ['invite_user', 'Invites a user to the team, with which you would do this.'],
        ['get_me', 'Who you are.']
      ] as const
    ) route(app, 'GET', name, { schema: { description } })
  })
  await app.ready()
  const rank = ranking()
  const tools = app.mcpTools.map((tool) => ({ public: tool }))
  const found = (query: string): readonly string[] => rank(tools, query).map((tool) => tool.public.name)
  for (
    const [query, names] of [
      ['invoices', ['list_invoices']],
      ['can I see my invoices', ['list_invoices']],
      ['the invoices', ['list_invoices']],
      ['what is it with the invoices for you', ['list_invoices']],
      ['I would like to know which of the things that you have for me are invoices', ['list_invoices']],
      ['cancel it for me', ['cancel_order']],
      ['get me the theme', ['get_theme', 'get_me']],
      ['get me', ['get_me', 'get_theme']],
      ['Who are you?', ['get_me']],
      ['nothing of this does', []]
    ] as const
  ) t.strictSame(found(query), names, query)
})

t.test('what fits best comes first', async (t) => {
  const app = await build(t, (app) => {
    for (
      const [method, name, description, mcp] of [
        ['GET', 'list_orders', 'List orders, newest first.'],
        ['GET', 'get_order', 'One order with its lines.'],
        ['GET', 'list_order_lines', 'The lines of an order.'],
        ['POST', 'create_order', 'Create an order for a customer.'],
        ['POST', 'refund_order', 'Give the money back. The customer gets an email.'],
        ['GET', 'listCategories', 'All categories.'],
        ['GET', 'get_repository', 'Where the code is.'],
        ['DELETE', 'delete_branch', 'Branches that are merged.', { searchHint: 'prune cleanup' }],
        ['GET', 'find', 'Find anything.', { title: 'Look up' }],
        ['GET', 'list_customers', 'List customers.']
      ] as ReadonlyArray<readonly [string, string, string, McpRouteConfig?]>
    ) route(app, method, name, { schema: { description }, ...mcp && { mcp } })
  })
  await app.ready()
  const rank = ranking()
  const tools = app.mcpTools.map((tool) => ({ public: tool }))
  const found = (query: string): readonly string[] => rank(tools, query).map((tool) => tool.public.name)
  for (
    const [query, first] of [
      ['list_orders', 'list_orders'],
      ['LIST_ORDERS ', 'list_orders'],
      ['get order', 'get_order'],
      ['list orders', 'list_orders'],
      ['order lines', 'list_order_lines'],
      ['create a new order', 'create_order'],
      ['give a customer money back', 'refund_order'],
      ['categories', 'listCategories'],
      ['category', 'listCategories'],
      ['list categories', 'listCategories'],
      ['repo', 'get_repository'],
      ['repositories', 'get_repository'],
      ['branches', 'delete_branch'],
      ['prune', 'delete_branch'],
      ['look up', 'find'],
      ['find', 'find'],
      ['refunds', 'refund_order'],
      ['email', 'refund_order']
    ] as const
  ) t.equal(found(query)[0], first, query)
  t.strictSame(found('nothing here matches'), [])
  t.strictSame(found('re'), [], 'the beginning of a word counts from three letters on')
  t.strictSame(
    found('customers'),
    ['list_customers'],
    'what only mentions a word that another is named for is left out'
  )
  t.equal(found('').length, tools.length)
  t.strictSame(
    rank(tools.filter(({ public: { name } }) => name !== 'list_orders'), 'list_orders').map((tool) => tool.public.name)
      .includes('list_orders'),
    false
  )
  t.strictSame(rank([], 'orders'), [])
})
