import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import mcpFromRoutes, { type McpRouteConfig } from '../../../src/index.ts'
import { tasks } from '../../../src/extensions/tasks/index.ts'
import { having, post, SERVER_INFO } from '../../build.ts'
import { ask, jobsApp, KIM, start, startTask } from './jobs.ts'

const { build } = having(tasks())

const ERAS = ['modern', 'legacy'] as const
const params = { type: 'object', properties: { shop: { type: 'string' }, id: { type: 'string' } } }

t.test('the server offers tasks where a tool starts work, and never a list of them', async (t) => {
  const { url } = await jobsApp(t)
  t.match(await ask(url, 'server/discover', {}), {
    result: { capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } } }
  })
  const { result } = await ask(url, 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' }
  }, { era: 'legacy' })
  t.strictSame(result?.capabilities, { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } })
  for (const era of ERAS) t.match(await ask(url, 'tasks/list', {}, { era }), { error: { code: -32601 } })
  t.match(
    await ask(url, 'tasks/result', { taskId: 'x' }),
    { error: { code: -32601 } },
    'there is none with the extension'
  )
  const list = async (era: 'legacy' | 'modern'): Promise<unknown> =>
    ((await ask(url, 'tools/list', {}, { era })).result?.tools as Array<{ name: string, execution?: unknown }>).find((
      { name }
    ) => name === 'start_job')?.execution
  t.strictSame([await list('legacy'), await list('modern')], [{ taskSupport: 'optional' }, undefined])
})

t.test('a status that its route compresses unasked is read all the same', async (t) => {
  const { url, jobs } = await jobsApp(t)
  const taskId = await startTask(url)
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  const body = gzipSync(JSON.stringify({ status: 'done', total: 10, processed: 10 }))
  for (const path of jobs.keys()) jobs.set(path, { owner: 'kim', headers, body })
  t.match(await ask(url, 'tasks/get', { taskId }), {
    result: { status: 'completed', result: { structuredContent: { total: 10, processed: 10 } } }
  })
})

t.test('a server without such a tool knows no tasks', async (t) => {
  const bare = await build(t, (app) => {
    app.get('/a', { schema: { operationId: 'a', description: 'A.', tags: ['mcp'] } }, async () => 'a')
  })
  await bare.listen({ host: '127.0.0.1', port: 0 })
  const at = `${bare.listeningOrigin}/mcp`
  t.strictSame((await ask(at, 'server/discover', {})).result?.capabilities, { tools: {} })
  for (const era of ERAS) {
    t.match(await ask(at, 'tasks/get', { taskId: 'x' }, { era }), { error: { code: -32601 } })
    t.match(await ask(at, 'tools/call', { name: 'a', arguments: {} }, { era }), {
      result: { content: [{ text: 'a' }] }
    }, 'what asks for a task is ignored, as the revisions say')
  }
})

t.test('messages about tasks need the extension, in each message', async (t) => {
  const { url } = await jobsApp(t)
  const taskId = await startTask(url)
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
    t.match(await ask(url, method, { taskId }, { tasks: false }), {
      status: 400,
      error: { code: -32021, data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } } }
    })
  }
  const listen = { notifications: { taskIds: [taskId] } }
  t.match(await ask(url, 'subscriptions/listen', listen, { tasks: false }), { status: 400, error: { code: -32021 } })
  const declared = {
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': true } }
  }
  t.match(
    await ask(url, 'tasks/get', { taskId }, { tasks: false, meta: declared }),
    { error: {} },
    'true is no declaration'
  )
})

