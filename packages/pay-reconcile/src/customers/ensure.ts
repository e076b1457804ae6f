import { customerIdOf } from '../details.ts'
import {
  isProviderError,
  providerError,
  PAY_RECONCILE_ACCOUNT_NOT_FOUND,
  PAY_RECONCILE_CUSTOMER_AMBIGUOUS,
  PAY_RECONCILE_CUSTOMER_CHANGED,
  PAY_RECONCILE_CUSTOMER_TAKEN
} from '../errors.ts'
import { isAlive, type PayCustomer, type ProviderCall, type ProviderResponse } from '../provider/types.ts'
import { customerFor, linkedUnderKey, searchByAccount, type Wanted } from './matching.ts'
import { originOf, retrieve, secretKeyOf, type Caller, type NewCustomer, type Sources } from './snapshot.ts'

/** Each used key costs every later checkout one request, until the provider forgets it after a day or so. */
const MAX_KEYS = 10

/** The longest lag of a search, an hour, with a margin for clocks that differ. */
const SEARCH_LAG = 2 * 3_600_000

interface Ensured {
  readonly customerId: string
  readonly created: boolean
}

/**
 * The account's customer, created at the provider if there is none or if it was deleted there. Concurrent callers
 * create one customer: the idempotency key makes the provider return the same one to all, and only the first link is
 * kept.
 *
 * @throws {@link PAY_RECONCILE_ACCOUNT_NOT_FOUND}, {@link PAY_RECONCILE_NO_SECRET_KEY},
 * {@link PAY_RECONCILE_NAMESPACE_REQUIRED}, {@link PAY_RECONCILE_CUSTOMER_AMBIGUOUS},
 * {@link PAY_RECONCILE_CUSTOMER_TAKEN}, {@link PAY_RECONCILE_CUSTOMER_CHANGED} or a provider error.
 */
export async function ensureCustomer (sources: Sources, wanted: NewCustomer, caller: Caller): Promise<Ensured> {
  for (let attempts = 0; attempts < 2; attempts++) {
    const ensured = await ensureOnce(sources, wanted, caller)
    if (ensured) return ensured
  }
  throw new PAY_RECONCILE_CUSTOMER_CHANGED()
}

/** @returns undefined if the account was changed meanwhile and has no usable customer. */
async function ensureOnce (sources: Sources, wanted: NewCustomer, caller: Caller): Promise<Ensured | undefined> {
  const account = await sources.accounts.get(wanted.accountId)
  if (!account || ('shopId' in wanted && wanted.shopId !== account.shopId)) throw new PAY_RECONCILE_ACCOUNT_NOT_FOUND()
  const linked = customerIdOf(account.details)
  const secretKey = await secretKeyOf(sources, account.shopId)
  if (linked !== null) {
    const { value } = await retrieve(sources, secretKey, linked, caller.signal)
    if (isAlive(value)) return { customerId: linked, created: false }
  }

  // The id as the database writes it: another spelling of a UUID would be another key and another customer.
  const { value, requestId } = await createOrFind(sources, wanted, {
    secretKey,
    accountId: account.id,
    signal: caller.signal,
    gone: linked
  })
  if ((await linkedUnderKey(sources, account.shopId, secretKey, [value.id])).has(value.id)) {
    const now = await sources.accounts.get(account.id)
    if (now && customerIdOf(now.details) === value.id) return { customerId: value.id, created: false }
    throw new PAY_RECONCILE_CUSTOMER_TAKEN()
  }
  const { account: after, changed } = await sources.accounts.link(
    { action: 'create', accountId: account.id, customerId: value.id, expected: linked },
    originOf(caller, requestId)
  )
  if (!after) throw new PAY_RECONCILE_ACCOUNT_NOT_FOUND()
  // What is stored counts: this customer, or one that somebody else linked meanwhile.
  const stored = customerIdOf(after.details)
  return stored === null || stored === linked ? undefined : { customerId: stored, created: changed }
}

