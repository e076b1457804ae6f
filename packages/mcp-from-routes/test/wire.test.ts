import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { isEnvelope } from '../src/endpoint/sdk.ts'
import { acceptedForm, directMessage, rememberedEnvelopes } from '../src/endpoint/wire.ts'
import { listen, post } from './build.ts'

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const CLIENT = 'io.modelcontextprotocol/clientInfo'
const ENVELOPE = { [VERSION]: '2026-07-28', [CAPABILITIES]: {}, [CLIENT]: { name: 'x', version: '1' } }

type Headers = Record<string, string>
const modernHeaders = (method: string, name?: string): Headers => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...name !== undefined && { 'mcp-name': name }
})

function routes (app: FastifyInstance): void {
  const tool = (operationId: string, more: Record<string, unknown> = {}): { schema: Record<string, unknown> } => ({
    schema: { operationId, description: `Does ${operationId}.`, tags: ['mcp'], ...more }
  })
  const item = { type: 'object', properties: { a: { type: 'string' } } }
  app.get('/object', tool('object', { response: { 200: item } }), async () => ({ a: 'ü "quoted"\u2028' }))
  app.get('/array', tool('array', { response: { 200: { type: 'array', items: item } } }), async () => [{ a: '1' }])
  app.get('/scalar', tool('scalar', { response: { 200: { type: 'integer' } } }), async () => 7)
  app.get('/union', tool('union', { response: { 200: item, 201: { type: 'string' } } }), async () => ({ a: 'x' }))
  app.get('/undescribed', tool('undescribed'), async () => [1, 'two', null])
  app.get(
    '/pretty',
    tool('pretty'),
    async (_request, reply) => reply.type('application/json').send('{\r\n  "a": "b\\n",\n  "a": [1]\n}')
  )
  app.get('/text', tool('text'), async () => 'text')
  app.get(
    '/headers',
    tool('headers'),
    async (_request, reply) => reply.header('content-range', 'x 0-1/2').send({ a: 'x' })
  )
  app.get('/image', tool('image'), async (_request, reply) => reply.type('image/png').send(Buffer.from([1, 2])))
  app.get(
    '/pdf',
    tool('pdf'),
    async (_request, reply) => reply.type('application/pdf').send(Readable.from([Buffer.from([1])]))
  )
  app.delete('/gone/:id', tool('gone'), async (_request, reply) => reply.code(204).send())
  app.get('/missing', tool('missing'), async (_request, reply) => reply.callNotFound())
  app.get('/broken', tool('broken'), async () => {
    throw new TypeError('secret')
  })
  app.post(
    '/echo',
    tool('echo', {
      body: { type: 'object', properties: { a: {}, n: { type: 'integer' } }, additionalProperties: false }
    }),
    async ({ body }) => body
  )
}

const calls: Array<[string, Record<string, unknown>?]> = [
  ['object'],
  ['array'],
  ['scalar'],
  ['union'],
  ['undescribed'],
  ['pretty'],
  ['text'],
  ['headers'],
  ['image'],
  ['pdf'],
  ['gone', { id: 'x' }],
  ['gone', {}],
  ['gone', { id: '..' }],
  ['missing'],
  ['broken'],
  ['echo', { a: { deep: [1, null] }, n: '5' }],
  ['echo', { n: 'x' }],
  ['echo', { b: 1 }],
  ['echo'],
  ['nothing'],
  ['']
]
const ids = [1, 0, -5, 9007199254740991, '', 'a"b', '1']

