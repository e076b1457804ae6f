import type { Knex } from 'knex'

/**
 * Gives the shops that `fillShops` has filled accounts with three orders of two lines each, prices and a history, by
 * SQL, past the triggers. Needs a superuser.
 */
export async function fillSales (knex: Knex): Promise<void> {
  await knex.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica; set local statement_timeout = 0')
    await trx.raw(`
      create temporary table numbered_products on commit drop as
        select shop_id, id, name, sku, row_number() over (partition by shop_id order by id) as n from products`)
    await trx.raw('analyze numbered_products')
    await trx.raw(`
      insert into accounts (shop_id, name, details, created_at, updated_at)
      select shop_id, 'Person ' || n, jsonb_build_object('email', 'person-' || n || '@example.com'),
        now() - n * interval '3 minutes', now() - (hashint4(n::int) & 1048575) * interval '1 second'
      from numbered_products where n % 10 < 3`)
    await trx.raw(`
      create temporary table numbered_orders on commit drop as
        select gen_random_uuid() as id, shop_id, account_id, row_number() over (partition by shop_id) as n
        from (select shop_id, id as account_id from accounts) account, generate_series(1, 3)`)
    await trx.raw('analyze numbered_orders')
    await trx.raw(`
      insert into orders (id, shop_id, account_id, status, total_amount, currency, created_at, updated_at)
      select id, shop_id, account_id, (array['pending', 'paid', 'fulfilled', 'cancelled'])[1 + (hashint4(n::int) & 3)],
        hashint4(n::int + 1) & 1048575, 'EUR', now() - n * interval '1 minute',
        now() - (hashint4(n::int + 2) & 1048575) * interval '1 second'
      from numbered_orders`)
    await trx.raw(`
      insert into order_lines (shop_id, order_id, position, product_id, name, sku, unit_amount, quantity)
      select shop_id, numbered_orders.id, position, numbered_products.id, name, sku, 100, 1
      from numbered_orders join numbered_products using (shop_id, n), generate_series(1, 2) position`)
    await trx.raw(`
      insert into prices (shop_id, product_id, currency, amount, created_at)
      select shop_id, id, 'EUR', 100, now() - n * interval '1 minute' from numbered_products`)
    await trx.raw(`
      insert into history (shop_id, actor_kind, actor_id, actor_name, operation, action, record_kind, record_id,
        record_name, at)
      select shop_id, case when n % 2 = 0 then 'user' else 'api-key' end, gen_random_uuid(), 'Somebody',
        'update_product', 'update', case when n % 500 = 0 then 'member' else 'product' end, id, name,
        now() - n * interval '1 second'
      from numbered_products`)
    for (const table of ['accounts', 'orders', 'prices']) {
      await trx.raw(
        'insert into shop_usage (shop_id, kind, records, bytes) select shop_id, ?, count(*), sum(bytes) from ?? ' +
          'group by 1',
        [table, table]
      )
    }
  })
}
