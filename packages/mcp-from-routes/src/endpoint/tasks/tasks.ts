import { setTimeout as sleep } from 'node:timers/promises'
import { MissingRequiredClientCapabilityError, ProtocolError, ProtocolErrorCode, RELATED_TASK_META_KEY } from '@modelcontextprotocol/server'
import type { StandardSchemaV1, Task } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import { excerpt } from '../../call/excerpt.ts'
import { resultFor } from '../../call/result.ts'
import type { ToolResult } from '../../call/result.ts'
import { stopWithinMessage } from '../../call/stop.ts'
import type { Stop } from '../../call/stop.ts'
import type { Follower, Followed, Progressed } from '../../task/follow.ts'
import type { TaskRoute, TaskRules } from '../../task/rule.ts'
import type { SealedTask, TaskSealer } from '../../task/seal.ts'
import { DEFAULT_POLL, workResult } from '../../task/work.ts'
import { isObject } from '../../tool/json-schema.ts'
import type { Tool } from '../../tool/tool.ts'
import type { Era } from '../../types.ts'
import { TASKS_EXTENSION } from './request.ts'
import type { TaskRequest } from './request.ts'

/** What the endpoint does with running work. */
export interface Tasks {
  /** Whether a tool of the endpoint starts work, and whether some of it can be cancelled. */
  readonly offered: () => { readonly tasks: boolean, readonly cancel: boolean }
  /** The result of a call of a tool with `config.mcp.task`: a task, or the result itself. */
  readonly outcome: (tool: Tool, result: ToolResult, taskRequest: TaskRequest | undefined, outer: FastifyRequest) => Promise<ToolResult | CreatedTask>
  /** What `tasks/get`, `tasks/result`, `tasks/cancel` and `tasks/update` answer. Throws errors of the protocol. */
  readonly answer: (method: string, id: string, message: TaskMessage) => Promise<Record<string, unknown>>
}

/** A result of the protocol that is a task. */
export interface CreatedTask { readonly task: Readonly<Record<string, unknown>> }

/** One message about a task. */
export interface TaskMessage {
  readonly era: Era
  readonly outer: FastifyRequest
  /** Ends the message. */
  readonly stop: Stop
  /** Receives a result that may challenge the client to log in. */
  readonly refuse: (result: ToolResult) => void
}

/** What the tasks of one endpoint need to know. */
export interface TaskSettings {
  readonly rules: () => TaskRules
  readonly sealer: TaskSealer
  readonly follower: Follower
  /** How long `tasks/result` waits for the end, in milliseconds. */
  readonly patience: number
  /** The tools of the endpoint. */
  readonly tools: () => ReadonlyMap<string, Tool>
  /** The tool of that name, if there is one and this client may use it. */
  readonly toolFor: (name: string, request: FastifyRequest) => Tool | undefined | Promise<Tool | undefined>
  /** Whether this client may use a tool, of this endpoint or of another one. */
  readonly mayUse: (tool: Tool, request: FastifyRequest) => boolean | Promise<boolean>
}

/** If a call has ended although the client requires a task, the id contains the result. Longer results, in characters, are returned instead of a task. */
const MAX_SEALED = 65_536
/** How long such a task lives, in milliseconds. */
const RESULT_TTL = 300_000
/** The shortest time between two reads of the status by `tasks/result`, in milliseconds. */
const MIN_WAIT = 1000

/** The parameters of a message about a task. */
export const TASK_PARAMS: StandardSchemaV1<unknown, { readonly taskId: string }> = {
  '~standard': {
    version: 1,
    vendor: 'mcp-from-routes',
    validate: (value) => isObject(value) && typeof value.taskId === 'string' ? { value: { taskId: value.taskId } } : { issues: [{ message: 'taskId must be a string', path: ['taskId'] }] }
  }
}

