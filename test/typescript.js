import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'

/**
 * Lets Node.js run TypeScript: `node --import ./test/typescript.js file.ts`. Each file is compiled once and kept in
 * `node_modules/.cache`; types are not checked.
 */
export function load (url, context, next) {
  return url.startsWith('file:') && url.endsWith('.ts')
    ? { format: 'module', source: compiled(url), shortCircuit: true }
    : next(url, context)
}

const require = createRequire(import.meta.url)
const CACHE = new URL('../node_modules/.cache/typescript/', import.meta.url)
const { version } = require('rolldown/package.json')

export function compiled (url) {
  const fileName = fileURLToPath(url)
  const source = readFileSync(fileName, 'utf8')
  // Not by its folder: tests copy whole packages.
  const name = createHash('sha256').update([version, basename(fileName), source].join('\0')).digest('hex')
  try {
    return readFileSync(new URL(name, CACHE), 'utf8')
  } catch {}
  // Loaded only when something changed. Its compiler takes a thirtieth of the time that TypeScript's takes.
  const { code, map, errors, helpersUsed } = require('rolldown/utils').transformSync(fileName, source, {
    lang: 'ts',
    sourcemap: true,
    tsconfig: false,
    typescript: { onlyRemoveTypeImports: true }
  })
  if (errors.length > 0) throw new SyntaxError(`${fileName}: ${errors.map(({ message }) => message).join('\n')}`)
  const helpers = Object.keys(helpersUsed)
  // Which are not installed. Nothing else than types is to be taken out.
  if (helpers.length > 0) {
    throw new SyntaxError(`${fileName}: write <\\/script> in tagged templates (${helpers.join()})`)
  }
  const outputText = `${code}\n//# sourceMappingURL=data:application/json;base64,${
    Buffer.from(JSON.stringify(map)).toString('base64')
  }\n`
  // Moved into place whole: several processes may compile the same file.
  mkdirSync(CACHE, { recursive: true })
  const draft = new URL(`${name}.${process.pid}`, CACHE)
  writeFileSync(draft, outputText)
  renameSync(draft, new URL(name, CACHE))
  return outputText
}

// Hooks in the same thread are faster; Node.js 20 has only those in a thread of their own, which loads this file again.
if (module.registerHooks) module.registerHooks({ load })
else if (isMainThread) module.register(import.meta.url)
