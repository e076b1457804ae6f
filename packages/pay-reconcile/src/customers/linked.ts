import type { Sources } from './types.ts'

/** Those of the customers that accounts of the shop are linked to, or of other shops with the same key: not a key of the same account. */
export async function linkedUnderKey ({ accounts }: Sources, shopId: string, secretKey: string, customerIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (customerIds.length === 0) return new Set()
  const linked = new Set(await accounts.linkedCustomers(shopId, customerIds))
  const links = await accounts.linkedElsewhere(shopId, customerIds.filter((id) => !linked.has(id)))
  for (const other of new Set(links.map((link) => link.shopId))) {
    // An unreadable key of another shop must not affect this shop.
    const key = await accounts.secretKey(other).catch(() => null)
    if (key !== secretKey) continue
    for (const { shopId, customerId } of links) if (shopId === other) linked.add(customerId)
  }
  return linked
}
