import type { FastifyInstance } from 'fastify'
import t from 'tap'
import type { McpFromRoutesOptions, McpRouteConfig, ToolCallEvent } from '../../../src/index.ts'
import { confirm } from '../../../src/extensions/confirm/index.ts'
import { search } from '../../../src/extensions/search/index.ts'
import { sets } from '../../../src/extensions/sets/index.ts'
import { skills } from '../../../src/extensions/skills/index.ts'
import { build, call, CLIENTS, connect, listen, post } from '../../build.ts'
import { callOf, YES, type Round, type Said } from '../confirm/rounds.ts'
import { jobsApp } from '../tasks/jobs.ts'

/* A tool that was renamed: clients with an older list go on. */

const note = { type: 'object', properties: { id: { type: 'integer' }, text: { type: 'string' } }, required: ['id'] }
const NOTICE = 'The tool add_note is now called create_note. The old name still works.'

/** @param mcp - of the tool that was renamed, beside its old name */
function notes (mcp: McpRouteConfig = {}, formerly: readonly string[] = ['add_note', 'new_note']) {
  return (app: FastifyInstance): void => {
    app.post('/notes', {
      schema: {
        operationId: 'create_note',
        description: 'Create a note.',
        tags: ['mcp', 'writing'],
        body: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        response: { 200: { ...note, additionalProperties: false } }
      },
      config: { mcp: { formerly, ...mcp } }
    }, async ({ body }) => ({ id: 1, text: (body as { text: string }).text }))
    app.get('/notes', {
      schema: {
        operationId: 'list_notes',
        description: 'List notes.',
        tags: ['mcp', 'reading'],
        response: { 200: { type: 'array', items: note } }
      },
      config: { mcp: { formerly: ['get_notes'] } }
    }, async () => [{ id: 1 }])
  }
}

for (const which of CLIENTS) {
  t.test(`${which}: a client with an older list goes on, and its model is told of the new name`, async (t) => {
    const { url } = await listen(t, notes({}))
    const client = await connect(t, which, url)
    t.strictSame((await client.listTools()).tools.map(({ name }) => name), ['create_note', 'list_notes'])
    const record = await client.callTool({ name: 'add_note', arguments: { text: 'Hi' } })
    t.strictSame(record.structuredContent, { id: 1, text: 'Hi', notice: NOTICE }, 'and is as its schema says')
    t.strictSame(record.content, [{ type: 'text', text: '{"id":1,"text":"Hi"}' }, { type: 'text', text: NOTICE }])
    const list = await client.callTool({ name: 'get_notes', arguments: {} })
    const notice = 'The tool get_notes is now called list_notes. The old name still works.'
    t.strictSame(list.structuredContent, { result: [{ id: 1 }], notice }, 'some clients show nothing but the structure')
    t.strictSame((list.content as unknown[])[1], { type: 'text', text: notice })
    const refused = await client.callTool({ name: 'new_note', arguments: { txt: 'Hi' } })
    t.equal(refused.isError, true)
    t.match(refused.content, [{ text: /Unknown argument/ }, { text: /^The tool new_note is now called create_note/ }])
    const current = await client.callTool({ name: 'create_note', arguments: { text: 'Hi' } })
    t.strictSame(current.content, [{ type: 'text', text: '{"id":1,"text":"Hi"}' }], 'the new name says nothing of it')
  })
}

t.test('both writers say the same', async (t) => {
  const { url } = await listen(t, notes())
  const direct = await call(url, 'add_note', { text: 'Hi' })
  // A member that the direct reader does not know leaves the message to the SDK.
  const params = { name: 'add_note', arguments: { text: 'Hi' }, more: 1 }
  const { body } = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  t.strictSame((body as { result: unknown }).result, direct)
  t.match(direct.content, [{}, { text: NOTICE }])
})

t.test('the header of the newest revision repeats the name that is called', async (t) => {
  const { url } = await listen(t, notes())
  const { message, headers } = callOf('add_note', { args: { text: 'Hi' } })
  t.match((await post(url, message, headers)).body, { result: { structuredContent: { id: 1 } } })
  const other = await post(url, message, { ...headers, 'mcp-name': 'create_note' })
  t.equal(other.status, 400)
  t.match(other.body, { error: { code: -32020 } })
})