for (const era of ERAS) {
  t.test(`${era}: a 303 leads to the result, with the hooks of its route`, async (t) => {
    const { url, jobs, reached } = await jobsApp(t, {
      task: { status: 'get_job', result: 'GET /shops/:shop/jobs/:id/report' }
    })
    const taskId = await startTask(url, {}, { era })
    const path = '/shops/s1/jobs/1'
    jobs.set(path, { owner: 'kim', statusCode: 303, headers: { location: `${path}/report` } })
    const got = await ask(url, 'tasks/get', { taskId }, { era })
    const final = era === 'modern'
      ? (got.result as { result: unknown }).result
      : (await ask(url, 'tasks/result', { taskId }, { era })).result
    t.match(got, { result: { status: 'completed' } })
    t.match(final, {
      content: [{ text: `{"report":"${path}/report"}` }],
      structuredContent: { report: `${path}/report` }
    })
    t.ok(reached.includes(`GET ${path}/report`))
    for (const location of ['/secrets/1', 'http://evil.example/shops/s1/jobs/1/report', `${path}/report?x=1`, path]) {
      jobs.set(path, { owner: 'kim', statusCode: 303, headers: { location } })
      const lost = await ask(url, 'tasks/get', { taskId }, { era })
      t.match(lost, {
        result: {
          status: 'failed',
          statusMessage: 'The work is done, but its result is at a route that a task cannot read.'
        }
      }, location)
      if (era === 'modern') t.match(lost, { result: { error: { code: -32603 } } })
      else t.match(await ask(url, 'tasks/result', { taskId }, { era }), { error: { code: -32603 } })
    }
    t.notOk(reached.some((request) => request.includes('secrets')))
  })

  t.test(`${era}: a result that cannot be had now is no result, and a cancellation that is refused is none`, async (t) => {
    let said = { statusCode: 200, headers: {} as Record<string, string> }
    const { url, jobs, reached } = await jobsApp(t, {
      withDelete: false,
      task: { status: 'get_job', result: 'GET /results/:id' },
      more (app) {
        app.get(
          '/results/:id',
          async (_request, reply) => reply.code(said.statusCode).headers(said.headers).send({ message: 'R' })
        )
        app.delete(
          '/shops/:shop/jobs/:id',
          async (_request, reply) => reply.code(said.statusCode).headers(said.headers).send({ message: 'D' })
        )
      }
    })
    const taskId = await startTask(url, {}, { era })
    const path = '/shops/s1/jobs/1'
    const running = jobs.get(path)
    const cases: Array<[number, Record<string, string>, object, object]> = [
      [500, {}, { error: { code: -32603, message: /^The route failed with status 500/ } }, {
        error: { code: -32603, message: /^The route failed with status 500/ }
      }],
      [429, { 'retry-after': '3' }, { error: { code: -32603, message: /^429 Too Many Requests: R/ } }, {
        error: { code: -32603, message: /^429 Too Many Requests: D/ }
      }],
      [409, {}, { result: { status: era === 'modern' ? 'completed' : 'failed' } }, {
        error: { code: -32603, message: '409 Conflict: D' }
      }],
      [403, {}, { error: { code: -32600, message: '403 Forbidden: R' } }, {
        error: { code: -32600, message: '403 Forbidden: D' }
      }],
      [401, { 'www-authenticate': 'Bearer' }, { status: 401 }, { status: 401 }],
      [404, {}, { result: { status: era === 'modern' ? 'completed' : 'failed' } }, {
        error: { code: -32602, message: 'Unknown task' }
      }],
      [202, {}, { result: { status: 'completed' } }, {
        result: era === 'modern' ? { resultType: 'complete' } : { status: 'working' }
      }]
    ]
    for (const [statusCode, headers, ofResult, ofCancel] of cases) {
      said = { statusCode, headers }
      jobs.set(path, { owner: 'kim', statusCode: 302, headers: { location: '/results/7' } })
      t.match(await ask(url, 'tasks/get', { taskId }, { era }), ofResult, `the result is ${statusCode}`)
      if (running !== undefined) jobs.set(path, running)
      t.match(await ask(url, 'tasks/cancel', { taskId }, { era }), ofCancel, `DELETE is ${statusCode}`)
    }
    t.equal(reached.filter((request) => request === 'GET /results/7').length, cases.length)
    t.equal(reached.filter((request) => request === `DELETE ${path}`).length, cases.length)
  })

  t.test(`${era}: a 202 without a Location, and every other answer, is a result`, async (t) => {
    const { url } = await jobsApp(t)
    const at = { era, tasks: era === 'modern' }
    t.match(await start(url, { statusCode: 201 }, at), {
      result: {
        content: [{ text: '{"id":"1","status":"pending"}' }],
        structuredContent: { id: '1', status: 'pending' }
      }
    })
    t.match(await start(url, { statusCode: 200 }, at), { result: { structuredContent: {} } })
    t.match(await start(url, { location: '' }, at), { result: { structuredContent: {} } })
  })

  t.test(`${era}: a status route that is no tool is named by its path`, async (t) => {
    const { url } = await jobsApp(t, { tags: [] })
    t.match(await start(url, {}, { era, tasks: false }), {
      result: {
        content: [{
          text: 'start_job has started the work, which is still running. Its status is at GET /shops/s1/jobs/1, ' +
            'which no tool of yours reads. Tell the person, who can look there in 5 s. Do not call start_job ' +
            'again for the same work.'
        }],
        _meta: { 'mcp-from-routes/headers': { location: '/shops/s1/jobs/1' } }
      }
    })
    const taskId = await startTask(url, {}, { era })
    t.match(await ask(url, 'tasks/get', { taskId }, { era }), {
      result: { status: 'working', statusMessage: '0 of 10' }
    })
  })

  t.test(`${era}: a tool that reports progress becomes a task all the same, and reports none`, async (t) => {
    const { url } = await jobsApp(t, {
      more (app: FastifyInstance) {
        app.post<{ Body: { long: boolean } }>('/stream', {
          schema: {
            operationId: 'stream',
            description: 'S.',
            tags: ['mcp'],
            body: { type: 'object', properties: { long: { type: 'boolean' } } },
            response: { 200: { content: { 'application/x-ndjson': { schema: { type: 'string' } } } } }
          },
          config: { mcp: { task: { status: 'get_job' } } }
        }, async ({ body }, reply) =>
          body.long
            ? reply.code(202).header('location', '/shops/s1/jobs/1').send({})
            : reply.type('application/x-ndjson').send(Readable.from(['{"message":"one"}\n', '{"message":"two"}\n'])))
      }
    })
    const call = { name: 'stream', arguments: { long: true } }
    t.match(await ask(url, 'tools/call', call, { era, meta: { progressToken: 'p' } }), {
      result: era === 'modern' ? { resultType: 'task', status: 'working' } : { task: { status: 'working' } }
    })
    t.match(await ask(url, 'tools/call', call, { era, tasks: false, meta: { progressToken: 'p' } }), {
      result: { content: [{ text: /^stream has started the work/ }] }
    })
  })
}

