import Fastify from 'fastify'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import t from 'tap'
import mcpFromRoutes, { PARENT_REQUEST } from '../src/index.ts'
import { build, call, listen, SERVER_INFO } from './build.ts'

const who = { schema: { operationId: 'who', description: 'Who calls.', tags: ['mcp'] } }
const answer = async (request: FastifyRequest): Promise<unknown> => ({
  ip: request.ip, host: request.host, protocol: request.protocol, id: request.id, headers: request.headers
})

t.test('the inner request has the address, host, protocol and id of the outer one', async (t) => {
  let port: number | undefined
  const { url } = await listen(t, (app) => {
    app.get('/who', who, async (request) => {
      const parent = Reflect.get(request.raw, PARENT_REQUEST) as FastifyRequest
      port = request.raw.socket.remotePort
      t.equal(port, parent.raw.socket.remotePort)
      return answer(request)
    })
  }, {}, { genReqId: () => 'outer-id', trustProxy: false })
  const { structuredContent } = await call(url, 'who', {}, { 'x-forwarded-for': '203.0.113.9', 'user-agent': 'agent/1', cookie: 'a=b', 'x-api-key': 'k', traceparent: '00-1-2-01' })
  t.strictSame(structuredContent, {
    ip: '127.0.0.1',
    host: url.host,
    protocol: 'http',
    id: 'outer-id',
    headers: {
      accept: 'application/json, */*;q=0.8',
      host: url.host,
      'user-agent': 'agent/1',
      'x-api-key': 'k',
      'x-forwarded-for': '203.0.113.9',
      traceparent: '00-1-2-01'
    }
  })
  t.type(port, 'number')
})

t.test('behind a trusted proxy the inner request has the address and protocol the proxy tells', async (t) => {
  const { url } = await listen(t, (app) => { app.get('/who', who, answer) }, {}, { trustProxy: '127.0.0.1' })
  const { structuredContent } = await call(url, 'who', {}, { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'api.example.com' })
  t.match(structuredContent, { ip: '203.0.113.9', protocol: 'https', host: 'api.example.com' })
})

t.test('hooks see that the inner request belongs to the outer one, and a client cannot pretend it', async (t) => {
  const seen: Array<[string, string | undefined]> = []
  const { url } = await listen(t, (app) => {
    app.addHook('onRequest', async (request) => {
      const parent = Reflect.get(request.raw, PARENT_REQUEST) as FastifyRequest | undefined
      seen.push([request.url, parent?.url])
    })
    app.get('/who', who, answer)
  })
  await call(url, 'who')
  await fetch(new URL('/who', url), { headers: { 'fastify.parentRequest': 'x' } })
  t.strictSame(seen, [['/mcp', undefined], ['/who', '/mcp'], ['/who', undefined]])
})

t.test('a generator of request ids that the host sets still names requests from outside', async (t) => {
  let n = 0
  const { url } = await listen(t, (app) => { app.get('/who', who, answer) }, {}, { genReqId: () => `host-${++n}` })
  t.match(await (await fetch(new URL('/who', url))).json(), { id: 'host-1' })
  t.match((await call(url, 'who')).structuredContent, { id: 'host-2' })
})

t.test('a generator that is set after the plugin, or for a plugin of the host, leaves the inner request the id of the outer one', async (t) => {
  let n = 0
  const { url } = await listen(t, async (app) => {
    app.get('/who', who, answer)
    await app.register(async (scope) => {
      scope.setGenReqId(() => `scope-${++n}`)
      scope.get('/scoped', { schema: { ...who.schema, operationId: 'scoped' } }, answer)
    })
    app.setGenReqId(() => `host-${++n}`)
  })
  t.match((await call(url, 'who')).structuredContent, { id: 'host-1' })
  t.match((await call(url, 'scoped')).structuredContent, { id: 'host-2' })
  t.match(await (await fetch(new URL('/scoped', url))).json(), { id: 'scope-3' })
})

