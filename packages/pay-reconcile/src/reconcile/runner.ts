import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Account } from '../types.ts'
import { secretKeyOf, type Sources } from '../customers/snapshot.ts'
import {
  providerError, PAY_RECONCILE_NO_SECRET_KEY, PAY_RECONCILE_RUN_NOT_FOUND, PAY_RECONCILE_SHOP_NOT_FOUND,
  PAY_RECONCILE_STORE_FAILED
} from '../errors.ts'
import type { ProviderCalls } from '../provider/calls.ts'
import { paces } from './rate-limit.ts'
import type { Lease, NewRun, Part, Run, RunStore } from './types.ts'
import { shopKey, type ShopKey } from './shop-key.ts'
import { reconcileShop, type Ending } from './shop.ts'

/** How bulk runs work. */
export interface RunLimits {
  /** Calls each second under one secret key. */
  readonly perSecond: number
  /** Accounts of one shop at once, and shops at once. */
  readonly accountsAtOnce: number
  readonly shopsAtOnce: number
  /** How long a part stays with a process that no longer says that it works on it, in milliseconds. */
  readonly leaseMs: number
  readonly emailOf: (account: Account) => string | undefined
  readonly mayContinue: MayContinue
}

/** Whether whoever started a run, by what `actor` said of them, may still change accounts. */
export type MayContinue = (run: { readonly id: string, readonly actor: string }) => boolean | Promise<boolean>

/** Bulk runs of this process. */
export interface Runner {
  start (run: NewRun): Promise<Run>
  cancel (id: string): Promise<Run>
  /** Takes up what other processes left behind. */
  resume (): Promise<void>
  /** Leaves every run where it stands, for the next process. */
  close (): Promise<void>
}

export function runner (sources: Sources, runs: RunStore, limits: RunLimits, log: FastifyBaseLogger): Runner {
  const lease: Lease = { owner: randomUUID(), ms: limits.leaseMs }
  const paceOf = paces(limits.perSecond)
  const closing = new AbortController()
  const cancels = new Map<string, AbortController>()
  const drives = new Map<string, Promise<void>>()

  /** Works on the run's parts in the background, at most once per run in this process. */
  function drive (run: NewRun): void {
    if (drives.has(run.id) || closing.signal.aborted) return
    const cancel = new AbortController()
    cancels.set(run.id, cancel)
    const workers = Array.from({ length: limits.shopsAtOnce }, () => workThrough(run, cancel.signal))
    drives.set(run.id, Promise.allSettled(workers).then(results => {
      drives.delete(run.id)
      cancels.delete(run.id)
      for (const result of results) {
        if (result.status === 'rejected') log.error({ err: result.reason, runId: run.id }, 'reconciliation interrupted')
      }
    }))
  }

  async function workThrough (run: NewRun, cancelled: AbortSignal): Promise<void> {
    while (!closing.signal.aborted) {
      const part = await runs.claim(run.id, lease)
      if (!part) return
      const { part: reached, ending } = await workOn(run, part, cancelled)
      if (ending.status === 'interrupted') await runs.release(reached, lease)
      else if (ending.status === 'stopped') await runs.finish(reached, lease, 'stopped', ending.reason)
      else if (ending.status !== 'lost') await runs.finish(reached, lease, ending.status, null)
    }
  }

  async function workOn (run: NewRun, part: Part, cancelled: AbortSignal): Promise<{ part: Part, ending: Ending }> {
    let key: ShopKey
    try {
      key = shopKey(await secretKeyOf(sources, part.shopId), () => secretKeyOf(sources, part.shopId))
    } catch (error) {
      if (error instanceof PAY_RECONCILE_NO_SECRET_KEY) return { part, ending: { status: 'stopped', reason: error.code } }
      log.error({ err: error, shopId: part.shopId, runId: run.id }, 'secret key of the shop not read')
      return { part, ending: { status: 'stopped', reason: new PAY_RECONCILE_STORE_FAILED().code } }
    }
    const lost = new AbortController()
    const interrupted = AbortSignal.any([closing.signal, lost.signal])
    let renewed = Date.now()
    const heartbeat = setInterval(() => {
      runs.renew(part, lease).then(next => {
        renewed = Date.now()
        if (next === 'lost') lost.abort()
        // Another process was asked: here an account may be waiting for the provider for long.
        if (next === 'cancelled') cancels.get(run.id)?.abort()
      }, error => {
        log.warn({ err: error, runId: run.id }, 'lease not renewed')
        // By now somebody else may have the part, and this process cannot even ask.
        if (Date.now() - renewed > limits.leaseMs) lost.abort()
      })
    }, limits.leaseMs / 3)
    const call: ProviderCalls = async (secretKey, caller, attempt) => {
      await paceOf(secretKey).turn(interrupted).catch(() => { throw providerError('aborted') })
      return sources.call(secretKey, caller, attempt)
    }
    try {
      return await reconcileShop({
        sources: { ...sources, call },
        run,
        key,
        emailOf: limits.emailOf,
        mayContinue: () => run.dryRun || limits.mayContinue({ id: run.id, actor: run.actor }),
        caller: { actor: run.actor, requestId: run.requestId, runId: run.id, signal: interrupted },
        runs,
        lease,
        paceOf,
        log,
        atOnce: limits.accountsAtOnce,
        pageSize: Math.min(Math.max(Math.ceil(limits.perSecond), limits.accountsAtOnce), 500),
        cancelled,
        interrupted
      }, part)
    } finally {
      clearInterval(heartbeat)
    }
  }

  async function existing (id: string): Promise<Run> {
    const run = await runs.get(id)
    if (!run) throw new PAY_RECONCILE_RUN_NOT_FOUND()
    return run
  }

  return {
    async start (run) {
      const shops = await sources.accounts.shops(run.shopId ?? undefined)
      // As the database writes it: a client may spell a UUID in capitals.
      const shopId = run.shopId === null ? null : shops[0]?.shopId
      if (shopId === undefined) throw new PAY_RECONCILE_SHOP_NOT_FOUND()
      await runs.start({ ...run, shopId }, shops)
      const started = await existing(run.id)
      drive(run)
      return started
    },

    async cancel (id) {
      cancels.get(id)?.abort()
      await runs.cancel(id)
      return existing(id)
    },

    async resume () {
      for (const id of await runs.claimable()) drive(await existing(id))
    },

    async close () {
      closing.abort()
      await Promise.all(drives.values())
    }
  }
}
