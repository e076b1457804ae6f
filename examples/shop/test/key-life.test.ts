import { Writable } from 'node:stream'
import t from 'tap'
import { bearer, build, client, createShop, INSTANT, openIdentityProvider, openTestDatabase } from './build.ts'
import { clientLines, connect, rowsOf } from './mcp-clients.ts'

const METRICS_TOKEN = 'a-token-for-the-metrics'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['owner'])
const machine = bearer(await idp.machineToken())
const here = await createShop(database, 'here')
const elsewhere = await createShop(database, 'elsewhere')
const keysAt = `/shops/${here}/api-keys`

t.test('agents keep working over a rotation: with the old key in the grace, with the new one after it', async (t) => {
  const app = await build(t, database, idp)
  const base = await app.listen({ host: '127.0.0.1', port: 0 })
  const manage = client(app, keysAt, machine)
  for (const line of clientLines) {
    const { id, plaintext } = (await manage('POST', '/', { name: line, scopes: ['read'] })).body
    const tools = async (agent: Awaited<ReturnType<typeof connect>>) => {
      const answer = await agent.callTool({ name: 'list_tags', arguments: {} })
      return rowsOf(answer)
    }
    const old = await connect(t, line, `${base}/mcp`, { 'x-api-key': plaintext })
    t.strictSame(await tools(old), [], line)

    const { status, body: next } = await manage('POST', `/${id}/rotate`, { grace: 3600 })
    t.equal(status, 201)
    t.match(next, {
      name: line,
      scopes: ['read'],
      replaces: id,
      replaced: { id, status: 'active', replaced_by: next.id, expires_at: INSTANT }
    })
    const fresh = await connect(t, line, `${base}/mcp`, { 'x-api-key': next.plaintext })
    for (const agent of [old, fresh, old, fresh]) t.strictSame(await tools(agent), [], `${line}, in the grace`)

    // The grace is over.
    await knex('api_keys').where({ id }).update({ expires_at: knex.raw("now() - interval '1 second'") })
    await t.rejects(tools(old), `${line}, after the grace`)
    for (const headers of [{ 'x-api-key': plaintext }, bearer(plaintext)]) {
      t.equal((await client(app, `/shops/${here}`, headers)('GET', '/tags')).status, 401)
    }
    t.strictSame(await tools(fresh), [], `${line}, after the grace`)
    t.match((await manage('GET', '/?filter={"status":"expired"}')).body.map(({ id }: { id: string }) => id), [id])
    t.equal((await manage('DELETE', `/${id}`)).status, 204)
  }
})

t.test('a rotation is in the audit trail, with both keys and who did it', async (t) => {
  const app = await build(t, database, idp)
  const manage = client(app, keysAt, machine)
  const { id } = (await manage('POST', '/', { name: 'Till' })).body
  const first = (await manage('POST', `/${id}/rotate`, {})).body
  const second = (await manage('POST', `/${first.id}/rotate`, { grace: 0 })).body
  const { body } = await client(app, `/shops/${here}`, machine)(
    'GET',
    `/audit?sort=at&filter=${
      encodeURIComponent(JSON.stringify({ operation: 'rotate_api_key', record_id: [id, first.id, second.id] }))
    }`
  )
  const fresh = (after: unknown) => ({ before: null, after })
  // By what was done to which key, as the rows of one rotation have the same time.
  t.match(
    Object.fromEntries(
      body.map((row: { action: string, record_id: string }) => [`${row.action} ${row.record_id}`, row])
    ),
    {
      [`create ${first.id}`]: {
        actor_kind: 'machine',
        changes: { name: fresh('Till'), prefix: fresh(first.prefix), replaces: fresh(id) }
      },
      [`update ${id}`]: {
        actor_kind: 'machine',
        changes: { replaced_by: fresh(first.id), works_until: fresh(first.replaced.expires_at) }
      },
      [`create ${second.id}`]: { changes: { replaces: fresh(first.id) } },
      [`update ${first.id}`]: { changes: { replaced_by: fresh(second.id), revoked_at: fresh(second.created_at) } }
    }
  )
  t.equal(body.length, 4)
})

