import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import t from 'tap'
import type { McpRouteConfig } from '../src/index.ts'
import { build, call, listen, post, type Teardown } from './build.ts'
import { ask, jobsApp, start, startTask, type JobsOptions } from './task/jobs.ts'

const WARN = 40
const ERROR = 50

/** A logger, and what it has logged of a level and above. */
function logs (
  level: string
): {
  readonly lines: Array<Record<string, unknown>>,
  readonly logger: { level: string, stream: { write: (line: string) => void } }
} {
  const lines: Array<Record<string, unknown>> = []
  return {
    lines,
    logger: {
      level,
      stream: {
        write: (line) => {
          lines.push(JSON.parse(line))
        }
      }
    }
  }
}

/** The app with jobs, and the lines of its log. */
async function loggedJobs (
  t: Teardown,
  { more, ...options }: JobsOptions
): Promise<Awaited<ReturnType<typeof jobsApp>> & { readonly lines: unknown[] }> {
  const lines: unknown[] = []
  const log = (level: number) => (facts: object, msg: string): void => {
    lines.push({ level, ...facts, msg })
  }
  const jobs = await jobsApp(t, {
    ...options,
    more (app) {
      app.addHook('onRequest', async (request) => {
        Object.assign(request, { log: { ...request.log, warn: log(WARN), error: log(ERROR) } })
      })
      more?.(app)
    }
  })
  return { ...jobs, lines }
}

const schema = (operationId: string): object => ({
  operationId,
  description: `What ${operationId} is for.`,
  tags: ['mcp']
})

t.test('a rate limit that does not cover the endpoint is warned of, and one that came before covers it', async (t) => {
  let counted: string[] = []
  /** As @fastify/rate-limit does. */
  const rateLimit = (isGlobal: boolean) =>
    fp(async (app: FastifyInstance) => {
      app.decorate('rateLimit', (() => {}) as never)
      app.addHook('onRoute', (route) => {
        if (isGlobal) {
          route.onRequest = [...[route.onRequest ?? []].flat(), async ({ url }) => {
            counted.push(url)
          }]
        }
      })
    })
  const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  for (
    const [isGlobal, order, warned, expected] of [[true, 'before', 0, ['/mcp']], [true, 'after', 1, []], [
      false,
      'after',
      0,
      []
    ]] as const
  ) {
    counted = []
    const { lines, logger } = logs('warn')
    const limit = async (app: FastifyInstance): Promise<void> => {
      await app.register(rateLimit(isGlobal))
    }
    const { url } = await listen(
      t,
      async (app) => {
        if (order === 'after') await limit(app)
        app.get('/a', { schema: schema('a') }, async () => ({}))
      },
      {},
      { logger },
      order === 'before' ? limit : undefined
    )
    await post(url, LIST)
    t.strictSame(counted, expected, `${isGlobal} ${order}`)
    t.equal(
      lines.filter(({ msg }) => /rate-limit was registered after mcp-from-routes/.test(String(msg))).length,
      warned,
      `${isGlobal} ${order}`
    )
  }
})

t.test('without confirmSecret, the log says what only this process knows', async (t) => {
  const route = (app: FastifyInstance, method: string, operationId: string, mcp: McpRouteConfig): void => {
    app.route({ method, url: `/${operationId}`, schema: schema(operationId), config: { mcp }, handler: async () => 1 })
  }
  const confirmed = (app: FastifyInstance): void => route(app, 'DELETE', 'delete_all', { confirm: 'Delete all?' })
  const task = (app: FastifyInstance): void => {
    route(app, 'POST', 'start', { task: { status: 'GET /status' } })
    route(app, 'GET', 'status', {})
  }
  const plain = (app: FastifyInstance): void => route(app, 'GET', 'plain', {})
  const confirmations = 'without confirmSecret, only this process accepts its confirmations, and only until it ends'
  const tasks = 'without confirmSecret, only this process knows its tasks, and only until it ends'
  for (
    const [title, routes, options, wanted] of [
      ['a tool that a person confirms', [confirmed, plain], {}, [confirmations]],
      ['a tool with a task', [plain, task], {}, [tasks]],
      ['both', [confirmed, task], {}, [confirmations, tasks]],
      ['both, with a secret', [confirmed, task], { confirmSecret: 'a secret of at least 32 bytes, for tests' }, []],
      ['neither', [plain], {}, []]
    ] as const
  ) {
    const { lines, logger } = logs('info')
    const app = await build(t, (app) => routes.forEach((add) => add(app)), options, { logger })
    await app.ready()
    t.strictSame(lines.flatMap(({ msg }) => String(msg).includes('confirmSecret') ? [msg] : []), wanted, title)
  }
})

