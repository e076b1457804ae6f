import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { fencesOf } from '../../../test/docs/fences.ts'
import { run as command } from '../../../packages/mcp-from-routes/src/cli/run.ts'
import { joined } from '../../../test/joined.ts'

const top = fileURLToPath(new URL('../../..', import.meta.url))
const page = readFileSync(join(top, 'packages/mcp-from-routes/docs/contract.md'), 'utf8')
const env = {
  ...process.env,
  NODE_OPTIONS: '',
  CI: '',
  GITHUB_ACTIONS: '',
  GITHUB_BASE_REF: '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1'
}

const base = realpathSync(mkdtempSync(join(tmpdir(), 'contract-shop-')))
t.teardown(() => rmSync(base, { recursive: true, force: true }))

const shown = fencesOf(page).filter(({ info }) => info === 'report').map(({ text }) => text.trimEnd())
const seen = new Set<string>()
/** Holds the page to a report. */
function isShown (t: Test, said: string): void {
  t.ok(shown.includes(said.trimEnd()), `packages/mcp-from-routes/docs/contract.md shows what it says:\n${said}`)
  seen.add(said.trimEnd())
}

/** The built shops, by what was changed in them: repositories link to them, so that each is copied and loaded once. */
const builds = new Map<string, string>()
const builtIn = realpathSync(mkdtempSync(join(tmpdir(), 'contract-built-')))
t.teardown(() => rmSync(builtIn, { recursive: true, force: true }))

/** The built shop with a change of its tags or their schemas, as a change of their source would make it. */
function built (t: Test, from: string, to: string): string {
  const known = builds.get(from + to)
  if (known !== undefined) return known
  const folder = join(builtIn, String(builds.size))
  const shop = join(folder, 'examples/shop')
  const dist = join(shop, 'dist')
  cpSync(join(top, 'examples/shop/dist'), dist, { recursive: true, filter: (path) => !/\.(ts|map|gz)$/.test(path) })
  cpSync(join(top, 'examples/shop/skills'), join(shop, 'skills'), { recursive: true })
  cpSync(join(top, 'examples/shop/package.json'), join(shop, 'package.json'))
  symlinkSync(join(top, 'node_modules'), join(folder, 'node_modules'))
  symlinkSync(join(top, 'examples/shop/node_modules'), join(shop, 'node_modules'))
  const files = ['tags', 'tag-schemas'].map((name) => join(dist, `catalog/${name}.js`))
  const file = files.find((path) => readFileSync(path, 'utf8').includes(from)) ?? files[0]!
  const text = readFileSync(file, 'utf8')
  t.ok(text.includes(from), `there is ${from}`)
  writeFileSync(file, text.replace(from, to))
  builds.set(from + to, dist)
  return dist
}

/** A folder as a repository that has the built shop in it. */
function repository (folder: string) {
  const shop = join(folder, 'examples/shop')
  return {
    shop,
    git: (...args: string[]) =>
      execFileSync('git', [
        '-c',
        'user.name=T',
        '-c',
        'user.email=t@example.com',
        '-c',
        'init.defaultBranch=main',
        ...args
      ], { cwd: folder, env, stdio: 'pipe' }),
    /** Runs the command in this process. */
    async run (action: string, options: readonly string[] = [], more: NodeJS.ProcessEnv = {}) {
      const { code, out, err } = await command(['contract', action, './dist/contract.js', ...options], {
        cwd: shop,
        env: { ...env, ...more }
      })
      // The commit is another one each time.
      return {
        code,
        said: (out + err).replace(
          /[0-9a-f]{10} \(this commit, which main has\)/,
          '4f1d2ab90c (the merge base with main)'
        )
      }
    }
  }
}

t.before(async () => {
  const { shop, git, run } = repository(base)
  mkdirSync(shop, { recursive: true })
  // Its first release, as the page tells it.
  writeFileSync(
    join(shop, 'package.json'),
    JSON.stringify({ ...JSON.parse(readFileSync(join(top, 'examples/shop/package.json'), 'utf8')), version: '1.0.0' })
  )
  symlinkSync(join(top, 'examples/shop/dist'), join(shop, 'dist'))
  symlinkSync(join(top, 'node_modules'), join(base, 'node_modules'))
  mkdirSync(join(base, '.changeset'))
  cpSync(join(top, '.changeset/config.json'), join(base, '.changeset/config.json'))
  writeFileSync(join(base, 'package.json'), '{ "name": "top", "private": true, "workspaces": ["examples/*"] }')
  writeFileSync(join(base, '.gitignore'), 'node_modules\ndist\n')
  t.equal((await run('write')).code, 0)
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'x')
  git('checkout', '-qb', 'change')
  t.equal((await run('check')).code, 0, 'as it is, it passes')
})

/** A copy of that repository, on a branch for a change. */
function rehearsal (t: Test) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'contract-shop-')))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(base, folder, { recursive: true, verbatimSymlinks: true })
  const { shop, run, git } = repository(folder)
  return {
    run,
    git,
    shop,
    /** Its shop is one with a change. */
    change (from: string, to: string) {
      rmSync(join(shop, 'dist'))
      symlinkSync(built(t, from, to), join(shop, 'dist'))
    },
    changeset: (bump: string) =>
      writeFileSync(join(folder, `.changeset/${bump}.md`), `---\n"shop": ${bump}\n---\n\nTags.\n`),
    /** What is there is on main, and the branch begins there. */
    merge () {
      git('add', '-A')
      git('commit', '-qm', 'x')
      git('branch', '-f', 'main')
    }
  }
}

