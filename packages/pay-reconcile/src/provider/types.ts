import { excerpt } from '#shared/excerpt'
import type { IncomingHttpHeaders } from 'node:http'
import type { CustomerEvent } from '../types.ts'

/**
 * A customer as the provider returned it; only its id is certain. Its `metadata` may name its account, and
 * `deleted: true` marks the tombstone of a deleted one.
 */
export interface PayCustomer {
  readonly id: string
  readonly [field: string]: unknown
}

/** Whether a customer exists, as opposed to the tombstone of a deleted one. */
export function isAlive (customer: PayCustomer): boolean {
  return customer.deleted !== true
}

/** Parameters of every call to the provider. */
export interface ProviderCall {
  /** The secret key of the shop; never blank, see {@link PayProvider.isSecretKey}. */
  readonly secretKey: string
  /**
   * Aborts the attempt, because of a time limit or because the client disconnected. Must also abort reading the body.
   */
  readonly signal: AbortSignal
}

/** A response, with the provider's own id of the request if it sent one. */
export interface ProviderResponse<T> {
  readonly value: T
  readonly requestId: string | null
  /** Whether this is the stored response to an earlier request with the same idempotency key. Default false. */
  readonly replayed?: boolean
}

/**
 * The payment provider. Each function makes ONE attempt; the plugin adds time limits, retries and limits per key.
 * Throw faults as `providerError(fault, facts)`, and nothing else.
 */
export interface PayProvider {
  /** The fields of a customer that are compared unless the option `comparedFields` says otherwise. Default: all. */
  readonly comparedFields?: readonly string[] | undefined

  /** Whether `key` has the form of a secret key. Other strings are never sent. */
  isSecretKey(key: string): boolean

  /** Whether `id` has the form of a customer id. Other strings are never sent. */
  isCustomerId(id: string): boolean

  /** Reads one customer. A deleted one is returned as the provider shows it. */
  retrieveCustomer(call: ProviderCall & { readonly customerId: string }): Promise<ProviderResponse<PayCustomer>>

  /**
   * Creates a customer that carries these values in its metadata, and returns it with them.
   * Calls with the same `idempotencyKey` create one customer and return it. Set `replayed` on an error if the provider
   * repeats a stored failure, or refuses a key that was used with other parameters: only another key can succeed then.
   */
  createCustomer(
    call: ProviderCall & {
      /** The account's id, and the namespace if there is one. */
      readonly metadata: Readonly<Record<string, string>>,
      readonly idempotencyKey: string,
      readonly name?: string | undefined,
      readonly email?: string | undefined
    }
  ): Promise<ProviderResponse<PayCustomer>>

  /**
   * Customers whose metadata seem to carry all of these values, at most 100. May be a search whose index lags: each hit
   * is read before it is used, because it may have been deleted, or may name another account by now. If there is no
   * such search, it throws the fault `refused`.
   */
  findByAccount(
    call: ProviderCall & {
      readonly metadata: Readonly<Record<string, string>>
    }
  ): Promise<ProviderResponse<readonly PayCustomer[]>>

  /**
   * Customers whose metadata carry all of these values, among those with this e-mail address or created since this
   * date. Shows every write immediately and leaves out deleted customers.
   */
  listByAccount(
    call: ProviderCall & {
      readonly metadata: Readonly<Record<string, string>>,
      readonly email?: string | undefined,
      readonly since?: Date | undefined
    }
  ): Promise<ProviderResponse<readonly PayCustomer[]>>

  /** Customers with exactly this e-mail address. */
  findByEmail(call: ProviderCall & { readonly email: string }): Promise<ProviderResponse<readonly PayCustomer[]>>

  /**
   * A page of at most 100 customers after the customer `after`, in a fixed order, without deleted ones. Each has the
   * same fields as {@link PayProvider.retrieveCustomer} returns, because bulk runs store it. Throw `customer_not_found`
   * or `refused` if `after` has been deleted and the list cannot continue from there.
   */
  listCustomers(call: ProviderCall & { readonly after?: string | undefined }): Promise<ProviderResponse<CustomerPage>>

  /**
   * A page of at most 100 events about customers since a time, after the event `after`, in a fixed order. For the mode
   * `changes`, which is refused without it. Events are expected for 30 days.
   */
  listEvents?(
    call: ProviderCall & { readonly since: Date, readonly after?: string | undefined }
  ): Promise<ProviderResponse<EventPage>>

  /** How the provider signs what it sends. For the extension `webhooks`, which is refused without it. */
  readonly webhooks?: WebhookVerifier | undefined
}

/** Tells the provider's deliveries from everybody else's. None of these calls the provider. */
export interface WebhookVerifier {
  /** Whether `secret` has the form of a signing secret. Nothing is verified with other strings. */
  isSecret(secret: string): boolean

  /** Whether the headers have a signature that may be valid now. Called before the body is read. */
  isSigned(headers: Readonly<IncomingHttpHeaders>): boolean

  /**
   * Verifies the signature over the body, byte by byte, and its age.
   *
   * @returns undefined if it is not valid. Must not throw.
   */
  verify(
    delivery: { readonly headers: Readonly<IncomingHttpHeaders>, readonly body: Buffer, readonly secret: string }
  ): WebhookDelivery | undefined
}

/** A delivery with a valid signature. */
export interface WebhookDelivery {
  /**
   * The same for a copy of this delivery, however its headers are written; another one for each attempt of the
   * provider.
   */
  readonly id: string
  /** Whether it says that customers have changed. */
  readonly isAboutCustomers: boolean
}

/** A page of events, and whether there are more behind it. */
export interface EventPage {
  readonly events: readonly CustomerEvent[]
  readonly more: boolean
}

/**
 * A page of customers, and whether there are more behind it: the next one starts after its last, so an empty page is
 * the last.
 */
export interface CustomerPage {
  readonly customers: readonly PayCustomer[]
  readonly more: boolean
}

/** The beginning of a string of the provider; null if it is empty or no string. */
export function excerptOf (value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? excerpt(value) : null
}
