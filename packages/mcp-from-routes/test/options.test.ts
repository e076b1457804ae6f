import { once } from 'node:events'
import { connect as connectHttp2, constants as HTTP2 } from 'node:http2'
import { connect as connectSocket } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import t from 'tap'
import { letters } from '../../../test/spellings.ts'
import type { ToolCallEvent } from '../src/index.ts'
import { call, connect, listen, post } from './build.ts'

const tool = (operationId: string, more: Record<string, unknown> = {}): { schema: Record<string, unknown> } => ({
  schema: { operationId, description: 'D.', tags: ['mcp'], ...more }
})
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const modern = (
  method: string,
  params: Record<string, unknown> = {}
): { message: Record<string, unknown>, headers: Record<string, string> } => ({
  message: {
    jsonrpc: '2.0',
    id: 1,
    method,
    params: {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {}
      }
    }
  },
  headers: {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...typeof params.name === 'string' && { 'mcp-name': params.name }
  }
})

/** A logger, and the errors it was told of. */
function logs (): { logged: () => Array<Record<string, unknown>>, logger: object } {
  const lines: Array<Record<string, unknown>> = []
  return {
    logged: () => lines,
    logger: {
      level: 'error',
      stream: {
        write: (line: string) => {
          lines.push(JSON.parse(line))
        }
      }
    }
  }
}

function three (app: FastifyInstance): void {
  for (const name of ['a', 'b', 'c']) {
    app.get(`/${name}`, { ...tool(name), config: { role: name } as object }, async () => name)
  }
}

t.test('canUse hides a tool from the list, and a call of it is that of no tool', async (t) => {
  const { url } = await listen(t, three, {
    canUse: async ({ route }, { headers }) => headers['x-role'] === 'admin' || Reflect.get(route.config, 'role') !== 'b'
  })
  const names = async (headers: Record<string, string> = {}): Promise<unknown> =>
    ((await post(url, LIST, headers)).body as { result: { tools: Array<{ name: string }> } }).result.tools.map((
      { name }
    ) => name)
  t.strictSame(await names(), ['a', 'c'])
  t.strictSame(await names({ 'x-role': 'admin' }), ['a', 'b', 'c'])
  t.strictSame(await names(), ['a', 'c'], 'the list of one caller is not that of the next')
  t.match(await call(url, 'b', {}, { 'x-role': 'admin' }), { content: [{ text: 'b' }] })
  const asking = (name: string): Promise<unknown> =>
    post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } })
  t.strictSame(
    JSON.parse(JSON.stringify(await asking('b')).replaceAll('b', 'x')),
    JSON.parse(JSON.stringify(await asking('x')).replaceAll('b', 'x'))
  )
  const { message, headers } = modern('tools/list')
  t.match((await post(url, message, headers)).body, { result: { cacheScope: 'private' } })
})

t.test("a tool that is 'unlisted' is not listed, and a call of it reaches the route, which says what is missing", async (t) => {
  const { url } = await listen(t, (app) => {
    app.get('/a', tool('a'), async () => 'a')
    app.get('/b', tool('b'), async (_request, reply) => reply.code(403).send({ message: 'b needs the scope write' }))
  }, { canUse: async ({ name }) => name === 'a' || 'unlisted' })
  const list = async (params?: object): Promise<unknown> =>
    ((await post(url, { ...LIST, ...params && { params } })).body as { result: { tools: Array<{ name: string }> } })
      .result.tools.map(({ name }) => name)
  t.strictSame([await list(), await list({ extra: 1 })], [['a'], ['a']])
  for (const params of [{}, { extra: 1 }]) {
    const { status, body } = await post(url, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'b', ...params }
    })
    t.match([status, body], [200, {
      result: { isError: true, content: [{ text: '403 Forbidden: b needs the scope write' }] }
    }])
  }
})