for (
  const { title, from, to, says } of [
    { title: 'a tool is renamed', from: "operationId: 'update_tag'", to: "operationId: 'change_tag'", says: undefined },
    {
      title: 'an argument is added that every call must have',
      from: 'export const { Input: TagInput, Changes: TagChanges, Record: Tag } = recordSchemas({',
      to: 'export const { Input: TagInput, Changes: TagChanges } = recordSchemas({ colour: Name, name: Name, ' +
        "slug: Slug }, { required: ['colour', 'name'], otherwise: { slug: 'Derived from the name' } });\nexport " +
        'const { Record: Tag } = recordSchemas({',
      says: joined(
        /major {2}create_tag input\.colour: none → new required argument/,
        /[^]*minor {2}update_tag input\.colour: none → new optional argument/
      )
    },
    {
      title: 'a field of the result is dropped',
      from: 'export const list = catalogList(Tag',
      to: 'delete Tag.properties.updated_at;\nTag.required = Tag.required.filter((name) => name !== ' +
        "'updated_at');\nexport const list = catalogList(Tag",
      says: joined(
        /major {2}get_tag output\.updated_at: property → removed/,
        /[^]*major {2}list_tags input\.sort: /,
        /[^]*patch {2}update_tag declaredOutput\.updated_at/
      )
    },
    {
      title: 'a tool is added',
      from: 'recordRoutes(app, {',
      to: "app.get('/count', { schema: { operationId: 'count_tags', description: 'Count the tags.', tags: " +
        "['mcp'], params: { type: 'object', required: ['shop_id'], properties: { shop_id: { type: 'string', " +
        "format: 'uuid' } } }, response: { 200: { type: 'object', required: ['count'], properties: { count: { " +
        "type: 'integer' } } } } } }, async () => ({ count: 0 }))\n    recordRoutes(app, {",
      says: /minor {2}count_tags: none → new tool[^]*require minor, but shop stays 1\.0\.0/
    }
  ] as const
) {
  t.test(`rehearsal: ${title}`, async (t) => {
    const { run, change, changeset } = rehearsal(t)
    change(from, to)
    const drifted = await run('check')
    t.equal(drifted.code, 1, drifted.said)
    if (says === undefined) isShown(t, drifted.said)
    else t.match(drifted.said, says)
    if (title !== 'a tool is added') return
    t.equal((await run('write')).code, 0)
    changeset('patch')
    t.match(
      await run('check'),
      { code: 1, said: 'require minor, but shop rises from' },
      'with a changeset that says too little'
    )
    changeset('minor')
    t.match(await run('check'), {
      code: 0,
      said: /matches the app: 24 tools\.[^]*rises from 1\.0\.0 to 1\.1\.0, minor/
    }, 'with one that says enough')
  })
}

const renamed = ["operationId: 'update_tag'", "operationId: 'change_tag'"] as const

t.test('rehearsal: the changeset of somebody else', async (t) => {
  const { run, change, changeset, merge } = rehearsal(t)
  changeset('major')
  merge()
  change(...renamed)
  await run('write')
  t.match(await run('check', ['--own-changeset']), {
    code: 1,
    said: 'rises from 1.0.0 to 2.0.0, major, through other branches only'
  })
})

t.test('rehearsal: a finding that is accepted, as the page does it', async (t) => {
  const { run, change, changeset, shop } = rehearsal(t)
  change(...renamed)
  await run('write')
  changeset('minor')
  const [example] = fencesOf(page).filter(({ info }) => info === 'json')
  const file = join(shop, 'contract/tools.json')
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...JSON.parse(example!.text) }))
  const { code, said } = await run('check')
  t.equal(code, 0)
  isShown(t, said)
})

t.test('rehearsal: nothing to compare with', async (t) => {
  const { run, git } = rehearsal(t)
  git('branch', '-D', 'main')
  const { code, said } = await run('check', [], { CI: 'true' })
  t.equal(code, 1)
  t.equal(
    said.trimEnd(),
    `contract/tools.json matches the app: 23 tools.

The version was NOT checked: the default branch is not in this clone: there is no origin/main or main.
Fetch the history. In GitHub Actions, this is the line below \`uses: actions/checkout\`: with: { fetch-depth: 0 }. \
In GitLab CI: variables: { GIT_DEPTH: 0 }.
This fails in CI, because changes that were not compared may break callers. To pass anyway, add --allow-unchecked.`
  )
  t.equal((await run('check')).code, 0, 'outside of CI it passes')
})

t.test('rehearsal: what callers read of it', async (t) => {
  const { run, change } = rehearsal(t)
  change(...renamed)
  const { code, said } = await run('changelog')
  t.equal(code, 0)
  t.equal(
    said.trimEnd(),
    `### What callers must change

- **update\\_tag**
  - tool → removed, probably renamed to change\\_tag. Callers and agents that use it by name fail.

### What is new

- **change\\_tag**
  - none → new tool. Callers that do not know it ignore it.`
  )
})

t.test('rehearsal: the report for programs', async (t) => {
  const { run, change } = rehearsal(t)
  change(...renamed)
  await run('write')
  const { said } = await run('check', ['--json'])
  const finding = { path: '', why: /\w/, certain: true }
  const version = {
    checked: true,
    ok: false,
    package: 'shop',
    by: 'changesets',
    given: 'none',
    asked: 'major',
    findings: [{ ...finding, tool: 'update_tag', bump: 'major' }, { ...finding, tool: 'change_tag', bump: 'minor' }]
  }
  t.match(JSON.parse(said), {
    ok: false,
    file: 'contract/tools.json',
    tools: 23,
    drift: { ok: true, findings: [] },
    version
  })
})

t.test('the page shows no other report', async (t) => {
  t.strictSame(shown.filter((text) => !seen.has(text)), [])
})
