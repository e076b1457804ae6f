import { attempt } from '../attempt.ts'
import { isObject, type JsonSchema } from '../schema/json-schema.ts'
import { ANY_TYPE, TYPE, typeOfValue, typesOfKeyword } from '../schema/type-bits.ts'
import { canonical, type Document } from './document.ts'

export { NUMBER, TYPE, typesOfKeyword } from '../schema/type-bits.ts'

/** Schemas that hold all at once. */
export type Facts = readonly JsonSchema[]

/**
 * The schemas as facts: what `$ref` and `allOf` lead to stands beside them, and is not to be looked up again. A
 * reference that leads nowhere says nothing.
 * @returns undefined when nothing can be valid
 */
export function factsOf (schemas: readonly unknown[], document: Document): Facts | undefined {
  const facts: JsonSchema[] = []
  const followed = new Set<string>()
  const add = (schema: unknown): boolean => {
    if (schema === false || (isObject(schema) && isEverything(schema.not))) return false
    if (!isObject(schema)) return true
    facts.push(schema)
    const { $ref, allOf } = schema
    if (typeof $ref === 'string' && !followed.has($ref)) {
      followed.add($ref)
      if (!add(document.resolve($ref))) return false
    }
    return !Array.isArray(allOf) || allOf.every(add)
  }
  return schemas.every(add) ? facts : undefined
}

function isEverything (schema: unknown): boolean {
  return schema === true || (isObject(schema) && Object.keys(schema).length === 0)
}

/** The types that a value with these facts may have, or more. */
export function typesOf (facts: Facts, document: Document, depth = 3): number {
  let bits = ANY_TYPE
  for (const fact of facts) {
    if (fact.type !== undefined) bits &= typesOfKeyword(fact.type, ANY_TYPE)
    if ('const' in fact) bits &= typeOfValue(fact.const)
    if (Array.isArray(fact.enum)) bits &= unionOf(fact.enum.map(typeOfValue))
    for (const union of unionsOf(fact)) {
      if (depth > 0) bits &= unionOf(union.map((branch) => typesOfSchema(branch, document, depth - 1)))
    }
  }
  return bits
}

function typesOfSchema (schema: unknown, document: Document, depth: number): number {
  const facts = factsOf([schema], document)
  return facts === undefined ? 0 : typesOf(facts, document, depth)
}

function unionOf (sets: readonly number[]): number {
  return sets.reduce((all, bits) => all | bits, 0)
}

/** The `anyOf` and `oneOf` of a schema: a value is valid for one of the members of each. */
export function unionsOf ({ anyOf, oneOf }: JsonSchema): ReadonlyArray<readonly unknown[]> {
  return [anyOf, oneOf].filter((union) => Array.isArray(union))
}

/**
 * All values that are valid, or a few more, when they can be listed; else undefined.
 * @param ranges - whether the whole numbers of a short range count as listed
 */
export function valuesOf (facts: Facts, document: Document, ranges = true): readonly unknown[] | undefined {
  const lists = facts.flatMap((
    fact
  ) => [...'const' in fact ? [[fact.const]] : [], ...Array.isArray(fact.enum) ? [fact.enum] : []])
  const types = typesOf(facts, document)
  const numbers = (): readonly number[] | undefined => ranges ? wholeNumbers(facts) : undefined
  const shortest = lists.toSorted((a, b) => a.length - b.length)[0] ??
    smallSet(types, types & TYPE.integer ? numbers() : [])
  return shortest?.filter((value) => !facts.some((fact) => refuses(fact, value)))
}

function smallSet (types: number, numbers: readonly number[] | undefined): readonly unknown[] | undefined {
  if (numbers === undefined || (types & ~(TYPE.null | TYPE.boolean | TYPE.integer)) !== 0) return undefined
  return [...types & TYPE.null ? [null] : [], ...types & TYPE.boolean ? [false, true] : [], ...numbers]
}

/** More whole numbers than this are a range, not a list. */
const LISTED = 200

