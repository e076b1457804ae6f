import { createHash } from 'node:crypto'
import { connect, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { Writable } from 'node:stream'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  NodeTracerProvider,
  SimpleSpanProcessor,
  type ReadableSpan,
  type SpanExporter
} from '@opentelemetry/sdk-trace-node'
import { startPayStandIn } from 'pay-reconcile/testing'
import t, { type Test } from 'tap'
import { pathOf, startReceiver } from '../../../packages/mcp-from-routes/test/extensions/telemetry/otlp.ts'
import { openTracing, wantsTraces } from '../src/operations/tracing.ts'
import { TOOLS_VERSION } from '../src/operations/version.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase, UUID } from './build.ts'

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t, ['root'])
const shop = await createShop(database, 'seen')
const foreign = await createShop(database, 'foreign')
const machine = bearer(await idp.machineToken())
const PAY_KEY = 'sk_test_canaryPayKey000000'
const standIn = await startPayStandIn({ port: 0, accounts: { [PAY_KEY]: { customers: [] } }, log: () => {} })
t.teardown(async () => await standIn.close())
const METRICS_TOKEN = 'canary-metrics-token-0123456789'

/** Calls a tool as a client does that needs no stream. */
function callTool (
  base: string,
  headers: Readonly<Record<string, string>>,
  name: string,
  args: object
): Promise<Response> {
  return fetch(`${base}/mcp`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
  })
}

/** @returns a stream, and the lines that were written to it */
function capture (): { stream: Writable, lines: () => readonly string[] } {
  const chunks: Buffer[] = []
  return {
    stream: new Writable({
      write (chunk, _encoding, done) {
        chunks.push(Buffer.from(chunk))
        done()
      }
    }),
    lines: () => Buffer.concat(chunks).toString().split('\n').filter((line) => line !== '')
  }
}

const makeKey = async (app: Awaited<ReturnType<typeof build>>, id = shop): Promise<string> =>
  (await client(app, '', machine)('POST', `/shops/${id}/api-keys/`, { name: 'canary' })).body.plaintext

