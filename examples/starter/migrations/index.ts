import type { Knex } from 'knex'
import { notes } from './001-notes.ts'

/** In this order. Never change one that has run elsewhere: add the next. */
const MIGRATIONS: Readonly<Record<string, Knex.Migration>> = { '001-notes': notes }

export const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: async () => Object.keys(MIGRATIONS),
  getMigrationName: (name) => name,
  getMigration: async (name) => MIGRATIONS[name]!
}
