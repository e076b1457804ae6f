import type { Comparison } from './comparison.ts'
import { factsOf, NUMBER, numbersIn, refuses, textsIn, TYPE, typesOf, unionsOf, valuesOf, type Facts } from './facts.ts'
import { schemasFor } from './objects.ts'

/**
 * Whether surely nothing with the facts is valid for the schema: they differ in type, in listed values, in range, or in
 * a property that one of them requires.
 */
export function areDisjoint (facts: Facts, schema: unknown, comparison: Comparison, depth = 4): boolean {
  if (!comparison.step()) return false
  const others = factsOf([schema], comparison.to)
  if (others === undefined) return true
  const types = typesOf(facts, comparison.from)
  if ((types & typesOf(others, comparison.to)) === 0) return true
  if (depth === 0) return false
  if (valuesOf(facts, comparison.from)?.every((value) => others.some((other) => refuses(other, value)))) return true
  if (valuesOf(others, comparison.to)?.every((value) => facts.some((fact) => refuses(fact, value)))) return true
  if ((types & ~NUMBER) === 0 && (isBelow(facts, others) || isBelow(others, facts))) return true
  if (types === TYPE.object && differInProperty(facts, others, comparison, depth)) return true
  if (
    others.some((other) =>
      unionsOf(other).some((union) => union.every((branch) => areDisjoint(facts, branch, comparison, depth - 1)))
    )
  ) return true
  return facts.some((fact) =>
    unionsOf(fact).some((union) =>
      union.every((branch) => {
        const more = factsOf([branch], comparison.from)
        return more === undefined ||
          areDisjoint([...facts.filter((one) => one !== fact), ...more], schema, comparison, depth - 1)
      })
    )
  )
}

function isBelow (low: Facts, high: Facts): boolean {
  const greatest = [...numbersIn(low, 'maximum'), ...numbersIn(low, 'exclusiveMaximum')]
  const least = [...numbersIn(high, 'minimum'), ...numbersIn(high, 'exclusiveMinimum')]
  return greatest.some((most) => least.some((limit) => most < limit))
}

function differInProperty (facts: Facts, others: Facts, comparison: Comparison, depth: number): boolean {
  const names = new Set([...facts, ...others].flatMap(({ required }) => textsIn(required)))
  return [...names].some((name) => {
    const mine = factsOf(facts.flatMap((fact) => schemasFor(fact, name, true)), comparison.from)
    // Required by one and impossible for the other, or required by one and different in both.
    return mine === undefined ||
      areDisjoint(mine, { allOf: others.flatMap((other) => schemasFor(other, name, true)) }, comparison, depth - 1)
  })
}
