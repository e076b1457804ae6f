import type { FastifyInstance } from 'fastify'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import t from 'tap'
import { confirm, CONFIRMATION, quoted, type ConfirmOptions } from '../../../src/extensions/confirm/index.ts'
import type { McpFromRoutesOptions, McpRouteConfig } from '../../../src/index.ts'
import { call, connect, having, post } from '../../build.ts'
import { asked, round, told, YES, type Said } from './rounds.ts'

const params = { type: 'object', properties: { id: { type: 'string', maxLength: 5 } }, required: ['id'] }
const schema = { operationId: 'drop', summary: 'Drop a record', description: 'Drops.', tags: ['mcp'], params }
const QUESTION = 'Drop “Kettle”?'
const ARGS = { args: { id: '1' } }
const NOBODY = { ...ARGS, elicitation: undefined }

interface Server {
  readonly app: FastifyInstance
  readonly url: URL
  readonly names: Map<string, string>
  /** Every event of a round: `auth`, `asked`, `ran`. */
  readonly events: string[]
}

const { build, listen } = having(confirm())

/** One tool that drops a record, by anybody with a key that is not `reader`. */
async function server (
  t: Parameters<typeof listen>[0],
  { fallback, store, ...options }: ConfirmOptions & Partial<McpFromRoutesOptions> = {},
  mcp?: McpRouteConfig
): Promise<Server> {
  const names = new Map([['1', 'Kettle'], ['2', 'Mug']])
  const events: string[] = []
  const question: McpRouteConfig['confirm'] = async (_args, { params }) => {
    events.push('asked')
    const { id } = params as { id: string }
    if (!names.has(id)) throw Object.assign(new Error('No such record'), { statusCode: 404 })
    return id === '2' ? undefined : `Drop ${quoted(names.get(id))}?`
  }
  const { app, url } = await listen(t, (app) => {
    app.delete('/:id', {
      schema,
      config: { mcp: mcp ?? { confirm: question } },
      preHandler: async ({ headers }, reply) => {
        events.push('auth')
        if (headers['x-api-key'] === 'reader') return await reply.code(403).send({ message: 'readers drop nothing' })
      }
    }, async ({ params, raw }) => {
      const confirmation = raw[CONFIRMATION]
      events.push('ran')
      names.delete((params as { id: string }).id)
      return { confirmation: confirmation ?? null }
    })
  }, {
    ...options,
    extensions: [confirm({ ...fallback && { fallback }, ...store && { store } })]
  })
  return { app, url, names, events }
}

t.test('a person is asked in the words of the route, and a yes runs the call, once', async (t) => {
  const { url, events, names } = await server(t)
  const first = await round(url, 'drop', ARGS)
  t.match(first, {
    resultType: 'input_required',
    inputRequests: {
      confirm: {
        method: 'elicitation/create',
        params: {
          mode: 'form',
          message: QUESTION,
          requestedSchema: { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] }
        }
      }
    }
  })
  t.strictSame(events.splice(0), ['auth', 'asked'], 'the handler has not run')
  t.ok(names.has('1'))
  const second = await round(url, 'drop', { ...ARGS, state: first.requestState, answer: YES })
  t.strictSame(JSON.parse(told(second) ?? ''), { confirmation: { by: 'form', text: QUESTION, client: 'a client' } })
  t.strictSame(events.splice(0), ['auth', 'asked', 'ran'])
})

t.test('nobody is asked about a call that would be refused', async (t) => {
  const { url, events } = await server(t)
  t.match(
    told(await round(url, 'drop', { ...ARGS, headers: { 'x-api-key': 'reader' } })),
    /^403 Forbidden: readers drop nothing/
  )
  t.match(told(await round(url, 'drop', { args: { id: 'toolong' } })), /id must NOT have more than 5 characters/)
  t.match(told(await round(url, 'drop', { args: { id: '1', force: true } })), /Unknown argument "force"/)
  t.notMatch(events, ['asked'])
  t.match(
    told(await round(url, 'drop', { args: { id: '9' } })),
    /^404 Not Found: No such record/,
    'the function refuses as a handler does'
  )
  t.strictSame(events.filter((event) => event === 'ran'), [])
})