export function tasksOf ({ rules, sealer, follower, patience, tools, toolFor, mayUse }: TaskSettings): Tasks {
  /** The tool, if this endpoint has it and this client may use it. */
  async function usable (tool: Tool | undefined, outer: FastifyRequest): Promise<Tool | undefined> {
    return tool && await toolFor(tool.public.name, outer)
  }

  /** A client's tasks do not reach a route that it may not call as a tool. */
  async function isDenied ({ tool }: TaskRoute, outer: FastifyRequest): Promise<boolean> {
    return tool !== undefined && !await mayUse(tool, outer)
  }

  /** @throws a ProtocolError for an id that this caller does not have */
  async function opened (id: string, { outer, stop, era }: TaskMessage): Promise<{ readonly sealed: SealedTask, readonly work: Followed | undefined }> {
    const sealed = sealer.open(id, outer)
    const tool = sealed && await toolFor(sealed.tool, outer)
    if (sealed === undefined || tool === undefined) throw unknownTask()
    if (sealed.until < Date.now()) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The task has expired')
    if (sealed.params === undefined) return { sealed, work: undefined }
    const rule = rules().get(tool)
    if (rule === undefined || await isDenied(rule.status, outer) || (rule.result !== undefined && await isDenied(rule.result, outer))) throw unknownTask()
    return { sealed, work: { tool, rule, params: new Map(Object.entries(sealed.params)), outer, stop: stopWithinMessage(stop, era, false) } }
  }

  async function progressOf ({ sealed, work }: Awaited<ReturnType<typeof opened>>): Promise<Progressed> {
    if (work !== undefined) return await follower.progress(work)
    const content = (sealed.result?.content ?? []) as ToolResult['content']
    return sealed.result?.isError === true ? { status: 'failed', result: { content } } : { status: 'completed', result: { content } }
  }

  /** The result of a task that has ended, as clients read it. */
  function finalResult ({ result: known }: SealedTask, progress: Progressed): Record<string, unknown> {
    if (known !== undefined) return { ...known }
    if ('result' in progress) return resultFor(progress.result)
    return { content: [{ type: 'text', text: ['The work was cancelled.', 'message' in progress ? progress.message : undefined].filter((text) => text !== undefined).join(' ') }], isError: true }
  }

  /** @throws a ProtocolError if the status is not known */
  function known (progress: Progressed, message: TaskMessage): Known {
    if (progress.status === 'unknown') throw unknownTask()
    if (progress.status === 'unreadable') throw new ProtocolError(ProtocolErrorCode.InternalError, progress.why)
    if (progress.status !== 'refused') return progress
    message.refuse(progress.result)
    const [said] = progress.result.content
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, said?.type === 'text' ? said.text : 'The status route refused the caller')
  }

  function statusOf (id: string, sealed: SealedTask, progress: Known, message: TaskMessage): Record<string, unknown> {
    const { status } = progress
    if (message.era === 'legacy') {
      // Here, a result that is an error is a failure.
      const isFailed = status === 'lost' || status === 'failed' || (status === 'completed' && progress.result.isError === true)
      return isFailed ? taskOf('legacy', id, sealed, 'failed', { ...progress, message: reasonOf(progress) }) : taskOf('legacy', id, sealed, status, progress)
    }
    if (status === 'lost') return { ...taskOf('modern', id, sealed, 'failed', progress), error: { code: ProtocolErrorCode.InternalError, message: progress.why } }
    // Here, a failure is one of the protocol, and work that failed has a result that says so.
    const hasResult = status === 'completed' || status === 'failed'
    return { ...taskOf('modern', id, sealed, hasResult ? 'completed' : status, progress), ...hasResult && { result: { ...finalResult(sealed, progress), resultType: 'complete' } } }
  }

  /** Waits for the end, for as long as a call may take. */
  async function result (id: string, message: TaskMessage): Promise<Record<string, unknown>> {
    const task = await opened(id, message)
    const end = Date.now() + patience
    for (;;) {
      const progress = known(await progressOf(task), message)
      if (progress.status === 'lost') throw new ProtocolError(ProtocolErrorCode.InternalError, progress.why)
      if (progress.status !== 'working') {
        const { _meta, ...final } = finalResult(task.sealed, progress)
        return { ...final, _meta: { ...isObject(_meta) && _meta, [RELATED_TASK_META_KEY]: { taskId: id } } }
      }
      const wait = Math.max(progress.poll ?? DEFAULT_POLL, MIN_WAIT)
      if (Date.now() + wait > end) throw new ProtocolError(ProtocolErrorCode.InternalError, `The task is still running. Get its status with tasks/get in ${Math.ceil(wait / 1000)} s`)
      await pause(wait, message.stop)
    }
  }

  async function cancel (id: string, message: TaskMessage): Promise<Record<string, unknown>> {
    const task = await opened(id, message)
    const before = known(await progressOf(task), message)
    if (before.status !== 'working' || task.work === undefined) {
      // A DELETE of finished work could delete its result.
      if (message.era === 'legacy') throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The task has ended: ${before.status === 'lost' ? 'completed' : before.status}`)
      return {}
    }
    // The work may have ended meanwhile.
    if (before.isPutOff === true) throw new ProtocolError(ProtocolErrorCode.InternalError, before.message ?? 'The status of the work cannot be read now')
    const { work, work: { rule: { cancel: route }, tool } } = task
    const cannot = (why: string): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidRequest, `The task of ${tool.public.name} cannot be cancelled: ${why}`)
    if (route === undefined) throw cannot('its route has no DELETE')
    if (route.tool?.confirm !== undefined) throw cannot(`a person has to agree. Call ${route.tool.public.name}`)
    if (await isDenied(route, message.outer)) throw cannot(`this client may not use ${route.tool?.public.name ?? 'that route'}`)
    const refused = await follower.cancel(work, route)
    if (refused !== undefined) known(refused, message)
    if (message.era === 'modern') return {}
    const after = await follower.progress(work)
    // Many apps forget cancelled work. The DELETE succeeded, whatever the status route says now.
    return after.status === 'unknown' || after.status === 'refused' || after.status === 'unreadable' ? taskOf('legacy', id, task.sealed, 'cancelled', {}) : statusOf(id, task.sealed, after, message)
  }

  async function outcomeOf (tool: Tool, result: ToolResult, taskRequest: TaskRequest | undefined, outer: FastifyRequest): Promise<ToolResult | CreatedTask> {
    const { work } = result
    const now = Date.now()
    if (work !== undefined && taskRequest !== undefined) {
      const sealed: SealedTask = { tool: tool.public.name, created: work.created, until: work.until, params: Object.fromEntries(work.params) }
      return created(taskRequest, sealer.seal(sealed, outer), sealed, work)
    }
    if (work !== undefined) return workResult(tool, result, await usable(work.rule.status.tool, outer))
    if (taskRequest !== 'parameter' || result.challenge !== undefined) return result
    const sealed: SealedTask = { tool: tool.public.name, created: now, until: now + RESULT_TTL, result: resultFor(result) }
    if (JSON.stringify(sealed.result).length > MAX_SEALED) return result
    return created(taskRequest, sealer.seal(sealed, outer), sealed, { poll: MIN_WAIT })
  }

  return {
    offered () {
      const all = [...tools().values()].flatMap((tool) => rules().get(tool) ?? [])
      return { tasks: all.length > 0, cancel: all.some(({ cancel }) => cancel !== undefined) }
    },
    async outcome (tool, result, taskRequest, outer) {
      try {
        return await outcomeOf(tool, result, taskRequest, outer)
      } catch (error) {
        // The route has run, so return its response although a function of the host threw.
        outer.log.error({ err: error, tool: tool.public.name }, 'canUse or caller threw')
        return workResult(tool, result)
      }
    },
    async answer (method, id, message) {
      if (method === 'tasks/result') return await result(id, message)
      if (method === 'tasks/cancel') return await cancel(id, message)
      const task = await opened(id, message)
      // No route asks for anything once it has answered 202, so there is nothing to deliver.
      if (method === 'tasks/update') return {}
      return statusOf(id, task.sealed, known(await progressOf(task), message), message)
    }
  }
}

type Known = Exclude<Progressed, { status: 'unknown' | 'refused' | 'unreadable' }>

/** Why work failed. Some clients show only this message. */
function reasonOf (progress: Known): string | undefined {
  if ('message' in progress && progress.message !== undefined) return progress.message
  const [said] = 'result' in progress ? progress.result.content : []
  return said?.type === 'text' ? excerpt(said.text) : undefined
}

/** One error for every reason, so that nobody learns whether a task exists or whose it is. */
function unknownTask (): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown task')
}

/** The error for a client that did not declare the extension in its message. */
export function missingTasks (): ProtocolError {
  return new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } })
}

/** Whether a message subscribes to notifications of tasks, which this server never sends. */
export function listensToTasks (body: unknown): boolean {
  const { method, params } = Object(body) as { method?: unknown, params?: { notifications?: { taskIds?: unknown } } }
  return method === 'subscriptions/listen' && Object(params?.notifications).taskIds !== undefined
}

/** The error for a call that requests a task from a tool that starts none. */
export function noTask (name: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.MethodNotFound, `${excerpt(name)} does not support tasks`)
}

function created (taskRequest: TaskRequest, id: string, sealed: SealedTask, { poll, message }: { readonly poll: number, readonly message?: string | undefined }): CreatedTask {
  if (taskRequest === 'parameter') return { task: { task: taskOf('legacy', id, sealed, 'working', { poll, message }) } }
  return { task: { resultType: 'task', ...taskOf('modern', id, sealed, 'working', { poll, message }) } }
}

/** The task as a revision spells it. */
function taskOf (era: Era, id: string, { created, until }: SealedTask, status: Progressed['status'], progress: { readonly poll?: number | undefined, readonly message?: string | undefined, readonly at?: number | undefined, readonly why?: string }): Record<string, unknown> {
  const { poll = status === 'working' ? DEFAULT_POLL : undefined, message = progress.why, at = Date.now() } = progress
  const common = {
    taskId: id,
    status: status as Task['status'],
    ...message !== undefined && { statusMessage: message },
    createdAt: new Date(created).toISOString(),
    lastUpdatedAt: new Date(Math.max(at, created)).toISOString()
  }
  const ttl = until - created
  return era === 'legacy'
    ? { ...common, ttl, ...poll !== undefined && { pollInterval: poll } } satisfies Task
    : { ...common, ttlMs: ttl, ...poll !== undefined && { pollIntervalMs: poll } }
}

/** @throws when the client has gone, or the server closes */
async function pause (duration: number, stop: Stop): Promise<void> {
  const abort = new AbortController()
  const forget = stop.onStop(() => abort.abort())
  await sleep(duration, undefined, { signal: abort.signal }).catch(() => {
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'The server stopped waiting for the task')
  }).finally(forget)
}
