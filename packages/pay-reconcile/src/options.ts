import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Account, AccountStore } from './types.ts'
import { PAY_RECONCILE_INVALID_OPTION } from './errors.ts'
import type { CallLimits } from './provider/calls.ts'
import type { PayProvider } from './provider/types.ts'
import type { RunStore } from './reconcile/types.ts'
import type { MayContinue, RunLimits } from './reconcile/runner.ts'

/** A hook for `onRequest` without a callback; what it returns is awaited. */
type Authorize = (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) => unknown

/** Options of the plugin. */
export interface PayReconcileOptions {
  /** The accounts of all shops: `knexAccountStore(knex)` or your own. */
  readonly accounts: AccountStore
  /** The payment provider: `stripeProvider()` or your own. */
  readonly provider: PayProvider
  /** Runs before every route, is awaited, and throws, or answers 401 or 403, for everybody but a superuser. */
  readonly authorize: Authorize
  /** Names who makes the request, for the audit: a user id, not a person's name. Called after `authorize`. */
  readonly actor: (request: FastifyRequest) => string
  /** Where bulk runs are kept: `knexRunStore(knex)` or your own. Without it there are no bulk routes. */
  readonly runs?: RunStore
  /**
   * Whether a bulk run that is not a dry run may go on. Return false when its actor may no longer change accounts. Called
   * before each page of accounts, in the process that works on the run. After false, the remaining shops are stopped with
   * the reason `PAY_RECONCILE_RUN_FORBIDDEN`. If it throws, the run pauses until its lease expires, then it is called
   * again. Default: always true.
   */
  readonly mayContinue?: MayContinue
  /** Default `/admin/accounts`. */
  readonly prefix?: string
  /** Time for a call to the provider with all its attempts, in milliseconds. Default 10000. */
  readonly deadlineMs?: number
  /** Time for one attempt, body included, in milliseconds. Default 4000. */
  readonly attemptMs?: number
  /** Attempts of a call at most. Default 2. */
  readonly attempts?: number
  /** Requests in flight under one secret key. Default 4. */
  readonly inFlight?: number
  /** Faults in a row under one secret key after which nothing is sent for `breakMs`. Default 5. */
  readonly breakAfter?: number
  /** How long nothing is sent then, in milliseconds. Default 10000. */
  readonly breakMs?: number
  /** Calls of bulk runs each second under one secret key. Default 5. */
  readonly perSecond?: number
  /** Accounts of one shop that a bulk run works on at once. Default 2. */
  readonly accountsAtOnce?: number
  /** Shops that a bulk run works on at once. Default 4. */
  readonly shopsAtOnce?: number
  /** How long a shop's part of a run stays with a process that went away, in milliseconds. Default 30000. */
  readonly leaseMs?: number
  /** Where an account's e-mail address is, to suggest customers by. Default `details.email`. */
  readonly emailOf?: (account: Account) => string | undefined
}

/** Options with their defaults. */
export interface CheckedOptions {
  readonly accounts: AccountStore
  readonly provider: PayProvider
  readonly authorize: Authorize
  readonly actor: (request: FastifyRequest) => string
  readonly runs: RunStore | undefined
  readonly prefix: string
  readonly limits: CallLimits & RunLimits
}

const defaults = {
  deadlineMs: 10_000,
  attemptMs: 4000,
  attempts: 2,
  inFlight: 4,
  breakAfter: 5,
  breakMs: 10_000,
  perSecond: 5,
  accountsAtOnce: 2,
  shopsAtOnce: 4,
  leaseMs: 30_000
}

/** @throws {@link PAY_RECONCILE_INVALID_OPTION} for a missing or unusable option. */
export function checkedOptions (options: PayReconcileOptions): CheckedOptions {
  const { accounts, provider, authorize, actor, runs, prefix = '/admin/accounts', emailOf = emailInDetails, mayContinue = () => true } = options
  if (!accounts) throw invalid('accounts is missing: give an AccountStore')
  if (!provider) throw invalid('provider is missing: give a PayProvider')
  if (typeof authorize !== 'function') throw invalid('authorize is missing: these routes show and change the accounts of every shop')
  if (authorize.length > 2) throw invalid('authorize takes request and reply, and returns a promise: there is no callback')
  if (typeof actor !== 'function') throw invalid('actor is missing: the audit must say who changed an account')
  if (typeof mayContinue !== 'function') throw invalid('mayContinue must be a function')
  if (!/^\/[^?#]*[^/?#]$/.test(prefix)) throw invalid('prefix must be a path like /admin/accounts')
  return { accounts, provider, authorize, actor, runs, prefix, limits: { ...numbersFrom(options), emailOf, mayContinue } }
}

function numbersFrom (options: PayReconcileOptions): typeof defaults {
  const numbers = { ...defaults }
  for (const name of Object.keys(defaults) as Array<keyof typeof defaults>) {
    const value = options[name] ?? defaults[name]
    if (!(value > 0 && value <= 2 ** 31 - 1)) throw invalid(`${name} must be a positive number`)
    if (name !== 'perSecond' && !Number.isInteger(value)) throw invalid(`${name} must be an integer`)
    numbers[name] = value
  }
  return numbers
}

function emailInDetails ({ details }: Account): string | undefined {
  return typeof details.email === 'string' && details.email !== '' ? details.email : undefined
}

function invalid (message: string): Error {
  return new PAY_RECONCILE_INVALID_OPTION(message)
}
