import type { AccountFilter, AccountQuery, AccountSort } from './account.ts'
import { validationError } from './errors.ts'

/** A query string as Fastify parses it: nothing in it is a number or a boolean yet. */
export type RawQuery = Readonly<Record<string, unknown>>

/** Skip and limit of a page. */
export interface Page {
  readonly skip: number
  readonly limit: number
}

export const defaultLimit = 100
export const maxLimit = 1000
const maxSkip = 1_000_000_000
const maxFilterLength = 65_536
const maxValues = 1000
const maxText = 255

/** UUIDs only in the canonical form: `urn:uuid:` would pass JSON Schema's format and fail in the database. */
export const uuidPattern = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'
const uuid = new RegExp(uuidPattern)

const sortFields: ReadonlySet<string> =
  new Set(['id', 'shop_id', 'shop_name', 'name', 'hash_name', 'pay_customer_id', 'pay_synced_at'])
const uuidFields: ReadonlySet<string> = new Set(['id', 'shop_id'])
const textFields: ReadonlySet<string> = new Set(['name', 'hash_name', 'pay_customer_id'])

/**
 * Reads the list parameters of `GET /admin/accounts`, in the contract's dialect (`skip`, `limit`) and in
 * react-admin's (`range=[0,24]`, `sort=["name","ASC"]`, `filter={"id":[…]}`).
 *
 * @throws {@link PAY_RECONCILE_VALIDATION} for a field that is not listed, a value of the wrong type, a limit
 * over 1000, or conditions that exclude each other: a slip must not read as "all accounts" or "none".
 */
export function accountQueryFrom (query: RawQuery): AccountQuery {
  const filter = filterFrom(query.filter)
  const shopId = text(query, 'shop_id')
  const missing = booleanOf(query.missing_pay, 'missing_pay')
  return {
    ...pageFrom(query),
    filter: {
      ...filter,
      ...(shopId !== undefined && { shop_id: bothOf('shop_id', filter.shop_id, uuidsFrom('shop_id', shopId)) }),
      ...(missing !== undefined && { missing_pay: bothOf('missing_pay', listOf(filter.missing_pay), [missing])[0] })
    },
    sort: sortFrom(text(query, 'sort'))
  }
}

/** Skip and limit, from `skip` and `limit` or else from `range`, whose end is inclusive. */
export function pageFrom (query: RawQuery): Page {
  if (query.range !== undefined) return pageFromRange(query)
  return {
    skip: integer(query.skip, 'skip', 0, 0, maxSkip),
    limit: integer(query.limit, 'limit', defaultLimit, 1, maxLimit)
  }
}

function pageFromRange (query: RawQuery): Page {
  if (query.skip !== undefined || query.limit !== undefined) throw invalid('range', 'cannot be combined with skip or limit')
  const range = json(text(query, 'range'), 'range')
  if (!Array.isArray(range) || range.length !== 2 || !range.every(end => typeof end === 'number' || typeof end === 'string')) throw invalid('range', 'must be [first, last]')
  const skip = integer(String(range[0]), 'range', 0, 0, maxSkip)
  const last = integer(String(range[1]), 'range', 0, skip, maxSkip + maxLimit)
  return { skip, limit: integer(String(last - skip + 1), 'range', 1, 1, maxLimit) }
}

function filterFrom (value: unknown): AccountFilter {
  if (value === undefined || value === '') return {}
  if (typeof value !== 'string' || value.length > maxFilterLength) throw invalid('filter', 'must be one JSON object')
  const filter = json(value, 'filter')
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter)) throw invalid('filter', 'must be one JSON object')
  return Object.fromEntries(Object.entries(filter).map(([field, wanted]) => [field, conditionFrom(field, wanted)]))
}

function conditionFrom (field: string, wanted: unknown): boolean | string | readonly string[] {
  if (field === 'missing_pay') return booleanOf(wanted, 'filter.missing_pay') ?? false
  if (field === 'q') return textsFrom('filter.q', [wanted])[0] ?? ''
  if (uuidFields.has(field)) return uuidsFrom(`filter.${field}`, wanted)
  if (textFields.has(field)) return textsFrom(`filter.${field}`, wanted)
  const name = field.slice(0, 40)
  throw validationError(`filter/${name}`, `filter has no field ${JSON.stringify(name)}`)
}

