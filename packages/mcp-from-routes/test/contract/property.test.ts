import fc from 'fast-check'
import t from 'tap'
import { diffContracts } from '../../src/contract/index.ts'
import { isObject, mapSubschemas } from '../../src/schema/json-schema.ts'
import type { JsonSchema } from '../../src/index.ts'
import { schema, validatorOf, value, valuesIn, whole } from '../arbitrary.ts'

// The seed makes a failure repeatable; set CONTRACT_SEED to try others, and CONTRACT_RUNS for more of them, as .ci/run
// does.
const SEED = Number(process.env.CONTRACT_SEED ?? 20_260_728)
const RUNS = Number(process.env.CONTRACT_RUNS ?? 60)

/** The names of properties anywhere in a schema. */
function namesOf (schema: JsonSchema): readonly string[] {
  return valuesIn(schema).flatMap((part) =>
    isObject(part) && isObject(part.properties) ? Object.keys(part.properties) : []
  )
}

/** Each value, and what it is a part of. */
function aroundEach (values: readonly unknown[]): readonly unknown[] {
  return values.flatMap((value, index) => {
    const other = values[(index + 1) % values.length]
    return [
      value,
      [value],
      [other, value],
      [value, value],
      [value, other, value],
      { a: value },
      { b: value },
      { 'x-c': value },
      { a: other, b: value },
      { a: value, 'x-c': other },
      { a: value, b: other, 'x-c': value }
    ]
  })
}

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
    else if (victim !== undefined && typeof target[victim] === 'number') {
      target[victim] = Math.max(kind === 4 ? 0 : 1, target[victim] + (kind === 5 ? 1 : -1))
    } else if (victim !== undefined && Array.isArray(target[victim])) {
      kind === 5
        ? target[victim].push(other)
        : target[victim].pop()
    } else if (victim !== undefined) delete target[victim]
  }
  return after
}

const pair = fc.oneof(
  { weight: 1, arbitrary: fc.tuple(whole, whole) },
  {
    weight: 5,
    arbitrary: fc.tuple(whole, fc.array(change, { minLength: 1, maxLength: 3 })).map((
      [before, changes]
    ): [JsonSchema, JsonSchema] => [before, changed(before, changes)])
  }
)

const tool = (inputSchema: JsonSchema, outputSchema: JsonSchema) => new Map([['t', { inputSchema, outputSchema }]])
const ANY: JsonSchema = { type: 'object' }

t.test(`nothing that breaks a caller is called compatible (seed ${SEED}, ${RUNS} pairs)`, async (t) => {
  const seen = { pairs: 0, compatible: 0, different: 0, tried: 0 }
  const report = fc.check(
    fc.property(pair, fc.array(value, { minLength: 40, maxLength: 40 }), (...given) => {
      // As if they had been read: plain objects, none without a prototype.
      const [[before, after], values] = JSON.parse(JSON.stringify(given)) as typeof given
      // Ajv takes [] for { contains, prefixItems }, against the specification, so it is no judge of those.
      if (
        [before, after].some((schema) =>
          valuesIn(schema).some((part) => isObject(part) && 'contains' in part && 'prefixItems' in part)
        )
      ) return
      const [old, now] = [validatorOf(before), validatorOf(after)]
      if (old === undefined || now === undefined) return
      seen.pairs += 1
      const input = diffContracts(tool(before, ANY), tool(after, ANY)).bump !== 'major'
      // A result goes the other way.
      const output = diffContracts(tool(ANY, after), tool(ANY, before)).bump !== 'major'
      if (!input && !output) return
      seen.compatible += 1
      // A name that an open object gets is one that nobody was told to send.
      const known = namesOf(before)
      const unknown = namesOf(after).filter((name) => !known.includes(name))
      for (const value of aroundEach([...values, ...valuesIn(before), ...valuesIn(after)])) {
        if (
          input && unknown.length > 0 &&
          valuesIn(value).some((part) => isObject(part) && unknown.some((name) => name in part))
        ) continue
        const [was, is] = [old(value), now(value)]
        if (was === undefined || is === undefined) continue
        seen.tried += 1
        if (was !== is) seen.different += 1
        if (was && !is) {
          throw new Error(
            `${input ? 'input' : 'output'} called compatible, but ${JSON.stringify(value)} shows a break from ` +
              `${JSON.stringify(before)} to ${JSON.stringify(after)}`
          )
        }
      }
    }),
    { seed: SEED, numRuns: RUNS }
  )
  t.comment(JSON.stringify(seen))
  if (report.failed) t.fail(`seed ${report.seed}, path ${report.counterexamplePath}: ${String(report.errorInstance)}`)
  t.ok(
    seen.compatible > seen.pairs / 20 && seen.different > 100,
    'enough pairs were called compatible, and some of those do differ'
  )
})

/** Some subschemas of the schema put under `$defs`, with a reference in their place. */
function shared (before: JsonSchema, places: readonly number[]): JsonSchema {
  let left = 0
  const moved: Record<string, unknown> = {}
  const visit = (part: unknown): unknown => {
    if (!isObject(part)) return part
    const isMoved = places.includes(left++)
    const copy = mapSubschemas(part, visit)
    if (!isMoved) return copy
    const name = `S${Object.keys(moved).length}`
    moved[name] = copy
    return { $ref: `#/$defs/${name}` }
  }
  const { $defs, ...root } = before
  const out = visit(root) as JsonSchema
  return { ...out, $defs: { ...mapSubschemas({ properties: $defs }, visit).properties as object, ...moved } }
}

t.test(`whether schemas are shared changes no verdict (seed ${SEED})`, async (t) => {
  const seen = { pairs: 0, breaking: 0 }
  const places = fc.uniqueArray(fc.nat({ max: 8 }), { minLength: 1, maxLength: 4 })
  const report = fc.check(
    fc.property(pair, places, places, (...given) => {
      const [[before, after], ...where] = JSON.parse(JSON.stringify(given)) as typeof given
      if (validatorOf(before) === undefined || validatorOf(after) === undefined) return
      const [old, now] = [shared(before, where[0]), shared(after, where[1])]
      const wanted = diffContracts(tool(before, before), tool(after, after))
      seen.pairs += 1
      if (wanted.bump === 'major') seen.breaking += 1
      for (const [was, is] of [[old, now], [before, now], [old, after]] as const) {
        const found = diffContracts(tool(was, was), tool(is, is))
        if (wanted.bump !== 'none' && JSON.stringify(found) !== JSON.stringify(wanted)) {
          throw new Error(
            `${JSON.stringify(was)} to ${JSON.stringify(is)} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`
          )
        }
      }
      const same = diffContracts(tool(before, ANY), tool(old, ANY)).findings.map(({ change }) => change)
      if (same.some((change) => change !== 'written differently')) {
        throw new Error(`${JSON.stringify(before)} shared is ${JSON.stringify(same)}`)
      }
    }),
    { seed: SEED, numRuns: Math.ceil(RUNS / 20) }
  )
  t.comment(JSON.stringify(seen))
  if (report.failed) t.fail(`seed ${report.seed}, path ${report.counterexamplePath}: ${String(report.errorInstance)}`)
  t.ok(seen.pairs > RUNS / 40 && seen.breaking > RUNS / 200, 'enough pairs were compared')
})
