import type { Knex } from 'knex'
import { FUNCTION, type Table, TEXT } from '#shared/option-table'
import { hostTables } from '../knex/account-table.ts'
import { hostColumns, type HostColumns } from '../knex/host-columns.ts'
import { record, recordsOf } from '../knex/records.ts'
import { assertUsable, demandPostgres, leavesNames } from '../knex/startup.ts'
import { settingsBy } from '../option-checks.ts'
import type { WebhookSecrets } from './options.ts'

/** Options of {@link knexWebhookSecrets}. */
export interface KnexWebhookSecretsOptions {
  /** Table of accounts. Default `accounts`. */
  readonly table?: string
  /** Table with id and pay_webhook_secret. Default `shops`. */
  readonly shopTable?: string
  /** Decrypts the stored pay_webhook_secret. Undefined: the shop has none. Default: it is plain text. */
  readonly openSecret?: (stored: string, shopId: string) => string | undefined | Promise<string | undefined>
}

const TABLE: Table<Required<KnexWebhookSecretsOptions>> = {
  table: { ...TEXT, default: 'accounts' },
  shopTable: { ...TEXT, default: 'shops' },
  openSecret: { ...FUNCTION, secret: true, default: (stored) => stored }
}

/** The column `pay_webhook_secret` in the table of shops. */
export function knexWebhookSecrets (knex: Knex, options: KnexWebhookSecretsOptions = {}): WebhookSecrets {
  const { table, shopTable, openSecret } = settingsBy(TABLE, options, 'knexWebhookSecrets')
  demandPostgres(knex)
  let columns: HostColumns | undefined
  const ids = async (): Promise<HostColumns> => {
    columns ??= await hostColumns(knex, hostTables(knex, { table, shopTable }))
    return columns
  }
  return {
    ready: () =>
      assertUsable(
        Promise.all([leavesNames(knex), ids(), knex(shopTable).select('id', 'pay_webhook_secret').limit(0)]),
        `knexWebhookSecrets needs ${table} with a column id, and ${shopTable} with a column pay_webhook_secret (text)`
      ),

    async find (given) {
      if (!(await ids()).shop(given)) return undefined
      const [row] = await recordsOf<{ readonly id: string, readonly secret: string | null }>(
        knex,
        knex(shopTable).where('id', given)
          .select(knex.raw(record({ id: 'id::text', secret: 'pay_webhook_secret' })))
      )
      if (!row?.secret) return undefined
      const secret = await openSecret(row.secret, row.id)
      return secret === undefined ? undefined : { shopId: row.id, secret }
    }
  }
}
