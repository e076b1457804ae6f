import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import t from 'tap'
import { diffContracts } from '../../src/contract/index.ts'
import { isObject } from '../../src/json-schema.ts'
import type { JsonSchema } from '../../src/json-schema.ts'

// The seed makes a failure repeatable; set CONTRACT_SEED to try others, and CONTRACT_RUNS for more of them.
const SEED = Number(process.env.CONTRACT_SEED ?? 20_260_728)
const RUNS = Number(process.env.CONTRACT_RUNS ?? 2500)

// Few names and values, so that instances meet the schemas.
const name = fc.constantFrom('a', 'b', 'x-c')
const names = fc.uniqueArray(name, { maxLength: 2 })
const size = fc.integer({ min: 0, max: 3 })
const scalar = fc.oneof(fc.constantFrom<unknown>(null, true, false, '', 'a', 'ab', 'abc', 'x-c', 'é1'), fc.integer({ min: -3, max: 7 }), fc.constantFrom(0.5, 2.5, -1.5))
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 3, depthSize: 'small' },
    { weight: 4, arbitrary: scalar },
    { weight: 2, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    { weight: 4, arbitrary: fc.dictionary(name, tie('value'), { maxKeys: 3 }) })
}))

const type = fc.constantFrom('null', 'boolean', 'object', 'array', 'string', 'integer', 'number')
const pattern = fc.constantFrom('^a', 'b$', '^x-', '[0-9]')
const { schema } = fc.letrec<{ schema: unknown, keyword: Record<string, unknown> }>((tie) => {
  const sub = tie('schema')
  const list = fc.array(sub, { minLength: 1, maxLength: 3 })
  const one = (arbitraries: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> => fc.record(arbitraries)
  return {
    keyword: fc.oneof({ maxDepth: 4, depthSize: 'small' },
      one({ type }), one({ type: fc.uniqueArray(type, { minLength: 1, maxLength: 3 }) }), one({ type }),
      one({ const: value }), one({ enum: fc.uniqueArray(value, { minLength: 1, maxLength: 4, selector: (item) => JSON.stringify(item) }) }),
      one({ minimum: fc.constantFrom(-1, 0, 0.5, 2, 5) }), one({ maximum: fc.constantFrom(0, 2, 2.5, 5) }),
      one({ exclusiveMinimum: fc.constantFrom(-1, 0, 0.5, 2) }), one({ exclusiveMaximum: fc.constantFrom(0, 2, 2.5, 5) }),
      one({ multipleOf: fc.constantFrom(1, 2, 4, 0.5) }),
      one({ minLength: size }), one({ maxLength: size }), one({ pattern }), one({ format: fc.constantFrom('short', 'plain') }),
      one({ minItems: size }), one({ maxItems: size }), one({ uniqueItems: fc.boolean() }), one({ minProperties: size }), one({ maxProperties: size }),
      one({ required: names }), one({ dependentRequired: fc.dictionary(name, names, { maxKeys: 2 }) }),
      one({ properties: fc.dictionary(name, sub, { maxKeys: 3 }) }), one({ properties: fc.dictionary(name, sub, { maxKeys: 3 }), required: names }),
      one({ properties: fc.dictionary(name, sub, { maxKeys: 3 }), additionalProperties: fc.constant(false), type: fc.constant('object') }),
      one({ additionalProperties: sub }), one({ patternProperties: fc.dictionary(pattern, sub, { maxKeys: 2 }) }), one({ propertyNames: sub }),
      one({ patternProperties: fc.dictionary(pattern, sub, { minKeys: 1, maxKeys: 2 }), additionalProperties: sub, type: fc.constant('object') }),
      one({ dependentSchemas: fc.dictionary(name, sub, { maxKeys: 1 }) }),
      one({ items: sub }), one({ items: sub, type: fc.constant('array') }), one({ prefixItems: list }), one({ contains: sub }),
      one({ contains: sub, minContains: size, maxContains: size }), one({ unevaluatedProperties: sub }), one({ unevaluatedItems: sub }),
      one({ allOf: list }), one({ anyOf: list }), one({ oneOf: list }), one({ not: sub }),
      one({ if: sub, then: sub }), one({ if: sub, then: sub, else: sub }),
      one({ $ref: fc.constantFrom('#/$defs/A', '#/$defs/B', '#/$defs/C', '#') }),
      fc.constant({ description: 'D' }), fc.constant({ default: 1 })),
    schema: fc.oneof({ maxDepth: 4, depthSize: 'small' },
      { weight: 1, arbitrary: fc.boolean() },
      { weight: 9, arbitrary: fc.array(tie('keyword'), { maxLength: 3 }).map((parts) => Object.assign({}, ...parts)) })
  }
})

const definitions = fc.record({ A: schema, B: schema, C: schema })
const whole = fc.tuple(schema, definitions).map(([root, $defs]): JsonSchema => ({ ...typeof root === 'object' ? root : root ? {} : { not: {} }, $defs }))

/** A place in a schema and what to do there: a change as people make them. */
const change = fc.tuple(fc.nat(), fc.nat(), schema)

/** Some subschemas of the schema take, lose or change a keyword. */
function changed (before: JsonSchema, changes: ReadonlyArray<readonly [number, number, unknown]>): JsonSchema {
  const after = JSON.parse(JSON.stringify(before))
  for (const [place, how, other] of changes) {
    const objects: Array<Record<string, unknown>> = []
    const collect = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return
      if (!Array.isArray(node)) objects.push(node as Record<string, unknown>)
      Object.values(node).forEach(collect)
    }
    collect(after)
    const target = objects[place % objects.length] as Record<string, unknown>
    const keywords = Object.keys(target).filter((key) => key !== '$defs')
    const victim = keywords[how % Math.max(1, keywords.length)]
    const kind = how % 7
    if (kind < 3 && typeof other === 'object') Object.assign(target, other)
    else if (kind === 3 && victim !== undefined) delete target[victim]
    else if (victim !== undefined && typeof target[victim] === 'number') target[victim] = Math.max(kind === 4 ? 0 : 1, target[victim] + (kind === 5 ? 1 : -1))
    else if (victim !== undefined && Array.isArray(target[victim])) (kind === 5 ? target[victim].push(other) : target[victim].pop())
    else if (victim !== undefined) delete target[victim]
  }
  return after
}

