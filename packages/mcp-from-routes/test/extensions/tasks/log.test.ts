import t from 'tap'
import type { Teardown } from '../../build.ts'
import { ask, jobsApp, start, startTask, type JobsOptions } from './jobs.ts'

const WARN = 40
const ERROR = 50
const schema = (operationId: string): object => ({ operationId, description: 'D.', tags: ['mcp'] })

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
