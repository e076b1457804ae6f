import { Ajv2020 } from 'ajv/dist/2020.js'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import t from 'tap'
import { build, call, CLIENTS, connect, listen } from './build.ts'

// The seed makes a failure repeatable; set FUZZ_SEED to try others, and FUZZ_RUNS for more of them, as .ci/run does.
const SEED = Number(process.env.FUZZ_SEED ?? 20_260_728)
const RUNS = Math.ceil(Number(process.env.FUZZ_RUNS ?? 25) / 4)
const VALUES = 12

type Schema = Record<string, unknown>

/** Schemas that those of answers refer to, often several times. */
const SHARED: Record<string, Schema> = {
  Line: {
    type: 'object',
    properties: { text: { type: 'string', description: 'as it was written' }, number: { type: 'integer', default: 1 } },
    required: ['text'],
    additionalProperties: false
  },
  Page: {
    type: 'object',
    nullable: true,
    properties: { first: { $ref: 'Line#' }, lines: { type: 'array', items: { $ref: 'Line#' } } },
    required: ['lines'],
    additionalProperties: { type: 'integer' }
  },
  Node: {
    type: 'object',
    properties: { id: { type: 'integer' }, next: { $ref: 'Node#' }, line: { $ref: 'Line#' } },
    required: ['id']
  },
  Either: { anyOf: [{ $ref: 'Line#' }, { type: 'integer' }] },
  Both: { allOf: [{ $ref: 'Node#' }, { type: 'object', properties: { size: { type: 'number' } }, required: ['size'] }] }
}

/** Schemas of answers, and answers that fit them more or less. */
class Answers {
  #state = SEED

  below (n: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor(this.#state / 4_294_967_296 * n)
  }

  of<T> (list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  schema (depth = 0): Schema {
    const scalar = (): Schema =>
      this.of<() => Schema>([
        () => ({ type: 'string' }),
        () => ({ type: 'string', enum: ['a', 'b'], maxLength: 3 }),
        () => ({ type: 'string', format: 'date-time' }),
        () => ({ type: 'integer', minimum: 3 }),
        () => ({ type: 'number' }),
        () => ({ type: 'boolean' }),
        () => ({ type: 'null' }),
        () => ({}),
        () => ({ type: 'string', const: 'a' }),
        () => ({ type: ['string', 'null'], const: 'a' }),
        () => ({ type: 'number', nullable: true }),
        () => ({ type: ['string', 'number'] }),
        () => ({ type: ['integer', 'null'] }),
        () => ({ type: 'integer', default: null }),
        () => ({ const: 'a', default: null }),
        () => ({ anyOf: [{ type: 'integer' }, { type: 'boolean' }], default: null }),
        () => ({ type: 'string', default: 'd' })
      ])()
    if (depth > 3) return scalar()
    const inner = (): Schema => this.schema(depth + 1)
    return this.of<() => Schema>([
      scalar,
      scalar,
      scalar,
      () => ({ type: 'array', items: inner(), minItems: 1 }),
      () => ({ type: 'array', items: [{ type: 'integer' }, { type: 'string' }], additionalItems: this.below(2) === 0 }),
      () => ({ anyOf: [inner(), inner()] }),
      () => ({ oneOf: [inner(), { type: 'null' }] }),
      () => this.reference(),
      () => this.reference(),
      () => ({ ...this.reference(), nullable: true }),
      () => ({ type: 'array', items: this.reference() }),
      () => ({ allOf: [this.part(depth, ['a', 'b', 'c']), this.part(depth, ['d', 'e'])] }),
      () => this.object(depth),
      () => this.object(depth),
      () => this.object(depth)
    ])()
  }

  reference (): Schema {
    return { $ref: `${this.of(Object.keys(SHARED))}#` }
  }

  object (depth: number): Schema {
    return {
      ...this.part(depth, ['a', 'b', 'c']),
      ...this.of<Schema>([{}, {}, { additionalProperties: false }, { additionalProperties: true }, {
        additionalProperties: { type: 'integer' }
      }])
    }
  }

  part (depth: number, of: readonly string[]): Schema {
    const names = of.filter(() => this.below(2) === 0)
    return {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, this.schema(depth + 1)])),
      required: names.filter(() => this.below(2) === 0),
      ...this.below(4) === 0 && { nullable: true }
    }
  }

  /** Mostly what the schema describes, and now and then what a careless handler gives. */
  value (schema: Schema, whole = false): unknown {
    if (!whole && this.below(5) === 0) return this.of([null, 1.5, 'x', true, [], {}, new Date(0), -3])
    if (typeof schema.$ref === 'string') return this.value(SHARED[schema.$ref.slice(0, -1)] ?? {}, whole)
    const branch = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined
    if (branch !== undefined) return this.value(this.of(branch))
    if (schema.allOf !== undefined) {
      return Object.assign(
        {},
        ...(schema.allOf as Schema[]).map((part) => this.value(part, true))
      )
    }
    switch ([schema.type].flat()[0]) {
      case 'string':
        return this.of(['a', 'b', 'long text', new Date(0)])
      case 'integer':
        return this.of([1, 7])
      case 'number':
        return this.of([1.5, 2])
      case 'boolean':
        return true
      case 'array':
        return Array.isArray(schema.items)
          ? [1, 'x']
          : Array.from({ length: this.below(3) }, () => this.value(schema.items as Schema, true))
      case 'object': {
        const entries = Object.entries(schema.properties as Record<string, Schema>).filter(([name]) =>
          (schema.required as string[]).includes(name) || this.below(2) === 0
        )
        return {
          ...Object.fromEntries(entries.map(([name, inner]) => [name, this.value(inner)])),
          ...this.below(3) === 0 && { extra: this.of([1, 2.5, true]) }
        }
      }
      default:
        return this.of([null, 5, { z: 1 }])
    }
  }
}

