import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { mock } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import type { Answer } from '../../src/cli/arguments.ts'
import { bumpFromMessages } from '../../src/cli/release.ts'
import { scratch } from './scratch.ts'

/*
 * Whole stories, as they happen in repositories, each in one of its own: which changes the command lets through.
 */

const plugin = new URL('../../dist/index.js', import.meta.url).href
const changesetCommand = fileURLToPath(new URL('../../../../node_modules/@changesets/cli/bin.js', import.meta.url))
const cwd = 'packages/notes'

const app = `
import { readFileSync } from 'node:fs'
import Fastify from ${JSON.stringify(import.meta.resolve('fastify'))}
import mcpFromRoutes from ${JSON.stringify(plugin)}
export default async () => {
  const app = Fastify()
  await app.register(mcpFromRoutes, { serverInfo: { name: 'notes', version: '1.0.0' } })
  for (const name of readFileSync(new URL('tools.txt', import.meta.url), 'utf8').split(' ')) {
    app.get('/' + name, { schema: { operationId: name, description: 'D.', tags: ['mcp'] } }, async () => [])
  }
  return app
}
`

const base = scratch(t, 'contract-base-')
t.before(async () => {
  base.git('init', '-q')
  base.write('package.json', '{ "name": "top", "private": true, "workspaces": ["packages/*"] }')
  base.write('.changeset/config.json', '{ "baseBranch": "main" }')
  base.write('packages/notes/package.json', '{ "name": "notes", "version": "1.4.2", "type": "module" }')
  base.write('packages/other/package.json', '{ "name": "other", "version": "1.0.0" }')
  base.write('packages/notes/app.js', app)
  base.write('packages/notes/tools.txt', 'a b')
  base.modules()
  await base.run(['write', './app.js'], { cwd })
  base.commit()
  base.git('tag', 'notes@1.4.2')
})

