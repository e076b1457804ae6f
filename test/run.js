import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import t from 'tap'

/**
 * `npm test -- [--jobs N] [FILE...]`: runs the test files, each in a process of its own. It prints a line for each file,
 * everything about those that fail, and what was skipped. The runner of tap does the same with coverage, and takes
 * twice as long: `npm run coverage`.
 */
const { values: { jobs }, positionals } = parseArgs({ allowPositionals: true, options: { jobs: { type: 'string' } } })

/** How long a file may take, in milliseconds. */
const TIMEOUT = 300_000

// Compiling WebAssembly once and fast suits processes that live for seconds: half of the tests start a database in theirs.
const node = [
  '--import', new URL('typescript.js', import.meta.url).href, '--enable-source-maps',
  '--liftoff-only', '--single-threaded-gc', '--max-semi-space-size=64'
]

// The longest first, so that no processor waits for the others at the end.
const LONG = /bulk|contract\/cli|shop\/test\/(contract|server|commands|tenancy|demo|health|durability)|docs|production/
const found = positionals.length > 0 ? positionals : ['examples', 'packages', 'test'].flatMap(testsIn)
const files = [...found.filter((file) => LONG.test(file)), ...found.filter((file) => !LONG.test(file))]

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

let details = []
createInterface({ input: t }).on('line', (line) => {
  if (line.startsWith('    ') || line.startsWith('# Subtest')) {
    details.push(line)
    if (line.includes('# SKIP')) console.log(line)
    return
  }
  if (line.startsWith('not ok')) console.log(details.join('\n'))
  if (/^(not )?ok/.test(line)) details = []
  if (line !== '') console.log(line)
})

const env = { ...process.env, TAP_TIMEOUT: String(TIMEOUT / 1000) }
for (const file of files) t.spawn(process.execPath, [...node, file], { name: file, buffered: true, timeout: TIMEOUT, env })
t.end()
