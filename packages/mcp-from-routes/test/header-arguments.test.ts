import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { contractFromTools, diffContracts } from '../src/contract/index.ts'
import type { ArgumentOverrides, McpFromRoutesOptions } from '../src/index.ts'
import { build, call, CLIENTS, connect, listen, post } from './build.ts'

const KEY = { type: 'string', pattern: '^[A-Za-z0-9-]+$', maxLength: 36, description: 'Names this order.' }
const HEADERS = {
  type: 'object',
  properties: { 'Idempotency-Key': KEY, 'If-Match': { type: 'string' }, 'X-Tries': { type: 'integer' } },
  required: ['Idempotency-Key']
}
const CHOSEN: ArgumentOverrides = {
  headers: {
    'Idempotency-Key': { name: 'idempotency_key' },
    'if-match': { name: 'if_match', description: 'The etag of what you read.' }
  }
}

interface Given {
  readonly headers?: object | undefined
  readonly arguments?: ArgumentOverrides | undefined
  readonly loopback?: 'inject'
  readonly url?: string
  readonly more?: object
}

/** A tool whose route answers with the headers that reached it, in the form in which they did. */
function order (given: Given = {}): (app: FastifyInstance) => void {
  const { headers = HEADERS, loopback, url = '/orders', more } = given
  const chosen = 'arguments' in given ? given.arguments : CHOSEN
  const properties = { note: { type: 'string' } }
  return (app) => {
    app.post(url, {
      schema: {
        operationId: 'create_order',
        description: 'Order.',
        tags: ['mcp'],
        body: { type: 'object', properties },
        headers,
        ...more
      },
      config: { mcp: { ...chosen && { arguments: chosen }, ...loopback && { loopback } } }
    }, async ({ headers, raw: { rawHeaders }, body }) => ({
      key: headers['idempotency-key'] ?? null,
      match: headers['if-match'] ?? null,
      tries: headers['x-tries'] ?? null,
      names: rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()).sort(),
      body
    }))
  }
}

/** Each way from a message to the route: what answers it, and what carries the inner request. */
const WAYS = [
  ['directly, lightly', {}, {}],
  ['by the SDK, lightly', { extra: 1 }, {}],
  ['directly, by inject', {}, { loopback: 'inject' }],
  ['by the SDK, by inject', { extra: 1 }, { loopback: 'inject' }]
] as const

async function sent (url: URL, args: object, more: object = {}, headers: Record<string, string> = {}) {
  const params = { name: 'create_order', arguments: args, ...more }
  const { body } = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)
  const { result } = body as { result: { structuredContent?: Record<string, unknown>, content: [{ text: string }] } }
  return { route: result.structuredContent, said: result.content[0].text }
}

t.test('a header that the route describes is an argument where config.mcp says so', async (t) => {
  const { app } = await listen(t, order())
  t.strictSame(app.mcpTools[0]?.inputSchema, {
    type: 'object',
    properties: {
      note: { type: 'string' },
      idempotency_key: { ...KEY, minLength: 1 },
      if_match: { type: 'string', description: 'The etag of what you read.', minLength: 1 }
    },
    required: ['idempotency_key'],
    additionalProperties: false
  })
})

for (const [way, message, route] of WAYS) {
  t.test(`what the caller passes reaches the route, and what it does not pass does not: ${way}`, async (t) => {
    const { url } = await listen(t, order(route))
    const args = { note: 'n', idempotency_key: 'k-1', if_match: '"a, b"' }
    t.match((await sent(url, args, message)).route, { key: 'k-1', match: '"a, b"', tries: null, body: { note: 'n' } })
    // The client's own HTTP request may have such headers, and they are not about this call.
    const own = { 'idempotency-key': 'own', 'if-match': '"own"', 'x-tries': '9' }
    for (const none of [{ idempotency_key: 'k-2' }, { idempotency_key: 'k-2', if_match: null }]) {
      const { route } = await sent(url, none, message, own)
      t.match(route, { key: 'k-2', match: null, tries: null })
      t.notOk((route?.names as string[]).includes('if-match'), 'no header at all')
    }
    t.equal(
      (await sent(url, {}, message, own)).said,
      "400 Bad Request: arguments must have required property 'idempotency_key' (FST_ERR_VALIDATION)"
    )
    t.equal(
      (await sent(url, { idempotency_key: 'k_1' }, message, own)).said,
      '400 Bad Request: idempotency_key must match pattern "^[A-Za-z0-9-]+$" (FST_ERR_VALIDATION)'
    )
    t.equal(
      (await sent(url, { idempotency_key: 'k-1', x: 1 }, message)).said,
      'Unknown argument "x". This tool takes note, idempotency_key, if_match'
    )
  })
}

