import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { amountFromPrice, priceFromAmount } from '../src/http/money.ts'
import { importQuestion } from '../src/imports/asking.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

t.test('a price is what people write in the currency, or is refused', async (t) => {
  for (
    const [text, currency, amount] of [
      ['19.99', 'EUR', 1999],
      ['19,99', 'EUR', 1999],
      ['19', 'EUR', 1900],
      ['19.9', 'EUR', 1990],
      ['0', 'EUR', 0],
      [' 7 ', 'EUR', 700],
      ['1.999,50', 'EUR', 199950],
      ['1,999.50', 'USD', 199950],
      ["1'999.50", 'CHF', 199950],
      ['1 999,50', 'EUR', 199950],
      ['1,234,567', 'USD', 123456700],
      ['1\u00a0999', 'EUR', 199900],
      ['1999', 'JPY', 1999],
      ['1,999', 'JPY', 1999],
      ['1.999', 'KWD', 1999],
      ['1.5', 'KWD', 1500],
      ['$9.90', 'USD', 990],
      ['9,90 €', 'EUR', 990],
      ['EUR 9.90', 'EUR', 990],
      ['US$1,234.50', 'USD', 123450],
      ['¥1500', 'JPY', 1500],
      ['9.90 zł', 'PLN', 990],
      ['1\u202f234\u202f567', 'JPY', 1234567],
      ['12 500', 'EUR', 1250000],
      ['123.456', 'JPY', 123456],
      ['0,125', 'KWD', 125],
      ['1234,567', 'KWD', 1234567],
      ['9.990000', 'EUR', 999],
      ['12,5000', 'EUR', 1250],
      ['1,500.0000', 'USD', 150000],
      ['1500.000000', 'JPY', 1500],
      ['1500.00', 'JPY', 1500],
      ['1,500.00', 'JPY', 1500],
      ['1.234000', 'KWD', 1234],
      [1.5, 'EUR', 150],
      [19.99, 'EUR', 1999],
      [1234, 'JPY', 1234],
      [1.234, 'KWD', 1234]
    ] as const
  ) t.equal(amountFromPrice(text, currency), amount, `${text} ${currency}`)
  for (
    const [text, currency, why] of [
      ['1,999', 'EUR', /may be 1\.999 or 1999/],
      ['1.999', 'USD', /may be/],
      ['1,999', 'KWD', /may be/],
      ['19.999', 'EUR', /may be/],
      ['19.9999', 'EUR', /EUR has 2 decimals/],
      ['19.5', 'JPY', /JPY has no decimals/],
      ['$19.99', 'EUR', /not an amount in EUR: write it as 19\.99/],
      ['19.99 USD', 'EUR', /not an amount in EUR/],
      ['$$9.90', 'USD', /not an amount/],
      ['$', 'USD', /not an amount/],
      ['-1', 'EUR', /not an amount/],
      ['1e3', 'EUR', /not an amount/],
      ['1.99.9', 'EUR', /not an amount/],
      ['', 'EUR', /not an amount/],
      ['1,99,99.00', 'EUR', /not an amount/],
      ['9999999999999999', 'EUR', /too large/],
      ['0.125', 'JPY', /JPY has no decimals/],
      ['1234.567', 'JPY', /JPY has no decimals/],
      ['0,125', 'KRW', /KRW has no decimals/],
      ['0,125,000', 'CLP', /not an amount/],
      ['1234.567', 'EUR', /EUR has 2 decimals/],
      [1.234, 'JPY', /^price is 1\.234, and JPY has no decimals/],
      [1.5, 'JPY', /JPY has no decimals/],
      [1.234, 'EUR', /EUR has 2 decimals/],
      [1e21, 'EUR', /not an amount/],
      [1e-7, 'EUR', /not an amount/],
      ['5 1000', 'EUR', /not an amount/],
      ['1 2345', 'EUR', /not an amount/],
      ['1 234 5678', 'EUR', /not an amount/],
      ['1234 567', 'EUR', /not an amount/],
      ['1 234.567', 'EUR', /EUR has 2 decimals/],
      ['1.000', 'EUR', /may be 1\.000 or 1000/],
      ['9.9901', 'EUR', /EUR has 2 decimals/],
      ['1500.0', 'JPY', /JPY has no decimals/],
      ['1,500.000', 'JPY', /JPY has no decimals/],
      ['1234.000', 'JPY', /JPY has no decimals/]
    ] as const
  ) t.throws(() => amountFromPrice(text, currency), { field: 'price', message: why }, `${text} ${currency}`)
  for (
    const [amount, currency, price] of [[1999, 'EUR', '19.99'], [5, 'EUR', '0.05'], [1999, 'JPY', '1999'], [
      1999,
      'KWD',
      '1.999'
    ], [Number.MAX_SAFE_INTEGER, 'EUR', '90071992547409.91']] as const
  ) {
    t.equal(priceFromAmount(amount, currency), price)
    t.equal(amountFromPrice(price, currency), amount)
  }
})

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t)
const app = await build(t, database, idp, { settings: { RATE_LIMIT_MAX: 100_000, MAX_EVENT_LOOP_DELAY: 0 } })
const machine = bearer(await idp.machineToken())
let shops = 0