t.test('a function that returns undefined runs the call', async (t) => {
  const { url, events } = await server(t)
  t.strictSame(JSON.parse(told(await round(url, 'drop', { args: { id: '2' } })) ?? ''), { confirmation: null })
  t.strictSame(events, ['auth', 'asked', 'ran'])
})

t.test('a no, and no answer, are results that say what to do', async (t) => {
  const { url, events } = await server(t)
  const { requestState: state } = await round(url, 'drop', ARGS)
  events.length = 0
  const no = 'drop was not run: the person said no. Do not call it again unless they ask for it.'
  for (
    const answer of [{ action: 'decline' }, { action: 'accept', content: { confirm: false } }, {
      action: 'accept',
      content: { confirm: 'yes' }
    }]
  ) {
    t.match(await round(url, 'drop', { ...ARGS, state, answer }), {
      resultType: 'complete',
      isError: true,
      content: [{ text: no }]
    })
  }
  t.match(await round(url, 'drop', { ...ARGS, state, answer: { action: 'cancel' } }), {
    isError: true,
    content: [{
      text: 'drop was not run: the person closed the question without an answer. Ask what they want before you call ' +
        'it again.'
    }]
  })
  t.strictSame(events, [], 'the route is not asked again')
})

t.test('an answer without the field is asked for again', async (t) => {
  const { url } = await server(t)
  const { requestState: state } = await round(url, 'drop', ARGS)
  for (
    const answer of [undefined, { action: 'accept' }, { action: 'accept', content: {} }, {
      action: 'agree',
      content: { confirm: true }
    }]
  ) {
    t.equal(asked(await round(url, 'drop', { ...ARGS, state, answer })), QUESTION, JSON.stringify(answer))
  }
})

t.test('what the person agreed to has changed: it asks again', async (t) => {
  const { url, names, events } = await server(t)
  const first = await round(url, 'drop', ARGS)
  names.set('1', 'Gold Kettle')
  const second = await round(url, 'drop', { ...ARGS, state: first.requestState, answer: YES })
  t.equal(asked(second), 'Drop “Gold Kettle”?')
  t.notOk(events.includes('ran'))
  t.match(told(await round(url, 'drop', { ...ARGS, state: second.requestState, answer: YES })), /"by":"form"/)
})

t.test('requests that are not calls are not asked about', async (t) => {
  const { app, url } = await server(t)
  const { statusCode, body } = await app.inject({ method: 'DELETE', url: '/1', headers: { 'x-api-key': 'kim' } })
  t.strictSame([statusCode, JSON.parse(body)], [200, { confirmation: null }])
  t.match(await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }), {
    body: { result: { tools: [{ name: 'drop', inputSchema: { properties: { id: {} } } }] } }
  })
})

t.test('the official client asks its person, who says yes, no, and nothing', async (t) => {
  const { url, names } = await server(t)
  const client = new Client({ name: 'x', version: '1' }, {
    capabilities: { elicitation: {} },
    versionNegotiation: { mode: { pin: '2026-07-28' } }
  })
  t.teardown(() => client.close())
  const answers: Array<{ action: 'accept' | 'decline' | 'cancel', content?: { confirm: boolean } }> = [
    { action: 'decline' },
    { action: 'cancel' },
    { action: 'accept', content: { confirm: true } }
  ]
  const seen: string[] = []
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    seen.push(params.message)
    return answers.shift() ?? { action: 'cancel' }
  })
  await client.connect(new StreamableHTTPClientTransport(url))
  const ask = async (): Promise<string> =>
    told(await client.callTool({ name: 'drop', arguments: { id: '1' } }) as Said) ?? ''
  t.match(await ask(), /the person said no/)
  t.match(await ask(), /closed the question/)
  t.ok(names.has('1'))
  t.match(await ask(), /"by":"form"/)
  t.notOk(names.has('1'))
  t.strictSame(seen, [QUESTION, QUESTION, QUESTION])
})

