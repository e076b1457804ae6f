import { spawnSync } from 'node:child_process'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { agentOf } from '../../src/testing/index.ts'
import { build, connect, listen } from '../build.ts'

const text = { type: 'string', minLength: 1 }
const note = { type: 'object', properties: { id: { type: 'integer' }, text }, required: ['id', 'text'] }
const params = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }

function notes (app: FastifyInstance): void {
  const rows = [{ id: 1, text: 'first' }]
  app.get('/notes', {
    schema: {
      operationId: 'list_notes',
      description: 'List notes.',
      tags: ['mcp'],
      response: { 200: { type: 'array', items: note } }
    }
  }, async (_request, reply) => {
    reply.header('content-range', 'notes 0-0/1')
    return rows
  })
  app.post<{ Body: { text: string } }>('/notes', {
    schema: {
      operationId: 'create_note',
      description: 'Create a note.',
      tags: ['mcp'],
      body: { type: 'object', properties: { text, due: { type: 'string', format: 'date-time' } }, required: ['text'] },
      response: { 201: note }
    }
  }, async ({ body }, reply) => reply.code(201).header('location', '/notes/2').send({ id: 2, ...body }))
  app.get<{ Params: { id: number } }>('/notes/:id', {
    schema: {
      operationId: 'get_note',
      description: 'Get a note.',
      tags: ['mcp'],
      params,
      response: { 200: note }
    },
    config: { mcp: { formerly: ['read_note'] } }
  }, async ({ params: { id } }) => {
    const row = rows.find((one) => one.id === id)
    if (row === undefined) throw Object.assign(new Error(`no note ${id}`), { statusCode: 404 })
    return row
  })
  app.delete('/notes/:id', {
    schema: { operationId: 'delete_note', description: 'Delete a note.', tags: ['mcp'], params }
  }, async (_request, reply) => reply.code(204).send())
}

