import type { StandardSchemaV1 } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import { resultFor, type ToolResult } from '../../call/result.ts'
import { statusArguments, workResult } from './work.ts'
import { isObject } from '../../schema/json-schema.ts'
import type { Tool } from '../../tool/tool.ts'
import { cancelTask, resultOf, statusOf, MIN_WAIT, taskOf } from './answers.ts'
import { openTask, progressOf, type TaskAccess, type TaskMessage } from './open.ts'
import type { TaskRequest } from './request.ts'
import type { SealedTask } from './seal.ts'

type Outcome = Promise<ToolResult | CreatedTask>

/** What the endpoint does with running work. */
export interface Tasks {
  /** Whether a tool of the endpoint starts work, and whether some of it can be cancelled. */
  readonly offered: () => { readonly tasks: boolean, readonly cancel: boolean }
  /** The result of a call of a tool with `config.mcp.task`: a task, or the result itself. */
  readonly outcome: (tool: Tool, result: ToolResult, request: TaskRequest | undefined, outer: FastifyRequest) => Outcome
  /** What `tasks/get`, `tasks/result`, `tasks/cancel` and `tasks/update` answer. Throws errors of the protocol. */
  readonly answer: (method: string, id: string, message: TaskMessage) => Promise<Record<string, unknown>>
}

/** What the tasks of one endpoint need to know. */
export interface TaskSettings extends TaskAccess {
  /** How long `tasks/result` waits for the end, in milliseconds. */
  readonly patience: number
  /** The tools of the endpoint. */
  readonly tools: () => ReadonlyMap<string, Tool>
}

/** The parameters of a message about a task. */
export const TASK_PARAMS: StandardSchemaV1<unknown, { readonly taskId: string }> = {
  '~standard': {
    version: 1,
    vendor: 'mcp-from-routes',
    validate: (value) =>
      isObject(value) && typeof value.taskId === 'string'
        ? { value: { taskId: value.taskId } }
        : { issues: [{ message: 'taskId must be a string', path: ['taskId'] }] }
  }
}

/** The tasks of one endpoint: how a call becomes one, and what is answered about it. */
export function tasksOf (settings: TaskSettings): Tasks {
  const { rules, tools, follower, patience } = settings
  const outcomeOf = outcomes(settings)
  return {
    offered () {
      const all = [...tools().values()].flatMap((tool) => rules().get(tool) ?? [])
      return { tasks: all.length > 0, cancel: all.some(({ cancel }) => cancel !== undefined) }
    },
    async outcome (tool, result, request, outer) {
      try {
        return await outcomeOf(tool, result, request, outer)
      } catch (error) {
        // The route has run, so return its response although a function of the host threw.
        outer.log.error({ err: error, tool: tool.public.name }, 'canUse or caller threw')
        return workResult(tool, result)
      }
    },
    async answer (method, id, message) {
      const task = await openTask(id, message, settings)
      if (method === 'tasks/result') return await resultOf(task, message, follower, patience)
      if (method === 'tasks/cancel') return await cancelTask(task, message, settings)
      // No route asks for anything once it has answered 202, so there is nothing to deliver.
      if (method === 'tasks/update') return {}
      return statusOf(message.era, id, task.sealed, await progressOf(task, message, follower))
    }
  }
}

/** A result of the protocol that is a task. */
export interface CreatedTask {
  readonly task: Readonly<Record<string, unknown>>
}

/**
 * If a call has ended although the client requires a task, the id contains the result. Longer results, in characters,
 * are returned instead of a task.
 */
const MAX_SEALED = 65_536
/** How long such a task lives, in milliseconds. */
const RESULT_TTL = 300_000

/** The result of a call of a tool with `config.mcp.task`: a task, or the result itself. */
const outcomes = (access: TaskAccess): Tasks['outcome'] => async (tool, result, request, outer) => {
  const { sealer, toolFor, callOf } = access
  const { work } = result
  const now = Date.now()
  if (work !== undefined && request !== undefined) {
    const sealed: SealedTask = {
      tool: tool.public.name,
      created: work.created,
      until: work.until,
      params: Object.fromEntries(work.params)
    }
    return created(request, sealer.seal(sealed, outer), sealed, work)
  }
  if (work !== undefined) {
    const { tool: known } = work.rule.status
    const statusTool = known && await toolFor(known.public.name, outer)
    return workResult(tool, result, statusTool && callOf(statusTool, statusArguments(statusTool, work.params)))
  }
  if (request !== 'parameter' || result.challenge !== undefined) return result
  const sealed: SealedTask = {
    tool: tool.public.name,
    created: now,
    until: now + RESULT_TTL,
    result: resultFor(result)
  }
  if (JSON.stringify(sealed.result).length > MAX_SEALED) return result
  return created(request, sealer.seal(sealed, outer), sealed, { poll: MIN_WAIT })
}

function created (
  request: TaskRequest,
  id: string,
  sealed: SealedTask,
  { poll, message }: { readonly poll: number, readonly message?: string | undefined }
): CreatedTask {
  if (request === 'parameter') return { task: { task: taskOf('legacy', id, sealed, 'working', { poll, message }) } }
  return { task: { resultType: 'task', ...taskOf('modern', id, sealed, 'working', { poll, message }) } }
}