function textsFrom (name: string, wanted: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted]
  if (values.length > maxValues) throw invalid(name, `has more than ${maxValues} values`)
  return values.map(value => {
    if (typeof value !== 'string' || value.length > maxText) throw invalid(name, `must be a string of at most ${maxText} characters`)
    if (value.includes('\0') || /\p{Surrogate}/u.test(value)) throw invalid(name, 'holds a character that cannot be stored')
    return value
  })
}

function uuidsFrom (name: string, wanted: unknown): readonly string[] {
  const values = textsFrom(name, wanted)
  if (!values.every(value => uuid.test(value))) throw invalid(name, 'must be a UUID')
  return values.map(value => value.toLowerCase())
}

function listOf<T> (value: T | undefined): readonly T[] | undefined {
  return value === undefined ? undefined : [value]
}

/** What a condition of the filter and a parameter of the same name leave together. */
function bothOf<T> (name: string, inFilter: readonly T[] | undefined, wanted: readonly T[]): readonly T[] {
  const left = inFilter === undefined ? wanted : inFilter.filter(value => wanted.includes(value))
  if (left.length === 0) throw invalid(name, `contradicts filter.${name}`)
  return left
}

/**
 * `name`, `-name` or `["name","ASC"]`. The id is always last, so that pages never overlap, and in the same
 * direction, so that one index serves both.
 */
function sortFrom (value: string | undefined): readonly AccountSort[] {
  if (value === undefined || value === '') return [{ field: 'id', descending: false }]
  const { field, descending } = value.startsWith('[') ? sortFromPair(value) : sortFromWord(value)
  if (!isSortField(field)) throw invalid('sort', 'names no field that can be sorted by')
  return field === 'id' ? [{ field, descending }] : [{ field, descending }, { field: 'id', descending }]
}

function sortFromWord (value: string): { field: string, descending: boolean } {
  return value.startsWith('-') ? { field: value.slice(1), descending: true } : { field: value, descending: false }
}

function sortFromPair (value: string): { field: string, descending: boolean } {
  const pair = json(value, 'sort')
  const [field, order]: readonly unknown[] = Array.isArray(pair) && pair.length === 2 ? pair : []
  if (typeof field !== 'string' || (order !== 'ASC' && order !== 'DESC')) throw invalid('sort', 'must be ["field", "ASC" or "DESC"]')
  return { field, descending: order === 'DESC' }
}

function isSortField (field: string): field is AccountSort['field'] {
  return sortFields.has(field)
}

function text (query: RawQuery, name: string): string | undefined {
  const value = query[name]
  if (value !== undefined && typeof value !== 'string') throw invalid(name, 'must be given once')
  return value
}

function integer (value: unknown, name: string, fallback: number, min: number, max: number): number {
  if (value === undefined) return fallback
  const number = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : NaN
  if (!(number >= min && number <= max)) throw invalid(name, `must be an integer from ${min} to ${max}`)
  return number
}

function booleanOf (value: unknown, name: string): boolean | undefined {
  if (value === undefined) return undefined
  if (value === true || value === 'true') return true
  if (value === false || value === 'false') return false
  throw invalid(name, 'must be true or false')
}

function json (value: string | undefined, name: string): unknown {
  try {
    return JSON.parse(value ?? '')
  } catch {
    throw invalid(name, 'is not JSON')
  }
}

/** @param name of the parameter, a dot before a field of the filter */
function invalid (name: string, what: string): Error {
  return validationError(name.replace('.', '/'), `${name} ${what}`)
}

/** `accounts {skip}-{skip+limit}/{count}`: the end is exclusive and not clamped, also for an empty page. */
export function contentRange (unit: 'accounts' | 'runs', page: Page, count: number): string {
  return `${unit} ${page.skip}-${page.skip + page.limit}/${count}`
}
