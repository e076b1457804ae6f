import fc from 'fast-check'
import t from 'tap'
import { compact } from '../src/schema/compact.ts'
import { validatorOf, value, valuesIn, whole } from './arbitrary.ts'

const SEED = Number(process.env.COMPACT_SEED ?? 20_260_728)
const RUNS = Number(process.env.COMPACT_RUNS ?? 300)

t.test('a shape that doubles at every level stays small', async (t) => {
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [
      `L${n}`,
      n === 0
        ? { type: 'string' }
        : { type: 'object', properties: { a: { $ref: `#/$defs/L${n - 1}` }, b: { $ref: `#/$defs/L${n - 1}` } } }
    ])
  )
  const schema = { $ref: '#/$defs/L39', $defs }
  t.ok(JSON.stringify(compact(schema)).length <= JSON.stringify(schema).length)
})

t.test(`it judges every value as before, and is hardly longer (seed ${SEED})`, async (t) => {
  const seen = { schemas: 0, valid: 0, invalid: 0 }
  const report = fc.check(
    fc.property(whole, fc.array(value, { minLength: 20, maxLength: 20 }), (...given) => {
      const [schema, values] = JSON.parse(JSON.stringify(given)) as typeof given
      const short = compact(schema)
      const [wanted, found] = [validatorOf(schema), validatorOf(short)]
      // The code that Ajv writes for some schemas does not run, in either form.
      if (wanted === undefined || found === undefined) return
      seen.schemas += 1
      if (JSON.stringify(short).length > 1.1 * JSON.stringify(schema).length) {
        throw new Error(`${JSON.stringify(schema)} grows to ${JSON.stringify(short)}`)
      }
      for (const one of [...values, ...valuesIn(schema)]) {
        const verdict = wanted(one)
        seen[verdict ? 'valid' : 'invalid'] += 1
        if (found(one) !== verdict) {
          throw new Error(
            `${JSON.stringify(one)} is ${verdict ? 'valid' : 'invalid'} for ${JSON.stringify(schema)}, not for ` +
              `${JSON.stringify(short)}`
          )
        }
      }
    }),
    { seed: SEED, numRuns: RUNS }
  )
  t.comment(JSON.stringify(seen))
  if (report.failed) t.fail(`seed ${report.seed}, path ${report.counterexamplePath}: ${String(report.errorInstance)}`)
  t.ok(seen.schemas > RUNS / 4 && seen.valid > RUNS && seen.invalid > RUNS, 'enough values were judged')
})
