import type { FastifyInstance, FastifySchema } from 'fastify'
import t from 'tap'
import { selected, selectionFrom } from '../../../src/extensions/fields/cut.ts'
import { contractFromTools, diffContracts } from '../../../src/contract/index.ts'
import type { McpFromRoutesOptions, McpRouteConfig } from '../../../src/index.ts'
import { fieldsRule, type FieldsRule } from '../../../src/extensions/fields/rule.ts'
import { fields } from '../../../src/extensions/fields/index.ts'
import { call, CLIENTS, connect, having, post } from '../../build.ts'
import { runProgram } from '../../program.ts'

const { build, listen } = having(fields({ lists: false }))
const ALL = { extensions: [fields()] }

type Schema = Readonly<Record<string, unknown>>

const string = { type: 'string' }
const price = {
  type: 'object',
  properties: { amount: { type: 'integer' }, currency: string },
  required: ['amount', 'currency']
}
const product = {
  type: 'object',
  properties: { id: string, name: string, prices: { type: 'array', items: price }, note: { type: ['string', 'null'] } },
  required: ['id', 'name', 'prices']
}
const listOf = (items: Schema): Schema => ({ type: 'array', items })
const open = { type: 'object', additionalProperties: true }
const all = ['id', 'name', 'prices', 'note', 'prices.amount', 'prices.currency']
const record = {
  id: '1',
  name: 'Mug',
  prices: [{ amount: 1200, currency: 'EUR' }, { amount: 1300, currency: 'USD' }],
  note: null
}

/** A route that answers `value` as its schema says. */
function route (
  response: unknown,
  mcp?: McpRouteConfig,
  value: unknown = record,
  more: FastifySchema = {}
): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/x', {
      schema: { operationId: 'x', description: 'X.', tags: ['mcp', 'large'], response: { 200: response }, ...more },
      ...mcp && { config: { mcp } }
    }, async () => value)
  }
}

async function toolOf (
  t: Parameters<typeof build>[0],
  routes: Parameters<typeof build>[1],
  options: Partial<McpFromRoutesOptions> = {}
) {
  const app = await build(t, routes, options)
  await app.ready()
  const tool = app.mcpTools[0]!
  const { fields: own } = tool.inputSchema.properties as { fields?: { items: { enum: string[] } } }
  return { tool, names: own?.items.enum }
}

t.test('the program of the documentation runs, and every official client reads the fields that it chose', async (t) => {
  const line = await runProgram(t, 'fields')
  for (const which of CLIENTS) {
    const client = await connect(t, which, new URL(line.slice(line.indexOf('http'))))
    await client.listTools()
    const read = async (name: string, fields: unknown) =>
      await client.callTool({ name, arguments: { ...name === 'get_product' && { id: '1' }, fields } })
    // The clients check the result against the output schema, in which every field is now optional.
    t.match(await read('list_products', ['id', 'prices.amount']), {
      structuredContent: { result: [{ id: '1', prices: [{ amount: 1200 }] }] },
      content: [{ text: '[{"id":"1","prices":[{"amount":1200}]}]' }]
    }, which)
    t.match(await read('get_product', ['name']), {
      content: [{ text: '{"name":"Mug"}' }],
      structuredContent: { name: 'Mug' }
    }, which)
    t.match(await read('get_product', ['id']), {
      isError: true,
      content: [{ text: 'Unknown field "id". The fields of get_product are name, prices, prices.amount' }]
    }, which)
  }
})

