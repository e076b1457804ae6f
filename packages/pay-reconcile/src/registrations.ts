import type { FastifyInstance } from 'fastify'
import { PAY_RECONCILE_INVALID_OPTION } from './errors.ts'
import type { Settings } from './options.ts'

/** What the registrations of an app have claimed: names, and how customers name their accounts. */
interface Claimed {
  readonly names: Set<string | undefined>
  readonly namings: Set<string>
}

/** Of each app, by its server. */
const claims = new WeakMap<object, Claimed>()

/**
 * Claims the name under which runs, audit and notes are stored: of two registrations with one, each would continue the
 * runs of the other. Claims the naming, too: with one, a customer of either account with an id would be both accounts'.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION}
 */
export function claimRegistration ({ server }: FastifyInstance, { accounts, runs, naming }: Settings): void {
  const { registration = runs?.registration } = accounts
  if (runs?.registration !== undefined && runs.registration !== registration) {
    throw new PAY_RECONCILE_INVALID_OPTION(
      `accounts has the registration ${registration}, but runs has ${runs.registration}: ` +
        'pass both the same table, or the same registration'
    )
  }
  const claimed: Claimed = claims.get(server) ?? { names: new Set(), namings: new Set() }
  claims.set(server, claimed)
  if (claimed.names.has(registration)) {
    throw new PAY_RECONCILE_INVALID_OPTION(
      `this app has a registration ${registration ?? 'without a name'} already: ` +
        'set registration of accounts and runs to a name of its own'
    )
  }
  claimed.names.add(registration)
  const { namespace, metadataKey } = naming
  const as = JSON.stringify([namespace, metadataKey])
  if (claimed.namings.has(as)) {
    throw new PAY_RECONCILE_INVALID_OPTION(
      `this app has a registration ${
        namespace === undefined ? 'without a namespace' : `with the namespace ${namespace}`
      }` +
        ' already: accounts with equal ids would share a customer. Set namespace to a name of its own'
    )
  }
  claimed.namings.add(as)
}