for (const era of ['modern', 'legacy'] as const) {
  t.test(`${era}: a call gives what a model reads, without a port`, async (t) => {
    const app = await build(t, notes)
    const agent = await agentOf(app, { era })
    t.equal(agent.client.getNegotiatedProtocolVersion(), era === 'modern' ? '2026-07-28' : '2025-11-25')
    t.strictSame((await agent.tools()).map(({ name }) => name), [
      'create_note',
      'delete_note',
      'get_note',
      'list_notes'
    ])
    t.match(await agent.call('create_note', { text: 'x' }), {
      isError: false,
      structuredContent: { id: 2, text: 'x' },
      text: '{"id":2,"text":"x"}\nlocation: /notes/2',
      headers: { location: '/notes/2' },
      _meta: { 'mcp-from-routes/headers': { location: '/notes/2' } }
    })
    t.match(await agent.call('list_notes'), {
      structuredContent: { result: [{ id: 1, text: 'first' }], headers: { 'content-range': 'notes 0-0/1' } }
    })
    t.match(await agent.call('delete_note', { id: 1 }), {
      isError: false,
      structuredContent: undefined,
      text: /^204 No Content/,
      headers: {}
    })
    t.match(await agent.call('get_note', { id: 9 }), {
      isError: true,
      structuredContent: undefined,
      text: '404 Not Found: no note 9'
    })
    t.notOk(app.server.listening)
  })

  t.test(`${era}: a call gives what the same client gets over HTTP`, async (t) => {
    const { app, url } = await listen(t, notes)
    const agent = await agentOf(app, { era })
    const client = await connect(t, era === 'modern' ? '2.x 2026-07-28' : '1.x', url)
    t.strictSame(await agent.tools(), (await client.listTools()).tools)
    for (
      const [name, args] of [['list_notes', {}], ['create_note', { text: 'x' }], ['get_note', { id: 9 }], [
        'delete_note',
        { id: 1 }
      ]] as const
    ) {
      const { content, structuredContent, isError, _meta } = await agent.call(name, args)
      t.match(await client.callTool({ name, arguments: args }), {
        content,
        structuredContent,
        ...isError && { isError },
        ...Object.keys(_meta).length > 0 && { _meta }
      })
    }
  })

  t.test(`${era}: a call that no client with this list makes fails, and runs nothing`, async (t) => {
    const reached: string[] = []
    const app = await build(t, (app) => {
      app.addHook('preHandler', async ({ method, url }) => {
        if (url !== '/mcp') reached.push(`${method} ${url}`)
      })
      notes(app)
    })
    const agent = await agentOf(app, { era })
    await t.rejects(agent.call('create_notes', { text: 'x' }), {
      code: 'MCP_FROM_ROUTES_TESTING_UNLISTED',
      message:
        'create_notes is not in the list of this caller, which has create_note, delete_note, get_note, list_notes'
    })
    for (
      const [args, why] of [
        [{}, "data must have required property 'text'"],
        [{ text: '' }, 'data/text must NOT have fewer than 1 characters'],
        [{ text: 5 }, 'data/text must be string'],
        [{ text: 'x', colour: 'red' }, 'data must NOT have additional properties'],
        [{ text: 'x', due: 'soon' }, 'data/due must match format "date-time"']
      ] as const
    ) {
      await t.rejects(agent.call('create_note', args), {
        code: 'MCP_FROM_ROUTES_TESTING_ARGUMENTS',
        message: `the arguments of create_note break its input schema: ${why}\nThey are ${JSON.stringify(args)}`
      })
    }
    t.strictSame(reached, [])
    const due = new Date(0)
    t.equal((await agent.call('create_note', { text: 'x', due, more: undefined })).isError, false, 'as they travel')
    t.strictSame(reached, ['POST /notes'])
  })

  t.test(`${era}: an unchecked call shows what a model reads that got it wrong`, async (t) => {
    const agent = await agentOf(await build(t, notes), { era })
    const unchecked = { unchecked: true }
    t.match(await agent.call('create_note', {}, unchecked), {
      isError: true,
      text: "400 Bad Request: arguments must have required property 'text' (FST_ERR_VALIDATION)"
    })
    t.match(await agent.call('read_note', { id: 1 }, unchecked), {
      isError: false,
      structuredContent: { id: 1, text: 'first' },
      text: /get_note/
    })
    await t.rejects(agent.call('create_notes', {}, unchecked), {
      code: -32602,
      message: 'Unknown tool: create_notes. Did you mean create_note?'
    })
  })

  t.test(`${era}: a result that clients discard fails, and shows what is wrong with it`, async (t) => {
    let body: unknown
    const app = await build(t, (app) => {
      app.get('/note', {
        schema: { operationId: 'get_note', description: 'Get a note.', tags: ['mcp'], response: { 200: note } },
        onSend: async () => typeof body === 'string' ? body : JSON.stringify(body)
      }, async () => ({ id: 1, text: 'x' }))
    })
    const agent = await agentOf(app, { era })
    for (
      const [sent, why, shown] of [
        [{ id: '1', text: 'x' }, 'data/id must be integer', '{"id":"1","text":"x"}'],
        [{ text: 'x' }, "data must have required property 'id'", '{"text":"x"}'],
        [[], 'data must be object', '[]'],
        [
          'no JSON',
          'The call succeeded, so do not repeat it. The route answered 200 OK with application/json, for which it ' +
          'has no 2xx response schema.',
          'no JSON'
        ]
      ] as const
    ) {
      body = sent
      await t.rejects(agent.call('get_note'), {
        code: 'MCP_FROM_ROUTES_TESTING_RESULT',
        message: `the result of get_note breaks its output schema: ${why}\nIt is ${shown}`
      })
      await t.resolves(agent.call('get_note', {}, { unchecked: true }))
    }
    body = { id: 1, text: 'x' }
    t.match(await agent.call('get_note'), { isError: false, structuredContent: body })
  })

  t.test(`${era}: two callers, each with what it may use now`, async (t) => {
    const may = new Map([['kim', new Set(['get_note'])], ['ada', new Set(['get_note', 'delete_note'])]])
    const app = await build(t, notes, {
      canUse: ({ name }, { headers }) => may.get(String(headers.authorization))?.has(name) === true
    })
    const [kim, ada] = await Promise.all(
      ['kim', 'ada'].map(async (authorization) => await agentOf(app, { era, headers: { authorization } }))
    )
    const namesOf = async (agent = kim): Promise<readonly string[]> => (await agent!.tools()).map(({ name }) => name)
    t.strictSame(await namesOf(), ['get_note'])
    t.strictSame(await namesOf(ada), ['delete_note', 'get_note'])
    await t.rejects(kim!.call('delete_note', { id: 1 }), { code: 'MCP_FROM_ROUTES_TESTING_UNLISTED' })
    await t.rejects(kim!.call('delete_note', { id: 1 }, { unchecked: true }), { code: -32602, message: /Unknown tool/ })
    t.match(await ada!.call('delete_note', { id: 1 }), { isError: false })
    may.get('kim')!.add('delete_note')
    t.match(await kim!.call('delete_note', { id: 1 }), { isError: false }, 'the list is read for each call')
  })

  t.test(`${era}: what the endpoint refuses, the client refuses`, async (t) => {
    const app = await build(t, (app) => {
      notes(app)
      app.get(
        '/scoped',
        { schema: { operationId: 'scoped', description: 'D.', tags: ['mcp'] } },
        async (_, reply) => reply.code(401).header('www-authenticate', 'Bearer').send({ message: 'sign in' })
      )
    }, {
      onRequest: async ({ headers }) => {
        if (headers.authorization !== 'Bearer ok') throw Object.assign(new Error('who?'), { statusCode: 401 })
      }
    })
    t.match(await t.rejects(agentOf(app, { era })), { code: 'MCP_FROM_ROUTES_TESTING_APP', cause: { status: 401 } })
    const agent = await agentOf(app, { era, headers: { authorization: 'Bearer ok' } })
    t.match(await t.rejects(agent.call('scoped')), { status: 401, message: /sign in/ })
  })
}

t.test('the app sees that the list is read before each call', async (t) => {
  const seen: unknown[] = []
  const app = await build(t, notes, {
    onRequest: async ({ headers }) => {
      seen.push(headers['mcp-method'])
    }
  })
  const agent = await agentOf(app)
  await agent.call('list_notes')
  await agent.call('list_notes')
  t.strictSame(seen, ['server/discover', 'tools/list', 'tools/call', 'tools/list', 'tools/call'])
})

