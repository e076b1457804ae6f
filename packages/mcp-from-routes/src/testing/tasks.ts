import { setTimeout as sleep } from 'node:timers/promises'
import type { FetchLike } from '@modelcontextprotocol/client'
import { attempt } from '../attempt.ts'
import type { Era } from '../types.ts'
import { MCP_FROM_ROUTES_TESTING_TASK } from './errors.ts'

/** How long a test waits between two reads of a status, and for the end, in milliseconds. */
const PAUSE = 100
const PATIENCE = 30_000

type Members = Readonly<Record<string, unknown>>

/** A JSON-RPC message, as far as tasks go. */
interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: Members
  readonly result?: Members
}

/** Sends a request as the client that made the call. */
type Request = (method: string, params: Members) => Promise<Response>

/**
 * A `fetch` for a client that knows no tasks: it follows each task to its end, and the client gets the result. A client
 * waits as long as the server says between two reads; a test need not.
 *
 * @param mayStart - whether a tool may become a task, which clients of 2025-11-25 read in the list
 * @see [Tasks](https://modelcontextprotocol.github.io/ext-tasks/specification/2026-07-28/tasks.html)
 */
export function followTasks (send: FetchLike, era: Era, mayStart: (name: string) => boolean): FetchLike {
  return async (url, init = {}) => {
    const { id, method, params = {} } = messageFrom(init.body)
    if (method !== 'tools/call') return await send(url, init)
    const request: Request = async (method, params) => {
      const headers = new Headers(init.headers)
      if (era === 'modern') {
        headers.set('mcp-method', method)
        headers.set('mcp-name', String(params.name ?? params.taskId))
      }
      return await send(url, { ...init, headers, body: JSON.stringify({ jsonrpc: '2.0', id, method, params }) })
    }
    if (era === 'modern') return await callModern(request, params)
    return mayStart(String(params.name)) ? await callLegacy(request, params) : await send(url, init)
  }
}

/** The server decides whether a call becomes a task, whose last status has the result. */
async function callModern (request: Request, params: Members): Promise<Response> {
  const response = await request('tools/call', params)
  const { id, result: task } = await messageIn(response)
  if (task?.resultType !== 'task') return response
  const { taskId } = task
  const { _meta } = params
  const { result, error } = await untilEnd(params.name, task, async () => await request('tasks/get', { taskId, _meta }))
  return Response.json({ jsonrpc: '2.0', id, ...result === undefined ? { error } : { result } })
}

/** The client asks for a task, and for its result in the end. */
async function callLegacy (request: Request, params: Members): Promise<Response> {
  const response = await request('tools/call', { ...params, task: {} })
  const { result: { task } = {} } = await messageIn(response)
  if (task === undefined) return response
  const { taskId } = task as Members
  await untilEnd(params.name, task as Members, async () => await request('tasks/get', { taskId }))
  return await request('tasks/result', { taskId })
}

/**
 * @returns the task when it has ended
 * @throws {@link MCP_FROM_ROUTES_TESTING_TASK}
 */
async function untilEnd (name: unknown, first: Members, read: () => Promise<Response>): Promise<Members> {
  const fail = (what: string): Error => new MCP_FROM_ROUTES_TESTING_TASK(String(name), what)
  const end = Date.now() + PATIENCE
  let task = first
  while (task.status === 'working') {
    if (Date.now() > end) throw fail(`has not ended after ${PATIENCE / 1000} s`)
    await sleep(PAUSE)
    const message = await messageIn(await read())
    if (message.result === undefined) throw fail(`cannot be followed: ${JSON.stringify(message)}`)
    task = message.result
  }
  if (task.status === 'cancelled') throw fail('was cancelled')
  return task
}

/** The answer in a response, which stays readable: JSON, or the last event of a stream. */
async function messageIn (response: Response): Promise<Message> {
  const text = await response.clone().text()
  return messageFrom(text.split('\n').findLast((line) => line.startsWith('data: '))?.slice(6) ?? text)
}

function messageFrom (text: unknown): Message {
  return attempt(() => JSON.parse(text as string) as Message) ?? {}
}
