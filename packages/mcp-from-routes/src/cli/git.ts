import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A git repository, read through its command. */
export interface Git {
  /** Where the work tree begins; undefined where there is none. */
  top: () => Promise<string | undefined>
  /** The id of a commit; undefined when there is no such one. */
  commit: (ref: string) => Promise<string | undefined>
  /** The last commit that this one and another have in common; undefined when there is none, as in a shallow clone. */
  mergeBase: (ref: string) => Promise<string | undefined>
  /** A file as of a commit; undefined when it was not there. */
  file: (commit: string, path: string) => Promise<string | undefined>
}

/** Room for a contract of thousands of tools, in bytes. */
const LARGEST = 256 * 1024 * 1024

/** @param cwd - a folder in the repository */
export function gitIn (cwd: string): Git {
  async function git (...args: string[]): Promise<string | undefined> {
    try {
      return (await run('git', args, { cwd, maxBuffer: LARGEST })).stdout
    } catch (error) {
      // A number is git's own answer, and ENOENT says that there is no git at all: both mean that it is not there.
      const { code } = error as { code?: number | string }
      if (typeof code === 'number' || code === 'ENOENT') return undefined
      throw error
    }
  }
  const line = async (...args: string[]): Promise<string | undefined> => (await git(...args))?.trim() || undefined
  return {
    top: async () => await line('rev-parse', '--show-toplevel'),
    commit: async (ref) => await line('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`),
    mergeBase: async (ref) => await line('merge-base', 'HEAD', ref),
    // A path that begins with ./ is looked up from cwd.
    file: async (commit, path) => await git('show', `${commit}:./${path.replaceAll('\\', '/')}`)
  }
}
