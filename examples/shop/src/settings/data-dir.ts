import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const TOP = fileURLToPath(new URL('../../../../', import.meta.url))

/**
 * Resolves a directory of the settings. Relative paths start at the root of the repository, so that all commands use
 * the same one: npm runs the scripts of a workspace in its directory.
 */
export function dataDirFrom (path: string): string {
  return resolve(TOP, path)
}

/** Creates the directory and its parents with access for the owner only; restricts an existing one. */
export function privateDirectory (path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  // Only if needed: some file systems have no modes, and reject every change.
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o700)
}

/** Writes a file that only its owner can read, also over one that others could. */
export function writePrivate (file: string, content: string): void {
  writeFileSync(file, content, { mode: 0o600 })
  chmodSync(file, 0o600) // the mode above is for a new file only
}
