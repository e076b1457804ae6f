import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { compiled } from './typescript.js'

/*
 * `node test/compile.js`: compiles the TypeScript of the repository into the cache, on all processors. Else each
 * process of a first run loads the compiler for the few files that no other has compiled yet.
 */
const parts = availableParallelism()
if (isMainThread) {
  for (let part = 0; part < parts; part++) {
    new Worker(new URL(import.meta.url), { workerData: part }).on('error', (error) => {
      throw error
    })
  }
} else {
  const paths = ['examples', 'packages', 'shared', 'test'].flatMap((folder) =>
    pathsIn(new URL(`../${folder}/`, import.meta.url))
  )
  for (const [index, path] of paths.entries()) if (index % parts === workerData) compiled(path.href)
}

function pathsIn (folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) {
      return /^(node_modules|dist|console|\..*)$/.test(entry.name)
        ? []
        : pathsIn(new URL(`${entry.name}/`, folder))
    }
    return /(?<!\.d)\.ts$/.test(entry.name) ? [new URL(entry.name, folder)] : []
  })
}
