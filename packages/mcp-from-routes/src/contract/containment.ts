import { isObject, listIn, type JsonSchema } from '../schema/json-schema.ts'
import { arrayGaps } from './arrays.ts'
import { arePlain } from './certainty.ts'
import { cannotTell, Proof, saidIn, type Comparison, type Gap } from './comparison.ts'
import { areDisjoint } from './disjoint.ts'
import { canonical, documentOf, isAnnotation, sameSchema, type Document } from './document.ts'
import { exactly, factsOf, NUMBER, TYPE, typesOf, unionsOf, valuesOf, type Facts } from './facts.ts'
import { leafGap, LEAVES } from './leaves.ts'
import { objectGaps } from './objects.ts'

/** Enough for schemas of thousands of properties, and a fraction of a second. */
const BUDGET = 100_000

/**
 * Looks for values that are valid for `from` and not for `to`. Sound, not complete: an empty answer proves that there
 * is none; a gap that is not certain may be one that no value falls into.
 *
 * @param from - a 2020-12 schema with its `$defs`
 * @param to - likewise
 * @param namedOnly - whether properties that `from` does not name, in objects that name others, count as not being
 *   there
 */
export function gapsBetween (from: JsonSchema, to: JsonSchema, namedOnly = false): readonly Gap[] {
  let steps = BUDGET
  const comparison: Comparison = {
    from: documentOf(from),
    to: documentOf(to),
    depth: 0,
    namedOnly,
    proof: new Proof(),
    step: () => steps-- > 0,
    gapsIn
  }
  const facts = factsOf([from], comparison.from)
  return facts === undefined ? [] : distinct(gapsIn(facts, to, '', comparison))
}

/** What keeps values with the facts from being valid for the schema. */
function gapsIn (facts: Facts, schema: unknown, path: string, comparison: Comparison): readonly Gap[] {
  if (schema === true) return []
  const types = typesOf(facts, comparison.from)
  if (types === 0) return []
  if (!isObject(schema)) return [{ path, keyword: 'false', from: true, to: false, certain: true }]
  if (isSaid(facts, schema, comparison)) return []
  const pair = `${[...new Set(facts.map(canonical))].sort()} ${canonical(schema)}`
  const gaps = comparison.proof.gapsOf(pair, comparison.depth, () =>
    comparison.step()
      ? gapsInCases(facts, schema, types, path, comparison)
      : [cannotTell(path, 'size', 'too large to compare')])
  return gaps ?? [cannotTell(path, '$ref', schema.$ref)]
}

function hasNone (...pair: Parameters<typeof gapsIn>): boolean {
  return gapsIn(...pair).length === 0
}

/** Whether one of the facts says what the schema says. */
function isSaid (facts: Facts, schema: unknown, { from, to }: Comparison): boolean {
  return facts.some((fact) => sameSchema(fact, from, schema, to))
}

/** Looks at all values together, and at each case of them where that leaves gaps. */
function gapsInCases (
  facts: Facts,
  schema: JsonSchema,
  types: number,
  path: string,
  comparison: Comparison
): readonly Gap[] {
  const together = (): readonly Gap[] =>
    Object.keys(schema).flatMap((keyword) => keywordGaps(keyword, facts, schema, types, path, comparison))
  // Taken together, the branches of one union fit no branch of another, and each would be tried with each.
  const gaps = hasUnion(schema) && facts.some(hasUnion) ? undefined : together()
  if (gaps?.length === 0) return []
  const cases = casesOf(facts, schema, types, comparison)
  if (cases === undefined) return certainIf(arePlain(facts), gaps ?? together())
  const found = cases.flatMap((some) => gapsIn(some, schema, path, comparison))
  // A value of one branch may be one of another as well, which `oneOf` forbids.
  return certainIf(!found.some(({ certain }) => certain) || areApart(facts, comparison), found)
}

function hasUnion (schema: JsonSchema): boolean {
  return unionsOf(schema).length > 0
}

function certainIf (isSure: boolean, gaps: readonly Gap[]): readonly Gap[] {
  return isSure ? gaps : gaps.map((gap) => ({ ...gap, certain: false }))
}

/** Whether the branches of each `oneOf` exclude each other. */
function areApart (facts: Facts, comparison: Comparison): boolean {
  const within = { ...comparison, to: comparison.from }
  return facts.every(({ oneOf }) =>
    listIn(oneOf).every((branch, index, all) => {
      const one = factsOf([branch], comparison.from)
      return one === undefined || all.every((other, place) => place <= index || areDisjoint(one, other, within))
    })
  )
}

