import type { ProviderCalls } from '../provider/calls.ts'
import type { PayProvider, PayCustomer, ProviderResponse } from '../provider/types.ts'
import type { AccountStore, Account, ChangeOrigin } from '../types.ts'
import { customerIdOf, syncedAtOf, storable } from '../details.ts'
import type { Naming } from './naming.ts'
import {
  providerError,
  PAY_RECONCILE_ACCOUNT_NOT_FOUND,
  PAY_RECONCILE_CUSTOMER_CHANGED,
  PAY_RECONCILE_NO_CUSTOMER_ID,
  PAY_RECONCILE_NO_SECRET_KEY
} from '../errors.ts'

/** Where accounts and customers come from. */
export interface Sources {
  readonly accounts: AccountStore
  readonly provider: PayProvider
  readonly call: ProviderCalls
  readonly naming: Naming
}

/** Who reads or changes a customer, for the audit row. */
export interface Caller {
  readonly actor: string
  readonly requestId: string | null
  readonly runId: string | null
  /** Aborts calls to the provider. */
  readonly signal?: AbortSignal | undefined
}

/** The account that a customer is created for, and what the provider shows of it. */
export interface NewCustomer {
  readonly accountId: string
  /**
   * The shop that the caller may act for, in the spelling of the database: an account of another one does not exist for
   * it. Default: any shop. Present but undefined, as from a caller without a shop, it is no shop.
   */
  readonly shopId?: string
  readonly name?: string | undefined
  readonly email?: string | undefined
}

/** A customer as the provider has it now. */
export interface LiveCustomer {
  readonly account: Account
  readonly customer: PayCustomer
  readonly providerRequestId: string | null
  /** When it was read, if not just now: ISO 8601 UTC with milliseconds. */
  readonly readAt?: string | undefined
}

/**
 * The shop's secret key. Its form is checked before any call, because for a blank key a provider's library uses the key
 * it was created with, which is another tenant's.
 *
 * @throws {@link PAY_RECONCILE_NO_SECRET_KEY}
 */
export async function secretKeyOf ({ accounts, provider }: Sources, shopId: string): Promise<string> {
  const key = await accounts.secretKey(shopId)
  if (key === null || !provider.isSecretKey(key)) throw new PAY_RECONCILE_NO_SECRET_KEY()
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
  return { account, customer: value, providerRequestId: requestId }
}

/** Reads one customer, and checks that the provider returned that one. */
export async function retrieve (
  { provider, call }: Sources,
  secretKey: string,
  customerId: string,
  signal: AbortSignal | undefined
): Promise<ProviderResponse<PayCustomer>> {
  if (!provider.isCustomerId(customerId)) throw providerError('customer_not_found')
  const response = await call(
    secretKey,
    signal,
    (attempt) => provider.retrieveCustomer({ secretKey, customerId, signal: attempt })
  )
  if (response.value.id !== customerId) throw providerError('unexpected_object', { requestId: response.requestId })
  return response
}

/**
 * Reads an account's customer and stores the snapshot. If the account is linked to another customer in the meantime,
 * that one is read instead: A's customer is never stored under B's id.
 *
 * @returns the account with its stored snapshot, which may be newer than the one read here.
 * @throws as {@link readCustomer}, and {@link PAY_RECONCILE_CUSTOMER_CHANGED}.
 */
export async function syncCustomer (sources: Sources, accountId: string, caller: Caller): Promise<Account> {
  for (let attempts = 0; attempts < 2; attempts++) {
    const live = await readCustomer(sources, accountId, caller.signal)
    const account = await saveSnapshot(sources, live, caller)
    if (account) return account
  }
  throw new PAY_RECONCILE_CUSTOMER_CHANGED()
}

/**
 * Stores a customer.
 *
 * @returns the account with its stored snapshot; undefined if the account now has another customer.
 */
export async function saveSnapshot (
  { accounts }: Sources,
  { account, customer, providerRequestId, readAt = new Date().toISOString() }: LiveCustomer,
  caller: Caller
): Promise<Account | undefined> {
  const { id: customerId } = customer
  const { account: saved } = await accounts.saveSnapshot(
    { accountId: account.id, customerId, customer: storable(customer) as PayCustomer, syncedAt: readAt },
    originOf(caller, providerRequestId)
  )
  if (!saved) throw new PAY_RECONCILE_ACCOUNT_NOT_FOUND()
  // Also if it was not changed, because a newer snapshot is stored.
  return customerIdOf(saved.details) === customerId && syncedAtOf(saved.details) !== null ? saved : undefined
}

export function originOf ({ actor, requestId, runId }: Caller, providerRequestId: string | null): ChangeOrigin {
  return { actor, requestId, runId, providerRequestId }
}
