import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import t from 'tap'
import { z } from 'zod'
import { call, CLIENTS, connect, listen, post, type Teardown } from './build.ts'

const text = { type: 'string' }
const count = { type: 'integer' }
/** What a body of the route may hold: one property for each case. */
const PROPERTIES = {
  phone: text,
  credit: count,
  price: { type: 'number' },
  active: { type: 'boolean' },
  labels: { type: 'array', items: text },
  counts: { type: 'array', items: count },
  address: {
    type: 'object',
    properties: { street: text, zip: text, floor: count },
    required: ['zip'],
    additionalProperties: false
  },
  lines: { type: 'array', items: { type: 'object', properties: { sku: text, quantity: count } } },
  pair: { type: 'array', items: [text, count] },
  scores: { type: 'object', additionalProperties: count },
  nick: { type: 'string', nullable: true },
  limit: { type: ['integer', 'null'] },
  size: { type: 'string', enum: ['S', 'M'] },
  level: { enum: [1, 2] },
  either: { anyOf: [text, { type: 'array', items: text }] },
  target: {
    oneOf: [{ type: 'object', properties: { kind: { const: 'page' }, n: count }, required: ['kind'] }, {
      type: 'object',
      properties: { kind: { const: 'shop' }, n: { type: 'string', nullable: true } },
      required: ['kind']
    }]
  },
  maybe: { anyOf: [{ type: 'null' }, { type: 'array', items: count }] },
  shared: { $ref: 'thing#' },
  both: { allOf: [{ type: 'object', properties: { a: count } }, { type: 'object', properties: { b: text } }] },
  ruled: {
    type: 'object',
    properties: { kind: text },
    if: { properties: { kind: { const: 'a' } }, required: ['kind'] },
    then: { properties: { n: count } },
    else: { properties: { n: text } }
  },
  tree: { $ref: 'tree#' },
  data: {},
  map: { type: 'object' }
}

const SHARED = [
  { $id: 'thing', type: 'object', properties: { id: count, name: text } },
  { $id: 'tree', type: 'object', properties: { n: count, children: { type: 'array', items: { $ref: 'tree#' } } } }
]

/** A server whose tools return what their routes got. */
async function start (
  t: Teardown,
  more: (app: FastifyInstance) => void = () => {},
  options: FastifyServerOptions = {}
): Promise<URL> {
  const { url } = await listen(
    t,
    (app) => {
      for (const schema of SHARED) app.addSchema(schema)
      const tool = (operationId: string, schema: object): object => ({
        schema: { operationId, description: 'D.', tags: ['mcp'], ...schema }
      })
      const echo = async (
        { params, query, body }: { params: unknown, query: unknown, body: unknown }
      ): Promise<object> => ({ params, query, body: body ?? null })
      app.patch('/records/:id', tool('patch', { body: { type: 'object', properties: PROPERTIES } }), echo)
      app.post(
        '/records',
        tool('create', { body: { type: 'object', properties: { name: text, credit: count }, required: ['name'] } }),
        echo
      )
      app.post('/whole', tool('whole', { body: { type: 'array', items: text } }), echo)
      app.delete('/records/:id', tool('remove', {}), echo)
      app.delete('/numbers/:id', tool('remove_number', { params: { type: 'object', properties: { id: count } } }), echo)
      app.get(
        '/records',
        tool('list', {
          querystring: {
            type: 'object',
            properties: {
              id: text,
              n: count,
              x: { type: 'number' },
              ids: { type: 'array', items: text },
              ns: { type: 'array', items: count }
            }
          }
        }),
        echo
      )
      app.get('/none', tool('none', {}), echo)
      more(app)
    },
    {},
    options
  )
  return url
}

