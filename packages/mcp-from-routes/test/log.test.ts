import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import t from 'tap'
import { build, call, listen, post } from './build.ts'
import { logs } from './logs.ts'

const WARN = 40
const ERROR = 50

const schema = (operationId: string): object => ({
  operationId,
  description: `What ${operationId} is for.`,
  tags: ['mcp']
})

t.test('a rate limit that does not cover the endpoint is warned of, and one that came before covers it', async (t) => {
  let counted: string[] = []
  /** As @fastify/rate-limit does. */
  const rateLimit = (isGlobal: boolean) =>
    fp(async (app: FastifyInstance) => {
      app.decorate('rateLimit', (() => {}) as never)
      app.addHook('onRoute', (route) => {
        if (isGlobal) {
          route.onRequest = [...[route.onRequest ?? []].flat(), async ({ url }) => {
            counted.push(url)
          }]
        }
      })
    })
  const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  for (
    const [isGlobal, order, warned, expected] of [[true, 'before', 0, ['/mcp']], [true, 'after', 1, []], [
      false,
      'after',
      0,
      []
    ]] as const
  ) {
    counted = []
    const { lines, logger } = logs('warn')
    const limit = async (app: FastifyInstance): Promise<void> => {
      await app.register(rateLimit(isGlobal))
    }
    const { url } = await listen(
      t,
      async (app) => {
        if (order === 'after') await limit(app)
        app.get('/a', { schema: schema('a') }, async () => ({}))
      },
      {},
      { logger },
      order === 'before' ? limit : undefined
    )
    await post(url, LIST)
    t.strictSame(counted, expected, `${isGlobal} ${order}`)
    t.equal(
      lines.filter(({ msg }) => /rate-limit was registered after mcp-from-routes/.test(String(msg))).length,
      warned,
      `${isGlobal} ${order}`
    )
  }
})

t.test('a route that may have forgotten to describe its body is named at startup', async (t) => {
  const { lines, logger } = logs('info')
  const app = await build(
    t,
    (app) => {
      const route = (method: string, url: string, more: object = {}): void => {
        app.route({
          method,
          url,
          schema: { ...schema(`${method}${url.replace(/\W/g, '_')}`), ...more },
          handler: async () => 1
        })
      }
      route('POST', '/notes')
      route('PUT', '/settings')
      route('PATCH', '/notes/:id')
      route('POST', '/notes/:id/archive')
      route('PUT', '/search', { querystring: { type: 'object', properties: { q: { type: 'string' } } } })
      route('POST', '/described', { body: { type: 'object', properties: { text: { type: 'string' } } } })
      route('POST', '/whole', { body: { type: 'array' } })
      route('GET', '/notes')
      route('DELETE', '/notes')
      app.post('/untagged', async () => 1)
    },
    {},
    { logger }
  )
  await app.ready()
  const msg =
    'the tools of these routes send no body, because schema.body is missing. If a route reads a body, describe it there'
  t.match(lines, [
    { level: WARN, routes: ['PATCH /notes/:id', 'POST /notes', 'PUT /settings'], msg },
    { level: 30, routes: ['POST /notes/:id/archive', 'PUT /search'], msg }
  ])
  t.equal(lines.length, 2)
})

t.test('a 401 of a route is logged once, if a header that may carry the credential did not reach it', async (t) => {
  const warned = async (options: object, headers: Record<string, string>, status = 401): Promise<unknown[]> => {
    const { lines, logger } = logs('warn')
    const { url } = await listen(
      t,
      (app) => {
        app.get(
          '/a',
          { schema: schema('a') },
          async (_request, reply) => await reply.code(status).send({ message: 'no' })
        )
      },
      options,
      { logger }
    )
    for (let calls = 0; calls < 2; calls++) {
      t.match(await call(url, 'a', {}, headers), status === 200 ? { structuredContent: {} } : { isError: true })
    }
    return lines
  }
  t.match(await warned({}, { 'X-Acme-Key': 'k', 'x-request-id': '1', 'x-api-key': 'k' }), [{
    level: WARN,
    tool: 'a',
    headers: ['x-acme-key'],
    msg: 'the route of a tool answered 401, and these headers of the call did not reach it. If one carries the ' +
      'credential, add it to forwardHeaders'
  }])
  t.equal((await warned({}, { 'x-acme-key': 'k' })).length, 1)
  for (
    const [options, headers, status] of [
      [{ forwardHeaders: ['X-Acme-Key'] }, { 'x-acme-key': 'k' }, 401],
      [{}, {
        'x-api-key': 'k',
        authorization: 'Bearer a',
        'x-request-id': '1',
        'idempotency-key': '1',
        'mcp-session-id': '1'
      }, 401],
      [{}, { 'x-acme-key': 'k' }, 403],
      [{}, { 'x-acme-key': 'k' }, 200]
    ] as const
  ) t.strictSame(await warned(options, headers, status), [], JSON.stringify([options, headers, status]))
})

t.test('a route that breaks its connection off is logged with its tool', async (t) => {
  const { lines, logger } = logs('error')
  const { url } = await listen(
    t,
    (app) => {
      app.get('/broken', { schema: schema('broken'), config: { mcp: { loopback: 'inject' } } }, (_request, reply) => {
        reply.hijack()
        reply.raw.destroy(new TypeError('the disk is full'))
      })
    },
    {},
    { logger }
  )
  t.match(await call(url, 'broken'), {
    isError: true,
    content: [{ text: /^The route did not answer\. The request id is req-\w+\.$/ }]
  })
  t.match(lines.filter(({ msg }) => msg !== 'request errored'), [{
    level: ERROR,
    tool: 'broken',
    err: { message: 'the disk is full' },
    msg: 'the route of a tool did not answer'
  }])
})

t.test('what canUse throws while the SDK answers is logged, and no client reads it', async (t) => {
  const { lines, logger } = logs('error')
  const { url } = await listen(t, (app) => {
    app.get('/a', { schema: schema('a') }, async () => 1)
  }, {
    canUse: () => {
      throw new TypeError('no database')
    }
  }, { logger })
  t.strictSame((await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { extra: 1 } })).body, {
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32603, message: 'Internal error' }
  })
  t.match(lines, [{ level: ERROR, err: { message: 'no database' }, msg: 'a function of the options threw' }])
})
