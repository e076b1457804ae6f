import type { Server, StandardSchemaV1 } from '@modelcontextprotocol/server'
import { resultFor } from '../../call/result.ts'
import type { Served } from '../../extension.ts'
import type { BegunCall, Endpoint, ToolResult } from '../../model.ts'
import { fromHost } from '../../endpoint/access.ts'
import { isObject } from '../../schema/json-schema.ts'
import type { InnerRequest, InnerResponse } from '../../types.ts'
import { cancelTask, MIN_WAIT, resultOf, statusOf, taskOf } from './answers.ts'
import { openTask, progressOf, type TaskAccess } from './open.ts'
import { missingTasks, taskRequestOf, TASKS_EXTENSION, type TaskRequest } from './request.ts'
import type { TaskRules, Work } from './rule.ts'
import type { SealedTask } from './seal.ts'
import { statusArguments, workFromResponse, workResult } from './work.ts'

/** Whether a tool of the endpoint starts work, and whether some of it can be cancelled. */
export function offeredBy (
  { tools }: Endpoint,
  rules: TaskRules
): { readonly tasks: boolean, readonly cancel: boolean } {
  const all = [...tools().values()].flatMap((tool) => rules.get(tool) ?? [])
  return { tasks: all.length > 0, cancel: all.some(({ cancel }) => cancel !== undefined) }
}

/** The parameters of a message about a task. */
const TASK_PARAMS: StandardSchemaV1<unknown, { readonly taskId: string }> = {
  '~standard': {
    version: 1,
    vendor: 'mcp-from-routes',
    validate: (value) =>
      isObject(value) && typeof value.taskId === 'string'
        ? { value: { taskId: value.taskId } }
        : { issues: [{ message: 'taskId must be a string', path: ['taskId'] }] }
  }
}

/**
 * Serves the methods of tasks, if the endpoint has any. Lists of tasks are not offered: the server keeps nothing that
 * it could list.
 * @param patience - how long `tasks/result` waits for the end, in milliseconds
 */
export function serveTasks (server: Server, message: Served, access: TaskAccess, patience: number): void {
  const { era, outer, endpoint } = message
  const { tasks, cancel } = offeredBy(endpoint, access.rules())
  if (!tasks) return
  server.registerCapabilities(
    era === 'modern'
      ? { extensions: { [TASKS_EXTENSION]: {} } }
      : { tasks: { ...cancel && { cancel: {} }, requests: { tools: { call: {} } } } }
  )
  const methods = era === 'modern'
    ? ['tasks/get', 'tasks/cancel', 'tasks/update']
    : ['tasks/get', 'tasks/result', ...cancel ? ['tasks/cancel'] : []]
  for (const method of methods) {
    server.setRequestHandler(method, { params: TASK_PARAMS }, async ({ taskId }, { mcpReq }) => {
      if (era === 'modern' && taskRequestOf(era, mcpReq.envelope ?? {}, undefined) === undefined) throw missingTasks()
      return await fromHost(outer, async () => await answerOf(method, taskId, message, access, patience))
    })
  }
}

/** What a message about a task is answered with. Throws errors of the protocol. */
async function answerOf (
  method: string,
  id: string,
  message: Served,
  access: TaskAccess,
  patience: number
): Promise<Record<string, unknown>> {
  const task = await openTask(id, message, access)
  if (method === 'tasks/result') return await resultOf(task, message, access.follower, patience)
  if (method === 'tasks/cancel') return await cancelTask(task, message, access)
  // No route asks for anything once it has answered 202, so there is nothing to deliver.
  if (method === 'tasks/update') return {}
  return statusOf(message.era, id, task.sealed, await progressOf(task, message, access.follower))
}

/**
 * If a call has ended although the client requires a task, the id contains the result. Longer results, in characters,
 * are returned instead of a task.
 */
const MAX_SEALED = 65_536
/** How long such a task lives, in milliseconds. */
const RESULT_TTL = 300_000

/** Turns the result of a call of a tool with `config.mcp.task` into a task, if its client takes one. */
export type OutcomeOf = (
  call: BegunCall,
  result: ToolResult,
  response: InnerResponse | undefined,
  request: InnerRequest | undefined
) => Promise<ToolResult>

/** @param maxParamLength - of the router, in characters */
export function outcomes (access: TaskAccess, maxParamLength: number): OutcomeOf {
  return async (call, result, response, request) => {
    const { tool, outer } = call
    const work = workOf(access, call, response, request, maxParamLength)
    try {
      return await outcomeOf(access, call, result, work)
    } catch (error) {
      // The route has run, so return its response although a function of the host threw.
      outer.log.error({ err: error, tool: tool.public.name }, 'canUse or caller threw')
      return work === undefined ? result : workResult(tool, result, work)
    }
  }
}

function workOf (
  { rules }: TaskAccess,
  { tool, outer }: BegunCall,
  response: InnerResponse | undefined,
  request: InnerRequest | undefined,
  maxParamLength: number
): Work | undefined {
  if (response?.statusCode !== 202 || request === undefined) return undefined
  const rule = rules().get(tool)
  const work = rule && workFromResponse(rule, response, request, outer, maxParamLength, Date.now())
  const { location } = response.headers
  if (work === undefined && location !== undefined) {
    outer.log.warn(
      { tool: tool.public.name, location },
      'the Location of a 202 does not lead to the route that config.mcp.task.status names, so the call is not a task'
    )
  }
  return work
}

async function outcomeOf (
  { sealer }: TaskAccess,
  { tool, outer, era, meta, task, endpoint }: BegunCall,
  result: ToolResult,
  work: Work | undefined
): Promise<ToolResult> {
  const request = taskRequestOf(era, meta ?? {}, task)
  if (work !== undefined && request !== undefined) {
    const sealed: SealedTask = {
      tool: tool.public.name,
      created: work.created,
      until: work.until,
      params: Object.fromEntries(work.params)
    }
    const answer = created(request, sealer.seal(sealed, outer), sealed, work)
    return { ...workResult(tool, result, work), answer }
  }
  if (work !== undefined) {
    const { tool: known } = work.rule.status
    const statusTool = known && await endpoint.find(known.public.name, outer)
    return workResult(
      tool,
      result,
      work,
      statusTool && endpoint.say(statusTool, statusArguments(statusTool, work.params))
    )
  }
  if (request !== 'parameter' || result.challenge !== undefined) return result
  const now = Date.now()
  const sealed: SealedTask = {
    tool: tool.public.name,
    created: now,
    until: now + RESULT_TTL,
    result: resultFor(result)
  }
  if (JSON.stringify(sealed.result).length > MAX_SEALED) return result
  return { ...result, answer: created(request, sealer.seal(sealed, outer), sealed, { poll: MIN_WAIT }) }
}

/** A result of the protocol that is a task. */
function created (
  request: TaskRequest,
  id: string,
  sealed: SealedTask,
  { poll, message }: { readonly poll: number, readonly message?: string | undefined }
): Record<string, unknown> {
  if (request === 'parameter') return { task: taskOf('legacy', id, sealed, 'working', { poll, message }) }
  return { resultType: 'task', ...taskOf('modern', id, sealed, 'working', { poll, message }) }
}
