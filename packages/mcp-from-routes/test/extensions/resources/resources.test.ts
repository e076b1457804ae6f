import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, RouteOptions } from 'fastify'
import t from 'tap'
import {
  contractFromText,
  contractFromTools,
  diffContracts,
  textFromContract,
  textOfFinding,
  type Contract
} from '../../../src/contract/index.ts'
import { resources, type McpRouteResource } from '../../../src/extensions/resources/index.ts'
import type { McpFromRoutesOptions, McpRouteConfig } from '../../../src/index.ts'
import { overlap, templateFrom, valuesFromUri, type UriTemplate } from '../../../src/extensions/resources/template.ts'
import { CLIENTS, connect, having, post } from '../../build.ts'
import { runProgram } from '../../program.ts'

const { build, listen } = having(resources())

/** What both lines' clients have in common, as far as resources go. */
export interface ResourceClient {
  listResources: () => Promise<{ resources: ReadonlyArray<{ uri: string, [key: string]: unknown }> }>
  listResourceTemplates: () => Promise<
    { resourceTemplates: ReadonlyArray<{ uriTemplate: string, [key: string]: unknown }> }
  >
  readResource: (
    params: { uri: string }
  ) => Promise<{ contents: ReadonlyArray<Record<string, unknown>>, [key: string]: unknown }>
}

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {}
}

/** A message about resources, as one of the newest revision. */
async function ask (
  url: URL | string,
  method: string,
  params: { uri?: string, cursor?: string } = {},
  headers: Record<string, string> = {}
): Promise<
  { status: number, result?: Record<string, unknown>, error?: { code: number, message: string, data?: unknown } }
> {
  const { status, body } = await post(url, { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: MODERN } }, {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...params.uri !== undefined && { 'mcp-name': params.uri },
    ...headers
  })
  return { status, ...body as object }
}

const textOf = (result: Record<string, unknown> | undefined): unknown =>
  (result as { contents: Array<{ text?: string }> }).contents[0]?.text

function resource (
  url: string,
  uri: string,
  handler: (request: never, reply: FastifyReply) => unknown,
  more: {
    readonly resource?: Partial<McpRouteResource>,
    readonly mcp?: McpRouteConfig,
    readonly schema?: object,
    readonly route?: Partial<RouteOptions>
  } = {}
): (app: FastifyInstance) => void {
  return (app) => {
    app.route({
      method: 'GET',
      url,
      ...more.route,
      schema: {
        operationId: `read${url.replace(/\W+/g, '_')}`,
        description: 'A file.',
        tags: ['mcp-resource'],
        ...more.schema
      },
      config: { mcp: { ...more.mcp, resource: { uri, name: 'file', ...more.resource } } },
      handler: async (request, reply) => handler(request as never, reply)
    })
  }
}

t.test('the program of the documentation runs, and every official client lists and reads its resources', async (t) => {
  const line = await runProgram(t, 'resources')
  t.match(line, /^shop:\/\/policies and shop:\/\/policies\/\{id\} at /)
  for (const which of CLIENTS) {
    const client = await connect(t, which, new URL(line.slice(line.indexOf('http')))) as unknown as ResourceClient
    t.strictSame((await client.listResources()).resources, [{
      uri: 'shop://policies',
      name: 'policies',
      description: 'The names of the policies.',
      mimeType: 'application/json'
    }], which)
    t.strictSame((await client.listResourceTemplates()).resourceTemplates, [{
      uriTemplate: 'shop://policies/{id}',
      name: 'policy',
      description: 'One policy of the shop.',
      mimeType: 'text/markdown'
    }], which)
    t.match(await client.readResource({ uri: 'shop://policies' }), {
      contents: [{ uri: 'shop://policies', mimeType: 'application/json', text: '["returns","shipping"]' }]
    }, which)
    t.match(await client.readResource({ uri: 'shop://policies/returns' }), {
      contents: [{
        uri: 'shop://policies/returns',
        mimeType: 'text/markdown',
        text: '# Returns\n\nWithin 30 days, unused.\n'
      }]
    }, which)
    await t.rejects(client.readResource({ uri: 'shop://policies/none' }), {
      code: -32602,
      data: { uri: 'shop://policies/none' }
    }, which)
    await t.rejects(client.readResource({ uri: 'shop://nothing' }), { code: -32602 }, which)
  }
})

