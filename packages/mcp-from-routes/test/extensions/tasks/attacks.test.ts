import { mock } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { taskSealer } from '../../../src/extensions/tasks/seal.ts'
import { tasks } from '../../../src/extensions/tasks/index.ts'
import { having, post } from '../../build.ts'
import { ask, jobsApp, KIM, start, startTask, type Answered } from './jobs.ts'

const { build } = having(tasks())

const SECRET = 'a secret that two replicas share.'
const NEXT = 'the secret that they share next..'
const ERAS = ['modern', 'legacy'] as const
const UNKNOWN = { error: { code: -32602, message: 'Unknown task' } }

for (const era of ERAS) {
  const methods = era === 'modern'
    ? ['tasks/get', 'tasks/cancel', 'tasks/update']
    : ['tasks/get', 'tasks/cancel', 'tasks/result']

  t.test(`${era}: an id is of no use to another caller`, async (t) => {
    const { url, reached } = await jobsApp(t)
    const taskId = await startTask(url, {}, { era })
    const others: Array<[string, Record<string, string>]> = [
      ['another key', { 'x-api-key': 'eve' }],
      ['no key', { 'x-api-key': '' }],
      ['one more credential', { authorization: 'Bearer eve' }],
      ['the same key elsewhere', { 'x-api-key': '', authorization: 'kim' }]
    ]
    for (const [title, headers] of others) {
      for (const method of methods) {
        t.match(await ask(url, method, { taskId }, { era, headers }), UNKNOWN, `${method} with ${title}`)
      }
    }
    t.strictSame(reached, ['POST /shops/s1/jobs'], 'no route was reached')
    t.match(
      await ask(url, 'tasks/get', { taskId }, {
        era,
        headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
      }),
      { result: { status: 'working' } }
    )
  })

  t.test(`${era}: an id that was guessed, changed or made by another server is unknown`, async (t) => {
    const { url, reached } = await jobsApp(t, { options: { secret: SECRET } })
    const elsewhere = await jobsApp(t, { options: { secret: `${SECRET} Another.` } })
    const nameless = await jobsApp(t, {
      options: { secret: SECRET, serverInfo: { name: 'another', version: '1' } }
    })
    const taskId = await startTask(url, {}, { era })
    const bytes = Buffer.from(taskId, 'base64url')
    const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    // The last character holds bits that are not used: another one gives the same bytes.
    const respelt = [...last].map((letter) => taskId.slice(0, -1) + letter).filter((id) =>
      id !== taskId && Buffer.from(id, 'base64url').equals(bytes)
    )
    const wrong: Array<[string, string]> = [
      ['of another secret', await startTask(elsewhere.url, {}, { era })],
      ['of a server with another name', await startTask(nameless.url, {}, { era })],
      ['in lower case', taskId.toLowerCase()],
      ['in upper case', taskId.toUpperCase()],
      ['without its end', taskId.slice(0, -4)],
      ['with more', `${taskId}AAAA`],
      ['padded', `${taskId}=`],
      ['in the other alphabet', `${taskId.slice(0, 8)}+${taskId.slice(9)}`],
      ['the path', '/shops/s1/jobs/1'],
      ['a number', '1'],
      ['short', 'AAAA'],
      ['nothing but zeros', Buffer.alloc(bytes.length).toString('base64url')],
      ['empty', ''],
      ['long', 'A'.repeat(10_000)],
      ...respelt.map((id): [string, string] => ['with another last letter', id]),
      ...[0, 12, 30, bytes.length - 1].map((
        at
      ): [string, string] => [
        `with another byte ${at}`,
        Buffer.from(bytes.map((byte, index) => index === at ? byte ^ 1 : byte)).toString('base64url')
      ])
    ]
    if (bytes.length % 3 !== 0) t.ok(respelt.length > 0)
    for (const [title, id] of wrong) {
      t.match(
        await ask(url, 'tasks/get', { taskId: id }, { era }),
        id === '' && era === 'modern' ? { error: {} } : UNKNOWN,
        title
      )
    }
    for (const id of [undefined, 7, null, [taskId], { id: taskId }]) {
      t.match(await ask(url, 'tasks/get', { taskId: id }, { era }), {
        error: { code: era === 'modern' && id !== undefined ? Number : -32602 }
      }, JSON.stringify(id))
    }
    t.strictSame(reached, ['POST /shops/s1/jobs'])
    t.match(await ask(url, 'tasks/get', { taskId }, { era }), { result: { status: 'working' } })
  })

  t.test(`${era}: replicas with one secret know the tasks of each other, and one that has restarted its own`, async (t) => {
    const options = { secret: SECRET }
    const one = await jobsApp(t, { options })
    const taskId = await startTask(one.url, {}, { era })
    const two = await jobsApp(t, { options, jobs: one.jobs })
    t.match(await ask(two.url, 'tasks/get', { taskId }, { era }), { result: { taskId, status: 'working' } })
    await one.app.close()
    t.match(await ask(two.url, 'tasks/cancel', { taskId }, { era }), { result: {} })
    t.match(await ask(two.url, 'tasks/get', { taskId }, { era }), { result: { status: 'cancelled' } })
    const another = await jobsApp(t, { jobs: one.jobs })
    t.match(await ask(another.url, 'tasks/get', { taskId }, { era }), UNKNOWN, 'without the secret')
  })

  t.test(`${era}: while a secret is replaced, replicas a step apart know the tasks of each other, and a dropped one opens none`, async (t) => {
    const first = await jobsApp(t, { options: { secret: SECRET } })
    const replica = async (secret: readonly [string, ...string[]]): Promise<URL> =>
      (await jobsApp(t, { options: { secret }, jobs: first.jobs })).url
    for (
      const [ahead, behind] of [[[SECRET, NEXT], [SECRET]], [[NEXT, SECRET], [SECRET, NEXT]], [[NEXT], [
        NEXT,
        SECRET
      ]]] as const
    ) {
      const urls = [await replica(ahead), await replica(behind)]
      for (const [of, at] of [urls, [...urls].reverse()]) {
        const taskId = await startTask(of!, {}, { era })
        first.jobs.set('/shops/s1/jobs/1', { owner: 'kim', body: { status: 'running' } })
        t.match(await ask(at!, 'tasks/get', { taskId }, { era }), { result: { status: 'working' } })
        t.match(await ask(at!, 'tasks/get', { taskId }, { era, headers: { 'x-api-key': 'eve' } }), UNKNOWN)
      }
    }
    t.match(
      await ask(await replica([NEXT]), 'tasks/get', { taskId: await startTask(first.url, {}, { era }) }, { era }),
      UNKNOWN
    )
  })

  t.test(`${era}: a task expires when it says`, async (t) => {
    mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
    t.teardown(() => mock.timers.reset())
    const { url, reached } = await jobsApp(t, { task: { status: 'get_job', ttl: 60_000 } })
    const ttl = era === 'modern' ? 'ttlMs' : 'ttl'
    const taskId = await startTask(url, {}, { era })
    const longer = await startTask(url, { expires: new Date(1_800_000_120_000).toUTCString() }, { era })
    const past = await startTask(url, { expires: new Date(0).toUTCString() }, { era })
    const now = await startTask(url, { expires: new Date().toUTCString() }, { era })
    t.match(await ask(url, 'tasks/get', { taskId }, { era }), {
      result: { status: 'working', [ttl]: 60_000, createdAt: '2027-01-15T08:00:00.000Z' }
    })
    t.match(await ask(url, 'tasks/get', { taskId: longer }, { era }), { result: { [ttl]: 120_000 } })
    for (const taskId of [past, now]) {
      t.match(
        await ask(url, 'tasks/get', { taskId }, { era }),
        { result: { [ttl]: 60_000 } },
        'a time that is over says nothing'
      )
    }
    mock.timers.tick(60_000)
    t.match(await ask(url, 'tasks/get', { taskId }, { era }), { result: { status: 'working' } })
    mock.timers.tick(1)
    const before = reached.length
    t.match(await ask(url, 'tasks/get', { taskId }, { era }), {
      error: { code: -32602, message: 'The task has expired' }
    })
    t.match(await ask(url, 'tasks/cancel', { taskId }, { era }), {
      error: { code: -32602, message: 'The task has expired' }
    })
    t.equal(reached.length, before)
    t.match(await ask(url, 'tasks/get', { taskId: longer }, { era }), { result: { status: 'working' } })
  })

  t.test(`${era}: work that is forgotten, that the caller may not see, or whose status cannot be read`, async (t) => {
    const { url, jobs } = await jobsApp(t)
    const taskId = await startTask(url, {}, { era })
    const path = '/shops/s1/jobs/1'
    const get = async (): Promise<Answered> => await ask(url, 'tasks/get', { taskId }, { era })
    for (const statusCode of [404, 410]) {
      jobs.set(path, { owner: 'kim', statusCode })
      t.match(await get(), UNKNOWN)
    }
    jobs.set(path, { owner: 'eve' })
    t.match(await get(), { status: 200, error: { code: -32600, message: '403 Forbidden: Not yours' } })
    jobs.set(path, {
      owner: 'kim',
      statusCode: 401,
      headers: { 'www-authenticate': 'Bearer' },
      body: { message: 'Sign in' }
    })
    t.match(
      await get(),
      { status: 401, error: { message: '401 Unauthorized: Sign in' } },
      'clients log in again on the status of HTTP'
    )
    jobs.set(path, { owner: 'kim', statusCode: 500, body: { message: 'secret' } })
    t.match(await get(), { error: { code: -32603, message: 'The status route answered 500 Internal Server Error.' } })
    jobs.set(path, { owner: 'kim', statusCode: 429, headers: { 'retry-after': '9' } })
    t.match(await get(), {
      result: {
        status: 'working',
        [era === 'modern' ? 'pollIntervalMs' : 'pollInterval']: 9000,
        statusMessage: 'The status cannot be read now: 429 Too Many Requests'
      }
    })
    jobs.set(path, { owner: 'kim', body: { status: 'failed', message: 'Line 3 has no price' } })
    const failed = await get()
    if (era === 'legacy') t.match(failed, { result: { status: 'failed', statusMessage: 'Line 3 has no price' } })
    else {t.match(failed, {
        result: {
          status: 'completed',
          result: { isError: true, content: [{ text: 'The work failed.' }, { text: /Line 3 has no price/ }] }
        }
      })}
  })

  t.test(`${era}: a Location that leads elsewhere makes no task, and reaches nothing`, async (t) => {
    const { url, reached } = await jobsApp(t)
    const elsewhere = [
      'http://evil.example/shops/s1/jobs/1',
      '//evil.example/shops/s1/jobs/1',
      '/secrets/1',
      '/shops/s1/jobs/1/report',
      '/shops/s1/jobs/1?as=admin',
      '/shops/s1/jobs/../../../secrets/1',
      '/shops/s1/jobs/%2e%2e',
      '\\\\evil.example\\x',
      `${url.origin}/secrets/1`
    ]
    for (const location of elsewhere) {
      const { result } = await start(url, { location }, { era, tasks: era === 'modern' })
      t.match(result, { content: [{ text: '{"id":"' }] }, location)
      t.notMatch(result, { resultType: 'task' })
    }
    t.ok(reached.every((request) => request === 'POST /shops/s1/jobs'))
    // What looks like a way out is only an id of the status route.
    const taskId = await startTask(url, { location: '/shops/s1/jobs/..%2f..%2f..%2fsecrets%2f1' }, { era })
    t.match(await ask(url, 'tasks/get', { taskId }, { era }), UNKNOWN)
    t.equal(reached.at(-1), 'GET /shops/s1/jobs/..%2F..%2F..%2Fsecrets%2F1')
    t.equal(
      (await start(url, { location: `${url.origin}/shops/s1/jobs/1` }, { era })).error,
      undefined,
      'the same host is fine'
    )
  })

  t.test(`${era}: where the router leads the path of a task to another route, that route does not run`, async (t) => {
    let ran = 0
    const { url } = await jobsApp(t, {
      more (app) {
        app.get('/shops/:shop/jobs/latest', async () => {
          ran += 1
          return { status: 'done', secret: 1 }
        })
        app.delete('/shops/:shop/jobs/all', async () => {
          ran += 1
          return { deleted: 'all' }
        })
      }
    })
    const taskId = await startTask(url, { location: '/shops/s1/jobs/latest' }, { era })
    t.match(await ask(url, 'tasks/get', { taskId }, { era }), {
      error: { code: -32603, message: 'The address of this task belongs to another route.' }
    })
    t.match(await ask(url, 'tasks/cancel', { taskId }, { era }), {
      error: { message: 'The address of this task belongs to another route.' }
    })
    const all = await startTask(url, { location: '/shops/s1/jobs/all' }, { era })
    t.match(await ask(url, 'tasks/cancel', { taskId: all }, { era }), UNKNOWN)
    t.equal(ran, 0)
  })

  t.test(`${era}: cancellation is a DELETE of work that goes on, and nothing else`, async (t) => {
    const { url, jobs, reached } = await jobsApp(t)
    const taskId = await startTask(url, {}, { era })
    const path = '/shops/s1/jobs/1'
    jobs.set(path, { owner: 'kim', body: { status: 'done' } })
    const late = await ask(url, 'tasks/cancel', { taskId }, { era })
    if (era === 'legacy') t.match(late, { error: { code: -32602, message: 'The task has ended: completed' } })
    else t.match(late, { result: { resultType: 'complete' } })
    t.notOk(reached.includes(`DELETE ${path}`), 'what is done is not deleted')
    const without = await jobsApp(t, { withDelete: false })
    const other = await startTask(without.url, {}, { era })
    const said = await ask(without.url, 'tasks/cancel', { taskId: other }, { era })
    if (era === 'legacy') t.match(said, { error: { code: -32601 } }, 'not offered')
    else {t.match(said, {
        error: { code: -32600, message: 'The task of start_job cannot be cancelled: its route has no DELETE' }
      })}
  })

  t.test(`${era}: work of which nobody knows whether it goes on is not cancelled, nor what a DELETE is not meant for`, async (t) => {
    const { url, jobs, reached } = await jobsApp(t)
    const taskId = await startTask(url, {}, { era })
    const [path] = jobs.keys() as Iterator<string> & Iterable<string>
    for (const [statusCode, headers] of [[429, {}], [503, { 'retry-after': '1' }]] as const) {
      jobs.set(path!, { owner: 'kim', statusCode, headers })
      t.match(await ask(url, 'tasks/cancel', { taskId }, { era }), {
        error: { code: -32603, message: /^The status cannot be read now: / }
      })
    }
    const other = await jobsApp(t, { task: { status: 'GET /shops/:shop/jobs/:id', cancel: false } })
    t.match(await ask(other.url, 'tasks/cancel', { taskId: await startTask(other.url, {}, { era }) }, { era }), {
      error: { code: era === 'legacy' ? -32601 : -32600 }
    })
    t.notOk([...reached, ...other.reached].some((request) => request.startsWith('DELETE')))
  })

  t.test(`${era}: only a DELETE that succeeds has cancelled`, async (t) => {
    let statusCode = 200
    const { url } = await jobsApp(t, {
      withDelete: false,
      more: (app) =>
        app.delete(
          '/shops/:shop/jobs/:id',
          async (_request, reply) => reply.code(statusCode).send({ message: 'As it is' })
        )
    })
    const taskId = await startTask(url, {}, { era })
    for (statusCode of [300, 404, 410, 500]) {
      t.match(await ask(url, 'tasks/cancel', { taskId }, { era }), { error: { code: Number } }, String(statusCode))
    }
    for (statusCode of [200, 202, 299]) {
      t.notOk((await ask(url, 'tasks/cancel', { taskId }, { era })).error, String(statusCode))
    }
  })

  t.test(`${era}: a result route that a client may not use is not reached`, async (t) => {
    const denied = new Set<string>()
    const { url, jobs, reached } = await jobsApp(t, {
      task: { status: 'GET /shops/:shop/jobs/:id', result: 'get_report' },
      options: { canUse: ({ name }) => !denied.has(name) }
    })
    const taskId = await startTask(url, {}, { era })
    const [path] = jobs.keys() as Iterator<string> & Iterable<string>
    jobs.set(path!, { owner: 'kim', statusCode: 303, headers: { location: `${path!}/report` } })
    denied.add('get_report')
    t.match(await ask(url, 'tasks/get', { taskId }, { era }), UNKNOWN)
    t.notOk(reached.some((request) => request.endsWith('/report')))
  })

  t.test(`${era}: what a client may not use, its tasks do not reach`, async (t) => {
    const denied = new Set<string>()
    const { url, reached } = await jobsApp(t, { options: { canUse: ({ name }) => !denied.has(name) } })
    const taskId = await startTask(url, {}, { era })
    denied.add('cancel_job')
    t.match(await ask(url, 'tasks/cancel', { taskId }, { era }), {
      error: { code: -32600, message: 'The task of start_job cannot be cancelled: this client may not use cancel_job' }
    })
    denied.clear()
    for (const name of ['get_job', 'start_job']) {
      denied.add(name)
      const before = reached.length
      for (const method of methods) {
        t.match(await ask(url, method, { taskId }, { era }), UNKNOWN, `${method} without ${name}`)
      }
      t.equal(reached.length, before)
      denied.clear()
    }
    t.match(await ask(url, 'tasks/get', { taskId }, { era }), { result: { status: 'working' } })
  })
}

