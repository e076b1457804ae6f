import { EventEmitter, once } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createGzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'

/** One request that a loopback must answer as `app.inject` does. */
export interface Animal {
  method: string
  url: string
  headers?: Record<string, string>
  body?: string
}

const get = (url: string, headers?: Record<string, string>): Animal => ({
  method: 'GET',
  url,
  ...headers && { headers }
})
const json = (url: string, body: string, headers: Record<string, string> = {}): Animal => ({
  method: 'POST',
  url,
  body,
  headers: { 'content-type': 'application/json', ...headers }
})

export const ANIMALS: readonly Animal[] = [
  ...[
    'object',
    'async',
    'string',
    'buffer',
    'typed-array',
    'empty',
    'undefined',
    'null',
    'number',
    'serialized',
    'stream',
    'stream-json',
    'web-stream',
    'response',
    'no-content',
    'not-modified',
    'redirect',
    'created',
    'throws',
    'rejects',
    'http-error',
    'not-an-error',
    'serializer-fails',
    'stream-fails',
    'stream-fails-late',
    'not-found',
    'cookies',
    'large',
    'large-stream',
    'early',
    'early-pre-handler',
    'hook-throws',
    'on-send',
    'gzip',
    'trailers',
    'hints',
    'hijacked',
    'hijacked-pieces',
    'hijacked-array',
    'raw-header',
    'raw-piped',
    'on-response',
    'request',
    'elapsed',
    'peer',
    'slow',
    'next-tick',
    'callback',
    'nothing-there',
    'coerced?n=5&n=6&b=true',
    'coerced?n=x',
    'encoded/%C3%BC%2F',
    'error-handler',
    'error-handler-throws',
    'abort-hook',
    'signal',
    'drain',
    'listeners',
    'timeout-handler',
    'closes'
  ].map((name) => get(`/zoo/${name}`)),
  { method: 'HEAD', url: '/zoo/object' },
  { method: 'OPTIONS', url: '/zoo/object' },
  { method: 'DELETE', url: '/zoo/deleted' },
  { method: 'POST', url: '/zoo/echo' },
  json('/zoo/echo', '{"a":"ü","n":"7"}'),
  json('/zoo/echo', '{"n":"x"}'),
  json('/zoo/echo', '{"a":'),
  json('/zoo/echo', ''),
  json('/zoo/echo', '{"__proto__":{}}'),
  json('/zoo/echo', JSON.stringify({ a: 'x'.repeat(200_000) })),
  json('/zoo/echo', JSON.stringify({ a: 'x'.repeat(2_000_000) })),
  json('/zoo/pre-parsing', '{"a":"b"}'),
  json('/zoo/read-and-destroyed', '{"a":"b"}'),
  json('/zoo/closes', '{"a":"b"}'),
  json('/zoo/limited', '{"a":"longer than ten bytes"}'),
  { method: 'POST', url: '/zoo/echo', headers: { 'content-type': 'text/plain' }, body: 'text' },
  { method: 'POST', url: '/zoo/echo', headers: { 'content-type': 'application/xml' }, body: '<a/>' },
  { method: 'POST', url: '/zoo/raw', headers: { 'content-type': 'application/octet-stream' }, body: 'bytes' },
  { method: 'POST', url: '/zoo/raw-pipe', headers: { 'content-type': 'application/octet-stream' }, body: 'bytes' },
  { method: 'PUT', url: '/zoo/async-parser', headers: { 'content-type': 'application/x-lines' }, body: 'a\nb' }
]