t.test('what the log holds at its most talkative, after every kind of call, is no credential', async (t) => {
  const { stream, lines } = capture()
  const app = await build(t, database, idp, {
    settings: { PAY_API_URL: standIn.url, METRICS_TOKEN, LOG_LEVEL: 'trace' },
    logger: { stream }
  })
  const base = await app.listen({ host: '127.0.0.1', port: 0 })
  const key = await makeKey(app)
  const user = await idp.userToken('root')
  const canary = (place: string): string => `canary-${place}-7f3a9c1e5d`
  const planted = [
    key,
    user,
    machine.authorization.slice('Bearer '.length),
    PAY_KEY,
    METRICS_TOKEN,
    'bad-pay-canary-7f3a9c1e5d',
    ...['cookie', 'query', 'token', 'basic', 'filter', 'path', 'raw', 'proxy'].map(canary),
    `shop_${canary('unknown-key')}`
  ]

  const get = async (url: string, headers: Record<string, string> = {}) =>
    await (await fetch(base + url, { headers })).text()
  const tags = `/shops/${shop}/tags`
  await get(tags, {
    'x-api-key': key,
    cookie: `session=${canary('cookie')}`,
    'proxy-authorization': `Basic ${canary('proxy')}`
  })
  await get(tags, bearer(key))
  await get(tags, bearer(user))
  await get(tags, machine)
  await get(tags, { 'x-api-key': `shop_${canary('unknown-key')}` })
  await get(tags, bearer(`${user.slice(0, -8)}AAAAAAAA`))
  await get(tags, bearer(canary('token')))
  await get(tags, { authorization: `Basic ${canary('basic')}` })
  await get(`/shops/${foreign}/tags`, { 'x-api-key': key })
  await get(`${tags}?access_token=${canary('query')}&api_key=${key}&limit=1`, { 'x-api-key': key })
  await get(`${tags}?filter=${encodeURIComponent(JSON.stringify({ q: canary('filter') }))}`, { 'x-api-key': key })
  await get(`/nowhere/${key}?code=${canary('query')}`)
  await get(`${tags}/${key}`, { 'x-api-key': key })
  await get('/metrics', bearer(METRICS_TOKEN))
  await get('/metrics', bearer(canary('token')))
  await (await callTool(base, { 'x-api-key': key }, 'list_tags', { shop_id: shop })).text()
  await (await callTool(base, { 'x-api-key': key }, 'get_tag', { shop_id: shop, tag_id: key })).text()
  await (await callTool(base, { 'x-api-key': key }, 'list_tags', { shop_id: foreign })).text()

  const pay = client(app, `/shops/${shop}/pay`, machine)
  for (const secret of [PAY_KEY, 'sk_test_bad-pay-canary-7f3a9c1e5d', 'bad-pay-canary-7f3a9c1e5d']) {
    await pay('PUT', '/key', { pay_secret_key: secret })
    await pay('POST', '/key/verify')
  }

  // What is no HTTP: Node.js hands the whole of it to the log.
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  socket.end(`GET ${tags} HTTP/1.1\r\nauthorization: Bearer ${canary('raw')}\r\nbad header\r\n\r\n`)
  await once(socket.resume(), 'close')
  app.log.error({
    err: Object.assign(new Error(`refused ${key}`), {
      headers: { authorization: canary('token') },
      cause: new Error(`Bearer ${user}`)
    })
  }, `with ${PAY_KEY}`)

  const text = lines().join('\n')
  t.ok(lines().length > 40, `${lines().length} lines`)
  for (const line of lines()) JSON.parse(line)
  t.match(text, /"code":"HPE_/, 'what could not be parsed was logged')
  t.match(text, /credential refused/)
  for (const secret of planted) {
    t.notOk(text.includes(secret), `plain: ${secret.slice(0, 24)}`)
    t.notOk(text.includes(encodeURIComponent(JSON.stringify(secret)).slice(3, -3)), 'encoded')
    t.notOk(text.includes(Buffer.from(secret).toString('base64').slice(0, -4)), 'in base64')
    t.notOk(text.includes([...Buffer.from(secret)].slice(0, 12).join(',')), 'as bytes')
  }
})

t.test('answers and the log quote 200 characters of what a caller sends, and no part of a secret', async (t) => {
  const { stream, lines } = capture()
  const app = await build(t, database, idp, { settings: { LOG_LEVEL: 'trace' }, logger: { stream } })
  const base = await app.listen({ host: '127.0.0.1', port: 0 })
  const key = await makeKey(app)
  const tags = `/shops/${shop}/tags`
  const long = 'y'.repeat(400_000)
  const quoted = `${'y'.repeat(199)}…`
  const send = client(app, tags, { 'x-api-key': key })
  const problem = (statusCode: number, code: string, error: string, message: string, field?: string): object => ({
    statusCode,
    code,
    error,
    message,
    ...(field && { field })
  })

  for (
    const [method, path, body, status, expected] of [
      [
        'POST',
        '',
        { name: 'x', [long]: 1 },
        422,
        problem(422, 'SHOP_INVALID', 'Unprocessable Entity', `${quoted} is not a known field`, quoted)
      ],
      [
        'POST',
        '',
        { name: 'x', [long]: '\0' },
        422,
        problem(
          422,
          'SHOP_INVALID',
          'Unprocessable Entity',
          `${quoted} contains a character that cannot be stored`,
          quoted
        )
      ],
      [
        'GET',
        `?${'y'.repeat(9000)}=1`,
        undefined,
        422,
        problem(422, 'SHOP_INVALID', 'Unprocessable Entity', `${quoted} is not a known field`, quoted)
      ],
      [
        'GET',
        `/${'y'.repeat(90)}/${'y'.repeat(9000)}`,
        undefined,
        404,
        problem(
          404,
          'SHOP_ROUTE_NOT_FOUND',
          'Not Found',
          `No route GET ${`${tags}/${'y'.repeat(90)}/${'y'.repeat(9000)}`.slice(0, 199)}…`
        )
      ],
      [
        'GET',
        `/%${'y'.repeat(9000)}`,
        undefined,
        400,
        problem(400, 'FST_ERR_BAD_URL', 'Bad Request', `${`'${tags}/%${'y'.repeat(9000)}`.slice(0, 499)}…`)
      ]
    ] as const
  ) {
    const answer = await send(method, path, body)
    t.strictSame([answer.status, answer.body], [status, expected])
  }
  const tool = await (await callTool(base, { 'x-api-key': key }, 'list_tags', { shop_id: shop, filter: { [long]: 1 } }))
    .json() as { result: object }
  t.match(tool.result, {
    isError: true,
    content: [{
      text: new RegExp(`^422 Unprocessable Entity: filter/${'y'.repeat(192)}… is not a known field \\(SHOP_INVALID\\)`)
    }]
  })
  t.ok(JSON.stringify(tool).length < 1000)
  const unknown = await (await callTool(base, { 'x-api-key': key }, long, {})).json()
  t.strictSame(unknown, { jsonrpc: '2.0', id: 1, error: { code: -32602, message: `Unknown tool: ${quoted}` } })

  // Every place in it may be where it is cut.
  const user = await idp.userToken('root')
  for (const secret of [key, `Bearer ${'opaque7Q'.repeat(9)}`, user]) {
    for (let left = 0; left < 40; left++) await send('POST', '', { [`${'-'.repeat(199 - left)} ${secret}`]: 1 })
  }
  const text = lines().join('\n')
  // Stacks hold the path of the repository, which may be of any length.
  const repository = new URL('../../../', import.meta.url)
  const longest = Math.max(
    ...lines().map((line) => line.replaceAll(repository.href, '').replaceAll(repository.pathname, '').length)
  )
  t.ok(longest < 2500, `the longest line has ${longest} characters`)
  for (const line of lines()) JSON.parse(line)
  for (const beginning of ['shop_', 'earer ', 'eyJ']) {
    t.notMatch(text, new RegExp(`${beginning}[\\w.-]+…`), 'what is left in front of a cut is redacted')
  }
})

t.test("a call has one id: the caller's, on the answer, in every line, and in the tool's route", async (t) => {
  const { stream, lines } = capture()
  const app = await build(t, database, idp, { logger: { stream, level: 'info' } })
  const base = await app.listen({ host: '127.0.0.1', port: 0 })
  const key = await makeKey(app)
  const response = await callTool(base, { 'x-api-key': key, 'x-request-id': 'from-the-proxy.1' }, 'list_tags', {
    shop_id: shop
  })
  t.equal(response.headers.get('x-request-id'), 'from-the-proxy.1')
  await response.text()
  const of = lines().map((line) => JSON.parse(line)).filter(({ reqId }) => reqId === 'from-the-proxy.1')
  t.strictSame(of.map(({ method, route, tool, status }) => [method, route, tool, status]), [[
    'POST',
    '/mcp',
    'list_tags',
    200
  ]])
  const broken = await callTool(base, { 'x-api-key': key, 'x-request-id': 'from-the-proxy.2' }, 'list_tags', {
    shop_id: shop,
    nonsense: 1
  })
  t.equal(broken.headers.get('x-request-id'), 'from-the-proxy.2')
  const fails = t.capture(database.knex.client, '_query', async () => {
    throw new Error('canary')
  })
  await (await callTool(
    base,
    { authorization: machine.authorization, 'x-request-id': 'from-the-proxy.3' },
    'list_tags',
    { shop_id: shop }
  )).text()
  fails.restore()
  t.match(lines().map((line) => JSON.parse(line)).filter(({ level, reqId }) => level === 50 && reqId !== undefined), [{
    reqId: 'from-the-proxy.3',
    err: { message: 'canary' }
  }], 'also on lines of the route behind the tool')

  const made = await fetch(`${base}/healthz`, { headers: { 'x-request-id': 'two words' } })
  t.match(made.headers.get('x-request-id'), /^[0-9a-f]{8}-[0-9a-f-]{27}$/)
  const missing = await fetch(`${base}/nowhere`)
  t.match(missing.headers.get('x-request-id'), /^[0-9a-f]{8}-[0-9a-f-]{27}$/, 'errors have one too')
})

/** @returns the value of a series that has these labels, 0 when there is none */
function valueIn (text: string, name: string, labels: Record<string, string>): number {
  const line = text.split('\n').find((line) =>
    line.startsWith(`${name}{`) &&
    Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`))
  )
  return line === undefined ? 0 : Number(line.split(' ').at(-1))
}

async function scrape (app: Awaited<ReturnType<typeof build>>): Promise<string> {
  const { statusCode, body } = await app.inject({ url: '/metrics', headers: bearer(METRICS_TOKEN) })
  if (statusCode !== 200) throw new Error(body)
  return body
}

t.test('metrics tell of requests, tools, authentication, payment provider, pool and process', async (t) => {
  const app = await build(t, database, idp, { settings: { METRICS_TOKEN, PAY_API_URL: standIn.url } })
  const base = await app.listen({ host: '127.0.0.1', port: 0 })
  const key = await makeKey(app)
  await (await callTool(base, { 'x-api-key': key }, 'list_tags', { shop_id: shop })).text()
  await (await callTool(base, { 'x-api-key': key }, 'get_tag', { shop_id: shop, tag_id: foreign })).text()
  await (await callTool(base, { 'x-api-key': key }, 'get_tag', { nonsense: 1 })).text()
  await app.inject({ url: `/shops/${shop}/tags` })
  await app.inject({ url: `/shops/${shop}/tags`, headers: { 'x-api-key': 'shop_x' } })
  await app.inject({ url: `/shops/${foreign}/tags`, headers: { 'x-api-key': key } })
  for (const secret of [PAY_KEY, 'sk_test_unknown']) {
    await client(app, `/shops/${shop}/pay`, machine)('PUT', '/key', { pay_secret_key: secret })
    await client(app, `/shops/${shop}/pay`, machine)('POST', '/key/verify')
  }
  const text = await scrape(app)
  const count = (name: string, labels: Record<string, string>): number => valueIn(text, name, labels)
  const http = 'http_request_duration_seconds_count'
  t.equal(count(http, { method: 'POST', route: '/mcp', status: '2xx', caller: 'client' }), 3)
  t.equal(count(http, { method: 'GET', route: '/shops/:shop_id/tags', status: '2xx', caller: 'tool' }), 1)
  t.equal(count(http, { method: 'GET', route: '/shops/:shop_id/tags', status: '4xx', caller: 'client' }), 3)
  t.equal(count('mcp_tool_call_duration_seconds_count', { tool: 'list_tags', outcome: 'ok' }), 1)
  t.equal(count('mcp_tool_call_duration_seconds_count', { tool: 'get_tag', outcome: '4xx' }), 1)
  t.equal(count('mcp_tool_call_duration_seconds_count', { tool: 'get_tag', outcome: 'refused' }), 1)
  t.equal(count('auth_attempts_total', { method: 'api-key', outcome: 'accepted' }), 3)
  t.equal(count('auth_attempts_total', { method: 'machine', outcome: 'accepted' }), 5)
  t.equal(count('auth_attempts_total', { method: 'none', outcome: 'missing' }), 1)
  t.equal(count('auth_attempts_total', { method: 'api-key', outcome: 'refused' }), 1)
  t.equal(count('auth_attempts_total', { method: 'api-key', outcome: 'forbidden' }), 1)
  t.ok(count('pay_provider_request_duration_seconds_count', { outcome: 'ok' }) > 0)
  t.match(
    text,
    /pay_provider_request_duration_seconds_count\{operation="[a-z_]+",outcome="PAY_RECONCILE_[A-Z_]+"\} [1-9]/
  )
  t.match(text, /shop_database_connections\{state="used"\} \d/)
  t.match(text, /process_cpu_user_seconds_total/)
})

t.test('callers cannot make series', async (t) => {
  const app = await build(t, database, idp, { settings: { METRICS_TOKEN } })
  await app.inject({ url: '/healthz' })
  await app.inject({ url: '/nowhere' })
  await app.inject({ url: `/shops/${shop}/tags/${shop}` })
  const series = async (): Promise<number> =>
    (await scrape(app)).split('\n').filter((line) => /^(http|auth|mcp|pay)_/.test(line)).length
  await series()
  const before = await series()
  for (let i = 0; i < 30; i++) {
    await app.inject({ url: `/nowhere/${i}?x=${i}` })
    await app.inject({ url: `/shops/${shop}/tags/${i}`, headers: { 'user-agent': String(i) } })
    await app.inject({ url: '/healthz', headers: { host: `h${i}.example.com`, 'x-request-id': String(i) } })
  }
  t.equal(await series(), before)
})

t.test('the metrics are for whoever has their token, and are not there without one', async (t) => {
  const app = await build(t, database, idp, { settings: { METRICS_TOKEN } })
  for (const headers of [{}, bearer('wrong'), { authorization: METRICS_TOKEN }, machine]) {
    const { statusCode, json, headers: { 'www-authenticate': challenge } } = await app.inject({
      url: '/metrics',
      headers
    })
    t.strictSame([statusCode, json().code, challenge], [401, 'SHOP_METRICS_TOKEN', 'Bearer realm="metrics"'])
  }
  t.equal((await (await build(t, database, idp)).inject({ url: '/metrics', headers: machine })).statusCode, 404)
})

t.test('traces are made when the standard variables ask for them', async (t) => {
  t.equal(wantsTraces({}), false)
  t.equal(wantsTraces({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }), true)
  t.equal(wantsTraces({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }), true)
  t.equal(wantsTraces({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_SDK_DISABLED: 'true' }), false)
  t.equal(wantsTraces({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_EXPORTER: 'none' }), false)
})

async function traced (t: Test, settings: Readonly<Record<string, unknown>> = {}, exporter?: SpanExporter) {
  const spans: ReadableSpan[] = []
  const tracing = await openTracing(
    exporter ?? {
      export: (batch, done) => {
        spans.push(...batch)
        done({ code: 0 })
      },
      shutdown: async () => {}
    }
  )
  const app = await build(t, database, idp, { tracing, settings })
  const base = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    app,
    base,
    close: async () => await tracing.close(),
    spans: async () => {
      await tracing.close()
      return spans
    }
  }
}

t.test('a collector reads one trace from the client to the statements of the route', async (t) => {
  const receiver = await startReceiver(t)
  const { app, base, close } = await traced(t, {}, new OTLPTraceExporter({ url: `${receiver.url}/v1/traces` }))
  const key = await makeKey(app)
  const client = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'agent' }),
    spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${receiver.url}/v1/traces` }))]
  })
  const asking = client.getTracer('agent').startSpan('ask')
  const { traceId, spanId } = asking.spanContext()
  await (await fetch(`${base}/mcp`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'create_tag',
        arguments: { shop_id: shop, name: 'canary-value' },
        _meta: { traceparent: `00-${traceId}-${spanId}-01` }
      }
    })
  })).text()
  asking.end()
  await Promise.all([close(), client.shutdown()])

  const all = await receiver.until(() => true)
  const call = all.find(({ name }) => name === 'tools/call create_tag')!
  const route = all.find(({ name }) => name === 'POST /shops/:shop_id/tags')!
  const insert = all.find(({ name }) => name === 'INSERT tags')!
  t.strictSame(pathOf(insert, all), ['ask', 'tools/call create_tag', 'POST /shops/:shop_id/tags', 'INSERT tags'])
  t.equal(insert.traceId, traceId)
  t.strictSame(all.filter(({ spanId }) => call.links.includes(spanId)).map(({ name }) => name), ['POST /mcp'])
  t.match(route, {
    kind: 2,
    status: 0,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/shops/:shop_id/tags',
      'http.response.status_code': 201,
      'url.scheme': 'http'
    }
  })
  t.match(insert, {
    kind: 3,
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': 'INSERT',
      'db.query.text': /insert into "tags" .*\$1/
    }
  })
  t.match(insert.resource, { 'service.name': 'shop', 'service.version': TOOLS_VERSION, 'service.instance.id': UUID })
  t.notMatch(JSON.stringify(all), 'canary-value', 'values of statements and arguments of calls are in no span')
})