for (const which of CLIENTS) {
  t.test(`a client passes it like any other: ${which}`, async (t) => {
    const { url } = await listen(t, order())
    const client = await connect(t, which, url)
    await client.listTools()
    const { structuredContent } = await client.callTool({
      name: 'create_order',
      arguments: { idempotency_key: 'k-1', if_match: '"1"' }
    })
    t.match(structuredContent, { key: 'k-1', match: '"1"' })
  })
}

const LINE = 'must be one line of Latin characters, without a space at either end: it is sent as a header'
const SCALAR = 'must be a string, a number or a boolean'

for (
  const [title, value, problem] of [
    ['a second header', 'a\r\nx-api-key: stolen', LINE],
    ['a second request', 'a\r\n\r\nDELETE / HTTP/1.1', LINE],
    ['a line feed alone', 'a\nb', LINE],
    ['a carriage return alone', 'a\rb', LINE],
    ['a folded line', 'a\r\n b', LINE],
    ['a line break at the end', 'a\n', LINE],
    ['a NUL', 'a\u0000b', LINE],
    ['a control character', 'a\u001bb', LINE],
    ['a DEL', 'a\u007fb', LINE],
    ['a space before', ' a', LINE],
    ['a space after', 'a ', LINE],
    ['a tab before', '\ta', LINE],
    ['a space alone', ' ', LINE],
    ['a letter that is cut to a line feed', 'a\u010ab', LINE],
    ['an emoji', 'a😀', LINE],
    ['half an emoji', 'a\ud83d', LINE],
    ['a line separator', 'a\u2028b', LINE],
    ['nothing', '', 'must not be empty'],
    ['more than a request may have', 'x'.repeat(16_385), 'must not be longer than 16384 characters'],
    ['more line breaks than a request may have', '\r\n'.repeat(200_000), 'must not be longer than 16384 characters'],
    ['several', ['a', 'b'], SCALAR],
    ['one in a list', ['a'], SCALAR],
    ['an object', { toString: 'a' }, SCALAR]
  ] as const
) {
  t.test(`no call has a header that no message may have: ${title}`, async (t) => {
    let ran = 0
    const chosen = { headers: { 'if-match': { name: 'if_match' } } }
    const headers = { type: 'object', properties: { 'if-match': {} } }
    const { url } = await listen(t, (app) => {
      app.addHook('onRequest', async ({ url }) => {
        if (url === '/orders') ran += 1
      })
      order({ headers, arguments: chosen })(app)
    })
    t.equal((await sent(url, { if_match: value })).said, `if_match ${problem}`)
    // Told with everything else that is wrong.
    t.equal((await sent(url, { if_match: value, x: 1 })).said.split('\n')[1], `if_match ${problem}`)
    t.equal(ran, 0)
  })
}

for (
  const [title, value, arrives] of [
    ['as it is', 'W/"1"', 'W/"1"'],
    ['with spaces and tabs inside', 'a \t b', 'a \t b'],
    ['with letters of Latin-1', 'é\u0080ÿ', 'é\u0080ÿ'],
    ['as long as a request may have it', 'x'.repeat(16_384), 'x'.repeat(16_384)],
    ['a number', 5, '5'],
    ['a truth value', false, 'false'],
    ['what is no end of anything', 'a: b; c="d", \'\\ %0d%0a', 'a: b; c="d", \'\\ %0d%0a']
  ] as const
) {
  t.test(`a value that a header holds arrives: ${title}`, async (t) => {
    for (const loopback of [{}, { loopback: 'inject' }] as const) {
      const headers = { type: 'object', properties: { 'if-match': {} } }
      const { url } = await listen(
        t,
        order({
          headers,
          arguments: { headers: { 'IF-MATCH': { name: 'if_match' } } },
          ...loopback
        })
      )
      t.equal((await sent(url, { if_match: value })).route?.match, arrives)
    }
  })
}

