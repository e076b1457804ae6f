import t from 'tap'
import { listen } from './build.ts'
import { ENVELOPE, refusesNulls } from './nulls.ts'

/** Every kind of message of the core, with all members that it may have. */
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
    'notifications/initialized': { params: { _meta: {} } },
    'notifications/cancelled': { params: { _meta: {} } },
    ping: { id: 1, params: { _meta: {} } }
  },
  modern: {
    'server/discover': { id: 1, params: { _meta: ENVELOPE } },
    'tools/list': { id: 1, params: { cursor: '', _meta: ENVELOPE } },
    'tools/call': { id: 1, params: { name: 'get', arguments: {}, _meta: ENVELOPE, requestState: 's' } }
  }
} as const

for (const [era, messages] of Object.entries(MESSAGES)) {
  t.test(`${era}: null for any member of any message is the error of its kind, in words`, async (t) => {
    const { url } = await listen(t, (app) => {
      app.get('/things', { schema: { operationId: 'get', description: 'Get', tags: ['mcp'] } }, async () => ({ a: 1 }))
    })
    await refusesNulls(t, url, era, messages)
  })
}
