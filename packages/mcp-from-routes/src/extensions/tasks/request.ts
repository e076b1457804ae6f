import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode
} from '@modelcontextprotocol/server'
import { excerpt } from '../../call/excerpt.ts'
import { isObject } from '../../schema/json-schema.ts'
import type { Era } from '../../types.ts'

/**
 * How a client requests a task. `extension`: it declares the extension of revision 2026-07-28, and a task is optional.
 * `parameter`: it sends `task`, as in 2025-11-25, and must get a task.
 */
export type TaskRequest = 'extension' | 'parameter'

/**
 * The identifier of the extension.
 *
 * @see [Tasks](https://modelcontextprotocol.github.io/ext-tasks/specification/2026-07-28/tasks.html)
 */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/**
 * @param meta - `params._meta` of the message
 * @param task - `params.task`, which has no meaning in the newest revision
 */
export function taskRequestOf (era: Era, meta: object, task: unknown): TaskRequest | undefined {
  if (era === 'legacy') return task === undefined ? undefined : 'parameter'
  const capabilities: unknown = Reflect.get(meta, CLIENT_CAPABILITIES_META_KEY)
  const extensions = isObject(capabilities) ? capabilities.extensions : undefined
  return isObject(extensions) && isObject(extensions[TASKS_EXTENSION]) ? 'extension' : undefined
}

/** Whether a message subscribes to notifications of tasks, which this server never sends. */
export function listensToTasks (body: unknown): boolean {
  const { method, params } = Object(body) as { method?: unknown, params?: { notifications?: { taskIds?: unknown } } }
  return method === 'subscriptions/listen' && Object(params?.notifications).taskIds !== undefined
}

/** The error for a client that did not declare the extension in its message. */
export function missingTasks (): ProtocolError {
  return new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } })
}

/** The error for a call that requests a task from a tool that starts none. */
export function noTask (name: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.MethodNotFound, `${excerpt(name)} does not support tasks`)
}
