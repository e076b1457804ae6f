import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { PAY_RECONCILE_INVALID_OPTION } from './errors.ts'
import { canFollow } from './reconcile/can-follow.ts'
import { namingFrom, type Naming, type NamingOptions } from './customers/naming.ts'
import type { PayProvider } from './provider/types.ts'
import type { RunStore } from './reconcile/types.ts'
import { scheduledFrom, type Schedule, type ScheduledTimes } from './schedule/options.ts'
import type { Account, AccountStore } from './types.ts'
import { webhooksFrom, type Webhooks } from './webhooks/options.ts'

/** Options of the plugin. */
export interface PayReconcileOptions extends NamingOptions {
  /** The accounts of all shops: `knexAccountStore(knex)` or your own. */
  readonly accounts: AccountStore
  /** The payment provider: `stripeProvider()` or your own. */
  readonly provider: PayProvider
  /**
   * Runs as `onRequest` hook before every route, without a callback, and is awaited. Must throw, or reply with 401 or
   * 403, for everybody but a superuser.
   */
  readonly authorize: (this: FastifyInstance, request: FastifyRequest, reply: FastifyReply) => unknown
  /** Names who makes the request, for the audit: a user id rather than a person's name. Called after `authorize`. */
  readonly actor: (request: FastifyRequest) => string
  /** Where bulk runs are stored: `knexRunStore(knex)` or your own. Without it there are no bulk routes. */
  readonly runs?: RunStore | undefined
  /**
   * Whether a bulk run that is not a dry run, or a CSV file, may go on. Return false if its actor is no superuser any
   * more. Called before each page of accounts, in the process that works on the run, and before each page of a file but
   * the first; `id` is that of the run, and null for the file of the audit. After false, the remaining shops stop with
   * the reason `PAY_RECONCILE_RUN_FORBIDDEN`; a file breaks off. If it throws, the run pauses until its lease expires,
   * then it is called again. Default: always true.
   */
  readonly mayContinue?: (work: { readonly id: string | null, readonly actor: string }) => boolean | Promise<boolean>
  /** Default `/admin/accounts`. */
  readonly prefix?: string
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
  /** Returns an account's e-mail address, to suggest customers by. Default `details.email`. */
  readonly emailOf?: (account: Account) => string | undefined
  /**
   * The fields of a customer that are compared, as paths: `metadata` with everything in it, `address.city` alone.
   * Default: those that the provider names (`stripeProvider` does), or all.
   */
  readonly comparedFields?: readonly string[] | undefined
  /**
   * When runs start by themselves, in one of all processes over the same database: `{ check: '0 3 * * *' }`. Needs
   * `runs`. The actor of these runs is `schedule`; `mayContinue` is not called for them. Default: never.
   */
  readonly schedule?: Schedule | undefined
  /**
   * Accepts the provider's events at `POST {prefix}/webhooks/{shop_id}`, **without `authorize`**: the signature is the
   * credential. Needs `runs`. The runs that they start have the actor `webhook`; `mayContinue` is not called for them.
   * Default: no such route.
   */
  readonly webhooks?: Webhooks | undefined
}

/** The options after checks, with their defaults. */
export type Settings = Required<Omit<PayReconcileOptions, 'schedule' | 'webhooks' | keyof NamingOptions>> & {
  readonly naming: Naming,
  readonly scheduled: readonly ScheduledTimes[],
  readonly webhooks: Required<Webhooks> | undefined
}

const DEFAULTS = {
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

/** @throws {@link PAY_RECONCILE_INVALID_OPTION} for a missing, unusable or unknown option. */
export function settingsFromOptions (options: PayReconcileOptions): Settings {
  const {
    accounts,
    provider,
    authorize,
    actor,
    runs,
    prefix = '/admin/accounts',
    emailOf = emailInDetails,
    mayContinue = () => true,
    comparedFields = provider?.comparedFields,
    schedule,
    webhooks,
    namespace,
    metadataKey,
    ...rest
  } = options
  if (!accounts) throw invalid('accounts must be an AccountStore, such as knexAccountStore(knex)')
  if (!provider) throw invalid('provider must be a PayProvider, such as stripeProvider()')
  if (typeof authorize !== 'function') {
    throw invalid('authorize must be a function: these routes show and change the accounts of every shop')
  }
  if (authorize.length > 2) {
    throw invalid('authorize must take request and reply and return a promise: it gets no callback')
  }
  if (typeof actor !== 'function') throw invalid('actor must be a function: the audit records who changed an account')
  if (typeof mayContinue !== 'function') throw invalid('mayContinue must be a function')
  if (
    comparedFields !== undefined &&
    !(Array.isArray(comparedFields) && comparedFields.length > 0 && comparedFields.every(isPath))
  ) {
    throw invalid('comparedFields must be a list of fields such as email or address.city')
  }
  if (schedule?.changes !== undefined && !canFollow({ provider, accounts })) {
    throw invalid('schedule.changes needs a provider with listEvents and accounts with changes')
  }
  if (schedule !== undefined && !runs) throw invalid('schedule needs runs, such as knexRunStore(knex)')
  if (!/^\/[^?#]*[^/?#]$/.test(prefix)) throw invalid('prefix must be a path such as /admin/accounts')
  // Fastify passes its own registration options on.
  const { logLevel: _logLevel, logSerializers: _logSerializers, ...others } = rest as Record<string, unknown>
  const unknown = Object.keys(others).find((name) => !Object.hasOwn(DEFAULTS, name))
  if (unknown !== undefined) throw invalid(`${unknown} is not an option`)
  return {
    accounts,
    provider,
    authorize,
    actor,
    runs,
    prefix,
    emailOf,
    mayContinue,
    comparedFields,
    naming: namingFrom({ namespace, metadataKey }),
    scheduled: scheduledFrom(schedule),
    webhooks: webhooksFrom(webhooks, { provider, accounts, runs }),
    ...numbersFrom(options)
  }
}

function numbersFrom (options: PayReconcileOptions): typeof DEFAULTS {
  const numbers = { ...DEFAULTS }
  for (const name of Object.keys(DEFAULTS) as Array<keyof typeof DEFAULTS>) {
    const value = options[name] ?? DEFAULTS[name]
    if (!(value > 0 && value <= 2 ** 31 - 1)) {
      throw invalid(`${name} must be a number greater than 0 and less than 2147483648`)
    }
    if (name !== 'perSecond' && !Number.isInteger(value)) throw invalid(`${name} must be an integer`)
    numbers[name] = value
  }
  return numbers
}

function isPath (value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.split('.').every((name) => name !== '')
}

function emailInDetails ({ details }: Account): string | undefined {
  return typeof details.email === 'string' && details.email !== '' ? details.email : undefined
}

function invalid (message: string): Error {
  return new PAY_RECONCILE_INVALID_OPTION(message)
}
