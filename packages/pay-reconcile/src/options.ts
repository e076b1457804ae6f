import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Complete, filledArrayOf, FUNCTION, OBJECT, type Table, withoutRegistration } from '#shared/option-table'
import type { Extension } from './extension.ts'
import { EXTENSIONS, refuseOptionsOfExtensions, refuseTwice } from './extensions.ts'
import { NAMING, namingFrom, type Naming, type NamingOptions } from './customers/naming.ts'
import { LIMITS, type LimitOptions } from './limits.ts'
import { must, settingsBy } from './option-checks.ts'
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

const TABLE: Table<Complete<PayReconcileOptions, 'namespace' | 'runs' | 'comparedFields'>> = {
  accounts: {
    ...OBJECT,
    rule: 'must be an AccountStore, such as knexAccountStore(knex)',
    secret: true,
    required: true
  },
  provider: { ...OBJECT, rule: 'must be a PayProvider, such as stripeProvider()', secret: true, required: true },
  authorize: {
    ...FUNCTION,
    rule: 'must be a function: these routes show and change the accounts of every shop',
    required: true
  },
  actor: { ...FUNCTION, rule: 'must be a function: the audit records who changed an account', required: true },
  runs: { ...OBJECT, rule: 'must be a RunStore, such as knexRunStore(knex)', secret: true },
  mayContinue: { ...FUNCTION, default: () => true },
  prefix: {
    holds: (prefix) => typeof prefix === 'string' && /^\/[^?#]*[^/?#]$/.test(prefix),
    rule: 'must be a path such as /admin/accounts',
    default: '/admin/accounts'
  },
  emailOf: { ...FUNCTION, default: emailInDetails },
  comparedFields: filledArrayOf(isPath, 'fields such as email or address.city'),
  extensions: { ...EXTENSIONS, default: [] },
  ...NAMING,
  ...LIMITS
}

/** @throws {@link PAY_RECONCILE_INVALID_OPTION} for a missing, unusable or unknown option. */
export function settingsFromOptions (options: PayReconcileOptions): Settings {
  refuseOptionsOfExtensions(options)
  const { comparedFields = Object(options.provider).comparedFields, ...others } = withoutRegistration(options)
  const { namespace, metadataKey, ...settings } = settingsBy(TABLE, { ...others, comparedFields })
  must(
    settings.authorize.length <= 2,
    'authorize must take request and reply and return a promise: it gets no callback'
  )
  refuseTwice(settings.extensions)
  return { ...settings, naming: namingFrom({ namespace, metadataKey }) }
}

function isPath (value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.split('.').every((name) => name !== '')
}

function emailInDetails ({ details }: Account): string | undefined {
  return typeof details.email === 'string' && details.email !== '' ? details.email : undefined
}
