import type { Knex } from 'knex'

/** How many tags and categories each shop has, whatever its size: so lists by one of them grow with the shop. */
const TAGS = 40
const CATEGORIES = 20

/** A word in the description of one product in a hundred, of every product, and of none. */
export const WORDS = { rare: 'porcelain', common: 'thing', absent: 'zzqx' } as const

/**
 * Fills shops with products by SQL, past the triggers, as fast as the server can write: 100,000 in some ten seconds.
 * Each has one category and one or two tags. Needs a superuser.
 *
 * @param slugs - of the new shops
 * @param count - the products of each
 */
export async function fillShops (knex: Knex, slugs: readonly string[], count: number): Promise<void> {
  await knex.transaction(async (trx) => {
    // Neither triggers nor checks of foreign keys, which take most of the time: what they would have written is written
    // here.
    await trx.raw(
      "set local session_replication_role = replica; set local work_mem = '256MB'; set local statement_timeout = 0"
    )
    await trx.raw(
      'create temporary table filled on commit drop as select gen_random_uuid() as id, slug from ' +
        'unnest(?::text[]) slug',
      [[...slugs]]
    )
    await trx.raw("insert into shops (id, slug, name, currency) select id, slug, initcap(slug), 'EUR' from filled")
    await trx.raw(
      "insert into tags (shop_id, name, slug) select id, 'Tag ' || n, 'tag-' || n from filled, " +
        'generate_series(0, ?::int) n',
      [TAGS - 1]
    )
    await trx.raw(
      "insert into categories (shop_id, name, slug) select id, 'Category ' || n, 'category-' || n from filled, " +
        'generate_series(0, ?::int) n',
      [CATEGORIES - 1]
    )
    await trx.raw(
      `
      create temporary table numbered on commit drop as select gen_random_uuid() as id, filled.id as shop_id, n
        from filled, generate_series(1, ?::int) n`,
      [count]
    )
    await trx.raw('analyze numbered, tags, categories')
    await trx.raw(`
      insert into products (id, shop_id, name, slug, sku, description, status, price_amount, currency, part_bytes,
        created_at, updated_at)
      select id, shop_id,
        (array['Kettle', 'Lamp', 'Table', 'Chair', 'Mug', 'Bowl', 'Knife', 'Carpet'])[1 + (hashint4(n) & 7)] || ' ' ||
          (array['red', 'blue', 'green', 'small', 'large', 'tall', 'round', 'old'])[1 + (hashint4(n + 7) & 7)]
            || ' ' || n,
        'product-' || n, 'SKU-' || n,
        repeat('A ${WORDS.common} to sell, with a description. ', 4) ||
          case when n % 100 = 50 then 'Made of ${WORDS.rare}.' else 'Made of clay.' end,
        (array['active', 'active', 'draft', 'archived'])[1 + (hashint4(n + 3) & 3)],
        case when n % 20 > 0 then hashint4(n + 11) & 1048575 end, 'EUR', 117,
        now() - n * interval '1 minute', now() - (hashint4(n + 5) & 1048575) * interval '1 second'
      from numbered`)
    await trx.raw(`
      insert into product_tags (shop_id, product_id, tag_id) select distinct numbered.shop_id, numbered.id, tags.id
      from numbered cross join lateral (values (n % ${TAGS}), ((n / ${TAGS} + n) % ${TAGS})) tag (n2)
      join tags on tags.shop_id = numbered.shop_id and tags.slug = 'tag-' || n2`)
    await trx.raw(`
      insert into product_categories (shop_id, product_id, category_id)
      select numbered.shop_id, numbered.id, categories.id
      from numbered join categories on categories.shop_id = numbered.shop_id
        and categories.slug = 'category-' || n % ${CATEGORIES}`)
    for (const table of ['products', 'tags', 'categories']) {
      await trx.raw(
        'insert into shop_usage (shop_id, kind, records, bytes) select shop_id, ?, count(*), sum(bytes) from ?? ' +
          'where shop_id in (select id from filled) group by 1',
        [table, table]
      )
    }
  })
}

/**
 * Brings the planner's statistics and the visibility of rows up to date, as autovacuum does some time after an import.
 */
export async function settle (knex: Knex): Promise<void> {
  for (
    const table of [
      'products',
      'product_tags',
      'product_categories',
      'shops',
      'tags',
      'categories',
      'api_keys',
      'shop_members',
      'shop_usage'
    ]
  ) await knex.raw('vacuum analyze ??', [table])
}
