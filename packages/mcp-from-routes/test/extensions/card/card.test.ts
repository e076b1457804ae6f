import t from 'tap'
import {
  contractFromText,
  contractFromTools,
  diffContracts,
  textFromContract,
  textOfFinding
} from '../../../src/contract/index.ts'
import { freePort } from '../../../../../shared/free-port.ts'
import { card, type ServerCardOptions } from '../../../src/extensions/card/index.ts'
import type { ServerInfo } from '../../../src/index.ts'
import { build, CLIENTS, connect, listen, post, SERVER_INFO } from '../../build.ts'
import { runProgram } from '../../program.ts'

const CARD: ServerCardOptions = { name: 'com.example/test', description: 'For tests.' }

t.test('the program of the documentation runs, and clients find at the end of its card the server that it describes', async (t) => {
  const port = await freePort()
  const line = await runProgram(t, 'card', { PORT: String(port) })
  t.equal(line, `com.example/notes at http://localhost:${port}/mcp/server-card`)
  const card = await (await fetch(line.slice(line.indexOf('http')))).json() as {
    title: string,
    version: string,
    remotes: ReadonlyArray<
      { type: string, url: string, supportedProtocolVersions: readonly string[], headers: unknown }
    >
  }
  const [remote] = card.remotes
  t.match(card, {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: 'com.example/notes',
    version: '1.0.0',
    title: 'Notes',
    description: 'Notes that agents write and find again.'
  })
  t.match(remote, { type: 'streamable-http', headers: [{ name: 'Authorization', isRequired: true, isSecret: true }] })
  const url = new URL(remote!.url)
  for (const which of CLIENTS) {
    const client = await connect(t, which, url) as unknown as { getServerVersion: () => ServerInfo | undefined }
    t.match(client.getServerVersion(), { name: 'notes', version: '1.0.0', title: 'Notes' }, which)
  }
  for (const version of remote!.supportedProtocolVersions.slice(1)) {
    const { body } = await post(url, {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 'x', version: '1' } }
    })
    t.match(body, { result: { protocolVersion: version } })
  }
  const { body } = await post(url, {
    jsonrpc: '2.0',
    id: 1,
    method: 'server/discover',
    params: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {}
      }
    }
  }, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' })
  t.strictSame((body as { result: { supportedVersions: unknown } }).result.supportedVersions, [
    remote!.supportedProtocolVersions[0]
  ])
})

t.test('any page may read the card, caches keep it, and no authentication of the endpoint stands before it', async (t) => {
  const { url } = await listen(t, (app) => {
    app.addHook(
      'onRequest',
      async ({ routeOptions: { config } }, reply) =>
        Reflect.get(config, 'auth') === 'public' ? undefined : reply.code(401).send({})
    )
  }, {
    extensions: [card({ ...CARD, config: { auth: 'public' } as object })],
    onRequest: async (_request, reply) => reply.code(401).send({})
  })
  const at = new URL('/mcp/server-card', url)
  const response = await fetch(at, {
    headers: { origin: 'https://elsewhere.example', accept: 'application/mcp-server-card+json' }
  })
  t.equal(response.status, 200)
  t.match(Object.fromEntries(response.headers), {
    'content-type': 'application/mcp-server-card+json',
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'ETag',
    'cache-control': 'public, max-age=3600',
    etag: /^"[0-9a-f]{64}"$/
  })
  t.strictSame(
    Object.keys(await response.json() as object),
    ['$schema', 'name', 'version', 'description'],
    'and nothing of the tools'
  )
  const etag = response.headers.get('etag') ?? ''
  for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    t.equal((await fetch(at, { headers: { 'if-none-match': known } })).status, 304, known)
  }
  t.equal((await fetch(at, { headers: { 'if-none-match': '"x"' } })).status, 200)
  t.equal((await fetch(at, { method: 'HEAD' })).headers.get('etag'), etag)
  const preflight = await fetch(at, {
    method: 'OPTIONS',
    headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' }
  })
  t.match([preflight.status, Object.fromEntries(preflight.headers)], [204, {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET',
    'access-control-allow-headers': 'Content-Type, If-None-Match'
  }])
  t.equal((await fetch(url, { method: 'POST' })).status, 401)
})

t.test('a HEAD request is answered where the host makes no such routes', async (t) => {
  const { url } = await listen(t, () => {}, { extensions: [card(CARD)] }, { exposeHeadRoutes: false })
  const at = new URL('/mcp/server-card', url)
  const [head, get] = [await fetch(at, { method: 'HEAD' }), await fetch(at)]
  t.strictSame([head.status, head.headers.get('etag'), head.headers.get('content-length')], [
    200,
    get.headers.get('etag'),
    get.headers.get('content-length')
  ])
  t.equal(await head.text(), '')
})

t.test('without the option there is no card, and a hook that tags every route makes no tool of it', async (t) => {
  const { url, app } = await listen(t, () => {})
  t.equal((await fetch(new URL('/mcp/server-card', url))).status, 404)
  t.notOk(app.hasDecorator('mcpCard'))
  const tagging = await build(t, () => {}, { extensions: [card(CARD)], path: '/' }, {}, (app) => {
    app.addHook('onRoute', (route) => {
      route.schema = { ...route.schema, tags: ['mcp'] }
    })
  })
  await tagging.ready()
  t.equal((await tagging.inject('/server-card')).statusCode, 200)
  t.strictSame(tagging.mcpTools, [])
})