t.test(`whatever the serializer writes, the output schema takes (seed ${SEED})`, async (t) => {
  const answers = new Answers()
  const values = new Map<string, unknown>()
  const schemas = Array.from({ length: RUNS }, (_item, index) => ({ name: `tool_${index}`, schema: answers.object(0) }))
  const app = await build(t, (app) => {
    for (const [$id, schema] of Object.entries(SHARED)) app.addSchema({ $id, ...schema })
    for (const { name, schema } of schemas) {
      app.get(`/${name}`, {
        schema: { operationId: name, description: 'D.', tags: ['mcp'], response: { 200: schema } }
      }, async () => values.get(name))
    }
  })
  await app.ready()
  const ajv = new Ajv2020({ strict: false })
  let checked = 0
  for (const { name, schema } of schemas) {
    const { outputSchema } = app.mcpTools.find((tool) => tool.name === name) ?? {}
    const validate = ajv.compile(outputSchema ?? false)
    for (let i = 0; i < VALUES; i++) {
      values.set(name, answers.value(schema, true))
      const response = await app.inject(`/${name}`)
      // A handler whose answer cannot be written fails, and its schema promises nothing.
      if (response.statusCode !== 200) continue
      checked += 1
      const written = response.json<unknown>()
      // No property of the generated schemas has that name.
      const isWrapped = Object.hasOwn(Object(outputSchema?.properties), 'result')
      if (!validate(isWrapped ? { result: written } : written)) {
        t.fail(`${name} wrote ${response.body}`, { schema, outputSchema, errors: validate.errors })
      }
    }
  }
  t.ok(checked > RUNS * VALUES / 4, `answers were checked: ${checked}`)
})

t.test('a route that answers with a text, as its schema says, succeeds', async (t) => {
  const { url } = await listen(t, (app) => {
    app.get('/ping', {
      schema: { operationId: 'ping', description: 'D.', tags: ['mcp'], response: { 200: { type: 'string' } } }
    }, async () => 'pong')
    app.get('/as-json', {
      schema: {
        operationId: 'as_json',
        description: 'D.',
        tags: ['mcp'],
        response: { 200: { content: { 'application/json': { schema: { type: 'string' } } } } }
      }
    }, async () => 'pong')
    app.get('/csv', {
      schema: { operationId: 'csv', description: 'D.', tags: ['mcp'], response: { 200: { type: 'string' } } }
    }, async (_request, reply) => reply.type('text/csv').send('a,b'))
  })
  t.strictSame(await call(url, 'ping'), { content: [{ type: 'text', text: 'pong' }] })
  t.strictSame(await call(url, 'csv'), { content: [{ type: 'text', text: 'a,b' }] })
  t.strictSame(await call(url, 'as_json'), { content: [{ type: 'text', text: 'pong' }] })
})

