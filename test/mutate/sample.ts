import { createHash } from 'node:crypto'
import type { Mutant } from './mutants.ts'

/** Files or folders of the packages that are in every sample: what everything a client sees goes through. */
export const ALWAYS = ['result', 'call', 'light', 'identity', 'metadata']

/** How many mutants of each of {@link ALWAYS} a sample holds. */
const OF_EACH = 3

/**
 * Draws mutants of one package: some of each of {@link ALWAYS}, then of all files. Each operator has its turn, however
 * many mutants it makes. The same seed draws the same mutants, and most of them again after an unrelated change.
 *
 * @param isFair - false for mutants that prove nothing, as they do not compile; others are drawn instead
 */
export function sample (mutants: readonly Mutant[], size: number, seed: string, isFair: (mutant: Mutant) => boolean): readonly Mutant[] {
  const drawn = new Set<Mutant>()
  const draw = (from: readonly Mutant[], count: number): void => {
    const until = Math.min(size, drawn.size + count)
    for (const mutant of inTurn(from, seed)) {
      if (drawn.size >= until) return
      if (!drawn.has(mutant) && isFair(mutant)) drawn.add(mutant)
    }
  }
  for (const name of ALWAYS) draw(mutants.filter(({ file }) => isOf(name, file)), OF_EACH)
  draw(mutants, size)
  return [...drawn]
}

/** Whether a path leads to the file or into the folder of this name. */
export function isOf (name: string, path: string): boolean {
  return path.replace(/\.ts$/, '').split('/').includes(name)
}

/** All of them, one of each operator in turn. */
function * inTurn (mutants: readonly Mutant[], seed: string): Generator<Mutant> {
  const piles = new Map<string, Mutant[]>()
  for (const mutant of shuffle(mutants, seed)) {
    const pile = piles.get(mutant.operator)
    if (pile) pile.push(mutant)
    else piles.set(mutant.operator, [mutant])
  }
  for (let turn = 0; turn < mutants.length; turn++) {
    for (const pile of piles.values()) {
      const mutant = pile[turn]
      if (mutant) yield mutant
    }
  }
}

function shuffle (mutants: readonly Mutant[], seed: string): readonly Mutant[] {
  return mutants
    .map((mutant) => [createHash('sha256').update(JSON.stringify([seed, mutant.file, mutant.within, mutant.before, mutant.after])).digest('hex'), mutant] as const)
    .sort(([one], [other]) => one < other ? -1 : 1)
    .map(([, mutant]) => mutant)
}
