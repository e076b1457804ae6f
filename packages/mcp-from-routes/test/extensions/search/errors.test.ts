import t from 'tap'
import { search } from '../../../src/extensions/search/index.ts'
import { listen, post } from '../../build.ts'
import { logs } from '../../logs.ts'

t.test('what canUse throws is logged, and the client of a search reads that there was an error and nothing of it', async (t) => {
  const { lines, logger } = logs('error')
  const { url } = await listen(t, (app) => {
    app.get('/a', { schema: { operationId: 'a', description: 'D.', tags: ['mcp'] } }, async () => 'a')
  }, {
    path: '/all',
    extensions: [search({ path: '/mcp' })],
    canUse: () => {
      throw new TypeError('connect ECONNREFUSED 10.0.0.5')
    }
  }, { logger })
  for (
    const [method, params] of [
      ['tools/list', {}],
      ['tools/call', { name: 'search_tools', arguments: { query: 'a' } }],
      ['tools/call', { name: 'call_reading_tool', arguments: { name: 'a' } }]
    ] as const
  ) {
    for (const extra of [{}, { extra: 1 }]) {
      const label = JSON.stringify([method, params, extra])
      const message = { jsonrpc: '2.0', id: 7, method, params: { ...params, ...extra } }
      const { status, body } = await post(new URL('/mcp', url), message)
      const error = { code: -32603, message: 'Internal error' }
      t.strictSame([status, body], [200, { jsonrpc: '2.0', id: 7, error }], label)
      t.match(lines.splice(0), [{ msg: 'a function of the options threw', err: { message: /ECONNREFUSED/ } }], label)
    }
  }
})