for (const loopback of [undefined, 'inject'] as const) {
  t.test(`rewriteUrl changes requests from outside, and none of a tool's (loopback: ${loopback ?? 'default'})`, async (t) => {
    const seen: unknown[] = []
    const { url } = await listen(t, (app) => {
      const tool = (operationId: string): { schema: Record<string, unknown>, config: { mcp: { loopback?: 'inject' } } } => ({ schema: { operationId, description: 'D.', tags: ['mcp'] }, config: { mcp: loopback === undefined ? {} : { loopback } } })
      app.addHook('onRequest', async ({ raw }) => {
        // What @fastify/middie does for a middleware that is used at a path.
        const kept = raw.url
        raw.url = '/without-prefix'
        seen.push([kept, raw.url])
        raw.url = kept ?? ''
      })
      app.get('/:org/items', tool('org_items'), async (request) => ({ org: Reflect.get(Object(request.params), 'org'), url: request.url, originalUrl: request.originalUrl }))
      app.get('/items', async () => ({ stray: true }))
      app.get('/plain', tool('plain'), async () => ({ plain: true }))
    }, {}, { rewriteUrl: ({ url = '' }) => url.startsWith('/api/') ? url.slice(4) : url === '/mcp' ? url : '/nowhere' })
    t.match(await call(url, 'org_items', { org: 'api' }), { structuredContent: { org: 'api', url: '/api/items', originalUrl: '/api/items' } })
    t.match(await call(url, 'org_items', { org: 'acme' }), { structuredContent: { org: 'acme' } })
    t.match(await call(url, 'plain'), { structuredContent: { plain: true } })
    t.strictSame(seen.filter((_pair, index) => index % 2 === 1), [['/api/items', '/without-prefix'], ['/acme/items', '/without-prefix'], ['/plain', '/without-prefix']])
    t.match(await (await fetch(new URL('/api/items', url))).json(), { stray: true })
    t.equal((await fetch(new URL('/acme/items', url))).status, 404)
  })
}

for (const loopback of [undefined, 'inject'] as const) {
  t.test(`nor does what rewriteUrl assigns itself, while hooks may assign the URL (loopback: ${loopback ?? 'default'})`, async (t) => {
    const seen: unknown[] = []
    const app = Fastify({
      requestIdHeader: 'x-request',
      rewriteUrl (req) {
        const { url = '' } = req
        req.url = '/x'
        req.url = url.replace(/^\/v1/, '')
        return req.url
      }
    })
    t.teardown(() => app.close())
    const hook = (name: string) => async ({ raw }: FastifyRequest): Promise<void> => {
      if (raw[PARENT_REQUEST] === undefined) return
      const kept = raw.url
      raw.url = `/${name}`
      seen.push([kept, raw.url])
      raw.url = kept ?? ''
    }
    app.addHook('onRequest', hook('before the plugin'))
    await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO, forwardHeaders: ['x-request'] })
    app.addHook('onRequest', hook('after'))
    const schema = { operationId: 'own', description: 'D.', tags: ['mcp'] }
    app.get('/v1/x', { schema, config: { mcp: loopback === undefined ? {} : { loopback } } }, async ({ id, url, originalUrl }) => ({ own: true, id, url, originalUrl }))
    app.get('/x', async () => ({ stray: true }))
    const url = new URL('/mcp', await app.listen({ host: '127.0.0.1', port: 0 }))
    t.match(await call(url, 'own'), { structuredContent: { own: true, url: '/v1/x', originalUrl: '/v1/x' } })
    t.strictSame(seen.splice(0), [['/v1/x', '/before the plugin'], ['/v1/x', '/after']])
    t.match(await call(url, 'own', {}, { 'x-request': 'given' }), { structuredContent: { own: true, id: 'given', url: '/v1/x' } })
    t.strictSame(seen.at(-1), ['/v1/x', '/after'])
    t.match(await (await fetch(new URL('/v1/x', url))).json(), { stray: true })
  })
}

