import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { contractFromTools, diffContracts } from '../src/contract/index.ts'
import type { ArgumentOverrides } from '../src/index.ts'
import things from '../../../examples/quickstart/arguments.ts'
import { build, call, listen } from './build.ts'

const params = { type: 'object', properties: { id: { type: 'string', pattern: '^\\d+$' } } }
const querystring = {
  type: 'object',
  properties: { version: { type: 'integer' }, dry: { type: 'boolean' } },
  required: ['version']
}
const body = {
  type: 'object',
  properties: {
    id: { type: 'string', maxLength: 3 },
    name: { type: 'string', minLength: 1 },
    owner: { type: 'string' },
    kind: { type: 'string', enum: ['a', 'b'] }
  },
  required: ['id', 'name'],
  dependencies: { owner: ['kind'], kind: ['owner'] },
  additionalProperties: false
}
const headers = { type: 'object', properties: { 'X-Tenant': { type: 'string' } }, required: ['X-Tenant'] }

function put (given: ArgumentOverrides | undefined): (app: FastifyInstance) => void {
  return (app) => {
    app.put('/things/:id', {
      schema: { operationId: 'put_thing', description: 'P.', tags: ['mcp'], params, querystring, body, headers },
      config: { mcp: { ...given && { arguments: given } } }
    }, async ({ params, query, body, headers }) => ({ params, query, body, tenant: headers['x-tenant'] }))
  }
}

const overrides: ArgumentOverrides = {
  params: { id: { name: 'thing_id' } },
  querystring: { version: { value: 2 } },
  body: { name: { name: 'title' }, owner: { name: 'owner_id' } },
  headers: { 'X-Tenant': { value: 'acme' } }
}

