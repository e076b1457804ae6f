import { strict as assert } from 'node:assert'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { scratchCopy } from './scratch.ts'
import { run } from './command.ts'
import { entriesOf, packages } from './packages.ts'
import { makeProjects } from './project.ts'
import { checkPrograms } from './programs.ts'
import { startRegistry } from './registry.ts'

/*
 * `npm run release rehearse`: a release from beginning to end, in a copy of the repository, with a registry on
 * loopback. Raises the versions that changesets raise, publishes, installs from there by name what each README says,
 * and runs its program; publishes a fix of one package after that; and renames a tool, which nobody must be able to
 * release as a minor version. Needs the registry for what is not ours, and a PostgreSQL server at `TEST_DATABASE_URL`.
 */

/** Of a package, unpacked, in bytes: more is a file that does not belong there. */
const MAX_SIZE = 1_000_000

const { TEST_DATABASE_URL: databaseUrl } = process.env
if (databaseUrl === undefined) {
  throw new Error('TEST_DATABASE_URL: the quickstart of pay-reconcile needs a PostgreSQL server')
}

const directory = mkdtempSync(join(tmpdir(), 'release-rehearse-'))
const copy = scratchCopy(fileURLToPath(new URL('../../../', import.meta.url)))
const registry = await startRegistry(directory)
try {
  // For npm, and all that it starts. The registry lets everybody publish, but npm wants to have signed in.
  const settings = join(directory, 'npmrc')
  writeFileSync(
    settings,
    `registry=${registry.origin}/\n${registry.origin.replace('http:', '')}/:_authToken=anybody\nprovenance=false\n`
  )
  Object.assign(process.env, { NPM_CONFIG_USERCONFIG: settings, npm_config_registry: `${registry.origin}/` })

  nameOrigin()
  await commit('Begin')
  const first = await raise()
  await publish()
  for (const { name } of packages) await checkPublished(name, first.get(name)!)
  console.log(`published ${Array.from(first, (one) => one.join('@')).join(', ')}`)

  const folders = await makeProjects(directory, async ({ name }) => name)
  for (const one of packages) await checkNames(one.name, entriesOf(one), folders.get(one.name)!)
  await checkPrograms({ folders, node: process.execPath, databaseUrl })

  const [one, ...others] = packages as [typeof packages[number], ...typeof packages]
  change(one.name, 'patch', 'A fix.')
  await commit('Fix')
  const second = await raise()
  await publish()
  assert.equal(second.get(one.name), first.get(one.name)!.replace(/\d+$/, (patch) => String(Number(patch) + 1)))
  assert.equal(await latest(one.name), second.get(one.name))
  for (const { name } of others) assert.equal(await latest(name), first.get(name), `${name} did not change`)
  await run('npm', ['update', '--no-audit', one.name], { cwd: folders.get(one.name)! })
  assert.equal(manifest(join(folders.get(one.name)!, 'node_modules', one.name)).version, second.get(one.name))
  console.log(`published ${one.name}@${second.get(one.name)}, and nothing else`)

  await renameTool()
} finally {
  await registry.stop()
  for (const folder of [directory, copy]) rmSync(folder, { recursive: true, force: true })
}

/** Says where packages come from, as long as nobody knows. */
function nameOrigin (): void {
  for (const { name } of packages) {
    const file = join(copy, 'packages', name, 'package.json')
    const url = 'https://git.example/rehearsal'
    writeFileSync(
      file,
      JSON.stringify(
        {
          author: 'Nobody',
          bugs: `${url}/issues`,
          repository: { type: 'git', url: `git+${url}.git`, directory: `packages/${name}` },
          ...manifest(join(copy, 'packages', name))
        },
        null,
        2
      )
    )
  }
}

async function commit (message: string, ...options: readonly string[]): Promise<void> {
  const git = async (...args: string[]): Promise<unknown> =>
    await run('git', ['-c', 'user.name=Nobody', '-c', 'user.email=nobody@example.com', ...args], { cwd: copy })
  if (!existsSync(join(copy, '.git'))) await git('init', '-q', '-b', 'main')
  await git('add', '-A')
  await git('commit', '-qm', message, ...options)
}

