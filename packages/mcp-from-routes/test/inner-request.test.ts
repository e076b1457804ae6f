import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import t from 'tap'
import mcpFromRoutes, { PARENT_REQUEST } from '../src/index.ts'
import { build, call, listen, SERVER_INFO } from './build.ts'

const who = { schema: { operationId: 'who', description: 'Who calls.', tags: ['mcp'] } }
const answer = async (request: FastifyRequest): Promise<unknown> => ({
  ip: request.ip,
  host: request.host,
  protocol: request.protocol,
  id: request.id,
  headers: request.headers
})

t.test('the inner request has the address, host, protocol and id of the outer one', async (t) => {
  let port: number | undefined
  const { url } = await listen(
    t,
    (app) => {
      app.get('/who', who, async (request) => {
        const parent = Reflect.get(request.raw, PARENT_REQUEST) as FastifyRequest
        port = request.raw.socket.remotePort
        t.equal(port, parent.raw.socket.remotePort)
        return answer(request)
      })
    },
    {},
    { genReqId: () => 'outer-id', trustProxy: false }
  )
  const { structuredContent } = await call(url, 'who', {}, {
    'x-forwarded-for': '203.0.113.9',
    'user-agent': 'agent/1',
    cookie: 'a=b',
    'x-api-key': 'k',
    traceparent: '00-1-2-01'
  })
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
  const { url } = await listen(
    t,
    (app) => {
      app.get('/who', who, answer)
    },
    {},
    { trustProxy: '127.0.0.1' }
  )
  const { structuredContent } = await call(url, 'who', {}, {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'api.example.com'
  })
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
  await fetch(new URL('/who', url), { headers: { 'mcp-from-routes.parentRequest': 'x' } })
  t.strictSame(seen, [['/mcp', undefined], ['/who', '/mcp'], ['/who', undefined]])
})

t.test('a generator of request ids that the host sets still names requests from outside', async (t) => {
  let n = 0
  const { url } = await listen(
    t,
    (app) => {
      app.get('/who', who, answer)
    },
    {},
    { genReqId: () => `host-${++n}` }
  )
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
  t.test(`rewriteUrl can leave inner requests alone, and hooks may assign the URL (loopback: ${loopback ?? 'default'})`, async (t) => {
    const seen: unknown[] = []
    const config = { mcp: loopback === undefined ? {} : { loopback } }
    const app = Fastify({
      requestIdHeader: 'x-request',
      rewriteUrl: ({ url = '', [PARENT_REQUEST]: parent }) => parent === undefined ? url.replace(/^\/v1/, '') : url
    })
    t.teardown(() => app.close())
    const hook = (name: string) => async ({ raw }: FastifyRequest): Promise<void> => {
      if (raw[PARENT_REQUEST] === undefined) return
      // What @fastify/middie does for a middleware that is used at a path.
      const kept = raw.url
      raw.url = `/${name}`
      seen.push([kept, raw.url])
      raw.url = kept ?? ''
    }
    app.addHook('onRequest', hook('before the plugin'))
    await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO, forwardHeaders: ['x-request'] })
    app.addHook('onRequest', hook('after'))
    const schema = { operationId: 'own', description: 'D.', tags: ['mcp'] }
    app.get('/v1/x', { schema, config }, async ({ id, url, originalUrl }) => ({ own: true, id, url, originalUrl }))
    app.get(
      '/:org/items',
      { schema: { ...schema, operationId: 'org_items' }, config },
      async (request) => ({
        org: Reflect.get(Object(request.params), 'org'),
        url: request.url,
        originalUrl: request.originalUrl
      })
    )
    app.get('/x', async () => ({ stray: true }))
    const url = new URL('/mcp', await app.listen({ host: '127.0.0.1', port: 0 }))
    t.match(await call(url, 'own'), { structuredContent: { own: true, url: '/v1/x', originalUrl: '/v1/x' } })
    t.strictSame(seen.splice(0), [['/v1/x', '/before the plugin'], ['/v1/x', '/after']])
    t.match(await call(url, 'own', {}, { 'x-request': 'given' }), {
      structuredContent: { own: true, id: 'given', url: '/v1/x' }
    })
    t.match(await call(url, 'org_items', { org: 'v1' }), {
      structuredContent: { org: 'v1', url: '/v1/items', originalUrl: '/v1/items' }
    })
    t.match(await call(url, 'org_items', { org: 'acme' }), { structuredContent: { org: 'acme' } })
    t.match(await (await fetch(new URL('/v1/x', url))).json(), { stray: true })
  })
}

t.test('a tool for one host is not called for another, where another route may be', async (t) => {
  const app = await build(t, (app) => {
    app.get(
      '/x',
      { schema: { ...who.schema, operationId: 'x' }, constraints: { host: 'a.example.com' } },
      async () => ({ own: true })
    )
    app.get('/:slug', async () => ({ stray: true }))
  })
  const ask = async (host: string): Promise<unknown> => {
    const headers = { host, 'content-type': 'application/json', accept: 'application/json' }
    return (await app.inject({
      method: 'POST',
      url: '/mcp',
      headers,
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x', arguments: {} } }
    })).json().result
  }
  t.match(await ask('a.example.com'), { structuredContent: { own: true } })
  t.strictSame(await ask('b.example.com'), {
    content: [{ type: 'text', text: 'This tool is not for the host b.example.com.' }],
    isError: true
  })
})

