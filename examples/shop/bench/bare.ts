// What the shop's get is measured against: a route on Fastify alone, with one statement and the same answer. It knows no
// keys, no shops and no limits. A second one gives its statement a name, as the shop does. Says where it is, and what it
// uses when asked.
import Fastify from 'fastify'
import pg from 'pg'
import { Product } from '../src/catalog/product-schemas.ts'

/** As many as the shop has. */
const CONNECTIONS = 10

const [target] = process.argv.slice(2)
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
const pool = new pg.Pool({ connectionString: target, max: CONNECTIONS })
const links = (element: string, table: string, order: string): string =>
  `(select coalesce(json_agg(${element} order by ${order}), '[]') from ${table} where ${table}.shop_id = item.shop_id and ${table}.product_id = item.id)`
const text = `select item.*, ${links('category_id', 'product_categories', 'category_id')} as category_ids, ${links('tag_id', 'product_tags', 'tag_id')} as tag_ids,
  ${links("json_build_object('attribute_id', attribute_id, 'value', value)", 'product_attributes', 'attribute_id')} as attributes
  from products item where shop_id = $1 and id = $2`

const app = Fastify()
for (const [prefix, named] of [['', {}], ['/named', { name: 'get_product' }]] as const) {
  app.get(`${prefix}/shops/:shop_id/products/:product_id`, { schema: { response: { 200: Product } } }, async ({ params }) => {
    const { shop_id: shop, product_id: product } = params as Record<string, string>
    return (await pool.query({ ...named, text, values: [shop, product] })).rows[0]
  })
}
const address = await app.listen({ host: '127.0.0.1', port: 0 })
process.on('message', () => { process.send?.({ cpu: process.cpuUsage() }) })
process.on('disconnect', () => { app.close().then(() => pool.end()).finally(() => process.exit()) })
process.send?.({ address })
