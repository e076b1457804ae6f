import type { Sources } from './snapshot.ts'
import { isProviderError, providerError, PAY_RECONCILE_CUSTOMER_AMBIGUOUS } from '../errors.ts'
import { isAlive, type PayCustomer, type ProviderAnswer } from '../provider/types.ts'

/** Whom a customer is created for, and what it shows at the provider. */
export interface NewCustomer {
  readonly accountId: string
  readonly name?: string | undefined
  readonly email?: string | undefined
}

// Each used up is asked for again by every checkout, until the provider forgets it after a day or so.
const maxKeys = 10

/** The longest lag of a search, an hour, with room for clocks that differ. */
const searchLagMs = 2 * 3_600_000

/**
 * Creates the account's customer, or finds the one that an earlier attempt created. In this order:
 *
 * 1. List the customers with the e-mail address, and search for the account's id in the metadata. The idempotency
 *    key does not find what is older than 24 hours: the provider has forgotten it. The search does, as it lags by a
 *    minute, and by an hour at worst.
 * 2. Create under the key `account:<id>`. The provider stores the first answer to a key, its own failures included,
 *    and gives it to everybody who comes with that key: all replicas get one customer. A stored customer may have
 *    been deleted since, and is read before it is returned.
 * 3. After a stored failure, or when the key was used with another name or e-mail address, list the customers created
 *    in the last two hours: the failed request may have created one, and a search may not show it yet.
 * 4. Create under the next key. The keys come in a fixed order, and the provider's memory says which of them are used
 *    up: all replicas arrive at the same one.
 *
 * @throws {@link PAY_RECONCILE_CUSTOMER_AMBIGUOUS} or a provider error.
 * @see [Stripe: idempotent requests](https://docs.stripe.com/api/idempotent_requests): stored failures, 24 hours
 * @see [Stripe: search customers](https://docs.stripe.com/api/customers/search): the lag, and where there is no search
 * @see [Stripe: data freshness](https://docs.stripe.com/search#data-freshness): lists for reading after writing
 */
export async function createOrFind (
  { provider, call }: Sources, secretKey: string, wanted: NewCustomer, signal: AbortSignal | undefined
): Promise<ProviderAnswer<PayCustomer>> {
  const { accountId, email } = wanted
  const found = await findEarlier()
  if (found) return found

  for (let number = 1; number <= maxKeys; number++) {
    let failedAnew = false
    try {
      const answer = await call(secretKey, signal, attempt =>
        provider.createCustomer({ ...wanted, secretKey, idempotencyKey: keyOf(wanted, number), signal: attempt })
          .catch(error => {
            failedAnew ||= !isReplayed(error)
            throw error
          }))
      if (!answer.replayed) return answer
      const { value: now } = await call(secretKey, signal, attempt =>
        provider.retrieveCustomer({ secretKey, customerId: answer.value.id, signal: attempt }))
      if (isAlive(now)) return answer
    } catch (error) {
      if (!isReplayed(error)) throw error
      const since = new Date(Date.now() - searchLagMs)
      const recent = onlyOne(await call(secretKey, signal, attempt => provider.listByAccount({ secretKey, accountId, since, signal: attempt })))
      if (recent) return recent
      // A first failure may have passed. One more says that it has not, and no checkout is to use up all keys.
      if ((failedAnew && number > 1) || number === maxKeys) throw error
    }
  }
  throw providerError('refused')

  async function findEarlier (): Promise<ProviderAnswer<PayCustomer> | undefined> {
    const listed = email
      ? onlyOne(await call(secretKey, signal, attempt => provider.listByAccount({ secretKey, accountId, email, signal: attempt })))
      : undefined
    if (listed) return listed
    try {
      return onlyOne(await call(secretKey, signal, attempt => provider.findByAccount({ secretKey, accountId, signal: attempt })))
    } catch (error) {
      // Not every merchant has a search.
      if (isProviderError(error) && error.fault === 'refused') return undefined
      throw error
    }
  }
}

/** @throws {@link PAY_RECONCILE_CUSTOMER_AMBIGUOUS} */
function onlyOne ({ value, requestId }: ProviderAnswer<readonly PayCustomer[]>): ProviderAnswer<PayCustomer> | undefined {
  const [only, ...others] = value.filter(isAlive)
  if (others.length > 0) throw new PAY_RECONCILE_CUSTOMER_AMBIGUOUS()
  return only && { value: only, requestId }
}

/** As the value of a header, whatever characters the host's ids have. */
function keyOf ({ accountId }: NewCustomer, number: number): string {
  const key = `account:${encodeURIComponent(accountId)}`
  return number === 1 ? key : `${key}:${number}`
}

function isReplayed (error: unknown): boolean {
  return isProviderError(error) && error.replayed === true
}