t.test('names are those of the configuration alone, and the header comes once', async (t) => {
  const { url } = await listen(t, order())
  for (const name of ['Idempotency-Key', 'idempotency-key', 'IDEMPOTENCY_KEY', 'x-api-key']) {
    t.match((await sent(url, { idempotency_key: 'k', [name]: 'x' })).said, `Unknown argument "${name}"`)
  }
  const twice = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_order","arguments":' +
    '{"idempotency_key":"a","idempotency_key":"b"}}}'
  const { body } = await post(url, twice)
  t.match(body, { result: { structuredContent: { key: 'b' } } })
  const { names } = (body as { result: { structuredContent: { names: string[] } } }).result.structuredContent
  t.strictSame(names, [...new Set(names)])
})

t.test('a header is read as its schema says, and digits that a number would lose are refused', async (t) => {
  const { app, url } = await listen(
    t,
    order({
      arguments: {
        headers: {
          'x-tries': { name: 'tries' },
          'idempotency-key': { name: 'key' }
        }
      }
    })
  )
  t.match(app.mcpTools[0]?.inputSchema, { properties: { tries: { type: 'integer' } }, required: ['key'] })
  t.match((await sent(url, { key: 'k', tries: 3 })).route, { tries: 3 })
  t.match((await sent(url, { key: 'k', tries: '3' })).route, { tries: 3 })
  t.equal((await sent(url, { key: 'k', tries: 1.5 })).said, 'tries must be integer, not number')
  t.match((await sent(url, { key: 'k', tries: '9007199254740993' })).said, /^tries has more digits than a number keeps/)
})

t.test('a required header with a default is optional, as it is for the route', async (t) => {
  const headers = { ...HEADERS, properties: { 'Idempotency-Key': { ...KEY, default: 'none' } } }
  const chosen = { headers: { 'idempotency-key': { name: 'idempotency_key' } } }
  const { app, url } = await listen(t, order({ headers, arguments: chosen }))
  t.notOk('required' in (app.mcpTools[0]?.inputSchema ?? {}))
  t.match((await sent(url, {})).route, { key: 'none' })
})

t.test('the header may be described in a shared schema, or in parts', async (t) => {
  const { app } = await listen(t, (app) => {
    app.addSchema({ $id: 'key', type: 'string', maxLength: 9 })
    app.addSchema({ $id: 'repeats', type: 'object', properties: { 'idempotency-key': { $ref: 'key#' } } })
    order({
      headers: { allOf: [{ $ref: 'repeats#' }], type: 'object', properties: {}, required: ['idempotency-key'] },
      arguments: { headers: { 'Idempotency-Key': { name: 'idempotency_key' } } }
    })(app)
  })
  t.match(app.mcpTools[0]?.inputSchema, {
    properties: { idempotency_key: { type: 'string', maxLength: 9 } },
    required: ['idempotency_key']
  })
})

t.test('a credential may imply it, and one argument may fill a header and a field', async (t) => {
  const chosen: ArgumentOverrides = {
    headers: { 'idempotency-key': { name: 'note' }, 'x-tries': { name: 'tries' } },
    body: { note: { name: 'note' } }
  }
  const required = { ...HEADERS, required: ['x-tries'] }
  const { url } = await listen(t, order({ headers: required, arguments: chosen }), {
    impliedArguments: { tries: () => 4 }
  })
  t.match((await sent(url, { note: 'k' })).route, { key: 'k', tries: 4, body: { note: 'k' } })
  t.match((await sent(url, { note: 'k', tries: 5 })).route, { tries: 5 })
})

