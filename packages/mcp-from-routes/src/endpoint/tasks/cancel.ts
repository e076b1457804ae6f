import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { isDenied, knownProgress, progressOf, type OpenTask, type TaskAccess, type TaskMessage } from './open.ts'
import { statusOf, taskOf } from './status.ts'

/** Sends the DELETE of a task that is still running. */
export async function cancelTask (task: OpenTask, message: TaskMessage, { follower, mayUse }: TaskAccess): Promise<Record<string, unknown>> {
  const { id, sealed, work } = task
  const { era, outer } = message
  const before = await progressOf(task, message, follower)
  if (before.status !== 'working' || work === undefined) {
    // A DELETE of finished work could delete its result.
    if (era === 'legacy') throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The task has ended: ${before.status === 'lost' ? 'completed' : before.status}`)
    return {}
  }
  // The work may have ended meanwhile.
  if (before.isPutOff === true) throw new ProtocolError(ProtocolErrorCode.InternalError, before.message ?? 'The status of the work cannot be read now')
  const { rule: { cancel: route }, tool } = work
  const cannot = (why: string): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidRequest, `The task of ${tool.public.name} cannot be cancelled: ${why}`)
  if (route === undefined) throw cannot('its route has no DELETE')
  if (route.tool?.confirm !== undefined) throw cannot(`a person has to agree. Call ${route.tool.public.name}`)
  if (await isDenied(route, outer, mayUse)) throw cannot(`this client may not use ${route.tool?.public.name ?? 'that route'}`)
  const refused = await follower.cancel(work, route)
  if (refused !== undefined) knownProgress(refused, message)
  if (era === 'modern') return {}
  const after = await follower.progress(work)
  // Many apps forget cancelled work. The DELETE succeeded, whatever the status route says now.
  return after.status === 'unknown' || after.status === 'refused' || after.status === 'unreadable' ? taskOf('legacy', id, sealed, 'cancelled', {}) : statusOf('legacy', id, sealed, after)
}
