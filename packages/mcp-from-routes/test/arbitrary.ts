import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import type { JsonSchema } from '../src/index.ts'

// Few names and values, so that instances meet the schemas.
const name = fc.constantFrom('a', 'b', 'x-c')
const names = fc.uniqueArray(name, { maxLength: 2 })
const size = fc.integer({ min: 0, max: 3 })
const scalar = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, '', 'a', 'ab', 'abc', 'x-c', 'é1'),
  fc.integer({ min: -3, max: 7 }),
  fc.constantFrom(0.5, 2.5, -1.5)
)
export const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 3, depthSize: 'small' }, { weight: 4, arbitrary: scalar }, {
    weight: 2,
    arbitrary: fc.array(tie('value'), { maxLength: 3 })
  }, { weight: 4, arbitrary: fc.dictionary(name, tie('value'), { maxKeys: 3 }) })
}))

const type = fc.constantFrom('null', 'boolean', 'object', 'array', 'string', 'integer', 'number')
const pattern = fc.constantFrom('^a', 'b$', '^x-', '[0-9]')
export const { schema } = fc.letrec<{ schema: unknown, keyword: Record<string, unknown> }>((tie) => {
  const sub = tie('schema')
  const list = fc.array(sub, { minLength: 1, maxLength: 3 })
  const one = (arbitraries: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> =>
    fc.record(arbitraries)
  return {
    keyword: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      one({ type }),
      one({ type: fc.uniqueArray(type, { minLength: 1, maxLength: 3 }) }),
      one({ type }),
      one({ const: value }),
      one({ enum: fc.uniqueArray(value, { minLength: 1, maxLength: 4, selector: (item) => JSON.stringify(item) }) }),
      one({ minimum: fc.constantFrom(-1, 0, 0.5, 2, 5) }),
      one({ maximum: fc.constantFrom(0, 2, 2.5, 5) }),
      one({ exclusiveMinimum: fc.constantFrom(-1, 0, 0.5, 2) }),
      one({ exclusiveMaximum: fc.constantFrom(0, 2, 2.5, 5) }),
      one({ multipleOf: fc.constantFrom(1, 2, 4, 0.5) }),
      one({ minLength: size }),
      one({ maxLength: size }),
      one({ pattern }),
      one({ format: fc.constantFrom('short', 'plain') }),
      one({ minItems: size }),
      one({ maxItems: size }),
      one({ uniqueItems: fc.boolean() }),
      one({ minProperties: size }),
      one({ maxProperties: size }),
      one({ required: names }),
      one({ dependentRequired: fc.dictionary(name, names, { maxKeys: 2 }) }),
      one({ properties: fc.dictionary(name, sub, { maxKeys: 3 }) }),
      one({ properties: fc.dictionary(name, sub, { maxKeys: 3 }), required: names }),
      one({
        properties: fc.dictionary(name, sub, { maxKeys: 3 }),
        additionalProperties: fc.constant(false),
        type: fc.constant('object')
      }),
      one({ additionalProperties: sub }),
      one({ patternProperties: fc.dictionary(pattern, sub, { maxKeys: 2 }) }),
      one({ propertyNames: sub }),
      one({
        patternProperties: fc.dictionary(pattern, sub, { minKeys: 1, maxKeys: 2 }),
        additionalProperties: sub,
        type: fc.constant('object')
      }),
      one({ dependentSchemas: fc.dictionary(name, sub, { maxKeys: 1 }) }),
      one({ items: sub }),
      one({ items: sub, type: fc.constant('array') }),
      one({ prefixItems: list }),
      one({ contains: sub }),
      one({ contains: sub, minContains: size, maxContains: size }),
      one({ unevaluatedProperties: sub }),
      one({ unevaluatedItems: sub }),
      one({ allOf: list }),
      one({ anyOf: list }),
      one({ oneOf: list }),
      one({ not: sub }),
      one({ if: sub, then: sub }),
      one({ if: sub, then: sub, else: sub }),
      one({ $ref: fc.constantFrom('#/$defs/A', '#/$defs/B', '#/$defs/C', '#') }),
      fc.constant({ description: 'D' }),
      fc.constant({ default: 1 })
    ),
    schema: fc.oneof({ maxDepth: 4, depthSize: 'small' }, { weight: 1, arbitrary: fc.boolean() }, {
      weight: 9,
      arbitrary: fc.array(tie('keyword'), { maxLength: 3 }).map((parts) => Object.assign({}, ...parts))
    })
  }
})

const definitions = fc.record({ A: schema, B: schema, C: schema })
/** A schema with the definitions that it may refer to. */
export const whole = fc.tuple(schema, definitions).map(([root, $defs]): JsonSchema => ({
  ...typeof root === 'object' ? root : {},
  ...root === false && { not: {} },
  $defs
}))

const ajv = new Ajv2020({
  strict: false,
  logger: false,
  addUsedSchema: false,
  formats: { short: (text: string) => text.length < 3, plain: /^[a-z]*$/ }
})
const PROBES = [null, 1, 'a', [], {}, { a: 1, b: 2, 'x-c': 3 }, [1, 2]]

/**
 * @returns undefined for what is no schema, or leads to itself without looking at a smaller value, which has no
 *   meaning; the validator, for a value with which that shows only then
 */
export function validatorOf (schema: JsonSchema): ((value: unknown) => boolean | undefined) | undefined {
  try {
    const validate = ajv.compile(schema)
    for (const probe of PROBES) validate(probe)
    return (value) => {
      try {
        return validate(value) === true
      } catch {
        return undefined
      }
    }
  } catch {
    return undefined
  } finally {
    ajv.removeSchema(schema)
  }
}

/** The values of a schema's enum, const and limits, as instances to try. */
export function valuesIn (schema: unknown): readonly unknown[] {
  const values: unknown[] = []
  const collect = (part: unknown): void => {
    values.push(part)
    if (typeof part === 'object' && part !== null) { for (const value of Object.values(part)) collect(value) }
  }
  collect(schema)
  return values
}