t.test('replicas of the next release know the tasks of this one', async (t) => {
  const { open } = taskSealer({
    secret: SECRET,
    serverInfo: { name: 'test', version: '1' },
    callerOf: () => [['kim']]
  })
  // Sealed by an earlier build.
  const id = 'dLGT_ol1-zK0h7zjwDJZJCg3nFP7E_HhKgKb4BwMPxUUCPwcZ4nUBRkIEMdlK46kCQ8IIThR-NbGkiBVcKuJ1g8LNVzqWwNsPXrA' +
    'v5aT6yf1Si9HZdkki0_4'
  t.strictSame(open(id, {} as FastifyRequest), { tool: 'start_job', created: 1, until: 2, params: { id: '7' } })
})

t.test('with the option caller, a client that refreshes its credential keeps its tasks, and nobody else has them', async (t) => {
  const { url, jobs } = await jobsApp(t, {
    options: { caller: ({ headers }) => String(headers.authorization).split('.')[0] }
  })
  const at = (authorization: string): { headers: Record<string, string> } => ({
    headers: { authorization, 'x-api-key': authorization }
  })
  const taskId = await startTask(url, {}, at('kim.1'))
  jobs.set('/shops/s1/jobs/1', { owner: 'kim.2', body: { status: 'running' } })
  t.match(await ask(url, 'tasks/get', { taskId }, at('kim.2')), { result: { status: 'working' } })
  t.match(
    await ask(url, 'tasks/get', { taskId }, at('kim.1')),
    { error: { message: '403 Forbidden: Not yours' } },
    'the route decides by the credential of each request'
  )
  t.match(await ask(url, 'tasks/get', { taskId }, at('eve.1')), UNKNOWN)
})

