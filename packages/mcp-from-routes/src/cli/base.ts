import { readFile } from 'node:fs/promises'
import { join, posix, relative, resolve } from 'node:path'
import { acceptedFromText, contractFromText, MCP_FROM_ROUTES_CONTRACT_BASE } from '../contract/index.ts'
import type { Accepted, Contract } from '../contract/index.ts'
import type { PreState } from './changesets.ts'
import { gitIn } from './git.ts'
import type { Git } from './git.ts'
import { jsonFrom } from './version.ts'
import type { Owner } from './version.ts'

/** Which earlier state to compare with; nothing means the merge base with the default branch. */
export interface BaseWanted {
  /** A commit, branch or tag. */
  readonly against?: string
  /** A published version of the package, by its tag. */
  readonly againstVersion?: string
}

/** Why there is no contract to compare with. */
export interface Missing {
  readonly missing: string
  readonly hint: string
  /** Whether nothing could be missed: the contract begins here. */
  readonly begins: boolean
}

/** An earlier state. */
export interface Earlier {
  /** The state, for people. */
  readonly label: string
  readonly contract: Contract
  /** What its file accepts. */
  readonly accepted: readonly Accepted[]
  /** The version of the package then; undefined where it had none. */
  readonly version: string | undefined
  /** The changesets that were there, and those that a prerelease had had. */
  readonly changesets: (root: string) => Promise<EarlierChangesets>
  /** The messages of the commits since then that touch the package. */
  readonly messages: () => Promise<readonly string[]>
}

export interface EarlierChangesets {
  readonly pre: PreState | undefined
  /** Whether a changeset is new since then, or has been changed. */
  readonly isNew: (id: string) => boolean
}

/** What to do where the history is missing. */
const FETCH = 'Fetch the history. In GitHub Actions, this is the line below `uses: actions/checkout`: with: { fetch-depth: 0 }. In GitLab CI: variables: { GIT_DEPTH: 0 }'

/**
 * Finds the contract to compare with. What was asked for by name has to be there; a merge base may be missing.
 *
 * @param file - the contract's file
 * @param branch - the default branch, if it is known
 * @throws {@link MCP_FROM_ROUTES_CONTRACT_BASE}
 */
export async function findBase (wanted: BaseWanted, file: string, owner: Owner, branch: string | undefined, env: NodeJS.ProcessEnv): Promise<Earlier | Missing> {
  const git = gitIn(owner.folder, env)
  const found = await commitOf(wanted, git, owner, branch, env)
  if ('missing' in found) return found
  const { commit, label } = found
  const top = await git.top() ?? owner.folder
  const path = slashed(relative(top, file))
  const stored = await storedAt(commit, label, path, slashed(relative(top, owner.folder)), top, git)
  if ('missing' in stored) return stored
  const shown = `${stored.path} at ${label}`
  return {
    label: stored.path === path ? label : `${label}, where it was ${stored.path}`,
    contract: contractFromText(stored.text, shown),
    accepted: acceptedFromText(stored.text, shown),
    version: await versionAt(commit, stored.path, git),
    async changesets (root) {
      const folder = posix.join(slashed(relative(top, root)), '.changeset')
      const [before, pre] = await Promise.all([git.folder(commit, folder), git.file(commit, `/${folder}/pre.json`)])
      const now = new Map(await Promise.all([...before.keys()].map(async (name) => [name, await git.idOf(join(root, '.changeset', name))] as const)))
      return {
        pre: pre === undefined ? undefined : jsonFrom(pre, `${folder}/pre.json at ${shortened(commit)}`) as PreState,
        isNew: (id) => !before.has(`${id}.md`) || before.get(`${id}.md`) !== now.get(`${id}.md`)
      }
    },
    messages: async () => await git.messagesSince(commit)
  }
}

/**
 * The contract's file as it was. A file that has been moved since is found under its old name: it is the only contract
 * of that state that is gone now.
 *
 * @param owner - the folder of the package
 */
async function storedAt (commit: string, label: string, path: string, owner: string, top: string, git: Git): Promise<{ readonly path: string, readonly text: string } | Missing> {
  const text = await git.file(commit, `/${path}`)
  if (text !== undefined) return { path, text }
  const others = (await git.jsonWith(commit, '"contract": 1,')).filter((other) => other !== path)
  const gone: string[] = []
  for (const other of others) if (!await isThere(resolve(top, other))) gone.push(other)
  const [only, ...more] = gone
  if (only !== undefined && more.length === 0) return { path: only, text: await git.file(commit, `/${only}`) ?? '' }
  const missing = `there is no ${path} at ${label}`
  if (gone.length > 0) return { missing: `${missing}, and several contracts that were there are gone: ${gone.join(', ')}`, hint: 'Move one contract at a time', begins: false }
  const beside = others.filter((other) => owner === '' || other.startsWith(`${owner}/`))
  if (beside.length > 0) return { missing: `${missing}, but ${beside.join(', ')}, which is still here`, hint: 'Remove the old file if this one replaces it. If it is the contract of another app, run this check with --allow-unchecked', begins: false }
  return { missing, hint: 'The contract begins here: what comes after it is compared with it', begins: true }
}

