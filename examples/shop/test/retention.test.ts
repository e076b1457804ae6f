import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { forgetHistory } from '../src/history/retention.ts'
import { importSteps } from '../src/imports/step.ts'
import { BUCKETS } from '../src/tool-calls/histogram.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

// Two shops, and what happened before and after the time that is kept.
const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t)
const app = await build(t, database, idp)
const machine = bearer(await idp.machineToken())

const DAYS = 30
const ago = (days: number, minutes = 0) =>
  knex.raw("date_trunc('hour', now()) - make_interval(days => ?, mins => ?)", [days, minutes])

/**
 * Forgets what is older than is kept, until imports are gone, which go last.
 *
 * @returns what failed
 */
async function forgotten (t: Test, imports: Readonly<Record<string, string>>): Promise<readonly unknown[]> {
  const host = Fastify()
  const failures: unknown[] = []
  host.decorate('jobFailed', (_job, error) => {
    failures.push(error)
  })
  forgetHistory(host, knex, DAYS, 2)
  await host.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => host.close())
  while (failures.length === 0 && await knex('imports').where(imports).first('id') !== undefined) await sleep(5)
  await host.close()
  return failures
}

/** Hears how many rows each statement deletes. */
function hearDeletions () {
  const deleted: Record<string, number[]> = {}
  const hear = (count: number, { sql }: { readonly sql: string }): void => {
    const table = /^delete from "(\w+)"/.exec(sql)?.[1]
    if (table !== undefined) (deleted[table] ??= []).push(count)
  }
  knex.on('query-response', hear)
  return {
    stop: () => knex.removeListener('query-response', hear),
    most: (table: string): number => Math.max(0, ...deleted[table] ?? [])
  }
}

t.test('what is older than is kept goes, of every shop, and nothing that is newer or goes on', async (t) => {
  const shops = [await createShop(database, 'kept'), await createShop(database, 'kept-too')]
  for (const shop of shops) {
    const { id: key } = (await client(app, `/shops/${shop}`, machine)('POST', '/api-keys/', { name: 'x' })).body
    const of = { shop_id: shop, key_id: key }
    const entry = { shop_id: shop, actor_kind: 'machine', actor_id: 'x', operation: 'x' }
    const actor = { kind: 'machine', id: 'x' }
    for (const [name, days] of [['old', DAYS + 1], ['new', DAYS - 1]] as const) {
      await knex('history').insert({
        ...entry,
        at: ago(days),
        action: 'event',
        record_kind: 'product',
        record_id: knex.raw('gen_random_uuid()'),
        record_name: name
      })
      await knex('history').insert({
        ...entry,
        at: ago(days),
        action: 'event',
        record_kind: 'api_key',
        record_id: key,
        record_name: `access, ${name}`
      })
      await knex('daily_usage').insert({
        shop_id: shop,
        meter_id: key,
        day: ago(days),
        calls: days,
        writes: 0,
        imports: 0
      })
      await knex('tool_calls').insert({
        shop_id: shop,
        hour: ago(days),
        tool: name,
        calls: 1,
        errors: 0,
        durations: new Array(BUCKETS).fill(0)
      })
      await knex('key_calls').insert({ ...of, hour: ago(days), tool: name, calls: 1, errors: 0 })
      for (const minutes of [3, 2, 1]) {
        await knex('failed_calls').insert({
          ...of,
          at: ago(days, minutes),
          tool: `${name} ${minutes}`,
          arguments: '{}',
          answer: ''
        })
      }
      // Long ago it was seen first, and then again.
      await knex('key_clients').insert({
        ...of,
        name,
        version: '1',
        first_seen_at: ago(DAYS + 5),
        last_seen_at: ago(days)
      })
      await knex('imports').insert({
        shop_id: shop,
        actor,
        status: 'done',
        error: name,
        created_at: ago(DAYS + 5),
        finished_at: ago(days)
      })
    }
    const { id: beside } = (await client(app, `/shops/${shop}`, machine)('POST', '/api-keys/', { name: 'y' })).body
    for (const minutes of [9, 8]) {
      await knex('failed_calls').insert({
        ...of,
        key_id: beside,
        at: ago(DAYS - 1, minutes),
        tool: `beside ${minutes}`,
        arguments: '{}',
        answer: ''
      })
    }
    for (const [name, days] of [['old', 1.1], ['new', 0.9]] as const) {
      await knex('idempotency_keys').insert({
        id: knex.raw('gen_random_uuid()'),
        shop_id: shop,
        caller_kind: 'machine',
        caller_id: 'x',
        operation: name,
        fingerprint: '',
        status: 201,
        headers: {},
        body: '',
        created_at: knex.raw("now() - ? * interval '1 day'", [days])
      })
    }
    await knex('imports').insert({
      shop_id: shop,
      actor,
      status: 'running',
      error: 'goes on',
      created_at: ago(DAYS + 5)
    })
  }

  t.strictSame(await forgotten(t, { error: 'old' }), [])

  for (const shop of shops) {
    const left = async (table: string, column: string) =>
      (await knex(table).where({ shop_id: shop }).select(column)).map((row) => row[column]).toSorted()
    t.strictSame(
      (await left('history', 'record_name')).filter((name) => ['old', 'new'].includes(name) || /access/.test(name)),
      ['access, new', 'access, old', 'new'],
      'what is about access stays'
    )
    t.strictSame(await left('daily_usage', 'calls'), [DAYS - 1])
    t.strictSame(await left('tool_calls', 'tool'), ['new'])
    t.strictSame(await left('key_calls', 'tool'), ['new'])
    t.strictSame(
      await left('failed_calls', 'tool'),
      ['beside 8', 'beside 9', 'new 1', 'new 2'],
      'of each key the newest'
    )
    t.strictSame(await left('key_clients', 'name'), ['new'])
    t.strictSame(await left('idempotency_keys', 'operation'), ['new'], 'for a day')
    t.strictSame(await left('imports', 'error'), ['goes on', 'new'])
  }
})

