import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import {
  authorizeUrl,
  type Browser,
  browser,
  fakeIdp,
  nextOf,
  pkce,
  sealedIn
} from '../../../packages/oauth-discovery-shim/test/broker/world.ts'
import { BASE_URL, bearer, build, createShop, openIdentityProvider, openTestDatabase } from './build.ts'
import { startNginx, withoutNginx } from './nginx.ts'

const skip = withoutNginx
const PAGE = 'https://console.example.com'
const PREFLIGHT = { origin: PAGE, 'access-control-request-method': 'POST' }
const CALLBACK = 'http://127.0.0.1:1/callback'
const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t)
const shop = await createShop(database, 'behind-nginx')
const machine = bearer(await idp.machineToken())
const SETTINGS = {
  CORS_ORIGINS: PAGE,
  TRUST_PROXY: '1',
  RATE_LIMIT_MAX: 1_000_000,
  OAUTH_BROKER: true,
  OAUTH_BROKER_SECRETS: `test:${'b'.repeat(32)}`
}

/** Two replicas on one database, and nginx with the shipped files in front of them. */
async function behindNginx (t: Test, settings: object = {}): ReturnType<typeof startNginx> {
  const listen = async (): Promise<string> => {
    const app = await build(t, database, idp, { settings: { ...SETTINGS, ...settings } })
    return await app.listen({ host: '127.0.0.1', port: 0 })
  }
  return await startNginx(t, await Promise.all([listen(), listen()]))
}

interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** As `fetch`, which would not send every header, nor read the answer to a body that nobody takes. */
async function send (url: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode!, headers: response.headers, body }), reject)
    })
    sent.on('error', reject).end(body)
  })
}

const { rows } = await database.knex.raw(
  `
  insert into products (shop_id, name, slug, currency)
  select ?, n::text, n::text, 'EUR' from generate_series(1, 200) n returning id`,
  [shop]
)
const ids: readonly string[] = rows.map(({ id }: { id: string }) => id)
const filteredBy = (some: readonly string[]): string =>
  `/shops/${shop}/products?filter=${encodeURIComponent(JSON.stringify({ id: some }))}`

async function registered (baseUrl: string): Promise<string> {
  const body = JSON.stringify({ redirect_uris: [CALLBACK] })
  return JSON.parse((await send(`${baseUrl}/oauth/clients`, { method: 'POST', body })).body).client_id
}

const authorize = (clientId: string, state: string): string =>
  authorizeUrl(clientId, pkce().challenge, { redirect_uri: CALLBACK, resource: undefined, scope: 'openid', state })

/** Begins a sign-in, and allows it. */
async function begin (baseUrl: string, state: string): Promise<Answer> {
  const page = await send(baseUrl + authorize(await registered(baseUrl), state))
  const cookie = [page.headers['set-cookie'] ?? []].flat().map((line) => line.split(';')[0]).join('; ')
  const form = new URLSearchParams({ request: sealedIn(page.body), decision: 'allow' })
  return await send(`${baseUrl}/oauth/authorize`, { method: 'POST', headers: { cookie }, body: form.toString() })
}

/** What one caller sends, and which status it may get. */
type Attack = readonly [statuses: readonly number[], attack: (baseUrl: string) => Promise<Answer>]
const ATTACKS: Readonly<Record<string, Attack>> = {
  'a list filtered by 100 ids': [
    [200],
    async (baseUrl) => await send(`${baseUrl}${filteredBy(ids.slice(0, 100))}&limit=10`, { headers: machine })
  ],
  'a preflight for many headers': [[204], async (baseUrl) =>
    await send(`${baseUrl}/mcp`, {
      method: 'OPTIONS',
      headers: { ...PREFLIGHT, 'access-control-request-headers': 'x-header,'.repeat(500) }
    })],
  'a sign-in with a long state': [[200], async (baseUrl) => await begin(baseUrl, 's'.repeat(3500))],
  // nginx may not read what a server says that takes no more of a body.
  'a file without credentials': [[401, 502], async (baseUrl) =>
    await send(`${baseUrl}/shops/${shop}/imports`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv' },
      body: Buffer.alloc(15_000_000, 'x')
    })],
  'more headers than the server takes, with a body': [[431, 502], async (baseUrl) =>
    await send(baseUrl, {
      method: 'POST',
      headers: Object.fromEntries([1, 2, 3].map((n) => [`x-long-${n}`, 'x'.repeat(7000)])),
      body: Buffer.alloc(1_000_000, 'x')
    })]
}

