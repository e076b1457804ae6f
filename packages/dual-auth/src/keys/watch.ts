import type { FastifyBaseLogger } from 'fastify'
import type { StoreCall } from './call-store.ts'
import { createEvents, type KeyEvent, type OnKeyEvent } from './events.ts'
import { createNotices } from './notices.ts'
import { createRefusals, type Refusals } from './refusals.ts'
import type { ApiKeyStore } from './store.ts'

/** How often further refusals are reported, and how often keys are checked for notices, in milliseconds. */
const REFUSAL_INTERVAL = 900_000
const NOTICE_INTERVAL = 3_600_000

/** Everything that the host learns about keys. */
export interface Watch {
  emit(event: KeyEvent): void
  readonly report: Refusals['report']
  /** Starts the periodic checks. */
  start(): void
  /** Ends it, and waits for the host, but no longer than for the store. */
  stop(): Promise<void>
}

const NOTHING: Watch = { emit () {}, report () {}, start () {}, async stop () {} }

/**
 * @param onKeyEvent - undefined: nothing is watched
 * @param timeout - how long the host is waited for at the end, in milliseconds
 */
export function createWatch (
  onKeyEvent: OnKeyEvent | undefined,
  store: ApiKeyStore,
  callStore: StoreCall,
  timeout: number,
  log: FastifyBaseLogger
): Watch {
  if (onKeyEvent === undefined) return NOTHING
  const { emit, settled } = createEvents(onKeyEvent, log)
  const refusals = createRefusals(emit)
  const notices = createNotices(store, callStore, emit, NOTICE_INTERVAL)
  let timer: NodeJS.Timeout | undefined
  return {
    emit,
    report: refusals.report,
    start () {
      notices.start()
      timer = setInterval(refusals.flush, REFUSAL_INTERVAL).unref()
    },
    async stop () {
      clearInterval(timer)
      await notices.stop()
      refusals.flush()
      await settled(timeout)
    }
  }
}
