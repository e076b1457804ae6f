import { ProtocolErrorCode, ProtocolError, RELATED_TASK_META_KEY, type Task } from '@modelcontextprotocol/server'
import { setTimeout as sleep } from 'node:timers/promises'
import { excerpt } from '../../call/excerpt.ts'
import { resultFor } from '../../call/result.ts'
import type { KnownProgress, Follower } from './follow.ts'
import type { SealedTask } from './seal.ts'
import { DEFAULT_POLL } from './work.ts'
import type { Era } from '../../types.ts'
import type { Stop } from '../../call/stop.ts'
import { isObject } from '../../schema/json-schema.ts'
import { progressOf, isDenied, knownProgress, type OpenTask, type TaskMessage, type TaskAccess } from './open.ts'

/** The task as a revision spells it. */
export function taskOf (
  era: Era,
  id: string,
  { created, until }: SealedTask,
  status: KnownProgress['status'],
  progress: {
    readonly poll?: number | undefined,
    readonly message?: string | undefined,
    readonly at?: number | undefined,
    readonly why?: string
  }
): Record<string, unknown> {
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

/** What `tasks/get` answers: the task, and in the newest revision its result. */
export function statusOf (era: Era, id: string, sealed: SealedTask, progress: KnownProgress): Record<string, unknown> {
  const { status } = progress
  if (era === 'legacy') {
    // Here, a result that is an error is a failure.
    const isFailed = status === 'lost' || status === 'failed' ||
      (status === 'completed' && progress.result.isError === true)
    return isFailed
      ? taskOf('legacy', id, sealed, 'failed', { ...progress, message: reasonOf(progress) })
      : taskOf('legacy', id, sealed, status, progress)
  }
  if (status === 'lost') {
    return {
      ...taskOf('modern', id, sealed, 'failed', progress),
      error: { code: ProtocolErrorCode.InternalError, message: progress.why }
    }
  }
  // Here, a failure is one of the protocol, and work that failed has a result that says so.
  const hasResult = status === 'completed' || status === 'failed'
  return {
    ...taskOf('modern', id, sealed, hasResult ? 'completed' : status, progress),
    ...hasResult && { result: { ...finalResult(sealed, progress), resultType: 'complete' } }
  }
}

/** The result of a task that has ended, as clients read it. */
function finalResult ({ result: known }: SealedTask, progress: KnownProgress): Record<string, unknown> {
  if (known !== undefined) return { ...known }
  if ('result' in progress) return resultFor(progress.result)
  return {
    content: [{
      type: 'text',
      text: ['The work was cancelled.', 'message' in progress ? progress.message : undefined].filter((text) =>
        text !== undefined
      ).join(' ')
    }],
    isError: true
  }
}

/** Why work failed. Some clients show only this message. */
function reasonOf (progress: KnownProgress): string | undefined {
  if ('message' in progress && progress.message !== undefined) return progress.message
  const [said] = 'result' in progress ? progress.result.content : []
  return said?.type === 'text' ? excerpt(said.text) : undefined
}

/** The shortest time between two reads of the status, in milliseconds. */
export const MIN_WAIT = 1000

/**
 * Waits for the end of a task.
 * @param patience - for how long, in milliseconds
 */
export async function resultOf (
  task: OpenTask,
  message: TaskMessage,
  follower: Follower,
  patience: number
): Promise<Record<string, unknown>> {
  const end = Date.now() + patience
  for (;;) {
    const progress = await progressOf(task, message, follower)
    if (progress.status === 'lost') throw new ProtocolError(ProtocolErrorCode.InternalError, progress.why)
    if (progress.status !== 'working') {
      const { _meta, ...final } = finalResult(task.sealed, progress)
      return { ...final, _meta: { ...isObject(_meta) && _meta, [RELATED_TASK_META_KEY]: { taskId: task.id } } }
    }
    const wait = Math.max(progress.poll ?? DEFAULT_POLL, MIN_WAIT)
    if (Date.now() + wait > end) {
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        `The task is still running. Get its status with tasks/get in ${Math.ceil(wait / 1000)} s`
      )
    }
    await pause(wait, message.stop)
  }
}

/** @throws when the client has gone, or the server closes */
async function pause (duration: number, stop: Stop): Promise<void> {
  const abort = new AbortController()
  const forget = stop.onStop(() => abort.abort())
  await sleep(duration, undefined, { signal: abort.signal }).catch(() => {
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'The server stopped waiting for the task')
  }).finally(forget)
}

/** Sends the DELETE of a task that is still running. */
export async function cancelTask (
  task: OpenTask,
  message: TaskMessage,
  { follower }: TaskAccess
): Promise<Record<string, unknown>> {
  const { id, sealed, work } = task
  const { era, outer, endpoint } = message
  const before = await progressOf(task, message, follower)
  if (before.status !== 'working' || work === undefined) {
    // A DELETE of finished work could delete its result.
    if (era === 'legacy') {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `The task has ended: ${before.status === 'lost' ? 'completed' : before.status}`
      )
    }
    return {}
  }
  // The work may have ended meanwhile.
  if (before.isPutOff === true) {
    throw new ProtocolError(
      ProtocolErrorCode.InternalError,
      before.message ?? 'The status of the work cannot be read now'
    )
  }
  const { rule: { cancel: route }, tool } = work
  const cannot = (why: string): ProtocolError =>
    new ProtocolError(ProtocolErrorCode.InvalidRequest, `The task of ${tool.public.name} cannot be cancelled: ${why}`)
  if (route === undefined) throw cannot('its route has no DELETE')
  if (route.tool?.part.asks === true) throw cannot(`a person has to agree. Call ${route.tool.public.name}`)
  if (await isDenied(route, outer, endpoint)) {
    throw cannot(`this client may not use ${route.tool?.public.name ?? 'that route'}`)
  }
  const refused = await follower.cancel(work, route)
  if (refused !== undefined) knownProgress(refused, message)
  if (era === 'modern') return {}
  const after = await follower.progress(work)
  // Many apps forget cancelled work. The DELETE succeeded, whatever the status route says now.
  return after.status === 'unknown' || after.status === 'refused' || after.status === 'unreadable'
    ? taskOf('legacy', id, sealed, 'cancelled', {})
    : statusOf('legacy', id, sealed, after)
}
