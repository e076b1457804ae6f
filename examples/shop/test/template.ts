import type { Knex } from 'knex'
import { digestOf } from '../../../test/made-once.ts'

/** An arbitrary number for the advisory lock under which templates are made and dropped. */
const LOCK = 7_300_101

/**
 * A database that others are copied from: a copy takes a third of the time. It stays on the server
 * for the next run, until a file that it depends on changes.
 *
 * @param admin - a connection to the server, with the right to create databases
 * @param sources - files and folders that decide what the tables are
 * @param settings - of the sessions that make the tables
 * @param make - creates the database of this name, with its tables
 * @returns its name
 */
export async function template (
  admin: Knex,
  sources: readonly URL[],
  settings: string,
  make: (name: string) => Promise<void>
): Promise<string> {
  // Of this checkout: another may have other tables.
  const prefix = `shop_template_${digestOf([], import.meta.url)}`
  const name = `${prefix}_${digestOf(sources, settings)}`
  if (await exists(admin, name)) return name
  return await admin.transaction(async (lock) => {
    // Processes that start together wait for the first of them.
    await lock.raw('select pg_advisory_xact_lock(?)', [LOCK])
    if (await exists(admin, name)) return name
    const { rows: earlier } = await admin.raw('select datname from pg_database where starts_with(datname, ?)', [prefix])
    for (const { datname } of earlier) await admin.raw('drop database ?? with (force)', [datname])
    const draft = `${prefix}_draft`
    await make(draft)
    await admin.raw('alter database ?? rename to ??', [draft, name])
    return name
  })
}

async function exists (admin: Knex, name: string): Promise<boolean> {
  const { rows } = await admin.raw('select from pg_database where datname = ?', [name])
  return rows.length > 0
}
