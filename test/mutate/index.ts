// `npm run mutate`: see CONTRIBUTING.md. StrykerJS finds the same survivors in four times the time. Frozen: it is mended, and
// learns nothing more.
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { baselineOf } from './baseline.ts'
import { compilerOf } from './compiler.ts'
import { copiesOf, filesIn, firstToFail, putSource, wholeNumber } from './copies.ts'
import { likeliestFirst, type Baseline } from './coverage.ts'
import { equivalents, stale } from './equivalent.ts'
import { mutantsOf, mutate, type Mutant } from './mutants.ts'
import { sample } from './sample.ts'

/** The least share of mutants that the tests of a package must notice. */
const ENOUGH = 0.95

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
const copies = copiesOf(root, wholeNumber('jobs', options.jobs))

for (const name of options.package) {
  const share = await scoreOf(`packages/${name}`)
  // no mutants, no proof
  if (!(share >= ENOUGH)) process.exitCode = 1
}

/** Tries the mutants of one package and prints those that no test notices. */
async function scoreOf (home: string): Promise<number> {
  const sources = new Map(filesIn(root, `${home}/src`).filter((file) => file.endsWith('.ts')).map((file) => [file, readFileSync(join(root, file), 'utf8')]))
  const mutants = [...sources].flatMap(([file, source]) => mutantsOf(file, source))
  const [gone] = stale(mutants, home)
  if (gone) throw new Error(`equivalent.ts lists a place that has no mutant: ${gone}`)

  const compiler = compilerOf(join(root, home))
  const mutated = (mutant: Mutant): string => mutate(sources.get(mutant.file)!, mutant)
  const drawn = sample(mutants.filter(({ file }) => file.startsWith(`${home}/${options.under}`)), size, options.seed, (mutant) =>
    !equivalents.has(mutant.place) && compiler.accepts(join(root, mutant.file), mutated(mutant)))
  console.log(`${home}: ${drawn.length} of ${mutants.length} mutants, seed ${options.seed}`)

  const isTest = (file: string): boolean => file.endsWith('.test.ts')
  const files = filesIn(root, `${home}/test`)
  const used = [`${home}/src`, ...files.filter((file) => !isTest(file))]
  const baselines: Baseline[] = []
  await copies.forEach(files.filter(isTest), async (test, copy) => { baselines.push(await baselineOf(test, copy, home, used)) })

  let survivors = 0
  await copies.forEach(drawn, async (mutant, copy) => {
    putSource(copy, mutant.file, mutated(mutant), compiler)
    const killer = await firstToFail(likeliestFirst(baselines, mutant), copy)
    putSource(copy, mutant.file, sources.get(mutant.file)!, compiler)
    const { file, line, operator, place, before, after } = mutant
    console.log(`${killer === undefined ? 'SURVIVED' : 'killed  '} ${file}:${line} ${operator}${killer ? `, ${killer.test} ${killer.outcome}` : ''}`)
    if (killer !== undefined) return
    survivors++
    console.log(`  ${place.slice('packages/'.length)}\n  - ${before}\n  + ${after}`)
  })
  const share = 1 - survivors / drawn.length
  console.log(`${home}: ${Math.round(share * 100)} % of ${drawn.length} killed\n`)
  return share
}
