import type { Knex } from 'knex'
import { createGrantTable } from 'oauth-discovery-shim'
import type { Migration } from './migration.ts'

async function up (knex: Knex): Promise<void> {
  // Which clients people have let in. No secrets. It is there without OAUTH_BROKER, too, and then empty.
  await createGrantTable(knex)
}

async function down (knex: Knex): Promise<void> {
  await knex.schema.dropTable('oauth_grants')
}

export const oauthGrants: Migration = { up, down }
