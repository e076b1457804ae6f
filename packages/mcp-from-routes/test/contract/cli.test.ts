import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { commandFrom } from '../../src/cli/arguments.ts'
import { bumpBetween, bumped } from '../../src/cli/version.ts'
import { type Scratch, scratch } from './scratch.ts'

const plugin = new URL('../../dist/index.js', import.meta.url).href
const fastify = import.meta.resolve('fastify')

/** A module that gives an app with the tools of an expression. */
const appOf = (tools: string): string => `
import { readFileSync } from 'node:fs'
import Fastify from ${JSON.stringify(fastify)}
import mcpFromRoutes from ${JSON.stringify(plugin)}
export default async () => {
  const app = Fastify()
  const { names, more } = ${tools}
  await app.register(mcpFromRoutes, { serverInfo: { name: 'notes', version: '1.0.0' } })
  for (const name of names) {
    app.get('/' + name, { schema: { operationId: name, description: 'D.', tags: ['mcp'], querystring: { type: 'object', properties: { q: { type: 'string' }, ...more } } } }, async () => [])
  }
  return app
}
`

/** A tool for each name, and what more their arguments are. */
const tools = (names: readonly string[], more: object = {}): string => JSON.stringify({ names, more })

/** A module that gives an app with a tool for each name. */
const app = (names: readonly string[]): string => appOf(tools(names))

/** A repository of one package, 1.4.2, whose contract has the tools a and b; on a branch that starts there. */
async function repository (t: Parameters<typeof scratch>[0]): Promise<Scratch> {
  const repo = scratch(t, 'contract-cli-')
  repo.git('init', '-q')
  repo.write('package.json', '{ "name": "top", "private": true, "workspaces": ["packages/*"] }')
  repo.write('packages/other/package.json', '{ "name": "other", "version": "1.0.0" }')
  repo.modules()
  repo.write('.changeset/config.json', '{ "baseBranch": "main" }')
  repo.write('.changeset/README.md', '# Changesets')
  repo.write('packages/notes/package.json', '{ "name": "notes", "version": "1.4.2", "type": "module" }')
  // A process loads a module once, so the app reads its tools whenever it is made.
  repo.write('packages/notes/app.js', appOf("JSON.parse(readFileSync(new URL('app.json', import.meta.url), 'utf8'))"))
  repo.write('packages/notes/app.json', tools(['a', 'b']))
  await repo.run(['write', './app.js'], { cwd: 'packages/notes' })
  repo.commit()
  repo.git('tag', 'notes@1.4.2')
  repo.git('checkout', '-qb', 'change')
  return repo
}
const cwd = 'packages/notes'
const changeset = (repo: Scratch, bump: string, name = 'notes'): void =>
  repo.write(`.changeset/${name}-${bump}.md`, `---\n"${name}": ${bump}\n---\n\nX.\n`)

t.test('what a command line means', async (t) => {
  const common = {
    contract: 'contract/tools.json',
    json: false,
    module: 'x.js',
    ownChangeset: false,
    allowUnchecked: false,
    countDeclared: false,
    release: { by: 'changesets' }
  }
  for (
    const [argv, wanted] of [
      [['contract', 'write', 'x.js'], { ...common, action: 'write' }],
      [['contract', 'check', 'x.js', '--json', '--contract', 'c.json', '--against', 'HEAD~1'], {
        ...common,
        action: 'check',
        contract: 'c.json',
        json: true,
        against: 'HEAD~1'
      }],
      [['contract', 'check', 'x.js', '--against-version', '1.2.3'], {
        ...common,
        action: 'check',
        againstVersion: '1.2.3'
      }],
      [['contract', 'check', 'x.js', '--own-changeset', '--allow-unchecked', '--declared-outputs'], {
        ...common,
        action: 'check',
        ownChangeset: true,
        allowUnchecked: true,
        countDeclared: true
      }],
      [['contract', 'check', 'x.js', '--bump', 'minor'], {
        ...common,
        action: 'check',
        release: { by: 'bump', bump: 'minor' }
      }],
      [['contract', 'check', 'x.js', '--conventional-commits'], {
        ...common,
        action: 'check',
        release: { by: 'commits' }
      }],
      [['--help'], undefined]
    ] as const
  ) t.strictSame(commandFrom(argv), wanted)
  for (
    const [argv, message] of [
      [[], /contract changelog, review or cases/],
      [['contract', 'diff'], /contract changelog, review or cases/],
      [['contract', 'check'], /takes one module/],
      [['contract', 'check', 'a', 'b'], /takes one module/],
      [['contract', 'check', 'a', '--against', 'x', '--against-version', '1.0.0'], /exclude each other/],
      [['contract', 'write', 'a', '--against', 'x'], /compares nothing/],
      [['contract', 'check', 'a', '--bump', 'huge'], /--bump takes major, minor or patch, not "huge"/],
      [['contract', 'check', 'a', '--bump', 'major', '--conventional-commits'], /exclude each other/],
      [['contract', 'check', 'a', '--own-changeset', '--bump', 'major'], /needs changesets/],
      [['contract', 'check', 'a', '--quiet'], /Unknown option '--quiet'/]
    ] as const
  ) t.throws(() => commandFrom(argv), { code: 'MCP_FROM_ROUTES_CONTRACT_USAGE', message })
})