t.test('a resource that its route compresses unasked is read all the same', async (t) => {
  const { url } = await listen(
    t,
    resource(
      '/policy',
      'shop://policy',
      (_request, reply) => reply.type('text/plain').header('content-encoding', 'gzip').send(gzipSync('Within 30 days'))
    )
  )
  t.equal(textOf((await ask(url, 'resources/read', { uri: 'shop://policy' })).result), 'Within 30 days')
})

t.test('without a tagged route, nothing says that there are resources', async (t) => {
  const { url } = await listen(t, (app) => {
    app.get('/x', { schema: { operationId: 'x', description: 'X.', tags: ['mcp'] } }, async () => 'x')
  })
  t.notMatch(JSON.stringify((await ask(url, 'server/discover')).result), /resources/)
  for (const method of ['resources/list', 'resources/templates/list', 'resources/read']) {
    t.match(
      await ask(url, method, method === 'resources/read' ? { uri: 'shop://x' } : {}),
      { error: { code: -32601 } },
      method
    )
  }
})

t.test('a route may be a tool and a resource, and one that is only a resource is no tool', async (t) => {
  const { app, url } = await listen(t, (app) => {
    resource('/a', 'shop://a', () => 'a', { schema: { tags: ['mcp', 'mcp-resource'] } })(app)
    resource('/b', 'shop://b', () => 'b')(app)
  })
  t.strictSame(app.mcpTools.map(({ name }) => name), ['read_a'])
  t.strictSame(app.mcpResources.map(({ uri }) => uri), ['shop://a', 'shop://b'])
  t.match(await ask(url, 'server/discover'), { result: { capabilities: { tools: {}, resources: {} } } })
  const { body } = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'read_b' } })
  t.match(body, { error: { code: -32602 } })
  t.match(await ask(url, 'resources/list', { cursor: 'x' }), { error: { code: -32602, message: 'Invalid cursor' } })
})

t.test('a resource is what its route returns: text or bytes, and for how long caches may keep it', async (t) => {
  const png = Buffer.from([0x89, 0x50, 0xff])
  const cases: ReadonlyArray<readonly [send: (reply: FastifyReply) => unknown, result: object, declared?: string]> = [
    [(reply) => reply.type('image/png').send(png), {
      contents: [{ uri: 'shop://x', mimeType: 'image/png', blob: png.toString('base64') }],
      ttlMs: 0,
      cacheScope: 'private'
    }],
    [(reply) => reply.type('image/svg+xml').send('<svg/>'), {
      contents: [{ mimeType: 'image/svg+xml', text: '<svg/>' }]
    }],
    [(reply) => reply.type('text/plain; charset=latin1').send(Buffer.from([0xe9])), {
      contents: [{ mimeType: 'text/plain', text: 'é' }]
    }],
    [(reply) => reply.type('text/plain; charset=utf-16').send(Buffer.from('ab', 'utf16le')), {
      contents: [{ mimeType: 'text/plain', text: 'ab' }]
    }],
    [(reply) => reply.type('text/plain').send(Buffer.from([0xe9])), {
      contents: [{ mimeType: 'text/plain', blob: '6Q==' }]
    }],
    [
      (reply) => {
        reply.hijack()
        reply.raw.end('x')
      },
      { contents: [{ mimeType: 'text/csv', text: 'x' }] },
      'text/csv'
    ],
    [(reply) => reply.code(204).send(), { contents: [{ text: '' }] }],
    [(reply) => reply.header('cache-control', 'public, max-age=60').send('x'), {
      ttlMs: 60_000,
      cacheScope: 'private'
    }],
    [(reply) => reply.header('cache-control', 'max-age=60, no-cache').send('x'), { ttlMs: 0 }],
    [(reply) => reply.send({ accept: reply.request.headers.accept }), {
      contents: [{ text: '{"accept":"text/markdown, */*;q=0.8"}' }]
    }, 'text/markdown']
  ]
  for (const [send, result, mimeType] of cases) {
    const { url } = await listen(
      t,
      resource('/x', 'shop://x', (_request, reply) => send(reply), {
        resource: { ...mimeType !== undefined && { mimeType } }
      })
    )
    t.match((await ask(url, 'resources/read', { uri: 'shop://x' })).result, result)
  }
  const { url } = await listen(
    t,
    resource('/x', 'shop://x', (_request, reply) => reply.header('cache-control', 'public, max-age=60').send('x')),
    { cacheScope: 'public', cacheTtl: 7 }
  )
  t.match((await ask(url, 'resources/read', { uri: 'shop://x' })).result, { ttlMs: 60_000, cacheScope: 'public' })
  t.match((await ask(url, 'resources/list')).result, { ttlMs: 7, cacheScope: 'public' })
  for (
    const [directives, hints] of [['public, private, max-age=60', { ttlMs: 60_000, cacheScope: 'private' }], [
      'public, no-cache="a", private="b, c", max-age=60',
      { ttlMs: 0, cacheScope: 'private' }
    ]] as const
  ) {
    const { url } = await listen(
      t,
      resource('/x', 'shop://x', (_request, reply) => reply.header('cache-control', directives).send('x')),
      { cacheScope: 'public' }
    )
    t.match((await ask(url, 'resources/read', { uri: 'shop://x' })).result, hints, directives)
  }
  for (
    const [name, value, cacheScope] of [
      ['set-cookie', 'a=b', 'private'],
      ['vary', 'Authorization', 'private'],
      ['vary', '*', 'private'],
      ['vary', 'Origin, accept-encoding, X-Shop', 'private'],
      ['vary', 'Accept, Accept-Encoding, origin', 'public']
    ] as const
  ) {
    const { url } = await listen(
      t,
      resource(
        '/x',
        'shop://x',
        (_request, reply) => reply.header('cache-control', 'public, max-age=60').header(name, value).send('x')
      ),
      { cacheScope: 'public' }
    )
    t.match(
      (await ask(url, 'resources/read', { uri: 'shop://x' })).result,
      { ttlMs: 60_000, cacheScope },
      `an answer for one caller is not shared: ${name}: ${value}`
    )
  }
  const { body } = await post(url, { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'shop://x' } })
  t.strictSame((body as { result: object }).result, {
    contents: [{ uri: 'shop://x', mimeType: 'text/plain', text: 'x' }]
  }, 'older revisions know no hints')
})