t.test('the argument offers the fields of each record that a response can be', async (t) => {
  const node: Schema = { $id: 'node', type: 'object', properties: { id: string, children: listOf({ $ref: 'node#' }) } }
  const cases: ReadonlyArray<
    readonly [title: string, response: unknown, config: McpRouteConfig['fields'], names: readonly string[] | undefined]
  > = [
    ['off', listOf(product), undefined, undefined],
    ['a list', listOf(product), true, all],
    ['a record', product, true, all],
    [
      'a list in an object',
      { type: 'object', properties: { items: listOf(product), next: string }, required: ['items'] },
      true,
      all
    ],
    ['a record with an id and one list', { type: 'object', properties: { id: string, lines: listOf(price) } }, true, [
      'id',
      'lines',
      'lines.amount',
      'lines.currency'
    ]],
    [
      'a record without an id that is not a list',
      { type: 'object', properties: { number: string, lines: listOf(price) } },
      { list: false },
      ['number', 'lines', 'lines.amount', 'lines.currency']
    ],
    ['one of two lists', { type: 'object', properties: { old: listOf(price), now: listOf(product) } }, {
      list: 'now',
      names: ['id', 'prices.amount']
    }, ['id', 'prices.amount']],
    [
      'a union',
      {
        anyOf: [{ type: 'object', properties: { a: string } }, {
          allOf: [{ type: 'object', properties: { b: string } }]
        }, { type: 'null' }]
      },
      true,
      ['a', 'b']
    ],
    ['open properties', { type: 'object', properties: { id: string, more: open }, additionalProperties: true }, true, [
      'id',
      'more'
    ]],
    ['a circle', listOf({ $ref: 'node#' }), true, ['id', 'children', 'children.id', 'children.children']],
    [
      'names with dots',
      { type: 'object', properties: { 'a.b': string, a: { type: 'object', properties: { b: string, c: string } } } },
      true,
      ['a.b', 'a', 'a.c']
    ],
    [
      'what is never written',
      { type: 'object', properties: { id: string, secret: { ...string, writeOnly: true } } },
      true,
      ['id']
    ]
  ]
  for (const [title, response, fields, names] of cases) {
    const { names: found, tool } = await toolOf(t, (app) => {
      app.addSchema(node)
      route(response, { ...fields !== undefined && { fields } })(app)
    })
    t.strictSame(found, names, title)
    t.equal(
      tool.description,
      `X. ${names === undefined ? 'The result can be large.' : 'The result can be large: narrow it with fields.'}`
    )
  }
  t.strictSame((await toolOf(t, route(listOf(product)), ALL)).names, all, 'the option')
  t.equal((await toolOf(t, route(product), ALL)).names, undefined, 'the option is for lists')
  t.equal(
    (await toolOf(t, route(listOf(open)), ALL)).names,
    undefined,
    'and for records that are described'
  )
  t.equal((await toolOf(t, route(listOf(product), { fields: false }), ALL)).names, undefined)
})

t.test('what the argument cannot do stops the start, with the fix', async (t) => {
  const own = { querystring: { type: 'object', properties: { fields: string } } }
  const cases: ReadonlyArray<readonly [response: unknown, fields: unknown, message: RegExp, more?: FastifySchema]> = [
    [listOf(product), 'all', /fields must be true, false or an object with list or names/],
    [listOf(product), { lists: 'x' }, /fields must be true, false or an object/],
    [listOf(product), { list: 3 }, /fields must have a list that is the name of a property, or false/],
    [listOf(product), { names: [] }, /fields must have names that are an array of strings/],
    [
      listOf(product),
      { names: ['id', '__proto__'] },
      /fields names __proto__, which is not a field of its result. It has id, name/
    ],
    [listOf(product), { list: 'id' }, /fields names the list id, which is no property with an array of objects/],
    [product, { list: 'note' }, /fields names the list note/],
    [listOf(open), true, /fields needs a response schema that describes/],
    [{ anyOf: [listOf(product), product] }, true, /of one kind of record/],
    [{ content: { 'text/csv': { schema: string } } }, true, /fields needs a JSON response/],
    [
      listOf(product),
      true,
      /fields adds an argument that the route has already. Rename that of the route in config.mcp.arguments, or set config.mcp.fields: false/,
      own
    ]
  ]
  for (const [response, fields, message, more] of cases) {
    const app = await build(t, route(response, { fields } as McpRouteConfig, record, more))
    await t.rejects(async () => await app.ready(), { code: 'MCP_FROM_ROUTES_INVALID_CONFIG', message })
  }
  const clashing = await build(t, route(listOf(product), undefined, [], own), ALL)
  await t.rejects(
    async () => await clashing.ready(),
    /fields adds an argument/,
    'the option clashes too: a route that has fields of its own says so'
  )
})