t.test('versions rise, and the rise is told', async (t) => {
  for (
    const [version, bump, wanted] of [
      ['1.4.2', 'major', '2.0.0'],
      ['1.4.2', 'minor', '1.5.0'],
      ['1.4.2', 'patch', '1.4.3'],
      ['1.4.2', 'none', '1.4.2'],
      ['0.0.0', 'major', '1.0.0']
    ] as const
  ) {
    t.equal(bumped(version, bump), wanted)
    t.equal(bumpBetween(version, wanted), bump)
  }
  for (
    const [from, to, wanted] of [
      ['1.4.2', '2.1.3', 'major'],
      ['2.0.0', '1.9.9', 'none'],
      ['1.4.2', '1.3.9', 'none'],
      ['1.4.2', '2.0.0-next.1', 'major'],
      ['2.0.0-beta.0', '2.0.0-beta.1', 'major'],
      ['2.0.0-beta.9', '2.0.0-beta.10', 'major'],
      ['2.0.0-beta.1', '2.0.0-beta.0', 'none'],
      ['2.0.0-beta.1', '2.0.0-beta.1', 'none'],
      ['2.0.0-beta.1', '2.0.0', 'major'],
      ['2.0.0', '2.0.0-beta.1', 'none'],
      ['1.5.0-beta.0', '1.5.0-rc.0', 'minor'],
      ['1.4.3-0', '1.4.3', 'patch'],
      ['2.0.0-1', '2.0.0-beta', 'major'],
      ['2.0.0-beta', '2.0.0-1', 'none'],
      ['2.0.0-beta', '2.0.0-beta.0', 'major'],
      ['2.0.0-beta.0', '2.0.0-beta', 'none']
    ] as const
  ) t.equal(bumpBetween(from, to), wanted)
  t.throws(() => bumped('one', 'patch'), { code: 'MCP_FROM_ROUTES_CONTRACT_BASE', message: /"one" is not a version/ })
})

t.test('an app that its file does not know', async (t) => {
  const repo = await repository(t)
  repo.write('packages/notes/app.json', tools(['a', 'c']))
  changeset(repo, 'major')
  const { code, out } = await repo.run(['check', './app.js'], { cwd })
  t.equal(code, 1, 'drift fails, whatever the changesets')
  t.match(
    out,
    'contract/tools.json does not match the app:\n' +
      '  major  b: tool → removed, probably renamed to c: callers and agents that use it by name fail\n' +
      '  minor  c: none → new tool: callers that do not know it ignore it\n' +
      'If intended, update it: npx mcp-from-routes contract write ./app.js\n'
  )
  t.match(out, /require major, and notes rises from 1\.4\.2 to 2\.0\.0, major\.\n/)
  t.match(
    (await repo.run(['write', './app.js'], { cwd })).out,
    /^contract\/tools\.json written: 2 tools, with these changes:\n {2}major {2}b: /
  )
  t.equal((await repo.run(['check', './app.js'], { cwd })).code, 0)
})

