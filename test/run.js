import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { nodeFlags } from './node-flags.js'

/**
 * `npm test -- [--jobs N] [--all] [FILE or FOLDER...]`: runs the test files; without `--all` or names, those that are
 * {@link PROGRAMS} wait. It prints a line for each file, everything about those that fail, and what was skipped. A few
 * processes take the files from one queue, since most files run for less time than a process takes to start. The runner
 * of tap gives each file a process and measures coverage, in three times the time: `npm exec tap`.
 */
const { values: { all, jobs }, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean', default: false }, jobs: { type: 'string' } }
})

/** How long a file may take, in milliseconds, and how much longer until its process is killed. */
const TIMEOUT = 600_000
const GRACE = 30_000

/** The processor time of each file when it ran last, in seconds. */
const TIMES = new URL('../node_modules/.cache/test-times.json', import.meta.url)
/** How many files a process runs before a new one takes over: it gets slower the more memory it has used. */
const SHARE = 24
/**
 * They have a process of their own: their subject is one that has just started, or they move its clock, and the timers
 * of an embedded database beside them would then fire a thousand times a second.
 */
const FRESH = /late-import|mock\.timers\.enable/

/**
 * Tests that drive Chromium, run the programs of the docs or kill servers. They take a quarter of the time of all, and
 * ten times as long as others of their size.
 */
const PROGRAMS = /openBrowser|docs\/shell\.ts|drills\/drill\.ts/
const isProgram = (file) => PROGRAMS.test(readFileSync(file, 'utf8'))

const existing = ['examples', 'packages', 'test'].flatMap(testsIn)
const left = all || positionals.length > 0 ? [] : existing.filter(isProgram)
const named = positionals.flatMap((path) => path.endsWith('.ts') ? [path] : testsIn(path))
const found = positionals.length > 0 ? named : existing.filter((file) => !left.includes(file))
const fresh = found.filter((file) => FRESH.test(file) || FRESH.test(readFileSync(file, 'utf8')))
const times = timesOfLastRun()
// Those that take longest start first, so that no process is left with one of them at the end. A file that never ran
// here is taken to last the longer the larger it is.
const expected = new Map(
  found.map((file) => [file, times[file] ?? statSync(file).size / (isProgram(file) ? 200 : 2000)])
)
const queue = found.filter((file) => !fresh.includes(file)).toSorted((a, b) => expected.get(b) - expected.get(a))
// One more than there are processors, since tests also wait.
const processes = Math.min(queue.length, Number(jobs ?? availableParallelism() + 1))

function testsIn (folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : testsIn(path)
    return path.endsWith('.test.ts') ? [path] : []
  })
}

function timesOfLastRun () {
  try {
    return JSON.parse(readFileSync(TIMES, 'utf8'))
  } catch {
    return {}
  }
}

const ended = new Set()
const totals = { total: 0, pass: 0, fail: 0, skip: 0, todo: 0 }
/** A few tests hold a third of the assertions. */
let tests = 0
const cpu = []

const claims = mkdtempSync(join(tmpdir(), 'test-claims-'))
process.once('exit', () => rmSync(claims, { recursive: true, force: true }))
await Promise.all([
  ...Array.from({ length: processes }, async () => {
    while (
      readdirSync(claims).length < queue.length &&
      await run(queue, { TEST_CLAIMS: claims, TEST_SHARE: String(SHARE) }) > 0
    );
  }),
  (async () => {
    for (const file of fresh) await run([file])
  })()
])
for (const file of found) if (!ended.has(file)) report(file, 'no process was left to run it')

console.log(`1..${ended.size}`)
console.log(
  '# { ' +
    `${
      Object.entries(totals).filter(([name, count]) => name === 'total' || count > 0).map((entry) => entry.join(': '))
        .join(', ')
    } ` +
    '}'
)
console.log(`# assertions in ${tests} tests`)
if (left.length > 0) {
  console.log(
    `# ${left.length} files with browsers, the programs of the docs and drills did not run: npm test -- --all`
  )
}
console.log(`# time=${performance.now().toFixed(0)}ms`)
console.log(`# ${cpu.reduce((sum, [seconds]) => sum + seconds, 0).toFixed(0)} s of processor time; most of it:`)
mkdirSync(new URL('.', TIMES), { recursive: true })
writeFileSync(TIMES, JSON.stringify({ ...times, ...Object.fromEntries(cpu.map(([seconds, file]) => [file, seconds])) }))
for (const [seconds, file] of cpu.toSorted(([a], [b]) => b - a).slice(0, 10)) {
  console.log(`# ${seconds.toFixed(1).padStart(6)} s ${file}`)
}

/**
 * Runs files in one process, and prints what it says of each once it is through with it.
 *
 * @returns how many it ran
 */
async function run (files, env = {}) {
  let count = 0
  const child = spawn(process.execPath, [
    ...nodeFlags(new URL('..', import.meta.url)),
    fileURLToPath(new URL('batch.js', import.meta.url))
  ], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      // Node.js 22 and later keep what V8 compiled; 20 ignores it.
      NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/v8/', import.meta.url)),
      ...process.env,
      ...env,
      TAP_TIMEOUT: String(TIMEOUT / 1000),
      TEST_FILES: JSON.stringify(files)
    }
  })
  let current, details, watchdog
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    const [, started] = /^# Subtest: (.*)$/.exec(line) ?? []
    const [, result] = /^((?:not )?ok) \d+ - /.exec(line) ?? []
    const [, counts] = /^# \{ (total: .*) \}$/.exec(line) ?? []
    const [, seconds, file] = /^# (\d+\.\d) s CPU: (.*)$/.exec(line) ?? []
    if (started !== undefined) {
      current = started
      details = []
      watchdog = setTimeout(() => child.kill('SIGKILL'), TIMEOUT + GRACE)
    } else if (current !== undefined && result === undefined) {
      details.push(line)
      if (/^ +(?:not )?ok \d+ - .*# time=/.test(line)) tests++
      if (line.includes('# SKIP')) console.log(line)
    } else if (current !== undefined) {
      if (result !== 'ok') console.log(details.join('\n'))
      ended.add(current)
      count++
      console.log(line.replace(/\d+/, ended.size))
      if (result !== 'ok') process.exitCode = 1
      clearTimeout(watchdog)
      current = undefined
    } else if (counts !== undefined) {
      for (const [, name, number] of counts.matchAll(/(\w+): (\d+)/g)) totals[name] += Number(number)
    } else if (seconds !== undefined) cpu.push([Number(seconds), file])
    else if (!/^(TAP version|1\.\.|# time=|$)/.test(line)) console.log(line)
  })
  const [[code, signal]] = await Promise.all([once(child, 'exit'), once(lines, 'close')])
  clearTimeout(watchdog)
  if (code !== 0) process.exitCode = 1
  if (current !== undefined) report(current, `its process ended with ${signal ?? code}`, details)
  return count
}

/** A file that could not say itself how it ended. */
function report (file, why, details = []) {
  ended.add(file)
  console.log([...details, `not ok ${ended.size} - ${file}: ${why}`].join('\n'))
  totals.total++
  totals.fail++
  process.exitCode = 1
}
