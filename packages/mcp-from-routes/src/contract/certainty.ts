import { createContext, Script } from 'node:vm'
import { saidIn } from './comparison.ts'
import { isAnnotation, type Document } from './document.ts'
import { holds, numbersIn, TYPE, valuesOf, type Facts } from './facts.ts'

/** Keywords that leave it certain that some value with the facts exists, at each place that they describe. */
const PLAIN: ReadonlySet<string> = new Set([
  '$ref',
  'additionalProperties',
  'allOf',
  'const',
  'enum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'format',
  'items',
  'maxItems',
  'maxLength',
  'maximum',
  'minItems',
  'minLength',
  'minimum',
  'multipleOf',
  'pattern',
  'prefixItems',
  'properties',
  'required',
  'type'
])
const COUNTS: ReadonlySet<string> = new Set(['maxProperties', 'minProperties'])

/** Whether a gap in or inside such values is one that values fall into, as far as the facts themselves say. */
export function arePlain (facts: Facts): boolean {
  const words = new Set(facts.flatMap((fact) => Object.keys(fact)))
  const isMap = !words.has('properties') && !words.has('required')
  const isUnique = numbersIn(facts, 'minItems').every((least) => least <= 1)
  return [...words].every((word) =>
    PLAIN.has(word) || isAnnotation(word) || (isMap && COUNTS.has(word)) || (isUnique && word === 'uniqueItems')
  )
}

/** An example of each format, as far as one is known. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  double: 0.5,
  duration: 'P1D',
  email: 'a@example.com',
  float: 0.5,
  hostname: 'example.com',
  int32: 1,
  int64: 1,
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  'json-pointer': '/a',
  time: '12:00:00Z',
  uri: 'https://example.com/a',
  'uri-reference': 'a',
  uuid: '123e4567-e89b-12d3-a456-426614174000'
}

/** Whether some value keeps to all facts and not to the keyword: one that is tried, so that nothing is claimed. */
export function isShown (keyword: string, limit: unknown, facts: Facts, types: number, document: Document): boolean {
  if (!arePlain(facts)) return false
  const keeps = (value: unknown): boolean =>
    facts.every((fact) =>
      Object.entries(fact).every(([word, bound]) => {
        if (word === 'format') return SAMPLES[String(bound)] === value
        return !DECIDED.has(word) || holds(word, bound, value) === true
      })
    )
  const isAny = (): boolean =>
    candidates(limit, facts, types, document).some((value) => keeps(value) && holds(keyword, limit, value) === false)
  return keyword === 'pattern' || saidIn(facts, 'pattern') !== undefined ? inTime(isAny) : isAny()
}

/**
 * Longest time for trying strings, in milliseconds: a pattern may take exponential time for one that nobody would send.
 */
const LONGEST_TIME = 1_000
const watched = createContext()
const call = new Script('work()')

/** What the work answers; false when it takes too long. */
function inTime (work: () => boolean): boolean {
  try {
    return call.runInContext(Object.assign(watched, { work }), { timeout: LONGEST_TIME }) === true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw error
  }
}

/**
 * Keywords that decide about strings, numbers, booleans and null. The candidates keep to `const` and `enum` already.
 */
const DECIDED: ReadonlySet<string> = new Set([
  'exclusiveMaximum',
  'exclusiveMinimum',
  'maxLength',
  'maximum',
  'minLength',
  'minimum',
  'multipleOf',
  'pattern',
  'type'
])
/** Longest string that is tried. */
const LONGEST = 100_000

function candidates (limit: unknown, facts: Facts, types: number, document: Document): readonly unknown[] {
  const listed = valuesOf(facts, document)
  if (listed !== undefined) return listed
  const bounds = [limit, ...facts.flatMap((fact) => Object.values(fact))].filter((bound) => typeof bound === 'number')
  const lengths = [...new Set([0, 1, ...bounds.flatMap((bound) => [bound - 1, bound, bound + 1])])].filter((length) =>
    Number.isInteger(length) && length >= 0 && length <= LONGEST
  )
  const steps = numbersIn(facts, 'multipleOf')
  const numbers = [
    0,
    1,
    -1,
    0.5,
    ...bounds.flatMap((bound) => [
      bound,
      bound - 1,
      bound + 1,
      bound - 0.5,
      bound + 0.5,
      ...steps.flatMap((step) => [-1, 0, 1].map((by) => (Math.round(bound / step) + by) * step))
    ])
  ]
  const letters = ['a', 'A', '0', ' ', '-']
  const formats = facts.flatMap(({ format }) => typeof format === 'string' ? [SAMPLES[format]] : [])
  return [
    ...types & TYPE.null ? [null] : [],
    ...types & TYPE.boolean ? [true, false] : [],
    ...formats,
    ...types & TYPE.string ? letters.flatMap((letter) => lengths.map((length) => letter.repeat(length))) : [],
    ...types & (TYPE.integer | TYPE.fraction) ? numbers : []
  ]
}