t.test('what is answered directly is what the SDK would have answered', async (t) => {
  const { url } = await listen(t, routes, { instructions: 'x' })
  /** The same message twice: as it is, and with a parameter that the direct way does not know. */
  async function both (
    message: Record<string, unknown>,
    params: Record<string, unknown>,
    headers: Headers
  ): Promise<void> {
    const label = JSON.stringify([message.id, params])
    const direct = await post(url, { ...message, params }, headers)
    const throughSdk = await post(url, { ...message, params: { ...params, note: 1 } }, headers)
    t.equal(direct.status, throughSdk.status, label)
    // The two ways take two requests, so their ids differ.
    t.strictSame(
      JSON.parse(JSON.stringify(direct.body).replace(/req-\w+/, 'req')),
      JSON.parse(JSON.stringify(throughSdk.body).replace(/req-\w+/, 'req')),
      label
    )
  }
  for (const [index, [name, args]] of calls.entries()) {
    const message = { jsonrpc: '2.0', id: ids[index % ids.length], method: 'tools/call' }
    const params = { name, ...args && { arguments: args } }
    await both(message, params, {})
    await both(message, { ...params, _meta: { progressToken: 'p' } }, { 'mcp-protocol-version': '2025-06-18' })
    await both(message, { ...params, _meta: { 'com.example/note': 1, traceparent: '00-1-2-01' } }, {
      'mcp-protocol-version': '2025-11-25'
    })
    await both(message, { ...params, _meta: ENVELOPE }, modernHeaders('tools/call', name))
  }
  const cursors = [
    undefined,
    '',
    'nonsense'
  ]
  for (const [index, cursor] of cursors.entries()) {
    const message = { jsonrpc: '2.0', id: ids[index], method: 'tools/list' }
    const params = cursor === undefined ? {} : { cursor }
    await both(message, params, {})
    await both(message, { ...params, _meta: ENVELOPE }, modernHeaders('tools/list'))
  }
})

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a', arguments: { b: 1 } } }
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const JSON_TYPE = { 'content-type': 'application/json' }
const modernCall = { ...CALL, params: { ...CALL.params, _meta: ENVELOPE } }
const WITH_TASKS = { ...ENVELOPE, [CAPABILITIES]: { extensions: { 'io.modelcontextprotocol/tasks': {} } } }
const modernCallHeaders = { ...JSON_TYPE, ...modernHeaders('tools/call', 'a') }

const direct: Array<{ title: string, body: unknown, headers?: Headers, gives: unknown }> = [
  {
    title: 'a call',
    body: CALL,
    gives: { era: 'legacy', id: 1, method: 'tools/call', name: 'a', args: { b: 1 }, progressToken: undefined }
  },
  {
    title: 'a call without arguments',
    body: { ...CALL, params: { name: 'a' } },
    gives: { era: 'legacy', id: 1, method: 'tools/call', name: 'a', args: {}, progressToken: undefined }
  },
  {
    title: 'a call with a progress token',
    body: { ...CALL, params: { name: 'a', _meta: { progressToken: 7 } } },
    gives: { era: 'legacy', id: 1, method: 'tools/call', name: 'a', args: {}, progressToken: 7 }
  },
  {
    title: 'a call with notes of the client and its tracer',
    body: {
      ...CALL,
      params: { name: 'a', _meta: { 'claudecode/toolUseId': 'x', traceparent: '00-1-2-01', [CAPABILITIES]: {} } }
    },
    gives: { era: 'legacy', id: 1, method: 'tools/call', name: 'a', args: {}, progressToken: undefined }
  },
  {
    title: 'a call by a client with tasks',
    body: { ...CALL, params: { ...CALL.params, _meta: WITH_TASKS } },
    headers: modernCallHeaders,
    gives: {
      era: 'modern',
      id: 1,
      method: 'tools/call',
      name: 'a',
      args: { b: 1 },
      progressToken: undefined
    }
  },
  {
    title: 'a list',
    body: LIST,
    headers: { 'content-type': 'Application/JSON ; charset=utf-8', 'mcp-protocol-version': '2025-11-25' },
    gives: { era: 'legacy', id: 1, method: 'tools/list', cursor: undefined }
  },
  {
    title: 'a page of the list',
    body: { ...LIST, id: 'x', params: { cursor: 'c' } },
    gives: { era: 'legacy', id: 'x', method: 'tools/list', cursor: 'c' }
  },
  {
    title: 'a call of the newest revision',
    body: modernCall,
    headers: modernCallHeaders,
    gives: { era: 'modern', id: 1, method: 'tools/call', name: 'a', args: { b: 1 }, progressToken: undefined }
  },
  {
    title: 'trace context in _meta',
    body: {
      ...modernCall,
      params: { ...CALL.params, _meta: { ...ENVELOPE, traceparent: '00-1-2-01', progressToken: 'p' } }
    },
    headers: modernCallHeaders,
    gives: { era: 'modern', id: 1, method: 'tools/call', name: 'a', args: { b: 1 }, progressToken: 'p' }
  }
]

