import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import t from 'tap'
import { nodeFlags } from './node-flags.js'

/**
 * `npm test -- [--jobs N] [FILE...]`: runs the test files. It prints a line for each file, everything about those that
 * fail, and what was skipped. Short ones share a process, since starting one takes longer than they do. The runner of tap
 * gives each file a process and measures coverage, in three times the time: `npm run coverage`.
 */
const { values: { jobs }, positionals } = parseArgs({ allowPositionals: true, options: { jobs: { type: 'string' } } })

/** How long a file may take, in milliseconds. */
const TIMEOUT = 600_000

/** Files that get a process each, those that take longest first. */
const LONG = [
  'test/docs', 'changes-property', 'console/test/console', 'shop/test/server', 'shop/test/tenancy', 'newcomer', 'shop/test/lists',
  'shop/test/commands', 'shop/test/contract', 'durability', 'shop/test/health', 'rehearsals', 'shop/test/demo', 'bulk', 'contract/cli', 'test/production'
]
/** Their subject is a process that has just started. */
const FRESH = ['late-import']
/** How many of the others share a process. */
const SHARING = 12

const found = positionals.length > 0 ? positionals : ['examples', 'packages', 'test'].flatMap(testsIn)
if (positionals.length === 0) execFileSync(process.execPath, [fileURLToPath(new URL('compile.js', import.meta.url))])
const alone = [...LONG, ...FRESH].flatMap((name) => found.filter((file) => file.includes(name)))
// The processes of many files take longest, so they start first: no processor waits for another at the end.
const batches = [...chunks(found.filter((file) => !alone.includes(file))), ...[...new Set(alone)].map((file) => [file])]

function chunks (files) {
  return Array.from({ length: Math.ceil(files.length / SHARING) }, (_, n) => files.slice(n * SHARING, (n + 1) * SHARING))
}

function testsIn (folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : testsIn(path)
    return path.endsWith('.test.ts') ? [path] : []
  })
}

// Two more than there are processors, since tests also wait.
t.jobs = Number(jobs ?? availableParallelism() + 2)
t.setTimeout(0)
t.register()

// What a process prints is indented by four spaces: its files are the subtests there.
let details = []
const cpu = []
createInterface({ input: t }).on('line', (line) => {
  const [, isFile, failed] = /^( {4})?(not )?ok /.exec(line) ?? [null]
  const [, seconds, file] = /^ {4}# (\d+\.\d) s CPU: (.*)$/.exec(line) ?? []
  if (file !== undefined) {
    cpu.push([Number(seconds), file])
    return
  }
  if (line.startsWith('    ') || line.startsWith('# Subtest')) {
    details.push(line)
    if (line.includes('# SKIP')) console.log(line)
    if (!isFile) return
  }
  if (failed) console.log(details.join('\n'))
  if (isFile) console.log(line.trimStart())
  else if (failed || !/^(ok|$)/.test(line)) console.log(line)
  if (isFile !== null) details = []
}).on('close', () => {
  const sum = cpu.reduce((sum, [seconds]) => sum + seconds, 0)
  console.log(`# ${sum.toFixed(0)} s of processor time; most of it:`)
  for (const [seconds, file] of cpu.toSorted(([a], [b]) => b - a).slice(0, 10)) console.log(`# ${seconds.toFixed(1).padStart(6)} s ${file}`)
})

// Node.js 22 and later keep what V8 compiled; 20 ignores it.
const env = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/v8/', import.meta.url)), ...process.env, TAP_TIMEOUT: String(TIMEOUT / 1000)
}
// tap loads its coverage into each process by NODE_OPTIONS, a quarter of the time of most files.
const BATCH = fileURLToPath(new URL('batch.js', import.meta.url))
const node = ['-u', 'NODE_OPTIONS', process.execPath, ...nodeFlags(new URL('..', import.meta.url))]
for (const files of batches) {
  t.spawn('env', [...node, BATCH], { name: files.join(' '), buffered: true, timeout: TIMEOUT * files.length, env: { ...env, TEST_FILES: JSON.stringify(files) } })
}
t.end()