t.test('a request without a trace goes on that of its header; only a 5xx is an error of the server', async (t) => {
  const { app, base, spans } = await traced(t)
  const key = await makeKey(app)
  const [trace, caller] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  const headers = { 'x-api-key': key, traceparent: `00-${trace}-${caller}-01`, 'x-request-id': 'traced' }
  await (await callTool(base, headers, 'list_tags', { shop_id: shop, limit: 1 })).text()
  await (await callTool(base, headers, 'get_tag', { shop_id: shop, tag_id: foreign })).text()
  await (await fetch(`${base}/healthz`)).text()
  await (await fetch(`${base}/nowhere?access_token=canary`)).text()
  const fails = t.capture(database.knex.client, '_query', async () => {
    throw new Error('canary')
  })
  await (await fetch(`${base}/shops/${shop}/tags`, { headers })).text()
  fails.restore()
  const all = await spans()
  const inTrace = all.filter((span) => span.spanContext().traceId === trace)
  const byName = (name: string): ReadableSpan => inTrace.find((span) => span.name === name)!
  const [outer, call, route] = [byName('POST /mcp'), byName('tools/call list_tags'), byName('GET /shops/:shop_id/tags')]
  t.strictSame([outer, call, route].map((span) => span.parentSpanContext?.spanId), [
    caller,
    outer.spanContext().spanId,
    call.spanContext().spanId
  ])
  t.match(outer.attributes, { 'http.route': '/mcp', 'http.response.status_code': 200, 'request.id': 'traced' })
  t.match(route.attributes, {
    'url.path': `/shops/${shop}/tags`,
    'http.response.status_code': 200,
    'request.id': 'traced'
  })
  t.match(byName('GET /shops/:shop_id/tags/:tag_id'), {
    status: { code: 0 },
    attributes: { 'http.response.status_code': 404 },
    events: []
  })
  t.match(byName('tools/call get_tag'), { status: { code: 2 }, attributes: { 'error.type': 'tool_error' } })
  t.match(
    all.find(({ attributes }) =>
      attributes['http.response.status_code'] === 404 && attributes['url.path'] === '/nowhere'
    ),
    { status: { code: 0 } }
  )
  t.match(inTrace.filter(({ status }) => status.code === 2).map(({ attributes }) => attributes['error.type']).sort(), [
    '503',
    'Error',
    'tool_error'
  ])
  t.notOk(all.some((span) => span.name.includes('healthz')), 'probes are not traced')
  t.notOk(
    JSON.stringify(all.map(({ name, attributes, events, status }) => ({ name, attributes, events, status }))).includes(
      'canary'
    )
  )
})

