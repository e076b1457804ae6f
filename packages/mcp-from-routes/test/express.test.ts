import { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import type { ToolCallEvent } from '../src/index.ts'
import { call, listen } from './build.ts'

/**
 * What Express gives every request and response, as @fastify/express and @fastify/middie run it: their prototypes and
 * `headersSent`.
 */
const request = Object.create(IncomingMessage.prototype) as object
const response = Object.create(ServerResponse.prototype) as object

function likeExpress (app: FastifyInstance): void {
  app.addHook('onRequest', (req, reply, done) => {
    Object.setPrototypeOf(req.raw, request)
    Object.setPrototypeOf(reply.raw, response)
    Object.assign(reply.raw, { req: req.raw })
    Object.defineProperty(reply.raw, 'headersSent', { get: () => false, configurable: true })
    if (req.url.startsWith('/private')) {
      // A middleware that answers by itself.
      reply.hijack()
      reply.raw.statusCode = 403
      reply.raw.setHeader('content-type', 'application/json')
      reply.raw.end('{"message":"Not for you"}')
      return
    }
    done()
  })
}

function routes (app: FastifyInstance, loopback: object): void {
  const tool = (operationId: string): object => ({ operationId, summary: `${operationId} tool`, tags: ['mcp'] })
  const config = { mcp: loopback }
  app.get('/things/:id', {
    schema: { ...tool('get_thing'), params: { type: 'object', properties: { id: { type: 'string' } } } },
    config
  }, async (req) => req.params)
  app.post('/things', {
    schema: { ...tool('add_thing'), body: { type: 'object', properties: { name: { type: 'string' } } } },
    config
  }, async (req, reply) => reply.code(201).send(req.body))
  app.get(
    '/stream',
    { schema: tool('get_stream'), config },
    async (_req, reply) => reply.type('text/plain').send(Readable.from(['a', 'b', 'c']))
  )
  app.get(
    '/missing',
    { schema: tool('get_missing'), config },
    async (_req, reply) => reply.code(404).send({ message: 'No such thing' })
  )
  app.get('/private', { schema: tool('get_private'), config }, async () => ({}))
  app.get('/never', { schema: tool('get_never'), config }, () => {})
  app.get('/broken', { schema: tool('get_broken'), config }, (_req, reply) => {
    const silent = function (this: unknown): unknown {
      return this
    }
    Object.assign(reply.raw, { end: silent, destroy: silent, write: () => true })
    return { never: 'sent' }
  })
}

for (const [name, loopback] of [['the light request', {}], ['loopback: inject', { loopback: 'inject' }]] as const) {
  for (const order of ['before', 'after'] as const) {
    t.test(`with ${name}, tools work in a host that runs Express ${order} the plugin`, async (t) => {
      const { url } = await listen(
        t,
        (app) => {
          if (order === 'after') likeExpress(app)
          routes(app, loopback)
        },
        {},
        {},
        order === 'before' ? likeExpress : undefined
      )
      t.match(await call(url, 'get_thing', { id: 'a' }), { structuredContent: { id: 'a' } })
      t.match(await call(url, 'add_thing', { name: 'b' }), { structuredContent: { name: 'b' } })
      t.match(await call(url, 'get_stream'), { content: [{ text: 'abc' }] })
      t.match(await call(url, 'get_missing'), { isError: true, content: [{ text: '404 Not Found: No such thing' }] })
      t.match(await call(url, 'get_private'), { isError: true, content: [{ text: '403 Forbidden: Not for you' }] })
    })
  }

  t.test(`with ${name}, a call ends in time whatever the host did to its response`, async (t) => {
    const events: ToolCallEvent[] = []
    const { app, url } = await listen(t, (app) => {
      likeExpress(app)
      routes(app, loopback)
    }, {
      toolTimeout: 200,
      onToolCall: (event) => {
        events.push(event)
      }
    })
    for (const tool of ['get_never', 'get_broken']) {
      t.match(await call(url, tool), { isError: true, content: [{ text: /did not answer within 200 ms/ }] })
    }
    t.match(events, [{ ended: 'timeout', isError: true }, { ended: 'timeout', isError: true }])
    const last = call(url, 'get_never')
    await new Promise((resolve) => setTimeout(resolve, 50))
    await app.close()
    t.match(await last, { isError: true })
  })
}
