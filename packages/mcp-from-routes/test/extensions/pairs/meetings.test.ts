import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { confirm } from '../../../src/extensions/confirm/index.ts'
import { fields } from '../../../src/extensions/fields/index.ts'
import { resources } from '../../../src/extensions/resources/index.ts'
import { review } from '../../../src/extensions/review/index.ts'
import { search } from '../../../src/extensions/search/index.ts'
import { sets } from '../../../src/extensions/sets/index.ts'
import { tasks } from '../../../src/extensions/tasks/index.ts'
import { views } from '../../../src/extensions/views/index.ts'
import type { McpFromRoutesOptions, McpRouteConfig } from '../../../src/index.ts'
import { build, call, listen, post } from '../../build.ts'
import { logs } from '../../logs.ts'
import { ask, jobsApp, start, startTask } from '../tasks/jobs.ts'

/* Features that meet. */

const TEXT = { type: 'object', properties: { id: { type: 'integer' }, text: { type: 'string' } } }

t.test('fields narrow a result that is over the limit as a whole', async (t) => {
  const { url } = await listen(t, (app) => {
    const response = { 200: { type: 'array', items: TEXT } }
    const schema = { operationId: 'list', description: 'L.', tags: ['mcp', 'large'], response }
    app.get('/texts', { schema }, async () => [{ id: 1, text: 'a'.repeat(2000) }])
  }, { extensions: [fields()], maxResultBytes: 1000 })
  t.strictSame((await call(url, 'list', { fields: ['id'] })).structuredContent, { result: [{ id: 1 }] })
  t.match(await call(url, 'list'), { isError: true, content: [{ text: /2020 bytes.*Narrow it with fields\.$/ }] })
  const cut = await call(url, 'list', { fields: ['text'] })
  t.match(cut, { isError: true, content: [{ text: /2013 bytes.*Narrow it with fields\.$/ }] })
})

function withView (visibility?: readonly ['app']) {
  return (app: FastifyInstance): void => {
    const view = { operationId: 'view', description: 'V.', tags: ['mcp-resource'] }
    const response = { 200: { content: { 'text/html': { schema: { type: 'string' } } } } }
    const resource = { name: 'v', uri: 'ui://a/v' }
    app.get('/v', { schema: { ...view, response }, config: { mcp: { resource } } }, async () => '')
    const mcp = { view: 'GET /v', ...visibility && { visibility } }
    const schema = { operationId: 'list', description: 'L.', tags: ['mcp'] }
    app.get('/list', { schema, config: { mcp } }, async () => ({}))
  }
}

t.test('work that was started through a search says how its status is read through it', async (t) => {
  const { url } = await jobsApp(t, { options: { extensions: [search({ path: '/all' })] } })
  const direct = await start(url, {}, { tasks: false })
  t.match(JSON.stringify(direct), /Call get_job in \d+ s with /)
  const args = { name: 'start_job', arguments: { shop: '1' } }
  const searched = JSON.stringify((await call(new URL('/all', url), 'call_writing_tool', args)).content)
  t.match(searched.replaceAll('\\"', "'"), /Call call_reading_tool in \d+ s with \{'name':'get_job','arguments':\{/)
})

t.test('a search names no status tool that it does not call, since it is for views alone', async (t) => {
  const { url } = await listen(t, (app) => {
    withView()(app)
    const params = { type: 'object', properties: { id: { type: 'string' } } }
    const begin = { operationId: 'begin', description: 'B.', tags: ['mcp'] }
    app.post(
      '/jobs',
      { schema: begin, config: { mcp: { task: { status: 'GET /jobs/:id' } } } },
      async (_, reply) => reply.code(202).header('location', '/jobs/1').send({})
    )
    const status = { operationId: 'status', description: 'S.', tags: ['mcp'], params }
    app.get('/jobs/:id', { schema: status, config: { mcp: { visibility: ['app'] } } }, async () => ({}))
  }, { extensions: [search({ path: '/all' }), tasks(), views()] })
  const { content } = await call(new URL('/all', url), 'call_writing_tool', { name: 'begin', arguments: {} })
  t.match(JSON.stringify(content), /Its status is at GET \/jobs\/1, which no tool of yours reads/)
})

t.test('a call that a person has to confirm says how it is made again through a search', async (t) => {
  const { url } = await listen(t, (app) => {
    const schema = { operationId: 'cancel', description: 'C.', tags: ['mcp'] }
    app.post('/cancel', { schema, config: { mcp: { confirm: 'Cancel?' } } }, async () => ({ isDone: true }))
  }, { extensions: [search({ path: '/all' }), confirm({ fallback: 'token' })] })
  t.match(await call(url, 'cancel'), { content: [{ text: /call cancel again within/ }] })
  const asked = await call(new URL('/all', url), 'call_writing_tool', { name: 'cancel', arguments: {} })
  const [{ text }] = asked.content as [{ text: string }]
  t.match(text, /call call_writing_tool with the name cancel again within two minutes/)
  const token = /confirm_token "([^"]+)"/.exec(text)?.[1]
  const args = { name: 'cancel', arguments: { confirm_token: token } }
  t.match(await call(new URL('/all', url), 'call_writing_tool', args), { structuredContent: { isDone: true } })
})