t.test('the contract holds it as any argument', async (t) => {
  const contractOf = async (given: Given): Promise<ReturnType<typeof contractFromTools>> => {
    const app = await build(t, order(given))
    await app.ready()
    return contractFromTools(app.mcpTools)
  }
  const optional = { ...HEADERS, required: [] }
  const before = await contractOf({ headers: optional })
  const found = async (given: Given): Promise<unknown> =>
    diffContracts(before, await contractOf(given)).findings.map(({ bump, path, change }) => [bump, path, change])
  t.strictSame(await found({ headers: optional, arguments: undefined }), [
    ['major', 'input.idempotency_key', 'argument → removed'],
    ['major', 'input.if_match', 'argument → removed']
  ])
  t.match(await found({}), [['major', 'input.idempotency_key', 'optional → required']])
  t.match(
    await found({
      headers: { ...optional, properties: { ...HEADERS.properties, 'Idempotency-Key': { ...KEY, maxLength: 9 } } }
    }),
    [
      ['major', 'input.idempotency_key']
    ]
  )
})

const CREDENTIAL = 'it carries a credential, which no model may choose. Remove it here: forwardHeaders bring that of ' +
  'the caller'
const OWNED = 'the server, a proxy, a tracer or a browser writes it. Remove it here'

for (
  const [reason, names] of [
    [CREDENTIAL, [
      'Authorization',
      'Proxy-Authorization',
      'Cookie',
      'X-API-Key',
      'api-key',
      'x-goog-api-key',
      'Ocp-Apim-Subscription-Key',
      'X-Auth-Token',
      'X-Access-Token',
      'X-CSRF-Token',
      'X-XSRF-Token',
      'DPoP',
      'Signature',
      'X-Session',
      'Mcp-Session-Id',
      'x-client-secret',
      'X-Amz-Security-Token',
      'cf-access-jwt-assertion'
    ]],
    [OWNED, [
      'Host',
      'Content-Type',
      'Content-Length',
      'Content-MD5',
      'Transfer-Encoding',
      'Connection',
      'Keep-Alive',
      'TE',
      'Trailer',
      'Upgrade',
      'Expect',
      'Date',
      'Range',
      'Accept',
      'Accept-Encoding',
      'Accept-Version',
      'Mcp-Param-Shop',
      'MCP-Protocol-Version',
      'Proxy-Connection',
      'User-Agent',
      'Origin',
      'Referer',
      'Sec-Fetch-Site',
      'Via',
      'Forwarded',
      'X-Forwarded-For',
      'X-Forwarded-User',
      'X-Forwarded-Client-Cert',
      'X-Real-IP',
      'True-Client-IP',
      'CF-Connecting-IP',
      'X-Original-URL',
      'X-HTTP-Method-Override',
      'Remote-User',
      'X-Remote-User',
      'X-MS-Client-Principal',
      'Traceparent',
      'X-B3-TraceId'
    ]]
  ] as const
) {
  t.test(`headers are never arguments where ${reason.split(/[:,.]/)[0]}`, async (t) => {
    const app = await build(t, (app) => {
      for (const [index, name] of names.entries()) {
        const headers = { type: 'object', properties: { [name]: { type: 'string' } } }
        const chosen = { arguments: { headers: { [name]: { name: 'a' } } } }
        app.post(`/${index}`, {
          schema: { operationId: `o${index}`, description: 'O.', tags: ['mcp'], headers },
          config: { mcp: chosen }
        }, async () => ({}))
      }
    })
    const { errors } = await Promise.resolve(app.ready()).then(
      () => ({ errors: [] }),
      (error: unknown) => error as { errors: Error[] }
    )
    t.strictSame(
      errors.map(({ message }) => message),
      names.map((name, index) =>
        `POST /${index} has a wrong config.mcp: arguments.headers.${name.toLowerCase()} cannot be the argument a: ` +
        reason
      )
    )
  })
}

t.test('headers in which callers say something of their call may be arguments', async (t) => {
  const names = [
    'Idempotency-Key',
    'X-Idempotency-Key',
    'If-Match',
    'If-None-Match',
    'If-Unmodified-Since',
    'Prefer',
    'Accept-Language',
    'X-Request-Id',
    'X-Page-Token',
    'X-Partition-Key',
    'X-Tenant'
  ]
  const { app } = await listen(
    t,
    order({
      headers: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) },
      arguments: { headers: Object.fromEntries(names.map((name) => [name, { name }])) }
    })
  )
  t.strictSame(Object.keys(Object(app.mcpTools[0]?.inputSchema.properties)), ['note', ...names])
})

