import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { madeOnce } from '../made-once.ts'
import { linesThatRan, type Baseline } from './coverage.ts'
import { runTests } from './run.ts'

/** The longest that a test file may take without a mutant, in milliseconds. */
const LONGEST = 300_000

interface Measured { readonly duration: number, readonly lines: readonly string[] }

/**
 * What a test file runs without a mutant; it must pass. Kept until it or something that it uses changes.
 *
 * @param copy - of the repository, in which it runs
 * @param home - of the package, as `packages/dual-auth`
 * @param used - files and folders of the package that it uses
 */
export async function baselineOf (test: string, copy: string, home: string, used: readonly string[]): Promise<Baseline> {
  const sources = ['package-lock.json', 'test/mutate/coverage.ts', ...used, test].map((path) => pathToFileURL(join(copy, path)))
  const server = process.env.TEST_DATABASE_URL === undefined ? '' : '-server'
  const kept = await madeOnce(`baseline-${process.version}${server}`, sources, async (path) => {
    // Once more, should the machine have been too busy for it.
    const measured = await measure() ?? await measure()
    if (measured === undefined) throw new Error(`${test} fails without a mutant`)
    writeFileSync(path, JSON.stringify(measured))
  })
  const { duration, lines } = JSON.parse(readFileSync(kept, 'utf8')) as Measured
  return { test, duration, lines: new Set(lines) }

  async function measure (): Promise<Measured | undefined> {
    const reports = mkdtempSync(join(tmpdir(), 'mutate-coverage-'))
    const start = performance.now()
    const outcome = await runTests([test], copy, LONGEST, { NODE_V8_COVERAGE: reports })
    const duration = performance.now() - start
    const lines = [...linesThatRan(reports, copy, home)]
    rmSync(reports, { recursive: true })
    return outcome === 'passed' ? { duration, lines } : undefined
  }
}
