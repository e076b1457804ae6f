import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { TEMPLATE } from './template.ts'

// A step of the build. It loads PGlite only if needed, since `npm start` builds too.
if (!existsSync(TEMPLATE)) {
  const { PGlite } = await import('@electric-sql/pglite')
  const pglite = await PGlite.create('memory://')
  // Only `create database` reads them, which the embedded database never does: two thirds of the files.
  await pglite.exec('update pg_database set datistemplate = false')
  for (const name of ['template0', 'template1']) await pglite.exec(`drop database ${name}`)
  const files = await pglite.dumpDataDir('gzip')
  await pglite.close()
  writeFileSync(`${TEMPLATE}.part`, Buffer.from(await files.arrayBuffer()))
  renameSync(`${TEMPLATE}.part`, TEMPLATE)
}