async function openShop () {
  const id = await createShop(database, `priced-${++shops}`)
  const as = client(app, `/shops/${id}`, machine)
  const send = async (payload: string, query = '', type = 'text/csv') =>
    (await app.inject({
      method: 'POST',
      url: `/shops/${id}/imports${query}`,
      headers: { ...machine, 'content-type': type },
      payload
    })).json()
  return {
    as,
    send,
    imported: async (payload: string, query = '', type = 'text/csv') => {
      const made = await send(payload, query, type)
      for (;;) {
        const { body } = await as('GET', `/imports/${made.id}`)
        if (!['pending', 'running'].includes(body.status)) return body
        await sleep(20)
      }
    },
    prices: async () =>
      Object.fromEntries(
        (await knex('products').where({ shop_id: id }).orderBy('name')).map((
          { name, price_amount: amount, currency }
        ) => [name, [amount, currency]])
      )
  }
}

t.test('a file has prices in major units, each in the currency of its product', async (t) => {
  const { as, send, imported, prices } = await openShop()
  await as('POST', '/products', { name: 'Yen', sku: 'Y', currency: 'JPY', price_amount: 100 })
  const file = 'Name,SKU,Price,Currency\nYen,Y,1999,\nEuro,E,"19,99",EUR\nDinar,D,1.5,KWD\nFree,F,0,\nNot yet,N,,'
  t.match(await send(file, '?dry_run=true'), {
    price_changes: 1,
    changed_prices: [{ line: 2, name: 'Yen', before: '100 JPY', after: '1999 JPY' }],
    prices: [
      { currency: 'EUR', lowest: '0.00', highest: '19.99', lowest_before: null },
      { currency: 'JPY', lowest: '1999', highest: '1999', lowest_before: '100', highest_before: '100' },
      { currency: 'KWD', lowest: '1.500', highest: '1.500', lowest_before: null }
    ]
  })
  t.match(await imported(file), { status: 'done', failed: 0 })
  t.strictSame(await prices(), {
    Dinar: [1500, 'KWD'],
    Euro: [1999, 'EUR'],
    Free: [0, 'EUR'],
    'Not yet': [null, 'EUR'],
    Yen: [1999, 'JPY']
  })
  t.match(
    await imported(
      '{"sku":"E","price":"20.50"}\n{"sku":"Y","price":5}\n{"sku":"D","price":null}',
      '',
      'application/x-ndjson'
    ),
    { status: 'done', updated: 3 }
  )
  t.match(await prices(), { Dinar: [null, 'KWD'], Euro: [2050, 'EUR'], Yen: [5, 'JPY'] })
})

t.test('what is no price, or is one twice, is refused by line', async (t) => {
  const { send } = await openShop()
  t.match(await send('name,price\nA,"1,999"\nB,19.99 USD\nC,12.50'), {
    error_count: 2,
    errors: [{
      line: 2,
      field: 'price',
      message: 'price is "1,999", which may be 1.999 or 1999: write it without separators of thousands, as 19.99'
    }, { line: 3, field: 'price' }]
  })
  t.match(await send('Handle,Title,Title,Variant Price\na,A,B,1'), {
    errors: [{ line: 1, field: 'Title', message: 'Title is the name of two columns' }]
  })
  t.match(await send('name,price,price_amount\nA,1,100'), {
    errors: [{ line: 2, field: 'price', message: /say the same/ }]
  })
})

