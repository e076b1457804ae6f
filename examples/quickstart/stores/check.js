/**
 * `npm run lab stores`: installs Drizzle and Prisma in a folder of its own, since they are 300 MB, and runs
 * dual-auth/testing over the stores of this folder there, from the packed package.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = mkdtempSync(join(tmpdir(), 'dual-auth-stores-'))
const run = (program, args, { cwd = folder, env = {} } = {}) =>
  execFileSync(program, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...env } })
const root = fileURLToPath(new URL('../../..', import.meta.url))
try {
  cpSync(new URL('.', import.meta.url), folder, { recursive: true })
  run('npm', ['pack', '-w', 'dual-auth', '--pack-destination', folder, '--silent'], { cwd: root })
  run('npm', [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--silent',
    ...readdirSync(folder).filter((file) => file.endsWith('.tgz')).map((file) => `./${file}`)
  ])
  // The client is made without the engine, which the registry has not: any path keeps the program from fetching it.
  run('npx', ['prisma', 'generate', '--schema', 'schema.prisma'], {
    env: { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' }
  })
  run('npx', ['tsc', '-p', '.'])
  run(process.execPath, ['--test', '--test-reporter=tap', 'out/drizzle-checks.js', 'out/prisma-checks.js'])
} finally {
  rmSync(folder, { recursive: true, force: true })
}
