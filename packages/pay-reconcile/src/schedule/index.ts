import type { Extension } from '../extension.ts'
import { must } from '../option-checks.ts'
import { canFollow } from '../reconcile/can-follow.ts'
import { scheduledFrom, type Schedule } from './options.ts'
import { scheduler } from './scheduler.ts'

export type { Schedule } from './options.ts'

/**
 * Starts bulk runs by themselves, in one of all processes over the same database: `schedule({ check: '0 3 * * *' })`.
 * Needs the option `runs`. The actor of these runs is `schedule`; `mayContinue` is not called for them.
 * @returns for the option `extensions`
 */
export function schedule (options: Schedule): Extension {
  return {
    name: 'pay-reconcile/schedule',
    install (core) {
      const { app, bulk } = core
      must(bulk !== undefined, 'schedule needs runs, such as knexRunStore(knex)')
      const scheduled = scheduledFrom(options)
      must(
        options.changes === undefined || canFollow(core),
        'schedule.changes needs a provider with listEvents and accounts with changes'
      )
      const due = scheduler(scheduled, bulk, core)
      // Times that were missed while no process ran, or the database was down.
      core.repeatedly(due.startDue)
      app.addHook('onReady', async () => due.open())
      app.addHook('preClose', async () => due.close())
      return {}
    }
  }
}
