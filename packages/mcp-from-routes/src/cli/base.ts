import { realpath } from 'node:fs/promises'
import { join, posix, relative } from 'node:path'
import {
  acceptedFromText,
  contractFromText,
  MCP_FROM_ROUTES_CONTRACT_BASE,
  type Accepted,
  type Contract
} from '../contract/index.ts'
import type { PreState } from './changesets.ts'
import { ciRunFrom, isContinuous, type CiRun } from './ci.ts'
import type { Commit, Git } from './git.ts'
import { storedAt, versionAt, type Missing } from './stored.ts'
import { jsonFrom, type Owner } from './version.ts'

/** Which earlier state to compare with; nothing means the merge base with the default branch. */
export interface BaseWanted {
  /** A commit, branch or tag. */
  readonly against?: string
  /** A published version of the package, by its tag. */
  readonly againstVersion?: string
}

/** An earlier state. */
export interface Earlier {
  /** The state, for people. */
  readonly label: string
  readonly contract: Contract
  /** The findings that its file accepts. */
  readonly accepted: readonly Accepted[]
  /** The version of the package then; undefined where it had none, or the contract belonged to another package. */
  readonly version: string | undefined
  /** The changesets that were there, and those that a prerelease had had. */
  readonly changesets: (root: string) => Promise<EarlierChangesets>
  /** The commits since then that touch the package, the latest first. */
  readonly commits: () => Promise<readonly Commit[]>
}

export interface EarlierChangesets {
  readonly pre: PreState | undefined
  /** Whether a changeset is new since then, or has been changed. */
  readonly isNew: (id: string) => boolean
}

/** What to do if the history is missing. */
const FETCH =
  'Fetch the history. In GitHub Actions, this is the line below `uses: actions/checkout`: with: { fetch-depth: ' +
  '0 }. In GitLab CI: variables: { GIT_DEPTH: 0 }'

/**
 * Finds the contract to compare with. A commit or version given by name must exist; a merge base may be missing.
 *
 * @param file - the contract's file
 * @param branch - the branch that changesets are for, if they say
 * @param git - the repository of the package
 * @throws {@link MCP_FROM_ROUTES_CONTRACT_BASE}
 */
export async function findBase (
  wanted: BaseWanted,
  file: string,
  owner: Owner,
  branch: string | undefined,
  git: Git,
  env: NodeJS.ProcessEnv
): Promise<Earlier | Missing> {
  const found = await commitOf(wanted, git, owner, branch, env)
  if ('missing' in found) return found
  const { commit, label } = found
  const top = await git.top() ?? owner.folder
  // Git needs paths with all symbolic links resolved.
  const [real, folder] = await Promise.all([realpath(file), realpath(owner.folder)])
  const place = { top, path: slashed(relative(top, real)), owner: slashed(relative(top, folder)) }
  const stored = await storedAt(commit, label, place, git, env)
  if ('missing' in stored) return stored
  const shown = `${stored.path} at ${label}`
  return {
    label: stored.path === place.path ? label : `${label}, where it was ${stored.path}`,
    contract: contractFromText(stored.text, shown),
    accepted: acceptedFromText(stored.text, shown),
    version: await versionAt(commit, stored, place, owner, git),
    async changesets (root) {
      const folder = posix.join(slashed(relative(top, await realpath(root))), '.changeset')
      const before = await git.folder(commit, folder)
      const pre = before.has('pre.json') ? await git.file(commit, `${folder}/pre.json`) : undefined
      const pathOf = (name: string): string => join(root, '.changeset', name)
      const now = await git.idsOf([...before.keys()].map(pathOf))
      return {
        pre: pre === undefined ? undefined : jsonFrom(pre, `${folder}/pre.json at ${shortened(commit)}`) as PreState,
        isNew: (id) => !before.has(`${id}.md`) || before.get(`${id}.md`) !== now.get(pathOf(`${id}.md`))
      }
    },
    commits: async () => await git.commitsSince(commit)
  }
}

type Found = { readonly commit: string, readonly label: string } | Missing

async function commitOf (
  { against, againstVersion }: BaseWanted,
  git: Git,
  owner: Owner,
  branch: string | undefined,
  env: NodeJS.ProcessEnv
): Promise<Found> {
  const tags = againstVersion === undefined ? undefined : tagsOf(owner, againstVersion)
  const named = against === undefined ? tags : [against]
  if (named !== undefined) {
    const known = await firstCommit(git, named)
    if (known === undefined) {
      throw new MCP_FROM_ROUTES_CONTRACT_BASE(
        `There is no commit ${named.join(' or ')} here. Fetch it first, with its tags: git fetch --tags`
      )
    }
    return {
      commit: known.commit,
      label: known.ref === known.commit ? shortened(known.commit) : `${known.ref} (${shortened(known.commit)})`
    }
  }
  if (await git.top() === undefined) {
    return {
      missing: 'this is not a git repository',
      hint: 'Check out the repository, or pass a commit to compare with: --against <commit>',
      begins: false
    }
  }
  const run = await ciRunFrom(env)
  const branches = branchesOf(run.target ?? branch ?? run.defaultBranch)
  const known = await firstCommit(git, branches)
  if (known === undefined) {
    return {
      missing: `the default branch is not in this clone: there is no ${branches.join(' or ')}`,
      hint: FETCH,
      begins: false
    }
  }
  const commit = await git.mergeBase(known.commit)
  if (commit === undefined) {
    return {
      missing: `this commit and ${known.ref} have no merge base in this clone, as in one without history`,
      hint: FETCH,
      begins: false
    }
  }
  const isHead = commit === await git.commit('HEAD')
  if (isHead && isContinuous(env)) return await before(known.ref, run, git)
  return {
    commit,
    label: `${shortened(commit)} ` +
      `(${isHead ? `this commit, which ${known.ref} has` : `the merge base with ${known.ref}`})`
  }
}

/**
 * In CI, a commit of the default branch is compared with the branch's previous state: a comparison with itself finds
 * nothing.
 */
async function before (branch: string, { before: pushed }: CiRun, git: Git): Promise<Found> {
  const commit = await git.commit(pushed ?? 'HEAD^1')
  if (commit !== undefined) {
    return {
      commit,
      label: `${shortened(commit)} ` +
        `(${pushed === undefined ? `the commit before, on ${branch}` : `before this push to ${branch}`})`
    }
  }
  if (pushed === undefined && !await git.isShallow()) {
    return {
      missing: 'this is the first commit',
      hint: 'The contract starts here: later versions are compared with it',
      begins: true
    }
  }
  const missing = `${branch} has this commit, and ` +
    `${pushed === undefined ? 'the state before it' : `${shortened(pushed)}, its state before this push,`} is not ` +
    'in this clone'
  return {
    missing,
    hint: pushed === undefined || await git.isShallow() ? FETCH : `Fetch it: git fetch origin ${pushed}`,
    begins: false
  }
}

/** As `changeset publish` and `changeset tag` name them, in a repository of many packages and of one. */
function tagsOf ({ name }: Owner, version: string): readonly string[] {
  return [`refs/tags/${name}@${version}`, `refs/tags/v${version}`]
}

/** @param name - if the branch's name is known, no other branch will do: it might be the one that is being checked */
function branchesOf (name: string | undefined): readonly string[] {
  return name === undefined ? ['origin/HEAD', 'main', 'master'] : [`origin/${name}`, name]
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