/** Routes that use everything a handler or a hook can lay hands on. `log` is told what ran, in order. */
export async function zoo (app: FastifyInstance, log: string[]): Promise<void> {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-zoo', 'yes')
  })
  app.addContentTypeParser('application/octet-stream', (_request, payload, done) => {
    done(null, payload)
  })
  app.addContentTypeParser(
    'application/x-lines',
    async (_request: unknown, payload: Readable) => (await text(payload)).split('\n')
  )
  const any = { type: 'object', additionalProperties: true }

  app.get('/zoo/object', (_request, reply) => {
    reply.send({ a: 1 })
  })
  app.get('/zoo/async', async () => ({ a: await Promise.resolve(1) }))
  app.get('/zoo/string', async () => 'grüße')
  app.get('/zoo/buffer', async () => Buffer.from([0, 1, 255]))
  app.get('/zoo/typed-array', async () => new Uint16Array([1, 2]))
  app.get('/zoo/empty', async (_request, reply) => reply.send(''))
  app.get('/zoo/undefined', async (_request, reply) => reply.send(undefined))
  app.get('/zoo/null', async () => null)
  app.get('/zoo/number', async () => 5)
  app.get('/zoo/serialized', {
    schema: { response: { 200: { type: 'object', properties: { a: { type: 'string' } } } } }
  }, async () => ({ a: 1, b: 2 }))
  app.get('/zoo/stream', async () => Readable.from([Buffer.from('a'), Buffer.from('b')]))
  app.get('/zoo/stream-json', (_request, reply) => {
    reply.type('application/json').send(Readable.from(['{"a":', '1}']))
  })
  app.get('/zoo/web-stream', async () => new Response('web').body)
  app.get(
    '/zoo/response',
    async () =>
      new Response('{"a":1}', { status: 201, headers: { 'content-type': 'application/json', 'x-from': 'response' } })
  )
  app.get('/zoo/no-content', async (_request, reply) => reply.code(204).send())
  app.get('/zoo/not-modified', async (_request, reply) => reply.code(304).header('etag', '"1"').send())
  app.get('/zoo/redirect', async (_request, reply) => reply.redirect('/elsewhere'))
  app.get('/zoo/created', async (_request, reply) => reply.code(201).header('Location', '/zoo/1').send({ id: 1 }))
  app.get('/zoo/throws', () => {
    throw new TypeError('sync')
  })
  app.get('/zoo/rejects', async () => {
    throw new TypeError('async')
  })
  app.get('/zoo/http-error', async () => {
    throw Object.assign(new TypeError('teapot'), { statusCode: 418, code: 'TEA', headers: { 'x-tea': 'green' } })
  })
  app.get('/zoo/not-an-error', async () => {
    // eslint-disable-next-line no-throw-literal
    throw 'a string'
  })
  app.get('/zoo/serializer-fails', {
    schema: { response: { 200: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } } }
  }, async () => ({}))
  app.get('/zoo/stream-fails', async () =>
    new Readable({
      read () {
        this.destroy(new TypeError('early'))
      }
    }))
  app.get('/zoo/stream-fails-late', async () => {
    let n = 0
    return new Readable({
      read () {
        if (n++ === 0) this.push('a')
        else setImmediate(() => this.destroy(new TypeError('late')))
      }
    })
  })
  app.get('/zoo/not-found', (_request, reply) => {
    reply.callNotFound()
  })
  app.get(
    '/zoo/cookies',
    async (_request, reply) => reply.header('set-cookie', 'a=1').header('set-cookie', 'b=2').send('ok')
  )
  app.get('/zoo/large', async () => 'x'.repeat(300_000))
  app.get('/zoo/large-stream', async () =>
    Readable.from((function* () {
      for (let i = 0; i < 40; i++) yield Buffer.alloc(10_000, 65 + i % 26)
    })()))
  app.get('/zoo/early', {
    onRequest: async (_request, reply) =>
      reply.code(401).header('www-authenticate', 'Bearer').send({ message: 'early' })
  }, async () => log.push('handler'))
  app.get('/zoo/early-pre-handler', {
    preHandler: (_request, reply) => {
      reply.code(403).send('no')
    }
  }, async () => log.push('handler'))
  app.get('/zoo/hook-throws', {
    preValidation: async () => {
      throw new TypeError('hook')
    }
  }, async () => log.push('handler'))
  app.get('/zoo/on-send', {
    onSend: async (_request, reply, payload) => {
      reply.header('x-sent', 'yes')
      return `<${String(payload)}>`
    }
  }, async () => 'x')
  app.get('/zoo/gzip', {
    onSend: async (_request, reply, payload) => {
      reply.header('content-encoding', 'gzip').removeHeader('content-length')
      return Readable.from([payload]).pipe(createGzip())
    }
  }, async () => 'zip me')
  app.get('/zoo/trailers', async (_request, reply) => {
    reply.trailer('x-sum', async () => '5')
    return 'body'
  })
  app.get('/zoo/hints', async (_request, reply) => {
    reply.writeEarlyHints({ link: '</a>; rel=preload' }, () => log.push('hinted'))
    return 'after hints'
  })
  app.get('/zoo/hijacked', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(202, 'Fine', { 'X-Raw': 'yes' })
    reply.raw.end('raw')
  })
  app.get('/zoo/hijacked-pieces', (_request, reply) => {
    reply.hijack()
    reply.raw.setHeader('x-a', '1')
    reply.raw.write('a')
    reply.raw.write('Yg==', 'base64')
    setImmediate(() => reply.raw.end('c', () => log.push('ended')))
  })
  app.get('/zoo/hijacked-array', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, ['X-A', '1', 'X-B', '2'])
    reply.raw.end()
  })
  app.get('/zoo/raw-header', async (_request, reply) => {
    reply.raw.setHeader('x-raw', ['a', 'b'])
    log.push(String(reply.raw.getHeader('x-raw')), String(reply.hasHeader('x-raw')), String(reply.raw.headersSent))
    return 'x'
  })
  app.get('/zoo/raw-piped', (_request, reply) => {
    reply.hijack()
    Readable.from(['a', 'b']).pipe(reply.raw)
  })
  app.get('/zoo/on-response', {
    onResponse: async (_request, reply) => {
      log.push(`responded ${reply.statusCode} ${reply.raw.writableEnded}`)
    }
  }, async () => 'x')
  app.get('/zoo/request', async ({ raw, headers, method, url, hostname, host, protocol, routeOptions, is404 }) => ({
    method,
    url,
    hostname,
    host,
    protocol,
    route: routeOptions.url,
    is404,
    version: [raw.httpVersion, raw.httpVersionMajor, raw.httpVersionMinor],
    accept: headers.accept,
    complete: raw.rawHeaders.length % 2,
    parts: [raw instanceof IncomingMessage, raw instanceof EventEmitter, raw.aborted, raw.destroyed].slice(1)
  }))
  app.get(
    '/zoo/elapsed',
    async (_request, reply) => ({
      sent: reply.sent,
      response: reply.raw instanceof ServerResponse,
      ended: reply.raw.writableEnded,
      type: typeof reply.elapsedTime
    })
  )
  app.get(
    '/zoo/peer',
    async ({ ip, socket, protocol }) => ({
      ip,
      address: socket.remoteAddress,
      port: typeof socket.remotePort,
      protocol,
      encrypted: Reflect.get(socket, 'encrypted') ?? false
    })
  )
  app.get('/zoo/slow', async () => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    return 'slow'
  })
  app.get('/zoo/next-tick', (_request, reply) => {
    process.nextTick(() => reply.send('tick'))
  })
  app.get('/zoo/callback', (_request, reply) => {
    reply.raw.once('finish', () => log.push('finish')).once('close', () => log.push('close'))
    reply.send('x')
  })
  app.get('/zoo/coerced', {
    schema: {
      querystring: {
        type: 'object',
        properties: { n: { type: 'array', items: { type: 'integer' } }, b: { type: 'boolean' } }
      }
    }
  }, async ({ query }) => query)
  app.get('/zoo/encoded/:id', async ({ params }) => params)
  app.get('/zoo/error-handler', {
    errorHandler: (error, _request, reply) => {
      reply.code(409).send({ mine: (error as Error).message })
    }
  }, async () => {
    throw new TypeError('mine')
  })
  app.get('/zoo/error-handler-throws', {
    errorHandler: () => {
      throw new TypeError('again')
    }
  }, async () => {
    throw new TypeError('first')
  })
  app.get('/zoo/abort-hook', {
    onRequestAbort: async () => {
      log.push('aborted')
    }
  }, async () => 'x')
  app.get('/zoo/signal', async ({ signal }) => ({ aborted: signal.aborted }))
  app.route({
    method: ['GET', 'POST'],
    url: '/zoo/closes',
    onRequestAbort: async () => {
      log.push('aborted')
    },
    handler: async ({ raw }) => {
      raw.on('aborted', () => log.push('aborted event')).on('close', () => log.push('request closed'))
      return { aborted: raw.aborted }
    }
  })
  app.post('/zoo/read-and-destroyed', async ({ raw, body }) => {
    raw.destroy(new TypeError('nobody hears'))
    await new Promise(setImmediate)
    return body
  })
  app.get('/zoo/drain', (_request, reply) => {
    reply.hijack()
    reply.raw.write('a', () => {
      log.push('written')
      reply.raw.end()
    })
  })
  app.get('/zoo/listeners', async ({ raw }, reply) => {
    raw.on('close', () => {})
    reply.raw.setTimeout(1000, () => {})
    raw.socket.setTimeout?.(0)
    return 'x'
  })
  app.get('/zoo/timeout-handler', { handlerTimeout: 20 }, async ({ signal }) => {
    await once(signal, 'abort')
    log.push('gave up')
    return 'late'
  })
  app.delete('/zoo/deleted', async (_request, reply) => reply.code(200).send({ deleted: true }))
  app.post(
    '/zoo/echo',
    { schema: { body: { ...any, properties: { n: { type: 'integer' } } } } },
    async ({ body, headers }) => ({ body, type: headers['content-type'], length: headers['content-length'] })
  )
  app.post('/zoo/pre-parsing', {
    preParsing: async (_request, _reply, payload) => {
      log.push('pre-parsing')
      return payload
    }
  }, async ({ body }) => body)
  app.post('/zoo/limited', { bodyLimit: 10 }, async ({ body }) => body)
  app.post('/zoo/raw', async ({ body }) => ({ text: await text(body as Readable) }))
  app.post('/zoo/raw-pipe', (request, reply) => {
    reply.hijack()
    request.raw.pipe(reply.raw)
  })
  app.put('/zoo/async-parser', async ({ body }) => body)
}
