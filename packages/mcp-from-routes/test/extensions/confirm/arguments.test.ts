import t from 'tap'
import { confirm } from '../../../src/extensions/confirm/index.ts'
import { call, having, post } from '../../build.ts'
import { round } from './rounds.ts'

const { listen } = having(confirm({ fallback: 'token' }))
const tool = (properties: object): object => ({
  operationId: 'x',
  description: 'D.',
  tags: ['mcp'],
  body: { type: 'object', properties }
})

t.test('a person is asked about what the route gets', async (t) => {
  let asked: unknown
  const { url } = await listen(t, (app) => {
    const ask = (args: object): undefined => {
      asked = args
    }
    app.patch('/x', {
      schema: tool({ labels: { type: 'array', items: { type: 'string' } }, phone: { type: 'string' } }),
      config: { mcp: { confirm: ask } }
    }, async ({ body }) => body as object)
  })
  t.match(await call(url, 'x', { labels: '["vip"]', phone: null, task_progress: 'p' }), {
    structuredContent: { labels: ['vip'] }
  })
  t.strictSame(asked, { labels: ['vip'] })
  t.match(await call(url, 'x', { labels: 'vip' }), { content: [{ text: 'labels must be array, not string' }] })
})

t.test('nobody is asked about arguments that are nested too deeply', async (t) => {
  let ran = 0
  const { url } = await listen(t, (app) => {
    app.post('/x', { schema: tool({ any: {} }), config: { mcp: { confirm: true } } }, async () => {
      ran += 1
    })
  }, { bodyLimit: 10_000_000 })
  for (const levels of [501, 200_000]) {
    const deep = '['.repeat(levels) + ']'.repeat(levels)
    const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"any":${deep}}}}`
    t.match((await post(url, message)).body, {
      id: 1,
      result: { isError: true, content: [{ text: 'The arguments are nested too deeply' }] }
    }, String(levels))
  }
  t.equal(ran, 0)
})

t.test('nobody is asked about a call whose headers say something else', async (t) => {
  let ran = 0
  const { url } = await listen(t, (app) => {
    app.post('/x/:id', {
      schema: { operationId: 'x', description: 'X.', tags: ['mcp'] },
      config: { mcp: { arguments: { params: { id: { header: 'Item-Id' } } }, confirm: true } }
    }, async () => {
      ran += 1
    })
  })
  for (const headers of [{}, { 'mcp-param-item-id': '2' }]) {
    t.match(await round(url, 'x', { args: { id: '1' }, headers: headers as Record<string, string> }), {
      code: -32020,
      message: /mcp-param-item-id/
    })
  }
  t.match(await round(url, 'x', { args: { id: '1' }, headers: { 'mcp-param-item-id': '1' } }), {
    resultType: 'input_required'
  })
  t.equal(ran, 0)
})
