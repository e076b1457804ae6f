import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getDefaultHighWaterMark, Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import t from 'tap'
import { injectLoopback, lightLoopback, type Loopback } from '../src/call/loopback.ts'
import { Stop } from '../src/call/stop.ts'
import type { InnerResponse } from '../src/types.ts'
import type { Teardown } from './build.ts'
import { ANIMALS, zoo } from './zoo.ts'

/** An app with routes, and a request from outside that is being answered. */
async function outside (
  t: Teardown,
  routes: (app: FastifyInstance) => void | Promise<void>
): Promise<{ app: FastifyInstance, outer: FastifyRequest }> {
  const app = Fastify()
  let arrived: (request: FastifyRequest) => void
  const outer = new Promise<FastifyRequest>((resolve) => {
    arrived = resolve
  })
  let leave: (value: string) => void
  const left = new Promise<string>((resolve) => {
    leave = resolve
  })
  app.get('/outer', async (request) => {
    arrived(request)
    return left
  })
  await routes(app)
  const answer = fetch(new URL('/outer', await app.listen({ host: '127.0.0.1', port: 0 })))
  t.teardown(async () => {
    leave('done')
    await (await answer).text()
    await app.close()
  })
  return { app, outer: await outer }
}

/** What a response comes down to. `date`, `connection` and the like are a socket's business. */
function essence (response: InnerResponse | undefined): unknown {
  if (response === undefined) return undefined
  const { date, connection, 'keep-alive': alive, 'transfer-encoding': coding, ...headers } = response.headers
  const sorted = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : String(value)])
      .sort(([a], [b]) => String(a) < String(b) ? -1 : 1)
  )
  return {
    statusCode: response.statusCode,
    headers: sorted,
    body: Buffer.from(response.body as string).toString('latin1')
  }
}

t.test('the light loopback answers as app.inject does', async (t) => {
  const log: string[] = []
  const { app, outer } = await outside(t, (app) => zoo(app, log))
  for (const { method, url, headers = {}, body } of ANIMALS) {
    const answer = async (loopback: Loopback): Promise<{ response: unknown, log: string[] }> => {
      const request = {
        method,
        url,
        headers: { host: 'zoo.example.com', accept: '*/*', 'user-agent': 'test', ...headers },
        body,
        params: new Map()
      }
      const response = essence(await loopback(app, request, { outer, stop: new Stop(), maxBytes: 10_000_000 }))
      // Lets what runs after the answer finish: in turns of the event loop, since a busy machine may take long for
      // each.
      await new Promise((resolve) => setTimeout(resolve, 5))
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
      return { response, log: log.splice(0) }
    }
    const oracle = await answer(injectLoopback)
    t.strictSame(await answer(lightLoopback), oracle, `${method} ${url}`)
  }
})

