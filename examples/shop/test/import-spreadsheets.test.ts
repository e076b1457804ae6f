import t from 'tap'
import { retyped } from '../src/imports/retyped.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

/** Texts, and what spreadsheets of some country write once they have taken them for something else. */
const RETYPED: Readonly<Record<string, ReadonlyArray<readonly [before: string, ...written: readonly string[]]>>> = {
  'a number': [
    [
      '4006381333931',
      '4.00638E+12',
      '4,00638E+12',
      '4.01E+12',
      '4E+12',
      '4006380000000',
      '4006381333931.0',
      '4006381333931,00',
      '4,006,381,333,931',
      '4.006.381.333.931',
      '4 006 381 333 931'
    ],
    [
      '12345678901234567890',
      '1.23457E+19',
      '12345678901234500000',
      '12345678901234600000',
      '1.2345678901234567e+19',
      '1.23456789012346E+019'
    ],
    ['00123', '123', '123.0'],
    ['-05', '-5'],
    ['(5)', '-5'],
    ['000', '0'],
    ['1.10', '1.1'],
    ['1,10', '1.1', '1,1'],
    ['1,234', '1234'],
    ['1.234', '1234'],
    ['12,34,567', '1234567'],
    ['1E5', '1.00E+05', '1E+05', '100000'],
    ['12e3', '12000'],
    ['1234E56', '1.234E+59']
  ],
  'a date': [
    [
      '3-12',
      '12-Mar',
      '03. Dez',
      '12-mars',
      '12. Mrz',
      '3-déc',
      '3月12日',
      '12 марта',
      '12-мар',
      '2026-12-03',
      '03/12/2026',
      '46093',
      '2026-03-12 00:00:00'
    ],
    ['1/2', '2-Jan', '1-Feb', '01. Feb', '02/janv'],
    ['MAR1', '1-Mar', '01. Mrz'],
    ['1SEP', '1-Sep'],
    ['SEPT2', '2-Sep'],
    ['OCT-24', '24-Oct', 'Oct-24'],
    ['2024-03', 'Mar-24', '01.03.2024'],
    ['2024-1-2', '2024-01-02', '02.01.2024', '1/2/2024'],
    ['1-2-2024', '01/02/2024', '2024-02-01'],
    ['10-11-12', '10/11/2012', '2012-11-10'],
    ['1.2.3', '01/02/03', '2003-02-01']
  ],
  'a time': [['16:9', '16:09', '16:09:00', '4:09 PM'], ['100:5', '100:05']],
  'true or false': [['true', 'TRUE', 'WAHR'], ['True', 'TRUE'], ['faux', 'FAUX'], ['ложь', 'ЛОЖЬ']],
  'a formula': [['-abc', '#NAME?'], ['A-1', '#N/A', '#WERT!', '#¡VALOR!', '#DIV/0!', '#####']]
}

/** Texts that people write in place of others, also to correct what a spreadsheet has made. */
const MEANT: ReadonlyArray<readonly [before: string, now: string]> = [
  ['123', '00123'],
  ['4.00638E+12', '4006381333931'],
  ['12-Mar', '3-12'],
  ['1.00E+05', '1E5'],
  ['100000', '1E5'],
  ['TRUE', 'true'],
  ['16:09', '16:9'],
  ['1.1', '1.10'],
  ['2-Sep', 'SEPT2'],
  ['01/02/2024', '2024-1-2'],
  ['123', '124'],
  ['4006381333931', '4006381333932'],
  ['4006381333931', '4.00639E+12'],
  ['4006381333931', '5000000000000'],
  ['500', '5'],
  ['5', '500'],
  ['1000000', '2000000'],
  ['3-12', '13-Mar'],
  ['3-12', '12-Apr'],
  ['10-11-12', '11-10-12'],
  ['2024-1-2', '2025-01-02'],
  ['A-1', 'A-2'],
  ['Mug', 'Cup'],
  ['Size 5', '5'],
  ['12345', '46093'],
  ['mug', 'MUG'],
  ['16:9', '16:10'],
  ['0', '1'],
  ['#1', '#2'],
  ['May', 'June']
]

t.test('what a spreadsheet makes of a text is known from what people write', async (t) => {
  for (const [what, texts] of Object.entries(RETYPED)) {
    for (const [before, ...written] of texts) {
      for (const now of written) t.equal(retyped(before, now), what, `${before} became ${now}`)
    }
  }
  for (const [before, now] of MEANT) t.equal(retyped(before, now), undefined, `${now} in place of ${before}`)
})

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t)
const app = await build(t, database, idp, { settings: { RATE_LIMIT_MAX: 100_000 } })
const machine = bearer(await idp.machineToken())
let shops = 0

type Body = Record<string, any>

async function openShop () {
  const id = await createShop(database, `cells-${++shops}`)
  const as = client(app, `/shops/${id}`, machine)
  return {
    as,
    send: async (payload: string, query = '', type = 'text/csv') =>
      (await app.inject({
        method: 'POST',
        url: `/shops/${id}/imports${query}`,
        headers: { ...machine, 'content-type': type },
        payload
      })).json() as Body,
    exported: async (): Promise<string> =>
      (await app.inject({ url: `/shops/${id}/products/export?format=csv`, headers: machine })).body,
    stored: async () =>
      await knex('products').where({ shop_id: id }).orderBy('id').select('name', 'slug', 'sku', 'description')
  }
}