function distinct (gaps: readonly Gap[]): readonly Gap[] {
  const all = new Map<string, Gap>()
  for (const gap of gaps) {
    const place = `${gap.path} ${gap.keyword}`
    const before = all.get(place)
    const lost = [...before?.lost ?? [], ...gap.lost ?? []]
    all.set(place, {
      ...gap,
      certain: gap.certain || before?.certain === true,
      ...lost.length > 0 && { lost: [...new Map(lost.map((value) => [canonical(value), value])).values()] }
    })
  }
  return [...all.values()]
}

const OBJECT_KEYWORDS = new Set([
  'additionalProperties',
  'dependentRequired',
  'dependentSchemas',
  'maxProperties',
  'minProperties',
  'patternProperties',
  'properties',
  'propertyNames',
  'required'
])
const ARRAY_KEYWORDS = new Set(['contains', 'items', 'maxItems', 'minItems', 'prefixItems', 'uniqueItems'])
/** Looked at together with another keyword. */
const COMPANIONS = new Set(['then', 'else', 'minContains', 'maxContains'])

function keywordGaps (
  keyword: string,
  facts: Facts,
  schema: JsonSchema,
  types: number,
  path: string,
  comparison: Comparison
): readonly Gap[] {
  if (isAnnotation(keyword) || COMPANIONS.has(keyword)) return []
  const value = schema[keyword]
  if (LEAVES.has(keyword)) return leafGap(keyword, value, facts, types, path, comparison)
  if (OBJECT_KEYWORDS.has(keyword)) {
    return types & TYPE.object
      ? objectGaps(keyword, facts, schema, path, comparison)
      : []
  }
  if (ARRAY_KEYWORDS.has(keyword)) return types & TYPE.array ? arrayGaps(keyword, facts, schema, path, comparison) : []
  if (keyword === 'unevaluatedProperties' && (value === true || !(types & TYPE.object))) return []
  if (keyword === 'unevaluatedItems' && (value === true || !(types & TYPE.array))) return []
  switch (keyword) {
    case '$ref': {
      const target = comparison.to.resolve(String(value))
      return target === undefined ? [cannotTell(path, keyword, value)] : gapsIn(facts, target, path, comparison)
    }
    case 'allOf':
      return listIn(value).flatMap((member) => gapsIn(facts, member, path, comparison))
    case 'anyOf':
      return anyOfGaps(facts, listIn(value), types, path, comparison)
    case 'oneOf':
      return oneOfGaps(facts, listIn(value), types, path, comparison)
    case 'not':
      return isRuledOut(facts, value, comparison)
        ? []
        : [{ path, keyword, from: saidIn(facts, keyword), to: value, certain: false }]
    case 'if':
      return conditionGaps(facts, schema, path, comparison)
    default:
      return [cannotTell(path, keyword, value, saidIn(facts, keyword))]
  }
}

function anyOfGaps (
  facts: Facts,
  branches: readonly unknown[],
  types: number,
  path: string,
  comparison: Comparison
): readonly Gap[] {
  // Most branches of most unions stay as they are.
  if (branches.some((branch) => isSaid(facts, branch, comparison))) return []
  const attempts: Array<readonly Gap[]> = []
  for (const branch of branches) {
    const gaps = gapsIn(facts, branch, path, comparison)
    if (gaps.length === 0) return []
    attempts.push(gaps)
  }
  const near = attempts.filter((_gaps, index) => (typesOfBranch(branches[index], comparison.to) & types) !== 0)
  if (near.length === 1 && near[0] !== undefined) return near[0]
  const kin = attempts.filter((_gaps, index) => !areDisjoint(facts, branches[index], comparison))
  if (kin.length === 1 && kin[0] !== undefined) return kin[0]
  return [{
    path,
    keyword: 'anyOf',
    from: facts.find((fact) => Object.keys(fact).length > 0),
    to: branches,
    certain: near.length === 0
  }]
}

function oneOfGaps (
  facts: Facts,
  branches: readonly unknown[],
  types: number,
  path: string,
  comparison: Comparison
): readonly Gap[] {
  const gaps = anyOfGaps(facts, branches, types, path, comparison)
  if (gaps.length > 0) return gaps
  const possible = branches.filter((branch) => !areDisjoint(facts, branch, comparison))
  return possible.length <= 1 ? [] : [cannotTell(path, 'oneOf', branches, saidIn(facts, 'oneOf'))]
}

