import type { Knex } from 'knex'
import type { Database } from '../database/index.ts'
import { PICTURES_PATH } from './picture-routes.ts'
import type { KeyRing } from '../pay/key-ring.ts'
import { slugFromName } from '../records/slug.ts'
import { accountsOf } from './accounts.ts'
import { idOf } from './id.ts'
import { pictureFile } from './pictures.ts'
import { pricesOf } from './prices.ts'
import { productsOf } from './products.ts'
import { type DemoShop, demoShops } from './shops.ts'

/** A shop of the demo. */
export interface SeededShop {
  readonly id: string
  readonly slug: string
  readonly name: string
}

/**
 * Adds the demo's shops with their settings, catalogs, prices, accounts and orders to the database, unless they exist.
 * Ids are the same in every database, so that links and examples keep working.
 *
 * @param pay - how the payment keys of the shops, by their slugs, are encrypted
 * @returns the demo's shops that are in the database, in order of their slugs
 */
export async function seedDemo ({ knex }: Database, pay: DemoPay): Promise<readonly SeededShop[]> {
  await knex.transaction(async (trx) => {
    for (const shop of demoShops) {
      const created = await trx('shops')
        .insert({
          id: idOf(shop.slug),
          slug: shop.slug,
          name: shop.name,
          currency: shop.currency,
          settings: JSON.stringify(shop.settings)
        })
        .onConflict('slug').ignore().returning('id')
      if (created.length === 0) continue
      await seedCatalog(trx, shop)
      await trx('accounts').insert(accountsOf(shop.slug))
      await seedOrders(trx, shop)
      await seedPayKey(trx, shop, pay)
    }
  })
  return await knex('shops').whereIn('slug', demoShops.map(({ slug }) => slug)).orderBy('slug').select(
    'id',
    'slug',
    'name'
  )
}

interface DemoPay {
  readonly payKeys: Readonly<Record<string, string>>
  readonly keys: KeyRing
}

/** One shop has its key, one a key that the provider rejects, one none. */
async function seedPayKey (trx: Knex.Transaction, { slug }: DemoShop, { payKeys, keys }: DemoPay): Promise<void> {
  const id = idOf(slug)
  const secretKey = { 'copper-kettle': payKeys[slug], 'north-trail': 'sk_test_revokedLongAgo' }[slug]
  if (secretKey !== undefined) await trx('shops').where({ id }).update({ pay_secret_key: keys.seal(secretKey, id) })
}

/** Each of the first accounts bought two things. */
async function seedOrders (trx: Knex.Transaction, { slug, currency }: DemoShop): Promise<void> {
  const owner = { shop_id: idOf(slug) }
  const products = await trx('products').where({ ...owner, status: 'active' }).orderBy('sku').select(
    'id',
    'name',
    'sku',
    'price_amount'
  )
  const orders = accountsOf(slug).slice(0, 8).map((account, index) => {
    const lines = products.slice(2 * index, 2 * index + 2)
    const createdAt = new Date(Date.UTC(2026, 1, 1) + index * DAY).toISOString()
    return {
      id: idOf(slug, 'order', account.id),
      account,
      lines,
      createdAt,
      status: ORDER_STATUSES[index % ORDER_STATUSES.length]
    }
  })
  await trx('orders').insert(orders.map(({ id, account, lines, createdAt, status }) => ({
    ...owner,
    id,
    account_id: account.id,
    status,
    currency,
    total_amount: lines.reduce((sum, { price_amount: amount }) => sum + amount, 0),
    created_at: createdAt,
    updated_at: createdAt
  })))
  await trx('order_lines').insert(orders.flatMap(({ id, lines }) =>
    lines.map((product, position) => ({
      ...owner,
      order_id: id,
      position,
      product_id: product.id,
      name: product.name,
      sku: product.sku,
      unit_amount: product.price_amount,
      quantity: 1
    }))
  ))
}

const ORDER_STATUSES = ['fulfilled', 'paid', 'cancelled', 'pending']

async function seedCatalog (trx: Knex.Transaction, shop: DemoShop): Promise<void> {
  const shopId = idOf(shop.slug)
  const id = (kind: string, name: string): string => idOf(shop.slug, kind, name)
  const named = (kind: string, name: string) => ({ id: id(kind, name), shop_id: shopId, name })

  await trx('categories').insert(
    Object.entries(shop.categories).flatMap(([parent, children], position) => [
      { ...named('category', parent), slug: slugFromName(parent), parent_id: null, position },
      ...children.map((name, below) => ({
        ...named('category', name),
        slug: slugFromName(name),
        parent_id: id('category', parent),
        position: below
      }))
    ])
  )
  await trx('tags').insert(shop.tags.map((name) => ({ ...named('tag', name), slug: slugFromName(name) })))
  await trx('attributes').insert(shop.attributes.map(({ name, type, unit = null, options }) => ({
    ...named('attribute', name),
    code: slugFromName(name, 'code', '_'),
    type,
    unit,
    options: JSON.stringify(options)
  })))

  const products = productsOf(shop)
  const rows = products.map(({ name, model, status }, index) => ({
    ...named('product', name),
    slug: slugFromName(name),
    sku: `${initials(shop.name)}-${String(1001 + index)}`,
    description: model.description,
    status,
    price_amount: model.price,
    currency: shop.currency,
    image_urls: JSON.stringify([`${PICTURES_PATH}/${shop.slug}/${pictureFile(name)}`]),
    created_at: new Date(Date.UTC(2026, 0, 5) + index * DAY).toISOString()
  }))
  await trx('products').insert(rows)
  await trx('prices').insert(pricesOf(rows, Date.now()))

  const links = products.map(({ name, model, values }) => ({
    owner: { shop_id: shopId, product_id: id('product', name) },
    model,
    values
  }))
  await trx('product_categories').insert(
    links.map(({ owner, model }) => ({ ...owner, category_id: id('category', model.category) }))
  )
  await trx('product_tags').insert(
    links.flatMap(({ owner, model: { tags = [] } }) => tags.map((tag) => ({ ...owner, tag_id: id('tag', tag) })))
  )
  await trx('product_attributes').insert(
    links.flatMap(({ owner, values }) =>
      Object.entries(values).map(([attribute, value]) => ({
        ...owner,
        attribute_id: id('attribute', attribute),
        value: JSON.stringify(value)
      }))
    )
  )
}

const DAY = 86_400_000

function initials (name: string): string {
  return name.split(' ').map((word) => word[0]).join('').toUpperCase()
}
