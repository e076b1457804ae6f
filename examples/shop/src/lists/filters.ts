import { wordsOf } from '#shared/list-grammar'
import { type TInteger, type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { UNICODE } from '../database/session.ts'
import { invalid } from '../errors.ts'
import { ANY_ID, Instant, INSTANT, Nullable, spellingsOf } from '../http/schemas.ts'
import { columnRange } from '../http/schema-types.ts'
import { cleanLine } from '../http/text.ts'

/** Maximum number of values for a field of a filter: one for each record of the largest page. */
export const MAX_VALUES = 200

/** One filter of a list: the schema of its value, and what it does to the query. */
export interface Filter {
  readonly schema: TSchema
  readonly apply: (query: Knex.QueryBuilder, value: never) => void
  /** Whether PostgreSQL can only guess how many records match. Default: it has statistics. */
  readonly isGuessed?: boolean
  /**
   * Makes an empty query one that counts the matches of a shop as `matching_count` without reading them. Default: they
   * are read.
   */
  readonly count?: (query: Knex.QueryBuilder, shopId: string, value: never) => void
}

/** One or several values of `item`; a record needs to match any of them. {@link refuseLength} limits how many. */
export function listOf (item: TSchema, description?: string): TSchema {
  return Type.Array(item, { ...(description !== undefined && { description }) })
}

/**
 * Limits the values of each field of a filter. The schema of each field could say so as well, and agents would read it
 * twenty times.
 *
 * @throws {@link SHOP_INVALID} about the field
 */
export function refuseLength (filter: unknown): void {
  for (const [name, values] of Object.entries(filter ?? {})) {
    if (Array.isArray(values) && (values.length === 0 || values.length > MAX_VALUES)) {
      throw invalid(`filter/${name}`, `filter/${name} must have 1 to ${MAX_VALUES} values`)
    }
  }
}

/** What is looked for: a text that no record can have matches nothing, so any length and shape will do. */
function sought ({ description: _, minLength: __, maxLength: ___, pattern: ____, ...schema }: TSchema): TSchema {
  return schema as TSchema
}

/** Matches any of the given values of a column. */
export function anyOf (column: string, item: TSchema, description?: string): Filter {
  const spelt = (value: string | null): readonly string[] | string | null =>
    ANY_ID in item && value !== null ? spellingsOf(value) : value
  return {
    schema: listOf(sought(item), description),
    apply: (query, values: ReadonlyArray<string | null>) => whereAny(query, column, values.flatMap(spelt))
  }
}

/** Matches any of the given whole numbers of a column. Those that it cannot hold are in no record. */
export function integers (column: string, item: TSchema): Filter {
  const { minimum, maximum } = columnRange(item)
  const { minimum: _, ...any } = sought(item)
  const canBe = (value: number | null): boolean => value === null || (value >= minimum && value <= maximum)
  return {
    schema: listOf(any as TSchema),
    apply: (query, values: ReadonlyArray<number | null>) => whereAny(query, column, values.filter(canBe))
  }
}

/** Matches any of the given instants. Responses have milliseconds, columns microseconds. */
export function instants (column: string, isNullable: boolean): Filter {
  const instant = Type.String({ format: 'date-time' })
  return {
    schema: listOf(isNullable ? Nullable(instant) : instant),
    apply: (query, values: ReadonlyArray<string | null>) => {
      query.where((any) => {
        for (const value of values) {
          // A range, which an index can find.
          if (value === null) any.orWhereNull(column)
          else {
            any.orWhereRaw("?? >= ?::timestamptz and ?? < ?::timestamptz + interval '1 millisecond'", [
              column,
              isoFromInstant(column, value),
              column,
              isoFromInstant(column, value)
            ])
          }
        }
      })
    }
  }
}

function isoFromInstant (column: string, value: string): string {
  if (!INSTANT.test(value)) {
    throw invalid(`filter/${column}`, `filter/${column} must be RFC 3339 without leap seconds, from 1900 to 2199`)
  }
  return new Date(value).toISOString()
}

function whereAny (query: Knex.QueryBuilder, column: string, values: ReadonlyArray<string | number | null>): void {
  query.where((any) => {
    const spelt = (value: string | number): ReadonlyArray<string | number> =>
      typeof value === 'string' ? [value, cleanLine(value)] : [value]
    const wanted = [...new Set(values.filter((value) => value !== null).flatMap(spelt))]
    // One value, which an index in another order serves as well, or any number of them in one text.
    if (wanted.length === 1) any.where(column, wanted[0]!)
    else any.whereRaw('?? = any(?)', [column, wanted as string[]])
    if (values.includes(null)) any.orWhereNull(column)
  })
}

/** Matches objects that contain all of the given members and array elements. */
export function containing (column: string): Filter {
  return {
    schema: Type.Unsafe({ type: 'object', description: 'Records that contain all of this' }),
    apply: (query, part: object) => {
      query.whereRaw('?? @> ?::jsonb', [column, JSON.stringify(part)])
      // An index may leave out the empty ones.
      if (Object.keys(part).length > 0) query.whereRaw("?? <> '{}'", [column])
    }
  }
}

/** Matches a column of several strings that contains any of the given. */
export function holding (column: string, item: TSchema, type: 'jsonb' | 'text[]'): Filter {
  const test = type === 'jsonb'
    ? 'exists (select from jsonb_array_elements_text(??) as one where one = any(?::text[]))'
    : '?? && ?::text[]'
  return {
    schema: listOf(sought(item)),
    apply: (query, values: readonly string[]) => {
      query.whereRaw(test, [column, values as string[]])
    }
  }
}

/**
 * Matches records with any of the given rows of another table, each described by some or all of its fields.
 *
 * @param link - the table, and its column that has the id of the record
 * @param row - the schema of a row
 */
export function having (
  table: string,
  [link, column]: readonly [table: string, column: string],
  row: TObject,
  isJson: (field: string) => boolean = () => false
): Filter {
  const { required: _, description: __, ...part } = row
  const properties = Object.fromEntries(
    Object.entries(row.properties).map(([name, field]) => [name, sought(field)])
  )
  return {
    schema: listOf(
      { ...part, properties, minProperties: 1, additionalProperties: false } as unknown as TSchema,
      'Any of these; fields may be left out'
    ),
    apply: (query, rows: ReadonlyArray<Readonly<Record<string, unknown>>>) => {
      query.whereExists((links: Knex.QueryBuilder) =>
        links.from(link).whereRaw('??.shop_id = ??.shop_id and ?? = ??.id', [link, table, `${link}.${column}`, table])
          .where((any) => {
            for (const fields of rows) {
              any.orWhere((all) => {
                for (const [field, value] of Object.entries(fields)) {
                  if (value === null) all.whereNull(`${link}.${field}`)
                  else if (isJson(field)) all.whereRaw('?? = ?::jsonb', [`${link}.${field}`, JSON.stringify(value)])
                  else all.where(`${link}.${field}`, value as string)
                }
              })
            }
          })
      )
    }
  }
}

/**
 * PostgreSQL ignores the case of letters beyond a to z only if the LC_CTYPE of the database knows them, which C does
 * not; then a collation has to. It decides when it plans the query, so that an index serves where there is one.
 */
const contains = (sql: string): string =>
  `case when lower('É') = 'é' then ${sql} ilike ? else (${sql}) collate ${UNICODE} ilike ? end`

/** What a search looks into: a column, or SQL over the row under another name. */
type Searched = string | { readonly name: string, readonly sql: string }

/**
 * Matches records that have every word of a text, in any order, each anywhere in any of the columns, ignoring case.
 */
export function search (columns: readonly Searched[]): Filter {
  const names = columns.map((column) => typeof column === 'string' ? column : column.name)
  return searchBy(`Searches ${names.join(', ')}`, (any, word) => orContains(any, columns, word))
}

/**
 * Matches records that have every word of a text that can be seen.
 *
 * @param orHas - adds the alternatives of which a record has one if it has the word
 */
export function searchBy (description: string, orHas: (any: Knex.QueryBuilder, word: string) => void): Filter {
  return {
    schema: Type.String({ minLength: 1, maxLength: 200, description }),
    isGuessed: true,
    apply: (query, text: string) => {
      for (const word of wordsOf(text, (word) => cleanLine(word) !== '')) query.where((any) => orHas(any, word))
    }
  }
}

/** Adds that a column contains a word, as it is given or clean. */
export function orContains (any: Knex.QueryBuilder, columns: readonly Searched[], word: string): void {
  const patterns = [...new Set([word, cleanLine(word) || word])].map((wanted) =>
    `%${wanted.replace(/[\\%_]/g, '\\$&')}%`
  )
  for (const column of columns) {
    const sql = typeof column === 'string' ? column : column.sql
    for (const pattern of patterns) any.orWhereRaw(contains(sql), [pattern, pattern])
  }
}

/** Compares a column of numbers with a bound. {@link instantBound} is for instants. */
export function bound (column: string, operator: '>=' | '<=', schema: TInteger): Filter {
  return {
    schema,
    apply: (query, value: number) => {
      query.where(column, operator, value)
    }
  }
}

/** Compares a column of instants with a bound, by the milliseconds that responses have: columns have microseconds. */
export function instantBound (column: string, operator: '>=' | '<=', description: string): Filter {
  const condition = operator === '>=' ? '?? >= ?::timestamptz' : "?? < ?::timestamptz + interval '1 millisecond'"
  // In UTC, since PostgreSQL does not accept every offset that RFC 3339 allows.
  return {
    schema: Instant(description),
    apply: (query, value: string) => {
      query.whereRaw(condition, [column, new Date(value).toISOString()])
    }
  }
}

/**
 * Narrows a query to what matches every part of a filter.
 *
 * @throws {@link SHOP_INVALID} about a name that the list does not have, so that none is ignored
 */
export function narrow (
  query: Knex.QueryBuilder,
  filters: Readonly<Record<string, Filter>>,
  filter: Readonly<Record<string, unknown>> = {}
): void {
  for (const [name, value] of Object.entries(filter)) {
    const found = Object.hasOwn(filters, name) ? filters[name] : undefined
    if (found === undefined) {
      throw invalid(
        `filter/${name}`,
        `filter/${name} is not a filter of this list. It has ${Object.keys(filters).join(', ')}`
      )
    }
    found.apply(query, value as never)
  }
}
