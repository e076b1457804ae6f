import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { TEMPLATE } from './template.ts'

// A step of the build. PGlite is loaded only when there is something to do, since every start builds.
if (!existsSync(TEMPLATE)) {
  const { PGlite } = await import('@electric-sql/pglite')
  const pglite = await PGlite.create('memory://')
  const files = await pglite.dumpDataDir('gzip')
  await pglite.close()
  writeFileSync(`${TEMPLATE}.part`, Buffer.from(await files.arrayBuffer()))
  renameSync(`${TEMPLATE}.part`, TEMPLATE)
}
