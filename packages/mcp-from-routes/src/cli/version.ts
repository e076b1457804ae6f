import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import parse from '@changesets/parse'
import { MCP_FROM_ROUTES_CONTRACT_BASE } from '../contract/index.ts'
import type { Bump } from '../contract/index.ts'
import { largestBump } from '../contract/finding.ts'

/** The package whose version stands for the contract. */
export interface Owner {
  /** Its folder. */
  readonly folder: string
  readonly name: string
  readonly version: string
}

/** The package that a file belongs to: the nearest package.json above it. */
export async function ownerOf (file: string): Promise<Owner> {
  const manifest = await nearest(dirname(file), 'package.json')
  if (manifest === undefined) throw new MCP_FROM_ROUTES_CONTRACT_BASE(`There is no package.json above ${file}, so no version stands for it`)
  const { name = '', version = '0.0.0' } = JSON.parse(await readFile(manifest, 'utf8')) as { name?: string, version?: string }
  return { folder: dirname(manifest), name, version }
}

/** Pending changesets, as far as they are about one package. */
export interface Pending {
  readonly bump: Bump
  /** The folder they are in; undefined when there is none. */
  readonly folder: string | undefined
  /** The branch that changesets are for, by their settings. */
  readonly baseBranch: string | undefined
}

/**
 * @param owner - whose changesets; they are in the nearest `.changeset` above its folder
 * @throws {@link MCP_FROM_ROUTES_CONTRACT_BASE} for a changeset that cannot be read
 */
export async function pendingBump (owner: Owner): Promise<Pending> {
  const config = await nearest(owner.folder, join('.changeset', 'config.json'))
  if (config === undefined) return { bump: 'none', folder: undefined, baseBranch: undefined }
  const folder = dirname(config)
  const { baseBranch } = JSON.parse(await readFile(config, 'utf8')) as { baseBranch?: string }
  const files = (await readdir(folder)).filter((file) => file.endsWith('.md') && !/^(README|\.)/i.test(file))
  const bumps = await Promise.all(files.map(async (file) => bumpIn(await readFile(join(folder, file), 'utf8'), file, owner.name)))
  return { bump: largestBump(bumps), folder, baseBranch }
}

function bumpIn (text: string, file: string, name: string): Bump {
  try {
    return parse(text).releases.find((release) => release.name === name)?.type ?? 'none'
  } catch (error) {
    throw new MCP_FROM_ROUTES_CONTRACT_BASE(`.changeset/${basename(file)} cannot be read: ${(error as Error).message.split('\n')[0]}`)
  }
}

const VERSION = /^(\d+)\.(\d+)\.(\d+)/

/** The version after a bump: 1.4.2 and minor make 1.5.0. */
export function bumped (version: string, bump: Bump): string {
  const [major, minor, patch] = numbersOf(version)
  switch (bump) {
    case 'major': return `${major + 1}.0.0`
    case 'minor': return `${major}.${minor + 1}.0`
    case 'patch': return `${major}.${minor}.${patch + 1}`
    default: return version
  }
}

/** What rose from one version to another. */
export function bumpBetween (from: string, to: string): Bump {
  const [before, after] = [numbersOf(from), numbersOf(to)]
  const first = before.findIndex((number, index) => number !== after[index])
  const rose = first >= 0 && Number(after[first]) > Number(before[first])
  return rose ? (['major', 'minor', 'patch'] as const)[first] ?? 'none' : 'none'
}

function numbersOf (version: string): readonly [number, number, number] {
  const [, major, minor, patch] = VERSION.exec(version) ?? []
  if (major === undefined) throw new MCP_FROM_ROUTES_CONTRACT_BASE(`${JSON.stringify(version)} is not a version such as 1.4.2`)
  return [Number(major), Number(minor), Number(patch)]
}

async function nearest (folder: string, file: string): Promise<string | undefined> {
  const path = join(folder, file)
  const isThere = await readFile(path).then(() => true, () => false)
  if (isThere) return path
  const above = dirname(folder)
  return above === folder ? undefined : await nearest(above, file)
}