t.test('what a route refuses is an error of the protocol, and a challenge is an HTTP status', async (t) => {
  const cases: ReadonlyArray<
    readonly [
      send: (reply: FastifyReply) => unknown,
      status: number,
      error: object,
      options?: Partial<McpFromRoutesOptions>
    ]
  > = [
    [(reply) => reply.code(404).send({ message: 'Gone for good' }), 200, {
      code: -32602,
      message: /^Resource not found: shop:\/\/x: 404 Not Found: Gone for good/,
      data: { uri: 'shop://x' }
    }],
    [(reply) => reply.code(403).send({ message: 'Not yours' }), 200, { code: -32603, message: /Not yours/ }],
    [(reply) => reply.code(401).header('www-authenticate', 'Bearer').send({ message: 'Who?' }), 401, {
      code: -32000,
      message: /Who\?/
    }],
    [(reply) => reply.redirect('/y'), 200, { code: -32603, message: /points to \/y, which is not followed/ }],
    [
      () => {
        throw new Error('secret')
      },
      200,
      { code: -32603, message: /^The route failed with status 500 Internal Server Error\. The request id is / }
    ],
    [(reply) => reply.send('xxx'), 200, {
      code: -32603,
      message: 'The resource has 3 bytes, more than the 2 that one read may return.'
    }, { maxResultBytes: 2 }],
    [async (reply) => reply.type('text/plain').send((await import('node:stream')).Readable.from(['xx', 'xx'])), 200, {
      code: -32603,
      message: /^The resource has at least \d bytes, more than the 3 that one read may return\.$/
    }, { maxResultBytes: 3 }],
    [() => new Promise(() => {}), 200, { code: -32603, message: /did not answer within 1 ms/ }, { toolTimeout: 1 }]
  ]
  for (const [send, status, error, options] of cases) {
    const { url } = await listen(t, resource('/x', 'shop://x', (_request, reply) => send(reply)), options)
    const answer = await ask(url, 'resources/read', { uri: 'shop://x' })
    t.match(answer.error, error)
    t.notMatch(JSON.stringify(answer), /secret/)
    if (status === 401) t.equal(answer.status, 401)
  }
})

