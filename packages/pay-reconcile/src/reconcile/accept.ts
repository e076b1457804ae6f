import { PAY_RECONCILE_VALIDATION } from '../errors.ts'
import type { Item, Mode, Target, Targets } from './types.ts'

/**
 * The accounts of accepted items, each with the customer of the item.
 *
 * @param ids - as the client sent them.
 * @param items - those that exist.
 * @param shopId - of the run; null: all shops.
 * @throws {@link PAY_RECONCILE_VALIDATION} for an item that is unknown, of another shop, or that shows nothing to
 *   accept.
 */
export function targetsFrom (
  mode: Mode,
  ids: readonly string[],
  items: readonly Item[],
  shopId: string | null
): Targets {
  const known = new Map(items.map((item) => [item.id, item]))
  const targets = new Map<string, Target>()
  const taken = new Map<string, number>()
  for (const id of new Set(ids)) {
    const index = ids.indexOf(id)
    const refuse = (message: string): Error =>
      new PAY_RECONCILE_VALIDATION(`accept/${index}`, `accept.${index} ${message}`)
    const item = known.get(id)
    if (!item || (shopId !== null && item.shopId !== shopId)) {
      throw refuse(shopId === null ? 'is not the id of an item' : 'is not the id of an item of the shop')
    }
    const target = targetFrom(mode, item)
    if (!target) throw refuse(mode === 'link' ? 'is not a suggestion of one customer' : 'has no customer to unlink')
    if (targets.has(item.accountId)) throw refuse('is about the same account as another item')
    const customer = JSON.stringify([item.shopId, target.customerId])
    if (mode === 'link' && taken.has(customer)) {
      throw refuse(`suggests the same customer as accept.${taken.get(customer)}`)
    }
    taken.set(customer, index)
    targets.set(item.accountId, target)
  }
  return Object.fromEntries(targets)
}

function targetFrom (
  mode: Mode,
  { outcome, after, accountName, candidates: [candidate, ...others] }: Item
): Target | undefined {
  if (mode === 'unlink') return after === null ? undefined : { customerId: after, accountName, candidate: null }
  return outcome === 'suggested' && candidate && others.length === 0
    ? { customerId: candidate.customerId, accountName, candidate }
    : undefined
}