t.test('an input is described for models, where the route describes it for URLs', async (t) => {
  const lines: Array<{ arguments?: string[] }> = []
  const properties = Object.fromEntries(
    [['sort', 'sort=price:DESC'], ['page', 'As in ?page=2&limit=9'], ['q', 'Words. An = sign is one too']].map((
      [name, description]
    ) => [name, { type: 'string', description }])
  )
  const app = await build(
    t,
    (app) => {
      const route = (name: string, given?: ArgumentOverrides): void => {
        app.get(`/${name}`, {
          schema: { operationId: name, description: 'L.', tags: ['mcp'], querystring: { type: 'object', properties } },
          config: { mcp: { ...given && { arguments: given } } }
        }, async () => ({}))
      }
      route('plain')
      route('told', {
        querystring: {
          sort: { description: 'A field, with - before it to reverse' },
          page: { name: 'nth', description: 'From 1' }
        }
      })
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
  t.strictSame(app.mcpTools[1]?.inputSchema.properties, {
    sort: { type: 'string', description: 'A field, with - before it to reverse' },
    nth: { type: 'string', description: 'From 1' },
    q: properties.q
  })
  t.strictSame(lines.flatMap((line) => line.arguments ?? []), ['plain: sort', 'plain: page'])
  const clash = await build(
    t,
    put({ body: { id: { description: 'The same id' } }, headers: { 'X-Tenant': { value: 'acme' } } })
  )
  await t.rejects(
    async () => await clash.ready(),
    { code: 'MCP_FROM_ROUTES_NAME_CLASH' },
    'two inputs of one name are not one for being described'
  )
})

t.test('an input has another name or a fixed value, and a required header a value', async (t) => {
  const { app, url } = await listen(t, put(overrides))
  t.strictSame(app.mcpTools[0]?.inputSchema, {
    type: 'object',
    properties: {
      thing_id: { type: 'string', pattern: '^\\d+$', minLength: 1 },
      dry: { type: 'boolean' },
      id: { type: 'string', maxLength: 3 },
      title: { type: 'string', minLength: 1 },
      owner_id: { type: 'string' },
      kind: { type: 'string', enum: ['a', 'b'] }
    },
    required: ['thing_id', 'id', 'title'],
    dependentRequired: { owner_id: ['kind'], kind: ['owner_id'] },
    additionalProperties: false
  })
  const { structuredContent } = await call(url, 'put_thing', {
    thing_id: '7',
    id: '8',
    title: 'n',
    owner_id: 'o',
    kind: 'a',
    dry: true
  }, { 'x-tenant': 'other' })
  t.strictSame(structuredContent, {
    params: { id: '7' },
    query: { version: 2, dry: true },
    body: { id: '8', name: 'n', owner: 'o', kind: 'a' },
    tenant: 'acme'
  })
  t.match(await call(url, 'put_thing', { thing_id: '7', id: '8', title: 'n', version: 3 }), {
    isError: true,
    content: [{ text: 'Unknown argument "version". This tool takes thing_id, dry, id, title, owner_id, kind' }]
  })
})

t.test('what is wrong is told in the names of the arguments', async (t) => {
  const { url } = await listen(t, put(overrides))
  const told = async (args: Record<string, unknown>): Promise<unknown> =>
    ((await call(url, 'put_thing', args)).content as Array<{ text: string }>)[0]?.text
  t.equal(
    await told({ thing_id: 'x', id: '8', title: 'n' }),
    '400 Bad Request: thing_id must match pattern "^\\d+$" (FST_ERR_VALIDATION)'
  )
  t.equal(await told({ id: '8', title: 'n' }), 'thing_id is missing')
  t.equal(
    await told({ thing_id: '7', id: '8' }),
    "400 Bad Request: arguments must have required property 'title' (FST_ERR_VALIDATION)"
  )
  t.equal(
    await told({ thing_id: '7', id: '8', title: '' }),
    '400 Bad Request: title must NOT have fewer than 1 characters (FST_ERR_VALIDATION)'
  )
  t.equal(
    await told({ thing_id: '7', id: '8', title: 'n', owner_id: 'o' }),
    '400 Bad Request: arguments must have property kind when property owner_id is present (FST_ERR_VALIDATION)'
  )
  t.equal(
    await told({ thing_id: '7', id: '8', title: 'n', owner_id: 'o', kind: 'c' }),
    '400 Bad Request: kind must be one of "a", "b" (FST_ERR_VALIDATION)'
  )
})

t.test('two inputs of one name are one argument', async (t) => {
  const { app, url } = await listen(t, put({ ...overrides, params: {}, body: { id: { name: 'id' } } }))
  const { properties, required } = app.mcpTools[0]?.inputSchema as {
    properties: Record<string, unknown>,
    required: unknown
  }
  t.strictSame(properties.id, {
    allOf: [{ type: 'string', pattern: '^\\d+$' }, { type: 'string', maxLength: 3 }],
    minLength: 1
  })
  t.strictSame(required, ['id', 'name'])
  t.match((await call(url, 'put_thing', { id: '7', name: 'n' })).structuredContent, {
    params: { id: '7' },
    body: { id: '7', name: 'n' }
  })
})

t.test('a fixed value counts as given', async (t) => {
  const { app, url } = await listen(t, (app) => {
    const body = {
      type: 'object',
      properties: { a: { type: 'object' }, b: {}, c: {} },
      minProperties: 2,
      required: ['a'],
      dependencies: { a: ['b'] }
    }
    app.post('/x/:id', {
      schema: { operationId: 'x', description: 'X.', tags: ['mcp'], body },
      config: { mcp: { arguments: { params: { id: { value: 5 } }, body: { a: { value: { deep: [null] } } } } } }
    }, async ({ params, body }) => ({ params, body }))
    app.post('/y', {
      schema: {
        operationId: 'y',
        description: 'Y.',
        tags: ['mcp'],
        body: { type: 'array', items: { type: 'integer' } }
      },
      config: { mcp: { arguments: { body: { body: { name: 'numbers' } } } } }
    }, async ({ body }) => ({ body }))
  })
  t.strictSame(app.mcpTools[0]?.inputSchema, {
    type: 'object',
    properties: { b: {}, c: {} },
    required: ['b'],
    additionalProperties: false
  })
  t.match((await call(url, 'x', { b: 1 })).structuredContent, {
    params: { id: '5' },
    body: { a: { deep: [null] }, b: 1 }
  })
  t.match((await call(url, 'y', { numbers: [1] })).structuredContent, { body: [1] })
  t.match(await call(url, 'y', { numbers: ['x'] }), { content: [{ text: 'numbers/0 must be integer, not string' }] })
})

t.test('several inputs of one part may have fixed values, and names that no argument may have', async (t) => {
  const { url } = await listen(t, (app) => {
    const body = {
      type: 'object',
      properties: { 'first name': { type: 'string' }, 'last name': { type: 'string' }, age: { type: 'integer' } }
    }
    app.post('/x', {
      schema: { operationId: 'x', description: 'X.', tags: ['mcp'], body },
      config: { mcp: { arguments: { body: { 'first name': { value: 'A' }, 'last name': { value: 'B' } } } } }
    }, async ({ body }) => body)
  })
  t.strictSame((await call(url, 'x', { age: 3 })).structuredContent, { 'first name': 'A', 'last name': 'B', age: 3 })
})

t.test('inputs may have the names of what every object has', async (t) => {
  const names = ['constructor', 'toString', 'hasOwnProperty']
  const { app, url } = await listen(t, (app) => {
    const body = {
      type: 'object',
      allOf: names.map((name) => ({ type: 'object', properties: { [name]: { type: 'integer' } } }))
    }
    const properties = { valueOf: { type: 'string' } }
    app.post('/x/:isPrototypeOf', {
      schema: { operationId: 'x', description: 'X.', tags: ['mcp'], querystring: { type: 'object', properties }, body }
    }, async ({ params, query, body }) => ({ params, query, body }))
    app.get(
      '/y/:constructor',
      { schema: { operationId: 'y', description: 'Y.', tags: ['mcp'] } },
      async ({ params }) => params
    )
  })
  t.strictSame(app.mcpTools.map(({ inputSchema }) => Object.keys(Object(inputSchema.properties))), [[
    'isPrototypeOf',
    'valueOf',
    ...names
  ], ['constructor']])
  const body = { constructor: 1, toString: 2, hasOwnProperty: 3 }
  t.strictSame((await call(url, 'x', { isPrototypeOf: 'a', valueOf: 'b', ...body })).structuredContent, {
    params: { isPrototypeOf: 'a' },
    query: { valueOf: 'b' },
    body
  })
  t.strictSame((await call(url, 'y', { constructor: 'a' })).structuredContent, { constructor: 'a' })
})

t.test('the contract notices another name and a value that is fixed', async (t) => {
  const contractOf = async (given: ArgumentOverrides): Promise<ReturnType<typeof contractFromTools>> => {
    const app = await build(t, put(given))
    await app.ready()
    return contractFromTools(app.mcpTools)
  }
  const [before, after] = [
    await contractOf({ ...overrides, body: {}, querystring: {} }),
    await contractOf({ ...overrides, body: { name: { name: 'title' } } })
  ]
  const found = diffContracts(before, after).findings.map(({ bump, path }) => [bump, path])
  t.strictSame(found.filter(([bump]) => bump === 'major').map(([, path]) => path).sort(), [
    'input.name',
    'input.title',
    'input.version'
  ])
})

for (
  const [title, given, problem] of [
    [
      'a part that there is not',
      { query: {} },
      '.query is not a part of the request. Use params, querystring, body, headers'
    ],
    ['an input that there is not', { body: { nothing: { name: 'x' } } }, '.body.nothing is not an input of the route'],
    [
      'a name and a value',
      { body: { id: { name: 'x', value: 1 } } },
      '.body.id must have a name, a description, a header or several of them, or else a value'
    ],
    [
      'a description and a value',
      { body: { id: { description: 'x', value: 1 } } },
      '.body.id must have a name, a description, a header or several of them, or else a value'
    ],
    [
      'neither',
      { body: { id: {} } },
      '.body.id must have a name, a description, a header or several of them, or else a value'
    ],
    [
      'no description',
      { body: { id: { name: 'x', description: '' } } },
      '.body.id.description must be a non-empty string'
    ],
    [
      'a name that clients refuse',
      { body: { id: { name: 'a b' } } },
      '.body.id.name must be 1 to 64 letters, digits, _, . or -'
    ],
    ['two inputs of one part with one name', {
      params: { id: { name: 'i' } },
      body: { id: { name: 'x' }, name: { name: 'x' } }
    }, '.body gives two inputs the same name'],
    [
      'a query value that is none',
      { querystring: { version: { value: [1] } } },
      '.querystring.version.value must be a string, a number or a boolean'
    ],
    [
      'neither, of a header',
      { headers: { 'x-tenant': {} } },
      '.headers.x-tenant must have a name, with or without a description, or else a value'
    ],
    [
      'a header that no message may have',
      { headers: { 'x-tenant': { value: 'a\r\nb: c' } } },
      '.headers.x-tenant is not a header that can be sent'
    ],
    [
      'a header that is forwarded',
      { headers: { authorization: { value: 'x' } } },
      '.headers.authorization is set by the server, or is one of forwardHeaders'
    ],
    [
      'a header whose name no message may have',
      { headers: { 'x tenant': { value: 'a' } } },
      '.headers.x tenant is not a header that can be sent'
    ],
    ['a part that is no object', { body: 'id' }, '.body must be an object'],
    [
      'a cookie',
      { headers: { Cookie: { value: 'a=b' } } },
      '.headers.Cookie is set by the server, or is one of forwardHeaders'
    ],
    ['no object', [], ' must be an object']
  ] as const
) {
  t.test(`refused at startup: ${title}`, async (t) => {
    const app = await build(t, put((Array.isArray(given) ? given : { headers: overrides.headers, ...given }) as never))
    await t.rejects(async () => {
      await app.ready()
    }, {
      code: 'MCP_FROM_ROUTES_INVALID_CONFIG',
      message: `PUT /things/:id has a wrong config.mcp: arguments${problem}`
    })
  })
}

t.test('the example of the documentation', async (t) => {
  const { url } = await listen(t, (app) => {
    app.register(things)
  })
  t.strictSame((await call(url, 'put_thing', { id: '7', search: 's' })).structuredContent, {
    params: { id: '7' },
    query: { version: 2, q: 's' },
    body: { id: '7' },
    tenant: 'acme'
  })
})
