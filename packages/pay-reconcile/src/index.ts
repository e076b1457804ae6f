import { setTimeout as sleep } from 'node:timers/promises'
import fp from 'fastify-plugin'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ensureCustomer, type Caller, type Sources } from './customers/snapshot.ts'
import { PAY_RECONCILE_STORE_FAILED } from './errors.ts'
import { guardedStore } from './guarded-store.ts'
import { setManners } from './admin/http.ts'
import type { NewCustomer } from './customers/ensure.ts'
import { checkedOptions, type PayReconcileOptions } from './options.ts'
import { providerCalls } from './provider/calls.ts'
import { runRoutes } from './admin/run-routes.ts'
import { runner } from './reconcile/runner.ts'
import { accountRoutes } from './admin/account-routes.ts'

/** What the plugin gives to the rest of the application, as `app.payReconcile`. */
export interface PayReconcile {
  /**
   * The account's customer at the payment provider, created if it has none; for a checkout.
   * Two checkouts at once create one customer.
   *
   * @throws PAY_RECONCILE_ACCOUNT_NOT_FOUND, PAY_RECONCILE_NO_SECRET_KEY, PAY_RECONCILE_STORE_FAILED or a
   * provider error.
   */
  ensureCustomer (customer: NewCustomer & {
    /** Who buys, for the audit row. */
    readonly actor: string
    /** The id of the HTTP request, for the audit row. */
    readonly requestId?: string
    /** Gives up when aborted; a Fastify request has one. */
    readonly signal?: AbortSignal
  }): Promise<{ readonly customerId: string, readonly created: boolean }>
}

declare module 'fastify' {
  interface FastifyInstance {
    payReconcile: PayReconcile
  }
}

/** How long startup waits for the check of the tables, in milliseconds; Fastify gives up after ten seconds. */
const readyMs = 5000

/**
 * Registers the administration of accounts under `prefix`, behind `authorize`.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} at boot.
 */
async function payReconcile (app: FastifyInstance, options: PayReconcileOptions): Promise<void> {
  const { provider, authorize, actor, prefix, limits, ...stores } = checkedOptions(options)
  const accounts = guardedStore(stores.accounts)
  const runs = stores.runs && guardedStore(stores.runs)
  const sources: Sources = { accounts, provider, call: providerCalls(limits) }
  const callerOf = (request: FastifyRequest): Caller =>
    ({ actor: actor(request), requestId: request.id, runId: null, signal: request.signal })

  app.decorate('payReconcile', {
    ensureCustomer: ({ actor, requestId = null, signal, ...customer }) =>
      ensureCustomer(sources, customer, { actor, requestId, runId: null, signal })
  } satisfies PayReconcile)

  app.addHook('onReady', async () => {
    const tooLate = sleep(readyMs, undefined, { ref: false }).then(() => { throw new PAY_RECONCILE_STORE_FAILED({ cause: `no answer in ${readyMs} ms` }) })
    await Promise.race([Promise.all([accounts.ready?.(), runs?.ready?.()]), tooLate]).catch(error => {
      if (!(error instanceof PAY_RECONCILE_STORE_FAILED)) throw error
      app.log.warn({ err: error }, 'the tables cannot be checked at the moment')
    })
  })

  await app.register(async scope => {
    setManners(scope)
    // Awaited: a hook that neither returns a promise nor calls back would leave every request without an answer.
    scope.addHook('onRequest', async (request, reply) => authorize.call(scope, request, reply))
    accountRoutes(scope, sources, callerOf)
    if (!runs) return
    const bulk = runner(sources, runs, limits, app.log)
    runRoutes(scope, bulk, runs, callerOf)
    resumeRuns(app, bulk.resume, limits.leaseMs)
    app.addHook('preClose', bulk.close)
  }, { prefix })
}

/** Takes up interrupted runs now and then: this process may have been restarted, another may have died. */
function resumeRuns (app: FastifyInstance, resume: () => Promise<void>, everyMs: number): void {
  const attempt = (): Promise<void> => resume().catch(error => app.log.warn({ err: error }, 'interrupted runs not resumed'))
  let timer: NodeJS.Timeout
  app.addHook('onReady', async () => {
    await attempt()
    timer = setInterval(attempt, everyMs).unref()
  })
  app.addHook('preClose', async () => clearInterval(timer))
}

export default fp(payReconcile, { fastify: '5.x', name: 'pay-reconcile' })

export * from './errors.ts'
export type * from './types.ts'
export type * from './provider/types.ts'
export type { PayReconcileOptions } from './options.ts'
export type { NewCustomer } from './customers/ensure.ts'
export type { Counters, Drift, Item, Lease, Mode, NewRun, Next, Outcome, Part, Run, RunField, RunFilter, RunQuery, RunStore } from './reconcile/types.ts'