t.test('the light loopback lets handlers write to the raw response as app.inject does', async (t) => {
  const log: unknown[] = []
  const told = (name: string) => (): void => {
    log.push(name)
  }
  const attempted = (work: () => unknown): void => {
    try {
      work()
    } catch (error) {
      log.push(error instanceof Error && 'code' in error && error.code)
    }
  }
  const handlers: ReadonlyArray<readonly [string, (raw: ServerResponse) => void]> = [
    ['headers after they were sent', (raw) => {
      raw.setHeader('x-a', 'set').writeHead(200)
      for (
        const change of [
          () => raw.setHeader('x-a', 'late'),
          () => raw.appendHeader('x-a', 'late'),
          () => raw.removeHeader('x-a')
        ]
      ) attempted(change)
      raw.end()
    }],
    ['headers before they are sent', (raw) => {
      raw.setHeader('x-a', 'set').appendHeader('x-a', 'more').setHeader('x-b', 'set').setHeader('x-c', 'set')
      raw.removeHeader('x-b')
      raw.writeHead(202, 'Fine', { 'X-C': 'head' })
      log.push(raw.statusMessage, raw.headersSent)
      raw.end()
    }],
    ['a reason and an array', (raw) => {
      raw.writeHead(203, 'Fine', ['X-A', '1', 'x-b', '2']).end('x')
      log.push(raw.statusMessage)
    }],
    ['encodings', (raw) => {
      for (
        const [chunk, encoding] of [['62', 'hex'], ['Yg==', 'base64'], ['\xe4', 'latin1'], ['\xe4', 'binary'], [
          '\xe4',
          'utf8'
        ], ['62', undefined]] as const
      ) raw.write(chunk, encoding as BufferEncoding)
      raw.end('62', 'hex')
    }],
    ['one piece in base64', (raw) => {
      raw.end('Yg==', 'base64')
    }],
    ['bytes of an array', (raw) => {
      raw.end(new Uint8Array([98, 0xe4]))
    }],
    ['callbacks', (raw) => {
      raw.write('a', told('a written'))
      raw.write('b', 'utf8', told('b written'))
      raw.end('c', 'utf8', told('ended'))
    }],
    ['a callback with a last piece', (raw) => {
      raw.end('a', told('ended'))
    }],
    ['a callback alone', (raw) => {
      raw.end(told('ended'))
    }],
    ['null in the end', (raw) => {
      raw.end(null, told('ended'))
    }],
    ['flushed headers', (raw) => {
      raw.statusCode = 201
      raw.flushHeaders()
      raw.flushHeaders()
      log.push(raw.headersSent, raw.writableEnded)
      raw.end()
      log.push(raw.writableEnded)
    }],
    ['a status after the headers', (raw) => {
      raw.statusCode = 201
      raw.flushHeaders()
      raw.statusCode = 500
      raw.end('x')
    }],
    ['a body that its status has not', (raw) => {
      raw.writeHead(204).end('x')
    }],
    ['a body of what was not modified', (raw) => {
      raw.writeHead(304).end('x')
    }],
    ['a body of a status that only informs', (raw) => {
      raw.writeHead(199).end('x')
    }],
    ['the status once it is sent', (raw) => {
      raw.writeHead(202)
      log.push(raw.statusCode)
      raw.end()
    }]
  ]
  const { app, outer } = await outside(t, (app) => {
    app.get('/:handler', ({ params }, reply) => {
      reply.hijack()
      handlers[Number((params as { handler: string }).handler)]![1](reply.raw)
    })
  })
  for (const [index, [title]] of handlers.entries()) {
    const answer = async (loopback: Loopback): Promise<unknown> => {
      const response = essence(
        await loopback(app, {
          method: 'GET',
          url: `/${index}`,
          headers: { host: 'a.example.com' },
          body: undefined,
          params: new Map()
        }, { outer, stop: new Stop(), maxBytes: 1000 })
      )
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
      // light-my-request calls back for the end first.
      return { response, log: log.splice(0).sort() }
    }
    const oracle = await answer(injectLoopback)
    t.strictSame(await answer(lightLoopback), oracle, title)
  }
})

t.test('light: a handler may treat the socket as one, whose other end is the client', async (t) => {
  const seen: unknown[] = []
  const { app, outer } = await outside(t, (app) => {
    app.get(
      '/socket',
      async ({ raw: { socket, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor, complete } }) => {
        seen.push(
          [socket.setTimeout(5), socket.setKeepAlive(true), socket.setNoDelay(), socket.ref(), socket.unref()].every((
            same
          ) => same === socket),
          socket.cork(),
          socket.uncork()
        )
        seen.push(
          [
            socket.remotePort,
            socket.remoteFamily,
            socket.localAddress,
            socket.localPort,
            socket.writable,
            socket.writableLength
          ],
          rawHeaders,
          [httpVersion, httpVersionMajor, httpVersionMinor, complete]
        )
        const { encrypted, authorized, getPeerCertificate } = socket as TLSSocket
        seen.push([encrypted, authorized, getPeerCertificate()])
        seen.push(socket.destroyed, socket.destroy() === socket, socket.destroyed)
        return 'x'
      }
    )
  })
  const { remotePort, remoteFamily, localAddress, localPort } = outer.raw.socket
  t.type(localPort, 'number')
  for (const [encrypted, authorized] of [[true, false], [true, true], [false, false]] as const) {
    // What a connection with TLS has.
    Object.assign(outer.raw.socket, {
      encrypted,
      authorized,
      getPeerCertificate (this: unknown) {
        return { own: this === outer.raw.socket }
      }
    })
    await lightLoopback(app, {
      method: 'GET',
      url: '/socket',
      headers: { host: 'a.example.com', accept: '*/*' },
      body: undefined,
      params: new Map()
    }, { outer, stop: new Stop(), maxBytes: 1000 })
    t.strictSame(seen.splice(0), [
      true,
      undefined,
      undefined,
      [remotePort, remoteFamily, localAddress, localPort, true, 0],
      ['host', 'a.example.com', 'accept', '*/*'],
      ['1.1', 1, 1, true],
      [encrypted, authorized, { own: true }],
      false,
      true,
      true
    ])
  }
  t.equal(outer.raw.socket.destroyed, false, 'and the connection of the client stays')
})

