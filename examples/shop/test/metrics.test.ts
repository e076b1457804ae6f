import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import t from 'tap'
import { parse } from 'yaml'
import { openPostgres } from '../src/database/index.ts'
import { openReplica } from '../src/database/replica.ts'
import { measureToolCall, openMetrics, startToolCounts } from '../src/operations/metrics.ts'
import { TOOLS_VERSION } from '../src/operations/version.ts'
import { bearer, build, createShop, openIdentityProvider, openTestDatabase } from './build.ts'
import { finds, promtool, samplesOf, selectorsOf, textOf, withoutPromtool } from './promtool.ts'

const METRICS_TOKEN = 'metrics-token-0123456789'
const TEST_REDIS_URL = process.env['TEST_REDIS_URL']

const primary = await openTestDatabase(t)
const database = { ...primary, replica: openReplica(primary, primary.knex) }
const idp = await openIdentityProvider(t)
const machine = bearer(await idp.machineToken())
const shop = await createShop(database, 'measured')
for (const mode of ['link', 'pull']) {
  await database.knex('pay_reconcile_schedule').insert({
    registration: 'accounts',
    mode,
    scheduled_for: '2026-01-01T00:00:00Z'
  })
}

/** A replica that has just started, and what it serves to Prometheus. */
async function started (settings: Readonly<Record<string, string>> = {}) {
  const app = await build(t, database, idp, {
    settings: { METRICS_TOKEN, ...TEST_REDIS_URL !== undefined && { REDIS_URL: TEST_REDIS_URL }, ...settings }
  })
  return { app, scrape: async () => (await app.inject({ url: '/metrics', headers: bearer(METRICS_TOKEN) })).body }
}

const { app, scrape } = await started()
const text = await scrape()
const first = samplesOf(text)
const types = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name!))

interface Alert {
  readonly alert: string
  readonly annotations: { readonly runbook: string }
}
interface Rule extends Partial<Alert> {
  readonly record?: string
  readonly expr: string
}
const rules =
  (parse(textOf('examples/shop/deploy/alerts.yml')) as { groups: ReadonlyArray<{ rules: readonly Rule[] }> }).groups
    .flatMap(({ rules }) => rules)
const alerts = rules.filter((rule): rule is Rule & Alert => rule.alert !== undefined)

t.test('before a first event its counter is there with 0', async (t) => {
  const zeros = (name: string): string[] =>
    first.filter((sample) => sample.name === name && sample.value === 0).map(({ labels }) =>
      Object.values(labels).join(' ')
    )
  t.strictSame(zeros('api_key_events_total').sort(), [
    'created ',
    'expiring ',
    'first_used ',
    'new_network ',
    'refused expired',
    'refused not_allowed',
    'refused revoked',
    'refused scope',
    'refused unknown',
    'refused wrong_shop',
    'revoked ',
    'rotated ',
    'unused '
  ])
  t.strictSame(
    zeros('auth_attempts_total').filter((labels) => labels.startsWith('api-key')),
    ['accepted', 'refused', 'forbidden', 'unavailable', 'limited'].map((outcome) => `api-key ${outcome}`)
  )
  t.strictSame(zeros('shop_quota_exceeded_total'), ['records', 'bytes'])
  t.strictSame(zeros('shop_imports_total'), ['done', 'failed', 'cancelled'])
  t.strictSame(zeros('shop_job_failures_total'), [
    'imports',
    'broken_imports',
    'history',
    'tool_calls',
    'key_use',
    'daily_usage',
    'deleted_shops'
  ])
  t.strictSame(
    zeros('mcp_tool_calls_total').filter((labels) => labels.startsWith('list_tags ')).sort(),
    ['3xx', '4xx', '5xx', 'client_gone', 'closing', 'ok', 'refused', 'timeout', 'too_large'].map((outcome) =>
      `list_tags ${outcome}`
    )
  )
  t.equal(zeros('mcp_tool_calls_total').length, 9 * app.mcpTools.length)
  t.strictSame(
    zeros('http_requests_total').filter((labels) => labels.startsWith('GET /shops/:shop_id/tags ')).sort(),
    ['2xx', '4xx', '5xx'].flatMap((status) =>
      ['client', 'tool'].map((caller) => `GET /shops/:shop_id/tags ${status} ${caller}`)
    )
  )
  t.strictSame(zeros('pay_provider_requests_total').filter((labels) => labels.startsWith('list_events ')).length, 13)
})

