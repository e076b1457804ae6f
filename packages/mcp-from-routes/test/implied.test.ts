import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { contractFromTools, diffContracts, textOfFinding } from '../src/contract/index.ts'
import type { ImpliedArgument, McpFromRoutesOptions } from '../src/index.ts'
import { build, call, CLIENTS, connect, listen, post } from './build.ts'

const text = { type: 'string' }
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {}
}
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

/** Tools with `shop` in every place that it can have. */
function routes (app: FastifyInstance): void {
  const tool = (operationId: string, more: object = {}): { schema: object } => ({
    schema: { operationId, description: 'D.', tags: ['mcp'], ...more }
  })
  const answer = async (
    { params, query, body }: { params: unknown, query: unknown, body: unknown }
  ): Promise<object> => ({ params, query, body: body ?? null })
  const querystring = (required: string[]): object => ({
    type: 'object',
    properties: { shop: text, q: text },
    required
  })
  app.get('/shops/:shop/things/:id', tool('in_path'), answer)
  app.get('/optional/:shop?', tool('in_optional_path'), answer)
  app.get('/required', tool('in_query', { querystring: querystring(['shop', 'q']) }), answer)
  app.get('/wanted', tool('in_optional_query', { querystring: querystring([]) }), answer)
  app.post(
    '/things',
    tool('in_body', { body: { type: 'object', properties: { shop: text }, required: ['shop'] } }),
    answer
  )
  app.patch(
    '/shops/:shop',
    tool('at_least_one', { body: { type: 'object', properties: { a: text, b: text }, minProperties: 1 } }),
    answer
  )
  app.put('/shops/:shop', {
    ...tool('in_both', { body: { type: 'object', properties: { shop: text } } }),
    config: { mcp: { arguments: { body: { shop: { name: 'shop' } } } } }
  }, answer)
  app.get('/none', tool('none'), answer)
}

/** The shop is what a header says, as an authentication would read it from a key. */
const fromHeader: ImpliedArgument = ({ headers }) => headers['x-shop'] as string | undefined
const options: Partial<McpFromRoutesOptions> = { impliedArguments: { shop: fromHeader } }
const north = { 'x-shop': 'north' }

async function schemas (
  url: URL,
  headers: Record<string, string> = {},
  message: object = LIST
): Promise<Record<string, { required?: string[], minProperties?: number, properties: object }>> {
  const { body } = await post(url, message, headers)
  return Object.fromEntries(
    (body as { result: { tools: Array<{ name: string, inputSchema: never }> } }).result.tools.map((
      { name, inputSchema }
    ) => [name, inputSchema])
  )
}

const REQUIRED = {
  at_least_one: ['shop'],
  in_body: ['shop'],
  in_both: ['shop'],
  in_optional_path: undefined,
  in_optional_query: undefined,
  in_path: ['shop', 'id'],
  in_query: ['shop', 'q'],
  none: undefined
}
const OPTIONAL = { ...REQUIRED, at_least_one: undefined, in_both: undefined, in_path: ['id'], in_query: ['q'] }

t.test('an argument that is implied is optional for those whom it is implied for, in the path and the query string', async (t) => {
  const { url } = await listen(t, routes, options)
  const required = async (headers: Record<string, string>, message: object = LIST): Promise<object> =>
    Object.fromEntries(
      Object.entries(await schemas(url, headers, message)).map(([name, schema]) => [name, schema.required])
    )
  for (let round = 0; round < 2; round++) {
    t.strictSame(await required({}), REQUIRED)
    t.strictSame(await required(north), OPTIONAL, 'the list of one caller is not that of the next')
  }
  t.strictSame(await required(north, { ...LIST, params: { extra: 1 } }), OPTIONAL, 'through the SDK')
  t.strictSame(
    await required({ ...north, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }, {
      ...LIST,
      params: { _meta: ENVELOPE }
    }),
    OPTIONAL
  )
  const [open, own] = [await schemas(url), await schemas(url, north)]
  t.strictSame(own.in_path?.properties, open.in_path?.properties, 'it is still there')
  t.equal('minProperties' in Object(own.in_path), false)
  t.equal(open.at_least_one?.minProperties, 2)
  t.equal(own.at_least_one?.minProperties, 1, 'of the two that were needed one is implied')
})