t.test('a route that may have forgotten to describe its body is named at startup', async (t) => {
  const { lines, logger } = logs('info')
  const app = await build(
    t,
    (app) => {
      const route = (method: string, url: string, more: object = {}): void => {
        app.route({
          method,
          url,
          schema: { ...schema(`${method}${url.replace(/\W/g, '_')}`), ...more },
          handler: async () => 1
        })
      }
      route('POST', '/notes')
      route('PUT', '/settings')
      route('PATCH', '/notes/:id')
      route('POST', '/notes/:id/archive')
      route('PUT', '/search', { querystring: { type: 'object', properties: { q: { type: 'string' } } } })
      route('POST', '/described', { body: { type: 'object', properties: { text: { type: 'string' } } } })
      route('POST', '/whole', { body: { type: 'array' } })
      route('GET', '/notes')
      route('DELETE', '/notes')
      app.post('/untagged', async () => 1)
    },
    {},
    { logger }
  )
  await app.ready()
  const msg =
    'the tools of these routes send no body, because schema.body is missing. If a route reads a body, describe it there'
  t.match(lines, [
    { level: WARN, routes: ['PATCH /notes/:id', 'POST /notes', 'PUT /settings'], msg },
    { level: 30, routes: ['POST /notes/:id/archive', 'PUT /search'], msg }
  ])
  t.equal(lines.length, 2)
})

t.test('a 401 of a route is logged once, if a header that may carry the credential did not reach it', async (t) => {
  const warned = async (options: object, headers: Record<string, string>, status = 401): Promise<unknown[]> => {
    const { lines, logger } = logs('warn')
    const { url } = await listen(
      t,
      (app) => {
        app.get(
          '/a',
          { schema: schema('a') },
          async (_request, reply) => await reply.code(status).send({ message: 'no' })
        )
      },
      options,
      { logger }
    )
    for (let calls = 0; calls < 2; calls++) {
      t.match(await call(url, 'a', {}, headers), status === 200 ? { structuredContent: {} } : { isError: true })
    }
    return lines
  }
  t.match(await warned({}, { 'X-Acme-Key': 'k', 'x-request-id': '1', 'x-api-key': 'k' }), [{
    level: WARN,
    tool: 'a',
    headers: ['x-acme-key'],
    msg: 'the route of a tool answered 401, and these headers of the call did not reach it. If one carries the ' +
      'credential, add it to forwardHeaders'
  }])
  t.equal((await warned({}, { 'x-acme-key': 'k' })).length, 1)
  for (
    const [options, headers, status] of [
      [{ forwardHeaders: ['X-Acme-Key'] }, { 'x-acme-key': 'k' }, 401],
      [{}, {
        'x-api-key': 'k',
        authorization: 'Bearer a',
        'x-request-id': '1',
        'idempotency-key': '1',
        'mcp-session-id': '1'
      }, 401],
      [{}, { 'x-acme-key': 'k' }, 403],
      [{}, { 'x-acme-key': 'k' }, 200]
    ] as const
  ) t.strictSame(await warned(options, headers, status), [], JSON.stringify([options, headers, status]))
})

