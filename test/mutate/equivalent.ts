import type { Mutant } from './mutants.ts'

/** A mutant that no test can notice. */
export interface Equivalent extends Pick<Mutant, 'file' | 'within' | 'before' | 'after'> {
  readonly reason: string
}

/** Mutants that are not drawn, in the words that `npm run mutate` prints. One that no longer exists fails the run. */
export const equivalents: readonly Equivalent[] = [
]

export function isSame (one: Omit<Equivalent, 'reason'>, other: Omit<Equivalent, 'reason'>): boolean {
  return one.file === other.file && one.within === other.within && one.before === other.before && one.after === other.after
}

/** Entries for files below `home` that are not one of its mutants. */
export function stale (mutants: readonly Mutant[], home: string): readonly Equivalent[] {
  return equivalents.filter((entry) => entry.file.startsWith(`${home}/`) && !mutants.some((mutant) => isSame(entry, mutant)))
}
