import type { ProviderCalls } from '../provider/calls.ts'
import type { PayProvider } from '../provider/types.ts'
import type { AccountStore } from '../types.ts'

/** Where accounts and customers come from. */
export interface Sources {
  readonly accounts: AccountStore
  readonly provider: PayProvider
  readonly call: ProviderCalls
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
  readonly name?: string | undefined
  readonly email?: string | undefined
}
