import type { FastifyRequest } from 'fastify'
import { resultFor, type ToolResult } from '../../call/result.ts'
import type { SealedTask } from '../../task/seal.ts'
import { workResult } from '../../task/work.ts'
import type { Tool } from '../../tool/tool.ts'
import type { TaskAccess } from './open.ts'
import type { TaskRequest } from './request.ts'
import { MIN_WAIT } from './result.ts'
import { taskOf } from './status.ts'

/** A result of the protocol that is a task. */
export interface CreatedTask { readonly task: Readonly<Record<string, unknown>> }

/** If a call has ended although the client requires a task, the id contains the result. Longer results, in characters, are returned instead of a task. */
const MAX_SEALED = 65_536
/** How long such a task lives, in milliseconds. */
const RESULT_TTL = 300_000

/** The result of a call of a tool with `config.mcp.task`: a task, or the result itself. */
export async function outcomeOf (tool: Tool, result: ToolResult, request: TaskRequest | undefined, outer: FastifyRequest, { sealer, toolFor }: TaskAccess): Promise<ToolResult | CreatedTask> {
  const { work } = result
  const now = Date.now()
  if (work !== undefined && request !== undefined) {
    const sealed: SealedTask = { tool: tool.public.name, created: work.created, until: work.until, params: Object.fromEntries(work.params) }
    return created(request, sealer.seal(sealed, outer), sealed, work)
  }
  if (work !== undefined) {
    const { tool: statusTool } = work.rule.status
    return workResult(tool, result, statusTool && await toolFor(statusTool.public.name, outer))
  }
  if (request !== 'parameter' || result.challenge !== undefined) return result
  const sealed: SealedTask = { tool: tool.public.name, created: now, until: now + RESULT_TTL, result: resultFor(result) }
  if (JSON.stringify(sealed.result).length > MAX_SEALED) return result
  return created(request, sealer.seal(sealed, outer), sealed, { poll: MIN_WAIT })
}

function created (request: TaskRequest, id: string, sealed: SealedTask, { poll, message }: { readonly poll: number, readonly message?: string | undefined }): CreatedTask {
  if (request === 'parameter') return { task: { task: taskOf('legacy', id, sealed, 'working', { poll, message }) } }
  return { task: { resultType: 'task', ...taskOf('modern', id, sealed, 'working', { poll, message }) } }
}
