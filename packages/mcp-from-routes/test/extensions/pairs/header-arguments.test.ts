import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { confirm } from '../../../src/extensions/confirm/index.ts'
import { fields } from '../../../src/extensions/fields/index.ts'
import { review } from '../../../src/extensions/review/index.ts'
import { search } from '../../../src/extensions/search/index.ts'
import { skills } from '../../../src/extensions/skills/index.ts'
import { tasks } from '../../../src/extensions/tasks/index.ts'
import type { McpRouteConfig } from '../../../src/index.ts'
import { build, call, listen } from '../../build.ts'
import { asked, round, told, YES } from '../confirm/rounds.ts'
import { ask, start, KIM } from '../tasks/jobs.ts'

/* An argument that is a header, beside what extensions do with arguments. */

const CHOSEN = { headers: { 'idempotency-key': { name: 'idempotency_key' } } }
const HEADERS = {
  type: 'object',
  properties: { 'idempotency-key': { type: 'string', maxLength: 9 } },
  required: ['idempotency-key']
}

/** A tool that answers with the header that reached it. */
function order (mcp: McpRouteConfig = { arguments: CHOSEN }): (app: FastifyInstance) => void {
  return (app) => {
    const response = {
      200: { type: 'object', properties: { key: { type: 'string' }, body: { type: 'object', properties: {} } } }
    }
    const body = { type: 'object', properties: { note: { type: 'string' } } }
    app.post('/orders', {
      schema: { operationId: 'order', description: 'Order.', tags: ['mcp'], headers: HEADERS, body, response },
      config: { mcp }
    }, async ({ headers, body }) => ({ key: headers['idempotency-key'], body }))
  }
}

t.test('a person is asked about it as about any argument, and agrees to that one alone', async (t) => {
  const { url } = await listen(t, order({ arguments: CHOSEN, confirm: 'Order?' }), { extensions: [confirm()] })
  const args = { note: 'n', idempotency_key: 'k-1' }
  const first = await round(url, 'order', { args })
  t.equal(asked(first), 'Order?\nnote: “n”\nidempotency_key: “k-1”')
  const again = { state: first.requestState, answer: YES }
  const other = await round(url, 'order', { args: { ...args, idempotency_key: 'k-2' }, ...again })
  t.equal(asked(other), 'Order?\nnote: “n”\nidempotency_key: “k-2”')
  t.match(await round(url, 'order', { args, ...again }), { structuredContent: { key: 'k-1' } })
  t.equal(
    told(await round(url, 'order', { args: { idempotency_key: 'a\r\nb: c' } })),
    'idempotency_key ' +
      'must be one line of Latin characters, without a space at either end: it is sent as a header'
  )
})

t.test('where a client cannot ask, the token is for it too', async (t) => {
  const { url } = await listen(t, order({ arguments: CHOSEN, confirm: 'Order?' }), {
    extensions: [confirm({ fallback: 'token' })]
  })
  const args = { idempotency_key: 'k-1' }
  const { content: [{ text }] } = await call(url, 'order', args) as unknown as { content: [{ text: string }] }
  const token = /confirm_token "([^"]+)"/.exec(text)?.[1]
  t.match(await call(url, 'order', { idempotency_key: 'k-2', confirm_token: token }), { isError: true })
  t.match(await call(url, 'order', { ...args, confirm_token: token }), { structuredContent: { key: 'k-1' } })
})

const TASK = { status: 'GET /jobs/:id' }

function job (status: { readonly headers?: object, readonly mcp?: McpRouteConfig } = {}, seen: unknown[] = []) {
  return (app: FastifyInstance): void => {
    const begin = { operationId: 'start_job', description: 'S.', tags: ['mcp'], headers: HEADERS }
    app.post('/shops/:shop/jobs', { schema: begin, config: { mcp: { arguments: CHOSEN, task: TASK } } }, async (
      { headers },
      reply
    ) => {
      seen.push(headers['idempotency-key'])
      return reply.code(202).header('location', '/jobs/1').send({ status: 'pending' })
    })
    const schema = { operationId: 'get_job', description: 'G.', tags: ['mcp'], ...status }
    app.get('/jobs/:id', { schema, config: { mcp: status.mcp ?? {} } }, async ({ headers }) => {
      seen.push(headers['idempotency-key'])
      return { status: 'done' }
    })
  }
}

for (const era of ['legacy', 'modern'] as const) {
  t.test(`work is started with it, and followed without: ${era}`, async (t) => {
    const seen: unknown[] = []
    const { url } = await listen(t, job({}, seen), { extensions: [tasks()] })
    const own = { era, headers: { ...KIM, 'idempotency-key': 'own' } }
    const { result } = await start(url, { idempotency_key: 'k-1' }, own)
    const taskId = era === 'modern' ? result?.taskId : (result?.task as { taskId: string }).taskId
    t.match(await ask(url, 'tasks/get', { taskId }, own), { result: { status: 'completed' } })
    t.strictSame(seen, ['k-1', undefined])
  })
}

t.test('a status route that requires one is refused at startup', async (t) => {
  const app = await build(t, job({ headers: HEADERS, mcp: { arguments: CHOSEN } }), { extensions: [tasks()] })
  await t.rejects(async () => {
    await app.ready()
  }, {
    message: 'POST /shops/:shop/jobs has a wrong config.mcp: task.status names GET /jobs/:id, which requires the ' +
      'header idempotency-key, which a task does not have'
  })
})

t.test('a search describes and passes it, and fields go with it', async (t) => {
  const { url } = await listen(t, order({ arguments: CHOSEN, fields: true }), {
    extensions: [search({ path: '/all' }), fields()]
  })
  const at = new URL('/all', url)
  const read = async (name: string, args: Record<string, unknown>): Promise<string> =>
    ((await call(at, name, args)).content as [{ text: string }])[0].text
  t.match(await read('search_tools', { query: 'order' }), '(idempotency_key: string, note?: string')
  t.match(await read('describe_tools', { names: ['order'] }), '"idempotency_key":{"type":"string","maxLength":9')
  const args = { note: 'n', idempotency_key: 'k-1', fields: ['key'] }
  t.equal(await read('call_writing_tool', { name: 'order', arguments: args }), '{"key":"k-1"}')
  t.match(
    await read('call_writing_tool', { name: 'order', arguments: { idempotency_key: '' } }),
    /^idempotency_key must/
  )
})

t.test('a review file chooses it', async (t) => {
  const entry = { route: 'POST /orders', publish: true, name: 'place', arguments: CHOSEN }
  const file = `${t.testdir({ 'routes.json': JSON.stringify({ review: 1, routes: [entry] }) })}/routes.json`
  const { url } = await listen(t, order({}), { extensions: [review(file)] })
  t.match(await call(url, 'place', { idempotency_key: 'k-1' }), { structuredContent: { key: 'k-1' } })
})

t.test('a skill shows calls with it', async (t) => {
  const show = (args: object): string =>
    '---\nname: ordering\ndescription: How to order.\n---\n\n```json mcp-call\n' +
    `${JSON.stringify({ name: 'order', arguments: args })}\n\`\`\`\n`
  const folder = t.testdir({
    good: { ordering: { 'SKILL.md': show({ idempotency_key: 'k-1' }) } },
    bad: { ordering: { 'SKILL.md': show({ note: 'n' }) } }
  })
  const app = await build(t, order(), { extensions: [skills(`${folder}/good`)] })
  await app.ready()
  const without = await build(t, order(), { extensions: [skills(`${folder}/bad`)] })
  await t.rejects(async () => {
    await without.ready()
  }, { message: /idempotency_key/ })
})
