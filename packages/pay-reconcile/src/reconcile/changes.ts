import type { ChangeStore } from '../types.ts'
import { nextPage } from '../provider/next-page.ts'
import { readWithRetries } from './waits.ts'
import type { ShopWork } from './shop-work.ts'
import type { FoundItem } from './types.ts'

/**
 * Events are read again from so long before the end of the last time, in milliseconds: one may show up late, and the
 * clocks of the provider and of this server may differ. Each is noted once.
 */
const OVERLAP = 15 * 60_000
/** In milliseconds. The provider keeps events for 30 days. */
const EXPIRY = 29 * 24 * 3_600_000
const EVENTS_OF_PAGE = 100

/**
 * Notes the accounts of a shop whose customers have changed: since the last time by the events of the provider; all of
 * them if there was no last time, if events have expired since, or once in 29 days, in case an event went missing. Also
 * all if there are more events than customers to read.
 *
 * @returns false if the run was interrupted or cancelled.
 * @throws a provider error if the events cannot be read.
 */
export async function noteChanges (work: ShopWork, changes: ChangeStore, shopId: string): Promise<boolean> {
  const now = Date.now()
  const position = await changes.position(shopId)
  const isComplete = position !== undefined &&
    Math.min(Date.parse(position.until), Date.parse(position.completeAt)) > now - EXPIRY
  const until = new Date(now).toISOString()
  // Before all are noted, so that the next run does not take the events of the overlap for new ones.
  const noted = await noteEvents(
    work,
    changes,
    shopId,
    new Date((isComplete ? Date.parse(position.until) : now) - OVERLAP)
  )
  if (noted === undefined) return false
  if (isComplete && noted) {
    await changes.moveTo(shopId, { ...position, until })
    return true
  }
  await changes.noteAll(shopId)
  await changes.moveTo(shopId, { until, completeAt: until })
  return true
}

/**
 * @returns false if there are more pages of events than of customers, or an empty one before the last; undefined if the
 * run was interrupted or cancelled.
 */
async function noteEvents (
  work: ShopWork,
  changes: ChangeStore,
  shopId: string,
  since: Date
): Promise<boolean | undefined> {
  const { sources: { accounts, provider, call }, interrupted } = work
  const [shop] = await accounts.shops(shopId, { linked: true })
  const maxPages = Math.max(10, (shop?.accounts ?? 0) / EVENTS_OF_PAGE)
  let after: string | undefined
  for (let pages = 0; pages < maxPages; pages++) {
    const page = await readWithRetries(
      work,
      (secretKey) => call(secretKey, interrupted, (signal) => provider.listEvents!({ secretKey, signal, since, after }))
    )
    if (!page) return undefined
    const { events, more } = page.value
    const next = nextPage({ ids: events.map(({ id }) => id), more }, after)
    await changes.note(shopId, events)
    // After an empty page there is nowhere to go on from, though there may be more.
    if (next === null) return !more
    after = next
  }
  return false
}

/** Failures that reading again would not cure. */
const LASTING: ReadonlySet<string | null> = new Set([
  'PAY_RECONCILE_PROVIDER_CUSTOMER_NOT_FOUND',
  'PAY_RECONCILE_PROVIDER_UNEXPECTED_OBJECT',
  'PAY_RECONCILE_DETAILS_NOT_OBJECT'
])

/**
 * The accounts that need not be read again: neither those that failed for a time, nor those that were read before an
 * interruption.
 */
export function doneAccounts (items: readonly FoundItem[]): readonly string[] {
  return items.filter(({ outcome, reason, errorCode }) =>
    outcome === 'failed' ? LASTING.has(errorCode) : reason !== 'before_interruption'
  )
    .map(({ accountId }) => accountId)
}
