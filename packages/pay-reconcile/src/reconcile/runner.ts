import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { FastifyBaseLogger } from 'fastify'
import { secretKeyOf, type Sources } from '../customers/snapshot.ts'
import {
  providerError,
  PAY_RECONCILE_VALIDATION,
  PAY_RECONCILE_NO_SECRET_KEY,
  PAY_RECONCILE_NOT_FOUND,
  PAY_RECONCILE_STORE_FAILED
} from '../errors.ts'
import { targetsFrom } from './accept.ts'
import { canFollow } from './can-follow.ts'
import { rateLimits } from './rate-limit.ts'
import { limitsOf, noKey, type RunLimits, shopKey, type ShopKey } from './shop-work.ts'
import { reconcileShop, type Ending } from './shop.ts'
import type { Lease, NewRun, Part, Run, RunStore, Targets } from './types.ts'

/** A run to start, limited to some accounts by at most one of these. */
export interface RunRequest extends Omit<NewRun, 'selection' | 'scheduledFor'> {
  readonly accounts?: readonly string[] | undefined
  /** Ids of items. */
  readonly accept?: readonly string[] | undefined
  readonly failedIn?: string | undefined
  readonly syncedBefore?: string | undefined
}

/** How long a run waits for the provider before the log says why nothing happens, in milliseconds. */
const SILENT_WAIT = 10_000

/** The shops of a run, and how many accounts of each it goes through. */
export type ShopsOfRun = ReadonlyArray<{ readonly shopId: string, readonly accounts: number }>

/** Bulk runs of this process. */
export interface BulkRunner {
  start(run: RunRequest): Promise<Run>
  /** Of a run without named accounts. */
  shopsOf(run: NewRun): Promise<ShopsOfRun>
  /** Works on a run that is stored. */
  work(id: string): Promise<void>
  cancel(id: string): Promise<Run>
  /** Continues runs that other processes left behind. */
  resume(): Promise<void>
  /** Interrupts every run, for the next process to continue. */
  close(): Promise<void>
}