t.test('a client that cannot ask is told why: by default nothing runs', async (t) => {
  const { url, events } = await server(t)
  const refused =
    'drop was not run: a person must agree first, and this client cannot ask (it does not support elicitation ' +
    `of MCP revision 2026-07-28). The call would do this:\n${QUESTION}\nThe person can do it in another way, or ` +
    'with another client.'
  for (
    const [label, result] of [
      ['of the newest revision', await round(url, 'drop', NOBODY)],
      ['that shows pages only', await round(url, 'drop', { ...ARGS, elicitation: { url: {} } })],
      ['of an older revision', await call(url, 'drop', { id: '1' })],
      ['of an older revision, which sends what it likes', await call(url, 'drop', { id: '1', confirm_token: 'x' })]
    ] as const
  ) {
    t.match(
      result,
      { isError: true, content: [{ text: label.endsWith('likes') ? /Unknown argument/ : refused }] },
      label
    )
  }
  t.match(told(await round(url, 'drop', { ...NOBODY, headers: { 'x-api-key': 'reader' } })), /^403/)
  t.notOk(events.includes('ran'))
  // A client that cannot ask cannot answer either.
  const { requestState: state } = await round(url, 'drop', ARGS)
  t.match(told(await round(url, 'drop', { ...NOBODY, state, answer: YES })), /this client cannot ask/)
})

t.test("with 'allow', clients that cannot ask call as before, and others ask", async (t) => {
  const { url, names } = await server(t, { fallback: 'allow' })
  t.equal(asked(await round(url, 'drop', ARGS)), QUESTION)
  t.match(await call(url, 'drop', { id: '1' }), { structuredContent: { confirmation: null } })
  names.set('1', 'Kettle')
  const old = await connect(t, '1.x', url)
  t.match(await old.callTool({ name: 'drop', arguments: { id: '1' } }), { structuredContent: { confirmation: null } })
})

