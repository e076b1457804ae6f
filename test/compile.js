import { readdirSync } from 'node:fs'
import { compiled } from './typescript.js'

/*
 * `node test/compile.js`: compiles the TypeScript of the repository into the cache. Else each process of a first run
 * loads the compiler for the few files that no other has compiled yet.
 */
for (const folder of ['examples', 'packages', 'test']) {
  const root = new URL(`../${folder}/`, import.meta.url)
  for (const path of pathsIn(root)) compiled(path.href)
}

function pathsIn (folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return /^(node_modules|dist|console|\..*)$/.test(entry.name) ? [] : pathsIn(new URL(`${entry.name}/`, folder))
    return /(?<!\.d)\.ts$/.test(entry.name) ? [new URL(entry.name, folder)] : []
  })
}
