import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { cleanLine } from '../src/http/text.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t)
const app = await build(t, database, idp, { settings: { RATE_LIMIT_MAX: 100_000 } })
const machine = bearer(await idp.machineToken())
let shops = 0

type Body = Record<string, any>

async function openShop () {
  const id = await createShop(database, `shop-${++shops}`)
  const as = client(app, `/shops/${id}`, machine)
  return {
    id,
    as,
    make: async (path: string, body: object): Promise<Body> => (await as('POST', path, body)).body,
    found: async (path: string, filter: object): Promise<Body[]> =>
      (await as('GET', `${path}?filter=${encodeURIComponent(JSON.stringify(filter))}`)).body,
    imported: async (payload: string | object, query = ''): Promise<Body> => {
      const type = typeof payload === 'string' ? 'text/csv' : 'application/json'
      const { statusCode, headers, body } = await app.inject({
        method: 'POST',
        url: `/shops/${id}/imports${query}`,
        headers: { ...machine, 'content-type': type },
        payload
      })
      if (statusCode !== 202) return JSON.parse(body)
      for (;;) {
        const now = (await app.inject({ url: headers.location as string, headers: machine })).json()
        if (!['pending', 'running'].includes(now.status)) return now
        await sleep(20)
      }
    }
  }
}

/** Each of them looks like TS-1. */
const ALIKE = [
  'TS-1 ',
  ' TS-1',
  '\u00a0TS-1',
  'TS-1\u00a0',
  'TS-1\t',
  '\nTS-1',
  'TS-1\u200b',
  'TS\u200b-1',
  '\ufeffTS-1',
  'T\u00adS-1',
  '\u202aTS-1\u202c',
  'TS-1\u2003',
  'TS-1\u200d'
]

t.test('no two products have SKUs that look the same', async (t) => {
  const { as, make, found, imported } = await openShop()
  const { id } = await make('/products', { name: 'Tea', sku: 'TS-1' })
  for (const sku of ALIKE) {
    t.match(await as('POST', '/products', { name: `Other ${JSON.stringify(sku)}`, sku }), {
      status: 409,
      body: { field: 'sku' }
    }, JSON.stringify(sku))
    t.match(await as('PATCH', `/products/${id}`, { sku }), { status: 200, body: { sku: 'TS-1' } })
    t.match(await found('/products', { sku }), [{ id }])
    t.match(
      await imported(`sku,price_amount\n"${sku}",5\n`, '?dry_run=true'),
      { total: 1, created: 0, failed: 0 },
      `a file with ${JSON.stringify(sku)}`
    )
  }
  t.match(await imported('name,sku\nA,NEW-1\nB,"NEW-1 "\n'), {
    code: 'SHOP_IMPORT_INVALID',
    errors: [{ line: 3, field: 'sku', message: 'sku appears twice: NEW-1' }]
  })
  t.match(
    await as('POST', '/products/batch', { items: [{ name: 'A', sku: 'B\u00a01' }, { name: 'B', sku: 'B  1' }] }),
    { status: 409, body: { field: 'items/1/sku' } }
  )
})

t.test('names, codes and choices are as they look; texts keep their lines, and free JSON all of it', async (t) => {
  const { as, make, id } = await openShop()
  const shown = { name: ' Cafe\u0301\u00a0 au\tlait\u200b ' }
  for (const path of ['/products', '/categories', '/tags', '/accounts']) {
    t.equal((await make(path, shown))['name'], 'Café au lait', path)
  }
  t.equal((await make('/api-keys/', { name: ' Agent\u00a0' }))['name'], 'Agent')
  const attribute = await make('/attributes', { name: 'Size ', type: 'select', options: ['L ', 'Extra  large'] })
  t.match(attribute, { name: 'Size', options: ['L', 'Extra large'] })
  const text = '\ufeff  One  two\n\n\tthree \n'
  const metadata = { ' key ': ' value ', deep: [' x '] }
  const product = await make('/products', {
    name: 'Told',
    description: text,
    metadata,
    attributes: [{ attribute_id: attribute['id'], value: ' L' }]
  })
  t.match(product, { description: 'One  two\n\n\tthree', metadata, attributes: [{ value: 'L' }] })
  t.match(await as('POST', '/products', { name: ' \u200b\u00a0' }), { status: 422, body: { field: 'name' } })
  t.match((await make('/accounts', { name: 'A', details: { note: ' x ' } }))['details'], { note: ' x ' })

  await knex('attributes').where({ shop_id: id, id: attribute['id'] }).update({ options: JSON.stringify(['L ', 'M']) })
  t.match(
    await as('PATCH', `/products/${product['id']}`, { attributes: [{ attribute_id: attribute['id'], value: 'L ' }] }),
    { status: 200 },
    'a choice that was stored with a blank'
  )
})

