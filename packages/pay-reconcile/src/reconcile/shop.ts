import type { FastifyBaseLogger } from 'fastify'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Caller, Sources } from '../customers/types.ts'
import {
  isProviderError, PAY_RECONCILE_DETAILS_NOT_OBJECT, PAY_RECONCILE_PROVIDER_KEY_MISMATCH, PAY_RECONCILE_PROVIDER_UNAVAILABLE,
  PAY_RECONCILE_RUN_FORBIDDEN, PAY_RECONCILE_STORE_FAILED, type ProviderError
} from '../errors.ts'
import type { Settings } from '../options.ts'
import { backoff } from '../provider/backoff.ts'
import { isTransient } from '../provider/calls.ts'
import type { ScannedAccount } from '../types.ts'
import { reconcileAccount } from './account.ts'
import { itemOf } from './item.ts'
import type { RateLimit } from './rate-limit.ts'
import type { ShopKey } from './shop-key.ts'
import type { Counters, Item, Lease, NewRun, Part, RunStore } from './types.ts'

export type RunLimits = Pick<Settings, 'perSecond' | 'accountsAtOnce' | 'shopsAtOnce' | 'leaseDuration' | 'emailOf' | 'mayContinue'>

/** How a shop's part ended: `interrupted` parts continue later, `lost` parts in another process. */
export type Ending =
  { readonly status: 'done' | 'cancelled' | 'interrupted' | 'lost' } |
  { readonly status: 'stopped', readonly reason: string }

/** What is needed to reconcile a shop. */
export interface ShopWork {
  /** `sources.call` waits for the rate limit. */
  readonly sources: Sources
  readonly run: NewRun
  readonly key: ShopKey
  readonly runs: RunStore
  readonly lease: Lease
  readonly limits: RunLimits
  readonly rateLimitOf: (secretKey: string) => RateLimit
  readonly log: FastifyBaseLogger
  /** Starts no more accounts; those in progress are finished. */
  readonly cancelled: AbortSignal
  /** Stops immediately; accounts in progress are left for later. */
  readonly interrupted: AbortSignal
}

/** Waits for one account while the gate of its key is closed; then the account has failed. */
const maxWaits = 3
/** Waits for one account, ten seconds or so in total, after which the log says why nothing happens. */
const waitsBeforeWarning = 5
/** Consecutive accounts that fail because of the provider before the shop stops. */
const maxFailures = 10

/** Reconciles the accounts of a shop, page by page, in the order of their ids. */
export async function reconcileShop (work: ShopWork, part: Part): Promise<{ readonly part: Part, readonly ending: Ending }> {
  const { run, runs, lease, limits, cancelled, interrupted, sources } = work
  const reasonToStop = stopRule()
  const ended = AbortSignal.any([interrupted, cancelled])
  const pageSize = Math.min(Math.max(Math.ceil(limits.perSecond), limits.accountsAtOnce), 500)
  for (;;) {
    if (interrupted.aborted) return { part, ending: { status: 'interrupted' } }
    if (cancelled.aborted) return { part, ending: { status: 'cancelled' } }
    if (!run.dryRun && !await limits.mayContinue({ id: run.id, actor: run.actor })) return { part, ending: stopped(PAY_RECONCILE_RUN_FORBIDDEN) }
    const accounts = await sources.accounts.scan({ shopId: part.shopId, after: part.lastAccount, limit: pageSize, runId: part.runId })
    if (accounts.length === 0) return { part, ending: knowsNone(part) ? stopped(PAY_RECONCILE_PROVIDER_KEY_MISMATCH) : { status: 'done' } }

    const { items, reason } = await reconcilePage(work, accounts, ended, reasonToStop)
    part = partAfter(part, items)
    const next = await runs.advance(part, items, lease)
    if (next === 'lost') return { part, ending: { status: 'lost' } }
    if (reason !== undefined) return { part, ending: { status: 'stopped', reason } }
    if (next === 'cancelled') return { part, ending: { status: 'cancelled' } }
  }
}

function stopped (Reason: new () => { readonly code: string }): Ending {
  return { status: 'stopped', reason: new Reason().code }
}

/** Whether the provider knew none of several customers. A single unknown one says nothing about the key. */
function knowsNone ({ processed, outcomes, drift }: Part): boolean {
  const requested = processed - (drift.missing ?? 0) - (outcomes.skipped ?? 0)
  return requested > 1 && drift.not_found === requested
}

interface PageResult {
  /** Items of the first accounts of the page, without gaps, so that the next page starts after the last one. */
  readonly items: readonly Item[]
  /** Why the shop stops. */
  readonly reason: string | undefined
}

