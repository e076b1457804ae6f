import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import t from 'tap'
import { shedLoad } from '../src/http/protection.ts'
import { bearer, build, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t)
const shop = await createShop(database, 'guarded')
const machine = bearer(await idp.machineToken())
const HERE = 'https://app.example.com'
const app = await build(t, database, idp, { settings: { CORS_ORIGINS: `${HERE}, https://other.example.com` } })
const tags = `/shops/${shop}/tags`

t.test('every answer tells browsers to do nothing with it but read it', async (t) => {
  for (const [url, headers] of [[tags, machine], [tags, {}], ['/nowhere', {}], ['/mcp', {}]] as const) {
    t.match((await app.inject({ url, headers })).headers, {
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': undefined
    }, url)
  }
  const secure = await build(t, database, idp, { settings: { PUBLIC_BASE_URL: 'https://shop.example.com' } })
  t.match((await secure.inject('/healthz')).headers, { 'strict-transport-security': /max-age=31536000/ })
})

t.test('pages of the listed origins may call, others may not', async (t) => {
  const preflight = async (origin: string) =>
    await app.inject({
      method: 'OPTIONS',
      url: tags,
      headers: {
        origin,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'x-api-key,content-type'
      }
    })
  const allowed = await preflight(HERE)
  t.strictSame(allowed.statusCode, 204)
  t.match(allowed.headers, {
    'access-control-allow-origin': HERE,
    'access-control-allow-methods': /PATCH/,
    'access-control-allow-headers': /authorization, .*content-type, .*mcp-protocol-version, .*x-api-key/,
    vary: /Origin/
  })
  t.notOk((await preflight('https://evil.example.com')).headers['access-control-allow-origin'])

  const answer = await app.inject({ url: tags, headers: { ...machine, origin: HERE } })
  t.match(answer.headers, {
    'access-control-allow-origin': HERE,
    'access-control-expose-headers': /content-range.*www-authenticate.*x-request-id/
  })
  const refused = await app.inject({ url: tags, headers: { origin: HERE } })
  t.match(
    [refused.statusCode, refused.headers['access-control-allow-origin']],
    [401, HERE],
    'so that the page sees why'
  )
  t.notOk(
    (await app.inject({ url: tags, headers: { ...machine, origin: 'https://evil.example.com' } }))
      .headers['access-control-allow-origin']
  )
})

t.test('the discovery documents are for pages of all origins, and say so once', async (t) => {
  const base = await app.listen({ host: '127.0.0.1', port: 0 })
  for (const origin of [HERE, 'https://inspector.example.com']) {
    for (const method of ['GET', 'OPTIONS'] as const) {
      const answer = await fetch(`${base}/.well-known/oauth-protected-resource`, {
        method,
        headers: { origin, 'access-control-request-method': 'GET' }
      })
      t.equal(answer.headers.get('access-control-allow-origin'), '*', `${method} from ${origin}`)
    }
  }
})

t.test('the endpoint for tools takes the listed origins too', async (t) => {
  const from = async (origin: string): Promise<number> =>
    (await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { ...machine, origin, accept: 'application/json, text/event-stream' },
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    })).statusCode
  t.strictSame([await from(HERE), await from('https://evil.example.com')], [200, 403])
})

t.test('answers stay out of caches and say what they depend on, except where the route allows caching', async (t) => {
  const mcp = {
    method: 'POST' as const,
    url: '/mcp',
    headers: { ...machine, accept: 'application/json' },
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  }
  const plain = await build(t, database, idp)
  for (
    const request of [
      { url: tags, headers: machine },
      { url: tags },
      { url: '/nowhere' },
      { url: `${tags}/x`, headers: machine },
      mcp,
      { ...mcp, headers: {} },
      { ...mcp, method: 'GET' as const },
      { method: 'POST' as const, url: '/oauth/register' },
      { url: '/healthz' }
    ]
  ) {
    const { headers } = await plain.inject(request)
    t.strictSame([headers['cache-control'], headers.vary], ['no-store', 'Authorization, X-API-Key'], request.url)
  }
  t.equal((await plain.inject('/%')).headers['cache-control'], 'no-store', 'a URL that cannot be read')
  t.equal(
    (await app.inject({ url: tags, headers: { ...machine, origin: HERE } })).headers.vary,
    'Origin, Authorization, X-API-Key'
  )
  for (
    const url of [
      '/',
      '/openapi.json',
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-authorization-server'
    ]
  ) {
    const { headers } = await plain.inject(url)
    t.strictSame([headers['cache-control'], headers.vary], ['public, max-age=300', undefined], url)
  }
})

