import Fastify from 'fastify'
import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import t from 'tap'
import shim from '../src/index.ts'
import { build, options, provider } from './build.ts'
import { documentsWithHead } from './documents.ts'

const documents = [
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/oauth-protected-resource/mcp/',
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server/oauth',
  '/.well-known/openid-configuration/oauth',
  '/oauth/.well-known/openid-configuration'
]

t.test('no header changes a URL', async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, { ...options(issuer), server: { trustProxy: true } })
  for (const url of documents) {
    const plain = (await app.inject(url)).body
    for (
      const headers of [
        { host: 'evil.example' },
        {
          'x-forwarded-host': 'evil.example',
          'x-forwarded-proto': 'http',
          'x-forwarded-port': '1',
          'x-forwarded-prefix': '/evil'
        },
        { forwarded: 'host=evil.example;proto=http' },
        { 'x-original-url': '/evil', 'x-rewrite-url': '/evil' }
      ]
    ) {
      t.equal((await app.inject({ url, headers })).body, plain, `${url} ${JSON.stringify(headers)}`)
    }
  }
})

t.test('a bad credential on a public route is ignored', async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, options(issuer))
  for (
    const headers of [
      { authorization: 'Bearer not.a.token' },
      { authorization: 'Basic \u0000' },
      { 'x-api-key': 'sk_000000000000_revoked' },
      { cookie: 'session=x' },
      { 'if-none-match': '"x"', 'if-modified-since': 'yesterday' }
    ]
  ) {
    for (const url of documents) {
      t.equal((await app.inject({ url, headers })).statusCode, 200, `${url} ${Object.keys(headers).join()}`)
    }
    t.equal((await app.inject({ method: 'POST', url: '/oauth/register', headers })).statusCode, 201)
  }
})

t.test("routes carry the host's config, so that a host that closes everything can leave them open", async (t) => {
  const { issuer } = await provider(t)
  const app = Fastify()
  t.teardown(() => app.close())
  app.addHook('onRequest', async ({ routeOptions }, reply) => {
    if ((routeOptions.config as { auth?: string }).auth !== 'public') return reply.code(401).send()
  })
  const config: object = { auth: 'public' }
  await app.register(shim, { ...options(issuer), config })
  app.get('/closed', async () => 'never')

  t.equal((await app.inject('/closed')).statusCode, 401)
  for (const url of documents) {
    t.equal((await app.inject(url)).statusCode, 200, url)
    t.equal((await app.inject({ method: 'HEAD', url })).statusCode, 200, url)
    t.equal((await app.inject({ method: 'OPTIONS', url })).statusCode, 204, url)
  }
  t.equal((await app.inject({ method: 'POST', url: '/oauth/register' })).statusCode, 201)
})

t.test('every document answers HEAD and OPTIONS in every mode, also without HEAD routes of the host', async (t) => {
  const { issuer } = await provider(t)
  for (
    const [mode, count] of [
      [{}, documents.length],
      [{ strictDiscovery: 'off' }, documents.length - 3],
      [{ mcpPath: false }, documents.length - 2]
    ] as const
  ) {
    const served = await documentsWithHead(t, async (app) => await app.register(shim, { ...options(issuer), ...mode }))
    t.equal(served.length, count, `${JSON.stringify(Object.keys(mode))}: ${served.join(' ')}`)
  }
})

t.test('a page of any origin may read these routes, and only these', async (t) => {
  const { issuer } = await provider(t)
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(shim, options(issuer))
  app.get('/other', async () => 'x')

  for (const url of [...documents, '/oauth/register']) {
    const methods = url === '/oauth/register' ? 'POST' : 'GET, HEAD'
    const response = await app.inject({
      method: 'OPTIONS',
      url,
      headers: {
        origin: 'https://inspector.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'mcp-protocol-version'
      }
    })
    t.equal(response.statusCode, 204, url)
    t.match(response.headers, {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': methods,
      'access-control-allow-headers': 'accept, authorization, content-type, mcp-protocol-version',
      'access-control-max-age': '86400'
    }, url)
    t.notOk('access-control-allow-credentials' in response.headers, url)
    t.equal(
      (await app.inject({ method: methods === 'POST' ? 'POST' : 'GET', url })).headers['access-control-allow-origin'],
      '*',
      url
    )
  }
  t.notOk('access-control-allow-origin' in (await app.inject('/other')).headers)
})