/** A copy of that repository: `notes` is 1.4.2 and has the tools a and b, on main. */
function rehearsal (t: Test) {
  const repo = scratch(t, 'contract-rehearsal-')
  cpSync(base.folder, repo.folder, { recursive: true, verbatimSymlinks: true })
  const check = async (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    await repo.run(['check', './app.js', ...args], { cwd, env })
  return {
    ...repo,
    check,
    /** The app has these tools now, and its contract too. */
    async tools (names: string, contract: readonly string[] = []) {
      repo.write('packages/notes/tools.txt', names)
      await repo.run(['write', './app.js', ...contract], { cwd })
    },
    changeset: (id: string, bump: string, name = 'notes') =>
      repo.write(`.changeset/${id}.md`, `---\n"${name}": ${bump}\n---\n\nX.\n`),
    config: (more: object) => repo.write('.changeset/config.json', JSON.stringify({ baseBranch: 'main', ...more })),
    changesets: (...args: string[]) =>
      execFileSync(process.execPath, [changesetCommand, ...args], { cwd: repo.folder, stdio: 'pipe' }),
    branch: (name: string) => repo.git('checkout', '-qb', name)
  }
}

t.test('pre mode: a changeset that a prerelease has had answers for nothing new', async (t) => {
  const { changesets, changeset, check, tools, commit, branch, git } = rehearsal(t)
  changesets('pre', 'enter', 'beta')
  await tools('a c')
  changeset('first', 'major')
  t.match(await check(), { code: 0, out: /rises from 1\.4\.2 to 2\.0\.0-beta\.0, major/ })
  changesets('version')
  commit()
  git('tag', 'notes@2.0.0-beta.0')
  t.match(await check(['--against-version', '1.4.2']), { code: 0, out: /rises from 1\.4\.2 to 2\.0\.0-beta\.0, major/ })

  branch('again')
  await tools('a d')
  commit()
  t.match(await check(), { code: 1, out: /require major, but notes stays 2\.0\.0-beta\.0/ })
  t.match(await check(['--against-version', '2.0.0-beta.0']), {
    code: 1,
    out: /require major, but notes stays 2\.0\.0-beta\.0/
  })
  changeset('second', 'minor')
  t.match(await check(), {
    code: 1,
    out: /require major, but notes rises from 2\.0\.0-beta\.0 to 2\.0\.0-beta\.1, minor/
  })
  changeset('second', 'major')
  t.match(await check(), { code: 0, out: /rises from 2\.0\.0-beta\.0 to 2\.0\.0-beta\.1, major/ })
  t.match(await check(['--own-changeset']), { code: 0 })
  changesets('version')
  t.match(await check(['--against-version', '2.0.0-beta.0']), {
    code: 0,
    out: /rises from 2\.0\.0-beta\.0 to 2\.0\.0-beta\.1, major/
  })

  commit()
  changesets('pre', 'exit')
  t.match(await check(['--against-version', '2.0.0-beta.0']), {
    code: 0,
    out: /rises from 2\.0\.0-beta\.0 to 2\.0\.0, major/
  })
  changesets('version')
  t.match(await check(['--against-version', '2.0.0-beta.0']), {
    code: 0,
    out: /rises from 2\.0\.0-beta\.0 to 2\.0\.0, major/
  })
  t.match(await check(['--against-version', '1.4.2']), { code: 0, out: /rises from 1\.4\.2 to 2\.0\.0, major/ })
})

t.test('ignore: a changeset of an ignored package raises nothing', async (t) => {
  const { changeset, check, tools, config, branch, commit } = rehearsal(t)
  config({ ignore: ['notes'] })
  commit()
  branch('change')
  await tools('a')
  changeset('x', 'major')
  t.match(await check(), {
    code: 1,
    out:
      /require major, but notes stays 1\.4\.2:(.|\n)*No changeset raises the version of notes: it is listed under "ignore" in \.changeset\/config\.json\./
  })
})

t.test('private packages: a changeset raises them where the settings say so', async (t) => {
  const { changeset, check, tools, config, branch, write } = rehearsal(t)
  branch('change')
  write('packages/notes/package.json', '{ "name": "notes", "version": "1.4.2", "type": "module", "private": true }')
  await tools('a')
  changeset('x', 'major')
  config({ privatePackages: { version: false, tag: false } })
  t.match(await check(), { code: 1, out: /No changeset raises the version of notes: it is private/ })
  config({ privatePackages: { version: true, tag: false } })
  t.equal((await check()).code, 0)
  write('packages/notes/package.json', '{ "name": "notes", "version": "1.4.2", "type": "module" }')
  config({ privatePackages: { version: false, tag: false } })
  t.notOk('skipped' in JSON.parse((await check(['--json'])).out).version, 'they say nothing of others')
})

t.test('fixed: a changeset of another package of the group counts', async (t) => {
  const { changeset, check, tools, config, branch } = rehearsal(t)
  branch('change')
  await tools('a')
  changeset('x', 'major', 'other')
  t.equal((await check()).code, 1)
  config({ fixed: [['notes', 'other']] })
  t.match(await check(), { code: 0, out: /rises from 1\.4\.2 to 2\.0\.0, major/ })
})

t.test('a pending major of somebody else does not cover a break where the branch has to bring its own', async (t) => {
  const { changeset, check, tools, branch, commit, git } = rehearsal(t)
  changeset('theirs', 'major')
  commit()
  branch('change')
  await tools('a')
  commit()
  t.equal((await check()).code, 0, 'without the option all that is pending counts')
  t.match(await check(['--own-changeset']), {
    code: 1,
    out:
      /require major, but notes rises from 1\.4\.2 to 2\.0\.0, major, through other branches only:(.|\n)*Add a changeset on this branch \(npx changeset: notes, major\)/
  })
  changeset('mine', 'minor')
  t.equal((await check(['--own-changeset'])).code, 1)
  changeset('mine', 'major')
  t.equal((await check(['--own-changeset'])).code, 0, 'also before it is committed')
  git('checkout', '-q', '--', '.')
  git('clean', '-qfd', '.changeset')
  changeset('theirs', 'minor')
  commit()
  changeset('theirs', 'major')
  t.equal((await check(['--own-changeset'])).code, 1, 'as it was on main, it is not its own')
})

t.test('shallow: a clone of depth 1 fails in CI, and says which line is missing', async (t) => {
  const repo = rehearsal(t)
  repo.branch('change')
  await repo.tools('a')
  repo.commit()
  const clone = scratch(t, 'contract-shallow-')
  clone.git('clone', '-q', '--depth=1', '--no-single-branch', pathToFileURL(repo.folder).href, 'clone')
  clone.modules('clone')
  const check = async (env: Readonly<Record<string, string>>, args: readonly string[] = []): Promise<Answer> =>
    await clone.run(['check', './app.js', ...args], { cwd: join('clone', cwd), env })
  const hint =
    /The version was NOT checked: this commit and origin\/main have no merge base in this clone(.|\n)*with: \{ fetch-depth: 0 \}(.|\n)*This fails in CI/
  t.match(await check({ CI: 'true' }), { code: 1, out: hint })
  t.match(await check({ GITHUB_ACTIONS: 'true' }), { code: 1, out: /::error file=.*not checked.*fetch-depth: 0/ })
  t.match(await check({ CI: 'true' }, ['--allow-unchecked']), { code: 0, out: /NOT checked/ })
  t.match(await check({}), { code: 0, out: /NOT checked/ })

  clone.git('-C', 'clone', 'checkout', '-q', '--detach', 'origin/main')
  t.match(await check({ CI: '1' }), {
    code: 1,
    out: /origin\/main has this commit, and the state before it is not in this clone/
  }, 'on main it would be compared with itself')
})

t.test('on main, CI compares with what was there before the push', async (t) => {
  const { tools, commit, check, git, write, folder } = rehearsal(t)
  const start = git('rev-parse', 'HEAD')
  t.match(await check([], { CI: 'true' }), { code: 0, out: /this is the first commit/ }, 'nothing was there before')
  await tools('a')
  commit()
  t.match(await check(), { code: 0, out: /No change since/ }, 'locally, the next change counts')
  t.match(await check([], { CI: 'true' }), {
    code: 1,
    out: /since [0-9a-f]{10} \(the commit before, on main\) require major/
  })
  write('README.md', 'X')
  commit()
  write('event.json', JSON.stringify({ before: start }))
  t.match(await check([], { CI: 'true', GITHUB_EVENT_NAME: 'push', GITHUB_EVENT_PATH: join(folder, 'event.json') }), {
    code: 1,
    out: /\(before this push to main\) require major/
  }, 'the push had two commits')
  t.match(await check([], { CI: 'true', CI_COMMIT_BEFORE_SHA: start }), {
    code: 1,
    out: /\(before this push to main\) require major/
  }, 'GitLab tells it in a variable')
  t.equal(
    (await check([], { CI: 'true', GITHUB_EVENT_NAME: 'push', GITHUB_EVENT_PATH: join(folder, 'none.json') })).code,
    0
  )
  t.equal(
    (await check([], { CI: 'true', CI_COMMIT_BEFORE_SHA: '0'.repeat(40) })).code,
    0,
    'a new branch was nowhere before'
  )
  t.match(await check([], { CI: 'true', CI_COMMIT_BEFORE_SHA: '1'.repeat(40) }), {
    code: 1,
    out: /and 1111111111, its state before this push, is not in this clone\.\nFetch it: git fetch origin 1{40}\.\n/
  }, 'as after a push by force')
  const clone = scratch(t, 'contract-shallow-')
  clone.git('clone', '-q', '--depth=2', pathToFileURL(folder).href, 'clone')
  clone.modules('clone')
  t.match(
    await clone.run(['check', './app.js'], {
      cwd: join('clone', cwd),
      env: { CI: 'true', CI_COMMIT_BEFORE_SHA: start }
    }),
    { code: 1, out: /is not in this clone\.\nFetch the history/ },
    'the last commit alone says nothing of the push'
  )
})

t.test('the branch to compare with is the one that is merged into', async (t) => {
  const { tools, commit, check, git, branch, write, folder } = rehearsal(t)
  rmSync(join(folder, '.changeset'), { recursive: true })
  commit()
  git('branch', '-m', 'trunk')
  branch('release')
  await tools('a b c')
  commit()
  branch('change')
  await tools('a b')
  commit()
  write('event.json', JSON.stringify({ repository: { default_branch: 'trunk' } }))
  const event = { CI: 'true', GITHUB_EVENT_PATH: join(folder, 'event.json') }
  t.match(await check([], { CI: 'true' }), {
    code: 1,
    out: /the default branch is not in this clone: there is no origin\/HEAD or main or master/
  })
  t.match(
    await check([], event),
    { code: 0, out: /No change since .* \(the merge base with trunk\)/ },
    'GitHub tells it in the event'
  )
  t.match(
    await check([], { CI: 'true', CI_DEFAULT_BRANCH: 'trunk' }),
    { code: 0, out: /the merge base with trunk/ },
    'GitLab in a variable'
  )
  t.match(await check([], { ...event, GITHUB_BASE_REF: 'release' }), {
    code: 1,
    out: /the merge base with release\) require major/
  })
  t.match(await check([], { ...event, CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'release' }), {
    code: 1,
    out: /the merge base with release\) require major/
  })
  git('branch', '-D', 'release')
  t.match(await check([], { ...event, GITHUB_BASE_REF: 'release' }), {
    code: 1,
    out: /there is no origin\/release or release/
  }, 'no other branch will do')
})

