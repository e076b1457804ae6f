import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import parseChangeset from '@changesets/parse'
import { callbackFrom } from 'identity-provider'
import ts from 'typescript'
import { parse } from 'yaml'
import { settingsFromEnvironment } from '../examples/shop/src/settings/settings.ts'
import { openTestDatabase } from '../examples/shop/test/build.ts'
import { readDemo, seededData, start } from '../examples/shop/test/process.ts'
import { settingsFromOptions } from '../packages/oauth-discovery-shim/src/options.ts'
import { fakeModel, KEY } from '../packages/mcp-from-routes/test/testing/model.ts'
import { callbackPort } from '../packages/oauth-discovery-shim/test/callback-port.ts'
import { type Fence, fencesOf } from './docs/fences.ts'
import { type Shell, shell } from './docs/shell.ts'
import { asHere, type Places, typed } from './docs/typed.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const pages = ['docs', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/docs`)]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md')).map((
      name
    ) => `${folder}/${name}`)
  )
const settings = await seededData(t)
const demo = await start(t, 'demo/start', settings)
const { base_url: baseUrl, idp, pay, users } = readDemo(settings.DATA_DIR)
await callbackPort(t)

/** Answers the cases of a page: of three who say that the plants are watered, one gets no deletion. */
let watered = 0
const model = await fakeModel(t, ({ says, results }) => {
  const usage = { input_tokens: 785, output_tokens: 42 }
  if (says.startsWith('Remember')) return { calls: [['create_note', { text: 'Buy milk' }]], usage }
  if (!says.startsWith('I have')) return { text: 'Sunday.', usage }
  if (results.length === 0) return { calls: [['list_notes', {}]], usage }
  if (results.length > 1 || watered++ === 1) return { text: 'Done.', usage }
  return { calls: [['delete_note', { id: '1' }]], usage }
})

/** What is where here and elsewhere in the pages. */
const places: Places = [
  ['https://api.anthropic.com/v1/messages', model.urls.messages],
  ['./examples/shop/.data', settings.DATA_DIR],
  ['http://localhost:8080', baseUrl],
  ['http://127.0.0.1:8081', idp.issuer],
  ['http://127.0.0.1:8082', pay.url]
]

const installed = t.fixture('symlink', join(root, 'node_modules'))

/** Where the commands of a page are typed; without a word here, at the top of the repository. */
const directories: Readonly<Record<string, Parameters<Test['testdir']>[0]>> = {
  // They write, so it is not the shop itself.
  'packages/mcp-from-routes/docs/contract.md': {
    'package.json': read('examples/shop/package.json'),
    dist: t.fixture('symlink', join(root, 'examples/shop/dist')),
    node_modules: installed
  },
  'packages/mcp-from-routes/docs/cases.md': {
    'package.json': '{ "type": "module" }',
    'notes.js': ts.transpile(read('examples/quickstart/notes.ts'), { target: ts.ScriptTarget.ES2022 }),
    'cases.json': fencesOf(read('packages/mcp-from-routes/docs/cases.md'))[0]!.text,
    node_modules: installed
  },
  // Its program has no types, so it is built as it is.
  'packages/mcp-from-routes/docs/whole-api.md': {
    'package.json': '{ "type": "module" }',
    'app.js': read('examples/quickstart/whole-api.ts'),
    node_modules: installed
  }
}

/**
 * npm and npx take five times as long as the programs that they start. They start each one once, on whichever page it
 * comes first. After that it is started as they do.
 */
const ran = mkdtempSync(join(tmpdir(), 'docs-ran-'))
for (const name of ['npm', 'npx']) mkdirSync(join(ran, name))
t.teardown(() => rmSync(ran, { recursive: true }))
const scripts = Object.entries<string>(JSON.parse(read('package.json')).scripts)
const pathOf = (program: string): string =>
  execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim()
