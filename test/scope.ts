import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What cleans up after itself when it ends, however it ends: a test, or a drill. */
export interface Scope {
  /** Does the work at the end; the last one that was added comes first. */
  teardown(work: () => unknown): void
}

/** @returns a new folder for temporary files, deleted at the end */
export function folderFor (t: Scope, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`))
  t.teardown(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}
