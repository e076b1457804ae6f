import type { JsonSchema } from '../schema/json-schema.ts'
import { inside, saidIn, everyOther, inProperty, type Comparison, type Gap } from './comparison.ts'
import { factsOf, matches, numbersIn, schemasIn, textsIn, type Facts } from './facts.ts'

/** The gaps that one keyword about objects leaves. */
export function objectGaps (
  keyword: string,
  facts: Facts,
  schema: JsonSchema,
  path: string,
  comparison: Comparison
): readonly Gap[] {
  const limit = schema[keyword]
  const deeper = inside(comparison)
  switch (keyword) {
    // All three look at the same properties, so the first that is there looks for all.
    case 'properties':
      return [...namedGaps(facts, schema, path, deeper), ...otherGaps(facts, schema, path, deeper)]
    case 'patternProperties':
      return 'properties' in schema ? [] : objectGaps('properties', facts, schema, path, comparison)
    case 'additionalProperties':
      return 'properties' in schema || 'patternProperties' in schema
        ? []
        : objectGaps('properties', facts, schema, path, comparison)
    case 'required':
      return textsIn(limit).filter((name) => !requires(facts, name)).map((name) => ({
        path: inProperty(path, name),
        keyword,
        from: false,
        to: true,
        certain: true
      }))
    case 'minProperties':
      return leastProperties(facts) >= Number(limit)
        ? []
        : [{ path, keyword, from: saidIn(facts, keyword), to: limit, certain: true }]
    case 'maxProperties':
      return mostProperties(facts) <= Number(limit)
        ? []
        : [{ path, keyword, from: saidIn(facts, keyword), to: limit, certain: true }]
    case 'propertyNames':
      return nameGaps(facts, limit, path, deeper)
    case 'dependentRequired':
      return [...schemasIn(limit)].flatMap(([name, others]) =>
        dependentGaps(facts, name, textsIn(others), path, comparison)
      )
    default:
      return [...schemasIn(limit)].flatMap(([name, dependent]) =>
        isNever(facts, name, comparison)
          ? []
          : comparison.gapsIn([...facts, { required: [name] }], dependent, path, comparison)
      )
  }
}

/** The properties that either side names. */
function namedGaps (facts: Facts, schema: JsonSchema, path: string, comparison: Comparison): readonly Gap[] {
  const names = new Set([...facts, schema].flatMap(({ properties }) => [...schemasIn(properties).keys()]))
  return [...names].flatMap((name) => {
    const said = facts.flatMap((fact) => schemasFor(fact, name, true))
    if (comparison.namedOnly && said.length === 0 && facts.some(isRecord)) return []
    const known = factsOf(said, comparison.from)
    return known === undefined
      ? []
      : schemasFor(schema, name, false).flatMap((one) =>
        comparison.gapsIn(known, one, inProperty(path, name), comparison)
      )
  })
}

/**
 * What a schema says of the property.
 * @param unknown - what stands for a pattern that cannot be read: true where saying less is safe
 */
export function schemasFor (
  { properties, patternProperties, additionalProperties }: JsonSchema,
  name: string,
  unknown: boolean
): readonly unknown[] {
  const own = schemasIn(properties)
  const found = [...schemasIn(patternProperties)].map(([pattern, schema]) => ({
    schema,
    isMatch: matches(pattern, name)
  }))
  if (found.some(({ isMatch }) => isMatch === undefined)) return [unknown]
  const schemas = [
    ...own.has(name) ? [own.get(name)] : [],
    ...found.filter(({ isMatch }) => isMatch).map(({ schema }) => schema)
  ]
  return schemas.length > 0 || additionalProperties === undefined ? schemas : [additionalProperties]
}

/** Whether an object has names and leaves others open without a word: it is no map. */
function isRecord (
  { properties, patternProperties, additionalProperties, propertyNames, unevaluatedProperties }: JsonSchema
): boolean {
  return schemasIn(properties).size > 0 &&
    [patternProperties, additionalProperties, propertyNames, unevaluatedProperties].every((keyword) =>
      keyword === undefined
    )
}

/** The properties that neither side names. */
function otherGaps (
  facts: Facts,
  { patternProperties, additionalProperties = true }: JsonSchema,
  path: string,
  comparison: Comparison
): readonly Gap[] {
  const patterns = schemasIn(patternProperties)
  const gaps = (known: readonly unknown[], schema: unknown): readonly Gap[] => {
    const others = factsOf(known, comparison.from)
    return others === undefined ? [] : comparison.gapsIn(others, schema, everyOther(path), comparison)
  }
  return [
    ...[...patterns].flatMap(([pattern, schema]) =>
      gaps(facts.map((fact) => schemasIn(fact.patternProperties).get(pattern) ?? otherwise(fact, new Set())), schema)
    ),
    ...gaps(facts.map((fact) => otherwise(fact, patterns)), additionalProperties)
  ]
}

/** What a schema says of a property that it does not name and that none of the patterns matches. */
function otherwise (
  { patternProperties, additionalProperties = true }: JsonSchema,
  patterns: { has: (pattern: string) => boolean }
): unknown {
  const more = [...schemasIn(patternProperties)].filter(([pattern]) => !patterns.has(pattern)).map(([, schema]) =>
    schema
  )
  return more.length === 0 ? additionalProperties : { anyOf: [additionalProperties, ...more] }
}

function requires (facts: Facts, name: string): boolean {
  return facts.some(({ required }) => textsIn(required).includes(name))
}

/** Whether the property cannot be there. */
function isNever (facts: Facts, name: string, { from }: Comparison): boolean {
  return factsOf(facts.flatMap((fact) => schemasFor(fact, name, true)), from) === undefined
}

function leastProperties (facts: Facts): number {
  return Math.max(
    new Set(facts.flatMap(({ required }) => textsIn(required))).size,
    ...numbersIn(facts, 'minProperties')
  )
}

function mostProperties (facts: Facts): number {
  const closed = facts.filter(isClosed).map(({ properties }) => schemasIn(properties).size)
  return Math.min(Infinity, ...closed, ...numbersIn(facts, 'maxProperties'))
}

/** Whether the schema lists every name there can be. */
function isClosed ({ additionalProperties, patternProperties }: JsonSchema): boolean {
  return additionalProperties === false && schemasIn(patternProperties).size === 0
}

function nameGaps (facts: Facts, schema: unknown, path: string, comparison: Comparison): readonly Gap[] {
  const listed = facts.filter(isClosed).map(({ properties }) => ({ enum: [...schemasIn(properties).keys()] }))
  const known = factsOf([...facts.flatMap(({ propertyNames = true }) => [propertyNames]), ...listed, {
    type: 'string'
  }], comparison.from)
  const gaps = known === undefined ? [] : comparison.gapsIn(known, schema, path, comparison)
  return gaps.length === 0
    ? []
    : [{
      path,
      keyword: 'propertyNames',
      from: saidIn(facts, 'propertyNames'),
      to: schema,
      certain: gaps.every(({ certain }) => certain)
    }]
}

function dependentGaps (
  facts: Facts,
  name: string,
  others: readonly string[],
  path: string,
  comparison: Comparison
): readonly Gap[] {
  if (isNever(facts, name, comparison)) return []
  const missing = others.filter((other) =>
    !requires(facts, other) &&
    !facts.some(({ dependentRequired }) => textsIn(schemasIn(dependentRequired).get(name)).includes(other))
  )
  return missing.length === 0
    ? []
    : [{
      path: inProperty(path, name),
      keyword: 'dependentRequired',
      from: saidIn(facts, 'dependentRequired'),
      to: missing,
      certain: true
    }]
}
