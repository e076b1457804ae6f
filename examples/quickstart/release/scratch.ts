import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'

const LEFT_OUT: ReadonlySet<string> = new Set(['node_modules', '.git', '.tap', '.data'])

const SHARED = 'node_modules/.cache/made-once'

/**
 * A copy of the repository with its build. It shares the dependencies; packages of the repository are those of the
 * copy.
 */
export function scratchCopy (root: string): string {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'rehearsal-')))
  cpSync(root, copy, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) })
  for (const home of ['', ...workspaces(root)]) {
    if (!existsSync(join(root, home, 'node_modules'))) continue
    mkdirSync(join(copy, home, 'node_modules'))
    for (const name of readdirSync(join(root, home, 'node_modules'))) {
      if (name === '.cache') continue
      const target = realpathSync(join(root, home, 'node_modules', name))
      const isOurs = !relative(root, target).includes('node_modules')
      symlinkSync(isOurs ? join(copy, relative(root, target)) : target, join(copy, home, 'node_modules', name))
    }
  }
  // What takes long to make is shared; compiled files are the copy's own.
  mkdirSync(join(root, SHARED), { recursive: true })
  mkdirSync(join(copy, dirname(SHARED)))
  symlinkSync(join(root, SHARED), join(copy, SHARED))
  return copy
}

function workspaces (root: string): readonly string[] {
  return ['packages', 'examples'].flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
}
