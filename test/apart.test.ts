import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { importsOf } from './imports.ts'

/** A workspace that tests of packages may import, too. */
const IDENTITY_PROVIDER = 'identity-provider'
/** Tests run the programs that the docs show. */
const PROGRAM = /^examples\/quickstart\/[\w-]+\.ts$/
/** What packages have in common: sources that are compiled into each, and helpers of their tests. */
const COMMON = /^(?:shared|test)\//

/** The names of the other workspaces, such as `dual-auth` and `shop`. */
function othersIn (root: string, name: string): readonly string[] {
  const manifests = ['packages', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((child) => join(root, folder, child, 'package.json'))
  ).filter((file) => existsSync(file))
  return manifests.map((file) => (JSON.parse(readFileSync(file, 'utf8')) as { readonly name: string }).name)
    .filter((other) => other !== name && other !== IDENTITY_PROVIDER)
}

/** What files of a package import of other packages and of the examples, also by way of a common helper. */
function foreignImports (root: string, name: string): readonly string[] {
  const own = `packages/${name}/`
  const others = othersIn(root, name)
  const files = new Set(
    ['src', 'test', 'bench'].map((folder) => join(own, folder)).filter((folder) => existsSync(join(root, folder)))
      .flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file))
      ).filter((file) => /\.[jt]s$/.test(file))
  )
  const foreign: string[] = []
  // Also the helpers that are added on the way.
  for (const file of files) {
    for (const imported of importsOf(join(root, file))) {
      const target = imported.startsWith('.') ? join(file, '..', imported) : imported
      if (COMMON.test(target)) files.add(target)
      else if (
        imported.startsWith('.')
          ? !target.startsWith(own) && !PROGRAM.test(target)
          : others.some((other) => `${imported}/`.startsWith(`${other}/`))
      ) foreign.push(`${file} imports ${target}`)
    }
  }
  return foreign
}

for (const name of readdirSync('packages')) {
  t.test(`${name} and its tests import nothing of other packages, the shop or the console`, async (t) => {
    t.strictSame(foreignImports('.', name), [], 'what several need is in test/, shared/ or a workspace of its own')
  })
}

for (
  const [from, to] of [
    ['../../other/src/index.ts', 'packages/other/src/index.ts'],
    ['../../../examples/shop/src/ports.ts', 'examples/shop/src/ports.ts'],
    ['../../../examples/quickstart/test/notes.ts', 'examples/quickstart/test/notes.ts'],
    ['other/extension', 'other/extension'],
    ['shop', 'shop']
  ] as const
) {
  const manifest = (name: string) => ({ 'package.json': JSON.stringify({ name }) })
  const helper = from.startsWith('.') ? from.replace('../../', '../packages/').replace('packages/../', '') : from
  const files = {
    examples: { shop: manifest('shop'), stands: manifest(IDENTITY_PROVIDER) },
    test: { 'helper.ts': `import type { Other } from '${helper}'` }
  }
  const own = (imports: string) => ({
    ...files,
    packages: { other: manifest('other'), own: { ...manifest('own'), test: { 'a.ts': imports } } }
  })

  t.test(`a test that imports ${from} is found, and a helper of a test that does`, async (t) => {
    t.strictSame(foreignImports(t.testdir(own(`import { other } from '${from}'`)), 'own'), [
      `packages/own/test/a.ts imports ${to}`
    ])
  })

  t.test(`a helper that imports ${from} is found`, async (t) => {
    t.strictSame(foreignImports(t.testdir(own("const helper = await import('../../../test/helper.ts')")), 'own'), [
      `test/helper.ts imports ${to}`
    ])
  })
}

t.test('a test may import its package, common helpers, the identity provider and programs of the docs', async (t) => {
  const imports = ['own', 'otherwise', 'node:fs', IDENTITY_PROVIDER, '../src/index.ts', '../../../shared/b.ts']
    .concat('../../../examples/quickstart/notes.ts').map((name) => `import '${name}'\n`).join('')
  const root = t.testdir({
    examples: { quickstart: {}, shop: { 'package.json': '{"name":"shop"}' } },
    shared: { 'b.ts': '' },
    packages: { other: { 'package.json': '{"name":"other"}' }, own: { test: { 'a.ts': imports } } }
  })
  t.strictSame(foreignImports(root, 'own'), [])
})
