import t from 'tap'
import { listen } from './build.ts'
import { tasks } from '../src/extensions/tasks/index.ts'

const P = 'io.modelcontextprotocol/'
const ENVELOPE = {
  [`${P}protocolVersion`]: '2026-07-28',
  [`${P}clientCapabilities`]: { elicitation: { form: {} }, extensions: { [`${P}tasks`]: {} } },
  [`${P}clientInfo`]: { name: 'c', version: '1' },
  progressToken: 'p'
}
/** Every kind of message, with all members that it may have. */
const MESSAGES = {
  legacy: {
    initialize: {
      id: 1,
      params: {
        protocolVersion: '2025-11-25',
        capabilities: { elicitation: {} },
        clientInfo: { name: 'c', version: '1', title: 't' },
        _meta: { progressToken: 1 }
      }
    },
    'tools/list': { id: 1, params: { cursor: '', _meta: { progressToken: 1 } } },
    'tools/call': { id: 1, params: { name: 'get', arguments: {}, _meta: { progressToken: 1 } } },
    'tasks/get': { id: 1, params: { taskId: 'a', _meta: {} } },
    'tasks/result': { id: 1, params: { taskId: 'a', _meta: {} } },
    'tasks/cancel': { id: 1, params: { taskId: 'a', _meta: {} } },
    'notifications/initialized': { params: { _meta: {} } },
    'notifications/cancelled': { params: { _meta: {} } },
    ping: { id: 1, params: { _meta: {} } }
  },
  modern: {
    'server/discover': { id: 1, params: { _meta: ENVELOPE } },
    'tools/list': { id: 1, params: { cursor: '', _meta: ENVELOPE } },
    'tools/call': { id: 1, params: { name: 'get', arguments: {}, _meta: ENVELOPE, requestState: 's' } },
    'tasks/get': { id: 1, params: { taskId: 'a', _meta: ENVELOPE } },
    'tasks/cancel': { id: 1, params: { taskId: 'a', _meta: ENVELOPE } },
    'tasks/update': { id: 1, params: { taskId: 'a', _meta: ENVELOPE } }
  }
} as const

/** The paths of all members. */
function* pathsOf (value: object, above: readonly string[] = []): Generator<readonly string[]> {
  for (const [name, member] of Object.entries(value)) {
    yield [...above, name]
    if (typeof member === 'object' && member !== null) yield* pathsOf(member as object, [...above, name])
  }
}

function withNull (message: object, path: readonly string[]): object {
  const copy = structuredClone(message)
  const above = path.slice(0, -1).reduce<object>((value, name) => Reflect.get(value, name) as object, copy)
  Reflect.set(above, path.at(-1) as string, null)
  return copy
}

/** The member makes no message, so the error is about that; else it is one of its parameters. */
const isFrame = (path: readonly string[]): boolean =>
  path.length === 1 || (path.length === 2 && path[1] === '_meta') || path.at(-1) === 'progressToken'

for (const [era, messages] of Object.entries(MESSAGES)) {
  t.test(`${era}: null for any member of any message is the error of its kind, in words`, async (t) => {
    const { url } = await listen(t, (app) => {
      app.get('/things', { schema: { operationId: 'get', description: 'Get', tags: ['mcp'] } }, async () => ({ a: 1 }))
      app.post('/work', {
        schema: { operationId: 'work', description: 'Work', tags: ['mcp'] },
        config: { mcp: { task: { status: 'GET /work/:id' } } }
      }, async (_request, reply) => reply.code(202).header('location', '/work/1').send({}))
      app.get('/work/:id', async () => ({ status: 'running' }))
      app.delete('/work/:id', async () => ({}))
    }, { extensions: [tasks()] })
    for (const [method, rest] of Object.entries(messages)) {
      const message = { jsonrpc: '2.0', method, ...rest }
      const headers = era === 'modern'
        ? {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          .../^t.*s\/(call|get|cancel|update)$/.test(method) && { 'mcp-name': method === 'tools/call' ? 'get' : 'a' }
        }
        : { ...method !== 'initialize' && { 'mcp-protocol-version': '2025-11-25' } }
      for (const path of pathsOf(message)) {
        const label = `${method} ${path.join('.')}`
        const response = await fetch(url, {
          method: 'POST',
          headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
          body: JSON.stringify(withNull(message, path))
        })
        const text = await response.text()
        const { error } = JSON.parse(text) as { error: { code: number, message: string } }
        t.equal(error.code, isFrame(path) ? -32600 : -32602, `${label}: ${text}`)
        t.notMatch(error.message, /[{\n]|Cannot read/, label)
        t.equal(
          response.status === 400 || (response.status === 200 && !isFrame(path)),
          true,
          `${label}: ${response.status}`
        )
      }
    }
  })
}
