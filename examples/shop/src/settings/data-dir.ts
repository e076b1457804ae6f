import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const TOP = fileURLToPath(new URL('../../../../', import.meta.url))

/**
 * The directory that a path in the settings means. A relative one starts at the top of the repository, so that
 * all commands mean the same: npm runs those of a workspace in the directory of the workspace.
 */
export function dataDirFrom (path: string): string {
  return resolve(TOP, path)
}

/** Makes the directory, and its parents, for its owner alone; takes the rights of all others away from one that exists. */
export function privateDirectory (path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  // Only if needed: some file systems know no modes, and reject every change.
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o700)
}

/** Writes a file that its owner alone can read, also over one that others could. */
export function writePrivate (file: string, content: string): void {
  writeFileSync(file, content, { mode: 0o600 })
  chmodSync(file, 0o600) // the mode above is for a new file only
}