t.test('other methods find nothing', async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, options(issuer))
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH'] as const) {
    t.equal((await app.inject({ method, url: '/oauth/register' })).statusCode, 404, method)
  }
  for (const url of documents) t.equal((await app.inject({ method: 'POST', url })).statusCode, 404, url)
})

t.test('whatever is posted to register, the answer is the same', async (t) => {
  const { issuer } = await provider(t)
  const app = Fastify({ bodyLimit: 1024 })
  t.teardown(() => app.close())
  await app.register(shim, options(issuer))
  app.post('/echo', async ({ body }) => body)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const expected = (await app.inject({ method: 'POST', url: '/oauth/register' })).body

  const json = 'application/json'
  for (
    const [what, type, body] of [
      ['nothing', undefined, undefined],
      ['an empty body called JSON', json, ''],
      ['bad JSON', json, '{'],
      ['a JSON string', json, '"x"'],
      ['__proto__', json, '{"__proto__":{"client_id":"evil"},"constructor":{"prototype":{"client_id":"evil"}}}'],
      ['another client id', json, '{"client_id":"evil","client_secret":"evil"}'],
      ['a javascript: callback', json, '{"redirect_uris":["javascript:alert(1)"]}'],
      ['a form', 'application/x-www-form-urlencoded', 'client_id=evil'],
      ['a multipart form without its boundary', 'multipart/form-data', 'x'],
      ['XML', 'text/xml', '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>&e;'],
      ['bytes', 'application/octet-stream', Buffer.from([0, 255, 0])],
      ['a body of no type', undefined, 'x'],
      ['a type that is none', ';;;', 'x'],
      ['a type of rubbish', 'a/b/c; charset="', 'x'],
      ['an unknown charset', `${json}; charset=utf-7`, '{}'],
      ['as much as the host reads', json, Buffer.alloc(1024, '[')]
    ] as const
  ) {
    for (const chunked of [false, true]) {
      const response = await post(port, type, body, chunked)
      t.equal(response.status, 201, what)
      t.equal(response.body, expected, what)
    }
  }

  t.equal(
    (await app.inject({ method: 'POST', url: '/echo', headers: { 'content-type': 'text/xml' }, payload: 'x' }))
      .statusCode,
    415,
    "the host's own routes judge as before"
  )
  t.strictSame(
    (await app.inject({ method: 'POST', url: '/echo', payload: { a: 1 } })).json(),
    { a: 1 },
    "the host's own routes parse as before"
  )
})

t.test("a body that is larger than the host's bodyLimit gets 413, and is not read to its end", async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, { ...options(issuer), server: { bodyLimit: 1024 } })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const total = 64 * 1024 * 1024

  for (const framing of [`Content-Length: ${total}`, 'Transfer-Encoding: chunked']) {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    let answer = ''
    socket.on('data', (data) => {
      answer += data
    })
    socket.write(`POST /oauth/register HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n`)
    while (!socket.closed && socket.bytesWritten < total) {
      if (!socket.write(`10000\r\n${'x'.repeat(65536)}\r\n`)) {
        await Promise.race(['drain', 'close'].map((event) => new Promise((resolve) => socket.once(event, resolve))))
      }
    }
    t.ok(socket.bytesWritten < total, `${framing}: ${socket.bytesWritten} of ${total} bytes`)
    // the rest may have reset the connection before the answer was read
    if (answer !== '') t.match(answer, /^HTTP\/1.1 413 /)
    socket.destroy()
  }
  t.equal((await app.inject({ method: 'POST', url: '/oauth/register', payload: 'x'.repeat(1025) })).statusCode, 413)
})

/** Posts over a socket, with or without saying how long the body is. */
async function post (port: number, type: string | undefined, body: string | Buffer | undefined, chunked: boolean) {
  const sent = request({
    port,
    host: '127.0.0.1',
    path: '/oauth/register',
    method: 'POST',
    headers: {
      ...type !== undefined && { 'content-type': type },
      ...!chunked && { 'content-length': Buffer.byteLength(body ?? '') }
    }
  })
  if (chunked && body !== undefined) sent.write(body)
  sent.end(chunked ? undefined : body)
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode as number, body: text }
}
