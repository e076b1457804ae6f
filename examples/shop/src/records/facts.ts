import { type Dependents, keptLinks } from './dependents.ts'

/*
 * SQL for what the history says of a row. It is text, made once for each kind of record: statements hold it where they
 * read the row.
 */

/** The facts of a record, as the history has them. */
export type Facts = Readonly<Record<string, unknown>>

/** Columns that the history has in another form: SQL over the row. */
export type Shown = Readonly<Record<string, (row: string) => string>>

/** Columns that the server sets or computes. */
const NO_FACTS = "'{id,shop_id,created_at,updated_at,bytes,part_bytes}'::text[]"

/** Instants as the API shows them. */
export function shownInstants (names: readonly string[]): Shown {
  return Object.fromEntries(names.map((name) => [name, (row) => `json_instant(${row}.${name})`]))
}

/** The facts that are in the row itself: all that a statement on the row can change. */
export function factsOfRow (shown: Shown, row: string): string {
  return `(to_jsonb(${row}) - ${NO_FACTS})${added(membersOf(shown, row))}`
}

/**
 * All facts of the row `item`.
 *
 * @param computed - SQL for the fields that are no columns
 */
export function factsOfItem (shown: Shown, computed: Readonly<Record<string, string>>): string {
  return `(${factsOfRow(shown, 'item')}${added(Object.entries(computed))})`
}

/** What restores the row `item`, beside its facts: instants in full precision, say, and its links. */
export function keptOfItem (shown: Shown, dependents: readonly Dependents[]): string {
  const row = objectOf(['created_at', ...Object.keys(shown)].map((name) => [name, `item.${name}`]))
  return objectOf([['row', row], ['links', keptLinks(dependents)]])
}

type Members = ReadonlyArray<readonly [name: string, sql: string]>

function membersOf (shown: Shown, row: string): Members {
  return Object.entries(shown).map(([name, sql]) => [name, sql(row)])
}

function added (members: Members): string {
  return members.length === 0 ? '' : ` || ${objectOf(members)}`
}

function objectOf (members: Members): string {
  return `jsonb_build_object(${members.map(([name, sql]) => `'${name}', ${sql}`).join(', ')})`
}
