import { setImmediate as nextTurn } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Knex } from 'knex'
import type { ToolCallEvent } from 'mcp-from-routes'
import t from 'tap'
import { turns } from '../src/turns.ts'
import { createCounts } from '../src/lists/counts.ts'
import { acceptedKeys } from '../src/operations/accepted-keys.ts'
import { keyUse } from '../src/tool-calls/key-use.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'
import { startRedis, withoutRedis } from './redis.ts'

// Two shops, two moments, and something that waits meanwhile.
const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t)
const app = await build(t, database, idp)
const machine = bearer(await idp.machineToken())

/** A new key of a shop. */
const keyOf = async (shop: string): Promise<string> =>
  (await client(app, `/shops/${shop}`, machine)('POST', '/api-keys/', { name: 'x' })).body.id

/** A gate that keeps what comes to it until it is opened. */
function gate () {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

t.test('work in turns: a shop waits for itself, not for others, and who has waited longest comes next', async (t) => {
  const inTurn = turns({ atOnce: 3, share: 1, maxWait: 3_600_000 })
  const begun: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  const start = (name: string, ...keys: string[]) =>
    inTurn(keys, async () => {
      begun.push(name)
      await new Promise<void>((resolve, reject) => {
        ends.set(name, (error) => {
          if (error === undefined) resolve()
          else reject(error)
        })
      })
      return name
    }).then((name) => name, ({ message }) => message)
  const end = async (name: string, error?: Error): Promise<void> => {
    ends.get(name)!(error)
    for (let turns = 0; turns < 10; turns++) await nextTurn()
  }
  const works = [
    start('a1', 'a', 'ada'),
    start('a2', 'a', 'kim'),
    start('b1', 'b', 'lee'),
    start('c1', 'c', 'ada'),
    start('d1', 'd', 'noor'),
    start('e1', 'e', 'kim')
  ]
  await nextTurn()
  t.strictSame(begun, ['a1', 'b1', 'd1'], 'neither the shop nor the person of a work that runs has another one')
  await end('a1', new Error('a1 fails'))
  t.strictSame(begun.slice(3), ['e1'], 'others than its own come first')
  await end('b1')
  t.strictSame(begun.slice(4), ['c1'], 'kim has a work already')
  await end('e1')
  t.strictSame(begun.slice(5), ['a2'])
  for (const name of ['c1', 'd1', 'a2']) await end(name)
  t.strictSame(await Promise.all(works), ['a1 fails', 'a2', 'b1', 'c1', 'd1', 'e1'])
  t.strictSame(inTurn.state(), { running: 0, waiting: 0 })
})

t.test('the count of one shop, table or filter is no other one', (t) => {
  const counts = createCounts(knex, 'products')
  const [drafts, active] = [{ status: ['draft'] }, { status: ['active'] }]
  const found = (count: number) => ({ state: 'same', count })
  for (const [shop, filter, count] of [['one', drafts, 1], ['other', drafts, 2], ['one', active, 3]] as const) {
    counts.remember(shop, filter, found(count) as never)
  }
  t.strictSame([
    counts.last('one', drafts),
    counts.last('other', drafts),
    counts.last('one', active),
    counts.last('other', active)
  ], [found(1), found(2), found(3), undefined])
  t.end()
})

for (const [where, skip] of [['in memory', false], ['in Redis', withoutRedis]] as const) {
  t.test(`an accepted key is known as that of its holder, ${where}`, { skip }, async (t) => {
    const redis = where === 'in Redis' ? new Redis((await startRedis(t)).url) : undefined
    t.teardown(() => redis?.disconnect())
    const [one, other] = [acceptedKeys(redis), acceptedKeys(redis)]
    one.remember('digest of ada', { keyId: 'ada', shopId: 'one' })
    one.remember('digest of kim', { keyId: 'kim', shopId: 'other' })
    // Behind what was written.
    await redis?.ping()
    const known = async (keys: typeof one) =>
      await Promise.all(['ada', 'kim', 'lee'].map(async (name) => (await keys.find(`digest of ${name}`))?.keyId))
    t.strictSame(await known(one), ['ada', 'kim', undefined])
    t.strictSame(
      await known(other),
      redis === undefined ? [undefined, undefined, undefined] : ['ada', 'kim', undefined],
      'another server'
    )
  })
}

t.test("when the write of keys' use fails, newer use of the same and another key is kept", async (t) => {
  const shops = [await createShop(database, 'used'), await createShop(database, 'used-too')] as const
  const [ada, kim] = [await keyOf(shops[0]), await keyOf(shops[1])]
  const [isAsked, isHeld] = [gate(), gate()]
  let isAway = true
  const unsteady = new Proxy(knex, {
    get: (target, name) =>
      name !== 'raw' || !isAway
        ? Reflect.get(target, name)
        : (sql: string, ...bindings: []) => {
          if (!sql.includes('insert into')) return target.raw(sql, ...bindings)
          isAsked.open()
          return isHeld.opened.then(() => {
            throw new Error('away')
          })
        }
  }) as Knex
  const failures: string[] = []
  const use = keyUse(unsteady, (_error, message) => failures.push(message), 'shop', 2)
  const fail = (key: string, ...tools: string[]): void => {
    for (const name of tools) {
      use.keep(key, { tool: { name }, arguments: {}, error: 'x', statusCode: 422 } as unknown as ToolCallEvent)
    }
  }
  const callsOf = async (key: string): Promise<string[]> =>
    (await knex('failed_calls').where({ key_id: key }).orderBy('at')).map(({ tool }) => tool).toSorted()
  const clientsOf = async (key: string) =>
    (await knex('key_clients').where({ key_id: key }).orderBy('name')).map(({ name, version }) => `${name} ${version}`)

  use.note(ada, { name: 'desk', version: '1' })
  use.note(kim, { name: 'desk', version: '7' })
  fail(ada, 'old_1', 'old_2')
  fail(kim, 'of_kim')
  const flushing = use.flush()
  await isAsked.opened
  use.note(ada, { name: 'desk', version: '2' })
  fail(ada, 'new_1', 'new_2')
  isHeld.open()
  await flushing
  t.equal(failures.length, 2)
  t.strictSame([await callsOf(ada), await clientsOf(ada)], [[], []])

  isAway = false
  await use.flush()
  t.strictSame(await callsOf(ada), ['new_1', 'new_2'], 'the newest of each key')
  t.strictSame(await callsOf(kim), ['of_kim'])
  t.strictSame([await clientsOf(ada), await clientsOf(kim)], [['desk 2'], ['desk 7']])
  await use.flush()
  t.strictSame([await callsOf(ada), await callsOf(kim)], [['new_1', 'new_2'], ['of_kim']], 'and each once')
})

t.test('what keys and shops use while the counts are written is counted once, each for its own', async (t) => {
  const [isAsked, isHeld] = [gate(), gate()]
  const slow = new Proxy(knex, {
    get: (target, name) =>
      name !== 'raw'
        ? Reflect.get(target, name)
        : (sql: string, ...bindings: []) => {
          if (!sql.includes('insert into daily_usage')) return target.raw(sql, ...bindings)
          isAsked.open()
          return isHeld.opened.then(() => target.raw(sql, ...bindings))
        }
  }) as Knex
  const server = await build(t, { ...database, knex: slow }, idp)
  const as = client(server, '', machine)
  const shops = [await createShop(database, 'busy'), await createShop(database, 'busy-too')] as const
  const keys = await Promise.all(
    [shops[0], shops[0], shops[1]].map(async (shop) =>
      (await as('POST', `/shops/${shop}/api-keys/`, { name: 'x' })).body as { id: string, plaintext: string }
    )
  )
  const use = async (key: number, times: number): Promise<void> => {
    for (let call = 0; call < times; call++) {
      const { body } = await client(server, '', {
        'x-api-key': keys[key]!.plaintext,
        accept: 'application/json, text/event-stream'
      })('POST', '/mcp', {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list_tags', arguments: {} }
      })
      t.equal(body.result.isError, undefined)
    }
  }
  const usage = async (path: string) => (await as('GET', `${path}/usage`)).body.today.calls

  for (const [key, times] of [[0, 1], [1, 2], [2, 1]] as const) await use(key, times)
  const first = usage(`/shops/${shops[0]}`)
  await isAsked.opened
  for (const [key, times] of [[0, 3], [2, 5]] as const) await use(key, times)
  isHeld.open()
  await first
  t.strictSame([await usage(`/shops/${shops[0]}`), await usage(`/shops/${shops[1]}`)], [6, 6])
  await as('GET', `/shops/${shops[0]}/tool-calls`)
  const ofKeys = await Promise.all(
    keys.map(async ({ id }) =>
      Number((await knex('key_calls').where({ key_id: id }).sum('calls as calls').first())?.['calls'])
    )
  )
  t.strictSame(ofKeys, [4, 2, 6])
  const ofDay = await Promise.all(
    keys.map(async ({ id }) => (await knex('daily_usage').where({ meter_id: id }).first('calls'))?.calls)
  )
  t.strictSame(ofDay, [4, 2, 6])
})