t.test('spans name the caller as the log does, a person by a digest, and the shop and the tool', async (t) => {
  const { app, base, spans } = await traced(t)
  const made = (await client(app, '', machine)('POST', `/shops/${shop}/api-keys/`, { name: 'canary' })).body
  const key = { 'x-api-key': made.plaintext }
  const person = bearer(await idp.userToken('root'))
  const { body: { subject, id } } = await client(app, '', person)('GET', '/me')
  const tags = `${base}/shops/${shop}/tags`
  await (await callTool(base, key, 'list_tags', {})).text()
  for (const headers of [person, machine, key, {}, bearer('canary')]) await (await fetch(tags, { headers })).text()
  await (await fetch(`${base}/shops/${foreign}/tags`, { headers: key })).text()
  await client(app, '', machine)('DELETE', `/shops/${shop}/api-keys/${made.id}`)
  await (await fetch(tags, { headers: key })).text()
  const all = await spans()
  const named = (name: string): readonly object[] =>
    all.filter((span) => span.name === name).map(({ attributes }) =>
      Object.fromEntries(
        Object.entries(attributes).filter(([name]) => /^(?:shop|user|gen_ai)\.|status_code$/.test(name))
      )
    )
  const inShop = { 'shop.id': shop }
  const byKey = { 'shop.caller.kind': 'api-key', 'shop.caller.id': made.id }
  const status = (code: number): object => ({ 'http.response.status_code': code })
  const hash = createHash('sha256').update(subject).digest('hex').slice(0, 16)
  t.strictSame(named('POST /mcp'), [{ ...byKey, ...inShop, ...status(200), 'gen_ai.tool.name': 'list_tags' }])
  t.match(named('tools/call list_tags'), [{ 'gen_ai.tool.name': 'list_tags' }])
  t.strictSame(named('GET /shops/:shop_id/tags'), [
    { ...byKey, ...inShop, ...status(200) },
    { 'shop.caller.kind': 'user', 'user.hash': hash, ...inShop, ...status(403) },
    { 'shop.caller.kind': 'machine', 'shop.caller.id': 'test-machine', ...inShop, ...status(200) },
    { ...byKey, ...inShop, ...status(200) },
    { 'shop.caller.kind': 'anybody', ...inShop, ...status(401) },
    { 'shop.caller.kind': 'anybody', ...inShop, ...status(401) },
    { ...byKey, 'shop.id': foreign, ...status(403) },
    { ...byKey, ...inShop, ...status(401) }
  ])
  const text = JSON.stringify(all.map(({ attributes }) => attributes))
  for (const secret of [made.plaintext, subject, id, 'canary']) t.notOk(text.includes(secret))
})