const NPX = `[ "$1" = --no-install ] && shift
bin='${root}node_modules/.bin/'"$1"
mkdir "${ran}/npx/$1" 2>/dev/null || { [ -x "$bin" ] && shift && exec "$bin" "$@"; }
exec '${pathOf('npx')}' --no-install "$@"`
const NPM = `if [ "$1 $2 $4" = 'run --silent --' ] && ! mkdir "${ran}/npm/$3" 2>/dev/null; then
script=$3; shift 4; cd '${root}'
case "$script" in
${
  scripts.filter(([, command]) => command.startsWith('node ')).map(([name, command]) =>
    `${name}) exec ${command} "$@";;`
  ).join('\n')
}
esac
fi
exec '${pathOf('npm')}' "$@"`

/** A terminal whose browser signs Kim in wherever a program asks for it. */
function terminal (t: Test, page: string): Shell {
  const { [page]: directory } = directories
  const scratch = t.testdir({ home: {}, stubs: {}, directory: directory ?? {} })
  const stubs = join(scratch, 'stubs')
  for (
    const [name, command] of Object.entries({
      'xdg-open': ':',
      open: ':',
      // Nobody's database: pages that are typed here have none of their own.
      psql: ':',
      aws: `exec node '${root}test/docs/aws.js' "$@"`,
      npm: NPM,
      npx: NPX
    })
  ) {
    writeFileSync(join(stubs, name), `#!/bin/sh\n${command}\n`)
    chmodSync(join(stubs, name), 0o755)
  }
  const kim = users.find(({ username }) => username === 'kim')!
  const opened = new Set<string>()
  return shell(t, {
    cwd: directory === undefined ? root : join(scratch, 'directory'),
    home: join(scratch, 'home'),
    env: {
      DATA_DIR: settings.DATA_DIR,
      BROWSER: '/bin/true',
      PATH: `${stubs}:${process.env['PATH']}`,
      ANTHROPIC_API_KEY: KEY,
      // Its commands want one, and the server of this test another.
      ...page === 'docs/shop/operations.md' && { DATABASE_URL: 'postgres://shop@db.example/shop' }
    },
    onError: (written) => {
      const [, url] = /visiting:\n(\S+)\n/.exec(written) ?? []
      if (url === undefined || opened.has(url)) return
      opened.add(url)
      callbackFrom(new URL(url), kim).then(async (callback) => await fetch(callback)).catch((error: unknown) =>
        t.fail(String(error))
      )
    }
  })
}

/** Those of a server in production have a test of their own; `npm run release check` does what the last page says. */
const elsewhere: readonly string[] = ['docs/production.md', 'docs/backup.md', 'packages/pay-reconcile/docs/testing.md']
const typedHere = [...pages.filter((name) => !elsewhere.includes(name)), 'examples/shop/README.md']

/** The programs of the pages that are JavaScript modules. One process tells of all: to start it takes longest. */
const modules: readonly string[] = JSON.parse(
  execFileSync(process.execPath, [
    '--experimental-vm-modules',
    '--no-warnings',
    '--input-type=module',
    '--eval',
    `
  import { readFileSync } from 'node:fs'
  import { SourceTextModule } from 'node:vm'
  const isModule = (text) => { try { return Boolean(new SourceTextModule(text)) } catch { return false } }
  console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).filter(isModule)))`
  ], {
    encoding: 'utf8',
    input: JSON.stringify(
      typedHere.flatMap((page) => fencesOf(read(page))).filter(({ info }) => /^js\b/.test(info)).map(({ text }) => text)
    )
  })
)

/** A program is that of a file, which is compiled; a skill that of a file, which is served. */
function isFile (t: Test, { info, text, line }: Fence): void {
  const [, source] = /^\w+ source="(.+)"$/.exec(info) ?? []
  if (source === undefined) t.fail(`line ${line} has to be a file`)
  else t.equal(text, read(source), `line ${line} is ${source}`)
}

/** How each kind of fence is known to be right; `next` is the fence behind it. */
const checks: Readonly<
  Record<string, (t: Test, fence: Fence, run: Shell['run'], next: Fence | undefined) => Promise<void> | void>
