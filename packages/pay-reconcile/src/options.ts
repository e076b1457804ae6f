import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { PAY_RECONCILE_INVALID_OPTION } from './errors.ts'
import type { Extension } from './extension.ts'
import { extensionsFrom, refuseOptionOfExtension } from './extensions.ts'
import { namingFrom, type Naming, type NamingOptions } from './customers/naming.ts'
import { limitsFrom, LIMITS, type LimitOptions } from './limits.ts'
import type { PayProvider } from './provider/types.ts'
import type { RunStore } from './reconcile/types.ts'
import type { Account, AccountStore } from './types.ts'

/** Options of the plugin. */
export interface PayReconcileOptions extends NamingOptions, LimitOptions {
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
  /** Returns an account's e-mail address, to suggest customers by. Default `details.email`. */
  readonly emailOf?: (account: Account) => string | undefined
  /**
   * The fields of a customer that are compared, as paths: `metadata` with everything in it, `address.city` alone.
   * Default: those that the provider names (`stripeProvider` does), or all.
   */
  readonly comparedFields?: readonly string[] | undefined
  /**
   * What is not in the core, each by a function of its subpath: `schedule()`, `webhooks()`, `csv()`. Default: none.
   */
  readonly extensions?: readonly Extension[]
}

/** The options after checks, with their defaults. */
export type Settings = Required<Omit<PayReconcileOptions, keyof NamingOptions>> & {
  readonly naming: Naming
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
    extensions,
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
  if (!/^\/[^?#]*[^/?#]$/.test(prefix)) throw invalid('prefix must be a path such as /admin/accounts')
  // Fastify passes its own registration options on.
  const { logLevel: _logLevel, logSerializers: _logSerializers, ...others } = rest as Record<string, unknown>
  const unknown = Object.keys(others).find((name) => !(LIMITS as readonly string[]).includes(name))
  if (unknown !== undefined) {
    refuseOptionOfExtension(unknown)
    throw invalid(`${unknown} is not an option`)
  }
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
    extensions: extensionsFrom(extensions),
    ...limitsFrom(options)
  }
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
