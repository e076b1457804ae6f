import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import type { PayProvider, PayReconcileOptions } from 'pay-reconcile'
import { knexAccountStore, knexRunStore } from 'pay-reconcile/knex'
import { stripeProvider } from 'pay-reconcile/stripe'
import { isAdmin } from '../users/repository.ts'
import { requireAdmin } from '../users/require-admin.ts'
import type { KeyRing } from './key-ring.ts'

/** @param url - of a stand-in; default: the payment provider itself */
export function payProvider (url: string | undefined): PayProvider {
  if (url === undefined) return stripeProvider()
  const { protocol, hostname, port } = new URL(url)
  const scheme = protocol === 'https:' ? 'https' : 'http'
  return stripeProvider({ host: hostname, port: Number(port || (scheme === 'https' ? 443 : 80)), protocol: scheme })
}

/** The accounts of all shops, for admins. */
export function payReconcileOptions (knex: Knex, provider: PayProvider, keys: KeyRing): PayReconcileOptions {
  return {
    accounts: knexAccountStore(knex, { openKey: keys.open }),
    runs: knexRunStore(knex),
    provider,
    authorize: requireAdmin(knex),
    actor: actorOf,
    mayContinue: async ({ actor }) => await isAdmin(knex, actor)
  }
}

/** The caller, for the audit: the id of a person, or the client of a machine. */
export function actorOf ({ identity, currentUser }: FastifyRequest): string {
  if (currentUser !== null) return currentUser.id
  return identity?.kind === 'machine' ? `machine:${identity.clientId}` : 'anybody'
}