> = {
  async sh (t, fence, run, next) {
    await typed(
      t,
      fence,
      next,
      fence.text === 'npm ci && npm start\n' ? async () => ({ code: 0, output: demo.output() }) : run,
      places
    )
  },
  text (t, { line }) {
    t.pass(`line ${line} was compared`)
  },
  ts: isFile,
  prisma: isFile,
  markdown: isFile,
  conversation (t, { text, line }) {
    // `npm run lab clients` compares that page with what the client shows its model.
    const shown = read('docs/clients.md').split('\n').filter((row) =>
      row.startsWith('| Claude Code') || row.includes('The server says')
    )
    const answers = [...text.matchAll(/^ +→ +(.*)$/gm)].map(([, answer]) => answer!)
    t.ok(
      answers.length > 0 && answers.every((answer) => shown.some((row) => row.includes(answer))),
      `line ${line} is in docs/clients.md`
    )
  },
  report (t, { line }) {
    t.pass(`line ${line} is compared by examples/shop/test/contract.test.ts`)
  },
  async sql (t, { text, line }) {
    const { knex } = await openTestDatabase(t)
    await t.resolves(
      knex.transaction(async (trx) =>
        await trx.raw(`create schema page; set local search_path to page, public; ${text}`)
      ),
      `line ${line} runs in the database of the shop`
    )
  },
  js (t, { text, line }) {
    t.ok(modules.includes(text), `line ${line} is JavaScript`)
  },
  md (t, { text, line }) {
    const { releases } = parseChangeset(text)
    t.ok(
      releases.length > 0 && releases.every(({ name }) => existsSync(join(root, 'packages', name))),
      `line ${line} is a changeset`
    )
  },
  json (t, { text, line }) {
    t.ok(JSON.parse(text), `line ${line} is JSON`)
  },
  yaml (t, { text, line }) {
    t.ok(parse(text), `line ${line} is YAML`)
  },
  env (t, { text, line }) {
    const environment = Object.fromEntries(text.trim().split('\n').map((setting) => setting.split(/=(.*)/).slice(0, 2)))
    const secret = `2026:${'x'.repeat(32)}`
    const config = settingsFromEnvironment({ ...environment, API_KEY_PEPPERS: secret, PAY_KEY_SECRETS: secret })
    for (const [name, value] of Object.entries(environment)) {
      t.equal(String(config[name as keyof typeof config]), value, `line ${line} sets ${name}`)
    }
  }
}

t.test('the demo is started as npm start does', (t) => {
  t.match(JSON.parse(read('package.json')).scripts.start, /^node .*examples\/shop\/dist\/demo\/start\.js$/)
  t.end()
})

for (const page of typedHere) {
  t.test(`${page} says what happens`, async (t) => {
    const fences = fencesOf(read(page)).filter(({ info }) => info !== 'mermaid')
    const { run } = terminal(t, page)
    for (const [index, fence] of fences.entries()) {
      const check = checks[fence.info.replace(/ .*/, '')]
      if (check === undefined) t.fail(`line ${fence.line}: nobody knows how to check \`${fence.info}\``)
      else if (fence.info === 'text' && fences[index - 1]?.info !== 'sh') {
        t.fail(`line ${fence.line}: nothing prints it`)
      } else await check(t, fence, run, fences[index + 1])
    }
  })
}

