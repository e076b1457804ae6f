import { Cron } from 'croner'
import type { FastifyBaseLogger } from 'fastify'
import type { BulkRunner } from '../reconcile/runner.ts'
import type { RunStore } from '../reconcile/types.ts'
import type { ScheduledTimes } from './options.ts'

/**
 * Starts runs by the schedule. Every process has one; the store decides which of them starts the run of a scheduled
 * time.
 */
export interface Scheduler {
  /**
   * Starts what is due: the last time that no run was started for. Of several that were missed, only the last. A
   * failure is logged: the next call tries again.
   */
  startDue(): Promise<void>
  /** Calls {@link Scheduler.startDue} at each scheduled time, until `close`. */
  open(): void
  close(): void
}

export function scheduler (
  scheduled: readonly ScheduledTimes[],
  runs: RunStore,
  runner: BulkRunner,
  log: FastifyBaseLogger
): Scheduler {
  const jobs: Cron[] = []

  async function startDue (): Promise<void> {
    const now = new Date()
    try {
      for (const { mode, latest } of scheduled) {
        const last = await runs.lastScheduled(mode, now.toISOString())
        const time = latest(now)?.toISOString()
        if (time !== undefined && time > last) await runner.startScheduled(mode, time)
      }
    } catch (error) {
      log.warn({ err: error }, 'a scheduled run could not be started')
    }
  }

  return {
    startDue,
    open () {
      for (const { pattern, timezone } of scheduled) {
        jobs.push(new Cron(pattern, { mode: '5-part', timezone, unref: true }, startDue))
      }
    },
    close () {
      for (const job of jobs) job.stop()
    }
  }
}
