import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { importsIn } from '../../../../test/imports.ts'
import { nodeFlags } from '../../../../test/node-flags.js'

/*
 * The broker is a room of its own: who registers the shim loads nothing of it, and the package works without its files.
 */

const repository = fileURLToPath(new URL('../../../../', import.meta.url))
const own = 'packages/oauth-discovery-shim'
const run = promisify(execFile)

/** Imports of a package's files that lead from outside of the broker into it. */
function importsOfBroker (folder: string): readonly string[] {
  const ofBroker = (file: string): boolean => /^(?:src|test)\/broker\//.test(file)
  return [...importsIn(folder)].filter(([file]) => /^(?:src|test)\//.test(file) && !ofBroker(file)).flatMap((
    [file, imported]
  ) => imported.filter(ofBroker).map((other) => `${file} imports ${other}`))
}

t.test('the broker imports the shim, and nothing of the shim the broker', async (t) => {
  t.strictSame(importsOfBroker(join(repository, own)), [], 'move what both need out of broker/')
  for (
    const form of [
      "import { b } from './broker/b.ts'",
      "import type { B } from './broker/b.ts'",
      "export * from './broker/b.ts'",
      "export type B = import('./broker/b.ts').B",
      "const b = await import('./broker/b.ts')"
    ]
  ) {
    const folder = t.testdir({ src: { 'a.ts': form, broker: { 'b.ts': "import { c } from '../c.ts'", 'c.ts': '' } } })
    t.strictSame(importsOfBroker(folder), ['src/a.ts imports src/broker/b.ts'], form)
  }
})

/** Registers a plugin by its import, and prints the URL of each script that the process has loaded by then. */
const LOADED = `
import { Session } from 'node:inspector'
const session = new Session()
session.connect()
const loaded = []
session.on('Debugger.scriptParsed', ({ params }) => loaded.push(params.url))
session.post('Debugger.enable')
const [specifier, options] = process.argv.slice(-2)
const { default: Fastify } = await import('fastify')
const { default: plugin } = await import(specifier)
const app = Fastify()
await app.register(plugin, JSON.parse(options))
await app.ready()
await app.close()
console.log(JSON.stringify(loaded))
`

/** @returns the files of the package that are loaded, such as `index.js` */
async function loadedBy (specifier: string, more: object): Promise<readonly string[]> {
  const options = { publicBaseUrl: 'https://shop.example.com', issuer: 'http://127.0.0.1:9', clientId: 'c', ...more }
  const args = ['--input-type=module', '--eval', LOADED, specifier, JSON.stringify(options)]
  const { stdout } = await run(process.execPath, args, { cwd: join(repository, own) })
  const dist = new URL('../../dist/', import.meta.url).href
  return (JSON.parse(stdout) as string[]).filter((url) => url.startsWith(dist)).map((url) => url.slice(dist.length))
}

t.test('a process that registers the shim loads no file of the broker', async (t) => {
  const ofShim = await loadedBy('oauth-discovery-shim', {})
  t.ok(ofShim.includes('index.js') && ofShim.includes('provider.js'), 'what is loaded is seen')
  t.strictSame(ofShim.filter((file) => file.startsWith('broker/')), [])
  const ofBroker = await loadedBy('oauth-discovery-shim/broker', { secrets: [{ id: 'a', secret: 's'.repeat(32) }] })
  t.ok(ofBroker.includes('broker/index.js'), 'and one that registers the broker does')
})

/** A copy of the repository in which the package has no broker: no files, no tests, no import. */
function copyWithout (t: Test): string {
  const root = mkdtempSync(join(tmpdir(), 'without-broker-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  for (const path of ['node_modules', 'examples', 'test', 'tsconfig.json', 'package.json']) {
    symlinkSync(join(repository, path), join(root, path))
  }
  // Not linked: TypeScript names what it compiles by its real path.
  cpSync(join(repository, 'shared'), join(root, 'shared'), { recursive: true })
  mkdirSync(join(root, 'packages'))
  for (const name of readdirSync(join(repository, 'packages')).filter((name) => join('packages', name) !== own)) {
    symlinkSync(join(repository, 'packages', name), join(root, 'packages', name))
  }
  const left = join(root, own)
  cpSync(join(repository, own), left, {
    recursive: true,
    filter: (path) => !/\/(?:broker|dist|[^/]*\.tsbuildinfo)$/.test(path)
  })
  const manifest = JSON.parse(readFileSync(join(left, 'package.json'), 'utf8'))
  manifest.exports = Object.fromEntries(
    Object.entries(manifest.exports).filter(([, target]) => !JSON.stringify(target).includes('/broker/'))
  )
  writeFileSync(join(left, 'package.json'), JSON.stringify(manifest))
  return root
}

t.test('without the files of the broker, the rest compiles, works, and passes its tests', async (t) => {
  const root = copyWithout(t)
  const left = join(root, own)
  t.notOk(existsSync(join(left, 'src/broker')))
  const tsc = fileURLToPath(import.meta.resolve('typescript/lib/tsc.js'))
  await t.resolves(run(process.execPath, [tsc, '-b', left]), 'it compiles')

  const bin = run(process.execPath, [join(left, 'bin/oauth-discovery-shim.js'), 'doctor', 'http://127.0.0.1:9'])
  await t.rejects(bin, { code: 1, stdout: /^fail {2}MCP TypeScript SDK 1\.x +unreachable: / }, 'the doctor works')

  const files = readdirSync(join(left, 'test')).filter((file) => file.endsWith('.test.ts')).map((file) =>
    join(left, 'test', file)
  )
  t.ok(files.length >= 12, files.join(' '))
  // In an environment of their own: that of this process says which files its runner has left.
  const { stdout } = await run(
    process.execPath,
    [...nodeFlags(new URL('../../../../', import.meta.url)), join(repository, 'test/batch.js')],
    { cwd: left, env: { PATH: process.env['PATH'], TEST_FILES: JSON.stringify(files) } }
  ).catch((failure: { readonly stdout: string }) => failure)
  t.match(stdout, new RegExp(`^1\\.\\.${files.length}$`, 'm'), 'its tests run')
  t.notMatch(stdout, /^not ok/m, stdout)
})
