import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'
import { NEEDS } from './without.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const src = join(root, 'src')

/** Rooms that are no extensions. */
const BESIDE = ['cli', 'contract', 'testing']

/**
 * The room of a file below `src` or `test`: an extension, `shared` by them, `pairs` of them, one beside them, or else
 * the core.
 */
function roomOf (file: string): string {
  const [, first = '', second = '', third] = file.split('/')
  if (BESIDE.includes(first)) return first
  if (first !== 'extensions') return 'core'
  return third === undefined ? 'shared' : second
}

interface Arrow {
  readonly file: string
  readonly from: string
  readonly to: string
}

/** What the files of a folder import of the package, types too. */
function arrowsIn (folder: string): readonly Arrow[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return files.filter((file) => file.endsWith('.ts')).flatMap((name) => {
    const file = join(folder, name)
    const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), 'utf8'))
    const own = importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
    return own.map(({ fileName }) => ({ file, from: roomOf(file), to: roomOf(join(file, '..', fileName)) }))
  })
}

/** What runs a room's command. */
const COMMANDS = ['src/extensions/review/command.ts', 'src/testing/cases/command.ts']

const builds = ({ from, to }: Arrow): boolean => from === to || to === 'core' || NEEDS[from]?.includes(to) === true

t.test('the core imports no extension, not even a type, and a room only what it needs', async (t) => {
  const arrows = arrowsIn('src')
  const allowed = (arrow: Arrow): boolean => {
    const { file, from, to } = arrow
    if (builds(arrow)) return true
    if (from === 'core' || from === 'contract') return false
    // The command of a room is one of the command line.
    if (from === 'cli') return ['contract', 'review', 'testing'].includes(to)
    if (to === 'cli') return COMMANDS.includes(file)
    return to === 'shared' && from !== 'testing'
  }
  t.ok(arrows.length > 100, 'imports are read')
  t.strictSame(arrows.filter((arrow) => !allowed(arrow)), [])
})

t.test('the tests of a room import it, what it needs, and no other; those of several are in test/extensions/pairs', async (t) => {
  const arrows = arrowsIn('test')
  const allowed = (arrow: Arrow): boolean =>
    builds(arrow) || arrow.from === 'pairs' || ['contract', 'cli'].includes(arrow.to) ||
    (arrow.to === 'shared' && arrow.from !== 'core' && arrow.from !== 'testing')
  t.ok(arrows.length > 100, 'imports are read')
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

t.test('a program with tools only loads no module of an extension, and none of those beside them', async (t) => {
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
  t.strictSame(loaded.filter((line) => /\/dist\/(?:extensions|contract|cli|testing)\//.test(line)), [])
  t.strictSame(loaded.filter((line) => line.includes('/@modelcontextprotocol/client/')), [])
})
