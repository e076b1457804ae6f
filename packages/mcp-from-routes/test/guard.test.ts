import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  type RouteOptions
} from 'fastify'
import t from 'tap'
import mcpFromRoutes, { type McpFromRoutesOptions } from '../src/index.ts'
import { build, SERVER_INFO } from './build.ts'

const schema = { operationId: 'x', description: 'D.', tags: ['mcp'] }
const handler = async (): Promise<string> => 'tool'
const TOOL = { content: [{ type: 'text', text: 'tool' }] }

/** Handlers that must not run, and how often they did. */
function strays (): { stray: () => Promise<string>, ran: () => number } {
  let ran = 0
  return {
    stray: async () => {
      ran += 1
      return 'stray'
    },
    ran: () => ran
  }
}

/** The result of a call of `x`, by any host. */
async function callX (
  app: FastifyInstance,
  args: Record<string, unknown> = {},
  headers: Record<string, string> = {}
): Promise<Record<string, unknown>> {
  const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x', arguments: args } }
  const response = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { accept: 'application/json', ...headers },
    payload
  })
  return response.json<{ result: Record<string, unknown> }>().result
}

function refusal (text: string): unknown {
  return { content: [{ type: 'text', text }], isError: true }
}

/** A constraint of the host's own: a value of a header. */
function strategy (name: string, mustMatchWhenDerived: boolean, header = `x-${name}`): object {
  return {
    name,
    mustMatchWhenDerived,
    storage () {
      const kept = new Map<unknown, never>()
      return {
        get: (value: unknown) => kept.get(value) ?? null,
        set: (value: unknown, store: never) => {
          kept.set(value, store)
        }
      }
    },
    validate () {},
    // The endpoint is found for every value.
    deriveConstraint: ({ url, headers }: { url: string, headers: Record<string, unknown> }) =>
      url === '/mcp' ? undefined : headers[header]
  }
}

function server (mustMatch: boolean, routerOptions: object = {}): FastifyServerOptions {
  return {
    routerOptions: { ...routerOptions, constraints: { tenant: strategy('tenant', mustMatch) } }
  } as FastifyServerOptions
}

const tenant = { constraints: { tenant: 'a' } }
const headers = { 'x-tenant': 'a' }
const TRIMMED = { ignoreTrailingSlash: true }
const COLLAPSED = { ignoreDuplicateSlashes: true }
const CASELESS = { caseSensitive: false }
const S = { id: 's' }

// A call of the tool for that URL would run the other route; or would only if the constraint must match.
const pairs: Array<
  { tool: string, beside: string, router?: object, args?: Record<string, unknown>, runs?: string, runsIfMust?: string }
