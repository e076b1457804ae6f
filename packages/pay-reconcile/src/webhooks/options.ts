import type { FastifyContextConfig } from 'fastify'
import { milliseconds, OBJECT, type Table } from '#shared/option-table'
import type { Core } from '../extension.ts'
import { must, settingsBy } from '../option-checks.ts'
import type { WebhookVerifier } from '../provider/types.ts'
import { canFollow } from '../reconcile/can-follow.ts'
import type { AwaitedShops } from '../reconcile/types.ts'

/** The signing secrets of the shops' webhooks. */
export interface WebhookSecrets {
  /** Like `ready` of an AccountStore. */
  ready?(): Promise<void>

  /** The shop, by its id as the database writes it, with its secret in plain text; undefined if it has none. */
  find(shopId: string): Promise<{ readonly shopId: string, readonly secret: string } | undefined>
}

/** The route that the payment provider calls when customers have changed. */
export interface Webhooks {
  /** The signing secrets of shops: `knexWebhookSecrets(knex)` or your own. A shop without one has no webhook. */
  readonly secrets: WebhookSecrets
  /**
   * Route `config` of the route, for the host's plugins that read it, such as an authentication that must let it pass:
   * the provider has no login. Default: none.
   */
  readonly config?: FastifyContextConfig
  /** How long deliveries are gathered before one run starts for all of them, in milliseconds. Default 10000. */
  readonly delay?: number
}

const TABLE: Table<Required<Webhooks>> = {
  secrets: {
    holds: (secrets) => typeof Object(secrets).find === 'function',
    rule: 'must be WebhookSecrets, such as knexWebhookSecrets(knex)',
    secret: true,
    required: true
  },
  config: { ...OBJECT, default: {} },
  delay: { ...milliseconds(1, 3_600_000), default: 10_000 }
}

/** @throws {@link PAY_RECONCILE_INVALID_OPTION} for what is missing or unknown. */
export function webhooksFrom (webhooks: Webhooks): Required<Webhooks> {
  return settingsBy(TABLE, webhooks, 'webhooks')
}

/**
 * What the route needs of the other options.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} for what is missing
 */
export function neededBy (core: Core): {
  readonly bulk: NonNullable<Core['bulk']>,
  readonly awaited: AwaitedShops,
  readonly verifier: WebhookVerifier
} {
  const { bulk, provider: { webhooks: verifier } } = core
  const awaited = bulk?.runs.awaited
  must(
    bulk !== undefined && awaited !== undefined && typeof awaited.done === 'function',
    'webhooks needs runs with awaited and its function done, such as knexRunStore(knex)'
  )
  must(verifier !== undefined, 'webhooks needs a provider with webhooks, such as stripeProvider()')
  must(canFollow(core), 'webhooks needs a provider with listEvents and accounts with changes')
  return { bulk, awaited, verifier }
}