const RULE: FieldsRule = { list: true, paths: new Map(all.map((name) => [name, name.split('.') as [string, string?]])) }

t.test('a call chooses fields by their names, and nothing else', async (t) => {
  const cases: ReadonlyArray<readonly [given: unknown, result: string | RegExp | undefined]> = [
    [['id'], '[{"id":"1"}]'],
    [['id', 'id', 'name', 'id'], '[{"id":"1","name":"Mug"}]'],
    [['name', 'id'], '[{"id":"1","name":"Mug"}]'],
    [['prices.amount', 'note'], '[{"prices":[{"amount":1200},{"amount":1300}],"note":null}]'],
    [
      ['prices.amount', 'prices.currency'],
      '[{"prices":[{"amount":1200,"currency":"EUR"},{"amount":1300,"currency":"USD"}]}]'
    ],
    [['prices.amount', 'prices'], JSON.stringify([{ prices: record.prices }])],
    [['prices', 'prices.amount'], JSON.stringify([{ prices: record.prices }])],
    ['["id"]', '[{"id":"1"}]'],
    [undefined, undefined],
    [null, undefined],
    [[], undefined],
    ['[]', undefined],
    ...['id', 'id,name', 7, true, { id: true }, [['id']], ['id', null], [{}]].map((given) =>
      [given, /^fields must be an array of names, such as \["id","name"\]$/] as const
    ),
    ...[
      '__proto__',
      'constructor',
      'prices.__proto__',
      'prices.amount.x',
      'prices.',
      '.id',
      'ID',
      ' id',
      '',
      'secret',
      '*'
    ].map((name) =>
      [
        ['id', name],
        new RegExp(
          `^Unknown field "${name.replace(/[.*]/g, '\\$&')}"\\. The fields of x are id, name, prices, note, ` +
            'prices\\.amount, prices\\.currency$'
        )
      ] as const
    ),
    [Array.from({ length: 10_000 }, (_, n) => `f${n}`), /^Unknown fields "f0", "f1", .*"f9", …\. The fields/],
    [Array(10_000).fill('id'), '[{"id":"1"}]'],
    [['x'.repeat(100_000)], /^Unknown field "x{1,200}…?"/]
  ]
  for (const [given, result] of cases) {
    const chosen = selectionFrom('x', RULE, given)
    const shown = String(JSON.stringify(given)).slice(0, 60)
    if (result instanceof RegExp) t.match(chosen, { refusal: result }, shown)
    else {t.equal(
        chosen === undefined || 'refusal' in chosen ? chosen : selected(JSON.stringify([record]), chosen),
        result,
        shown
      )}
  }
})

