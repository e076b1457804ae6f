import { type TProperties, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { invalid } from './errors.ts'

/*
 * The list grammar, the same everywhere: skip, limit, filter (a JSON object), sort (`field` or
 * `-field`), and a Content-Range header in the answer.
 */

const DEFAULT_LIMIT = 25
const MAX_LIMIT = 200
const MAX_SKIP = 1_000_000
const MAX_VALUES = 100

/** What a list can be narrowed by: the schema of the filter's value, and what it does to the query. */
export interface Filter {
  readonly schema: TSchema
  readonly apply: (query: Knex.QueryBuilder, value: never) => void
}

/** A list request after validation. */
export interface ListQuery {
  readonly skip: number
  readonly limit: number
  readonly filter?: Readonly<Record<string, unknown>>
  readonly sort: string
}

/**
 * The query string of a list route. All of it may be left out; handlers get the defaults.
 *
 * @param filters - by the name that `filter` knows them by
 * @param sorts - fields to sort by; the first one is the default
 */
export function listQuerySchema (filters: Readonly<Record<string, Filter>>, sorts: readonly [string, ...string[]]): TUnsafe<ListQuery> {
  const directions = sorts.flatMap((field) => [field, `-${field}`])
  const filterProperties: TProperties = Object.fromEntries(
    Object.entries(filters).map(([name, { schema }]) => [name, Type.Optional(schema)]))
  return Type.Unsafe<ListQuery>(Type.Object({
    skip: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_SKIP, default: 0, description: 'How many records to skip' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT, description: 'How many records to return at most' })),
    filter: Type.Optional(Type.Object(filterProperties, {
      additionalProperties: false,
      description: 'Only the records that match all of these. In a URL: a JSON object'
    })),
    sort: Type.Optional(Type.Unsafe<string>({
      type: 'string', enum: directions, default: directions[0], description: 'The field to sort by; with a minus, descending'
    }))
  }, { additionalProperties: false }))
}

/**
 * A `preValidation` hook that turns the text forms of `filter` and `sort` into those of
 * {@link listQuerySchema}: `filter` from JSON, and `sort=["name","DESC"]`, as react-admin's simple
 * REST provider writes it, into `-name`. Routes whose schema takes texts get them as they are.
 */
export async function readListQuery (request: FastifyRequest): Promise<void> {
  const schema = request.routeOptions.schema?.querystring as { properties?: TProperties } | undefined
  if (schema?.properties?.['filter']?.['type'] !== 'object') return
  const query = request.query as Record<string, unknown>
  if (typeof query['filter'] === 'string') query['filter'] = fromJson('filter', query['filter'])
  const sort = query['sort']
  if (typeof sort === 'string' && sort.startsWith('[')) {
    const [field, direction = 'ASC', ...more] = fromJson('sort', sort) as unknown[]
    const sign = typeof direction === 'string' ? { ASC: '', DESC: '-' }[direction.toUpperCase()] : undefined
    if (typeof field !== 'string' || sign === undefined || more.length > 0) throw invalid('sort', 'sort must be a field, or a list of one and ASC or DESC')
    query['sort'] = `${sign}${field}`
  }
}

function fromJson (field: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid(field, `${field} must be JSON`)
  }
}

/** The Content-Range of a page, as the service has it: the end is not clamped to the count. */
export function contentRange (unit: string, { skip, limit }: ListQuery, count: number): string {
  return `${unit} ${skip}-${skip + limit}/${count}`
}

/** Matches any of the given values of a column. */
export function anyOf (column: string, item: TSchema, description: string): Filter {
  return {
    schema: Type.Array(item, { minItems: 1, maxItems: MAX_VALUES, description }),
    apply: (query, values: ReadonlyArray<string | null>) => {
      query.where((any) => {
        any.whereIn(column, values.filter((value) => value !== null))
        if (values.includes(null)) any.orWhereNull(column)
      })
    }
  }
}

/** Matches a text, without regard to case, anywhere in any of the columns. */
export function search (columns: readonly string[]): Filter {
  return {
    schema: Type.String({ minLength: 1, maxLength: 200, description: `Text to look for in ${columns.join(', ')}` }),
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
