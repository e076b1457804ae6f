import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { parse } from 'yaml'
import { bearer, build, createShop, openIdentityProvider, openTestDatabase, TEST_DATABASE_URL } from './build.ts'
import { startPrometheus, withoutPrometheus } from './prometheus.ts'
import { textOf } from './promtool.ts'

/*
 * Three incidents, made for real, and what the dashboard shows of them: its expressions are read by Prometheus, and its
 * statements run as a user of the database who may read nothing else. docs/shop/runbook.md shows the same.
 */

const skip = withoutPrometheus ||
  (TEST_DATABASE_URL === undefined && 'somebody must hold a lock: set TEST_DATABASE_URL')
const METRICS_TOKEN = 'metrics-token-0123456789'

interface Panel {
  readonly title: string
  readonly targets: ReadonlyArray<{ readonly expr?: string, readonly rawSql?: string }>
}
const { panels } = JSON.parse(textOf('examples/shop/deploy/dashboard.json')) as { panels: readonly Panel[] }
const panel = (title: string): Panel['targets'][number] => panels.find((one) => one.title === title)!.targets[0]!

t.test('an operator finds the slow key, the refused one and the import that is stuck', { skip }, async (t) => {
  const database = await openTestDatabase(t)
  const { knex } = database
  const idp = await openIdentityProvider(t)
  const machine = bearer(await idp.machineToken())
  const shop = await createShop(database, 'tea-house')
  const app = await build(t, database, idp, { settings: { METRICS_TOKEN } })
  const base = await app.listen({ host: '127.0.0.1', port: 0 })
  const query = await startPrometheus(t, base, METRICS_TOKEN)
  await knex.raw(textOf('examples/shop/deploy/dashboard.sql').replaceAll('?', '\\?'))
  const reader = `reader_${randomUUID().slice(0, 8)}`
  await knex.raw(
    `create role ${reader}; grant usage on schema dashboard to ${reader};
     grant execute on all functions in schema dashboard to ${reader}`
  )
  t.teardown(async () => {
    await knex.raw(`drop owned by ${reader}; drop role ${reader}`)
  })
  const begun = new Date(Date.now() - 3_600_000).toISOString()
  const asReader = async (statement: string): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> =>
    await knex.transaction(async (trx) => {
      await trx.raw(`set local role ${reader}`)
      return (await trx.raw(statement)).rows
    })
  const rowsOf = async (title: string): ReturnType<typeof asReader> =>
    await asReader(
      panel(title).rawSql!.replace('$__timeFrom()', `'${begun}'`).replace('$__timeTo()', "'2999-01-01T00:00:00Z'")
    )
  const shows = async (title: string, labels: object): Promise<number> => {
    for (;;) {
      const found = (await query(panel(title).expr!)).find(({ metric, value }) =>
        value > 0 && Object.entries(labels).every(([label, value]) => metric[label] === value)
      )
      if (found !== undefined) return found.value
      await sleep(200)
    }
  }
  const makeKey = async (payload: object) =>
    (await app.inject({ method: 'POST', url: `/shops/${shop}/api-keys/`, headers: machine, payload })).json()
  const call = async (key: string, name: string, args: object = {}): Promise<void> => {
    await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { 'x-api-key': key, accept: 'application/json, text/event-stream' },
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    })
  }
  // Prometheus sees an increase only in series that it has read before.
  while ((await query('shop_ready')).length === 0) await sleep(200)

  await t.test("one key's search is slow", async (t) => {
    const [slow, quick] = [await makeKey({ name: 'Feed agent' }), await makeKey({ name: 'Tag agent' })]
    for (let round = 0; round < 3; round++) {
      const held = await knex.transaction()
      await held.raw('lock table products in access exclusive mode')
      const search = call(slow.plaintext, 'list_products', { filter: { q: 'green tea' } })
      await call(quick.plaintext, 'list_tags')
      await sleep(1000)
      await held.rollback()
      await search
    }
    const seconds = await shows('Slowest tools', { tool: 'list_products' })
    let rows = await rowsOf('Who is slow')
    // Written soon after the first call of each key, and then every minute.
    while (rows.length < 2) {
      await sleep(100)
      rows = await rowsOf('Who is slow')
    }
    t.ok(seconds > 0)
    t.match(rows, [
      { shop: 'tea-house', key_name: 'Feed agent', key_id: slow.id, tool: 'list_products' },
      { key_name: 'Tag agent', key_id: quick.id, tool: 'list_tags' }
    ])
    t.ok(Number(rows[0]!['mean_ms']) > Number(rows[1]!['mean_ms']))
    t.ok(Number(rows[0]!['slowest_ms']) >= Number(rows[0]!['mean_ms']))
  })

  await t.test('an agent is refused', async (t) => {
    const [reading, revoked] = [
      await makeKey({ name: 'Report agent', scopes: ['read'] }),
      await makeKey({ name: 'Old' })
    ]
    await app.inject({ method: 'DELETE', url: `/shops/${shop}/api-keys/${revoked.id}`, headers: machine })
    for (let times = 0; times < 3; times++) {
      await call(reading.plaintext, 'create_tag', { name: 'new' })
      await call(revoked.plaintext, 'list_tags')
    }
    for (const code of ['DUAL_AUTH_SCOPE_INSUFFICIENT', 'DUAL_AUTH_CREDENTIAL_INVALID']) {
      t.ok(await shows('Refused callers, by code', { code, caller: 'api-key' }) > 0)
    }
    let rows = await rowsOf('Which keys are refused')
    while (rows.length < 2) {
      await sleep(100)
      rows = await rowsOf('Which keys are refused')
    }
    t.match(rows.toSorted((a, b) => String(a['reason']).localeCompare(String(b['reason']))), [
      { shop: 'tea-house', key_name: 'Old', key_id: revoked.id, reason: 'revoked', networks: '127.0.0.0/24' },
      { shop: 'tea-house', key_name: 'Report agent', key_id: reading.id, reason: 'scope', networks: '127.0.0.0/24' }
    ])
  })

  await t.test('an import is stuck', async (t) => {
    const held = await knex.transaction()
    await held.raw('lock table products in share row exclusive mode')
    const made = (await app.inject({
      method: 'POST',
      url: `/shops/${shop}/imports/`,
      headers: machine,
      payload: { format: 'csv', content: 'name,slug\nx,x\ny,y\n' }
    })).json()
    const seconds = await shows('Waiting', {})
    const rows = await rowsOf('Imports under way')
    t.ok(seconds > 0)
    t.match(rows, [{
      shop: 'tea-house',
      import_id: made.id,
      caller: 'machine',
      caller_id: 'test-machine',
      status: 'pending',
      is_first: true,
      processed: 0,
      total: 2
    }])
    await held.rollback()
    while ((await rowsOf('Imports under way')).length > 0) await sleep(100)
  })

  for (const table of ['key_calls', 'api_keys', 'history', 'imports']) {
    await t.rejects(asReader(`select from ${table}`), { code: '42501' }, `no right to read ${table}`)
  }
  const { groups } = parse(textOf('examples/shop/deploy/alerts.yml')) as {
    groups: ReadonlyArray<{ rules: ReadonlyArray<{ alert?: string, expr: string }> }>
  }
  const ruleOf = (name: string): string =>
    groups.flatMap(({ rules }) => rules).find(({ alert }) => alert === name)!.expr
  t.match(await query(ruleOf('ShopCallersRefused').replace('>= 20', '>= 2')), [{ metric: { caller: 'api-key' } }])
})
