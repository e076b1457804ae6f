import type { FastifyContextConfig } from 'fastify'
import { PAY_RECONCILE_INVALID_OPTION } from '../errors.ts'
import type { Core } from '../extension.ts'
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

const NAMES: ReadonlySet<string> = new Set(['secrets', 'config', 'delay'])

/** @throws {@link PAY_RECONCILE_INVALID_OPTION} for what is missing or unknown. */
export function webhooksFrom (webhooks: Webhooks): Required<Webhooks> {
  if (typeof webhooks !== 'object' || webhooks === null) throw invalid('webhooks needs an object with secrets')
  const unknown = Object.keys(webhooks).find((name) => !NAMES.has(name))
  if (unknown !== undefined) throw invalid(`webhooks.${unknown} is not one of ${[...NAMES].join(', ')}`)
  const { secrets, config = {}, delay = 10_000 } = webhooks
  if (typeof secrets?.find !== 'function') {
    throw invalid('webhooks.secrets must be WebhookSecrets, such as knexWebhookSecrets(knex)')
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw invalid('webhooks.config must be an object')
  }
  if (!(Number.isInteger(delay) && delay > 0 && delay <= 3_600_000)) {
    throw invalid('webhooks.delay must be an integer from 1 to 3600000')
  }
  return { secrets, config, delay }
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
  if (!bulk || typeof awaited?.done !== 'function') {
    throw invalid('webhooks needs runs with awaited and its function done, such as knexRunStore(knex)')
  }
  if (!verifier) throw invalid('webhooks needs a provider with webhooks, such as stripeProvider()')
  if (!canFollow(core)) throw invalid('webhooks needs a provider with listEvents and accounts with changes')
  return { bulk, awaited, verifier }
}

function invalid (message: string): Error {
  return new PAY_RECONCILE_INVALID_OPTION(message)
}
