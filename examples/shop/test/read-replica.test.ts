import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import t from 'tap'
import { tagRepository } from '../src/catalog/tag-repository.ts'
import type { Database } from '../src/database/index.ts'
import { openReplica } from '../src/database/replica.ts'
import { ShopScope } from '../src/access/scope.ts'
import { createShop, openTestDatabase } from './build.ts'

// Two shops, whose lists are read at a replica that replays when the test says so, or in the middle of a read.
const primary = await openTestDatabase(t)
const standby = await openTestDatabase(t)
const { knex } = primary

/** What comes before each read at the replica. */
let before = async (): Promise<void> => {}
const replica = openReplica(standby, knex)
knex.userParams['replica'] = {
  ...replica,
  read: async <Result extends { readonly state?: string }>(
    current: () => Promise<string>,
    read: () => Promise<Result>
  ) =>
    await replica.read(current, async () => {
      await before()
      return await read()
    })
} satisfies Partial<typeof replica>
const tags = tagRepository(knex)

const TABLES = ['shops', 'tags', 'shop_usage']

/** The replica has all that the primary has. */
async function replay (): Promise<void> {
  await standby.knex.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica')
    for (const table of TABLES) {
      const { rows: columns } = await knex.raw(
        "select column_name as name from information_schema.columns where table_name = ? and is_generated = 'NEVER'",
        [table]
      )
      const names = columns.map(({ name }: { readonly name: string }) => `"${name}"`).join(', ')
      const { rows: [{ all }] } = await knex.raw(
        `select coalesce(jsonb_agg(to_jsonb(row)), '[]') as all from "${table}" row`
      )
      await trx(table).delete()
      await trx.raw(
        `insert into "${table}" (${names}) select ${names} from jsonb_populate_recordset(null::"${table}", ?::jsonb)`,
        [JSON.stringify(all)]
      )
    }
  })
}

const open = async (slug: string): Promise<ShopScope> =>
  await ShopScope.resume(knex, await createShop(primary, slug), {
    kind: 'machine',
    id: 'm',
    name: null,
    operation: 'x',
    tool: null,
    confirmed: null,
    requestId: null
  })
const [one, other] = [await open('one'), await open('other')]
const make = async (shop: ShopScope, name: string): Promise<string> => (await tags.create(shop, { name })).id

const WAYS = {
  list: async (shop: ShopScope, filter?: object): Promise<readonly string[]> =>
    (await tags.list(shop, { sort: 'name', skip: 0, limit: 25, ...filter && { filter: { ...filter } } })).rows.map((
      { name }
    ) => name),
  'a part of an export': async (shop: ShopScope): Promise<readonly string[]> =>
    (await tags.first(shop, knex('tags').where({ shop_id: shop.id }), 25)).map(({ name }) => name).toSorted()
}

/** What a read finds, and where. */
async function found<Found> (read: () => Promise<Found>): Promise<readonly [Found, string]> {
  const earlier = { ...replica.reads }
  const result = await read()
  const outcomes = Object.entries(replica.reads).filter(([name, count]) =>
    count > earlier[name as keyof typeof earlier]
  )
  return [result, outcomes.map(([name]) => name).join()]
}

await make(one, 'a')
await make(other, 'z')
await replay()

for (const [way, read] of Object.entries(WAYS)) {
  t.test(`${way}: who has just written sees it, and others are served by the replica meanwhile`, async (t) => {
    const [mine, theirs] = [await read(one), await read(other)]
    t.strictSame(await found(async () => await read(one)), [mine, 'served'])
    const id = await make(one, 'b')
    t.strictSame(await found(async () => await read(one)), [[...mine, 'b'].toSorted(), 'behind'])
    t.strictSame(await found(async () => await read(other)), [theirs, 'served'], 'another shop')
    await replay()
    t.strictSame(await found(async () => await read(one)), [[...mine, 'b'].toSorted(), 'served'])

    await tags.update(one, id, { name: 'c' })
    t.strictSame(await found(async () => await read(one)), [[...mine, 'c'].toSorted(), 'behind'], 'a change')
    await tags.remove(one, id)
    t.strictSame(await found(async () => await read(one)), [mine, 'behind'], 'a deletion')
    await replay()
    t.strictSame(await found(async () => await read(one)), [mine, 'served'])
  })

  t.test(`${way}: what others write while it is read`, async (t) => {
    const mine = await read(one)
    before = async () => {
      before = async () => {}
      await make(one, `${way} d`)
    }
    const [names] = await found(async () => await read(one))
    t.ok([mine, [...mine, `${way} d`].toSorted()].some((moment) => names.join() === moment.join()), 'one moment')
    t.strictSame(
      await found(async () => await read(one)),
      [[...mine, `${way} d`].toSorted(), 'behind'],
      'and then that one'
    )
    before = async () => {
      before = async () => {}
      await make(one, `${way} e`)
      await replay()
    }
    t.strictSame((await read(one)).length, mine.length + 2, 'what was replayed meanwhile')
    t.strictSame(await found(async () => await read(one)), [[...mine, `${way} d`, `${way} e`].toSorted(), 'served'])
  })
}

t.test('a database that follows no primary is named as long as it serves nothing', async (t) => {
  await replay()
  await WAYS.list(one)
  t.equal(replica.condition, 'ok')
  await make(one, 'behind')
  for (let tries = 0; replica.condition === 'ok' && tries < 1000; tries++) {
    await WAYS.list(one)
    await sleep(20)
  }
  t.equal(replica.condition, 'it follows no primary: lists are read at the primary')
  await replay()
  t.equal((await found(async () => await WAYS.list(one)))[1], 'served')
  t.equal(replica.condition, 'ok')
})

t.test('a standby that has caught up is well again, also if nobody reads', async (t) => {
  let lag = 20
  const raw = async (): Promise<object> => ({ rows: [{ follows: true, lag, written: '0/0' }] })
  const late = openReplica({ knex: { raw } } as unknown as Database, { raw } as unknown as Knex)
  const become = async (expected: string): Promise<void> => {
    for (let tries = 0; late.condition !== expected && tries < 1000; tries++) await sleep(1)
    t.equal(late.condition, expected)
  }
  t.equal(await late.read(async () => 'now', async () => ({ state: 'before' })), undefined)
  await become('it is 20 s behind: lists are read at the primary')
  lag = 0
  await become('ok')
})

t.test('a count that was remembered of the replica is not that of the primary', async (t) => {
  const { list } = tags
  const count = async (shop: ShopScope): Promise<number> =>
    (await list(shop, { sort: 'name', skip: 0, limit: 1, filter: { q: 'z' } })).count
  t.strictSame(await found(async () => await count(other)), [1, 'served'])
  await make(other, 'z z')
  t.strictSame(await found(async () => await count(other)), [2, 'behind'])
  await replay()
  t.strictSame(await found(async () => await count(other)), [2, 'served'])
})
