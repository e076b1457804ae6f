import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { SHOP_DATA_DIRECTORY_IN_USE } from '../errors.ts'

interface Holder {
  readonly host: string
  readonly pid: number
  /** When the kernel started the process, if known: distinguishes the holder from a process with a recycled pid. */
  readonly started: string | null
}

/**
 * Acquires the exclusive lock on the directory of an embedded database.
 *
 * The embedded engine has no lock of its own: two processes that open one directory both
 * acknowledge writes and lose each other's rows. The lock is a file beside the directory that names
 * its holder. It is taken over only if that process is certainly gone, never because of its age.
 *
 * @param dataDir - the database's directory; a missing parent is created for its owner alone
 * @returns releases the lock
 * @throws {@link SHOP_DATA_DIRECTORY_IN_USE} when another process holds it, or may hold it
 */
export function lockDirectory (dataDir: string): () => void {
  const file = `${dataDir}.lock`
  const own: Holder = { host: hostname(), pid: process.pid, started: startOf(process.pid) }
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })

  if (!create(file, own)) {
    const seen = readFileSync(file, 'utf8')
    const holder = parse(seen)
    if (holder === null || !isGone(holder)) throw inUse(dataDir, file, holder)
    removeStale(file, seen)
    if (!create(file, own)) throw inUse(dataDir, file, parse(readFileSync(file, 'utf8')))
  }
  return () => {
    // Only its own: someone may have deleted the file, and another process acquired the lock since.
    if (existsSync(file) && readFileSync(file, 'utf8') === JSON.stringify(own)) rmSync(file)
  }
}

/** Creates the lock file together with its content, so that nobody reads half of it. */
function create (file: string, own: Holder): boolean {
  const draft = `${file}.${randomUUID()}`
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600 })
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft)
  }
}

/** Removes the file only if it is still the stale one: another process may have replaced it. */
function removeStale (file: string, seen: string): void {
  const aside = `${file}.${randomUUID()}`
  try {
    renameSync(file, aside)
  } catch {
    return // another process has just removed it
  }
  try {
    if (readFileSync(aside, 'utf8') !== seen) linkSync(aside, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(aside)
  }
}

function isGone (holder: Holder): boolean {
  // Processes on other hosts or in other containers cannot be checked from here.
  if (holder.host !== hostname()) return false
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
  const started = startOf(holder.pid)
  return started !== null && holder.started !== null && started !== holder.started
}

/** The process's start time in clock ticks since boot, with the boot's id; null where there is no /proc. */
function startOf (pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${ticks}`
  } catch {
    return null
  }
}

function parse (text: string): Holder | null {
  try {
    const holder = JSON.parse(text) as Partial<Holder>
    return typeof holder.pid === 'number' && typeof holder.host === 'string'
      ? { host: holder.host, pid: holder.pid, started: holder.started ?? null }
      : null
  } catch {
    return null
  }
}

function inUse (dataDir: string, file: string, holder: Holder | null): Error {
  const who = holder === null ? 'an unknown process' : `process ${holder.pid} on ${holder.host}`
  return new SHOP_DATA_DIRECTORY_IN_USE(dataDir, who, file)
}
