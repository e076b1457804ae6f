import t from 'tap'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

/*
 * Servers of this version on the database of a newer one, as after a rollback: the history has fields that they do not
 * know.
 */

type Body = Record<string, any>

const database = await openTestDatabase(t)
const { knex } = database
const TABLES = { product: 'products', tag: 'tags', price: 'prices' } as const
for (const table of Object.values(TABLES)) {
  await knex.raw(
    "alter table ?? add season text not null default 'all', add sizes jsonb, add due timestamptz, add parts integer",
    [table]
  )
}
await knex.raw('alter table product_tags add since text')
const idp = await openIdentityProvider(t)
const app = await build(t, database, idp, { settings: { RATE_LIMIT_MAX: 100_000 } })
const machine = bearer(await idp.machineToken())
let shops = 0

async function openShop () {
  const id = await createShop(database, `older-${++shops}`)
  const as = client(app, `/shops/${id}`, machine)
  const rowOf = async (table: string, where: object): Promise<Body> => {
    const { updated_at: _, ...row } = await knex(table).where(where).first()
    return row
  }
  return {
    id,
    as,
    rowOf,
    make: async (path: string, body: object): Promise<string> => (await as('POST', path, body)).body.id,
    /** Changes a record as the newer version does. */
    async change (kind: keyof typeof TABLES, record: string, fields: Body): Promise<void> {
      const table = TABLES[kind]
      const before = await knex.raw(
        "select to_jsonb(item) - '{id,shop_id,created_at,updated_at,bytes,part_bytes}'::text[] as facts from ?? " +
          'item where id = ?',
        [table, record]
      )
      await knex(table).where({ id: record }).update(fields)
      await knex.raw(
        'select record_change(\'{"kind":"machine","id":"newer","operation":"change"}\', shop_id, ?, id::text, ' +
          "null, ?::jsonb, to_jsonb(item) - '{id,shop_id,created_at,updated_at,bytes,part_bytes}'::text[], " +
          'null, false) from ?? item where id = ?',
        [kind, JSON.stringify(before.rows[0].facts), table, record]
      )
    },
    undo: async (record: string) => {
      const [change] =
        (await as('GET', `/history?limit=1&filter=${encodeURIComponent(JSON.stringify({ record_id: record }))}`))
          .body as [Body]
      return await as('POST', `/history/${change['id'] as string}/revert`)
    }
  }
}

const NEWER = { season: 'winter', sizes: JSON.stringify({ s: 1, m: [2] }), due: '2026-01-02T03:04:05.678Z', parts: 7 }
const OTHER = { season: 'summer', sizes: JSON.stringify(['x']), due: '2027-01-02T03:04:05.678Z', parts: null }

t.test('a record that is deleted here comes back with the fields of the newer version', async (t) => {
  const { as, rowOf, make, change, undo } = await openShop()
  const tag = await make('/tags', { name: 'Sale' })
  const product = await make('/products', { name: 'Mug', tag_ids: [tag] })
  const price = await make('/prices', { product_id: product, amount: 5 })
  await knex('product_tags').where({ tag_id: tag }).update({ since: 'May' })
  for (const [kind, id] of [['tag', tag], ['product', product], ['price', price]] as const) {
    await change(kind, id, NEWER)
  }
  for (
    const [path, table, id] of [
      ['/tags', 'tags', tag],
      ['/prices', 'prices', price],
      ['/products', 'products', product]
    ] as const
  ) {
    const [before, priceBefore, linked] = [
      await rowOf(table, { id }),
      await rowOf('prices', { id: price }),
      await rowOf('product_tags', { tag_id: tag })
    ]
    t.match(before, { season: 'winter', sizes: { s: 1, m: [2] }, parts: 7 })
    t.equal((await as('DELETE', `${path}/${id}`)).status, 204)
    t.match(await undo(id), { status: 200, body: { reverted: 1 } }, path)
    t.strictSame(await rowOf(table, { id }), before, `${path} is as it was`)
    t.strictSame(await rowOf('prices', { id: price }), priceBefore, 'and so is its price')
    if (path === '/tags') {
      t.strictSame(await rowOf('product_tags', { tag_id: tag }), linked, 'and what was linked to it')
    }
  }
})