t.test('2025-11-25: tasks/result waits for the end, as long as a call may take', async (t) => {
  const { url, reached } = await jobsApp(t, { options: { toolTimeout: 4000 } })
  const taskId = await startTask(url, { wait: '1', isShort: true }, { era: 'legacy' })
  t.match(await ask(url, 'tasks/result', { taskId }, { era: 'legacy' }), {
    result: { content: [{ text: /"done"/ }], _meta: { 'io.modelcontextprotocol/related-task': { taskId } } }
  })
  t.equal(reached.filter((request) => request.startsWith('GET')).length, 2)
  const long = await startTask(url, { wait: '9' }, { era: 'legacy' })
  t.match(await ask(url, 'tasks/result', { taskId: long }, { era: 'legacy' }), {
    error: { code: -32603, message: 'The task is still running. Get its status with tasks/get in 9 s' }
  })
})

t.test('2025-11-25: a call that had ended already is a task with its result in the id', async (t) => {
  const { url, reached } = await jobsApp(t)
  const era = 'legacy'
  const created = await start(url, { statusCode: 201 }, { era })
  t.match(created, { result: { task: { status: 'working', ttl: 300_000, pollInterval: 1000 } } })
  const { taskId } = created.result?.task as { taskId: string }
  t.match(await ask(url, 'tasks/get', { taskId }, { era }), { result: { status: 'completed', ttl: 300_000 } })
  t.match(await ask(url, 'tasks/result', { taskId }, { era }), {
    result: {
      structuredContent: { id: '1' },
      _meta: {
        'io.modelcontextprotocol/related-task': { taskId },
        'mcp-from-routes/headers': { location: '/shops/s1/jobs/1' }
      }
    }
  })
  t.match(await ask(url, 'tasks/cancel', { taskId }, { era }), {
    error: { code: -32602, message: 'The task has ended: completed' }
  })
  t.match(await ask(url, 'tasks/get', { taskId }, { era, headers: { 'x-api-key': 'eve' } }), {
    error: { message: 'Unknown task' }
  })
  t.strictSame(reached, ['POST /shops/s1/jobs'])
  t.match(await ask(url, 'tools/call', { name: 'get_job', arguments: { shop: 's1', id: '1' } }, { era }), {
    error: { code: -32601, message: 'get_job does not support tasks' }
  })
  t.match(await ask(url, 'tools/call', { name: 'get_job', arguments: { shop: 's1', id: '1' } }), {
    result: { resultType: 'complete' }
  }, 'in the newest revision the server decides')
})

