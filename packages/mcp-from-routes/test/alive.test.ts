import { EventEmitter, on, once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { FastifyReply } from 'fastify'
import t from 'tap'
import type { McpFromRoutesOptions } from '../src/index.ts'
import { build, CLIENTS, connect, listen, type Teardown } from './build.ts'

const COMMENT = /^: .+\n\n$/
const COMMENTS = /^: .+\n\n/gm
const BOTH = 'application/json, text/event-stream'
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'slow' }
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {}
}

type Answer = (reply: FastifyReply) => unknown

/** A server with one tool, whose calls are answered when the test says how. */
async function openSlow (t: Teardown, options: Partial<McpFromRoutesOptions> = {}) {
  const calls = new EventEmitter()
  const begun = on(calls, 'begun')
  const seen = { aborted: 0 }
  const { app, url } = await listen(t, (app) => {
    app.get('/slow', {
      schema: {
        operationId: 'slow',
        description: 'Compute something.',
        tags: ['mcp'],
        response: { 200: { type: 'object', properties: { sum: { type: 'integer' } } } }
      }
    }, async (request, reply) => {
      request.raw.once('aborted', () => {
        seen.aborted++
        calls.emit('aborted')
      })
      return await new Promise<Answer>((resolve) => calls.emit('begun', resolve)).then((answer) => answer(reply))
    })
  }, { keepAliveInterval: 40, ...options })
  /** Waits until the route runs a call. @returns what answers it */
  const next = async (): Promise<(answer: Answer) => void> => (await begun.next()).value[0]
  return { app, url, calls, seen, next }
}

const SUM: Answer = () => ({ sum: 3 })

interface CallOptions {
  readonly accept?: string
  readonly modern?: boolean
  readonly params?: object
  readonly agent?: Agent
}

/** Sends a call. @returns the response once its headers have come, and what came of it so far */
function call (url: URL, { accept, modern = false, params = {}, agent }: CallOptions) {
  const request = httpRequest(url, {
    method: 'POST',
    ...agent && { agent },
    headers: {
      'content-type': 'application/json',
      ...accept !== undefined && { accept },
      ...modern && MODERN
    }
  })
  request.on('error', () => {})
  request.end(JSON.stringify({
    jsonrpc: '2.0',
    id: 7,
    method: 'tools/call',
    params: { name: 'slow', arguments: {}, ...modern && { _meta: ENVELOPE }, ...params }
  }))
  const response = once(request, 'response').then(([response]) => response as IncomingMessage)
  return { request, response }
}

/** Waits for the first byte. @returns all that has come then */
async function firstOf (response: IncomingMessage): Promise<string> {
  const [chunk] = await once(response, 'data') as [Buffer]
  response.pause()
  return chunk.toString()
}

const WAYS: ReadonlyArray<CallOptions & { readonly way: string }> = [
  { way: 'of 2025' },
  { way: 'of 2026', modern: true },
  { way: 'of 2025 that the SDK answers', params: { extra: 1 } },
  { way: 'of 2026 that the SDK answers', modern: true, params: { extra: 1 } }
]

t.test('a call that takes long becomes a stream with comments, and its answer is the same', async (t) => {
  const { url, next } = await openSlow(t)
  for (const { way, ...options } of WAYS) {
    const quick = call(url, { ...options, accept: 'application/json' })
    ;(await next())(SUM)
    const response = await call(url, { ...options, accept: BOTH }).response
    t.equal(response.statusCode, 200)
    t.equal(response.headers['content-type'], 'text/event-stream', way)
    t.match(await firstOf(response), COMMENT, 'a comment came before the answer')
    ;(await next())(SUM)
    const [, data] = /^event: message\ndata: (.+)\n\n$/.exec((await text(response)).replaceAll(COMMENTS, '')) ?? []
    t.strictSame(JSON.parse(data!), JSON.parse(await text(await quick.response)), 'the answer is that of a short call')
  }
})

t.test('who names no stream gets JSON, after however long', async (t) => {
  const { url, next } = await openSlow(t)
  for (const { way, ...options } of WAYS) {
    for (const accept of ['application/json', '*/*', undefined]) {
      const { response } = call(url, { ...options, ...accept !== undefined && { accept } })
      const answer = await next()
      // The time of the call has come when that of one which began after it has.
      const later = await call(url, { ...options, accept: BOTH }).response
      await firstOf(later)
      ;(await next())(SUM)
      later.resume()
      answer(SUM)
      const answered = await response
      t.match(answered.headers['content-type'], /^application\/json/, `${way}, ${accept}`)
      t.match(JSON.parse(await text(answered)), { id: 7, result: { structuredContent: { sum: 3 } } })
    }
  }
})

