import type { FastifyBaseLogger } from 'fastify'
import type { BulkRunner } from '../reconcile/runner.ts'
import type { AwaitedShops } from '../reconcile/types.ts'

/** Starts runs for shops with deliveries. These shops are in the store, so any process may start the run. */
export interface Gathering {
  /** Starts a run after the delay, for this and all other deliveries until then. */
  soon (): void
  /**
   * Starts a run for deliveries that other processes have left, and another one soon if another run holds some of the
   * shops. Logs a failure; the next call tries again.
   */
  now (): Promise<void>
  close (): void
}

/** @param delay - in milliseconds. */
export function gathering (awaited: AwaitedShops, runner: BulkRunner, delay: number, log: FastifyBaseLogger): Gathering {
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function soon (): void {
    if (closed) return
    timer ??= setTimeout(async () => {
      timer = undefined
      await now()
    }, delay).unref()
  }

  async function now (): Promise<void> {
    try {
      if (await runner.startAwaited(awaited)) soon()
    } catch (error) {
      log.warn({ err: error }, 'a run after webhooks could not be started')
    }
  }

  return {
    soon,
    now,
    close () {
      closed = true
      clearTimeout(timer)
    }
  }
}
