import t from 'tap'
import { contentRange } from '../src/admin/list-grammar.ts'
import { accountQueryFrom } from '../src/admin/list-query.ts'

const id = '3f0c1d2e-0000-4000-8000-00000000000a'
const other = '3f0c1d2e-0000-4000-8000-00000000000b'
const all = { skip: 0, limit: 100, filter: {}, sort: [{ field: 'id', descending: false }] }
const by = (field: string, descending: boolean) => [{ field, descending }, { field: 'id', descending }]

const readable: ReadonlyArray<readonly [Record<string, unknown>, object]> = [
  [{}, {}],
  [{ skip: '20', limit: '10' }, { skip: 20, limit: 10 }],
  [{ limit: '1000' }, { limit: 1000 }],
  [{ range: '[0,24]' }, { skip: 0, limit: 25 }],
  [{ range: '[50, 50]' }, { skip: 50, limit: 1 }],
  [{ sort: 'id' }, {}],
  [{ sort: '-id' }, { sort: [{ field: 'id', descending: true }] }],
  [{ sort: 'name' }, { sort: by('name', false) }],
  [{ sort: '["pay_synced_at","DESC"]' }, { sort: by('pay_synced_at', true) }],
  [{ filter: '{}' }, {}],
  [{ filter: '{"q":"a%"}' }, { filter: { q: 'a%' } }],
  [{ filter: '{"id":["acct_9/ü","10"],"shop_id":"x"}' }, { filter: { id: ['acct_9/ü', '10'], shop_id: ['x'] } }],
  [{ sort: '["name","desc"]' }, { sort: by('name', true) }],
  [{ filter: '{"shop_name":"A","details":{"tier":["gold"]},"pay_synced_at":null,"hash_name":["h",null]}' },
    { filter: { shop_name: ['A'], details: { tier: ['gold'] }, pay_synced_at: [null], hash_name: ['h', null] } }],
  [{ filter: JSON.stringify({ id: Array(150).fill(id) }) }, { limit: 150, filter: { id: Array(150).fill(id) } }],
  [{ filter: JSON.stringify({ id: Array(150).fill(id) }), limit: '5' }, { limit: 5, filter: { id: Array(150).fill(id) } }],
  [{ filter: '{"missing_pay":true,"name":"A"}' }, { filter: { missing_pay: true, name: ['A'] } }],
  [{ shop_id: id, missing_pay: 'false' }, { filter: { shop_id: [id], missing_pay: false } }],
  [{ shop_id: id, filter: `{"shop_id":["${id}","${other}"]}` }, { filter: { shop_id: [id] } }],
  [{ missing_pay: 'false', filter: '{"missing_pay":false}' }, { filter: { missing_pay: false } }]
]

t.test('what a query means', async t => {
  for (const [query, wanted] of readable) t.strictSame(accountQueryFrom(query), { ...all, ...wanted }, JSON.stringify(query))
})

const page = (name: string, min: number, max: number) => `${name} must be an integer from ${min} to ${max}`

const SORTS = 'sort must be one of id, shop_id, shop_name, name, hash_name, pay_customer_id, pay_synced_at, with a minus for descending'
const STRING = 'a string of at most 255 characters, without NUL and lone surrogates'
const OBJECT = 'filter.details must be a JSON object of at most 32 levels, without NUL and lone surrogates'

