import type { Knex } from 'knex'
import type { Migration } from './migration.ts'
import { changeIndexes } from './online.ts'
import { SEARCH_EXTENSIONS, SEARCH_INDEX } from './search-index.ts'

async function up (knex: Knex): Promise<void> {
  if (await addExtensions(knex)) await changeIndexes(knex, { create: SEARCH_INDEX })
}

/**
 * Searches work without the extensions, though each then reads the whole shop; `shop doctor` says so. The embedded
 * database goes without them: they would double the time that it takes to start.
 *
 * @returns whether the database has them now
 */
async function addExtensions (knex: Knex): Promise<boolean> {
  const { rows } = await knex.raw('select name, installed_version from pg_available_extensions where name = any(?)', [
    SEARCH_EXTENSIONS
  ])
  if (rows.length < SEARCH_EXTENSIONS.length) return false
  const missing: string[] = rows.filter((row: { installed_version: string | null }) => row.installed_version === null)
    .map(({ name }: { name: string }) => name)
  try {
    await knex.transaction(async (trx) => {
      for (const name of missing) await trx.raw('create extension if not exists ??', [name])
    })
    return true
  } catch {
    // This user may not create them.
    return false
  }
}

export const search: Migration = { online: true, up }