t.test('a route of the host that stands at the same address is not called', async (t) => {
  let ran = 0
  const { url } = await listen(t, (app) => {
    const schema = { operationId: 'get_user', description: 'Get a user.', tags: ['mcp'] }
    app.get<{ Params: { id: string } }>('/users/:id', { schema }, async ({ params }) => params)
    app.get('/users/me', async () => {
      ran += 1
    })
    app.get('/users/:number(^\\d+$)', async () => {
      ran += 1
    })
    app.get('/users/', async () => {
      ran += 1
    })
    app.get('/', async () => {
      ran += 1
    })
    app.get('/users/:id/keys', async () => {
      ran += 1
    })
  })
  for (
    const id of [
      'me',
      '42',
      'me?x',
      '..',
      '.',
      '',
      'a/keys',
      '%2e%2e',
      '..%2f',
      '%6de',
      'me/',
      '\\..\\x',
      'x'.repeat(101)
    ]
  ) {
    const result = await call(url, 'get_user', { id })
    const own = result.isError === undefined
    t.ok(!own || (result.structuredContent as { id: string }).id === id, JSON.stringify(id))
    t.equal(own, ['me?x', 'a/keys', '%2e%2e', '..%2f', '%6de', 'me/', '\\..\\x'].includes(id), JSON.stringify(id))
  }
  t.equal(ran, 0)
  t.strictSame((await call(url, 'get_user', { id: 'me' })).content, [{
    type: 'text',
    text: 'id "me" cannot be used here: that address belongs to another route.'
  }])
})

for (
  const [where, server] of [['the server', { maxParamLength: 5 }], ['its router', {
    routerOptions: { maxParamLength: 5 }
  }]] as const
) {
  t.test(`a path value may be as long as ${where} takes it`, async (t) => {
    const { url } = await listen(
      t,
      (app) => {
        app.get<{ Params: { id: string } }>('/things/:id', {
          schema: { operationId: 'get_thing', description: 'Get.', tags: ['mcp'] }
        }, async ({ params }) => params)
      },
      {},
      server
    )
    t.match(await call(url, 'get_thing', { id: '12345' }), { structuredContent: { id: '12345' } })
    t.match(await call(url, 'get_thing', { id: '123456' }), {
      isError: true,
      content: [{ text: 'id must not be longer than 5 characters' }]
    })
  })
}

const tagged = { operationId: 'x', description: 'D.', tags: ['mcp'] }
const stray = async (): Promise<string> => 'stray'
const own = async (): Promise<string> => 'own'
/** Routes that only a pattern, a host or a method tells apart, and the call for which the other one would run. */
const twins: Array<
  [string, (app: FastifyInstance) => unknown, string, Record<string, string>, Record<string, string>?, string?]
> = [
  ['a pattern of alternatives', (app) => app.get('/u/:id(^(a|:b)$)/x', stray).get('/u/:name/y', stray), '/u/:id/x', {
    id: 'a'
  }],
  ['a parameter of several names', (app) => app.get('/u/:id/x', stray).get('/u/:user/y', stray), '/u/:user(^\\d+$)/y', {
    user: 'a'
  }],
  [
    'the second of two hosts',
    (app) => app.post('/u', stray).get('/u', { constraints: { host: /b/ } }, stray),
    '/u',
    {},
    {},
    'b.example.com'
  ],
  ['a tool for one host', (app) => app.get('/u', stray), '/u', {}, { host: 'a.example.com' }, 'b.example.com'],
  ['a colon and a percent sign', (app) => app.get('/u::x/a%b/:id(^\\d+$)', stray), '/u::x/a%b/:id', { id: '1' }],
  ['a router without cases', (app) => app.get('/Users/:id(^\\d+$)', stray), '/Users/:id', { id: '1' }]
]

for (const [title, routes, path, args, constraints = {}, host = 'a.example.com'] of twins) {
  for (const when of ['before', 'after'] as const) {
    t.test(`a call does not run its twin: ${title}, registered ${when} the plugin`, async (t) => {
      const app = Fastify({ routerOptions: { caseSensitive: title !== 'a router without cases' } })
      t.teardown(() => app.close())
      if (when === 'before') routes(app)
      await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
      app.get(path, { schema: tagged, constraints }, own)
      if (when === 'after') routes(app)
      const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x', arguments: args } }
      const { result } =
        (await app.inject({ method: 'POST', url: '/mcp', headers: { host, accept: 'application/json' }, payload }))
          .json<{ result: unknown }>()
      t.match(result, { isError: true, content: [{ text: /belongs to another route|is not for the host/ }] })
    })
  }
}

t.test('the inner request passes all hooks of its route, and no hook of the endpoint', async (t) => {
  const ran: string[] = []
  const { url } = await listen(t, async (app) => {
    await app.register(async (scope) => {
      scope.addHook('onRequest', async ({ headers }, reply) => {
        ran.push('scope')
        if (headers.authorization !== 'Bearer good') {
          return reply.code(401).send({ statusCode: 401, error: 'Unauthorized', message: 'no' })
        }
      })
      scope.addHook('onSend', async () => {
        ran.push('onSend')
      })
      scope.get('/who', {
        ...who,
        preHandler: async () => {
          ran.push('preHandler')
        }
      }, async () => ({ ok: true }))
    })
  }, {
    onRequest: async () => {
      ran.push('endpoint')
    }
  })
  t.match(await call(url, 'who', {}, { authorization: 'Bearer good' }), { structuredContent: { ok: true } })
  t.strictSame(ran.splice(0), ['endpoint', 'scope', 'preHandler', 'onSend'])
  t.match(await call(url, 'who', {}, { authorization: 'Bearer bad' }), {
    isError: true,
    content: [{ type: 'text', text: '401 Unauthorized: no' }]
  })
  t.strictSame(ran, ['endpoint', 'scope', 'onSend'])
})
