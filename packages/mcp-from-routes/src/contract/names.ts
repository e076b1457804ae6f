import { isObject, type JsonSchema } from '../schema/json-schema.ts'
import { canonical, type Document } from './document.ts'
import { factsOf, schemasIn, textsIn, unionsOf } from './facts.ts'
import { everyOther, inItem, inProperty } from './comparison.ts'

/** What a schema says of a property that it names. */
export interface Named {
  /** What it says of the value, in each place where it says something. */
  readonly schemas: readonly JsonSchema[]
  readonly required: boolean
  /** Whether no branch of a union goes without it. */
  readonly always: boolean
}

/** A property that one of two schemas names, or both. */
export interface NamedPair {
  readonly path: string
  readonly name: string
  /** `other` is an item of a list, or a property without a name, and stands on both sides. */
  readonly kind: 'property' | 'tuple' | 'other'
  readonly before: Named | undefined
  readonly after: Named | undefined
}

/** Places that are looked at before the answer is that there are too many. */
const BUDGET = 10_000

/**
 * Goes through two schemas side by side, wherever both describe something, and gives the properties that they name.
 * @returns outer ones first; undefined when there are too many to go through
 */
export function namedPairs (before: Document, after: Document): readonly NamedPair[] | undefined {
  const pairs: NamedPair[] = []
  let budget = BUDGET
  const isShared = canonical(before.root.$defs) === canonical(after.root.$defs)
  visit([before.root], [after.root], '', [])
  return budget > 0 ? pairs : undefined

  function visit (old: readonly unknown[], now: readonly unknown[], path: string, outer: readonly string[]): void {
    // What has stayed the same has nothing to show.
    if (isShared && canonical(old) === canonical(now)) return
    const [olds, news] = [
      old.flatMap((schema) => partsOf(schema, before, [])),
      now.flatMap((schema) => partsOf(schema, after, []))
    ]
    const key = canonical([olds, news])
    // The same pair inside itself has nothing new to show.
    if (olds.length === 0 || news.length === 0 || outer.includes(key) || budget-- <= 0) return
    const deeper = [...outer, key]
    const both = (next: (part: JsonSchema) => readonly unknown[], place: string, kind?: 'tuple' | 'other'): void => {
      const [was, is] = [olds.flatMap(next), news.flatMap(next)]
      const [earlier, later] = kind === undefined
        ? [[], []]
        : [was.flatMap((part) => partsOf(part, before, [])), is.flatMap((part) => partsOf(part, after, []))]
      if (kind !== undefined && earlier.length > 0 && later.length > 0) {
        pairs.push({
          path: place,
          name: '',
          kind,
          before: { schemas: earlier, required: false, always: false },
          after: { schemas: later, required: false, always: false }
        })
      }
      visit(was, is, place, deeper)
    }
    for (const name of new Set([...olds, ...news].flatMap(({ properties }) => [...schemasIn(properties).keys()]))) {
      // One that has stayed the same has nothing to show either.
      if (isShared && canonical(valuesIn(olds, name)) === canonical(valuesIn(news, name))) continue
      const place = inProperty(path, name)
      const pair = {
        path: place,
        name,
        kind: 'property',
        before: namedIn(olds, name, before, old),
        after: namedIn(news, name, after, now)
      } as const
      if (pair.before !== undefined || pair.after !== undefined) pairs.push(pair)
      both(({ properties }) => valuesAt(properties, name), place)
    }
    both(({ items, contains }) => [items, contains], inItem(path), 'other')
    const length = Math.max(
      ...[...olds, ...news].map(({ prefixItems }) => Array.isArray(prefixItems) ? prefixItems.length : 0)
    )
    for (let index = 0; index < length; index++) {
      both(
        (
          { prefixItems, items }
        ) => [Array.isArray(prefixItems) && index < prefixItems.length ? prefixItems[index] : items],
        inItem(path, index),
        'tuple'
      )
    }
    both(
      ({ additionalProperties, patternProperties }) => [additionalProperties, ...schemasIn(patternProperties).values()],
      everyOther(path),
      'other'
    )
  }
}

function valuesAt (properties: unknown, name: string): readonly unknown[] {
  const map = schemasIn(properties)
  return map.has(name) ? [map.get(name)] : []
}

function valuesIn (parts: readonly JsonSchema[], name: string): readonly unknown[] {
  return parts.flatMap(({ properties }) => valuesAt(properties, name))
}

function namedIn (
  parts: readonly JsonSchema[],
  name: string,
  document: Document,
  whole: readonly unknown[]
): Named | undefined {
  const own = valuesIn(parts, name).filter((schema) => schema !== false)
  if (own.length === 0) return undefined
  return {
    schemas: own.flatMap((schema) => partsOf(schema, document, [])),
    required: parts.some(({ required }) => textsIn(required).includes(name)),
    always: factsOf(whole, document)?.some(({ required }) => textsIn(required).includes(name)) ?? false
  }
}

/** The schema and all that says something about the same value: references, unions, conditions. */
function partsOf (schema: unknown, document: Document, followed: readonly string[]): readonly JsonSchema[] {
  if (schema === true) return [{}]
  if (!isObject(schema)) return []
  const { $ref, allOf, then, else: otherwise, dependentSchemas } = schema
  const beside = [allOf, then, otherwise].flat().filter(isObject)
  const more = [...beside, ...unionsOf(schema).flat(), ...schemasIn(dependentSchemas).values()].flatMap((part) =>
    partsOf(part, document, followed)
  )
  if (typeof $ref !== 'string' || followed.includes($ref)) return [schema, ...more]
  return [schema, ...more, ...partsOf(document.resolve($ref), document, [...followed, $ref])]
}