const named = (name: string) => ({ name })

for (
  const [title, given, options, problem] of [
    [
      'a header that schema.headers does not describe',
      { headers: { type: 'object', properties: { other: { type: 'string' } } } },
      {},
      'has a wrong config.mcp: arguments.headers.idempotency-key is not an input of the route. Describe it in ' +
      "schema.headers, as in { type: 'string', maxLength: 255 }"
    ],
    [
      'a header of a route without schema.headers',
      { more: { headers: undefined } },
      {},
      'has a wrong config.mcp: arguments.headers.idempotency-key is not an input of the route. Describe it in ' +
      "schema.headers, as in { type: 'string', maxLength: 255 }"
    ],
    [
      'a header that each call brings from its caller',
      {},
      { forwardHeaders: ['authorization', 'Idempotency-Key'] },
      'has a wrong config.mcp: arguments.headers.idempotency-key cannot be the argument idempotency_key: it is one ' +
      "of forwardHeaders, so each call brings the caller's own. Remove it there, or here"
    ],
    [
      'one header twice',
      { arguments: { headers: { 'Idempotency-Key': named('a'), 'idempotency-key': named('b') } } },
      {},
      'has a wrong config.mcp: arguments.headers has idempotency-key twice. Case does not count in a header'
    ],
    [
      'one header that is fixed, too',
      { arguments: { headers: { 'Idempotency-Key': named('a'), 'idempotency-key': { value: 'b' } } } },
      {},
      'has a wrong config.mcp: arguments.headers has idempotency-key twice. Case does not count in a header'
    ],
    [
      'two headers of one name',
      { arguments: { headers: { 'idempotency-key': named('a'), 'if-match': named('a') } } },
      {},
      'has a wrong config.mcp: arguments.headers gives two inputs the same name'
    ],
    [
      'the name of a field of the body',
      { arguments: { headers: { 'idempotency-key': named('note') } } },
      {},
      'has two inputs named note (body and header). Rename one in config.mcp.arguments, or give both the same name ' +
      'there to fill them from one argument'
    ],
    [
      'the name of a path parameter',
      { url: '/orders/:id', arguments: { headers: { 'idempotency-key': named('id') } } },
      {},
      'has two inputs named id (path and header). Rename one in config.mcp.arguments, or give both the same name ' +
      'there to fill them from one argument'
    ],
    [
      'the name of a query argument',
      {
        more: { querystring: { type: 'object', properties: { q: { type: 'string' } } } },
        arguments: { headers: { 'idempotency-key': named('q') } }
      },
      {},
      'has two inputs named q (query and header). Rename one in config.mcp.arguments, or give both the same name ' +
      'there to fill them from one argument'
    ],
    [
      'a name that clients refuse',
      { arguments: { headers: { 'idempotency-key': named('a key') } } },
      {},
      'has a wrong config.mcp: arguments.headers.idempotency-key.name must be 1 to 64 letters, digits, _, . or -'
    ],
    [
      'a description without a name',
      { arguments: { headers: { 'idempotency-key': { description: 'A key.' } } } },
      {},
      'has a wrong config.mcp: arguments.headers.idempotency-key must have a name, with or without a description, or ' +
      'else a value'
    ],
    [
      'a header that proxies route by, which a header cannot be',
      { arguments: { headers: { 'idempotency-key': { name: 'key', header: 'Key' } } } },
      {},
      'has a wrong config.mcp: arguments.headers.idempotency-key must have a name, with or without a description, or ' +
      'else a value'
    ],
    [
      'a list',
      {
        headers: { type: 'object', properties: { 'If-Match': { type: 'array', items: { type: 'string' } } } },
        arguments: { headers: { 'if-match': named('if_match') } }
      },
      {},
      'has a schema that cannot be published: the header If-Match is an array, and an argument that is a header must ' +
      'be a string'
    ],
    [
      'headers that are no fixed list',
      {
        headers: { oneOf: [{ type: 'object', properties: { 'if-match': {} } }, { type: 'object' }] },
        arguments: { headers: { 'if-match': named('if_match') } }
      },
      {},
      'has a schema that cannot be published: headers is not an object with a fixed list of properties'
    ]
  ] as ReadonlyArray<readonly [string, Given, Partial<McpFromRoutesOptions>, string]>
) {
  t.test(`refused at startup: ${title}`, async (t) => {
    const app = await build(t, order(given), options)
    await t.rejects(async () => {
      await app.ready()
    }, { message: `POST ${given.url ?? '/orders'} ${problem}` })
  })
}