for (const [name, loopback] of [['light', lightLoopback], ['inject', injectLoopback]] as const) {
  t.test(`${name}: stopping a request fires its signal and its abort hook`, async (t) => {
    const seen: string[] = []
    let started: () => void
    const running = new Promise<void>((resolve) => {
      started = resolve
    })
    const { app, outer } = await outside(t, (app) => {
      app.get('/slow', {
        onRequestAbort: async () => {
          seen.push('hook')
        }
      }, async ({ signal }) => {
        signal.addEventListener('abort', () => seen.push('signal'))
        started()
        await once(signal, 'abort')
        return 'late'
      })
    })
    const stop = new Stop()
    const answer = loopback(app, { method: 'GET', url: '/slow', headers: {}, body: undefined, params: new Map() }, {
      outer,
      stop,
      maxBytes: 1000
    })
    await running
    stop.stop('client gone')
    t.equal(await answer, undefined)
    await new Promise((resolve) => setTimeout(resolve, 5))
    t.strictSame(seen.sort(), name === 'light' ? ['hook', 'signal'] : ['signal'])
  })

  t.test(`${name}: a request that is stopped before it starts is not answered`, async (t) => {
    const { app, outer } = await outside(t, (app) => {
      app.get('/never', async () => {
        await new Promise(() => {})
      })
    })
    const stop = new Stop()
    stop.stop('closing')
    t.equal(
      await loopback(app, { method: 'GET', url: '/never', headers: {}, body: undefined, params: new Map() }, {
        outer,
        stop,
        maxBytes: 1000
      }),
      undefined
    )
  })

  t.test(`${name}: an error with which a route destroys its request is not thrown where nobody hears it`, async (t) => {
    const heard: string[] = []
    const { app, outer } = await outside(t, async (app) => {
      await app.register(async (scope) => {
        scope.addHook('preParsing', async ({ url }, _reply, payload) => {
          if (url === '/heard') payload.on('error', ({ message }: Error) => heard.push(message))
          ;(payload as IncomingMessage).destroy(new TypeError('too long'))
          // Long enough for the error to be told.
          await new Promise(setImmediate)
          throw Object.assign(new TypeError('too long'), { statusCode: 413 })
        })
        scope.post('/unheard', async () => 'x')
        scope.post('/heard', async () => 'x')
      })
    })
    for (const url of ['/unheard', '/heard']) {
      const answer = loopback(app, {
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json' },
        body: '{}',
        params: new Map()
      }, { outer, stop: new Stop(), maxBytes: 1000 })
      // As over HTTP, light-my-request closes the connection at once.
      t.match(await answer.catch(() => undefined), name === 'light' ? { statusCode: 413 } : undefined)
    }
    t.strictSame(heard, ['too long'])
  })

  t.test(`${name}: a request closes after its response, however that ended, and only one without an answer was aborted`, async (t) => {
    const log: string[] = []
    const { app, outer } = await outside(t, (app) => {
      app.addHook('onRequest', async ({ raw, url }) => {
        if (url !== '/outer') {
          raw.on('aborted', () => log.push(`${url} aborted`)).on('close', () => log.push(`${url} closed`))
        }
      })
      app.get('/answered', {
        onResponse: async ({ raw }) => {
          if (name === 'light') setImmediate(() => raw.destroy())
        }
      }, async () => 'x')
      app.post('/read', async ({ body }) => body)
      app.get('/destroyed', (_request, reply) => {
        reply.hijack()
        reply.raw.destroy()
      })
    })
    for (
      const [method, url, body] of [['GET', '/answered', undefined], ['POST', '/read', '{}'], [
        'GET',
        '/destroyed',
        undefined
      ]] as const
    ) {
      const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
      await loopback(app, { method, url, headers, body, params: new Map() }, {
        outer,
        stop: new Stop(),
        maxBytes: 1000
      })
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    // light-my-request knows no aborted requests.
    t.strictSame(log, [
      '/answered closed',
      '/read closed',
      ...name === 'light' ? ['/destroyed aborted'] : [],
      '/destroyed closed'
    ])
  })

  t.test(`${name}: a response that its route destroys is no answer`, async (t) => {
    const { app, outer } = await outside(t, (app) => {
      app.get('/destroyed', (_request, reply) => {
        reply.hijack()
        reply.raw.destroy()
      })
      app.get('/halfway', (_request, reply) => {
        reply.hijack()
        reply.raw.write('x')
        reply.raw.destroy(new TypeError('x'))
      })
    })
    for (const url of ['/destroyed', '/halfway']) {
      const answer = loopback(app, { method: 'GET', url, headers: {}, body: undefined, params: new Map() }, {
        outer,
        stop: new Stop(),
        maxBytes: 1000
      })
      t.equal(await answer.catch(() => undefined), undefined)
    }
  })

  t.test(`${name}: a stream that never ends is cut off, and its source is closed`, async (t) => {
    let closed = false
    let written = 0
    const { app, outer } = await outside(t, (app) => {
      app.get('/endless-stream', (_request, reply) => {
        reply.send(Readable.from((function* () {
          try {
            for (;;) yield Buffer.alloc(100 + 0 * (written += 100))
          } finally {
            closed = true
          }
        })()))
      })
    })
    const stop = new Stop()
    const response = await loopback(app, {
      method: 'GET',
      url: '/endless-stream',
      headers: {},
      body: undefined,
      params: new Map()
    }, { outer, stop, maxBytes: 1000 })
    t.match(response, { statusCode: 200, cut: true })
    t.ok(Buffer.byteLength(response?.body ?? '') > 1000)
    await new Promise((resolve) => setTimeout(resolve, 20))
    t.strictSame([closed, stop.reason], [true, 'too large'])
    // The source and the response each buffer up to their mark, which is 16 KiB in Node 20 and 64 KiB since.
    t.ok(written < 4 * getDefaultHighWaterMark(false), `${written} bytes were written`)
  })

  t.test(`${name}: a response in pieces is cut off above the limit, one in one piece is not`, async (t) => {
    const { app, outer } = await outside(t, (app) => {
      app.get('/pieces/:sizes', (request, reply) => {
        reply.hijack()
        const sizes = (request.params as { sizes: string }).sizes.split(',').map(Number)
        const next = (): void => {
          const size = sizes.shift()
          if (size === undefined) reply.raw.end()
          else reply.raw.write('x'.repeat(size), () => setImmediate(next))
        }
        next()
      })
    })
    for (const [sizes, isCut] of [['500,500', false], ['500,501', true], ['1001', false]] as const) {
      const response = await loopback(app, {
        method: 'GET',
        url: `/pieces/${sizes}`,
        headers: {},
        body: undefined,
        params: new Map()
      }, { outer, stop: new Stop(), maxBytes: 1000 })
      t.strictSame([response?.cut === true, Buffer.byteLength(response?.body ?? '')], [
        isCut,
        sizes.split(',').reduce((sum, size) => sum + Number(size), 0)
      ], sizes)
    }
  })
}

for (const [name, loopback] of [['light', lightLoopback], ['inject', injectLoopback]] as const) {
  t.test(`${name}: a hook may say itself what the address of the peer is`, async (t) => {
    const seen: unknown[] = []
    const { app, outer } = await outside(t, (app) => {
      app.get('/peer', async ({ raw: { socket } }) => {
        Reflect.set(socket, 'remoteAddress', '192.0.2.1')
        seen.push(socket.remoteAddress)
        Object.defineProperty(socket, 'remoteAddress', { get: () => '192.0.2.2' })
        seen.push(socket.remoteAddress)
        return 'x'
      })
    })
    t.match(
      await loopback(app, { method: 'GET', url: '/peer', headers: {}, body: undefined, params: new Map() }, {
        outer,
        stop: new Stop(),
        maxBytes: 1000
      }),
      { statusCode: 200 }
    )
    t.strictSame(seen, ['192.0.2.1', '192.0.2.2'])
  })
}
