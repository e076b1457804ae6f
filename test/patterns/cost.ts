import type { Hostile } from './hostile.ts'

/** Below this, in milliseconds, a run of the longest string is not worth another look. */
const FAST = 0.3

/** Lengths of strings, in characters. It begins with short ones, on which the worst patterns end yet. */
const LENGTHS = [20, 512, 4096]

/** Far above linear growth, which is 4, and below the quadratic, which is 16. */
export const TOO_MUCH = 8

/** How often a run is repeated; the fastest one has the least of what else the machine does. */
const RUNS = 5

/** How often a ratio above {@link TOO_MUCH} is measured again, over sixteen times the length. */
const DOUBTS = 4

/** A run that takes this long, in milliseconds, needs no second look: a linear one takes a hundredth. */
const SURELY_SLOW = 500

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
      const short = string(length / 4)
      // An exponential run over a longer string would never end: it is known by the shortest.
      const [far, exponent] = length === LENGTHS[0] ? [input, 1] : [string(length * 4), 1 / 2]
      let ratio = cost(run, input) / cost(run, short)
      // What else the machine does makes a linear one look worse now and then. Over a length sixteen times as long a
      // linear run takes 16 times, and a quadratic one 256 times.
      for (let left = DOUBTS; left > 0 && ratio > TOO_MUCH && cost(run, input, 1) < SURELY_SLOW; left--) {
        ratio = Math.min(ratio, (cost(run, far) / cost(run, short)) ** exponent)
      }
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
