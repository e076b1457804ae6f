import { readdir, readFile, realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { MCP_FROM_ROUTES_CONTRACT_BASE, type Bump } from '../contract/index.ts'
import { isThere, type Owner } from './version.ts'

/** A changeset, as changesets itself reads it. */
export interface Changeset {
  /** Its file in `.changeset`, without `.md`. */
  readonly id: string
  readonly releases: ReadonlyArray<{ readonly name: string, readonly type: Bump }>
}

/** What `pre.json` says between `changeset pre enter` and the version after `changeset pre exit`. */
export interface PreState {
  readonly mode: 'pre' | 'exit'
  /** The changesets that a prerelease has had already. */
  readonly changesets: readonly string[]
}

/** The changesets of a repository, and what they make of the version of one package. */
export interface Changesets {
  /** Where `.changeset` is. */
  readonly root: string
  /** The branch that changesets are for, by their settings. */
  readonly baseBranch: string | undefined
  /** Every changeset that is there, in pre mode also those that a prerelease has had. */
  readonly all: readonly Changeset[]
  readonly pre: PreState | undefined
  /** Why no changeset ever raises the version of the package; undefined where they can. */
  readonly skipped: string | undefined
  /**
   * What `changeset version` would do with these changesets: `fixed`, `linked`, `ignore`, dependents and pre mode
   * included.
   */
  plan: (
    changesets: readonly Changeset[],
    pre: PreState | undefined
  ) => { readonly bump: Bump, readonly version: string }
}

interface Manifest {
  readonly name: string
  readonly version?: string
  readonly private?: boolean
}
interface Packages {
  readonly packages: ReadonlyArray<{ readonly packageJson: Manifest }>
}
interface Config {
  readonly baseBranch?: string
  readonly ignore: readonly string[]
  readonly privatePackages: { readonly version: boolean }
}

/** What is used of changesets' own libraries. */
interface Libraries {
  readonly getPackages: (root: string) => Promise<Packages>
  readonly readConfig: (root: string, packages: Packages) => Promise<Config>
  readonly readPreState: (root: string) => Promise<PreState | undefined>
  readonly readChangesets: (root: string) => Promise<readonly Changeset[]>
  readonly assemble: (
    changesets: readonly Changeset[],
    packages: Packages,
    config: Config,
    pre: PreState | undefined
  ) => { readonly releases: ReadonlyArray<{ readonly name: string, readonly type: Bump, readonly newVersion: string }> }
  /** Reads one changeset. */
  readonly parse: (text: string) => unknown
}

/**
 * Reads the release plan as the installed `@changesets/cli` would make it, with the libraries of that very version.
 *
 * @param owner - whose version it is about; the nearest `.changeset/config.json` above its folder counts
 * @param top - where the git repository begins, if there is one: nothing above it counts
 * @returns undefined where there are no changesets
 * @throws {@link MCP_FROM_ROUTES_CONTRACT_BASE} for a file that cannot be read, named, or where `@changesets/cli` is
 *   missing
 */
export async function changesetsOf (owner: Owner, top: string | undefined): Promise<Changesets | undefined> {
  const root = await rootOf(await realpath(owner.folder), top)
  if (root === undefined) return undefined
  const { baseBranch } = await json(root, 'config.json') as { baseBranch?: string }
  await json(root, 'pre.json')
  const libraries = librariesOf(root)
  const packages = await told(
    async () => await libraries.getPackages(root),
    `The packages of ${join(root, 'package.json')} cannot be read`
  )
  const config = await told(
    async () => await libraries.readConfig(root, packages),
    '.changeset/config.json cannot be read'
  )
  const pre = await libraries.readPreState(root)
  // First, since what the library says of a file may end the process: it reads all at once, and may not be waiting yet.
  await refuseUnreadable(root, libraries)
  const all = await told(async () => await libraries.readChangesets(root), '.changeset cannot be read')
  return {
    root,
    baseBranch,
    all,
    pre,
    skipped: skipped(owner, packages, config),
    plan (changesets, state) {
      try {
        const release = libraries.assemble(changesets, packages, config, state).releases.find(({ name }) =>
          name === owner.name
        )
        return { bump: release?.type ?? 'none', version: release?.newVersion ?? owner.version }
      } catch (error) {
        throw new MCP_FROM_ROUTES_CONTRACT_BASE(`changesets cannot plan a release: ${lineOf(error)}`)
      }
    }
  }
}

function skipped (owner: Owner, { packages }: Packages, { ignore, privatePackages }: Config): string | undefined {
  const mine = packages.find(({ packageJson }) => packageJson.name === owner.name)?.packageJson
  if (mine === undefined) return 'it is not a package of the workspace'
  if (ignore.includes(owner.name)) return 'it is listed under "ignore" in .changeset/config.json'
  if (mine.private === true && !privatePackages.version) {
    return 'it is private, and "privatePackages" in .changeset/config.json does not version private packages'
  }
  return mine.version === undefined ? 'its package.json has no version' : undefined
}

async function rootOf (folder: string, top: string | undefined): Promise<string | undefined> {
  if (await isThere(join(folder, '.changeset', 'config.json'))) return folder
  const above = dirname(folder)
  // What is above the repository, as around a submodule, has another history.
  return above === folder || folder === top ? undefined : await rootOf(above, top)
}

/** The libraries of the installed `@changesets/cli`: they make the release, so they decide what it will be. */
function librariesOf (root: string): Libraries {
  try {
    const cli = createRequire(createRequire(join(root, 'package.json')).resolve('@changesets/cli/package.json'))
    const read = cli.resolve('@changesets/read')
    return {
      getPackages: cli('@manypkg/get-packages').getPackages,
      readConfig: cli('@changesets/config').read,
      readPreState: cli('@changesets/pre').readPreState,
      readChangesets: cli(read).default,
      assemble: cli('@changesets/assemble-release-plan').default,
      parse: createRequire(read)('@changesets/parse').default
    }
  } catch (error) {
    throw new MCP_FROM_ROUTES_CONTRACT_BASE(
      `${join(root, '.changeset')} needs @changesets/cli 2 installed in ${root}: npm install --save-dev ` +
        `@changesets/cli@2 (${lineOf(error)})`
    )
  }
}

/** A file of `.changeset` as JSON; its name is what the library's own error leaves out. */
async function json (root: string, file: string): Promise<unknown> {
  const text = await readFile(join(root, '.changeset', file), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  return await told(() => JSON.parse(text), `.changeset/${file} is not JSON`)
}

/** Names the changeset that the library cannot read. */
async function refuseUnreadable (root: string, { parse }: Libraries): Promise<void> {
  const folder = join(root, '.changeset')
  for (
    const file of (await readdir(folder)).filter((name) => name.endsWith('.md') && !/^(?:\..*|README\.md)$/i.test(name))
  ) {
    const text = await readFile(join(folder, file), 'utf8')
    await told(() => parse(text), `.changeset/${file} cannot be read`)
  }
}

async function told<T> (work: () => T | Promise<T>, what: string): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new MCP_FROM_ROUTES_CONTRACT_BASE(`${what}: ${lineOf(error)}`)
  }
}

function lineOf (error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().replace(/\n.*/s, '')
}