t.test('what happens is counted in series that were there before', async (t) => {
  const { app, scrape } = await started()
  const before = samplesOf(await scrape()).filter(({ name }) => name.endsWith('_total'))
  const tags = `/shops/${shop}/tags`
  const key = (await app.inject({
    method: 'POST',
    url: `/shops/${shop}/api-keys/`,
    headers: machine,
    payload: { name: 'measured' }
  })).json()
  const call = async (name: string, args: object): Promise<unknown> =>
    (await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { 'x-api-key': key.plaintext, accept: 'application/json, text/event-stream' },
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    })).json()
  await call('list_tags', {})
  await call('get_tag', { tag_id: shop })
  await call('get_tag', { nonsense: 1 })
  await app.inject({ url: tags })
  await app.inject({ url: tags, headers: { 'x-api-key': 'shop_x' } })
  await app.inject({ method: 'DELETE', url: `/shops/${shop}/api-keys/${key.id}`, headers: machine })
  await app.inject({ url: tags, headers: { 'x-api-key': key.plaintext } })
  const imported = (await app.inject({
    method: 'POST',
    url: `/shops/${shop}/imports/`,
    headers: machine,
    payload: { format: 'csv', content: 'name,slug\nx,x\n' }
  })).json()
  const importUrl = `/shops/${shop}/imports/${imported.id}`
  // Cancels it, or comes too late.
  await app.inject({ method: 'DELETE', url: importUrl, headers: machine })
  while (['pending', 'running'].includes((await app.inject({ url: importUrl, headers: machine })).json().status)) {
    await sleep(20)
  }
  app.jobFailed('history', new Error('tried'), 'tried')
  const after = samplesOf(await scrape())
  const names = [
    'http_requests_total',
    'mcp_tool_calls_total',
    'auth_attempts_total',
    'api_key_events_total',
    'shop_imports_total',
    'shop_job_failures_total',
    'pay_provider_requests_total',
    'shop_quota_exceeded_total'
  ]
  const risen = after.filter(({ name, value }) => names.includes(name) && value > 0)
  const isKnown = (sample: typeof risen[number]): boolean =>
    before.some(({ name, labels }) => name === sample.name && JSON.stringify(labels) === JSON.stringify(sample.labels))
  t.strictSame(risen.filter((sample) => !isKnown(sample)), [])
  t.strictSame(new Set(risen.map(({ name }) => name)), new Set(names.slice(0, 6)))
  t.equal(risen.filter(({ name }) => name === 'shop_imports_total').reduce((sum, { value }) => sum + value, 0), 1)
})

t.test('an empty key header is counted as no credential, and a token beside it as a token', async (t) => {
  const { app, scrape } = await started()
  const url = `/shops/${shop}/tags`
  for (const authorization of [undefined, 'Bearer x', machine.authorization]) {
    await app.inject({ url, headers: { 'x-api-key': '', ...authorization !== undefined && { authorization } } })
  }
  const counted = samplesOf(await scrape()).filter(({ name, value }) => name === 'auth_attempts_total' && value > 0)
  t.strictSame(counted.map(({ labels: { method, outcome }, value }) => `${method} ${outcome} ${value}`).toSorted(), [
    'machine accepted 1',
    'none missing 1',
    'token refused 1'
  ])
})

t.test('calls by an old name of a tool are counted, by the names that its route declares', async (t) => {
  const metrics = await openMetrics(database)
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(mcpFromRoutes, {
    serverInfo: { name: 'renamed', version: '1.0.0' },
    onToolCall: (event) => {
      measureToolCall(metrics, event)
    }
  })
  startToolCounts(app, metrics)
  app.get('/tags', {
    schema: { operationId: 'list_tags', description: 'List tags.', tags: ['mcp'] },
    config: { mcp: { formerly: ['get_tags', 'all_tags'] } }
  }, async () => [])
  for (const name of ['get_tags', 'list_tags', 'no_tags']) {
    const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } }
    const headers = { accept: 'application/json, text/event-stream' }
    await app.inject({ method: 'POST', url: '/mcp', headers, payload })
  }
  const counted = samplesOf(await metrics.registry.getSingleMetricAsString('mcp_tool_calls_by_former_name_total'))
  t.strictSame(counted.map(({ labels: { tool, former }, value }) => `${tool} ${former} ${value}`), [
    'list_tags get_tags 1',
    'list_tags all_tags 0'
  ])
})

