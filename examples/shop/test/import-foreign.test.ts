import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t)
const app = await build(t, database, idp, { settings: { RATE_LIMIT_MAX: 100_000, MAX_EVENT_LOOP_DELAY: 0 } })
const machine = bearer(await idp.machineToken())
let shops = 0

type Body = Record<string, any>

async function openShop () {
  const id = await createShop(database, `foreign-${++shops}`)
  const as = client(app, `/shops/${id}`, machine)
  const send = async (lines: readonly string[], query = ''): Promise<Body> =>
    (await app.inject({
      method: 'POST',
      url: `/shops/${id}/imports${query}`,
      headers: { ...machine, 'content-type': 'text/csv' },
      payload: lines.join('\r\n')
    })).json()
  return {
    as,
    send,
    tried: async (lines: readonly string[]) => await send(lines, '?dry_run=true'),
    imported: async (lines: readonly string[], query = ''): Promise<Body> => {
      const made = await send(lines, query)
      for (;;) {
        const { body } = await as('GET', `/imports/${made['id'] as string}`)
        if (!['pending', 'running'].includes(body.status)) return body
        await sleep(20)
      }
    },
    products: async (): Promise<Body[]> => (await as('GET', '/products?sort=sku')).body
  }
}

const SHOPIFY = 'Handle,Title,Body (HTML),Variant SKU,Variant Price,Status'

t.test('an address of another system becomes a slug, and the preview says which', async (t) => {
  const { tried, imported, products } = await openShop()
  const file = [
    'Active (0/1);Name *;Price tax excluded;Reference #;URL rewritten',
    '1;Tea Nano;100;R-1;Tea-Nano',
    '1;Folio for tea - Black;25;R-2;Folio-for-tea---Black',
    '1;Cup;12;R-3;cup_1',
    '1;Mug;12;R-4;Mug',
    '1;Pot;12;R-5;pot'
  ]
  const { failed, created, warnings } = await tried(file)
  t.strictSame([failed, created], [0, 5])
  t.strictSame(warnings, [
    'This file is from PrestaShop. Its prices are without tax',
    '4 addresses are written as a slug of this shop: "Tea-Nano" becomes "tea-nano" in line 2, ' +
    '"Folio-for-tea---Black" becomes "folio-for-tea-black" in line 3, "cup_1" becomes "cup-1" in line 4 and 1 more'
  ])
  t.match(await imported(file), { status: 'done', created: 5, failed: 0 })
  t.match((await products()).map(({ slug }) => slug), ['tea-nano', 'folio-for-tea-black', 'cup-1', 'mug', 'pot'])
  t.match(await tried(file), { unchanged: 5, created: 0 }, 'the same file again finds them')
})

t.test('an address without a letter of a slug leaves it to the name, or the SKU', async (t) => {
  const { tried, imported, products, send } = await openShop()
  const file = [SHOPIFY, '日本,Green tea,,S-1,9,active', '日本茶,日本茶,,S-2,9,active', 'T-Shirt,Shirt,,S-3,9,draft']
  t.match((await tried(file))['warnings'], [
    '2 addresses have no letter that can be written in a slug, so the name or SKU gives it: "日本" in line 2, ' +
    '"日本茶" in line 3',
    '1 address is written as a slug of this shop: "T-Shirt" becomes "t-shirt" in line 4'
  ])
  t.match(await imported(file), { status: 'done', created: 3 })
  t.match((await products()).map(({ slug }) => slug), ['green-tea', 's-2', 't-shirt'])
  t.match(await send([SHOPIFY, '日本茶,日本茶,,,9,active']), {
    errors: [{ line: 2, field: 'slug', message: 'slug cannot be derived from the name "日本茶": set it' }]
  })
})

t.test('prices without tax are rounded to the currency of their product, and the preview says so', async (t) => {
  const { as, tried, imported, products } = await openShop()
  await as('POST', '/products', { name: 'Yen', sku: 'R-3', currency: 'JPY', price_amount: 100 })
  const file = [
    'Active (0/1);Name *;Price tax excluded;Reference #',
    '1;Half up;16.517500;R-1',
    '1;Down;16,5149;R-2',
    '1;Yen;1500.6200;R-3',
    '1;Exact;9.990000;R-4'
  ]
  const preview = await tried(file)
  t.match(preview, { failed: 0, changed_prices: [{ line: 4, after: '1501 JPY' }] })
  t.strictSame(preview['warnings'], [
    'This file is from PrestaShop. Its prices are without tax',
    '3 prices have more decimals than the currency, and are rounded: "16.517500" becomes "16.52" in line 2, ' +
    '"16,5149" becomes "16.51" in line 3, "1500.6200" becomes "1501" in line 4'
  ])
  t.match(await imported(file), { status: 'done', failed: 0 })
  t.match((await products()).map(({ price_amount: amount }) => amount), [1652, 1651, 1501, 999])
  t.match(await tried(['name,price', 'A,16.517500']), { failed: 1 }, 'nobody rounds what a person has written')
})

