import { excerpt } from './excerpt.ts'

/*
 * The grammar of lists: `skip` and `limit` or `range`, `filter`, `sort` and `Content-Range`. docs/lists.md states it.
 *
 * The shared files are compiled into the `dist/shared` of each package that lists them in its `tsconfig.shared.json`,
 * and imported from there as `#shared/…`: packages never import each other, and each installs alone. A package of its
 * own would be one more to choose, install and version, for 200 lines that no other program has asked for; a JSON
 * Schema in each package would be shorter than this file, and a second grammar with words of its own.
 */

/** A query string as Fastify parses it: nothing in it is a number or a boolean yet. */
export type RawQuery = Readonly<Record<string, unknown>>

/** Words of a search. Each is compared with each column, so a hundred of them would take a second in a long list. */
const MAX_WORDS = 10

/**
 * @param isWord - which of them count
 * @returns the words of a search, each once; a text without any, or with more than ten, is one
 */
export function wordsOf (text: string, isWord = (word: string): boolean => word !== ''): readonly string[] {
  const words = new Set(text.split(/[\s\u0085]+/u).filter(isWord))
  return words.size === 0 || words.size > MAX_WORDS ? [text] : [...words]
}

/** What a field of a record holds, and so what `filter` can compare it with. */
export interface ListField {
  /**
   * `instant`: RFC 3339; `strings`: a list of strings, of which one must be among the values; `object`: a JSON object
   * that contains the value.
   */
  readonly kind: 'string' | 'uuid' | 'integer' | 'boolean' | 'instant' | 'strings' | 'object'
  /** Whether it may be null. Default false. */
  readonly nullable?: boolean
  /** The only strings that it can be. Default: any. */
  readonly words?: readonly string[]
}

/** What one list accepts. */
export interface ListRules {
  /**
   * The fields of its records. `filter` takes a value or a list of values of each; `sort` takes those that hold one
   * value.
   */
  readonly fields: Readonly<Record<string, ListField>>
  /** Further conditions that `filter` takes, one value each. */
  readonly conditions: Readonly<Record<string, ListField>>
  readonly defaultLimit: number
  /** The largest `limit`, and how many values a field of `filter` takes. */
  readonly maxLimit: number
  /** The largest `skip`, and first of a `range`. Default: 1e9. */
  readonly maxSkip?: number
  /** Makes the error for an input. `path` leads to it: `['filter', 'name']`. */
  readonly refuse: (path: readonly string[], message: string) => Error
}

/** Part of a list. */
export interface Page {
  /** How many records to leave out at the front. */
  readonly skip: number
  /** How many to return at most. */
  readonly limit: number
}

/** A list request after validation. */
export interface ListQuery extends Page {
  /** A field's values (an object's is one object), or the value of a condition. */
  readonly filter: Readonly<Record<string, unknown>>
  /** Null: in the list's own order. */
  readonly sort: { readonly field: string, readonly descending: boolean } | null
}

const MAX_SKIP = 1_000_000_000
const MAX_FILTER = 65_536
const MAX_STRING = 255
const MAX_DEPTH = 32
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** From 1900 to 2199: JavaScript and PostgreSQL both know these. */
const INSTANT = /^(?:19|20|21)\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i

/** Reads the list parameters. @throws what `refuse` makes */
export function listQueryFrom (query: RawQuery, rules: ListRules): ListQuery {
  const filter = filterFrom(query.filter, rules)
  const ids = Array.isArray(filter.id) ? filter.id.length : 0
  return { ...pageFrom(query, rules, ids), filter, sort: sortFrom(query.sort, rules) }
}

/**
 * Reads `skip` and `limit`, or `range`, whose end is inclusive.
 *
 * @param ids - how many records the filter names: all of them fit on a page that says no limit
 */
export function pageFrom (
  query: RawQuery,
  { defaultLimit, maxLimit, maxSkip = MAX_SKIP, refuse }: Omit<ListRules, 'fields' | 'conditions'>,
  ids = 0
): Page {
  if (query.range === undefined) {
    return {
      skip: integer('skip', query.skip, 0, 0, maxSkip),
      limit: integer('limit', query.limit, Math.max(defaultLimit, ids), 1, maxLimit)
    }
  }
  if (query.skip !== undefined || query.limit !== undefined) {
    throw refuse(['range'], 'cannot be combined with skip or limit')
  }
  const [first, last, ...more] = listOf(jsonFrom('range', query.range, refuse))
  if (!isIndex(first) || !isIndex(last) || more.length > 0 || last < first) {
    throw refuse(['range'], 'must be [first, last], such as [0, 24]')
  }
  if (first > maxSkip) throw refuse(['range'], `must not start after ${maxSkip}`)
  if (last - first >= maxLimit) throw refuse(['range'], `must not hold more than ${maxLimit} records`)
  return { skip: first, limit: last - first + 1 }

  function integer (name: string, value: unknown, fallback: number, min: number, max: number): number {
    if (value === undefined) return fallback
    const number = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : NaN
    if (!(number >= min && number <= max)) throw refuse([name], `must be an integer from ${min} to ${max}`)
    return number
  }
}

/**
 * `{unit} {skip}-{skip+limit}/{count}`: the end is exclusive and not clamped, also for an empty page. For a page that
 * ended early it is where the next one starts.
 *
 * @param length - how many records are on the page
 */