t.test('a canUse that throws or says anything but true lets nothing through', async (t) => {
  for (
    const canUse of [() => {
      throw new TypeError('x')
    }, () => 'yes' as never]
  ) {
    let ran = 0
    const { url } = await listen(t, (app) => {
      app.get('/a', tool('a'), async () => {
        ran += 1
      })
    }, { canUse })
    await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a' } })
    t.notMatch((await post(url, LIST)).body, { result: { tools: [{ name: 'a' }] } })
    t.equal(ran, 0)
  }
})

t.test('the list of the newest revision says how long and by whom it may be kept', async (t) => {
  const { message, headers } = modern('tools/list')
  const hints = async (options: object): Promise<unknown> => {
    const { result } = (await post((await listen(t, three, options)).url, message, headers)).body as {
      result: Record<string, unknown>
    }
    return [result.ttlMs, result.cacheScope, result.resultType, result._meta]
  }
  const info = { 'io.modelcontextprotocol/serverInfo': { name: 'test', version: '1.2.3' } }
  t.strictSame(await hints({}), [300_000, 'private', 'complete', info], 'a hook of the host may ask for credentials')
  t.strictSame(await hints({ cacheTtl: 0, cacheScope: 'public' }), [0, 'public', 'complete', info])
})

t.test('onToolCall is told of every call', async (t) => {
  const before = performance.now()
  const events: ToolCallEvent[] = []
  const { url } = await listen(t, (app) => {
    app.get('/ok', tool('ok'), async () => ({}))
    app.get('/bad', tool('bad'), async () => {
      throw new TypeError('x')
    })
  }, {
    onToolCall: (event) => {
      events.push(event)
      throw new TypeError('the hook fails')
    }
  })
  await call(url, 'ok')
  await call(url, 'ok', { unknown: 1 })
  await call(url, 'bad')
  await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'nothing' } })
  const { message, headers } = modern('tools/call', { name: 'ok' })
  await post(url, { ...message, params: { ...message.params as object, arguments: {}, task: {} } }, headers)
  t.match(
    events.slice(0, 3).map((
      { tool: { name }, arguments: args, isError, error, statusCode, ended }
    ) => [name, args, isError, error, statusCode, ended]),
    [
      ['ok', {}, false, undefined, 200, undefined],
      ['ok', { unknown: 1 }, true, /unknown/, undefined, undefined],
      ['bad', {}, true, /^The route failed with status 500/, 500, undefined]
    ]
  )
  // Longer than the whole test no call can have taken.
  const longest = performance.now() - before
  t.ok(events.every(({ duration, request }) => duration >= 0 && duration <= longest && request.url === '/mcp'))
})

t.test('what onToolCall throws or rejects with is logged, and the call is answered', async (t) => {
  for (
    const onToolCall of [() => {
      throw new TypeError('no audit')
    }, async () => {
      throw new TypeError('no audit')
    }]
  ) {
    const { logged, logger } = logs()
    const { url } = await listen(
      t,
      (app) => {
        app.get('/a', tool('a'), async () => 'a')
      },
      { onToolCall },
      { logger }
    )
    t.match(await call(url, 'a'), { content: [{ text: 'a' }] })
    t.match(logged(), [{ level: 50, msg: 'onToolCall failed', err: { message: 'no audit' } }])
  }
})

t.test('a route that takes too long is given up, and told so', async (t) => {
  let aborted = false
  const events: ToolCallEvent[] = []
  const { url } = await listen(t, (app) => {
    app.get('/slow', tool('slow'), async ({ signal }) => {
      await once(signal, 'abort')
      aborted = true
    })
  }, {
    toolTimeout: 30,
    onToolCall: (event) => {
      events.push(event)
    }
  })
  t.strictSame(await call(url, 'slow'), {
    content: [{ type: 'text', text: 'The route did not answer within 30 ms. The request id is req-1.' }],
    isError: true
  })
  t.equal(aborted, true)
  t.match(events, [{ isError: true, statusCode: undefined, ended: 'timeout' }])
})

