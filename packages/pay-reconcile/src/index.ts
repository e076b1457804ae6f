import { setTimeout as sleep } from 'node:timers/promises'
import fp from 'fastify-plugin'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { accountRoutes } from './admin/account-routes.ts'
import { auditRoutes } from './admin/audit-routes.ts'
import { setHttpRules } from './admin/http.ts'
import { unlinkedRoutes } from './admin/unlinked-routes.ts'
import { runRoutes } from './admin/run-routes.ts'
import { ensureCustomer } from './customers/ensure.ts'
import type { Naming } from './customers/naming.ts'
import type { Caller, NewCustomer, Sources } from './customers/snapshot.ts'
import { PAY_RECONCILE_INVALID_OPTION, PAY_RECONCILE_STORE_FAILED } from './errors.ts'
import { guardedStore } from './guarded-store.ts'
import { settingsFromOptions, type PayReconcileOptions, type Settings } from './options.ts'
import { providerCalls } from './provider/calls.ts'
import { bulkRunner, type BulkRunner } from './reconcile/runner.ts'
import { remembered } from './remembered.ts'
import { scheduler } from './schedule/scheduler.ts'
import type { AccountStore } from './types.ts'
import { gathering, webhookRoute } from './webhooks/route.ts'

/** What the plugin offers to the rest of the application, as `app.payReconcile`. */
export interface PayReconcile {
  /**
   * The account's customer at the payment provider, created if there is none; for a checkout.
   * Concurrent checkouts create one customer.
   *
   * @throws PAY_RECONCILE_ACCOUNT_NOT_FOUND, PAY_RECONCILE_NO_SECRET_KEY, PAY_RECONCILE_CUSTOMER_AMBIGUOUS,
   * PAY_RECONCILE_CUSTOMER_TAKEN, PAY_RECONCILE_CUSTOMER_CHANGED, PAY_RECONCILE_STORE_FAILED or a provider error.
   */
  ensureCustomer(
    customer: NewCustomer & {
      /** Who buys, for the audit row. */
      readonly actor: string,
      /** The id of the HTTP request, for the audit row. */
      readonly requestId?: string,
      /** Aborts the call; a Fastify request has one. */
      readonly signal?: AbortSignal
    }
  ): Promise<{ readonly customerId: string, readonly created: boolean }>
}

declare module 'fastify' {
  interface FastifyInstance {
    payReconcile: PayReconcile
  }
}

/** Time limit for checking the tables at startup, in milliseconds; Fastify gives up after ten seconds. */
const READY_TIMEOUT = 5000

/** In milliseconds. */
const HOUR = 3_600_000

/**
 * Registers the admin routes of accounts under `prefix`, behind `authorize`.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} at startup.
 */
async function payReconcile (app: FastifyInstance, options: PayReconcileOptions): Promise<void> {
  const settings = settingsFromOptions(options)
  const { provider, naming, authorize, actor, prefix, leaseDuration, mayContinue, webhooks } = settings
  const accounts = guardedStore(settings.accounts)
  const runs = settings.runs && guardedStore(settings.runs)
  const secrets = webhooks && guardedStore(webhooks.secrets)
  claimRegistration(app, settings)
  const sources: Sources = { accounts, provider, call: providerCalls(settings), naming }
  const tables = checkOf(async () => {
    await Promise.all([accounts.ready?.(), runs?.ready?.(), secrets?.ready?.()])
    await refuseSharedIds(accounts, naming)
  }, app.log)
  const runner = runs && onceChecked(tables, bulkRunner(sources, runs, settings, app.log))
  const callerOf = (request: FastifyRequest): Caller => ({
    actor: actor(request),
    requestId: request.id,
    runId: null,
    signal: request.signal
  })

  app.decorate(
    'payReconcile',
    {
      ensureCustomer: ({ actor, requestId = null, signal, ...customer }) =>
        ensureCustomer(sources, customer, { actor, requestId, runId: null, signal })
    } satisfies PayReconcile
  )

  app.addHook('onReady', async () => {
    const timeout = sleep(READY_TIMEOUT, undefined, { ref: false }).then(() => {
      throw new PAY_RECONCILE_STORE_FAILED({ cause: `no response in ${READY_TIMEOUT} ms` })
    })
    await Promise.race([tables.check(), timeout]).catch((error) => {
      if (!(error instanceof PAY_RECONCILE_STORE_FAILED)) throw error
      app.log.warn({ err: error }, UNCHECKED)
    })
  })

  // Not awaited: a database that does not respond must not hold up the start.
  repeatedly(app, async () => {
    accounts.deleteExpired?.().catch((error) => app.log.warn({ err: error }, 'expired snapshots were not deleted'))
    runs?.deleteExpired?.().catch((error) => app.log.warn({ err: error }, 'expired runs were not deleted'))
  }, HOUR)

  await app.register(async (scope) => {
    setHttpRules(scope)
    // Awaited: a hook that neither returns a promise nor calls back would leave every request without a response.
    scope.addHook('onRequest', async (request, reply) => authorize.call(scope, request, reply))
    accountRoutes(scope, sources, callerOf)
    auditRoutes(scope, { accounts, mayContinue }, callerOf)
    unlinkedRoutes(scope, sources)
    if (runs && runner) runRoutes(scope, runner, { runs, accounts, mayContinue }, callerOf)
  }, { prefix })

  if (!runs || !runner) return
  // This process may have restarted, another one may have died.
  repeatedly(
    app,
    () => runner.resume().catch((error) => app.log.warn({ err: error }, 'interrupted runs were not resumed')),
    leaseDuration
  )
  const due = scheduler(settings.scheduled, runs, runner, app.log)
  // Times that were missed while no process ran, or the database was down.
  repeatedly(app, due.startDue, leaseDuration)
  app.addHook('onReady', async () => due.open())
  app.addHook('preClose', async () => due.close())

  const { awaited } = runs
  const { webhooks: verifier } = provider
  if (webhooks && secrets && awaited && verifier) {
    const gathered = gathering(awaited, runner, webhooks.delay, app.log)
    await app.register(async (scope) => {
      setHttpRules(scope)
      // No `authorize`: the signature is the credential.
      webhookRoute(scope, { config: webhooks.config, secrets, verifier, awaited, gathering: gathered })
    }, { prefix })
    // Work that a dead process has left.
    repeatedly(app, gathered.now, leaseDuration)
    app.addHook('preClose', async () => gathered.close())
  }
  app.addHook('preClose', runner.close)
}

