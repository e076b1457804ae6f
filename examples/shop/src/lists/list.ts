import {
  contentRange,
  isCut,
  jsonFrom,
  type ListRules as PageRules,
  pageFrom,
  sortFromPair
} from '#shared/list-grammar'
import { type TObject, type TProperties, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalid } from '../errors.ts'
import { isInner } from '../http/inner-request.ts'
import { isInteger, isJson, typesOf } from '../http/schema-types.ts'
import type { CursorScope } from './cursor.ts'
import { anyOf, containing, type Filter, instants, integers, MAX_VALUES, refuseLength } from './filters.ts'

/*
 * The lists of the shop. They read pages and sorts as those of the packages do, by the shared list grammar; a schema
 * validates filters and sorts, since it is also that of a tool. docs/lists.md explains all of it.
 */

const DEFAULT_LIMIT = 25
const MAX_LIMIT = 200
const MAX_SKIP = 1_000_000
const PAGES: Pick<PageRules, 'defaultLimit' | 'maxLimit' | 'maxSkip' | 'refuse'> = {
  defaultLimit: DEFAULT_LIMIT,
  maxLimit: MAX_LIMIT,
  maxSkip: MAX_SKIP,
  refuse: ([field = ''], message) => invalid(field, `${field} ${message}`)
}

/** The parameter by which a client requested a whole page: it cannot continue after one that ended early. */
const WHOLE = Symbol('whole')

/** The path of the requested list. */
const PATH = Symbol('path')

/** A list request after validation. */
export interface ListQuery {
  readonly [WHOLE]?: 'filter' | 'range' | undefined
  readonly [PATH]?: string
  readonly skip: number
  readonly limit: number
  /** The cursor of the page before, in place of `skip`. */
  readonly after?: string
  readonly filter?: Readonly<Record<string, unknown>>
  readonly sort: string
}

/** One page of a list. */
export interface Page<Row> {
  readonly rows: Row[]
  /** How many rows come before the page; with a cursor, how many were on the pages before it. */
  readonly start: number
  /** How many rows match in all. */
  readonly count: number
  /** The cursor of the next page, if there is one and the cursor is not too long. */
  readonly next?: string
  /** Of all records when the page was read, if it was needed. */
  readonly state?: string
}

/** The filters and sort orders of a list. */
export interface ListRules {
  /** By their names in `filter`. */
  readonly filters: Readonly<Record<string, Filter>>
  /** Fields to sort by. */
  readonly sorts: readonly string[]
  /** The default, with a minus for descending. */
  readonly sort: string
  /** Fields that may be null; nulls come last in both directions. */
  readonly nullable: readonly string[]
}

/** In characters. Longer strings do not fit into a PostgreSQL index, so sorting by them would read the whole list. */
const MAX_SORTED = 500

/**
 * Every list can be filtered by each field of its records. It can be sorted by each field that holds a single value,
 * except long texts.
 *
 * @param record - the schema of a record, whose fields are columns
 * @param sort - the default order: a field, with a minus for descending
 * @param filters - further conditions, and fields that are not plain columns
 */
export function listRules (
  record: TObject,
  { sort, filters = {} }: { readonly sort: string, readonly filters?: Readonly<Record<string, Filter>> }
): ListRules {
  const fields = Object.entries(record.properties)
  const sorts = fields.filter(([, schema]) => !isJson(schema) && (schema['maxLength'] ?? 0) <= MAX_SORTED).map((
    [name]
  ) => name)
  return {
    filters: {
      ...Object.fromEntries(fields.map(([name, schema]) => [name, filterFromSchema(name, schema)])),
      ...filters
    },
    sorts,
    sort,
    nullable: fields.filter(([, schema]) => typesOf(schema).includes('null')).map(([name]) => name)
  }
}

function filterFromSchema (column: string, schema: TSchema): Filter {
  if (schema['format'] === 'date-time') return instants(column, typesOf(schema).includes('null'))
  if (typesOf(schema).includes('object')) return containing(column)
  if (isInteger(schema)) return integers(column, schema)
  return anyOf(column, schema)
}

/**
 * The query string of a list route. All of it is optional; handlers get the defaults. `range` is not in it:
 * {@link readListQuery} turns it into skip and limit.
 */