t.test('a tool for one host is not called for another, where another route may be', async (t) => {
  const app = await build(t, (app) => {
    app.get('/x', { schema: { ...who.schema, operationId: 'x' }, constraints: { host: 'a.example.com' } }, async () => ({ own: true }))
    app.get('/:slug', async () => ({ stray: true }))
  })
  const ask = async (host: string): Promise<unknown> => {
    const headers = { host, 'content-type': 'application/json', accept: 'application/json' }
    return (await app.inject({ method: 'POST', url: '/mcp', headers, payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x', arguments: {} } } })).json().result
  }
  t.match(await ask('a.example.com'), { structuredContent: { own: true } })
  t.strictSame(await ask('b.example.com'), { content: [{ type: 'text', text: 'This tool is not for the host b.example.com.' }], isError: true })
})

t.test('a route of the host that stands at the same address is not called', async (t) => {
  let ran = 0
  const { url } = await listen(t, (app) => {
    const schema = { operationId: 'get_user', description: 'Get a user.', tags: ['mcp'] }
    app.get<{ Params: { id: string } }>('/users/:id', { schema }, async ({ params }) => params)
    app.get('/users/me', async () => { ran += 1 })
    app.get('/users/:number(^\\d+$)', async () => { ran += 1 })
    app.get('/users/', async () => { ran += 1 })
    app.get('/', async () => { ran += 1 })
    app.get('/users/:id/keys', async () => { ran += 1 })
  })
  for (const id of ['me', '42', 'me?x', '..', '.', '', 'a/keys', '%2e%2e', '..%2f', '%6de', 'me/', '\\..\\x', 'x'.repeat(101)]) {
    const result = await call(url, 'get_user', { id })
    const own = result.isError === undefined
    t.ok(!own || (result.structuredContent as { id: string }).id === id, JSON.stringify(id))
    t.equal(own, ['me?x', 'a/keys', '%2e%2e', '..%2f', '%6de', 'me/', '\\..\\x'].includes(id), JSON.stringify(id))
  }
  t.equal(ran, 0)
  t.strictSame((await call(url, 'get_user', { id: 'me' })).content, [{ type: 'text', text: 'id "me" cannot be used here: that address belongs to another route.' }])
})

for (const [where, server] of [['the server', { maxParamLength: 5 }], ['its router', { routerOptions: { maxParamLength: 5 } }]] as const) {
  t.test(`a path value may be as long as ${where} takes it`, async (t) => {
    const { url } = await listen(t, (app) => {
      app.get<{ Params: { id: string } }>('/things/:id', { schema: { operationId: 'get_thing', description: 'Get.', tags: ['mcp'] } }, async ({ params }) => params)
    }, {}, server)
    t.match(await call(url, 'get_thing', { id: '12345' }), { structuredContent: { id: '12345' } })
    t.match(await call(url, 'get_thing', { id: '123456' }), { isError: true, content: [{ text: 'id must not be longer than 5 characters' }] })
  })
}

t.test('a route that cannot be told from the tool\'s before a call is refused at boot', async (t) => {
  const schema = { operationId: 'get_user', description: 'Get a user.', tags: ['mcp'] }
  const boot = async (routes: (app: FastifyInstance) => void): Promise<void> => { await listen(t, routes) }
  const handler = async (): Promise<string> => 'x'
  const refused: Array<[string, (app: FastifyInstance) => void, RegExp]> = [
    ['a twin with a pattern', (app) => app.get('/u/:id', { schema }, handler).get('/u/:id(^\\d+$)', handler), /^GET \/u\/:id cannot be a tool: only the pattern of a parameter tells it from GET \/u\/:id\(\^\\d\+\$\)\. Give the parameters different names/],
    ['a tool with a pattern', (app) => app.get('/u/:id', handler).get('/u/:id(^\\d+$)', { schema }, handler), /^GET \/u\/:id\(\^\\d\+\$\) cannot be a tool: .* GET \/u\/:id\. Give/],
    ['a twin of several methods', (app) => app.get('/u/:id', { schema }, handler).route({ method: ['GET', 'POST'], url: '/u/:id(^\\d+$)', handler }), /only the pattern/],
    ['a twin for another host', (app) => app.get('/u', { schema }, handler).get('/u', { constraints: { host: 'a.example.com' } }, handler), /^GET \/u cannot be a tool: only the host tells it from GET \/u of a\.example\.com\. Give it a path of its own/],
    ['a tool for one host', (app) => app.get('/u', handler).get('/u', { schema, constraints: { host: 'a.example.com' } }, handler), /of any host/]
  ]
  for (const [title, routes, message] of refused) {
    await t.rejects(boot(routes), { code: 'MCP_FROM_ROUTES_UNSUPPORTED_ROUTE', message }, title)
  }
  await boot((app) => app.get('/u/:id', { schema }, handler).get('/u/:number(^\\d+$)', handler).post('/u/:id(^\\d+$)', handler).get('/u/:id/x', handler))
})

t.test('a route that was registered before the plugin cannot be the twin of a tool either', async (t) => {
  const schema = { operationId: 'get_user', description: 'Get a user.', tags: ['mcp'] }
  const handler = async (): Promise<string> => 'x'
  const boot = async (before: (app: FastifyInstance) => void, url: string, server: object = {}): Promise<void> => {
    const app = Fastify(server)
    t.teardown(() => app.close())
    before(app)
    await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
    app.get(url, { schema }, handler)
    await app.ready()
  }
  const refused: Array<[string, (app: FastifyInstance) => void, string, object, RegExp]> = [
    ['a pattern', (app) => app.get('/u/:id(^\\d+$)', handler), '/u/:id', {}, /only the pattern of a parameter tells it from GET \/u\/:id\(\^\\d\+\$\)/],
    ['a pattern of alternatives', (app) => app.get('/u/:id(^(a|:b)$)/x', handler).get('/u/:name/y', handler), '/u/:id/x', {}, /only the pattern/],
    ['a parameter of several names', (app) => app.get('/u/:id/x', handler).get('/u/:user/y', handler), '/u/:user(^\\d+$)/y', {}, /tells it from GET \/u\/:user\/y/],
    ['a host', (app) => app.get('/u', { constraints: { host: 'a.example.com' } }, handler), '/u', {}, /only the host tells it from GET \/u of a\.example\.com/],
    ['the second of two hosts', (app) => app.post('/u', handler).get('/u', { constraints: { host: /b/ } }, handler), '/u', {}, /of \/b\//],
    ['a colon and a percent sign', (app) => app.get('/u::x/a%b/:id(^\\d+$)', handler), '/u::x/a%b/:id', {}, /only the pattern/],
    ['a router without cases', (app) => app.get('/Users/:id(^\\d+$)', handler), '/Users/:id', { routerOptions: { caseSensitive: false } }, /only the pattern/]
  ]
  for (const [title, before, url, server, message] of refused) {
    await t.rejects(boot(before, url, server), { code: 'MCP_FROM_ROUTES_UNSUPPORTED_ROUTE', message }, title)
  }
  await boot((app) => app.get('/u/:number(^\\d+$)', handler).post('/u/:id(^\\d+$)', handler).get('/u/:id/x', handler).get('/U/:id(^\\d+$)', handler), '/u/:id')
})

t.test('host and version constraints are met', async (t) => {
  const { url } = await listen(t, (app) => {
    app.get('/v/:id', { constraints: { version: '1.0.0' } }, async () => 'one')
    app.get('/v/:id', { schema: { operationId: 'two', description: 'Version two.', tags: ['mcp'] }, constraints: { version: '2.0.0' } }, async () => 'two')
    app.get('/h/:id', { schema: { operationId: 'elsewhere', description: 'For another host.', tags: ['mcp'] }, constraints: { host: 'other.example.com' } }, async () => 'other')
  })
  t.match(await call(url, 'two', { id: 1 }), { content: [{ type: 'text', text: 'two' }] })
  t.match(await call(url, 'elsewhere', { id: 1 }), { isError: true })
})

t.test('the inner request passes all hooks of its route, and no hook of the endpoint', async (t) => {
  const ran: string[] = []
  const { url } = await listen(t, async (app) => {
    await app.register(async (scope) => {
      scope.addHook('onRequest', async ({ headers }, reply) => {
        ran.push('scope')
        if (headers.authorization !== 'Bearer good') return reply.code(401).send({ statusCode: 401, error: 'Unauthorized', message: 'no' })
      })
      scope.addHook('onSend', async () => { ran.push('onSend') })
      scope.get('/who', { ...who, preHandler: async () => { ran.push('preHandler') } }, async () => ({ ok: true }))
    })
  }, { onRequest: async () => { ran.push('endpoint') } })
  t.match(await call(url, 'who', {}, { authorization: 'Bearer good' }), { structuredContent: { ok: true } })
  t.strictSame(ran.splice(0), ['endpoint', 'scope', 'preHandler', 'onSend'])
  t.match(await call(url, 'who', {}, { authorization: 'Bearer bad' }), { isError: true, content: [{ type: 'text', text: '401 Unauthorized: no' }] })
  t.strictSame(ran, ['endpoint', 'scope', 'onSend'])
})
