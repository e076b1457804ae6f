import module from 'node:module'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import t from 'tap'

/*
 * `TEST_FILES='["a.test.ts", …]' node batch.js`: runs test files in one process, one after another. Each is a subtest by
 * the name of the file: what it imports as `tap` is that subtest. Helpers that import `tap` get the root, which ends with
 * the process. Not as arguments, because tap makes them part of the names of the folders that tests write to.
 */
const CURRENT = Symbol.for('the test file that is running')
const SUBTEST = `export default globalThis[Symbol.for('${CURRENT.description}')]`

/** A module of its own for each file. */
export function resolve (specifier, context, next) {
  if (specifier !== 'tap' || !context.parentURL?.endsWith('.test.ts')) return next(specifier, context)
  return { url: `data:text/javascript,${encodeURIComponent(`${SUBTEST} // ${context.parentURL}`)}`, shortCircuit: true }
}

if (isMainThread) {
  if (module.registerHooks) module.registerHooks({ resolve })
  else module.register(import.meta.url)
  for (const file of JSON.parse(process.env.TEST_FILES)) {
    t.test(file, async (subtest) => {
      globalThis[CURRENT] = subtest
      await import(pathToFileURL(file).href)
    })
  }
}
