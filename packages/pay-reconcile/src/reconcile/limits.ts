import type { AccountLimits } from '../types.ts'
import type { NewRun, Targets } from './types.ts'

/** Which accounts a run goes through. */
export function limitsOf ({ mode, selection: { failed_in: failedIn, synced_before: syncedBefore } }: Pick<NewRun, 'mode' | 'selection'>, targets: Targets | null): AccountLimits {
  return {
    ...(mode === 'changes' && { changed: true, linked: true }),
    ...(targets && { accounts: Object.keys(targets) }),
    ...(failedIn !== undefined && { failedIn }),
    ...(syncedBefore !== undefined && { syncedBefore })
  }
}
