import { createApiKeysTable } from 'dual-auth/knex'
import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/** Adds what API keys remember of their rotation, their networks and the notices about them. */
async function up (knex: Knex): Promise<void> {
  await createApiKeysTable(knex)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw(`alter table api_keys drop if exists replaces, drop if exists replaced_by, drop if exists last_used_network,
    drop if exists networks, drop if exists expiry_notice, drop if exists unused_notice_at`)
}

export const apiKeyLife: Migration = { up, down }