t.test('a caller function that throws is an error of the server, and says nothing', async (t) => {
  let isBroken = false
  const { url } = await jobsApp(t, {
    options: {
      caller: () => {
        if (isBroken) throw new TypeError('secret')
        return 'kim'
      }
    }
  })
  const taskId = await startTask(url)
  isBroken = true
  t.match(await ask(url, 'tasks/get', { taskId }), { error: { code: -32603, message: 'Internal error' } })
  // The job has started, so its client is told as one without tasks.
  t.match(await start(url), {
    status: 200,
    result: { content: [{ text: /^start_job has started the work/ }, {}, { text: 'location: /shops/s1/jobs/2' }] }
  })
})

t.test('a caller that is no string is nobody: two of them would be one', async (t) => {
  for (const caller of [async () => 'kim', () => 7, () => null, () => '', () => ({})]) {
    const { url } = await jobsApp(t, { options: { caller: caller as never }, mcp: {} })
    t.match(await start(url), { result: { content: [{ text: /^start_job has started the work/ }] } })
  }
  const { url } = await jobsApp(t, { options: { caller: () => undefined } })
  const taskId = await startTask(url)
  t.match(
    await ask(url, 'tasks/get', { taskId }, { headers: { 'x-api-key': 'eve' } }),
    UNKNOWN,
    'undefined leaves it to the headers'
  )
})

