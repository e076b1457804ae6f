import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import type { ToolCallEvent } from '../src/index.ts'
import { closingOf } from '../src/call/stop.ts'
import { listen, post, type Teardown } from './build.ts'

const tool = (operationId: string, response?: object): { schema: Record<string, unknown> } => ({
  schema: { operationId, description: 'D.', tags: ['mcp'], ...response && { response } }
})
const STREAM = { 200: { content: { 'application/x-ndjson': { schema: {} } } } }
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {}
}
const callOf = (name: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, ...params }
})
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' }

/** The ways on which a call comes that is answered with one JSON text. */
const PLAIN: ReadonlyArray<{ way: string, params?: object, headers?: Record<string, string> }> = [
  { way: 'of 2025' },
  { way: 'of 2026', params: { _meta: ENVELOPE }, headers: { ...MODERN, 'mcp-name': 'slow' } },
  { way: 'of 2025 that the SDK answers', params: { extra: 1 } },
  {
    way: 'of 2026 that the SDK answers',
    params: { _meta: ENVELOPE, extra: 1 },
    headers: { ...MODERN, 'mcp-name': 'slow' }
  },
  {
    way: 'of 2025 that asks for the progress of a tool that tells none',
    params: { _meta: { progressToken: 1 }, extra: 1 }
  },
  {
    way: 'of 2026 that asks for the progress of a tool that tells none',
    params: { _meta: { ...ENVELOPE, progressToken: 1 }, extra: 1 },
    headers: { ...MODERN, 'mcp-name': 'slow' }
  }
]

/** A POST on a connection that the client keeps, as agents do. */
async function keptPost (
  t: Teardown,
  url: URL,
  message: object,
  headers: Record<string, string> = {}
): Promise<string> {
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const request = httpRequest(url, {
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }
  })
  request.end(JSON.stringify(message))
  const [response] = await once(request, 'response') as [IncomingMessage]
  return text(response)
}

/** How long the app takes to close, in milliseconds. */
async function closing (app: FastifyInstance): Promise<number> {
  const start = performance.now()
  await app.close()
  return performance.now() - start
}

for (const { way, params = {}, headers = {} } of PLAIN) {
  t.test(`app.close() lets a call ${way} finish, and waits no longer`, async (t) => {
    let began: () => void
    const begun = new Promise<void>((resolve) => {
      began = resolve
    })
    let aborted = false
    const { app, url } = await listen(t, (app) => {
      app.get('/slow', tool('slow'), async ({ signal }) => {
        signal.addEventListener('abort', () => {
          aborted = true
        })
        began()
        await delay(100)
        return { aborted }
      })
    })
    const answer = keptPost(t, url, callOf('slow', params), headers)
    await begun
    const took = closing(app)
    t.match(await answer, '"structuredContent":{"aborted":false}')
    t.ok(await took < 10_000)
  })
}

t.test('a connection is kept from call to call while the server stays open', async (t) => {
  let connections = 0
  const { app, url } = await listen(t, (app) => {
    app.get('/slow', tool('slow'), async () => 'x')
  })
  app.server.on('connection', () => {
    connections += 1
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  for (const { params = {}, headers = {} } of [...PLAIN, ...PLAIN]) {
    const request = httpRequest(url, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }
    })
    request.end(JSON.stringify(callOf('slow', params)))
    const [response] = await once(request, 'response') as [IncomingMessage]
    t.match(await text(response), '"result"')
  }
  t.equal(connections, 1)
})