t.test('a status that no product has here becomes one, and the preview says so', async (t) => {
  const { tried, imported, products } = await openShop()
  const file = [SHOPIFY, 'cup,Cup,,S-1,9,Unlisted', 'pot,Pot,,S-2,9,Active', 'mug,Mug,,S-3,9,sold']
  const { warnings, errors } = await tried(file)
  t.strictSame(warnings, ['1 product is unlisted, which none can be here, and becomes a draft: line 2'])
  t.match(errors, [{ line: 4, field: 'status', message: /draft, active, archived/ }])
  t.match(await imported(file, '?skip_invalid=true'), { created: 2, failed: 1 })
  t.match((await products()).map(({ status }) => status), ['draft', 'active'])
})

t.test('a slug or currency that a file of our own has wrong is refused in words', async (t) => {
  const { send } = await openShop()
  t.match(await send(['name,slug,currency', 'A,T-Shirt,', 'B,,usd']), {
    errors: [
      { line: 2, message: 'slug must be words of a-z and 0-9 with hyphens between them, such as tea-cup' },
      { line: 3, message: 'currency must be a code of three capital letters, such as EUR' }
    ]
  })
})

t.test('a wide file says how many columns are left out, and names three', async (t) => {
  const { tried } = await openShop()
  const more = Array.from({ length: 43 }, (_, n) => `Google Shopping / Label ${n}`)
  const { warnings } = await tried([
    `${SHOPIFY},Vendor,Tags,${more.join(',')},Image Src,Product Category`,
    `cup,Cup,,S-1,9,active,Acme,tea,${more.map(() => '').join(',')},,`
  ])
  t.strictSame(warnings, [
    'This file is from Shopify. 47 of its columns are left out, such as Tags, Image Src and Product Category'
  ])
})

t.test('an HTML description becomes text, and what was left out stands in the answer and later', async (t) => {
  const { as, send, tried, imported, products } = await openShop()
  const html = '"<meta charset=""utf-8""><span data-mce-fragment=""1"">Fine &amp; blue.</span><ul><li>One</li>' +
    '<li>Two</li></ul><script>track()</script>"'
  const file = [
    `${SHOPIFY},Image Src,Vendor`,
    `cup,Cup,${html},S-1,9,active,https://x.example/1.png,Acme`,
    'cup,,,,,,https://x.example/2.png,',
    'pot,Pot,Plain & simple,S-2,9,active,,'
  ]
  const said = [
    'This file is from Shopify. 2 of its columns are left out, such as Image Src and Vendor',
    '1 description is HTML and becomes plain text, without pictures and links: line 2',
    '1 line only says more about the product before, and is left out: line 3'
  ]
  const preview = await tried(file)
  t.strictSame(new Set(preview['warnings']), new Set(said))
  const made = await send(file)
  t.strictSame(made['warnings'], preview['warnings'])
  const { body: lines } = await as('GET', `/imports/${made['id'] as string}/lines`)
  t.strictSame(lines.map(({ line }: Body) => line), [2, 4], 'they are no lines')
  const done = await imported(file)
  t.match(done, { status: 'done', total: 2, processed: 2, failed: 0 })
  t.strictSame(done['warnings'], preview['warnings'])
  t.match(await products(), [{ description: 'Fine & blue.\n\nOne\nTwo' }, { description: 'Plain & simple' }])
  t.match(await imported(['name,description,sku', 'A,<p>As it is</p>,Z']), { warnings: [] })
  t.match((await products()).at(-1), { description: '<p>As it is</p>' }, 'in a file of our own, it is meant')
})

t.test('lines that no SKU or slug finds again are warned of: they make products twice', async (t) => {
  const { imported, tried } = await openShop()
  const file = ['name,sku,slug', 'Cup,,', 'Pot,,', 'Mug,M-1,', 'Jug,,the-jug', 'Tea,,', 'Tin,,']
  t.strictSame((await tried(file))['warnings'], [
    '4 new products have no SKU and no slug: "Cup" in line 2, "Pot" in line 3, "Tea" in line 6 and 1 more. If the ' +
    'file is imported again, it creates them again'
  ])
  t.match(await imported(file), { created: 6, warnings: { length: 1 } })
  t.strictSame((await tried(file.slice(0, 5)))['warnings'], [
    '2 new products have no SKU, and the shop has the same name: "Cup" in line 2, "Pot" in line 3. The import ' +
    'creates them again. To change those that there are, give each line an SKU, a slug or the id'
  ])
})

