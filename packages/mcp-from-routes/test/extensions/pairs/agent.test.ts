import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { confirm } from '../../../src/extensions/confirm/index.ts'
import { resources } from '../../../src/extensions/resources/index.ts'
import { search } from '../../../src/extensions/search/index.ts'
import { sets } from '../../../src/extensions/sets/index.ts'
import { skills } from '../../../src/extensions/skills/index.ts'
import { tasks } from '../../../src/extensions/tasks/index.ts'
import { agentOf, type AnswerFor, type PersonsAnswer } from '../../../src/testing/index.ts'
import { build } from '../../build.ts'

const ERAS = ['modern', 'legacy'] as const
const params = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }

/** Notes that are deleted after a question, and work that takes as many reads as it is told. */
function world (confirmed = false): {
  readonly routes: (app: FastifyInstance) => void,
  readonly deleted: string[],
  readonly work: { left: number, end: object, cancelled?: boolean }
} {
  const deleted: string[] = []
  const work = { left: 2, end: { status: 'done', text: 'A good year.' } as object }
  return {
    deleted,
    work,
    routes: (app) => {
      app.delete<{ Params: { id: string } }>('/notes/:id', {
        schema: { operationId: 'delete_note', description: 'Delete a note.', tags: ['mcp', 'notes'], params },
        config: { mcp: { confirm: ({ id }) => `Delete note ${String(id)}?` } }
      }, async ({ params: { id } }, reply) => {
        deleted.push(id)
        return reply.code(204).send()
      })
      app.post('/reports', {
        schema: { operationId: 'write_report', description: 'Write a report.', tags: ['mcp'] },
        config: { mcp: { task: { status: 'GET /reports/:id' }, ...confirmed && { confirm: 'Write it?' } } }
      }, async (_request, reply) => reply.code(202).header('location', '/reports/1').send({ id: '1' }))
      app.get('/reports/:id', {
        schema: { operationId: 'get_report', description: 'Get a report.', tags: ['mcp'], params }
      }, async () => work.left-- > 0 ? { status: 'running', message: `${work.left} to go` } : work.end)
    }
  }
}

for (
  const [answer, text, isDeleted] of [
    ['accept', /^204/, true],
    ['decline', /the person said no/, false],
    ['cancel', /closed the question/, false]
  ] as const
) {
  t.test(`a person is asked, and does this: ${answer}`, async (t) => {
    const { routes, deleted } = world()
    const agent = await agentOf(await build(t, routes, { extensions: [confirm(), tasks()] }), { answer: () => answer })
    t.match((await agent.call('delete_note', { id: '1' })).text, text)
    t.strictSame(agent.asked, [{ message: 'Delete note 1?', mode: 'form', url: undefined }])
    t.strictSame(deleted, isDeleted ? ['1'] : [])
  })
}

t.test('the answer depends on the question, and may take its time', async (t) => {
  const { routes, deleted } = world()
  const agent = await agentOf(await build(t, routes, { extensions: [confirm(), tasks()] }), {
    answer: async ({ message }) => await Promise.resolve(message.includes('2') ? 'accept' : 'decline')
  })
  await Promise.all(['1', '2', '3'].map(async (id) => await agent.call('delete_note', { id })))
  t.strictSame(deleted, ['2'])
  t.strictSame(agent.asked.map(({ message }) => message).toSorted(), ['1', '2', '3'].map((id) => `Delete note ${id}?`))
})

t.test('a person is sent to a page', async (t) => {
  let isPaid = false
  const app = await build(t, (app) => {
    app.post('/orders', {
      schema: { operationId: 'order', description: 'Order.', tags: ['mcp'] },
      config: {
        mcp: { confirm: () => isPaid ? undefined : { mode: 'url', url: 'https://pay.example/1', text: 'Pay 5 EUR.' } }
      }
    }, async () => 'ordered')
  }, { extensions: [confirm()] })
  const agent = await agentOf(app, {
    answer: () => {
      isPaid = true
      return 'accept'
    }
  })
  t.equal((await agent.call('order')).text, 'ordered')
  t.strictSame(agent.asked, [{ message: 'Pay 5 EUR.', mode: 'url', url: 'https://pay.example/1' }])
})

t.test('a wrong answer fails the call, and says what answers there are', async (t) => {
  const { routes, deleted } = world()
  const agent = await agentOf(await build(t, routes, { extensions: [confirm(), tasks()] }), {
    answer: () => 'yes' as unknown as PersonsAnswer
  })
  await t.rejects(agent.call('delete_note', { id: '1' }), {
    message: /answer must return 'accept', 'decline' or 'cancel', not "yes"/
  })
  t.strictSame(deleted, [])
})

