import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './command.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** A package that is published. */
export interface Package {
  readonly name: string
  /** Absolute path. */
  readonly directory: string
}

/** All of `packages/`. */
export const packages: readonly Package[] = readdirSync(join(root, 'packages')).map((name) => ({
  name,
  directory: join(root, 'packages', name)
}))

/** Packs a package, as it would be published. @returns the path of the file, in the directory */
export async function pack ({ directory: cwd }: Package, directory: string): Promise<string> {
  const [{ filename }] = JSON.parse(await run('npm', ['pack', '--json', '--pack-destination', directory], { cwd }))
  return join(directory, filename)
}

/** @returns the program of a package, as its quickstart has it */
export function programOf (name: string): string {
  return readFileSync(join(root, 'examples/quickstart', `${name}.ts`), 'utf8')
}

/** @returns what the README of a package tells to install, itself included */
export function installCommandsOf (name: string): readonly string[] {
  const readme = readFileSync(join(root, 'packages', name, 'README.md'), 'utf8')
  const [, commands = ''] = /```sh\n(npm install [^]*?)```/.exec(readme) ?? []
  return commands.split('\n').flatMap((line) => /^npm install ([^#]+)/.exec(line)?.[1]?.trim().split(' ') ?? [])
}

/** @returns the name under which the README of a package says to save its program */
export function programFileOf (name: string): string {
  const [, file] =
    /Save (?:this|it) as `(\w+\.mts)`/.exec(readFileSync(join(root, 'packages', name, 'README.md'), 'utf8')) ?? []
  if (file === undefined) throw new Error(`The README of ${name} names no file for its program`)
  return file
}

/** @returns what can be imported of a package: `pay-reconcile`, `pay-reconcile/knex` */
export function entriesOf ({ name, directory }: Package): readonly string[] {
  const { exports } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  return Object.keys(exports).map((path) => path.replace('.', name))
}

/** @returns the oldest version of each package that a package works beside, such as `fastify@5.12.0` */
export function oldestPeersOf ({ directory }: Package): readonly string[] {
  const { peerDependencies } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  return Object.entries<string>(peerDependencies).map(([name, range]) => `${name}@${/\d+\.\d+\.\d+/.exec(range)![0]}`)
}

/** @returns the range of a tool that the repository itself is built with, such as `typescript@~5.9.3` */
export function toolOf (name: string): string {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return `${name}@${devDependencies[name]}`
}