t.test('a file within JSON is taken as it is', async (t) => {
  const { imported, found } = await openShop()
  t.match(await imported({ format: 'csv', content: 'name\tsku\tdescription\nTea\tT-1\t' }), {
    status: 'done',
    created: 1
  })
  t.match(await found('/products', { sku: 'T-1' }), [{ name: 'Tea', description: null }])
})

t.test('choices that were stored with blanks before can be chosen and edited', async (t) => {
  const { id, as, make } = await openShop()
  const { id: attribute } = await make('/attributes', { name: 'Size', type: 'select', options: ['L'] })
  const product = await make('/products', { name: 'Told', attributes: [{ attribute_id: attribute, value: 'L' }] })
  const stored = 'Extra\u00a0large'
  await knex('attributes').where({ shop_id: id, id: attribute }).update({ options: JSON.stringify([stored]) })
  await knex('product_attributes').where({ shop_id: id, attribute_id: attribute }).update({
    value: JSON.stringify(stored)
  })
  for (const value of [stored, 'Extra large', 'Extra  large']) {
    t.match(await as('PATCH', `/products/${product['id']}`, { attributes: [{ attribute_id: attribute, value }] }), {
      status: 200
    }, JSON.stringify(value))
    t.match(await as('PATCH', `/attributes/${attribute}`, { options: [stored, 'M'] }), {
      status: 200,
      body: { options: ['Extra large', 'M'] }
    })
  }
  t.match(await as('PATCH', `/attributes/${attribute}`, { options: ['M'] }), { status: 409 })
})

t.test('a search finds text as it was given, and as it looks', async (t) => {
  const { id, make, found } = await openShop()
  await make('/products', { name: 'Told', description: 'One  two\n\tthree' })
  await knex('products').insert({ shop_id: id, name: 'Cafe\u0301  noir', slug: 'old', currency: 'EUR' })
  for (const q of ['one  two', 'two\n\tthree']) {
    t.match(await found('/products', { q }), [{ name: 'Told' }], JSON.stringify(q))
  }
  t.match(await found('/products', { q: 'cafe\u0301  noir' }), [{ slug: 'old' }])
  t.match(await found('/products', { q: '\u00a0told ' }), [{ name: 'Told' }])
})

t.test('cleaning twice is cleaning once', async (t) => {
  for (
    const text of [
      ...ALIKE,
      '\u200b \u200b',
      'a \u200b b',
      '\u00ad\u0301a',
      'e\u200b\u0301',
      '👩\u200d🚀 ❤️',
      'می\u200cخواهم',
      'שלום\u200e 1'
    ]
  ) t.equal(cleanLine(cleanLine(text)), cleanLine(text), JSON.stringify(text))
  for (const text of ['👩\u200d🚀 ❤️', 'می\u200cخواهم', 'a b']) {
    t.equal(cleanLine(text), text, 'what joins letters stays')
  }
})

t.test('marks piled upon a letter and texts that are far too long take no time', async (t) => {
  const { as } = await openShop()
  const timeOf = (text: string): number => {
    const start = process.cpuUsage()
    cleanLine(text)
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  }
  const marks = '\u0316\u0301'
  t.ok(timeOf(`a${marks.repeat(20_000)}`) < 200)
  t.equal(cleanLine('e\u0301\u0316'), '\u00e9\u0316'.normalize('NFC'), 'what languages have is composed')
  for (const name of [`a${marks.repeat(90_000)}`, ' \n'.repeat(200_000) + 'a']) {
    t.match(await as('POST', '/products', { name }), { status: 422, body: { field: 'name' } })
  }
  t.match(await as('POST', '/products', { name: `${' '.repeat(400)}Tea`, sku: 'TEA' }), {
    status: 201,
    body: { name: 'Tea' }
  })
})
