import type { FastifyInstance } from 'fastify'
import { settingsBy } from '../../checks.ts'
import type { Extension } from '../../extension.ts'
import type { Part, Tool } from '../../model.ts'
import { SECRET, type Secret } from '../secrets.ts'
import { taskConfig, type McpRouteTask, type TaskConfig } from './config.ts'
import { follower } from './follow.ts'
import type { TaskAccess } from './open.ts'
import { listensToTasks, missingTasks, noTask, taskRequestOf } from './request.ts'
import { taskRules, type KnownRoute, type TaskRules } from './rule.ts'
import { taskSealer } from './seal.ts'
import { offeredBy, outcomes, serveTasks } from './tasks.ts'

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
    install ({ app, settings, callerOf, earlier = [], maxParamLength }) {
      const { secret } = settingsBy<TasksOptions>({ secret: SECRET }, options, 'tasks')
      const known = knownRoutes(app)
      const configs = new WeakMap<Part, TaskConfig>()
      let rules: TaskRules = new Map()
      const access: TaskAccess = {
        rules: () => rules,
        sealer: taskSealer({ serverInfo: settings.serverInfo, secret, callerOf }),
        follower: follower(app, settings, maxParamLength)
      }
      const outcomeOf = outcomes(access, maxParamLength)
      return {
        tool ({ label, config: { mcp } }) {
          const config = taskConfig(label, mcp?.task)
          if (config === undefined) return undefined
          const execution = { taskSupport: 'optional' } as const
          const part: Part = {
            output: false,
            facts: { execution },
            legacy: { execution },
            begin: (call) => ({ end: (...ended) => outcomeOf(call, ...ended) })
          }
          configs.set(part, config)
          return part
        },
        ready ({ tools, log }) {
          const configOf = ({ part: { all } }: Tool): TaskConfig | undefined =>
            all.flatMap((part) => configs.get(part) ?? [])[0]
          rules = taskRules(tools.values(), configOf, known.splice(0), earlier)
          if (secret === undefined && rules.size > 0) {
            log.info('without tasks.secret, only this process knows its tasks, and only until it ends')
          }
        },
        async call ({ name, tool, task, endpoint }, run) {
          if (task === undefined || tool === undefined || tool.part.isLater) return await run()
          return offeredBy(endpoint, rules).tasks ? noTask(name) : await run()
        },
        async message ({ body, endpoint }, run) {
          if (!listensToTasks(body) || !offeredBy(endpoint, rules).tasks) return await run()
          if (taskRequestOf('modern', metaIn(body), undefined) === undefined) throw missingTasks()
          return await run()
        },
        serve: (server, message) => serveTasks(server, message, access, settings.toolTimeout)
      }
    }
  }
}

/** All routes of the application, from now on. */
function knownRoutes (app: FastifyInstance): KnownRoute[] {
  const known: KnownRoute[] = []
  app.addHook('onRoute', (route) => {
    // Read now: Fastify changes `url` of this object when it registers the same route with a slash at the end.
    const { method, url, constraints = {} } = route
    known.push({
      method,
      url,
      constraints,
      get schema () {
        return route.schema ?? {}
      }
    })
  })
  return known
}

function metaIn (body: unknown): object {
  return Object(Reflect.get(Object(Reflect.get(Object(body), 'params')), '_meta')) as object
}
