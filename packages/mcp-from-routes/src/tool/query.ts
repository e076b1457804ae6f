import { parse as parseQuery } from 'node:querystring'
import { isObject, type JsonSchema } from '../schema/json-schema.ts'
import type { AcceptsString } from './probe.ts'
import { takesOnly, typesOf } from '../schema/types-of.ts'

/** The forms that the host's `querystringParser` reads, found by trying some query strings. */
export interface QueryParser {
  readonly parse: (query: string) => Readonly<Record<string, unknown>>
  /** `a=x&a=y` is an array. */
  readonly repeats: boolean
  /** `a[]=x` is an array, also of one element. */
  readonly brackets: boolean
  /** `a[b]=x` is an object. */
  readonly nests: boolean
  /** `a={"b":"x"}` is an object. */
  readonly json: boolean
}

/** The types that the schema of an argument names; undefined when it names none. */
export type Types = ReadonlySet<string> | undefined

/** Asks a parser for the shapes it can read. */
export function queryParser (parse: QueryParser['parse']): QueryParser {
  const reads = (query: string, expected: unknown): boolean => isSame(parse(query).a, expected)
  return {
    parse,
    repeats: reads('a=x&a=y', ['x', 'y']),
    brackets: reads('a[]=x', ['x']) && reads('a[]=x&a[]=y', ['x', 'y']),
    nests: reads('a[b]=x', { b: 'x' }),
    json: reads(`a=${encodeURIComponent('{"b":"x"}')}`, { b: 'x' })
  }
}

/** Reads as Fastify's default parser does. */
export const PLAIN_PARSER = queryParser(parseQuery)

/** What the schema of a query argument says of its shape. */
export interface QueryShape {
  readonly types: Types
  /** Of the items of an array. */
  readonly itemTypes: Types
  readonly minItems: number
  /** The route takes the argument to be an empty array when it is left out. */
  readonly hasEmptyDefault: boolean
}

export function queryShape (schema: JsonSchema, root: JsonSchema): QueryShape {
  const { items, minItems } = schema
  return {
    types: typesOf(schema, root),
    itemTypes: typesOf(items, root),
    minItems: typeof minItems === 'number' ? minItems : 0,
    hasEmptyDefault: hasEmptyDefault(schema)
  }
}

/** Whether an argument that is left out is an empty array. */
export function hasEmptyDefault ({ default: value }: JsonSchema): boolean {
  return Array.isArray(value) && value.length === 0
}

/**
 * Why values of an argument would never arrive in the shape that its schema demands.
 * @param accepts - whether the route's validator takes a string for this argument
 * @param jsonQuery - whether the host parses JSON before it validates
 * @returns a problem and its remedy, or undefined when they arrive
 */
export function queryProblem (
  { types, itemTypes, minItems }: QueryShape,
  parser: QueryParser,
  accepts: AcceptsString,
  jsonQuery: boolean
): string | undefined {
  const isArray = takesOnly('array', types)
  if (isArray && !parser.brackets) {
    if (!parser.repeats) {
      return 'is an array, which the querystringParser of the app cannot read. Use one that can, such as qs'
    }
    if (minItems < 2 && accepts('array') === false) {
      return 'is an array, but an array of one element arrives as a string, which the validator rejects. Convert a ' +
        "string to an array in the schema, set coerceTypes: 'array' in ajv.customOptions, or use a " +
        'querystringParser that reads name[]=x, such as qs'
    }
  }
  const isObject = takesOnly('object', types) || (isArray && takesOnly('object', itemTypes))
  if (isObject && !parser.nests && !parser.json && !jsonQuery && accepts('object') === false) {
    return 'contains objects, which the querystringParser of the app cannot read. Use one that can, such as qs, or ' +
      'parse JSON in a preValidation hook and set the option jsonQuery'
  }
  if (typeof parser.parse('a=1').a !== 'string' || jsonQuery) return undefined
  return isArray
    ? scalarProblem(itemTypes, (type) => type === 'false' ? accepts(type) : undefined)
    : scalarProblem(types, accepts)
}

/** Why no value of an argument that is neither an array nor an object would pass, as a URL has only strings. */
export function scalarProblem (types: Types, accepts: AcceptsString): string | undefined {
  const type = (['boolean', 'integer', 'number'] as const).find((type) =>
    takesOnly(type, types) && accepts(type) === false
  )
  if (type === undefined && takesOnly('boolean', types) && accepts('false') === false) {
    return 'has the type boolean, but the validator reads "false" in a URL as true. Convert it in another way, in ' +
      'Zod by z.stringbool()'
  }
  return type &&
    `has the type ${type}, but arrives as a string, which the validator rejects. Convert it in the schema, in ` +
      `Zod by ${type === 'boolean' ? 'z.stringbool()' : 'z.coerce.number()'}, or set coerceTypes in ` +
      'ajv.customOptions'
}

/** Whether a parsed value is the one that was meant. All its scalars are strings. */
export function isSame (parsed: unknown, meant: unknown): boolean {
  if (Array.isArray(meant)) {
    return Array.isArray(parsed) && parsed.length === meant.length &&
      meant.every((item, index) => isSame(parsed[index], item))
  }
  if (!isObject(meant)) return meant !== null && parsed === String(meant)
  if (!isObject(parsed)) return false
  const names = Object.keys(meant)
  return Object.keys(parsed).length === names.length &&
    names.every((name) => Object.hasOwn(parsed, name) && isSame(parsed[name], meant[name]))
}
