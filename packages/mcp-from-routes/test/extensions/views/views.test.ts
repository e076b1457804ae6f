import type { FastifyInstance, FastifyReply } from 'fastify'
import t from 'tap'
import {
  contractFromText,
  contractFromTools,
  diffContracts,
  textFromContract,
  textOfFinding
} from '../../../src/contract/index.ts'
import type { McpRouteResource } from '../../../src/extensions/resources/index.ts'
import { views, type McpViewPolicy } from '../../../src/extensions/views/index.ts'
import type { McpRouteConfig } from '../../../src/index.ts'
import type { ResourceClient } from '../resources/resources.test.ts'
import { call, CLIENTS, connect, having, post } from '../../build.ts'
import { runProgram } from '../../program.ts'

const { build, listen } = having(views())

const HTML = { 200: { content: { 'text/html': { schema: { type: 'string' } } } } }
const PAGE = '<!doctype html><title>x</title>'
const MIME = 'text/html;profile=mcp-app'

interface ViewParts {
  readonly resource?: Partial<McpRouteResource>
  readonly schema?: object
  readonly tags?: string[]
  readonly url?: string
  readonly method?: 'GET' | 'POST'
  readonly send?: (reply: FastifyReply) => unknown
}

function view (
  {
    resource,
    schema,
    tags = ['mcp-resource'],
    url = '/views/x',
    method = 'GET',
    send = (reply) => reply.type('text/html').send(PAGE)
  }: ViewParts = {}
): (app: FastifyInstance) => void {
  return (app) => {
    const uri = resource?.uri ?? 'ui://shop/x'
    app.route({
      method,
      url,
      schema: {
        operationId: `view${uri.replace(/\W+/g, '_')}`,
        description: 'A view.',
        tags,
        response: HTML,
        ...schema
      },
      config: { mcp: { resource: { name: 'x', ...resource, uri } } },
      handler: async (_request, reply) => send(reply)
    })
  }
}

function tool (mcp: McpRouteConfig, name = 'list_x', tags = ['mcp']): (app: FastifyInstance) => void {
  return (app) => {
    app.get(`/${name}`, {
      schema: {
        operationId: name,
        description: 'X.',
        tags,
        response: { 200: { type: 'object', properties: { a: { type: 'integer' } } } }
      },
      config: { mcp }
    }, async () => ({ a: 1 }))
  }
}

const read = async (url: URL | string, uri: string, headers: Record<string, string> = {}) =>
  (await post(url, { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } }, headers)).body as {
    result?: { contents: Array<Record<string, unknown>> },
    error?: object
  }
const messageOf = async (url: URL | string, method: string, params: object = {}) =>
  JSON.stringify((await post(url, { jsonrpc: '2.0', id: 1, method, params })).body)

t.test('the program of the documentation runs, and every official client finds its view, beside the same text', async (t) => {
  const line = await runProgram(t, 'views')
  t.match(line, /^list_products has the view ui:\/\/shop\/products at /)
  for (const which of CLIENTS) {
    const client = await connect(t, which, new URL(line.slice(line.indexOf('http'))))
    t.strictSame((await client.listTools()).tools[0]?._meta, { ui: { resourceUri: 'ui://shop/products' } }, which)
    t.match(await client.callTool({ name: 'list_products' }), {
      content: [{ type: 'text', text: '[{"name":"Kettle","price":39},{"name":"Cup","price":8}]' }],
      structuredContent: { result: [{ name: 'Kettle' }, { name: 'Cup' }] }
    }, which)
    const resources = client as unknown as ResourceClient
    t.strictSame((await resources.listResources()).resources, [{
      uri: 'ui://shop/products',
      name: 'products',
      description: 'The products as a list.',
      mimeType: MIME,
      _meta: { ui: { prefersBorder: true } }
    }], which)
    t.match(await resources.readResource({ uri: 'ui://shop/products' }), {
      contents: [{
        uri: 'ui://shop/products',
        mimeType: MIME,
        text: /^<!doctype html>[^]*ui\/initialize/,
        _meta: { ui: { prefersBorder: true } }
      }]
    }, which)
  }
})

t.test('a view adds to the list where it is, and nothing anywhere else', async (t) => {
  const [plain, viewed] = await Promise.all([
    listen(t, tool({})),
    listen(t, (app) => {
      tool({ view: 'GET /views/x' })(app)
      view()(app)
    })
  ])
  const [before, after] = await Promise.all([plain, viewed].map(async ({ url }) => await messageOf(url, 'tools/list')))
  t.equal(after?.replace(',"_meta":{"ui":{"resourceUri":"ui://shop/x"}}', ''), before)
  t.strictSame(await call(viewed.url, 'list_x'), await call(plain.url, 'list_x'))
  t.notMatch(before, /_meta/)
  t.match(await messageOf(plain.url, 'resources/read', { uri: 'ui://shop/x' }), /-32601/)
})

