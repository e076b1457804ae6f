import type { Paging } from './types.ts'

/**
 * Reading in pages may cost this share of the requests that reading one by one would: a page that shows fewer linked
 * accounts than the one that it costs is a loss.
 */
const ACCEPTED_LOSS = 0.1

/**
 * The start: pages, unless a single one in vain is too much. So fewer than ten linked accounts are read one by one.
 *
 * @param linked - how many accounts with a customer the run goes through in the shop.
 */
export function pagingFor (linked: number): Paging | null {
  const paging = { after: null, left: linked, lost: 0, ended: false }
  return isWorthIt(paging) ? paging : null
}

/**
 * Progress after some or all accounts of a page.
 *
 * @param found - how many linked accounts were finished.
 * @param next - where the next page starts, null after the last one; undefined: this page is not finished.
 */
export function pagingAfter (paging: Paging, found: number, next: string | null | undefined): Paging {
  const left = Math.max(0, paging.left - found)
  if (next === undefined) return { ...paging, left }
  const lost = Math.max(0, paging.lost + 1 - found)
  return { after: next ?? paging.after, left, lost, ended: next === null || !isWorthIt({ left, lost }) }
}

/**
 * Whether one more page in vain would still be an accepted loss. Without this rule a key with a million customers would
 * be read in 10,000 pages for a hundred accounts.
 */
function isWorthIt ({ left, lost }: Pick<Paging, 'left' | 'lost'>): boolean {
  return lost + 1 <= left * ACCEPTED_LOSS
}
