import type { Hostile } from './hostile.ts'

/** Below this, in milliseconds, a run of the longest string is not worth another look. */
const FAST = 0.3

/** Lengths of strings, in characters. It begins with short ones, on which the worst patterns end yet. */
const LENGTHS = [20, 512, 4096]

/** Far above linear growth, which is 4, and below the quadratic, which is 16. */
export const TOO_MUCH = 8

/** How often a run is repeated; the fastest one has the least of what else the machine does. */
const RUNS = 5

/** How often a ratio above {@link TOO_MUCH} is measured again. */
const DOUBTS = 4

/**
 * How much more a function costs on a string four times as long: 4 when it is linear, 16 when it is quadratic. Of all
 * strings, the worst one counts, or the first that grows {@link TOO_MUCH}.
 */
export function growth (
  run: (input: string) => void,
  strings: readonly Hostile[]
): { readonly ratio: number, readonly input: string } {
  let worst = { ratio: 4, input: '' }
  for (const length of LENGTHS) {
    for (const string of strings) {
      const input = string(length)
      // The first run may compile the pattern, which alone takes as long.
      if (cost(run, input, 1) < FAST || cost(run, input) < FAST) continue
      const measure = (): number => cost(run, input) / cost(run, string(length / 4))
      let ratio = measure()
      // What else the machine does makes a linear one look worse now and then, and a worse one never linear for long.
      for (let left = DOUBTS; left > 0 && ratio > TOO_MUCH; left--) ratio = Math.min(ratio, measure())
      if (ratio > worst.ratio) worst = { ratio, input: input.slice(0, 80) }
      // Longer strings may never end.
      if (ratio > TOO_MUCH) return worst
    }
  }
  return worst
}

/** CPU time in milliseconds. */
function cost (run: (input: string) => void, input: string, runs = RUNS): number {
  let least = Infinity
  for (let left = runs; left > 0; left--) {
    const before = process.cpuUsage()
    run(input)
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return Math.max(least, 0.001)
}
