import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import t from 'tap'
import { forgetHistory } from '../src/history/retention.ts'
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
    await knex('imports').insert({
      shop_id: shop,
      actor,
      status: 'running',
      error: 'goes on',
      created_at: ago(DAYS + 5)
    })
  }

  const host = Fastify()
  const failures: unknown[] = []
  host.decorate('jobFailed', (_job, error) => {
    failures.push(error)
  })
  forgetHistory(host, knex, DAYS, 2)
  await host.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => host.close())
  // They go last.
  while (failures.length === 0 && await knex('imports').where({ error: 'old' }).first('id') !== undefined) {
    await sleep(5)
  }
  await host.close()
  t.strictSame(failures, [])

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
    t.strictSame(await left('imports', 'error'), ['goes on', 'new'])
  }
})