t.test('however many calls failed beyond those that are kept, no statement deletes more than 5,000 rows', async (t) => {
  const shops = [await createShop(database, 'failing'), await createShop(database, 'failing-too')]
  const made = []
  for (const shop of shops) {
    const { id: key } = (await client(app, `/shops/${shop}`, machine)('POST', '/api-keys/', { name: 'x' })).body
    made.push({ shop, key })
    await knex.raw(
      `insert into failed_calls (shop_id, key_id, at, tool, arguments, answer)
      select :shop, :key, now() - n * interval '1 second', n::text, '{}', '' from generate_series(1, 12000) n`,
      { shop, key }
    )
    await knex.raw(
      `insert into key_clients (shop_id, key_id, name, version, first_seen_at, last_seen_at)
      select :shop, :key, n::text, '1', now(), now() - n * interval '1 second' from generate_series(1, 12000) n`,
      { shop, key }
    )
  }
  await knex.raw(
    `insert into imports (shop_id, actor, created_at) select :shop, '{}', now() - interval '1 hour'
    from generate_series(1, 3) n`,
    { shop: shops[0]! }
  )
  await knex('imports').insert({
    shop_id: shops[0],
    actor: '{}',
    status: 'done',
    error: 'last',
    finished_at: ago(DAYS + 1)
  })

  const heard = hearDeletions()
  t.strictSame(await forgotten(t, { error: 'last' }), [])
  await importSteps(knex, () => {}).forgetBroken()
  heard.stop()
  for (const { shop, key } of made) {
    t.strictSame(await knex('failed_calls').where({ shop_id: shop, key_id: key }).orderBy('at').pluck('tool'), [
      '2',
      '1'
    ])
    t.strictSame(await knex('key_clients').where({ shop_id: shop }).orderBy('last_seen_at').pluck('name'), [
      '5',
      '4',
      '3',
      '2',
      '1'
    ])
  }
  t.strictSame(await knex('imports').where({ shop_id: shops[0] }), [], 'and files that nobody receives')
  for (const table of ['failed_calls', 'key_clients']) t.ok(heard.most(table) <= 5000, `${table}: ${heard.most(table)}`)
  t.equal(heard.most('imports'), 1)
})

t.test('however much is old, no statement deletes more than 5,000 rows, or more than one import', async (t) => {
  const shop = await createShop(database, 'old')
  const { id: key } = (await client(app, `/shops/${shop}`, machine)('POST', '/api-keys/', { name: 'x' })).body
  const many = 'generate_series(1, 12000) n'
  const values = { shop, key, before: DAYS + 1, durations: new Array(BUCKETS).fill(0) }
  const fill = async (into: string, select: string): Promise<void> => {
    await knex.raw(`insert into ${into} select ${select} from ${many}`, values)
  }
  const old = 'now() - make_interval(days => :before)'
  await fill(
    'daily_usage (shop_id, meter_id, day, calls, writes, imports)',
    `:shop, :shop, (${old} - make_interval(days => n))::date, 1, 0, 0`
  )
  await fill('tool_calls', `:shop, ${old}, n::text, 1, 0, :durations`)
  await fill('key_calls', `:shop, :key, ${old}, n::text, 1, 0`)
  await fill('failed_calls (shop_id, key_id, at, tool, arguments, answer)', `:shop, :key, ${old}, 'x', '{}', ''`)
  await fill('key_clients', `:shop, :key, n::text, '1', ${old}, ${old}`)
  const keys =
    'idempotency_keys (id, shop_id, caller_kind, caller_id, operation, fingerprint, status, headers, body, ' +
    'created_at)'
  await fill(keys, `gen_random_uuid(), :shop, 'machine', 'old', '', '', 201, '{}', '', ${old}`)
  for (const caller of ['busy', 'other']) {
    await fill(
      keys,
      `gen_random_uuid(), :shop, 'machine', '${caller}', n::text, '', 201, '{}', '', now() - n * interval '1 second'`
    )
  }
  await knex('idempotency_keys').where({ caller_id: 'other' }).whereRaw('operation::int > 9000').delete()
  await knex.raw(
    "insert into imports (shop_id, actor, status, finished_at) select :shop, '{}', 'done', " +
      `${old} from generate_series(1, 3) n`,
    values
  )

  const heard = hearDeletions()
  const failures = await forgotten(t, { shop_id: shop })
  heard.stop()
  t.strictSame(failures, [])
  for (const table of ['daily_usage', 'tool_calls', 'key_calls', 'failed_calls', 'key_clients']) {
    t.strictSame(await knex(table).where({ shop_id: shop }), [], table)
    t.ok(heard.most(table) <= 5000, `${table}: ${heard.most(table)}`)
  }
  t.equal(heard.most('imports'), 1)
  const { rows } = await knex.raw(
    'select caller_id, count(*), max(operation::int) from idempotency_keys where shop_id = ? group by 1 order by 1',
    [shop]
  )
  t.strictSame(rows, [
    { caller_id: 'busy', count: 10_000, max: 10_000 },
    { caller_id: 'other', count: 9000, max: 9000 }
  ], 'of each caller the newest 10,000')
  t.ok(heard.most('idempotency_keys') <= 5000, `${heard.most('idempotency_keys')}`)
})
