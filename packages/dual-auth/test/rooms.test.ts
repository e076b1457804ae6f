import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'

const src = fileURLToPath(new URL('../src', import.meta.url))
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

/** What each room may import beside itself and the core. `routes` is what rooms with routes share. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  management: ['routes'],
  scanning: ['routes'],
  introspection: [],
  doctor: [],
  testing: [],
  routes: [],
  cli: ['doctor', 'introspection', 'scanning']
}

/** Of a folder that is a room, else the core. */
function roomOf (file: string): string {
  const [first = ''] = file.split('/')
  return first in ROOMS ? first : 'core'
}

/** What a file imports of the package, types too. */
function importsOf (file: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(src, file), 'utf8'))
  return importedFiles.filter(({ fileName }) => fileName.startsWith('.')).map(({ fileName }) =>
    join(file, '..', fileName)
  )
}

t.test('the core imports no room, not even a type, and a room only what it needs', async (t) => {
  const arrows = files.flatMap((file) => importsOf(file).map((to) => ({ file, from: roomOf(file), to: roomOf(to) })))
  t.ok(arrows.length > 200, 'imports are read')
  t.strictSame(
    arrows.filter(({ from, to }) => to !== from && to !== 'core' && !(ROOMS[from] ?? []).includes(to)),
    []
  )
})

t.test('a program with keys and tokens only loads no module of a room, and no knex', async (t) => {
  const hooks = `export async function resolve (name, context, next) {
    const found = await next(name, context)
    if (found.url.startsWith('file:')) console.error('loaded ' + found.url)
    return found
  }`
  const program = `
import { register } from 'node:module'
register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}))
const { default: Fastify } = await import(${JSON.stringify(import.meta.resolve('fastify'))})
const { default: dualAuth, memoryStore } = await import(${
    JSON.stringify(new URL('../dist/index.js', import.meta.url).href)
  })
const app = Fastify()
await app.register(dualAuth, {
  apiKeys: { marker: 'm', peppers: [{ id: 'p', secret: 'x'.repeat(32) }], store: memoryStore() },
  jwt: { issuer: 'http://127.0.0.1:9/', userClients: ['a'], jwksTimeout: 100 }
})
app.get('/owners/:owner_id', { config: { auth: 'dual' } }, async () => '')
await app.ready()
console.log((await app.inject('/owners/1')).statusCode)
await app.close()
`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  t.equal(stdout, '401\n', stderr)
  const loaded = stderr.split('\n').filter((line) => line.startsWith('loaded '))
  t.ok(loaded.some((line) => line.endsWith('/dist/index.js')) && loaded.some((line) => line.includes('/dist/tokens/')))
  const rooms = new RegExp(`/dist/(?:${Object.keys(ROOMS).join('|')})/|/node_modules/knex/|/dist/keys/knex`)
  t.strictSame(loaded.filter((line) => rooms.test(line)), [])
})
