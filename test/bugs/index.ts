// `npm run bugs`: see CONTRIBUTING.md
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { withoutChromium } from '../../examples/console/test/browser.ts'
import { compilerOf } from '../mutate/compiler.ts'
import { copiesOf, filesIn, firstToFail, putSource, wholeNumber } from '../mutate/copies.ts'
import { areas, type Area } from './areas.ts'
import { insert, type Bug } from './bug.ts'

/** What a test file is expected to take, in milliseconds. It may take four times as long. */
const EXPECTED = 30_000
const EXPECTED_IN_BROWSER = 90_000

/** The variables with the URLs of servers. */
const SERVERS = { postgres: 'TEST_DATABASE_URL', redis: 'TEST_REDIS_URL' } as const

/** Why a bug cannot be shown here, by what it needs. */
const missing = {
  ...Object.fromEntries(Object.entries(SERVERS).map(([name, variable]) => [name, process.env[variable] === undefined && `set ${variable}`])),
  browser: withoutChromium
} as Readonly<Record<NonNullable<Bug['on']>, string | false>>

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
let untried = 0
for (const [on, why] of Object.entries(missing)) {
  const count = tried.filter(({ bug }) => bug.on === on).length
  if (why !== false && count > 0) console.log(`${count} of ${tried.length} need ${on}: ${why}`)
}

await copies.forEach(tried, async ({ area, bug, number }, copy) => {
  const result = await resultOf(area, bug, copy)
  if (result.startsWith('noticed')) noticed++
  if (result.startsWith('NOT TRIED')) untried++
  console.log(`${area.name} ${number}: ${bug.suffered}\n  ${result}`)
})
console.log(`\n${noticed} of ${tried.length} noticed, ${untried} not tried`)
if (noticed < tried.length) process.exitCode = 1

async function resultOf (area: Area, bug: Bug, copy: string): Promise<string> {
  const { on } = bug
  if (on && missing[on] !== false) return `NOT TRIED: ${missing[on]}`
  // The embedded database, unless another one alone can show it.
  const env = Object.fromEntries(Object.entries(SERVERS).map(([name, variable]) => [variable, name === on ? process.env[variable] : undefined]))
  const duration = on === 'browser' ? EXPECTED_IN_BROWSER : EXPECTED
  const source = readFileSync(join(root, area.home, bug.file), 'utf8')
  await put(copy, area, bug, insert(bug, source))
  const failing = await firstToFail(testsFor(area, bug).map((test) => ({ test, duration })), copy, env)
  await put(copy, area, bug, source)
  if (failing === undefined) return 'SURVIVED'
  const { test, outcome } = failing
  const key = `${test} ${on}`
  if (!clean.has(key)) clean.set(key, firstToFail([{ test, duration }], copy, env).then((result) => result === undefined))
  return await clean.get(key) ? `noticed: ${test} ${outcome}` : `NOT TRIED: ${test} fails without the bug, too`
}

/** The test files of the area, the one that should notice first. */
function testsFor ({ home }: Area, { noticedBy }: Bug): readonly string[] {
  const expected = noticedBy === undefined ? [] : [join(home, noticedBy)]
  return [...new Set([...expected, ...filesIn(root, `${home}/test`).filter((file) => file.endsWith('.test.ts'))])]
}

/** Puts a source, and what is built from it, into a copy. Types are not checked: a bug need not have the right ones. */
async function put (copy: string, { name, home }: Area, { file, on }: Bug, source: string): Promise<void> {
  if (name !== 'console') return putSource(copy, `${home}/${file}`, source, compilers.get(home)!)
  writeFileSync(join(copy, home, file), source)
  // Other tests of the console take its sources.
  if (on === 'browser') await promisify(execFile)(process.execPath, ['examples/console/build.js'], { cwd: copy })
}
