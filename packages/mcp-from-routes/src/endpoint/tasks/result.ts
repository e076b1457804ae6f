import { setTimeout as sleep } from 'node:timers/promises'
import { ProtocolError, ProtocolErrorCode, RELATED_TASK_META_KEY } from '@modelcontextprotocol/server'
import type { Stop } from '../../call/stop.ts'
import type { Follower } from '../../task/follow.ts'
import { DEFAULT_POLL } from '../../task/work.ts'
import { isObject } from '../../tool/json-schema.ts'
import { progressOf, type OpenTask, type TaskMessage } from './open.ts'
import { finalResult } from './status.ts'

/** The shortest time between two reads of the status, in milliseconds. */
export const MIN_WAIT = 1000

/**
 * Waits for the end of a task.
 * @param patience - for how long, in milliseconds
 */
export async function resultOf (task: OpenTask, message: TaskMessage, follower: Follower, patience: number): Promise<Record<string, unknown>> {
  const end = Date.now() + patience
  for (;;) {
    const progress = await progressOf(task, message, follower)
    if (progress.status === 'lost') throw new ProtocolError(ProtocolErrorCode.InternalError, progress.why)
    if (progress.status !== 'working') {
      const { _meta, ...final } = finalResult(task.sealed, progress)
      return { ...final, _meta: { ...isObject(_meta) && _meta, [RELATED_TASK_META_KEY]: { taskId: task.id } } }
    }
    const wait = Math.max(progress.poll ?? DEFAULT_POLL, MIN_WAIT)
    if (Date.now() + wait > end) throw new ProtocolError(ProtocolErrorCode.InternalError, `The task is still running. Get its status with tasks/get in ${Math.ceil(wait / 1000)} s`)
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
