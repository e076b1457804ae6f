import { randomUUID } from 'node:crypto'
import type { Core } from '../extension.ts'
import type { AwaitedShops } from '../reconcile/types.ts'

/** Who makes the changes of runs that webhooks start, for the audit. */
const ACTOR = 'webhook'

/** Starts runs for shops with deliveries. These shops are in the store, so any process may start the run. */
export interface Gathering {
  /** Starts a run after the delay, for this and all other deliveries until then. */
  soon(): void
  /**
   * Starts a run for deliveries that other processes have left, and another one soon if another run holds some of the
   * shops. Logs a failure; the next call tries again.
   */
  now(): Promise<void>
  close(): void
}

/** @param delay - in milliseconds. */
export function gathering (
  awaited: AwaitedShops,
  { runner }: Pick<NonNullable<Core['bulk']>, 'runner'>,
  delay: number,
  { log, isChecked }: Pick<Core, 'log' | 'isChecked'>
): Gathering {
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
    if (!isChecked()) return
    const id = randomUUID()
    try {
      const { started, left } = await awaited.start({
        id,
        mode: 'changes',
        scheduledFor: null,
        webhook: true,
        dryRun: false,
        shopId: null,
        actor: ACTOR,
        requestId: null,
        selection: {}
      })
      if (started) await runner.work(id)
      if (left) soon()
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
