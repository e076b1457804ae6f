import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { ApiKeyRecord, Rotated } from './store.ts'

/** Why an API key was refused; `not_allowed`: by `apiKeys.mayUse`. */
export type RefusalReason = 'unknown' | 'revoked' | 'expired' | 'not_allowed' | 'wrong_owner' | 'scope'

/** What happens to keys. Nothing in it is secret. */
export type KeyEvent =
  /** By whom: a subject or client id. */
  | { readonly type: 'created', readonly key: ApiKeyRecord, readonly by: string }
  | { readonly type: 'revoked', readonly key: ApiKeyRecord, readonly by: string }
  | Rotated & { readonly type: 'rotated', readonly by: string }
  /** The first use of a key ever. */
  | { readonly type: 'first_used', readonly key: ApiKeyRecord }
  /** A use from a network that none of its last uses came from. */
  | { readonly type: 'new_network', readonly key: ApiKeyRecord, readonly network: string }
  /** At most `days` before it expires: 30, 7 or 1. */
  | { readonly type: 'expiring', readonly key: ApiKeyRecord, readonly days: number }
  /** After `days` without a use: 90. */
  | { readonly type: 'unused', readonly key: ApiKeyRecord, readonly days: number }
  | RefusedEvent

/**
 * The first refusal at once, further ones with the same key and reason as one event every 15 minutes.
 */
export interface RefusedEvent {
  readonly type: 'refused'
  readonly reason: RefusalReason
  /** Null for `unknown`. */
  readonly key: { readonly id: string, readonly ownerId: string } | null
  /** The network of the latest caller; null if it is not known. */
  readonly network: string | null
  /** How many refusals it stands for. */
  readonly count: number
}

/** For the option `onKeyEvent`. */
export type OnKeyEvent = (event: KeyEvent) => void | Promise<void>

/** Tells the host of events. */
export interface Events {
  /** Calls the host soon; never throws. */
  emit(event: KeyEvent): void
  /** Resolves when the host has dealt with every event, or after `timeout` milliseconds. */
  settled(timeout: number): Promise<void>
}

/** Calls the host's function after the current work. What it throws is logged, and does no more harm. */
export function createEvents (onKeyEvent: OnKeyEvent, log: FastifyBaseLogger): Events {
  const running = new Set<Promise<void>>()

  async function tell (event: KeyEvent): Promise<void> {
    try {
      await nextTurn()
      await onKeyEvent(event)
    } catch (err) {
      log.error({ err, event: event.type, keyId: event.key?.id }, 'onKeyEvent failed')
    }
  }

  return {
    emit (event) {
      const telling = tell(event).finally(() => running.delete(telling))
      running.add(telling)
    },
    async settled (timeout) {
      let timer: NodeJS.Timeout | undefined
      await Promise.race([
        (async () => {
          while (running.size > 0) await Promise.all(running)
        })(),
        new Promise<void>((resolve) => {
          timer = setTimeout(resolve, timeout)
        })
      ])
      clearTimeout(timer)
    }
  }
}