t.test('changes of the newer version are undone here, one by one and together', async (t) => {
  const { id: shop, as, rowOf, make, change, undo } = await openShop()
  const products = [await make('/products', { name: 'Mug' }), await make('/products', { name: 'Cup' })]
  const tag = await make('/tags', { name: 'Sale' })
  for (const id of products) await change('product', id, NEWER)
  await change('tag', tag, NEWER)
  const before = await rowOf('products', { id: products[0] })
  const tagBefore = await rowOf('tags', { id: tag })
  await change('product', products[0]!, { ...OTHER, name: 'Jug' })
  await change('tag', tag, OTHER)
  t.match(await undo(products[0]!), { status: 200 })
  t.strictSame(await rowOf('products', { id: products[0] }), before)
  t.match(await undo(tag), { status: 200 })
  t.strictSame(await rowOf('tags', { id: tag }), tagBefore)

  const [{ at: since }] = await knex.raw('select json_instant(clock_timestamp()) as at').then(({ rows }) => rows)
  for (const id of products) await change('product', id, { ...OTHER, price_amount: 5 })
  t.match(await as('POST', '/history/revert', { actor_kind: 'machine', actor_id: 'newer', since }), {
    status: 200,
    body: { reverted: 2, conflict_count: 0 }
  })
  t.strictSame(await rowOf('products', { id: products[0] }), before)
  t.match(await rowOf('products', { id: products[1] }), {
    season: 'winter',
    sizes: { s: 1 },
    parts: 7,
    price_amount: null
  })
  t.equal((await knex('products').where({ shop_id: shop })).length, 2)
})

t.test('a field that is not in the table of the record is named, and nothing is undone without it', async (t) => {
  const { id: shop, as, rowOf, make, undo } = await openShop()
  const [mug, cup] = [await make('/products', { name: 'Mug' }), await make('/products', { name: 'Cup' })]
  await as('DELETE', `/products/${mug}`)
  const entry = { shop_id: shop, actor_kind: 'machine', actor_id: 'newer', operation: 'change', record_kind: 'product' }
  const deleted = {
    name: { before: 'Mug', after: null },
    slug: { before: 'mug', after: null },
    supplier_ids: { before: ['a'], after: null }
  }
  const linked = { name: deleted.name, slug: deleted.slug }
  const now = await rowOf('products', { id: cup })
  for (
    const [row, field] of [
      [
        { ...entry, action: 'delete', record_id: mug, changes: deleted, restore: '{"row":{},"links":{}}' },
        'supplier_ids'
      ],
      [{
        ...entry,
        action: 'delete',
        record_id: mug,
        changes: linked,
        restore: '{"row":{},"links":{"bundles":[{"id":1}]}}'
      }, 'bundles'],
      [
        { ...entry, action: 'update', record_id: cup, changes: { supplier_ids: { before: ['a'], after: null } } },
        'supplier_ids'
      ],
      [{
        ...entry,
        action: 'update',
        record_id: cup,
        changes: { supplier_ids: { before: ['a'], after: ['b'] }, name: { before: 'Old', after: 'Cup' } }
      }, 'supplier_ids']
    ] as const
  ) {
    await knex('history').insert(row)
    const refused = await undo(row.record_id)
    t.match(refused, {
      status: 409,
      body: {
        code: 'SHOP_REVERT_CONFLICT',
        field,
        message: `${field} is not known to this version of the server: undo this with the one that wrote it`
      }
    }, JSON.stringify(refused.body))
  }
  t.match(
    (await as('POST', '/history/revert', {
      actor_kind: 'machine',
      actor_id: 'newer',
      since: '2020-01-01T00:00:00Z',
      skip_conflicts: true
    })).body,
    { reverted: 0, conflict_count: 4 }
  )
  t.strictSame([await rowOf('products', { id: cup }), (await knex('products').where({ shop_id: shop })).length], [
    now,
    1
  ])
})

t.test('links that only the newer version keeps of a deletion stay empty here without a word', async (t) => {
  const { as, make, undo } = await openShop()
  const tag = await make('/tags', { name: 'Sale' })
  await as('DELETE', `/tags/${tag}`)
  const [{ id }] = await knex('history').where({ record_id: tag, action: 'delete' }).select('id')
  await knex.transaction(async (trx) => {
    await trx.raw("select set_config('history.erase', 'on', true)")
    await trx.raw("update history set restore = jsonb_set(restore, '{links,bundles}', '[]') where id = ?", [id])
  })
  t.match(await undo(tag), { status: 200, body: { reverted: 1 } })
})
