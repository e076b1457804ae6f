import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './command.ts'
import { compile, makeProject } from './project.ts'
import { checkPrograms } from './programs.ts'

/**
 * `npm run release:check -- [version…]`: what the registry would get, used as somebody else would use it.
 * Packs the packages, installs them in an empty project and runs the quickstarts there, on this Node.js and on
 * those that are named, such as `22 24`. Needs the registry, and a PostgreSQL server at `TEST_DATABASE_URL`.
 */
const { TEST_DATABASE_URL: databaseUrl } = process.env
if (databaseUrl === undefined) throw new Error('TEST_DATABASE_URL: the quickstart of pay-reconcile needs a PostgreSQL server')

const directory = mkdtempSync(join(tmpdir(), 'release-check-'))
try {
  await makeProject(directory)
  console.log('packed and installed')
  await compile(directory, { skipLibCheck: false })
  console.log('compiled')
  for (const node of [process.execPath, ...await Promise.all(process.argv.slice(2).map(nodeOf))]) {
    await checkPrograms({ directory, node, databaseUrl })
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}

/** @returns the path of another Node.js */
async function nodeOf (version: string): Promise<string> {
  const path = await run('npx', ['-y', '-p', `node@${version}`, '--', 'node', '-p', 'process.execPath'], { cwd: directory })
  return path.trim()
}