const pair = fc.oneof(
  { weight: 1, arbitrary: fc.tuple(whole, whole) },
  { weight: 5, arbitrary: fc.tuple(whole, fc.array(change, { minLength: 1, maxLength: 3 })).map(([before, changes]): [JsonSchema, JsonSchema] => [before, changed(before, changes)]) })

const ajv = new Ajv2020({ strict: false, logger: false, addUsedSchema: false, formats: { short: (text: string) => text.length < 3, plain: /^[a-z]*$/ } })
const PROBES = [null, 1, 'a', [], {}, { a: 1, b: 2, 'x-c': 3 }, [1, 2]]

/** @returns undefined for what is no schema, or leads to itself without looking at a smaller value, which has no meaning */
function validatorOf (schema: JsonSchema): ((value: unknown) => boolean) | undefined {
  try {
    const validate = ajv.compile(schema)
    for (const probe of PROBES) validate(probe)
    return (value) => validate(value) === true
  } catch {
    return undefined
  } finally {
    ajv.removeSchema(schema)
  }
}

/** The values of a schema's enum, const and limits, as instances to try. */
function valuesIn (schema: unknown): readonly unknown[] {
  if (typeof schema !== 'object' || schema === null) return [schema]
  return [schema, ...Object.values(schema).flatMap(valuesIn)]
}

const tool = (inputSchema: JsonSchema, outputSchema: JsonSchema) => new Map([['t', { inputSchema, outputSchema }]])
const ANY: JsonSchema = { type: 'object' }

t.test(`nothing that breaks a caller is called compatible (seed ${SEED}, ${RUNS} pairs)`, async (t) => {
  const seen = { pairs: 0, compatible: 0, different: 0, tried: 0 }
  const report = fc.check(fc.property(pair, fc.array(value, { minLength: 40, maxLength: 40 }), (...given) => {
    // As if they had been read: plain objects, none without a prototype.
    const [[before, after], values] = JSON.parse(JSON.stringify(given)) as typeof given
    // Ajv takes [] for { contains, prefixItems }, against the specification, so it is no judge of those.
    if ([before, after].some((schema) => valuesIn(schema).some((part) => isObject(part) && 'contains' in part && 'prefixItems' in part))) return
    const [old, now] = [validatorOf(before), validatorOf(after)]
    if (old === undefined || now === undefined) return
    seen.pairs += 1
    const input = diffContracts(tool(before, ANY), tool(after, ANY)).bump !== 'major'
    // A result goes the other way.
    const output = diffContracts(tool(ANY, after), tool(ANY, before)).bump !== 'major'
    if (!input && !output) return
    seen.compatible += 1
    for (const value of [...values, ...valuesIn(before), ...valuesIn(after)]) {
      seen.tried += 1
      const [was, is] = [old(value), now(value)]
      if (was !== is) seen.different += 1
      if (was && !is) throw new Error(`${input ? 'input' : 'output'} called compatible, but ${JSON.stringify(value)} shows a break from ${JSON.stringify(before)} to ${JSON.stringify(after)}`)
    }
  }), { seed: SEED, numRuns: RUNS })
  t.comment(JSON.stringify(seen))
  if (report.failed) t.fail(`seed ${report.seed}, path ${report.counterexamplePath}: ${String(report.errorInstance)}`)
  t.ok(seen.compatible > seen.pairs / 20 && seen.different > 100, 'enough pairs were called compatible, and some of those do differ')
})