const yes: AnswerFor = () => 'accept'
for (const [era, answer] of [['modern', undefined], ['legacy', undefined], ['legacy', yes]] as const) {
  t.test(`${era}: a client that ${answer ? 'could ask in another revision' : 'cannot ask'} is told so`, async (t) => {
    const { routes, deleted } = world()
    const app = await build(t, routes, { extensions: [confirm(), tasks()] })
    const agent = await agentOf(app, { era, ...answer && { answer } })
    t.match(await agent.call('delete_note', { id: '1' }), {
      isError: true,
      text: /a person must agree first, and this client cannot ask/
    })
    t.strictSame([agent.asked, deleted], [[], []])
  })

  t.test(`${era}${answer ? ', with an answer' : ''}: with tokens, a second call confirms the first`, async (t) => {
    const { routes, deleted } = world()
    const app = await build(t, routes, { extensions: [confirm({ fallback: 'token' }), tasks()] })
    const agent = await agentOf(app, { era, ...answer && { answer } })
    const { text } = await agent.call('delete_note', { id: '1' })
    const [, token] = /confirm_token "([^"]+)"/.exec(text) ?? []
    t.match((await agent.call('delete_note', { id: '1', confirm_token: token })).text, /^204/)
    t.strictSame(deleted, ['1'])
  })
}

for (const era of ERAS) {
  t.test(`${era}: work is followed to its end by a client with tasks, and told of to others`, async (t) => {
    const { routes, work } = world()
    const app = await build(t, routes, { extensions: [confirm(), tasks()] })
    const agent = await agentOf(app, { era, tasks: true })
    t.match(await agent.call('write_report'), {
      isError: false,
      structuredContent: { status: 'done', text: 'A good year.' }
    })
    t.ok(work.left < 0, 'it was read until it was done')
    t.match(await agent.call('get_report', { id: '1' }), { structuredContent: work.end }, 'a tool that starts no work')
    const other = await agentOf(app, { era })
    t.match(await other.call('write_report'), { isError: false, text: /Call get_report in 5 s with \{"id":"1"\}/ })
  })

  t.test(`${era}: work that fails is an error for the model; work that is cancelled fails the test`, async (t) => {
    const { routes, work } = world()
    const app = await build(t, routes, { extensions: [confirm(), tasks()] })
    const agent = await agentOf(app, { era, tasks: true })
    Object.assign(work, { left: 1, end: { status: 'failed', text: 'no data' } })
    t.match(await agent.call('write_report'), { isError: true, text: /no data/ })
    Object.assign(work, { left: 1, end: { status: 'cancelled' } })
    await t.rejects(agent.call('write_report'), {
      code: 'MCP_FROM_ROUTES_TESTING_TASK',
      message: 'the task of write_report was cancelled'
    })
  })
}

t.test('work starts after a person agreed, and is followed to its end', async (t) => {
  const { routes } = world(true)
  const agent = await agentOf(await build(t, routes, { extensions: [confirm(), tasks()] }), {
    answer: () => 'accept',
    tasks: true
  })
  t.match(await agent.call('write_report'), { isError: false, structuredContent: { status: 'done' } })
  t.match(agent.asked, [{ message: /Write/ }])
})

t.test('a set and a search are endpoints of their own', async (t) => {
  const { routes, deleted } = world()
  const app = await build(t, routes, {
    extensions: [
      confirm(),
      tasks(),
      sets({ notes: { path: '/mcp/notes', tags: ['notes'] } }),
      search({ path: '/mcp/search' })
    ]
  })
  const [set, all] = [
    await agentOf(app, { path: '/mcp/notes' }),
    await agentOf(app, { path: '/mcp/search', answer: yes })
  ]
  t.strictSame((await set.tools()).map(({ name }) => name), ['delete_note'])
  await t.rejects(set.call('get_report', { id: '1' }), { code: 'MCP_FROM_ROUTES_TESTING_UNLISTED' })
  t.match((await all.call('search_tools', { query: 'delete' })).text, /delete_note/)
  t.match((await all.call('call_writing_tool', { name: 'delete_note', arguments: { id: '7' } })).text, /^204/)
  t.strictSame([all.asked.map(({ message }) => message), deleted], [['Delete note 7?'], ['7']])
  await t.rejects(agentOf(app, { path: '/mcp/x' }), { message: /It has \/mcp, \/mcp\/notes, \/mcp\/search$/ })
})

t.test('resources and skills are read by the client of the SDK', async (t) => {
  const skill = '---\nname: read\ndescription: How to read pages.\n---\n\nRead them twice.\n'
  const app = await build(t, (app) => {
    app.get('/page', {
      schema: { operationId: 'page', description: 'A page.', tags: ['mcp-resource'] },
      config: { mcp: { resource: { uri: 'notes://page', name: 'page' } } }
    }, async () => 'a page')
  }, { extensions: [resources(), skills(t.testdir({ read: { 'SKILL.md': skill } }))] })
  const { client } = await agentOf(app)
  t.match(await client.readResource({ uri: 'notes://page' }), { contents: [{ text: 'a page' }] })
  t.match(await client.readResource({ uri: 'skill://read/SKILL.md' }), { contents: [{ text: /twice/ }] })
})

t.test('the tests of the page pass, in the test runner of Node.js', async (t) => {
  const program = fileURLToPath(new URL('../../../../../examples/quickstart/testing.ts', import.meta.url))
  const { stdout, status } = spawnSync(process.execPath, [...process.execArgv, '--test-reporter=tap', program], {
    encoding: 'utf8',
    timeout: 120_000
  })
  t.equal(status, 0, stdout)
  t.match(stdout, /^# pass 3$/m)
})