> = [
  { tool: '/x', beside: '/x', runs: '/x' },
  { tool: '/x', beside: '/*', runsIfMust: '/x' },
  { tool: '/x', beside: '*', runsIfMust: '/x' },
  { tool: '/x', beside: '/:slug', runsIfMust: '/x' },
  { tool: '/x', beside: '/:slug(^x$)', runsIfMust: '/x' },
  { tool: '/x', beside: '/:slug?', runsIfMust: '/x' },
  { tool: '/x', beside: '/x*', runsIfMust: '/x' },
  { tool: '/x', beside: '/x/*' },
  { tool: '/x', beside: '/y' },
  { tool: '/x', beside: '/X' },
  { tool: '/x', beside: '/X', router: CASELESS, runs: '/x' },
  { tool: '/x', beside: '/x/' },
  { tool: '/x', beside: '/x/', router: TRIMMED, runs: '/x' },
  { tool: '/x', beside: '/x/:id?', runs: '/x' },
  { tool: '/', beside: '/*', runsIfMust: '/' },
  { tool: '/', beside: '/:slug?', runs: '/' },
  { tool: '/a/x', beside: '/a//x' },
  { tool: '/a/x', beside: '/a//x', router: COLLAPSED, runs: '/a/x' },
  { tool: '/a//x', beside: '/a/x', router: COLLAPSED, runs: '/a/x' },
  { tool: '/x/:id', beside: '/x/:id', args: S, runs: '/x/s' },
  { tool: '/x/:id', beside: '/x/:name', args: S, runs: '/x/s' },
  { tool: '/x/:id', beside: '/x/*', args: S, runsIfMust: '/x/s' },
  { tool: '/x/:id', beside: '/:x/:id', args: S, runsIfMust: '/x/s' },
  { tool: '/x/:id', beside: '/:x/s', args: S, runsIfMust: '/x/s' },
  { tool: '/x/:id', beside: '/x/special', args: S, runs: '/x/special' },
  { tool: '/x/:id', beside: '/x/a-:b', args: S, runs: '/x/a-s' },
  { tool: '/x/:id', beside: '/x/:a-:b', args: S, runs: '/x/a-s' },
  { tool: '/x/:id', beside: '/x/:id(^\\d+$)', args: S, runs: '/x/1' },
  { tool: '/x/:id(^[a-z/]+$)', beside: '/x/:id', args: S, runsIfMust: '/x/s' },
  { tool: '/x/:id', beside: '/x/fo*', args: S, runs: '/x/foo' },
  { tool: '/x/foo', beside: '/x/fo*', runsIfMust: '/x/foo' },
  { tool: '/x/bar', beside: '/x/fo*' },
  { tool: '/x/:id/bar', beside: '/x/fo*', args: S, runs: '/x/foo/bar' },
  { tool: '/x/:id/bar', beside: '/x/y/fo*', args: S },
  { tool: '/x/:id/bar', beside: '/x/y/:z', args: S, runs: '/x/y/bar' },
  { tool: '/x/:id/bar', beside: '/x/y', args: S },
  { tool: '/x/:id/bar', beside: '/x/:id', args: S },
  { tool: '/x/:id/bar', beside: '/x/:id/*', args: S, runsIfMust: '/x/s/bar' },
  { tool: '/x/a:id', beside: '/x/:id', args: S, runsIfMust: '/x/as' },
  { tool: '/x/a:id', beside: '/x/abc', args: S, runs: '/x/abc' },
  { tool: '/o/:id?', beside: '/o', args: S, runs: '/o' },
  { tool: '/o/:id?', beside: '/o/s', args: S, runs: '/o/s' },
  { tool: '/o/:id?', beside: '/*', args: S, runsIfMust: '/o/s' },
  { tool: '/t::a', beside: '/t:a', runsIfMust: '/t:a' },
  // The call encodes the colon, and the router then reads a parameter.
  { tool: '/t:a', beside: '/t::a', args: { a: ':a' } }
]

for (const { tool, beside, router = {}, args = {}, runs, runsIfMust = runs } of pairs) {
  for (const must of [false, true]) {
    const url = must ? runsIfMust : runs
    t.test(`${tool} beside ${beside} of a constraint${must ? ' that must match' : ''} ${JSON.stringify(router)}: ${url === undefined ? 'calls run the tool' : `a call for ${url} is refused`}`, async (t) => {
      const { stray, ran } = strays()
      const app = await build(
        t,
        (app) => {
          app.get(tool, { schema }, handler).get(beside, tenant, stray).post(tool, tenant, stray)
        },
        { forwardHeaders: ['x-tenant'] },
        server(must, router)
      )
      if (url === undefined) {
        // Where it must match, no tool is found with a value for it, as of any route without that constraint.
        t.match(await callX(app, args, must ? {} : headers), TOOL)
      } else {
        // What the router makes of the URL with and without the constraint.
        const bare = Fastify(server(must, router))
        t.teardown(() => bare.close())
        bare.get(tool, async ({ params }) => ({ params })).get(beside, tenant, async () => 'stray')
        t.equal((await bare.inject({ url, headers })).body, 'stray')
        const { params } = (await bare.inject({ url })).json<{ params: Record<string, string> }>()
        t.match(await callX(app, params), TOOL)
        t.match(await callX(app, params, headers), {
          isError: true,
          content: [{ type: 'text', text: /belongs to another route/ }]
        })
      }
      t.equal(ran(), 0)
    })
  }
}

