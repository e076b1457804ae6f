import t from 'tap'
import { runInNewContext } from 'node:vm'
import { z } from 'zod'
import { z as z3 } from 'zod/v3'
import { zodToJsonSchema } from 'zod-to-json-schema'
import type { FastifyServerOptions } from 'fastify'
import { Type } from '@sinclair/typebox'
import type { ToJsonSchema } from '../src/index.ts'
import { build, call, listen } from './build.ts'

const tool = (operationId: string, more: Record<string, unknown>): { schema: Record<string, unknown> } => ({
  schema: { operationId, description: 'D.', tags: ['mcp'], ...more }
})

t.test('a recursive Zod body starts, and calls reach the route', async (t) => {
  const Tree = z.object({
    name: z.string(),
    get kids () {
      return z.array(Tree).optional()
    }
  })
  const { url } = await listen(t, (app) => {
    app.setValidatorCompiler(({ schema }) => (data) => ({ value: (schema as unknown as typeof Tree).parse(data) }))
    app.post('/trees', tool('plant', { body: Tree }), async ({ body }) => body)
  })
  const tree = { name: 'a', kids: [{ name: 'b', kids: [{ name: 'c' }] }] }
  t.match(await call(url, 'plant', tree), { structuredContent: tree })
})

t.test('schemas of Zod 3 are converted by the host, and validate as before', async (t) => {
  const Body = z3.object({
    name: z3.string().min(2),
    price: z3.number().int(),
    tags: z3.array(z3.enum(['new', 'old'])).optional()
  })
  const Query = z3.object({ dry_run: z3.enum(['true', 'false']).optional() })
  const { app, url } = await listen(t, (app) => {
    app.setValidatorCompiler(({ schema }) => (data) => {
      const { success, data: value, error } = (schema as unknown as typeof Body).safeParse(data)
      return success ? { value } : { error }
    })
    app.post('/products', tool('add', { querystring: Query, body: Body }), async ({ body, query }) => ({ body, query }))
  }, { toJsonSchema: (schema) => schema instanceof z3.ZodType ? zodToJsonSchema(schema) : undefined })
  t.strictSame(app.mcpTools[0]?.inputSchema.properties, {
    dry_run: { type: 'string', enum: ['true', 'false'] },
    name: { type: 'string', minLength: 2 },
    price: { type: 'integer' },
    tags: { type: 'array', items: { type: 'string', enum: ['new', 'old'] } }
  })
  t.strictSame(app.mcpTools[0]?.inputSchema.required, ['name', 'price'])
  const product = { name: 'Kettle', price: 5, tags: ['new'] }
  t.match(await call(url, 'add', { ...product, dry_run: 'true' }), {
    structuredContent: { body: product, query: { dry_run: 'true' } }
  })
  t.match(await call(url, 'add', { ...product, name: 'K' }), { isError: true })
})

t.test('a schema of a library that nobody converts stops the start, and is not published as one that takes nothing', async (t) => {
  class Schema {
    readonly kind = 'object'
    parse (data: unknown) {
      return data
    }
  }
  const start = async (body: object, toJsonSchema?: ToJsonSchema) => {
    const app = await build(t, (app) => {
      app.post('/things', { ...tool('add', { body }), validatorCompiler: () => () => true }, async () => ({}))
    }, { ...toJsonSchema !== undefined && { toJsonSchema } })
    await app.ready()
  }
  const code = 'MCP_FROM_ROUTES_INVALID_SCHEMA'
  for (const body of [new Schema(), z3.object({ a: z3.string() })]) {
    await t.rejects(start(body), {
      code,
      message:
        /^POST \/things .*body: it is not JSON Schema and cannot convert itself to it, as Zod 4 can\. For Zod 3, Valibot and others give the option toJsonSchema$/
    })
  }
  await t.rejects(
    start(new Schema(), () => {
      throw new TypeError('Cannot read properties of undefined')
    }),
    { code, message: /body: toJsonSchema failed: Cannot read properties of undefined$/ }
  )
  await t.rejects(start(new Schema(), () => 'string'), { code, message: /body: it is not a JSON Schema object$/ })
  await t.resolves(start(runInNewContext('({ type: "object" })')), 'as a test runner with realms of its own makes it')
})

const body = Type.Object({ name: Type.String(), size: Type.Integer({ default: 3 }) })
const required: Array<
  [title: string, server: FastifyServerOptions, wanted: readonly string[], answer: Record<string, unknown>]
