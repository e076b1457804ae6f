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
  return await openAsBlob(
    await madeOnce(name, [ENGINE, new URL(import.meta.url), ...sources], async (path) => {
      const dataDir = `${path}.directory`
      await fill(dataDir)
      appendFileSync(join(dataDir, 'postgresql.conf'), `\nshared_buffers = ${BUFFERS}\n`)
      const engine = await PGlite.create({ dataDir })
      await engine.exec('update pg_database set datistemplate = false')
      for (const template of TEMPLATES) await engine.exec(`drop database if exists ${template}`)
      await engine.exec('select pg_switch_wal(); checkpoint')
      const { rows: [log] } = await engine.query<{ name: string }>(
        'select pg_walfile_name(pg_current_wal_lsn()) as name'
      )
      const files = await engine.dumpDataDir('none')
      await engine.close()
      rmSync(dataDir, { recursive: true })
      writeFileSync(path, withShortLog(Buffer.from(await files.arrayBuffer()), log!.name))
    }),
    { type: 'application/x-tar' }
  )
}

async function createEmpty (dataDir: string): Promise<void> {
  await (await PGlite.create({ dataDir })).close()
}

/** Bytes of a block of a tar file, and of a page of the write-ahead log. */
const BLOCK = 512
const PAGE = 8192

/**
 * A tar file of a database without the log of how it was made, and the zeros behind its present one: half of the bytes.
 */
function withShortLog (tar: Buffer, current: string): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; tar[at] !== 0 && at < tar.length;) {
    const header = tar.subarray(at, at + BLOCK)
    const name = header.toString('latin1', 0, 100).replace(/\0.*$/s, '')
    const size = parseInt(header.toString('latin1', 124, 136), 8) || 0
    const content = tar.subarray(at + BLOCK, at + BLOCK + size)
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
    if (!/pg_wal\/[0-9A-F]{24}$/.test(name)) parts.push(header, content, Buffer.alloc(-size & (BLOCK - 1)))
    else if (name.endsWith(current)) {
      // With a page behind its last one, at which it ends.
      const used = content.subarray(0, (Math.ceil((content.findLastIndex((byte) => byte !== 0) + 1) / PAGE) + 1) * PAGE)
      parts.push(resized(header, used.length), used)
    }
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)])
}

function resized (header: Buffer, size: number): Buffer {
  const copy = Buffer.from(header)
  copy.write(`${size.toString(8).padStart(11, '0')} `, 124, 'latin1')
  copy.write(' '.repeat(8), 148, 'latin1')
  copy.write(`${copy.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return copy
}
