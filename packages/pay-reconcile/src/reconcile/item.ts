import { excerpt } from '#shared/excerpt'
import { customerIdOf } from '../details.ts'
import type { Account } from '../types.ts'
import type { FoundItem, Outcome } from './types.ts'

/** An item with defaults for everything but its outcome. */
export function itemOf (
  { id, name, shopId, shopName, details }: Account,
  outcome: Outcome,
  rest: Partial<FoundItem> = {}
): FoundItem {
  const customerId = customerIdOf(details)
  return {
    accountId: id,
    accountName: excerpt(name),
    shopId,
    shopName: excerpt(shopName),
    outcome,
    before: customerId,
    after: customerId,
    reason: null,
    differences: [],
    fields: [],
    candidates: [],
    errorCode: null,
    providerRequestId: null,
    ...rest
  }
}