t.test('a commit or a published version to compare with', async (t) => {
  const repo = await repository(t)
  repo.write('packages/notes/app.json', tools(['a', 'b', 'c']))
  await repo.run(['write', './app.js'], { cwd })
  repo.commit()
  repo.git('branch', '-f', 'main', 'HEAD')
  t.equal((await repo.run(['check', './app.js'], { cwd })).code, 0, 'main has it')
  t.match(await repo.run(['check', './app.js', '--against-version', '1.4.2'], { cwd }), {
    code: 1,
    out: /since refs\/tags\/notes@1\.4\.2 \([0-9a-f]{10}\) require minor/
  })
  t.match(await repo.run(['check', './app.js', '--against', 'HEAD~1'], { cwd }), {
    code: 1,
    out: /since HEAD~1 \([0-9a-f]{10}\) require minor/
  })
  t.match(await repo.run(['check', './app.js', '--against', 'nowhere'], { cwd }), {
    code: 2,
    out: '',
    err: 'There is no commit nowhere here. Fetch it first, with its tags: git fetch --tags\n'
  })
  t.match(await repo.run(['check', './app.js', '--against-version', '9.9.9'], { cwd }), {
    code: 2,
    err: /no commit refs\/tags\/notes@9\.9\.9 or refs\/tags\/v9\.9\.9/
  })
  t.match(await repo.run(['check', './app.js', '--against', '--upload-pack=x'], { cwd }), { code: 2 })
})

t.test('without a repository it says that the version was not checked', async (t) => {
  const nowhere = scratch(t, 'contract-plain-')
  nowhere.write('package.json', '{ "name": "notes", "version": "1.0.0", "type": "module" }')
  nowhere.write('app.js', app(['a']))
  await nowhere.run(['write', './app.js'])
  t.match(await nowhere.run(['check', './app.js'], { env: { GIT_CEILING_DIRECTORIES: nowhere.folder } }), {
    code: 0,
    out: /NOT checked: this is not a git repository/
  })
})

t.test('where the contract begins there is nothing to compare with', async (t) => {
  const repo = await repository(t)
  repo.git('rm', '-qr', 'packages/notes/contract')
  repo.commit()
  repo.git('branch', '-f', 'main', 'HEAD')
  t.match(await repo.run(['check', './app.js'], { cwd }), {
    code: 2,
    err:
      /contract\/tools\.json cannot be read as a contract: it does not exist\. Create it with: mcp-from-routes contract write/
  })
  await repo.run(['write', './app.js'], { cwd })
  t.match(await repo.run(['check', './app.js'], { cwd }), {
    code: 0,
    out: /NOT checked: there is no packages\/notes\/contract\/tools\.json at .*\nThe contract starts here/
  })
})

t.test('the report for machines, and for a pull request', async (t) => {
  const repo = await repository(t)
  repo.write('packages/notes/app.json', tools(['a', 'b'], { p: { type: 'integer' } }))
  await repo.run(['write', './app.js'], { cwd })
  const start = repo.git('rev-parse', 'HEAD')
  repo.commit()
  repo.write('packages/notes/app.json', tools(['b'], { p: { type: 'integer' } }))
  // As users run it: what is told to programs goes to either stream, and the exit code is that of the process.
  const { code, out, err } = repo.spawn(['check', './app.js', '--json'], {
    cwd,
    env: { GITHUB_ACTIONS: 'true', GITHUB_BASE_REF: 'main' }
  })
  t.equal(code, 1)
  const removed = {
    tool: 'a',
    bump: 'major',
    path: '',
    change: 'tool → removed',
    why: 'callers and agents that use it by name fail',
    certain: true
  }
  const added = {
    tool: 'b',
    bump: 'minor',
    path: 'input.p',
    change: 'none → new optional argument',
    why: 'calls without it stay as they are',
    certain: true
  }
  t.strictSame(JSON.parse(out), {
    ok: false,
    file: 'contract/tools.json',
    tools: 1,
    drift: { ok: false, endpoints: true, findings: [removed] },
    version: {
      checked: true,
      ok: false,
      base: `${start.slice(0, 10)} (the merge base with main)`,
      package: 'notes',
      by: 'changesets',
      from: '1.4.2',
      to: '1.4.2',
      asked: 'major',
      given: 'none',
      endpoints: true,
      findings: [removed, added],
      accepted: [],
      unused: []
    }
  })
  const line =
    readFileSync(join(repo.folder, cwd, 'contract/tools.json'), 'utf8').split('\n').findIndex((text) =>
      text.startsWith('    "a"')
    ) + 1
  t.strictSame(err.split('\n'), [
    `::error file=packages/notes/contract/tools.json,line=${line},title=Tool contract::Not in the file: a: tool ` +
    '→ removed: callers and agents that use it by name fail',
    `::error file=packages/notes/contract/tools.json,line=${line},title=Tool contract::Requires major, but ` +
    'notes gets none: a: tool → removed: callers and agents that use it by name fail',
    ''
  ])
})

