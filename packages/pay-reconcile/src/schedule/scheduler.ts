import { Cron } from 'croner'
import { randomUUID } from 'node:crypto'
import type { Core } from '../extension.ts'
import type { Mode } from '../reconcile/types.ts'
import type { ScheduledTimes } from './options.ts'

/** Who makes the changes of scheduled runs, for the audit. */
const ACTOR = 'schedule'

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
  { runs, runner }: NonNullable<Core['bulk']>,
  { log, isChecked }: Pick<Core, 'log' | 'isChecked'>
): Scheduler {
  const jobs: Cron[] = []

  async function startDue (): Promise<void> {
    if (!isChecked()) return
    const now = new Date()
    try {
      for (const { mode, latest } of scheduled) {
        const last = await runs.lastScheduled(mode, now.toISOString())
        const time = latest(now)?.toISOString()
        if (time !== undefined && time > last) await start(mode, time)
      }
    } catch (error) {
      log.warn({ err: error }, 'a scheduled run could not be started')
    }
  }

  /** Unless another process has started it. A `sync` or `changes` writes. */
  async function start (mode: Mode, scheduledFor: string): Promise<void> {
    const run = {
      id: randomUUID(),
      mode,
      scheduledFor,
      dryRun: mode === 'check',
      shopId: null,
      actor: ACTOR,
      requestId: null,
      selection: {}
    }
    if (await runs.startScheduled(run, await runner.shopsOf(run))) await runner.work(run.id)
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
