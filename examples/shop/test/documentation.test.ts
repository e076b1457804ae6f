import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { openapiDocument, SNAPSHOT } from '../src/commands/openapi.ts'
import { html, Html } from '../src/pages/html.ts'
import { page } from '../src/pages/landing.ts'
import { BASE_URL, build, openIdentityProvider, openTestDatabase } from './build.ts'
import { joined } from '../../../test/joined.ts'

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t)
const app = await build(t, database, idp, {
  settings: { METRICS_TOKEN: 'a token for the metrics'.replaceAll(' ', '-') }
})

interface Operation {
  operationId?: string
  summary?: string
  tags?: string[]
  security: object[]
  parameters?: Array<{ name: string, required?: boolean, content?: Record<string, { example?: unknown }> }>
  responses: Record<string, { headers: object, content?: Record<string, { schema: { type?: string } }> }>
}
interface Document {
  servers: unknown
  paths: Record<string, Record<string, Operation>>
  components: { securitySchemes: object, headers: object }
}

/** @returns every leaf of a document, by its path */
function leaves (value: unknown, path = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null) return new Map([[path, JSON.stringify(value)]])
  const entries = Object.entries(value)
  if (entries.length === 0) return new Map([[path, JSON.stringify(value)]])
  return new Map(entries.flatMap(([name, inner]) => [...leaves(inner, `${path}/${name.replaceAll('/', '~1')}`)]))
}

t.test('the API is the one that is stored', async (t) => {
  const [stored, now] = [leaves(JSON.parse(readFileSync(SNAPSHOT, 'utf8'))), leaves(await openapiDocument())]
  // The version rises with each release, whatever the release is about.
  const changes = [...new Set([...stored.keys(), ...now.keys()])].filter((path) =>
    path !== '/info/version' && stored.get(path) !== now.get(path)
  )
    .map((path) => `${path}: ${stored.get(path) ?? 'nothing'} became ${now.get(path) ?? 'nothing'}`)
  t.strictSame(
    changes.slice(0, 20),
    [],
    `${changes.length} changes of the API. If they are wanted: npm run build && npm run openapi -w ` +
      'examples/shop, and a changeset that says so'
  )
})

t.test('the description is valid, and tells which credentials a route takes', async (t) => {
  const { statusCode, headers, json } = await app.inject('/openapi.json')
  t.strictSame([statusCode, headers['content-type']], [200, 'application/json; charset=utf-8'])
  const document = json<Document>()
  const { valid, errors } = await new Validator().validate(json())
  t.ok(valid, JSON.stringify(errors)?.slice(0, 1000))
  t.strictSame(document.servers, [{ url: BASE_URL }])
  t.match(document.components.securitySchemes, {
    api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    bearer: { type: 'http', scheme: 'bearer' }
  })

  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const dual = operations.filter(({ security }) => security.length === 2)
  t.strictSame(
    dual.map(({ operationId }) => operationId).filter((id) => id !== 'mcp').toSorted(),
    app.mcpTools.map(({ name }) => name),
    'API keys open the tools, their endpoint and nothing else'
  )
  t.ok(
    operations.some(({ operationId }) => operationId === 'create_tag') &&
      document.paths['/shops/{shop_id}/api-keys']?.['post']
  )
  t.strictSame(document.paths['/healthz']?.['get']?.security, [])
  t.strictSame(document.paths['/admin/accounts']?.['get']?.security, [{ bearer: [] }])

  const parameters = document.paths['/shops/{shop_id}/tags']!['get']!.parameters!
  t.strictSame(parameters.filter(({ required }) => required).map(({ name }) => name), ['shop_id'])
  t.ok(parameters.find(({ name }) => name === 'filter')?.content, 'a filter is JSON')
})

