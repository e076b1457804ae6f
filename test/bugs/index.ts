// `npm run bugs`: see CONTRIBUTING.md
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { compilerOf } from '../mutate/compiler.ts'
import { copiesOf, filesIn, firstToFail, putSource, wholeNumber } from '../mutate/copies.ts'
import { areas, type Area } from './areas.ts'
import { insert, type Bug } from './bug.ts'

/** What a test file is expected to take, in milliseconds. It may take four times as long. */
const EXPECTED = 30_000

/** The variables with the URLs of servers. */
const SERVERS = { postgres: 'TEST_DATABASE_URL', redis: 'TEST_REDIS_URL' } as const

const root = fileURLToPath(new URL('../../', import.meta.url))
const { values: options } = parseArgs({
  options: {
    area: { type: 'string', multiple: true, default: areas.map(({ name }) => name) },
    only: { type: 'string', multiple: true },
    jobs: { type: 'string', default: String(availableParallelism()) }
  }
})
const unknown = options.area.find((name) => !areas.some((area) => area.name === name))
if (unknown !== undefined) throw new Error(`--area must be one of ${areas.map(({ name }) => name).join(', ')}: ${unknown}`)
if (options.only && options.area.length !== 1) throw new Error('--only needs one --area')
const only = options.only?.map((number) => wholeNumber('only', number))

const tried = areas.filter(({ name }) => options.area.includes(name))
  .flatMap((area) => area.bugs.map((bug, index) => ({ area, bug, number: index + 1 })))
  .filter(({ number }) => only?.includes(number) ?? true)
if (tried.length === 0) throw new Error('there is no such bug')

// All of them before the first is tried: that takes minutes.
for (const { area, bug } of tried) insert(bug, readFileSync(join(root, area.home, bug.file), 'utf8'))

const compilers = new Map(tried.map(({ area: { home } }) => [home, compilerOf(join(root, home))]))
const copies = copiesOf(root, Math.min(tried.length, wholeNumber('jobs', options.jobs)))
/** Whether a test file passes without a bug: else it would notice all. */
const clean = new Map<string, Promise<boolean>>()
let noticed = 0

await copies.forEach(tried, async ({ area, bug, number }, copy) => {
  const result = await resultOf(area, bug, copy)
  if (result.startsWith('noticed')) noticed++
  console.log(`${area.name} ${number}: ${bug.suffered}\n  ${result}`)
})
console.log(`\n${noticed} of ${tried.length} noticed`)
if (noticed < tried.length) process.exitCode = 1

async function resultOf (area: Area, bug: Bug, copy: string): Promise<string> {
  const needed = bug.on && SERVERS[bug.on]
  if (needed !== undefined && process.env[needed] === undefined) return `NOT TRIED: set ${needed}`
  const env = Object.fromEntries(Object.values(SERVERS).map((name) => [name, name === needed ? process.env[name] : undefined]))
  const file = `${area.home}/${bug.file}`
  const source = readFileSync(join(root, file), 'utf8')
  await put(copy, area, file, insert(bug, source))
  const failing = await firstToFail(testsFor(area, bug).map((test) => ({ test, duration: EXPECTED })), copy, env)
  await put(copy, area, file, source)
  if (failing === undefined) return 'SURVIVED'
  const { test, outcome } = failing
  const key = `${test} ${bug.on}`
  if (!clean.has(key)) clean.set(key, firstToFail([{ test, duration: EXPECTED }], copy, env).then((result) => result === undefined))
  return await clean.get(key) ? `noticed: ${test} ${outcome}` : `NOT TRIED: ${test} fails without the bug, too`
}

/** The test files of the area, the one that should notice first. */
function testsFor ({ home }: Area, { noticedBy }: Bug): readonly string[] {
  const expected = noticedBy === undefined ? [] : [join(home, noticedBy)]
  return [...new Set([...expected, ...filesIn(root, `${home}/test`).filter((file) => file.endsWith('.test.ts'))])]
}

/** Puts a source, and what is built from it, into a copy. Types are not checked: a bug need not have the right ones. */
async function put (copy: string, { name, home }: Area, file: string, source: string): Promise<void> {
  if (name !== 'console') return putSource(copy, file, source, compilers.get(home)!)
  writeFileSync(join(copy, file), source)
  await promisify(execFile)(process.execPath, ['examples/console/build.js'], { cwd: copy })
}
