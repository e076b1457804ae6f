import { createApiKeysTable } from 'dual-auth/knex'
import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/** Ties API keys to their shop: the table is made for shops of any kind of id, and this server's are UUIDs. */
async function up (knex: Knex): Promise<void> {
  await createApiKeysTable(knex, { ownerColumn: 'shop_id' })
  await knex.raw(`
    alter table api_keys alter shop_id type uuid using shop_id::uuid;
    alter table api_keys
      add constraint api_keys_shop_id_fkey foreign key (shop_id) references shops on delete cascade,
      add unique (shop_id, id);
  `)
}

export const apiKeys: Migration = { up }
