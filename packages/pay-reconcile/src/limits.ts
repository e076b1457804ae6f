import { PAY_RECONCILE_INVALID_OPTION } from './errors.ts'

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

const DEFAULTS: Limits = {
  callTimeout: 10_000,
  attemptTimeout: 4000,
  attempts: 2,
  inFlight: 4,
  breakAfter: 5,
  breakDuration: 10_000,
  perSecond: 5,
  accountsAtOnce: 2,
  shopsAtOnce: 4,
  leaseDuration: 30_000
}

/** The names of the options. */
export const LIMITS = Object.keys(DEFAULTS) as ReadonlyArray<keyof Limits>

/** @throws {@link PAY_RECONCILE_INVALID_OPTION} */
export function limitsFrom (options: LimitOptions): Limits {
  const limits = { ...DEFAULTS }
  for (const name of LIMITS) {
    const value = options[name] ?? DEFAULTS[name]
    if (!(value > 0 && value <= 2 ** 31 - 1)) {
      throw new PAY_RECONCILE_INVALID_OPTION(`${name} must be a number greater than 0 and less than 2147483648`)
    }
    if (name !== 'perSecond' && !Number.isInteger(value)) {
      throw new PAY_RECONCILE_INVALID_OPTION(`${name} must be an integer`)
    }
    limits[name] = value
  }
  return limits
}
