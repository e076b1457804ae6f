// API keys in PostgreSQL, an audit trail, and a key created by a command.
import { createApiKey, type ApiKeyOptions, type CreatedKey, type OnKeyChange } from 'dual-auth'
import { createApiKeysTable, knexStore } from 'dual-auth/knex'
import type { Knex } from 'knex'

/** The option `apiKeys`, for the plugin and for commands. */
export async function apiKeysIn (knex: Knex, pepper: string): Promise<ApiKeyOptions> {
  await createApiKeysTable(knex) // or in a migration; several replicas may call it at once
  return {
    marker: 'acme',
    peppers: [{ id: '2026-01', secret: pepper }],
    store: knexStore(knex),
    ownerParam: 'shop_id',
    ownerIdFromParam: 'slug'
  }
}

/** The option `onKeyChange` of dual-auth/management: the audit row is stored if and only if the change is. */
export const onKeyChange: OnKeyChange = async ({ action, key }, { identity }, transaction) => {
  await (transaction as Knex.Transaction)('audit').insert({
    action,
    key_id: key.id,
    shop_id: key.ownerId,
    by: JSON.stringify(identity)
  })
}

/** A command needs no token, and its scopes are not compared with the routes. */
export async function createPrinterKey (apiKeys: ApiKeyOptions): Promise<CreatedKey> {
  return createApiKey(apiKeys, { ownerId: 'shop-1', name: 'Label printer', scopes: ['read'], createdBy: 'command' })
}