t.test('an implied argument fills what is left out, and nothing that is optional or in the body', async (t) => {
  const { url } = await listen(t, routes, options)
  const sent = async (name: string, args: object, headers = north): Promise<unknown> => {
    const { structuredContent, content } = await call(url, name, args as Record<string, unknown>, headers)
    return structuredContent ?? (content as Array<{ text: string }>)[0]?.text
  }
  t.strictSame(await sent('in_path', { id: '1' }), { params: { shop: 'north', id: '1' }, query: {}, body: null })
  t.strictSame(await sent('in_query', { q: 'x' }), { params: {}, query: { shop: 'north', q: 'x' }, body: null })
  t.strictSame(
    await sent('in_both', {}),
    { params: { shop: 'north' }, query: {}, body: { shop: 'north' } },
    'one argument for two inputs'
  )
  t.strictSame(await sent('at_least_one', { a: 'x' }), { params: { shop: 'north' }, query: {}, body: { a: 'x' } })
  t.strictSame(await sent('in_optional_query', {}), { params: {}, query: {}, body: null })
  t.strictSame(await sent('in_optional_path', {}), { params: {}, query: {}, body: null })
  t.match(await sent('in_body', {}), /^400 Bad Request: .*shop/)
  t.strictSame(await sent('none', {}), { params: {}, query: {}, body: null })
  t.match(
    await sent('none', { shop: 'north' }),
    /^Unknown argument "shop"/,
    'it is no argument of tools that have none'
  )
})

t.test('an argument that is passed counts, whatever is implied', async (t) => {
  const { url } = await listen(t, routes, options)
  t.match(await call(url, 'in_path', { shop: 'south', id: '1' }, north), {
    structuredContent: { params: { shop: 'south' } }
  })
  for (
    const [shop, said] of [[null, 'shop must be a string, a number or a boolean'], ['', 'shop must not be empty'], [
      '..',
      'shop must not be ".."'
    ], [{}, 'shop must be a string']] as const
  ) {
    t.match(await call(url, 'in_path', { shop, id: '1' }, north), { isError: true, content: [{ text: said }] })
  }
})

t.test('where nothing is implied the argument is required as before', async (t) => {
  for (
    const shop of [
      () => undefined,
      () => null as never,
      (async () => 'north') as never,
      () => ({ id: 'north' }) as never,
      () => ['north'] as never
    ]
  ) {
    const { url } = await listen(t, routes, { impliedArguments: { shop } })
    t.strictSame((await schemas(url)).in_path?.required, ['shop', 'id'])
    t.match(await call(url, 'in_path', { id: '1' }), { isError: true, content: [{ text: 'shop is missing' }] })
  }
})

t.test('a value that is implied meets the same checks as one that is passed', async (t) => {
  for (
    const [value, said] of [['..', 'shop must not be ".."'], ['', 'shop must not be empty'], [
      'x'.repeat(101),
      'shop must not be longer than 100 characters'
    ]] as const
  ) {
    const { url } = await listen(t, routes, { impliedArguments: { shop: () => value } })
    t.match(await call(url, 'in_path', { id: '1' }), { isError: true, content: [{ text: said }] })
  }
  const { url } = await listen(t, routes, { impliedArguments: { shop: () => 'a/../b?x=1#y' } })
  t.match(await call(url, 'in_path', { id: '1' }), {
    structuredContent: { params: { shop: 'a/../b?x=1#y', id: '1' }, query: {} }
  })
})

t.test('the function is told which tool it is about', async (t) => {
  const { url } = await listen(t, routes, {
    impliedArguments: { shop: (_request, { route }) => route.url.startsWith('/shops/') ? 'north' : undefined }
  })
  t.strictSame(
    Object.entries(await schemas(url)).filter(([name, { required }]) =>
      required !== (REQUIRED as Record<string, unknown>)[name] && !required?.includes('shop')
    ).map(([name]) => name),
    ['at_least_one', 'in_both', 'in_path']
  )
})

