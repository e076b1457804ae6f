// `npm run mutate`: see CONTRIBUTING.md
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { compilerOf } from './compiler.ts'
import { functionsThatRan, likeliestFirst, type Baseline } from './coverage.ts'
import { equivalents, isSame, stale } from './equivalent.ts'
import { mutantsOf, mutate, type Mutant } from './mutants.ts'
import { runTest } from './run.ts'
import { sample } from './sample.ts'
import { scratchCopy } from './scratch.ts'

/** The least share of mutants that the tests of a package must notice. */
const ENOUGH = 0.95

/** The longest that a test file may take without a mutant, and the least time that it has with one, in milliseconds. */
const LONGEST = 300_000
const SHORTEST = 30_000

const root = fileURLToPath(new URL('../../', import.meta.url))
const { values: options } = parseArgs({
  options: {
    package: { type: 'string', multiple: true, default: readdirSync(join(root, 'packages')) },
    size: { type: 'string', default: '25' },
    seed: { type: 'string', default: '1' }
  }
})
const size = Number(options.size)
if (!Number.isSafeInteger(size) || size < 1) throw new Error('--size must be a whole number, at least 1')

const copy = scratchCopy(root)
const remove = (): void => rmSync(copy, { recursive: true, force: true })
process.once('exit', remove)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

for (const name of options.package) {
  const share = await scoreOf(`packages/${name}`)
  // no mutants, no proof
  if (!(share >= ENOUGH)) process.exitCode = 1
}

/** Tries the mutants of one package, one after the other, and prints those that no test notices. */
async function scoreOf (home: string): Promise<number> {
  const sources = new Map(filesIn(home, 'src', '.ts').map((file) => [file, readFileSync(join(copy, file), 'utf8')]))
  const mutants = [...sources].flatMap(([file, source]) => mutantsOf(file, source))
  const [gone] = stale(mutants, home)
  if (gone) throw new Error(`equivalent.ts lists a mutant that does not exist: ${JSON.stringify(gone)}`)

  const compiler = compilerOf(join(copy, home))
  const mutated = (mutant: Mutant): string => mutate(sources.get(mutant.file)!, mutant)
  const drawn = sample(mutants, size, options.seed, (mutant) =>
    !equivalents.some((entry) => isSame(entry, mutant)) && compiler.accepts(join(copy, mutant.file), mutated(mutant)))
  console.log(`${home}: ${drawn.length} of ${mutants.length} mutants, seed ${options.seed}`)

  const baselines: Baseline[] = []
  for (const test of filesIn(home, 'test', '.test.ts')) baselines.push(await baselineOf(test))

  const survivors: Mutant[] = []
  for (const mutant of drawn) {
    write(mutant.file, mutated(mutant))
    const killer = await firstToFail(likeliestFirst(baselines, mutant))
    write(mutant.file, sources.get(mutant.file)!)
    const { file, line, operator, within, before, after } = mutant
    console.log(`${killer === undefined ? 'SURVIVED' : 'killed  '} ${file}:${line} ${operator}${killer ?? ''}`)
    if (killer !== undefined) continue
    survivors.push(mutant)
    console.log(`  within '${within}'\n  - ${before}\n  + ${after}`)
  }
  const share = 1 - survivors.length / drawn.length
  console.log(`${home}: ${Math.round(share * 100)} % of ${drawn.length} killed\n`)
  return share

  /** Puts a source, and what is built from it, into the copy. */
  function write (file: string, source: string): void {
    writeFileSync(join(copy, file), source)
    writeFileSync(join(copy, file.replace('/src/', '/dist/').replace(/\.ts$/, '.js')), compiler.emit(file, source))
  }
}

/** Without a mutant each test file must pass. */
async function baselineOf (test: string): Promise<Baseline> {
  const reports = mkdtempSync(join(tmpdir(), 'mutate-coverage-'))
  const start = performance.now()
  const outcome = await runTest(test, copy, LONGEST, { NODE_V8_COVERAGE: reports })
  const duration = performance.now() - start
  const functions = functionsThatRan(reports, copy)
  rmSync(reports, { recursive: true })
  if (outcome !== 'passed') throw new Error(`${test} ${outcome} without a mutant`)
  return { test, functions, duration }
}

/** The first test file that notices, and how; undefined when none does. */
async function firstToFail (baselines: readonly Baseline[]): Promise<string | undefined> {
  for (const { test, duration } of baselines) {
    const outcome = await runTest(test, copy, Math.max(SHORTEST, duration * 4))
    if (outcome !== 'passed') return `, ${test} ${outcome}`
  }
}

function filesIn (home: string, folder: string, ending: string): readonly string[] {
  return readdirSync(join(copy, home, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(home, folder, name))
    .sort()
}