/**
 * Creates the account's customer, or finds the one that an earlier attempt created, which may have died before it was
 * stored:
 *
 * 1. List the customers with the e-mail address, and search for the account's id in the metadata. After 24 hours the
 *    provider has forgotten the idempotency key, but the search finds the customer: it lags by a minute, an hour at
 *    worst. Because it lags, what it finds is read before it counts.
 * 2. Create under the key `account:<id>`, with the namespace if there is one. The provider stores the first response to
 *    a key, even its own failure, and returns it to everyone who uses the key: all replicas get one customer. A stored
 *    customer may have been deleted since, or given to another account, so it is read before it is returned.
 * 3. After a stored failure, or if the key was used with another name or e-mail address, list the customers created in
 *    the last two hours. The failed request may have created one that a search does not show yet.
 * 4. Create under the next key. The order of keys is fixed, and the provider remembers which of them are used up: all
 *    replicas reach the same one.
 *
 * @throws {@link PAY_RECONCILE_NAMESPACE_REQUIRED}, {@link PAY_RECONCILE_CUSTOMER_AMBIGUOUS} or a provider error.
 * @see [Stripe: idempotent requests](https://docs.stripe.com/api/idempotent_requests): stored failures, 24 hours
 * @see [Stripe: data freshness](https://docs.stripe.com/search#data-freshness): lists for reading after writing
 */
async function createOrFind (
  sources: Sources,
  { name, email }: NewCustomer,
  of: Wanted
): Promise<ProviderResponse<PayCustomer>> {
  const { provider, call, naming } = sources
  const { secretKey, accountId, signal: caller, gone } = of
  const metadata = naming.metadataFor(accountId)
  const send = <T>(request: (call: ProviderCall) => Promise<ProviderResponse<T>>) =>
    call(secretKey, caller, (signal) => request({ secretKey, signal }))
  const existing = await findExisting()
  if (existing) return existing

  for (let number = 1; number <= MAX_KEYS; number++) {
    let failedNow = false
    const idempotencyKey = naming.idempotencyKey(accountId, number)
    try {
      const created = await send((call) =>
        provider.createCustomer({ ...call, metadata, name, email, idempotencyKey }).catch((error) => {
          failedNow ||= !isReplayed(error)
          throw error
        })
      )
      const { value: { id }, replayed, requestId } = created
      if (!replayed && !isOurs(created.value)) throw providerError('unexpected_object', { requestId })
      if (!replayed || (id !== gone && await customerFor(sources, of, id))) return created
    } catch (error) {
      if (!isReplayed(error)) throw error
      const since = new Date(Date.now() - SEARCH_LAG)
      const recent = onlyOne(await send((call) => provider.listByAccount({ ...call, metadata, since })))
      if (recent) return recent
      // The first failure may have been temporary. After a second one, leave the other keys to later checkouts.
      if ((failedNow && number > 1) || number === MAX_KEYS) throw error
    }
  }
  throw providerError('refused')

  async function findExisting (): Promise<ProviderResponse<PayCustomer> | undefined> {
    const byEmail = email && onlyOne(await send((call) => provider.listByAccount({ ...call, metadata, email })))
    return byEmail || onlyOne(await searchByAccount(sources, of))
  }

  /** @throws {@link PAY_RECONCILE_CUSTOMER_AMBIGUOUS} */
  function onlyOne (
    { value, requestId }: ProviderResponse<readonly PayCustomer[]>
  ): ProviderResponse<PayCustomer> | undefined {
    const [only, ...others] = value.filter(isOurs)
    if (others.length > 0) throw new PAY_RECONCILE_CUSTOMER_AMBIGUOUS()
    return only && { value: only, requestId }
  }

  function isOurs (customer: PayCustomer): boolean {
    return isAlive(customer) && customer.id !== gone && naming.accountIdOf(customer) === accountId
  }
}

function isReplayed (error: unknown): boolean {
  return isProviderError(error) && error.replayed === true
}