t.test('services that set no CI are CI as well', async (t) => {
  const repo = rehearsal(t)
  repo.git('checkout', '-q', '--orphan', 'apart')
  repo.commit()
  for (
    const [env, code] of [
      [{ TF_BUILD: 'True' }, 1],
      [{ TEAMCITY_VERSION: '2026.1' }, 1],
      [{ JENKINS_URL: 'http://localhost' }, 1],
      [{ CODEBUILD_BUILD_ID: 'x' }, 1],
      [{ CI: 'false' }, 0],
      [{ CI: '0' }, 0],
      [{}, 0]
    ] as const
  ) {
    t.match(await repo.check([], env), { code, out: /NOT checked/ }, JSON.stringify(env))
  }
})

t.test('moved file: the contract is compared with what it was under its old name', async (t) => {
  const { tools, commit, check, git, branch } = rehearsal(t)
  branch('change')
  commit()
  git('mv', 'packages/notes/contract/tools.json', 'packages/notes/api.json')
  const moved = ['--contract', 'api.json']
  t.match(await check(moved, { CI: 'true' }), {
    code: 0,
    out: /No change since [0-9a-f]{10} \(.*\), where it was packages\/notes\/contract\/tools\.json\./
  })
  await tools('a', moved)
  commit()
  t.match(await check(moved, { CI: 'true' }), {
    code: 1,
    out: /where it was packages\/notes\/contract\/tools\.json require major/
  })

  await tools('a')
  t.match(await check(moved, { CI: 'true' }), {
    code: 1,
    out:
      /NOT checked: there is no packages\/notes\/api\.json at .*, but packages\/notes\/contract\/tools\.json, which is still here/
  }, 'a copy beside the old one begins nothing')
})

