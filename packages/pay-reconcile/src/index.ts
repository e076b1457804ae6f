import { setTimeout as sleep } from 'node:timers/promises'
import fp from 'fastify-plugin'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { accountRoutes } from './admin/account-routes.ts'
import { auditRoutes } from './admin/audit-routes.ts'
import { setHttpRules } from './admin/http.ts'
import { unlinkedRoutes } from './admin/unlinked-routes.ts'
import { runRoutes } from './admin/run-routes.ts'
import { ensureCustomer } from './customers/ensure.ts'
import type { Caller, NewCustomer, Sources } from './customers/snapshot.ts'
import { PAY_RECONCILE_STORE_FAILED } from './errors.ts'
import type { Hooks } from './extension.ts'
import { settingsFromOptions, type PayReconcileOptions } from './options.ts'
import { providerCalls } from './provider/calls.ts'
import { bulkRunner } from './reconcile/runner.ts'
import { claimRegistration } from './registrations.ts'
import { guardedAccounts } from './store/accounts.ts'
import { guardedRuns } from './store/runs.ts'
import { refuseSharedIds, tableCheck, UNCHECKED } from './table-check.ts'

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
  const { provider, naming, authorize, actor, prefix, leaseDuration, mayContinue, extensions } = settings
  const accounts = guardedAccounts(settings.accounts)
  const runs = settings.runs && guardedRuns(settings.runs)
  claimRegistration(app, settings)
  const sources: Sources = { accounts, provider, call: providerCalls(settings), naming }
  const hooks: Hooks[] = []
  const tables = tableCheck(async () => {
    await Promise.all([accounts.ready?.(), runs?.ready?.(), ...hooks.map(({ ready }) => ready?.())])
    await refuseSharedIds(accounts, naming)
  }, app.log)
  const runner = runs && bulkRunner(sources, runs, settings, app.log, async (...ended) => {
    for (const { partEnded } of hooks) await partEnded?.(...ended)
  })
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

  // This process may have restarted, another one may have died.
  if (runner) {
    repeatedly(app, async () => {
      if (!tables.passed()) return
      await runner.resume().catch((error) => app.log.warn({ err: error }, 'interrupted runs were not resumed'))
    }, leaseDuration)
  }
  const bulk = runs && runner && { runs, runner }
  for (const { install } of extensions) {
    hooks.push(install({
      app,
      log: app.log,
      accounts,
      provider,
      bulk,
      repeatedly: (attempt) => repeatedly(app, attempt, leaseDuration),
      isChecked: tables.passed
    }))
  }
  const file = hooks.map((hook) => hook.file).find((file) => file !== undefined)

  await app.register(async (scope) => {
    setHttpRules(scope)
    // Awaited: a hook that neither returns a promise nor calls back would leave every request without a response.
    scope.addHook('onRequest', async (request, reply) => authorize.call(scope, request, reply))
    accountRoutes(scope, sources, callerOf)
    auditRoutes(scope, { accounts, mayContinue, file }, callerOf)
    unlinkedRoutes(scope, sources)
    if (bulk) runRoutes(scope, bulk.runner, { runs: bulk.runs, accounts, mayContinue, file }, callerOf)
  }, { prefix })
  for (const { routes } of hooks) {
    if (!routes) continue
    await app.register(async (scope) => {
      setHttpRules(scope)
      routes(scope)
    }, { prefix })
  }
  if (runner) app.addHook('preClose', runner.close)
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
export type { Extension } from './extension.ts'
export type { PayReconcileOptions } from './options.ts'
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
