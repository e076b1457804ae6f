import fc from 'fast-check'
import t from 'tap'
import { compact } from '../src/tool/compact.ts'
import type { JsonSchema } from '../src/index.ts'
import { validatorOf, value, valuesIn, whole } from './arbitrary.ts'

const SEED = Number(process.env.COMPACT_SEED ?? 20_260_728)
const RUNS = Number(process.env.COMPACT_RUNS ?? 300)

const long = { type: 'object', properties: { street: { type: 'string', description: 'with the number of the house' }, town: { type: 'string' } } }
const kept = { $ref: '#/$defs/Address' }
const loop = { $ref: '#/$defs/Loop' }
/** A schema of so many characters. Two of 64 take as much space as one and two references to it. */
const ofLength = (length: number): JsonSchema => ({ description: 'x'.repeat(length - 18) })

const cases: Array<{ title: string, from: JsonSchema, gives: unknown }> = [
  { title: 'what is used once stands in place of its reference', from: { items: kept, $defs: { Address: long } }, gives: { items: long } },
  { title: 'what is used more often is shared', from: { prefixItems: [kept, kept], $defs: { Address: long } }, gives: { prefixItems: [kept, kept], $defs: { Address: long } } },
  { title: 'unless it is hardly longer than the reference', from: { prefixItems: [kept, kept], $defs: { Address: { type: 'string', maxLength: 9 } } }, gives: { prefixItems: [{ type: 'string', maxLength: 9 }, { type: 'string', maxLength: 9 }] } },
  { title: 'unless it is as long as that, beside what has to be shared', from: { prefixItems: [kept, kept, loop], $defs: { Address: ofLength(64), Loop: { items: loop } } }, gives: { prefixItems: [ofLength(64), ofLength(64), loop], $defs: { Loop: { items: loop } } } },
  { title: 'but not if it is longer', from: { prefixItems: [kept, kept, loop], $defs: { Address: ofLength(65), Loop: { items: loop } } }, gives: { prefixItems: [kept, kept, loop], $defs: { Address: ofLength(65), Loop: { items: loop } } } },
  { title: 'or the whole is hardly longer without any reference', from: { prefixItems: [kept, kept], description: 'x'.repeat(1200), $defs: { Address: long } }, gives: { prefixItems: [long, long], description: 'x'.repeat(1200) } },
  { title: 'a tenth longer is hardly', from: { prefixItems: [kept, kept], description: 'x'.repeat(34), $defs: { Address: ofLength(97) } }, gives: { prefixItems: [ofLength(97), ofLength(97)], description: 'x'.repeat(34) } },
  { title: 'more is not', from: { prefixItems: [kept, kept], description: 'x'.repeat(33), $defs: { Address: ofLength(97) } }, gives: { prefixItems: [kept, kept], description: 'x'.repeat(33), $defs: { Address: ofLength(97) } } },
  { title: 'a reference that leads nowhere stays', from: { items: kept, $defs: {} }, gives: { items: kept } },
  { title: 'what nothing uses is left out', from: { type: 'string', $defs: { Address: long, Other: kept } }, gives: { type: 'string' } },
  { title: 'a circle stays a reference', from: { ...kept, $defs: { Address: { properties: { next: kept } } } }, gives: { ...kept, $defs: { Address: { properties: { next: kept } } } } },
  { title: 'a circle of two has one definition', from: { $ref: '#/$defs/Even', $defs: { Even: { items: { $ref: '#/$defs/Odd' } }, Odd: { items: { $ref: '#/$defs/Even' } } } }, gives: { $ref: '#/$defs/Even', $defs: { Even: { items: { items: { $ref: '#/$defs/Even' } } } } } },
  { title: 'annotations beside a reference win', from: { ...kept, description: 'D', $defs: { Address: { type: 'string', description: 'E', title: 'T' } } }, gives: { type: 'string', description: 'D', title: 'T' } },
  { title: 'constraints beside a reference are added', from: { ...kept, minLength: 1, $defs: { Address: { type: 'string' } } }, gives: { type: 'string', minLength: 1 } },
  { title: 'one that both have holds twice', from: { ...kept, minLength: 1, $defs: { Address: { type: 'string', minLength: 2 } } }, gives: { minLength: 1, allOf: [{ type: 'string', minLength: 2 }] } },
  { title: 'a closed object stays closed', from: { ...kept, properties: { b: {} }, $defs: { Address: { properties: { a: {} }, additionalProperties: false } } }, gives: { properties: { b: {} }, allOf: [{ properties: { a: {} }, additionalProperties: false }] } },
  { title: 'a condition stays one', from: { ...kept, then: { maxLength: 1 }, $defs: { Address: { if: { type: 'string' } } } }, gives: { then: { maxLength: 1 }, allOf: [{ if: { type: 'string' } }] } },
  { title: 'unevaluatedProperties beside a reference sees through it', from: { ...kept, properties: { b: {} }, unevaluatedProperties: false, $defs: { Address: { properties: { a: {} } } } }, gives: { properties: { b: {} }, unevaluatedProperties: false, allOf: [{ properties: { a: {} } }] } },
  { title: 'one in the target does not see what is beside', from: { ...kept, properties: { b: {} }, $defs: { Address: { unevaluatedProperties: false } } }, gives: { properties: { b: {} }, allOf: [{ unevaluatedProperties: false }] } },
  { title: 'an allOf beside a reference takes it in', from: { ...kept, allOf: [{ minLength: 1 }], $defs: { Address: { allOf: [{ maxLength: 3 }] } } }, gives: { allOf: [{ allOf: [{ maxLength: 3 }] }, { minLength: 1 }] } }
]

