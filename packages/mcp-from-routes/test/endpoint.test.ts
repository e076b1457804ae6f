import cors from '@fastify/cors'
import { once } from 'node:events'
import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { listen, post } from './build.ts'

const HELLO = { schema: { operationId: 'hello', description: 'Says hello.', tags: ['mcp'] } }
const hello = (app: FastifyInstance): void => {
  app.get('/hello', HELLO, async () => ({ hello: 'world' }))
}
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const error = (code: number, message: string): unknown => ({ jsonrpc: '2.0', error: { code, message }, id: null })

t.test('the endpoint answers at its path with and without a slash', async (t) => {
  const { url } = await listen(t, hello)
  for (const path of ['/mcp', '/mcp/']) {
    const { status, body } = await post(new URL(path, url), LIST)
    t.equal(status, 200)
    t.match(body, { id: 1, result: { tools: [{ name: 'hello' }] } })
  }
  t.equal((await post(new URL('/mcp/x', url), LIST)).status, 404)
})

t.test('another path, and a router that ignores slashes at the end', async (t) => {
  const { url } = await listen(t, hello, { path: '/agents/' }, { routerOptions: { ignoreTrailingSlash: true } })
  for (const path of ['/agents', '/agents/']) t.equal((await post(new URL(path, url), LIST)).status, 200)
})

t.test('every method but POST gets 405 with Allow', async (t) => {
  const { url } = await listen(t, hello)
  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
    for (const path of ['/mcp', '/mcp/']) {
      const response = await fetch(new URL(path, url), {
        method,
        ...['PUT', 'PATCH'].includes(method) && { body: '<x/>', headers: { 'content-type': 'text/xml' } }
      })
      t.equal(response.status, 405)
      t.equal(response.headers.get('allow'), 'POST')
      t.strictSame(await response.text(), method === 'HEAD' ? '' : JSON.stringify(error(-32000, 'Method not allowed.')))
    }
  }
})

t.test('a page of another origin gets 403, before authentication', async (t) => {
  let authenticated = 0
  const { url } = await listen(t, hello, {
    onRequest: async () => {
      authenticated += 1
    }
  })
  for (
    const origin of [
      'https://evil.example.com',
      `http://evil.example.com:${url.port}`,
      'null',
      'http://localhost.evil.example.com',
      'http://127.0.0.1.example.com'
    ]
  ) {
    const { status, body } = await post(url, LIST, { origin })
    t.equal(status, 403, origin)
    t.strictSame(body, error(-32000, 'Origin not allowed'))
  }
  t.equal(authenticated, 0)
  for (const origin of ['http://localhost', 'http://localhost:5173', 'https://127.0.0.1:8443', 'http://[::1]:80']) {
    t.equal((await post(url, LIST, { origin })).status, 200, origin)
  }
})

t.test('an allowed origin with :* is every port of its host, and no other host', async (t) => {
  const { url } = await listen(t, hello, { allowedOrigins: ['http://localhost:*', 'http://[::1]:*'] })
  for (
    const [origin, status] of [
      ['http://localhost:6274', 200],
      ['http://[::1]:6274', 200],
      ['http://localhost', 200],
      ['https://localhost:6274', 403],
      ['http://localhost.example.com:1', 403],
      ['http://127.0.0.1:6274', 403],
      ['http://localhost:6274:1', 403],
      ['http://localhost:x', 403],
      ['null', 403]
    ] as const
  ) t.equal((await post(url, LIST, { origin })).status, status, origin)
})

t.test('allowedOrigins are the only ones, exactly', async (t) => {
  const { url } = await listen(t, hello, { allowedOrigins: ['https://app.example.com'] })
  t.equal((await post(url, LIST, { origin: 'https://app.example.com' })).status, 200)
  for (const origin of ['http://app.example.com', 'https://app.example.com:8443', 'http://localhost']) {
    t.equal((await post(url, LIST, { origin })).status, 403, origin)
  }
  t.equal((await post(url, LIST)).status, 200, 'a client that is no browser sends no Origin')
})

t.test('an allowed origin may be that of a browser extension', async (t) => {
  const { url } = await listen(t, hello, {
    allowedOrigins: ['chrome-extension://abcdefgh', 'capacitor://localhost:8100']
  })
  for (const origin of ['chrome-extension://abcdefgh', 'capacitor://localhost:8100']) {
    t.equal((await post(url, LIST, { origin })).status, 200, origin)
  }
  for (
    const origin of ['chrome-extension://abcdefgi', 'chrome-extension://abcdefgh/', 'moz-extension://abcdefgh', 'null']
  ) t.equal((await post(url, LIST, { origin })).status, 403, origin)
})