async function reconcilePage (
  work: ShopWork, accounts: readonly ScannedAccount[], ended: AbortSignal,
  reasonToStop: (error: ProviderError | undefined) => string | undefined
): Promise<PageResult> {
  const items: Array<Item | undefined> = []
  let reason: string | undefined
  let started = 0

  async function worker (): Promise<void> {
    while (reason === undefined && !ended.aborted) {
      const index = started++
      const account = accounts[index]
      if (!account) return
      const { item, error } = await reconcileWithWaits(work, account, ended)
      items[index] = item
      if (item) reason ??= reasonToStop(error)
    }
  }

  await Promise.all(Array.from({ length: work.limits.accountsAtOnce }, worker))
  const gap = Array.from(items).indexOf(undefined)
  return { items: items.slice(0, gap < 0 ? items.length : gap).filter(item => item !== undefined), reason }
}

/**
 * Reconciles an account. Waits as long as the provider limits the rate, which says nothing about the account or the key,
 * and continues with a new key if there is one. Returns no item if it was interrupted.
 */
async function reconcileWithWaits (work: ShopWork, scanned: ScannedAccount, ended: AbortSignal): Promise<{ item?: Item, error?: ProviderError }> {
  const { sources, run, key, limits: { emailOf }, cancelled, interrupted, log } = work
  const caller: Caller = { actor: run.actor, requestId: run.requestId, runId: run.id, signal: interrupted }
  for (let waits = 0; ; waits++) {
    const secretKey = key.current
    try {
      return { item: await reconcileAccount({ sources, run, secretKey, emailOf, caller }, scanned) }
    } catch (error) {
      if (!isProviderError(error)) return { item: itemOf(scanned.account, 'failed', { errorCode: codeOf(work, scanned, error) }) }
      if (error.fault === 'aborted' || interrupted.aborted) return {}
      if (rejectsKey(error) && await isReplaced(work, secretKey)) continue
      const mayWait = error.fault === 'rate_limited' || (error.fault === 'unavailable' && waits < maxWaits)
      if (mayWait && !cancelled.aborted) {
        const wait = backoff(waits, error.retryAfter)
        if (waits === waitsBeforeWarning) log.warn({ err: error, accountId: scanned.account.id, runId: run.id, wait }, 'waiting for the payment provider')
        work.rateLimitOf(secretKey).pause(wait)
        await sleep(wait, undefined, { signal: ended }).catch(() => undefined)
        if (interrupted.aborted) return {}
        if (!cancelled.aborted) continue
      }
      const drift = error.fault === 'customer_not_found' ? ['not_found' as const] : []
      return { item: itemOf(scanned.account, 'failed', { drift, errorCode: error.code, providerRequestId: error.provider_request_id ?? null }), error }
    }
  }
}

/**
 * One account that cannot be stored must not block the others. If the whole store is down, progress cannot be stored
 * either, and the page is repeated later.
 */
function codeOf ({ log, run }: ShopWork, { account }: ScannedAccount, error: unknown): string {
  if (error instanceof PAY_RECONCILE_DETAILS_NOT_OBJECT) return error.code
  log.error({ err: error, accountId: account.id, runId: run.id }, 'the account was not reconciled')
  return new PAY_RECONCILE_STORE_FAILED().code
}

async function isReplaced ({ key, log, run }: ShopWork, secretKey: string): Promise<boolean> {
  return key.replaced(secretKey).catch(error => {
    log.error({ err: error, runId: run.id }, 'the secret key of the shop could not be read again')
    return false
  })
}

function rejectsKey (error: ProviderError): boolean {
  return error.fault === 'key_rejected' || error.fault === 'key_forbidden'
}

/** Decides when a shop stops: its key is rejected, or the provider has failed for many accounts in a row. */
function stopRule (): (error: ProviderError | undefined) => string | undefined {
  let failures = 0
  return error => {
    if (error && rejectsKey(error)) return error.code
    failures = isTransient(error) ? failures + 1 : 0
    return failures >= maxFailures ? new PAY_RECONCILE_PROVIDER_UNAVAILABLE().code : undefined
  }
}

function partAfter (part: Part, items: readonly Item[]): Part {
  return {
    ...part,
    processed: part.processed + items.length,
    lastAccount: items.at(-1)?.accountId ?? part.lastAccount,
    outcomes: counted(part.outcomes, items.map(({ outcome }) => outcome)),
    drift: counted(part.drift, items.flatMap(({ drift }) => drift))
  }
}

function counted<Key extends string> (counters: Counters<Key>, keys: readonly Key[]): Counters<Key> {
  const result: Partial<Record<Key, number>> = { ...counters }
  for (const key of keys) result[key] = (result[key] ?? 0) + 1
  return result
}