t.test('a route that breaks its connection off is logged with its tool', async (t) => {
  const { lines, logger } = logs('error')
  const { url } = await listen(
    t,
    (app) => {
      app.get('/broken', { schema: schema('broken'), config: { mcp: { loopback: 'inject' } } }, (_request, reply) => {
        reply.hijack()
        reply.raw.destroy(new TypeError('the disk is full'))
      })
    },
    {},
    { logger }
  )
  t.match(await call(url, 'broken'), {
    isError: true,
    content: [{ text: /^The route did not answer\. The request id is req-\w+\.$/ }]
  })
  t.match(lines.filter(({ msg }) => msg !== 'request errored'), [{
    level: ERROR,
    tool: 'broken',
    err: { message: 'the disk is full' },
    msg: 'the route of a tool did not answer'
  }])
})

t.test('what canUse throws while the SDK answers is logged, and no client reads it', async (t) => {
  const { lines, logger } = logs('error')
  const { url } = await listen(t, (app) => {
    app.get('/a', { schema: schema('a') }, async () => 1)
  }, {
    canUse: () => {
      throw new TypeError('no database')
    }
  }, { logger })
  t.strictSame((await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { extra: 1 } })).body, {
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32603, message: 'Internal error' }
  })
  t.match(lines, [{ level: ERROR, err: { message: 'no database' }, msg: 'a function of the options threw' }])
})

t.test('what is wrong with the routes or the options of a task is logged with its tool', async (t) => {
  const path = '/shops/s1/jobs/1'
  const elsewhere = await loggedJobs(t, {})
  await start(elsewhere.url, { location: '/secrets/1' })
  t.match(elsewhere.lines, [{
    level: WARN,
    tool: 'start_job',
    location: '/secrets/1',
    msg: 'the Location of a 202 does not lead to the route that config.mcp.task.status names, so the call is not a task'
  }])

  const lost = await loggedJobs(t, {})
  const taskId = await startTask(lost.url)
  lost.jobs.set(path, { owner: 'kim', statusCode: 303, headers: { location: '/secrets/1' } })
  await ask(lost.url, 'tasks/get', { taskId })
  t.match(lost.lines, [{
    level: WARN,
    tool: 'start_job',
    location: '/secrets/1',
    msg: 'the status route of a task leads to a result at a route that config.mcp.task.result does not name'
  }])

  const broken = await loggedJobs(t, {
    task: { status: 'GET /broken/:id' },
    more (app) {
      app.get(
        '/broken/:id',
        { schema: schema('broken'), config: { mcp: { loopback: 'inject' } } },
        (_request, reply) => {
          reply.hijack()
          reply.raw.destroy(new TypeError('the disk is full'))
        }
      )
    }
  })
  await ask(broken.url, 'tasks/get', { taskId: await startTask(broken.url, { location: '/broken/1' }) })
  t.match(broken.lines, [{
    level: ERROR,
    tool: 'start_job',
    err: { message: 'the disk is full' },
    msg: 'the route of a task did not answer'
  }])

  let calls = 0
  const throwing = await loggedJobs(t, {
    options: {
      canUse: () => {
        if (++calls > 1) throw new TypeError('no database')
        return true
      }
    }
  })
  await start(throwing.url, {}, { tasks: false })
  t.match(throwing.lines, [{
    level: ERROR,
    tool: 'start_job',
    err: { message: 'no database' },
    msg: 'canUse or caller threw'
  }])

  const unknown = await loggedJobs(t, { options: { caller: () => '' } })
  await start(unknown.url)
  t.match(unknown.lines, [
    { level: ERROR, err: { message: 'caller must return a non-empty string or undefined' }, msg: 'caller failed' },
    {
      level: ERROR,
      tool: 'start_job',
      err: { message: 'The caller cannot be identified' },
      msg: 'canUse or caller threw'
    }
  ])
})