async function said (url: URL, name: string, args: object | string): Promise<unknown> {
  const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${
    typeof args === 'string' ? args : JSON.stringify(args)
  }}}`
  const { body } = await post(url, message)
  const { structuredContent, content } =
    (body as { result: { structuredContent?: unknown, content: Array<{ text: string }> } }).result
  return structuredContent ?? content[0]?.text
}

const read: ReadonlyArray<readonly [title: string, args: object, body: object]> = [
  ['plain arguments', { phone: '1', credit: 2, active: true, labels: ['x'] }, {
    phone: '1',
    credit: 2,
    active: true,
    labels: ['x']
  }],
  ['null, where the schema has none, is left out', { phone: null, credit: null, active: null, labels: null }, {}],
  ['also in an object', { address: { street: null, zip: '1', floor: null } }, { address: { zip: '1' } }],
  ['also in the objects of an array', { lines: [{ sku: 'a', quantity: null }] }, { lines: [{ sku: 'a' }] }],
  ['also of an enum', { size: null, level: null }, {}],
  ['also in a shared schema', { shared: { id: null, name: 'n' } }, { shared: { name: 'n' } }],
  ['also in a schema that refers to itself', { tree: { children: [{ n: null, children: [{ n: null }] }] } }, {
    tree: { children: [{ children: [{}] }] }
  }],
  ['also in the parts of a schema', { both: { a: null, b: null } }, { both: {} }],
  ['also in the branch of a union that is meant', { target: { kind: 'page', n: null } }, { target: { kind: 'page' } }],
  ['also where a condition holds', { ruled: { kind: 'a', n: null } }, { ruled: { kind: 'a' } }],
  ['null, where the schema has it, stays', { nick: null, limit: null, data: null, maybe: null }, {
    nick: null,
    limit: null,
    data: null,
    maybe: null
  }],
  ['also in another branch', { target: { kind: 'shop', n: null } }, { target: { kind: 'shop', n: null } }],
  ['also where nothing is said of a property', { map: { x: null } }, { map: { x: null } }],
  ['the JSON text of an array', { labels: '["vip","late"]' }, { labels: ['vip', 'late'] }],
  ['the JSON text of an array in text', { lines: ' [{"sku":"a","quantity":"2"}]' }, {
    lines: [{ sku: 'a', quantity: 2 }]
  }],
  ['the JSON text of an object', { address: '{"zip":"1","floor":3}' }, { address: { zip: '1', floor: 3 } }],
  ['of either', { either: '["a"]' }, { either: '["a"]' }],
  ['of an array or null', { maybe: '[1,2]' }, { maybe: [1, 2] }],
  [
    'numerals',
    { credit: '12', price: '12.50', counts: ['-1', '0'], scores: { a: '1' }, limit: '7', pair: ['a', '2'] },
    { credit: 12, price: 12.5, counts: [-1, 0], scores: { a: 1 }, limit: 7, pair: ['a', 2] }
  ],
  ['a numeral in a branch', { target: { kind: 'page', n: '5' } }, { target: { kind: 'page', n: 5 } }],
  ['a text that looks like something else', { phone: '12', nick: 'null', labels: ['1', 'true', '[]'] }, {
    phone: '12',
    nick: 'null',
    labels: ['1', 'true', '[]']
  }],
  ['a whole number written as another', { credit: 5.0, price: 1e300 }, { credit: 5, price: 1e300 }],
  ['names that every object has', { scores: JSON.parse('{"constructor":"1","toString":2}') }, {
    scores: { constructor: 1, toString: 2 }
  }]
]

for (const [title, args, body] of read) {
  t.test(`read: ${title}`, async (t) => {
    t.strictSame(await said(await start(t), 'patch', { id: 'a', ...args }), { params: { id: 'a' }, query: {}, body })
  })
}

const LOST = 'is beyond 9007199254740991, where numbers lose digits on the way. Send it as a string'
const ID = '1915883588174806058'
const refused: ReadonlyArray<readonly [tool: string, args: object | string, says: string]> = [
  ['patch', { id: 'a', credit: true }, 'credit must be integer, not boolean'],
  ['patch', { id: 'a', credit: '' }, 'credit must be integer, not string'],
  ['patch', { id: 'a', credit: '79.00' }, 'credit must be integer, not string'],
  ['patch', { id: 'a', credit: '0x10' }, 'credit must be integer, not string'],
  ['patch', { id: 'a', credit: 1.5 }, 'credit must be integer, not number'],
  ['patch', { id: 'a', phone: 5 }, 'phone must be string, not integer'],
  ['patch', { id: 'a', phone: ['x'] }, 'phone must be string, not array'],
  ['patch', { id: 'a', active: 'true' }, 'active must be boolean, not string'],
  ['patch', { id: 'a', active: 1 }, 'active must be boolean, not integer'],
  ['patch', { id: 'a', labels: 'vip' }, 'labels must be array, not string'],
  ['patch', { id: 'a', labels: '["vip"' }, 'labels must be array, not string'],
  ['patch', { id: 'a', labels: '{"a":1}' }, 'labels must be array, not string'],
  ['patch', { id: 'a', labels: { 0: 'x' } }, 'labels must be array, not object'],
  ['patch', { id: 'a', labels: ['x', null] }, 'labels/1 must be string, not null'],
  ['patch', { id: 'a', labels: '[null]' }, 'labels/0 must be string, not null'],
  ['patch', { id: 'a', lines: [null] }, 'lines/0 must be object, not null'],
  ['patch', { id: 'a', address: { zip: null } }, 'address/zip must be string, not null'],
  [
    'patch',
    { id: 'a', address: { zip: '1', stret: 'x' } },
    'address/stret is unknown. address takes street, zip, floor'
  ],
  ['patch', { id: 'a', limit: '' }, 'limit must be integer or null, not string'],
  ['patch', { id: 'a', nick: 0 }, 'nick must be string or null, not integer'],
  ['patch', { id: 'a', size: 1 }, 'size must be one of "S", "M"'],
  ['patch', { id: 'a', either: 5 }, 'either must be array or string, not integer'],
  ['patch', { id: 'a', maybe: ['x'] }, 'maybe/0 must be integer, not string'],
  [
    'patch',
    { id: 'a', tree: { children: [{ children: [{ n: true }] }] } },
    'tree/children/0/children/0/n must be integer, not boolean'
  ],
  ['create', { name: null }, 'name must be string, not null'],
  ['whole', { body: null }, 'body must be array, not null'],
  ['whole', { body: 'x' }, 'body must be array, not string'],
  ['patch', `{"id":"a","phone":${ID}}`, `phone ${LOST}`],
  ['patch', `{"id":"a","credit":${ID}}`, `credit ${LOST}, if this tool takes one`],
  [
    'patch',
    `{"id":"a","credit":"${ID}"}`,
    'credit has more digits than a number keeps, and this tool takes a number here'
  ],
  ['patch', `{"id":"a","price":${ID}}`, `price ${LOST}, if this tool takes one`],
  ['patch', '{"id":"a","price":1e400}', 'price is too large for a number. Send it as a string, if this tool takes one'],
  ['patch', `{"id":"a","labels":[${ID}]}`, `labels/0 ${LOST}`],
  ['patch', `{"id":"a","counts":"[${ID}]"}`, `counts/0 ${LOST}, if this tool takes one`],
  ['patch', `{"id":"a","data":{"x":[${ID}]}}`, `data/x/0 ${LOST}`],
  ['patch', '{"id":"a","nick":1e21}', `nick ${LOST}`],
  ['patch', '{"id":"a","either":1e21}', `either ${LOST}`],
  ['patch', `{"id":${ID}}`, `id ${LOST}`],
  ['remove', `{"id":${ID}}`, `id ${LOST}`],
  ['remove', `{"id":-${ID}}`, `id ${LOST}`],
  ['remove', '{"id":1e21}', `id ${LOST}`],
  ['remove_number', `{"id":${ID}}`, `id ${LOST}, if this tool takes one`],
  ['remove_number', `{"id":"${ID}"}`, 'id has more digits than a number keeps, and this tool takes a number here'],
  ['list', `{"id":${ID}}`, `id ${LOST}`],
  ['list', `{"ids":["a",${ID}]}`, `ids/1 ${LOST}`],
  ['list', `{"ns":["${ID}"]}`, 'ns/0 has more digits than a number keeps, and this tool takes a number here'],
  ['list', '{"x":1e400}', 'x is too large for a number. Send it as a string, if this tool takes one'],
  ['none', { task_progress: '- [ ] x', other: 1 }, 'Unknown argument "other". This tool takes no arguments'],
  ['list', { random_string: 'x' }, 'Unknown argument "random_string". This tool takes id, n, x, ids, ns']
]

for (const [tool, args, says] of refused) {
  t.test(`refused: ${tool} ${typeof args === 'string' ? args : JSON.stringify(args)}`, async (t) => {
    t.equal(await said(await start(t), tool, args), says)
  })
}

t.test('numbers that keep what was sent go through, and so does every digit of a string', async (t) => {
  const url = await start(t)
  t.match(await said(url, 'remove', `{"id":"${ID}"}`), { params: { id: ID } })
  t.match(await said(url, 'remove', '{"id":9007199254740991}'), { params: { id: '9007199254740991' } })
  t.match(await said(url, 'list', `{"id":"${ID}","ids":["${ID}"],"n":9007199254740991,"x":1e300}`), {
    query: { id: ID, ids: [ID], n: 9007199254740991, x: 1e300 }
  })
  t.match(
    await said(
      url,
      'patch',
      `{"id":"a","phone":"${ID}","price":6.02214076e23,"data":-1e21,"credit":-9007199254740991}`
    ),
    { body: { phone: ID, price: 6.02214076e23, data: -1e21, credit: -9007199254740991 } }
  )
})

t.test('the JSON text of a query array is the array', async (t) => {
  const url = await start(t)
  t.match(await said(url, 'list', { ids: '["a","b"]', ns: '[1,2]' }), { query: { ids: ['a', 'b'], ns: [1, 2] } })
  t.match(
    await said(url, 'list', { ids: 'a', ns: '7' }),
    { query: { ids: ['a'], ns: [7] } },
    'what a URL writes as one element stays so'
  )
  t.match(await said(url, 'list', { ids: '[a]' }), { query: { ids: ['[a]'] } })
})

t.test('arguments that clients add for themselves are ignored, unless the tool has one of that name', async (t) => {
  const url = await start(t, (app) => {
    app.post('/progress', {
      schema: {
        operationId: 'progress',
        description: 'D.',
        tags: ['mcp'],
        body: { type: 'object', properties: { task_progress: text } }
      }
    }, async ({ body }) => body)
  })
  t.match(await said(url, 'none', { random_string: 'x', task_progress: '- [x] a', wait_for_previous: true }), {
    query: {},
    body: null
  })
  t.match(await said(url, 'create', { name: 'n', task_progress: '- [x] a', wait_for_previous: false }), {
    body: { name: 'n' }
  })
  t.strictSame(await said(url, 'progress', { task_progress: 'mine' }), { task_progress: 'mine' })
})

t.test('ignoredArguments names others, or none', async (t) => {
  const routes = (app: FastifyInstance): void => {
    app.get('/x', { schema: { operationId: 'x', description: 'D.', tags: ['mcp'] } }, async () => ({ ok: true }))
  }
  const { url: own } = await listen(t, routes, { ignoredArguments: ['thought'] })
  t.strictSame(await said(own, 'x', { thought: 'a' }), { ok: true })
  t.equal(
    await said(own, 'x', { task_progress: 'a' }),
    'Unknown argument "task_progress". This tool takes no arguments'
  )
  const { url: none } = await listen(t, routes, { ignoredArguments: [] })
  t.equal(
    await said(none, 'x', { random_string: 'a' }),
    'Unknown argument "random_string". This tool takes no arguments'
  )
  await t.rejects(listen(t, routes, { ignoredArguments: 'thought' as never }), {
    code: 'MCP_FROM_ROUTES_INVALID_OPTION'
  })
})

t.test('a route whose validator converts nothing answers by itself, and so does a schema that validates itself', async (t) => {
  const { url } = await listen(
    t,
    (app) => {
      app.post('/json', {
        schema: {
          operationId: 'json',
          description: 'D.',
          tags: ['mcp'],
          body: { type: 'object', properties: { n: count, address: PROPERTIES.address, id: text } }
        }
      }, async ({ body }) => body)
      const body = z.object({ n: z.int().optional(), id: z.string().optional() })
      app.post('/zod', {
        schema: { operationId: 'zod', description: 'D.', tags: ['mcp'], body },
        validatorCompiler: () => (data) => {
          const { error, data: value } = body.safeParse(data)
          return error === undefined ? { value } : { error }
        }
      }, async ({ body }) => body as object)
    },
    {},
    { ajv: { customOptions: { coerceTypes: false, removeAdditional: false } } }
  )
  t.equal(await said(url, 'json', { n: '79.00' }), '400 Bad Request: n must be integer (FST_ERR_VALIDATION)')
  t.equal(await said(url, 'json', { n: '79' }), '400 Bad Request: n must be integer (FST_ERR_VALIDATION)')
  t.equal(await said(url, 'json', { n: null }), '400 Bad Request: n must be integer (FST_ERR_VALIDATION)')
  t.equal(
    await said(url, 'json', { address: { zip: '1', stret: 'x' } }),
    '400 Bad Request: address must NOT have additional properties (FST_ERR_VALIDATION)'
  )
  t.equal(await said(url, 'json', `{"id":${ID}}`), `id ${LOST}`, 'no validator sees what the number was')
  t.match(await said(url, 'zod', { n: '79' }), /^400 /)
  t.match(await said(url, 'zod', { n: null }), /^400 /)
  t.equal(await said(url, 'zod', `{"n":${ID}}`), `n ${LOST}, if this tool takes one`)
})

t.test('a schema that converts by itself gets no value that it would make another one of', async (t) => {
  const { url } = await listen(t, (app) => {
    const body = z.object({
      on: z.coerce.boolean(),
      n: z.coerce.number().optional(),
      deep: z.object({ x: z.string() })
    })
    app.post('/zod', {
      schema: { operationId: 'zod', description: 'D.', tags: ['mcp'], body },
      validatorCompiler: () => (data) => {
        const { error, data: value } = body.safeParse(data)
        return error === undefined ? { value } : { error }
      }
    }, async ({ body }) => body as object)
  })
  const deep = { x: 'a' }
  const sent = async (args: object): Promise<unknown> => await said(url, 'zod', { deep, ...args })
  t.strictSame(await sent({ on: false, n: 1.5 }), { on: false, n: 1.5, deep })
  t.strictSame(await sent({ on: true, n: null }), { on: true, deep }, 'null is no zero')
  t.strictSame(await sent({ on: true, n: '79' }), { on: true, n: 79, deep })
  t.equal(await said(url, 'zod', { deep, on: 'false' }), 'on must be boolean, not string')
  t.equal(await said(url, 'zod', { deep, on: null }), 'on must be boolean, not null')
  t.equal(await said(url, 'zod', { deep, on: true, n: '' }), 'n must be number, not string')
})

t.test('a fraction is no text: 1.10 would arrive as 1.1', async (t) => {
  const { url } = await listen(t, (app) => {
    const querystring = {
      type: 'object',
      properties: {
        version: text,
        versions: { type: 'array', items: text },
        any: {},
        either: { type: ['string', 'number'] }
      }
    }
    const params = { type: 'object', properties: { id: text } }
    app.get('/x/:id', {
      schema: { operationId: 'x', description: 'D.', tags: ['mcp'], params, querystring }
    }, async ({ query, params }) => ({ ...params as object, ...query as object }))
  })
  for (
    const [args, message] of [
      [{ id: 'a', version: 1.1 }, 'version must be string, not number'],
      [{ id: 1.5 }, 'id must be string, not number'],
      [{ id: 'a', versions: ['1.10', 1.1] }, 'versions/1 must be string, not number']
    ] as const
  ) t.equal(await said(url, 'x', args), message)
  t.strictSame(
    await said(url, 'x', { id: 5, version: '1.10', versions: ['1.10'], any: 1.5, either: 1.5 }),
    { id: '5', version: '1.10', versions: ['1.10'], any: '1.5', either: '1.5' }
  )
})

for (const which of CLIENTS) {
  t.test(`the official client ${which} gets the same`, async (t) => {
    const client = await connect(t, which, await start(t))
    t.match(await client.callTool({ name: 'patch', arguments: { id: 'a', labels: '["vip"]', phone: null } }), {
      structuredContent: { body: { labels: ['vip'] } }
    })
    t.match(await client.callTool({ name: 'patch', arguments: { id: 'a', credit: true } }), {
      isError: true,
      content: [{ text: 'credit must be integer, not boolean' }]
    })
    t.match(await client.callTool({ name: 'remove', arguments: { id: Number(ID) } }), {
      isError: true,
      content: [{ text: `id ${LOST}` }]
    })
  })
}

t.test('a union of unions is given up before it takes long', async (t) => {
  const { url } = await listen(t, (app) => {
    app.addSchema({
      $id: 'node',
      anyOf: ['a', 'b'].map((name) => ({ type: 'object', properties: { child: { $ref: 'node#' }, [name]: count } }))
    })
    app.post('/x', {
      schema: {
        operationId: 'x',
        description: 'D.',
        tags: ['mcp'],
        body: { type: 'object', properties: { node: { $ref: 'node#' } } }
      }
    }, async () => ({ ok: true }))
  })
  let node: object = { a: true, b: true }
  for (let level = 0; level < 60; level++) node = { child: node }
  t.match(await call(url, 'x', { node }), { isError: true })
})

t.test('what fits is sent however much of it there is, and however deep: it takes no longer for that', async (t) => {
  const block = {
    $id: 'block',
    anyOf: ['text', 'list', 'image', 'quote'].map((type) => ({
      type: 'object',
      properties: { type: { const: type }, note: text, children: { type: 'array', items: { $ref: 'block#' } } },
      required: ['type']
    }))
  }
  const record = { $id: 'record', type: 'object', patternProperties: { '^x-': { $ref: 'record#' } } }
  const { url } = await listen(t, (app) => {
    app.addSchema(block)
    app.addSchema(record)
    const properties = {
      rows: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            country: { anyOf: Array.from({ length: 250 }, (_, n) => ({ const: `c${n}` })) },
            price: { anyOf: [{ type: 'null' }, count] }
          }
        }
      },
      block: { $ref: 'block#' },
      record: { $ref: 'record#' },
      ruled: {
        type: 'object',
        properties: { kind: text },
        if: { properties: { kind: { pattern: '^num' } } },
        then: { properties: { value: { type: 'number' } } },
        else: { properties: { value: text } }
      }
    }
    app.post('/x', {
      schema: { operationId: 'x', description: 'D.', tags: ['mcp'], body: { type: 'object', properties } }
    }, async ({ body }) => body)
  })
  const rows = Array.from({ length: 4000 }, () => ({ country: 'c249', price: 5 }))
  t.match(await said(url, 'x', { rows }), { rows: rows.slice(0, 1) })
  const nested = (depth: number): object => ({
    type: 'quote',
    ...depth === 0 ? { note: null } : {},
    children: depth === 0 ? [] : Array.from({ length: 4 }, () => nested(depth - 1))
  })
  t.match(await said(url, 'x', { block: nested(4) }), { block: { type: 'quote', children: [{ type: 'quote' }] } })
  let record60: object = {}
  for (let level = 0; level < 60; level++) record60 = { 'x-a': record60 }
  t.strictSame(await said(url, 'x', { record: record60 }), { record: record60 })
  for (const value of ['1.50', '007', 'abc', '19158835881748060581']) {
    t.strictSame(await said(url, 'x', { ruled: { kind: 'text', value } }), { ruled: { kind: 'text', value } })
  }
})

t.test('a value of an alternative arrives as it is, or is refused by name where the validator makes another one of it', async (t) => {
  const either = (...types: string[]): object => ({ anyOf: types.map((type) => ({ type })) })
  const id = { anyOf: [count, { enum: ['all'] }] }
  const url = await start(t, (app) => {
    const tool = (operationId: string, schema: object): object => ({
      schema: { operationId, description: 'D.', tags: ['mcp'], ...schema }
    })
    const echo = async (
      { params, query, body }: { params: unknown, query: unknown, body: unknown }
    ): Promise<object> => ({ params, query, body: body ?? null })
    const properties = {
      flag: either('string', 'boolean'),
      right: either('boolean', 'string'),
      number: { oneOf: [text, count] },
      none: either('string', 'null'),
      list: { type: 'array', items: either('string', 'boolean') },
      many: either('array', 'string'),
      listed: { type: ['string', 'boolean'] }
    }
    app.post('/either', tool('either', { body: { type: 'object', properties } }), echo)
    app.delete(
      '/either/:id',
      tool('one', {
        params: { type: 'object', properties: { id } },
        querystring: { type: 'object', properties: { also: id } }
      }),
      echo
    )
  })
  const kept = { flag: 'x', right: true, list: ['a'], many: ['a'], listed: true }
  t.match(await said(url, 'either', kept), { body: kept })
  t.match(await said(url, 'either', { listed: 'true', right: false }), { body: { listed: 'true', right: false } })
  for (
    const [args, why] of [
      [
        { flag: true },
        /^flag would arrive as "true", and not as true: this route converts it to string\. Nothing was done/
      ],
      [{ number: 5 }, /^400 Bad Request: number must match exactly one schema in oneOf/],
      [{ none: null }, /^none would arrive as "", and not as null/],
      [{ list: ['a', true] }, /^list\/1 would arrive as "true"/],
      [{ many: 'a' }, /^many would arrive as \["a"\], and not as "a"/]
    ] as const
  ) t.match(await said(url, 'either', args), why, JSON.stringify(args))
  t.match(await said(url, 'one', { id: 'all', also: 'all' }), { params: { id: 'all' }, query: { also: 'all' } })
  t.match(await said(url, 'one', { id: '5', also: 5 }), { params: { id: 5 }, query: { also: 5 } })
  for (const args of [{ id: '9007199254740993' }, { id: '1', also: '-9007199254740993' }]) {
    t.match(
      await said(url, 'one', args),
      /^(id|also) has more digits than a number keeps, and would reach another record\. Nothing was done/
    )
  }
})
