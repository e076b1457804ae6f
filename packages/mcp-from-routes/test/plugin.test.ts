import { readFileSync } from 'node:fs'
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify'
import t, { type Test } from 'tap'
import mcpFromRoutes from '../src/index.ts'
import { settingsFromOptions } from '../src/settings.ts'
import { build, SERVER_INFO } from './build.ts'

const tagged = (operationId: string, more: Record<string, unknown> = {}): { schema: Record<string, unknown> } => ({
  schema: { operationId, description: 'D.', tags: ['mcp'], ...more }
})

t.test('app.mcpTools is the frozen, sorted list of tools once the app is ready', async (t) => {
  const app = await build(t, async (app) => {
    app.get('/b', tagged('b_tool'), async () => 'b')
    await app.register(async (scope) => {
      scope.get('/', tagged('a_tool'), async () => 'a')
    }, { prefix: '/inner' })
    app.get('/c', { schema: { operationId: 'c_tool', description: 'Untagged.', tags: ['other'] } }, async () => 'c')
    app.options('/d', tagged('d_tool'), async () => 'd')
  })
  t.strictSame(app.mcpTools, [])
  await app.ready()
  t.strictSame(app.mcpTools.map(({ name, route: { method, url } }) => [name, method, url]), [[
    'a_tool',
    'GET',
    '/inner'
  ], ['b_tool', 'GET', '/b']])
  t.ok(Object.isFrozen(app.mcpTools))
  t.throws(() => Reflect.apply(Array.prototype.push, app.mcpTools, [1]))
})

t.test('nothing else in the host changes', async (t) => {
  const without = Fastify()
  const app = await build(t, (app) => {
    app.get('/x', tagged('x'), async () => ({ x: 1 }))
  })
  without.get('/x', tagged('x'), async () => ({ x: 1 }))
  t.teardown(() => without.close())
  const [a, b] = [await app.inject('/x'), await without.inject('/x')]
  t.strictSame([a.statusCode, { ...a.headers, date: '' }, a.body], [b.statusCode, { ...b.headers, date: '' }, b.body])
  t.equal((await app.inject('/nothing')).statusCode, 404)
})

t.test('shared schemas of the scope of the route are seen, even when they are added after it', async (t) => {
  const app = await build(t, async (app) => {
    await app.register(async (scope) => {
      scope.get(
        '/one',
        tagged('one', { querystring: { type: 'object', properties: { a: { $ref: 'A#' } } } }),
        async () => 1
      )
      scope.addSchema({ $id: 'A', type: 'string', maxLength: 1 })
    })
    await app.register(async (scope) => {
      scope.addSchema({ $id: 'A', type: 'integer' })
      scope.get(
        '/two',
        tagged('two', { querystring: { type: 'object', properties: { a: { $ref: 'A#' } } } }),
        async () => 1
      )
    })
  })
  await app.ready()
  t.strictSame(app.mcpTools.map((tool) => Object(tool.inputSchema.properties).a), [{ type: 'string', maxLength: 1 }, {
    type: 'integer'
  }])
})

t.test('two apps in one process do not meet', async (t) => {
  const [a, b] = [
    await build(t, (app) => {
      app.get('/a', tagged('a'), async () => 'a')
    }),
    await build(t, (app) => {
      app.get('/b', tagged('b'), async () => 'b')
    })
  ]
  await Promise.all([a.ready(), b.ready()])
  t.strictSame([a.mcpTools.map(({ name }) => name), b.mcpTools.map(({ name }) => name)], [['a'], ['b']])
})

t.test('a tagged route that was registered before the plugin is refused at startup, also when others came after it', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.get('/health', async () => 1)
  app.get('/x/:id', tagged('x'), async () => 1)
  app.register(async (scope) => {
    scope.post('/y', tagged('y'), async () => 1)
  }, { prefix: '/v1' })
  await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
  app.get('/z', tagged('z'), async () => 1)
  await t.rejects(async () => {
    await app.ready()
  }, {
    code: 'MCP_FROM_ROUTES_REGISTERED_LATE',
    message: 'These routes were registered before mcp-from-routes, so they cannot be tools: GET /x/:id, POST /v1/y. ' +
      'Register it first, and with await: await app.register(mcpFromRoutes, …)'
  })
})