t.test('a large body that nobody reads ends with the answer', async (t) => {
  const limited = await build(t, database, idp)
  const { hostname, port } = new URL(await limited.listen({ host: '127.0.0.1', port: 0 }))
  const TOTAL = 64 * 1_048_576
  for (
    const [path, status, sender = ''] of [
      ['/oauth/register', 413],
      [tags, 401],
      [tags, 413, `Authorization: ${machine.authorization}\r\n`],
      ['/mcp', 401],
      ['/nowhere', 413]
    ] as const
  ) {
    for (const framing of [`Content-Length: ${TOTAL}`, 'Transfer-Encoding: chunked']) {
      const { sent, answer } = await upload(
        connect(Number(port), hostname),
        `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${sender}${framing}\r\n\r\n`,
        TOTAL
      )
      t.ok(sent < TOTAL, `${path}, ${framing}: ${sent} of ${TOTAL} bytes`)
      // The rest may have reset the connection before the answer was read.
      if (answer !== '') t.match(answer, new RegExp(`^HTTP/1.1 ${status} [^]*connection: close`, 'i'), path)
    }
  }
  t.equal(
    (await limited.inject({ method: 'POST', url: '/oauth/register', payload: { client_name: 'small' } })).statusCode,
    201
  )
})

t.test('a file that is refused before its end ends with the answer', async (t) => {
  const limited = await build(t, database, idp)
  const { hostname, port } = new URL(await limited.listen({ host: '127.0.0.1', port: 0 }))
  for (const start of ['nope,none\nTea,1\n', 'PK\u0003\u0004']) {
    const socket = connect(Number(port), hostname).setTimeout(
      10_000,
      () => socket.destroy(new Error('The connection stays open'))
    )
    socket.write(
      `POST /shops/${shop}/imports HTTP/1.1\r\nHost: x\r\nAuthorization: ` +
        `${machine.authorization}\r\nContent-Type: text/csv\r\nContent-Length: 300000\r\n\r\n${start}`
    )
    const answer = await text(socket).catch(String)
    t.match(answer, /^HTTP\/1.1 422 [^]*connection: close/i, start)
  }
  const other = connect(Number(port), hostname)
  other.write(`POST ${tags} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3000\r\n\r\n{`)
  const [head] = await once(other, 'data')
  other.destroy()
  t.match(String(head), /^HTTP\/1.1 401 [^]*connection: keep-alive/i, 'a small body may still be read to its end')
})

/** Sends the head and then a chunk again and again, until the other side closes or all is sent. */
async function upload (socket: Socket, head: string, total: number): Promise<{ sent: number, answer: string }> {
  let answer = ''
  socket.on('data', (data) => {
    answer += String(data)
  }).on('error', () => {})
  const chunk = `10000\r\n${'['.repeat(65_536)}\r\n`
  socket.write(head)
  while (!socket.closed && socket.bytesWritten < total) {
    if (!socket.write(chunk)) {
      await Promise.race(
        ['drain', 'close'].map(async (event) => await new Promise((resolve) => socket.once(event, resolve)))
      )
    }
  }
  const sent = socket.bytesWritten
  socket.destroy()
  return { sent, answer }
}

t.test('requests have a time limit, and connections are kept for longer than proxies keep them', async (t) => {
  const { server } = app
  t.ok(server.headersTimeout > 0 && server.headersTimeout < server.requestTimeout)
  const { connectionsCheckingInterval } = server as { connectionsCheckingInterval?: number }
  t.equal(connectionsCheckingInterval, 1000, 'the limit holds within a second')
  t.ok(server.keepAliveTimeout > 65_000)
})

t.test('while the event loop is late new calls get 503 and probes are answered; then all is well again', async (t) => {
  const busy = Fastify()
  t.teardown(async () => await busy.close())
  await shedLoad(busy, 20, 0)
  busy.get('/work', async () => 'done')
  busy.get('/probe', { config: { pressureHandler: () => {} } }, async () => 'up')
  await busy.listen({ host: '127.0.0.1', port: 0 })
  let response = await busy.inject('/work')
  for (let tries = 0; tries < 200 && response.statusCode === 200; tries++) {
    const end = performance.now() + 60
    while (performance.now() < end);
    await sleep(1)
    response = await busy.inject('/work')
  }
  t.match([response.statusCode, response.headers['retry-after'], response.json().code], [503, '5', 'SHOP_OVERLOADED'])
  t.equal((await busy.inject('/probe')).statusCode, 200)
  let well = 503
  for (let tries = 0; tries < 200 && well === 503; tries++) {
    await sleep(50)
    well = (await busy.inject('/work')).statusCode
  }
  t.equal(well, 200)
})