const unreadable: ReadonlyArray<readonly [Record<string, unknown>, string, string]> = [
  [{ limit: '1001' }, 'limit', page('limit', 1, 1000)],
  [{ limit: '0' }, 'limit', page('limit', 1, 1000)],
  [{ limit: '' }, 'limit', page('limit', 1, 1000)],
  [{ limit: '1e2' }, 'limit', page('limit', 1, 1000)],
  [{ limit: ['1', '2'] }, 'limit', page('limit', 1, 1000)],
  [{ skip: '-1' }, 'skip', page('skip', 0, 1e9)],
  [{ skip: '1.5' }, 'skip', page('skip', 0, 1e9)],
  [{ range: '[0]' }, 'range', 'range must be [first, last], as [0, 24]'],
  [{ range: '[{"toString":1},5]' }, 'range', 'range must be [first, last], as [0, 24]'],
  [{ sort: '["name",{"toString":1}]' }, 'sort', 'sort must be a field, or ["field", "ASC" or "DESC"]'],
  [{ range: '0-24' }, 'range', 'range must be JSON'],
  [{ range: '[5,4]' }, 'range', 'range must be [first, last], as [0, 24]'],
  [{ range: '["0","24"]' }, 'range', 'range must be [first, last], as [0, 24]'],
  [{ range: '[0,24]&' }, 'range', 'range must be JSON'],
  [{ range: '[0,1000]' }, 'range', 'range must not hold more than 1000 records'],
  [{ sort: 'details' }, 'sort', SORTS],
  [{ sort: '__proto__' }, 'sort', SORTS],
  [{ sort: 'name; drop table accounts' }, 'sort', SORTS],
  [{ sort: '["name"]' }, 'sort', 'sort must be a field, or ["field", "ASC" or "DESC"]'],
  [{ sort: '["name","asc; --"]' }, 'sort', 'sort must be a field, or ["field", "ASC" or "DESC"]'],
  [{ sort: ['name', 'id'] }, 'sort', 'sort must be given once'],
  [{ filter: '[]' }, 'filter', 'filter must be a JSON object'],
  [{ filter: 'null' }, 'filter', 'filter must be a JSON object'],
  [{ filter: '{' }, 'filter', 'filter must be JSON'],
  [{ filter: ['{}', '{}'] }, 'filter', 'filter must be given once'],
  [{ filter: '' }, 'filter', 'filter must be JSON'],
  [{ sort: '' }, 'sort', SORTS],
  [{ filter: '{"id":[]}' }, 'filter/id', 'filter.id must have 1 to 1000 values'],
  [{ filter: '{"details":[]}' }, 'filter/details', OBJECT],
  [{ filter: '{"details":{"a":"\\u0000"}}' }, 'filter/details', OBJECT],
  [{ filter: `{"details":${'{"a":'.repeat(33)}1${'}'.repeat(33)}}` }, 'filter/details', OBJECT],
  [{ filter: '{"tier":1}' }, 'filter/tier', 'filter.tier is not a known field'],
  [{ filter: `{"${'x'.repeat(201)}":1}` }, `filter/${'x'.repeat(199)}…`, `filter.${'x'.repeat(199)}… is not a known field`],
  [{ filter: '{"__proto__":1}' }, 'filter/__proto__', 'filter.__proto__ is not a known field'],
  [{ filter: '{"name":{"a":1}}' }, 'filter/name', `filter.name must be ${STRING}`],
  [{ filter: '{"name":1}' }, 'filter/name', `filter.name must be ${STRING}`],
  [{ filter: '{"name":"\\u0000"}' }, 'filter/name', `filter.name must be ${STRING}`],
  [{ filter: '{"q":"\\ud800"}' }, 'filter/q', `filter.q must be ${STRING}`],
  [{ filter: '{"q":["a"]}' }, 'filter/q', `filter.q must be ${STRING}`],
  [{ filter: '{"id":[1]}' }, 'filter/id', `filter.id must be ${STRING}`],
  [{ filter: '{"missing_pay":"yes"}' }, 'filter/missing_pay', 'filter.missing_pay must be true or false'],
  [{ filter: `{"name":[${'"a",'.repeat(1000)}"a"]}` }, 'filter/name', 'filter.name must have 1 to 1000 values'],
  [{ shop_id: [id, id] }, 'shop_id', `shop_id must be ${STRING}`],
  [{ missing_pay: '1' }, 'missing_pay', 'missing_pay must be one of true, false'],
  [{ range: '[0,24]', skip: '5' }, 'range', 'range cannot be combined with skip or limit'],
  [{ range: '[0,24]', limit: '25' }, 'range', 'range cannot be combined with skip or limit'],
  [{ missing_pay: 'false', filter: '{"missing_pay":true}' }, 'missing_pay', 'missing_pay contradicts filter.missing_pay'],
  [{ missing_pay: 'true', filter: '{"missing_pay":false}' }, 'missing_pay', 'missing_pay contradicts filter.missing_pay'],
  [{ shop_id: id, filter: `{"shop_id":"${other}"}` }, 'shop_id', 'shop_id contradicts filter.shop_id']
]

t.test('what a query may not say', async t => {
  for (const [query, field, message] of unreadable) {
    t.throws(() => accountQueryFrom(query), { code: 'PAY_RECONCILE_VALIDATION', statusCode: 422, field, message }, JSON.stringify(query).slice(0, 80))
  }
})

t.test('Content-Range is accounts {skip}-{skip+limit}/{count}', async t => {
  t.equal(contentRange('accounts', { skip: 0, limit: 100 }, 319, 100), 'accounts 0-100/319')
  t.equal(contentRange('accounts', { skip: 500, limit: 100 }, 42, 0), 'accounts 500-600/42')
  t.equal(contentRange('accounts', { skip: 0, limit: 100 }, 0, 0), 'accounts 0-100/0')
  t.equal(contentRange('runs', { skip: 10, limit: 5 }, 11, 1), 'runs 10-15/11')
  t.equal(contentRange('accounts', { skip: 10, limit: 100 }, 319, 7), 'accounts 10-17/319', 'a page that ended early')
})
