import rateLimit from '@fastify/rate-limit'
import t from 'tap'
import { sets } from '../../../src/extensions/sets/index.ts'
import { listen, post } from '../../build.ts'

t.test('an onRoute hook gives the routes of an endpoint a config, such as a rate limit', async (t) => {
  const { url } = await listen(
    t,
    (app) => {
      const schema = { operationId: 'list_tags', description: 'List the tags.', tags: ['mcp', 'tags'] }
      app.get('/tags', { schema }, async () => [])
    },
    { extensions: [sets({ tags: { path: '/mcp/tags', tags: ['tags'] } })] },
    {},
    async (app) => {
      // Before the plugin that reads the config.
      app.addHook('onRoute', (route) => {
        if (route.url === '/mcp') route.config = { ...route.config, rateLimit: { max: 2 } }
      })
      await app.register(rateLimit, { global: false })
    }
  )
  const statuses = async (path: string): Promise<readonly number[]> => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_tags' } }
    const all: number[] = []
    for (let n = 0; n < 3; n++) all.push((await post(new URL(path, url), call)).status)
    return all
  }
  t.strictSame(await statuses('/mcp'), [200, 200, 429])
  t.strictSame(await statuses('/mcp/tags'), [200, 200, 200], 'another endpoint, and the route of the tool')
})
