import { randomUUID } from 'node:crypto'
import type { RouteOptions } from 'fastify'
import t from 'tap'
import { sealedIn } from '../../../packages/oauth-discovery-shim/test/broker/world.ts'
import {
  bearer,
  build,
  createShop,
  headersOf,
  LARGEST_HEADERS,
  openIdentityProvider,
  openTestDatabase
} from './build.ts'

const PAGE = 'https://console.example.com'
const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t)
const shop = await createShop(database, 'long-headers')
const machine = bearer(await idp.machineToken())
const routes: RouteOptions[] = []
const app = await build(t, database, idp, {
  settings: {
    CORS_ORIGINS: PAGE,
    OAUTH_BROKER: true,
    OAUTH_BROKER_SECRETS: `test:${'b'.repeat(32)}`,
    CONSOLE_ENABLED: true,
    IDP_CONSOLE_CLIENT_ID: 'console',
    METRICS_TOKEN: 'm'.repeat(32),
    MCP_IMPORTS_ENABLED: true,
    MCP_VIEWS_ENABLED: true,
    PAY_WEBHOOKS_ENABLED: true,
    RATE_LIMIT_MAX: 1_000_000
  },
  onRoute: (route) => {
    routes.push({ ...route })
  }
})
const { rows } = await database.knex.raw(
  `
  insert into tags (shop_id, name, slug) select ?, n::text, n::text from generate_series(1, 40) n returning id`,
  [shop]
)
const ids: readonly string[] = rows.map(({ id }: { id: string }) => id)
const LONG = 'x'.repeat(3000)

const filterOf = (some: readonly string[]): string => encodeURIComponent(JSON.stringify({ id: some }))
const SPACED = encodeURIComponent(`["id",${' '.repeat(5000)}"ASC"]`)
const MANY = ids.concat(Array.from({ length: 160 }, () => randomUUID()))
const COOKIES = ['asked', 'sign-in'].flatMap((kind) =>
  Array.from({ length: 60 }, (_, i) => `oauth-${kind}-${String(i).padStart(22, '0')}=x`)
)
/** Headers with a long value each. */
const long = (...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, LONG]))
const PREFLIGHT = { origin: PAGE, 'access-control-request-method': 'POST' }

