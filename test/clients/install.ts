import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Client } from './client.ts'

/** Where clients are installed, and found again in the next run. */
const HOME = process.env['CLIENTS_DIR'] ?? join(tmpdir(), 'routes-for-agents-clients')

/** On which clients run: newer than what the packages of this repository need. */
const NODE = `node-${process.platform}-${process.arch}@24.21.0`

const programs = fileURLToPath(new URL('programs/', import.meta.url))

/** @returns the path of the Node.js that runs the clients */
export async function installNode (): Promise<string> {
  const folder = await install('node', [NODE])
  return join(folder, 'node_modules', NODE.replace(/@.*/, ''), 'bin/node')
}

/** @returns the folder with the client's packages, and beside them the programs of the lab */
export async function installClient ({ packages }: Client): Promise<string> {
  const folder = await install(packages[0]!.replace(/^@/, '').replace('/', '-').replace(/@.*/, ''), packages)
  for (const file of readdirSync(programs)) copyFileSync(join(programs, file), join(folder, file))
  return folder
}

/** By folder: clients of the same packages share one, and are installed side by side. */
const installations = new Map<string, Promise<string>>()

function install (name: string, packages: readonly string[]): Promise<string> {
  const folder = join(HOME, name)
  const installation = installations.get(folder) ?? npmInstall(folder, packages)
  installations.set(folder, installation)
  return installation
}

/** Installs packages as they are released, without running their scripts, unless they are there. */
async function npmInstall (folder: string, packages: readonly string[]): Promise<string> {
  const done = join(folder, 'installed')
  if (existsSync(done) && readFileSync(done, 'utf8') === packages.join(' ')) return folder
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  const npm = spawn(
    'npm',
    ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', ...packages],
    { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] }
  )
  const [code] = await once(npm, 'close')
  if (code !== 0) throw new Error(`${packages[0]} cannot be installed`)
  writeFileSync(done, packages.join(' '))
  return folder
}