t.test('onToolCall tells by which name a tool was called', async (t) => {
  const events: ToolCallEvent[] = []
  const { url } = await listen(t, notes(), {
    onToolCall: (event) => {
      events.push(event)
    }
  })
  await call(url, 'add_note', { text: 'Hi' })
  await call(url, 'create_note', { text: 'Hi' })
  t.strictSame(events.map(({ tool, calledAs }) => [tool.name, calledAs]), [
    ['create_note', 'add_note'],
    ['create_note', undefined]
  ])
})

t.test('canUse decides by the tool, whatever the name', async (t) => {
  const asked: string[] = []
  const { url } = await listen(t, notes(), {
    canUse: ({ name }, { headers }) => {
      asked.push(name)
      return headers['x-api-key'] === 'ada' || name !== 'create_note'
    }
  })
  t.match(await call(url, 'add_note', { text: 'Hi' }, { 'x-api-key': 'ada' }), { structuredContent: { id: 1 } })
  t.strictSame(asked, ['create_note'])
  const refusals = new Map<string, unknown>()
  for (const name of ['add_note', 'create_note', 'no_such_tool', '__proto__', 'constructor', 'toString']) {
    asked.length = 0
    const { body } = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } })
    refusals.set(JSON.stringify(body).replaceAll(name, 'X'), name)
    t.equal(asked.length, 1, `${name}: the host is asked as often`)
  }
  t.equal(refusals.size, 1, 'a hidden tool is as one that does not exist, by each of its names')
})

t.test('a set and a search have the old names of their own tools', async (t) => {
  const { url } = await listen(t, notes(), {
    extensions: [
      sets({ reading: { path: '/mcp/reading', tags: ['reading'] } }),
      search({ path: '/mcp/search', tags: ['writing'] })
    ]
  })
  const at = (path: string): URL => new URL(path, url)
  t.match(await call(at('/mcp/reading'), 'get_notes'), { structuredContent: { result: [{ id: 1 }] } })
  const unheld = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'add_note', arguments: { text: 'Hi' } }
  }
  t.match((await post(at('/mcp/reading'), unheld)).body, { error: { message: 'Unknown tool: add_note' } })
  const through = await call(at('/mcp/search'), 'call_writing_tool', { name: 'add_note', arguments: { text: 'Hi' } })
  t.match(through, { structuredContent: { id: 1 }, content: [{}, { text: NOTICE }] })
  const described = await call(at('/mcp/search'), 'describe_tools', { names: ['add_note'] })
  t.match(described.content, [{ text: /^\{"name":"create_note"/ }])
  t.match(await call(at('/mcp/search'), 'call_reading_tool', { name: 'get_notes' }), {
    content: [{ text: 'Unknown tool: get_notes. Find tools with search_tools' }]
  })
})

t.test('a question asked under the old name is answered under the new one, once', async (t) => {
  const ran: string[] = []
  const { url } = await listen(t, notes({ confirm: true }), {
    extensions: [confirm({ fallback: 'token' })],
    onToolCall: ({ isError }) => {
      ran.push(isError ? 'error' : 'ran')
    }
  })
  const round = async (name: string, more: Round = {}): Promise<Said> => {
    const { message, headers } = callOf(name, { args: { text: 'Hi' }, ...more })
    const { body } = await post(url, message, headers)
    const { result, error } = body as { result?: Said, error?: Said }
    return result ?? error ?? {}
  }
  const asked = await round('add_note')
  t.equal(asked.resultType, 'input_required')
  const state = asked.requestState
  t.match(await round('create_note', { state, answer: YES }), { content: [{ text: /"id":1/ }] })
  t.equal((await round('add_note', { state, answer: YES })).resultType, 'input_required', 'the same answer asks again')
  const told = await round('add_note', { elicitation: undefined })
  const text = told.content?.[0]?.text ?? ''
  t.match(text, /call add_note again within two minutes/, 'the client may know no other name')
  const [, token] = /confirm_token "([^"]+)"/.exec(text) ?? []
  const args = { text: 'Hi', confirm_token: token }
  t.match(await round('create_note', { elicitation: undefined, args }), { content: [{ text: /"id":1/ }] })
  t.match(await round('new_note', { elicitation: undefined, args }), { isError: true })
})

t.test('a task that a call by the old name started is followed', async (t) => {
  const { url } = await jobsApp(t, { mcp: { formerly: ['begin_job'] } })
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
  const send = async (method: string, params: Record<string, unknown>, name: string): Promise<any> => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': capabilities,
      'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' }
    }
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': name }
    return (await post(url, { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, headers)).body
  }
  const { result: started } = await send('tools/call', { name: 'begin_job', arguments: { shop: 'a' } }, 'begin_job')
  t.equal(started.resultType, 'task')
  const { result: status } = await send('tasks/get', { taskId: started.taskId }, started.taskId)
  t.equal(status.status, 'working')
})

