import type { Knex } from 'knex'
import type { Settings } from '../settings/settings.ts'

/** Stores the quota of every shop in the database. All servers share it: the one that started last sets it. */
export async function setQuota (knex: Knex, { QUOTA_RECORDS: records, QUOTA_BYTES: bytes }: Pick<Settings, 'QUOTA_RECORDS' | 'QUOTA_BYTES'>): Promise<void> {
  await knex('shop_quota').insert({ max_records: records, max_bytes: bytes }).onConflict('only_row').merge()
}
