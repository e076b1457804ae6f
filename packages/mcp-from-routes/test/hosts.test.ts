import { Readable } from 'node:stream'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { contractFromModule } from '../src/cli/app.ts'
import { build, call, listen, post } from './build.ts'

const schema = (operationId: string): object => ({ operationId, description: 'A.', tags: ['mcp'] })
const GREET = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'greet', arguments: {} } }
const greet = (app: FastifyInstance): void => {
  app.get('/greet', { schema: schema('greet') }, async () => ({ hello: 'world' }))
}
const GREETED = { status: 200, body: { id: 1, result: { structuredContent: { hello: 'world' } } } }

t.test('the commands read an app that TypeScript compiled to CommonJS', async (t) => {
  const app = `const published = Symbol.for('mcp-from-routes.published')
function buildApp () { return { [published]: { tools: [] }, ready: async () => {}, close: async () => {} } }
`
  const modules = {
    'default.cjs': `${app}Object.defineProperty(exports, '__esModule', { value: true })\nexports.default = buildApp`,
    'build-app.cjs': `${app}Object.defineProperty(exports, '__esModule', { value: true })\nexports.buildApp = buildApp`,
    'computed.cjs': `${app}module.exports = Object.fromEntries([['buildApp', buildApp]])`,
    'whole.cjs': `${app}module.exports = buildApp()`
  }
  const dir = t.testdir(modules)
  for (const name of Object.keys(modules)) t.equal((await contractFromModule(name, dir)).size, 0, name)
})

const asItIs = async (_request: unknown, body: unknown): Promise<unknown> => body

const parsers: Array<[title: string, parse: (app: FastifyInstance) => void]> = [
  ['the bytes', (app) => {
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, asItIs)
  }],
  ['the text', (app) => {
    app.addContentTypeParser(/json/, { parseAs: 'string' }, asItIs)
  }]
]
for (const [title, parse] of parsers) {
  t.test(`a parser of the app that leaves ${title} of JSON does not stop messages`, async (t) => {
    const { url } = await listen(t, greet, {}, {}, (app) => {
      app.removeContentTypeParser('application/json')
      parse(app)
    })
    t.match(await post(url, GREET), GREETED)
    t.match(await post(url, '{"'), { status: 400, body: { error: { code: /-32[67]00/ } } })
    const plain = await post(url, JSON.stringify(GREET), { 'content-type': 'text/plain' })
    t.match(plain, { status: 415 }, 'as browsers send from other sites')
  })
}

const broken: Array<[title: string, parse: (app: FastifyInstance) => void]> = [
  ['no parser', () => {}],
  ['a parser that passes nothing', (app) => {
    app.addContentTypeParser('*', (_request, _body, done) => done(null))
  }],
  ['a parser of streams', (app) => {
    app.addContentTypeParser('*', (_request, body, done) => done(null, body))
  }]
]
for (const [title, parse] of broken) {
  t.test(`with ${title} for JSON, clients and the log learn why no message is read`, async (t) => {
    const lines: string[] = []
    const logger = {
      level: 'error',
      stream: {
        write: (line: string) => {
          lines.push(line)
        }
      }
    }
    const { url } = await listen(t, greet, {}, { logger }, (app) => {
      app.removeContentTypeParser('application/json')
      parse(app)
    })
    const message = 'Internal error: this server does not parse application/json'
    t.match(await post(url, GREET), { status: 500, body: { error: { message } } })
    t.match(lines.join(''), /the parser of the app for application\/json makes no JSON of MCP messages/)
  })
}

t.test('an argument named __proto__ is named in the error', async (t) => {
  const { url } = await listen(t, greet)
  const poisoned = JSON.stringify(GREET).replace('"arguments":{}', '"arguments":{"__proto__":{"a":1}}')
  const error = { code: -32600, message: /has an argument __proto__/ }
  t.match(await post(url, poisoned), { status: 400, body: { error } })
  t.match(await post(url, '{"'), { status: 400, body: { error: { code: -32700 } } })
})

t.test('a prefix, which moves nothing, fails at startup and says what moves the endpoint', async (t) => {
  await t.rejects(async () => await build(t, greet, { prefix: '/v1' } as object), {
    code: 'MCP_FROM_ROUTES_INVALID_OPTION',
    message: "mcp-from-routes: prefix has no effect on a plugin of the whole app. Set path: '/v1/mcp'"
  })
})

t.test('a canUse or instructions that never settle fail after toolTimeout', async (t) => {
  const never = async (): Promise<never> => await new Promise(() => {})
  const { url } = await listen(t, greet, { canUse: never, instructions: never, toolTimeout: 20 })
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } }
  const list = { ...GREET, method: 'tools/list', params: {} }
  for (const message of [GREET, list, { ...GREET, method: 'initialize', params }]) {
    t.match(await post(url, message), { status: 200, body: { id: 1, error: { code: -32603 } } }, message.method)
  }
})

const texts: Array<[type: string, body: string]> = [
  ['application/xml', '<error>Out of stock</error>'],
  ['application/problem+xml; charset=utf-8', '<problem/>'],
  ['text/csv', 'field,error\nname,missing'],
  ['text/plain; charset=utf-8', 'Out of stock'],
  ['application/yaml', 'error: stock']
]
for (const [type, body] of texts) {
  t.test(`the model reads an error in ${type}`, async (t) => {
    const { url } = await listen(t, (app) => {
      const answers = { short: [type, body], long: [type, body.repeat(2000)], page: ['text/html', '<html>'] } as const
      for (const [id, [type, body]] of Object.entries(answers)) {
        app.get(`/${id}`, { schema: schema(id) }, async (_request, reply) => reply.code(409).type(type).send(body))
      }
    })
    t.match(await call(url, 'short'), { content: [{ text: `409 Conflict: ${body}` }], isError: true })
    const [{ text }] = (await call(url, 'long')).content as [{ text: string }]
    t.ok(text.length < 5000)
    t.match(await call(url, 'page'), { content: [{ text: '409 Conflict' }], isError: true })
  })
}

const packings = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync }
for (const [encoding, pack] of Object.entries(packings)) {
  t.test(`a route that compresses unasked with ${encoding} is read all the same`, async (t) => {
    const { url } = await listen(t, (app) => {
      app.addHook('onRequest', async (request, reply) => {
        if (request.url !== '/mcp') reply.type('application/json').header('content-encoding', encoding)
      })
      const answers = {
        whole: () => pack('{"hello":"world"}'),
        piped: () => Readable.from([pack('{"hello":"world"}')]),
        bomb: () => pack(JSON.stringify('x'.repeat(1_000_000))),
        untrue: () => Buffer.from('{"hello":"world"}')
      }
      for (const [id, body] of Object.entries(answers)) app.get(`/${id}`, { schema: schema(id) }, async () => body())
      app.get('/missing', { schema: schema('missing') }, async (_request, reply) => {
        return reply.code(404).send(pack('{"message":"no such thing"}'))
      })
    }, { maxResultBytes: 10_000 })
    t.strictSame((await call(url, 'whole')).structuredContent, { hello: 'world' })
    t.strictSame((await call(url, 'piped')).structuredContent, { hello: 'world' })
    t.strictSame((await call(url, 'untrue')).structuredContent, { hello: 'world' })
    t.match(await call(url, 'missing'), { isError: true, content: [{ text: '404 Not Found: no such thing' }] })
    t.match(await call(url, 'bomb'), { isError: true, content: [{ text: /^The result has at least 10001 bytes/ }] })
  })
}