t.test('a caller reads its own: the headers reach the route, canUse hides, and hidden is as unknown', async (t) => {
  const { url } = await listen(t, (app) => {
    resource(
      '/mine',
      'shop://mine',
      ({ headers }: { headers: object }) => (headers as { authorization?: string }).authorization ?? 'nobody'
    )(app)
    resource('/staff/:id', 'shop://staff/{id}', ({ params }: { params: { id: string } }) => params.id)(app)
    resource('/asked', 'shop://asked', (_request, reply) => reply.code(403).send({ message: 'Ask for staff' }))(app)
  }, {
    canUse: ({ name }, { headers }) =>
      name === 'read_mine' || (name === 'read_asked' ? 'unlisted' : headers.authorization === 'staff')
  })
  const as = async (who: string, method: string, params: { uri?: string } = {}) =>
    await ask(url, method, params, { authorization: who })
  t.equal(textOf((await as('ann', 'resources/read', { uri: 'shop://mine' })).result), 'ann')
  t.match((await as('ann', 'resources/list')).result, { resources: [{ uri: 'shop://mine' }] })
  t.strictSame(((await as('ann', 'resources/list')).result as { resources: unknown[] }).resources.length, 1)
  t.strictSame((await as('ann', 'resources/templates/list')).result?.resourceTemplates, [])
  t.match((await as('staff', 'resources/templates/list')).result?.resourceTemplates, [{
    uriTemplate: 'shop://staff/{id}'
  }])
  const hidden = await as('ann', 'resources/read', { uri: 'shop://staff/1' })
  t.strictSame(hidden.error, {
    ...(await as('ann', 'resources/read', { uri: 'shop://stuff/1' })).error,
    message: 'Resource not found: shop://staff/1',
    data: { uri: 'shop://staff/1' }
  })
  t.equal(textOf((await as('staff', 'resources/read', { uri: 'shop://staff/1' })).result), '1')
  t.match((await as('ann', 'resources/read', { uri: 'shop://asked' })).error, {
    code: -32603,
    message: /Ask for staff/
  })
  const broken = await listen(t, resource('/x', 'shop://x', () => 'x'), {
    canUse: () => {
      throw new Error('secret')
    }
  })
  t.match((await ask(broken.url, 'resources/read', { uri: 'shop://x' })).error, {
    code: -32603,
    message: 'Internal error'
  })
})

t.test('an argument that the credential implies needs no variable', async (t) => {
  const shop = resource(
    '/shops/:shop_id/terms',
    'shop://terms',
    ({ params }: { params: { shop_id: string } }) => params.shop_id
  )
  const { url } = await listen(t, shop, {
    impliedArguments: { shop_id: ({ headers }) => headers['x-api-key'] as string | undefined }
  })
  t.equal(textOf((await ask(url, 'resources/read', { uri: 'shop://terms' }, { 'x-api-key': 's1' })).result), 's1')
  t.match((await ask(url, 'resources/read', { uri: 'shop://terms' })).error, {
    code: -32602,
    message: /shop_id is missing/
  })
})

t.test('no URI leads to another route, another segment or another caller', async (t) => {
  const reached: string[] = []
  const { url } = await listen(t, (app) => {
    app.addHook('onRequest', async ({ url, routeOptions }) => {
      if (routeOptions.url !== '/mcp') reached.push(`${routeOptions.url} ${url}`)
    })
    resource('/files/:id', 'shop://files/{id}.md', ({ params }: { params: { id: string } }) => params.id)(app)
    app.get('/files/secret', async () => 'secret')
    app.get('/admin', async () => 'secret')
  })
  for (
    const id of [
      '..%2Fadmin',
      '..%2f..%2fadmin',
      '%2e%2e',
      '..',
      '.',
      '%2E',
      'a%2Fb',
      'a%5Cb',
      'a\\b',
      'a%00b',
      'a%0Ab',
      'a?x=1',
      'a#b',
      '',
      '%',
      '%zz',
      '%c0%af',
      '%ff',
      'secret',
      '../admin',
      'x/../../admin',
      'a%3Fx',
      'x'.repeat(101)
    ]
  ) {
    const { result, error } = await ask(url, 'resources/read', { uri: `shop://files/${id}.md` })
    if (id === 'a%3Fx') t.equal(textOf(result), 'a?x', 'an encoded question mark is part of the value')
    else if (id === '%2e%2e' || id === '..' || id === '.' || id === '%2E') t.match(error, { code: -32602 }, id)
    else t.match(error, { code: -32602, data: { uri: `shop://files/${id}.md` } }, id)
  }
  t.strictSame(
    reached.filter((line) => !line.startsWith('/files/:id')),
    [],
    'the guard refuses the one that the router sends elsewhere'
  )
  t.equal(
    textOf((await ask(url, 'resources/read', { uri: 'shop://files/a%252Fb.md' })).result),
    'a%2Fb',
    'nothing is decoded twice'
  )
  for (
    const uri of [
      'SHOP://files/a.md',
      'shop://files/a',
      'shop:files/a.md',
      'shop://other/a.md',
      'https://example.com',
      '',
      'shop://files/a.md/'
    ]
  ) t.match((await ask(url, 'resources/read', { uri })).error, { code: -32602 }, uri)
  const { body } = await post(
    url,
    [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'resources/read', params: { uri: 'shop://files/a.md' } }))
  )
  t.match(body, { error: { message: /a batch may hold one request/ } }, 'limits count requests')
})

