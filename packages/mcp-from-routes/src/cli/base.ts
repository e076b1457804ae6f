import { relative } from 'node:path'
import { contractFromText, MCP_FROM_ROUTES_CONTRACT_BASE } from '../contract/index.ts'
import type { Contract } from '../contract/index.ts'
import { gitIn } from './git.ts'
import type { Git } from './git.ts'
import type { Owner } from './version.ts'

/** Which earlier state to compare with; nothing means the merge base with the default branch. */
export interface BaseWanted {
  /** A commit, branch or tag. */
  readonly against?: string
  /** A published version of the package, by its tag. */
  readonly againstVersion?: string
}

/** The contract of an earlier state, or why there is none to compare with. */
export type Base =
  | { readonly label: string, readonly contract: Contract, readonly version: string | undefined }
  | { readonly missing: string, readonly hint: string }

/** What to do where the history is missing. */
const FETCH = 'Fetch the history (in GitHub Actions, fetch-depth: 0), or name a state to compare with: --against <commit>'

/**
 * Finds the contract to compare with. What was asked for by name has to be there; a merge base may be missing.
 *
 * @param file - the contract's file
 * @param branch - the default branch, if it is known
 * @throws {@link MCP_FROM_ROUTES_CONTRACT_BASE}
 */
export async function findBase (wanted: BaseWanted, file: string, owner: Owner, branch: string | undefined, env: NodeJS.ProcessEnv): Promise<Base> {
  const git = gitIn(owner.folder)
  const found = await commitOf(wanted, git, owner, branch, env)
  if ('missing' in found) return found
  const { commit, label } = found
  const text = await git.file(commit, relative(owner.folder, file))
  if (text === undefined) return { missing: `there is no ${relative(owner.folder, file)} at ${label}`, hint: 'The contract begins here: what comes after it is compared with it' }
  const manifest = await git.file(commit, 'package.json')
  const { version } = manifest === undefined ? {} : JSON.parse(manifest) as { version?: string }
  return { label, contract: contractFromText(text, `${relative(owner.folder, file)} at ${label}`), version }
}

type Found = { readonly commit: string, readonly label: string } | { readonly missing: string, readonly hint: string }

async function commitOf ({ against, againstVersion }: BaseWanted, git: Git, owner: Owner, branch: string | undefined, env: NodeJS.ProcessEnv): Promise<Found> {
  const named = against !== undefined ? [against] : againstVersion !== undefined ? tagsOf(owner, againstVersion) : undefined
  if (named !== undefined) {
    const known = await firstCommit(git, named)
    if (known === undefined) throw new MCP_FROM_ROUTES_CONTRACT_BASE(`There is no commit ${named.join(' or ')} here. Fetch it first, with its tags: git fetch --tags`)
    return { commit: known.commit, label: known.ref === known.commit ? shortened(known.commit) : `${known.ref} (${shortened(known.commit)})` }
  }
  if (await git.top() === undefined) return { missing: 'this is no git repository', hint: FETCH }
  const known = await firstCommit(git, branchesOf(branch, env))
  if (known === undefined) return { missing: `the default branch is not here: there is no ${branchesOf(branch, env).join(' or ')}`, hint: FETCH }
  const commit = await git.mergeBase(known.ref)
  if (commit === undefined) return { missing: `this commit and ${known.ref} have no merge base here, as in a clone without history`, hint: FETCH }
  const isHead = commit === await git.commit('HEAD')
  return { commit, label: `${shortened(commit)} (${isHead ? `this commit, which ${known.ref} has` : `the merge base with ${known.ref}`})` }
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

function shortened (commit: string): string {
  return commit.slice(0, 10)
}