t.test('a host gets the policy of the route, and nothing that the route does not send as a page', async (t) => {
  const ui: McpViewPolicy = {
    csp: {
      connectDomains: ['wss://live.example.com'],
      resourceDomains: ['https://*.example.com', 'http://localhost:8080'],
      frameDomains: [],
      baseUriDomains: []
    },
    permissions: { clipboardWrite: {} },
    domain: 'x.hosts.example',
    prefersBorder: false
  }
  const { app, url } = await listen(
    t,
    view({
      resource: { ui },
      send: (reply) => reply.type('text/html; charset=utf-8').send(`${PAGE}${String(reply.request.headers.accept)}`)
    })
  )
  t.strictSame((await read(url, 'ui://shop/x')).result, {
    contents: [{ uri: 'ui://shop/x', mimeType: MIME, _meta: { ui }, text: `${PAGE}text/html, */*;q=0.8` }]
  })
  t.throws(() => {
    Object.assign((app.mcpResources[0]?._meta?.ui as McpViewPolicy).csp ?? {}, {
      connectDomains: ['https://evil.example']
    })
  }, 'a plugin cannot widen it later')
  const cases: ReadonlyArray<readonly [(reply: FastifyReply) => unknown, RegExp]> = [
    [(reply) => reply.type('text/plain').send(PAGE), /answered with text\/plain, not text\/html/],
    [(reply) => reply.code(204).send(), /answered with no media type/],
    [(reply) => reply.type('text/html').code(404).send('<p>gone'), /Resource not found/]
  ]
  for (const [send, message] of cases) {
    const { url } = await listen(t, view({ send }))
    t.match((await read(url, 'ui://shop/x')).error, { message })
  }
})

t.test('a view is hidden from whom it is hidden', async (t) => {
  const { url } = await listen(t, (app) => {
    view()(app)
    tool({ view: 'GET /views/x' })(app)
  }, {
    canUse: ({ name }, { headers }) => !name.startsWith('view') || headers.authorization === 'staff'
  })
  const hidden = await read(url, 'ui://shop/x')
  t.match(hidden.error, { code: -32602, message: 'Resource not found: ui://shop/x' })
  t.match((await read(url, 'ui://shop/x', { authorization: 'staff' })).result?.contents[0], { text: PAGE })
  for (
    const uri of [
      'ui://shop/x/',
      'ui://shop/../shop/x',
      'ui://shop/%78',
      'UI://shop/x',
      'ui://shop/x?shop_id=2',
      'ui://shop/x#a'
    ]
  ) t.match((await read(url, uri, { authorization: 'staff' })).error, { code: -32602 }, uri)
})

t.test('a tool may be left to views; a view may be left to models', async (t) => {
  const { app } = await listen(t, (app) => {
    view()(app)
    tool({ view: 'GET /views/x', visibility: ['model'] })(app)
    tool({ visibility: ['app'] }, 'refresh_x')(app)
  })
  t.strictSame(app.mcpTools.map(({ _meta }) => _meta?.ui), [{ resourceUri: 'ui://shop/x', visibility: ['model'] }, {
    visibility: ['app']
  }])
})

