import { listIn, type JsonSchema } from '../schema/json-schema.ts'
import { cannotTell, inside, saidIn, inItem, type Comparison, type Gap } from './comparison.ts'
import { factsOf, holds, numbersIn, valuesOf, type Facts } from './facts.ts'
import { sameSchema } from './document.ts'

/** The gaps that one keyword about arrays leaves. */
export function arrayGaps (
  keyword: string,
  facts: Facts,
  schema: JsonSchema,
  path: string,
  comparison: Comparison
): readonly Gap[] {
  const limit = schema[keyword]
  const gap = { path, keyword, from: saidIn(facts, keyword), to: limit, certain: true }
  switch (keyword) {
    case 'prefixItems':
      return itemGaps(facts, schema, path, comparison)
    case 'items':
      return 'prefixItems' in schema ? [] : itemGaps(facts, schema, path, comparison)
    case 'minItems':
      return least(facts) >= Number(limit) ? [] : [gap]
    case 'maxItems':
      return most(facts) <= Number(limit) ? [] : [gap]
    case 'uniqueItems':
      return limit !== true || most(facts) <= 1 || saidUnique(facts, comparison) ? [] : [gap]
    default:
      return containsGaps(facts, schema, path, comparison)
  }
}

function itemGaps (facts: Facts, schema: JsonSchema, path: string, comparison: Comparison): readonly Gap[] {
  const first = Math.max(...[...facts, schema].map(({ prefixItems }) => listIn(prefixItems).length))
  const longest = most(facts)
  const at = (index: number | undefined): readonly Gap[] => {
    if ((index ?? first) >= longest) return []
    const known = factsOf(facts.map((fact) => itemAt(fact, index)), comparison.from)
    return known === undefined
      ? []
      : comparison.gapsIn(known, itemAt(schema, index), inItem(path, index), inside(comparison))
  }
  return [...Array.from({ length: first }, (_, index) => at(index)), at(undefined)].flat()
}

/** What a schema says of the item at an index, or of those after all that have a schema of their own. */
function itemAt ({ prefixItems, items = true }: JsonSchema, index: number | undefined): unknown {
  const own = listIn(prefixItems)
  return index !== undefined && index < own.length ? own[index] : items
}

function least (facts: Facts): number {
  return Math.max(0, ...numbersIn(facts, 'minItems'))
}

function most (facts: Facts): number {
  const closed = facts.filter(({ items }) => items === false).map(({ prefixItems }) => listIn(prefixItems).length)
  return Math.min(Infinity, ...closed, ...numbersIn(facts, 'maxItems'))
}

function saidUnique (facts: Facts, { from }: Comparison): boolean {
  return facts.some(({ uniqueItems }) => uniqueItems === true) ||
    (valuesOf(facts, from)?.every((value) => holds('uniqueItems', true, value)) ?? false)
}

function containsGaps (facts: Facts, schema: JsonSchema, path: string, comparison: Comparison): readonly Gap[] {
  const { contains, minContains = 1, maxContains } = schema
  if (minContains === 0 && maxContains === undefined) return []
  const isSame = facts.some((fact) =>
    (fact.minContains ?? 1) === minContains && fact.maxContains === maxContains &&
    sameSchema(fact.contains, comparison.from, contains, comparison.to)
  )
  if (isSame) return []
  const items = factsOf(
    facts.filter(({ prefixItems }) => prefixItems === undefined).map(({ items = true }) => items),
    comparison.from
  )
  const isEvery = items !== undefined &&
    comparison.gapsIn(items, contains, inItem(path), inside(comparison)).length === 0
  const isFine = isEvery && least(facts) >= Number(minContains) &&
    (maxContains === undefined || most(facts) <= Number(maxContains))
  return isFine ? [] : [cannotTell(path, 'contains', contains, saidIn(facts, 'contains'))]
}