t.test('promtool has nothing against the metrics', { skip: withoutPromtool }, async (t) => {
  t.strictSame(promtool(['check', 'metrics'], await scrape()), { code: 0, said: '' })
})

t.test(
  'promtool takes the rules, and they raise their alerts at a first event',
  { skip: withoutPromtool },
  async (t) => {
    t.match(promtool(['check', 'rules', 'deploy/alerts.yml']), {
      code: 0,
      said: `SUCCESS: ${rules.length} rules found`
    })
    t.match(promtool(['test', 'rules', 'test/alerts.yml']), { code: 0, said: 'SUCCESS' })
  }
)

t.test('every alert is tried by the tests of the rules', async (t) => {
  const { tests } = parse(textOf('examples/shop/test/alerts.yml')) as {
    tests: ReadonlyArray<{ alert_rule_test: ReadonlyArray<{ alertname: string, exp_alerts?: unknown }> }>
  }
  const raised = new Set(
    tests.flatMap(({ alert_rule_test: tries }) =>
      tries.filter(({ exp_alerts: expected }) => expected !== undefined).map(({ alertname }) => alertname)
    )
  )
  t.strictSame(alerts.map(({ alert }) => alert).filter((name) => !raised.has(name)), [])
})

t.test('the selectors of an expression are found', async (t) => {
  t.strictSame(
    selectorsOf(
      'sum by (mode) (rate(a_total{b="c",d!~"e|f"}[5m])) / on (job, instance) shop:x:y > 0.5 and time() - ' +
        'g_seconds < 3600'
    ),
    [
      { name: 'a_total', matchers: [['b', '=', 'c'], ['d', '!~', 'e|f']] },
      { name: 'shop:x:y', matchers: [] },
      { name: 'g_seconds', matchers: [] }
    ]
  )
})

const recorded = rules.flatMap(({ record }) => record ?? [])
const { panels } = JSON.parse(textOf('examples/shop/deploy/dashboard.json')) as {
  panels: ReadonlyArray<{ title: string, targets: ReadonlyArray<{ expr?: string }> }>
}
// The others are statements for the database: incidents.test.ts runs them.
const shown = panels.flatMap(({ title, targets }) =>
  targets.flatMap(({ expr }) => expr === undefined ? [] : [{ record: title, expr }])
)

t.test('promtool takes every expression of the dashboard', { skip: withoutPromtool }, async (t) => {
  const dir = t.testdir({
    'rules.json': JSON.stringify({
      groups: [{ name: 'dashboard', rules: shown.map(({ expr }, index) => ({ record: `shown:${index}`, expr })) }]
    })
  })
  t.match(promtool(['check', 'rules', `${dir}/rules.json`]), { code: 0, said: `SUCCESS: ${shown.length} rules found` })
})

t.test('the state of a replica is served: whether it is ready, its secrets, its version and what waits', async (t) => {
  const valuesOf = (samples: typeof first, name: string): Record<string, number> =>
    Object.fromEntries(
      samples.filter((sample) => sample.name === name).map((
        { labels, value }
      ) => [Object.values(labels).join(' '), value])
    )
  const { app, scrape } = await started({ API_KEY_PEPPERS: `other:${'q'.repeat(32)}` })
  const { redis, ...checks } = valuesOf(samplesOf(await scrape()), 'shop_check_ok')
  t.strictSame(
    checks,
    { database: 1, migrations: 1, shutdown: 1, identity_provider: 1, secrets: 0, read_replica: 1 },
    'secrets are compared when a server starts'
  )
  t.equal(redis, TEST_REDIS_URL === undefined ? undefined : 1)
  await app.storedSecrets.compare().catch(() => {})
  const after = samplesOf(await scrape())
  t.strictSame(valuesOf(after, 'shop_ready'), { '': 1 })
  t.strictSame(valuesOf(after, 'shop_reverts'), { running: 0, waiting: 0 })
  t.match(valuesOf(after, 'shop_build_info'), { [`${TOOLS_VERSION} ${process.version}`]: 1 })

  const digests = (samples: typeof first): Record<string, string> =>
    Object.fromEntries(
      samples.filter(({ name }) => name === 'shop_secrets_info').map((
        { labels }
      ) => [labels['setting']!, labels['digest']!])
    )
  const [one, other] = [digests(first), digests(after)]
  t.match(one['API_KEY_PEPPERS'], /^[0-9a-f]{8}$/)
  t.not(one['API_KEY_PEPPERS'], other['API_KEY_PEPPERS'])
  t.equal(one['PAY_KEY_SECRETS'], other['PAY_KEY_SECRETS'])

  t.strictSame(valuesOf(after, 'shop_import_wait_seconds'), { '': 0 })
  const [{ id }] = await database.knex('imports').insert({
    shop_id: shop,
    actor: '{}',
    status: 'pending',
    total: 1,
    updated_at: database.knex.raw("now() - interval '1 hour'")
  }).returning('id')
  t.ok(valuesOf(samplesOf(await scrape()), 'shop_import_wait_seconds')['']! >= 3600)
  await database.knex('imports').where({ id }).delete()

  await app.shutdown.drain(0, 0)
  t.match(valuesOf(samplesOf(await scrape()), 'shop_check_ok'), { shutdown: 0 })
  t.strictSame(valuesOf(samplesOf(await scrape()), 'shop_ready'), { '': 0 })
})

