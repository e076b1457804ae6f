import type { StoreCall } from './call-store.ts'
import type { KeyEvent } from './events.ts'
import type { ApiKeyStore } from './store.ts'

/** Of each type, at once. More are taken a little later, so that the host is not flooded. */
const BATCH = 100
const BATCH_PAUSE = 1000

/** Checks periodically which keys expire soon and which are not used. */
export interface Notices {
  /** Checks now, and then at every `interval`. */
  start(): void
  /** Stops. Resolves when no check is running. */
  stop(): Promise<void>
}

/** @param interval - in milliseconds */
export function createNotices (
  store: ApiKeyStore,
  callStore: StoreCall,
  emit: (event: KeyEvent) => void,
  interval: number
): Notices {
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()
  let isStopped = false

  /** The store returns each notice to one replica only. */
  async function look (): Promise<void> {
    // `callStore` has logged a failure, and the next look tries again.
    const notices = await callStore(() => store.takeNotices(new Date(), BATCH)).catch(() => [])
    for (const notice of notices) emit(notice)
    if (!isStopped) timer = setTimeout(start, notices.length < BATCH ? interval : BATCH_PAUSE).unref()
  }

  function start (): void {
    looking = look()
  }

  return {
    start,
    async stop () {
      isStopped = true
      clearTimeout(timer)
      await looking
    }
  }
}