t.test('onRequest guards the endpoint, and its challenge reaches the client', async (t) => {
  const { url } = await listen(t, hello, {
    onRequest: async ({ headers }, reply) => {
      if (headers.authorization !== 'Bearer good') {
        return reply.code(401).header('www-authenticate', 'Bearer resource_metadata="x"').send({
          statusCode: 401,
          error: 'Unauthorized',
          message: 'no'
        })
      }
    }
  })
  const { status, headers, body } = await post(url, LIST)
  t.equal(status, 401)
  t.equal(headers.get('www-authenticate'), 'Bearer resource_metadata="x"')
  t.strictSame(body, { statusCode: 401, error: 'Unauthorized', message: 'no' })
  t.equal((await post(url, LIST, { authorization: 'Bearer good' })).status, 200)
})

t.test('onRequest need not return a promise, and may take a callback', async (t) => {
  const { url } = await listen(t, hello, {
    onRequest: [() => {}, (_request, _reply) => {}, (_request, _reply, done) => done()]
  })
  t.equal((await post(url, LIST)).status, 200)
})

t.test('hooks and headers of the host apply to answers, even when they are added after the plugin', async (t) => {
  const { url } = await listen(t, (app) => {
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('access-control-allow-origin', 'http://localhost')
    })
    app.addHook('onSend', async (_request, reply) => {
      reply.header('x-frame-options', 'DENY')
    })
    hello(app)
  })
  for (const message of [LIST, { jsonrpc: '2.0', id: 1, method: 'ping' }, '{']) {
    const { headers } = await post(url, message)
    t.equal(headers.get('access-control-allow-origin'), 'http://localhost')
    t.equal(headers.get('x-frame-options'), 'DENY')
  }
})

t.test('a serializer that a hook of the host has set does not write answers twice', async (t) => {
  const { url } = await listen(t, (app) => {
    app.addHook('preHandler', async (_request, reply) => {
      reply.type('application/json').serializer((payload: unknown) => JSON.stringify(payload))
    })
    hello(app)
  })
  t.match(await post(url, LIST), { status: 200, body: { result: { tools: [{}] } } })
  t.match(await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hello' } }), {
    status: 200,
    body: { result: { content: [{}] } }
  })
  t.match(await post(url, { jsonrpc: '2.0', id: 1, method: 'ping' }), { status: 200, body: { result: {} } })
})

t.test('a host error handler sees the errors of its own hooks', async (t) => {
  const { url } = await listen(t, (app) => {
    app.setErrorHandler((error: Error, _request, reply) => reply.code(418).send({ mine: error.message }))
    app.addHook('preHandler', async ({ url }) => {
      if (url === '/mcp') throw new TypeError('hook')
    })
    hello(app)
  })
  t.match(await post(url, LIST), { status: 418, body: { mine: 'hook' } })
})

t.test('a compressed message gets 415, which says how to send it', async (t) => {
  const { url } = await listen(t, hello)
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: gzipSync(JSON.stringify(LIST))
  })
  t.strictSame([response.status, response.headers.get('accept-encoding'), await response.json()], [
    415,
    'identity',
    error(-32000, 'Content-Encoding gzip is not supported: send messages without it')
  ])
})

