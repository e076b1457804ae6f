import type { Bump } from '../contract/index.ts'
import { largestBump } from '../contract/finding.ts'
import type { Earlier } from './base.ts'
import type { Changeset, Changesets, PreState } from './changesets.ts'
import type { Commit } from './git.ts'
import { arePrereleases, bumpBetween, bumped, type Owner } from './version.ts'

/** The sources of the next version, besides the version itself. */
export type ReleaseSource =
  | { readonly by: 'changesets', readonly changesets: Changesets | undefined }
  /** By an option, for repositories without changesets. */
  | { readonly by: 'bump', readonly bump: Bump }
  /** By the messages of the commits since the earlier state. */
  | { readonly by: 'commits' }

/** How the version rises from an earlier state to the next release. */
export interface Rise {
  readonly from: string
  readonly to: string
  readonly given: Bump
  /** The part of it that the branch itself brings: its own changesets, or a version that it has raised already. */
  readonly own: Bump
}

/** @throws {@link MCP_FROM_ROUTES_CONTRACT_BASE} where the release cannot be planned */
export async function riseSince (base: Earlier, owner: Owner, source: ReleaseSource): Promise<Rise> {
  const from = base.version ?? owner.version
  if (source.by !== 'changesets' || source.changesets === undefined) {
    const asked = source.by === 'bump' ? source.bump : 'none'
    const bump = source.by === 'commits' ? bumpFromMessages(messagesInEffect(await base.commits())) : asked
    // The commits have already raised the version.
    const to = from === owner.version ? bumped(from, bump) : owner.version
    const given = bumpBetween(from, to)
    return { from, to, given, own: given }
  }
  const { changesets } = source
  const before = await base.changesets(changesets.root)
  const to = changesets.plan(changesets.all, changesets.pre).version
  const own = changesets.all.filter(({ id }) => before.isNew(id))
  const raised = arePrereleases(from, owner.version) ? 'none' : bumpBetween(from, owner.version)
  return {
    from,
    to,
    given: givenBetween(from, to, changesets, before.pre),
    own: largestBump([raised, planned(changesets, own, before.pre)])
  }
}

function givenBetween (from: string, to: string, changesets: Changesets, before: PreState | undefined): Bump {
  // Every prerelease has the same three numbers: the changesets that came in between say what changed from one to the
  // next.
  if (from !== to && changesets.pre !== undefined && arePrereleases(from, to)) {
    return planned(changesets, changesets.all, before)
  }
  return bumpBetween(from, to)
}

/** The bump that changesets make, leaving out those that an earlier prerelease had. */
function planned ({ plan, pre }: Changesets, some: readonly Changeset[], before: PreState | undefined): Bump {
  const used = new Set(before?.changesets)
  return plan(some.filter(({ id }) => !used.has(id)), pre && { ...pre, mode: 'pre', changesets: [] }).bump
}

/**
 * The messages of the commits, without reverted commits and their reverts.
 *
 * @param commits - the latest first
 */
function messagesInEffect (commits: readonly Commit[]): readonly string[] {
  const ids = new Set(commits.map(({ id }) => id))
  const reverted = new Set<string>()
  return commits.flatMap(({ id, message }) => {
    if (reverted.has(id)) return []
    const targets = [...message.matchAll(/^This reverts commit ([0-9a-f]{40,64})\b/gm)].flatMap(([, target = '']) =>
      ids.has(target) ? [target] : []
    )
    for (const target of targets) reverted.add(target)
    return targets.length > 0 ? [] : [message]
  })
}

/**
 * The bump that commit messages require: `feat` is minor, `fix`, `perf` and `revert` are patch, and `!` or a footer
 * `BREAKING CHANGE` is major.
 *
 * @see [Conventional Commits 1.0.0](https://www.conventionalcommits.org/en/v1.0.0/)
 */
export function bumpFromMessages (messages: readonly string[]): Bump {
  return largestBump(messages.map((message): Bump => {
    const [, type, breaking] = /^([a-z]+)(?:\([^)\n]*\))?(!)?: /i.exec(message) ?? []
    if (breaking !== undefined || /^BREAKING[ -]CHANGE: /m.test(message)) return 'major'
    switch (type?.toLowerCase()) {
      case 'feat':
        return 'minor'
      case 'fix':
      case 'perf':
      case 'revert':
        return 'patch'
      default:
        return 'none'
    }
  }))
}
