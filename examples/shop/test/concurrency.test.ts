import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import t, { type Test } from 'tap'
import { limitConcurrency } from '../src/operations/concurrency.ts'

/** An app whose callers name themselves, and whose route answers when it is told to. */
async function openApp (t: Test, max: number) {
  const app = Fastify()
  const working: string[] = []
  const ends = new Map<string, () => void>()
  app.decorateRequest('identity', null)
  app.addHook('onRequest', async (request) => {
    const ownerId = request.headers['x-shop']
    if (typeof ownerId === 'string') request.identity = { kind: 'api-key', keyId: 'k', ownerId, scopes: [] }
  })
  limitConcurrency(app, { MAX_CONCURRENT_CALLS: max })
  await app.register(mcpFromRoutes, { serverInfo: { name: 'test', version: '1' }, forwardHeaders: ['x-shop'] })
  app.get<{ Querystring: { name: string, bytes?: number } }>('/work', {
    schema: {
      operationId: 'work',
      description: 'Works.',
      tags: ['mcp'],
      querystring: {
        type: 'object',
        properties: { name: { type: 'string' }, bytes: { type: 'integer' } },
        required: ['name']
      }
    }
  }, async ({ query: { name, bytes = 1 } }) => {
    working.push(name)
    await new Promise<void>((resolve) => ends.set(name, resolve))
    return 'x'.repeat(bytes)
  })
  t.teardown(async () => await app.close())
  const until = async (condition: () => boolean): Promise<void> => {
    for (let tries = 0; !condition() && tries < 500; tries++) await delay(5)
    t.ok(condition())
  }
  const end = async (name: string): Promise<void> => {
    await until(() => ends.has(name))
    ends.get(name)!()
  }
  const call = async (shop: string, name: string, bytes = 1) =>
    await app.inject({ url: `/work?name=${name}&bytes=${bytes}`, headers: { 'x-shop': shop } })
  return { app, working, until, end, call }
}

t.test('calls of a caller beyond the limit wait their turn, those of others do not', async (t) => {
  const { working, until, end, call } = await openApp(t, 2)
  const calls = ['a1', 'a2', 'a3', 'a4'].map(async (name) => await call('a', name))
  calls.push(call('b', 'b1'))
  await until(() => working.length === 3)
  t.strictSame(working, ['a1', 'a2', 'b1'])
  await end('a2')
  await until(() => working.length === 4)
  t.equal(working[3], 'a3', 'in the order in which they came')
  for (const name of ['a1', 'a3', 'a4', 'b1']) await end(name)
  t.strictSame((await Promise.all(calls)).map(({ statusCode }) => statusCode), [200, 200, 200, 200, 200])
})

t.test('when too many wait, a call is refused with the time after which to try again', async (t) => {
  const { working, until, end, call } = await openApp(t, 1)
  const names = Array.from({ length: 17 }, (_, n) => `a${n}`)
  const calls = names.map(async (name) => await call('a', name))
  await until(() => working.length === 1)
  const refused = await call('a', 'refused')
  t.strictSame([refused.statusCode, refused.headers['retry-after'], refused.json()], [429, '1', {
    statusCode: 429,
    code: 'SHOP_TOO_MANY_CONCURRENT_CALLS',
    error: 'Too Many Requests',
    message: 'Too many concurrent calls: 1 running and 16 waiting'
  }])
  for (const name of names) await end(name)
  t.ok((await Promise.all(calls)).every(({ statusCode }) => statusCode === 200))
  const after = call('a', 'after')
  await end('after')
  t.equal((await after).statusCode, 200)
})

t.test('the call of a tool is one call', async (t) => {
  const { app, working, until, end, call } = await openApp(t, 1)
  const tool = app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { 'x-shop': 'a', accept: 'application/json, text/event-stream' },
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'work', arguments: { name: 'tool' } } }
  })
  await until(() => working.length === 1)
  const next = call('a', 'next')
  await delay(20)
  t.strictSame(working, ['tool'])
  await end('tool')
  t.match((await tool).json(), { result: { content: [{ text: 'x' }] } })
  await end('next')
  t.equal((await next).statusCode, 200)
})

t.test('a call whose client has gone counts until its work is done', async (t) => {
  const { app, working, until, end, call } = await openApp(t, 1)
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const socket = connect(Number(port), '127.0.0.1', () => {
    socket.write('GET /work?name=gone HTTP/1.1\r\nhost: a\r\nx-shop: a\r\n\r\n')
  })
  await until(() => working.length === 1)
  socket.destroy()
  await once(socket, 'close')
  const next = call('a', 'next')
  await delay(50)
  t.strictSame(working, ['gone'])
  await end('gone')
  await end('next')
  t.equal((await next).statusCode, 200)
})

t.test('a call whose client goes while it waits gives its place back', async (t) => {
  const { app, working, until, end, call } = await openApp(t, 1)
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const first = call('a', 'first')
  await until(() => working.length === 1)
  let hasArrived = false
  let isGone = false
  app.server.prependOnceListener('request', ({ socket }) => {
    hasArrived = true
    socket.once('close', () => {
      isGone = true
    })
  })
  const socket = connect(Number(port), '127.0.0.1', () => {
    socket.write('GET /work?name=gone HTTP/1.1\r\nhost: a\r\nx-shop: a\r\n\r\n')
  })
  await until(() => hasArrived)
  socket.destroy()
  await until(() => isGone)
  await end('first')
  await first
  await end('gone')
  const next = call('a', 'next')
  await end('next')
  t.equal((await next).statusCode, 200)
})

t.test('a large answer counts for longer than a small one', async (t) => {
  const { working, until, end, call } = await openApp(t, 1)
  const large = call('a', 'large', 400_000)
  await end('large')
  await large
  const start = performance.now()
  const next = call('a', 'next')
  await until(() => working.length === 2)
  t.ok(performance.now() - start > 100)
  await end('next')
  await next
})

t.test('those who are not known are not limited here', async (t) => {
  const { app, working, until, end } = await openApp(t, 1)
  const calls = ['one', 'two'].map(async (name) => await app.inject({ url: `/work?name=${name}` }))
  await until(() => working.length === 2)
  for (const name of ['one', 'two']) await end(name)
  t.strictSame((await Promise.all(calls)).map(({ statusCode }) => statusCode), [200, 200])
})
