import { createHash, randomUUID } from 'node:crypto'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const CACHE = fileURLToPath(new URL('../node_modules/.cache/made-once/', import.meta.url))

/**
 * A file or directory that takes long to make and is kept in `node_modules/.cache`.
 *
 * @param sources - files and folders that decide what is made; it is made again when one of them changes
 * @param make - makes it at the path
 * @returns its path; do not change what is there
 */
export async function madeOnce (
  name: string,
  sources: readonly URL[],
  make: (path: string) => Promise<void>
): Promise<string> {
  const kept = join(CACHE, `${name}-${digestOf(sources)}`)
  if (existsSync(kept)) return kept
  mkdirSync(CACHE, { recursive: true })
  const unlock = await locked(`${kept}.lock`)
  const draft = `${kept}.${randomUUID()}`
  try {
    // Another process may have made it in the meantime.
    if (existsSync(kept)) return kept
    await make(draft)
    // Never in the place of what another process has made all the same: it is being read.
    if (statSync(draft).isFile()) linkSync(draft, kept)
    else renameSync(draft, kept)
  } catch (error) {
    if (!existsSync(kept)) throw error
  } finally {
    unlock()
    rmSync(draft, { recursive: true, force: true })
  }
  return kept
}

/** Waits until no other process that runs holds the lock: what several make at once costs each of them as much. */
async function locked (path: string): Promise<() => void> {
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' })
      return () => rmSync(path, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      if (holderIsGone(path)) rmSync(path, { force: true })
      else await sleep(100)
    }
  }
}

function holderIsGone (path: string): boolean {
  try {
    const pid = Number(readFileSync(path, 'utf8'))
    // 0: it has not been written yet.
    if (pid !== 0) process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** What changes with the files and folders, or with `more`. */
export function digestOf (sources: readonly URL[], more = ''): string {
  const hash = createHash('sha256').update(more)
  for (const source of sources) addTo(hash, fileURLToPath(source))
  return hash.digest('hex').slice(0, 16)
}

function addTo (hash: ReturnType<typeof createHash>, path: string): void {
  if (statSync(path).isFile()) hash.update(readFileSync(path)).update('\0')
  else for (const name of readdirSync(path).toSorted()) addTo(hash.update(`${name}\0`), join(path, name))
}
