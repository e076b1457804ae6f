import { statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { settingsFromEnvironment } from '../src/settings/settings.ts'
import { openDatabase } from '../src/database/index.ts'
import { pendingMigrations } from '../src/database/migrate.ts'
import { migrations } from '../src/migrations/index.ts'
import { serve } from '../src/commands/serve.ts'
import { TEST_DATABASE_URL, UUID } from './build.ts'
import { call, lastingData, readDemo, seededData, settingsOfDemo, start } from './process.ts'

const suite = t
const settings = await seededData(suite)

/** The demo on this data, which one test leaves running for the next: each start takes seconds. */
let demo = await start(suite, 'demo/start', settings)

t.test('the demo says where everything is, to people and to programs', async (t) => {
  const settings = await lastingData(t)
  const { baseUrl, output } = await start(t, 'demo/start', settings)
  const demo = readDemo(settings.DATA_DIR)
  t.match(demo, {
    base_url: baseUrl,
    mcp_url: `${baseUrl}/mcp`,
    shops: [{ slug: 'copper-kettle' }, { slug: 'north-trail' }, { slug: 'paper-lantern' }].map((shop) => ({ ...shop, id: UUID, name: String, api_key: /^shop_/ })),
    idp: { issuer: /^http:\/\/127\.0\.0\.1:\d+$/, mcp_client_id: 'shop-mcp', m2m: { client_id: 'shop-machine', client_secret: String, scope: `${baseUrl}/api` } },
    pay: { url: /^http:\/\/127\.0\.0\.1:\d+$/ },
    scanner: { url: /^http:\/\/127\.0\.0\.1:\d+$/ },
    metrics: { url: `${baseUrl}/metrics`, token: String },
    users: [{ username: 'ada', roles: ['admin'] }, { username: 'kim', roles: [] }, { username: 'noor', roles: [] }].map((user) => ({ ...user, password: String }))
  })
  for (const file of ['demo.json', 'demo-secrets.json', 'signing-key.json']) {
    t.equal(statSync(join(settings.DATA_DIR, file)).mode & 0o777, 0o600, file)
  }
  const [shop] = demo.shops
  for (const text of [
    demo.mcp_url, demo.idp.issuer, demo.pay.url, shop!.id, shop!.name, shop!.api_key, demo.users[0]!.password, 'demo.json',
    `claude mcp add --transport http shop ${demo.mcp_url} --header "X-API-Key: ${shop!.api_key}"`
  ]) t.ok(output().includes(text), text)

  const metrics = await fetch(demo.metrics.url, { headers: { authorization: `Bearer ${demo.metrics.token}` } })
  t.match([metrics.status, await metrics.text()], [200, /http_request_duration_seconds_count/])

  let products = 0
  const slugs = []
  for (const { id, api_key: key } of demo.shops) {
    const { headers, body } = await call('GET', `${baseUrl}/shops/${id}/products?limit=200`, { headers: { 'x-api-key': key } })
    products += Number(headers.get('content-range')?.split('/')[1])
    slugs.push(new Set(body.map(({ slug }: { slug: string }) => slug)))
  }
  t.ok(products > 250 && products < 350, `${products} products`)
  t.ok(slugs.every((set) => set.has('gift-card')), 'slugs clash between shops')
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  t.test(`on ${signal} the server stops cleanly; its data is there after the next start`, async (t) => {
    const { shops: [shop] } = readDemo(settings.DATA_DIR)
    const tags = `/shops/${shop!.id}/tags`
    const headers = { 'x-api-key': shop!.api_key }
    const made = await call('POST', demo.baseUrl + tags, { headers, body: { name: `Kept ${signal}` } })
    await call('PATCH', `${demo.baseUrl}${tags}/${made.body.id}`, { headers, body: { name: `Kept ${signal} and changed` } })
    t.strictSame(await demo.stop(signal), { code: 0, signal: null })

    demo = await start(suite, 'demo/start', settings)
    t.match((await call('GET', `${demo.baseUrl}${tags}/${made.body.id}`, { headers })).body, { name: `Kept ${signal} and changed`, slug: `kept-${signal.toLowerCase()}` })
    t.strictSame(readDemo(settings.DATA_DIR).shops[0], shop, 'the demo has the same ids, and the key works on')
  })
}

t.test('a second server on the same data directory is refused with a clear message', {
  skip: TEST_DATABASE_URL !== undefined && 'a PostgreSQL server takes any number'
}, async (t) => {
  await t.rejects(start(t, 'server', { ...settings, ...settingsOfDemo(settings.DATA_DIR) }), {
    message: new RegExp(`^The data directory \\S+ is in use by process ${demo.child.pid} on \\S+\\. Stop it first, or set DATA_DIR to another directory\\.[^\\n]*\\n$`)
  })
  t.equal((await call('GET', `${demo.baseUrl}/.well-known/oauth-protected-resource`)).status, 200, 'the first one serves on')
})

/** Settings of a server in production on the data of the demo. */
const production = () => ({ ...settings, ...settingsOfDemo(settings.DATA_DIR), MIGRATE_ON_START: 'false' })

t.test('without MCP_ENABLED there is no /mcp, and everything else is the same', async (t) => {
  const { shops: [shop] } = readDemo(settings.DATA_DIR)
  const products = `/shops/${shop!.id}/products`
  const headers = { 'x-api-key': shop!.api_key }
  const withTools = await call('GET', demo.baseUrl + products, { headers })
  await demo.stop('SIGTERM')

  const { baseUrl, stop } = await start(t, 'server', production())
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  for (const path of ['/mcp', '/mcp/']) {
    for (const method of ['GET', 'POST', 'DELETE']) t.equal((await call(method, baseUrl + path, { headers, ...(method === 'POST' && { body }) })).status, 404, `${method} ${path}`)
  }
  const without = await call('GET', baseUrl + products, { headers })
  t.strictSame([without.status, without.body, without.headers.get('content-range')], [200, withTools.body, withTools.headers.get('content-range')])
  await stop('SIGTERM')
})

t.test('with MIGRATE_ON_START=false a server whose database lacks migrations does not listen, as it did when it lacked none', async (t) => {
  const config = settingsFromEnvironment({ ...production(), PORT: '0', LOG_LEVEL: 'silent' })
  const database = await openDatabase(config)
  await database.knex('knex_migrations').where({ name: '003-accounts' }).delete()
  await database.close()
  await t.rejects(serve(config), { message: /^Migrations are pending: 003-accounts\. Run npm run migrate/ })
})

t.test('settings that cannot be used stop the start, all of them named', async (t) => {
  await t.rejects(start(t, 'server', { ...await lastingData(t), PORT: 'http', MCP_ENABLED: 'maybe' }), {
    message: /^These settings cannot be used:\n(?: .*\n)+$/
  })
})

t.test('what a part of the app refuses does not come after migrations', async (t) => {
  const { DATA_DIR, DATABASE_URL } = await lastingData(t)
  const secret = `2026:${'s'.repeat(32)}`
  const config = settingsFromEnvironment({ DATA_DIR, DATABASE_URL, IDP_ISSUER: 'http://127.0.0.1:9', API_KEY_PEPPERS: secret, PAY_KEY_SECRETS: secret, LOG_LEVEL: 'silent' })
  // The settings do not come to this any more; another option of a part may.
  await t.rejects(serve({ ...config, API_KEY_MARKER: 'Not a marker' }), { code: 'DUAL_AUTH_INVALID_OPTION' })
  const database = await openDatabase(config)
  t.teardown(async () => await database.close())
  t.strictSame(await pendingMigrations(database.knex), Object.keys(migrations))
})
