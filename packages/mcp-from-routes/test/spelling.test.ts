import { Type } from '@sinclair/typebox'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { contractFromText, contractFromTools, diffContracts, textFromContract } from '../src/contract/index.ts'
import { argumentsForClients } from '../src/schema/spelling.ts'
import { build, call, listen } from './build.ts'

const text = { type: 'string' }
const spellings: ReadonlyArray<readonly [title: string, schema: Record<string, unknown>, spelled: unknown]> = [
  ['an array says what its items are', { type: 'array' }, { type: 'array', items: {} }],
  ['also beside null', { type: ['array', 'null'] }, { anyOf: [{ type: 'array', items: {} }, { type: 'null' }] }],
  ['also in an object', { type: 'object', properties: { a: { type: 'array', minItems: 1 } } }, {
    type: 'object',
    properties: { a: { type: 'array', minItems: 1, items: {} } }
  }],
  ['an open tuple', { type: 'array', prefixItems: [text] }, { type: 'array', prefixItems: [text], items: {} }],
  ['a closed tuple', { type: 'array', prefixItems: [text, text], items: false }, {
    type: 'array',
    prefixItems: [text, text],
    items: {},
    maxItems: 2
  }],
  ['one that is shorter', { type: 'array', prefixItems: [text, text], items: false, maxItems: 1 }, {
    type: 'array',
    prefixItems: [text, text],
    items: {},
    maxItems: 1
  }],
  ['an empty one', { type: 'array', items: false }, { type: 'array', items: {}, maxItems: 0 }],
  ['items that may be anything', { type: 'array', items: true }, { type: 'array', items: {} }],
  ['items that are described stay', { type: 'array', items: text }, { type: 'array', items: text }],
  ['a record', { type: 'object', patternProperties: { '^(.*)$': text } }, {
    type: 'object',
    additionalProperties: text
  }],
  ['a closed record', { type: 'object', patternProperties: { '.*': text }, additionalProperties: false }, {
    type: 'object',
    additionalProperties: text
  }],
  [
    'a closed record of some names',
    { type: 'object', patternProperties: { '^x-': text }, additionalProperties: false },
    { type: 'object', propertyNames: { pattern: '^x-' }, additionalProperties: text }
  ],
  ['an open one stays', { type: 'object', patternProperties: { '^x-': text } }, {
    type: 'object',
    patternProperties: { '^x-': text }
  }],
  ['one of two patterns stays', {
    type: 'object',
    patternProperties: { '^x-': text, '^y-': {} },
    additionalProperties: false
  }, { type: 'object', patternProperties: { '^x-': text, '^y-': {} }, additionalProperties: false }],
  ['one with a property stays', { type: 'object', properties: { a: {} }, patternProperties: { '^(.*)$': text } }, {
    type: 'object',
    properties: { a: {} },
    patternProperties: { '^(.*)$': text }
  }],
  ['one whose names have a rule stays', {
    type: 'object',
    patternProperties: { '^x-': text },
    additionalProperties: false,
    propertyNames: { maxLength: 4 }
  }, {
    type: 'object',
    patternProperties: { '^x-': text },
    additionalProperties: false,
    propertyNames: { maxLength: 4 }
  }],
  ['what looks at judged values stays', { type: 'array', unevaluatedItems: false }, {
    type: 'array',
    unevaluatedItems: false
  }]
]
const VALUES = [
  [],
  ['a'],
  [1],
  ['a', 'b'],
  ['a', 'b', 'c'],
  {},
  { a: 'x' },
  { a: 1 },
  { 'x-a': 'x' },
  { 'x-a': 1 },
  null,
  'a',
  { a: [] },
  { a: ['x'] }
]

for (const [title, schema, spelled] of spellings) {
  t.test(`for clients: ${title}`, async (t) => {
    t.strictSame(argumentsForClients(schema), spelled)
    const [before, after] = [schema, argumentsForClients(schema)].map((one) =>
      new Ajv2020({ strict: false }).compile(one)
    )
    for (const value of VALUES) t.equal(after?.(value), before?.(value), JSON.stringify(value))
  })
}

t.test('tools publish arrays with items, and records with additionalProperties, in arguments and results', async (t) => {
  const app = await build(t, (app) => {
    const body = Type.Object({
      tags: Type.Unsafe({ type: 'array' }),
      pair: Type.Unsafe({ type: 'array', items: [text, text] }),
      labels: Type.Record(Type.String(), Type.String())
    })
    app.post('/x', {
      schema: {
        operationId: 'x',
        description: 'D.',
        tags: ['mcp'],
        body,
        response: {
          200: Type.Object({ labels: Type.Record(Type.String(), Type.Integer()), list: Type.Unsafe({ type: 'array' }) })
        }
      }
    }, async () => ({ labels: {}, list: [] }))
  })
  await app.ready()
  t.match(app.mcpTools[0], {
    inputSchema: {
      properties: {
        tags: { type: 'array', items: {} },
        pair: { prefixItems: [text, text], items: {} },
        labels: { type: 'object', additionalProperties: text }
      }
    },
    outputSchema: { properties: { labels: { additionalProperties: { type: 'integer' } }, list: { type: 'array' } } }
  })
  t.equal(JSON.stringify(app.mcpTools[0]?.inputSchema).includes('patternProperties'), false)
})

