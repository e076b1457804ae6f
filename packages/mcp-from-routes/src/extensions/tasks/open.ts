import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import { stopWithinMessage } from '../../call/stop.ts'
import type { Served } from '../../extension.ts'
import type { Endpoint, ToolResult } from '../../model.ts'
import type { Followed, Follower, KnownProgress, Progressed } from './follow.ts'
import type { TaskRoute, TaskRules } from './rule.ts'
import type { SealedTask, TaskSealer } from './seal.ts'

/** One message about a task. */
export type TaskMessage = Served

/** What is known of tasks. */
export interface TaskAccess {
  readonly rules: () => TaskRules
  readonly sealer: TaskSealer
  readonly follower: Follower
}

/** A task of this caller. */
export interface OpenTask {
  readonly id: string
  readonly sealed: SealedTask
  /** Undefined if the call had ended already: then `sealed` has its result. */
  readonly work: Followed | undefined
}

/** @throws a ProtocolError for an id that this caller does not have */
export async function openTask (
  id: string,
  { outer, stop, era, endpoint }: TaskMessage,
  { rules, sealer }: TaskAccess
): Promise<OpenTask> {
  const sealed = sealer.open(id, outer)
  const tool = sealed && await endpoint.find(sealed.tool, outer)
  if (sealed === undefined || tool === undefined) throw unknownTask()
  if (sealed.until < Date.now()) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The task has expired')
  if (sealed.params === undefined) return { id, sealed, work: undefined }
  const rule = rules().get(tool)
  if (
    rule === undefined || await isDenied(rule.status, outer, endpoint) ||
    (rule.result !== undefined && await isDenied(rule.result, outer, endpoint))
  ) throw unknownTask()
  return {
    id,
    sealed,
    work: {
      tool,
      rule,
      params: new Map(Object.entries(sealed.params)),
      outer,
      stop: stopWithinMessage(stop, era, false)
    }
  }
}

/** A client's tasks do not reach a route that it may not call as a tool. */
export async function isDenied (
  { tool }: TaskRoute,
  outer: FastifyRequest,
  { mayUse }: Endpoint
): Promise<boolean> {
  return tool !== undefined && !await mayUse(tool, outer)
}

/** @throws a ProtocolError if the status is not known */
export async function progressOf (
  { sealed: { result }, work }: OpenTask,
  message: TaskMessage,
  follower: Follower
): Promise<KnownProgress> {
  if (work !== undefined) return knownProgress(await follower.progress(work), message)
  const content = (result?.content ?? []) as ToolResult['content']
  return { status: result?.isError === true ? 'failed' : 'completed', result: { content } }
}

/** @throws a ProtocolError if the status is not known */
export function knownProgress (progress: Progressed, { refuse }: TaskMessage): KnownProgress {
  if (progress.status === 'unknown') throw unknownTask()
  if (progress.status === 'unreadable') throw new ProtocolError(ProtocolErrorCode.InternalError, progress.why)
  if (progress.status !== 'refused') return progress
  refuse(progress.result)
  const [said] = progress.result.content
  throw new ProtocolError(
    ProtocolErrorCode.InvalidRequest,
    said?.type === 'text' ? said.text : 'The status route refused the caller'
  )
}

/** One error for every reason, so that nobody learns whether a task exists or whose it is. */
function unknownTask (): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown task')
}