t.test('a write whose outcome is open says so, and one that happened is not asked for again', async (t) => {
  const open = 'The call may have been carried out: check before you try again.'
  const { url } = await listen(t, (app) => {
    for (const loopback of ['light', 'inject'] as const) {
      for (const method of ['POST', 'GET'] as const) {
        const own = (operationId: string): object => ({
          ...tool(`${operationId}_${method}_${loopback}`),
          config: { mcp: loopback === 'inject' ? { loopback } : {} }
        })
        app.route(
          {
            method,
            url: `/slow/${loopback}`,
            ...own('slow'),
            handler: async () => await new Promise(() => {})
          } as RouteOptions
        )
        app.route(
          {
            method,
            url: `/broken/${loopback}`,
            ...own('broken'),
            handler: (_request: FastifyRequest, reply: FastifyReply) => {
              reply.hijack()
              reply.raw.destroy()
            }
          } as RouteOptions
        )
        app.route({
          method,
          url: `/failed/${loopback}`,
          ...own('failed'),
          handler: async () => {
            throw new Error('x')
          }
        } as RouteOptions)
        app.route(
          { method, url: `/big/${loopback}`, ...own('big'), handler: async () => 'x'.repeat(101) } as RouteOptions
        )
      }
    }
  }, { toolTimeout: 50, maxResultBytes: 100 })
  const told = async (name: string): Promise<string> =>
    (await call(url, name) as { content: Array<{ text: string }> }).content[0]!.text
  for (const loopback of ['light', 'inject']) {
    for (const name of ['slow', 'broken', 'failed']) {
      t.ok((await told(`${name}_POST_${loopback}`)).includes(open), `${name} ${loopback}`)
      t.notOk((await told(`${name}_GET_${loopback}`)).includes(open), `${name} ${loopback}`)
    }
    t.match(
      await told(`big_POST_${loopback}`),
      'The call succeeded, so do not repeat it. The route answered 200 OK. The result has 101 bytes'
    )
    t.match(
      await told(`big_GET_${loopback}`),
      'The result has 101 bytes, more than the 100 that one call may return. This tool has no argument'
    )
  }
})

t.test('a result over maxResultBytes is refused whole, and a stream is not read to its end', async (t) => {
  const querystring = { type: 'object', properties: { limit: { type: 'integer' } } }
  const { url } = await listen(t, (app) => {
    app.get('/big', tool('big', { querystring }), async () => 'x'.repeat(101))
    for (const loopback of ['light', 'inject'] as const) {
      app.get(
        `/${loopback}`,
        { ...tool(loopback), config: { mcp: loopback === 'inject' ? { loopback } : {} } },
        async (_request, reply) => {
          return reply.send(Readable.from((function* () {
            for (;;) yield Buffer.alloc(60)
          })()))
        }
      )
    }
    app.get('/fits', tool('fits'), async () => 'x'.repeat(100))
  }, { maxResultBytes: 100 })
  t.strictSame(await call(url, 'big'), {
    content: [{
      type: 'text',
      text: 'The result has 101 bytes, more than the 100 that one call may return. Narrow it with limit.'
    }],
    isError: true
  })
  t.strictSame(await call(url, 'light'), {
    content: [{
      type: 'text',
      text: 'The result has at least 120 bytes, more than the 100 that one call may return. This tool has no ' +
        'argument that narrows it.'
    }],
    isError: true
  })
  t.match(await call(url, 'inject'), {
    content: [{ text: /^The result has at least \d{3,6} bytes, more than the 100 that one call may return\./ }],
    isError: true
  }, 'a stream buffers some of it')
  t.match(await call(url, 'fits'), { isError: undefined })
})