for (const { title, body, headers = {}, gives } of direct) {
  t.test(`answered directly: ${title}`, async (t) =>
    t.strictSame(directMessage(body, { ...JSON_TYPE, ...headers }, isEnvelope), gives))
}

const notDirect: Array<{ title: string, body: unknown, headers?: Headers }> = [
  { title: 'nothing', body: undefined },
  { title: 'a text', body: 'tools/list' },
  { title: 'a batch', body: [LIST] },
  { title: 'a notification', body: { jsonrpc: '2.0', method: 'tools/list' } },
  { title: 'an id of null', body: { ...LIST, id: null } },
  { title: 'a fraction as id', body: { ...LIST, id: 1.5 } },
  { title: 'another version of JSON-RPC', body: { ...LIST, jsonrpc: '1.0' } },
  { title: 'an unknown member', body: { ...LIST, extra: 1 } },
  { title: 'params that are an array', body: { ...LIST, params: [] } },
  { title: 'an unknown parameter', body: { ...CALL, params: { ...CALL.params, note: {} } } },
  { title: 'a call that asks for a task', body: { ...CALL, params: { ...CALL.params, task: {} } } },
  { title: 'a task that is no object', body: { ...CALL, params: { ...CALL.params, task: true } } },
  { title: 'a task with a time that is no number', body: { ...CALL, params: { ...CALL.params, task: { ttl: '1' } } } },
  { title: 'arguments that are an array', body: { ...CALL, params: { name: 'a', arguments: [] } } },
  { title: 'a name that is a number', body: { ...CALL, params: { name: 5 } } },
  { title: 'a cursor that is a number', body: { ...LIST, params: { cursor: 1 } } },
  {
    title: 'a progress token that is an object',
    body: { ...CALL, params: { name: 'a', _meta: { progressToken: {} } } }
  },
  { title: 'a _meta that is null', body: { ...CALL, params: { name: 'a', _meta: null } } },
  { title: 'a _meta that is a text', body: { ...LIST, params: { _meta: 'x' } } },
  { title: 'another method', body: { ...LIST, method: 'ping' } },
  { title: 'initialize', body: { ...LIST, method: 'initialize' } },
  { title: 'another media type', body: LIST, headers: { 'content-type': 'text/plain' } },
  { title: 'an unknown version', body: LIST, headers: { 'mcp-protocol-version': '1999-01-01' } },
  { title: 'the newest version without an envelope', body: LIST, headers: modernHeaders('tools/list') },
  { title: 'an envelope without the header', body: modernCall },
  {
    title: 'an envelope under an older header',
    body: modernCall,
    headers: { ...modernCallHeaders, 'mcp-protocol-version': '2025-11-25' }
  },
  { title: 'a version that is no text', body: { ...LIST, params: { _meta: { [VERSION]: null } } } },
  {
    title: 'an envelope of another version',
    body: { ...CALL, params: { ...CALL.params, _meta: { ...ENVELOPE, [VERSION]: '2027-01-01' } } },
    headers: modernCallHeaders
  },
  {
    title: 'an envelope without capabilities',
    body: { ...CALL, params: { ...CALL.params, _meta: { [VERSION]: '2026-07-28' } } },
    headers: modernCallHeaders
  },
  {
    title: 'capabilities that are a text',
    body: { ...CALL, params: { ...CALL.params, _meta: { ...ENVELOPE, [CAPABILITIES]: 'x' } } },
    headers: modernCallHeaders
  },
  { title: 'no method header', body: modernCall, headers: { ...modernHeaders('tools/list', 'a') } },
  { title: 'another name in the header', body: modernCall, headers: modernHeaders('tools/call', 'b') },
  { title: 'an encoded name in the header', body: modernCall, headers: modernHeaders('tools/call', '=?base64?YQ==?=') }
]

