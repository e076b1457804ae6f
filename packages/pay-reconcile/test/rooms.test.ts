import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'

const src = fileURLToPath(new URL('../src', import.meta.url))
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

/** The folders beside the core, each with those that it may import; a subpath or a command opens each. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  csv: [],
  schedule: [],
  webhooks: ['knex'],
  knex: [],
  'provider/stripe': [],
  testing: [],
  cli: ['csv']
}
/** What no program loads that does not ask for it. */
const LIBRARIES = ['croner', 'knex', 'stripe']

function roomOf (file: string): string {
  return Object.keys(ROOMS).find((room) => file.startsWith(`${room}/`)) ?? 'core'
}

/** What a file imports of the package, types too. */
function importsOf (file: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(src, file), 'utf8'))
  return importedFiles.filter(({ fileName }) => fileName.startsWith('.')).map(({ fileName }) =>
    join(file, '..', fileName)
  )
}

t.test('the core imports no room, not even a type, and a room only what it may', async (t) => {
  const arrows = files.flatMap((file) => importsOf(file).map((to) => ({ file, from: roomOf(file), to: roomOf(to) })))
  t.ok(arrows.length > 300, 'imports are read')
  t.strictSame(
    Object.keys(ROOMS).filter((room) => !arrows.some(({ from, to }) => from === room && to === 'core')),
    ['testing'],
    'every room is a folder; the fake provider needs nothing'
  )
  t.strictSame(
    arrows.filter(({ from, to }) => from !== to && to !== 'core' && !(ROOMS[from] ?? []).includes(to)),
    []
  )
})

t.test('no test of this package imports the shop or another package', async (t) => {
  const folder = fileURLToPath(new URL('.', import.meta.url))
  const tests = readdirSync(folder).filter((file) => file.endsWith('.ts'))
  const imported = tests.flatMap((file) =>
    ts.preProcessFile(readFileSync(join(folder, file), 'utf8')).importedFiles.map(({ fileName }) => fileName)
  )
  t.ok(imported.length > 100, 'imports are read')
  t.strictSame(
    imported.filter((name) => /^\.\.\/\.\.\/|dual-auth|mcp-from-routes|oauth-discovery-shim|\/shop\//.test(name))
      .filter((name) => !/^\.\.\/\.\.\/\.\.\/(?:test|shared|examples\/quickstart)\//.test(name)),
    []
  )
})

/** What a program loads that registers the plugin with these extensions: files of the package, and libraries. */
function loadedWith (extensions: readonly string[]): readonly string[] {
  const at = (file: string): string => JSON.stringify(new URL(`../dist/${file}`, import.meta.url).href)
  const hooks = `export async function resolve (name, context, next) {
    const found = await next(name, context)
    if (found.url.startsWith('file:')) console.error('loaded ' + found.url)
    return found
  }`
  const program = `
import { register } from 'node:module'
register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}))
const { default: Fastify } = await import(${JSON.stringify(import.meta.resolve('fastify'))})
const { default: payReconcile } = await import(${at('index.js')})
const app = Fastify()
const accounts = { list: async () => ({ accounts: [], count: 0 }) }
const runs = { claimable: async () => [], lastScheduled: async () => '' }
await app.register(payReconcile, {
  accounts,
  runs,
  provider: {},
  authorize: () => {},
  actor: () => 'a',
  extensions: [${
    extensions.map((room) => `(await import(${at(`${room}/index.js`)})).${room}({ check: '0 3 * * *' })`).join(', ')
  }]
})
console.log((await app.inject('/admin/accounts')).body)
await app.close()
`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  if (stdout !== '[]\n') throw new Error(stderr)
  const loaded = stderr.split('\n').filter((line) => line.startsWith('loaded '))
  return [
    ...LIBRARIES.filter((name) => loaded.some((line) => line.includes(`/node_modules/${name}/`))),
    ...loaded.flatMap((line) => line.split('/pay-reconcile/dist/').slice(1))
  ]
}

t.test('a program loads only the rooms that it imports, and neither knex nor stripe', async (t) => {
  for (
    const [extensions, rooms] of [
      [[], ['core']],
      [['csv'], ['core', 'csv']],
      [['schedule'], ['core', 'croner', 'schedule']]
    ] as const
  ) {
    const loaded = loadedWith(extensions)
    t.ok(loaded.includes('index.js') && loaded.includes('admin/account-routes.js'), 'files are seen')
    t.strictSame(
      [...new Set(loaded.map((file) => LIBRARIES.includes(file) ? file : roomOf(file)))].sort(),
      rooms,
      `with ${extensions.join() || 'no extension'}`
    )
  }
})

/** Of one compiler for all: what does not change is parsed once. */
const parsed = new Map<string, ts.SourceFile | undefined>()

/** What does not compile of the sources without these rooms. */
function problemsWithout (gone: readonly string[]): readonly string[] {
  const options: ts.CompilerOptions = {
    ...ts.parseJsonConfigFileContent(
      ts.readConfigFile(fileURLToPath(new URL('../tsconfig.json', import.meta.url)), ts.sys.readFile).config,
      ts.sys,
      join(src, '..')
    ).options,
    noEmit: true,
    composite: false,
    incremental: false
  }
  const host = ts.createCompilerHost(options)
  const isGone = (file: string): boolean => gone.some((room) => file.startsWith(`${src}/${room}/`))
  const { fileExists, getSourceFile } = host
  host.fileExists = (file) => !isGone(file) && fileExists.call(host, file)
  host.getSourceFile = (file, ...more) => {
    if (!parsed.has(file)) parsed.set(file, getSourceFile.call(host, file, ...more))
    return parsed.get(file)
  }
  const program = ts.createProgram(files.map((file) => join(src, file)).filter((file) => !isGone(file)), options, host)
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) =>
    `${file?.fileName.slice(src.length)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  )
}

t.test('the core compiles without any room', async (t) => {
  t.strictSame(problemsWithout(Object.keys(ROOMS)), [])
})
