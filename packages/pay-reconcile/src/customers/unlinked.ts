import { customerIdOf, storable } from '../details.ts'
import { isProviderError, providerError, PAY_RECONCILE_NOT_FOUND, PAY_RECONCILE_VALIDATION } from '../errors.ts'
import { nextPage } from '../provider/next-page.ts'
import { excerptOf, isAlive, type PayCustomer } from '../provider/types.ts'
import type { Account } from '../types.ts'
import { comparableAddress, linkedUnderKey } from './matching.ts'
import type { Naming, NamingMetadata } from './naming.ts'
import { secretKeyOf, type Sources } from './snapshot.ts'

/** An account that a customer may belong to. */
export interface AccountMatch {
  readonly account: Account
  /** The customer's metadata name the account, perhaps without a namespace, or the e-mail addresses are equal. */
  readonly match: 'metadata' | 'email'
  /** The customer that the account has, if any. */
  readonly customerId: string | null
}

/** A customer at the provider that no account of the shop is linked to, nor of another shop with the same key. */
export interface UnlinkedCustomer {
  readonly customerId: string
  readonly name: string | null
  readonly email: string | null
  /** What the customer's metadata say: at most ten values, first those that name its account. */
  readonly metadata: NamingMetadata
  /** At most ten. */
  readonly accounts: readonly AccountMatch[]
}

/**
 * One page of the customers of a shop at the provider: those that no account is linked to.
 *
 * @param after - where the page before ended; undefined: at the start.
 * @returns those customers, which may be none, and where the next page starts; null: there is none.
 * @throws {@link PAY_RECONCILE_NOT_FOUND}, {@link PAY_RECONCILE_NO_SECRET_KEY}, {@link PAY_RECONCILE_VALIDATION}
 *   for an `after` that the provider does not know, or a provider error.
 */
export async function unlinkedCustomersOf (
  sources: Sources,
  wantedShop: string,
  after: string | undefined,
  signal: AbortSignal | undefined
): Promise<{ readonly customers: readonly UnlinkedCustomer[], readonly next: string | null }> {
  const { accounts, provider, call, naming } = sources
  const [shop] = await accounts.shops(wantedShop)
  if (!shop) throw new PAY_RECONCILE_NOT_FOUND('shop')
  const { shopId } = shop
  const secretKey = await secretKeyOf(sources, shopId)
  const { value: { customers, more } } = await call(
    secretKey,
    signal,
    (attempt) => provider.listCustomers({ secretKey, after, signal: attempt })
  ).catch((error) => {
    const isUnknown = after !== undefined && isProviderError(error) &&
      (error.fault === 'customer_not_found' || error.fault === 'refused')
    throw isUnknown
      ? new PAY_RECONCILE_VALIDATION(
        'after',
        'after must be the next of the page before: the payment provider cannot list customers from there'
      )
      : error
  })
  const next = nextPage({ ids: customers.map(({ id }) => id), more }, after)
  // There is nowhere to go on from, and the list would look complete.
  if (customers.length === 0 && more) throw providerError('unexpected_object')
  if (customers.length === 0) return { customers: [], next: null }
  const linked = await linkedUnderKey(sources, shopId, secretKey, customers.map(({ id }) => id))
  const unlinked = customers.filter((customer) => isAlive(customer) && !linked.has(customer.id))
  const emails = [
    ...new Set(
      unlinked.flatMap((customer) => [emailOf(customer), comparableAddress(emailOf(customer))]).filter((email) =>
        email !== undefined
      )
    )
  ]
  const named = unlinked.map(naming.perhapsIdOf).filter((id) => id !== undefined)
  const candidates = emails.length + named.length > 0 ? await accounts.accountsLike(shopId, named, emails) : []
  return { customers: unlinked.map((customer) => unlinkedCustomerFrom(customer, candidates, naming)), next }
}

/** @param candidates - accounts that some of the page's customers may belong to. */
export function unlinkedCustomerFrom (
  customer: PayCustomer,
  candidates: readonly Account[],
  naming: Naming
): UnlinkedCustomer {
  const [accountId, email] = [naming.perhapsIdOf(customer), comparableAddress(emailOf(customer))]
  const matches = candidates.flatMap((account): AccountMatch[] => {
    const isNamed = account.id === accountId
    if (!isNamed && (email === undefined || comparableAddress(account.details.email) !== email)) return []
    return [{ account, match: isNamed ? 'metadata' : 'email', customerId: customerIdOf(account.details) }]
  })
  const named = matches.filter(({ match }) => match === 'metadata')
  return {
    customerId: customer.id,
    name: excerptOf(customer.name),
    email: excerptOf(customer.email),
    metadata: naming.shown(customer),
    accounts: [...named, ...matches.filter(({ match }) => match === 'email')].slice(0, 10)
  }
}

/** As the database can compare it. */
function emailOf ({ email }: PayCustomer): string | undefined {
  return typeof email === 'string' && email !== '' && storable(email) === email ? email : undefined
}
