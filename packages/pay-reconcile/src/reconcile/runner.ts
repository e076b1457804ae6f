import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { secretKeyOf } from '../customers/snapshot.ts'
import type { Sources } from '../customers/types.ts'
import {
  providerError, PAY_RECONCILE_NO_SECRET_KEY, PAY_RECONCILE_RUN_NOT_FOUND, PAY_RECONCILE_SHOP_NOT_FOUND, PAY_RECONCILE_STORE_FAILED
} from '../errors.ts'
import { rateLimits } from './rate-limit.ts'
import { shopKey, type ShopKey } from './shop-key.ts'
import { reconcileShop, type Ending, type RunLimits } from './shop.ts'
import type { Lease, NewRun, Part, Run, RunStore } from './types.ts'

/** Bulk runs of this process. */
export interface BulkRunner {
  start (run: NewRun): Promise<Run>
  cancel (id: string): Promise<Run>
  /** Continues runs that other processes left behind. */
  resume (): Promise<void>
  /** Interrupts every run, for the next process to continue. */
  close (): Promise<void>
}

export function bulkRunner (sources: Sources, runs: RunStore, limits: RunLimits, log: FastifyBaseLogger): BulkRunner {
  const lease: Lease = { owner: randomUUID(), duration: limits.leaseDuration }
  const rateLimitOf = rateLimits(limits.perSecond)
  const closing = new AbortController()
  /** The runs in progress. */
  const active = new Map<string, { readonly cancel: AbortController, readonly ended: Promise<void> }>()

  /** Processes the run's parts in the background, at most once per run in this process. */
  function startWorkers (run: NewRun): void {
    if (active.has(run.id) || closing.signal.aborted) return
    const cancel = new AbortController()
    const workers = Array.from({ length: limits.shopsAtOnce }, () => worker(run, cancel))
    const ended = Promise.allSettled(workers).then(results => {
      active.delete(run.id)
      for (const result of results) {
        if (result.status === 'rejected') log.error({ err: result.reason, runId: run.id }, 'reconciliation interrupted')
      }
    })
    active.set(run.id, { cancel, ended })
  }

  async function worker (run: NewRun, cancel: AbortController): Promise<void> {
    while (!closing.signal.aborted) {
      const part = await runs.claim(run.id, lease)
      if (!part) return
      const { part: reached, ending } = await processPart(run, part, cancel)
      if (ending.status === 'interrupted') await runs.release(reached, lease)
      else if (ending.status === 'stopped') await runs.finish(reached, lease, 'stopped', ending.reason)
      else if (ending.status !== 'lost') await runs.finish(reached, lease, ending.status, null)
    }
  }

  async function processPart (run: NewRun, part: Part, cancel: AbortController): Promise<{ part: Part, ending: Ending }> {
    let key: ShopKey
    try {
      key = await shopKey(() => secretKeyOf(sources, part.shopId))
    } catch (error) {
      if (error instanceof PAY_RECONCILE_NO_SECRET_KEY) return { part, ending: { status: 'stopped', reason: error.code } }
      log.error({ err: error, shopId: part.shopId, runId: run.id }, 'the secret key of the shop could not be read')
      return { part, ending: { status: 'stopped', reason: new PAY_RECONCILE_STORE_FAILED().code } }
    }
    const lost = new AbortController()
    const interrupted = AbortSignal.any([closing.signal, lost.signal])
    const call: Sources['call'] = async (secretKey, caller, attempt) => {
      await rateLimitOf(secretKey).wait(interrupted).catch(() => { throw providerError('aborted') })
      return sources.call(secretKey, caller, attempt)
    }
    const heartbeat = renewLease(part, lost, cancel)
    try {
      return await reconcileShop(
        { sources: { ...sources, call }, run, key, runs, lease, limits, rateLimitOf, log, cancelled: cancel.signal, interrupted }, part)
    } finally {
      clearInterval(heartbeat)
    }
  }

  function renewLease (part: Part, lost: AbortController, cancel: AbortController): NodeJS.Timeout {
    let renewed = Date.now()
    return setInterval(() => {
      runs.renew(part, lease).then(next => {
        renewed = Date.now()
        if (next === 'lost') lost.abort()
        // Cancelled through another process: an account may be waiting for the provider here.
        if (next === 'cancelled') cancel.abort()
      }, error => {
        log.warn({ err: error, runId: part.runId }, 'the lease was not renewed')
        // Another process may have taken the part, and this one cannot find out.
        if (Date.now() - renewed > limits.leaseDuration) lost.abort()
      })
    }, limits.leaseDuration / 3)
  }

  async function existing (id: string): Promise<Run> {
    const run = await runs.get(id)
    if (!run) throw new PAY_RECONCILE_RUN_NOT_FOUND()
    return run
  }

  return {
    async start (run) {
      const shops = await sources.accounts.shops(run.shopId ?? undefined)
      // As the database writes it: a client may send a UUID in capitals.
      const shopId = run.shopId === null ? null : shops[0]?.shopId
      if (shopId === undefined) throw new PAY_RECONCILE_SHOP_NOT_FOUND()
      await runs.start({ ...run, shopId }, shops)
      const started = await existing(run.id)
      startWorkers(run)
      return started
    },

    async cancel (id) {
      active.get(id)?.cancel.abort()
      await runs.cancel(id)
      return existing(id)
    },

    async resume () {
      for (const id of await runs.claimable()) startWorkers(await existing(id))
    },

    async close () {
      closing.abort()
      await Promise.all([...active.values()].map(({ ended }) => ended))
    }
  }
}
