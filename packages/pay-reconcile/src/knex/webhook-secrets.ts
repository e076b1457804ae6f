import type { Knex } from 'knex'
import type { WebhookSecrets } from '../types.ts'
import { idColumns, type IdColumns } from './ids.ts'
import { assertUsable } from './startup.ts'

/** Options of {@link knexWebhookSecrets}. */
export interface KnexWebhookSecretsOptions {
  /** Table of accounts. Default `accounts`. */
  readonly table?: string
  /** Table with id and pay_webhook_secret. Default `shops`. */
  readonly shopTable?: string
  /** Decrypts the stored pay_webhook_secret. Undefined: the shop has none. Default: it is plain text. */
  readonly openSecret?: (stored: string, shopId: string) => string | undefined | Promise<string | undefined>
}

/** The column `pay_webhook_secret` in the table of shops. */
export function knexWebhookSecrets (knex: Knex, { table = 'accounts', shopTable = 'shops', openSecret = stored => stored }: KnexWebhookSecretsOptions = {}): WebhookSecrets {
  let columns: IdColumns | undefined
  return {
    ready: () => assertUsable(Promise.resolve(knex(shopTable).select('id', 'pay_webhook_secret').limit(0)),
      `knexWebhookSecrets needs ${shopTable} with a column pay_webhook_secret (text)`),

    async find (given) {
      columns ??= await idColumns(knex, table, shopTable)
      if (!columns.shop(given)) return undefined
      const row = await knex(shopTable).where('id', given).first<{ id: unknown, pay_webhook_secret: string | null } | undefined>('id', 'pay_webhook_secret')
      if (!row?.pay_webhook_secret) return undefined
      const shopId = String(row.id)
      const secret = await openSecret(row.pay_webhook_secret, shopId)
      return secret === undefined ? undefined : { shopId, secret }
    }
  }
}