t.test('the description has a summary of every operation, its headers, and the endpoint of tools', async (t) => {
  const document = (await app.inject('/openapi.json')).json<Document>()
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  t.strictSame(operations.filter(({ summary }) => summary === undefined).map(({ operationId }) => operationId), [])
  const ids = operations.map(({ operationId }) => operationId)
  t.equal(new Set(ids).size, ids.length, 'each operation once')
  // What has no URL of its own to read it at.
  const unaddressable = ['create_api_key', 'rotate_api_key', 'register_oauth_client', 'mcp']
  for (const { operationId, responses } of operations) {
    for (const [status, { headers, content }] of Object.entries(responses)) {
      const isList = status === '200' && content?.['application/json']?.schema.type === 'array'
      const names = [
        ...(isList ? ['Content-Range', 'Link'] : []),
        ...(['201', '202'].includes(status) && !unaddressable.includes(operationId!) ? ['Location'] : []),
        ...(['429', '503'].includes(status) ? ['Retry-After'] : []),
        ...(status === '401' ? ['WWW-Authenticate'] : []),
        ...(status === '429' ? ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] : []),
        'X-Request-Id'
      ]
      t.strictSame(
        headers,
        Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
        `${operationId} ${status}`
      )
    }
  }
  t.strictSame(Object.keys(document.components.headers).length, 9)
  t.match(document.paths['/mcp']?.['post'], {
    operationId: 'mcp',
    tags: ['mcp'],
    security: [{ api_key: [] }, { bearer: [] }],
    requestBody: { required: true }
  })
})

t.test('the pages show each operation once, send no filter by themselves, and let people sign in', async (t) => {
  const document = (await app.inject('/docs/json')).json<Document>()
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  t.strictSame(
    operations.filter(({ tags }) => tags?.length !== 1).map(({ operationId }) => operationId),
    [],
    'under one tag'
  )
  const filters = operations.flatMap(({ parameters = [] }) =>
    parameters.filter(({ name, content }) => name === 'filter' && content !== undefined)
  )
  t.equal(filters.length, 16)
  for (const { content } of filters) t.strictSame(content?.['application/json']?.example, {})

  const issuer = idp.settings['IDP_ISSUER']!
  t.match(document.components.securitySchemes, {
    sign_in: {
      type: 'oauth2',
      flows: {
        authorizationCode: {
          authorizationUrl: `${issuer}/auth`,
          tokenUrl: `${issuer}/token`,
          scopes: { openid: '', email: '', profile: '' }
        }
      }
    }
  })
  t.strictSame(document.paths['/admin/accounts']?.['get']?.security, [
    { bearer: [] },
    { sign_in: ['openid', 'email', 'profile'] }
  ])
  const script = (await app.inject('/docs/static/swagger-initializer.js')).body
  t.match(
    script,
    joined(
      /initOAuth\(\{"clientId":"test-mcp",/,
      /"scopes":\["openid","email","profile"\],"usePkceWithAuthorizationCodeGrant":true\}\)/
    )
  )
  const page = await app.inject('/docs/')
  t.match(page.headers['content-security-policy'], `connect-src 'self' ${issuer}`)
  t.equal(page.headers['cross-origin-opener-policy'], 'same-origin-allow-popups')
  t.equal((await app.inject('/docs/static/oauth2-redirect.html')).headers['cross-origin-opener-policy'], 'unsafe-none')
})

t.test('the pages of the documentation load, and their policy lets only their own scripts run', async (t) => {
  const index = await app.inject('/docs/')
  t.strictSame([index.statusCode, index.headers['content-type']], [200, 'text/html; charset=utf-8'])
  const assets = [...index.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) =>
    new URL(path!, `${BASE_URL}/docs/`)
  )
  t.ok(assets.length >= 4)
  for (const { origin, pathname } of assets) {
    t.equal(origin, BASE_URL)
    t.equal((await app.inject(pathname)).statusCode, 200, pathname)
  }
  t.match((await app.inject('/docs/json')).json(), { openapi: '3.1.0' })
  t.match((await app.inject('/docs/nothing')).json(), { statusCode: 404, code: 'SHOP_ROUTE_NOT_FOUND' })
  const policy = String(index.headers['content-security-policy'])
  t.match(policy, /script-src 'self'/)
  t.notMatch(policy, /https:|upgrade-insecure-requests|unsafe-inline|validator/)
  t.notMatch(index.body, /<script>(?!\s*<\/script>)/, 'no script in the page')
})

