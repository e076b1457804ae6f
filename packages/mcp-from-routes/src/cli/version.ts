import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { MCP_FROM_ROUTES_CONTRACT_BASE, type Bump } from '../contract/index.ts'

/** The package whose version stands for the contract. */
export interface Owner {
  /** Its folder. */
  readonly folder: string
  readonly name: string
  readonly version: string
}

/** The package that a file belongs to: the nearest package.json above it. */
export async function ownerOf (file: string): Promise<Owner> {
  const manifest = await nearestManifest(dirname(file))
  if (manifest === undefined) {
    throw new MCP_FROM_ROUTES_CONTRACT_BASE(`There is no package.json above ${file}, so it has no version`)
  }
  const { name = '', version = '0.0.0' } = jsonFrom(await readFile(manifest, 'utf8'), manifest) as {
    name?: string,
    version?: string
  }
  return { folder: dirname(manifest), name, version }
}

export async function isThere (file: string): Promise<boolean> {
  return await readFile(file).then(() => true, () => false)
}

/** @param file - named in errors */
export function jsonFrom (text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new MCP_FROM_ROUTES_CONTRACT_BASE(`${file} is not JSON: ${(error as Error).message}`)
  }
}

async function nearestManifest (folder: string): Promise<string | undefined> {
  const path = join(folder, 'package.json')
  if (await isThere(path)) return path
  const above = dirname(folder)
  return above === folder ? undefined : await nearestManifest(above)
}

const VERSION = /^(\d+)\.(\d+)\.(\d+)(-[^+]+)?/

/** The version after a bump: 1.4.2 and minor make 1.5.0. */
export function bumped (version: string, bump: Bump): string {
  const [major, minor, patch] = numbersOf(version)
  switch (bump) {
    case 'major':
      return `${major + 1}.0.0`
    case 'minor':
      return `${major}.${minor + 1}.0`
    case 'patch':
      return `${major}.${minor}.${patch + 1}`
    default:
      return version
  }
}

/**
 * What rose from one version to another. A rise within the prereleases of one version counts as much as that version's:
 * from 2.0.0-beta.0 to 2.0.0-beta.1 or 2.0.0 is major, since nothing has been promised for 2.0.0 yet.
 */
export function bumpBetween (from: string, to: string): Bump {
  const [before, after] = [numbersOf(from), numbersOf(to)]
  const first = before.findIndex((number, index) => number !== after[index])
  if (first < 0) return rosePrerelease(from, to) ? levelOf(after) : 'none'
  return Number(after[first]) > Number(before[first]) ? (['major', 'minor', 'patch'] as const)[first] ?? 'none' : 'none'
}

/** Whether both are the same version but for the prerelease, and the first is one. */
export function arePrereleases (from: string, to: string): boolean {
  return prereleaseOf(from) !== undefined && numbersOf(from).join() === numbersOf(to).join()
}

function levelOf ([, minor, patch]: readonly number[]): Bump {
  if (patch !== 0) return 'patch'
  return minor !== 0 ? 'minor' : 'major'
}

/** @see [Semantic Versioning §11](https://semver.org/#spec-item-11) */
function rosePrerelease (from: string, to: string): boolean {
  const [before, after] = [prereleaseOf(from), prereleaseOf(to)]
  if (before === undefined || before === after) return false
  if (after === undefined) return true
  const [a, b] = [before.split('.'), after.split('.')]
  const at = a.findIndex((part, index) => part !== b[index])
  if (at < 0) return true
  const [was, is] = [a[at] ?? '', b[at]]
  if (is === undefined) return false
  const [number, other] = [was, is].map((part) => /^\d+$/.test(part))
  if (number && other) return Number(is) > Number(was)
  return number === other ? is > was : Boolean(number)
}

function prereleaseOf (version: string): string | undefined {
  return VERSION.exec(version)?.[4]?.slice(1)
}

function numbersOf (version: string): readonly [number, number, number] {
  const [, major, minor, patch] = VERSION.exec(version) ?? []
  if (major === undefined) {
    throw new MCP_FROM_ROUTES_CONTRACT_BASE(`${JSON.stringify(version)} is not a version such as 1.4.2`)
  }
  return [Number(major), Number(minor), Number(patch)]
}
