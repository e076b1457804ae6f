import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import t from 'tap'
import { functionsThatRan, likeliestFirst, nameOfFunction, type Baseline } from './mutate/coverage.ts'
import { equivalents, stale } from './mutate/equivalent.ts'
import { mutantsOf, mutate } from './mutate/mutants.ts'
import { ALWAYS, isOf, sample } from './mutate/sample.ts'

const packages = readdirSync('packages')

/** What a source becomes by each mutant of one operator. */
const changed = (source: string, operator: string): readonly string[] =>
  mutantsOf('a.ts', source).filter((mutant) => mutant.operator === operator).map((mutant) => mutate(source, mutant))

t.test('each operator makes its errors, one at a time', async (t) => {
  const table: ReadonlyArray<readonly [operator: string, source: string, becomes: readonly string[]]> = [
    ['condition turned', 'if (a) b()', ['if (!(a)) b()']],
    ['condition turned', 'c = a ? 1 : 2', ['c = !(a) ? 1 : 2']],
    ['guard dropped', 'if (a) throw b', [';']],
    ['guard dropped', 'if (a) b(); else c()', []],
    ['boundary moved', 'c = a < b', ['c = a <= b']],
    ['comparison turned', 'c = a === b', ['c = a !== b']],
    ['comparison turned', 'if (a === b) c()', []],
    ['arithmetic turned', 'c = a + b', ['c = a - b']],
    ['negation dropped', 'c = !a', ['c = a']],
    ['operand dropped', 'c = a && b', ['c = (a)', 'c = (b)']],
    ['return replaced', 'c = () => true', ['c = () => undefined', 'c = () => false', 'c = () => []', "c = () => ''"]],
    ['argument dropped', 'c = a(1, b)', ['c = a(1)']],
    ['argument dropped', 'c = new A(b)', ['c = new A()']],
    ['call dropped', 'a.b(1)', [';']],
    ['call dropped', 'const c = a.b().c(1)', ['const c = a.b()']],
    ['property dropped', 'c = { a: 1, b, ...d }', ['c = { b, ...d }', 'c = { a: 1, ...d }', 'c = { a: 1, b }']],
    ['property dropped', "c = { title: 'A' }", []],
    ['literal changed', "c = [true, 1, 'a', '', 'for people']", ["c = [false, 1, 'a', '', 'for people']", "c = [true, 2, 'a', '', 'for people']", "c = [true, 1, '', '', 'for people']", "c = [true, 1, 'a', 'changed', 'for people']"]],
    ['literal changed', "import a from 'a'; type B = 'b'; const c = { 'd-e': a, description: 'f' }", []]
  ]
  for (const [operator, source, becomes] of table) t.strictSame(changed(source, operator), becomes, `${operator}: ${source}`)
})

t.test('a mutant says where it is, and what changes on its lines', async (t) => {
  const [mutant] = mutantsOf('a.ts', 'const a = 1\n\nfunction f () {\n  if (b) {\n    return a\n  }\n}\n').filter(({ operator }) => operator === 'guard dropped')
  t.strictSame(mutant, {
    file: 'a.ts', operator: 'guard dropped', within: 'f', line: 4, before: 'if (b) { return a }', after: ';', start: 31, end: 56, text: ';'
  })
})

t.test('of the packages', async (t) => {
  const files = packages.flatMap((name) => readdirSync(`packages/${name}/src`, { recursive: true, encoding: 'utf8' }).map((file) => `packages/${name}/src/${file}`))
  const source = (file: string): string => readFileSync(file, 'utf8')
  const mutants = files.filter((file) => file.endsWith('.ts')).flatMap((file) => mutantsOf(file, source(file)))

  await t.test('the same seed draws the same sample, another seed another one', async (t) => {
    const draw = (seed: string) => sample(mutants, 40, seed, () => true)
    t.strictSame(draw('1'), draw('1'))
    t.equal(new Set(draw('1')).size, 40)
    t.ok(draw('2').filter((mutant) => draw('1').includes(mutant)).length < 10)
  })

  await t.test('a sample holds only fair mutants, of every operator, and some of the files that are always in it', async (t) => {
    const drawn = sample(mutants, 60, '1', ({ line }) => line % 2 === 0)
    t.ok(drawn.every(({ line }) => line % 2 === 0))
    t.strictSame(new Set(drawn.map(({ operator }) => operator)), new Set(mutants.map(({ operator }) => operator)))
    for (const name of ALWAYS) t.ok(drawn.filter(({ file }) => isOf(name, file)).length >= 3, name)
  })

  await t.test('the mutants that no test can notice exist, once each, and have their reason', async (t) => {
    t.strictSame(packages.flatMap((name) => stale(mutants, `packages/${name}`)), [])
    t.ok(equivalents.every(({ file, reason }) => packages.some((name) => file.startsWith(`packages/${name}/`)) && reason.length > 20))
    t.strictSame(stale([], 'packages').length, equivalents.length)
  })

  await t.test('the workflow tries all of them', async (t) => {
    t.strictSame(parse(source('.github/workflows/mutate.yml')).jobs.mutate.strategy.matrix.package, packages)
  })
})

t.test('the tests that run the function come first, then those that import its file, and quick ones before slow ones', async (t) => {
  const baseline = (test: string, duration: number, ...functions: string[]): Baseline =>
    ({ test, duration, functions: new Set(functions.map((name) => nameOfFunction('a.ts', name))) })
  const baselines = [baseline('never', 1), baseline('imports', 2, ''), baseline('slow', 9, '', 'f'), baseline('quick', 3, '', 'f')]
  t.strictSame(likeliestFirst(baselines, { file: 'a.ts', within: 'f' }).map(({ test }) => test), ['quick', 'slow', 'imports', 'never'])
})

t.test('functions that ran count for their source, also when they ran as what is built from it', async (t) => {
  const url = (path: string): string => new URL(path, 'file:///repository/').href
  const ran = (functionName: string, count = 1) => ({ functionName, ranges: [{ count }] })
  const reports = t.testdir({
    'one.json': JSON.stringify({ result: [{ url: url('packages/a/src/b.ts'), functions: [ran(''), ran('f'), ran('g', 0)] }] }),
    'other.json': JSON.stringify({ result: [{ url: url('packages/a/dist/b.js'), functions: [ran('h')] }, { url: 'node:fs', functions: [ran('read')] }] })
  })
  t.strictSame([...functionsThatRan(reports, '/repository')], ['', 'f', 'h'].map((name) => nameOfFunction('packages/a/src/b.ts', name)))
})
