import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { confirm } from '../../../src/extensions/confirm/index.ts'
import { views } from '../../../src/extensions/views/index.ts'
import { call, listen, post } from '../../build.ts'
import { asked, round, told, YES } from '../confirm/rounds.ts'
import { ALL, pathOf, read, READER, route, SEARCH, WRITER } from '../search/searched.ts'
import { jobsApp } from '../tasks/jobs.ts'

/* What others add, through a search. */

t.test('a person confirms the call that runs, and no other', async (t) => {
  const ran: string[] = []
  const confirmed = (app: FastifyInstance): void => {
    for (const name of ['drop', 'erase']) {
      route(app, 'POST', name, {
        schema: { body: { type: 'object', properties: { id: { type: 'string' } } } },
        mcp: { confirm: () => `Run ${name}?` },
        handler: () => {
          ran.push(name)
          return { name }
        }
      })
    }
  }
  const { url } = await listen(t, confirmed, { extensions: [ALL, confirm()] })
  const drop = { args: { name: 'drop', arguments: { id: '1' } } }
  const said = await round(pathOf(url), WRITER, drop)
  t.equal(asked(said), 'Run drop?')
  const answered = { state: said.requestState, answer: YES }
  for (
    const args of [{ name: 'erase', arguments: { id: '1' } }, { name: 'drop', arguments: { id: '2' } }, {
      name: 'drop'
    }]
  ) {
    t.match(
      asked(await round(pathOf(url), WRITER, { args, ...answered })),
      /^Run (drop|erase)\?$/,
      `an answer to another call asks again: ${JSON.stringify(args)}`
    )
  }
  t.strictSame(ran, [])
  t.match(
    told(await round(pathOf(url), WRITER, { ...drop, state: said.requestState, answer: { action: 'decline' } })),
    /^drop was not run: the person said no/
  )
  t.match(await round(pathOf(url), WRITER, { ...drop, ...answered }), { structuredContent: { name: 'drop' } })
  t.equal(asked(await round(pathOf(url), WRITER, { ...drop, ...answered })), 'Run drop?', 'once')
  const byName = await round(pathOf(url), 'drop', { args: { id: '1' } })
  t.match(await round(pathOf(url), WRITER, { ...drop, state: byName.requestState, answer: YES }), {
    structuredContent: { name: 'drop' }
  }, 'it is the same call by either way')
  t.strictSame(ran, ['drop', 'drop'])
  t.match(
    await read(url, WRITER, drop.args),
    /^drop was not run: a person must agree first, and this client cannot ask/
  )

  const { url: tokens } = await listen(t, confirmed, { extensions: [ALL, confirm({ fallback: 'token' })] })
  const token = /confirm_token "([^"]+)"$/.exec(await read(tokens, WRITER, drop.args))?.[1]
  t.match(
    await read(tokens, WRITER, { name: 'erase', arguments: { id: '1', confirm_token: token } }),
    /^erase was not run yet/,
    'a token of another tool'
  )
  t.match(
    await read(tokens, WRITER, { name: 'drop', arguments: { id: '1' }, confirm_token: token }),
    /^Unknown argument "confirm_token"/
  )
  t.match(await read(tokens, 'describe_tools', { names: ['drop'] }), /"confirm_token":/)
  t.match(await read(tokens, WRITER, { name: 'drop', arguments: { id: '1', confirm_token: token } }), /"name":"drop"/)
  t.match(
    await read(tokens, WRITER, { name: 'drop', arguments: { id: '1', confirm_token: token } }),
    /^drop was not run yet/,
    'once'
  )
})

t.test('work that a call starts is a task of its caller, as by name', async (t) => {
  const { url } = await jobsApp(t, { options: SEARCH })
  const extension = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } }
  }
  const send = async (method: string, name: string, params: object, key = 'kim') => {
    const { body } = await post(
      pathOf(url),
      { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: extension } },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': name, 'x-api-key': key }
    )
    return body as { result?: Record<string, unknown>, error?: { message: string } }
  }
  const { result } = await send('tools/call', WRITER, {
    name: WRITER,
    arguments: { name: 'start_job', arguments: { shop: 's' } }
  })
  t.match(result, { resultType: 'task', status: 'working' })
  const taskId = String(result!.taskId)
  t.match(await send('tasks/get', taskId, { taskId }), { result: { status: 'working' } })
  t.match(await send('tasks/get', taskId, { taskId }, 'eve'), { error: { message: 'Unknown task' } })
  t.match(
    await send('tools/call', READER, { name: READER, arguments: { name: 'start_job', arguments: { shop: 's' } } }),
    { result: { isError: true } },
    'no work by the caller that reads'
  )
  t.match(await send('tasks/cancel', taskId, { taskId }), { result: { resultType: 'complete' } })
  t.match(await send('tasks/get', taskId, { taskId }), { result: { status: 'cancelled' } })
  const old = await post(pathOf(url), {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: WRITER, arguments: { name: 'start_job', arguments: { shop: 's' } }, task: {} }
  }, { 'mcp-protocol-version': '2025-11-25' })
  t.match(old.body, { result: { task: { status: 'working' } } })
  t.match(
    await read(url, WRITER, { name: 'start_job', arguments: { shop: 's' } }),
    /get_job/,
    'a client without tasks is told how to go on'
  )
})

t.test('a search calls no tool for views, and shows none', async (t) => {
  const html = { 200: { content: { 'text/html': { schema: { type: 'string' } } } } }
  const { url } = await listen(t, (app) => {
    app.get('/view', {
      schema: { operationId: 'view', description: 'V.', tags: ['mcp-resource'], response: html },
      config: { mcp: { resource: { uri: 'ui://v', name: 'v' } } }
    }, async (_request, reply) => reply.type('text/html').send('<p>'))
    route(app, 'GET', 'shown', { mcp: { view: 'GET /view' } })
    route(app, 'GET', 'for_views', { mcp: { visibility: ['app'] } })
  }, { extensions: [ALL, views()] })
  for (const name of ['for_views', 'view']) {
    const text = await read(url, READER, { name, arguments: {} })
    t.equal(text, `Unknown tool: ${name}. Find tools with search_tools`)
    t.match(await read(url, 'describe_tools', { names: [name] }), /^Unknown tool: /)
  }
  t.match(await read(url, 'search_tools', { query: 'views' }), /^None of 1 tools/)
  t.match(
    await call(pathOf(url), 'for_views'),
    { structuredContent: { name: 'for_views' } },
    'a view calls it by its name'
  )
})