t.test('what a host could not trust stops the start', async (t) => {
  const named = (mcp: object, ...shown: Array<(app: FastifyInstance) => void>) => (app: FastifyInstance): void => {
    for (const one of shown) one(app)
    tool(mcp as McpRouteConfig)(app)
  }
  const of = (ui: unknown): (app: FastifyInstance) => void => view({ resource: { ui: ui as McpViewPolicy } })
  const cases: ReadonlyArray<readonly [routes: (app: FastifyInstance) => void, message: RegExp]> = [
    [
      named({ view: 'GET /views/y' }, view()),
      /view is GET \/views\/y, and no route of that method and path is a resource/
    ],
    [
      named({ view: 'GET /views/x' }, (app) => {
        app.get('/views/x', async () => PAGE)
      }),
      /is a resource/
    ],
    [named({ view: 'POST /views/x' }, view()), /view must be a GET route/],
    [named({ view: '/views/x' }, view()), /view must be a GET route/],
    [named({ view: 5 }, view()), /view must be/],
    [named({ view: 'GET /views/x' }, view({ method: 'POST' })), /no route of that method|needs a GET route/],
    [
      named({ view: 'GET /views/x' }, view({ resource: { uri: 'shop://x' } })),
      /whose resource\.uri must begin with ui:\/\//
    ],
    [named({ view: 'GET /views/x' }, view({ tags: [] })), /needs the tag mcp-resource/],
    [named({ visibility: [] }, view()), /visibility must be an array/],
    [named({ visibility: ['app', 'app'] }, view()), /visibility must be/],
    [named({ visibility: ['user'] }, view()), /visibility must be/],
    [named({ visibility: 'app' }, view()), /visibility must be/],
    [named({ visibility: ['app'] }, view()), /leaves the tool to views, and no tool has a view/],
    [view({ url: '/views/:id', resource: { uri: 'ui://shop/{id}' } }), /read a view without arguments: id has to go/],
    [
      view({ schema: { querystring: { type: 'object', required: ['q'], properties: { q: { type: 'string' } } } } }),
      /without arguments: q has to go/
    ],
    [
      view({
        schema: { querystring: { type: 'object', properties: { q: { type: 'string' } } } },
        resource: { uri: 'ui://shop/{q}' }
      }),
      /without arguments: q has to go/
    ],
    [view({ resource: { mimeType: 'text/html' } }), /mimeType must be left out/],
    ...[undefined, { 200: { type: 'string' } }, { 404: HTML[200] }, {
      200: { content: { ...HTML[200].content, 'application/json': { schema: {} } } }
    }, { ...HTML, 201: { type: 'string' } }].map((response) =>
      [view({ schema: { response } }), /needs the response schema of HTML/] as const
    ),
    [view({ resource: { uri: 'shop://x', ui: {} } }), /resource\.ui is for views/],
    [of([]), /resource\.ui must be an object/],
    [of({ sandbox: 'allow-top-navigation' }), /resource\.ui\.sandbox is unknown/],
    ...[
      '',
      5,
      'a b.example',
      'x.example/',
      'javascript:alert(1)',
      'x.example; script-src *',
      '*.example',
      'http://x.example',
      'https://x.example/path',
      'x.example\n',
      'X.example',
      'x'
    ].map((domain) => [of({ domain }), /domain must be a host .* or its https origin/] as const),
    [of({ prefersBorder: 'yes' }), /prefersBorder must be/],
    [of({ permissions: { usb: {} } }), /permissions\.usb is unknown/],
    [of({ permissions: { camera: true } }), /permissions\.camera must be \{\}/],
    [of({ permissions: ['camera'] }), /permissions must be an object/],
    [of({ csp: { scriptDomains: [] } }), /csp\.scriptDomains is unknown/],
    [of({ csp: { connectDomains: 'https://a.example' } }), /connectDomains must be an array/],
    ...[
      '*',
      'https:',
      'https://*',
      'https://*.com',
      'https://a.*.example',
      "'self'",
      "'unsafe-eval'",
      'data:',
      'blob:',
      'a.example',
      '//a.example',
      'http://a.example',
      'https://a.example/',
      'https://a.example/x',
      'https://a.example?x',
      'https://u@a.example',
      'HTTPS://A.EXAMPLE',
      'https://a.example; script-src *',
      'https://a.example https://b.example',
      'https://a.example\n',
      '',
      5,
      null
    ].map((origin) =>
      [
        of({ csp: { resourceDomains: ['https://ok.example', origin] } }),
        /resource\.ui\.csp\.resourceDomains has .*, which is no origin/
      ] as const
    )
  ]
  for (const [routes, message] of cases) {
    const app = await build(t, routes)
    await t.rejects(async () => await app.ready(), { message }, String(message))
  }
})

t.test('the contract tells whom a change of a view or of visibility concerns', async (t) => {
  const of = async (ui: McpViewPolicy | undefined, mcp: McpRouteConfig) => {
    const app = await build(t, (app) => {
      view({ resource: { ...ui && { ui } } })(app)
      tool({ view: 'GET /views/x' }, 'other')(app)
      tool(mcp)(app)
    })
    await app.ready()
    return contractFromTools(app.mcpTools, { resources: app.mcpResources })
  }
  const [before, after] = [
    await of(undefined, { view: 'GET /views/x', visibility: ['model'] }),
    await of({ csp: { connectDomains: ['https://a.example'] } }, { visibility: ['app'] })
  ]
  const findings = diffContracts(before, after).findings.map((finding) => `${finding.bump} ${textOfFinding(finding)}`)
  t.strictSame(findings, [
    'major list_x _meta.ui.visibility: models → not models: models that call it are refused by their host',
    'minor list_x _meta.ui.visibility: not views → views: who calls it already still may',
    'minor ui://shop/x _meta: none → {"ui":{"csp":{"connectDomains":["https://a.example"]}}}: hosts let the ' +
    'view do something else, and may have to admit it again',
    'patch list_x _meta: {"ui":{"resourceUri":"ui://shop/x","visibility":["model"]}} → ' +
    '{"ui":{"visibility":["app"]}}: calls and results stay as they are'
  ])
  t.strictSame(diffContracts(contractFromText(textFromContract(after), 'x'), after).findings, [])
  t.match(textFromContract(after), /"mimeType": "text\/html;profile=mcp-app"/)
})
