import { DURATION, integer, type Table } from '#shared/option-table'

/** How long, how often and how many at once. */
export interface LimitOptions {
  /** Time limit for a call to the provider including retries, in milliseconds. Default 10000. */
  readonly callTimeout?: number
  /** Time limit for one attempt including the body, in milliseconds. Default 4000. */
  readonly attemptTimeout?: number
  /** Attempts per call. Default 2. */
  readonly attempts?: number
  /** Concurrent requests under one secret key. Default 4. */
  readonly inFlight?: number
  /** Consecutive faults under one secret key after which nothing is sent for `breakDuration`. Default 5. */
  readonly breakAfter?: number
  /** How long nothing is sent then, in milliseconds; afterwards one request tries. Default 10000. */
  readonly breakDuration?: number
  /** Calls of bulk runs per second under one secret key. Default 5. */
  readonly perSecond?: number
  /** Accounts of one shop that a bulk run processes at once. Default 2. */
  readonly accountsAtOnce?: number
  /** Shops that a bulk run processes at once. Default 4. */
  readonly shopsAtOnce?: number
  /** How long a shop's part of a run stays with a process that stopped responding, in milliseconds. Default 30000. */
  readonly leaseDuration?: number
}

export type Limits = Required<LimitOptions>

const COUNT = integer(1, 2 ** 31 - 1)

/** @internal */
export const LIMITS: Table<Limits> = {
  callTimeout: { ...DURATION, default: 10_000 },
  attemptTimeout: { ...DURATION, default: 4000 },
  attempts: { ...COUNT, default: 2 },
  inFlight: { ...COUNT, default: 4 },
  breakAfter: { ...COUNT, default: 5 },
  breakDuration: { ...DURATION, default: 10_000 },
  perSecond: {
    holds: (value) => typeof value === 'number' && value > 0 && value < 2 ** 31,
    rule: 'must be a number greater than 0 and less than 2147483648',
    default: 5
  },
  accountsAtOnce: { ...COUNT, default: 2 },
  shopsAtOnce: { ...COUNT, default: 4 },
  leaseDuration: { ...DURATION, default: 30_000 }
}