t.test('maxResultBytes counts bytes, whatever the letters and the way they come', async (t) => {
  const maxResultBytes = 120
  const ways = {
    json: (reply: FastifyReply, text: string) => reply.send({ text }),
    text: (reply: FastifyReply, text: string) => reply.type('text/plain').send(text),
    bytes: (reply: FastifyReply, text: string) => reply.type('application/x-own').send(Buffer.from(text)),
    stream: (reply: FastifyReply, text: string) => reply.type('text/plain').send(Readable.from([...text]))
  }
  const names = Object.keys(ways).flatMap((way) => [way, `inject_${way}`])
  const { url } = await listen(t, (app) => {
    for (const name of names) {
      const way = name.replace('inject_', '') as keyof typeof ways
      app.get(`/${name}`, {
        ...tool(name, { querystring: { type: 'object', properties: { text: { type: 'string' } } } }),
        config: { mcp: way === name ? {} : { loopback: 'inject' } }
      }, async (request, reply) => ways[way](reply, (request.query as { text: string }).text))
    }
  }, { maxResultBytes })
  for (const [letter, { bytes }] of Object.entries(letters)) {
    for (const name of names) {
      const room = maxResultBytes - (name.endsWith('json') ? '{"text":""}'.length : 0)
      const text = letter.repeat(Math.floor(room / bytes)) + 'x'.repeat(room % bytes)
      t.match(await call(url, name, { text }), { isError: undefined }, `${name} of ${letter}`)
      t.match(await call(url, name, { text: `${text}x` }), {
        isError: true,
        content: [{ text: /^The result has (at least )?121 bytes, more than the 120 / }]
      }, `${name} of ${letter}, and one more`)
    }
  }
})

t.test('a challenge of the route becomes that of the endpoint, and other refusals are tool errors', async (t) => {
  const { url } = await listen(t, (app) => {
    app.get(
      '/login',
      tool('login'),
      async (_request, reply) =>
        reply.code(401).header('www-authenticate', 'Bearer scope="a"').send({ message: 'log in' })
    )
    app.get(
      '/scope',
      tool('scope'),
      async (_request, reply) =>
        reply.code(403).header('www-authenticate', 'Bearer error="insufficient_scope"').send({ message: 'more' })
    )
    app.get(
      '/other',
      tool('other'),
      async (_request, reply) =>
        reply.code(403).header('www-authenticate', 'Bearer realm="x", Basic').send({ message: 'not you' })
    )
    app.get('/denied', tool('denied'), async (_request, reply) => reply.code(403).send({ message: 'never' }))
  })
  const asking = (name: string): ReturnType<typeof post> =>
    post(url, { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name } })
  const login = await asking('login')
  t.equal(login.status, 401)
  t.equal(login.headers.get('www-authenticate'), 'Bearer scope="a"')
  t.strictSame(login.body, { jsonrpc: '2.0', error: { code: -32000, message: '401 Unauthorized: log in' }, id: 5 })
  const scope = await asking('scope')
  t.equal(scope.status, 403)
  t.equal(scope.headers.get('www-authenticate'), 'Bearer error="insufficient_scope"')
  const other = await asking('other')
  t.match(
    other,
    { status: 200, body: { result: { isError: true, content: [{ text: '403 Forbidden: not you' }] } } },
    'signing in again would not help'
  )
  t.equal(other.headers.get('www-authenticate'), null)
  t.match(await asking('denied'), {
    status: 200,
    body: { result: { isError: true, content: [{ text: '403 Forbidden: never' }] } }
  })
})