/** @param partEnded - is called when a part has ended, and that is stored */
export function bulkRunner (
  sources: Sources,
  runs: RunStore,
  limits: RunLimits,
  log: FastifyBaseLogger,
  partEnded: (run: NewRun, shopId: string, ending: Ending) => Promise<void>
): BulkRunner {
  const rateLimitOf = rateLimits(limits.perSecond)
  const closing = new AbortController()
  /** The runs in progress. */
  const active = new Map<string, { readonly cancel: AbortController, readonly ended: Promise<void> }>()

  /** Processes the run's parts in the background, at most once per run in this process. */
  function startWorkers (run: NewRun): void {
    if (active.has(run.id) || closing.signal.aborted) return
    const cancel = new AbortController()
    const workers = Array.from({ length: limits.shopsAtOnce }, () => worker(run, cancel))
    const ended = Promise.allSettled(workers).then((results) => {
      active.delete(run.id)
      for (const result of results) {
        if (result.status === 'rejected') log.error({ err: result.reason, runId: run.id }, 'reconciliation interrupted')
      }
    })
    active.set(run.id, { cancel, ended })
  }

  async function worker (run: NewRun, cancel: AbortController): Promise<void> {
    const targets = await runs.targets(run.id)
    while (!closing.signal.aborted) {
      // Each time another: after a standstill, a worker of the same process may take a part whose lease has lapsed.
      const lease: Lease = { owner: randomUUID(), duration: limits.leaseDuration }
      const part = await runs.claim(run.id, lease)
      if (!part) return
      const { part: reached, ending } = await processPart(run, targets, part, lease, cancel)
      if (ending.status === 'interrupted') await runs.release(reached, lease)
      else if (ending.status === 'stopped') {
        await runs.finish(reached, lease, 'stopped', ending.reason, ending.missingPermission)
      } else if (ending.status !== 'lost') await runs.finish(reached, lease, ending.status, null)
      if (ending.status !== 'interrupted' && ending.status !== 'lost') await partEnded(run, part.shopId, ending)
    }
  }

  async function processPart (
    run: NewRun,
    targets: Targets | null,
    part: Part,
    lease: Lease,
    cancel: AbortController
  ): Promise<{ part: Part, ending: Ending }> {
    let key: ShopKey
    try {
      key = run.mode === 'unlink' ? noKey : await shopKey(() => secretKeyOf(sources, part.shopId))
    } catch (error) {
      if (error instanceof PAY_RECONCILE_NO_SECRET_KEY) {
        return { part, ending: { status: 'stopped', reason: error.code } }
      }
      log.error({ err: error, shopId: part.shopId, runId: run.id }, 'the secret key of the shop could not be read')
      return { part, ending: { status: 'stopped', reason: new PAY_RECONCILE_STORE_FAILED().code } }
    }
    const lost = new AbortController()
    const interrupted = AbortSignal.any([closing.signal, lost.signal])
    const ended = AbortSignal.any([cancel.signal, interrupted])
    // As many accounts wait for them at once as the host says: Node.js warns of a leak from eleven on.
    setMaxListeners(0, interrupted, ended)
    const call: Sources['call'] = async (secretKey, caller, attempt) => {
      await rateLimitOf(secretKey).wait(ended).catch(() => {
        throw providerError('aborted')
      })
      return sources.call(secretKey, caller, attempt)
    }
    const heartbeat = renewLease(part, lease, key, lost, cancel)
    try {
      return await reconcileShop({
        sources: { ...sources, call },
        run,
        targets,
        key,
        runs,
        lease,
        limits,
        rateLimitOf,
        log,
        cancelled: cancel.signal,
        interrupted,
        ended
      }, part)
    } finally {
      clearInterval(heartbeat)
    }
  }

  function renewLease (
    part: Part,
    lease: Lease,
    key: ShopKey,
    lost: AbortController,
    cancel: AbortController
  ): NodeJS.Timeout {
    let renewed = Date.now()
    let isTold = false
    return setInterval(() => {
      const wait = rateLimitOf(key.current).paused()
      if (wait >= SILENT_WAIT && !isTold) {
        log.warn({ shopId: part.shopId, runId: part.runId, wait }, 'waiting for the payment provider')
      }
      isTold = wait >= SILENT_WAIT
      runs.renew(part, lease).then((next) => {
        renewed = Date.now()
        if (next === 'lost') lost.abort()
        // Cancelled through another process: an account may be waiting for the provider here.
        if (next === 'cancelled') cancel.abort()
      }, (error) => {
        log.warn({ err: error, runId: part.runId }, 'the lease was not renewed')
        // Another process may have taken the part, and this one cannot find out.
        if (Date.now() - renewed > limits.leaseDuration) lost.abort()
      })
    }, limits.leaseDuration / 3)
  }

  async function existing (id: string): Promise<Run> {
    const run = await runs.get(id)
    if (!run) throw new PAY_RECONCILE_NOT_FOUND('reconciliation run')
    return run
  }

  async function shopsOf (run: NewRun, targets: Targets | null): Promise<ShopsOfRun> {
    const hasLimits = run.mode !== 'changes'
    const found = await sources.accounts.shops(run.shopId ?? undefined, hasLimits ? limitsOf(run, targets) : undefined)
    // There is nothing to do in a shop without accounts, which often has no key either: a schedule of every five
    // minutes would store 8,640 rows a month for it.
    const shops = run.shopId === null ? found.filter(({ accounts }) => accounts !== 0) : found
    // Which accounts have changed, each shop's part finds out.
    return hasLimits ? shops : shops.map(({ shopId }) => ({ shopId, accounts: 0 }))
  }

  /** The shop as the database writes it: a client may send a UUID in capitals. */
  async function shopOf ({ shopId }: RunRequest): Promise<string | null> {
    if (shopId === null) return null
    const [shop] = await sources.accounts.shops(shopId)
    if (!shop) throw new PAY_RECONCILE_NOT_FOUND('shop')
    return shop.shopId
  }

  return {
    async start (request) {
      const { accounts, accept, failedIn, syncedBefore, ...rest } = request
      if (request.mode === 'changes' && !canFollow(sources)) {
        throw new PAY_RECONCILE_VALIDATION(
          'mode',
          'changes needs a payment provider with listEvents and an account store with changes'
        )
      }
      const shopId = await shopOf(request)
      const targets = accept
        ? targetsFrom(request.mode, accept, await runs.itemsById(accept), shopId)
        : namedTargets(accounts)
      const named = targets && Object.keys(targets).length
      const run: NewRun = {
        ...rest,
        shopId,
        scheduledFor: null,
        selection: {
          ...(accounts && { accounts: named ?? 0 }),
          ...(accept && { accept: named ?? 0 }),
          ...(failedIn !== undefined && { failed_in: (await existing(failedIn)).id }),
          ...(syncedBefore !== undefined && { synced_before: syncedBefore })
        }
      }
      const shops = await shopsOf(run, targets)
      const unknown = accounts ? (named ?? 0) - shops.reduce((sum, shop) => sum + shop.accounts, 0) : 0
      if (unknown > 0) {
        throw new PAY_RECONCILE_VALIDATION(
          'accounts',
          `${unknown} of the accounts ${shopId === null ? 'do not exist' : 'are not accounts of the shop'}`
        )
      }
      await runs.start(run, shops, targets)
      const started = await existing(run.id)
      startWorkers(run)
      return started
    },

    shopsOf: (run) => shopsOf(run, null),

    async work (id) {
      startWorkers(await existing(id))
    },

    async cancel (id) {
      await runs.cancel(id)
      active.get(id)?.cancel.abort()
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

function namedTargets (accounts: readonly string[] | undefined): Targets | null {
  return accounts ? Object.fromEntries(accounts.map((id) => [id, null])) : null
}
