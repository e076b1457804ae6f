import { posix, resolve } from 'node:path'
import { attempt } from '../attempt.ts'
import { contractFromText } from '../contract/index.ts'
import { isContinuous } from './ci.ts'
import type { Git } from './git.ts'
import { isThere, jsonFrom, type Owner } from './version.ts'

/** The contract's file as it was. */
export interface Stored {
  /** Where, from the top of the repository. */
  readonly path: string
  readonly text: string
}

/** Why there is no contract to compare with. */
export interface Missing {
  readonly missing: string
  readonly hint: string
  /** Whether there is nothing to compare with yet: the contract starts here. */
  readonly begins: boolean
}

/** Where the contract and its package are, from the top of the repository. */
export interface Place {
  readonly top: string
  readonly path: string
  /** The folder of the package; empty for the top. */
  readonly owner: string
}

/** The beginning of a contract's file, however it is formatted. */
const BEGINNING = '"contract"[[:space:]]*:[[:space:]]*1'

/**
 * The contract's file as it was. A file that has been moved since is found under its old name: it is the only contract
 * of that state that is gone now.
 *
 * @param label - the commit, for people
 */
export async function storedAt (
  commit: string,
  label: string,
  { path, owner, top }: Place,
  git: Git,
  env: NodeJS.ProcessEnv
): Promise<Stored | Missing> {
  const text = await git.file(commit, path)
  if (text !== undefined) return { path, text }
  const others = await contractsAt(commit, git)
  const gone: Stored[] = []
  for (const other of others) if (!await isThere(resolve(top, other.path))) gone.push(other)
  const [only, ...more] = gone
  if (only !== undefined && more.length === 0) return only
  const missing = `there is no ${path} at ${label}`
  if (gone.length > 0) {
    return {
      missing: `${missing}, and several contracts that were there are gone: ${gone.map((one) => one.path).join(', ')}`,
      hint: 'Move one contract at a time',
      begins: false
    }
  }
  const beside = others.map((other) => other.path).filter((other) => owner === '' || other.startsWith(`${owner}/`))
  if (beside.length > 0) {
    return {
      missing: `${missing}, but ${beside.join(', ')}, which is still here`,
      hint: 'Remove the old file if this one replaces it. If it is the contract of another app, run this check with ' +
        '--allow-unchecked',
      begins: false
    }
  }
  if (isContinuous(env) && await git.file('HEAD', path) === undefined) {
    return {
      missing: `${path} is not committed`,
      hint: 'Commit the file. Until then every run starts a new contract and compares nothing',
      begins: false
    }
  }
  return { missing, hint: 'The contract starts here: later versions are compared with it', begins: true }
}

async function contractsAt (commit: string, git: Git): Promise<readonly Stored[]> {
  const files = await Promise.all(
    (await git.filesWith(commit, BEGINNING)).map(async (path) => ({ path, text: await git.file(commit, path) ?? '' }))
  )
  return files.filter(({ path, text }) => attempt(() => contractFromText(text, path)) !== undefined)
}

/**
 * The version that the package had then; undefined if the contract belonged to another package, whose version says
 * nothing about this one's.
 */
export async function versionAt (
  commit: string,
  stored: Stored,
  place: Place,
  { name }: Owner,
  git: Git
): Promise<string | undefined> {
  const manifest = stored.path === place.path
    ? await manifestAt(commit, place.owner, git)
    : await nearestManifestAt(commit, posix.dirname(stored.path), git)
  return (manifest?.name ?? '') === name ? manifest?.version : undefined
}

interface Manifest {
  readonly name?: string
  readonly version?: string
}

async function manifestAt (commit: string, folder: string, git: Git): Promise<Manifest | undefined> {
  const path = posix.join(folder, 'package.json')
  const text = await git.file(commit, path)
  return text === undefined ? undefined : jsonFrom(text, `${path} at ${commit.slice(0, 10)}`) as Manifest
}

async function nearestManifestAt (commit: string, folder: string, git: Git): Promise<Manifest | undefined> {
  return await manifestAt(commit, folder, git) ??
    (folder === '.' ? undefined : await nearestManifestAt(commit, posix.dirname(folder), git))
}
