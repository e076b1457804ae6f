import type { Knex } from 'knex'
import { createGrantTable } from 'oauth-discovery-shim'
import type { Migration } from './migration.ts'

async function up (knex: Knex): Promise<void> {
  // The identity provider's refresh tokens, sealed with OAUTH_BROKER_SECRETS: it can then be told when a sign-in ends.
  await createGrantTable(knex)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw('alter table oauth_grants drop column if exists provider_token')
}

export const oauthGrantTokens: Migration = { up, down }