t.test('a number of JSON has no thousands, and neither does a price of another system that may be one', async (t) => {
  const { send, imported, prices } = await openShop()
  t.match(
    await send(
      '{"name":"A","price":1.234,"currency":"JPY"}\n{"name":"B","price":1.5,"currency":"EUR"}',
      '',
      'application/x-ndjson'
    ),
    {
      error_count: 1,
      errors: [{ line: 1, field: 'price', message: 'price is 1.234, and JPY has no decimals: write it as 1999' }]
    }
  )
  const headings = 'Title;Price;Currency_code'
  t.match(await send(`${headings}\nA;1.000;EUR\nB;12.500;EUR\nC;9.990000;EUR`), {
    error_count: 2,
    errors: [{ line: 2, field: 'price', message: /may be 1\.000 or 1000/ }, { line: 3, field: 'price' }]
  })
  t.match(await imported(`${headings}\nA;9.990000;EUR\nB;1500.000000;JPY\nC;1500.00;JPY\nD;12.500;KWD\nE;1.500;JPY`), {
    status: 'done',
    failed: 0
  })
  t.strictSame(await prices(), {
    A: [999, 'EUR'],
    B: [1500, 'JPY'],
    C: [1500, 'JPY'],
    D: [12500, 'KWD'],
    E: [1500, 'JPY']
  })
})

t.test('an export has prices in major units, and changes nothing when it is imported', async (t) => {
  const { as, imported } = await openShop()
  await as('POST', '/products/batch', {
    items: [{ name: 'A', sku: 'A', price_amount: 1999 }, { name: 'B', sku: 'B', price_amount: 1999, currency: 'KWD' }, {
      name: 'C',
      sku: 'C',
      price_amount: 1999,
      currency: 'JPY'
    }, { name: 'D' }]
  })
  const { id } = (await as('GET', '/products?limit=1')).body[0]
  const shop = (await knex('products').where({ id }).first('shop_id')).shop_id
  const { body } = await app.inject({ url: `/shops/${shop}/products/export`, headers: machine })
  t.match(body.split('\r\n')[0], /,price,currency,/)
  t.notMatch(body, 'price_amount')
  for (const price of ['"19.99"', '"1.999"', '"1999"']) t.match(body, price)
  t.match(await imported(body), { total: 4, unchanged: 4 })
})

t.test('the question names the prices of the file, and of what they replace', async (t) => {
  const counts = { created: 1, updated: 2, price_changes: 2, priced: 3, follows: false }
  t.equal(
    importQuestion({
      ...counts,
      prices: [{ currency: 'EUR', lowest: '0.79', highest: '0.89', lowest_before: '79.00', highest_before: '89.00' }]
    }),
    'Import products? 2 prices change, in 2 products that are changed; 1 are created.\nPrices in the file: 0.79 ' +
      'to 0.89 EUR. Those that change are 79.00 to 89.00 EUR now.\nIt can be undone from the history.'
  )
})