t.test('clients take records of one kind in each other, where one is missing', async (t) => {
  const { url } = await listen(t, (app) => {
    app.addSchema({
      $id: 'node',
      type: 'object',
      properties: { id: { type: 'integer' }, parent: { $ref: 'node#' }, next: { $ref: 'node#', default: null } },
      required: ['id']
    })
    const schema = {
      operationId: 'tree',
      description: 'D.',
      tags: ['mcp'],
      response: { 200: { type: 'object', properties: { root: { $ref: 'node#' } }, required: ['root'] } }
    }
    app.get('/tree', { schema }, async () => ({ root: { id: 1, parent: null } }))
  })
  for (const which of CLIENTS) {
    const client = await connect(t, which, url)
    await client.listTools()
    t.match(
      await client.callTool({ name: 'tree' }),
      { structuredContent: { root: { id: 1, parent: {}, next: null } } },
      which
    )
  }
})

t.test('JSON that no schema wrote is given as text, and said to be a success', async (t) => {
  const schema = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }
  const S = (operationId: string, response: Record<string, unknown>): { schema: Record<string, unknown> } => ({
    schema: { operationId, description: 'D.', tags: ['mcp'], response }
  })
  const { url, app } = await listen(t, (app) => {
    app.put('/queue', S('queue', { 200: schema }), async (_request, reply) => reply.code(202).send({ queued: true }))
    app.put(
      '/default',
      S('default', { 200: schema, default: { type: 'object', properties: { error: { type: 'string' } } } }),
      async (_request, reply) => reply.code(202).send({ error: 'x' })
    )
    app.get(
      '/untyped',
      S('untyped', { 200: { content: { 'application/vnd.x+json': { schema } } } }),
      async () => ({ id: '1' })
    )
    app.get(
      '/typed',
      S('typed', { 200: { content: { 'application/vnd.x+json': { schema } } } }),
      async (_request, reply) => reply.type('application/vnd.x+json').send({ id: '1' })
    )
    app.get(
      '/charset',
      S('charset', { 200: { content: { 'application/json; charset=utf-8': { schema } } } }),
      async () => ({ id: '1' })
    )
    app.get('/upper', S('upper', { 200: { content: { 'Application/JSON': { schema } } } }), async () => ({ id: '1' }))
  })
  const undeclared = (said: string, text: string): unknown => ({
    content: [{
      type: 'text',
      text:
        `The call succeeded, so do not repeat it. The route answered ${said}, for which it has no 2xx response schema.`
    }, { type: 'text', text }],
    isError: true
  })
  t.strictSame(await call(url, 'queue'), undeclared('202 Accepted with application/json', '{"queued":true}'))
  t.strictSame(await call(url, 'default'), undeclared('202 Accepted with application/json', '{"error":"x"}'))
  t.strictSame(await call(url, 'untyped'), undeclared('200 OK with application/json', '{"id":"1"}'))
  t.match(await call(url, 'typed'), { structuredContent: { id: 1 } })
  t.match(await call(url, 'charset'), { structuredContent: { id: '1' } })
  t.match(await call(url, 'upper'), { structuredContent: { id: '1' } })
  t.strictSame(app.mcpTools.filter(({ outputSchema }) => outputSchema === undefined).map(({ name }) => name), [
    'charset',
    'upper'
  ])
})

t.test('clients get what a hook made of a response, although no schema promised it', async (t) => {
  const item = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }
  const warnings: Array<{ tool?: string, statusCode?: number }> = []
  const { url } = await listen(
    t,
    (app) => {
      app.addHook(
        'onSend',
        async ({ url }, _reply, payload) => url.startsWith('/items') ? `{"data":${String(payload)}}` : payload
      )
      app.get('/items', {
        schema: {
          operationId: 'list',
          description: 'D.',
          tags: ['mcp'],
          response: { 200: { type: 'array', items: item } }
        }
      }, async () => [{ id: 1 }])
      app.put(
        '/items',
        { schema: { operationId: 'put', description: 'D.', tags: ['mcp'], response: { 200: item } } },
        async () => ({ id: 1 })
      )
    },
    {},
    {
      logger: {
        level: 'warn',
        stream: {
          write: (line: string) => {
            warnings.push(JSON.parse(line))
          }
        }
      }
    }
  )
  const said = {
    type: 'text',
    text: 'The call succeeded, so do not repeat it. The route answered 200 OK with application/json that does not ' +
      'fit its response schema.'
  }
  for (const which of CLIENTS) {
    const client = await connect(t, which, url)
    await client.listTools()
    t.match(await client.callTool({ name: 'list' }), {
      content: [said, { text: '{"data":[{"id":1}]}' }],
      isError: true
    }, which)
    t.match(
      await client.callTool({ name: 'put' }),
      { content: [said, { text: '{"data":{"id":1}}' }], isError: true },
      which
    )
  }
  const told = warnings.flatMap(({ tool, statusCode }) => tool === undefined ? [] : { tool, statusCode })
  t.strictSame(
    told,
    [{ tool: 'list', statusCode: 200 }, { tool: 'put', statusCode: 200 }],
    'the host is told once of each'
  )
})