export function listQuerySchema ({ filters, sorts, sort }: ListRules): TUnsafe<ListQuery> {
  const directions = sorts.flatMap((field) => [field, `-${field}`])
  const filterProperties: TProperties = Object.fromEntries(
    Object.entries(filters).map(([name, { schema }]) => [name, Type.Optional(schema)])
  )
  return Type.Unsafe<ListQuery>(Type.Object({
    skip: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_SKIP, default: 0 })),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_LIMIT,
        default: DEFAULT_LIMIT,
        description: 'Fewer come if they are large'
      })
    ),
    after: Type.Optional(Type.String({ description: 'From the link' })),
    filter: Type.Optional(Type.Object(filterProperties, {
      additionalProperties: false,
      description: `All must match; a list matches any of its 1 to ${MAX_VALUES} values`
    })),
    sort: Type.Optional(Type.Unsafe<string>({
      type: 'string',
      enum: directions,
      default: sort,
      description: 'Descending with a minus'
    }))
  }, { additionalProperties: false }))
}

/**
 * A `preValidation` hook that prepares a query for {@link listQuerySchema}: it parses `filter` as JSON, and turns
 * `sort=["name","DESC"]` and `range=[0,24]`, as react-admin's simple REST provider writes them, into `-name`, skip and
 * limit. It leaves the queries of other routes alone.
 */
export async function readListQuery (request: FastifyRequest): Promise<void> {
  const schema = request.routeOptions.schema?.querystring as { properties?: TProperties } | undefined
  if (schema?.properties?.['filter']?.['type'] !== 'object') return
  const query = request.query as Record<string, unknown>
  if (typeof query['filter'] === 'string') query['filter'] = jsonFrom('filter', query['filter'], PAGES.refuse)
  if (typeof query['sort'] === 'string' && query['sort'].startsWith('[')) {
    const { field, descending } = sortFromPair(query['sort'], PAGES.refuse)
    query['sort'] = `${descending ? '-' : ''}${field}`
  }
  if (query['after'] !== undefined) refuseOffset(query)
  refuseLength(query['filter'])
  // An export has no pages.
  if (schema.properties['limit'] === undefined) return
  const { id } = (query['filter'] ?? {}) as { id?: unknown }
  // react-admin names the records and no limit, and expects all of them.
  const ids = query['after'] === undefined && Array.isArray(id) ? id.length : 0
  const wholly = ids > 0 && query['limit'] === undefined ? 'filter' : undefined
  const whole = query['range'] === undefined ? wholly : 'range'
  Object.assign(query, pageFrom(query, PAGES, ids), { [PATH]: request.url.split('?', 1)[0], [WHOLE]: whole })
  delete query['range']
}

/** Agents tend to send the default of `skip` along. */
function refuseOffset ({ skip = '0', range }: Record<string, unknown>): void {
  if (skip !== '0' || range !== undefined) throw invalid('after', 'after cannot be combined with skip or range')
}

/** The scope of a request's cursors. */
export function cursorScope ({ [PATH]: path = '', sort, filter = {} }: ListQuery): CursorScope {
  return { path, sort, filter }
}

/**
 * The Content-Range of a page.
 *
 * @throws 422 `SHOP_INVALID` when such a page was asked for by `range`, or by ids without a limit: clients that do so
 * take the records that are not on it for missing
 */
function rangeOf (unit: string, { limit, [WHOLE]: whole }: ListQuery, { rows, start, count }: Page<unknown>): string {
  const page = { skip: start, limit }
  if (whole !== undefined && isCut(page, count, rows.length)) {
    throw invalid(
      whole,
      `These records are too large for one page: only ${rows.length} fit. Request fewer, or page with skip and limit`
    )
  }
  return contentRange(unit, page, count, rows.length)
}

/** In characters: proxies take a server whose headers exceed 4 KiB for broken. */
const LONGEST_LINK = 1700

/**
 * The Link to the next page, relative to the URL of this one. A filter that is too long for a header is left out: the
 * link as it is then gets 422, since the cursor belongs to the filter. Tools have the link in the body.
 *
 * @see [RFC 8288](https://www.rfc-editor.org/rfc/rfc8288)
 */
function nextLink (request: FastifyRequest, { limit, sort }: ListQuery, next: string): string {
  const { searchParams } = new URL(request.url, 'http://localhost')
  for (const name of ['skip', 'range', 'after']) searchParams.delete(name)
  if (searchParams.has('sort')) searchParams.set('sort', sort)
  searchParams.set('limit', String(limit))
  searchParams.set('after', next)
  const link = linkTo(searchParams)
  if (link.length <= LONGEST_LINK || isInner(request)) return link
  searchParams.delete('filter')
  return linkTo(searchParams)
}

function linkTo (parameters: URLSearchParams): string {
  return `<?${parameters.toString()}>; rel="next"`
}

/** Sends the records of a page, with its Content-Range and the Link to the next one. */
export function sendPage<Row> (reply: FastifyReply, unit: string, query: ListQuery, page: Page<Row>): Row[] {
  reply.header('content-range', rangeOf(unit, query, page))
  if (page.next !== undefined) reply.header('link', nextLink(reply.request, query, page.next))
  return page.rows
}
