import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import t from 'tap'
import { equivalents, stale } from './mutate/equivalent.ts'
import { mutantsOf } from './mutate/mutants.ts'

const packages = readdirSync('packages')

t.test('of the packages', async (t) => {
  const files = packages.flatMap((name) => readdirSync(`packages/${name}/src`, { recursive: true, encoding: 'utf8' }).map((file) => `packages/${name}/src/${file}`))
  const source = (file: string): string => readFileSync(file, 'utf8')
  const mutants = files.filter((file) => file.endsWith('.ts')).flatMap((file) => mutantsOf(file, source(file)))

  await t.test('the mutants that no test can notice exist, and have their reason', async (t) => {
    t.strictSame(stale(mutants, 'packages'), [])
    t.strictSame(stale([], 'packages'), [...equivalents.keys()])
    t.strictSame([...equivalents].filter(([, reason]) => reason.length < 20), [])
    t.equal(new Set(mutants.map(({ place }) => place)).size, mutants.length, 'a place is that of one mutant')
  })

  await t.test('the workflow tries all of them', async (t) => {
    t.strictSame(parse(source('.github/workflows/mutate.yml')).jobs.mutate.strategy.matrix.package, packages)
  })
})