t.test('an export that a spreadsheet has changed is refused by line, and nothing of it is imported', async (t) => {
  const { as, send, exported, stored } = await openShop()
  const items = [
    { name: 'Pen', slug: 'pen', sku: '4006381333931' },
    { name: 'Zero', slug: 'zero', sku: '00123' },
    { name: 'Range', slug: 'range', sku: '3-12' },
    { name: '1/2', slug: 'half', sku: 'H' },
    { name: 'Truth', slug: 'truth', sku: 'T', description: 'true' },
    { name: 'Old', slug: '0042', sku: 'O' },
    { name: 'Day', slug: '2024-1-2', sku: 'D' }
  ]
  await as('POST', '/products/batch', { items })
  const [before, file] = [await stored(), await exported()]
  t.match(
    await send(file, '?dry_run=true'),
    { unchanged: items.length, failed: 0, warnings: [] },
    'the export itself says nothing new'
  )
  const changes: ReadonlyArray<readonly [from: string, to: string, field: string, what: string]> = [
    ['4006381333931', '4.00638E+12', 'sku', 'a number'],
    ['00123', '123', 'sku', 'a number'],
    ['3-12', '12-Mar', 'sku', 'a date'],
    ['1/2', '02. Jan', 'name', 'a date'],
    ['true', 'TRUE', 'description', 'true or false'],
    ['0042', '42', 'slug', 'a number'],
    ['2024-1-2', '2024-01-02', 'slug', 'a date']
  ]
  const edited = changes.reduce((text, [from, to]) => text.replace(`"${from}"`, `"${to}"`), file)
  for (const query of ['', '?dry_run=true']) {
    const { errors, created = 0, updated = 0 } = await send(edited, query)
    t.strictSame([created, updated], [0, 0])
    const said = (errors as Body[]).map(({ field, message }) => [field, message])
    t.strictSame(
      new Set(said),
      new Set(
        changes.map((
          [from, to, field, what]
        ) => [
          field,
          `${field} is "${to}": a spreadsheet has taken "${from}" for ${what}. Format the column as text and ` +
          'enter it again, or leave it out. If you mean it, change the product by hand or with JSON lines'
        ])
      )
    )
  }
  t.strictSame(await stored(), before)
  const [pen] = (await as('GET', '/products?filter={"slug":"pen"}')).body as Body[]
  t.match(
    await send(`${JSON.stringify({ id: pen!['id'], sku: '4.00638E+12' })}\n`, '?dry_run=true', 'application/x-ndjson'),
    { updated: 1, failed: 0 },
    'JSON lines mean what they say'
  )
})

t.test('lines that match by another field, and cells of a JSON body, are compared as well', async (t) => {
  const { as, send } = await openShop()
  const { body: { id } } = await as('POST', '/products', { name: '007', slug: 'agent', sku: 'A-1' }) as Body
  t.match(await send('sku,name\nA-1,7'), {
    errors: [{ line: 2, field: 'name', message: /^name is "7": a spreadsheet has taken "007" for a number/ }]
  })
  t.match(await send('slug,name\nagent,7'), { errors: [{ line: 2, field: 'name' }] })
  t.match(await as('POST', '/imports?dry_run=true', { format: 'csv', content: `id,name\n${id.toUpperCase()},7` }), {
    body: { errors: [{ line: 2, field: 'name' }] }
  })
  t.match(await send('sku,name\nA-1,0007', '?dry_run=true'), { updated: 1, failed: 0 }, 'a correction is a change')
})

t.test('a cell that is refused anyway is told from one that a spreadsheet has made', async (t) => {
  const { as, send } = await openShop()
  const { body: { id } } = await as('POST', '/products', { name: 'P', slug: '3-12' }) as Body
  for (
    const [head, cell, field] of [
      ['id,slug', `${id},12-Mar`, 'slug'],
      ['name,price', 'A,Jan 99', 'price'],
      ['name,price_amount', 'A,4.00638E+12', 'price_amount']
    ] as const
  ) {
    t.match(await send(`${head}\n${cell}`), {
      errors: [{
        field,
        message: /looks like what a spreadsheet makes of other texts\. Format the column as text and enter it again$/
      }]
    })
  }
  t.match(await send('name,price\nA,x'), { errors: [{ field: 'price', message: /write it as 19\.99$/ }] })
})

t.test('a product that gets its first SKU from a spreadsheet is warned of like a new one', async (t) => {
  const { as, send } = await openShop()
  const { body: { id } } = await as('POST', '/products', { name: 'P' }) as Body
  t.match(await send(`id,sku\n${id},4.00638E+12`, '?dry_run=true'), {
    updated: 1,
    warnings: [/SKUs look like numbers that a spreadsheet has rounded: "4\.00638E\+12" in line 2/]
  })
  await as('PATCH', `/products/${id}`, { sku: '4.00638E+12' })
  t.match(
    await send(`id,sku,name\n${id},4.00638E+12,Q`, '?dry_run=true'),
    { updated: 1, warnings: [] },
    'what it has is right'
  )
})
