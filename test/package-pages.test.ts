import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import t from 'tap'
import { fencesOf } from './docs/fences.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/**
 * The README of a package is short; its depth is in its docs. `npm run docs -- --check` tries the links of all pages.
 */
for (const name of readdirSync(join(root, 'packages'))) {
  const readme = `packages/${name}/README.md`

  t.test(`${readme} is at most 160 lines`, async (t) => {
    t.ok(read(readme).split('\n').length - 1 <= 160, `${read(readme).split('\n').length - 1} lines`)
  })

  // Those of the other pages: `docs.test.ts`.
  t.test(`${readme}: every program is that of a file`, async (t) => {
    for (const { info, text, line } of fencesOf(read(readme)).filter(({ info }) => info.startsWith('ts'))) {
      const [, source = ''] = /^ts source="(.+)"$/.exec(info) ?? []
      t.equal(text, existsSync(join(root, source)) ? read(source) : '', `line ${line} is ${source}`)
    }
  })
}

const errorsOf = {
  'packages/mcp-from-routes/docs/errors.md': [
    'packages/mcp-from-routes/src/errors.ts',
    'packages/mcp-from-routes/src/contract/errors.ts',
    'packages/mcp-from-routes/src/testing/errors.ts'
  ],
  'packages/dual-auth/docs/errors.md': ['packages/dual-auth/src/errors.ts'],
  'packages/oauth-discovery-shim/docs/errors.md': [
    'packages/oauth-discovery-shim/src/errors.ts',
    'packages/oauth-discovery-shim/src/broker/errors.ts'
  ],
  'packages/pay-reconcile/docs/errors.md': [
    'packages/pay-reconcile/src/errors.ts',
    'packages/pay-reconcile/src/webhooks/errors.ts'
  ],
  'docs/errors.md': ['examples/shop/src/errors.ts']
}
for (const [file, sources] of Object.entries(errorsOf)) {
  t.test(`${file} has a heading for every error, its status, when it comes and what to do`, async (t) => {
    const page = read(file)
    const sections = new Map(
      page.split(/^##+ /m).flatMap((text) => {
        const [, code, section] = /^`([A-Z\d_]+)`\n\n([^]+)$/.exec(text) ?? []
        return code === undefined ? [] : [[code, section!] as const]
      })
    )
    const told: string[] = []
    for (const source of sources) {
      for (
        const [name, Make] of Object.entries<any>(await import(`../${source}`)).filter(([name]) =>
          /^[A-Z\d_]+$/.test(name)
        )
      ) {
        const { statusCode } = new Make()
        told.push(name)
        const [cause = '', cure = ''] = sections.get(name)?.split('\n\n') ?? []
        // 500 is also that of errors without a status, which stop a start or a command.
        t.match(cause, statusCode === 500 ? /^(?:Status 500\. )?[^\s].*\.$/ : `Status ${statusCode}. `, name)
        t.match(cure, /^\*\*What to do:\*\* \S/, name)
      }
    }
    t.strictSame([...sections.keys()].sort(), told.sort())
    t.equal([...page.matchAll(/^##+ `/gm)].length, sections.size, 'each code once')
  })
}

t.test('npx lines run what is installed, or name a version: never a package that a stranger published', async (t) => {
  const inDocs = ['docs', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/docs`)]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md')).map(
        (path) => `${folder}/${path}`
      )
    )
  const pages = [
    ...inDocs,
    ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`),
    'README.md',
    'CONTRIBUTING.md',
    'examples/shop/README.md'
  ]
  const lines = pages.flatMap((page) => read(page).split('\n').map((line) => `${page}: ${line}`))
    // What the contract command says of the project that it is installed in.
    .filter((line) => !/: (?:If intended, update it|Add a changeset)/.test(line))
  t.strictSame(lines.filter((line) => /npx (?!--no-install |(?:-y )?(?:@[\w-]+\/)?[\w-]+@\d)/.test(line)), [])
})
