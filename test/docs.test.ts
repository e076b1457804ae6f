import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import parseChangeset from '@changesets/parse'
import { parse } from 'yaml'
import { configFromEnvironment } from '../examples/shop/src/config.ts'
import { callbackFrom } from '../examples/shop/src/demo/identity-provider.ts'
import { lastingData, readDemo, start } from '../examples/shop/test/process.ts'
import { callbackPort } from '../packages/oauth-discovery-shim/test/callback-port.ts'
import { type Fence, fencesOf, quotes } from './docs/fences.ts'
import { type Shell, shell } from './docs/shell.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const settings = await lastingData(t)
const demo = await start(t, 'demo/start', settings)
const { base_url: baseUrl, idp, pay, users } = readDemo(settings.DATA_DIR)
await callbackPort(t)

/** What is where here and elsewhere in the pages. */
const places: ReadonlyArray<readonly [written: string, here: string]> = [
  ['./examples/shop/.data', settings.DATA_DIR],
  ['http://localhost:8080', baseUrl],
  ['http://127.0.0.1:8081', idp.issuer],
  ['http://127.0.0.1:8082', pay.url]
]
const asHere = (text: string): string => places.reduce((result, [written, here]) => result.replaceAll(written, here), text)
const asWritten = (text: string): string => places.reduce((result, [written, here]) => result.replaceAll(here, written), text)

const modules = t.fixture('symlink', join(root, 'node_modules'))

/** Where the commands of a page are typed; without a word here, at the top of the repository. */
const directories: Readonly<Record<string, Parameters<Test['testdir']>[0]>> = {
  // They write, so it is not the shop itself.
  'contract.md': {
    'package.json': read('examples/shop/package.json'), dist: t.fixture('symlink', join(root, 'examples/shop/dist')), node_modules: modules
  }
}

/** A terminal whose browser signs Kim in wherever a program asks for it. */
function terminal (t: Test, page: string): Shell {
  const { [page]: directory } = directories
  const scratch = t.testdir({ home: {}, stubs: {}, directory: directory ?? {} })
  const stubs = join(scratch, 'stubs')
  for (const [name, command] of Object.entries({ 'xdg-open': ':', open: ':', aws: `exec node '${root}test/docs/aws.js' "$@"` })) {
    writeFileSync(join(stubs, name), `#!/bin/sh\n${command}\n`)
    chmodSync(join(stubs, name), 0o755)
  }
  const kim = users.find(({ username }) => username === 'kim')!
  const opened = new Set<string>()
  return shell(t, {
    cwd: directory === undefined ? root : join(scratch, 'directory'),
    home: join(scratch, 'home'),
    env: { DATA_DIR: settings.DATA_DIR, BROWSER: '/bin/true', PATH: `${stubs}:${process.env['PATH']}` },
    onError: (written) => {
      const [, url] = /visiting:\n(\S+)\n/.exec(written) ?? []
      if (url === undefined || opened.has(url)) return
      opened.add(url)
      callbackFrom(new URL(url), kim).then(async (callback) => await fetch(callback)).catch((error: unknown) => t.fail(String(error)))
    }
  })
}

/** How each kind of fence is known to be right; `next` is the fence behind it. */
const checks: Readonly<Record<string, (t: Test, fence: Fence, run: Shell['run'], next: Fence | undefined) => Promise<void> | void>> = {
  async sh (t, { text, line }, run, next) {
    const { code, output } = text === 'npm ci && npm start\n' ? { code: 0, output: demo.output() } : await run(asHere(text))
    t.equal(code, 0, `line ${line} succeeds`)
    if (next?.info !== 'text') return
    const printed = asWritten(output)
    t.ok(quotes(next.text, printed), `line ${next.line} is what line ${line} prints`, { quoted: next.text, printed })
  },
  text (t, { line }) { t.pass(`line ${line} was compared`) },
  ts (t, { info, text, line }) {
    const [, source] = /^ts source="(.+)"$/.exec(info) ?? []
    if (source === undefined) t.fail(`line ${line}: a program has to be that of a file, which is compiled`)
    else t.equal(text, read(source), `line ${line} is ${source}`)
  },
  md (t, { text, line }) {
    const { releases } = parseChangeset(text)
    t.ok(releases.length > 0 && releases.every(({ name }) => existsSync(join(root, 'packages', name))), `line ${line} is a changeset`)
  },
  yaml (t, { text, line }) { t.ok(parse(text), `line ${line} is YAML`) },
  env (t, { text, line }) {
    const environment = Object.fromEntries(text.trim().split('\n').map((setting) => setting.split(/=(.*)/).slice(0, 2)))
    const secret = `2026:${'x'.repeat(32)}`
    const config = configFromEnvironment({ ...environment, API_KEY_PEPPERS: secret, PAY_KEY_SECRETS: secret })
    for (const [name, value] of Object.entries(environment)) t.equal(String(config[name as keyof typeof config]), value, `line ${line} sets ${name}`)
  }
}

t.test('the demo is started as npm start does', (t) => {
  t.match(JSON.parse(read('package.json')).scripts.start, /^node .*examples\/shop\/dist\/demo\/start\.js$/)
  t.end()
})

for (const page of readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))) {
  t.test(`docs/${page} says what happens`, async (t) => {
    const fences = fencesOf(read(`docs/${page}`))
    const { run } = terminal(t, page)
    for (const [index, fence] of fences.entries()) {
      const check = checks[fence.info.replace(/ .*/, '')]
      if (check === undefined) t.fail(`line ${fence.line}: nobody knows how to check \`${fence.info}\``)
      else if (fence.info === 'text' && fences[index - 1]?.info !== 'sh') t.fail(`line ${fence.line}: nothing prints it`)
      else await check(t, fence, run, fences[index + 1])
    }
  })
}

t.test('the client of browser-login.md is the one that the server tells MCP clients about', async (t) => {
  const [{ text } = { text: '' }] = fencesOf(read('docs/browser-login.md'))
  const client = JSON.parse(/<<JSON\n([^]*?)\nJSON/.exec(text)?.[1] ?? '')
  const { redirect_uris: redirectUris, scope } = await (await fetch(`${baseUrl}/oauth/register`, { method: 'POST' })).json() as Record<string, string>
  t.strictSame(client.CallbackURLs, redirectUris)
  t.equal(client.AllowedOAuthScopes.join(' '), scope)
})

t.test('every link of the pages leads somewhere', (t) => {
  const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)]
  for (const page of pages) {
    for (const [, target = ''] of read(page).replace(/```[^]*?```/g, '').matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
      if (/^https:\/\//.test(target)) continue
      t.ok(existsSync(join(root, page, '..', target)), `${page}: ${target}`)
    }
  }
  t.end()
})