for (const [name, [statuses, attack]] of Object.entries(ATTACKS)) {
  t.test(`nobody else fails while one caller sends: ${name}`, { skip }, async (t) => {
    const { baseUrl } = await behindNginx(t)
    const others: number[] = []
    for (let round = 0; round < 12; round++) {
      const { status } = await attack(baseUrl)
      t.ok(statuses.includes(status), `the caller gets ${status}`)
      const call = async (): Promise<Answer> => await send(`${baseUrl}/shops/${shop}/tags`, { headers: machine })
      others.push(...(await Promise.all([call(), call(), call(), call(), call(), call()])).map(({ status }) => status))
    }
    t.strictSame(others, others.map(() => 200))
  })
}

t.test('a list may be filtered by as many ids as the server takes', { skip }, async (t) => {
  const { baseUrl } = await behindNginx(t)
  const list = async (some: readonly string[], more = ''): Promise<Answer> =>
    await send(baseUrl + filteredBy(some) + more, { headers: machine })
  t.match(await list(ids, '&limit=10'), { status: 200, headers: { 'content-range': 'products 0-10/200' } })
  t.match(await list(ids), { status: 200, headers: { 'content-range': 'products 0-200/200' } }, 'all on one page')
  t.equal((await list([...ids, randomUUID()])).status, 422, 'the server says how many it takes')
})

/** A browser that keeps its cookies, and goes through nginx. */
function personBehind (baseUrl: string): Browser {
  const inject = async ({ url, payload: body = '', ...sent }: Sent & { url: string, payload?: string }) => {
    const answer = await send(baseUrl + url.replace(BASE_URL, ''), { ...sent, body })
    const cookies = [answer.headers['set-cookie'] ?? []].flat().map((line) => {
      const [, name = '', value = '', seconds] = /^([^=]+)=([^;]*).*Max-Age=(\d+)/.exec(line) ?? []
      return { name, value, maxAge: Number(seconds) }
    })
    return { ...answer, statusCode: answer.status, cookies }
  }
  return browser({ inject } as never)
}

t.test('many begun sign-ins keep nobody out, and the last ones end', { skip }, async (t) => {
  const provider = await fakeIdp(t)
  const settings = { IDP_ISSUER: provider.issuer, CONSOLE_ENABLED: true, IDP_CONSOLE_CLIENT_ID: 'console' }
  const { baseUrl } = await behindNginx(t, settings)
  const person = personBehind(baseUrl)
  const clientId = await registered(baseUrl)
  const urls: string[] = []
  for (let i = 0; i < 25; i++) {
    const page = await person.get(authorize(clientId, `${i}-${'s'.repeat(200)}`))
    t.equal(page.statusCode, 200, `sign-in ${i}`)
    urls.push(nextOf(await person.post('/oauth/authorize', { request: sealedIn(page.body), decision: 'allow' })))
  }
  t.equal((await person.get('/console')).statusCode, 200)
  for (const i of [24, 20]) {
    const landed = new URL(nextOf(await person.get(provider.signIn(urls[i]!).href)))
    t.equal(landed.searchParams.get('state')?.split('-')[0], String(i))
  }
  const first = await person.get(provider.signIn(urls[0]!).href)
  t.equal(first.statusCode, 400)
  t.match(first.body, /or was replaced by later ones in this browser/)
})

