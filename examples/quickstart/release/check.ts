import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './command.ts'
import { checkModuleSystems } from './modules.ts'
import { makeProjects, withOldestPeers } from './project.ts'
import { checkPrograms } from './programs.ts'
import { checkStarter } from './starter.ts'

/**
 * `npm run release check -- [version…]`: what the registry would get, used as somebody else would use it.
 * Does what each README says in an empty folder of its own, with the packed package, and runs the program there, on
 * this Node.js and on those that are named, such as `22 26`, then here with the oldest peers that are allowed. Needs
 * the registry, and a PostgreSQL server at `TEST_DATABASE_URL`. `npm run release check -- modules` tries
 * docs/module-systems.md instead, which takes minutes and needs no server; `-- starter` only `examples/starter`.
 */
const isOfModules = process.argv[2] === 'modules'
const isOfStarter = process.argv[2] === 'starter'
const { TEST_DATABASE_URL: databaseUrl } = process.env
if (databaseUrl === undefined && !isOfModules && !isOfStarter) {
  throw new Error('TEST_DATABASE_URL: the quickstart of pay-reconcile needs a PostgreSQL server')
}

const directory = mkdtempSync(join(tmpdir(), 'release-check-'))
try {
  if (isOfModules) await checkModuleSystems(directory)
  else if (isOfStarter) await checkStarter(directory)
  else await checkPackages(databaseUrl ?? '')
} finally {
  rmSync(directory, { recursive: true, force: true })
}

async function checkPackages (databaseUrl: string): Promise<void> {
  const folders = await makeProjects(directory)
  console.log('packed, installed and compiled')
  for (const node of [process.execPath, ...await Promise.all(process.argv.slice(2).map(nodeOf))]) {
    await checkPrograms({ folders, node, databaseUrl })
  }
  await checkStarter(directory)
  console.log('installed, tested and started the starter')
  await withOldestPeers(folders)
  console.log('installed the oldest of what they work beside')
  await checkPrograms({ folders, node: process.execPath, databaseUrl })
}

/** @returns the path of another Node.js */
async function nodeOf (version: string): Promise<string> {
  const path = await run('npx', ['-y', '-p', `node@${version}`, '--', 'node', '-p', 'process.execPath'], {
    cwd: directory
  })
  return path.trim()
}
