import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { accessTokenFor } from '../src/demo/identity-provider.ts'
import { bearer } from './build.ts'
import { call, seededData, readDemo, start } from './process.ts'

const settings = await seededData(t)

/** Starts the demo; what comes back calls it as its admin. */
async function startAsAdmin (more: Readonly<Record<string, string>> = {}) {
  const { baseUrl, stop, output } = await start(t, 'demo/start', { ...settings, ...more })
  const { idp, mcp_url: resource, shops, users } = readDemo(settings.DATA_DIR)
  const admin = users.find(({ roles }) => roles.includes('admin'))!
  const headers = bearer(await accessTokenFor({ ...admin, issuer: idp.issuer, clientId: idp.mcp_client_id, resource }))
  const ask = async (method: string, path: string, body?: object) => (await call(method, baseUrl + path, { headers, ...(body && { body }) }))
  return { baseUrl, ask, stop, output, shops: Object.fromEntries(shops.map(({ slug, id }) => [slug, id])) as Record<string, string> }
}

const { baseUrl, ask, stop, output, shops } = await startAsAdmin({ RATE_LIMIT_MAX: '5', MCP_ENABLED: 'false', LOG_LEVEL: 'error', TRUST_PROXY: '' })

t.test('the demo says which settings it was given and does not take', async (t) => {
  t.match(output(), /^ {2}Ignored settings, since the demo has its own: MCP_ENABLED, RATE_LIMIT_MAX$/m)
})

t.test('a page on this machine reaches the demo, whatever its port, and no other page does', async (t) => {
  const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type,mcp-protocol-version,x-api-key' }
  const { shops: [shop] } = readDemo(settings.DATA_DIR)
  for (const [origin, status] of [['http://localhost:6274', 200], ['http://127.0.0.1:5173', 200], ['https://localhost.example.com', 403]] as const) {
    const allowed = status === 200 ? origin : null
    const asked = await fetch(`${baseUrl}/mcp`, { method: 'OPTIONS', headers: { origin, ...preflight } })
    t.equal(asked.headers.get('access-control-allow-origin'), allowed, origin)
    const listed = await call('POST', `${baseUrl}/mcp`, {
      headers: { origin, 'x-api-key': shop!.api_key, accept: 'application/json, text/event-stream' }, body: { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    })
    t.strictSame([listed.status, listed.headers.get('access-control-allow-origin')], [status, allowed], origin)
  }
})

t.test('each shop of the demo stands otherwise with its payment provider', async (t) => {
  for (const [slug, configured, status, verdict] of [
    ['copper-kettle', true, 200, { valid: true }],
    ['north-trail', true, 200, { valid: false, code: 'PAY_RECONCILE_PROVIDER_KEY_REJECTED' }],
    ['paper-lantern', false, 400, { code: 'PAY_RECONCILE_NO_SECRET_KEY' }]
  ] as const) {
    const pay = `/shops/${shops[slug]}/pay`
    t.strictSame((await ask('GET', `${pay}/status`)).body, { configured, readable: configured, accounts: 12, linked: 8, synced: 4 }, slug)
    t.match(await ask('POST', `${pay}/key/verify`), { status, body: verdict }, slug)
  }
  const { payKeys } = JSON.parse(readFileSync(join(settings.DATA_DIR, 'demo-secrets.json'), 'utf8'))
  const pay = `/shops/${shops['paper-lantern']}/pay`
  await ask('PUT', `${pay}/key`, { pay_secret_key: payKeys['paper-lantern'] })
  t.strictSame((await ask('POST', `${pay}/key/verify`)).body, { valid: true }, 'its key is in demo-secrets.json')
  await ask('DELETE', `${pay}/key`)
})

t.test('the demo has accounts in every pay state', async (t) => {
  const found = async (mode: string) => {
    let run = (await ask('POST', '/admin/accounts/reconcile', { mode })).body
    while (run.status === 'running') {
      await sleep(100)
      run = (await ask('GET', `/admin/accounts/reconcile/${run.id}`)).body
    }
    return run
  }
  const check = await found('check')
  t.strictSame(check.drift, { missing: 4, not_found: 1, deleted: 1, duplicate: 2, never_synced: 3, differs: 2 })
  t.strictSame(check.shops.stopped.map(({ reason }: { reason: string }) => reason).toSorted(), [
    'PAY_RECONCILE_NO_SECRET_KEY', 'PAY_RECONCILE_PROVIDER_KEY_REJECTED'
  ])
  t.match((await found('link')).outcomes, { linked: 1, suggested: 1, unmatched: 2 })
})

t.test('what a checkout created is there after the next start', async (t) => {
  const shop = `/shops/${shops['copper-kettle']}`
  const { body: missing } = await ask('GET', `${shop}/accounts?filter={"missing_pay":true}&limit=1`)
  const { body: products } = await ask('GET', `${shop}/products?filter={"status":["active"]}&limit=1`)
  const { body: order } = await ask('POST', `${shop}/orders`, { account_id: missing[0].id, lines: [{ product_id: products[0].id }] })
  const { body: checkout } = await ask('POST', `${shop}/pay/checkout`, { order_id: order.id })
  t.match(checkout, { account_id: missing[0].id, created: true })
  await stop('SIGTERM')

  const second = await startAsAdmin()
  t.match(await second.ask('GET', `/admin/accounts/${missing[0].id}/pay-customer`), {
    status: 200, body: { pay_customer_id: checkout.pay_customer_id, pay_customer: { name: missing[0].name, metadata: { account_id: missing[0].id } } }
  })
  await second.stop('SIGTERM')
})
