import type { FastifyBaseLogger } from 'fastify'
import type { Naming } from './customers/naming.ts'
import { PAY_RECONCILE_INVALID_OPTION } from './errors.ts'
import { remembered } from './remembered.ts'
import type { AccountStore } from './types.ts'

/**
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} if ids of accounts are not UUIDs, so that others under the same account
 *   at the provider may have them, too
 */
export async function refuseSharedIds (accounts: AccountStore, { namespace }: Naming): Promise<void> {
  if (namespace === undefined && await accounts.hasUuids?.() === false) {
    throw new PAY_RECONCILE_INVALID_OPTION(
      'namespace is required, because the ids of accounts are not UUIDs: ' +
        'set it to a name of this app, environment and table, such as acme-production-users'
    )
  }
}

/** In the log: the database is away. */
export const UNCHECKED = 'the tables cannot be checked at the moment'

/** Whether the stores have said that they can work, and are the right ones. */
export interface TableCheck {
  /** Asks them, once at a time. @throws what they throw */
  check(): Promise<void>
  /** Whether they have. If not, asks again for the next time, which may take as long as the database likes. */
  passed(): boolean
}

/** @param ask - asks the stores, and throws what keeps them from working */
export function tableCheck (ask: () => Promise<void>, log: FastifyBaseLogger): TableCheck {
  let hasPassed = false
  const check = remembered(async () => {
    await ask()
    hasPassed = true
  })
  return {
    check,
    passed () {
      if (!hasPassed) check().catch((error) => log.warn({ err: error }, UNCHECKED))
      return hasPassed
    }
  }
}
