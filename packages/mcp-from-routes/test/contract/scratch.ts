import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Teardown } from '../build.ts'

/** As it was built: each run would otherwise compile all of it anew. */
const command = fileURLToPath(new URL('../../bin/mcp-from-routes.js', import.meta.url))

/** What a run of the command gave. */
export interface Ran { readonly code: number | null, readonly out: string, readonly err: string }

/** A folder of its own, gone when the test ends. */
export interface Scratch {
  readonly folder: string
  write: (file: string, text: string) => void
  git: (...args: string[]) => string
  /** Commits everything. */
  commit: () => string
  /** Runs `mcp-from-routes contract`, in a folder of it. */
  run: (args: readonly string[], options?: { cwd?: string, env?: Record<string, string> }) => Ran
}

export function scratch (t: Teardown, prefix: string): Scratch {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), prefix)))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  // Neither the settings of whoever runs the test, nor the surroundings of a CI run.
  const plain = { ...process.env, NODE_OPTIONS: '', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GITHUB_ACTIONS: '', GITHUB_BASE_REF: '' }
  const git = (...args: string[]): string => execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main', ...args], { cwd: folder, env: plain, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  return {
    folder,
    write (file, text) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    },
    git,
    commit () {
      git('add', '-A')
      git('commit', '-qm', 'x', '--allow-empty')
      return git('rev-parse', 'HEAD')
    },
    run (args, { cwd = '.', env = {} } = {}) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [command, 'contract', ...args], {
        cwd: join(folder, cwd), env: { ...plain, ...env }, encoding: 'utf8', timeout: 120_000
      })
      return { code: status, out: stdout, err: stderr }
    }
  }
}