export function contentRange (unit: string, page: Page, count: number, length: number): string {
  const { skip, limit } = page
  return `${unit} ${skip}-${skip + (isCut(page, count, length) ? length : limit)}/${count}`
}

/** Whether a page ended early, because its records are large. @param length - how many records are on it */
export function isCut ({ skip, limit }: Page, count: number, length: number): boolean {
  return length < Math.min(limit, count - skip)
}

function filterFrom (value: unknown, rules: ListRules): Readonly<Record<string, unknown>> {
  const { fields, conditions, refuse } = rules
  if (value === undefined) return {}
  const filter = typeof value === 'string' && value.length > MAX_FILTER ? undefined : jsonFrom('filter', value, refuse)
  if (!isObject(filter)) throw refuse(['filter'], 'must be a JSON object')
  return Object.fromEntries(
    Object.entries(filter).map(([name, wanted]) => {
      if (Object.hasOwn(conditions, name)) return [name, valueFrom(name, wanted, conditions[name]!, refuse)]
      if (Object.hasOwn(fields, name)) return [name, valuesFrom(name, wanted, fields[name]!, rules)]
      throw refuse(['filter', excerpt(name)], 'is not a known field')
    })
  )
}

function valuesFrom (name: string, wanted: unknown, field: ListField, { maxLimit, refuse }: ListRules): unknown {
  if (field.kind === 'object') return valueFrom(name, wanted, field, refuse)
  const values: readonly unknown[] = Array.isArray(wanted) ? wanted : [wanted]
  if (values.length === 0 || values.length > maxLimit) {
    throw refuse(['filter', name], `must have 1 to ${maxLimit} values`)
  }
  return values.map((value) => valueFrom(name, value, field, refuse))
}

function valueFrom (name: string, value: unknown, field: ListField, refuse: ListRules['refuse']): unknown {
  const { kind, nullable = false, words } = field
  if (nullable && value === null) return null
  const text = typeof value === 'string' && isString(value) ? value : undefined
  const read = {
    string: words === undefined || words.includes(text ?? '') ? text : undefined,
    strings: text,
    uuid: text !== undefined && UUID.test(text.toLowerCase()) ? text.toLowerCase() : undefined,
    integer: Number.isSafeInteger(value) ? value : undefined,
    boolean: typeof value === 'boolean' ? value : undefined,
    instant: text !== undefined && INSTANT.test(text) && !Number.isNaN(Date.parse(text))
      ? new Date(text).toISOString()
      : undefined,
    object: isObject(value) && isStorable(value) ? value : undefined
  }[kind]
  if (read === undefined) {
    throw refuse(
      ['filter', name],
      `must be ${words === undefined ? NAMES[kind] : `one of ${words.join(', ')}`}${nullable ? ', or null' : ''}`
    )
  }
  return read
}

/** What a string in a list parameter must be. */
export const STRING = `a string of at most ${MAX_STRING} characters, without NUL and lone surrogates`

const NAMES: Readonly<Record<ListField['kind'], string>> = {
  string: STRING,
  strings: STRING,
  uuid: 'a UUID',
  integer: 'an integer',
  boolean: 'true or false',
  instant: 'a date and time such as 2026-01-31T12:00:00Z',
  object: `a JSON object of at most ${MAX_DEPTH} levels, without NUL and lone surrogates`
}

/** `name`, `-name` or `["name", "ASC"]`. */
function sortFrom (value: unknown, { fields, refuse }: ListRules): ListQuery['sort'] {
  if (value === undefined) return null
  if (typeof value !== 'string') throw refuse(['sort'], 'must be given once')
  const { field, descending } = value.startsWith('[')
    ? sortFromPair(value, refuse)
    : { field: value.replace(/^-/, ''), descending: value.startsWith('-') }
  const sortable = Object.keys(fields).filter((name) => !['object', 'strings'].includes(fields[name]!.kind))
  if (!sortable.includes(field)) {
    throw refuse(['sort'], `must be one of ${sortable.join(', ')}, with a minus for descending`)
  }
  return { field, descending }
}

/** Reads `["name", "ASC"]`. @throws what `refuse` makes */
export function sortFromPair (value: string, refuse: ListRules['refuse']): { field: string, descending: boolean } {
  const [field, order, ...more] = listOf(jsonFrom('sort', value, refuse))
  const direction = typeof order === 'string' ? order.toUpperCase() : ''
  if (typeof field !== 'string' || !['ASC', 'DESC'].includes(direction) || more.length > 0) {
    throw refuse(['sort'], 'must be a field, or ["field", "ASC" or "DESC"]')
  }
  return { field, descending: direction === 'DESC' }
}

/** Reads a parameter that is JSON. @throws what `refuse` makes */
export function jsonFrom (name: string, value: unknown, refuse: ListRules['refuse']): unknown {
  try {
    return JSON.parse(value as string)
  } catch {
    throw refuse([name], Array.isArray(value) ? 'must be given once' : 'must be JSON')
  }
}

function listOf (value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isIndex (value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_SKIP
}

function isObject (value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether it is {@link STRING}. */
export function isString (value: string): boolean {
  return value.length <= MAX_STRING && isStorable(value)
}

/** Whether PostgreSQL can compare with it. */
function isStorable (value: unknown, depth = 1): boolean {
  if (typeof value === 'string') return !/[\0\p{Surrogate}]/u.test(value)
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  return depth <= MAX_DEPTH &&
    Object.entries(value).every(([key, inner]) => isStorable(key) && isStorable(inner, depth + 1))
}
