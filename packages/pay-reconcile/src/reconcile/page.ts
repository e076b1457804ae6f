import { nextPage } from '../provider/next-page.ts'
import type { PayCustomer } from '../provider/types.ts'
import type { ShopWork } from './shop-work.ts'
import { readWithRetries } from './waits.ts'

/** A page of the customers of a shop, for the accounts that have them. */
export interface CustomerPage {
  readonly customers: ReadonlyMap<string, PayCustomer>
  /** Before the page was requested, ISO 8601 UTC with milliseconds: the customers are no older. */
  readonly readAt: string
  readonly requestId: string | null
  /** Where the next page starts; null: there is none. */
  readonly next: string | null
}

/**
 * Reads a page.
 *
 * @param after - the last customer of the page before; null: the first page.
 * @returns undefined if the run was interrupted or cancelled.
 * @throws a provider error if the page cannot be read.
 */
export function readPage (work: ShopWork, after: string | null): Promise<CustomerPage | undefined> {
  return readWithRetries(work, (secretKey) => pageFrom(work, secretKey, after))
}

async function pageFrom (
  { sources: { call, provider }, interrupted }: ShopWork,
  secretKey: string,
  after: string | null
): Promise<CustomerPage> {
  let readAt = ''
  const { value: { customers, more }, requestId } = await call(secretKey, interrupted, (signal) => {
    readAt = new Date().toISOString()
    return provider.listCustomers({ secretKey, signal, ...(after !== null && { after }) })
  })
  return {
    customers: new Map(customers.map((customer) => [customer.id, customer])),
    readAt,
    requestId,
    next: nextPage({ ids: customers.map(({ id }) => id), more }, after)
  }
}
