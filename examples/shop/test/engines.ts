import { PGlite } from '@electric-sql/pglite'

/** An embedded engine with empty tables, and what its catalog was before a test used it. */
interface Engine {
  readonly pglite: PGlite
  readonly catalog: string
}

/** Starting an engine takes several times as long as emptying one. */
const spare: Engine[] = []
let endsWithTests = false

/** The tables of the host, apart from what migrations write. */
const TABLES = "select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace = " +
  "'public'::regnamespace and relname !~ '^knex_'"

/**
 * What tests may change besides rows, and what migrations have written. The number of the latest change of a catalog
 * tells of any.
 */
const CATALOGS = [
  'knex_migrations',
  'pg_attribute',
  'pg_constraint',
  'pg_db_role_setting',
  'pg_index',
  'pg_namespace',
  'pg_proc',
  'pg_statistic',
  'pg_trigger'
]
const CATALOG = [
  ...CATALOGS.map((name) => `select '${name}', count(*), max(xmin::text::bigint) from ${name}`),
  "select sequencename, last_value, null from pg_sequences where schemaname = 'public'"
].join(' union all ')

async function catalogOf (pglite: PGlite): Promise<string> {
  return JSON.stringify((await pglite.query(`${CATALOG} order by 1`)).rows)
}

/**
 * @param files - the packed files of a database with tables
 * @returns an engine with empty tables, and how to give it back
 */
export async function engineWithTables (
  files: () => Promise<Blob>
): Promise<{ readonly engine: PGlite, release(): Promise<void> }> {
  // They would keep the process alive. Loaded here, since programs that run no tests use parts of the files that import
  // this one.
  if (!endsWithTests) {
    ;(await import('tap')).default.teardown(async () => {
      for (const { pglite } of spare) await pglite.close()
    })
  }
  endsWithTests = true
  const { pglite, catalog } = spare.pop() ?? await started(await files())
  return {
    engine: pglite,
    async release () {
      // Without the triggers that keep the history.
      for (const sql of ['rollback', 'discard all', 'set session_replication_role = replica']) await pglite.exec(sql)
      const { rows: tables } = await pglite.query<{ name: string }>(TABLES)
      const { rows: used } = await pglite.query<{ name: string }>(
        tables.map(({ name }) => `select '${name}' as name where exists (select from ${name})`).join(' union all ')
      )
      if (used.length > 0) {
        await pglite.exec(`truncate ${used.map(({ name }) => name).join(', ')} restart identity cascade`)
      }
      await pglite.exec('discard all')
      if (await catalogOf(pglite) === catalog) spare.push({ pglite, catalog })
      else await pglite.close()
    }
  }
}

async function started (loadDataDir: Blob): Promise<Engine> {
  const pglite = await PGlite.create({ loadDataDir })
  return { pglite, catalog: await catalogOf(pglite) }
}
