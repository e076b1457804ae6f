import { accessTokenFor } from 'identity-provider'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { settingsFromEnvironment } from '../src/settings/settings.ts'
import { openDatabase } from '../src/database/index.ts'
import { pendingMigrations } from '../src/migrations/migrate.ts'
import { migrations } from '../src/migrations/index.ts'
import { serve } from '../src/commands/serve.ts'
import { bearer, TEST_DATABASE_URL, UUID } from './build.ts'
import { call, lastingData, readDemo, seededData, settingsOfDemo, start } from './process.ts'

const suite = t
const settings = await seededData(suite)

/** The demo on this data, which one test leaves running for the next: each start takes seconds. */
let demo = await start(suite, 'demo/start', {
  ...settings,
  RATE_LIMIT_MAX: '5',
  MCP_ENABLED: 'false',
  LOG_LEVEL: 'error',
  TRUST_PROXY: ''
})

/** Calls it as its admin. */
async function asAdmin () {
  const { idp, mcp_url: resource, users } = readDemo(settings.DATA_DIR)
  const admin = users.find(({ roles }) => roles.includes('admin'))!
  const headers = bearer(await accessTokenFor({ ...admin, issuer: idp.issuer, clientId: idp.mcp_client_id, resource }))
  return async (method: string, path: string, body?: object) =>
    await call(method, demo.baseUrl + path, { headers, ...(body && { body }) })
}

t.test('the demo says where everything is, to people and to programs', async (t) => {
  const { baseUrl, output } = demo
  const said = readDemo(settings.DATA_DIR)
  t.match(said, {
    base_url: baseUrl,
    mcp_url: `${baseUrl}/mcp`,
    shops: [{ slug: 'copper-kettle' }, { slug: 'north-trail' }, { slug: 'paper-lantern' }].map((shop) => ({
      ...shop,
      id: UUID,
      name: String,
      api_key: /^shop_/
    })),
    idp: {
      issuer: /^http:\/\/127\.0\.0\.1:\d+$/,
      mcp_client_id: 'shop-mcp',
      m2m: { client_id: 'shop-machine', client_secret: String, scope: `${baseUrl}/api` }
    },
    pay: { url: /^http:\/\/127\.0\.0\.1:\d+$/ },
    scanner: { url: /^http:\/\/127\.0\.0\.1:\d+$/ },
    metrics: { url: `${baseUrl}/metrics`, token: String },
    users: [{ username: 'ada', roles: ['admin'] }, { username: 'kim', roles: [] }, { username: 'noor', roles: [] }].map(
      (user) => ({ ...user, password: String })
    )
  })
  for (const file of ['demo.json', 'demo-secrets.json', 'signing-key.json']) {
    t.equal(statSync(join(settings.DATA_DIR, file)).mode & 0o777, 0o600, file)
  }
  const [shop] = said.shops
  for (
    const text of [
      said.mcp_url,
      said.idp.issuer,
      said.pay.url,
      shop!.id,
      shop!.name,
      shop!.api_key,
      said.users[0]!.password,
      'demo.json',
      `claude mcp add --transport http shop ${said.mcp_url} --header "X-API-Key: ${shop!.api_key}"`
    ]
  ) t.ok(output().includes(text), text)

  const metrics = await fetch(said.metrics.url, { headers: { authorization: `Bearer ${said.metrics.token}` } })
  t.match([metrics.status, await metrics.text()], [200, /http_request_duration_seconds_count/])

  let products = 0
  const slugs = []
  for (const { id, api_key: key } of said.shops) {
    const { headers, body } = await call('GET', `${baseUrl}/shops/${id}/products?limit=200`, {
      headers: { 'x-api-key': key }
    })
    products += Number(headers.get('content-range')?.split('/')[1])
    slugs.push(new Set(body.map(({ slug }: { slug: string }) => slug)))
  }
  t.ok(products > 250 && products < 350, `${products} products`)
  t.ok(slugs.every((set) => set.has('gift-card')), 'slugs clash between shops')
})

t.test('the demo says which settings it was given and does not take', async (t) => {
  t.match(demo.output(), /^ {2}Ignored settings, since the demo has its own: MCP_ENABLED, RATE_LIMIT_MAX$/m)
})