t.test('files of other systems are known by their headings; variants are refused by line', async (t) => {
  for (
    const [system, file, products, refused] of [
      [
        'Shopify',
        [
          'Handle,Title,Body (HTML),Vendor,Tags,Option1 Name,Option1 Value,Variant SKU,Variant Price,Image Src,Status',
          'tea-tin,Tea tin,<p>Tin.</p>,Acme,tea,Title,Default Title,TT-1,12.50,https://x.example/1.png,Active',
          'tea-tin,,,,,,,,,https://x.example/2.png,',
          'mug,Mug,,Acme,,Size,Small,M-S,8,,Draft',
          'mug,,,Acme,,Size,Large,M-L,9,,'
        ],
        [{ name: 'Tea tin', slug: 'tea-tin', sku: 'TT-1', status: 'active', price_amount: 1250 }],
        [4, 5]
      ],
      ['WooCommerce', [
        'ID,Type,SKU,Name,Published,"Short description",Description,"Sale price","Regular price",Categories',
        '44,simple,W-1,Album,1,x,Music,,15,Music',
        '45,"simple, virtual",W-2,Ebook,-1,,,,9.99,Books',
        '46,variable,W-3,Hoodie,1,,,,,Clothing',
        '47,variation,W-3-R,Hoodie - Red,1,,,,45,'
      ], [
        { name: 'Album', sku: 'W-1', status: 'active', price_amount: 1500 },
        { name: 'Ebook', sku: 'W-2', status: 'draft', price_amount: 999 }
      ], [4, 5]],
      [
        'Etsy',
        [
          'TITLE,DESCRIPTION,PRICE,CURRENCY_CODE,QUANTITY,TAGS,IMAGE1,VARIATION 1 TYPE,VARIATION 1 ' +
          'NAME,VARIATION 1 VALUES,SKU',
          'Felt star,Small,4,USD,12,felt,https://x.example/1.jpg,,,,E-1',
          'Felt ball,,5.5,USD,3,,,Color,Color,"Red,Blue","E-2,E-3"'
        ],
        [{ name: 'Felt star', sku: 'E-1', price_amount: 400, currency: 'USD' }],
        [3]
      ],
      ['PrestaShop', [
        'Product ID;Active (0/1);Name *;Categories (x,y,z...);Price tax excluded;Reference #;Description;URL rewritten',
        '1;1;Paper pot;Home,Pots;16.510000;P-1;A pot;paper-pot',
        '2;0;Clay pot;Home;20;P-2;;clay-pot'
      ], [
        { name: 'Clay pot', status: 'draft', price_amount: 2000 },
        { name: 'Paper pot', sku: 'P-1', slug: 'paper-pot', status: 'active', price_amount: 1651 }
      ], []]
    ] as const
  ) {
    const { as, imported, send } = await openShop()
    const lines = file.join('\r\n')
    if (refused.length > 0) {
      t.match(
        (await send(lines)).errors.map(({ line }: { line: number }) => line),
        refused,
        `${system}: ${JSON.stringify((await send(lines)).errors)}`
      )
    }
    const warning = new RegExp(`^This file is from ${system}\\. .*\\d+ of its columns (?:is|are) left out, such as .`)
    t.match((await send(lines, '?dry_run=true')).warnings, [warning])
    t.match(await imported(lines, '?skip_invalid=true'), {
      status: 'done',
      created: products.length,
      failed: refused.length
    }, system)
    t.match((await as('GET', '/products?sort=name')).body, products, system)
  }
})

t.test('signs that a spreadsheet has changed the file are warned of, and refuse nothing', async (t) => {
  const { as, send } = await openShop()
  await as('POST', '/products/batch', { items: [{ name: 'Known', sku: '00123' }, { name: 'Right', sku: '1E5' }] })
  const { warnings, failed, created } = await send(
    'name,sku,description\nLong,1.23457E+12,\nLong too,9E+20,\nDay,03-Jan,\nCafÃ©,C-1,It costs 5 ' +
      'â‚¬\nZeros,123,\nPlain,1-2,20 Ã\nRight,1E5,',
    '?dry_run=true'
  )
  t.strictSame(warnings, [
    'SKUs look like numbers that a spreadsheet has rounded: "1.23457E+12" in line 2 and 1 more. If so, format ' +
    'the column as text, and enter them again',
    'SKUs look like dates that a spreadsheet has made: "03-Jan" in line 4. If so, format the column as text, ' +
    'and enter them again',
    'Texts look as if the file was saved in another encoding: "CafÃ©" in line 5 and 1 more. If so, save it as ' +
    'CSV UTF-8',
    'SKUs may have lost zeros at their beginning: "123" in line 6 is new, and the shop has "00123". If so, ' +
    'format the column as text, and enter them again'
  ])
  t.strictSame([created, failed], [6, 0])
  const prices = async (...cells: readonly string[]) => {
    const lines = cells.map((cell, index) => `${index};K-${index};${cell}`)
    return (await send(['name;sku;currency;price', ...lines].join('\n'), '?dry_run=true')).warnings
  }
  t.strictSame(await prices('KWD;1.234', 'KWD;12.500', 'KWD;1.234,500'), [
    'Prices may mean thousands: 1.234 in line 2 and 1 more is read as 1.234 KWD, while others have a comma ' +
    'before decimals. If so, write 1234'
  ])
  t.strictSame(await prices('EUR;7,5', 'KWD;1.234'), [
    'Prices may mean thousands: 1.234 in line 3 is read as 1.234 KWD, while others have a comma before ' +
    'decimals. If so, write 1234'
  ])
  t.strictSame(
    [
      ...await prices('KWD;1.234', 'KWD;0.500'),
      ...await prices('JPY;1.234', 'EUR;7,5'),
      ...await prices('KWD;1.234', 'JPY;1,999')
    ],
    [],
    'not without such a comma, or where a point can only group'
  )
})