t.test('a skill may show a call by the old name, checked as one by the new', async (t) => {
  const shown = (args: object): string =>
    '---\nname: write\ndescription: How to write.\n---\n\n```json mcp-call\n' +
    `${JSON.stringify({ name: 'add_note', arguments: args })}\n\`\`\`\n`
  const folder = t.testdir({ write: { 'SKILL.md': shown({ text: 'Hi' }) } })
  const app = await build(t, notes(), { extensions: [skills(folder)] })
  await app.ready()
  t.strictSame(app.mcpSkills.map(({ calls }) => calls), [['create_note']])
  const wrong = t.testdir({ write: { 'SKILL.md': shown({ txt: 'Hi' }) } })
  const other = await build(t, notes(), { extensions: [skills(wrong)] })
  await t.rejects(async () => await other.ready(), { code: 'MCP_FROM_ROUTES_INVALID_SKILLS', message: /takes no txt/ })
})

const refusals: ReadonlyArray<readonly [title: string, formerly: unknown, message: RegExp]> = [
  [
    'the current name of another tool',
    ['list_notes'],
    /POST \/notes .*formerly has list_notes, which is the name of GET/
  ],
  ['a name that another tool had', ['get_notes'], /formerly has get_notes, and so has POST \/notes/],
  ['its own name', ['create_note'], /POST \/notes .*formerly has create_note, which is the name of the tool still/],
  ['a name twice', ['a', 'a'], /POST \/notes .*formerly has a twice/],
  ['a name that is none', ['add note'], /POST \/notes .*formerly has "add note". A tool name has 1 to 64/],
  ['an empty name', [''], /formerly has ""/],
  ['a name that is too long', ['a'.repeat(65)], /formerly has "a{65}"/],
  ['no string', [1], /formerly has 1/],
  ['no array', 'add_note', /POST \/notes .*formerly must be an array/],
  ['an empty array', [], /formerly must be an array/]
]

for (const [title, formerly, message] of refusals) {
  t.test(`startup refuses ${title}`, async (t) => {
    const app = await build(t, notes({}, formerly as string[]))
    await t.rejects(async () => await app.ready(), { code: 'MCP_FROM_ROUTES_INVALID_CONFIG', message })
  })
}

t.test('startup refuses an old name that a tool of a search has', async (t) => {
  const app = await build(t, notes({}, ['search_tools']), { extensions: [search({ path: '/mcp/search' })] })
  await t.rejects(async () => await app.ready(), {
    code: 'MCP_FROM_ROUTES_INVALID_OPTION',
    message: /search needs the name search_tools, which POST \/notes has/
  })
})

t.test('names of the language are names like any other', async (t) => {
  const { url } = await listen(t, notes({}, ['__proto__', 'constructor']))
  t.match(await call(url, '__proto__', { text: 'Hi' }), { structuredContent: { id: 1 } })
  t.match(await call(url, 'constructor', { text: 'Hi' }), { structuredContent: { id: 1 } })
})

t.test('a deprecated tool says so in its list, in a search and to onToolCall', async (t) => {
  const events: ToolCallEvent[] = []
  const options: Partial<McpFromRoutesOptions> = {
    extensions: [search({ path: '/mcp/search' })],
    onToolCall: (event) => {
      events.push(event)
    }
  }
  const { app, url } = await listen(t, (app) => {
    for (const [name, description] of [['a', 'Old. Really.'], ['b', 'Deprecated: use a.'], ['c', 'C.']] as const) {
      const schema = { operationId: name, description, tags: ['mcp'], deprecated: name !== 'c' }
      app.get(`/${name}`, { schema }, async () => ({}))
    }
  }, options)
  const { body } = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const { tools } = (body as { result: { tools: ReadonlyArray<Record<string, unknown>> } }).result
  t.strictSame(tools.map(({ description }) => description), ['Deprecated. Old. Really.', 'Deprecated: use a.', 'C.'])
  t.ok(tools.every((tool) => !('deprecated' in tool)), 'the list has no member that the protocol does not know')
  t.strictSame(app.mcpTools.map(({ deprecated }) => deprecated), [true, true, undefined])
  const found = await call(new URL('/mcp/search', url), 'search_tools', { query: 'old' })
  t.match(found.content, [{ text: /reads: Deprecated\. Old\.$/ }])
  await call(url, 'a')
  t.equal(events[0]?.tool.deprecated, true)
})