t.test('a page on this machine reaches the demo, whatever its port, and no other page does', async (t) => {
  const preflight = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type,mcp-protocol-version,x-api-key'
  }
  const { shops: [shop] } = readDemo(settings.DATA_DIR)
  for (
    const [origin, status] of [
      ['http://localhost:6274', 200],
      ['http://127.0.0.1:5173', 200],
      [
        'https://localhost.example.com',
        403
      ]
    ] as const
  ) {
    const allowed = status === 200 ? origin : null
    const asked = await fetch(`${demo.baseUrl}/mcp`, { method: 'OPTIONS', headers: { origin, ...preflight } })
    t.equal(asked.headers.get('access-control-allow-origin'), allowed, origin)
    const listed = await call('POST', `${demo.baseUrl}/mcp`, {
      headers: { origin, 'x-api-key': shop!.api_key, accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    })
    t.strictSame([listed.status, listed.headers.get('access-control-allow-origin')], [status, allowed], origin)
  }
})

t.test('each shop of the demo stands otherwise with its payment provider', async (t) => {
  const ask = await asAdmin()
  const shops = Object.fromEntries(readDemo(settings.DATA_DIR).shops.map(({ slug, id }) => [slug, id])) as Record<
    string,
    string
  >
  for (
    const [slug, configured, status, verdict] of [
      ['copper-kettle', true, 200, { valid: true }],
      ['north-trail', true, 200, { valid: false, code: 'PAY_RECONCILE_PROVIDER_KEY_REJECTED' }],
      ['paper-lantern', false, 400, { code: 'PAY_RECONCILE_NO_SECRET_KEY' }]
    ] as const
  ) {
    const pay = `/shops/${shops[slug]}/pay`
    t.strictSame((await ask('GET', `${pay}/status`)).body, {
      configured,
      readable: configured,
      accounts: 12,
      linked: 8,
      synced: 4
    }, slug)
    t.match(await ask('POST', `${pay}/key/verify`), { status, body: verdict }, slug)
  }
  const { payKeys } = JSON.parse(readFileSync(join(settings.DATA_DIR, 'demo-secrets.json'), 'utf8'))
  const pay = `/shops/${shops['paper-lantern']}/pay`
  await ask('PUT', `${pay}/key`, { pay_secret_key: payKeys['paper-lantern'] })
  t.strictSame((await ask('POST', `${pay}/key/verify`)).body, { valid: true }, 'its key is in demo-secrets.json')
  await ask('DELETE', `${pay}/key`)
})

t.test('the demo has accounts in every pay state', async (t) => {
  const ask = await asAdmin()
  const found = async (mode: string) => {
    let run = (await ask('POST', '/admin/accounts/reconcile', { mode })).body
    while (run.status === 'running') {
      await sleep(100)
      run = (await ask('GET', `/admin/accounts/reconcile/${run.id}`)).body
    }
    return run
  }
  const check = await found('check')
  t.strictSame(check.differences, { missing: 4, not_found: 1, deleted: 1, duplicate: 2, never_synced: 3, differs: 2 })
  t.strictSame(check.shops.stopped.map(({ reason }: { reason: string }) => reason).toSorted(), [
    'PAY_RECONCILE_NO_SECRET_KEY',
    'PAY_RECONCILE_PROVIDER_KEY_REJECTED'
  ])
  t.match((await found('link')).outcomes, { linked: 1, suggested: 1, unmatched: 2 })
})

t.test('on SIGINT the server stops cleanly, and its data are there after the next start', async (t) => {
  const { shops: [shop] } = readDemo(settings.DATA_DIR)
  const tags = `/shops/${shop!.id}/tags`
  const headers = { 'x-api-key': shop!.api_key }
  const made = await call('POST', demo.baseUrl + tags, { headers, body: { name: 'Kept' } })
  await call('PATCH', `${demo.baseUrl}${tags}/${made.body.id}`, { headers, body: { name: 'Kept and changed' } })
  const ask = await asAdmin()
  const { body: [missing] } = await ask('GET', `/shops/${shop!.id}/accounts?filter={"missing_pay":true}&limit=1`)
  const { body: [product] } = await ask('GET', `/shops/${shop!.id}/products?filter={"status":["active"]}&limit=1`)
  const { body: order } = await ask('POST', `/shops/${shop!.id}/orders`, {
    account_id: missing.id,
    lines: [{ product_id: product.id }]
  })
  const { body: checkout } = await ask('POST', `/shops/${shop!.id}/pay/checkout`, { order_id: order.id })
  t.match(checkout, { account_id: missing.id, created: true })
  t.strictSame(await demo.stop('SIGINT'), { code: 0, signal: null })

  demo = await start(suite, 'demo/start', settings)
  t.match((await call('GET', `${demo.baseUrl}${tags}/${made.body.id}`, { headers })).body, {
    name: 'Kept and changed',
    slug: 'kept'
  })
  t.strictSame(readDemo(settings.DATA_DIR).shops[0], shop, 'the demo has the same ids, and the key works on')
  t.match(await (await asAdmin())('GET', `/admin/accounts/${missing.id}/pay-customer`), {
    status: 200,
    body: {
      pay_customer_id: checkout.pay_customer_id,
      pay_customer: { name: missing.name, metadata: { account_id: missing.id } }
    }
  })
})

