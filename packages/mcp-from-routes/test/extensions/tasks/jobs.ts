import type { FastifyInstance, FastifyReply } from 'fastify'
import type { McpFromRoutesOptions, McpRouteConfig } from '../../../src/index.ts'
import { tasks, type TasksOptions } from '../../../src/extensions/tasks/index.ts'
import { listen, post, type Teardown } from '../../build.ts'

/** A job of the app that is tested: what its status route answers. */
export interface Job {
  readonly owner: string | undefined
  statusCode?: number
  headers?: Record<string, string>
  body?: unknown
  /** What it is after it was read. */
  then?: Job
}

export interface JobsApp {
  readonly app: FastifyInstance
  readonly url: URL
  /** By their paths; replicas share them. */
  readonly jobs: Map<string, Job>
  /** Method and path of each request that reached a route of jobs. */
  readonly reached: string[]
}

export interface JobsOptions {
  readonly jobs?: Map<string, Job>
  readonly task?: McpRouteConfig['task']
  readonly options?: Partial<McpFromRoutesOptions> & TasksOptions
  /** The mcp configuration of the tool beside its task. */
  readonly mcp?: McpRouteConfig
  /** The tags of the routes for the status and the cancellation. */
  readonly tags?: readonly string[]
  readonly withDelete?: boolean
  readonly more?: (app: FastifyInstance) => void
}

const params = { type: 'object', properties: { shop: { type: 'string' }, id: { type: 'string' } } }

/**
 * An app whose tool `start_job` answers 202 with the `Location` that its arguments name, by default that of a new job.
 */
export async function jobsApp (
  t: Teardown,
  {
    jobs = new Map(),
    task = { status: 'GET /shops/:shop/jobs/:id' },
    options: { secret, extensions = [], ...options } = {},
    mcp = {},
    tags = ['mcp'],
    withDelete = true,
    more = () => {}
  }: JobsOptions = {}
): Promise<JobsApp> {
  const reached: string[] = []
  const answer = (reply: FastifyReply, { statusCode = 200, headers = {}, body }: Job): unknown =>
    reply.code(statusCode).headers(headers).send(body)
  const { app, url } = await listen(t, (app) => {
    app.addHook('preHandler', async ({ method, url }) => {
      if (url !== '/mcp') reached.push(`${method} ${url}`)
    })
    app.post<
      {
        Params: { shop: string },
        Body: { location?: string, statusCode?: number, expires?: string, wait?: string, isShort?: boolean }
      }
    >('/shops/:shop/jobs', {
      schema: {
        operationId: 'start_job',
        description: 'Start a job.',
        tags: ['mcp'],
        params: { type: 'object', properties: { shop: { type: 'string' } } },
        body: {
          type: 'object',
          properties: {
            location: { type: 'string' },
            statusCode: { type: 'integer' },
            expires: { type: 'string' },
            wait: { type: 'string' },
            isShort: { type: 'boolean' }
          },
          additionalProperties: false
        }
      },
      config: { mcp: { ...mcp, ...task && { task } } }
    }, async ({ params: { shop }, body, headers }, reply) => {
      const path = `/shops/${encodeURIComponent(shop)}/jobs/${jobs.size + 1}`
      const owner = headers['x-api-key'] as string | undefined
      const done: Job = { owner, body: { status: 'done', total: 10, processed: 10 } }
      jobs.set(path, {
        owner,
        headers: { 'retry-after': body.wait ?? '2' },
        body: { status: 'pending', total: 10, processed: 0 },
        ...body.isShort === true && { then: done }
      })
      if (body.expires !== undefined) reply.header('expires', body.expires)
      if (body.wait !== undefined) reply.header('retry-after', body.wait)
      return reply.code(body.statusCode ?? 202).header('location', body.location ?? path).send({
        id: String(jobs.size),
        status: 'pending'
      })
    })
    const schemaOf = (operationId: string): object => ({
      operationId,
      description: `What ${operationId} is for.`,
      tags,
      params
    })
    app.get('/shops/:shop/jobs/:id', { schema: schemaOf('get_job') }, async ({ url, headers }, reply) => {
      const job = jobs.get(url)
      if (job !== undefined && job.owner !== headers['x-api-key']) return reply.code(403).send({ message: 'Not yours' })
      if (job?.then !== undefined) jobs.set(url, job.then)
      return answer(reply, job ?? { owner: undefined, statusCode: 404, body: { message: 'No such job' } })
    })
    if (withDelete) {
      app.delete('/shops/:shop/jobs/:id', { schema: schemaOf('cancel_job') }, async ({ url }, reply) => {
        const job = jobs.get(url)
        if (job !== undefined) {
          jobs.set(url, { owner: job.owner, body: { status: 'cancelled', message: 'Somebody stopped it' } })
        }
        return reply.code(job === undefined ? 404 : 204).send()
      })
    }
    app.get('/shops/:shop/jobs/:id/report', { schema: schemaOf('get_report') }, async ({ url }) => ({ report: url }))
    app.get('/secrets/:id', async ({ params }) => ({ secret: params }))
    more(app)
  }, { ...options, extensions: [tasks({ ...secret !== undefined && { secret } }), ...extensions] })
  return { app, url, jobs, reached }
}

/** What a message is answered with. */
export interface Answered {
  readonly status: number
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number, readonly message: string, readonly data?: unknown }
}

export interface Message {
  /** Default: a client of 2026-07-28. */
  readonly era?: 'legacy' | 'modern'
  readonly headers?: Record<string, string>
  /** Whether the client declares the extension, or asks for a task. Default: it does. */
  readonly tasks?: boolean
  readonly meta?: Record<string, unknown>
}

export const KIM = { 'x-api-key': 'kim' }

/** Sends a request as a client with tasks does, as Kim. */
export async function ask (
  url: URL | string,
  method: string,
  params: Record<string, unknown>,
  { era = 'modern', headers = {}, tasks = true, meta = {} }: Message = {}
): Promise<Answered> {
  if (era === 'legacy') {
    const task = tasks && method === 'tools/call' ? { task: { ttl: 60_000 } } : {}
    const { status, body } = await post(url, {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { ...task, ...params, ...Object.keys(meta).length > 0 && { _meta: meta } }
    }, { 'mcp-protocol-version': '2025-11-25', ...KIM, ...headers })
    return { status, ...body as object }
  }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {
      elicitation: { form: {} },
      ...tasks && { extensions: { 'io.modelcontextprotocol/tasks': {} } }
    },
    'io.modelcontextprotocol/clientInfo': { name: 'a client', version: '1' },
    ...meta
  }
  const name = params.name ?? params.taskId
  const { status, body } = await post(url, { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...name !== undefined && { 'mcp-name': String(name) },
    ...KIM,
    ...headers
  })
  return { status, ...body as object }
}

/** Starts a job, and gives what the client gets. */
export async function start (
  url: URL | string,
  args: Record<string, unknown> = {},
  message: Message = {}
): Promise<Answered> {
  return ask(url, 'tools/call', { name: 'start_job', arguments: { shop: 's1', ...args } }, message)
}

/** The id of the task that a job becomes. */
export async function startTask (
  url: URL | string,
  args: Record<string, unknown> = {},
  message: Message = {}
): Promise<string> {
  const { result, error } = await start(url, args, message)
  const { taskId } = (result?.task ?? result ?? {}) as { taskId?: string }
  if (taskId === undefined) throw new TypeError(`no task: ${JSON.stringify(result ?? error)}`)
  return taskId
}
