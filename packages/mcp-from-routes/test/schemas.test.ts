import t from 'tap'
import { z } from 'zod'
import type { FastifyServerOptions } from 'fastify'
import { Type } from '@sinclair/typebox'
import { build, call, listen } from './build.ts'

const tool = (operationId: string, more: Record<string, unknown>): { schema: Record<string, unknown> } => ({ schema: { operationId, description: 'D.', tags: ['mcp'], ...more } })

t.test('a recursive Zod body starts, and calls reach the route', async (t) => {
  const Tree = z.object({ name: z.string(), get kids () { return z.array(Tree).optional() } })
  const { url } = await listen(t, (app) => {
    app.setValidatorCompiler(({ schema }) => (data) => ({ value: (schema as unknown as typeof Tree).parse(data) }))
    app.post('/trees', tool('plant', { body: Tree }), async ({ body }) => body)
  })
  const tree = { name: 'a', kids: [{ name: 'b', kids: [{ name: 'c' }] }] }
  t.match(await call(url, 'plant', tree), { structuredContent: tree })
})

const body = Type.Object({ name: Type.String(), size: Type.Integer({ default: 3 }) })
const required: Array<[title: string, server: FastifyServerOptions, wanted: readonly string[], answer: Record<string, unknown>]> = [
  ['what Fastify\'s validator fills in may be left out', {}, ['name'], { structuredContent: { name: 'a', size: 3 } }],
  ['with useDefaults off it is required', { ajv: { customOptions: { useDefaults: false } } }, ['name', 'size'], { isError: true }]
]
for (const [title, server, wanted, answer] of required) {
  t.test(title, async (t) => {
    const { app, url } = await listen(t, (app) => { app.post('/things', tool('create', { body }), async ({ body }) => body) }, {}, server)
    t.strictSame(app.mcpTools[0]?.inputSchema.required, wanted)
    t.match(await call(url, 'create', { name: 'a' }), answer)
  })
}

t.test('with a validator of the host\'s own it is required, unless that fills it in', async (t) => {
  const app = await build(t, (app) => {
    app.post('/lenient', { ...tool('lenient', { body }), validatorCompiler: () => () => true }, async () => ({}))
    app.post('/picky', { ...tool('picky', { body }), validatorCompiler: ({ schema }) => { if (schema !== body) throw new TypeError('not for this schema'); return () => true } }, async () => ({}))
    app.post('/filling', { ...tool('filling', { body }), validatorCompiler: () => (data: object) => Object.assign(data, { size: 3, a: 'x' }) && true }, async () => ({}))
  })
  await app.ready()
  t.strictSame(app.mcpTools.map(({ name, inputSchema }) => [name, inputSchema.required]), [['filling', ['name']], ['lenient', ['name', 'size']], ['picky', ['name', 'size']]])
})

t.test('patterns that need to go without the u flag start where the validator does without', async (t) => {
  const code = { type: 'string', pattern: '^\\_', maxLength: 3 }
  const { app, url } = await listen(t, (app) => {
    app.post('/codes', tool('add', { body: { type: 'object', properties: { code }, required: ['code'] }, response: { 200: { type: 'object', properties: { code } } } }), async ({ body }) => body)
  }, {}, { ajv: { customOptions: { unicodeRegExp: false } } })
  t.strictSame(app.mcpTools[0]?.inputSchema.properties, { code: { type: 'string', maxLength: 3 } })
  t.match(await call(url, 'add', { code: '_a' }), { structuredContent: { code: '_a' } })
  t.match(await call(url, 'add', { code: 'a' }), { isError: true })
})

t.test('a pattern of an answer alone starts with the default validator', async (t) => {
  const app = await build(t, (app) => {
    app.get('/codes', tool('get', { response: { 200: { type: 'object', properties: { code: { type: 'string', pattern: '^\\_' } } } } }), async () => ({}))
  })
  await app.ready()
  t.strictSame(app.mcpTools[0]?.outputSchema, { type: 'object', properties: { code: { type: 'string' } } })
})

t.test('a meta-schema is refused with advice that can be followed', async (t) => {
  const app = await build(t, (app) => {
    app.post('/schemas', tool('add', { body: { type: 'object', properties: { schema: { $ref: 'http://json-schema.org/draft-07/schema#' } } } }), async () => ({}))
  })
  await t.rejects(async () => { await app.ready() }, { code: 'MCP_FROM_ROUTES_INVALID_SCHEMA', message: 'POST /schemas has a schema that cannot be published: body: $ref "http://json-schema.org/draft-07/schema#" is a meta-schema, which only the validator has. Describe what the route takes instead' })
})

t.test('a schema that converts itself is asked for JSON Schema 2020-12', async (t) => {
  const asked: unknown[] = []
  const body = { '~standard': { jsonSchema: { input: (options: unknown): object => { asked.push(options); return { type: 'object', properties: { a: { type: 'string' } } } } } } }
  const app = await build(t, (app) => { app.post('/things', { ...tool('create', { body }), validatorCompiler: () => () => true }, async () => ({})) })
  await app.ready()
  t.strictSame(asked[0], { target: 'draft-2020-12' })
  t.match(app.mcpTools[0]?.inputSchema, { properties: { a: { type: 'string' } } })
})
