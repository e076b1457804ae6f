import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs'

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
