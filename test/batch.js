import { mkdirSync, readFileSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'

/*
 * `TEST_FILES='["a.test.ts", …]' node batch.js`: runs test files in one process, one after another. Each is a subtest
 * by the name of the file: what it imports as `tap` is that subtest. Helpers that import `tap` get the root, which ends
 * with the process. Not as arguments, because tap makes them part of the names of the folders that tests write to.
 * Processes that share an empty folder, `TEST_CLAIMS`, share the files; each takes `TEST_SHARE` of them at most.
 */
const CURRENT = Symbol.for('the test file that is running')
const SUBTEST = `export default globalThis[Symbol.for('${CURRENT.description}')]`
/** What files import, and what they get. The default export of `node:test` is called on the subtest, too. */
const RUNNERS = {
  tap: SUBTEST,
  'node:test': `${SUBTEST}.test.bind(globalThis[Symbol.for('${CURRENT.description}')]); export * from 'node:test'`
}

/** A module of its own for each file, and a domain that costs less. */
export function resolve (specifier, context, next) {
  if (specifier === 'async-hook-domain') {
    return { url: new URL('tap-domain.js', import.meta.url).href, shortCircuit: true }
  }
  const runner = /^file:.*\.test\.ts$/.test(context.parentURL) ? RUNNERS[specifier] : undefined
  if (runner === undefined) return next(specifier, context)
  return { url: `data:text/javascript,${encodeURIComponent(`${runner} // ${context.parentURL}`)}`, shortCircuit: true }
}

/** Seconds of processor time of this process and the processes that it has waited for; those only where Linux tells. */
function cpuSeconds () {
  try {
    // Behind the name, from the third field; the times of it and its children are the 14th to the 17th, in hundredths.
    const [, fields] = readFileSync('/proc/self/stat', 'utf8').split(') ')
    return fields.split(' ').slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }
}

/** Whether no other process has taken the file. */
function isMine (index) {
  const { TEST_CLAIMS: claims } = process.env
  if (claims === undefined) return true
  try {
    mkdirSync(join(claims, String(index)))
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    return false
  }
}

if (isMainThread) {
  if (module.registerHooks) module.registerHooks({ resolve })
  else module.register(import.meta.url)
  await import('./schema-of-schemas.js')
  const { default: t } = await import('tap')
  // For each file, not for all of them.
  const timeout = t.options.timeout
  t.setTimeout(0)
  let before = 0
  let left = Number(process.env.TEST_SHARE ?? Infinity)
  for (const [index, file] of JSON.parse(process.env.TEST_FILES).entries()) {
    if (left === 0) break
    if (!isMine(index)) continue
    left--
    await t.test(file, { timeout }, async (subtest) => {
      globalThis[CURRENT] = subtest
      await import(pathToFileURL(file).href)
    })
    const after = cpuSeconds()
    t.comment(`${(after - before).toFixed(1)} s CPU: ${file}`)
    before = after
  }
}