t.test('a changeset that cannot be read stops the check', async (t) => {
  const repo = await repository(t)
  repo.write('.changeset/x.md', 'no front matter')
  t.match(await repo.run(['check', './app.js'], { cwd }), { code: 2, err: /^\.changeset\/x\.md cannot be read: / })
})

t.test('modules that give no app with tools', async (t) => {
  const folder = scratch(t, 'contract-modules-')
  folder.write('package.json', '{ "type": "module" }')
  const bare = `import Fastify from ${JSON.stringify(fastify)}\n`
  for (
    const [name, text, message] of [
      ['nothing.js', '', /^nothing\.js exports neither a default nor buildApp\. Its default export must be/],
      ['number.js', 'export default 5', /^number\.js provides number, not a Fastify app\. Its default/],
      ['none.js', 'export const buildApp = () => null', /^none\.js provides null, not a Fastify app/],
      ['throws.js', 'throw new Error("no settings")', /^throws\.js cannot be loaded: no settings/],
      [
        'fails.js',
        'export default () => { throw new Error("no database") }',
        /^fails\.js provides no app: no database/
      ],
      [
        'plain.js',
        `${bare}export default Fastify()`,
        /^plain\.js provides an app without tools: mcp-from-routes is not registered, or a setting turns it off/
      ],
      [
        'close.js',
        `${bare}const app = Fastify()\napp.addHook('onClose', async () => { throw new Error('no end') ` +
        '})\nexport default app',
        /^close\.js provides an app without tools/
      ],
      [
        'boot.js',
        `${bare}const app = Fastify()\napp.register(async () => { throw new Error('no keys') })\nexport default app`,
        /^boot\.js provides no app: no keys/
      ],
      [
        'name.js',
        app(['bad name']),
        /^name\.js provides an app that does not start: GET \/bad name has the operationId "bad name"/
      ]
    ] as const
  ) {
    folder.write(name, text)
    t.match(await folder.run(['write', name]), { code: 2, out: '', err: message }, name)
  }
  t.match(await folder.run(['write', 'away.js']), { code: 2, err: /^away\.js cannot be loaded: Cannot find module/ })
  for (
    const [name, text] of [['named.js', app(['a']).replace('export default', 'export const buildApp =')], [
      'instance.js',
      app(['a']).replace('export default', 'const make =') + 'export default make()'
    ]] as const
  ) {
    folder.write(name, text)
    t.match(await folder.run(['write', name]), { code: 0, out: 'contract/tools.json written: 1 tools' }, name)
  }
  folder.write('open.js', `${app(['a'])}\nsetInterval(() => {}, 1000)`)
  t.match(
    folder.spawn(['write', 'open.js']),
    { code: 0, out: 'contract/tools.json written: 1 tools' },
    'what a module leaves open does not keep the command running'
  )
})

t.test('help, and its exit codes', async (t) => {
  const folder = scratch(t, 'contract-help-')
  t.match(await folder.run(['--help']), {
    code: 0,
    out: /^Usage: mcp-from-routes contract write <module>(.|\n)*Exit code: 0 all is well/
  })
  t.match(folder.spawn([]), { code: 2, out: '', err: /contract changelog, review or cases/ })
  t.ok(
    readFileSync(fileURLToPath(new URL('../../bin/mcp-from-routes.js', import.meta.url)), 'utf8').startsWith(
      '#!/usr/bin/env node\n'
    )
  )
})
