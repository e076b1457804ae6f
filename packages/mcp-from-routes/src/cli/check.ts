import { readFile } from 'node:fs/promises'
import {
  acceptedFromText,
  contractFromText,
  diffContracts,
  MCP_FROM_ROUTES_CONTRACT_UNREADABLE,
  nameOfFinding,
  textFromContract,
  type Accepted,
  type Bump,
  type Contract,
  type DiffOptions,
  type Finding
} from '../contract/index.ts'
import { covers, largestBump } from '../contract/finding.ts'
import { findBase, type BaseWanted, type Earlier } from './base.ts'
import { changesetsOf } from './changesets.ts'
import { isContinuous } from './ci.ts'
import { gitIn, type Git } from './git.ts'
import { riseSince, type ReleaseSource } from './release.ts'
import { ownerOf, type Owner } from './version.ts'

/** What a check found. */
export interface ContractReport {
  /** Whether the file matches the app and the version rises enough. */
  readonly ok: boolean
  /** The contract's file, as it was given. */
  readonly file: string
  readonly tools: number
  /** From the file to the app. `endpoints`: whether they were compared too, which takes a file that holds them. */
  readonly drift: { readonly ok: boolean, readonly endpoints: boolean, readonly findings: readonly Finding[] }
  readonly version: VersionReport
}

/** Whether the version rises as much as the changes since an earlier state require. */
export type VersionReport =
  | {
    readonly checked: false,
    /** False where a check was due, as in CI. */
    readonly ok: boolean,
    readonly reason: string,
    readonly hint: string
  }
  | {
    readonly checked: true,
    readonly ok: boolean,
    /** What the app is compared with, for people. */
    readonly base: string,
    /** The package whose version stands for the contract. */
    readonly package: string,
    /**
     * The source of its next version: an option, commit messages, changesets, or without any of them the version
     * itself.
     */
    readonly by: 'bump' | 'changesets' | 'commits' | 'version',
    /** Its version then, and as of the next release. */
    readonly from: string,
    readonly to: string,
    /** What the findings that count require. */
    readonly asked: Bump,
    readonly given: Bump,
    /** The part of the bump that the branch itself brings; absent without `--own-changeset`. */
    readonly own?: Bump,
    /** Why no changeset raises the version of this package; absent where they can. */
    readonly skipped?: string,
    /** Whether endpoints were compared too, which takes an earlier file that holds them. */
    readonly endpoints: boolean,
    readonly findings: readonly Finding[],
    /** The findings that the file accepts: they do not count. */
    readonly accepted: ReadonlyArray<{ readonly finding: Finding, readonly reason: string, readonly until?: string }>,
    /** Entries of `accepted` that match nothing, and why. */
    readonly unused: ReadonlyArray<{ readonly finding: string, readonly reason: string }>
  }

/** How to check. */
export interface CheckOptions extends BaseWanted, DiffOptions {
  /** Whether the branch needs its own changeset: those of other branches do not count. */
  readonly ownChangeset: boolean
  /** Whether to pass if there is nothing to compare with, in CI too. */
  readonly allowUnchecked: boolean
  /** What tells the next version. */
  readonly release: { readonly by: 'changesets' } | { readonly by: 'commits' } | {
    readonly by: 'bump',
    readonly bump: Bump
  }
}

/**
 * Compares an app with its contract's file, and with the contract of an earlier state.
 *
 * @param app - the app's tools
 * @param path - the contract's file
 * @param name - the file as people know it
 */
export async function checkContract (
  app: Contract,
  path: string,
  name: string,
  options: CheckOptions,
  env: NodeJS.ProcessEnv
): Promise<ContractReport> {
  const text = await textOf(path, name)
  const stored = contractFromText(text, name)
  if (hasRepeatedKeys(text)) {
    throw new MCP_FROM_ROUTES_CONTRACT_UNREADABLE(
      name,
      'an object has the same key twice, as after a merge, and one of them would be ignored. Rewrite the file: ' +
        'mcp-from-routes contract write'
    )
  }
  const endpoints = stored.endpoints !== undefined
  // A file that was written before contracts held endpoints says nothing of them, and may be right in all that it says.
  const told = endpoints ? app : Object.assign(new Map(app), app, { endpoints: undefined })
  const isSame = textFromContract(stored) === textFromContract(told)
  const version = await versionReport(app, path, acceptedFromText(text, name), options, env)
  // Once guarded, they stay guarded.
  const isLost = !endpoints && version.checked && version.endpoints
  const drift = {
    ok: isSame && !isLost,
    endpoints,
    findings: isSame ? [] : diffContracts(stored, app, options).findings
  }
  return { ok: drift.ok && version.ok, file: name, tools: app.size, drift, version }
}