t.test('a resource that could not be read stops the start', async (t) => {
  const get = (url: string, uri: string, more: Parameters<typeof resource>[3] = {}) =>
    resource(url, uri, () => 'x', more)
  const cases: ReadonlyArray<readonly [routes: (app: FastifyInstance) => void, message: RegExp]> = [
    [
      get('/x', 'shop://x', { schema: { tags: [] } }),
      /GET \/x has a wrong config\.mcp: resource needs the tag mcp-resource/
    ],
    [(app) => {
      app.get('/x', { schema: { operationId: 'x', description: 'X.', tags: ['mcp-resource'] } }, async () => 'x')
    }, /resource is missing/],
    [get('/x', 'shop://x', { resource: { name: '' } }), /resource\.name must be a non-empty string/],
    [get('/x', 'shop://x', { resource: { size: 1 } as object }), /resource\.size is unknown/],
    [get('/x', 'shop://x', { resource: { mimeType: 'Text/HTML; charset=utf-8' } }), /mimeType must be a media type/],
    [get('/x', 'shop://x', { route: { method: 'POST' } }), /needs a GET route/],
    [get('/x', 5 as unknown as string), /uri must be a string/],
    [get('/x', '/policies'), /must begin with a scheme/],
    [get('/x', 'shop:x'), /must begin with a scheme/],
    [get('/x/:id', 'shop://x/{+id}'), /at most one \{variable\}/],
    [get('/x/:id', 'shop://x{?id}'), /at most one/],
    [get('/x/:id', 'shop://x/{id}#a'), /at most one/],
    [get('/x/:id', 'shop://x/{id}{id}'), /at most one/],
    [get('/x/:id', 'shop://x/{id}/{id}'), /same variable twice/],
    [get('/x/:id', 'shop://x/../{id}'), /must not have \. or \.\./],
    [get('/x/:id', 'shop://x/{other}'), /variable other, which is no argument of the route\. Arguments: id/],
    [get('/x/:id', 'shop://x'), /lacks a variable for the required argument id/],
    [(app) => {
      get('/x', 'shop://x')(app)
      get('/y', 'shop://x')(app)
    }, /is also what shop:\/\/x of GET \/x can be/],
    [(app) => {
      get('/x/:id', 'shop://x/{id}')(app)
      get('/y/:a', 'shop://{a}/y')(app)
    }, /is also what/]
  ]
  for (const [routes, message] of cases) {
    const app = await build(t, routes)
    await t.rejects(async () => await app.ready(), { code: 'MCP_FROM_ROUTES_INVALID_CONFIG', message })
  }
  await t.rejects(build(t, () => {}, { exposedTag: 'mcp-resource' }), {
    message: /exposedTag must not be mcp-resource, the tag of mcp-from-routes\/resources/
  })
  const early = build(t, () => {}, {}, {}, get('/x', 'shop://x'))
  await t.rejects(early.then(async (app) => await app.ready()), { code: 'MCP_FROM_ROUTES_REGISTERED_LATE' })
})