t.test('a message that is not UTF-8 reaches no route', async (t) => {
  const stored: unknown[] = []
  const notes = (app: FastifyInstance): void => {
    app.post('/notes', {
      schema: {
        operationId: 'add_note',
        description: 'Add',
        tags: ['mcp'],
        body: { type: 'object', properties: { text: { type: 'string' } } }
      }
    }, async ({ body }) => {
      stored.push((body as { text: string }).text)
      return {}
    })
  }
  const { url } = await listen(t, notes)
  const [before, after] = JSON.stringify({
    jsonrpc: '2.0',
    id: 7,
    method: 'tools/call',
    params: { name: 'add_note', arguments: { text: '|' } }
  }).split('|').map((text) => Buffer.from(text)) as [Buffer, Buffer]
  const send = async (pieces: readonly Buffer[], to = url): Promise<unknown> => {
    const sent = request(to, { method: 'POST', headers: { 'content-type': 'application/json' } })
    for (const piece of pieces) {
      sent.write(piece)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    sent.end()
    const [response] = await once(sent, 'response') as [AsyncIterable<Buffer>]
    let text = ''
    for await (const piece of response) text += String(piece)
    return JSON.parse(text)
  }
  const smile = Buffer.from('😀')
  for (
    const bytes of [[0xff], [0xe9], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [...smile.subarray(0, 3)], [...smile.subarray(1)]]
  ) {
    t.match(await send([Buffer.concat([before, Buffer.from(bytes), after])]), {
      id: 7,
      error: { code: -32600, message: 'Invalid Request: the message is not UTF-8' }
    }, `${bytes.join()}`)
    t.match(
      await send([before, Buffer.from(bytes), after]),
      { id: 7, error: { code: -32600 } },
      `${bytes.join()} in a piece of its own`
    )
  }
  // As Fastify before 5.12.6 does by itself.
  const decoding = await listen(t, notes, {}, {}, (app) => {
    app.addHook('onRequest', async ({ raw }) => {
      raw.setEncoding('utf8')
    })
  })
  t.match(await send([before, Buffer.from([0xff]), after], decoding.url), {
    error: { code: -32600, message: 'Invalid Request: the message is not UTF-8' }
  })
  t.strictSame(stored.splice(0), [])
  for (let cut = 0; cut <= 4; cut++) {
    t.match(
      await send([Buffer.concat([before, smile.subarray(0, cut)]), Buffer.concat([smile.subarray(cut), after])]),
      { result: {} },
      `cut after ${cut} bytes`
    )
  }
  t.match(await send([before, ...[...Buffer.from('é€😀\ufffd')].map((byte) => Buffer.from([byte])), after]), {
    result: {}
  })
  t.strictSame(stored, ['😀', '😀', '😀', '😀', '😀', 'é€😀\ufffd'])
})

t.test('a message may be nested 500 levels deep, on every version of Node.js', async (t) => {
  let ran = 0
  const { url } = await listen(t, (app) => {
    app.post('/notes', {
      schema: {
        operationId: 'add_note',
        description: 'Add',
        tags: ['mcp'],
        body: { type: 'object', properties: { any: {} } }
      }
    }, async () => {
      ran += 1
      return {}
    })
  }, { bodyLimit: 10_000_000 })
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
  const call = (levels: number, more = ''): string =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_note","arguments":{"any":${
      deep(levels)
    }}${more}}}`
  t.match(await post(url, call(499)), { body: { result: { content: [{}] } } })
  t.equal(ran, 1)
  for (const levels of [501, 200_000]) {
    for (const more of ['', ',"unknown":1']) {
      t.match((await post(url, call(levels, more))).body, {
        id: 1,
        result: { isError: true, content: [{ text: 'The arguments are nested too deeply' }] }
      }, `${levels}${more}`)
    }
  }
  for (
    const message of [
      '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":|}}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add_note","_meta":{"a":|}}}'
    ]
  ) {
    t.match((await post(url, message.replace('|', deep(200_000)))).body, {
      id: 1,
      error: { code: -32600, message: 'Invalid Request: the message is nested more than 500 levels deep' }
    })
  }
  t.match(await post(url, deep(200_000)), { status: 400, body: { error: { code: -32600 }, id: null } })
  t.equal(ran, 1)
})

t.test('what is not a message is refused in the words of the protocol', async (t) => {
  const { url } = await listen(t, hello)
  t.match(await post(url, '{"jsonrpc":'), { status: 400, body: { error: { code: -32700 }, id: null } })
  t.match(await post(url, ''), { status: 400, body: { error: { code: -32700 }, id: null } })
  const { url: roomy } = await listen(t, hello, { bodyLimit: 10_000_000 })
  t.match(
    await post(roomy, `{${' '.repeat(5_000_000)}`),
    { status: 400, body: { error: { code: -32700 }, id: null } },
    'however long it is'
  )
  const poisoned = await post(url, '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{}}')
  t.match(poisoned, { status: 400, body: { error: { code: -32600 } } })
  t.match(await post(url, '"text"'), { status: 400, body: { error: { code: -32600 } } })
  t.match(await post(url, LIST, { 'content-type': 'text/plain' }), { status: 415, body: { error: { code: -32000 } } })
  t.match(await post(url, { jsonrpc: '2.0', id: 1, method: 'nothing/here' }), {
    body: { error: { code: -32601 }, id: 1 }
  })
  t.match(await post(url, { jsonrpc: '2.0', id: 'a', method: 'tools/call', params: {} }), {
    body: { error: { code: -32602 }, id: 'a' }
  })
})

t.test('a message that is refused is in the log, for whoever looks for the reason', async (t) => {
  const lines: Array<{ level: number, msg: string, err?: { message: string } }> = []
  const { url } = await listen(t, () => {}, {}, {
    logger: {
      level: 'debug',
      stream: {
        write: (line: string) => {
          lines.push(JSON.parse(line))
        }
      }
    }
  })
  t.match(await post(url, { jsonrpc: '2.0' }), { status: 400 })
  t.match(lines.filter(({ msg }) => msg === 'the MCP endpoint refused a message'), [{
    level: 20,
    err: { message: String }
  }])
})

t.test('one request of HTTP is at most one call of a tool', async (t) => {
  let ran = 0
  const { url } = await listen(t, (app) => {
    app.get('/count', { schema: { operationId: 'count', description: 'D.', tags: ['mcp'] } }, async () => {
      ran += 1
    })
  })
  const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'count' } }
  const PING = { jsonrpc: '2.0', id: 2, method: 'ping' }
  const refused = (message: string): unknown => ({ status: 400, body: error(-32600, `Invalid Request: ${message}`) })
  for (const version of ['2025-06-18', '2025-11-25', '2026-07-28']) {
    t.match(
      await post(url, [CALL], { 'mcp-protocol-version': version }),
      refused('revision 2025-06-18 and later have no batches'),
      version
    )
  }
  for (const headers of [{}, { 'mcp-protocol-version': '2024-11-05' }, { 'mcp-protocol-version': '2025-03-26' }]) {
    t.match(
      await post(url, [CALL, PING, { ...CALL, id: 3 }], headers),
      refused('a batch may hold one request for tools, tasks, resources or skills')
    )
    t.match(
      await post(url, [LIST, LIST], headers),
      refused('a batch may hold one request for tools, tasks, resources or skills')
    )
  }
  t.equal(ran, 0)
  t.match(await post(url, [PING, CALL], { 'mcp-protocol-version': '2025-03-26' }), { status: 200 })
  t.equal(ran, 1)
})

t.test('initialize answers every 2025 revision in kind', async (t) => {
  const { url } = await listen(t, hello, { instructions: 'Be kind.' })
  for (const protocolVersion of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
    const { body } = await post(url, {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' } }
    })
    t.strictSame((body as { result: unknown }).result, {
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'test', version: '1.2.3' },
      instructions: 'Be kind.'
    })
  }
  t.equal((await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202)
  t.match(await post(url, LIST, { 'mcp-protocol-version': '1999-01-01' }), { status: 400 })
})

t.test('instructions may be for the client of the request; only those who introduce themselves are told', async (t) => {
  let asked = 0
  const { url } = await listen(t, hello, {
    cacheTtl: 7000,
    instructions: async ({ headers }) => {
      asked += 1
      return headers['x-api-key'] === undefined ? undefined : `You are ${String(headers['x-api-key'])}.`
    }
  })
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  }
  t.match(await post(url, initialize, { 'x-api-key': 'ada' }), { body: { result: { instructions: 'You are ada.' } } })
  t.equal(
    (await post(url, initialize) as { body: { result: { instructions?: string } } }).body.result.instructions,
    undefined
  )

  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {}
  }
  const modern = (method: string): Record<string, string> => ({
    'x-api-key': 'kim',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method
  })
  const discover = await post(
    url,
    { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta } },
    modern('server/discover')
  )
  t.match(
    discover,
    { body: { result: { instructions: 'You are kim.', cacheScope: 'private', ttlMs: 7000 } } },
    'and no cache may give it to another'
  )
  t.equal(asked, 3)
  await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } }, modern('tools/list'))
  await post(url, { jsonrpc: '2.0', id: 1, method: 'ping' })
  t.equal(asked, 3)
})

t.test('a page of another origin may call the endpoint with @fastify/cors and allowedOrigins, and with one of the two it may not', async (t) => {
  const origin = 'https://app.example'
  const withCors = async (app: FastifyInstance): Promise<void> => {
    await app.register(cors, {
      origin: [origin],
      allowedHeaders: ['content-type', 'mcp-protocol-version', 'authorization'],
      exposedHeaders: ['www-authenticate']
    })
  }
  const preflight = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type,mcp-protocol-version'
  }
  for (
    const [title, options, before, asked, status, allowed] of [
      ['both', { allowedOrigins: [origin] }, withCors, 204, 200, origin],
      ['allowedOrigins alone', { allowedOrigins: [origin] }, undefined, 404, 200, null],
      ['@fastify/cors alone', {}, withCors, 204, 403, origin]
    ] as const
  ) {
    const { url } = await listen(t, hello, options, {}, before)
    const permission = await fetch(url, { method: 'OPTIONS', headers: preflight })
    t.strictSame([permission.status, permission.headers.get('access-control-allow-origin')], [asked, allowed], title)
    if (allowed !== null) t.match(permission.headers.get('access-control-allow-headers'), /mcp-protocol-version/)
    const answer = await post(url, LIST, { origin })
    t.strictSame([answer.status, answer.headers.get('access-control-allow-origin')], [status, allowed], title)
  }
})
