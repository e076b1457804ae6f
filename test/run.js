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

/** How long a process may take, in milliseconds. */
const TIMEOUT = 600_000

/** Files that get a process each. They start first, so that no processor waits for another at the end. */
const LONG = /console.test|bulk|changes-property|contract\/cli|shop\/test\/(contract|server|commands|tenancy|demo|health|durability)|docs|production/
/** Their subject is a process that has just started. */
const FRESH = /late-import/
/** How many of the others share a process. */
const SHARING = 12

const found = positionals.length > 0 ? positionals : ['examples', 'packages', 'test'].flatMap(testsIn)
if (positionals.length === 0) execFileSync(process.execPath, [fileURLToPath(new URL('compile.js', import.meta.url))])
const alone = (file) => LONG.test(file) || FRESH.test(file)
const batches = [...found.filter(alone).map((file) => [file]), ...chunks(found.filter((file) => !alone(file)))]

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

// One more than there are processors, since tests also wait.
t.jobs = Number(jobs ?? availableParallelism() + 1)
t.setTimeout(0)
t.register()

// What a process prints is indented by four spaces: its files are the subtests there.
let details = []
createInterface({ input: t }).on('line', (line) => {
  const [, isFile, failed] = /^( {4})?(not )?ok /.exec(line) ?? [null]
  if (line.startsWith('    ') || line.startsWith('# Subtest')) {
    details.push(line)
    if (line.includes('# SKIP')) console.log(line)
    if (!isFile) return
  }
  if (failed) console.log(details.join('\n'))
  if (isFile) console.log(line.trimStart())
  else if (failed || !/^(ok|$)/.test(line)) console.log(line)
  if (isFile !== null) details = []
})

// Node.js 22 and later keep what V8 compiled; 20 ignores it.
const env = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/v8/', import.meta.url)), ...process.env, TAP_TIMEOUT: String(TIMEOUT / 1000)
}
// tap loads its coverage into each process by NODE_OPTIONS, a quarter of the time of most files.
const BATCH = fileURLToPath(new URL('batch.js', import.meta.url))
const node = ['-u', 'NODE_OPTIONS', process.execPath, ...nodeFlags(new URL('..', import.meta.url))]
for (const files of batches) {
  t.spawn('env', [...node, BATCH], { name: files.join(' '), buffered: true, timeout: TIMEOUT, env: { ...env, TEST_FILES: JSON.stringify(files) } })
}
t.end()
