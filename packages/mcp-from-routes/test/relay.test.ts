import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { listen, post } from './build.ts'

const tool = (operationId: string, more: Record<string, unknown> = {}): { schema: Record<string, unknown> } => ({
  schema: { operationId, description: 'D.', tags: ['mcp'], ...more }
})
const STREAM = { 200: { content: { 'application/x-ndjson': { schema: {} } } } }
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {}
}
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
}
const MESSAGES = [INITIALIZE, { jsonrpc: '2.0', id: 1, method: 'ping' }, {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/list'
}]
const one = (app: FastifyInstance): void => {
  app.get('/a', tool('a'), async () => 'a')
}

t.test('every message is answered in the form the client accepts', async (t) => {
  const { url } = await listen(t, one)
  for (
    const [accept, type] of [
      ['application/json', 'application/json; charset=utf-8'],
      ['*/*', 'application/json; charset=utf-8'],
      ['application/json, text/event-stream', 'application/json; charset=utf-8'],
      ['text/event-stream', 'text/event-stream']
    ] as const
  ) {
    for (const message of MESSAGES) {
      const { status, headers, body } = await post(url, message, { accept })
      t.strictSame([status, headers.get('content-type')], [200, type], `${message.method}, ${accept}`)
      t.match(body, { jsonrpc: '2.0', id: 1, result: {} })
    }
  }
  for (const message of MESSAGES) t.equal((await post(url, message, { accept: 'text/html' })).status, 406)
  t.match(await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, { accept: 'application/json' }), {
    status: 202,
    body: undefined
  })
})

t.test('a challenge of the route reaches the client on every way its call may take', async (t) => {
  const { url } = await listen(t, (app) => {
    for (const response of [undefined, STREAM]) {
      const name = response === undefined ? 'plain' : 'streamed'
      app.get(
        `/${name}`,
        tool(name, { response }),
        async (_request, reply) =>
          reply.code(401).header('www-authenticate', 'Bearer error="invalid_token"').send({ message: 'log in' })
      )
    }
  })
  for (const name of ['plain', 'streamed']) {
    for (
      const [params, headers] of [
        [{}, {}],
        [{ _meta: { progressToken: 1 } }, {}],
        [{ _meta: { 'claudecode/toolUseId': 'x' } }, {}],
        [{ _meta: { traceparent: '00-1-2-01' } }, { accept: 'text/event-stream' }],
        [{ extra: 1 }, {}],
        [{ _meta: { ...ENVELOPE, progressToken: 1 }, extra: 1 }, {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': name
        }]
      ] as const
    ) {
      const label = JSON.stringify([name, params])
      const { status, headers: sent, body } = await post(url, {
        jsonrpc: '2.0',
        id: 5,
        method: 'tools/call',
        params: { name, ...params }
      }, headers)
      t.strictSame([status, sent.get('www-authenticate')], [401, 'Bearer error="invalid_token"'], label)
      t.strictSame(body, { jsonrpc: '2.0', error: { code: -32000, message: '401 Unauthorized: log in' }, id: 5 }, label)
    }
  }
})

t.test('what a function of the options throws is logged, and the client reads that there was an error and nothing of it', async (t) => {
  const logged: Array<Record<string, unknown>> = []
  const logger = {
    level: 'error',
    stream: {
      write: (line: string) => {
        logged.push(JSON.parse(line))
      }
    }
  }
  const fail = (): never => {
    throw new TypeError('connect ECONNREFUSED 10.0.0.5')
  }
  const routes = (app: FastifyInstance): void => {
    app.get('/a/:id', tool('a'), async () => 'a')
  }
  const list = ['tools/list', {}] as const
  const called = ['tools/call', { name: 'a', arguments: { id: '1' } }] as const
  for (
    const [title, options, messages] of [
      ['canUse', { canUse: fail }, [list, called]],
      ['canUse that rejects', { canUse: async () => fail() }, [list, called]],
      ['impliedArguments', { impliedArguments: { id: fail } }, [list]],
      ['instructions', { instructions: fail }, [['initialize', INITIALIZE.params], ['server/discover', {}]]],
      ['instructions that reject', { instructions: async () => fail() }, [['initialize', INITIALIZE.params]]]
    ] as const
  ) {
    const { url } = await listen(t, routes, options, { logger })
    for (const [method, params] of messages) {
      const headers = {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...'name' in params && { 'mcp-name': params.name }
      }
      for (
        const [extra, own] of [
          [{}, {}],
          [{ extra: 1 }, {}],
          [{}, { accept: 'application/json' }],
          [{}, { accept: 'text/event-stream' }],
          ...method === 'initialize'
            ? []
            : [[{ _meta: ENVELOPE }, headers], [{ _meta: ENVELOPE, extra: 1 }, headers]] as const
        ] as const
      ) {
        if (method === 'server/discover' && !('_meta' in extra)) continue
        const label = JSON.stringify([title, method, extra, own])
        const { status, body } = await post(
          url,
          { jsonrpc: '2.0', id: 7, method, params: { ...params, ...extra } },
          own
        )
        t.strictSame([status, body], [200, {
          jsonrpc: '2.0',
          id: 7,
          error: { code: -32603, message: 'Internal error' }
        }], label)
        t.match(logged.splice(0), [{
          level: 50,
          msg: 'a function of the options threw',
          err: { message: 'connect ECONNREFUSED 10.0.0.5' }
        }], label)
      }
    }
  }
})