t.test('so is a plugin that was not awaited before the routes', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
  app.get('/x', tagged('x'), async () => 1)
  await t.rejects(async () => {
    await app.ready()
  }, {
    code: 'MCP_FROM_ROUTES_REGISTERED_LATE',
    message: /cannot be tools: GET \/x\. Register it first, and with await: await app\.register/
  })
})

/** An application that keeps its warnings. */
function warned (t: Test): { app: FastifyInstance, warnings: unknown[] } {
  const warnings: unknown[] = []
  const app = Fastify({
    logger: {
      level: 'info',
      stream: {
        write: (line: string) => {
          const { level, msg, routes } = JSON.parse(line)
          warnings.push({ level, msg, ...routes && { routes } })
        }
      }
    }
  })
  t.teardown(() => app.close())
  return { app, warnings }
}

t.test('routes before the plugin without the tag are nothing to say', async (t) => {
  const { app, warnings } = warned(t)
  app.get('/health', async () => 1)
  app.register(async (scope) => {
    scope.get('/sibling', async () => 1)
  })
  await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
  app.get('/x', tagged('x'), async () => 1)
  await app.ready()
  t.strictSame(warnings, [])
})

t.test('tools that API keys cannot call are warned of where an authentication writes its policy into config.auth', async (t) => {
  const warningsWith = async (
    endpoint: string,
    tool: string,
    options: object = {},
    level = 'warn'
  ): Promise<unknown[]> => {
    const warnings: unknown[] = []
    const app = Fastify({
      logger: {
        level,
        stream: {
          write: (line: string) => {
            const { msg, tools } = JSON.parse(line)
            warnings.push({ msg, tools })
          }
        }
      }
    })
    t.teardown(() => app.close())
    // What counts of the endpoint is the route that runs tools.
    const others: Readonly<Record<string, string>> = { '/removed': 'public', '/open': 'dual' }
    const policyOf = ({ url, method }: RouteOptions): string => {
      if (url === '/mcp') return [method].flat().includes('POST') ? endpoint : 'public'
      return others[url] ?? tool
    }
    app.addHook('onRoute', (route) => {
      route.config = Object.assign({}, route.config, { auth: policyOf(route) })
    })
    await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO, ...options })
    app.get('/open', tagged('open'), async () => 1)
    app.get('/x', tagged('x'), async () => 1)
    app.delete('/removed', tagged('removed'), async () => 1)
    app.get('/untagged', async () => 1)
    await app.ready()
    return warnings
  }
  t.strictSame(await warningsWith('dual', 'jwt'), [{
    msg: 'API keys can call the MCP endpoint but not these tools, which accept tokens only: set config.auth of ' +
      'their routes to "dual", or hide them from API keys with canUse',
    tools: ['GET /x']
  }])
  t.strictSame(await warningsWith('jwt', 'jwt'), [{
    msg:
      'API keys can call the routes of these tools but not the MCP endpoint, which accepts no keys: set its policy ' +
      'to "any-key", and return null for it in the option scopes',
    tools: ['GET /open']
  }])
  t.strictSame(await warningsWith('dual', 'jwt', { canUse: () => true }), [], 'the host decides')
  t.strictSame(await warningsWith('dual', 'jwt', { canUse: () => true }, 'info'), [{
    msg: 'API keys can call the MCP endpoint but not these tools, which accept tokens only',
    tools: ['GET /x']
  }], 'and can read it')
  t.strictSame(await warningsWith('dual', 'dual'), [])
  t.strictSame(await warningsWith('dual', 'public'), [])
  t.strictSame(await warningsWith('session', 'jwt'), [], 'some other authentication')
})

t.test('a tag in other letters, and an endpoint without tools, are warned of', async (t) => {
  const { app, warnings } = warned(t)
  await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
  app.get('/a', { schema: { operationId: 'a', description: 'A.', tags: ['MCP'] } }, async () => 1)
  app.route({
    method: ['PUT', 'POST'],
    url: '/b',
    schema: { operationId: 'b', description: 'B.', tags: ['MCP'] },
    handler: async () => 1
  })
  await app.ready()
  t.strictSame(warnings, [
    {
      level: 40,
      msg: 'these routes are not tools: their tag differs from "mcp" in case',
      routes: ['GET /a', 'PUT,POST /b']
    },
    {
      level: 40,
      msg: 'the MCP endpoint has no tools: no route registered after the plugin is tagged "mcp". Register ' +
        'the plugin before the routes, with await'
    }
  ])
})

