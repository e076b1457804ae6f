import type { PayProvider } from '../provider/types.ts'
import type { AccountStore } from '../types.ts'

/** Whether the mode `changes` is possible. */
export function canFollow (
  { provider, accounts }: { readonly provider: PayProvider, readonly accounts: AccountStore }
): boolean {
  return provider.listEvents !== undefined && accounts.changes !== undefined
}