t.test(
  'one id finds a call in the log of nginx, in that of the server, and in what the caller got',
  { skip },
  async (t) => {
    const written: string[] = []
    const logger = {
      stream: new Writable({
        write (chunk, _encoding, done) {
          written.push(...String(chunk).split('\n').filter(Boolean))
          done()
        }
      })
    }
    const app = await build(t, database, idp, { settings: SETTINGS, logger })
    const { baseUrl, lines } = await startNginx(t, [await app.listen({ host: '127.0.0.1', port: 0 })])
    const tags = `${baseUrl}/shops/${shop}/tags`
    const claimed = { 'x-request-id': 'claimed-by-the-client' }
    const fine = await send(tags, { headers: { ...machine, ...claimed } })
    const refused = await send(tags, { headers: claimed })
    const fails = t.capture(database.knex.client, '_query', async () => {
      throw new Error('a bug')
    })
    const broken = await send(tags, { headers: { ...machine, ...claimed } })
    fails.restore()
    const byNginx = await send(`${baseUrl}/metrics`, { headers: claimed })
    const answers = [fine, refused, broken, byNginx]
    t.strictSame(answers.map(({ status }) => status), [200, 401, 500, 404])
    const ids = answers.map(({ headers }) => String(headers['x-request-id']))
    t.match(JSON.parse(broken.body).message, ids[2], 'a 500 tells the id in its body too')
    // nginx writes a line some time after its answer.
    while (lines().length < answers.length) await sleep(10)
    for (const [at, id] of ids.entries()) {
      t.match(id, /^[0-9a-f]{32}$/, 'nginx made it')
      t.match(lines().filter((line) => JSON.stringify(line).includes(id)), [{
        requestId: id,
        status: answers[at]!.status
      }])
      t.match(
        written.filter((line) => line.includes(id)).map((line) => JSON.parse(line)).filter(({ msg }) =>
          msg === 'request'
        ),
        answers[at] === byNginx ? [] : [{ reqId: id, status: answers[at]!.status }]
      )
    }
    t.notMatch([JSON.stringify(lines()), ...written].join('\n'), claimed['x-request-id'])
  }
)

t.test('the log of nginx says whose calls it refused, and no secret', { skip }, async (t) => {
  const { baseUrl, lines } = await behindNginx(t)
  const made = await send(`${baseUrl}/shops/${shop}/api-keys/`, {
    method: 'POST',
    headers: { ...machine, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'busy' })
  })
  const { plaintext, prefix } = JSON.parse(made.body) as { readonly plaintext: string, readonly prefix: string }
  const ping = async (headers: Readonly<Record<string, string>>): Promise<Answer> =>
    await send(`${baseUrl}/mcp`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
    })
  const callers: ReadonlyArray<Readonly<Record<string, string>>> = [
    { 'x-api-key': plaintext },
    { authorization: `Bearer ${plaintext}`, 'mcp-param-shop-id': shop },
    { ...machine, 'mcp-param-shop-id': plaintext },
    { 'x-api-key': `x${plaintext}` },
    {}
  ]
  for (const headers of callers) {
    const answers = await Promise.all(Array.from({ length: 80 }, async () => await ping(headers)))
    const refused = answers.find(({ status }) => status === 429)
    const error = { code: -32000, message: 'Too many calls by this caller at once' }
    t.match(JSON.parse(refused?.body ?? '{}'), { jsonrpc: '2.0', error, id: null })
    t.equal(refused?.headers['retry-after'], '1')
  }
  // nginx writes a line some time after its answer.
  const calls = () => lines().filter(({ path }) => path === '/mcp')
  while (calls().length < 80 * callers.length) await sleep(10)
  const refused = calls().filter(({ status }) => status === 429).map(({ caller, shop }) => [caller, shop].join(' '))
  const name = `shop_${prefix}`
  const expected = [' ', 'credential ', `${name} `, `${name} ${shop}`, `x${name} `]
  t.strictSame([...new Set(refused)].toSorted(), expected.toSorted())
  const written = JSON.stringify(lines())
  const secrets = [plaintext.slice(-49, -41), plaintext.slice(-8), machine.authorization.slice(-20)]
  for (const secret of secrets) t.notOk(written.includes(secret))
})
