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
