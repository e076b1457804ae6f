import { TEXT } from '#shared/option-table'
import { must, settingsBy } from '../../option-checks.ts'

/** What the stores in tables need of knex. */
export interface Knex<Binding> {
  readonly client: { readonly dialect?: unknown }
  raw(sql: string, bindings: readonly [...Binding[]]): PromiseLike<unknown>
}

/**
 * SQLSTATEs of a statement that met another one: in a deadlock, or where the database's default is `repeatable read` or
 * `serializable`.
 */
const MET: readonly unknown[] = ['40P01', '40001']
const MOST_TRIES = 20

/** Runs a statement, and returns its rows. Each is a transaction: the next try sees what the other one wrote. */
export async function rowsOf<Row, Binding> (
  knex: Knex<Binding>,
  sql: string,
  bindings: readonly [...Binding[]],
  tries = 1
): Promise<readonly Row[]> {
  try {
    return (await knex.raw(sql, bindings) as { readonly rows: readonly Row[] }).rows
  } catch (error) {
    if (!MET.includes((error as { readonly code?: unknown }).code) || tries === MOST_TRIES) throw error
    return await rowsOf(knex, sql, bindings, tries + 1)
  }
}

/** @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION} for a knex of another database */
export function demandPostgres (
  { client: { dialect } }: Pick<Knex<never>, 'client'>,
  store: string,
  otherwise: string
): void {
  must(
    dialect === 'postgresql',
    `${store} needs PostgreSQL, but this knex speaks ${String(dialect)}: ${otherwise}`
  )
}

/** The table that the options of a store name. @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION} */
export function tableFrom (options: { readonly table?: string }, usual: string, store: string): string {
  return settingsBy<{ readonly table: string }>({ table: { ...TEXT, default: usual } }, options, store).table
}