t.test('a tool names its view to those who may read it', async (t) => {
  const metaFor = async (url: URL, headers = {}): Promise<unknown> => {
    const { body } = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers)
    return (body as { result: { tools: Array<{ _meta?: unknown }> } }).result.tools[0]?._meta
  }
  const canUse: McpFromRoutesOptions['canUse'] = ({ name }, { headers }) =>
    name !== 'view' || headers['x-staff'] === 'yes'
  const { url } = await listen(t, withView(), { canUse, extensions: [views()] })
  t.equal(await metaFor(url), undefined)
  t.strictSame(await metaFor(url, { 'x-staff': 'yes' }), { ui: { resourceUri: 'ui://a/v' } })
  const { url: apps } = await listen(t, withView(['app']), { canUse, extensions: [views()] })
  t.strictSame(await metaFor(apps), { ui: { visibility: ['app'] } })
})

t.test('no origin has a port above 65535', async (t) => {
  const { url } = await listen(t, withView(), { allowedOrigins: ['https://a.example:*'], extensions: [views()] })
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const statusFor = async (origin: string): Promise<number> => (await post(url, ping, { origin })).status
  t.strictSame([await statusFor('https://a.example:65535'), await statusFor('https://a.example:65536')], [200, 403])
  const app = await build(t, (app) => {
    const resource = { name: 'v', uri: 'ui://a/v', ui: { csp: { connectDomains: ['https://a.example:65536'] } } }
    const response = { 200: { content: { 'text/html': { schema: { type: 'string' } } } } }
    const schema = { operationId: 'v', description: 'V.', tags: ['mcp-resource'], response }
    app.get('/v', { schema, config: { mcp: { resource } } }, async () => '')
  }, { extensions: [views()] })
  await t.rejects(async () => {
    await app.ready()
  }, { message: /connectDomains has "https:\/\/a\.example:65536"/ })
})

t.test('without a secret, the log says what only this process knows', async (t) => {
  const route = (app: FastifyInstance, method: string, operationId: string, mcp: McpRouteConfig): void => {
    app.route({
      method,
      url: `/${operationId}`,
      schema: { operationId, description: 'D.', tags: ['mcp'] },
      config: { mcp },
      handler: async () => 1
    })
  }
  const confirmed = (app: FastifyInstance): void => route(app, 'DELETE', 'delete_all', { confirm: 'Delete all?' })
  const task = (app: FastifyInstance): void => {
    route(app, 'POST', 'start', { task: { status: 'GET /status' } })
    route(app, 'GET', 'status', {})
  }
  const secret = 'a secret of at least 32 bytes, for tests'
  const plain = (app: FastifyInstance): void => route(app, 'GET', 'plain', {})
  const confirmations = 'without confirm.secret, only this process accepts its confirmations, and only until it ends'
  const works = 'without tasks.secret, only this process knows its tasks, and only until it ends'
  for (
    const [title, routes, extensions, wanted] of [
      ['a tool that a person confirms', [confirmed, plain], [confirm(), tasks()], [confirmations]],
      ['a tool with a task', [plain, task], [confirm(), tasks()], [works]],
      ['both', [confirmed, task], [confirm(), tasks()], [works, confirmations]],
      ['both, with a secret', [confirmed, task], [confirm({ secret }), tasks({ secret })], []],
      ['neither', [plain], [confirm(), tasks()], []]
    ] as const
  ) {
    const { lines, logger } = logs('info')
    const app = await build(t, (app) => routes.forEach((add) => add(app)), { extensions }, { logger })
    await app.ready()
    t.strictSame(lines.flatMap(({ msg }) => String(msg).includes('.secret') ? [msg] : []), wanted, title)
  }
})

for (const era of ['modern', 'legacy'] as const) {
  t.test(`${era}: a DELETE that asks a person is not sent without one`, async (t) => {
    const { url, reached } = await jobsApp(t, {
      options: { extensions: [confirm()] },
      withDelete: false,
      more (app) {
        app.delete('/shops/:shop/jobs/:id', {
          schema: {
            operationId: 'stop_job',
            description: 'Stop it.',
            tags: ['mcp'],
            params: { type: 'object', properties: { shop: { type: 'string' }, id: { type: 'string' } } }
          },
          config: { mcp: { confirm: true } }
        }, async () => 'stopped')
      }
    })
    const taskId = await startTask(url, {}, { era })
    t.match(await ask(url, 'tasks/cancel', { taskId }, { era }), {
      error: {
        code: -32600,
        message: 'The task of start_job cannot be cancelled: a person has to agree. Call stop_job'
      }
    })
    t.notOk(reached.some((request) => request.startsWith('DELETE')))
  })
}