t.test('requests to the payment provider and to the identity provider are in the trace of the caller', async (t) => {
  const { app, spans } = await traced(t, { PAY_API_URL: standIn.url })
  const pay = client(app, `/shops/${shop}/pay`, machine)
  await pay('PUT', '/key', { pay_secret_key: PAY_KEY })
  await pay('POST', '/key/verify')
  await pay('PUT', '/key', { pay_secret_key: 'sk_test_unknown' })
  await pay('POST', '/key/verify')
  const all = await spans()
  const below = (span: ReadableSpan, all: readonly ReadableSpan[]): string | undefined =>
    all.find((other) => other.spanContext().spanId === span.parentSpanContext?.spanId)?.name
  const { host, port } = { host: new URL(standIn.url).hostname, port: Number(new URL(standIn.url).port) }
  const toProvider = all.filter(({ attributes }) =>
    attributes['server.port'] === port && attributes['server.address'] === host
  )
  t.strictSame(
    toProvider.map((
      span
    ) => [below(span, all), span.kind, span.attributes['http.response.status_code'], span.status.code]),
    [
      ['POST /shops/:shop_id/pay/key/verify', 2, 200, 0],
      ['POST /shops/:shop_id/pay/key/verify', 2, 401, 2]
    ]
  )
  t.notMatch(JSON.stringify(all.map(({ attributes }) => attributes)), 'sk_test_')

  const issuer = idp.settings['IDP_ISSUER']!
  const asking = await traced(t, {
    IDP_PROVIDER: 'generic',
    IDP_M2M_CLIENT_IDS: 'none',
    IDP_INTROSPECTION_CLIENT_ID: 'shop',
    IDP_INTROSPECTION_CLIENT_SECRET: 'canary',
    IDP_INTROSPECTION_ENDPOINT: `${issuer}/introspection`
  })
  await client(asking.app, `/shops/${shop}`, bearer('canary'))('GET', '/tags')
  const asked = await asking.spans()
  t.match(
    asked.filter(({ attributes }) => attributes['url.full'] === `${issuer}/introspection`).map((
      span
    ) => [below(span, asked), span.name]),
    [['GET /shops/:shop_id/tags', 'POST']]
  )
  t.notMatch(JSON.stringify(asked.map(({ attributes }) => attributes)), 'canary')
})
