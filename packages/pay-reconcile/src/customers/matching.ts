import { isProviderError } from '../errors.ts'
import { isAlive, type PayCustomer, type ProviderResponse } from '../provider/types.ts'
import type { NamingMetadata } from './naming.ts'
import { retrieve, type Sources } from './snapshot.ts'

/** Who looks for a customer, and for whom. */
export interface Wanted {
  readonly secretKey: string
  /** As the database writes it. */
  readonly accountId: string
  readonly signal?: AbortSignal | undefined
  /** A customer that is not read again, because it was just seen deleted. */
  readonly gone?: string | null | undefined
}

/** What a search led to. */
export interface Found extends ProviderResponse<readonly PayCustomer[]> {
  /** The provider refused the search: not every merchant has one. */
  readonly refused: boolean
}

/** More are not read: a person has to choose anyway. */
const MOST = 10

/**
 * The customers that name the account now. A search lags, and shows deleted customers for a day; so each hit is only a
 * hint, and is read before it counts.
 *
 * @returns none if the provider refused the search.
 * @throws {@link PAY_RECONCILE_NAMESPACE_REQUIRED} or a provider error.
 * @see [Stripe: search customers](https://docs.stripe.com/api/customers/search): the lag, and where there is no search
 */
export async function searchByAccount (sources: Sources, wanted: Wanted): Promise<Found> {
  const { naming } = sources
  const isWanted = (customer: PayCustomer): boolean => naming.accountIdOf(customer) === wanted.accountId
  return await search(sources, wanted, naming.metadataFor(wanted.accountId), () => true, isWanted)
}

/** The same of customers without a namespace, if the host has one: they may be of another app, so a person decides. */
export async function searchWithoutNamespace (sources: Sources, wanted: Wanted): Promise<Found> {
  const { naming } = sources
  if (naming.namespace === undefined) return { value: [], requestId: null, refused: false }
  const isWanted = (customer: PayCustomer): boolean =>
    naming.perhapsIdOf(customer) === wanted.accountId && naming.accountIdOf(customer) === undefined
  return await search(sources, wanted, naming.withoutNamespace(wanted.accountId), isWanted, isWanted)
}

/** @param isHint - which hits are read @param isWanted - which of the customers that were read count */
async function search (
  sources: Sources,
  { secretKey, signal, gone }: Wanted,
  metadata: NamingMetadata,
  isHint: IsWanted,
  isWanted: IsWanted
): Promise<Found> {
  const { provider, call } = sources
  let hits: ProviderResponse<readonly PayCustomer[]>
  try {
    hits = await call(secretKey, signal, (attempt) => provider.findByAccount({ secretKey, metadata, signal: attempt }))
  } catch (error) {
    if (isProviderError(error) && error.fault === 'refused') {
      return { value: [], requestId: error.provider_request_id ?? null, refused: true }
    }
    throw error
  }
  const value: PayCustomer[] = []
  for (const id of new Set(hits.value.filter((hit) => isAlive(hit) && isHint(hit)).map((hit) => hit.id))) {
    const customer = id === gone ? undefined : await readIf(sources, { secretKey, signal }, id, isWanted)
    if (customer) value.push(customer)
    if (value.length === MOST) break
  }
  return { value, requestId: hits.requestId, refused: false }
}

/** The customer, if it exists and names the account now. */
export async function customerFor (
  sources: Sources,
  wanted: Wanted,
  customerId: string
): Promise<PayCustomer | undefined> {
  return await readIf(
    sources,
    wanted,
    customerId,
    (customer) => sources.naming.accountIdOf(customer) === wanted.accountId
  )
}

type IsWanted = (customer: PayCustomer) => boolean

/** The customer, if it exists and is wanted. */
async function readIf (
  sources: Sources,
  { secretKey, signal }: Pick<Wanted, 'secretKey' | 'signal'>,
  customerId: string,
  isWanted: IsWanted
): Promise<PayCustomer | undefined> {
  try {
    const { value } = await retrieve(sources, secretKey, customerId, signal)
    return isAlive(value) && isWanted(value) ? value : undefined
  } catch (error) {
    if (isProviderError(error) && error.fault === 'customer_not_found') return undefined
    throw error
  }
}

/*
 * People and the provider write an e-mail address as they like: blanks around it and its case make no other one.
 */

/** @returns the address as it is compared; undefined if there is none */
export function comparableAddress (email: unknown): string | undefined {
  return typeof email === 'string' ? email.trim().toLowerCase() || undefined : undefined
}

/** @returns the ways to look for an address where only the exact one is found: as it is written, and in lower case */
export function writtenAddresses (email: string): readonly string[] {
  return [...new Set([email.trim(), email.trim().toLowerCase()])].filter((address) => address !== '')
}

/**
 * Those of the customers that accounts of the shop are linked to, or of other shops with the same key: not a key of the
 * same account.
 */
export async function linkedUnderKey (
  { accounts }: Sources,
  shopId: string,
  secretKey: string,
  customerIds: readonly string[]
): Promise<ReadonlySet<string>> {
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