t.test('2025-11-25: a server that closes does not wait for the end of a task', async (t) => {
  const { app, url, reached } = await jobsApp(t)
  const taskId = await startTask(url, { wait: '3600' }, { era: 'legacy' })
  const other = await startTask(url, { wait: '20' }, { era: 'legacy' })
  t.match(await ask(url, 'tasks/result', { taskId }, { era: 'legacy' }), {
    error: { message: 'The task is still running. Get its status with tasks/get in 3600 s' }
  })
  const before = reached.length
  const answered = ask(url, 'tasks/result', { taskId: other }, { era: 'legacy' })
  while (reached.length === before) await sleep(1)
  await app.close()
  t.match(await answered, { status: 503 })
})

t.test('2025-11-25: in a batch, a server that closes says so in the answer', async (t) => {
  const { app, url, reached } = await jobsApp(t)
  const taskId = await startTask(url, { wait: '20' }, { era: 'legacy' })
  const before = reached.length
  const answered = post(url, [{ jsonrpc: '2.0', id: 1, method: 'tasks/result', params: { taskId } }], {
    'mcp-protocol-version': '2025-03-26',
    ...KIM
  })
  while (reached.length === before) await sleep(1)
  await app.close()
  t.match((await answered).body, { error: { code: -32603, message: 'The server stopped waiting for the task' } })
})

t.test('how work ended is told to whom would cancel it', async (t) => {
  const { url, jobs } = await jobsApp(t)
  const lost = 'The work is done, but its result is at a route that a task cannot read.'
  for (
    const [job, ended, status] of [
      [{ statusCode: 303, headers: { location: '/secrets/1' } }, 'completed', {
        legacy: { status: 'failed', statusMessage: lost },
        modern: { status: 'failed', statusMessage: lost, error: { code: -32603, message: lost } }
      }],
      [{ body: { status: 'failed', message: 'No paper' } }, 'failed', {
        legacy: { status: 'failed', statusMessage: 'No paper' },
        modern: { status: 'completed', result: { isError: true, resultType: 'complete' } }
      }],
      [{ body: { status: 'cancelled', message: 'By Eve' } }, 'cancelled', {
        legacy: { status: 'cancelled', statusMessage: 'By Eve' },
        modern: { status: 'cancelled' }
      }]
    ] as const
  ) {
    for (const era of ['legacy', 'modern'] as const) {
      const taskId = await startTask(url, {}, { era })
      const path = [...jobs.keys()].at(-1) ?? ''
      jobs.set(path, { owner: 'kim', ...job })
      t.match(await ask(url, 'tasks/get', { taskId }, { era }), { result: status[era] }, `${era} ${ended}`)
      t.match(
        await ask(url, 'tasks/cancel', { taskId }, { era }),
        era === 'legacy'
          ? { error: { code: -32602, message: `The task has ended: ${ended}` } }
          : { result: { resultType: 'complete' } }
      )
      if (era === 'legacy') {
        t.match(
          await ask(url, 'tasks/result', { taskId }, { era }),
          {
            completed: { error: { code: -32603, message: lost } },
            failed: {
              result: {
                isError: true,
                content: [{ text: 'The work failed.' }, { text: '{"status":"failed","message":"No paper"}' }]
              }
            },
            cancelled: { result: { isError: true, content: [{ text: 'The work was cancelled. By Eve' }] } }
          }[ended]
        )
      }
    }
  }
})