t.test('a caller that is no string is nobody: no question is bound to them', async (t) => {
  for (const caller of [async () => 'kim', () => 7, () => null, () => '', () => ({})]) {
    const { url, reached, jobs } = await jobsApp(t, {
      options: { caller: caller as never, extensions: [confirm()] },
      mcp: { confirm: true }
    })
    const said = await start(url)
    t.notMatch(said, { result: { resultType: 'input_required' } })
    t.notMatch(JSON.stringify(said), /non-empty/)
    t.strictSame(reached.length, 1, 'the hooks ran')
    t.equal(jobs.size, 0, 'and nothing else')
  }
})

t.test('a task that a set started is one of the whole server', async (t) => {
  const { url } = await jobsApp(t, { options: { extensions: [sets({ jobs: { path: '/mcp/jobs', tags: ['mcp'] } })] } })
  const taskId = await startTask(new URL('/mcp/jobs', url))
  for (const path of ['/mcp/jobs', '/mcp']) {
    t.match(await ask(new URL(path, url), 'tasks/get', { taskId }), { result: { status: 'working' } }, path)
  }
})

t.test('a person is asked about what is done, and not about what the model reads of it', async (t) => {
  const { url } = await listen(t, (app) => {
    const response = { 200: { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } } } }
    app.delete('/y/:id', {
      schema: { operationId: 'y', description: 'Y.', tags: ['mcp'], response },
      config: { mcp: { fields: true, confirm: true } }
    }, async () => ({ id: '1', name: 'Mug' }))
  }, { extensions: [fields(), confirm({ fallback: 'token' })] })
  const { content: [{ text }] } = await call(url, 'y', { id: '1', fields: ['id'] }) as { content: [{ text: string }] }
  t.notMatch(text, /fields/)
  const [, token] = /confirm_token "([^"]+)"/.exec(text) ?? []
  t.match(await call(url, 'y', { id: '1', fields: ['name'], confirm_token: token }), {
    structuredContent: { name: 'Mug' },
    isError: undefined
  }, 'so the confirmation holds for any fields')
})

t.test('what two extensions cannot do together stops the start', async (t) => {
  const status = { task: { status: 'GET /x' } }
  const resource = { uri: 'shop://x', name: 'x' }
  for (
    const [method, tags, mcp, extensions, message] of [
      ['POST', ['mcp'], { fields: true, ...status }, [fields(), tasks()], /its result comes later, as a task/],
      ['GET', ['mcp-resource'], { resource, confirm: true }, [resources(), confirm()], /excludes confirm and task/],
      ['GET', ['mcp-resource'], { resource, ...status }, [resources(), tasks()], /excludes confirm and task/],
      ['GET', ['mcp'], { confirm: true }, [tasks(), confirm()], /GET \/x, which asks a person, and a task cannot ask/]
    ] as const
  ) {
    const app = await build(t, (app) => {
      app.route({
        method,
        url: '/x',
        schema: { operationId: 'x', description: 'X.', tags: [...tags], response: { 202: TEXT } },
        config: { mcp },
        handler: async () => ({})
      })
      app.post('/y', {
        schema: { operationId: 'y', description: 'Y.', tags: ['mcp'] },
        ...extensions.some(({ name }) => name.endsWith('/tasks')) && method === 'GET' && { config: { mcp: status } }
      }, async () => ({}))
    }, { extensions: [...extensions] })
    await t.rejects(async () => await app.ready(), { code: 'MCP_FROM_ROUTES_INVALID_CONFIG', message }, String(message))
  }
})

t.test('a review file says what people are asked, and which fields there are', async (t) => {
  const entry = { route: 'GET /x', publish: true, name: 'find', description: 'Find one.' }
  const started = async (more: object) => {
    const file = t.testdir({ 'r.json': JSON.stringify({ review: 1, routes: [{ ...entry, ...more }] }) })
    return await listen(t, (app) => {
      app.get('/x', { schema: { response: { 200: TEXT } } }, async () => ({ id: 1, text: 'a' }))
    }, { extensions: [review(`${file}/r.json`), confirm(), fields({ lists: false })] })
  }
  const { app } = await started({ confirm: 'Really?', fields: { list: false }, examples: [{ fields: ['id'] }] })
  t.match(app.mcpTools, [{
    confirm: 'refuse',
    inputSchema: { properties: { fields: { items: { enum: ['id', 'text'] } } }, examples: [{ fields: ['id'] }] }
  }])
  await t.rejects(started({ confirm: false }), /\.confirm must be true or a non-empty string/)
})