t.test('lines end as they like', async (t) => {
  const { tools, changeset, check, commit, branch, write, folder, git } = rehearsal(t)
  git('config', 'core.autocrlf', 'true')
  branch('change')
  await tools('a')
  const file = 'packages/notes/contract/tools.json'
  write(file, readFileSync(join(folder, file), 'utf8').replaceAll('\n', '\r\n'))
  commit()
  t.match(await check([], { CI: 'true' }), { code: 1, out: /matches the app(.|\n)*require major/ })
  changeset('mine', 'major')
  write('.changeset/mine.md', '---\r\n"notes": major\r\n---\r\n\r\nX.\r\n')
  t.equal((await check(['--own-changeset'], { CI: 'true' })).code, 0)
  commit()
  git('checkout', '-qb', 'next')
  await tools('b')
  t.equal(
    (await check(['--own-changeset', '--against', 'HEAD'])).code,
    1,
    'a changeset is no other one for its line ends'
  )
})

t.test('a contract with a key twice is refused, whichever of the two would count', async (t) => {
  const { check, write, folder } = rehearsal(t)
  const file = 'packages/notes/contract/tools.json'
  const { tools } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { tools: Record<string, object> }
  const one = JSON.stringify(tools['a'])
  for (
    const text of [
      `{"contract":1,"tools":{},"tools":${JSON.stringify(tools)}}`,
      `{"contract":1,"tools":{"a":${one},"b":${JSON.stringify(tools['b'])},"a":${one}}}`
    ]
  ) {
    write(file, text)
    t.match(await check(), { code: 2, err: /an object has the same key twice(.|\n)*contract write/ })
  }
})