for (const [era, ends] of [['2025', false], ['2026', true]] as const) {
  t.test(`a client of ${era} that goes away ${ends ? 'has cancelled' : 'has not cancelled'} its call`, async (t) => {
    let began: () => void
    const begun = new Promise<void>((resolve) => {
      began = resolve
    })
    let finish: (aborted: boolean) => void
    const finished = new Promise<boolean>((resolve) => {
      finish = resolve
    })
    const { url } = await listen(t, (app) => {
      app.get('/slow', tool('slow'), async ({ signal }) => {
        began()
        await Promise.race([once(signal, 'abort'), delay(100)])
        finish(signal.aborted)
        return {}
      })
    })
    const { message, headers } = ends
      ? modern('tools/call', { name: 'slow' })
      : { message: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow' } }, headers: {} }
    const body = JSON.stringify(message)
    const socket = connectSocket(Number(url.port), '127.0.0.1')
    const lines = Object.entries({
      host: url.host,
      'content-type': 'application/json',
      'content-length': String(body.length),
      ...headers
    }).map(([name, value]) => `${name}: ${value}`)
    socket.write(`POST /mcp HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
    await begun
    socket.destroy()
    t.equal(await finished, ends)
  })
}

for (const answered of [false, true]) {
  t.test(`over HTTP/2 a client of 2026 that goes away ${answered ? 'after the answer has cancelled nothing' : 'has cancelled its call'}`, async (t) => {
    let told: (event: ToolCallEvent) => void
    const event = new Promise<ToolCallEvent>((resolve) => {
      told = resolve
    })
    let began: () => void
    const begun = new Promise<void>((resolve) => {
      began = resolve
    })
    const { app, url } = await listen(
      t,
      (app) => {
        app.get('/slow', tool('slow'), async ({ signal }) => {
          began()
          if (!answered) await once(signal, 'abort', { signal: AbortSignal.timeout(1000) })
          return {}
        })
      },
      { onToolCall: (event) => told(event) },
      { http2: true } as object
    )
    const client = connectHttp2(url.origin)
    t.teardown(() => client.destroy())
    const { message, headers } = modern('tools/call', { name: 'slow' })
    const request = client.request({
      ':method': 'POST',
      ':path': '/mcp',
      'content-type': 'application/json',
      ...headers
    })
    request.on('error', () => {})
    request.end(JSON.stringify(message))
    if (answered) await once(request.resume(), 'end')
    else await begun
    request.close(HTTP2.NGHTTP2_CANCEL)
    t.equal((await event).ended, answered ? undefined : 'client gone')
    client.destroy()
    await app.close()
  })
}

for (const which of ['1.x', '2.x 2026-07-28'] as const) {
  for (
    const [type, write] of [
      ['application/x-ndjson', (line: string) => `${line}\n`],
      ['application/jsonl', (line: string) => `${line}\n`],
      ['text/event-stream', (line: string) => `event: step\ndata: ${line}\n\n`]
    ] as const
  ) {
    t.test(`a route that streams ${type} tells progress to client ${which}`, async (t) => {
      const lines = ['{"progress":10,"total":100,"message":"begun"}', '{"n":2}', '{"progress":5}', 'plain words']
      const { url } = await listen(t, (app) => {
        app.get(
          '/steps',
          tool('steps', { response: { 200: { content: { [type]: { schema: { type: 'string' } } } } } }),
          async (_request, reply) => {
            const { Readable } = await import('node:stream')
            return reply.type(type).send(Readable.from((async function* () {
              for (const line of lines) {
                // A piece may end anywhere.
                yield write(line).slice(0, 3)
                await delay(5)
                yield write(line).slice(3)
              }
            })()))
          }
        )
      })
      const client = await connect(t, which, url) as unknown as {
        callTool: (call: object, ...options: unknown[]) => Promise<Record<string, unknown>>
      }
      const seen: unknown[] = []
      const options = {
        onprogress: (progress: unknown) => {
          seen.push(progress)
        }
      }
      const result = which === '1.x'
        ? await client.callTool({ name: 'steps' }, undefined, options)
        : await client.callTool({ name: 'steps' }, options)
      t.strictSame(seen, [
        { progress: 10, total: 100, message: 'begun' },
        { progress: 11, message: '{"n":2}' },
        { progress: 12, message: '{"progress":5}' },
        { progress: 13, message: 'plain words' }
      ])
      t.strictSame(result.content, [{ type: 'text', text: lines.map(write).join('') }])
      t.strictSame(
        (await client.callTool({ name: 'steps' })).content,
        result.content,
        'without a progress token the result is the same'
      )
    })
  }
}

t.test('config.mcp.loopback: inject calls the route through light-my-request', async (t) => {
  const { url } = await listen(t, (app) => {
    for (const loopback of [undefined, 'inject'] as const) {
      app.get(
        `/${loopback}`,
        { ...tool(`via_${loopback}`), config: { mcp: { ...loopback && { loopback } } } },
        async ({ raw }) => ({ inject: Reflect.get(raw, 'isLightMyRequest') === true })
      )
    }
  })
  t.match(await call(url, 'via_undefined'), { structuredContent: { inject: false } })
  t.match(await call(url, 'via_inject'), { structuredContent: { inject: true } })
})