> = [
  ["what Fastify's validator fills in may be left out", {}, ['name'], { structuredContent: { name: 'a', size: 3 } }],
  ['with useDefaults off it is required', { ajv: { customOptions: { useDefaults: false } } }, ['name', 'size'], {
    isError: true
  }]
]
for (const [title, server, wanted, answer] of required) {
  t.test(title, async (t) => {
    const { app, url } = await listen(
      t,
      (app) => {
        app.post('/things', tool('create', { body }), async ({ body }) => body)
      },
      {},
      server
    )
    t.strictSame(app.mcpTools[0]?.inputSchema.required, wanted)
    t.match(await call(url, 'create', { name: 'a' }), answer)
  })
}

t.test("with a validator of the host's own it is required, unless that fills it in", async (t) => {
  const app = await build(t, (app) => {
    app.post('/lenient', { ...tool('lenient', { body }), validatorCompiler: () => () => true }, async () => ({}))
    app.post('/picky', {
      ...tool('picky', { body }),
      validatorCompiler: ({ schema }) => {
        if (schema !== body) throw new TypeError('not for this schema')
        return () => true
      }
    }, async () => ({}))
    app.post('/filling', {
      ...tool('filling', { body }),
      validatorCompiler: () => (data: object) => Object.assign(data, { size: 3, a: 'x' }) && true
    }, async () => ({}))
  })
  await app.ready()
  t.strictSame(app.mcpTools.map(({ name, inputSchema }) => [name, inputSchema.required]), [['filling', ['name']], [
    'lenient',
    ['name', 'size']
  ], ['picky', ['name', 'size']]])
})

t.test('patterns that need to go without the u flag start where the validator does without', async (t) => {
  const code = { type: 'string', pattern: '^\\_', maxLength: 3 }
  const { app, url } = await listen(
    t,
    (app) => {
      app.post(
        '/codes',
        tool('add', {
          body: { type: 'object', properties: { code }, required: ['code'] },
          response: { 200: { type: 'object', properties: { code } } }
        }),
        async ({ body }) => body
      )
    },
    {},
    { ajv: { customOptions: { unicodeRegExp: false } } }
  )
  t.strictSame(app.mcpTools[0]?.inputSchema.properties, { code: { type: 'string', maxLength: 3 } })
  t.match(await call(url, 'add', { code: '_a' }), { structuredContent: { code: '_a' } })
  t.match(await call(url, 'add', { code: 'a' }), { isError: true })
})

t.test('a pattern of an answer alone starts with the default validator', async (t) => {
  const app = await build(t, (app) => {
    app.get(
      '/codes',
      tool('get', { response: { 200: { type: 'object', properties: { code: { type: 'string', pattern: '^\\_' } } } } }),
      async () => ({})
    )
  })
  await app.ready()
  t.strictSame(app.mcpTools[0]?.outputSchema, { type: 'object', properties: { code: { type: 'string' } } })
})

t.test('a meta-schema is refused with advice that can be followed', async (t) => {
  const app = await build(t, (app) => {
    app.post(
      '/schemas',
      tool('add', {
        body: { type: 'object', properties: { schema: { $ref: 'http://json-schema.org/draft-07/schema#' } } }
      }),
      async () => ({})
    )
  })
  await t.rejects(async () => {
    await app.ready()
  }, {
    code: 'MCP_FROM_ROUTES_INVALID_SCHEMA',
    message: 'POST /schemas has a schema that cannot be published: body: $ref ' +
      '"http://json-schema.org/draft-07/schema#" is a meta-schema, which only the validator has. Describe what ' +
      'the route takes instead'
  })
})

t.test('a schema that converts itself is asked for JSON Schema 2020-12', async (t) => {
  const asked: unknown[] = []
  const body = {
    '~standard': {
      jsonSchema: {
        input: (options: unknown): object => {
          asked.push(options)
          return { type: 'object', properties: { a: { type: 'string' } } }
        }
      }
    }
  }
  const app = await build(t, (app) => {
    app.post('/things', { ...tool('create', { body }), validatorCompiler: () => () => true }, async () => ({}))
  })
  await app.ready()
  t.strictSame(asked[0], { target: 'draft-2020-12' })
  t.match(app.mcpTools[0]?.inputSchema, { properties: { a: { type: 'string' } } })
})
