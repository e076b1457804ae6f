import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import type { Extension } from '../src/index.ts'
import { build } from './build.ts'

const packageFile = fileURLToPath(new URL('../package.json', import.meta.url))
const folder = fileURLToPath(new URL('../src/extensions', import.meta.url))
const rooms = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) =>
  name
)

const tagged = (mcp: object, tags: readonly string[] = ['mcp']) => (app: FastifyInstance): void => {
  app.get('/x', { schema: { operationId: 'x', description: 'X.', tags }, config: { mcp } }, async () => 'x')
}

t.test('each room is an import of its name, and nothing else is', async (t) => {
  const { exports } = JSON.parse(readFileSync(packageFile, 'utf8')) as { exports: Record<string, { default: string }> }
  const paths = Object.entries(exports).filter(([, { default: file }]) => file.includes('/extensions/'))
  t.strictSame(
    Object.fromEntries(paths.map(([path, { default: file }]) => [path, file])),
    Object.fromEntries(rooms.sort().map((room) => [`./${room}`, `./dist/extensions/${room}/index.js`]))
  )
})

t.test('a route that wants an extension which is not there stops the startup, with its import', async (t) => {
  for (
    const [mcp, tags, room] of [
      [{ confirm: true }, ['mcp'], 'confirm'],
      [{ task: { status: 'GET /y' } }, ['mcp'], 'tasks'],
      [{ fields: true }, ['mcp'], 'fields'],
      [{ view: 'GET /y' }, ['mcp'], 'views'],
      [{ visibility: ['app'] }, ['mcp'], 'views'],
      [{ resource: { uri: 'a://b', name: 'b' } }, ['mcp'], 'resources'],
      [{ resource: { uri: 'a://b', name: 'b' } }, [], 'resources'],
      [{}, ['mcp-resource'], 'resources']
    ] as const
  ) {
    const app = await build(t, tagged(mcp, tags))
    await t.rejects(async () => await app.ready(), {
      code: 'MCP_FROM_ROUTES_INVALID_CONFIG',
      message:
        `needs an extension. Import { ${room} } from 'mcp-from-routes/${room}' and add ${room}(…) to the option ` +
        'extensions'
    }, JSON.stringify([mcp, tags]))
  }
})

t.test('a key of config.mcp that nobody reads stops the startup', async (t) => {
  const app = await build(t, tagged({ descripton: 'A typo.' }))
  await t.rejects(async () => await app.ready(), {
    code: 'MCP_FROM_ROUTES_INVALID_CONFIG',
    message: /GET \/x has a wrong config\.mcp: descripton is unknown\. Known: title, description, /
  })
  for (
    const [annotations, message] of [
      [{ destructivehint: false }, 'annotations.destructivehint is unknown. Known: readOnlyHint, destructiveHint, '],
      [{ readOnlyHint: 'no' }, 'annotations.readOnlyHint must be true or false'],
      [null, 'annotations must be an object']
    ] as const
  ) {
    const hinted = await build(t, tagged({ annotations }))
    await t.rejects(async () => await hinted.ready(), { code: 'MCP_FROM_ROUTES_INVALID_CONFIG', message })
  }
  const untagged = await build(t, tagged({ descripton: 'Of a route that is no tool.' }, []))
  await t.resolves(async () => await untagged.ready())
})

t.test('an extension is registered once', async (t) => {
  const extension = { name: 'x', keys: [], install: () => ({}) } as unknown as Extension
  await t.rejects(build(t, () => {}, { extensions: [extension, { ...extension }] }), {
    code: 'MCP_FROM_ROUTES_INVALID_OPTION',
    message: 'mcp-from-routes: extensions has x twice'
  })
})
