import { MAX_OF_PAGE, type Batch, type BatchResult } from './batch.ts'
import { pagingAfter } from './paging.ts'
import type { Counters, FoundItem, Part } from './types.ts'

/**
 * The items that can be stored. Of a page, all; otherwise those of the first accounts without gaps, so that the next batch
 * starts after the last one.
 */
export function finishedOf ({ page }: Batch, items: BatchResult['items']): readonly FoundItem[] {
  const gap = page ? -1 : items.indexOf(undefined)
  return items.slice(0, gap < 0 ? items.length : gap).filter((item) => item !== undefined)
}

/** A shop's part after some or all accounts of a batch. */
export function partAfter (part: Part, { accounts, page }: Batch, items: readonly FoundItem[]): Part {
  const isWhole = items.length === accounts.length && accounts.length < MAX_OF_PAGE
  return {
    ...part,
    processed: part.processed + items.length,
    lastAccount: page ? part.lastAccount : items.at(-1)?.accountId ?? part.lastAccount,
    paging: page && part.paging ? pagingAfter(part.paging, items.length, isWhole ? page.next : undefined) : part.paging,
    outcomes: counted(part.outcomes, items.map(({ outcome }) => outcome)),
    drift: counted(part.drift, items.flatMap(({ drift }) => drift))
  }
}

function counted<Key extends string> (counters: Counters<Key>, keys: readonly Key[]): Counters<Key> {
  const result: Partial<Record<Key, number>> = { ...counters }
  for (const key of keys) result[key] = (result[key] ?? 0) + 1
  return result
}
