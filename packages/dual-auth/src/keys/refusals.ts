import type { FastifyRequest } from 'fastify'
import type { KeyEvent, RefusalReason, RefusedEvent } from './events.ts'
import { networkFromAddress } from './network.ts'

/** Reports refused keys, few times however many there are. */
export interface Refusals {
  /** @param address - of the caller */
  report(reason: RefusalReason, key: RefusedEvent['key'], address: string | undefined): void
  /** Emits what was only counted since. */
  flush(): void
}

/** Notes on a request whose key it refuses, and reports that. */
export type ReportRefusal = (reason: RefusalReason, key: RefusedEvent['key'], request: FastifyRequest) => void

interface Counted {
  readonly key: RefusedEvent['key']
  address: string | undefined
  count: number
}

/**
 * The first refusal of a key for a reason is an event; further ones are counted, and emitted as one event by each
 * `flush`. So callers cannot cause more than one event each time for `unknown`, nor more than that for a key and
 * reason. Unknown keys are counted together: there is no end of them.
 */
export function createRefusals (emit: (event: KeyEvent) => void): Refusals {
  const counted = new Map<string, Counted>()

  function event (name: string, { key, address, count }: Counted): RefusedEvent {
    return {
      type: 'refused',
      reason: name.split(' ')[0] as RefusalReason,
      key,
      network: networkFromAddress(address),
      count
    }
  }

  return {
    report (reason, key, address) {
      const name = `${reason} ${key?.id ?? ''}`
      const known = counted.get(name)
      if (known !== undefined) {
        known.count++
        known.address = address
        return
      }
      const { id, ownerId } = key ?? {}
      const refused = { key: id === undefined || ownerId === undefined ? null : { id, ownerId }, address, count: 0 }
      counted.set(name, refused)
      emit(event(name, { ...refused, count: 1 }))
    },
    flush () {
      for (const [name, refused] of counted) {
        // Quiet since the last time: the next refusal is an event at once again.
        if (refused.count === 0) counted.delete(name)
        else emit(event(name, refused))
        refused.count = 0
      }
    }
  }
}