t.test('one client may ask in an event stream', async (t) => {
  const { url } = await jobsApp(t)
  const text = await (await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      ...KIM
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: { name: 'start_job', arguments: { shop: 's1' }, task: {} }
    })
  })).text()
  t.match(text, /^event: message\ndata: \{"jsonrpc":"2.0","id":7,"result":\{"task":\{"taskId":/)
  t.match(
    (await post(url, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'start_job', arguments: { shop: 's1' }, task: 'now' }
    }, KIM)).body,
    { error: { code: -32602 } }
  )
})

t.test('a status route that the guard does not know stops the startup', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.get('/jobs/:id', async () => '')
  await app.register(mcpFromRoutes, { serverInfo: SERVER_INFO, extensions: [tasks()] })
  app.post('/jobs', {
    schema: { operationId: 'start_job', description: 'D.', tags: ['mcp'] },
    config: { mcp: { task: { status: 'GET /jobs/:id' } } }
  }, async () => '')
  await t.rejects(async () => {
    await app.ready()
  }, {
    code: 'MCP_FROM_ROUTES_INVALID_CONFIG',
    message: 'POST /jobs has a wrong config.mcp: task.status names GET /jobs/:id, which was registered before ' +
      'mcp-from-routes. Register it after the plugin'
  })
})

/** Builds an app with one tool and the given routes beside it, and gives the error of its startup. */
async function startup (
  t: Parameters<typeof build>[0],
  task: unknown,
  more: (app: FastifyInstance) => void = () => {}
): Promise<string> {
  const app = await build(t, (app) => {
    app.post('/jobs', {
      schema: { operationId: 'start_job', description: 'D.', tags: ['mcp'] },
      config: { mcp: { task } as McpRouteConfig }
    }, async () => '')
    app.get('/jobs/:id', { schema: { operationId: 'get_job', params } }, async () => '')
    more(app)
  })
  return await app.ready().then(
    () => 'started',
    (error: Error) => error.message.replace('POST /jobs has a wrong config.mcp: ', '')
  )
}

