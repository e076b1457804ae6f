import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { CLIENTS, connect, listen, post } from './build.ts'

const LIMIT = 10_000
const refusal = `Invalid Request: the message is larger than ${LIMIT} bytes. Send less in one call`
const echo = (app: FastifyInstance): void => {
  const body = { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false }
  app.post(
    '/echo',
    { schema: { operationId: 'echo', description: 'E.', tags: ['mcp'], body } },
    async ({ body }) => ({ length: String(Object(body).text).length })
  )
}
const message = (id: unknown, size: number): Record<string, unknown> => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'echo', arguments: { text: 'x'.repeat(size) } }
})

for (const which of CLIENTS) {
  t.test(`client ${which} is told that its message is too large, and can go on`, async (t) => {
    const { url } = await listen(t, echo, { bodyLimit: LIMIT })
    const client = await connect(t, which, url)
    for (const size of [LIMIT, 10 * LIMIT]) {
      await t.rejects(client.callTool({ name: 'echo', arguments: { text: 'x'.repeat(size) } }), {
        code: -32600,
        message: new RegExp(`${refusal}$`)
      })
    }
    t.match(await client.callTool({ name: 'echo', arguments: { text: 'x'.repeat(9000) } }), {
      structuredContent: { length: 9000 }
    })
  })
}

t.test('the endpoint has a limit of its own, and the route keeps that of the app', async (t) => {
  const { url } = await listen(t, echo, { bodyLimit: 3 * LIMIT }, { bodyLimit: LIMIT })
  t.match(await post(url, message(1, 5000)), { status: 200, body: { result: { structuredContent: { length: 5000 } } } })
  t.match(await post(url, message(1, 2 * LIMIT)), {
    status: 200,
    body: { result: { isError: true, content: [{ text: /^413 Payload Too Large: / }] } }
  })
  t.match(await post(url, message(1, 4 * LIMIT)), {
    status: 200,
    body: { jsonrpc: '2.0', error: { code: -32600 }, id: 1 }
  })
})

t.test('without the option the limit is that of the app', async (t) => {
  const { url } = await listen(t, echo, {}, { bodyLimit: LIMIT })
  t.strictSame((await post(url, message('a"b', LIMIT))).body, {
    jsonrpc: '2.0',
    error: { code: -32600, message: refusal },
    id: 'a"b'
  })
})

const params = { name: 'echo', arguments: { text: 'x'.repeat(LIMIT), id: 7 } }
for (
  const [title, body, id] of [
    ['after the params', JSON.stringify({ method: 'tools/call', params, jsonrpc: '2.0', id: 3 }), 3],
    ['last but one', JSON.stringify({ method: 'tools/call', params, id: -3, jsonrpc: '2.0' }), -3],
    [
      'first, with spaces',
      `  ${JSON.stringify({ id: 'x', jsonrpc: '2.0', method: 'tools/call', params }, null, 2)}\n`,
      'x'
    ],
    ['nowhere but in the arguments', JSON.stringify({ jsonrpc: '2.0', method: 'tools/call', params }), undefined],
    ['null', JSON.stringify({ jsonrpc: '2.0', id: null, method: 'tools/call', params }), undefined],
    ['of a text that is broken', `{"id":"\\x","a":"${'x'.repeat(LIMIT)}"}`, undefined],
    ['of each message of a batch', JSON.stringify([message(1, LIMIT), message(2, 1)]), undefined]
  ] as const
) {
  t.test(`too large a message with its id ${title}`, async (t) => {
    const { url } = await listen(t, echo, { bodyLimit: LIMIT })
    const { status, body: answer } = await post(url, body)
    t.strictSame({ status, answer }, {
      status: id === undefined ? 413 : 200,
      answer: { jsonrpc: '2.0', error: { code: -32600, message: refusal }, id: id ?? null }
    })
  })
}

t.test('a message in chunks, and one that never ends', async (t) => {
  const { url } = await listen(t, echo, { bodyLimit: LIMIT })
  const text = JSON.stringify({ method: 'tools/call', params, jsonrpc: '2.0', id: 3 })
  const chunks = [text.slice(0, 9000), text.slice(9000, 10_050), text.slice(10_050)]
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: new ReadableStream({
      pull (controller) {
        const chunk = chunks.shift()
        if (chunk === undefined) controller.close()
        else controller.enqueue(Buffer.from(chunk))
      }
    }),
    duplex: 'half'
  }
  const response = await fetch(url, init as RequestInit)
  t.strictSame(await response.json(), { jsonrpc: '2.0', error: { code: -32600, message: refusal }, id: 3 })

  const socket = connectSocket(Number(url.port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.on('error', () => {})
  socket.write(
    `POST /mcp HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/json\r\ncontent-length: ` +
      '1000000000\r\n\r\n{"jsonrpc":"2.0","id":1,"x":"'
  )
  const sending = setInterval(() => socket.write('x'.repeat(LIMIT)), 1)
  const [answer] = await once(socket, 'data')
  clearInterval(sending)
  t.match(String(answer), /^HTTP\/1\.1 413 /)
})

t.test('a message is read to its end up to 16 times the limit, and the connection is kept then', async (t) => {
  const { url } = await listen(t, echo, { bodyLimit: LIMIT })
  for (const [size, status, connection] of [[16 * LIMIT, 200, null], [16 * LIMIT + 1, 413, 'close']] as const) {
    const answer = await post(url, JSON.stringify(message(1, 1)).padEnd(size))
    t.strictSame([answer.status, answer.headers.get('connection')], [status, connection], String(size))
  }
})

t.test('authentication comes first, and the answer is in the stream that the client wants', async (t) => {
  let read = 0
  const { url } = await listen(t, echo, {
    bodyLimit: LIMIT,
    onRequest: async ({ raw }, reply) => {
      read = raw.readableFlowing === null ? 0 : 1
      return reply.code(401).send({ message: 'no' })
    }
  })
  t.match(await post(url, message(1, LIMIT)), { status: 401 })
  t.equal(read, 0)
  const { url: open } = await listen(t, echo, { bodyLimit: LIMIT })
  const response = await fetch(open, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify(message(1, LIMIT))
  })
  t.equal(
    await response.text(),
    `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', error: { code: -32600, message: refusal }, id: 1 })}\n\n`
  )
})
