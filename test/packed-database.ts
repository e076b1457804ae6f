import { appendFileSync, openAsBlob, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { madeOnce } from './made-once.ts'

/** What the version of the engine's files comes from. */
export const ENGINE = new URL('../package.json', import.meta.resolve('@electric-sql/pglite'))

/** The databases that `create database` copies, which the engine never opens: two thirds of the files. */
const TEMPLATES = ['template0', 'template1']

/** Tests have little data. The default, 128 MB, takes as long to prepare as all else. */
const BUFFERS = '8MB'

/**
 * The files of a database for PGlite's `loadDataDir`: it starts from them in a fifth of the time. They are made once.
 *
 * @param sources - the files and folders that decide what `fill` does
 * @param fill - fills the database in the directory; default: it stays empty
 */
export async function packedDatabase (name: string, sources: readonly URL[] = [], fill = createEmpty): Promise<Blob> {
  return await openAsBlob(await madeOnce(name, [ENGINE, new URL(import.meta.url), ...sources], async (path) => {
    const dataDir = `${path}.directory`
    await fill(dataDir)
    appendFileSync(join(dataDir, 'postgresql.conf'), `\nshared_buffers = ${BUFFERS}\n`)
    const engine = await PGlite.create({ dataDir })
    await engine.exec('update pg_database set datistemplate = false')
    for (const template of TEMPLATES) await engine.exec(`drop database if exists ${template}`)
    const files = await engine.dumpDataDir('none')
    await engine.close()
    rmSync(dataDir, { recursive: true })
    writeFileSync(path, Buffer.from(await files.arrayBuffer()))
  }), { type: 'application/x-tar' })
}

async function createEmpty (dataDir: string): Promise<void> {
  await (await PGlite.create({ dataDir })).close()
}