t.test('the first page needs nothing from elsewhere and runs its own script only', async (t) => {
  const { statusCode, headers, body } = await app.inject('/')
  t.strictSame([statusCode, headers['content-type']], [200, 'text/html; charset=utf-8'])
  t.match(headers['content-security-policy'], /^default-src 'none';style-src 'sha256-[^']+';script-src 'sha256-[^']+';/)
  t.notMatch(body, /<script[^>]|<img|<link|src=|@import|url\(/)
  for (const path of [...body.matchAll(/href="(\/[^"]*)"/g)].map(([, path]) => path!)) {
    t.equal((await app.inject(path)).statusCode, path === '/metrics' ? 401 : 200, path)
  }
  t.match(body, `<code>${BASE_URL}/mcp</code>`)
})

t.test('its settings for clients are what they read', async (t) => {
  const { body } = await app.inject('/')
  const texts = [...body.matchAll(/<pre[^>]*><code[^>]*>([^]*?)<\/code><\/pre>/g)].map(([, text]) =>
    text!
      .replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll(
        '&amp;',
        '&'
      )
  )
  t.ok(texts.includes(`claude mcp add --transport http shop ${BASE_URL}/mcp --header "X-API-Key: YOUR_API_KEY"`))
  const files = texts.filter((text) => text.startsWith('{')).map((text) => JSON.parse(text))
  t.strictSame(files.slice(0, 2), [
    { mcpServers: { shop: { url: `${BASE_URL}/mcp`, headers: { 'X-API-Key': 'YOUR_API_KEY' } } } },
    { servers: { shop: { type: 'http', url: `${BASE_URL}/mcp`, headers: { 'X-API-Key': 'YOUR_API_KEY' } } } }
  ])
  t.match(texts.find((text) => text.startsWith('[mcp_servers.shop]')), `url = "${BASE_URL}/mcp"`)
})

t.test('the lines of a demo have its key, at its own address alone, and nobody stores the page', async (t) => {
  const keys: string[] = []
  const demo = await build(t, database, idp, { demoKey: () => keys[0] })
  const at = async (host: string) => await demo.inject({ url: '/', headers: { host } })
  const { host } = new URL(BASE_URL)
  t.match((await at(host)).body, 'Replace <code>YOUR_API_KEY</code>', 'the demo has no key yet')
  keys.push('shop_demo')
  const shown = await at(host)
  t.match(shown.body, '--header &quot;X-API-Key: shop_demo&quot;')
  t.notMatch(shown.body, 'YOUR_API_KEY')
  t.equal(shown.headers['cache-control'], 'no-store')
  const elsewhere = await at('rebound.example')
  t.match(elsewhere.body, 'YOUR_API_KEY')
  t.notMatch(elsewhere.body, 'shop_demo')
})

t.test('whatever is put into a page is text', async (t) => {
  t.equal(
    html`<p title="${'"\'>'}">${'<b>&'}${new Html('<i>')}${[html`${'<'}`, html`2`]}</p>`.text,
    '<p title="&quot;&#39;&gt;">&lt;b&gt;&amp;<i>&lt;2</p>'
  )
  const { text } = page(
    {
      PUBLIC_BASE_URL: 'http://a"onload=alert(1)',
      MCP_ENABLED: true,
      IDP_MCP_CLIENT_ID: '',
      METRICS_TOKEN: [],
      CONSOLE_ENABLED: true
    } as never
  )
  t.notMatch(text, '"onload')
})

t.test('the page says what is switched off', async (t) => {
  const off = page({
    PUBLIC_BASE_URL: BASE_URL,
    MCP_ENABLED: false,
    IDP_MCP_CLIENT_ID: '',
    OAUTH_BROKER: false,
    METRICS_TOKEN: [],
    CONSOLE_ENABLED: false
  }).text
  t.match(off, /MCP_ENABLED=true/)
  t.match(off, /METRICS_TOKEN/)
  t.notMatch(off, /claude mcp add|href="\/console/)
})

t.test('the documents are written once, and not sent to those who have them', async (t) => {
  for (
    const [path, type] of [['/openapi.json', 'application/json; charset=utf-8'], [
      '/docs/json',
      'application/json; charset=utf-8'
    ], ['/docs/yaml', 'application/x-yaml']] as const
  ) {
    const first = await app.inject(path)
    t.strictSame([first.statusCode, first.headers['content-type']], [200, type])
    const etag = first.headers.etag as string
    t.match(etag, /^"[\w-]{43}"$/)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await app.inject({ url: path, headers: { 'if-none-match': known } })
      t.strictSame([again.statusCode, again.body, again.headers.etag], [304, '', etag], `${path} ${known}`)
    }
    const stale = await app.inject({ url: `${path}/?x=1`, headers: { 'if-none-match': '"other"' } })
    t.strictSame([stale.statusCode, stale.body === first.body], [200, true])
  }
})