t.test('a route of @fastify/sse that declares no stream is warned of: its tool cannot use reply.sse', async (t) => {
  const { app, warnings } = warned(t)
  await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
  const stream = { response: { 200: { content: { 'text/event-stream': { schema: { type: 'string' } } } } } }
  for (
    const [name, sse, more] of [
      ['yes', true, {}],
      ['options', { heartbeat: false }, {}],
      ['declared', true, stream],
      ['dual', 'dual', {}],
      ['kind', { kind: 'only' }, {}],
      ['none', undefined, {}]
    ] as const
  ) {
    app.get(
      `/${name}`,
      {
        schema: { operationId: name, description: 'A.', tags: ['mcp'], ...more },
        ...sse !== undefined && { sse }
      } as object,
      async () => 1
    )
  }
  await app.ready()
  t.match(warnings, [{
    level: 40,
    routes: ['GET /yes', 'GET /options'],
    msg: /declare no response of text\/event-stream: .* reply\.sse is undefined\. Declare it/
  }])
  t.equal(warnings.length, 1)
})

t.test('what the host throws while its routes are read is thrown as it is', async (t) => {
  const app = await build(t, (app) => {
    app.get('/a', { schema: { tags: ['mcp'] } }, async () => 1)
    app.get('/b', {
      ...tagged('b'),
      config: {
        mcp: {
          get arguments (): never {
            throw Object.assign(new TypeError('no such file'), { code: 'ENOENT' })
          }
        }
      }
    }, async () => 1)
  })
  await t.rejects(async () => await app.ready(), { code: 'ENOENT', message: 'no such file' })
})

t.test('a version of Fastify that lacks what the plugin needs is named at startup', async (t) => {
  for (
    const [change, lack] of [
      [{ genReqId: undefined }, 'it has no genReqId'],
      [{ findRoute: () => null }, 'findRoute returns no searchParams'],
      [{ findRoute: () => ({ searchParams: 'a=x' }) }, 'findRoute returns no searchParams'],
      [{ findRoute: () => ({ searchParams: null }) }, 'findRoute returns no searchParams']
    ] as const
  ) {
    const app = Fastify()
    t.teardown(() => app.close())
    for (const [name, value] of Object.entries(change)) Object.defineProperty(app, name, { value })
    const starts = async (): Promise<void> => {
      await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
      app.get('/x', tagged('x'), async () => 'x')
      await app.ready()
    }
    await t.rejects(starts(), {
      code: 'MCP_FROM_ROUTES_UNSUPPORTED_VERSION',
      message: `mcp-from-routes does not work with this version of Fastify: ${lack}. Use a version that its README ` +
        'names, or a newer mcp-from-routes'
    }, lack)
  }
})

t.test('one startup error lists all routes that cannot be tools', async (t) => {
  const app = await build(t, (app) => {
    app.get('/a', { schema: { tags: ['mcp'] } }, async () => 1)
    app.get('/ok', tagged('ok'), async () => 1)
    app.post('/a/:id', tagged('b', { body: { type: 'object', properties: { id: {} } } }), async () => 1)
    app.get('/ok/:id', tagged('ok'), async () => 1)
    app.get('/c*', tagged('c'), async () => 1)
  })
  const error = await app.ready().then(() => undefined, (error: unknown) => error) as Error & {
    code: string,
    errors: Array<{ code: string }>
  }
  t.equal(error.code, 'MCP_FROM_ROUTES_INVALID_ROUTES')
  t.equal(
    error.message,
    `4 routes cannot be tools:
- GET /a is tagged mcp but has no operationId. Add schema.operationId: it is the tool name. Add schema.description, too (MCP_FROM_ROUTES_NO_OPERATION_ID)
- POST /a/:id has two inputs named id (path and body). Rename one in config.mcp.arguments, or give both the same name there to fill them from one argument (MCP_FROM_ROUTES_NAME_CLASH)
- GET /ok and GET /ok/:id both have the operationId ok. Give each tagged route its own (MCP_FROM_ROUTES_DUPLICATE_NAME)
- GET /c* cannot be a tool: its wildcard is not the last segment of its path (MCP_FROM_ROUTES_UNSUPPORTED_ROUTE)`
  )
  t.strictSame(error.errors.map(({ code }) => code.replace('MCP_FROM_ROUTES_', '')), [
    'NO_OPERATION_ID',
    'NAME_CLASH',
    'DUPLICATE_NAME',
    'UNSUPPORTED_ROUTE'
  ])
})

