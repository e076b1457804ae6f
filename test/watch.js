// `npm run test:watch FILE...` runs test files again whenever a source or test changes, until Ctrl-C.
import { spawn } from 'node:child_process'
import { watch } from 'node:fs'

/** How long the sources must be quiet, in milliseconds: editors write a file in several steps. */
const QUIET = 100
const IGNORED = /(^|\/)(node_modules|dist|\.data|\.tap)(\/|$)|\.tsbuildinfo$/

const files = process.argv.slice(2)
if (files.length === 0) {
  console.error('Name the test files: npm run test:watch packages/dual-auth/test/policy.test.ts')
  process.exit(2)
}

let running
let isStale = false
let timer

function run () {
  isStale = false
  running = spawn('npm', ['test', '--silent', '--', ...files], { stdio: 'inherit' })
  running.once('exit', () => {
    running = undefined
    if (isStale) run()
  })
}

function changed () {
  if (running === undefined) run()
  else isStale = true
}

for (const folder of ['packages', 'examples', 'shared', 'test']) {
  watch(folder, { recursive: true }, (_event, file) => {
    if (file === null || IGNORED.test(file)) return
    clearTimeout(timer)
    timer = setTimeout(changed, QUIET)
  })
}
run()
