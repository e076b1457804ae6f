import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { Instant } from '../http/schemas.ts'

/** Maximum number of values for a field of a filter: one for each record of the largest page. */
const MAX_VALUES = 200

/** One filter of a list: the schema of its value, and what it does to the query. */
export interface Filter {
  readonly schema: TSchema
  readonly apply: (query: Knex.QueryBuilder, value: never) => void
}

/** One or several values of `item`; a record needs to match any of them. */
export function listOf (item: TSchema, description?: string): TSchema {
  return Type.Array(item, { minItems: 1, maxItems: MAX_VALUES, ...(description !== undefined && { description }) })
}

/** Matches any of the given values of a column. */
export function anyOf (column: string, item: TSchema, description?: string): Filter {
  return { schema: listOf(item, description), apply: (query, values: ReadonlyArray<string | null>) => whereAny(query, column, values) }
}

/** Matches any of the given instants. Responses have milliseconds, columns microseconds. */
export function instants (column: string, isNullable: boolean): Filter {
  const { description: _, ...item } = Instant('')
  return {
    schema: listOf(isNullable ? { ...item, type: ['string', 'null'] } as TSchema : item as TSchema),
    apply: (query, values: ReadonlyArray<string | null>) =>
      whereAny(query, query.client.raw("date_trunc('milliseconds', ??)", [column]), values.map((value) => value === null ? null : new Date(value).toISOString()))
  }
}

function whereAny (query: Knex.QueryBuilder, column: string | Knex.Raw, values: ReadonlyArray<string | null>): void {
  query.where((any) => {
    any.whereIn(column as string, values.filter((value) => value !== null))
    if (values.includes(null)) any.orWhereNull(column as string)
  })
}

/** Matches objects that contain all of the given members and array elements. */
export function containing (column: string): Filter {
  return {
    schema: Type.Object({}, { additionalProperties: true, description: 'Only records that contain all of this' }),
    apply: (query, part: object) => { query.whereRaw('?? @> ?::jsonb', [column, JSON.stringify(part)]) }
  }
}

/** Matches a column of several strings that contains any of the given. */
export function holding (column: string, item: TSchema, type: 'jsonb' | 'text[]'): Filter {
  const test = type === 'jsonb' ? 'exists (select from jsonb_array_elements_text(??) as one where one = any(?::text[]))' : '?? && ?::text[]'
  return { schema: listOf(item), apply: (query, values: readonly string[]) => { query.whereRaw(test, [column, values as string[]]) } }
}

/**
 * Matches records with any of the given rows of another table, each described by some or all of its fields.
 *
 * @param link - the table, and its column that has the id of the record
 * @param row - the schema of a row
 */
export function having (table: string, [link, column]: readonly [table: string, column: string], row: TObject, isJson: (field: string) => boolean = () => false): Filter {
  const { required: _, description: __, ...part } = row
  return {
    schema: listOf({ ...part, minProperties: 1, additionalProperties: false } as unknown as TSchema, 'Only records with any of these, each described by some or all of its fields'),
    apply: (query, rows: ReadonlyArray<Readonly<Record<string, unknown>>>) => {
      query.whereExists((links: Knex.QueryBuilder) => links.from(link).whereRaw('??.shop_id = ??.shop_id and ?? = ??.id', [link, table, `${link}.${column}`, table])
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
        }))
    }
  }
}

/** Matches a string anywhere in any of the columns, ignoring case. */
export function search (columns: readonly string[]): Filter {
  return {
    schema: Type.String({ minLength: 1, maxLength: 200, description: `Text to search for in ${columns.join(', ')}` }),
    apply: (query, text: string) => {
      const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`
      query.where((any) => { for (const column of columns) any.orWhereILike(column, pattern) })
    }
  }
}

/** Compares a column with a bound. */
export function bound (column: string, operator: '>=' | '<=', schema: TSchema): Filter {
  return { schema, apply: (query, value: never) => { query.where(column, operator, value) } }
}