t.test('what stays is as the route wrote it', async (t) => {
  const cut = (text: string, list: FieldsRule['list'], fields: readonly string[]): string => {
    const chosen = selectionFrom('x', {
      list,
      paths: new Map(
        [...new Set(['a', 'b', 'b.c', '__proto__', 'é"\\', ...fields])].map((
          name
        ) => [name, name.split('.') as [string, string?]])
      )
    }, fields)
    if (chosen === undefined || 'refusal' in chosen) throw new Error(text)
    return selected(text, chosen)
  }
  const cases: ReadonlyArray<
    readonly [text: string, list: FieldsRule['list'], fields: readonly string[], result: string]
  > = [
    [' [ { "a" : 1915883588174806058 , "x" : [ "}" , { "a" : 2 } ] } , { } , null , 7 , [ { "a" : 1 } ] ] ', true, [
      'a'
    ], '[{"a":1915883588174806058},{},null,7,[ { "a" : 1 } ]]'],
    ['{"x":-1.0E+5,"a":1.0,"b":-1.0E+5}', false, ['a', 'b'], '{"a":1.0,"b":-1.0E+5}'],
    ['{"a":"\\\\","b":"\\\\\\"}]","x":"\\""}', false, ['b'], '{"b":"\\\\\\"}]"}'],
    ['{"\\u0061":true,"\\u00e9\\"\\\\":[]}', false, ['a', 'é"\\'], '{"\\u0061":true,"\\u00e9\\"\\\\":[]}'],
    ['{"__proto__":{"polluted":1},"a":1}', false, ['__proto__'], '{"__proto__":{"polluted":1}}'],
    ['{"a":1,"a":2,"x":3}', false, ['a'], '{"a":1,"a":2}'],
    ['{"b":{"c":1,"d":2}}', false, ['b.c'], '{"b":{"c":1}}'],
    ['{"b":[{"c":1},3,null,[{"d":1}]]}', false, ['b.c'], '{"b":[{"c":1},3,null,[{"d":1}]]}'],
    ['{"items":[{"a":1,"x":2}],"a":{"x":1},"next":"n"}', 'items', ['a'], '{"items":[{"a":1}],"a":{"x":1},"next":"n"}'],
    ['{"items":null}', 'items', ['a'], '{"items":null}'],
    ['{}', 'items', ['a'], '{}'],
    ['[]', true, ['a'], '[]'],
    ['{"x":1}', false, ['a'], '{}'],
    // Another form than the schema says.
    ['{"x":1}', true, ['a'], '{"x":1}'],
    ['[{"x":1}]', false, ['a'], '[{"x":1}]'],
    ['null', false, ['a'], 'null'],
    ['"a"', true, ['a'], '"a"']
  ]
  for (const [text, list, fields, result] of cases) {
    t.equal(cut(text, list, fields), result, text)
    t.doesNotThrow(() => JSON.parse(result) as unknown)
  }
  const deep = `[{"x":${'[{"x":'.repeat(100_000)}1${'}]'.repeat(100_000)},"a":1}]`
  t.equal(cut(deep, true, ['a']), '[{"a":1}]', 'what is left out is not recursed into')
})

t.test('the cut is the same in text, structure, both ways through the endpoint, and beside headers', async (t) => {
  const events: unknown[] = []
  const { url } = await listen(t, (app) => {
    app.get('/x', {
      schema: {
        operationId: 'x',
        description: 'X.',
        tags: ['mcp'],
        querystring: { type: 'object', properties: { status: { type: 'integer' } } },
        response: { 200: listOf(product) }
      }
    }, async ({ query }, reply) => {
      const { status } = query as { status?: number }
      return await reply.code((status ?? 200) as 200).header('content-range', 'x 0-1/9').send([{
        ...record,
        secret: 1
      }])
    })
  }, {
    ...ALL,
    onToolCall: ({ arguments: args }) => {
      events.push(args)
    }
  })
  const expected = {
    content: [{ type: 'text', text: '[{"id":"1"}]' }, { type: 'text', text: 'content-range: x 0-1/9' }],
    structuredContent: { result: [{ id: '1' }], headers: { 'content-range': 'x 0-1/9' } }
  }
  t.match(await call(url, 'x', { fields: ['id'] }), expected)
  const batch = await post(url, [{
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'x', arguments: { fields: ['id'] } }
  }], { 'mcp-protocol-version': '2025-03-26' })
  t.match([batch.body].flat(), [{ result: expected }], 'through the SDK')
  t.strictSame(events, [{ fields: ['id'] }, { fields: ['id'] }])
  t.match(await call(url, 'x', { fields: ['none'], more: 1 }), {
    isError: true,
    content: [{
      text: /^Unknown field "none"\. The fields of x are .*\nUnknown argument "more"\. This tool takes status, fields$/
    }]
  })
  t.match(await call(url, 'x', { fields: ['id'], more: 1 }), {
    isError: true,
    content: [{ text: 'Unknown argument "more". This tool takes status, fields' }]
  })
  t.match(await call(url, 'x', { fields: ['id'], status: 206 }), {
    isError: true,
    content: [{ text: /so do not repeat it/ }, { text: /"secret":1/ }]
  }, 'an undeclared answer is whole')
  t.match(await call(url, 'x', { fields: ['id'], status: 404 }), { isError: true })
})

