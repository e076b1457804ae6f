import { readdirSync, readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What one test file runs, and how long it takes, in milliseconds. */
export interface Baseline {
  readonly test: string
  /** As {@link lineOf} has them. */
  readonly lines: ReadonlySet<string>
  readonly duration: number
}

interface Script {
  readonly url: string
  readonly functions: ReadonlyArray<{ readonly ranges: ReadonlyArray<{ readonly startOffset: number, readonly endOffset: number, readonly count: number }> }>
}

interface Report {
  readonly result: readonly Script[]
  readonly 'source-map-cache'?: Readonly<Record<string, { readonly lineLengths: readonly number[], readonly data: SourceMapPayload | null }>>
}

/** The lines of `home` that ran, from what `NODE_V8_COVERAGE` wrote. What is built counts as its source. */
export function linesThatRan (reports: string, root: string, home: string): ReadonlySet<string> {
  const lines = new Set<string>()
  for (const name of readdirSync(reports)) {
    const { result, 'source-map-cache': maps = {} } = JSON.parse(readFileSync(join(reports, name), 'utf8')) as Report
    for (const script of result) {
      const map = maps[script.url]
      if (!map?.data || !script.url.startsWith('file:') || !fileURLToPath(script.url).startsWith(join(root, home))) continue
      const file = fileURLToPath(script.url).slice(root.length + 1).replace('/dist/', '/src/').replace(/\.js$/, '.ts')
      for (const line of linesOf(script, map.lineLengths, new SourceMap(map.data))) lines.add(lineOf({ file, line }))
    }
  }
  return lines
}

export function lineOf ({ file, line }: { readonly file: string, readonly line: number }): string {
  return `${file}:${line}`
}

/** The lines of its source of which at least a part ran. */
function linesOf ({ functions }: Script, lineLengths: readonly number[], map: SourceMap): ReadonlySet<number> {
  const ran = new Uint8Array(lineLengths.reduce((sum, length) => sum + length + 1, 0))
  // Inner ranges come after the one that they are in.
  for (const { startOffset, endOffset, count } of functions.flatMap(({ ranges }) => ranges)) ran.fill(Math.min(count, 1), startOffset, endOffset)
  const lines = new Set<number>()
  let offset = 0
  for (const [line, length] of lineLengths.entries()) {
    for (let column = 0; column < length; column++) {
      if (ran[offset + column] === 0) continue
      const entry = map.findEntry(line, column)
      // Else it is white space, before the first entry of the line.
      if ('generatedLine' in entry && entry.generatedLine === line) lines.add(entry.originalLine + 1)
    }
    offset += length + 1
  }
  return lines
}

/** The test files that can notice a mutant, as they run its line; quick ones first. */
export function likeliestFirst (baselines: readonly Baseline[], mutant: { readonly file: string, readonly line: number }): readonly Baseline[] {
  return baselines.filter(({ lines }) => lines.has(lineOf(mutant))).toSorted((one, other) => one.duration - other.duration)
}
