import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'

const src = fileURLToPath(new URL('../src', import.meta.url))
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
/** The rooms that one builds on. */
const NEEDS: Readonly<Record<string, readonly string[]>> = { views: ['resources'], skills: ['resources'] }

/** The room of a file: an extension, `shared` by them, `contract`, `cli`, or else the core. */
function roomOf (file: string): string {
  const [first = '', second = '', third] = file.split('/')
  if (first === 'contract' || first === 'cli') return first
  if (first !== 'extensions') return 'core'
  return third === undefined ? 'shared' : second
}

/** What a file imports of the package, types too. */
function importsOf (file: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(src, file), 'utf8'))
  return importedFiles.filter(({ fileName }) => fileName.startsWith('.')).map(({ fileName }) =>
    join(file, '..', fileName)
  )
}

t.test('the core imports no extension, not even a type, and a room only what it needs', async (t) => {
  const arrows = files.flatMap((file) => importsOf(file).map((to) => ({ file, from: roomOf(file), to: roomOf(to) })))
  const allowed = ({ file, from, to }: typeof arrows[number]): boolean => {
    if (from === to || to === 'core') return true
    if (from === 'core') return false
    if (from === 'contract') return false
    // The command of a room is one of the command line.
    if (from === 'cli') return to === 'contract' || to === 'review'
    if (to === 'cli') return file === 'extensions/review/command.ts'
    return to === 'shared' || (NEEDS[from] ?? []).includes(to)
  }
  t.ok(arrows.length > 300, 'imports are read')
  t.strictSame(arrows.filter((arrow) => !allowed(arrow)), [])
})

t.test('the core compiles alone, so it knows no key of an extension in config.mcp', async (t) => {
  const config = fileURLToPath(new URL('../tsconfig.core.json', import.meta.url))
  const { config: json } = ts.readConfigFile(config, ts.sys.readFile)
  const { fileNames, options } = ts.parseJsonConfigFileContent(json, ts.sys, join(config, '..'))
  t.ok(fileNames.some((file) => file.endsWith('/model.ts')) && !fileNames.some((file) => file.includes('/extensions/')))
  const program = ts.createProgram(fileNames, { ...options, noEmit: true })
  const problems = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) =>
    `${file?.fileName.slice(src.length)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  )
  t.strictSame(problems, [])
  const loaded = program.getSourceFiles().map(({ fileName }) => fileName).filter((file) =>
    file.startsWith(`${src}/extensions/`)
  )
  t.strictSame(loaded, [])
})

t.test('a program with tools only loads no module of an extension', async (t) => {
  const hooks = `export async function resolve (name, context, next) {
    const found = await next(name, context)
    if (found.url.startsWith('file:')) console.error('loaded ' + found.url)
    return found
  }`
  const program = `
import { register } from 'node:module'
register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}))
const { default: Fastify } = await import(${JSON.stringify(import.meta.resolve('fastify'))})
const { default: mcpFromRoutes } = await import(${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)})
const app = Fastify()
await app.register(mcpFromRoutes, { serverInfo: { name: 'a', version: '1.0.0' } })
app.get('/a', { schema: { operationId: 'a', description: 'A.', tags: ['mcp'] } }, async () => 'a')
await app.ready()
console.log(app.mcpTools.length)
`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  t.equal(stdout, '1\n', stderr)
  const loaded = stderr.split('\n').filter((line) => line.startsWith('loaded '))
  t.ok(
    loaded.some((line) => line.endsWith('/dist/index.js')) && loaded.some((line) => line.includes('/dist/endpoint/'))
  )
  t.strictSame(loaded.filter((line) => line.includes('/dist/extensions/')), [])
})

/** Of one compiler for all rooms: what does not change is parsed once. */
const parsed = new Map<string, ts.SourceFile | undefined>()

/** What does not compile of the sources without these rooms, and without the lines of others that import them. */
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
  const isGone = (file: string): boolean => gone.some((room) => file.startsWith(`${src}/extensions/${room}/`))
  const { fileExists, getSourceFile } = host
  host.fileExists = (file) => !isGone(file) && fileExists.call(host, file)
  host.getSourceFile = (file, ...more) => {
    if (file === `${src}/cli/run.ts` && gone.includes('review')) {
      const text = readFileSync(file, 'utf8').replace(/^.*extensions\/review.*$/m, "throw new Error('no review')")
      return ts.createSourceFile(file, text, ts.ScriptTarget.ES2023)
    }
    if (!parsed.has(file)) parsed.set(file, getSourceFile.call(host, file, ...more))
    return parsed.get(file)
  }
  const program = ts.createProgram(files.map((file) => join(src, file)).filter((file) => !isGone(file)), options, host)
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) =>
    `${file?.fileName.slice(src.length)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  )
}

const rooms = readdirSync(join(src, 'extensions'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
for (const { name } of rooms) {
  const gone = [name, ...Object.keys(NEEDS).filter((room) => NEEDS[room]?.includes(name))]
  t.test(`the rest compiles without ${gone.join(', ')}`, async (t) => {
    t.strictSame(problemsWithout(gone), [])
  })
}

t.test('the rest compiles without any room', async (t) => {
  t.strictSame(problemsWithout(rooms.map(({ name }) => name)), [])
})
