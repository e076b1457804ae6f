// `npm run mutate`: see CONTRIBUTING.md
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { baselineOf } from './baseline.ts'
import { compilerOf } from './compiler.ts'
import { likeliestFirst, type Baseline } from './coverage.ts'
import { equivalents, isSame, stale } from './equivalent.ts'
import { mutantsOf, mutate, type Mutant } from './mutants.ts'
import { runTests, type Outcome } from './run.ts'
import { sample } from './sample.ts'
import { scratchCopy } from './scratch.ts'

/** The least share of mutants that the tests of a package must notice. */
const ENOUGH = 0.95

/** The least time that test files have with a mutant, in milliseconds. */
const SHORTEST = 60_000

/** How many test files share a process. */
const SHARING = 12

const root = fileURLToPath(new URL('../../', import.meta.url))
const { values: options } = parseArgs({
  options: {
    package: { type: 'string', multiple: true, default: readdirSync(join(root, 'packages')) },
    under: { type: 'string', default: 'src' },
    size: { type: 'string', default: '25' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(availableParallelism()) }
  }
})
const size = wholeNumber('size', options.size)

// Each job changes a copy of its own.
const copies = Array.from({ length: wholeNumber('jobs', options.jobs) }, () => scratchCopy(root))
const remove = (): void => copies.forEach((copy) => rmSync(copy, { recursive: true, force: true }))
process.once('exit', remove)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

for (const name of options.package) {
  const share = await scoreOf(`packages/${name}`)
  // no mutants, no proof
  if (!(share >= ENOUGH)) process.exitCode = 1
}

/** Tries the mutants of one package and prints those that no test notices. */
async function scoreOf (home: string): Promise<number> {
  const sources = new Map(filesIn(home, 'src').filter((file) => file.endsWith('.ts')).map((file) => [file, readFileSync(join(root, file), 'utf8')]))
  const mutants = [...sources].flatMap(([file, source]) => mutantsOf(file, source))
  const [gone] = stale(mutants, home)
  if (gone) throw new Error(`equivalent.ts lists a mutant that does not exist: ${JSON.stringify(gone)}`)

  const compiler = compilerOf(join(root, home))
  const mutated = (mutant: Mutant): string => mutate(sources.get(mutant.file)!, mutant)
  const drawn = sample(mutants.filter(({ file }) => file.startsWith(`${home}/${options.under}`)), size, options.seed, (mutant) =>
    !equivalents.some((entry) => isSame(entry, mutant)) && compiler.accepts(join(root, mutant.file), mutated(mutant)))
  console.log(`${home}: ${drawn.length} of ${mutants.length} mutants, seed ${options.seed}`)

  const isTest = (file: string): boolean => file.endsWith('.test.ts')
  const files = filesIn(home, 'test')
  const used = [`${home}/src`, ...files.filter((file) => !isTest(file))]
  const baselines: Baseline[] = []
  await inEachCopy(files.filter(isTest), async (test, copy) => { baselines.push(await baselineOf(test, copy, home, used)) })

  let survivors = 0
  await inEachCopy(drawn, async (mutant, copy) => {
    write(copy, mutant.file, mutated(mutant))
    const killer = await firstToFail(likeliestFirst(baselines, mutant), copy)
    write(copy, mutant.file, sources.get(mutant.file)!)
    const { file, line, operator, within, before, after } = mutant
    console.log(`${killer === undefined ? 'SURVIVED' : 'killed  '} ${file}:${line} ${operator}${killer ?? ''}`)
    if (killer !== undefined) return
    survivors++
    console.log(`  within '${within}'\n  - ${before}\n  + ${after}`)
  })
  const share = 1 - survivors / drawn.length
  console.log(`${home}: ${Math.round(share * 100)} % of ${drawn.length} killed\n`)
  return share

  /** Puts a source, and what is built from it, into a copy. */
  function write (copy: string, file: string, source: string): void {
    writeFileSync(join(copy, file), source)
    writeFileSync(join(copy, file.replace('/src/', '/dist/').replace(/\.ts$/, '.js')), compiler.emit(file, source))
  }
}

/** Does the work for each item, for as many at once as there are copies. */
async function inEachCopy<Item> (items: readonly Item[], work: (item: Item, copy: string) => Promise<void>): Promise<void> {
  const left = [...items]
  await Promise.all(copies.map(async (copy) => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item, copy)
  }))
}

/**
 * The first test file that notices, and how; undefined when none does. The likeliest one runs alone. Others share processes,
 * as most mutants that get past it get past all; what fails in company has to fail alone.
 */
async function firstToFail ([likeliest, ...others]: readonly Baseline[], copy: string): Promise<string | undefined> {
  if (likeliest === undefined) return
  for (const batch of [[likeliest], ...batchesOf(others)]) {
    const outcome = await outcomeOf(batch, copy)
    if (outcome === 'passed') continue
    if (batch.length === 1) return `, ${batch[0]!.test} ${outcome}`
    for (const baseline of batch) {
      const alone = await outcomeOf([baseline], copy)
      if (alone !== 'passed') return `, ${baseline.test} ${alone}`
    }
  }
}

function outcomeOf (baselines: readonly Baseline[], copy: string): Promise<Outcome> {
  const duration = baselines.reduce((sum, { duration }) => sum + duration, 0)
  return runTests(baselines.map(({ test }) => test), copy, Math.max(SHORTEST, duration * 4))
}

function batchesOf (baselines: readonly Baseline[]): ReadonlyArray<readonly Baseline[]> {
  return Array.from({ length: Math.ceil(baselines.length / SHARING) }, (_, n) => baselines.slice(n * SHARING, (n + 1) * SHARING))
}

function filesIn (home: string, folder: string): readonly string[] {
  return readdirSync(join(root, home, folder), { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort()
}

function wholeNumber (name: string, value: string): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} must be a whole number, at least 1`)
  return number
}
