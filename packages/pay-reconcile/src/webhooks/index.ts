import type { Extension } from '../extension.ts'
import { anyFromStore, fromStore } from '../store/from-store.ts'
import { gathering } from './gathering.ts'
import { neededBy, webhooksFrom, type Webhooks } from './options.ts'
import { webhookRoute } from './route.ts'
import { settleAwaited } from './settle.ts'

export * from './errors.ts'
export { knexWebhookSecrets, type KnexWebhookSecretsOptions } from './knex-secrets.ts'
export type { Webhooks, WebhookSecrets } from './options.ts'

/**
 * Accepts the provider's events at `POST {prefix}/webhooks/{shop_id}`, **without `authorize`**: the signature is the
 * credential. Needs the option `runs`. The runs that they start have the actor `webhook`; `mayContinue` is not called
 * for them.
 * @returns for the option `extensions`
 */
export function webhooks (options: Webhooks): Extension {
  return {
    name: 'pay-reconcile/webhooks',
    install (core) {
      const { config, delay, secrets } = webhooksFrom(options)
      const { bulk, awaited, verifier } = neededBy(core)
      const gathered = gathering(awaited, bulk, delay, core)
      // Work that a dead process has left.
      core.repeatedly(gathered.now)
      core.app.addHook('preClose', async () => gathered.close())
      return {
        ready: () => anyFromStore(async () => await secrets.ready?.()),
        partEnded: settleAwaited(awaited, core),
        routes: (scope) =>
          webhookRoute(scope, {
            config,
            secretOf: (shopId) => fromStore('find', () => secrets.find(shopId)),
            verifier,
            awaited,
            gathering: gathered
          })
      }
    }
  }
}