t.test('what happens to keys is in the log, in the metrics and in the audit trail of their shop', async (t) => {
  const lines: string[] = []
  const stream = new Writable({
    write (chunk, _encoding, done) {
      lines.push(...String(chunk).trim().split('\n'))
      done()
    }
  })
  const app = await build(t, database, idp, { settings: { METRICS_TOKEN }, logger: { stream } })
  const manage = client(app, keysAt, machine)
  const { id, plaintext } = (await manage('POST', '/', { name: 'Robot', scopes: ['read'] })).body
  const use = async (path: string, method: 'GET' | 'POST', remoteAddress: string) =>
    (await app.inject({
      method,
      url: path,
      headers: { 'x-api-key': plaintext },
      remoteAddress,
      ...(method === 'POST' && { payload: { name: 'x' } })
    })).statusCode
  t.equal(await use(`/shops/${here}/tags`, 'GET', '203.0.113.7'), 200)
  // So that the first use is written before the next one.
  await manage('GET', '/')
  t.equal(await use(`/shops/${here}/tags`, 'GET', '198.51.100.1'), 200)
  await manage('GET', '/')
  for (let times = 0; times < 3; times++) t.equal(await use(`/shops/${here}/tags`, 'POST', '198.51.100.1'), 403)
  t.equal(await use(`/shops/${elsewhere}/tags`, 'GET', '198.51.100.1'), 403)
  await manage('DELETE', `/${id}`)
  t.equal(await use(`/shops/${here}/tags`, 'GET', '2001:db8::1'), 401)

  // Until the host has dealt with all of them; those that were only counted come when the server closes.
  const scrape = async () => (await app.inject({ url: '/metrics', headers: bearer(METRICS_TOKEN) })).body
  const counted = async () =>
    Object.fromEntries(
      [...(await scrape()).matchAll(/^api_key_events_total\{event="(\w+)",reason="(\w*)"\} (\d+)$/gm)]
        .map(([, event, reason, count]) => [`${event} ${reason}`.trim(), Number(count)] as const).filter(([, count]) =>
          count > 0
        )
    )
  const expected = {
    created: 1,
    first_used: 1,
    new_network: 1,
    revoked: 1,
    'refused scope': 1,
    'refused wrong_shop': 1,
    'refused revoked': 1
  }
  while (Object.keys(await counted()).length < Object.keys(expected).length) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.strictSame(await counted(), expected)
  await app.close()

  const entries = await knex('history').where({ record_id: id, action: 'event' }).select(
    'shop_id',
    'actor_kind',
    'actor_id',
    'operation',
    'changes',
    'request_id'
  )
  const said = entries.map(({ operation, changes }) =>
    `${operation} ${Object.values(changes as Record<string, { after: unknown }>).map(({ after }) => after).join(' ')}`
  )
  t.strictSame(said.toSorted(), [
    'api_key.first_used 203.0.113.0/24',
    'api_key.new_network 198.51.100.0/24',
    'api_key.refused 1 revoked 2001:db8::/48',
    'api_key.refused 1 scope 198.51.100.0/24',
    'api_key.refused 1 wrong_shop 198.51.100.0/24',
    'api_key.refused 2 scope 198.51.100.0/24'
  ])
  t.ok(
    entries.every((entry) =>
      entry.shop_id === here && entry.actor_kind === 'api-key' && entry.actor_id === id && entry.request_id === null
    )
  )

  const logged = lines.map((line) => JSON.parse(line)).filter(({ event, keyId }) =>
    /^api_key\./.test(event) && keyId === id
  )
  t.strictSame(logged.map(({ event, level }) => `${event} ${level}`).toSorted(), [
    'api_key.created 30',
    'api_key.first_used 30',
    'api_key.new_network 40',
    'api_key.refused 40',
    'api_key.refused 40',
    'api_key.refused 40',
    'api_key.refused 40',
    'api_key.revoked 30'
  ])
  t.match(logged.find(({ event }) => event === 'api_key.new_network'), {
    shopId: here,
    network: '198.51.100.0/24',
    msg: 'API key new network'
  })
  t.notMatch(lines.join('\n'), plaintext)
})

t.test('a key that expires soon is told when the server starts, once', async (t) => {
  const first = await build(t, database, idp)
  const { id } = (await client(first, keysAt, machine)('POST', '/', {
    name: 'Season',
    expires_at: new Date(Date.now() + 5 * 86_400_000).toISOString()
  })).body
  await knex('api_keys').where({ id }).update({ created_at: knex.raw("now() - interval '100 days'") })
  await first.close()
  for (let times = 0; times < 2; times++) await (await build(t, database, idp)).close()
  const entries = await knex('history').where({ record_id: id, action: 'event' }).orderBy('operation').select(
    'actor_kind',
    'operation',
    'changes'
  )
  t.match(entries, [
    {
      actor_kind: 'server',
      operation: 'api_key.expiring',
      changes: { days: { after: 7 }, expires_at: { after: INSTANT } }
    },
    {
      actor_kind: 'server',
      operation: 'api_key.unused',
      changes: { days: { after: 90 }, last_used_at: { after: null } }
    }
  ])
  t.equal(entries.length, 2)
})

t.test('a browser may read how many keys there are', async (t) => {
  const app = await build(t, database, idp, { settings: { CORS_ORIGINS: 'https://admin.example' } })
  const { headers } = await app.inject({ url: `${keysAt}/`, headers: { ...machine, origin: 'https://admin.example' } })
  t.match(headers['key-counts'], /^active=\d+, expired=\d+, revoked=\d+$/)
  t.match(headers['access-control-expose-headers'], /key-counts/)
})