async function isThere (file: string): Promise<boolean> {
  return await readFile(file).then(() => true, () => false)
}

async function versionAt (commit: string, path: string, git: Git): Promise<string | undefined> {
  for (let folder = posix.dirname(path); ; folder = posix.dirname(folder)) {
    const manifest = posix.join(folder, 'package.json')
    const text = await git.file(commit, `/${manifest}`)
    if (text !== undefined) return (jsonFrom(text, `${manifest} at ${shortened(commit)}`) as { version?: string }).version
    if (folder === '.') return undefined
  }
}

type Found = { readonly commit: string, readonly label: string } | Missing

async function commitOf ({ against, againstVersion }: BaseWanted, git: Git, owner: Owner, branch: string | undefined, env: NodeJS.ProcessEnv): Promise<Found> {
  const named = against !== undefined ? [against] : againstVersion !== undefined ? tagsOf(owner, againstVersion) : undefined
  if (named !== undefined) {
    const known = await firstCommit(git, named)
    if (known === undefined) throw new MCP_FROM_ROUTES_CONTRACT_BASE(`There is no commit ${named.join(' or ')} here. Fetch it first, with its tags: git fetch --tags`)
    return { commit: known.commit, label: known.ref === known.commit ? shortened(known.commit) : `${known.ref} (${shortened(known.commit)})` }
  }
  if (await git.top() === undefined) return { missing: 'this is no git repository', hint: 'Check out the repository, or name a state to compare with: --against <commit>', begins: false }
  const known = await firstCommit(git, branchesOf(branch, env))
  if (known === undefined) return { missing: `the default branch is not here: there is no ${branchesOf(branch, env).join(' or ')}`, hint: FETCH, begins: false }
  const commit = await git.mergeBase(known.ref)
  if (commit === undefined) return { missing: `this commit and ${known.ref} have no merge base here, as in a clone without history`, hint: FETCH, begins: false }
  const isHead = commit === await git.commit('HEAD')
  if (isHead && isContinuous(env)) return await before(known.ref, git, env)
  return { commit, label: `${shortened(commit)} (${isHead ? `this commit, which ${known.ref} has` : `the merge base with ${known.ref}`})` }
}

/** In CI, a commit that the default branch has is compared with what was there before: with itself, nothing would be. */
async function before (branch: string, git: Git, env: NodeJS.ProcessEnv): Promise<Found> {
  const pushed = await beforePush(env)
  const commit = pushed === undefined ? undefined : await git.commit(pushed)
  if (commit !== undefined) return { commit, label: `${shortened(commit)} (before this push to ${branch})` }
  const parent = await git.commit('HEAD^1')
  if (parent !== undefined) return { commit: parent, label: `${shortened(parent)} (the commit before, on ${branch})` }
  return await git.isShallow()
    ? { missing: `${branch} has this commit, and what was before it is not here`, hint: FETCH, begins: false }
    : { missing: 'this is the first commit', hint: 'The contract begins here: what comes after it is compared with it', begins: true }
}

/** The commit that a branch was at before the push that GitHub Actions runs for. */
async function beforePush ({ GITHUB_EVENT_NAME, GITHUB_EVENT_PATH }: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (GITHUB_EVENT_NAME !== 'push' || GITHUB_EVENT_PATH === undefined) return undefined
  const event = await readFile(GITHUB_EVENT_PATH, 'utf8').then((text): unknown => JSON.parse(text), () => undefined)
  const commit: unknown = Reflect.get(Object(event), 'before')
  return typeof commit === 'string' && /^(?!0+$)[0-9a-f]{40,64}$/.test(commit) ? commit : undefined
}

/** Whether this is a CI run, where nobody reads what passed. @see [Variables](https://docs.github.com/actions/reference/workflows-and-actions/variables) */
export function isContinuous ({ CI = '', GITHUB_ACTIONS }: NodeJS.ProcessEnv): boolean {
  return GITHUB_ACTIONS === 'true' || !/^(|0|false)$/i.test(CI)
}

/** As `changeset publish` and `changeset tag` name them, in a repository of many packages and of one. */
function tagsOf ({ name }: Owner, version: string): readonly string[] {
  return [`refs/tags/${name}@${version}`, `refs/tags/v${version}`]
}

function branchesOf (branch: string | undefined, env: NodeJS.ProcessEnv): readonly string[] {
  const names = [env.GITHUB_BASE_REF, branch].filter((name) => name !== undefined && name !== '')
  // Where the branch is known by name no other one will do: it might be the one that is being checked.
  return names.length > 0 ? [...new Set(names.flatMap((name) => [`origin/${name}`, `${name}`]))] : ['origin/HEAD', 'main', 'master']
}

async function firstCommit (git: Git, refs: readonly string[]): Promise<{ ref: string, commit: string } | undefined> {
  for (const ref of refs) {
    const commit = await git.commit(ref)
    if (commit !== undefined) return { ref, commit }
  }
  return undefined
}

function slashed (path: string): string {
  return path.replaceAll('\\', '/')
}

function shortened (commit: string): string {
  return commit.slice(0, 10)
}
