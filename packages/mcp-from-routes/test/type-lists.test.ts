import fc from 'fast-check'
import t from 'tap'
import type { JsonSchema } from '../src/tool/json-schema.ts'
import { withoutTypeLists } from '../src/tool/type-lists.ts'
import { validatorOf, value, valuesIn, whole } from './arbitrary.ts'

const SEED = Number(process.env.TYPES_SEED ?? 20_260_728)
const RUNS = Number(process.env.TYPES_RUNS ?? 300)

const cases: Array<{ title: string, from: JsonSchema, gives: unknown }> = [
  { title: 'a type beside null takes its keywords along', from: { type: ['string', 'null'], minLength: 1, format: 'uuid', description: 'D', default: null }, gives: { description: 'D', default: null, anyOf: [{ type: 'string', minLength: 1, format: 'uuid' }, { type: 'null' }] } },
  { title: 'each of several types takes its own', from: { type: ['string', 'integer', 'boolean'], maxLength: 9, minimum: 0 }, gives: { anyOf: [{ type: 'string', maxLength: 9 }, { type: 'integer', minimum: 0 }, { type: 'boolean' }] } },
  { title: 'a format of several types stays beside them', from: { type: ['string', 'integer'], format: 'int64' }, gives: { format: 'int64', anyOf: [{ type: 'string' }, { type: 'integer' }] } },
  { title: 'a closed object stays closed', from: { type: ['object', 'null'], properties: { a: {} }, additionalProperties: false }, gives: { anyOf: [{ type: 'object', properties: { a: {} }, additionalProperties: false }, { type: 'null' }] } },
  { title: 'what sees all properties stays outside', from: { type: ['object', 'null'], properties: { a: {} }, unevaluatedProperties: false }, gives: { unevaluatedProperties: false, anyOf: [{ type: 'object', properties: { a: {} } }, { type: 'null' }] } },
  { title: 'listed values go to their types', from: { type: ['string', 'null'], enum: ['a', 'b', null] }, gives: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }] } },
  { title: 'a type of which no value is listed goes', from: { type: ['string', 'null'], enum: ['a'] }, gives: { type: 'string', enum: ['a'] } },
  { title: 'a list of one is that type', from: { type: ['string'], maxLength: 1 }, gives: { maxLength: 1, type: 'string' } },
  { title: 'integers are numbers', from: { type: ['integer', 'number'] }, gives: { type: 'number' } },
  { title: 'a list of all types says nothing', from: { type: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'], maxLength: 3 }, gives: { maxLength: 3 } },
  { title: 'a union that is there already stays', from: { type: ['string', 'null'], anyOf: [{ minLength: 1 }] }, gives: { anyOf: [{ minLength: 1 }], allOf: [{ anyOf: [{ type: 'string' }, { type: 'null' }] }] } },
  { title: 'subschemas and definitions are rewritten, data is not', from: { properties: { type: { items: { type: ['string', 'null'] } } }, default: { type: ['a', 'b'] }, $defs: { A: { type: ['null', 'boolean'] } } }, gives: { properties: { type: { items: { anyOf: [{ type: 'string' }, { type: 'null' }] } } }, default: { type: ['a', 'b'] }, $defs: { A: { anyOf: [{ type: 'null' }, { type: 'boolean' }] } } } }
]

const KEYWORDS = {
  array: ['contains', 'items', 'maxContains', 'maxItems', 'minContains', 'minItems', 'prefixItems', 'uniqueItems'],
  number: ['exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum', 'multipleOf'],
  integer: ['exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum', 'multipleOf'],
  object: ['additionalProperties', 'dependentRequired', 'dependentSchemas', 'maxProperties', 'minProperties', 'patternProperties', 'properties', 'propertyNames', 'required'],
  string: ['contentEncoding', 'contentMediaType', 'contentSchema', 'maxLength', 'minLength', 'pattern'],
  boolean: []
}
const VALUES = ['a', 1, 1.5, null, true, { a: 1 }, [1]]
const OF_TYPE = { array: [[1]], boolean: [true], integer: [1], number: [1, 1.5], object: [{ a: 1 }], string: ['a'] }

t.test('each type takes its keywords and values along, and no others', async (t) => {
  for (const [type, keywords] of Object.entries(KEYWORDS)) {
    for (const keyword of [...new Set(Object.values(KEYWORDS).flat())]) {
      const isOwn = keywords.includes(keyword as never)
      t.strictSame(withoutTypeLists({ type: [type, 'null'], [keyword]: 1 }), { ...!isOwn && { [keyword]: 1 }, anyOf: [{ type, ...isOwn && { [keyword]: 1 } }, { type: 'null' }] }, `${type} ${keyword}`)
    }
  }
  for (const [type, values] of Object.entries(OF_TYPE)) t.strictSame(withoutTypeLists({ type: [type, 'null'], enum: VALUES }), { anyOf: [{ type, enum: values }, { type: 'null' }] }, type)
  const [others, string, nothing] = [['array', 'boolean', 'integer', 'null', 'object', 'string'], { type: 'string' }, { type: 'null' }]
  for (const [from, gives] of [
    [{ type: others }, { anyOf: others.map((type) => ({ type })) }],
    [{ type: ['string', 'null', 'string'] }, { anyOf: [string, nothing] }],
    [{ type: ['integer', 'null', 'number'] }, { anyOf: [nothing, { type: 'number' }] }],
    [{ type: ['string', 'null'], enum: [null] }, nothing],
    [{ type: ['string', 'null'], enum: ['a'], title: 'T' }, { ...string, enum: ['a'], title: 'T' }],
    [{ type: ['string'], enum: ['a', 1] }, { ...string, enum: ['a', 1] }],
    [{ type: ['string', 'integer', 'null'], format: 'int64' }, { format: 'int64', anyOf: [string, { type: 'integer' }, nothing] }],
    [{ type: ['string', 'null'], enum: [1] }, { type: ['string', 'null'], enum: [1] }],
    [{ type: ['string', 'null'], enum: [] }, { type: ['string', 'null'], enum: [] }],
    [{ type: ['null', 'integer'], format: 'int64' }, { anyOf: [nothing, { type: 'integer', format: 'int64' }] }],
    [{ type: ['string', 'null'], anyOf: [{}], allOf: [{ title: 'T' }] }, { anyOf: [{}], allOf: [{ title: 'T' }, { anyOf: [string, nothing] }] }]
  ]) t.strictSame(withoutTypeLists(from as JsonSchema), gives, JSON.stringify(from))
})

for (const { title, from, gives } of cases) {
  t.test(title, async (t) => {
    t.strictSame(withoutTypeLists(from), gives)
    t.strictSame(withoutTypeLists(withoutTypeLists(from)), gives, 'and stays so')
  })
}

t.test(`both spellings judge every value alike (seed ${SEED})`, async (t) => {
  const seen = { lists: 0, valid: 0, invalid: 0 }
  const report = fc.check(fc.property(whole, fc.array(value, { minLength: 20, maxLength: 20 }), (...given) => {
    const [schema, values] = JSON.parse(JSON.stringify(given)) as typeof given
    const single = withoutTypeLists(schema)
    if (/"type":\[/.test(JSON.stringify(schema))) seen.lists += 1
    const [wanted, found] = [validatorOf(schema), validatorOf(single)]
    // The code that Ajv writes for some schemas does not run, in either form.
    if (wanted === undefined || found === undefined) return
    for (const one of [...values, ...valuesIn(schema)]) {
      const verdict = wanted(one)
      seen[verdict ? 'valid' : 'invalid'] += 1
      if (found(one) !== verdict) throw new Error(`${JSON.stringify(one)} is ${verdict ? 'valid' : 'invalid'} for ${JSON.stringify(schema)}, not for ${JSON.stringify(single)}`)
    }
  }), { seed: SEED, numRuns: RUNS })
  t.comment(JSON.stringify(seen))
  if (report.failed) t.fail(`seed ${report.seed}, path ${report.counterexamplePath}: ${String(report.errorInstance)}`)
  t.ok(seen.lists > RUNS / 10 && seen.valid > RUNS && seen.invalid > RUNS, 'enough values were judged')
})
