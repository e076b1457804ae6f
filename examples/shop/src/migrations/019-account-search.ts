import type { Knex } from 'knex'
import type { Migration } from './migration.ts'
import { changeIndexes } from './online.ts'
import { ACCOUNT_SEARCH_INDEX, SEARCH_EXTENSIONS } from './search-index.ts'

/** Only where the extensions are: a search reads the accounts of the shop without them. */
async function up (knex: Knex): Promise<void> {
  const { rows } = await knex.raw('select extname from pg_extension where extname = any(?)', [SEARCH_EXTENSIONS])
  if (rows.length === SEARCH_EXTENSIONS.length) await changeIndexes(knex, { create: ACCOUNT_SEARCH_INDEX })
}

export const accountSearch: Migration = { online: true, up }
