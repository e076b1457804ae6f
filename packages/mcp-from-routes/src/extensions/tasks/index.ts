import { checkKeys } from '../../checks.ts'
import type { Extension } from '../../extension.ts'
import { checkSecret, type Secret } from '../secrets.ts'
import type { McpRouteTask } from './config.ts'

export type { McpRouteTask, WorkStatus } from './config.ts'

/** Options of {@link tasks}. */
export interface TasksOptions {
  /**
   * The key that encrypts the ids of tasks, or several, newest first, while it is replaced: the first one encrypts, all
   * of them decrypt. Each is at least 32 bytes long. All replicas need the same keys, and with them tasks survive a
   * restart. Default is a random key of this process.
   */
  readonly secret?: Secret
}

declare module '../../types.ts' {
  interface McpRouteConfig {
    /**
     * How to follow the work that the route starts with a 202 and a `Location`. Clients with tasks get a task; all
     * others are told how to get the status. The tool has no output schema, because its result comes later. Default is
     * none.
     */
    readonly task?: McpRouteTask
  }
}

/**
 * Calls of routes with `config.mcp.task` become tasks, which clients follow.
 * @returns for the option `extensions`
 */
export function tasks (options: TasksOptions = {}): Extension {
  return {
    name: 'mcp-from-routes/tasks',
    keys: ['task'],
    settings () {
      checkKeys(options, 'tasks', ['secret'])
      checkSecret(options.secret, 'tasks.secret')
      return { taskSecret: options.secret }
    }
  }
}
