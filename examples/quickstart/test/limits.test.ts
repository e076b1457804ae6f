import rateLimit from '@fastify/rate-limit'
import dualAuth, { createApiKey, memoryStore, type ApiKeyOptions } from 'dual-auth'
import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import t, { type Test } from 'tap'
import { startIssuer } from '../../../packages/dual-auth/test/issuer.ts'
import { limitKeys } from '../dual-auth-limits.ts'

const issuer = await startIssuer()
t.teardown(() => issuer.stop())

const schema = (operationId: string) => ({
  operationId,
  description: 'A route.',
  tags: ['mcp'],
  params: { type: 'object', properties: { shop_id: { type: 'string' } }, required: ['shop_id'] },
  response: { 200: { type: 'object', properties: { ok: { type: 'boolean' } } } }
})

/**
 * A server as packages/dual-auth/docs/limits.md has it: a limit before the authentication, and those of keys after it.
 */
async function world (t: Test, limits: { perMinute: number, atOnce: number }, store = memoryStore()) {
  const apiKeys: ApiKeyOptions = {
    marker: 'acme',
    peppers: [{ id: 'p', secret: 'a pepper of at least 32 characters' }],
    store,
    ownerParam: 'shop_id'
  }
  const app = Fastify()
  t.teardown(async () => await app.close())
  await app.register(rateLimit, { global: false })
  app.addHook('onRequest', app.rateLimit({ max: 1000, timeWindow: '1 minute' }))
  await app.register(dualAuth, {
    apiKeys,
    jwt: { issuer: issuer.url, userClients: ['web-app'], audience: ['x'] },
    policy: ({ url }) => {
      if (url.startsWith('/mcp')) return 'any-key'
      return url.startsWith('/shops') ? 'dual' : 'jwt'
    }
  })
  limitKeys(app, limits)
  await app.register(mcpFromRoutes, { serverInfo: { name: 'acme', version: '1.0.0' } })
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  let waiting = 0
  const arrived: Array<{ count: number, resolve: () => void }> = []
  app.get('/shops/:shop_id/now', { schema: schema('now') }, async () => ({ ok: true }))
  app.get('/shops/:shop_id/later', { schema: schema('later') }, async () => {
    waiting++
    for (const { count, resolve } of arrived) if (waiting >= count) resolve()
    await gate
    return { ok: true }
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const origin = app.listeningOrigin
  const makeKey = async () =>
    (await createApiKey(apiKeys, { ownerId: 's1', name: 'x', scopes: 'all', createdBy: 'test' })).plaintext
  const rest = async (headers: Record<string, string>, path = 'now', signal: AbortSignal | null = null) =>
    await fetch(`${origin}/shops/s1/${path}`, { headers, signal })
  const tool = async (headers: Record<string, string>, name = 'now') =>
    await fetch(`${origin}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: { shop_id: 's1' } }
      })
    })
  /** Resolves when so many calls wait in the slow route. */
  const waitingCalls = async (count: number): Promise<void> => {
    if (waiting < count) await new Promise<void>((resolve) => arrived.push({ count, resolve }))
  }
  return {
    app,
    makeKey,
    rest,
    tool,
    open: () => {
      open()
    },
    waitingCalls
  }
}

t.test('a key has so many calls a minute, by REST and by tools together; a tool call counts once', async (t) => {
  const { makeKey, rest, tool } = await world(t, { perMinute: 4, atOnce: 10 })
  const [one, two] = [{ 'x-api-key': await makeKey() }, { authorization: `Bearer ${await makeKey()}` }]
  t.match(await (await tool(one)).text(), '\\"ok\\":true')
  for (const call of [rest, tool, rest]) t.equal((await call(one)).status, 200)
  for (const call of [rest, tool]) {
    const response = await call(one)
    t.equal(response.status, 429)
    t.match(response.headers.get('retry-after'), /^[1-9]\d?$/)
    t.match(await response.json(), { code: 'TOO_MANY_CALLS', message: 'This API key may make 4 calls a minute' })
  }
  t.equal((await rest(two)).status, 200, 'another key of the same shop and address has its own')
  for (let times = 0; times < 6; times++) {
    t.equal((await rest({ authorization: `Bearer ${issuer.user({ aud: 'x' })}` })).status, 200, 'tokens are not keys')
  }
  for (let times = 0; times < 6; times++) {
    t.equal((await rest({ 'x-api-key': 'acme_bad' })).status, 401, 'nor are bad ones')
  }
})

t.test('a key has so many calls under way, and gets its places back', async (t) => {
  const { makeKey, rest, tool, open, waitingCalls } = await world(t, { perMinute: 100, atOnce: 2 })
  const [one, two] = [{ 'x-api-key': await makeKey() }, { 'x-api-key': await makeKey() }]
  const under = [tool(one, 'later'), rest(one, 'later')]
  await waitingCalls(2)
  for (const call of [rest, tool]) {
    const response = await call(one)
    t.strictSame([response.status, response.headers.get('retry-after')], [429, '1'])
    t.match(await response.json(), { message: 'This API key may make 2 calls at once' })
  }
  t.equal((await rest(two)).status, 200)
  open()
  for (const response of await Promise.all(under)) {
    t.equal(response.status, 200)
    await response.text()
  }
  // A place is free when the server has seen the end of its response.
  let status = 429
  while (status === 429) status = (await rest(one)).status
  t.equal(status, 200)
})

t.test('a client that goes away gives its place back', async (t) => {
  const { makeKey, rest, waitingCalls } = await world(t, { perMinute: 100_000, atOnce: 1 })
  const key = { 'x-api-key': await makeKey() }
  const gone = new AbortController()
  const call = rest(key, 'later', gone.signal)
  await waitingCalls(1)
  t.equal((await rest(key)).status, 429)
  gone.abort()
  await t.rejects(call)
  let status = 429
  while (status === 429) status = (await rest(key)).status
  t.equal(status, 200)
})

t.test('a client that goes away while its key is looked up takes no place', async (t) => {
  const inner = memoryStore()
  let find = (): void => {}
  let asked = (): void => {}
  const lookup = new Promise<void>((resolve) => {
    find = resolve
  })
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve
  })
  const { app, makeKey, rest } = await world(t, { perMinute: 100_000, atOnce: 1 }, {
    ...inner,
    find: async (...args) => {
      asked()
      await lookup
      return await inner.find(...args)
    }
  })
  const key = { 'x-api-key': await makeKey() }
  const closed = new Promise<void>((resolve) => {
    app.server.prependOnceListener('request', ({ socket }) => socket.once('close', resolve))
  })
  const gone = new AbortController()
  const call = rest(key, 'now', gone.signal)
  await isAsked
  gone.abort()
  await t.rejects(call)
  await closed
  find()
  for (let times = 0; times < 3; times++) t.equal((await rest(key)).status, 200)
})
