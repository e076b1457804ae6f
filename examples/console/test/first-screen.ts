import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Chunk {
  readonly name: string
  readonly file: string
  readonly imports?: readonly string[]
}

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * @param names - chunks that a page loads
 * @returns the files that these need before they run, and their size as they are sent, in bytes
 */
export function filesOf (names: readonly string[]): { readonly files: readonly string[], readonly bytes: number } {
  execFileSync(process.execPath, [`${root}build.js`])
  const manifest: Readonly<Record<string, Chunk>> = JSON.parse(readFileSync(`${root}dist/.vite/manifest.json`, 'utf8'))
  const found = new Set<Chunk>()
  const add = (chunk: Chunk): void => {
    if (found.has(chunk)) return
    found.add(chunk)
    for (const name of chunk.imports ?? []) add(manifest[name]!)
  }
  for (const name of names) add(Object.values(manifest).find((chunk) => chunk.name === name)!)
  const files = [...found].map(({ file }) => file)
  return { files, bytes: files.reduce((sum, file) => sum + statSync(`${root}dist/${file}.br`).size, 0) }
}

/** What a person downloads to see their first screen with its numbers; charts come after that. */
export const FIRST_SCREENS = {
  shop: ['index', 'app', 'workspace', 'shop-workspace', 'home'],
  administration: ['index', 'app', 'workspace', 'administration', 'admin-home']
}
