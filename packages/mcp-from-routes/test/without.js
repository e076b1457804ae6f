import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * `node test/without.js PART...`: takes extensions and `testing` out of a copy of the package, with their tests and
 * their lines in `package.json`, and those that build on them; then compiles the rest and runs its tests. Without
 * names, it takes out all.
 */

/** The rooms that are no extensions, and those that have a command, by what the command line imports of them. */
const BESIDE = ['testing']
const COMMANDS = { review: 'extensions/review/', testing: 'testing/cases/' }

/** The rooms that one builds on. */
export const NEEDS = { views: ['resources'], skills: ['resources'] }

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const HERE = 'packages/mcp-from-routes'

/**
 * @param {readonly string[]} rooms - their names
 * @returns {readonly string[]} they, and those that build on them
 */
function withDependents (rooms) {
  const more = Object.keys(NEEDS).filter((room) =>
    !rooms.includes(room) && NEEDS[room].some((one) => rooms.includes(one))
  )
  return more.length === 0 ? rooms : withDependents([...rooms, ...more])
}

/** @param {string} folder */
function filesIn (folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
}

/**
 * Removes rooms from a copy of the package.
 *
 * @param {string} folder - the copy
 * @param {readonly string[]} rooms
 */
function takeOut (folder, rooms) {
  for (const room of rooms) {
    const place = BESIDE.includes(room) ? room : join('extensions', room)
    for (const part of ['src', 'test']) rmSync(join(folder, part, place), { recursive: true })
  }
  // The command of a room is one of the command line.
  const run = join(folder, 'src/cli/run.ts')
  for (const room of Object.keys(COMMANDS).filter((room) => rooms.includes(room))) {
    const lines = readFileSync(run, 'utf8').split('\n')
    const at = lines.findIndex((line) => line.includes(COMMANDS[room]))
    if (at < 0) throw new Error(`${run} names no ${room}`)
    writeFileSync(run, lines.toSpliced(at, 1, `throw new Error('no ${room}')`).join('\n'))
  }
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  for (const room of rooms) {
    delete manifest.exports[`./${room}`]
    delete manifest.typesVersions['*'][room]
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, undefined, 2))
  takeOutPairs(join(folder, 'test'), rooms)
}

/**
 * Removes the tests of pairs with one of the rooms, and the benches that have one.
 *
 * @param {string} tests
 * @param {readonly string[]} rooms
 */
function takeOutPairs (tests, rooms) {
  const names = new RegExp(`(?:from|import\\() ?['"][^'"]*/(?:${rooms.join('|')})/`)
  for (const file of filesIn(join(tests, 'extensions/pairs'))) {
    if (file.endsWith('.ts') && names.test(readFileSync(file, 'utf8'))) rmSync(file)
  }
  const suite = join(tests, 'extensions/pairs/conformance')
  if (!existsSync(join(suite, 'fixture.ts'))) rmSync(suite, { recursive: true })
}

/**
 * Copies what the package and its tests need, without what was built of rooms.
 *
 * @param {string} copy
 */
function copyTo (copy) {
  for (const part of ['package.json', 'shared', 'test', '.github', 'examples/quickstart', HERE]) {
    const from = join(repository, part)
    const filter = (/** @type {string} */ file) =>
      !/node_modules|\.tsbuildinfo$|^dist\/(?:extensions|testing)/.test(relative(from, file))
    cpSync(from, join(copy, part), { recursive: true, filter })
  }
  const config = readFileSync(join(repository, 'tsconfig.json'), 'utf8')
  const include = `"include": ["${HERE}/src", "${HERE}/test"]`
  writeFileSync(join(copy, 'tsconfig.json'), config.replace(/"include": \[.*?\]/, include))
  symlinkSync(join(repository, 'node_modules'), join(copy, 'node_modules'))
  // For the programs of the pages.
  mkdirSync(join(copy, 'examples/node_modules'))
  symlinkSync(join(copy, HERE), join(copy, 'examples/node_modules/mcp-from-routes'))
}

/**
 * @param {readonly string[]} args - of Node.js
 * @param {string} cwd
 */
function run (args, cwd) {
  const { status } = spawnSync(process.execPath, args, { cwd, stdio: 'inherit' })
  if (status === 0) return
  console.error(`${args[0]} fails without these rooms`)
  process.exit(1)
}

/** @param {readonly string[]} given */
function main (given) {
  const extensions = readdirSync(join(repository, HERE, 'src/extensions'), { withFileTypes: true })
    .flatMap((entry) => entry.isDirectory() ? [entry.name] : [])
  const all = [...extensions, ...BESIDE]
  const unknown = given.find((room) => !all.includes(room))
  if (unknown !== undefined) throw new Error(`${unknown} is no room. There are ${all.join(', ')}`)
  const rooms = withDependents(given.length === 0 ? all : given)
  console.log(`without ${rooms.join(', ')}`)
  // Inside the repository, where the same modules are found.
  mkdirSync(join(repository, 'node_modules/.cache'), { recursive: true })
  const copy = mkdtempSync(join(repository, 'node_modules/.cache/without-'))
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }))
  copyTo(copy)
  const folder = join(copy, HERE)
  takeOut(folder, rooms)
  const tsc = join(repository, 'node_modules/typescript/bin/tsc')
  run([tsc, '-b', folder, '--noCheck'], copy)
  run([tsc, '-p', copy], copy)
  const tests = filesIn(join(folder, 'test')).filter((file) => file.endsWith('.test.ts'))
  run(['test/run.js', ...tests.map((file) => relative(copy, file))], copy)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
