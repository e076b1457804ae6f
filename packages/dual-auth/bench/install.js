import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The last three are those that fit its plugin for API keys. */
const PACKAGES = [
  'better-auth@1.7.5',
  '@better-auth/api-key@1.7.5',
  '@better-auth/core@1.7.5',
  '@better-auth/utils@0.4.2',
  'better-call@1.4.0'
]

/**
 * Installs better-auth, which dual-auth is measured beside, outside of the repository and without running its scripts,
 * unless it is there.
 *
 * @returns a function that imports one of the packages; undefined if they cannot be installed, such as without a
 *   registry
 */
export async function installed () {
  const folder = join(tmpdir(), 'dual-auth-bench')
  const done = join(folder, 'installed')
  const { resolve } = createRequire(done)
  const load = async (name) => import(pathToFileURL(resolve(name)).href)
  if (existsSync(done) && readFileSync(done, 'utf8') === PACKAGES.join(' ')) return load
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  const npm = spawn(
    'npm',
    ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', ...PACKAGES],
    { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] }
  )
  const [code] = await once(npm, 'close')
  if (code !== 0) return undefined
  writeFileSync(done, PACKAGES.join(' '))
  return load
}