/** @returns the version of each package, once the versions have been raised */
async function raise (): Promise<ReadonlyMap<string, string>> {
  await run('npx', ['--no-install', 'changeset', 'version'], { cwd: copy })
  assert.deepEqual(readdirSync(join(copy, '.changeset')).filter((file) => file.endsWith('.md')), ['README.md'])
  // Between two changesets there is nothing to raise.
  await commit('Raise the versions', '--allow-empty')
  return new Map(packages.map(({ name }) => [name, manifest(join(copy, 'packages', name)).version!]))
}

async function publish (): Promise<void> {
  await run(process.execPath, ['--import', '@tapjs/typescript/import', 'examples/quickstart/release/publishable.ts'], {
    cwd: copy,
    env: { TS_NODE_TRANSPILE_ONLY: '1' }
  })
  await run('npx', ['--no-install', 'changeset', 'publish'], { cwd: copy })
}

/** What the registry says of a version. */
async function checkPublished (name: string, version: string): Promise<void> {
  const { dist, license, repository, engines, readme = '' } = await (await fetch(`${registry.origin}/${name}`)).json()
    .then((all) => ({ readme: all.readme, ...all.versions[version] }))
  assert.match(version, /^1\./)
  // The registry compares the repository with the provenance.
  assert.deepEqual(repository, {
    type: 'git',
    url: 'git+https://git.example/rehearsal.git',
    directory: `packages/${name}`
  })
  assert.deepEqual({ license, engines }, { license: 'MIT', engines: { node: '>=20.19' } })
  assert.match(readme, new RegExp(`^# ${name}\n`))
  assert.ok(dist.integrity.startsWith('sha512-'))
  const [packed] = JSON.parse(
    await run('npm', ['pack', '--dry-run', '--json', `${name}@${version}`], { cwd: directory })
  )
  assert.ok(packed.unpackedSize < MAX_SIZE, `${name} has ${packed.unpackedSize} bytes`)
  const outside = packed.files.map(({ path }: { path: string }) => path).filter((path: string) =>
    !/^(?:dist|bin|docs)\//.test(path)
  )
  assert.deepEqual(outside.sort(), ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'])
}

/** Imports all that a package exports from CommonJS, and runs its command. */
async function checkNames (name: string, entries: readonly string[], cwd: string): Promise<void> {
  for (const entry of entries) {
    await run(process.execPath, [
      '--input-type=commonjs',
      '-e',
      `import('${entry}').then((all) => { if (Object.keys(all).length === 0) process.exit(1) })`
    ], { cwd })
  }
  assert.match(await run('npx', ['--no-install', name, '--help'], { cwd }), new RegExp(`^Usage: ${name} `))
}

async function latest (name: string): Promise<string> {
  const { 'dist-tags': tags } = await (await fetch(`${registry.origin}/${name}`)).json()
  return tags.latest
}

function change (name: string, bump: 'patch' | 'minor' | 'major', summary: string): void {
  writeFileSync(join(copy, '.changeset', `${bump}.md`), `---\n'${name}': ${bump}\n---\n\n${summary}\n`)
}

/** A tool of the shop gets another name on a branch: only a major version may do so. */
async function renameTool (): Promise<void> {
  await run('git', ['checkout', '-qb', 'rename'], { cwd: copy })
  const built = join(copy, 'examples/shop/dist/catalog/attributes.js')
  writeFileSync(built, readFileSync(built, 'utf8').replace("'list_attributes'", "'list_properties'"))
  const shop = { cwd: join(copy, 'examples/shop') }
  await run('npx', ['--no-install', 'mcp-from-routes', 'contract', 'write', './dist/contract.js'], shop)
  const check = async (): Promise<unknown> => await run('npm', ['run', 'check:package'], shop)
  change('shop', 'minor', 'Renames a tool.')
  await assert.rejects(check, /list_attributes/)
  rmSync(join(copy, '.changeset/minor.md'))
  change('shop', 'major', 'Renames a tool.')
  await check()
  console.log('a renamed tool is refused as a minor version, and passes as a major one')
}

function manifest (folder: string): { readonly version?: string } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
