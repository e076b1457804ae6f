// What the shop is measured against: routes on Fastify alone that read or write the same with one statement, and have
// the same answer. They know no keys, no shops and no limits; of a call that brings a key they look its line up first,
// by another statement, as whoever lets a revoked key in no more has to. Says where it is, and what it uses when asked.
import Fastify from 'fastify'
import pg from 'pg'
import { Type } from '@sinclair/typebox'
import { Product } from '../src/catalog/product-schemas.ts'

/** As many as the shop has. */
const CONNECTIONS = 10

const [target] = process.argv.slice(2)
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
const pool = new pg.Pool({ connectionString: target, max: CONNECTIONS })

const links = (element: string, table: string, order: string): string =>
  `(select coalesce(json_agg(${element} order by ${order}), '[]') from ${table} where ${table}.shop_id = ` +
  `item.shop_id and ${table}.product_id = item.id)`
const fields = `item.*, ${links('category_id', 'product_categories', 'category_id')} as category_ids, ${
  links('tag_id', 'product_tags', 'tag_id')
} as tag_ids,
  ${
  links("json_build_object('attribute_id', attribute_id, 'value', value)", 'product_attributes', 'attribute_id')
} as attributes`
const get = `select ${fields} from products item where shop_id = $1 and id = $2`

/** The first ten and how many there are. `$2` is the value of the condition, if it has one. */
const list = (
  condition = 'true',
  order = 'created_at desc, id desc',
  count = `select count(*) from products where shop_id = $1 and ${condition}`
): string =>
  `select ${fields}, (${count}) as total from (select * from products where shop_id = $1 and ${condition} order ` +
  `by ${order} limit 10) item order by ${order}`
const linked = (table: string, column: string): string =>
  `exists (select from ${table} link where link.shop_id = products.shop_id and link.product_id = products.id ` +
  `and link.${column} = $2)`
const lines = "select sum(records) from shop_usage where shop_id = $1 and kind = 'products'"

const lists: Readonly<Record<string, string>> = {
  all: list(undefined, undefined, lines),
  price: list(undefined, 'price_amount desc nulls last, id desc', lines),
  after: list(
    '(created_at, id) < (select created_at, id from products where shop_id = $1 and id = $2)',
    undefined,
    lines
  ),
  id: list('id = $2'),
  status: list('status = $2'),
  tag: list(linked('product_tags', 'tag_id')),
  category: list(linked('product_categories', 'category_id')),
  q: list('(name ilike $2 or sku ilike $2 or description ilike $2)')
}

// The same products, with a history by the simplest trigger, and without the shop's.
await pool.query(`
  drop table if exists bare_products, bare_history;
  drop function if exists bare_history;
  create table bare_products (like products including defaults including constraints including indexes
    including generated);
  create table bare_history (id bigint generated always as identity primary key, shop_id uuid, product_id uuid,
    at timestamptz default now(), before jsonb, after jsonb);
  create function bare_history() returns trigger language plpgsql as $$ begin
    insert into bare_history (shop_id, product_id, before, after)
      values (new.shop_id, new.id, to_jsonb(old), to_jsonb(new));
    return null;
  end $$;
  create trigger history after update on bare_products for each row execute function bare_history()`)
const { rows: columns } = await pool.query(
  "select string_agg(quote_ident(attname), ', ') as names from pg_attribute where attrelid = " +
    "'products'::regclass and attnum > 0 and not attisdropped and attgenerated = ''"
)
await pool.query(`insert into bare_products (${columns[0].names}) select ${columns[0].names} from products`)
const update =
  'with item as (update bare_products set price_amount = $3, updated_at = now() where shop_id = $1 and id = $2 ' +
  `returning *) select ${fields} from item`

const keyOf = 'select api_keys.*, shops.status, shops.currency from api_keys join shops on shops.id = shop_id where ' +
  'api_keys.shop_id = $1 and revoked_at is null limit 1'

const app = Fastify()
app.addHook('onRequest', async ({ headers, params }, reply) => {
  if (headers['x-api-key'] === undefined) return
  const { rows } = await pool.query({ name: 'key', text: keyOf, values: [(params as { shop_id: string }).shop_id] })
  if (rows.length === 0) reply.code(401).send()
})
for (const [prefix, name] of [['', undefined], ['/named', 'get']] as const) {
  app.get(
    `${prefix}/shops/:shop_id/products/:product_id`,
    { schema: { response: { 200: Product } } },
    async ({ params }) => {
      const { shop_id: shop, product_id: product } = params as Record<string, string>
      return (await pool.query({ ...name !== undefined && { name }, text: get, values: [shop, product] })).rows[0]
    }
  )
}
for (const [kind, text] of Object.entries(lists)) {
  app.get(
    `/lists/${kind}/shops/:shop_id/products`,
    { schema: { response: { 200: Type.Array(Product) } } },
    async ({ params, query }, reply) => {
      const { value } = query as { value?: string }
      const { rows } = await pool.query({
        name: kind,
        text,
        values: [(params as { shop_id: string }).shop_id, ...value === undefined ? [] : [value]]
      })
      reply.header('content-range', `products 0-10/${rows[0]?.total ?? 0}`)
      return rows
    }
  )
}
app.patch('/shops/:shop_id/products/:product_id', {
  schema: { body: Type.Object({ price_amount: Type.Integer({ minimum: 0 }) }), response: { 200: Product } }
}, async ({ params, body }) => {
  const { shop_id: shop, product_id: product } = params as Record<string, string>
  return (await pool.query({
    name: 'update',
    text: update,
    values: [shop, product, (body as { price_amount: number }).price_amount]
  })).rows[0]
})
const address = await app.listen({ host: '127.0.0.1', port: 0 })
process.on('message', () => {
  process.send?.({ cpu: process.cpuUsage() })
})
process.on('disconnect', () => {
  app.close().then(() => pool.end()).finally(() => process.exit())
})
process.send?.({ address })
