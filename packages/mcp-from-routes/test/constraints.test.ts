import type { FastifyInstance, FastifyServerOptions, RouteShorthandOptions } from 'fastify'
import t from 'tap'
import { build, call, listen } from './build.ts'

type Strategy = Parameters<FastifyInstance['addConstraintStrategy']>[0]
type Derive = (headers: Record<string, string | undefined>) => unknown

interface Arriving {
  readonly url: string
  readonly headers: Parameters<Derive>[0]
}

/** A strategy like that of Nest, which keeps routes under several values. */
function strategy (name: string, derive: Derive): Strategy {
  return {
    name,
    storage () {
      const routes = new Map<unknown, never>()
      return {
        get: (value: unknown) => routes.get(value) ?? null,
        set (values: unknown, route: never) {
          for (const value of [values].flat()) routes.set(value, route)
        }
      }
    },
    validate () {},
    deriveConstraint: ({ url, headers }: Arriving) => url === '/mcp' ? undefined : derive(headers)
  } as Strategy
}

const HEADER = strategy('version', (headers) => headers['X-Api-Version'] ?? headers['x-api-version'])
const MEDIA_TYPE = strategy('version', (headers) => /;\s*v=(\w+)/.exec(headers.accept ?? '')?.[1])

const handler = async (): Promise<object> => ({ version: 1 })

function server (own: Strategy): FastifyServerOptions {
  return { routerOptions: { constraints: { [own.name]: own } } } as FastifyServerOptions
}

function route (operationId: string, constraints: Record<string, unknown>, headers = {}): RouteShorthandOptions {
  const schema = { operationId, description: 'A.', tags: ['mcp'] }
  return { schema, constraints, config: { mcp: { arguments: { headers } } } }
}

t.test('a route is called in the version that it has', async (t) => {
  const versions = Object.entries({ one: '1', minor: '1.2', patch: '1.3.0', any: '2.x' })
  const { url } = await listen(t, (app) => {
    for (const [name, version] of versions) app.get('/things', route(name, { version }), async () => ({ version }))
  })
  for (const [name, version] of versions) t.strictSame((await call(url, name)).structuredContent, { version })
})

t.test('a version that the app reads from a header of its own is sent in that header', async (t) => {
  const { url } = await listen(
    t,
    (app) => {
      app.get('/things', route('old', { version: '1' }), handler)
      app.get('/things', route('new', { version: ['2', '3'] }), async () => ({ version: 2 }))
    },
    {},
    server(HEADER)
  )
  t.strictSame((await call(url, 'old')).structuredContent, { version: 1 })
  t.strictSame((await call(url, 'new')).structuredContent, { version: 2 })
})

t.test('a version that the app reads from a part of a header needs that header, and is called with it', async (t) => {
  const version = { version: '1' }
  const app = await build(
    t,
    (app) => {
      app.get('/things', route('old', version), handler)
    },
    {},
    server(MEDIA_TYPE)
  )
  await t.rejects(async () => {
    await app.ready()
  }, {
    code: 'MCP_FROM_ROUTES_UNSUPPORTED_ROUTE',
    message: 'GET /things cannot be a tool: it has the version 1, ' +
      "and the app's own strategy for it reads the header accept. Send one that leads to this route: " +
      "config.mcp.arguments.headers['accept'].value"
  })
  const accept = { value: 'application/json;v=1' }
  const { url } = await listen(
    t,
    (app) => {
      app.get('/things', route('old', version, { accept }), handler)
    },
    {},
    server(MEDIA_TYPE)
  )
  t.strictSame((await call(url, 'old')).structuredContent, { version: 1 })
})

t.test('a strategy for hosts that reads what callers send, or no header, is left to the call', async (t) => {
  const reading: Derive[] = [({ host }) => host?.split('.')[0], (headers) => headers['x-forwarded-host'], () => '127']
  for (const derive of reading) {
    const own = server(strategy('host', derive))
    const { url } = await listen(
      t,
      (app) => {
        app.get('/things', route('get', { host: '127' }), handler)
      },
      {},
      own
    )
    t.strictSame((await call(url, 'get', {}, { 'x-forwarded-host': '127' })).structuredContent, { version: 1 })
  }
})

t.test('a strategy that was added before the plugin cannot be asked, and the error says what to do', async (t) => {
  const before = (app: FastifyInstance): void => app.addConstraintStrategy(HEADER)
  const app = await build(
    t,
    (app) => {
      app.get('/things', route('old', { version: '1' }), handler)
    },
    {},
    {},
    before
  )
  const message = /was added before mcp-from-routes\. Register mcp-from-routes first$/
  await t.rejects(async () => {
    await app.ready()
  }, { message })
  const { url } = await listen(t, (app) => {
    app.addConstraintStrategy(HEADER)
    app.get('/things', route('old', { version: '1' }), handler)
  })
  t.strictSame((await call(url, 'old')).structuredContent, { version: 1 })
})
