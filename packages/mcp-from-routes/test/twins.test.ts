import Fastify from 'fastify'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import t from 'tap'
import mcpFromRoutes from '../src/index.ts'
import { call, listen, SERVER_INFO } from './build.ts'
import type { Teardown } from './build.ts'

const CODE = 'MCP_FROM_ROUTES_UNSUPPORTED_ROUTE'
const schema = { operationId: 'x', description: 'D.', tags: ['mcp'] }
const handler = async (): Promise<string> => 'tool'
const other = async (): Promise<string> => 'other'
const TOOL = { content: [{ type: 'text', text: 'tool' }] }

/** A constraint of the host's own: a value of a header. */
function strategy (name: string, mustMatchWhenDerived: boolean, header = `x-${name}`): object {
  return {
    name,
    mustMatchWhenDerived,
    storage () {
      const kept = new Map<unknown, never>()
      return { get: (value: unknown) => kept.get(value) ?? null, set: (value: unknown, store: never) => { kept.set(value, store) } }
    },
    validate () {},
    deriveConstraint: ({ headers }: { headers: Record<string, unknown> }) => headers[header]
  }
}

function server (mustMatch: boolean, routerOptions: object = {}): FastifyServerOptions {
  return { routerOptions: { ...routerOptions, constraints: { tenant: strategy('tenant', mustMatch) } } } as FastifyServerOptions
}

const tenant = { constraints: { tenant: 'a' } }
const headers = { 'x-tenant': 'a' }
const TRIMMED = { ignoreTrailingSlash: true }
const COLLAPSED = { ignoreDuplicateSlashes: true }
const CASELESS = { caseSensitive: false }
const S = { id: 's' }

// A URL means refused, as a request for it would run the other route; and so it is if some must match.
const pairs: Array<{ tool: string, beside: string, router?: object, args?: Record<string, unknown>, runs?: string, runsIfMust?: string }> = [
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
  { tool: '/t:a', beside: '/t::a', args: { a: 's' }, runs: '/t:a' }
]

for (const { tool, beside, router = {}, args = {}, runs, runsIfMust = runs } of pairs) {
  for (const must of [false, true]) {
    const url = must ? runsIfMust : runs
    t.test(`${tool} beside ${beside} of a constraint${must ? ' that must match' : ''} ${JSON.stringify(router)} ${url === undefined ? 'is a tool' : 'is refused'}`, async (t) => {
      const routes = (app: FastifyInstance): void => { app.get(tool, { schema }, handler).get(beside, tenant, other).post(tool, tenant, other) }
      if (url === undefined) {
        const { url } = await listen(t, routes, { forwardHeaders: ['x-tenant'] }, server(must, router))
        // Where it must match, no tool is found with a value for it, as of any route without that constraint.
        t.match(await call(url, 'x', args, must ? {} : headers), TOOL)
        return
      }
      const message = `GET ${tool} cannot be a tool: the constraint tenant can lead a call of it to GET ${beside}, which has that constraint. Give one of them a path of its own`
      await t.rejects(listen(t, routes, {}, server(must, router)), { code: CODE, message })
      const bare = Fastify(server(must, router))
      t.teardown(() => bare.close())
      routes(bare)
      t.equal((await bare.inject({ url, headers })).body, 'other')
      t.equal((await bare.inject({ url })).body, 'tool')
    })
  }
}

t.test('of two patterns, and of a strategy that was added later, nobody knows enough', async (t) => {
  await t.rejects(listen(t, (app) => { app.get('/x/:id(^[a-z]+$)', { schema }, handler).get('/x/:name(^\\w+$)', tenant, other) }, {}, server(false)), { code: CODE })
  await t.rejects(listen(t, (app) => {
    app.addConstraintStrategy(strategy('late', false) as Parameters<FastifyInstance['addConstraintStrategy']>[0])
    app.get('/x', { schema }, handler).get('/*', { constraints: { late: 'a' } }, other)
  }), { code: CODE, message: /the constraint late can lead a call of it to GET \/\*/ })
})

