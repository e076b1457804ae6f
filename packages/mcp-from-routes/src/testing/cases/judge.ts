import { isDeepStrictEqual } from 'node:util'
import type { Mismatch } from '../sdk.ts'
import type { ExpectedCall, WholeCase } from './case.ts'
import type { ModelCall } from './dialect.ts'

/**
 * What is wrong with the calls of a run; nothing if it passes. Each expected call must be made, in any order; calls
 * beyond those are fine unless `never` has them.
 */
export function faultsOf (
  { calls: expected, never }: Pick<WholeCase, 'calls' | 'never'>,
  calls: readonly ModelCall[],
  mismatch: Mismatch
): readonly string[] {
  const taken = pairs(expected, calls, (one, call) => fits(one, call, mismatch))
  const missing = expected.filter((_one, index) => ![...taken.values()].includes(index))
  const unwanted = calls.filter(({ name }, index) =>
    !taken.has(index) && never.some((pattern) => isNamed(name, pattern))
  )
  return [
    ...missing.map((one) => `no call of ${shownExpected(one)}`),
    ...unwanted.map((call) => `called ${shown(call)}, never wanted`)
  ]
}

/** A call as reports show it. */
export function shown ({ name, written }: ModelCall): string {
  return `${name} ${written}`
}

function shownExpected ({ tool, arguments: args, schema }: ExpectedCall): string {
  const parts = [
    ...args === undefined ? [] : [` with ${JSON.stringify(args)}`],
    ...schema === undefined ? [] : [` that fits ${JSON.stringify(schema)}`]
  ]
  return `${tool}${parts.join(' and')}`
}

/** Whether a name is that of a pattern, where `*` stands for anything. */
export function isNamed (name: string, pattern: string): boolean {
  const [first = '', ...more] = pattern.split('*')
  const last = more.pop()
  if (last === undefined) return name === pattern
  if (!name.startsWith(first) || !name.endsWith(last)) return false
  let at = first.length
  for (const piece of more) {
    const found = name.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return at + last.length <= name.length
}

function fits (
  { tool, arguments: wanted = {}, schema }: ExpectedCall,
  { name, args }: ModelCall,
  mismatch: Mismatch
): boolean {
  return name === tool && args !== undefined &&
    Object.entries(wanted).every(([key, value]) => Object.hasOwn(args, key) && isDeepStrictEqual(args[key], value)) &&
    (schema === undefined || mismatch(schema, args) === undefined)
}

/**
 * Which call is which expected one, by their indexes, so that as many as possible are: a call that fits two must not
 * take the place of another.
 */
function pairs (
  expected: readonly ExpectedCall[],
  calls: readonly ModelCall[],
  fits: (one: ExpectedCall, call: ModelCall) => boolean
): ReadonlyMap<number, number> {
  const taken = new Map<number, number>()
  function place (index: number, tried: Set<number>): boolean {
    for (const [at, call] of calls.entries()) {
      if (tried.has(at) || !fits(expected[index] as ExpectedCall, call)) continue
      tried.add(at)
      const other = taken.get(at)
      if (other !== undefined && !place(other, tried)) continue
      taken.set(at, index)
      return true
    }
    return false
  }
  for (const index of expected.keys()) place(index, new Set())
  return taken
}