t.test('a module that ends the process is no answer', async (t) => {
  const repo = rehearsal(t)
  for (const end of ['process.exit(0)', 'process.exit()', 'await new Promise(() => {})']) {
    repo.write('packages/notes/ends.js', `export default async () => { ${end} }`)
    t.match(repo.spawn(['check', './ends.js'], { cwd }), {
      code: 2,
      out: '',
      err: /The module exited the process before its tools were read/
    }, end)
  }
})

t.test('a first contract passes, and so does that of a package that has none', async (t) => {
  const repo = rehearsal(t)
  repo.branch('change')
  repo.commit()
  repo.write('packages/other/package.json', '{ "name": "other", "version": "1.0.0", "type": "module" }')
  repo.write('packages/other/app.js', app)
  repo.write('packages/other/tools.txt', 'x')
  const where = { cwd: 'packages/other', env: { CI: 'true' } }
  await repo.run(['write', './app.js'], where)
  t.match(await repo.run(['check', './app.js'], where), {
    code: 1,
    out: /NOT checked: packages\/other\/contract\/tools\.json is not committed\.\nCommit the file/
  }, 'one that is never committed would begin with every run')
  t.match(await repo.run(['check', './app.js'], { cwd: where.cwd }), { code: 0, out: /The contract starts here/ })
  repo.commit()
  t.match(await repo.run(['check', './app.js'], where), { code: 0, out: /The contract starts here/ })
})

t.test('merge commits: what main brought is no change of the branch', async (t) => {
  const { tools, changeset, commit, check, git, branch } = rehearsal(t)
  branch('change')
  await tools('a b c')
  changeset('mine', 'minor')
  commit()
  git('checkout', '-q', 'main')
  await tools('b')
  changeset('theirs', 'major')
  commit()
  git('checkout', '-q', 'change')
  git('merge', '-q', '-X', 'ours', '--no-edit', 'main')
  await tools('b c')
  commit()
  t.match(await check(['--own-changeset'], { CI: 'true' }), { code: 0, out: /require minor, and notes rises/ })
  git('checkout', '-q', 'main')
  git('merge', '-q', '--no-ff', '--no-edit', 'change')
  t.match(await check(['--own-changeset'], { CI: 'true' }), {
    code: 0,
    out: /the commit before, on main\) require minor/
  }, 'on main, after the merge')
})

