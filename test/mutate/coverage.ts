import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What one test file runs, and how long it takes, in milliseconds. */
export interface Baseline {
  readonly test: string
  readonly functions: ReadonlySet<string>
  readonly duration: number
}

interface Report {
  readonly result: ReadonlyArray<{
    readonly url: string
    readonly functions: ReadonlyArray<{ readonly functionName: string, readonly ranges: ReadonlyArray<{ readonly count: number }> }>
  }>
}

/** The functions that ran, from what `NODE_V8_COVERAGE` wrote, as {@link nameOfFunction} has them. What is built counts as its source. */
export function functionsThatRan (reports: string, root: string): ReadonlySet<string> {
  const names = new Set<string>()
  for (const name of readdirSync(reports)) {
    const { result } = JSON.parse(readFileSync(join(reports, name), 'utf8')) as Report
    for (const { url, functions } of result) {
      if (!url.startsWith('file:') || !fileURLToPath(url).startsWith(root)) continue
      const file = fileURLToPath(url).slice(root.length + 1).replace('/dist/', '/src/').replace(/\.js$/, '.ts')
      for (const { functionName, ranges } of functions) if (ranges[0]!.count > 0) names.add(nameOfFunction(file, functionName))
    }
  }
  return names
}

/** The top level of a file has no name: it runs when the file is imported. */
export function nameOfFunction (file: string, name: string): string {
  return `${file} ${name}`
}

/** Test files in the order in which they are likely to notice a mutant: first those that run its function, then those that import its file; quick ones first. */
export function likeliestFirst (baselines: readonly Baseline[], { file, within }: { readonly file: string, readonly within: string }): readonly Baseline[] {
  const rank = ({ functions }: Baseline): number => functions.has(nameOfFunction(file, within)) ? 0 : functions.has(nameOfFunction(file, '')) ? 1 : 2
  return baselines.toSorted((one, other) => rank(one) - rank(other) || one.duration - other.duration)
}
