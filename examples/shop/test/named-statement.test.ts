import t, { type Test } from 'tap'
import { type Database, openPostgres } from '../src/database/index.ts'
import { namedStatement, namedStatements, type StatementOptions } from '../src/database/named-statement.ts'
import type { ListQuery } from '../src/lists/list.ts'
import { createCounts } from '../src/lists/counts.ts'
import { pageOf } from '../src/lists/page.ts'
import { namedPages } from '../src/lists/page-statement.ts'
import { createDatabase, openEmptyDatabase, TEST_DATABASE_URL } from './build.ts'

const skip = TEST_DATABASE_URL === undefined && 'TEST_DATABASE_URL is not set: the embedded engine ignores names'

const SQL = 'select thing.* from things as thing where id = ?'

async function withThings ({ knex }: Database): Promise<void> {
  await knex.raw('create table things (id text primary key, name text)')
  await knex('things').insert([{ id: 'a', name: 'Ann' }, { id: 'b', name: 'Bob' }])
}

/** A database on the server with a table of things; its statements run one after another, and so on one connection. */
async function onServer (t: Test, options?: StatementOptions) {
  const database = openPostgres(await createDatabase(t, TEST_DATABASE_URL!), options)
  t.teardown(async () => await database.close())
  await withThings(database)
  const { knex } = database
  return {
    knex,
    find: namedStatement<{ name: string }>(knex, SQL),
    prepared: async (): Promise<string[]> =>
      (await knex.raw('select name from pg_prepared_statements order by prepare_time')).rows.map((
        { name }: { name: string }
      ) => name)
  }
}

t.test('a statement with a name finds rows on both engines, on the pool and in a transaction', async (t) => {
  const database = await openEmptyDatabase(t)
  await withThings(database)
  const find = namedStatement(database.knex, SQL)
  for (let i = 0; i < 8; i++) t.strictSame(await find(['b']), [{ id: 'b', name: 'Bob' }])
  t.strictSame(await find(['c']), [])
  await database.knex.transaction(async (trx) => {
    await trx('things').insert({ id: 'c', name: 'Cay' })
    t.strictSame(await find(['c'], trx), [{ id: 'c', name: 'Cay' }])
  })
  await t.rejects(namedStatement(database.knex, 'select name from nothing where id = ?')(['a']), { code: '42P01' })
})

t.test('a connection prepares the statement once, under a name that means one text', { skip }, async (t) => {
  const { knex, find, prepared } = await onServer(t)
  for (let i = 0; i < 8; i++) await find(['a'])
  await namedStatement(knex, SQL)(['a'])
  const names = await prepared()
  t.equal(names.length, 1)
  t.match(names[0], /^shop_[0-9a-f]{16}$/)
  await namedStatement(knex, `${SQL} and name > ''`)(['a'])
  t.equal((await prepared()).length, 2)
})

t.test(
  'pages without a filter are planned once in a connection, and a connection keeps a few plans only',
  { skip },
  async (t) => {
    const { knex, prepared } = await onServer(t)
    const shopId = '00000000-0000-4000-8000-000000000000'
    await knex.raw(`alter table things add shop_id uuid default '${shopId}'`)
    await knex.raw('create table shop_usage (id uuid, shop_id uuid, kind text, records int)')
    const counted = { by: createCounts(knex, 'things'), shopId }
    const named = namedPages(knex, (shop) => knex('things').where({ shop_id: shop }))
    const page = async (query: Partial<ListQuery>) =>
      (await pageOf<{ id: string }>(knex, knex('things').where({ shop_id: shopId }), {
        filters: {},
        nullable: ['name'],
        counted,
        named
      }, { skip: 0, limit: 10, sort: 'id', ...query })).rows.map(({ id }) => id)
    for (let i = 0; i < 8; i++) t.strictSame(await page({ sort: '-name' }), ['b', 'a'])
    t.equal((await prepared()).length, 1)
    t.strictSame(await page({ limit: 3 }), ['a', 'b'], 'limits without number would be plans without number')
    t.strictSame(await page({ skip: 1 }), ['b'])
    t.equal((await prepared()).length, 1)
    const run = namedStatements(knex)
    for (let i = 0; i < 30; i++) await run(`${SQL} and ${i} = ${i}`, ['a'])
    t.equal((await prepared()).length, 21)
    t.strictSame(await page({}), ['a', 'b'])
  }
)

t.test(
  'calls that meet a connection without the statement succeed, and use no name from then on',
  { skip },
  async (t) => {
    const { knex, find, prepared } = await onServer(t)
    await find(['a'])
    // As behind a pooler: the driver believes that the connection has it.
    await knex.raw('deallocate all')
    t.match(await find(['a']), [{ name: 'Ann' }])
    await find(['a'])
    t.strictSame(await prepared(), [])
    // Calls that run side by side meet it on one connection and prepare it on others.
    const second = await onServer(t)
    await second.find(['a'])
    await second.knex.raw('deallocate all')
    t.match(await Promise.all(['a', 'b', 'a'].map((id) => second.find([id]))), [
      [{ name: 'Ann' }],
      [{ name: 'Bob' }],
      [{ name: 'Ann' }]
    ])
  }
)

t.test('a table that gets another column while the server runs is no failure, and the statement is planned again', {
  skip
}, async (t) => {
  const { knex, find, prepared } = await onServer(t)
  await find(['a'])
  for (const [n, column] of ['one', 'two'].entries()) {
    await knex.raw('alter table things add ?? text', [column])
    // The first call meets the old plan, the second makes a new one.
    for (let i = 0; i < 2; i++) {
      t.strictSame(Object.keys((await find(['a']))[0]!), ['id', 'name', ...['one', 'two'].slice(0, n + 1)])
    }
  }
  // Each change has a name of its own.
  t.equal((await prepared()).length, 3)
  await Promise.all([find(['a']), find(['b']), find(['a'])])
  await knex.raw('alter table things add three text')
  for (const rows of await Promise.all([find(['a']), find(['b']), find(['a'])])) {
    t.equal(Object.keys(rows[0]!).at(-1), 'three')
  }
})