for (const name of ['host', 'version'] as const) {
  for (const how of ['options', 'addConstraintStrategy'] as const) {
    const replaced = (mustMatch = false): object => strategy(name, mustMatch)
    const start = (t: Teardown, routes: (app: FastifyInstance) => void, mustMatch?: boolean): ReturnType<typeof listen> => listen(t, (app) => {
      if (how === 'addConstraintStrategy') app.addConstraintStrategy(replaced(mustMatch) as Parameters<FastifyInstance['addConstraintStrategy']>[0])
      routes(app)
    }, { forwardHeaders: [`x-${name}`] }, how === 'options' ? { routerOptions: { constraints: { [name]: replaced(mustMatch) } } } as FastifyServerOptions : {})

    t.test(`a strategy that the host put in place of ${name} by ${how} is one of its own`, async (t) => {
      const constraints = { [name]: 'in' }
      await t.rejects(start(t, (app) => { app.get('/x/:id', { schema }, handler).get('/x/special', { constraints }, other) }),
        { code: CODE, message: new RegExp(`the constraint ${name} can lead a call of it to GET /x/special`) })
      await t.rejects(start(t, (app) => { app.get('/x', { constraints, schema }, handler) }), { code: CODE, message: new RegExp(`its constraint ${name} is not known`) })
      const { url } = await start(t, (app) => { app.get('/x/:id', { schema }, handler).get('/y', { constraints }, other) }, true)
      t.match(await call(url, 'x', { id: 's' }), TOOL, 'what the built-in one reads says nothing')
    })
  }
}

t.test('a route outside of the plugin\'s scope is seen before and after it', async (t) => {
  const routes: Array<[string, (app: FastifyInstance) => void, string, RegExp]> = [
    ['a constraint', (app) => app.get('/x/special', tenant, other), '/x/:id', /the constraint tenant can lead a call of it to GET \/x\/special/],
    ['a pattern', (app) => app.get('/x/:id(^\\d+$)', other), '/x/:id', /only the pattern of a parameter tells it from GET \/x\/:id\(\^\\d\+\$\)/],
    ['a host', (app) => app.get('/x/:id', { constraints: { host: /b/ } }, other), '/x/:id', /only the host tells it from GET \/x\/:id of \/b\//],
    ['text that begins with a colon', (app) => app.get('/t', other).get('/t::a', tenant, other), '/t::a', /the constraint tenant can lead a call of it to GET \/t::?a/],
    ['a sibling', (app) => app.register(async (scope) => { scope.get('/:id(^\\d+$)', other) }, { prefix: '/x' }), '/x/:id', /only the pattern/]
  ]
  for (const [title, outside, url, message] of routes) {
    for (const late of [true, false]) {
      const app = Fastify(server(false))
      t.teardown(() => app.close())
      if (!late) outside(app)
      await app.register(async (scope) => {
        await scope.register(mcpFromRoutes, { serverInfo: SERVER_INFO })
        const route = url === '/t::a' ? { schema, constraints: { host: 'a.example.com' } } : { schema }
        scope.get(url, route, handler)
      })
      if (late) outside(app)
      await t.rejects(async () => app.ready(), { code: CODE, message }, `${title}, ${late ? 'after' : 'before'}`)
    }
  }
})

t.test('a tool is no twin of itself, however the router spells it', async (t) => {
  const tools: Array<[string, FastifyServerOptions]> = [
    ['/o/:id?', {}], ['/:id?', {}], ['/x/:id(\\d+)/y', {}], ['/t::a', {}], ['/a%b/:id', {}], ['/x/:a-:b.:c', {}], ['/x/:id([^/:]+)', {}],
    ['/x/', server(false, TRIMMED)], ['/a//x', server(false, COLLAPSED)], ['/X/:Id', server(false, CASELESS)], ['/', {}]
  ]
  for (const [url, options] of tools) {
    for (const constraints of [{}, { host: 'a.example.com' }, { host: /a/ }, { version: '1.0.0' }]) {
      await listen(t, (app) => {
        app.get(url, { schema, constraints }, handler)
        // Of the same parameter, which the tree then prints by several names and patterns.
        app.get('/x/:id(^\\d+$)/z', other).get('/x/:number(\\d+)/w', other).get('/t', other).get('/:other/w', other)
      }, {}, options)
    }
  }
  for (const prefix of ['', '/'] as const) {
    for (const options of [{}, server(false, TRIMMED), server(false, COLLAPSED)]) {
      await listen(t, async (app) => {
        await app.register(async (scope) => { scope.get(prefix, { schema, prefixTrailingSlash: prefix === '' ? 'no-slash' : 'slash' }, handler) }, { prefix: '/api' })
      }, {}, options)
    }
  }
})