t.test('arguments are repeated in headers, as clients of the newest revision do', async (t) => {
  const seen: unknown[] = []
  const app = await build(t, (app) => {
    app.get('/shops/:shop', {
      schema: {
        operationId: 'get_shop',
        description: 'Get a shop.',
        tags: ['mcp'],
        params: { type: 'object', properties: { shop: { type: 'string' } } }
      },
      config: { mcp: { arguments: { params: { shop: { header: 'Shop' } } } } }
    }, async () => ({}))
  }, {
    onRequest: async ({ headers }) => {
      seen.push(headers['mcp-param-shop'])
    }
  })
  const agent = await agentOf(app)
  t.match(await agent.call('get_shop', { shop: 'a b' }), { isError: false })
  t.equal(seen.at(-1), 'a b')
})

t.test('an app without the plugin, and a path without an endpoint', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await t.rejects(agentOf(app), {
    code: 'MCP_FROM_ROUTES_TESTING_APP',
    message: 'the app has no endpoint: mcp-from-routes is not registered'
  })
  const other = await build(t, notes, { path: '/agents' })
  await t.rejects(agentOf(other, { path: '/mcp' }), {
    code: 'MCP_FROM_ROUTES_TESTING_APP',
    message: 'the app has no endpoint at /mcp. It has /agents'
  })
  for (const options of [{}, { path: '/agents/' }]) t.equal((await (await agentOf(other, options)).tools()).length, 4)
})

t.test('an app that is still being made is waited for', async (t) => {
  t.equal((await (await agentOf(build(t, notes))).tools()).length > 0, true)
})

t.test('a misspelt option of a call is no call that checks everything', async (t) => {
  const agent = await agentOf(await build(t, notes))
  await t.rejects(agent.call('create_note', {}, { uncheck: true } as never), {
    message: /agent\.call\.uncheck is not an option\. Known: unchecked/
  })
})

t.test('wrong options are named', async (t) => {
  const app = await build(t, notes)
  for (
    const [options, message] of [
      [{ key: 'x' }, 'agentOf.key is not an option. Known: headers, path, era, answer, tasks'],
      [{ headers: { authorization: undefined } }, 'agentOf.headers must be an object of strings (got an object)'],
      [{ path: 'mcp' }, "agentOf.path must start with a slash and have no parameters (got 'mcp')"],
      [{ era: '2026-07-28' }, "agentOf.era must be 'modern' or 'legacy' (got '2026-07-28')"],
      [{ answer: 'accept' }, "agentOf.answer must be a function (got 'accept')"],
      [{ tasks: 1 }, 'agentOf.tasks must be true or false (got 1)']
    ] as const
  ) {
    await t.rejects(agentOf(app, options as object), {
      code: 'MCP_FROM_ROUTES_INVALID_OPTION',
      message: `mcp-from-routes: ${message}`
    })
  }
})

t.test('an app that does not know the caller says so, and how a credential is given', async (t) => {
  for (const status of [401, 403]) {
    for (const era of ['modern', 'legacy'] as const) {
      const app = await build(t, (app) => {
        app.addHook('onRequest', async (_request, reply) => await reply.code(status).send({ message: 'who are you?' }))
      })
      await t.rejects(agentOf(app, { era }), {
        code: 'MCP_FROM_ROUTES_TESTING_APP',
        message: new RegExp(`answers ${status}: give the caller's credential, as in agentOf\\(app, { headers:`),
        cause: { status }
      })
    }
  }
})

/** Runs a program that makes an app and an agent, and prints what the agent sees. */
function programOf (before: string): ReturnType<typeof spawnSync> & { readonly stdout: string } {
  const program = `${before}
const { default: Fastify } = await import(${JSON.stringify(import.meta.resolve('fastify'))})
const { default: mcpFromRoutes } = await import(${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)})
const { agentOf } = await import(${JSON.stringify(new URL('../../dist/testing/index.js', import.meta.url).href)})
const app = Fastify()
await app.register(mcpFromRoutes, { serverInfo: { name: 'a', version: '1.0.0' } })
app.get('/a', { schema: { operationId: 'a', description: 'A.', tags: ['mcp'] } }, async () => 'a')
console.log(await agentOf(app).then((agent) => agent.call('a')).then(({ text }) => text, ({ code }) => code))
`
  return spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', timeout: 60_000 })
}

t.test('an agent leaves nothing open: the process ends by itself', async (t) => {
  t.match(programOf(''), { stdout: 'a\n', status: 0, signal: null })
})

t.test('without the client of the SDK, the error says what to install', async (t) => {
  const hooks = `export async function resolve (name, context, next) {
    if (name.startsWith('@modelcontextprotocol/client')) throw Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' })
    return await next(name, context)
  }`
  const { stdout, stderr } = programOf(`
import { register } from 'node:module'
register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}))`)
  t.equal(stdout, 'MCP_FROM_ROUTES_TESTING_NO_CLIENT\n', String(stderr))
})