for (const name of ['host', 'version'] as const) {
  for (const how of ['options', 'addConstraintStrategy'] as const) {
    t.test(`a strategy that the host put in place of ${name} by ${how} leads no call to another route`, async (t) => {
      const constraints = { [name]: 'in' }
      const asked = { [`x-${name}`]: 'in' }
      const start = (routes: (app: FastifyInstance) => void, mustMatch = false): Promise<FastifyInstance> =>
        build(
          t,
          (app) => {
            if (how === 'addConstraintStrategy') {
              app.addConstraintStrategy(
                strategy(name, mustMatch) as Parameters<FastifyInstance['addConstraintStrategy']>[0]
              )
            }
            routes(app)
          },
          { forwardHeaders: [`x-${name}`] },
          how === 'options'
            ? { routerOptions: { constraints: { [name]: strategy(name, mustMatch) } } } as FastifyServerOptions
            : {}
        )

      const { stray, ran } = strays()
      const app = await start((app) => {
        app.get('/x/:id', { schema }, handler).get('/x/special', { constraints }, stray)
      })
      t.strictSame(
        await callX(app, { id: 'special' }, asked),
        refusal('id "special" cannot be used here: that address belongs to another route.')
      )
      t.match(await callX(app, { id: 'special' }), TOOL)
      const constrained = await start((app) => {
        app.get('/x', { constraints, schema }, handler).get('/:slug', stray)
      })
      t.match(await callX(constrained), { isError: true })
      t.equal(ran(), 0)
      const must = await start((app) => {
        app.get('/x/:id', { schema }, handler).get('/y', { constraints }, stray)
      }, true)
      t.match(await callX(must, { id: 's' }), TOOL, 'what the built-in one reads says nothing')
    })
  }
}

const OTHER = (values: string): unknown =>
  refusal(`${values} cannot be used here: that address belongs to another route.`)
const NOWHERE = (values: string): unknown => refusal(`${values} cannot be used here: that address belongs to no route.`)
const EMPTY = refusal('This tool cannot be called: its address belongs to another route for this request.')

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<string>
interface Attack {
  title: string
  /** Registers a route that a call must not run, before or after the plugin, in the root or in a scope. */
  stray: (app: FastifyInstance, handler: Handler) => unknown
  url?: string
  args?: Record<string, string>
  headers?: Record<string, string>
  options?: Partial<McpFromRoutesOptions>
  server?: FastifyServerOptions
  result?: unknown
}

const attacks: Attack[] = [
  { title: 'a fixed path', stray: (app, stray) => app.get('/x/me', stray), args: { id: 'me' } },
  { title: 'an encoded path', stray: (app, stray) => app.get('/x/ü', stray), args: { id: 'ü' } },
  {
    title: 'a path with a slash at the end',
    stray: (app, stray) => app.get('/x/me/', stray),
    args: { id: 'me' },
    server: { routerOptions: { ignoreTrailingSlash: true } }
  },
  { title: 'a pattern twin', stray: (app, stray) => app.get('/x/:id(^\\d+$)', stray), args: { id: '42' } },
  {
    title: 'a pattern twin with a name of its own',
    stray: (app, stray) => app.get('/x/:number(^\\d+$)', stray),
    args: { id: '42' }
  },
  {
    title: 'a pattern twin of several methods',
    stray: (app, stray) => app.route({ method: ['GET', 'POST'], url: '/x/:id(^\\d+$)', handler: stray }),
    args: { id: '42' }
  },
  {
    title: 'a twin without a pattern',
    stray: (app, stray) => app.get('/x/:id', stray),
    url: '/x/:id(^\\d+$)',
    args: { id: 'a' }
  },
  {
    title: 'a host constraint',
    stray: (app, stray) => app.get('/x/:id', { constraints: { host: 'b.example.com' } }, stray),
    args: { id: 'a' },
    headers: { host: 'b.example.com' }
  },
  {
    title: 'a host constraint on a path without parameters',
    stray: (app, stray) => app.get('/x', { constraints: { host: /^b/ } }, stray),
    url: '/x',
    args: {},
    headers: { host: 'b.example.com' },
    result: EMPTY
  },
  {
    title: 'a custom constraint',
    stray: (app, stray) => app.get('/x/:id', tenant, stray),
    args: { id: 'a' },
    headers,
    options: { forwardHeaders: ['x-tenant'] },
    server: server(false)
  },
  {
    title: 'a custom constraint on text that begins with a colon',
    stray: (app, stray) => app.get('/t::a', tenant, stray),
    url: '/t::a',
    args: {},
    headers,
    options: { forwardHeaders: ['x-tenant'] },
    server: server(false),
    result: EMPTY
  },
  {
    title: 'a version',
    stray: (app, stray) => app.get('/x/:id', { constraints: { version: '1.0.0' } }, stray),
    args: { id: 'a' },
    headers: { 'x-version': '1.0.0' },
    options: { forwardHeaders: ['x-version'] },
    server: { routerOptions: { constraints: { version: strategy('version', false) } } } as FastifyServerOptions
  },
  {
    title: 'rewriteUrl',
    stray: (app, stray) => app.get('/stray', stray),
    args: { id: 'a' },
    server: { rewriteUrl: ({ url = '' }) => url === '/mcp' ? url : '/stray' }
  },
  {
    title: 'rewriteUrl, to a URL with the same parameter',
    stray: (app, stray) => app.get('/y/:id', stray),
    args: { id: 'a' },
    server: { rewriteUrl: ({ url = '' }) => url.replace('/x/', '/y/') }
  },
  {
    title: 'a URL that rewriteUrl assigns itself',
    stray: (app, stray) => app.get('/stray', stray),
    args: { id: 'a' },
    server: {
      rewriteUrl: (req) => {
        if (req.url !== '/mcp') req.url = '/stray'
        return req.url ?? ''
      }
    }
  },
  {
    title: 'rewriteUrl, to no route',
    stray: (app, stray) => app.setNotFoundHandler(stray),
    args: { id: 'a' },
    server: { rewriteUrl: ({ url = '' }) => url === '/mcp' ? url : '/nowhere' },
    result: NOWHERE('id "a"')
  },
  {
    title: 'no route',
    stray: (app, stray) => app.setNotFoundHandler(stray),
    url: '/x/:id(^\\d+$)',
    args: { id: 'a' },
    result: NOWHERE('id "a"')
  },
  {
    title: 'another tool',
    stray: (app, stray) => app.get('/x/me', { schema: { ...schema, operationId: 'me' } }, stray),
    args: { id: 'me' }
  },
  {
    title: 'other values for the same parameters',
    stray: (app, stray) => app.get('/unused', stray),
    url: '/x/:a-:b',
    args: { a: '1', b: '2-3' },
    result: OTHER('a "1", b "2-3"')
  }
]