t.test('the bounds that each integer has are not published, others are, and numbers beyond them are refused', async (t) => {
  const safe = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
  const app = await build(t, (app) => {
    const body = {
      type: 'object',
      properties: {
        any: { type: 'integer', ...safe },
        counts: { type: 'array', items: { type: ['integer', 'null'], ...safe, minimum: 0 } },
        one: { anyOf: [{ type: 'integer', ...safe }, text] },
        ratio: { type: 'number', ...safe },
        // A caller would read that a large number is fine.
        other: { not: { type: 'integer', ...safe } }
      }
    }
    const schema = { operationId: 'x', description: 'D.', tags: ['mcp'], body }
    app.post('/x', { schema }, async ({ body }) => body)
  })
  await app.ready()
  t.strictSame(app.mcpTools[0]?.inputSchema.properties, {
    any: { type: 'integer' },
    counts: { type: 'array', items: { anyOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }] } },
    one: { anyOf: [{ type: 'integer' }, text] },
    ratio: { ...safe, type: 'number' },
    other: { not: { ...safe, type: 'integer' } }
  })
  const answerTo = async (value: string) =>
    (await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      payload: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"any":${value}}}}`
    })).body
  t.match(await answerTo('9007199254740991'), '9007199254740991')
  t.match(await answerTo('9007199254740993'), 'any is beyond 9007199254740991')
})

t.test('a contract that was written with another spelling has not changed', async (t) => {
  const tool = (schema: object): Parameters<typeof contractFromTools>[0][number] => ({
    name: 'a',
    description: 'A.',
    inputSchema: { type: 'object', properties: schema },
    outputSchema: { type: 'object', properties: schema },
    annotations: {} as never
  })
  for (const [title, schema] of spellings) {
    const before = contractFromText(JSON.stringify({ contract: 1, tools: { a: tool({ x: schema }) } }), 'f')
    const after = contractFromText(textFromContract(contractFromTools([tool({ x: argumentsForClients(schema) })])), 'f')
    t.match(
      diffContracts(before, after).findings,
      title.includes('one that is shorter') || JSON.stringify(schema).includes('"items":false')
        ? [{ bump: 'patch' }, { bump: 'patch' }]
        : [],
      title
    )
  }
})

t.test('optional readOnly properties of a body are no arguments, and writeOnly ones no results', async (t) => {
  const app = await build(t, (app) => {
    const user = {
      type: 'object',
      properties: {
        id: { type: 'string', readOnly: true },
        name: text,
        password: { type: 'string', writeOnly: true },
        version: { type: 'integer', readOnly: true },
        address: { type: 'object', properties: { city: text, checked: { type: 'boolean', readOnly: true } } }
      },
      required: ['name', 'version', 'password'],
      additionalProperties: false
    }
    app.addSchema({ $id: 'user', ...user })
    for (const [operationId, schema] of [['plain', user], ['shared', { $ref: 'user#' }]] as const) {
      app.post(`/${operationId}`, {
        schema: { operationId, description: 'D.', tags: ['mcp'], body: schema, response: { 200: schema } }
      }, async () => ({}))
    }
    const parts = {
      allOf: [{ type: 'object', properties: { id: { type: 'string', readOnly: true }, name: text } }, {
        type: 'object',
        required: ['id']
      }]
    }
    app.post(
      '/parts',
      { schema: { operationId: 'parts', description: 'D.', tags: ['mcp'], body: parts } },
      async () => ({})
    )
  })
  await app.ready()
  const tools = new Map(
    app.mcpTools.map((
      tool
    ) => [
      tool.name,
      tool as unknown as {
        inputSchema: { properties: Record<string, { properties?: object }> },
        outputSchema: { properties: object, required: string[], additionalProperties?: boolean }
      }
    ])
  )
  for (const name of ['plain', 'shared']) {
    t.strictSame(
      Object.keys(tools.get(name)?.inputSchema.properties ?? {}),
      ['name', 'password', 'version', 'address'],
      'one that the validator requires stays'
    )
    t.strictSame(Object.keys(tools.get(name)?.inputSchema.properties.address?.properties ?? {}), ['city'])
    t.strictSame(Object.keys(tools.get(name)?.outputSchema.properties ?? {}), ['id', 'name', 'version', 'address'])
    t.strictSame(tools.get(name)?.outputSchema.required, ['name', 'version'])
    t.equal(
      tools.get(name)?.outputSchema.additionalProperties,
      undefined,
      'a response that has it all the same is no broken promise'
    )
  }
  t.strictSame(Object.keys(tools.get('parts')?.inputSchema.properties ?? {}), ['id', 'name'])
})

t.test('an argument name that some clients cannot send is refused at startup, with the configuration that renames it', async (t) => {
  const querystring = { type: 'object', properties: { 'filter[name]': text, $top: text, top: text, q: text } }
  const body = {
    type: 'object',
    properties: {
      '@type': text,
      'tags[]': { type: 'array', items: text },
      'first name': text,
      é: text,
      'a.b-c_d': text
    }
  }
  const schema = { operationId: 'x', description: 'D.', tags: ['mcp'], querystring, body }
  const app = await build(t, (app) => {
    app.post('/x', { schema }, async () => ({}))
  })
  const fix = {
    querystring: { 'filter[name]': { name: 'filter_name' }, $top: { name: 'top_2' } },
    body: {
      '@type': { name: 'type' },
      'tags[]': { name: 'tags' },
      'first name': { name: 'first_name' },
      é: { name: 'value' }
    }
  }
  await t.rejects(async () => await app.ready(), {
    code: 'MCP_FROM_ROUTES_INVALID_ARGUMENT',
    message: 'POST /x has inputs that cannot be arguments: "filter[name]", "$top", "@type", "tags[]", "first name", ' +
      '"é". An argument name has 1 to 64 letters, digits, _, . or -: clients of the Anthropic API fail on any ' +
      `other, with all their tools. Rename them, for example config.mcp.arguments: ${JSON.stringify(fix)}`
  })
  const { url } = await listen(t, (app) => {
    app.post('/x', { schema, config: { mcp: { arguments: fix } } }, async ({ query, body }) => ({ query, body }))
  })
  t.match(await call(url, 'x', { filter_name: 'a', type: 'b', 'a.b-c_d': 'c' }), {
    structuredContent: { query: { 'filter[name]': 'a' }, body: { '@type': 'b', 'a.b-c_d': 'c' } }
  })
})

t.test('a description that clients cut is named at startup', async (t) => {
  const lines: Array<{ level: number, tools?: string[], msg: string }> = []
  const app = await build(
    t,
    (app) => {
      for (const [name, length] of [['short', 1024], ['long', 1025], ['longer', 2048], ['longest', 2049]] as const) {
        app.get(
          `/${name}`,
          { schema: { operationId: name, description: 'd'.repeat(length), tags: ['mcp'] } },
          async () => ({})
        )
      }
    },
    {},
    {
      logger: {
        level: 'info',
        stream: {
          write: (line: string) => {
            lines.push(JSON.parse(line))
          }
        }
      }
    }
  )
  await app.ready()
  t.match(lines.filter(({ msg }) => msg.includes('cut the descriptions')), [{
    level: 40,
    tools: ['longest'],
    msg: /2048/
  }, { level: 30, tools: ['long', 'longer'], msg: /1024/ }])
})

t.test('what is no JSON, or nests too deeply, is named where it stands', async (t) => {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  for (const value of [5n, () => 1, Infinity, new Date(0), circle]) {
    const app = await build(t, (app) => {
      app.post('/x', {
        schema: {
          operationId: 'x',
          description: 'D.',
          tags: ['mcp'],
          body: { type: 'object', properties: { a: {}, b: {} } }
        },
        config: { mcp: { arguments: { body: { a: { value } } } } }
      }, async () => ({}))
    })
    await t.rejects(async () => await app.ready(), {
      code: 'MCP_FROM_ROUTES_INVALID_CONFIG',
      message: /arguments\.body\.a\.value must be JSON/
    })
  }
  for (const inputSchema of [null, undefined, 'x']) {
    t.throws(
      () =>
        contractFromTools([{
          name: 'a',
          description: 'A.',
          inputSchema: inputSchema as never,
          annotations: {} as never
        }]),
      { code: 'MCP_FROM_ROUTES_CONTRACT_UNREADABLE', message: /the tool a has no inputSchema/ }
    )
  }
  const deep = `{"contract":1,"tools":{"a":{"inputSchema":${'{"not":'.repeat(20_000)}{}${'}'.repeat(20_000)}}}}`
  t.throws(() => contractFromText(deep, 'f'), {
    code: 'MCP_FROM_ROUTES_CONTRACT_UNREADABLE',
    message: /nests more than 500 levels deep/
  })
})