/**
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} if ids of accounts are not UUIDs, so that others under the same account
 *   at the provider may have them, too
 */
async function refuseSharedIds (accounts: AccountStore, { namespace }: Naming): Promise<void> {
  if (namespace === undefined && await accounts.hasUuids?.() === false) {
    throw new PAY_RECONCILE_INVALID_OPTION(
      'namespace is required, because the ids of accounts are not UUIDs: ' +
        'set it to a name of this app, environment and table, such as acme-production-users'
    )
  }
}

const UNCHECKED = 'the tables cannot be checked at the moment'

/** Whether the stores have said that they can work, and are the right ones. */
interface TableCheck {
  /** Asks them, once at a time. @throws what they throw */
  check(): Promise<void>
  /** Whether they have. If not, asks again for the next time, which may take as long as the database likes. */
  passed(): boolean
}

function checkOf (ask: () => Promise<void>, log: FastifyBaseLogger): TableCheck {
  let hasPassed = false
  const check = remembered(async () => {
    await ask()
    hasPassed = true
  })
  return {
    check,
    passed () {
      if (!hasPassed) check().catch((error) => log.warn({ err: error }, UNCHECKED))
      return hasPassed
    }
  }
}

/**
 * The same runner, which starts nothing by itself before the tables are checked: runs could be about other accounts.
 */
function onceChecked (tables: TableCheck, runner: BulkRunner): BulkRunner {
  return {
    ...runner,
    resume: async () => {
      if (tables.passed()) await runner.resume()
    },
    startScheduled: async (mode, time) => {
      if (tables.passed()) await runner.startScheduled(mode, time)
    },
    startAwaited: async (awaited) => tables.passed() && await runner.startAwaited(awaited)
  }
}

/** The registrations of each app, by its server. */
const registrations = new WeakMap<object, Set<string | undefined>>()

/**
 * Claims the name under which runs, audit and notes are stored: of two registrations with one, each would continue the
 * runs of the other.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION}
 */
function claimRegistration ({ server }: FastifyInstance, { accounts, runs }: Settings): void {
  const { registration = runs?.registration } = accounts
  if (runs?.registration !== undefined && runs.registration !== registration) {
    throw new PAY_RECONCILE_INVALID_OPTION(
      `accounts has the registration ${registration}, but runs has ${runs.registration}: ` +
        'pass both the same table, or the same registration'
    )
  }
  const claimed = registrations.get(server) ?? new Set()
  registrations.set(server, claimed)
  if (claimed.has(registration)) {
    throw new PAY_RECONCILE_INVALID_OPTION(
      `this app has a registration ${registration ?? 'without a name'} already: ` +
        'set registration of accounts and runs to a name of its own'
    )
  }
  claimed.add(registration)
}

/** Does something at startup and regularly. @param interval - in milliseconds. */
function repeatedly (app: FastifyInstance, attempt: () => Promise<void>, interval: number): void {
  let timer: NodeJS.Timeout
  app.addHook('onReady', async () => {
    await attempt()
    timer = setInterval(attempt, interval).unref()
  })
  app.addHook('preClose', async () => clearInterval(timer))
}

export default fp(payReconcile, { fastify: '^5.0.0', name: 'pay-reconcile' })

export * from './errors.ts'
export type * from './types.ts'
export type * from './provider/types.ts'
export type { AdminAccount } from './admin/schemas.ts'
export type { NewCustomer } from './customers/snapshot.ts'
export type { PayReconcileOptions } from './options.ts'
export type { Schedule } from './schedule/options.ts'
export type { Webhooks } from './webhooks/options.ts'
export type {
  AwaitedShops,
  Candidate,
  Counters,
  Difference,
  FieldDifference,
  FoundItem,
  Item,
  ItemFilter,
  ItemQuery,
  Lease,
  Match,
  Mode,
  NewRun,
  Next,
  Outcome,
  Paging,
  Part,
  Run,
  RunField,
  RunFilter,
  RunQuery,
  RunStore,
  Selection,
  Target,
  Targets
} from './reconcile/types.ts'