for (
  const {
    title,
    stray: register,
    url = '/x/:id',
    args = {},
    headers = {},
    options,
    server,
    result = OTHER(Object.entries(args).map(([name, value]) => `${name} "${value}"`).join(', '))
  } of attacks
) {
  for (
    const when of [
      'before the plugin',
      'before the plugin, in a scope',
      'after the tool',
      'after the tool, in a scope'
    ] as const
  ) {
    for (const loopback of [undefined, 'inject'] as const) {
      // A route before the plugin is refused at startup if it is tagged.
      if (title === 'another tool' && when.startsWith('before')) continue
      t.test(`no call runs ${title} (${when}, loopback: ${loopback ?? 'default'})`, async (t) => {
        const { stray, ran } = strays()
        const app = Fastify({ ...server })
        t.teardown(() => app.close())
        const attack = async (): Promise<void> => {
          if (!when.endsWith('in a scope')) register(app, stray)
          else {await app.register(async (scope) => {
              register(scope, stray)
            })}
        }
        if (when.startsWith('before')) await attack()
        await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO, ...options })
        app.get(url, { schema, ...loopback && { config: { mcp: { loopback } } } }, handler)
        if (when.startsWith('after')) await attack()
        t.strictSame(await callX(app, args, headers), result)
        t.equal(ran(), 0)
      })
    }
  }
}

t.test('of the hooks, only those registered before the plugin see a request that is refused', async (t) => {
  const seen: string[] = []
  const { stray, ran } = strays()
  const hook = (name: string) => async ({ url }: FastifyRequest): Promise<void> => {
    if (url !== '/mcp') seen.push(name)
  }
  const app = Fastify()
  t.teardown(() => app.close())
  app.addHook('onRequest', hook('before'))
  await app.register(async (scope) => {
    scope.addHook('onRequest', hook('before, in a scope'))
    const own = hook('of the route')
    scope.get('/x/me', {
      onRequest: own,
      preHandler: own,
      onSend: own,
      onResponse: hook('of the route, after the response')
    }, stray)
  })
  await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
  app.addHook('onRequest', hook('after'))
  app.addHook('preHandler', hook('after'))
  app.get('/x/:id', { schema }, handler)
  t.strictSame(await callX(app, { id: 'me' }), OTHER('id "me"'))
  t.strictSame(seen, ['before', 'before, in a scope', 'of the route, after the response'])
  t.equal(ran(), 0)
  t.equal((await app.inject('/x/me')).body, 'stray')
  t.strictSame(seen.slice(3), [
    'before',
    'before, in a scope',
    'after',
    'of the route',
    'after',
    'of the route',
    'of the route',
    'of the route, after the response'
  ])
})