t.test('every series in the rules and on the dashboard is served, by a replica that has just started', {
  skip: TEST_REDIS_URL === undefined && 'TEST_REDIS_URL is not set'
}, async (t) => {
  for (const { alert, record, expr } of [...rules, ...shown] as Rule[]) {
    for (const selector of selectorsOf(expr)) {
      // These come with the first run that finishes, and the first call.
      if (
        selector.name === 'pay_reconcile_scheduled_timestamp_seconds' &&
        selector.matchers.some(([, , value]) => value === 'finished')
      ) continue
      if (
        /_seconds_(?:bucket|sum|count)$/.test(selector.name) &&
        types.has(selector.name.replace(/_(?:bucket|sum|count)$/, ''))
      ) continue
      t.ok(
        recorded.includes(selector.name) || first.some((sample) => finds(selector, sample)),
        `${alert ?? record ?? expr}: ${JSON.stringify(selector)}`
      )
    }
  }
})

t.test('every alert leads to a part of the runbook, and every part has an alert', async (t) => {
  const anchors = [...textOf('docs/shop/runbook.md').matchAll(/^## (.*)$/gm)].map(([, title]) =>
    `docs/shop/runbook.md#${title!.toLowerCase().replaceAll(' ', '-')}`
  )
  t.strictSame(new Set(alerts.map(({ annotations: { runbook } }) => runbook)), new Set(anchors))
})

t.test('the commands and routes in the runbook exist', async (t) => {
  const page = textOf('docs/shop/runbook.md')
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
  const { paths } = JSON.parse(textOf('examples/shop/contract/openapi.json')) as {
    paths: Record<string, Record<string, unknown>>
  }
  for (const [, script] of page.matchAll(/`npm run (?:--silent )?([\w:]+)/g)) {
    t.ok(scripts[script!] !== undefined, script!)
  }
  for (const [, method, path] of page.matchAll(/`(GET|POST|PATCH|PUT|DELETE) (\/[^` ]*)/g)) {
    t.ok(
      paths[path!.replaceAll(/:(\w+)/g, '{$1}')]?.[method!.toLowerCase()] !== undefined ||
        ['/metrics', '/readyz', '/healthz'].includes(path!),
      `${method} ${path}`
    )
  }
})

t.test('every metric of the shop is in the table of the manual, and the other way round', async (t) => {
  const [, table = ''] = /\| metric \| labels \|\n((?:\|.*\n)+)/.exec(textOf('docs/shop/operations.md')) ?? []
  const told = [...table.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, names]) =>
    [...names!.matchAll(/`(\w+)`/g)].map(([, name]) => name!)
  )
  const served = [...(await scrape()).matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name!).filter((name) =>
    !/^(?:process|nodejs)_/.test(name)
  )
  t.strictSame(
    [...told, ...TEST_REDIS_URL === undefined ? ['shop_redis_up'] : []].sort().filter((name, at, all) =>
      name !== all[at - 1]
    ),
    [...served, ...TEST_REDIS_URL === undefined ? ['shop_redis_up'] : []].sort()
  )
})

t.test('what the database has never told is absent, and not 0', async (t) => {
  const { knex } = openPostgres('postgres://127.0.0.1:1/nobody')
  t.teardown(async () => {
    await knex.destroy()
  })
  const { registry } = await openMetrics({ knex })
  const names = new Set(samplesOf(await registry.metrics()).map(({ name }) => name))
  t.ok(names.has('shop_database_connections'))
  for (const name of ['shop_import_wait_seconds', 'pay_reconcile_scheduled_age_seconds']) t.notOk(names.has(name), name)
})
