import t from 'tap'
import { list } from '../src/catalog/product-schemas.ts'
import { createCounts } from '../src/lists/counts.ts'
import type { ListQuery } from '../src/lists/list.ts'
import { pageOf } from '../src/lists/page.ts'
import { createShop, openTestDatabase } from './build.ts'

const SIZE = 2345

const database = await openTestDatabase(t)
const { knex } = database
const shop = await createShop(database, 'long')
const ids = Array.from({ length: 3 }, (_, n) => `00000000-0000-4000-8000-00000000000${n}`)
await knex('tags').insert(ids.map((id, n) => ({ id, shop_id: shop, name: `Tag ${n}`, slug: `tag-${n}` })))
// A third without a price, and prices that several have.
await knex.raw(
  `insert into products (shop_id, name, slug, price_amount, currency, description)
  select ?, 'P' || n, 'p-' || n, case when n % 3 > 0 then n % 50 end, 'EUR', case when n <= 20 then 'porcelain' end
  from generate_series(1, ?::int) n`,
  [shop, SIZE]
)
await knex.raw(
  `insert into product_tags (shop_id, product_id, tag_id)
  select shop_id, products.id, tags.id from products join tags using (shop_id)
  where (substr(products.name, 2)::int) % 7 = substr(tags.name, 5)::int or tags.slug = 'tag-0'`
)

const counts = createCounts(knex, 'products')
const page = async (query: Partial<ListQuery>, by = counts) =>
  await pageOf<{ id: string, name: string }>(knex, knex('products').where({ shop_id: shop }), {
    ...list,
    counted: { by, shopId: shop }
  }, { skip: 0, limit: 25, sort: 'name', ...query })

t.test('a page is the same from whichever end it is read', async (t) => {
  for (
    const [sort, order] of [
      ['name', 'name, id'],
      ['-id', 'id desc'],
      ['-price_amount', 'price_amount desc nulls last, id desc']
    ] as const
  ) {
    const { rows: all } = await knex.raw(`select id from products where shop_id = ? order by ${order}`, [shop])
    for (
      const skip of [999, 1000, 1172, 1173, 1500, SIZE - 26, SIZE - 25, SIZE - 24, SIZE - 1, SIZE, SIZE + 1, 1_000_000]
    ) {
      const { rows, count, start, next } = await page({ sort, skip })
      t.strictSame(
        rows.map(({ id }) => id),
        all.slice(skip, skip + 25).map(({ id }: { id: string }) => id),
        `${sort}, from ${skip}`
      )
      t.strictSame([count, start, next !== undefined], [SIZE, skip, skip + 25 < SIZE])
    }
  }
})

t.test('so it is with a filter, whose matches are few or many when it is asked for again', async (t) => {
  for (
    const filter of [
      { q: 'porcelain' },
      { status: ['draft'] },
      { tag_ids: [ids[1]] },
      { tag_ids: [ids[0], ids[1]!.toUpperCase(), ids[1]] },
      { tag_ids: [ids[1]], status: ['draft'] },
      { tag_ids: ['00000000-0000-4000-8000-000000000009'] }
    ]
  ) {
    const matching = knex('products').where({ shop_id: shop }).orderBy([
      { column: 'price_amount', nulls: 'last' },
      'id'
    ])
    for (const [name, value] of Object.entries(filter)) list.filters[name]!.apply(matching, value as never)
    const all = (await matching.select('id')).map(({ id }) => id)
    for (let times = 0; times < 2; times++) {
      let { rows, count, next } = await page({ filter, sort: 'price_amount' })
      t.strictSame(
        [rows.map(({ id }) => id), count],
        [all.slice(0, 25), all.length],
        `${JSON.stringify(filter)}, ${times}`
      )
      if (next !== undefined) ({ rows, count, next } = await page({ filter, sort: 'price_amount', after: next }))
      t.strictSame(
        [rows.map(({ id }) => id), count],
        [all.slice(...all.length > 25 ? [25, 50] : [0, 25]), all.length],
        'the next page'
      )
      t.strictSame(
        (await page({ filter, sort: 'price_amount', skip: 1100 })).rows.map(({ id }) => id),
        all.slice(1100, 1125)
      )
    }
  }
})

t.test('a filter whose matches were few has as many as it has after others have written', async (t) => {
  const filter = { q: 'porcelain' }
  t.equal((await page({ filter })).count, 20)
  const trx = await knex.transaction()
  t.teardown(async () => await trx.rollback())
  await trx('products').where({ shop_id: shop }).update({ description: 'porcelain' })
  const { rows, count } = await pageOf<object>(trx, trx('products').where({ shop_id: shop }), {
    ...list,
    counted: { by: counts, shopId: shop }
  }, { skip: 2000, limit: 25, sort: 'name', filter })
  t.strictSame([rows.length, count], [25, SIZE])
})