for (const { title, from, gives } of cases) {
  t.test(title, async (t) => t.strictSame(compact(from), gives))
}

t.test('a shape that doubles at every level stays small', async (t) => {
  const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`L${n}`, n === 0 ? { type: 'string' } : { type: 'object', properties: { a: { $ref: `#/$defs/L${n - 1}` }, b: { $ref: `#/$defs/L${n - 1}` } } }]))
  const schema = { $ref: '#/$defs/L39', $defs }
  t.ok(JSON.stringify(compact(schema)).length <= JSON.stringify(schema).length)
})

t.test(`it judges every value as before, and is hardly longer (seed ${SEED})`, async (t) => {
  const seen = { schemas: 0, valid: 0, invalid: 0 }
  const report = fc.check(fc.property(whole, fc.array(value, { minLength: 20, maxLength: 20 }), (...given) => {
    const [schema, values] = JSON.parse(JSON.stringify(given)) as typeof given
    const short = compact(schema)
    const [wanted, found] = [validatorOf(schema), validatorOf(short)]
    // The code that Ajv writes for some schemas does not run, in either form.
    if (wanted === undefined || found === undefined) return
    seen.schemas += 1
    if (JSON.stringify(short).length > 1.1 * JSON.stringify(schema).length) throw new Error(`${JSON.stringify(schema)} grows to ${JSON.stringify(short)}`)
    for (const one of [...values, ...valuesIn(schema)]) {
      const verdict = wanted(one)
      seen[verdict ? 'valid' : 'invalid'] += 1
      if (found(one) !== verdict) throw new Error(`${JSON.stringify(one)} is ${verdict ? 'valid' : 'invalid'} for ${JSON.stringify(schema)}, not for ${JSON.stringify(short)}`)
    }
  }), { seed: SEED, numRuns: RUNS })
  t.comment(JSON.stringify(seen))
  if (report.failed) t.fail(`seed ${report.seed}, path ${report.counterexamplePath}: ${String(report.errorInstance)}`)
  t.ok(seen.schemas > RUNS / 4 && seen.valid > RUNS && seen.invalid > RUNS, 'enough values were judged')
})
