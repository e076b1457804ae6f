import t from 'tap'
import { tableNames } from '../src/keys/names.ts'
import { createShopReader } from '../src/shop.ts'

t.test('a table and a column have a name in lower case, and nothing that only reads like one', async t => {
  for (const table of ['Keys', 'a.b.c', 'keys;', '', 'k'.repeat(64), '1keys', 'a.', ['api_keys'], { toString: () => 'api_keys' }, null]) {
    t.throws(() => tableNames({ table: table as string }), { code: 'DUAL_AUTH_INVALID_OPTION', message: /knexStore\.table must be the name of a table/ }, String(table))
  }
  for (const shopColumn of ['Shop', 'a.b', '', 's'.repeat(64), ['shop_id'], null]) {
    t.throws(() => tableNames({ shopColumn: shopColumn as string }), { code: 'DUAL_AUTH_INVALID_OPTION', message: /knexStore\.shopColumn must be the name of a column/ }, String(shopColumn))
  }
  for (const table of ['k'.repeat(63), `${'a'.repeat(63)}.${'b'.repeat(63)}`, '_1']) t.equal(tableNames({ table }).table, table)
  const { table, shopColumn, quotedTable, quotedShop, columns } = tableNames({})
  t.strictSame([table, shopColumn, quotedTable, quotedShop, columns(['id', 'shop_id'])], ['api_keys', 'shop_id', '"api_keys"', '"shop_id"', ['id', 'shop_id as shop_id']])
  t.equal(tableNames({ table: 'app.keys' }).quotedTable, '"app"."keys"')
})

t.test('the shop of a path is what the host makes of its parameter, if that is an id', async t => {
  const given: string[] = []
  const { fromParams, isAllowed } = createShopReader({
    shopParam: 'shop',
    shopIdFromParam: param => {
      given.push(param)
      return { a: 'A', empty: '', wrong: 1 as never }[param]
    }
  })
  t.strictSame([{ shop: 'a' }, { shop: 'b' }, { shop: 'empty' }, { shop: 'wrong' }, {}].map(fromParams), ['A', undefined, undefined, undefined, undefined])
  t.equal(given.at(-1), '', 'a path without the parameter')
  t.strictSame([{ shop: 'a' }, { shop: 'b' }, { shop: 'empty' }, {}].map(params => isAllowed(params, 'A')), [true, false, false, true])
})
