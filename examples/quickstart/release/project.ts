import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './command.ts'
import {
  installCommandsOf,
  oldestPeersOf,
  pack,
  type Package,
  packages,
  programFileOf,
  programOf,
  toolOf
} from './packages.ts'

/** Strict in everything that reaches the types of a dependency. The declarations themselves are read too. */
const compilerOptions = {
  target: 'es2022', // the newest that TypeScript 5.4 knows
  lib: ['es2023'],
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  types: ['node'],
  noEmit: true
}

/** How a project may find the declarations: as Node.js does, and as bundlers do. */
const NODE = ['--module', 'nodenext']
const NODE_16 = ['--module', 'node16']
const BUNDLER = ['--module', 'esnext', '--moduleResolution', 'bundler']

/** Who compiles, beside the repository's own TypeScript: the oldest that is promised, and the newest, which is fast. */
const COMPILERS = { old: 'typescript@5.4', new: 'typescript@7' }

/** Compiles only if none of the exports has lost its type. */
const typesOf = (name: string): string =>
  `import * as exports from '${name}'
type LostIn<Module> = { [Name in keyof Module]: 0 extends 1 & Module[Name] ? Name : never }[keyof Module]
const none: never = null as unknown as LostIn<typeof exports>
export { none }
`

/**
 * For each package, does in an empty folder what its README says: makes a project with npm, installs there, saves the
 * program under the name that the README gives, and compiles it.
 *
 * @param directory - empty, outside of the repository, so that nothing is found there that was not installed
 * @param from - what npm installs a package from. Default: the file that the registry would get
 * @returns the folder of each package, by its name
 */
export async function makeProjects (
  directory: string,
  from: (one: Package) => Promise<string> = async (one) => await pack(one, directory)
): Promise<ReadonlyMap<string, string>> {
  const folders = new Map<string, string>()
  for (const [name, wanted] of Object.entries(COMPILERS)) {
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', join(directory, name), wanted], {
      cwd: directory
    })
  }
  for (const one of packages) {
    const { name } = one
    const source = await from(one)
    const folder = join(directory, name)
    mkdirSync(folder)
    await run('npm', ['init', '-y'], { cwd: folder })
    const wanted = installCommandsOf(name).map((wanted) => wanted === name ? source : wanted)
    await run('npm', [
      'install',
      '--no-audit',
      '--no-fund',
      ...wanted,
      'tsx@4',
      toolOf('typescript'),
      toolOf('@types/node')
    ], { cwd: folder })
    writeFileSync(join(folder, programFileOf(name)), programOf(name))
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts'] }))
    writeFileSync(join(folder, 'types.mts'), typesOf(name))
    await compile(folder)
    folders.set(name, folder)
  }
  return folders
}

/**
 * Installs the oldest of what each package works beside, and compiles again.
 *
 * @param folders - those of {@link makeProjects}
 */
export async function withOldestPeers (folders: ReadonlyMap<string, string>): Promise<void> {
  for (const one of packages) {
    const cwd = folders.get(one.name)!
    await run('npm', ['install', '--no-audit', '--no-fund', ...oldestPeersOf(one)], { cwd })
    await compile(cwd)
  }
}

/** @param cwd - a folder beside those of the compilers */
async function compile (cwd: string): Promise<void> {
  const tsc = (folder: string, how: readonly string[]): Promise<string> =>
    run(process.execPath, [join(folder, 'node_modules/typescript/bin/tsc'), '-p', '.', ...how], { cwd })
  await tsc(cwd, NODE)
  await tsc('../old', BUNDLER)
  for (const how of [NODE, NODE_16, BUNDLER]) await tsc('../new', how)
}
