import type { Knex } from 'knex'
import type { Config } from '../settings/config.ts'

/** Tells the database how much each shop may hold. It is one quota for all servers on the database: that of the last one that started. */
export async function setQuota (knex: Knex, { QUOTA_RECORDS: records, QUOTA_BYTES: bytes }: Pick<Config, 'QUOTA_RECORDS' | 'QUOTA_BYTES'>): Promise<void> {
  await knex('shop_quota').insert({ max_records: records, max_bytes: bytes }).onConflict('only_row').merge()
}