t.test('a required header that nothing fills stops startup, which names every way to fill it', async (t) => {
  for (
    const [name, cure] of [
      [
        'Idempotency-Key',
        ', or make it an argument: config.mcp.arguments: ' +
        '{"headers":{"idempotency-key":{"name":"idempotency_key"}}}'
      ],
      ['X-Session-Token', '']
    ] as const
  ) {
    const headers = { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] }
    const app = await build(t, order({ headers, arguments: undefined }))
    await t.rejects(async () => {
      await app.ready()
    }, {
      code: 'MCP_FROM_ROUTES_UNSUPPORTED_ROUTE',
      message: `POST /orders cannot be a tool: it requires the header ${name.toLowerCase()}. Add it to ` +
        `forwardHeaders, or give it a value in config.mcp.arguments.headers${cure}`
    })
  }
})

t.test('a header by which the router finds the route is no argument', async (t) => {
  const constraint = {
    name: 'version',
    storage: () => {
      const routes = new Map<unknown, unknown>()
      return {
        get: (key: unknown) => routes.get(key) ?? null,
        set: (key: unknown, route: unknown) => {
          routes.set(key, route)
        }
      }
    },
    deriveConstraint: ({ headers }: { headers: Record<string, string | undefined> }) => headers['x-version'],
    validate: () => {},
    mustMatchWhenDerived: true
  }
  const app = await build(
    t,
    (app) => {
      app.post('/orders', {
        constraints: { version: '2' },
        schema: {
          operationId: 'create_order',
          description: 'Order.',
          tags: ['mcp'],
          headers: { type: 'object', properties: { 'x-version': { type: 'string' } } }
        },
        config: { mcp: { arguments: { headers: { 'x-version': { name: 'version' } } } } }
      }, async () => ({}))
    },
    {},
    { routerOptions: { constraints: { version: constraint as never } } }
  )
  await t.rejects(async () => {
    await app.ready()
  }, {
    message: /headers\.x-version cannot be the argument version: the router finds the route by it\. Remove it here$/
  })
})

t.test('a header of a number that the validator takes for a string alone stops startup', async (t) => {
  const app = await build(
    t,
    order({
      arguments: {
        headers: {
          'x-tries': { name: 'tries' },
          'idempotency-key': { name: 'idempotency_key' }
        }
      }
    }),
    {},
    { ajv: { customOptions: { coerceTypes: false } } }
  )
  await t.rejects(async () => {
    await app.ready()
  }, { message: /^POST \/orders cannot be a tool: its header x-tries has the type integer, but arrives as a string/ })
})

t.test('what a route says of headers that are no arguments stays as it says it', async (t) => {
  const headers = {
    type: 'object',
    properties: { 'Idempotency-Key': KEY, 'X-Plan': { type: 'string', enum: ['a', 'b'] } }
  }
  const { url } = await listen(t, (app) => {
    order({
      headers,
      arguments: { headers: { 'idempotency-key': { name: 'key' }, 'x-plan': { value: 'c' } } }
    })(app)
    app.get(
      '/words',
      { schema: { operationId: 'words', description: 'W.', tags: ['mcp'] } },
      async (_, reply) => reply.code(400).send({ message: 'headers must be signed, and headers/x must be y' })
    )
  })
  t.equal(
    (await sent(url, { key: 'k' })).said,
    '400 Bad Request: headers/x-plan must be equal to one of the allowed values (FST_ERR_VALIDATION)'
  )
  t.match(await call(url, 'words'), {
    content: [{ text: '400 Bad Request: headers must be signed, and headers/x must be y' }]
  })
})