t.test('a refusal that comes late is a result: the status has been sent', async (t) => {
  const { url, next } = await openSlow(t)
  const response = await call(url, { accept: BOTH }).response
  await firstOf(response)
  ;(await next())((reply) =>
    reply.code(401).header('www-authenticate', 'Bearer').send({ message: 'Your session has ended' })
  )
  const [, answer] = /data: (.+)/.exec(await text(response))!
  t.match(JSON.parse(answer!), { id: 7, result: { isError: true, content: [{ text: /Your session has ended/ }] } })
})

t.test('a route that reports progress may be silent before: its comments and its progress are one stream', async (t) => {
  const calls = new EventEmitter()
  const begun = on(calls, 'begun')
  const { url } = await listen(t, (app) => {
    app.get('/slow', {
      schema: {
        operationId: 'slow',
        description: 'Compute something.',
        tags: ['mcp'],
        response: { 200: { content: { 'application/x-ndjson': { schema: {} } } } }
      }
    }, async (_request, reply) => {
      const lines = new PassThrough()
      reply.type('application/x-ndjson').send(lines)
      calls.emit('begun', lines)
      return reply
    })
  }, { keepAliveInterval: 40 })
  for (const modern of [true, false]) {
    const params = { _meta: { ...modern && ENVELOPE, progressToken: 'p' } }
    const response = await call(url, { accept: BOTH, modern, params }).response
    t.match(await firstOf(response), COMMENT)
    const lines: PassThrough = (await begun.next()).value[0]
    lines.write('{"progress":1}\n')
    response.resume()
    const read = text(response)
    await once(response, 'data')
    lines.end('{"sum":3}\n')
    t.match((await read).replaceAll(COMMENTS, ''), /data: .*"progress":1[^]*data: .*sum[^]*"id":7/, `${modern}`)

    const json = call(url, { accept: 'application/json', modern, params })
    const more: PassThrough = (await begun.next()).value[0]
    more.end('{"progress":1}\n{"sum":3}\n')
    t.match(JSON.parse(await text(await json.response)), { id: 7 }, 'who names no stream gets the answer alone')
  }
})

t.test('a client that goes away ends its call of 2026, and not one of 2025', async (t) => {
  for (const modern of [true, false]) {
    const { url, calls, seen, next } = await openSlow(t)
    const { request, response } = call(url, { accept: BOTH, modern })
    const gone = await response
    gone.on('error', () => {})
    await firstOf(gone)
    const answer = await next()
    const aborted = modern ? once(calls, 'aborted') : undefined
    request.destroy()
    await aborted
    // Nothing throws when its answer comes.
    answer(SUM)
    const other = call(url, { accept: 'application/json', modern })
    ;(await next())(SUM)
    t.match(JSON.parse(await text(await other.response)), { result: { structuredContent: { sum: 3 } } })
    t.equal(seen.aborted, modern ? 1 : 0)
  }
})

t.test('a server that closes answers the stream first, and keeps no connection', async (t) => {
  const { url, app, next } = await openSlow(t)
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const response = await call(url, { accept: BOTH, agent }).response
  await firstOf(response)
  const closed = app.close()
  ;(await next())(SUM)
  t.match(await text(response), /"sum":3/)
  await closed
})

t.test('with 0, a call is silent however long it takes', async (t) => {
  const { url, next } = await openSlow(t, { keepAliveInterval: 0 })
  const other = await openSlow(t)
  for (const { way, ...options } of WAYS) {
    const { response } = call(url, { ...options, accept: BOTH })
    const answer = await next()
    const alive = await call(other.url, { ...options, accept: BOTH }).response
    await firstOf(alive)
    answer(SUM)
    t.match((await response).headers['content-type'], /^application\/json/, way)
    ;(await other.next())(SUM)
    alive.resume()
  }
})

t.test('both client lines read the answer of a call that took long', async (t) => {
  for (const which of CLIENTS) {
    const { url, next } = await openSlow(t)
    const client = await connect(t, which, url)
    const called = client.callTool({ name: 'slow', arguments: {} })
    const answer = await next()
    const alive = await call(url, { accept: BOTH }).response
    await firstOf(alive)
    ;(await next())(SUM)
    alive.resume()
    answer(SUM)
    t.match(await called, { structuredContent: { sum: 3 } }, which)
  }
})

t.test('wrong intervals fail at startup', async (t) => {
  for (const keepAliveInterval of [-1, 1.5, '10', 2 ** 31] as number[]) {
    await t.rejects(async () => await build(t, () => {}, { keepAliveInterval }), {
      code: 'MCP_FROM_ROUTES_INVALID_OPTION',
      message: /keepAliveInterval must be an integer from 0 to/
    })
  }
})
