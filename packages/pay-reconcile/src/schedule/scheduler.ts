import { Cron } from 'croner'
import type { FastifyBaseLogger } from 'fastify'
import type { BulkRunner } from '../reconcile/runner.ts'
import type { RunStore } from '../reconcile/types.ts'
import type { Slots } from './options.ts'

/** Starts runs by the schedule. Every process has one; the store decides which of them starts the run of a slot. */
export interface Scheduler {
  /**
   * Starts what is due: the last slot that no run was started for. Of several that were missed, only the last. A failure is
   * logged: the next call tries again.
   */
  startDue (): Promise<void>
  /** Calls {@link Scheduler.startDue} at each slot, until `close`. */
  open (): void
  close (): void
}

export function scheduler (slots: readonly Slots[], runs: RunStore, runner: BulkRunner, log: FastifyBaseLogger): Scheduler {
  const jobs: Cron[] = []

  async function startDue (): Promise<void> {
    const now = new Date()
    try {
      for (const { mode, latest } of slots) {
        const last = await runs.lastSlot(mode, now.toISOString())
        const slot = latest(now)?.toISOString()
        if (slot !== undefined && slot > last) await runner.startSlot(mode, slot)
      }
    } catch (error) {
      log.warn({ err: error }, 'a scheduled run could not be started')
    }
  }

  return {
    startDue,
    open () {
      for (const { pattern, timezone } of slots) {
        jobs.push(new Cron(pattern, { mode: '5-part', timezone, unref: true }, startDue))
      }
    },
    close () {
      for (const job of jobs) job.stop()
    }
  }
}
