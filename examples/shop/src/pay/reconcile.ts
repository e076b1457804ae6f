import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import type { PayProvider, PayReconcileOptions } from 'pay-reconcile'
import { csv } from 'pay-reconcile/csv'
import { knexAccountStore, knexRunStore } from 'pay-reconcile/knex'
import { schedule, type Schedule } from 'pay-reconcile/schedule'
import { stripeProvider } from 'pay-reconcile/stripe'
import { knexWebhookSecrets, webhooks } from 'pay-reconcile/webhooks'
import type { Settings } from '../settings/settings.ts'
import { holderOf } from '../access/person.ts'
import { isAdmin } from '../users/repository.ts'
import { requireAdmin } from '../users/require-admin.ts'
import type { KeyRing } from './key-ring.ts'
import { openWebhookSecret } from './pay-keys.ts'

/** @param url - of a stand-in; default: the payment provider itself */
export function payProvider (url: string | undefined): PayProvider {
  if (url === undefined) return stripeProvider()
  const { protocol, hostname, port } = new URL(url)
  const scheme = protocol === 'https:' ? 'https' : 'http'
  return stripeProvider({ host: hostname, port: Number(port || (scheme === 'https' ? 443 : 80)), protocol: scheme })
}

/** The accounts of all shops, for admins. */
export function payReconcileOptions (
  knex: Knex,
  provider: PayProvider,
  keys: KeyRing,
  config: Settings
): PayReconcileOptions {
  return {
    accounts: knexAccountStore(knex, { openKey: keys.open }),
    runs: knexRunStore(knex, { keepRuns: config.HISTORY_DAYS }),
    provider,
    authorize: requireAdmin(knex),
    actor: actorOf,
    attemptTimeout: config.PAY_TIMEOUT,
    // Two attempts and the wait between them.
    callTimeout: config.PAY_TIMEOUT * 2.5,
    mayContinue: async ({ actor }) => await isAdmin(knex, actor),
    extensions: [
      csv(),
      schedule(scheduleFrom(config)),
      // The only route of the administration without a token: the provider signs what it sends.
      ...(config.PAY_WEBHOOKS_ENABLED
        ? [webhooks({
          secrets: knexWebhookSecrets(knex, { openSecret: openWebhookSecret(keys) }),
          config: { auth: 'public' }
        })]
        : [])
    ]
  }
}

/** When runs start by themselves. */
function scheduleFrom (
  { PAY_SCHEDULE_CHECK: check, PAY_SCHEDULE_CHANGES: changes, PAY_SCHEDULE_TIMEZONE: timezone }: Settings
): Schedule {
  return { ...(check !== undefined && { check }), ...(changes !== undefined && { changes }), timezone }
}

/** The caller, for the audit: the id of a person, or the client of a machine. */
export function actorOf (request: FastifyRequest): string {
  return request.currentUser?.id ?? holderOf(request) ?? 'anybody'
}
