/** A customer as the provider returned it: opaque but for its id. */
export interface PayCustomer {
  readonly id: string
  readonly [field: string]: unknown
}

/** Whether a customer is more than the tombstone of a deleted one. */
export function isAlive (customer: PayCustomer): boolean {
  return customer.deleted !== true
}

/** What every call to the provider carries. */
export interface ProviderCall {
  /** The secret key of the shop; never blank, see {@link PayProvider.isSecretKey}. */
  readonly secretKey: string
  /** Aborts the attempt: a time limit, or the caller went away. Must be honoured, body included. */
  readonly signal: AbortSignal
}

/** An answer, with the provider's own id of the request when it sent one. */
export interface ProviderAnswer<T> {
  readonly value: T
  readonly requestId: string | null
  /** The answer to an earlier request with the same idempotency key, as it was then. Default false. */
  readonly replayed?: boolean
}

/**
 * The payment provider. Each function makes ONE attempt; time limits, further attempts and limits per
 * key are added by the plugin. Faults are thrown as `providerError(fault, facts)` and nothing else.
 */
export interface PayProvider {
  /** Whether `key` has the form of a secret key. A key that has not is never sent. */
  isSecretKey (key: string): boolean

  /** Whether `id` could be the id of a customer. One that could not is never sent. */
  isCustomerId (id: string): boolean

  /** Reads one customer. A deleted one is returned as the provider shows it. */
  retrieveCustomer (call: ProviderCall & { readonly customerId: string }): Promise<ProviderAnswer<PayCustomer>>

  /**
   * Creates a customer that carries the account's id in its metadata.
   * Calls with the same `idempotencyKey` create one customer and return it. A provider that gives a stored failure
   * again, or refuses a key that was used with other parameters, says so by `replayed`: only another key gets further.
   */
  createCustomer (call: ProviderCall & {
    readonly accountId: string
    readonly idempotencyKey: string
    readonly name?: string | undefined
    readonly email?: string | undefined
  }): Promise<ProviderAnswer<PayCustomer>>

  /**
   * Customers whose metadata carry the account's id; at most a few are needed to see that there are several. May be
   * a search whose index lags by up to an hour. Where there is no such search it throws the fault `refused`.
   */
  findByAccount (call: ProviderCall & { readonly accountId: string }): Promise<ProviderAnswer<readonly PayCustomer[]>>

  /**
   * Customers whose metadata carry the account's id, of those with this e-mail address or of those created since.
   * Shows every write at once; deleted customers are left out.
   */
  listByAccount (call: ProviderCall & {
    readonly accountId: string
    readonly email?: string | undefined
    readonly since?: Date | undefined
  }): Promise<ProviderAnswer<readonly PayCustomer[]>>

  /** Customers with exactly this e-mail address. */
  findByEmail (call: ProviderCall & { readonly email: string }): Promise<ProviderAnswer<readonly PayCustomer[]>>
}