for (const { way, params = {}, headers = {} } of PLAIN.slice(0, 4)) {
  t.test(`over HTTP/2, app.close() lets a call ${way} finish, too, without a warning about its headers`, async (t) => {
    const warnings: string[] = []
    const warned = ({ name }: Error): void => {
      warnings.push(name)
    }
    process.on('warning', warned)
    t.teardown(() => process.off('warning', warned))
    let began: () => void
    const begun = new Promise<void>((resolve) => {
      began = resolve
    })
    const { app, url } = await listen(
      t,
      (app) => {
        app.get('/slow', tool('slow'), async () => {
          began()
          await delay(50)
          return { done: true }
        })
      },
      {},
      { http2: true } as object
    )
    const client = connectHttp2(url.origin)
    t.teardown(() => client.destroy())
    const request = client.request({
      ':method': 'POST',
      ':path': '/mcp',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers
    })
    request.end(JSON.stringify(callOf('slow', params)))
    await begun
    const closed = app.close()
    t.match(await text(request), '"structuredContent":{"done":true}')
    client.close()
    await closed
    t.notOk(warnings.includes('UnsupportedWarning'))
  })
}

t.test('app.close() waits for a call that never ends for as long as toolTimeout', async (t) => {
  let began: () => void
  const begun = new Promise<void>((resolve) => {
    began = resolve
  })
  const { app, url } = await listen(t, (app) => {
    app.get('/never', tool('never'), async () => {
      began()
      await new Promise(() => {})
    })
  }, { toolTimeout: 200 })
  const answer = keptPost(t, url, callOf('never'))
  await begun
  const took = closing(app)
  t.match(await answer, /did not answer within 200 ms/)
  t.ok(await took < 10_000)
})

t.test('app.close() ends streams at once, and says that a write so ended may have been carried out', async (t) => {
  const events: ToolCallEvent[] = []
  let begun = 0
  let both: () => void
  const running = new Promise<void>((resolve) => {
    both = resolve
  })
  const { app, url } = await listen(t, (app) => {
    app.get('/silent', tool('never', STREAM), async () => {
      if (++begun === 3) both()
      await new Promise(() => {})
    })
    app.post('/chatty', tool('chatty', STREAM), async (_request, reply) => {
      const { Readable } = await import('node:stream')
      if (++begun === 3) both()
      return reply.type('application/x-ndjson').send(Readable.from((async function* () {
        for (;;) {
          yield '{}\n'
          await delay(5)
        }
      })()))
    })
  }, {
    onToolCall: (event) => {
      events.push(event)
    }
  })
  const answers = [
    keptPost(t, url, callOf('never', { _meta: { progressToken: 1 } })),
    keptPost(t, url, callOf('chatty', { _meta: { progressToken: 2 } })),
    keptPost(t, url, callOf('chatty', { _meta: { ...ENVELOPE, progressToken: 3 } }), {
      ...MODERN,
      'mcp-name': 'chatty'
    })
  ]
  await running
  await delay(30)
  t.ok(await closing(app) < 1000)
  const [silent, ...chatty] = await Promise.all(answers)
  t.match(silent, 'The server is shutting down and ended the call."')
  for (const answer of chatty) {
    t.match(
      answer,
      'The server is shutting down and ended the call. The call may have been carried out: check before you try again.'
    )
  }
  t.strictSame(events.map(({ ended }) => ended), ['closing', 'closing', 'closing'])
})

t.test('a message that arrives while the server closes is refused', async (t) => {
  const { app, url } = await listen(
    t,
    (app) => {
      app.get('/a', tool('a'), async () => 'a')
      app.addHook('preClose', async () => {
        t.match(await post(url, callOf('a')), {
          status: 503,
          body: { error: { code: -32000, message: 'The server is closing' } }
        })
      })
    },
    {},
    { return503OnClosing: false }
  )
  await app.close()
})

t.test('a message whose client left while its credential was checked is stopped at once', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const { track } = closingOf(app)
  let check = (): void => {}
  const checked = new Promise<void>((resolve) => {
    check = resolve
  })
  const reason = new Promise<unknown>((resolve) => {
    app.post('/mcp', { onRequest: async () => checked }, async (request, reply) => {
      resolve(track(request, reply).reason)
    })
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const left = new Promise<void>((resolve) =>
    app.server.prependOnceListener('request', ({ socket }) => {
      socket.once('close', () => resolve())
      request.destroy()
    })
  )
  const request = httpRequest(`${url}/mcp`, { method: 'POST' })
  request.on('error', () => {})
  request.end()
  await left
  check()
  t.equal(await reason, 'client gone')
})
