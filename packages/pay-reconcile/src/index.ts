import fp from 'fastify-plugin'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ensureCustomer, type Caller, type Sources } from './customers.ts'
import { setManners } from './manners.ts'
import type { NewCustomer } from './new-customer.ts'
import { checkedOptions, type PayReconcileOptions } from './options.ts'
import { providerCalls } from './provider-calls.ts'
import { runRoutes } from './reconcile/routes.ts'
import { runner } from './reconcile/runner.ts'
import { accountRoutes } from './routes.ts'

/** What the plugin gives to the rest of the application, as `app.payReconcile`. */
export interface PayReconcile {
  /**
   * The account's customer at the payment provider, created if it has none; for a checkout.
   * Two checkouts at once create one customer.
   *
   * @throws PAY_RECONCILE_ACCOUNT_NOT_FOUND, PAY_RECONCILE_NO_SECRET_KEY or a provider error.
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

/**
 * Registers the administration of accounts under `prefix`, behind `authorize`.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} at boot.
 */
async function payReconcile (app: FastifyInstance, options: PayReconcileOptions): Promise<void> {
  const { accounts, provider, runs, authorize, actor, prefix, limits } = checkedOptions(options)
  const sources: Sources = { accounts, provider, call: providerCalls(limits) }
  const callerOf = (request: FastifyRequest): Caller =>
    ({ actor: actor(request), requestId: request.id, runId: null, signal: request.signal })

  app.decorate('payReconcile', {
    ensureCustomer: ({ actor, requestId = null, signal, ...customer }) =>
      ensureCustomer(sources, customer, { actor, requestId, runId: null, signal })
  } satisfies PayReconcile)

  await app.register(async scope => {
    setManners(scope)
    scope.addHook('onRequest', authorize)
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
export type * from './account.ts'
export type * from './provider.ts'
export type { PayReconcileOptions } from './options.ts'
export type { NewCustomer } from './new-customer.ts'
export type { Counters, Drift, Item, Lease, Mode, NewRun, Outcome, Part, Run, RunStore } from './reconcile/run.ts'
