import { isProviderError } from '../errors.ts'
import { accountIdOf, isAlive, type PayCustomer, type ProviderResponse } from '../provider/types.ts'
import { retrieve } from './snapshot.ts'
import type { Sources } from './types.ts'

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
 * The customers that name the account now. A search lags, and shows deleted customers for a day; so each hit is only a hint,
 * and is read before it counts.
 *
 * @returns none if the provider refused the search.
 * @see [Stripe: search customers](https://docs.stripe.com/api/customers/search): the lag, and where there is no search
 */
export async function searchByAccount (sources: Sources, wanted: Wanted): Promise<Found> {
  const { secretKey, accountId, signal, gone } = wanted
  const { provider, call } = sources
  let hits: ProviderResponse<readonly PayCustomer[]>
  try {
    hits = await call(secretKey, signal, (attempt) => provider.findByAccount({ secretKey, accountId, signal: attempt }))
  } catch (error) {
    if (isProviderError(error) && error.fault === 'refused') return { value: [], requestId: error.provider_request_id ?? null, refused: true }
    throw error
  }
  const value: PayCustomer[] = []
  for (const id of new Set(hits.value.filter(isAlive).map((hit) => hit.id))) {
    const customer = id === gone ? undefined : await customerFor(sources, wanted, id)
    if (customer) value.push(customer)
    if (value.length === MOST) break
  }
  return { value, requestId: hits.requestId, refused: false }
}

/** The customer, if it exists and names the account now. */
export async function customerFor (sources: Sources, { secretKey, accountId, signal }: Wanted, customerId: string): Promise<PayCustomer | undefined> {
  try {
    const { value } = await retrieve(sources, secretKey, customerId, signal)
    return isAlive(value) && accountIdOf(value) === accountId ? value : undefined
  } catch (error) {
    if (isProviderError(error) && error.fault === 'customer_not_found') return undefined
    throw error
  }
}
