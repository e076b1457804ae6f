import { strict as assert } from 'node:assert'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './command.ts'
import { packages } from './packages.ts'

const page = readFileSync(new URL('../../../docs/module-systems.md', import.meta.url), 'utf8')

const BODY = `
  const app = Fastify()
  await app.register(mcpFromRoutes, { serverInfo: { name: 'x', version: '1.0.0' } })
  app.get('/a', { schema: { operationId: 'a', description: 'A.', tags: ['mcp'] } }, async () => 1)
  await app.ready()
  console.log(app.mcpTools.length + ' tool')
  await app.close()
`
const IMPORTS = "import Fastify from 'fastify'\nimport mcpFromRoutes from 'mcp-from-routes'\n"
const REQUIRE = "const { default: mcpFromRoutes } = require('mcp-from-routes')"
const DYNAMIC = "const { default: mcpFromRoutes } = await import('mcp-from-routes')"
const IS_TOOL = '\n  expect(app.mcpTools.length).toBe(1)\n'
const tested = (program: string): string => program.replace(/\n.*console\.log.*\n/, IS_TOOL)

/** The same app in every module system. */
const FILES: Readonly<Record<string, string>> = {
  'app.cjs': `const Fastify = require('fastify')\n${REQUIRE}\nasync function main () {${BODY}}\nmain()\n`,
  'dynamic.cjs': `const Fastify = require('fastify')\nasync function main () {\n  ${DYNAMIC}${BODY}}\nmain()\n`,
  'app.mts': IMPORTS + BODY,
  'main.ts': `${IMPORTS}async function main () {${BODY}}\nvoid main()\n`,
  'app.test.mjs': `${IMPORTS}test('a tool', async () => {${tested(BODY)}})\n`,
  'dynamic.test.cjs': `const Fastify = require('fastify')\ntest('a tool', async () => {\n  ${DYNAMIC}${
    tested(BODY)
  }})\n`,
  'vitest.test.mjs': `import { expect, test } from 'vitest'\n${IMPORTS}test('a tool', async () => {${tested(BODY)}})\n`
}

/**
 * What the page promises: a command, what it prints, and where that is not Node.js itself, what was installed for it.
 */
const LINES: ReadonlyArray<readonly [command: string, prints: RegExp, installed?: string]> = [
  ['node app.cjs', /^1 tool$/m],
  ['node dynamic.cjs', /^1 tool$/m],
  ['tsx app.mts', /^1 tool$/m, 'tsx@4'],
  ['ts-node -T -O \'{"module":"commonjs","esModuleInterop":true}\' main.ts', /^1 tool$/m, 'ts-node@10'],
  ['node -r @swc-node/register main.ts', /^1 tool$/m, '@swc-node/register@1'],
  ['node --import @swc-node/register/esm-register app.mts', /^1 tool$/m, '@swc/core@1'],
  ['esbuild main.ts --bundle --platform=node --format=cjs --outfile=out.cjs && node out.cjs', /^1 tool$/m, 'esbuild'],
  [
    'esbuild app.mts --bundle --platform=node --format=esm --outfile=out.mjs --banner:js="import { ' +
    "createRequire } from 'node:module'; const require = createRequire(import.meta.url)\" && node out.mjs",
    /^1 tool$/m
  ],
  ['vitest run vitest.test.mjs', /1 passed/, 'vitest'],
  ["NODE_OPTIONS=--experimental-vm-modules jest --testMatch '**/app.test.mjs'", /1 passed/, 'jest@30'],
  ["NODE_OPTIONS=--experimental-vm-modules jest --testMatch '**/dynamic.test.cjs'", /1 passed/],
  [
    "NODE_OPTIONS=--experimental-vm-modules node node_modules/jest29/bin/jest.js --testMatch '**/app.test.mjs'",
    /1 passed/,
    'jest29@npm:jest@29'
  ],
  [
    "NODE_OPTIONS=--experimental-vm-modules node node_modules/jest29/bin/jest.js --testMatch '**/dynamic.test.cjs'",
    /1 passed/
  ],
  ['deno run -A app.mts', /^1 tool$/m, 'deno'],
  ['bun app.mts', /MCP_FROM_ROUTES_UNSUPPORTED_VERSION/, 'bun']
]

/**
 * Tries mcp-from-routes in every module system, bundler and runtime of docs/module-systems.md. The others are packed in
 * the same way.
 */
export async function checkModuleSystems (directory: string): Promise<void> {
  const { directory: cwd } = packages.find(({ name }) => name === 'mcp-from-routes')!
  const [{ filename }] = JSON.parse(await run('npm', ['pack', '--json', '--pack-destination', directory], { cwd }))
  const folder = join(directory, 'modules')
  mkdirSync(folder)
  // As the page says for Jest.
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, overrides: { 'light-my-request': { cookie: '^1.1.1' } } })
  )
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text)
  await run('npm', [
    'install',
    '--no-audit',
    '--no-fund',
    join(directory, filename),
    'fastify@5',
    'typescript@5.9',
    '@types/node@20',
    ...LINES.flatMap(([, , installed]) => installed ?? [])
  ], { cwd: folder })
  for (const [command, prints] of LINES) {
    assert.ok(page.includes(`\`${command}\``), `docs/module-systems.md has ${command}`)
    const printed = await run('sh', ['-c', `{ ${command}; } 2>&1 || true`], {
      cwd: folder,
      env: { PATH: `${join(folder, 'node_modules/.bin')}:${process.env['PATH']}` }
    })
    assert.match(printed, prints, `${command}\n${printed}`)
    console.log(command)
  }
}
