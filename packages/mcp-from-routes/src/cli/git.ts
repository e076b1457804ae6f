import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
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
  /** Whether the history is cut off, as in a clone of some depth. */
  isShallow: () => Promise<boolean>
  /** A file as of a commit, by its path from the top; undefined when it was not there. */
  file: (commit: string, path: string) => Promise<string | undefined>
  /** The files of a commit in which a POSIX extended regular expression is found, by their paths from the top. */
  filesWith: (commit: string, expression: string) => Promise<readonly string[]>
  /** The files of a folder as of a commit, with the ids of their contents. */
  folder: (commit: string, path: string) => Promise<ReadonlyMap<string, string>>
  /** The ids that the contents of files have, or would have, by their paths; those that are not there are left out. */
  idsOf: (paths: readonly string[]) => Promise<ReadonlyMap<string, string>>
  /** The commits since another one that touch the folder, the latest first. */
  commitsSince: (commit: string) => Promise<readonly Commit[]>
}

export interface Commit {
  readonly id: string
  readonly message: string
}

/** Room for a contract of thousands of tools, in bytes. */
const LARGEST = 256 * 1024 * 1024

/**
 * @param cwd - a folder in the repository
 * @param env - the environment variables of the command
 */
export function gitIn (cwd: string, env: NodeJS.ProcessEnv): Git {
  async function git (...args: string[]): Promise<string | undefined> {
    try {
      return (await run('git', args, { cwd, env, maxBuffer: LARGEST })).stdout
    } catch (error) {
      // An exit code is git's own answer, and ENOENT means that git is not installed: in both cases there is nothing to
      // read.
      const { code } = error as { code?: number | string }
      if (typeof code === 'number' || code === 'ENOENT') return undefined
      throw error
    }
  }
  const line = async (...args: string[]): Promise<string | undefined> => (await git(...args))?.trim() || undefined
  const lines = async (...args: string[]): Promise<readonly string[]> =>
    (await git(...args))?.split('\n').filter((text) => text !== '') ?? []
  const parts = async (...args: string[]): Promise<readonly string[]> =>
    (await git(...args))?.split('\0').filter((part) => part !== '') ?? []
  let top: Promise<string | undefined> | undefined
  return {
    top: async () => await (top ??= line('rev-parse', '--show-toplevel')),
    commit: async (ref) => await line('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`),
    mergeBase: async (ref) => await line('merge-base', 'HEAD', ref),
    isShallow: async () => await line('rev-parse', '--is-shallow-repository') === 'true',
    file: async (commit, path) => await git('show', `${commit}:${path}`),
    filesWith: async (commit, expression) =>
      (await parts('grep', '-lzIE', '--full-name', '-e', expression, commit, '--', ':(top)')).map((found) =>
        found.slice(commit.length + 1)
      ),
    folder: async (commit, path) =>
      new Map((await parts('ls-tree', '--full-tree', '-z', `${commit}:${path}`)).flatMap((entry) => {
        const [, id, name] = /^\S+ blob (\S+)\t(.*)$/s.exec(entry) ?? []
        return id === undefined ? [] : [[String(name), id]]
      })),
    async idsOf (paths) {
      const isFile = await Promise.all(
        paths.map(async (path) => await stat(path).then((found) => found.isFile(), () => false))
      )
      const files = paths.filter((_, index) => isFile[index])
      // All in one process: starting git for each file takes a hundred times as long.
      const ids = files.length === 0 ? [] : await lines('hash-object', '--', ...files)
      return new Map(ids.map((id, index) => [files[index]!, id]))
    },
    commitsSince: async (commit) =>
      (await parts('log', '-z', '--topo-order', '--format=%H%n%B', `${commit}..HEAD`, '--', '.')).map((text) => {
        const [id = '', ...lines] = text.split('\n')
        return { id, message: lines.join('\n').trim() }
      })
  }
}
