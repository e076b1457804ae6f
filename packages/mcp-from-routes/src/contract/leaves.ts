import { saidIn, type Comparison, type Gap } from './comparison.ts'
import { isShown } from './certainty.ts'
import { matchesAll, normalPattern } from './patterns.ts'
import { holds, NUMBER, numbersIn, TYPE, typesOfKeyword, valuesOf, type Facts } from './facts.ts'

/** Keywords about a whole value that is no array or object, or about its type. */
export const LEAVES: ReadonlySet<string> = new Set([
  'const',
  'enum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'format',
  'maxLength',
  'maximum',
  'minLength',
  'minimum',
  'multipleOf',
  'pattern',
  'type'
])

/** The gap that one such keyword leaves, if any. */
export function leafGap (
  keyword: string,
  limit: unknown,
  facts: Facts,
  types: number,
  path: string,
  comparison: Comparison
): readonly Gap[] {
  if ((types & typesUnder(keyword)) === 0) return []
  const said = saidIn(facts, keyword)
  const gap = { path, keyword, from: said ?? saidInstead(keyword, facts), to: limit, certain: true }
  if (keyword === 'type') return (types & ~typesOfKeyword(limit, 0)) === 0 ? [] : [gap]
  // Formats are not looked into: what one means is up to the validator. Some are part of others by their
  // specifications.
  if (keyword === 'format') {
    return facts.some((fact) => fact.format === limit || WIDER.get(fact.format)?.includes(String(limit)))
      ? []
      : [{ ...gap, certain: said === undefined && facts.every(({ pattern }) => pattern === undefined) }]
  }
  const values = valuesOf(facts, comparison.from)
  if (values !== undefined) {
    const held = values.map((value) => holds(keyword, limit, value))
    if (held.every((kept) => kept === true)) return []
    return [{ ...gap, certain: held.includes(false), lost: values.filter((_value, index) => held[index] !== true) }]
  }
  if (isImplied(keyword, limit, facts, types)) return []
  return [{ ...gap, certain: isShown(keyword, limit, facts, types, comparison.from) }]
}

/**
 * Formats that accept all that another one does.
 * @see [JSON Schema Validation §7.3](https://json-schema.org/draft/2020-12/json-schema-validation#section-7.3)
 * @see [OpenAPI Format Registry](https://spec.openapis.org/registry/format/)
 */
const WIDER: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['email', ['idn-email']],
  ['float', ['double']],
  ['hostname', ['idn-hostname']],
  ['int32', ['int64']],
  ['iri', ['iri-reference']],
  ['uri', ['uri-reference', 'iri', 'iri-reference']],
  ['uri-reference', ['iri-reference']]
])

/** The types that the keyword says something about. */
function typesUnder (keyword: string): number {
  switch (keyword) {
    case 'maxLength':
    case 'minLength':
    case 'pattern':
      return TYPE.string
    case 'exclusiveMaximum':
    case 'exclusiveMinimum':
    case 'maximum':
    case 'minimum':
    case 'multipleOf':
      return NUMBER
    case 'format':
      return TYPE.string | NUMBER
    default:
      return ~0
  }
}

function saidInstead (keyword: string, facts: Facts): unknown {
  const others: Record<string, readonly string[]> = {
    const: ['enum', 'type'],
    enum: ['const', 'type'],
    type: ['enum', 'const'],
    minimum: ['exclusiveMinimum'],
    maximum: ['exclusiveMaximum'],
    exclusiveMinimum: ['minimum'],
    exclusiveMaximum: ['maximum']
  }
  return others[keyword]?.map((other) => saidIn(facts, other)).find((said) => said !== undefined)
}

function isImplied (keyword: string, limit: unknown, facts: Facts, types: number): boolean {
  const most = Number(limit)
  const isWhole = (types & TYPE.fraction) === 0
  switch (keyword) {
    case 'minimum':
      return lowest(facts, isWhole).some(([least]) => least >= most)
    case 'exclusiveMinimum':
      return lowest(facts, isWhole).some(([least, excluded]) => least > most || (least === most && excluded))
    case 'maximum':
      return highest(facts, isWhole).some(([greatest]) => greatest <= most)
    case 'exclusiveMaximum':
      return highest(facts, isWhole).some(([greatest, excluded]) => greatest < most || (greatest === most && excluded))
    case 'multipleOf':
      return (isWhole && most === 1) ||
        facts.some((fact) => fact.multipleOf === limit || isMultiple(fact.multipleOf, most))
    case 'minLength':
      return most <= 0 || numbersIn(facts, 'minLength').some((least) => least >= most)
    case 'maxLength':
      return numbersIn(facts, 'maxLength').some((greatest) => greatest <= most)
    // `const` and `enum` need listed values, which there are none of.
    case 'pattern':
      return matchesAll(limit) ||
        facts.some(({ pattern }) =>
          typeof pattern === 'string' && normalPattern(pattern) === normalPattern(String(limit))
        )
    default:
      return false
  }
}

/**
 * Multiples of numbers that are not exact in binary are subject to rounding: validators that divide refuse 0.3 as a
 * multiple of 0.1. Whole numbers, halves, quarters and so on are exact.
 */
function isMultiple (of: unknown, divisor: number): boolean {
  return typeof of === 'number' && isExact(of) && isExact(divisor) && of % divisor === 0
}

function isExact (number: number): boolean {
  return Number.isSafeInteger(number * 1024)
}

type Bound = readonly [limit: number, excluded: boolean]

function lowest (facts: Facts, isWhole: boolean): readonly Bound[] {
  return [
    ...numbersIn(facts, 'minimum').map((limit): Bound => [isWhole ? Math.ceil(limit) : limit, false]),
    ...numbersIn(facts, 'exclusiveMinimum').map((limit): Bound =>
      isWhole ? [Math.floor(limit) + 1, false] : [limit, true]
    )
  ]
}

function highest (facts: Facts, isWhole: boolean): readonly Bound[] {
  return [
    ...numbersIn(facts, 'maximum').map((limit): Bound => [isWhole ? Math.floor(limit) : limit, false]),
    ...numbersIn(facts, 'exclusiveMaximum').map((limit): Bound =>
      isWhole ? [Math.ceil(limit) - 1, false] : [limit, true]
    )
  ]
}
