import { ProtocolErrorCode, type Task } from '@modelcontextprotocol/server'
import { excerpt } from '../../call/excerpt.ts'
import { resultFor } from '../../call/result.ts'
import type { KnownProgress } from '../../task/follow.ts'
import type { SealedTask } from '../../task/seal.ts'
import { DEFAULT_POLL } from '../../task/work.ts'
import type { Era } from '../../types.ts'

/** The task as a revision spells it. */
export function taskOf (era: Era, id: string, { created, until }: SealedTask, status: KnownProgress['status'], progress: { readonly poll?: number | undefined, readonly message?: string | undefined, readonly at?: number | undefined, readonly why?: string }): Record<string, unknown> {
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
    const isFailed = status === 'lost' || status === 'failed' || (status === 'completed' && progress.result.isError === true)
    return isFailed ? taskOf('legacy', id, sealed, 'failed', { ...progress, message: reasonOf(progress) }) : taskOf('legacy', id, sealed, status, progress)
  }
  if (status === 'lost') return { ...taskOf('modern', id, sealed, 'failed', progress), error: { code: ProtocolErrorCode.InternalError, message: progress.why } }
  // Here, a failure is one of the protocol, and work that failed has a result that says so.
  const hasResult = status === 'completed' || status === 'failed'
  return { ...taskOf('modern', id, sealed, hasResult ? 'completed' : status, progress), ...hasResult && { result: { ...finalResult(sealed, progress), resultType: 'complete' } } }
}

/** The result of a task that has ended, as clients read it. */
export function finalResult ({ result: known }: SealedTask, progress: KnownProgress): Record<string, unknown> {
  if (known !== undefined) return { ...known }
  if ('result' in progress) return resultFor(progress.result)
  return { content: [{ type: 'text', text: ['The work was cancelled.', 'message' in progress ? progress.message : undefined].filter((text) => text !== undefined).join(' ') }], isError: true }
}

/** Why work failed. Some clients show only this message. */
function reasonOf (progress: KnownProgress): string | undefined {
  if ('message' in progress && progress.message !== undefined) return progress.message
  const [said] = 'result' in progress ? progress.result.content : []
  return said?.type === 'text' ? excerpt(said.text) : undefined
}