/** The whole numbers of a range; undefined when it is open or long. */
function wholeNumbers (facts: Facts): readonly number[] | undefined {
  const least = Math.ceil(Math.max(...numbersIn(facts, 'minimum'), ...numbersIn(facts, 'exclusiveMinimum')))
  const most = Math.floor(Math.min(...numbersIn(facts, 'maximum'), ...numbersIn(facts, 'exclusiveMaximum')))
  if (!Number.isSafeInteger(least) || !Number.isSafeInteger(most) || most - least >= LISTED) return undefined
  return Array.from({ length: most - least + 1 }, (_, index) => least + index)
}

/** A schema for which only this value is valid, in which the parts of an array or object can be looked at. */
export function exactly (value: unknown): JsonSchema {
  if (Array.isArray(value)) {
    return {
      type: 'array',
      prefixItems: value.map(exactly),
      items: false,
      minItems: value.length,
      maxItems: value.length
    }
  }
  if (!isObject(value)) return { const: value }
  const properties = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, exactly(part)]))
  return { type: 'object', properties, required: Object.keys(value), additionalProperties: false }
}

/** Whether a keyword of the schema surely refuses the value. Looks at no subschema, so it may miss one. */
export function refuses (schema: JsonSchema, value: unknown): boolean {
  return Object.entries(schema).some(([keyword, limit]) => holds(keyword, limit, value) === false)
}

/** Whether the value keeps to one keyword without subschemas; undefined when that cannot be said. */
export function holds (keyword: string, limit: unknown, value: unknown): boolean | undefined {
  const text = typeof value === 'string' ? value : undefined
  const number = typeof value === 'number' ? value : undefined
  const list = Array.isArray(value) ? value : undefined
  const names = isObject(value) ? Object.keys(value) : undefined
  const most = Number(limit)
  switch (keyword) {
    case 'type':
      return (typeOfValue(value) & typesOfKeyword(limit, ANY_TYPE)) !== 0
    case 'const':
      return canonical(value) === canonical(limit)
    case 'enum':
      return Array.isArray(limit) ? limit.some((one) => canonical(one) === canonical(value)) : undefined
    case 'minimum':
      return number === undefined || number >= most
    case 'maximum':
      return number === undefined || number <= most
    case 'exclusiveMinimum':
      return number === undefined || number > most
    case 'exclusiveMaximum':
      return number === undefined || number < most
    case 'multipleOf':
      return number === undefined || Number.isInteger(number / most)
    case 'minLength':
      return text === undefined || [...text].length >= most
    case 'maxLength':
      return text === undefined || [...text].length <= most
    case 'pattern':
      return text === undefined || matches(String(limit), text)
    case 'minItems':
      return list === undefined || list.length >= most
    case 'maxItems':
      return list === undefined || list.length <= most
    case 'uniqueItems':
      return limit !== true || list === undefined || new Set(list.map(canonical)).size === list.length
    case 'minProperties':
      return names === undefined || names.length >= most
    case 'maxProperties':
      return names === undefined || names.length <= most
    case 'required':
      return names === undefined || textsIn(limit).every((name) => names.includes(name))
    case 'dependentRequired':
      return names === undefined || !isObject(limit) ||
        Object.entries(limit).every(([name, others]) =>
          !names.includes(name) || textsIn(others).every((other) => names.includes(other))
        )
    default:
      return undefined
  }
}

/** Whether a pattern is found in a text; undefined when it is no regular expression. */
export function matches (pattern: string, text: string): boolean | undefined {
  return attempt(() => new RegExp(pattern, 'u').test(text))
}

/** The texts of a list, such as that of `required`. */
export function textsIn (list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : []
}

/** The subschemas of a keyword such as `properties`, by name. */
export function schemasIn (map: unknown): ReadonlyMap<string, unknown> {
  if (!isObject(map)) return NONE
  const known = maps.get(map) ?? new Map(Object.entries(map))
  maps.set(map, known)
  return known
}

const NONE: ReadonlyMap<string, unknown> = new Map()
// They are looked up once for each of their names.
const maps = new WeakMap<object, ReadonlyMap<string, unknown>>()

export function numbersIn (facts: Facts, keyword: string): readonly number[] {
  return facts.map((fact) => fact[keyword]).filter((limit) => typeof limit === 'number')
}
