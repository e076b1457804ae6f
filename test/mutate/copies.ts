import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Compiler } from './compiler.ts'
import { runTests, type Outcome } from './run.ts'
import { scratchCopy } from './scratch.ts'

/** The least time that test files have with a fault, in milliseconds. */
const SHORTEST = 60_000

/** How many test files share a process. */
const SHARING = 12

/** A test file, and how long it takes without a fault, in milliseconds. */
export interface Timed {
  readonly test: string
  readonly duration: number
}

/** Copies of the repository, which go when the process ends. */
export interface Copies {
  /** Does the work for each item, for as many at once as there are copies. */
  readonly forEach: <Item>(items: readonly Item[], work: (item: Item, copy: string) => Promise<void>) => Promise<void>
}

/** Makes copies of the repository, for work that changes it. */
export function copiesOf (root: string, count: number): Copies {
  const copies = Array.from({ length: count }, () => scratchCopy(root))
  process.once('exit', () => copies.forEach((copy) => rmSync(copy, { recursive: true, force: true })))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  return {
    async forEach (items, work) {
      const left = [...items]
      await Promise.all(copies.map(async (copy) => {
        for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item, copy)
      }))
    }
  }
}

/** Puts a source, and what is built from it, into a copy. */
export function putSource (copy: string, file: string, source: string, compiler: Compiler): void {
  writeFileSync(join(copy, file), source)
  writeFileSync(join(copy, file.replace('/src/', '/dist/').replace(/\.ts$/, '.js')), compiler.emit(file, source))
}

/**
 * The first test file that notices, and how; undefined when none does. The likeliest one runs alone. Others share processes,
 * as most faults that get past it get past all; what fails in company has to fail alone.
 *
 * @param env - additional environment
 */
export async function firstToFail ([likeliest, ...others]: readonly Timed[], copy: string, env: NodeJS.ProcessEnv = {}): Promise<{ readonly test: string, readonly outcome: Outcome } | undefined> {
  if (likeliest === undefined) return
  for (const batch of [[likeliest], ...batchesOf(others)]) {
    const outcome = await outcomeOf(batch, copy, env)
    if (outcome === 'passed') continue
    if (batch.length === 1) return { test: batch[0]!.test, outcome }
    for (const one of batch) {
      const alone = await outcomeOf([one], copy, env)
      if (alone !== 'passed') return { test: one.test, outcome: alone }
    }
  }
}

function outcomeOf (tests: readonly Timed[], copy: string, env: NodeJS.ProcessEnv): Promise<Outcome> {
  const duration = tests.reduce((sum, { duration }) => sum + duration, 0)
  return runTests(tests.map(({ test }) => test), copy, Math.max(SHORTEST, duration * 4), env)
}

function batchesOf (tests: readonly Timed[]): ReadonlyArray<readonly Timed[]> {
  return Array.from({ length: Math.ceil(tests.length / SHARING) }, (_, n) => tests.slice(n * SHARING, (n + 1) * SHARING))
}

/** The files in a folder of the repository, by their paths in it. */
export function filesIn (root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort()
}

export function wholeNumber (name: string, value: string): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} must be a whole number, at least 1`)
  return number
}
