import { Ajv } from 'ajv'
import Fastify, { type FastifySchema, type FastifySchemaCompiler, type FastifySerializerCompiler } from 'fastify'
import t from 'tap'
import { build, call, listen } from './build.ts'
import { compilerOf, isMade, made, record } from './schema-library.ts'

const integer = made({ type: 'integer' })
const text = made({ type: 'string' })
const size = made({ type: 'integer', minimum: 2, default: 3 })
const CHECKING = compilerOf(() => ({}))
const FILLING = compilerOf(() => ({ fills: true }))
const CHANGING = compilerOf(() => ({ converts: true, cleans: true }))

function tool (operationId: string, schema: object): { schema: FastifySchema } {
  return { schema: { operationId, description: 'A.', tags: ['mcp'], ...schema } }
}

/** Leaves what others made to an Ajv with the settings of Fastify's. */
const mixed = (own: FastifySchemaCompiler<FastifySchema>): FastifySchemaCompiler<FastifySchema> => {
  const ajv = new Ajv({ coerceTypes: 'array', useDefaults: true, removeAdditional: true })
  return (route) => isMade(route.schema) ? own(route) : ajv.compile(route.schema as object)
}

t.test('a compiler that converts only what its own library made reads URLs of tools', async (t) => {
  const { app, url } = await listen(t, (app) => {
    app.setValidatorCompiler(compilerOf())
    app.get('/things/:id', tool('get', { params: record({ id: integer }) }), async ({ params }) => params)
    const querystring = record({ ids: made({ type: 'array', items: integer }), isNew: made({ type: 'boolean' }), size })
    app.get('/things', tool('list', { querystring }), async ({ query }) => query)
  })
  t.strictSame((await call(url, 'get', { id: 3 })).structuredContent, { id: 3 })
  const args = { ids: [1], isNew: true, size: 5 }
  t.strictSame((await call(url, 'list', args)).structuredContent, args)
  t.strictSame(app.mcpTools[1]?.inputSchema.required, ['ids', 'isNew', 'size'], 'it fills nothing in')
})

t.test('a value that such a compiler would make another one of never reaches the route', async (t) => {
  const reached: unknown[] = []
  const { url } = await listen(t, (app) => {
    app.setValidatorCompiler(compilerOf())
    app.delete('/things/:id', tool('remove', { params: record({ id: integer }) }), async ({ params }) => {
      reached.push(params)
      return {}
    })
    const querystring = record({
      size: integer,
      isNew: made({ type: 'boolean' }),
      ids: made({ type: 'array', items: integer })
    })
    app.get('/things', tool('list', { querystring }), async ({ query }) => {
      reached.push(query)
      return {}
    })
  })
  for (const id of [1.5, true, false, '1.5', 'true', '7n']) {
    t.match(await call(url, 'remove', { id }), { isError: true, content: [{ text: /^id must be integer, not / }] })
  }
  const query = { size: 1, isNew: true, ids: [1] }
  for (
    const [name, value] of [['size', ''], ['size', true], ['size', 2.5], ['isNew', 1], ['ids', [1.5]], ['ids', [
      true
    ]]] as const
  ) {
    const { isError, content } = await call(url, 'list', { ...query, [name]: value })
    t.equal(isError, true, `${name}: ${JSON.stringify(value)}`)
    t.match(content, [{ text: /^(?:size|isNew|ids\/0) must be (?:integer|boolean), not / }])
  }
  t.strictSame(reached, [])
  for (const id of [7, '7', '1e3']) await call(url, 'remove', { id })
  t.strictSame(reached, [{ id: 7 }, { id: 7 }, { id: 1000 }])
})

const unread: Array<[title: string, schema: Record<string, unknown>, problem: RegExp]> = [
  ['a number', made({ type: 'integer', minimum: 5 }), /has the type integer, but arrives as a string/],
  ['a number of a list', made({ type: 'integer', enum: [5, 6] }), /has the type integer, but arrives as a string/],
  ['a boolean', made({ type: 'boolean' }), /has the type boolean, but arrives as a string/],
  ['an array', made({ type: 'array', items: integer }), /is an array, but an array of one element arrives as a string/],
  ['an object', record({ b: integer }), /contains objects, which the querystringParser of the app cannot read/]
]
for (const [title, schema, message] of unread) {
  t.test(`${title} in a URL stops the start if its own schema does not convert it, whatever others do`, async (t) => {
    const app = await build(t, (app) => {
      app.setValidatorCompiler(mixed(CHECKING))
      app.get('/things', tool('list', { querystring: record({ a: schema }) }), async () => 1)
    })
    await t.rejects(async () => {
      await app.ready()
    }, { code: 'MCP_FROM_ROUTES_UNSUPPORTED_ROUTE', message })
  })
}

t.test('a compiler that fills in defaults of its own library alone: they may be left out', async (t) => {
  const { app, url } = await listen(t, (app) => {
    const body = record({ size })
    app.post('/filled', { ...tool('filled', { body }), validatorCompiler: FILLING }, async ({ body }) => body)
    app.post('/checked', { ...tool('checked', { body }), validatorCompiler: mixed(CHECKING) }, async ({ body }) => body)
  })
  const required = app.mcpTools.map(({ name, inputSchema }) => [name, inputSchema.required])
  t.strictSame(required, [['checked', ['size']], ['filled', undefined]])
  t.strictSame((await call(url, 'filled')).structuredContent, { size: 3 })
})

t.test('a compiler that converts or drops in bodies of its own library alone changes no argument', async (t) => {
  const closed = { additionalProperties: false }
  const body = record({ name: text, of: record({ count: integer }, closed) }, closed)
  const { url } = await listen(t, (app) => {
    app.post('/changed', { ...tool('changed', { body }), validatorCompiler: CHANGING }, async ({ body }) => body)
    app.post('/checked', { ...tool('checked', { body }), validatorCompiler: mixed(CHECKING) }, async ({ body }) => body)
  })
  const converted = await call(url, 'changed', { name: 1, of: { count: 1 } })
  t.match(converted, { isError: true, content: [{ text: /name must be/ }] })
  const dropped = await call(url, 'changed', { name: 'a', of: { count: 1, other: 2 } })
  t.match(dropped, { isError: true, content: [{ text: /other/ }] })
  const checked = await call(url, 'checked', { name: 1, of: { count: 1 } })
  t.match(checked, { isError: true, content: [{ text: /^400 Bad Request: / }] }, 'the route says so itself')
})

t.test('a serializer promises what it makes of its own library, not of others', async (t) => {
  const response = { 200: record({ name: text }) }
  const plain = Fastify()
  plain.get('/', { schema: { response } }, async () => ({}))
  await plain.ready()
  const write = plain.serializerCompiler as FastifySerializerCompiler<FastifySchema>
  const app = await build(t, (app) => {
    const only: typeof write = (route) => {
      if (!isMade(route.schema)) throw new TypeError('not made here')
      return write(route)
    }
    const other: typeof write = (route) => isMade(route.schema) ? JSON.stringify : write(route)
    app.get('/only', { ...tool('only', { response }), serializerCompiler: only }, async () => ({}))
    app.get('/other', { ...tool('other', { response }), serializerCompiler: other }, async () => ({}))
  })
  await app.ready()
  const promised = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  const outputs = app.mcpTools.map(({ name, outputSchema }) => [name, outputSchema])
  t.strictSame(outputs, [['only', promised], ['other', undefined]])
})