for (const { title, body, headers = {} } of notDirect) {
  t.test(`left to the SDK: ${title}`, async (t) =>
    t.equal(directMessage(body, { ...JSON_TYPE, ...headers }, isEnvelope), undefined))
}

const REVISION = 'io.modelcontextprotocol/revision'

t.test('an envelope is checked once, and changing it takes no memory', async (t) => {
  let checks = 0
  const known = rememberedEnvelopes((envelope) => {
    checks += 1
    return envelope[REVISION] === 1
  }, 2)
  t.ok(known({ [REVISION]: 1, progressToken: 1 }))
  t.ok(known({ [REVISION]: 1, progressToken: 2, traceparent: 'x' }))
  t.equal(checks, 1)
  t.notOk(known({ [REVISION]: 2 }))
  t.notOk(known({ [REVISION]: 2 }))
  t.notOk(known({}), 'another one, which lacks a member')
  t.equal(checks, 3)
  t.ok(known({ [REVISION]: 1, [CLIENT]: 3 }))
  t.ok(known({ [REVISION]: 1 }))
  t.equal(checks, 5, 'a full memory starts anew')
  t.ok(known({ [REVISION]: 1, [CLIENT]: 3 }))
  t.equal(checks, 6, 'and keeps no more than it may')
  t.ok(known({ [CLIENT]: 3, [REVISION]: 1 }))
  t.equal(checks, 6, 'whatever the order of the members')
  known({ [REVISION]: 1, [CLIENT]: 'x'.repeat(3000) })
  known({ [REVISION]: 1, [CLIENT]: 'x'.repeat(3000) })
  t.equal(checks, 8, 'a huge envelope is not kept')
})

t.test('what clients add to every call beside the envelope is not checked again', async (t) => {
  const checked: unknown[] = []
  const known = rememberedEnvelopes((envelope) => {
    checked.push(envelope)
    return isEnvelope(envelope)
  })
  // Claude Code's id of the call, and what may be nested as deeply as it likes.
  for (const id of ['toolu_1', 'toolu_2', 'toolu_3']) {
    t.ok(known({ 'claudecode/toolUseId': id, ...ENVELOPE, deep: JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)) }))
  }
  t.strictSame(checked, [ENVELOPE], 'the check sees nothing but what its answer is kept for')
  for (
    const wrong of [{ [CAPABILITIES]: 'x' }, { [CLIENT]: { name: 'x' } }, { [VERSION]: 1 }, {
      'io.modelcontextprotocol/logLevel': 'loud'
    }]
  ) {
    t.notOk(known({ 'claudecode/toolUseId': 'toolu_4', ...ENVELOPE, ...wrong }), JSON.stringify(wrong))
    t.ok(known(ENVELOPE))
  }
})

t.test('Accept decides between JSON and a stream', async (t) => {
  for (
    const [accept, form] of [
      [undefined, 'json'],
      ['*/*', 'json'],
      ['application/*', 'json'],
      ['application/json, text/event-stream', 'json'],
      ['text/event-stream, application/json', 'json'],
      ['text/event-stream', 'stream'],
      ['text/*', 'stream'],
      ['text/html', undefined],
      ['', undefined]
    ] as const
  ) {
    t.equal(acceptedForm(accept), form, String(accept))
  }
  const { url } = await listen(t, routes)
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...JSON_TYPE, accept: 'text/event-stream' },
    body: JSON.stringify({ ...CALL, params: { name: 'text' } })
  })
  t.equal(response.headers.get('content-type'), 'text/event-stream')
  t.equal(response.headers.get('x-accel-buffering'), 'no')
  t.equal(response.headers.get('cache-control'), 'no-cache')
  t.equal(
    await response.text(),
    'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"text"}]}}\n\n'
  )
  t.match((await post(url, { ...CALL, params: { name: 'pretty' } }, { accept: 'text/event-stream' })).body, {
    result: { structuredContent: { a: [1] } }
  })
  t.equal((await post(url, CALL, { accept: 'text/html' })).status, 406)
})