t.test('the log tells which route a refused call was led to, and onToolCall that no route answered', async (t) => {
  const logged: unknown[] = []
  const events: unknown[] = []
  const stream = {
    write: (line: string) => {
      const { msg, tool, route, url } = JSON.parse(line)
      if (msg.startsWith('refused')) logged.push({ msg, tool, route, url })
    }
  }
  const app = await build(t, (app) => {
    app.get('/x/:id', { schema }, handler).get('/x/me', handler)
  }, {
    onToolCall: ({ isError, statusCode }) => {
      events.push({ isError, statusCode })
    }
  }, { logger: { level: 'warn', stream } })
  await callX(app, { id: 'me' })
  t.strictSame(logged, [{
    msg: 'refused a tool call that the router sent to another route',
    tool: 'x',
    route: 'GET /x/me',
    url: '/x/me'
  }])
  t.strictSame(events, [{ isError: true, statusCode: undefined }])
})

t.test('a route does not become that of a tool with the config of one', async (t) => {
  const { stray, ran } = strays()
  const app = await build(t, (app) => {
    let config: RouteOptions['config']
    app.addHook('onRoute', (route) => {
      if (route.url === '/x/:id') config = route.config
    })
    app.get('/x/:id', { schema }, handler)
    app.get('/x/me', { config: { ...config } }, stray)
  })
  t.strictSame(await callX(app, { id: 'me' }), OTHER('id "me"'))
  t.match(await callX(app, { id: 'you' }), TOOL)
  t.equal(ran(), 0)
})

t.test('startup fails if an onRoute hook takes the mark of a tool away', async (t) => {
  const app = await build(t, (app) => {
    app.addHook('onRoute', (route) => {
      if (route.url === '/x') route.config = {}
    })
    app.get('/x', { schema }, handler)
  })
  await t.rejects(async () => app.ready(), {
    code: 'MCP_FROM_ROUTES_UNSUPPORTED_ROUTE',
    message: /^GET \/x cannot be a tool: an onRoute hook replaced its config\. Keep the existing properties/
  })
})

const careless: Record<string, () => (route: RouteOptions) => void> = {
  'merges every config into one object': () => {
    const all = {}
    return (route) => {
      route.config = Object.assign(all, route.config)
    }
  },
  'gives every route the first config': () => {
    let first: RouteOptions['config']
    return (route) => {
      route.config = first ??= route.config ?? {}
    }
  },
  'takes over what the last config had': () => {
    let last: object = {}
    return (route) => {
      last = route.config = { ...last, ...route.config }
    }
  }
}
for (const [title, hook] of Object.entries(careless)) {
  t.test(`startup fails if an onRoute hook gives the config of a tool to another route: it ${title}`, async (t) => {
    const { stray, ran } = strays()
    const app = await build(t, (app) => {
      app.addHook('onRoute', hook())
      app.post('/x/:id', { schema }, handler).post('/x/:id(^\\d+$)', stray)
    })
    await t.rejects(async () => app.ready(), {
      code: 'MCP_FROM_ROUTES_UNSUPPORTED_ROUTE',
      message:
        'POST /x/:id cannot be a tool: an onRoute hook gave its config to POST /x/:id(^\\d+$) as well. Create a ' +
        'new object for each route: route.config = { ...route.config, … }'
    })
    t.equal(ran(), 0)
  })
}

t.test('an onRoute hook may give the HEAD twin of a tool its config', async (t) => {
  const app = await build(t, (app) => {
    app.addHook('onRoute', careless['gives every route the first config']?.() as (route: RouteOptions) => void)
    app.get('/x', { schema }, handler)
  })
  t.match(await callX(app), TOOL)
})

