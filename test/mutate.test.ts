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

  await t.test('the mutants that no test can notice exist, once each, and have their reason', async (t) => {
    t.strictSame(packages.flatMap((name) => stale(mutants, `packages/${name}`)), [])
    t.ok(equivalents.every(({ file, reason }) => packages.some((name) => file.startsWith(`packages/${name}/`)) && reason.length > 20))
    t.strictSame(stale([], 'packages').length, equivalents.length)
  })

  await t.test('the workflow tries all of them', async (t) => {
    t.strictSame(parse(source('.github/workflows/mutate.yml')).jobs.mutate.strategy.matrix.package, packages)
  })
})
