import type { Sources } from './customers.ts'
import { isProviderError } from './errors.ts'
import type { PayCustomer, ProviderAnswer } from './provider.ts'

/** Whom a customer is created for, and what it shows at the provider. */
export interface NewCustomer {
  readonly accountId: string
  readonly name?: string | undefined
  readonly email?: string | undefined
}

// Each used up is asked for again by every checkout, until the provider forgets it after a day or so.
const maxKeys = 10

/**
 * Creates the account's customer, or finds the one that an earlier attempt created.
 *
 * The provider stores the first answer to an idempotency key, its own failures included, and gives it to
 * everybody who comes with that key. So after a stored failure the next key is tried, unless the customer is
 * there. The keys come in a fixed order, and the provider's memory says which of them are used up: all
 * replicas arrive at the same one.
 *
 * @throws a provider error.
 */
export async function createOrFind (
  { provider, call }: Sources, secretKey: string, wanted: NewCustomer, signal: AbortSignal | undefined
): Promise<ProviderAnswer<PayCustomer>> {
  for (let number = 1; ; number++) {
    let failedAnew = false
    try {
      return await call(secretKey, signal, attempt =>
        provider.createCustomer({ ...wanted, secretKey, idempotencyKey: keyOf(wanted, number), signal: attempt })
          .catch(error => {
            failedAnew ||= !isReplayed(error)
            throw error
          }))
    } catch (error) {
      if (!isRefused(error) && !isReplayed(error)) throw error
      const { value, requestId } = await call(secretKey, signal, attempt =>
        provider.findByAccount({ secretKey, accountId: wanted.accountId, signal: attempt }))
      const [only, ...others] = value
      if (only && others.length === 0) return { value: only, requestId }
      // A first failure may have passed. One more says that it has not, and no checkout is to use up all keys.
      const goesOn = failedAnew && number > 1
      if (only || isRefused(error) || goesOn || number === maxKeys) throw error
    }
  }
}

function keyOf ({ accountId }: NewCustomer, number: number): string {
  return number === 1 ? `account:${accountId}` : `account:${accountId}:${number}`
}

function isReplayed (error: unknown): boolean {
  return isProviderError(error) && error.replayed === true
}

/**
 * Refused when an earlier attempt created the customer under another name or e-mail and the link was lost:
 * the customer is there, and carries the account's id.
 */
function isRefused (error: unknown): boolean {
  return isProviderError(error) && error.fault === 'refused'
}
