import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/**
 * What an import needs so that the lines that failed can be corrected and sent again. JSON is in columns of text, which
 * takes characters that `jsonb` refuses. Nothing is rewritten, and servers of the version before may run beside it:
 * lines that they apply keep their source, and those that they store have none.
 */
async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    -- What the sender calls the file; of CSV, the names of its columns: a list of strings and nulls.
    alter table imports add file_name text, add headings text;
    -- What the file has: cells or a product, until it is applied. A line that failed keeps it.
    alter table import_lines add source text;
  `)
}

export const importSources: Migration = { up }