t.test("with 'token', the second call brings what the first was given", async (t) => {
  const { url, names, events } = await server(t, { fallback: 'token' })
  const { body } = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list' })
  t.match(body, {
    result: {
      tools: [{
        inputSchema: {
          properties: { confirm_token: { type: 'string' } },
          required: ['id'],
          additionalProperties: false
        }
      }]
    }
  })
  const client = await connect(t, '2.x auto', url)
  const ask = async (args: Record<string, unknown>): Promise<string> =>
    told(await client.callTool({ name: 'drop', arguments: { id: '1', ...args } }) as Said) ?? ''
  const said = await ask({})
  const [, token = ''] =
    /^drop was not run yet: a person must agree to this first:\nDrop “Kettle”\?\nAsk the person\. If they agree, call drop again within two minutes, with the same arguments and confirm_token "([\w-]+)"$/
      .exec(said) ?? []
  t.ok(token.length > 20 && token.length < 40, said)
  t.notOk(events.includes('ran'))
  t.match(await ask({ confirm_token: token }), /"confirmation":\{"by":"token","text":"Drop “Kettle”\?"/)
  names.set('1', 'Kettle')
  t.match(await ask({ confirm_token: token }), /was not run yet/, 'a token counts once')
  t.equal(
    asked(await round(url, 'drop', { args: { id: '1', confirm_token: token } })),
    QUESTION,
    'a client that can ask has to'
  )
})

t.test('a page: the call runs when the host says that it is done', async (t) => {
  let paid = false
  const page = { mode: 'url', url: 'https://pay.example/1', text: 'Pay 5 EUR.' } as const
  const { url, events } = await server(t, { fallback: 'allow' }, { confirm: () => paid ? undefined : page })
  const ARGS = { args: { id: '1' }, elicitation: { url: {} } }
  const first = await round(url, 'drop', ARGS)
  t.match(first, {
    resultType: 'input_required',
    inputRequests: { confirm: { params: { mode: 'url', url: page.url, message: page.text } } }
  })
  const waits =
    'drop was not run: the person must first do something at https://pay.example/1\nPay 5 EUR.\nWhen the person ' +
    'says it is done, call drop again with the same arguments.'
  for (const answer of [{ action: 'accept' }, { action: 'accept', content: {} }, YES]) {
    t.equal(told(await round(url, 'drop', { ...ARGS, state: first.requestState, answer })), waits)
  }
  t.equal(
    told(
      await round(url, 'drop', { ...ARGS, elicitation: { form: {}, url: {} }, state: first.requestState, answer: YES })
    ),
    waits,
    'also one that shows forms'
  )
  t.equal(
    told(await round(url, 'drop', { ...ARGS, elicitation: {} })),
    waits,
    'a client that shows no pages gets the address'
  )
  t.match(await call(url, 'drop', { id: '1' }), { isError: true, content: [{ text: waits }] }, "also with 'allow'")
  t.match(
    told(await round(url, 'drop', { ...ARGS, state: first.requestState, answer: { action: 'decline' } })),
    /the person said no/
  )
  t.notOk(events.includes('ran'))
  paid = true
  t.match(await round(url, 'drop', { ...ARGS, state: first.requestState, answer: { action: 'accept' } }), {
    resultType: 'complete',
    structuredContent: {}
  })
  t.ok(events.includes('ran'))
})

t.test('a function that throws fails the call as the handler would', async (t) => {
  const { url, events } = await server(t, {}, {
    confirm: () => {
      throw new TypeError('secret')
    }
  })
  const said = told(await round(url, 'drop', ARGS))
  t.match(said, /^The route failed with status 500/)
  t.notMatch(said, /secret/)
  t.notOk(events.includes('ran'))
})

t.test('a handler can hold a call to what its question was about', async (t) => {
  let price = 1
  const decided = new WeakMap<object, number>()
  const { url } = await listen(t, (app) => {
    app.delete(
      '/',
      {
        schema: { operationId: 'drop', description: 'Drop it', tags: ['mcp'] },
        config: {
          mcp: {
            confirm: (_args, request) => {
              decided.set(request, price)
              price += 1
              return undefined
            }
          }
        }
      },
      async (request, reply) =>
        decided.get(request) === price ? { dropped: true } : await reply.code(409).send({ message: 'Changed' })
    )
  })
  t.match(told(await round(url, 'drop')), /^409 Conflict: Changed/)
})

t.test('a store that fails lets nothing run', async (t) => {
  const { url, events } = await server(t, {
    store: {
      use: async () => {
        throw new Error('down')
      }
    }
  })
  const { requestState: state } = await round(url, 'drop', ARGS)
  t.match(told(await round(url, 'drop', { ...ARGS, state, answer: YES })), /^The route failed with status 500/)
  t.notOk(events.includes('ran'))
})

t.test('onToolCall is told of each round', async (t) => {
  const told: unknown[] = []
  const { url } = await server(t, {
    onToolCall: ({ isError, statusCode }) => {
      told.push([isError, statusCode])
    }
  })
  const { requestState: state } = await round(url, 'drop', ARGS)
  await round(url, 'drop', NOBODY)
  await round(url, 'drop', { ...ARGS, state, answer: { action: 'decline' } })
  await round(url, 'drop', { ...ARGS, state, answer: YES })
  t.strictSame(told, [[false, 428], [true, 428], [true, undefined], [false, 200]])
})

t.test('hooks that plugins add to the route later run before the question, and handlers of every kind after it', async (t) => {
  const events: string[] = []
  const note = (event: string) => async (): Promise<void> => {
    events.push(event)
  }
  for (const loopback of [undefined, 'inject'] as const) {
    const { url } = await listen(t, (app) => {
      // As a rate limit after the authentication does.
      app.addHook('onRoute', (route) => {
        if (route.schema?.tags) route.preHandler = [route.preHandler ?? [], note('late')].flat()
      })
      const mcp = {
        confirm: () => {
          events.push('asked')
          return 'Sure?'
        },
        ...loopback && { loopback }
      }
      const tool = (operationId: string): object => ({
        schema: { operationId, description: 'D.', tags: ['mcp'] },
        config: { mcp },
        preHandler: note('own'),
        onResponse: async (_request: unknown, { statusCode }: { statusCode: number }) => {
          events.push(String(statusCode))
        }
      })
      app.post('/a', tool('a'), (_request, reply) => {
        setImmediate(() => {
          reply.send('a')
        })
      })
      app.post('/b', tool('b'), async (_request, reply) => {
        reply.send('b')
      })
      app.post('/c', tool('c'), () => 'c')
      app.post('/d', tool('d'), async () => null)
      app.post('/e', tool('e'), function () {
        return this.hasDecorator('mcpTools') ? 'e' : 'no this'
      })
      app.post('/f', tool('f'), () => {
        throw Object.assign(new Error('f'), { statusCode: 409 })
      })
    })
    for (
      const [name, says] of [['a', 'a'], ['b', 'b'], ['c', 'c'], ['d', 'null'], ['e', 'e'], [
        'f',
        '409 Conflict: f'
      ]] as const
    ) {
      const { requestState: state } = await round(url, name)
      t.strictSame(events.splice(0), ['own', 'late', 'asked', '428'], name)
      t.equal(told(await round(url, name, { state, answer: YES })), says, name)
      t.match(events.splice(0), ['own', 'late', 'asked', /200|409/], name)
    }
  }
})

t.test('what cannot work stops the startup', async (t) => {
  const wrong = async (
    route: object,
    options: Partial<McpFromRoutesOptions> = {},
    before: (app: FastifyInstance) => void = () => {}
  ): Promise<unknown> => {
    const app = await build(t, (app) => {
      before(app)
      app.delete('/:id', { schema, ...route }, async () => null)
    }, options)
    return app.ready().then(() => undefined, (error: Error & { code: string }) => `${error.code} ${error.message}`)
  }
  for (const question of [false, '', ' ', 7, null, {}, { mode: 'url', url: 'https://x.example' }]) {
    t.match(
      await wrong({ config: { mcp: { confirm: question } } }),
      /INVALID_CONFIG .*confirm must be true, a string or a function/,
      JSON.stringify(question)
    )
  }
  t.match(
    await wrong({ config: { mcp: { confirm: true } }, attachValidation: true }),
    /INVALID_CONFIG .*attachValidation/
  )
  const named = { ...schema, querystring: { type: 'object', properties: { confirm_token: { type: 'string' } } } }
  t.match(
    await wrong({ schema: named, config: { mcp: { confirm: true } } }, {
      extensions: [confirm({ fallback: 'token' })]
    }),
    /NAME_CLASH .*confirm_token/
  )
  t.equal(await wrong({ schema: named, config: { mcp: { confirm: true } } }), undefined)
  for (
    const [name, value, rule] of [
      ['fallback', 'ask', "must be 'refuse', 'allow' or 'token'"],
      ['secret', 'short', 'at least 32 bytes'],
      ['secret', 7, 'at least 32 bytes'],
      ['store', {}, 'must have a use function'],
      ['store', null, 'must have a use function']
    ] as const
  ) {
    await t.rejects(build(t, () => {}, { extensions: [confirm({ [name]: value })] }), {
      code: 'MCP_FROM_ROUTES_INVALID_OPTION',
      message: new RegExp(`confirm\\.${name} .*${rule}`)
    }, `${name} ${JSON.stringify(value)}`)
  }
})

t.test('a question that an onRoute hook adds later is asked', async (t) => {
  let ran = 0
  const { url } = await listen(t, (app) => {
    app.addHook('onRoute', (route) => {
      if (route.url === '/late') route.config = { ...route.config, mcp: { confirm: 'Sure?' } }
    })
    app.delete('/late', { schema: { operationId: 'late', description: 'D.', tags: ['mcp'] } }, async () => {
      ran += 1
      return 'done'
    })
  })
  const first = await round(url, 'late')
  t.equal(asked(first), 'Sure?')
  t.equal(ran, 0)
  t.equal(told(await round(url, 'late', { state: first.requestState, answer: YES })), 'done')
})
