import { readFile } from 'node:fs/promises'
import { contractFromText, diffContracts, MCP_FROM_ROUTES_CONTRACT_UNREADABLE, textFromContract } from '../contract/index.ts'
import type { Bump, Contract, Finding } from '../contract/index.ts'
import { covers } from '../contract/finding.ts'
import { findBase } from './base.ts'
import type { BaseWanted } from './base.ts'
import { bumpBetween, bumped, ownerOf, pendingBump } from './version.ts'

/** What a check found. */
export interface ContractReport {
  /** Whether the file matches the app, and the version rises enough where that could be checked. */
  readonly ok: boolean
  /** The contract's file, as it was given. */
  readonly file: string
  readonly tools: number
  /** From the file to the app. */
  readonly drift: { readonly ok: boolean, readonly findings: readonly Finding[] }
  readonly version: VersionReport
}

/** Whether the version rises as much as the changes since an earlier state require. */
export type VersionReport =
  | { readonly checked: false, readonly reason: string, readonly hint: string }
  | {
    readonly checked: true
    readonly ok: boolean
    /** What the app is compared with, for people. */
    readonly base: string
    /** The package whose version stands for the contract. */
    readonly package: string
    /** Its version then, and after the pending changesets. */
    readonly from: string
    readonly to: string
    readonly asked: Bump
    readonly given: Bump
    readonly findings: readonly Finding[]
  }

/**
 * Compares an app with its contract's file, and with the contract of an earlier state.
 *
 * @param app - the app's tools
 * @param path - the contract's file
 * @param name - the file as people know it
 */
export async function checkContract (app: Contract, path: string, name: string, wanted: BaseWanted, env: NodeJS.ProcessEnv): Promise<ContractReport> {
  const stored = contractFromText(await textOf(path, name), name)
  const isSame = textFromContract(stored) === textFromContract(app)
  const drift = { ok: isSame, findings: isSame ? [] : diffContracts(stored, app).findings }
  const version = await versionReport(app, path, wanted, env)
  return { ok: isSame && (!version.checked || version.ok), file: name, tools: app.size, drift, version }
}

async function textOf (path: string, name: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new MCP_FROM_ROUTES_CONTRACT_UNREADABLE(name, `${(error as NodeJS.ErrnoException).code === 'ENOENT' ? 'it is not there. Make it with: mcp-from-routes contract write' : (error as Error).message}`)
  }
}

async function versionReport (app: Contract, path: string, wanted: BaseWanted, env: NodeJS.ProcessEnv): Promise<VersionReport> {
  const owner = await ownerOf(path)
  const pending = await pendingBump(owner)
  const base = await findBase(wanted, path, owner, pending.baseBranch, env)
  if ('missing' in base) return { checked: false, reason: base.missing, hint: base.hint }
  const { bump: asked, findings } = diffContracts(base.contract, app)
  const from = base.version ?? owner.version
  const to = bumped(owner.version, pending.bump)
  const given = bumpBetween(from, to)
  return { checked: true, ok: covers(given, asked), base: base.label, package: owner.name, from, to, asked, given, findings }
}