t.test('startup fails with a defaultRoute, which no hook guards', async (t) => {
  const app = Fastify({
    routerOptions: {
      defaultRoute: (_request, response) => {
        response.end('stray')
      }
    }
  } as FastifyServerOptions)
  t.teardown(() => app.close())
  app.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
  await t.rejects(async () => app.ready(), {
    code: 'MCP_FROM_ROUTES_INVALID_OPTION',
    message: /^mcp-from-routes: routerOptions\.defaultRoute of Fastify runs without hooks, .*Use setNotFoundHandler$/
  })
})

t.test('a refusal speaks of arguments, and not of values that are fixed', async (t) => {
  const app = await build(t, (app) => {
    const config = { mcp: { arguments: { params: { tenant: { value: 'acme' }, id: { name: 'thing_id' } } } } }
    app.get('/:tenant/:id', { schema, config }, handler).get('/acme/me', handler)
  })
  t.strictSame(await callX(app, { thing_id: 'me' }), OTHER('thing_id "me"'))
  const fixed = await build(t, (app) => {
    app.get(
      '/x/:tenant',
      { schema, config: { mcp: { arguments: { params: { tenant: { value: 'acme' } } } } } },
      handler
    ).get('/x/acme', handler)
  })
  t.strictSame(await callX(fixed), EMPTY)
})

t.test('a second registration fails, and names the option for more endpoints', async (t) => {
  const app = await build(t, () => {})
  await t.rejects(async () => {
    await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO, path: '/other' })
  }, {
    code: 'MCP_FROM_ROUTES_INVALID_OPTION',
    message:
      /a second registration is not possible\. Serve some of the tools at another path by sets\(\) of mcp-from-routes\/sets$/
  })
})

t.test('a scope cannot guard all routes, so startup fails there', async (t) => {
  for (const prefix of ['/v1', '']) {
    const app = Fastify()
    t.teardown(() => app.close())
    app.register(async (scope) => {
      await scope.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
    }, { prefix })
    await t.rejects(async () => app.ready(), {
      code: 'MCP_FROM_ROUTES_REGISTERED_IN_SCOPE',
      message: /Register it on the root instance/
    })
  }
})

t.test('a call reaches its tool, however the router spells the path', async (t) => {
  const start = async (
    routes: (app: FastifyInstance) => void | Promise<void>,
    options: FastifyServerOptions
  ): Promise<void> => {
    for (const loopback of [undefined, 'inject'] as const) {
      const app = await build(
        t,
        (app) => {
          if (loopback !== undefined) {
            app.addHook('onRoute', (route) => {
              route.config = { ...route.config, mcp: { loopback } }
            })
          }
          return routes(app)
        },
        {},
        options
      )
      await app.ready()
      const [tool] = app.mcpTools
      const args = Object.fromEntries(Object.keys(Object(tool?.inputSchema.properties)).map((name) => [name, '1']))
      t.match(await callX(app, args, { host: 'a.example.com' }), TOOL, `${tool?.route.url} ${JSON.stringify(options)}`)
    }
  }
  const other = async (): Promise<string> => 'other'
  const tools: Array<[string, FastifyServerOptions]> = [
    ['/o/:id?', {}],
    ['/:id?', {}],
    ['/x/:id(\\d+)/y', {}],
    ['/t::a', {}],
    ['/a%b/:id', {}],
    ['/x/:a-:b.:c', {}],
    ['/x/:id([^/:]+)', {}],
    ['/x/', server(false, TRIMMED)],
    ['/a//x', server(false, COLLAPSED)],
    ['/X/:Id', server(false, CASELESS)],
    ['/', {}]
  ]
  for (const [url, options] of tools) {
    for (const constraints of [{}, { host: 'a.example.com' }, { host: /a/ }, { version: '1.0.0' }]) {
      await start((app) => {
        app.get(url, { schema, constraints }, handler)
        // Of the same parameter, which the tree then prints by several names and patterns.
        app.get('/x/:id(^\\d+$)/z', other).get('/x/:number(\\d+)/w', other).get('/t', other).get('/:other/w', other)
      }, options)
    }
  }
  for (const prefix of ['', '/'] as const) {
    for (const options of [{}, server(false, TRIMMED), server(false, COLLAPSED)]) {
      await start(async (app) => {
        await app.register(async (scope) => {
          scope.get(prefix, { schema, prefixTrailingSlash: prefix === '' ? 'no-slash' : 'slash' }, handler)
        }, { prefix: '/api' })
      }, options)
    }
  }
})