t.test('a canUse that throws once the route has run loses nothing', async (t) => {
  let calls = 0
  const { url } = await jobsApp(t, {
    options: {
      canUse: () => {
        if (++calls > 1) throw new TypeError('secret')
        return true
      }
    }
  })
  t.match(await start(url, {}, { tasks: false }), {
    status: 200,
    result: { content: [{ text: /GET \/shops\/s1\/jobs\/1, which no tool of yours reads/ }] }
  })
})

t.test('a batch asks for one task, and a call in one is told how to look', async (t) => {
  const { url } = await jobsApp(t)
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'start_job', arguments: { shop: 's1' }, task: {} }
  }
  const taskId = await startTask(url, {}, { era: 'legacy' })
  const get = { jsonrpc: '2.0', id: 2, method: 'tasks/result', params: { taskId } }
  t.match((await post(url, [get, { ...get, id: 3 }], { ...KIM, 'mcp-protocol-version': '2025-03-26' })).body, {
    error: { message: /a batch may hold one request for tools, tasks, resources or skills/ }
  })
  t.match(
    JSON.stringify((await post(url, [call], { ...KIM, 'mcp-protocol-version': '2025-03-26' })).body),
    /start_job has started the work, which is still running/
  )
})

t.test('of 1,000 reads of a task, nothing is kept', async (t) => {
  const held: Array<WeakRef<object>> = []
  const app = await build(t, (app) => {
    app.post('/jobs', {
      schema: { operationId: 'start_job', description: 'D.', tags: ['mcp'] },
      config: { mcp: { task: { status: 'GET /jobs/:id' } } }
    }, async (_request, reply) => reply.code(202).header('location', '/jobs/1').send({}))
    app.get('/jobs/:id', async (request) => {
      held.push(new WeakRef(request), new WeakRef(request.raw))
      return { status: 'running' }
    })
  })
  const headers = { 'mcp-protocol-version': '2025-11-25' }
  const created = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers,
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'start_job', task: {} } }
  })
  const { taskId } = created.json<{ result: { task: { taskId: string } } }>().result.task
  for (let i = 0; i < 1000; i++) {
    const { body } = await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { ...headers, accept: 'application/json, text/event-stream' },
      payload: { jsonrpc: '2.0', id: i, method: 'tasks/get', params: { taskId } }
    })
    if (!body.includes('"working"')) throw new TypeError(body)
  }
  t.equal(held.length, 2000)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  await sleep(0)
  collect()
  const alive = held.filter((ref) => ref.deref() !== undefined).length
  t.ok(alive < 30, `${alive} of 2000 objects are alive`)
})

t.test('the credential of a task is that of each message', async (t) => {
  const { url } = await jobsApp(t, { options: { caller: () => 'everybody' } })
  const taskId = await startTask(url)
  t.match(await ask(url, 'tasks/get', { taskId }, { headers: { 'x-api-key': 'eve' } }), {
    error: { message: '403 Forbidden: Not yours' }
  })
  t.match(await ask(url, 'tasks/get', { taskId }, { headers: KIM }), { result: { status: 'working' } })
})