t.test('what cannot hold stops the startup', async (t) => {
  const handler = async (): Promise<string> => ''
  const names =
    'which is not a GET route of this app. Write it with its prefix, as in GET /imports/:id, or use its operationId'
  const path = 'whose path has a wildcard, an optional parameter, or a parameter that is only part of a segment'
  const cases: Array<[unknown, string, ((app: FastifyInstance) => void)?]> = [
    [{ status: 'GET /jobs/:id' }, 'started'],
    [{ status: 'get_job', ttl: 1000, field: 'a.b', words: { x: 'failed' } }, 'started'],
    [
      true,
      "task must be an object with status, the route that returns the status of the work: { status: 'GET " +
      "/imports/:id' }"
    ],
    [
      {},
      "task must be an object with status, the route that returns the status of the work: { status: 'GET " +
      "/imports/:id' }"
    ],
    [{ status: 'get_job', url: '/x' }, 'task.url is not known. task has status, cancel, result, field, words, ttl'],
    [{ status: 'get_job', result: 1 }, "task.result must be a route: 'GET /imports/:id/report'"],
    [{ status: 'get_job', field: 'a..b' }, 'task.field must be the name of a field, or several with dots between them'],
    [{ status: 'get_job', words: ['x'] }, 'task.words must be an object'],
    [{ status: 'get_job', words: { x: 'ended' } }, 'task.words.x must be one of working, completed, failed, cancelled'],
    [{ status: 'get_job', ttl: 0 }, 'task.ttl must be a positive integer, in milliseconds'],
    [{ status: 'get_job', ttl: '1h' }, 'task.ttl must be a positive integer, in milliseconds'],
    [{ status: 'POST /jobs' }, 'task.status names POST /jobs, and must name a GET route'],
    [{ status: 'GET /job/:id' }, `task.status names GET /job/:id, ${names}`],
    [{ status: '/jobs/:id' }, `task.status names /jobs/:id, ${names}`],
    [{ status: 'start_job' }, `task.status names start_job, ${names}`],
    [{ status: 'get_job', result: 'get_report' }, `task.result names get_report, ${names}`],
    [{ status: 'GET /files/*' }, `task.status names GET /files/*, ${path}`, (app) => {
      app.get('/files/*', handler)
    }],
    [{ status: 'GET /a/:id?' }, `task.status names GET /a/:id?, ${path}`, (app) => {
      app.get('/a/:id?', handler)
    }],
    [{ status: 'GET /a/:id-:n' }, `task.status names GET /a/:id-:n, ${path}`, (app) => {
      app.get('/a/:id-:n', handler)
    }],
    [{ status: 'GET /a/x:id' }, `task.status names GET /a/x:id, ${path}`, (app) => {
      app.get('/a/x:id', handler)
    }],
    [{ status: 'GET /a' }, 'task.status names GET /a, which has constraints that a task cannot meet', (app) => {
      app.get('/a', { constraints: { host: 'x.example' } }, handler)
    }],
    [{ status: 'GET /a' }, 'task.status names GET /a, which matches several routes. Name one', (app) => {
      app.get('/a', handler)
      app.get('/a', { constraints: { version: '2.0.0' } }, handler)
    }],
    [{ status: 'get' }, 'task.status names get, which matches several routes. Name one', (app) => {
      for (const url of ['/a', '/b']) app.get(url, { schema: { operationId: 'get' } }, handler)
    }],
    [
      { status: 'GET /a' },
      "task: the field status of the status route can be draft, shiny. Say what they mean: words: { draft: 'working' }",
      (app) => {
        app.get('/a', {
          schema: {
            response: {
              200: { type: 'object', properties: { status: { type: 'string', enum: ['running', 'draft', 'shiny'] } } }
            }
          }
        }, handler)
      }
    ],
    [
      { status: 'GET /a', field: 'job.state' },
      "task: the field job.state of the status route can be draft. Say what they mean: words: { draft: 'working' }",
      (app) => {
        app.get('/a', {
          schema: {
            response: {
              200: {
                type: 'object',
                properties: { job: { type: 'object', properties: { state: { enum: ['running', 'draft'] } } } }
              }
            }
          }
        }, handler)
      }
    ],
    [{ status: 'GET /a' }, 'started', (app) => {
      app.get('/a', {
        schema: { querystring: { type: 'object', properties: { token: { type: 'string' } }, required: [] } }
      }, handler)
    }],
    [{ status: 'GET /a' }, 'started', (app) => {
      app.get('/a', {
        schema: { response: { 200: { type: 'object', properties: { status: { enum: ['running', null, 5] } } } } }
      }, handler)
    }],
    [{ status: 'GET /a', words: { Draft: 'working', shiny: 'completed' } }, 'started', (app) => {
      app.get('/a', {
        schema: {
          response: {
            200: {
              type: 'object',
              properties: { status: { anyOf: [{ const: 'running' }, { const: 'draft' }, { const: 'shiny' }] } }
            }
          }
        }
      }, handler)
    }],
    [
      { status: 'GET /a' },
      'task.status names GET /a, which requires the query argument token, which a task does not have',
      (app) => {
        app.get('/a', {
          schema: { querystring: { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] } }
        }, handler)
      }
    ],
    [{ status: 'GET /v1/jobs/:id' }, 'started', (app) => {
      app.register(async (scope) => {
        scope.get('/jobs/:id', handler)
      }, { prefix: '/v1' })
    }]
  ]
  for (const [task, error, more] of cases) t.equal(await startup(t, task, more), error, JSON.stringify(task))
})