/**
 * Whether nothing with the facts is valid for the schema under a `not`, as when a `not` of the facts forbids at least
 * as much.
 */
function isRuledOut (facts: Facts, schema: unknown, comparison: Comparison): boolean {
  if (areDisjoint(facts, schema, comparison)) return true
  const back: Comparison = {
    ...comparison,
    from: comparison.to,
    to: comparison.from,
    namedOnly: false,
    proof: new Proof()
  }
  const wanted = factsOf([schema], back.from)
  return wanted === undefined || facts.some((fact) => hasNone(wanted, fact.not, '', back))
}

/**
 * A condition leaves no gap where what meets it is valid for its `then`, and everything is for its `else` or meets it.
 */
function conditionGaps (facts: Facts, schema: JsonSchema, path: string, comparison: Comparison): readonly Gap[] {
  const { if: condition, then = true, else: otherwise = true } = schema
  const isSame = facts.some((fact) =>
    sameSchema(partsOfCondition(fact), comparison.from, partsOfCondition(schema), comparison.to)
  )
  // A condition without references means the same in both documents, so it can stand beside the facts.
  const met = canonical(condition).includes('"$ref":') ? [] : factsOf([condition], comparison.from)
  const isValid = (part: unknown, more: Facts = []): boolean => hasNone([...facts, ...more], part, path, comparison)
  const isThen = (): boolean => met === undefined || isValid(then, met) || areDisjoint(facts, condition, comparison)
  const isElse = (): boolean => isValid(otherwise) || isValid(condition)
  return isSame || (isThen() && isElse())
    ? []
    : [cannotTell(path, 'if', { if: condition, then, else: otherwise }, saidIn(facts, 'if'))]
}

function partsOfCondition ({ if: condition, then = true, else: otherwise = true }: JsonSchema): JsonSchema {
  return { allOf: [condition, then, otherwise] }
}

/**
 * Cases that together are all there is, when the facts have any: listed values, the branches of a union, the types.
 * Each can be valid for another branch of the schema.
 */
function casesOf (
  facts: Facts,
  schema: JsonSchema,
  types: number,
  comparison: Comparison
): readonly Facts[] | undefined {
  // A range is only taken apart where its numbers may be listed in branches: whole, it says more.
  const values = valuesOf(facts, comparison.from, isDivided(schema, comparison.to))
  if (values !== undefined) return isOneCase(values, facts) ? undefined : values.map((value) => [exactly(value)])
  const union = facts.find(hasUnion)
  if (union !== undefined) return branchesOf(union, facts, comparison.from)
  const names = Object.entries({ ...TYPE, integer: 0, fraction: 0, number: NUMBER }).filter(([, bits]) =>
    (types & bits) !== 0
  ).map(([name]) => name)
  return names.length > 1 && isDivided(schema, comparison.to) ? names.map((type) => [...facts, { type }]) : undefined
}

/** One listed value is one case, whatever unions say of it; one with parts is looked into, once. */
function isOneCase (values: readonly unknown[], facts: Facts): boolean {
  return values.length === 1 && (typeof values[0] !== 'object' || canonical(facts) === canonical([exactly(values[0])]))
}

/** The facts with each branch of one of them in the place of its union. */
function branchesOf (fact: JsonSchema, facts: Facts, document: Document): readonly Facts[] {
  const keyword = Array.isArray(fact.anyOf) ? 'anyOf' : 'oneOf'
  // What is unevaluated depends on the union, so it goes with it.
  const { [keyword]: union, unevaluatedProperties, unevaluatedItems, ...rest } = fact
  return listIn(union).map((branch) => factsOf([branch], document)).filter((more) => more !== undefined)
    .map((more) => [...facts.map((one) => one === fact ? rest : one), ...more])
}

/** Whether another case may make a difference to the schema. */
function isDivided (schema: JsonSchema, document: Document): boolean {
  return factsOf([schema], document)?.some((fact) => hasUnion(fact) || 'if' in fact || 'not' in fact) ?? false
}

function typesOfBranch (branch: unknown, document: Document): number {
  const facts = factsOf([branch], document)
  return facts === undefined ? 0 : typesOf(facts, document)
}
