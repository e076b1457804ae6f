import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { listen, post } from './build.ts'

/* One dispatch: whoever writes the answer, a call is resolved once. */

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' }
}

function routes (app: FastifyInstance): void {
  app.get('/a', { schema: { operationId: 'a', description: 'A.', tags: ['mcp'] } }, async () => ({ a: 1 }))
  const stream = { 200: { content: { 'application/x-ndjson': { schema: { type: 'string' } } } } }
  app.get('/s', {
    schema: { operationId: 's', description: 'S.', tags: ['mcp'], response: stream }
  }, async (_request, reply) => reply.type('application/x-ndjson').send('{"progress":1}\n'))
}

t.test('canUse is asked once for each call, whoever answers it', async (t) => {
  const asked: string[] = []
  const { url } = await listen(t, routes, {
    canUse: ({ name }) => {
      asked.push(name)
      return true
    }
  })
  for (
    const [title, name, params] of [
      ['directly', 'a', {}],
      ['through the SDK', 'a', { extra: 1 }],
      ['with progress', 's', { _meta: { ...META, progressToken: 1 } }],
      ['no such tool', 'b', {}]
    ] as const
  ) {
    for (const era of ['2025-11-25', '2026-07-28']) {
      asked.length = 0
      const modern = era === '2026-07-28'
      const { status } = await post(url, {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: {}, ...modern && { _meta: META }, ...modern || !('_meta' in params) ? params : {} }
      }, { 'mcp-protocol-version': era, ...modern && { 'mcp-method': 'tools/call', 'mcp-name': name } })
      t.equal(status, 200, `${title} ${era}`)
      // Of a tool that does not exist as of one that is hidden: time tells nobody which it is.
      t.strictSame(asked, name === 'b' ? ['a'] : [name], `${title} ${era}`)
    }
  }
})