t.test('a second server on the same data directory is refused with a clear message', {
  skip: TEST_DATABASE_URL !== undefined && 'a PostgreSQL server takes any number'
}, async (t) => {
  await t.rejects(start(t, 'server', { ...settings, ...settingsOfDemo(settings.DATA_DIR) }), {
    message: new RegExp(
      `^The data directory \\S+ is in use by process ${demo.child.pid} on \\S+\\. Stop it first, or set ` +
        'DATA_DIR to another directory\\.[^\\n]*\\n$'
    )
  })
  t.equal(
    (await call('GET', `${demo.baseUrl}/.well-known/oauth-protected-resource`)).status,
    200,
    'the first one serves on'
  )
})

/** Settings of a server in production on the data of the demo. */
const production = () => ({ ...settings, ...settingsOfDemo(settings.DATA_DIR), MIGRATE_ON_START: 'false' })

t.test('without MCP_ENABLED there is no /mcp, and everything else is the same', async (t) => {
  const { shops: [shop] } = readDemo(settings.DATA_DIR)
  const products = `/shops/${shop!.id}/products`
  const headers = { 'x-api-key': shop!.api_key }
  const withTools = await call('GET', demo.baseUrl + products, { headers })
  t.strictSame(await demo.stop('SIGTERM'), { code: 0, signal: null })

  const { baseUrl, stop } = await start(t, 'server', production())
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  for (const path of ['/mcp', '/mcp/']) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      t.equal(
        (await call(method, baseUrl + path, { headers, ...(method === 'POST' && { body }) })).status,
        404,
        `${method} ${path}`
      )
    }
  }
  const without = await call('GET', baseUrl + products, { headers })
  t.strictSame([without.status, without.body, without.headers.get('content-range')], [
    200,
    withTools.body,
    withTools.headers.get('content-range')
  ])
  await stop('SIGTERM')
})

t.test('with MIGRATE_ON_START=false a server whose database lacks migrations does not listen', async (t) => {
  const config = settingsFromEnvironment({ ...production(), PORT: '0', LOG_LEVEL: 'silent' })
  const database = await openDatabase(config)
  await database.knex('knex_migrations').where({ name: '005-accounts' }).delete()
  await database.close()
  await t.rejects(serve(config), { message: /^Migrations are pending: 005-accounts\. Run npm run migrate/ })
})

t.test('settings that cannot be used stop the start, all of them named', async (t) => {
  await t.rejects(start(t, 'server', { ...await lastingData(t), PORT: 'http', MCP_ENABLED: 'maybe' }), {
    message: /^These settings cannot be used:\n(?: .*\n)+$/
  })
})

t.test('what a part of the app refuses does not come after migrations', async (t) => {
  const { DATA_DIR, DATABASE_URL } = await lastingData(t)
  const secret = `2026:${'s'.repeat(32)}`
  const config = settingsFromEnvironment({
    DATA_DIR,
    DATABASE_URL,
    IDP_ISSUER: 'http://127.0.0.1:9',
    API_KEY_PEPPERS: secret,
    PAY_KEY_SECRETS: secret,
    LOG_LEVEL: 'silent'
  })
  // The settings do not come to this any more; another option of a part may.
  await t.rejects(serve({ ...config, API_KEY_MARKER: 'Not a marker' }), { code: 'DUAL_AUTH_INVALID_OPTION' })
  const database = await openDatabase(config)
  t.teardown(async () => await database.close())
  t.strictSame(await pendingMigrations(database.knex), Object.keys(migrations))
})