async function textOf (path: string, name: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new MCP_FROM_ROUTES_CONTRACT_UNREADABLE(
      name,
      `${
        (error as NodeJS.ErrnoException).code === 'ENOENT'
          ? 'it does not exist. Create it with: mcp-from-routes contract write'
          : (error as Error).message
      }`
    )
  }
}

async function versionReport (
  app: Contract,
  path: string,
  accepted: readonly Accepted[],
  options: CheckOptions,
  env: NodeJS.ProcessEnv
): Promise<VersionReport> {
  const owner = await ownerOf(path)
  const git = gitIn(owner.folder, env)
  const source = await sourceOf(options, owner, git)
  const changesets = source.by === 'changesets' ? source.changesets : undefined
  const base = await findBase(options, path, owner, changesets?.baseBranch, git, env)
  if ('missing' in base) {
    return {
      checked: false,
      ok: base.begins || options.allowUnchecked || !isContinuous(env),
      reason: base.missing,
      hint: base.hint
    }
  }
  const { findings } = diffContracts(base.contract, app, options)
  const { counted, ...sorted } = sortedOut(findings, accepted, base, new Date())
  const asked = largestBump(counted.map(({ bump }) => bump))
  const { own, ...rise } = await riseSince(base, owner, source)
  const ok = covers(rise.given, asked) && (!options.ownChangeset || covers(own, asked))
  return {
    checked: true,
    ok,
    base: base.label,
    package: owner.name,
    by: source.by === 'changesets' && changesets === undefined ? 'version' : source.by,
    ...rise,
    asked,
    ...options.ownChangeset && { own },
    ...changesets?.skipped !== undefined && { skipped: changesets.skipped },
    endpoints: base.contract.endpoints !== undefined,
    findings,
    ...sorted
  }
}

async function sourceOf ({ release }: CheckOptions, owner: Owner, git: Git): Promise<ReleaseSource> {
  if (release.by !== 'changesets') return release
  return { by: 'changesets', changesets: await changesetsOf(owner, await git.top()) }
}

/**
 * Separates findings that count from those that the file accepts. An entry that the earlier state had already does not
 * cover a change since then.
 */
function sortedOut (findings: readonly Finding[], accepted: readonly Accepted[], base: Earlier, now: Date) {
  const today = now.toISOString().slice(0, 10)
  const earlier = new Set(base.accepted.map(keyOf))
  const names = new Set(findings.map(nameOfFinding))
  const whyNot = (entry: Accepted): string | undefined => {
    const { finding, until } = entry
    if (!names.has(finding)) return 'there is no such change'
    if (until !== undefined && until < today) return `it was accepted until ${until}`
    return earlier.has(keyOf(entry))
      ? 'an earlier version accepted it already: a change since then needs a reason of its own'
      : undefined
  }
  const valid = new Map(
    accepted.filter((entry) => whyNot(entry) === undefined).map(({ finding, ...entry }) => [finding, entry])
  )
  return {
    counted: findings.filter((finding) => !valid.has(nameOfFinding(finding))),
    accepted: findings.flatMap((finding) => {
      const entry = valid.get(nameOfFinding(finding))
      return entry === undefined ? [] : [{ finding, ...entry }]
    }),
    unused: accepted.flatMap((entry) => {
      const reason = whyNot(entry)
      return reason === undefined ? [] : [{ finding: entry.finding, reason }]
    })
  }
}

/** Identifies an entry. */
function keyOf ({ finding, reason }: Accepted): string {
  return JSON.stringify([finding, reason])
}

/**
 * Whether an object has the same key twice. JSON.parse keeps only the last, so it reads fewer strings than there are.
 *
 * @param text - JSON
 */
function hasRepeatedKeys (text: string): boolean {
  return stringsIn(text) > stringsIn(JSON.stringify(JSON.parse(text)))
}

function stringsIn (text: string): number {
  return (text.match(/"(?:[^"\\]|\\[^])*(?:"|\\?$)/g) ?? []).length
}
