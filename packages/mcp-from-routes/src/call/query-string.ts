import { isObject } from '../schema/json-schema.ts'
import { isSame, type QueryParser, type QueryShape } from '../tool/query.ts'
import { takesOnly } from '../schema/types-of.ts'

/** Deeper values are rejected: no parser reads them. */
const MAX_DEPTH = 32
const SURROGATE = /\p{Surrogate}/u

/**
 * Adds one argument to the pairs of a query string, spelt as the parser reads it. Null adds nothing.
 * @param shape - undefined for a value that no schema describes
 * @returns why the value cannot be sent, or undefined
 */
export function addToQuery (
  pairs: string[],
  name: string,
  value: unknown,
  shape: QueryShape | undefined,
  parser: QueryParser
): string | undefined {
  const types = shape?.types
  // A query string cannot express null; leaving the argument out comes closest.
  if (value === null) return undefined
  const own: Array<readonly [string, unknown]> = []
  const isArray = Array.isArray(value) && !takesOnly('object', types)
  // Without the argument the route may return more than the caller meant.
  if (isArray && value.length === 0) {
    return shape?.hasEmptyDefault
      ? undefined
      : 'must not be an empty array, which a query string cannot hold. Leaving it out may mean something else'
  }
  if (isArray && value.includes(null)) return 'must not hold null, which a query string cannot'
  const nests = isArray
    ? parser.brackets
    : isObject(value) && parser.nests && (types === undefined || types.has('object'))
  if (nests) {
    if (!nest(own, name, value, 0)) return 'is nested too deeply'
  } else {
    for (const item of isArray ? value : [value]) own.push([name, item])
  }
  const texts: string[] = []
  for (const [key, item] of own) {
    const text = typeof item === 'object' ? jsonText(item) : String(item)
    if (text === undefined) return `holds ${TOO_LARGE}`
    if (SURROGATE.test(text) || SURROGATE.test(key)) return 'is not valid Unicode'
    texts.push(`${encodeURIComponent(key)}=${encodeURIComponent(text)}`)
  }
  // Parsers have limits of their own, and drop or rearrange what is beyond them.
  if (nests && !isSame(parser.parse(texts.join('&'))[name], value)) {
    return 'cannot be sent: the server would read a query string of this size or shape differently. Empty arrays, ' +
      'empty objects and null cannot be part of it'
  }
  for (const text of texts) pairs.push(text)
  return undefined
}

/** Spells arrays and objects with brackets, as in `a[b][]=x`. */
function nest (own: Array<readonly [string, unknown]>, key: string, value: unknown, depth: number): boolean {
  if (depth > MAX_DEPTH) return false
  if (Array.isArray(value)) {
    const plain = value.every((item) => typeof item !== 'object')
    return value.every((item, index) => nest(own, plain ? `${key}[]` : `${key}[${index}]`, item, depth + 1))
  }
  if (isObject(value)) {
    return Object.entries(value).every(([name, item]) => nest(own, `${key}[${name}]`, item, depth + 1))
  }
  own.push([key, value])
  return true
}

export const TOO_LARGE = 'an integer that is too large for JSON. Send it as a string'

/** The JSON of a value; undefined if there is a BigInt in it, which the JSON parser of a host may give. */
export function jsonText (value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
