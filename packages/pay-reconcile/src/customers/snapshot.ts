import { customerIdOf, type Account, type AccountStore, type ChangeOrigin } from '../types.ts'
import {
  providerError, PAY_RECONCILE_ACCOUNT_NOT_FOUND, PAY_RECONCILE_CUSTOMER_CHANGED, PAY_RECONCILE_NO_CUSTOMER_ID,
  PAY_RECONCILE_NO_SECRET_KEY
} from '../errors.ts'
import { createOrFind, type NewCustomer } from './ensure.ts'
import type { ProviderCalls } from '../provider/calls.ts'
import { isAlive, type PayCustomer, type PayProvider, type ProviderAnswer } from '../provider/types.ts'
import { storable } from '../storable.ts'

/** Where accounts and customers come from. */
export interface Sources {
  readonly accounts: AccountStore
  readonly provider: PayProvider
  readonly call: ProviderCalls
}

/** Who asks, and how long they wait. */
export interface Caller {
  readonly actor: string
  readonly requestId: string | null
  readonly runId: string | null
  readonly signal?: AbortSignal | undefined
}

/** A customer as the provider has it now. */
export interface LiveCustomer {
  readonly account: Account
  readonly customerId: string
  readonly customer: PayCustomer
  readonly providerRequestId: string | null
}

/**
 * The shop's secret key, known to have the form of one. Checked before any call: a provider's library
 * takes a blank key for "use the one you were made with", which is another tenant's.
 *
 * @throws {@link PAY_RECONCILE_NO_SECRET_KEY}
 */
export async function secretKeyOf (sources: Sources, shopId: string): Promise<string> {
  const key = await sources.accounts.secretKey(shopId)
  if (key === null || !sources.provider.isSecretKey(key)) throw new PAY_RECONCILE_NO_SECRET_KEY()
  return key
}

/**
 * Reads an account's customer from the provider and stores nothing.
 *
 * @throws {@link PAY_RECONCILE_ACCOUNT_NOT_FOUND}, {@link PAY_RECONCILE_NO_CUSTOMER_ID},
 * {@link PAY_RECONCILE_NO_SECRET_KEY} or a provider error.
 */
export async function readCustomer (sources: Sources, accountId: string, signal?: AbortSignal): Promise<LiveCustomer> {
  const account = await sources.accounts.get(accountId)
  if (!account) throw new PAY_RECONCILE_ACCOUNT_NOT_FOUND()
  const customerId = customerIdOf(account.details)
  if (customerId === null) throw new PAY_RECONCILE_NO_CUSTOMER_ID()
  const secretKey = await secretKeyOf(sources, account.shopId)
  const { value, requestId } = await retrieve(sources, secretKey, customerId, signal)
  return { account, customerId, customer: value, providerRequestId: requestId }
}

/** Reads one customer under a key, and makes sure that it is the one asked for. */
export async function retrieve (
  { provider, call }: Sources, secretKey: string, customerId: string, signal: AbortSignal | undefined
): Promise<ProviderAnswer<PayCustomer>> {
  if (!provider.isCustomerId(customerId)) throw providerError('customer_not_found')
  const answer = await call(secretKey, signal, attempt => provider.retrieveCustomer({ secretKey, customerId, signal: attempt }))
  if (answer.value.id !== customerId) throw providerError('unexpected_object', { requestId: answer.requestId ?? undefined })
  return answer
}

/**
 * Reads an account's customer and stores the snapshot. If the account is linked to another customer
 * while the provider answers, that one is read instead: A's customer is never stored under B's id.
 *
 * @returns the account with its stored snapshot, which may be a newer one than was read here.
 * @throws as {@link readCustomer}, and {@link PAY_RECONCILE_CUSTOMER_CHANGED}.
 */
export async function syncCustomer (sources: Sources, accountId: string, caller: Caller): Promise<Account> {
  for (let tries = 0; tries < 2; tries++) {
    const live = await readCustomer(sources, accountId, caller.signal)
    const account = await saveCustomer(sources, live, caller)
    if (account) return account
  }
  throw new PAY_RECONCILE_CUSTOMER_CHANGED()
}

/** Stores what was read. @returns nothing when the account has another customer by now. */
export async function saveCustomer (
  { accounts }: Sources, { account, customerId, customer, providerRequestId }: LiveCustomer, caller: Caller
): Promise<Account | undefined> {
  const snapshot = storable(customer)
  const result = await accounts.saveSnapshot(
    { accountId: account.id, customerId, customer: snapshot as PayCustomer, syncedAt: new Date().toISOString() },
    originOf(caller, providerRequestId))
  if (!result.account) throw new PAY_RECONCILE_ACCOUNT_NOT_FOUND()
  return customerIdOf(result.account.details) === customerId ? result.account : undefined
}

/**
 * The account's customer, created at the provider when it has none or when it was deleted there. Any number of
 * callers at once create one: the idempotency key makes the provider answer all of them alike, and only the first
 * link is kept.
 *
 * @throws {@link PAY_RECONCILE_ACCOUNT_NOT_FOUND}, {@link PAY_RECONCILE_NO_SECRET_KEY},
 * {@link PAY_RECONCILE_CUSTOMER_AMBIGUOUS} or a provider error.
 */
export async function ensureCustomer (
  sources: Sources, wanted: NewCustomer, caller: Caller
): Promise<{ readonly customerId: string, readonly created: boolean }> {
  const account = await sources.accounts.get(wanted.accountId)
  if (!account) throw new PAY_RECONCILE_ACCOUNT_NOT_FOUND()
  const linked = customerIdOf(account.details)
  const secretKey = await secretKeyOf(sources, account.shopId)
  if (linked !== null) {
    const { value } = await retrieve(sources, secretKey, linked, caller.signal)
    if (isAlive(value)) return { customerId: linked, created: false }
  }

  // The id as the database writes it: spelt otherwise, as a UUID may be, it would be another key and another customer.
  const { value, requestId } = await createOrFind(sources, secretKey, { ...wanted, accountId: account.id }, caller.signal)
  const result = await sources.accounts.link(
    { action: 'create', accountId: account.id, customerId: value.id, expected: linked },
    originOf(caller, requestId))
  if (!result.account) throw new PAY_RECONCILE_ACCOUNT_NOT_FOUND()
  return { customerId: customerIdOf(result.account.details) ?? value.id, created: result.changed }
}

export function originOf (caller: Caller, providerRequestId: string | null): ChangeOrigin {
  return { actor: caller.actor, requestId: caller.requestId, runId: caller.runId, providerRequestId }
}