t.test('every unknown column is named at once, and one choice leaves them out', async (t) => {
  const { as, send, tried, imported, products } = await openShop()
  const unknown = Array.from({ length: 80 }, (_, n) => `warehouse shelf number ${n}`)
  const file = [`name,sku,${unknown.join(',')}`, `Tea,T-1,${unknown.map((_, n) => n).join(',')}`]
  const refused = await send(file)
  t.match(refused, { code: 'SHOP_IMPORT_INVALID', error_count: 1, errors: [{ line: 1, field: '' }] })
  t.match(refused['message'], /^The file has columns that are not known\. Line 1: 80 columns are not known: /)
  for (const name of unknown) t.ok(refused['errors'][0].message.includes(name), name)
  t.strictSame(await products(), [])
  t.match(await tried(file), { total: 1, created: 1, failed: 1, unknown_columns: unknown })
  const done = await imported(file, '?skip_invalid=true')
  t.match(done, { status: 'done', total: 1, created: 1, failed: 0, errors: [] })
  t.strictSame(done['warnings'], [
    '80 columns are not known and are left out, such as warehouse shelf number 0, warehouse shelf number 1 and ' +
    'warehouse shelf number 2'
  ])
  t.match((await as('GET', `/imports/${done['id'] as string}/lines`)).body, [{ line: 2, status: 'created' }])
  t.match(await send(['name,price,colour', 'A,x,red', 'B,1,blue']), {
    error_count: 2,
    message: /^The file has columns that are not known\. 1 of 2 products cannot be imported\. Line 1: colour/,
    errors: [{ line: 1, field: 'colour' }, { line: 2, field: 'price' }]
  })
})

t.test('files of further systems and languages are known by their headings', async (t) => {
  const woo = (headings: string) => [headings, '7,simple,S-1,Tea,1,One\\nTwo,12.5', '8,variable,S-2,Cup,1,,3']
  const product = { name: 'Tea', sku: 'S-1', price_amount: 1250 }
  for (
    const [system, file, expected, refused] of [
      [
        'Magento',
        [
          'sku,store_view_code,attribute_set_code,product_type,name,description,product_online,visibility,price,' +
          'url_key',
          'S-1,,Default,simple,Tea,<p>Fine</p>,1,"Catalog, Search",12.500000,Tea_1',
          'S-1,de,,,Tee,,,,,',
          'S-2,,Default,simple,Cup-S,,1,Not Visible Individually,3,cup-s',
          'S-3,,Default,configurable,Cup,,2,"Catalog, Search",,cup'
        ],
        { ...product, slug: 'tea-1', status: 'active', description: 'Fine' },
        [4, 5]
      ],
      [
        'Google Merchant',
        [
          'id\ttitle\tdescription\tlink\timage link\tavailability\tprice\titem group id',
          'S-1\tTea\tFine\thttps://x.example/1\thttps://x.example/1.png\tin_stock\t12.50 GBP\t',
          'S-2\tCup S\t\thttps://x.example/2\t\tin_stock\t3 GBP\tG-1'
        ],
        { ...product, currency: 'GBP' },
        [3]
      ],
      [
        'Etsy',
        [
          'TITEL,BESCHREIBUNG,PREIS,WÄHRUNGSCODE,STÜCKZAHL,VARIATIONSTYP 1,BESTANDSEINHEIT',
          'Tea,Fein &amp; gut,12.50,EUR,2,,S-1',
          'Cup,,3,EUR,2,Größe,S-2'
        ],
        { ...product, description: 'Fein & gut' },
        [3]
      ],
      ...[
        'ID,Typ,Artikelnummer,Name,Veröffentlicht,Beschreibung,Regulärer Preis',
        'ID,Type,UGS,Nom,Publié,Description,Tarif régulier',
        'ID,Tipo,SKU,Nombre,Publicado,Descripción,Precio normal',
        'ID,Tipo,COD,Nome,Pubblicato,Descrizione,Prezzo di listino',
        'ID,Type,SKU,Naam,Gepubliceerd,Beschrijving,Reguliere prijs'
      ].map((headings) =>
        ['WooCommerce', woo(headings), { ...product, status: 'active', description: 'One\nTwo' }, [3]] as const
      )
    ] as const
  ) {
    const { tried, imported, products } = await openShop()
    const { warnings, errors } = await tried(file)
    t.match(warnings[0], new RegExp(`^This file is from ${system}\\. `), file[0])
    t.strictSame(errors.map(({ line }: Body) => line), refused, JSON.stringify(errors))
    t.match(await imported(file, '?skip_invalid=true'), { status: 'done', created: 1 })
    t.match(await products(), [expected], file[0])
  }
})