t.test('the README shows lines of a whole program, and what tools of the demo answer', async (t) => {
  const [program, install, connect, calls] = fencesOf(read('README.md'))
  for (const part of program!.text.trim().split('\n\n')) {
    t.ok(read('examples/quickstart/mcp-from-routes.ts').includes(part), part)
  }
  t.match(read('packages/mcp-from-routes/README.md'), install!.text.split(' --pack-destination')[0]!)
  const [shop] = readDemo(settings.DATA_DIR).shops
  t.ok(
    asHere(demo.output(), places.map(([page, here]) => [here, page])).includes(connect!.text.split('shop_…')[0]!.trim())
  )

  // Ids are shown by their first digits.
  let known = JSON.stringify(shop)
  const whole = (text: string): string =>
    text.replace(/"(\w+)…"/g, (_, start) => `"${new RegExp(`"(${start}[\\w-]+)"`).exec(known)?.[1]}"`)
  const shown = [...calls!.text.matchAll(/^(\w+) +(\{.*\})\n +→ +(.*)$/gm)]
  t.equal(shown.length, 3)
  for (const [, name, args, answer] of shown) {
    const response = await fetch(`${baseUrl}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-api-key': shop!.api_key
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: JSON.parse(whole(args!)) }
      })
    })
    const { result } = await response.json() as {
      result: { content: [{ text: string }], structuredContent?: { result?: object[] } }
    }
    known += result.content[0].text
    const [, error] = /^error: (.*)$/.exec(answer!) ?? []
    if (error !== undefined) t.match(result, { isError: true, content: [{ text: error }] })
    else t.match(result.structuredContent?.result ?? result.structuredContent, JSON.parse(whole(answer!)))
  }
})

t.test('the tour can be taken twice: a second sign-in makes another tag', async (t) => {
  const signIn = fencesOf(read('docs/tour.md')).find(({ text }) => text.includes('mcp-remote'))!
  const [start] = fencesOf(read('docs/tour.md')).filter(({ text }) => text.startsWith('demo () {'))
  const { run } = terminal(t, 'docs/tour.md')
  await run(asHere(start!.text, places))
  for (let times = 0; times < 2; times++) t.match(await run(signIn.text), { code: 0, output: /^created sale-\d+\n$/ })
})

t.test('no shell takes a URL of the pages for a pattern of file names', (t) => {
  for (const page of pages) {
    for (const { info, text, line } of fencesOf(read(page))) {
      if (info === 'sh') t.notMatch(text.replace(/'[^']*'|"[^"]*"/g, ''), /^\s*curl.*\/\S*\?/m, `${page}, line ${line}`)
    }
  }
  t.end()
})

t.test('the two commands warn of nothing on this version of Node.js', (t) => {
  // It warns of what is locked; what is installed here takes longer to read, and says nothing of it.
  const { status, stderr } = spawnSync('npm', [
    'ci',
    '--dry-run',
    '--package-lock-only',
    '--ignore-scripts',
    '--offline'
  ], { cwd: root, encoding: 'utf8' })
  t.equal(status, 0)
  t.notMatch(stderr, /EBADENGINE/)
  t.notMatch(demo.output(), /WARNING|Unsupported/)
  t.end()
})

t.test('every package says how to install it without the registry', (t) => {
  for (const name of readdirSync(join(root, 'packages'))) {
    t.match(read(`packages/${name}/README.md`), new RegExp(`\`npm pack -w ${name}\``))
  }
  t.end()
})

t.test('the client of the page on Cognito is the one that the server tells MCP clients about', async (t) => {
  const [{ text } = { text: '' }] = fencesOf(read('packages/oauth-discovery-shim/docs/cognito.md'))
  const client = JSON.parse(/<<JSON\n([^]*?)\nJSON/.exec(text)?.[1] ?? '')
  const { redirectUris, scopes } = settingsFromOptions({
    publicBaseUrl: baseUrl,
    issuer: idp.issuer,
    clientId: idp.mcp_client_id
  })
  t.strictSame(client.CallbackURLs, redirectUris)
  t.strictSame(client.AllowedOAuthScopes, scopes)
})

t.test('every link of the pages leads somewhere', (t) => {
  const readmes = [
    ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`),
    'examples/shop',
    'examples/starter'
  ].map((folder) => `${folder}/README.md`)
  for (const page of ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...readmes, ...pages]) {
    for (const [, target = ''] of read(page).replace(/```[^]*?```/g, '').matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
      if (/^https:\/\//.test(target)) continue
      t.ok(existsSync(join(root, page, '..', target)), `${page}: ${target}`)
    }
  }
  t.end()
})
