import type { FastifyInstance, FastifySchema } from 'fastify'
import qs from 'qs'
import t from 'tap'
import { z } from 'zod'
import { addToQuery } from '../src/call/query-string.ts'
import { PLAIN_PARSER, queryParser, queryShape } from '../src/tool/query.ts'
import { build, call, listen } from './build.ts'

const jsonParser = (text: string): Record<string, unknown> =>
  Object.fromEntries([...new URLSearchParams(text)].map(([name, value]) => {
    try {
      return [name, JSON.parse(value)]
    } catch {
      return [name, value]
    }
  }))
const lastOnly = (text: string): Record<string, unknown> => Object.fromEntries(new URLSearchParams(text))
const PARSERS = {
  plain: PLAIN_PARSER,
  qs: queryParser((text) => qs.parse(text)),
  json: queryParser(jsonParser),
  last: queryParser(lastOnly),
  deep: queryParser((text) => qs.parse(text, { depth: 100 }))
}

t.test('a parser is asked for the shapes that it reads', async (t) => {
  const shapes = (
    { repeats, brackets, nests, json }: typeof PLAIN_PARSER
  ): boolean[] => [repeats, brackets, nests, json]
  t.strictSame(shapes(PARSERS.plain), [true, false, false, false])
  t.strictSame(shapes(PARSERS.qs), [true, true, true, false])
  t.strictSame(shapes(PARSERS.json), [false, false, false, true])
  t.strictSame(shapes(PARSERS.last), [false, false, false, false])
  const lastInBrackets = queryParser((text) =>
    Object.fromEntries(
      [...new URLSearchParams(text)].map(([name, value]) =>
        name.endsWith('[]') ? [name.slice(0, -2), [value]] : [name, value]
      )
    )
  )
  t.strictSame(shapes(lastInBrackets), [false, false, false, false], 'brackets that keep one element only are none')
})

const empty = 'must not be an empty array, which a query string cannot hold. Leaving it out may mean something else'
const otherwise =
  'cannot be sent: the server would read a query string of this size or shape differently. Empty arrays, empty ' +
  'objects and null cannot be part of it'