t.test('a variant that is corrected as its refusal says is a product', async (t) => {
  const magento = 'sku,attribute_set_code,Product_Type,name,product_online,Visibility,price,URL_key'
  for (
    const [headings, refused, says, corrected] of [
      [
        'Handle,Title,Option1 Value,Variant SKU,Variant Price,Status',
        ['apron,Apron,M,A-M,29,active', 'apron,,,A-L,29,'],
        [
          /: its "Option1 Value" is "M", .* give it a name, an SKU and a "Handle" of its own, and empty "Option1 Value"$/,
          /: it has no "Title", .* an SKU and a "Handle" of its own$/
        ],
        ['apron-m,Apron M,,A-M,29,active', 'apron-l,Apron L,,A-L,29,']
      ],
      [
        'URL handle,Title,Option1 value,SKU,Price',
        ['apron,Apron,M,A-M,29'],
        [/ an SKU and a "URL handle" of its own, and empty "Option1 value"$/],
        ['apron-m,Apron M,,A-M,29']
      ],
      [
        'Typ,Artikelnummer,Name,Beschreibung,Regulärer Preis',
        ['variation,A-M,Apron - M,,29'],
        [/: its "Typ" is "variation", .* and set "Typ" to "simple"$/],
        ['simple,A-M,Apron - M,,29']
      ],
      [
        'TITLE,PRICE,CURRENCY_CODE,VARIATION 1 TYPE,SKU',
        ['Apron,29,USD,Size,A-M', 'Apron,29,USD,,"A-M,A-L"'],
        [
          /: it has variations, .* and empty "VARIATION 1 TYPE"$/,
          /: its "SKU" has several, .* leave one of them in "SKU"$/
        ],
        ['Apron M,29,USD,,A-M', 'Apron L,29,USD,,A-L']
      ],
      [
        magento,
        [
          'A,Default,Configurable,Apron,1,"Catalog, Search",29,apron',
          'A-M,Default,simple,Apron M,1,Not Visible ' +
          'Individually,29,apron-m'
        ],
        [
          /: its "Product_Type" is "Configurable", .* a "URL_key" of its own, and set "Product_Type" to "simple"$/,
          / a "URL_key" of its own, and set "Visibility" to "Catalog, Search"$/
        ],
        [
          'A,Default,simple,Apron,1,"Catalog, Search",29,apron',
          'A-M,Default,simple,Apron M,1,"Catalog, Search",29,apron-m'
        ]
      ],
      [
        'id,title,link,availability,price,Item_Group_ID',
        ['A-M,Apron,https://x.example/1,in_stock,29 USD,G-1'],
        [/: it has an "Item_Group_ID", .* and empty "Item_Group_ID"$/],
        ['A-M,Apron M,https://x.example/1,in_stock,29 USD,']
      ]
    ] as const
  ) {
    const { tried } = await openShop()
    const { errors } = await tried([headings, ...refused])
    t.match(errors.map(({ message }: Body) => message), says, headings)
    t.match(await tried([headings, ...corrected]), { created: corrected.length, failed: 0 }, headings)
  }
})

t.test('what is wrong with a cell names the column of the file, where that is not the field', async (t) => {
  const { tried } = await openShop()
  const { errors } = await tried([
    'Handle,Title,Variant SKU,Variant Price,Status',
    'mug,Mug,M-1,"1,049",active',
    'pot,Pot,P-1,9.9O,active',
    'tin,Tin,T-1,9,active',
    'tin,Box,B-1,9,active',
    'jar,Jar,J-1,9,sold'
  ])
  t.match(errors, [
    { line: 2, field: 'price', message: /^price is "1,049", .* as 19\.99 \(column "Variant Price"\)$/ },
    { line: 3, field: 'price', message: /^price is "9\.9O", .* as 19\.99 \(column "Variant Price"\)$/ },
    { line: 5, field: 'slug', message: 'slug appears twice: tin (column "Handle")' },
    { line: 6, field: 'status', message: /^status must be .*[^)]$/ }
  ])
})