for (
  const [option, rule, values] of [
    ['serverInfo', 'must be an object with a name and a version (got undefined)', [undefined]],
    ['serverInfo.version', 'must be a non-empty string', [{ name: 'x' }, { name: 'x', version: '' }]],
    ['serverInfo.name', 'must be a non-empty string (got undefined)', [{ version: '1' }]],
    ['serverInfo.titel', 'is not an option. Did you mean title?', [{ ...SERVER_INFO, titel: 'X' }]],
    ['instructions', 'must be a non-empty string or a function', ['', 5]],
    ['path', 'must start with a slash and have no parameters, wildcard, query or fragment', ['mcp', '/:x', 5]],
    ['exposedTag', 'must be a non-empty string other than large', ['', 'large']],
    ['onRequest', 'must be a function or an array of functions', ['authenticate', [() => {}, 5]]],
    ['caller', 'must be a function', ['kim']],
    ['forwardHeaders', 'must not contain cookie, which is never forwarded', [['Cookie']]],
    ['forwardHeaders', 'must not contain content-type, which is never forwarded', [['content-type']]],
    ['forwardHeaders', 'must not contain accept-version, which is never forwarded', [['Accept-Version']]],
    ['forwardHeaders', 'must not contain if-none-match, which is never forwarded', [['if-none-match']]],
    ['forwardHeaders', 'must not contain "a b", which is not the name of a header', [['a b']]],
    ['forwardHeaders', 'must be an array of header names', ['authorization', ['']]],
    ['resultHeaders', 'must not contain set-cookie, which is never shown to a model', [['Set-Cookie']]],
    ['allowedOrigins', 'must be an array of origins like https://app.example.com, without a path', [
      ['https://a.example.com/'],
      ['chrome-extension://abc/x'],
      ['chrome-extension://*'],
      ['chrome-extension://abc?x'],
      ['null'],
      'https://a.example.com',
      [5],
      ['a.example.com']
    ]],
    ['trustSerializer', 'must be true or false', ['yes']],
    ['maxResultBytes', 'must be an integer, at least 1 (got 1.5)', [1.5]],
    ['maxResultBytes', 'must be an integer, at least 1 (got 0)', [0]],
    ['bodyLimit', "must be an integer, at least 1 (got '1mb')", ['1mb']],
    ['bodyLimit', 'must be an integer, at least 1 (got null)', [null]],
    ['jsonQuery', 'must be true or false', ['yes']],
    ['serverInfo.title', 'must be a non-empty string', [{ ...SERVER_INFO, title: 5 }, { ...SERVER_INFO, title: '' }]],
    ['impliedArguments', 'must be an object of functions', [{ id: 'x' }, null]],
    ['cacheScope', "must be 'private' or 'public' (got 'shared')", ['shared']],
    ['toolTimeout', 'must be an integer from 1 to 2147483647', [0, 2_147_483_648]],
    ['keepAliveInterval', 'must be an integer from 0 to 2147483647', [-1, 2_147_483_648]],
    ['cacheTtl', 'must be an integer, at least 0', [-1, 0.5]],
    ['canUse', 'must be a function', [true]],
    ['onToolCall', 'must be a function', [{}]],
    ['output', "must be 'full', 'brief' or false (got 'short')", ['short']],
    ['resultHeaders', 'must be an array of header names', [[5]]],
    ['extensions', 'must be an array of what functions such as confirm', [{}, [{}], [() => {}], ['confirm']]],
    ['sets', 'is not an option. Known: serverInfo, ', [{ a: { path: '/a', tags: ['a'] } }]],
    ['allowedOrigin', 'is not an option. Did you mean allowedOrigins?', [['https://a.example.com']]]
  ] as const
) {
  t.test(`boot fails: ${option} ${rule}`, async (t) => {
    for (const value of values) {
      const app = Fastify()
      t.teardown(() => app.close())
      app.register(mcpFromRoutes, { serverInfo: SERVER_INFO, [option.split('.')[0]!]: value } as never)
      await t.rejects(async () => {
        await app.ready()
      }, {
        code: 'MCP_FROM_ROUTES_INVALID_OPTION',
        message: new RegExp(`^mcp-from-routes: ${option} ${rule.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`)
      }, JSON.stringify(value))
    }
  })
}

