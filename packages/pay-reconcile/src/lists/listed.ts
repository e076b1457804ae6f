import type { Knex } from 'knex'
import type { ListField, ListRules } from '#shared/list-grammar'

/** A value of a list's records: what a request may compare it with, and what it is in SQL. */
interface Field<Value> {
  readonly rule: ListField
  /** Also what the list sorts by. */
  readonly sql: string
  /** Keeps the records that match. Default: by `sql`, as the kind of the rule says. */
  readonly where?: (query: Knex.QueryBuilder, value: Value, sql: string) => void
}

/** A condition that is no field. */
interface Condition<Value> {
  readonly rule: ListField
  readonly sql?: never
  readonly where: (query: Knex.QueryBuilder, value: Value, sql: string) => void
}

/**
 * All that a filter takes. Rule and SQL stand together, so that nothing can be accepted from a request that no
 * statement applies: a filter that is ignored would return all records.
 */
export type Listed<Filter> = {
  readonly [name in keyof Filter]-?: Field<NonNullable<Filter[name]>> | Condition<NonNullable<Filter[name]>>
}

/** What a request may use of a list. */
export function rulesOf (listed: object, common: Omit<ListRules, 'fields' | 'conditions'>): ListRules {
  const entries = Object.entries(listed as Listed<Record<string, unknown>>)
  const rules = (isField: boolean) =>
    Object.fromEntries(
      entries.filter(([, { sql }]) => (sql !== undefined) === isField).map(([name, { rule }]) => [name, rule])
    )
  return { ...common, fields: rules(true), conditions: rules(false) }
}

/** Keeps the records that match all of the filter. @throws TypeError for a condition that is not in the list */
export function whereListed<Filter extends object> (
  query: Knex.QueryBuilder,
  listed: Listed<Filter>,
  filter: Filter
): void {
  for (const [name, value] of Object.entries(filter)) {
    if (value === undefined) continue
    const { rule: { kind }, sql = '', where = matching[kind] ?? whereAny } = entryOf(listed, name)
    where(query, value, sql)
  }
}

/** How a field is compared, unless it holds one value of the kind that the column has. */
const matching: { readonly [kind in ListField['kind']]?: (query: Knex.QueryBuilder, value: any, sql: string) => void } =
  {
    object: (query, value, sql) => query.whereRaw(`${sql} @> ?::jsonb`, [JSON.stringify(value)]),
    // Responses have milliseconds, columns microseconds.
    instant: (query, values, sql) => whereAny(query, values, `date_trunc('milliseconds', ${sql})`)
  }

/** What a list sorts by, in SQL. @throws TypeError for a field that is not in the list */
export function sortKeyOf (listed: object, name: string): string {
  const { sql } = entryOf(listed, name)
  if (sql === undefined) throw new TypeError(`${name} is not a field to sort by`)
  return sql
}

function entryOf (listed: object, name: string): Field<any> | Condition<any> {
  if (!Object.hasOwn(listed, name)) throw new TypeError(`the list has no ${name}`)
  return (listed as Listed<Record<string, unknown>>)[name]!
}

/** Keeps what is any of the values. @param key - SQL, never from the request */
export function whereAny (
  query: Knex.QueryBuilder,
  values: ReadonlyArray<string | number | boolean | null>,
  key: string
): void {
  const present = values.filter((value) => value !== null)
  query.where((any) => {
    any.whereIn(query.client.raw(key), present)
    if (present.length < values.length) any.orWhereRaw(`${key} is null`)
  })
}
