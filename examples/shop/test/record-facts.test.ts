import t from 'tap'
import type { Dependents } from '../src/records/dependents.ts'
import { factsOfItem, factsOfRow, keptOfItem, type Shown, shownInstants } from '../src/records/facts.ts'
import { stored } from '../src/records/stored.ts'
import { createShop, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database

/** A row as SQL, of the columns that every record has and two of its own. */
const ROW = `(select 'i' as id, 's' as shop_id, 7 as bytes, timestamptz '2026-01-01 00:00:00.123456Z' as created_at,
  timestamptz '2026-01-02 00:00:00Z' as updated_at, 'Tea' as name, timestamptz '2026-01-03 04:05:06.789012Z' as due,
  '{"a": 1, "secret": 2}'::jsonb as details) `

const WITHOUT_SECRET: Shown = { details: (row) => `(${row}.details - 'secret')` }
const COMPUTED = { count: 'length(item.name)' }

const DUE = '2026-01-03T04:05:06.789012+00:00'
const SHOWN_DUE = '2026-01-03T04:05:06.789Z'
const CREATED = '2026-01-01T00:00:00.123456+00:00'
const details = { a: 1, secret: 2 }

const FACTS: ReadonlyArray<readonly [what: string, sql: string, facts: object]> = [
  ['of a plain row', factsOfRow({}, 'item'), { name: 'Tea', due: DUE, details }],
  ['with instants as the API shows them', factsOfRow(shownInstants(['due']), 'item'), {
    name: 'Tea',
    due: SHOWN_DUE,
    details
  }],
  ['with a column in another form', factsOfRow({ ...shownInstants(['due']), ...WITHOUT_SECRET }, 'item'), {
    name: 'Tea',
    due: SHOWN_DUE,
    details: { a: 1 }
  }],
  ['of a record without computed fields', factsOfItem({}, {}), { name: 'Tea', due: DUE, details }],
  ['with computed fields', factsOfItem(shownInstants(['due']), COMPUTED), {
    name: 'Tea',
    due: SHOWN_DUE,
    details,
    count: 3
  }],
  ['that restore a row without links', keptOfItem({}, []), { row: { created_at: CREATED }, links: {} }],
  [
    'that restore what the facts have in another form',
    keptOfItem({ ...shownInstants(['due']), ...WITHOUT_SECRET }, []),
    {
      row: { created_at: CREATED, due: DUE, details },
      links: {}
    }
  ]
]

for (const [what, sql, facts] of FACTS) {
  t.test(`facts ${what}`, async (t) => {
    await knex.transaction(async (trx) => {
      await trx.raw("set local time zone 'UTC'")
      t.strictSame((await trx.raw(`select ${sql} as facts from ${ROW} item`)).rows, [{ facts }])
    })
  })
}

t.test('the facts of a row that a statement names otherwise', async (t) => {
  const sql = factsOfRow(WITHOUT_SECRET, 'earlier')
  const { rows: [{ facts }] } = await knex.raw(`select ${sql} as facts from ${ROW} earlier`)
  t.strictSame(facts.details, { a: 1 })
})

t.test('what restores the links: rows that go with the record whole, others by their key', async (t) => {
  const shop = await createShop(database, 'links')
  const owner = { shop_id: shop }
  const [{ id }] = await knex('attributes').insert({ ...owner, name: 'Size', code: 'size', type: 'text' }).returning(
    'id'
  )
  const [product] = await knex('products').insert({ ...owner, name: 'Green', slug: 'green', currency: 'EUR' })
    .returning('id')
  await knex('product_attributes').insert({ ...owner, product_id: product.id, attribute_id: id, value: '"S"' })
  const link = { table: 'products', link: 'product_attributes', from: 'product_id', to: 'attribute_id' } as const
  const kept = async (dependent: Dependents): Promise<object> =>
    (await knex.select(knex.raw(`${keptOfItem({}, [dependent])} as kept`)).from({ item: 'attributes' })
      .where({ id }))[0].kept.links
  t.strictSame(await kept({ ...link, lost: 'row' }), { products: [{ product_id: product.id, value: 'S' }] })
  t.strictSame(await kept({ ...link, lost: 'link', key: ['product_id'] }), { products: [{ product_id: product.id }] })
})

const COLUMNS = {
  table: 'prices',
  written: ['id', 'due', 'details', 'name'],
  jsonColumns: ['details'],
  instants: ['due']
}

t.test('values as their columns take them', (t) => {
  const now = knex.raw('now()')
  const VALUES: ReadonlyArray<
    readonly [what: string, given: object, written: ReadonlyArray<readonly [string, unknown]>]
  > = [
    ['in one order', { name: 'Tea', id: 'i' }, [['id', 'i'], ['name', 'Tea']]],
    ['objects as JSON', { details: { a: [1] } }, [['details', '{"a":[1]}']]],
    ['arrays as JSON', { details: [1] }, [['details', '[1]']]],
    ['SQL as it is', { details: now, due: now }, [['details', now], ['due', now]]],
    ['nulls as they are', { details: null, due: null }, [['details', null], ['due', null]]],
    ['instants in UTC', { due: '2026-01-03T04:05:06+05:45' }, [['due', '2026-01-02T22:20:06.000Z']]]
  ]
  for (const [what, given, written] of VALUES) {
    t.strictSame(Object.entries(stored(knex, COLUMNS, { ...given })), written, what)
  }
  t.end()
})

t.test('a value of a column that this version does not know gets its type from the database', async (t) => {
  const { price_amount: sql } = stored(knex, { ...COLUMNS, table: 'products', written: [] }, { price_amount: 5 })
  t.strictSame((await knex.select({ amount: sql as never }))[0], { amount: 5 })
})
