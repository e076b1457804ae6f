import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { installCommandsOf, packages, programOf } from '../release/packages.ts'

const run = promisify(execFile)

for (const { name, directory } of packages) {
  const read = (path: string): string => readFileSync(join(directory, path), 'utf8')

  t.test(`${name} is packed with programs, types, README, pages, changes and licence, and nothing else`, async (t) => {
    const manifest = JSON.parse(read('package.json'))
    const shared: readonly string[] = existsSync(join(directory, 'tsconfig.shared.json'))
      ? JSON.parse(read('tsconfig.shared.json')).files
      : []
    const built = [
      ...readdirSync(join(directory, 'src'), { recursive: true, encoding: 'utf8' }),
      ...shared.map((path) => path.replace('../../', ''))
    ]
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
      .flatMap((path) => ['js', 'd.ts'].map((ending) => `dist/${path.replace(/ts$/, ending)}`))
    const commands = Object.values<string>(manifest.bin ?? {}).map((path) => path.replace('./', ''))
    const pages = readdirSync(join(directory, 'docs')).map((name) => `docs/${name}`)
    const expected = new Set(['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json', ...built, ...commands, ...pages])

    const { stdout } = await run('npm', ['pack', '--dry-run', '--json'], { cwd: directory, timeout: 60_000 })
    const [{ files }] = JSON.parse(stdout) as [{ files: ReadonlyArray<{ path: string }> }]
    t.strictSame(
      files.map(({ path }) => path).toSorted(),
      [...expected].toSorted(),
      'where dist holds what has no source any more, delete it and build'
    )
    t.ok(built.length >= 20)

    for (const path of commands) t.match(read(path), /^#!\/usr\/bin\/env node\n/, `${path} is a command`)
  })

  t.test(`${name} says what npm and its users need to know`, async (t) => {
    const manifest = JSON.parse(read('package.json'))
    t.match(manifest, {
      name,
      description: /\w/,
      license: 'MIT',
      type: 'module',
      engines: { node: '>=20.19' },
      sideEffects: false,
      publishConfig: { access: 'public' }
    })
    t.ok(manifest.keywords.includes('fastify-plugin'))
    t.notOk(manifest.private)
    const { [Symbol.for('plugin-meta')]: plugin } = (await import(name)).default
    t.equal(
      plugin.fastify,
      manifest.peerDependencies.fastify,
      'an older Fastify is refused by npm, and at startup where npm was overruled'
    )
  })

  t.test(`the install commands in the README of ${name} bring what its program imports`, async (t) => {
    const imported = [...programOf(name).matchAll(/from '((?:@[^/']+\/)?[^/']+)/g)].map(([, dependency]) => dependency)
    t.ok(imported.includes(name))
    t.strictSame(
      imported.filter((dependency) =>
        !dependency!.startsWith('node:') && !installCommandsOf(name).includes(dependency!)
      ),
      []
    )
  })
}
