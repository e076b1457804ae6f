import type { Knex } from 'knex'
import { createBrokerTable, createGrantTable } from 'oauth-discovery-shim/broker'
import type { Migration } from './migration.ts'

/*
 * The broker remembers which codes and refresh tokens were used, which are numbers only, and which clients people have
 * let in, with the refresh token of the identity provider, sealed with OAUTH_BROKER_SECRETS: it can then be told when a
 * sign-in ends. The tables are there without OAUTH_BROKER, too, and then empty.
 */

async function up (knex: Knex): Promise<void> {
  await createBrokerTable(knex)
  await createGrantTable(knex)
}

export const signIn: Migration = { up }
