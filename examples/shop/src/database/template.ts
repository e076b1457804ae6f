import { existsSync, openAsBlob, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const { version } = JSON.parse(readFileSync(
  new URL('../package.json', import.meta.resolve('@electric-sql/pglite')),
  'utf8'
)) as { version: string }

/** The files of an empty database of this version of PGlite, packed at build time by `make-template.ts`. */
export const TEMPLATE = fileURLToPath(new URL(`../../dist/empty-database-${version}.tar.gz`, import.meta.url))

/**
 * Options for PGlite to create a database from the packed files, which takes a fifth of the time. Without the files,
 * PGlite creates its own.
 */
export async function templateOptions (): Promise<{ loadDataDir?: Blob }> {
  return existsSync(TEMPLATE) ? { loadDataDir: await openAsBlob(TEMPLATE) } : {}
}