t.test('settings that cannot be read are named', async (t) => {
  const { check, write, changeset, folder } = rehearsal(t)
  changeset('x', 'major', 'nobody')
  t.match(await check(), {
    code: 2,
    err: /^changesets cannot plan a release: Found changeset x for package nobody which is not in the workspace\n$/
  })
  write('.changeset/pre.json', '{')
  t.match(await check(), { code: 2, err: /^\.changeset\/pre\.json is not JSON: / })
  rmSync(join(folder, '.changeset/pre.json'))
  write('.changeset/config.json', '{ "baseBranch": ')
  t.match(await check(), { code: 2, err: /^\.changeset\/config\.json is not JSON: / })
  write('.changeset/config.json', '{ "fixed": 5 }')
  t.match(await check(), { code: 2, err: /^\.changeset\/config\.json cannot be read: / })
  write('packages/notes/package.json', '{')
  t.match(await check(), { code: 2, err: /packages\/notes\/package\.json is not JSON: / })
})

t.test('where changesets are not installed, the check says so', async (t) => {
  const { check, folder } = rehearsal(t)
  rmSync(join(folder, 'node_modules'))
  t.match(await check(), {
    code: 2,
    err: /\.changeset needs @changesets\/cli 2 installed in .*: npm install --save-dev @changesets\/cli@2/
  })
})

t.test('without changesets: the bump of the next release, or the messages of commits', async (t) => {
  const { tools, commit, check, git, branch, folder, write } = rehearsal(t)
  rmSync(join(folder, '.changeset'), { recursive: true })
  commit()
  branch('change')
  await tools('a')
  t.match(await check(), {
    code: 1,
    out: /require major, but notes stays 1\.4\.2:(.|\n)*Raise the version of notes \(npm version major\)/
  })
  t.match(await check(['--bump', 'minor']), {
    code: 1,
    out: /rises from 1\.4\.2 to 1\.5\.0, minor:(.|\n)*Release it as major \(--bump major\)/
  })
  t.match(await check(['--bump', 'major']), { code: 0, out: /rises from 1\.4\.2 to 2\.0\.0, major/ })
  git('add', '-A')
  git('commit', '-qm', 'feat: fewer tools')
  t.match(await check(['--conventional-commits']), {
    code: 1,
    out: /rises from 1\.4\.2 to 1\.5\.0, minor:(.|\n)*Declare it in a commit message \(`feat!: …`\)/
  })
  write('README.md', 'X')
  git('add', '-A')
  git('commit', '-qm', 'feat!: of something else')
  t.equal((await check(['--conventional-commits'])).code, 1, 'commits of other packages do not count')
  write('packages/notes/README.md', 'X')
  git('add', '-A')
  git('commit', '-qm', 'docs: what is gone\n\nBREAKING CHANGE: the tool b is gone')
  t.match(await check(['--conventional-commits']), { code: 0, out: /rises from 1\.4\.2 to 2\.0\.0, major/ })
  t.match(await check(['--conventional-commits', '--against-version', '1.4.2']), { code: 0 })
})

