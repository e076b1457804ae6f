import type { FastifyInstance } from 'fastify'
import { PAY_RECONCILE_INVALID_OPTION } from './errors.ts'
import type { Settings } from './options.ts'

/** The registrations of each app, by its server. */
const registrations = new WeakMap<object, Set<string | undefined>>()

/**
 * Claims the name under which runs, audit and notes are stored: of two registrations with one, each would continue the
 * runs of the other.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION}
 */
export function claimRegistration ({ server }: FastifyInstance, { accounts, runs }: Settings): void {
  const { registration = runs?.registration } = accounts
  if (runs?.registration !== undefined && runs.registration !== registration) {
    throw new PAY_RECONCILE_INVALID_OPTION(
      `accounts has the registration ${registration}, but runs has ${runs.registration}: ` +
        'pass both the same table, or the same registration'
    )
  }
  const claimed = registrations.get(server) ?? new Set()
  registrations.set(server, claimed)
  if (claimed.has(registration)) {
    throw new PAY_RECONCILE_INVALID_OPTION(
      `this app has a registration ${registration ?? 'without a name'} already: ` +
        'set registration of accounts and runs to a name of its own'
    )
  }
  claimed.add(registration)
}
