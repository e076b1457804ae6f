import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * Builds the static files into dist, unless they are of these sources and these libraries already: then it takes
 * milliseconds. Types are checked by `npm run typecheck`.
 */
const here = fileURLToPath(new URL('.', import.meta.url))
const { resolve } = createRequire(import.meta.url)

const sources = readdirSync(join(here, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .sort()
const files = [...sources, ...['index.html', 'vite.config.ts', 'package.json', 'build.js'].map((name) => join(here, name))]
const libraries = Object.keys(JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')).devDependencies).map(versionOf)

const hash = createHash('sha256')
for (const file of files) hash.update(`${file.slice(here.length)}\0`).update(readFileSync(file)).update('\0')
const state = hash.update(libraries.join()).digest('hex')

const stamp = join(here, 'dist', '.built-from')
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== state) {
  const { build } = await import('vite')
  await build({ root: here, logLevel: 'warn' })
  writeFileSync(stamp, state)
}

/** @returns the installed version of a library, which may not export its package.json */
function versionOf (name) {
  const folder = resolve.paths(name).map((path) => join(path, name)).find((path) => existsSync(join(path, 'package.json')))
  return `${name}@${folder === undefined ? '' : JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version}`
}