t.test('a record has headers beside the fields that were chosen, also a closed one', async (t) => {
  const { app, url } = await listen(t, (app) => {
    const response = { 200: { ...product, additionalProperties: false } }
    app.get('/x', {
      schema: { operationId: 'x', description: 'X.', tags: ['mcp'], response },
      config: { mcp: { fields: true } }
    }, async (_request, reply) => await reply.header('link', '</y>').send(record))
  })
  for (const which of CLIENTS) {
    const client = await connect(t, which, url)
    await client.listTools()
    t.strictSame(
      (await client.callTool({ name: 'x', arguments: { fields: ['id'] } })).structuredContent,
      { id: '1', headers: { link: '</y>' } }
    )
  }
  t.match(await call(url, 'x', { fields: ['headers'] }), { isError: true }, 'they are no field to choose')
  t.match(app.mcpTools[0]?.route.whole, { properties: { headers: { type: 'object' } } }, 'the contract has them too')
})

t.test('the output schema requires no field that may be left out, and the contract keeps what a whole result has', async (t) => {
  const envelope = {
    $id: 'page',
    type: 'object',
    properties: { items: listOf({ $ref: 'product#' }), total: { type: 'integer' } },
    required: ['items', 'total']
  }
  const deep = {
    type: 'object',
    properties: { a: { type: 'object', properties: { b: listOf(price) }, required: ['b'] } },
    required: ['a']
  }
  for (
    const [title, response, required] of [
      ['a list', listOf(product), [['result']]],
      ['a record', product, []],
      ['an envelope of shared schemas', { $ref: 'page#' }, [['items', 'total']]],
      ['two levels down nothing can be missing', listOf(deep), [['amount', 'currency'], ['result']]]
    ] as const
  ) {
    const [off, on, fewer] = await Promise.all(
      [undefined, true, { names: [title.startsWith('two') ? 'a' : 'id'] }].map(async (fields) => {
        const app = await build(t, (app) => {
          app.addSchema({ $id: 'product', ...product })
          app.addSchema(envelope)
          route(response, { ...fields !== undefined && { fields } })(app)
        })
        await app.ready()
        return app.mcpTools
      })
    ) as [FastifyInstance['mcpTools'], FastifyInstance['mcpTools'], FastifyInstance['mcpTools']]
    const found: unknown[] = []
    JSON.stringify(on[0]?.outputSchema, (key, value: unknown) => {
      if (key === 'required') found.push(value)
      return value
    })
    t.strictSame(found, required, title)
    const diff = (...[before, after]: [typeof off, typeof off]) =>
      diffContracts(contractFromTools(before), contractFromTools(after)).findings.map(({ bump, path, change }) =>
        `${bump} ${path} ${change}`
      ).filter((line) => !line.includes('description'))
    t.strictSame(diff(off, on), ['minor input.fields none → new optional argument'], title)
    t.strictSame(diff(on, off), ['major input.fields argument → removed'], title)
    t.match(diff(on, fewer), [/^major input\.fields\[\] .* removed$/], title)
    t.match(diff(fewer, on), [/^minor input\.fields\[\] .* added$/], title)
  }
})

t.test('a rule reads nothing of the route when it is off', (t) => {
  t.equal(
    fieldsRule('GET /x', undefined, false, {
      schema: {},
      places: new Map([['fields', 'query']]),
      inputs: [],
      body: 'none'
    }, () => {
      throw new Error('read')
    }),
    undefined
  )
  t.end()
})

t.test('what a function did not say is not missing from a call with wrong fields', async (t) => {
  const items = { type: 'object', properties: { id: { type: 'string' } } }
  const { url } = await listen(t, (app) => {
    app.get('/shops/:shop/things', {
      schema: {
        operationId: 'things',
        description: 'Things',
        tags: ['mcp'],
        response: { 200: { type: 'array', items } }
      }
    }, async () => [])
  }, {
    ...ALL,
    impliedArguments: {
      shop: () => {
        throw new TypeError('no database')
      }
    }
  })
  t.match(await call(url, 'things', { fields: ['other'] }), {
    isError: true,
    content: [{ text: /^The call failed\. The request id is req-\w+\.$/ }]
  })
})
