import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Answer } from '../../src/cli/arguments.ts'
import { run } from '../../src/cli/run.ts'
import type { Teardown } from '../build.ts'

const command = fileURLToPath(new URL('../../bin/mcp-from-routes.js', import.meta.url))

interface Where {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** A folder of its own, gone when the test ends. */
export interface Scratch {
  readonly folder: string
  write: (file: string, text: string) => void
  git: (...args: string[]) => string
  /** Has what is installed here, which git ignores there. */
  modules: (folder?: string) => void
  /** Commits everything. */
  commit: () => string
  /**
   * Runs `mcp-from-routes contract` in this process, in a folder of it. Modules are loaded once: those that change need
   * new names.
   */
  run: (args: readonly string[], where?: Where) => Promise<Answer>
  /** Runs the same as users do, as it was built: in a process of its own. */
  spawn: (
    args: readonly string[],
    where?: Where
  ) => { readonly code: number | null, readonly out: string, readonly err: string }
}

export function scratch (t: Teardown, prefix: string): Scratch {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), prefix)))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  // Neither the settings of whoever runs the test, nor the surroundings of a CI run.
  const plain = {
    ...process.env,
    NODE_OPTIONS: '',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    CI: '',
    GITHUB_ACTIONS: '',
    GITHUB_BASE_REF: '',
    GITHUB_EVENT_NAME: ''
  }
  const git = (...args: string[]): string =>
    execFileSync('git', [
      '-c',
      'user.name=T',
      '-c',
      'user.email=t@example.com',
      '-c',
      'init.defaultBranch=main',
      ...args
    ], { cwd: folder, env: plain, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  return {
    folder,
    write (file, text) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    },
    git,
    modules (within = '.') {
      symlinkSync(
        fileURLToPath(new URL('../../../../node_modules', import.meta.url)),
        join(folder, within, 'node_modules')
      )
      writeFileSync(join(folder, within, '.gitignore'), 'node_modules\n')
    },
    commit () {
      git('add', '-A')
      git('commit', '-qm', 'x', '--allow-empty')
      return git('rev-parse', 'HEAD')
    },
    async run (args, { cwd = '.', env = {} } = {}) {
      return await run(['contract', ...args], { cwd: join(folder, cwd), env: { ...plain, ...env } })
    },
    spawn (args, { cwd = '.', env = {} } = {}) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [command, 'contract', ...args], {
        cwd: join(folder, cwd),
        env: { ...plain, ...env },
        encoding: 'utf8',
        timeout: 120_000
      })
      return { code: status, out: stdout, err: stderr }
    }
  }
}