t.test('a function that throws is logged, calls nothing, and tells the client nothing', async (t) => {
  const logged: Array<Record<string, unknown>> = []
  const logger = {
    level: 'error',
    stream: {
      write: (line: string) => {
        logged.push(JSON.parse(line))
      }
    }
  }
  const { url } = await listen(t, routes, {
    impliedArguments: {
      shop: () => {
        throw new TypeError('connect ECONNREFUSED 10.0.0.5')
      }
    }
  }, { logger })
  for (const params of [{}, { extra: 1 }]) {
    const { body } = await post(url, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'in_path', arguments: { id: '1' }, ...params }
    })
    t.match(body, {
      result: { isError: true, content: [{ type: 'text', text: /^The call failed\. The request id is req-\w+\.$/ }] }
    })
    t.match(logged.splice(0), [{
      msg: 'impliedArguments threw',
      tool: 'in_path',
      err: { message: 'connect ECONNREFUSED 10.0.0.5' }
    }])
  }
  t.strictSame((await post(url, { ...LIST, params: { extra: 1 } })).body, {
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32603, message: 'Internal error' }
  })
  t.match(await call(url, 'none'), { structuredContent: {} }, 'other tools work')
})

for (const which of CLIENTS) {
  t.test(`client ${which} calls without an argument that is implied`, async (t) => {
    const { url } = await listen(t, routes, options)
    const client = await connect(t, which, url, north)
    t.match((await client.listTools()).tools.find(({ name }) => name === 'in_path'), {
      inputSchema: { required: ['id'] }
    })
    t.match(await client.callTool({ name: 'in_path', arguments: { id: '1' } }), {
      structuredContent: { params: { shop: 'north', id: '1' } }
    })
  })
}

t.test('the contract tells of arguments that are implied: more of them is minor, fewer is major', async (t) => {
  const contractWith = async (given: Partial<McpFromRoutesOptions>): Promise<ReturnType<typeof contractFromTools>> => {
    const app = await build(t, routes, given)
    await app.ready()
    return contractFromTools(app.mcpTools)
  }
  const [without, whole] = [await contractWith({}), await contractWith(options)]
  t.strictSame(
    [...whole].filter(([, { implied }]) => implied !== undefined).map(([name, { implied }]) => [name, implied]),
    ['at_least_one', 'in_both', 'in_path', 'in_query'].map((name) => [name, ['shop']])
  )
  t.strictSame(
    whole.get('in_path')?.inputSchema.required,
    ['shop', 'id'],
    'the contract is what every caller may rely on'
  )
  const lines = (before: typeof whole, after: typeof whole): string[] =>
    diffContracts(before, after).findings.filter(({ tool }) => tool === 'in_path').map((finding) =>
      `${finding.bump} ${textOfFinding(finding)}`
    )
  t.strictSame(lines(without, whole), [
    'minor in_path implied.shop: not implied → implied: callers whose credential implies it may leave it out'
  ])
  t.strictSame(lines(whole, without), [
    'major in_path implied.shop: implied → not implied: calls without it, from callers whose credential implied ' +
    'it, are refused'
  ])
  t.strictSame(lines(whole, whole), [])
})

t.test('a name that no tool requires is warned of', async (t) => {
  const warnings: unknown[] = []
  const logger = {
    level: 'warn',
    stream: {
      write: (line: string) => {
        const { msg, arguments: names } = JSON.parse(line)
        warnings.push({ msg, names })
      }
    }
  }
  const app = await build(t, routes, { impliedArguments: { shop: fromHeader, shopId: fromHeader, id: fromHeader } }, {
    logger
  })
  await app.ready()
  t.strictSame(warnings, [{
    msg: 'no tool requires these impliedArguments in its path, query string or headers',
    names: ['shopId']
  }])
  t.strictSame(app.mcpTools.find(({ name }) => name === 'in_path')?.implied, ['shop', 'id'])
})
