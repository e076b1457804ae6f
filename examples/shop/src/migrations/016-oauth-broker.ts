import type { Knex } from 'knex'
import { createBrokerTable } from 'oauth-discovery-shim'
import type { Migration } from './migration.ts'

async function up (knex: Knex): Promise<void> {
  // Numbers only: which codes and refresh tokens were used. Small enough to be there without OAUTH_BROKER, too.
  await createBrokerTable(knex)
}

async function down (knex: Knex): Promise<void> {
  await knex.schema.dropTable('oauth_broker')
}

export const oauthBroker: Migration = { up, down }