const answer = { type: 'object', properties: { a: { type: 'string' } } }
const route = (operationId: string): { schema: Record<string, unknown> } => ({
  schema: { operationId, description: 'D.', tags: ['mcp'], response: { 200: answer } }
})
const asJson = (): (data: unknown) => string => JSON.stringify

t.test("where the serializer is not Fastify's own there is no output schema", async (t) => {
  const app = await build(t, async (app) => {
    app.get('/own', route('own'), async () => ({}))
    app.get('/by-route', { ...route('by_route'), serializerCompiler: asJson }, async () => ({}))
    await app.register(async (scope) => {
      scope.get('/by-scope', route('by_scope'), async () => ({}))
      scope.setSerializerCompiler(asJson)
    })
    await app.register(async (scope) => {
      scope.setSerializerCompiler(() => {
        throw new TypeError('not for this schema')
      })
      scope.get('/other-kind', {
        ...route('other_kind'),
        serializerCompiler: ({ schema }) => {
          if (schema !== answer) throw new TypeError('not for this schema')
          return asJson()
        }
      }, async () => ({}))
    })
  })
  await app.ready()
  t.strictSame(app.mcpTools.map(({ name, outputSchema }) => [name, outputSchema !== undefined]), [
    ['by_route', false],
    ['by_scope', false],
    ['other_kind', false],
    ['own', true]
  ])
})

t.test('nor is there where the host writes the replies, or long lists, unless it is trusted', async (t) => {
  const wrapped = (data: unknown): string => JSON.stringify({ data })
  async function routes (app: FastifyInstance): Promise<void> {
    app.get('/own', route('own'), async () => ({}))
    await app.register(async (scope) => {
      scope.get('/child', route('child'), async () => ({}))
      scope.setReplySerializer(wrapped)
      await scope.register(async (inner) => {
        inner.get('/grandchild', route('grandchild'), async () => ({}))
      })
    })
  }
  async function whole (app: FastifyInstance): Promise<void> {
    const registered = routes(app)
    // After the route, and early enough to be used for it.
    app.setReplySerializer(wrapped)
    await registered
  }
  const published = async (app: FastifyInstance): Promise<unknown> => {
    await app.ready()
    return app.mcpTools.map(({ name, outputSchema }) => [name, outputSchema !== undefined])
  }
  t.strictSame(await published(await build(t, routes)), [['child', false], ['grandchild', false], ['own', true]])
  t.strictSame(await published(await build(t, whole)), [['child', false], ['grandchild', false], ['own', false]])
  t.strictSame(await published(await build(t, whole, { trustSerializer: true })), [['child', true], [
    'grandchild',
    true
  ], ['own', true]])
  t.strictSame(
    await published(
      await build(t, routes, {}, { serializerOpts: { largeArrayMechanism: 'json-stringify' } } as FastifyServerOptions)
    ),
    [['child', false], ['grandchild', false], ['own', false]]
  )
  const { url } = await listen(t, whole)
  t.match(await call(url, 'own'), { structuredContent: { data: {} } })
})

t.test("one that writes as Fastify's own does, or that the host trusts, leaves the output schema", async (t) => {
  const compiled = await build(t, async (app) => {
    const plain = Fastify()
    t.teardown(() => plain.close())
    plain.get('/', { schema: { response: { 200: answer } } }, async () => ({}))
    await plain.ready()
    const own = plain.serializerCompiler
    if (own === undefined) throw new TypeError('Fastify has no serializer')
    app.setSerializerCompiler((given) => {
      const serialize = own(given)
      return (data) => serialize(data)
    })
    app.get('/a', route('a'), async () => ({}))
  })
  await compiled.ready()
  t.strictSame(compiled.mcpTools[0]?.outputSchema, answer)
  const trusted = await build(t, (app) => {
    app.get('/a', { ...route('a'), serializerCompiler: asJson }, async () => ({}))
  }, { trustSerializer: true })
  await trusted.ready()
  t.strictSame(trusted.mcpTools[0]?.outputSchema, answer)
})
