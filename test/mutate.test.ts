import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import t from 'tap'
import ts from 'typescript'
import { lineOf, linesThatRan } from './mutate/coverage.ts'
import { equivalents, stale } from './mutate/equivalent.ts'
import { mutantsOf, mutate } from './mutate/mutants.ts'
import { nodeFlags } from './node-flags.js'

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

t.test('the lines that ran count for their source, also when they ran as what is built from it', async (t) => {
  const source = ['interface A { b: string }', 'export function c (d?: A): string {', '  if (d) {', '    return d.b', '  }', "  return 'e'", '}', '']
  const called = (call: string): string => [...source, call].join('\n')
  const { outputText } = ts.transpileModule(called('c()'), { fileName: 'built.ts', compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, inlineSourceMap: true } })
  const directory = realpathSync(t.testdir({
    'package.json': '{ "type": "module" }',
    home: { src: { 'run.ts': called("c({ b: 'f' })") }, dist: { 'built.js': outputText } },
    'elsewhere.ts': called('c()'),
    'main.ts': "import './home/src/run.ts'\nimport './home/dist/built.js'\nimport './elsewhere.ts'\n"
  }))
  const reports = join(directory, 'reports')
  await promisify(execFile)(process.execPath, [...nodeFlags(new URL('..', import.meta.url)), join(directory, 'main.ts')], { env: { ...process.env, NODE_V8_COVERAGE: reports } })
  const lines = (file: string, ...ran: number[]): readonly string[] => ran.map((line) => lineOf({ file, line }))
  const ran = linesThatRan(reports, directory, 'home')
  for (const line of [...lines('home/src/run.ts', 2, 3, 4, 9), ...lines('home/src/built.ts', 2, 3, 6, 9)]) t.ok(ran.has(line), line)
  for (const line of [...lines('home/src/run.ts', 6), ...lines('home/src/built.ts', 4), ...lines('elsewhere.ts', 3)]) t.notOk(ran.has(line), line)
})