t.test('templates match what they make, and tell what two of them make', async (t) => {
  const template = (uri: string): UriTemplate => templateFrom(uri) as UriTemplate
  t.strictSame(valuesFromUri(template('a://b/{x}.md'), 'a://b/c%20d.md'), { x: 'c d' })
  t.strictSame(valuesFromUri(template('a://{x}/{y}'), 'a://1/2'), { x: '1', y: '2' })
  t.equal(valuesFromUri(template('a://b/{x}.md'), 'a://b/.md'), undefined)
  for (const dots of ['.', '..', '%2E', '.%2e']) {
    t.equal(
      valuesFromUri(template('a://b/{x}.md'), `a://b/${dots}.md`),
      undefined,
      'whatever argument of the route it is'
    )
  }
  t.equal(valuesFromUri(template('a://b/{x}-x'), 'a://b/-x'), undefined)
  const cases: ReadonlyArray<readonly [one: string, other: string, both: boolean]> = [
    ['a://b/{x}', 'a://b/c', true],
    ['a://b/{x}.md', 'a://b/c', false],
    ['a://b/{x}.md', 'a://b/{y}.txt', false],
    ['a://b/{x}.md', 'a://b/{y}d', true],
    ['a://b/x-{x}', 'a://b/y-{x}', false],
    ['a://b/{x}', 'a://b/{x}/c', false],
    ['a://{x}/c', 'a://b/{y}', true],
    ['a://b/{x}', 'c://b/{x}', false]
  ]
  for (const [one, other, both] of cases) {
    for (const [a, b] of [[one, other], [other, one]] as const) {
      t.equal(overlap(template(a), template(b)), both, `${a} ${b}`)
    }
  }
})

t.test('a resource takes precedence over a template, also when it is hidden', async (t) => {
  const { url } = await listen(t, (app) => {
    resource('/x/:id', 'shop://x/{id}', ({ params }: { params: { id: string } }) => `template ${params.id}`)(app)
    resource('/y', 'shop://x/new', () => 'one')(app)
  }, { canUse: ({ name }, { headers }) => name !== 'read_y' || headers.authorization === 'staff' })
  t.equal(textOf((await ask(url, 'resources/read', { uri: 'shop://x/new' }, { authorization: 'staff' })).result), 'one')
  t.match((await ask(url, 'resources/read', { uri: 'shop://x/new' })).error, { code: -32602 })
  t.equal(textOf((await ask(url, 'resources/read', { uri: 'shop://x/old' })).result), 'template old')
})

t.test('the contract holds the resources: one that goes, or gets another media type, is a major change', async (t) => {
  const of = async (...all: ReadonlyArray<readonly [uri: string, more?: Partial<McpRouteResource>]>) => {
    const app = await build(t, (app) => {
      for (const [index, [uri, more]] of all.entries()) {
        resource(`/${index}`, uri, () => 'x', { resource: more ?? {} })(app)
      }
    })
    await app.ready()
    return contractFromTools(app.mcpTools, { resources: app.mcpResources })
  }
  const before = await of(['shop://a', { mimeType: 'text/markdown' }], ['shop://b'], ['shop://d'])
  const after = await of(['shop://a', { mimeType: 'text/html', name: 'other' }], ['shop://c'], ['shop://d', {
    mimeType: 'text/html'
  }])
  const findings = (from: Contract, to: Contract): readonly string[] =>
    diffContracts(from, to).findings.map((finding) => `${finding.bump} ${textOfFinding(finding)}`)
  t.strictSame(findings(before, after), [
    'major shop://a mimeType: "text/markdown" → "text/html": clients that read the old media type find another',
    'major shop://b: resource → renamed to shop://c: clients that read it by its URI fail',
    'patch shop://a name: "file" → "other": what is read stays as it is',
    'patch shop://d mimeType: none → "text/html": what is read stays as it is'
  ])
  t.strictSame(findings(await of(['shop://a'], ['shop://b']), await of(['shop://a'])), [
    'major shop://b: resource → removed: clients that read it by its URI fail'
  ])
  t.strictSame(findings(await of(['shop://a']), await of(['shop://a'], ['shop://b'])), [
    'minor shop://b: none → new resource: clients that do not know it ignore it'
  ])
  const text = textFromContract(before)
  t.match(text, /"resources": \{\n {4}"shop:\/\/a": \{\n/)
  t.strictSame(textFromContract(contractFromText(text, 'x')), text)
  t.strictSame(diffContracts(contractFromText(text, 'x'), before).findings, [])
  t.notMatch(textFromContract(await of()), /resources/)
  t.throws(() => contractFromText('{"contract":1,"tools":{},"resources":[1]}', 'x'), {
    code: 'MCP_FROM_ROUTES_CONTRACT_UNREADABLE'
  })
})