const deep = JSON.parse('{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000))
const levels = (count: number): Record<string, unknown> =>
  JSON.parse('{"a":'.repeat(count) + '"x"' + '}'.repeat(count)) as Record<string, unknown>
const lists = (count: number): unknown => JSON.parse('['.repeat(count) + '"x"' + ']'.repeat(count))
const sent: Array<
  {
    title: string,
    parser: keyof typeof PARSERS,
    schema?: Record<string, unknown>,
    value: unknown,
    arrives?: unknown,
    refusal?: string
  }
> = [
  {
    title: 'an array repeats its name',
    parser: 'plain',
    schema: { type: 'array' },
    value: ['a', 1, true],
    arrives: ['a', '1', 'true']
  },
  {
    title: 'an array of one is a string, which the validator makes an array',
    parser: 'plain',
    schema: { type: 'array' },
    value: ['a'],
    arrives: 'a'
  },
  { title: 'an object is JSON', parser: 'plain', schema: { type: 'object' }, value: { a: 1 }, arrives: '{"a":1}' },
  { title: 'an array of one has brackets', parser: 'qs', schema: { type: 'array' }, value: ['a&b'], arrives: ['a&b'] },
  {
    title: 'as many as the parser takes',
    parser: 'qs',
    schema: { type: 'array' },
    value: Array(20).fill('a'),
    arrives: Array(20).fill('a')
  },
  { title: 'and no more', parser: 'qs', schema: { type: 'array' }, value: Array(3000).fill('a'), refusal: otherwise },
  {
    title: 'an object has brackets',
    parser: 'qs',
    schema: { type: 'object' },
    value: { price: { gt: 5 }, tags: ['a'], 'é ': 'ü' },
    arrives: { price: { gt: '5' }, tags: ['a'], 'é ': 'ü' }
  },
  {
    title: 'so have objects in arrays',
    parser: 'qs',
    schema: { type: 'array' },
    value: [{ a: 1 }, { a: [2, 3] }],
    arrives: [{ a: '1' }, { a: ['2', '3'] }]
  },
  { title: 'and an object of which nothing is said', parser: 'qs', value: { a: 1 }, arrives: { a: '1' } },
  {
    title: 'but none that should be a string',
    parser: 'qs',
    schema: { type: 'string' },
    value: { a: 1 },
    arrives: '{"a":1}'
  },
  {
    title: 'an object deeper than the parser goes',
    parser: 'qs',
    schema: { type: 'object' },
    value: { a: { b: { c: { d: { e: { f: { g: 1 } } } } } } },
    refusal: otherwise
  },
  {
    title: 'an object with an empty one in it',
    parser: 'qs',
    schema: { type: 'object' },
    value: { a: 1, b: {} },
    refusal: otherwise
  },
  { title: 'an empty object', parser: 'qs', schema: { type: 'object' }, value: {}, refusal: otherwise },
  { title: 'an object with null', parser: 'qs', schema: { type: 'object' }, value: { a: null }, refusal: otherwise },
  {
    title: 'a name with a bracket',
    parser: 'qs',
    schema: { type: 'object' },
    value: { 'a]b[c': 1 },
    refusal: otherwise
  },
  {
    title: 'a name that no object takes',
    parser: 'qs',
    schema: { type: 'object' },
    value: JSON.parse('{"__proto__":{"a":1}}'),
    refusal: otherwise
  },
  {
    title: 'an object nested too deeply',
    parser: 'qs',
    schema: { type: 'object' },
    value: deep,
    refusal: 'is nested too deeply'
  },
  {
    title: 'an object of 32 levels',
    parser: 'deep',
    schema: { type: 'object' },
    value: levels(32),
    arrives: levels(32)
  },
  {
    title: 'an object of 33 levels',
    parser: 'deep',
    schema: { type: 'object' },
    value: levels(33),
    refusal: 'is nested too deeply'
  },
  { title: 'an array of 32 levels', parser: 'deep', schema: { type: 'array' }, value: lists(32), arrives: lists(32) },
  {
    title: 'an array of 33 levels',
    parser: 'deep',
    schema: { type: 'array' },
    value: lists(33),
    refusal: 'is nested too deeply'
  },
  {
    title: 'half a surrogate pair in a name',
    parser: 'qs',
    schema: { type: 'object' },
    value: { '\ud800': 1 },
    refusal: 'is not valid Unicode'
  },
  {
    title: 'an object that the parser reads as JSON',
    parser: 'json',
    schema: { type: 'object' },
    value: { a: [1, null], b: {} },
    arrives: { a: [1, null], b: {} }
  },
  { title: 'an empty array', parser: 'qs', schema: { type: 'array' }, value: [], refusal: empty },
  {
    title: 'an object by reference',
    parser: 'qs',
    schema: { $ref: '#/$defs/a~1b' },
    value: [{ a: 1 }],
    arrives: '[{"a":1}]'
  }
]

for (const { title, parser, schema = {}, value, arrives, refusal } of sent) {
  t.test(`${parser}: ${title}`, async (t) => {
    const pairs: string[] = []
    t.equal(
      addToQuery(pairs, 'x', value, queryShape(schema, { $defs: { 'a/b': { type: 'object' } } }), PARSERS[parser]),
      refusal
    )
    if (refusal === undefined) {
      t.strictSame(JSON.parse(JSON.stringify(PARSERS[parser].parse(pairs.join('&')))), { x: arrives })
    } else t.strictSame(pairs, [])
  })
}

t.test('an array of any size is sent', async (t) => {
  const pairs: string[] = []
  t.equal(addToQuery(pairs, 'x', Array(200_000).fill(1), queryShape({ type: 'array' }, {}), PLAIN_PARSER), undefined)
  t.equal(pairs.length, 200_000)
})

/** As fastify-type-provider-zod and its like do. */
const withZod = (app: FastifyInstance): void => {
  app.setValidatorCompiler<z.ZodType>(({ schema }) => (value) => {
    const { error, data } = schema.safeParse(value)
    return error === undefined ? { value: data } : { error }
  })
}
const route = (app: FastifyInstance, querystring: unknown, more: Record<string, unknown> = {}): void => {
  app.get('/things', {
    schema: { operationId: 'list', description: 'L.', tags: ['mcp'], querystring } as FastifySchema,
    ...more
  }, async ({ query }) => ({ query }))
}
const strings = { type: 'array', items: { type: 'string' } }
const tags = (schema: unknown): unknown => ({ type: 'object', properties: { tags: schema } })
const filter = tags({ type: 'object', properties: { a: { type: 'integer' } } })
const withQs = { routerOptions: { querystringParser: (text: string) => qs.parse(text) } }
const noCoercion = { ajv: { customOptions: { coerceTypes: true as const } } }

const arriving: Array<
  {
    title: string,
    querystring: unknown,
    zod?: true,
    server?: object,
    options?: object,
    setup?: (app: FastifyInstance) => void,
    value: unknown,
    arrives?: unknown
  }
> = [
  { title: 'arrays of one where the validator coerces', querystring: tags(strings), value: ['a'] },
  {
    title: 'arrays of one where the parser reads brackets',
    querystring: tags(strings),
    server: { ...withQs, ...noCoercion },
    value: ['a']
  },
  {
    title: 'arrays of at least two',
    querystring: tags({ ...strings, minItems: 2 }),
    server: noCoercion,
    value: ['a', 'b']
  },
  {
    title: 'arrays of one, or a string',
    querystring: tags({ anyOf: [{ type: 'string' }, strings] }),
    server: noCoercion,
    value: ['a'],
    arrives: 'a'
  },
  {
    title: 'arrays of one with zod and brackets',
    zod: true,
    querystring: z.object({ tags: z.array(z.string()) }),
    server: withQs,
    value: ['a']
  },
  {
    title: 'arrays that a zod schema makes of strings',
    zod: true,
    querystring: z.object({ tags: z.preprocess((value) => [value].flat(), z.array(z.uuid())) }),
    value: ['00000000-0000-4000-8000-000000000000']
  },
  {
    title: 'numbers that a zod schema makes of strings',
    zod: true,
    querystring: z.object({ tags: z.coerce.number() }),
    value: 5
  },
  {
    title: 'booleans that a zod schema reads',
    zod: true,
    querystring: z.object({ tags: z.preprocess((value) => value === 'true', z.boolean()) }),
    value: false
  },
  { title: 'booleans that the validator makes of strings', querystring: tags({ type: 'boolean' }), value: false },
  { title: 'integers that the validator makes of strings', querystring: tags({ type: 'integer' }), value: 5 },
  {
    title: 'numbers that the parser reads',
    zod: true,
    querystring: z.object({ tags: z.number() }),
    server: { routerOptions: { querystringParser: jsonParser } },
    value: 5
  },
  { title: 'objects with brackets', querystring: filter, server: withQs, value: { a: 5 } },
  {
    title: 'objects that a zod schema reads from JSON',
    zod: true,
    querystring: z.object({
      tags: z.preprocess((value) => typeof value === 'string' ? JSON.parse(value) : value, z.object({ a: z.number() }))
    }),
    value: { a: 5 }
  },
  {
    title: 'objects that the parser reads from JSON',
    querystring: filter,
    server: { routerOptions: { querystringParser: jsonParser } },
    value: { a: 5 }
  },
  {
    title: 'objects that a hook reads from JSON, with jsonQuery',
    querystring: filter,
    options: { jsonQuery: true },
    setup: (app) =>
      app.addHook('preValidation', async ({ query }) => {
        if (typeof Object(query).tags === 'string') {
          Object.assign(Object(query), { tags: JSON.parse(Object(query).tags) })
        }
      }),
    value: { a: 5 }
  }
]

for (const { title, querystring, zod, server = {}, options = {}, setup, value, arrives = value } of arriving) {
  t.test(`these arrive: ${title}`, async (t) => {
    const { url } = await listen(
      t,
      (app) => {
        if (zod) withZod(app)
        setup?.(app)
        route(app, querystring)
      },
      options,
      server
    )
    t.strictSame((await call(url, 'list', { tags: value })).structuredContent, { query: { tags: arrives } })
  })
}

const one =
  /^GET \/things cannot be a tool: its query argument tags is an array, but an array of one element arrives as a string, which the validator rejects\. Convert a string to an array in the schema, set coerceTypes: 'array'/
const none =
  /its query argument tags contains objects, which the querystringParser of the app cannot read\. Use one that can, such as qs, or parse JSON in a preValidation hook and set the option jsonQuery$/
const inverted =
  /its query argument tags has the type boolean, but the validator reads "false" in a URL as true\. Convert it in another way, in Zod by z\.stringbool\(\)$/
const refused: Array<{ title: string, querystring: unknown, zod?: true, server?: object, message: RegExp }> = [
  { title: 'arrays of one without coercion', querystring: tags(strings), server: noCoercion, message: one },
  {
    title: 'arrays of one with zod',
    zod: true,
    querystring: z.object({ other: z.string(), tags: z.array(z.string()) }),
    message: one
  },
  {
    title: 'any array where the parser keeps one value',
    querystring: tags(strings),
    server: { routerOptions: { querystringParser: lastOnly } },
    message: /tags is an array, which the querystringParser of the app cannot read\. Use one that can, such as qs$/
  },
  { title: 'objects', querystring: filter, message: none },
  {
    title: 'objects with zod',
    zod: true,
    querystring: z.object({ tags: z.object({ a: z.string() }).optional() }),
    message: none
  },
  {
    title: 'integers without coercion',
    querystring: tags({ type: 'integer' }),
    server: { ajv: { customOptions: { coerceTypes: false as const } } },
    message:
      /its query argument tags has the type integer, but arrives as a string, which the validator rejects\. Convert it in the schema, in Zod by z\.coerce\.number\(\), or set coerceTypes in ajv\.customOptions$/
  },
  {
    title: 'numbers with zod',
    zod: true,
    querystring: z.object({ other: z.string(), tags: z.number().optional() }),
    message: /its query argument tags has the type number, but/
  },
  {
    title: 'booleans with zod',
    zod: true,
    querystring: z.object({ tags: z.boolean() }),
    message: /its query argument tags has the type boolean, but .* in Zod by z\.stringbool\(\),/
  },
  {
    title: 'booleans, of which zod makes true, whatever they are',
    zod: true,
    querystring: z.object({ id: z.uuid(), tags: z.coerce.boolean().optional() }),
    message: inverted
  },
  {
    title: 'lists of such booleans',
    zod: true,
    querystring: z.object({ tags: z.array(z.coerce.boolean()) }),
    server: withQs,
    message: inverted
  },
  {
    title: 'booleans, of which a schema that shows no properties makes true',
    zod: true,
    querystring: z.object({ tags: z.coerce.boolean() }).transform((value) => value),
    message: inverted
  },
  { title: 'objects in arrays', querystring: tags({ type: 'array', items: { type: 'object' } }), message: none }
]

for (const { title, querystring, zod, server = {}, message } of refused) {
  t.test(`refused at startup: ${title}`, async (t) => {
    const app = await build(
      t,
      (app) => {
        if (zod) withZod(app)
        route(app, querystring)
      },
      {},
      server
    )
    await t.rejects(async () => {
      await app.ready()
    }, { code: 'MCP_FROM_ROUTES_UNSUPPORTED_ROUTE', message })
  })
}

t.test('refused at startup: numbers in the path that nothing converts', async (t) => {
  const app = await build(t, (app) => {
    withZod(app)
    app.get('/things/:id', {
      schema: {
        operationId: 'get',
        description: 'G.',
        tags: ['mcp'],
        params: z.object({ id: z.number() })
      } as FastifySchema
    }, async () => 1)
  })
  await t.rejects(async () => {
    await app.ready()
  }, {
    code: 'MCP_FROM_ROUTES_UNSUPPORTED_ROUTE',
    message:
      /^GET \/things\/:id cannot be a tool: its path parameter id has the type number, but arrives as a string, which the validator rejects/
  })
})

t.test('refused at startup: booleans of which the validator of the app makes true, in the path as well', async (t) => {
  const app = await build(t, (app) => {
    app.setValidatorCompiler(() => (value) => ({
      value: Object.fromEntries(Object.entries(Object(value)).map(([name, one]) => [name, Boolean(one)]))
    }))
    const params = { type: 'object', properties: { on: { type: 'boolean' } } }
    app.get('/things/:on', {
      schema: { operationId: 'get', description: 'G.', tags: ['mcp'], params } as FastifySchema
    }, async () => 1)
  })
  await t.rejects(async () => {
    await app.ready()
  }, { message: /its path parameter on has the type boolean, but the validator reads "false" in a URL as true/ })
})

t.test('these arrive: numbers in the path, where the validator converts those alone', async (t) => {
  const { url } = await listen(t, (app) => {
    app.setValidatorCompiler(({ httpPart }) => (value) => httpPart === 'params' || typeof Object(value).a !== 'string')
    app.get('/things/:id', {
      schema: {
        operationId: 'get',
        description: 'G.',
        tags: ['mcp'],
        params: { type: 'object', properties: { id: { type: 'integer' } } }
      }
    }, async ({ params }) => ({ params }))
  })
  t.strictSame((await call(url, 'get', { id: 1 })).structuredContent, { params: { id: '1' } })
})

t.test('what nobody can ask about is not refused', async (t) => {
  const app = await build(t, (app) => {
    route(app, filter, { attachValidation: true })
    app.get('/a', {
      schema: { operationId: 'a', description: 'A.', tags: ['mcp'], querystring: tags(strings) },
      validatorCompiler: ({ schema }) => {
        if ('a' in Object(schema).properties) throw new TypeError('another kind of schema')
        return () => true
      }
    }, async () => 1)
    app.get('/b', {
      schema: {
        operationId: 'b',
        description: 'B.',
        tags: ['mcp'],
        querystring: {
          '~standard': {
            version: 1,
            vendor: 'x',
            validate: async () => ({ value: {} }),
            jsonSchema: { input: () => filter, output: () => filter }
          }
        }
      },
      validatorCompiler: () => () => true
    }, async () => 1)
    app.get('/untagged', { schema: { querystring: filter } }, async () => 1)
  })
  await app.ready()
  t.strictSame(app.mcpTools.map(({ name }) => name), ['a', 'b', 'list'])
})
