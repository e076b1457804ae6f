import type { Knex } from 'knex'
import type { Migration } from './migration.ts'
import { changeIndexes } from './online.ts'

/** Who may do what, and settings: few entries among those about records. */
const ACCESS = "record_kind in ('shop_config', 'api_key', 'member', 'pay_key', 'shop', 'user')"

/**
 * For the audit trails, and for what is stored about a person: without these indexes, both read the history of the
 * shop, or all of it. Changes of records by API keys and machines are in none of them.
 */
async function up (knex: Knex): Promise<void> {
  await changeIndexes(knex, {
    create: {
      history_access: `history (shop_id, at, id) where ${ACCESS}`,
      history_access_of_all: `history (at, id) where ${ACCESS}`,
      history_of_person: "history (actor_id, seq) where actor_kind = 'user'",
      history_about_person: "history (record_id, seq) where record_kind in ('user', 'member')",
      imports_of_person: "imports ((actor->>'id'), id) where actor->>'kind' = 'user'"
    }
  })
}

export const historyIndexes: Migration = { online: true, up }
