import t from 'tap'
import { run } from '../../../src/cli/run.ts'
import { APIS, fakeModel, KEY } from '../../testing/model.ts'

const APP = `
import Fastify from ${JSON.stringify(import.meta.resolve('fastify'))}
import mcpFromRoutes from ${JSON.stringify(new URL('../../../dist/index.js', import.meta.url).href)}
import { confirm } from ${JSON.stringify(new URL('../../../dist/extensions/confirm/index.js', import.meta.url).href)}
import { sets } from ${JSON.stringify(new URL('../../../dist/extensions/sets/index.js', import.meta.url).href)}
export default async () => {
  const app = Fastify()
  const extensions = [confirm(), sets({ notes: { path: '/mcp/notes', tags: ['notes'] } })]
  await app.register(mcpFromRoutes, { serverInfo: { name: 'notes', version: '1.0.0' }, extensions })
  app.delete('/notes', {
    schema: { operationId: 'delete_notes', description: 'Delete all notes.', tags: ['mcp', 'notes'] },
    config: { mcp: { confirm: 'All?' } }
  }, async (_request, reply) => reply.code(204).send())
  app.get('/others', { schema: { operationId: 'list_others', description: 'D.', tags: ['mcp'] } }, async () => [])
  return app
}
`

for (const api of APIS) {
  t.test(`${api}: the person of a case answers what tools ask, at the endpoint of the file`, async (t) => {
    const told = new Map<string, string>()
    const model = await fakeModel(t, ({ says, results: [result] }) => {
      if (result === undefined) return { calls: [['delete_notes', {}]] }
      told.set(says, result)
      return { text: 'Done.' }
    })
    const calls = [{ tool: 'delete_notes' }]
    const cwd = t.testdir({
      'package.json': '{ "type": "module" }',
      'app.js': APP,
      'cases.json': JSON.stringify({
        path: '/mcp/notes',
        steps: 2,
        cases: ['accept', 'decline', 'cancel', undefined].map((person) => ({ says: person ?? 'nobody', calls, person }))
      })
    })
    const env = { CASES_URL: model.urls[api], CASES_MODEL: 'fake-1', CASES_KEY: KEY }
    t.match(await run(['cases', 'cases.json', './app.js'], { cwd, env }), { code: 0, err: '' })
    t.match(Object.fromEntries(told), {
      accept: /^204/,
      decline: /the person said no/,
      cancel: /closed the question/,
      nobody: /this client cannot ask/
    })
    t.strictSame([...new Set(model.asked.flatMap(({ tools }) => tools))], ['delete_notes'], 'those of the set')
  })
}