t.test('what a request says never gets into the card', async (t) => {
  const app = await build(t, () => {}, { extensions: [card(CARD)] })
  const { body } = await app.inject({
    url: '/mcp/server-card',
    headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' }
  })
  t.notMatch(body, /evil|remotes/)
})

t.test('a card that contradicts the server, or shows a secret, stops the start', async (t) => {
  const url = 'https://api.example.com/mcp'
  const cases: ReadonlyArray<readonly [card: unknown, message: RegExp, serverInfo?: ServerInfo, path?: string]> = [
    [null, /card must be an object/],
    [{ ...CARD, version: '2.0.0' }, /unknown member version. The version and the title are those of serverInfo/],
    [{ ...CARD, name: 'test' }, /must have a name like com.example\/shop/],
    [{ ...CARD, name: 'com.example/other' }, /has the name com\.example\/other, but serverInfo says test/],
    [{ ...CARD, description: 'x'.repeat(101) }, /1 to 100 characters/],
    [CARD, /is no range, and not \^1\.0\.0/, { ...SERVER_INFO, version: '^1.0.0' }],
    [CARD, /is no range, and not 1\.x/, { ...SERVER_INFO, version: '1.x' }],
    [CARD, /serverInfo\.title of at most 100/, { ...SERVER_INFO, title: 'x'.repeat(101) }],
    ...[
      'http://api.example.com/mcp',
      'ftp://x/mcp',
      '/mcp',
      'https://a:b@x.example/mcp',
      'https://x.example/mcp?',
      'https://x.example/mcp#a'
    ].map((url) => [{ ...CARD, url }, /must have a url that is https/] as const),
    [{ ...CARD, url: 'https://api.example.com' }, /does not lead to the endpoint: its path must end with \/mcp/],
    [{ ...CARD, headers: [{ name: 'A' }] }, /headers that are an array, beside a url/],
    [{ ...CARD, url, headers: [{ name: 'X-Api-Key', isSecret: true, value: 'sk_live' }] }, /A value would be public/],
    [{ ...CARD, url, headers: [{ name: 'a b' }] }, /headers with other members/],
    [{ ...CARD, websiteUrl: 'javascript:alert(1)' }, /websiteUrl/],
    [{ ...CARD, websiteUrl: 'https://a:b@x.example' }, /websiteUrl/],
    [{ ...CARD, repository: { source: 'github', url: 'https://ghp_token@github.com/a/b' } }, /repository/],
    [{ ...CARD, repository: { url } }, /repository with source and url/],
    [{ ...CARD, icons: [{ src: 'javascript:1' }] }, /icons with src/],
    [{ ...CARD, config: 5 }, /config that is an object/]
  ]
  for (const [wrong, message, serverInfo] of cases) {
    await t.rejects(
      build(t, () => {}, { extensions: [card(wrong as ServerCardOptions)], ...serverInfo && { serverInfo } }),
      {
        code: 'MCP_FROM_ROUTES_INVALID_OPTION',
        message
      }
    )
  }
  for (
    const [name, path, at] of [['test', '/', 'https://api.example.com'], [
      'com.example/test',
      '/mcp',
      'https://api.example.com/base/mcp/'
    ], ['test', '/mcp', 'http://localhost:3000/mcp']] as const
  ) {
    await t.resolves(
      build(t, () => {}, { path, serverInfo: { ...SERVER_INFO, name }, extensions: [card({ ...CARD, url: at })] }),
      at
    )
  }
})

t.test('the contract holds the card: another name is a major change, a release is none', async (t) => {
  const of = async (more: Partial<ServerCardOptions>, version = '1.0.0') => {
    const app = await build(t, () => {}, {
      serverInfo: { name: 'test', version },
      extensions: [card({ ...CARD, ...more })]
    })
    await app.ready()
    return contractFromTools(app.mcpTools, { card: app.mcpCard! })
  }
  const before = await of({})
  const textOf = async (card: Partial<ServerCardOptions>, version?: string): Promise<readonly string[]> =>
    diffContracts(before, await of(card, version)).findings.map((finding) =>
      `${finding.bump} ${textOfFinding(finding)}`
    )
  t.strictSame(await textOf({ url: 'https://api.example.com/mcp' }, '2.0.0'), [])
  t.strictSame(await textOf({ description: 'Other.' }), [
    'patch com.example/test description: "For tests." → "Other.": what is read stays as it is'
  ])
  t.strictSame((await textOf({ name: 'org.example/test' })).map((line) => line.split(':').slice(0, 2).join(':')), [
    'major com.example/test: server card → renamed to org.example/test'
  ])
  t.strictSame(
    (await textOf({ name: 'org.example/test', description: 'Other.' })).map((line) =>
      line.split(': ').slice(0, 2).join(': ')
    ),
    ['major com.example/test: server card → removed', 'minor org.example/test: none → new server card']
  )
  t.strictSame(diffContracts(contractFromText(textFromContract(before), 'x'), before).findings, [])
})
