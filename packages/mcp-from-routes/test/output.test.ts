import { Ajv2020 } from 'ajv/dist/2020.js'
import Fastify from 'fastify'
import t from 'tap'
import { build, call, listen } from './build.ts'

// The seed makes a failure repeatable; set FUZZ_SEED to try others, and FUZZ_RUNS for more of them.
const SEED = Number(process.env.FUZZ_SEED ?? 20_260_728)
const RUNS = Math.ceil(Number(process.env.FUZZ_RUNS ?? 800) / 4)
const VALUES = 12

type Schema = Record<string, unknown>

/** Schemas of answers, and answers that fit them more or less. */
class Answers {
  #state = SEED

  below (n: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor(this.#state / 4_294_967_296 * n)
  }

  of<T> (list: readonly T[]): T { return list[this.below(list.length)] as T }

  schema (depth = 0): Schema {
    const scalar = (): Schema => this.of<() => Schema>([
      () => ({ type: 'string' }), () => ({ type: 'string', enum: ['a', 'b'], maxLength: 3 }), () => ({ type: 'string', format: 'date-time' }),
      () => ({ type: 'integer', minimum: 3 }), () => ({ type: 'number' }), () => ({ type: 'boolean' }), () => ({ type: 'null' }), () => ({}),
      () => ({ type: 'string', const: 'a' }), () => ({ type: ['string', 'null'], const: 'a' }), () => ({ type: 'number', nullable: true }),
      () => ({ type: ['string', 'number'] }), () => ({ type: ['integer', 'null'] }), () => ({ type: 'integer', default: null }), () => ({ type: 'string', default: 'd' })
    ])()
    if (depth > 3) return scalar()
    const inner = (): Schema => this.schema(depth + 1)
    return this.of<() => Schema>([
      scalar, scalar, scalar,
      () => ({ type: 'array', items: inner(), minItems: 1 }),
      () => ({ type: 'array', items: [{ type: 'integer' }, { type: 'string' }], additionalItems: this.below(2) === 0 }),
      () => ({ anyOf: [inner(), inner()] }), () => ({ oneOf: [inner(), { type: 'null' }] }),
      () => ({ allOf: [this.part(depth, ['a', 'b', 'c']), this.part(depth, ['d', 'e'])] }),
      () => this.object(depth), () => this.object(depth), () => this.object(depth)
    ])()
  }

  object (depth: number): Schema {
    return {
      ...this.part(depth, ['a', 'b', 'c']),
      ...this.of<Schema>([{}, {}, { additionalProperties: false }, { additionalProperties: true }, { additionalProperties: { type: 'integer' } }])
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
    const branch = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined
    if (branch !== undefined) return this.value(this.of(branch))
    if (schema.allOf !== undefined) return Object.assign({}, ...(schema.allOf as Schema[]).map((part) => this.value(part, true)))
    switch ([schema.type].flat()[0]) {
      case 'string': return this.of(['a', 'b', 'long text', new Date(0)])
      case 'integer': return this.of([1, 7])
      case 'number': return this.of([1.5, 2])
      case 'boolean': return true
      case 'array': return Array.isArray(schema.items) ? [1, 'x'] : Array.from({ length: this.below(3) }, () => this.value(schema.items as Schema, true))
      case 'object': {
        const entries = Object.entries(schema.properties as Record<string, Schema>).filter(([name]) => (schema.required as string[]).includes(name) || this.below(2) === 0)
        return { ...Object.fromEntries(entries.map(([name, inner]) => [name, this.value(inner)])), ...this.below(3) === 0 && { extra: this.of([1, 2.5, true]) } }
      }
      default: return this.of([null, 5, { z: 1 }])
    }
  }
}

t.test(`whatever the serializer writes, the output schema takes (seed ${SEED})`, async (t) => {
  const answers = new Answers()
  const values = new Map<string, unknown>()
  const schemas = Array.from({ length: RUNS }, (_item, index) => ({ name: `tool_${index}`, schema: answers.object(0) }))
  const app = await build(t, (app) => {
    for (const { name, schema } of schemas) {
      app.get(`/${name}`, { schema: { operationId: name, description: 'D.', tags: ['mcp'], response: { 200: schema } } }, async () => values.get(name))
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
      if (!validate(response.json())) t.fail(`${name} wrote ${response.body}`, { schema, outputSchema, errors: validate.errors })
    }
  }
  t.ok(checked > RUNS * VALUES / 4, `answers were checked: ${checked}`)
})

t.test('a route that answers with a text, as its schema says, succeeds', async (t) => {
  const { url } = await listen(t, (app) => {
    app.get('/ping', { schema: { operationId: 'ping', description: 'D.', tags: ['mcp'], response: { 200: { type: 'string' } } } }, async () => 'pong')
    app.get('/csv', { schema: { operationId: 'csv', description: 'D.', tags: ['mcp'], response: { 200: { type: 'string' } } } }, async (_request, reply) => reply.type('text/csv').send('a,b'))
  })
  t.strictSame(await call(url, 'ping'), { content: [{ type: 'text', text: 'pong' }] })
  t.strictSame(await call(url, 'csv'), { content: [{ type: 'text', text: 'a,b' }] })
})

const answer = { type: 'object', properties: { a: { type: 'string' } } }
const route = (operationId: string): { schema: Record<string, unknown> } => ({ schema: { operationId, description: 'D.', tags: ['mcp'], response: { 200: answer } } })
const asJson = (): (data: unknown) => string => JSON.stringify

t.test('where the serializer is not Fastify\'s own there is no output schema', async (t) => {
  const app = await build(t, async (app) => {
    app.get('/own', route('own'), async () => ({}))
    app.get('/by-route', { ...route('by_route'), serializerCompiler: asJson }, async () => ({}))
    await app.register(async (scope) => {
      scope.get('/by-scope', route('by_scope'), async () => ({}))
      scope.setSerializerCompiler(asJson)
    })
    await app.register(async (scope) => {
      scope.setSerializerCompiler(() => { throw new TypeError('not for this schema') })
      scope.get('/other-kind', { ...route('other_kind'), serializerCompiler: ({ schema }) => { if (schema !== answer) throw new TypeError('not for this schema'); return asJson() } }, async () => ({}))
    })
  })
  await app.ready()
  t.strictSame(app.mcpTools.map(({ name, outputSchema }) => [name, outputSchema !== undefined]), [['by_route', false], ['by_scope', false], ['other_kind', false], ['own', true]])
})

t.test('one that writes as Fastify\'s own does, or that the host trusts, leaves the output schema', async (t) => {
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
  const trusted = await build(t, (app) => { app.get('/a', { ...route('a'), serializerCompiler: asJson }, async () => ({})) }, { trustSerializer: true })
  await trusted.ready()
  t.strictSame(trusted.mcpTools[0]?.outputSchema, answer)
})
