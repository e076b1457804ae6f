import t from 'tap'
import { search } from '../../../src/extensions/search/index.ts'
import { listen, post } from '../../build.ts'

t.test('a search runs once for each call, whoever answers it', async (t) => {
  let asked = 0
  const { url } = await listen(t, (app) => {
    app.get('/a', { schema: { operationId: 'get_a', description: 'A.', tags: ['mcp'] } }, async () => ({ a: 1 }))
  }, {
    extensions: [search({ path: '/all' })],
    canUse: () => {
      asked += 1
      return true
    }
  })
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' }
  }
  for (
    const [name, args] of [['search_tools', { query: 'a' }], ['call_reading_tool', { name: 'get_a' }]] as const
  ) {
    for (const more of [{}, { extra: 1 }]) {
      asked = 0
      const { status } = await post(new URL('/all', url), {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args, _meta, ...more }
      }, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name })
      t.equal(status, 200)
      t.equal(asked, 1, `${name} ${JSON.stringify(more)}`)
    }
  }
})