t.test('accepted: a finding with a reason does not count, until its day or until it is gone', async (t) => {
  const { tools, commit, check, branch, write, folder } = rehearsal(t)
  branch('change')
  await tools('a')
  const file = 'packages/notes/contract/tools.json'
  const accept = (entries: unknown): void =>
    write(file, JSON.stringify({ ...JSON.parse(readFileSync(join(folder, file), 'utf8')), accepted: entries }, null, 2))
  const finding = 'b: tool → removed'
  accept([{ finding, reason: 'nobody has called it for a year' }])
  t.match(await check(), {
    code: 0,
    out:
      /require nothing, and notes stays 1\.4\.2:\n {2}accepted: b: tool → removed: nobody has called it for a year\n$/
  })
  await tools('a')
  t.equal((await check()).code, 0, 'write keeps it')
  accept([{ finding, reason: 'X', until: '2999-12-31' }])
  t.match(await check(), { code: 0, out: /accepted until 2999-12-31: b: tool → removed: X/ })
  mock.timers.enable({ apis: ['Date'], now: Date.parse('2999-12-31T23:59:59Z') })
  t.equal((await check()).code, 0, 'its last day is one')
  mock.timers.tick(1000)
  t.equal((await check()).code, 1)
  mock.timers.reset()
  accept([{ finding, reason: 'X', until: '2020-12-31' }])
  t.match(await check(), {
    code: 1,
    out: /require major(.|\n)*accepted entry unused: b: tool → removed: it was accepted until 2020-12-31/
  })
  accept([{ finding: 'a: tool → removed', reason: 'X' }])
  t.match(await check(), { code: 1, out: /accepted entry unused: a: tool → removed: there is no such change/ })
  accept([{ finding, reason: 'X' }])
  commit()
  branch('next')
  t.match(await check(['--against', 'HEAD']), {
    code: 0,
    out: /No change since HEAD(.|\n)*accepted entry unused: b: tool → removed: there is no such change/
  })
  t.match(
    await check(['--against-version', '1.4.2']),
    { code: 0, out: /accepted: b: tool → removed: X/ },
    'until it is released, it counts'
  )
  await tools('a b')
  commit()
  await tools('a')
  t.match(await check(['--against', 'HEAD']), {
    code: 1,
    out: /an earlier version accepted it already: a change since then needs a reason of its own/
  })
  accept([{ finding, reason: 'X' }, { finding, reason: 'Again,\n::error::nobody calls it' }])
  t.match(await check(['--against', 'HEAD']), {
    code: 0,
    out:
      /accepted: b: tool → removed: Again, ::error::nobody calls it\n(.|\n)*accepted entry unused: b: tool → removed: an earlier version accepted it already/
  }, 'on one line')
  for (
    const [entries, message] of [
      [{}, /"accepted" is not an array/],
      [[5], /accepted\[0\] is not an object/],
      [[{ reason: 'X' }], /accepted\[0\]\.finding is missing/],
      [[{ finding, reason: ' ' }], /accepted\[0\]\.reason is missing/],
      [[{ finding, reason: 'X', until: '2027-02-30' }], /accepted\[0\]\.until is "2027-02-30", not a day/],
      [[{ finding, reason: 'X', untill: '2027-02-01' }], /accepted\[0\]\.untill is unknown/]
    ] as const
  ) {
    accept(entries)
    t.match(await check(), { code: 2, err: message })
  }
})

t.test('changelog: what callers must change comes first, as Markdown', async (t) => {
  const { tools, commit, branch, run } = rehearsal(t)
  const changelog = async (): Promise<Answer> => await run(['changelog', './app.js'], { cwd })
  branch('change')
  commit()
  t.match(await changelog(), { code: 0, out: 'The tools have not changed.\n' })
  await tools('a new_one')
  t.strictSame(await changelog(), {
    code: 0,
    out: `### What callers must change

- **b**
  - tool → removed, probably renamed to new\\_one. Callers and agents that use it by name fail.

### What is new

- **new\\_one**
  - none → new tool. Callers that do not know it ignore it.
`,
    err: ''
  })
})

t.test('what messages of commits ask for', async (t) => {
  for (
    const [messages, bump] of [
      [[], 'none'],
      [['chore: x', 'wip'], 'none'],
      [['fix: x'], 'patch'],
      [['fix: x', 'feat(list): y'], 'minor'],
      [['feat!: x'], 'major'],
      [['refactor(list)!: x'], 'major'],
      [['fix: x\n\nBREAKING CHANGE: y'], 'major'],
      [['fix: x\n\nBREAKING-CHANGE: y'], 'major'],
      [['FEAT: x'], 'minor'],
      [['feature x'], 'none'],
      [['fix: x\n\nnot a BREAKING CHANGE: y'], 'patch']
    ] as const
  ) t.equal(bumpFromMessages(messages), bump, messages.join(' / '))
})