for (
  const [title, options, rule] of [
    ['canUse', {
      canUse: () => true
    }, 'must not be public with canUse: a cache would show one client the tools of another'],
    ['impliedArguments', {
      impliedArguments: { id: () => 'x' }
    }, 'must not be public with impliedArguments: a cache would show one client the arguments of another'],
    ['instructions for each client', {
      instructions: () => 'x'
    }, 'must not be public with instructions that are a function: a cache would show one client those of another']
  ] as const
) {
  t.test(`boot fails on a public cacheScope with ${title}`, async (t) => {
    const app = await build(t, () => {}, { cacheScope: 'public', ...options }).catch((error: unknown) => error)
    t.match(app, { code: 'MCP_FROM_ROUTES_INVALID_OPTION', message: `mcp-from-routes: cacheScope ${rule}` })
  })
}

t.test('the tables of options list each one, with its default', async (t) => {
  const { isAllowedOrigin, ...settings } = settingsFromOptions({ serverInfo: SERVER_INFO })
  const pages = ['../README.md', '../docs/tools.md'].map((page) => readFileSync(new URL(page, import.meta.url), 'utf8'))
  const sections = pages.map((page) => page.split(/^## /m).find((section) => section.startsWith('Options\n')) ?? '')
  const rows = sections.join('').matchAll(/^\| `(\w+)` \| (?:[^|]|\\\|)+ \| (.+?) \|/gm)
  const defaults = new Map([...rows].map(([, name = '', shown = '']) => [name, shown.replaceAll(/[`',]/g, '')]))
  t.strictSame(
    [...defaults.keys()].toSorted(),
    [...Object.keys(settings), 'allowedOrigins', 'extensions'].toSorted()
  )
  const { serverInfo, ...optional } = settings
  for (const [name, value] of Object.entries(optional)) {
    if (value === undefined) continue
    const shown = typeof value === 'object' ? Object.values(value).join(' ') || 'none' : String(value)
    t.equal(defaults.get(name), shown, name)
  }
})

t.test('options have defaults, and limits that may be reached', async (t) => {
  const { isAllowedOrigin, ...settings } = settingsFromOptions({ serverInfo: SERVER_INFO })
  t.strictSame(JSON.parse(JSON.stringify(settings)), {
    serverInfo: SERVER_INFO,
    path: '/mcp',
    exposedTag: 'mcp',
    onRequest: [],
    forwardHeaders: ['authorization', 'x-api-key', 'traceparent', 'tracestate'],
    resultHeaders: ['content-range', 'link', 'location', 'retry-after'],
    jsonQuery: false,
    maxResultBytes: 1_000_000,
    toolTimeout: 60_000,
    keepAliveInterval: 10_000,
    impliedArguments: {},
    ignoredArguments: ['task_progress', 'wait_for_previous', 'random_string'],
    cacheTtl: 300_000,
    cacheScope: 'private',
    output: 'full',
    trustSerializer: false
  })
  const limits = {
    bodyLimit: 1,
    maxResultBytes: 1,
    toolTimeout: 2_147_483_647,
    cacheTtl: 0,
    serverInfo: { ...SERVER_INFO, title: 'T' }
  }
  t.match(settingsFromOptions(limits), limits)
  for (const [path, without] of [['/', '/'], ['/a/', '/a'], ['/a/b', '/a/b']] as const) {
    t.equal(settingsFromOptions({ serverInfo: SERVER_INFO, path }).path, without)
  }
})

t.test('what register itself takes is no option of the plugin', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.register(mcpFromRoutes, { serverInfo: SERVER_INFO, logLevel: 'warn', logSerializers: {} })
  await app.ready()
  t.pass('boots')
})
