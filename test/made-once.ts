import { createHash, randomUUID } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CACHE = fileURLToPath(new URL('../node_modules/.cache/made-once/', import.meta.url))

/**
 * A file or directory that takes long to make and is kept in `node_modules/.cache`.
 *
 * @param sources - files and folders that decide what is made; it is made again when one of them changes
 * @param make - makes it at the path
 * @returns its path; do not change what is there
 */
export async function madeOnce (name: string, sources: readonly URL[], make: (path: string) => Promise<void>): Promise<string> {
  const hash = createHash('sha256')
  for (const source of sources) addTo(hash, fileURLToPath(source))
  const kept = join(CACHE, `${name}-${hash.digest('hex').slice(0, 16)}`)
  if (existsSync(kept)) return kept
  const draft = `${kept}.${randomUUID()}`
  mkdirSync(CACHE, { recursive: true })
  try {
    await make(draft)
    // Never in the place of what another process has made in the meantime: it is being read.
    if (statSync(draft).isFile()) linkSync(draft, kept)
    else renameSync(draft, kept)
  } catch (error) {
    if (!existsSync(kept)) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return kept
}

function addTo (hash: ReturnType<typeof createHash>, path: string): void {
  if (statSync(path).isFile()) hash.update(readFileSync(path)).update('\0')
  else for (const name of readdirSync(path).toSorted()) addTo(hash.update(`${name}\0`), join(path, name))
}