interface Sent {
  readonly method?: 'OPTIONS'
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What anybody may send of any length, beside a credential that opens most routes. */
const INPUTS: Readonly<Record<string, (url: string) => Sent>> = {
  'nothing of length': () => ({}),
  'a query': (url) => ({ url: `${url}?state=${LONG}&redirect_uri=${LONG}&client_id=${LONG}` }),
  'a filter of many ids': (url) => ({ url: `${url}?limit=1&filter=${filterOf(MANY)}` }),
  'a sort with spaces': (url) => ({ url: `${url}?limit=1&sort=${SPACED}` }),
  'a path': (url) => ({ url: `${url}/${LONG}` }),
  'the headers of a preflight': () => ({
    method: 'OPTIONS',
    headers: { ...PREFLIGHT, ...long('access-control-request-headers') }
  }),
  'the method of a preflight': () => ({
    method: 'OPTIONS',
    headers: { ...PREFLIGHT, ...long('access-control-request-method') }
  }),
  'an origin': () => ({ headers: { origin: `https://${LONG}.example.com` } }),
  'ids and traces': () => ({ headers: long('x-request-id', 'traceparent', 'tracestate', 'baggage') }),
  'the longest request id': () => ({ headers: { 'x-request-id': 'x'.repeat(128), origin: PAGE } }),
  conditions: () => ({ headers: { 'if-match': `"${LONG}"`, 'if-none-match': `"${LONG}"` } }),
  ranges: () => ({ headers: { range: `bytes=${'0-0,'.repeat(700)}0-0` } }),
  'media types': () => ({ headers: long('accept', 'content-type', 'accept-encoding', 'content-encoding') }),
  credentials: () => ({ headers: { authorization: `Bearer ${LONG}`, 'x-api-key': LONG } }),
  cookies: () => ({ headers: { cookie: [...COOKIES, `oauth-consent=${LONG}`].join('; ') } }),
  names: () => ({
    headers: long('host', 'x-forwarded-host', 'x-forwarded-for', 'x-forwarded-proto', 'referer', 'user-agent')
  }),
  'the headers of MCP': () => ({
    headers: long('mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-param-shop-id', 'mcp-session-id')
  })
}

t.test('the headers of every response are short, whatever the caller sends', async (t) => {
  const seen = new Set<string>()
  let sentBefore = 0
  let largest = 0
  for (const { method: methods, url } of routes) {
    // What is there is only read.
    for (const method of [methods].flat() as string[]) {
      if (method === 'HEAD') continue
      const own = method === 'GET' ? shop : randomUUID()
      const path = url.replace(':shop_id', own).replaceAll(/:\w+/g, () => randomUUID()).replace(/\*$/, 'x')
      if (seen.has(`${method} ${url}`)) continue
      seen.add(`${method} ${url}`)
      for (const [input, sent] of Object.entries(INPUTS)) {
        // Each from another address, which has a limit.
        const remoteAddress = `10.${sentBefore >> 16}.${sentBefore >> 8 & 255}.${sentBefore++ & 255}`
        const headers = { ...machine, ...sent(path).headers }
        const all = { method, url: path, remoteAddress, ...sent(path), headers }
        const { raw: { res }, statusCode } = await app.inject(all as never)
        const { length } = headersOf(res)
        largest = Math.max(largest, length)
        if (length > LARGEST_HEADERS) t.fail(`${method} ${url} with ${input}: ${statusCode}, ${length} bytes`)
      }
    }
  }
  t.ok(seen.size > 100, `${seen.size} routes`)
  t.comment(`at most ${largest} bytes`)
})

t.test('the headers of a sign-in are short, whatever the client sends', async (t) => {
  const callback = `http://127.0.0.1:1/${'c'.repeat(450)}`
  const client = await app.inject({ method: 'POST', url: '/oauth/clients', payload: { redirect_uris: [callback] } })
  for (const [length, status] of [[43, 303], [3500, 200]] as const) {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: client.json().client_id,
      redirect_uri: callback,
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
      state: 's'.repeat(length),
      login_hint: '\u{1f600}'.repeat(length > 43 ? 200 : 0)
    })
    const page = await app.inject(`/oauth/authorize?${query.toString()}`)
    const answer = await app.inject({
      method: 'POST',
      url: '/oauth/authorize',
      headers: { cookie: page.cookies.map(({ name, value }) => `${name}=${value}`).join('; ') },
      payload: new URLSearchParams({ request: sealedIn(page.body), decision: 'allow' }).toString()
    })
    t.equal(answer.statusCode, status)
    const sizes = [page, answer].map(({ raw: { res } }) => headersOf(res).length)
    for (const size of sizes) t.ok(size <= LARGEST_HEADERS, `${size} bytes`)
  }
})

t.test('the link of a page lacks a long filter: as it is it gets 422, with the filter it goes on', async (t) => {
  const list = async (parameters: URLSearchParams) =>
    await app.inject({ url: `/shops/${shop}/tags?${parameters.toString()}`, headers: machine })
  for (const [count, isKept] of [[20, true], [ids.length, false]] as const) {
    const filter = JSON.stringify({ id: ids.slice(0, count) })
    const found: string[] = []
    let parameters = new URLSearchParams({ filter, limit: '15', sort: '["id", "DESC"]' })
    for (;;) {
      const page = await list(parameters)
      t.equal(page.statusCode, 200)
      found.push(...page.json().map(({ id }: { id: string }) => id))
      const { link } = page.headers
      if (link === undefined) break
      parameters = new URLSearchParams(/<\?(.*)>/.exec(String(link))![1])
      t.strictSame([parameters.has('filter'), parameters.get('sort'), parameters.get('limit')], [isKept, '-id', '15'])
      const refused = { statusCode: 422, field: 'after', message: /with the same filter and sort/ }
      if (!isKept) t.match((await list(parameters)).json(), refused)
      parameters.set('filter', filter)
    }
    t.strictSame(found, ids.slice(0, count).toSorted().toReversed())
  }
})

t.test('a tool has the whole link, however long its filter is, which is in no header', async (t) => {
  const longest = [...ids, ...Array.from({ length: 200 - ids.length }, () => randomUUID())]
  const { headers, body } = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...machine, accept: 'application/json', 'mcp-protocol-version': '2025-11-25' },
    payload: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'list_tags', arguments: { shop_id: shop, filter: { id: longest }, limit: 15 } }
    }
  })
  t.notOk('link' in headers)
  const { link } = JSON.parse(body).result.structuredContent.headers
  const { filter } = Object.fromEntries(new URLSearchParams(/<\?(.*)>/.exec(link)![1]))
  t.strictSame(JSON.parse(filter!), { id: longest })
})
