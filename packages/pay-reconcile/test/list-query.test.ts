import t from 'tap'
import { accountQueryFrom, contentRange } from '../src/list-query.ts'

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
  [{ sort: '' }, {}],
  [{ sort: 'id' }, {}],
  [{ sort: '-id' }, { sort: [{ field: 'id', descending: true }] }],
  [{ sort: 'name' }, { sort: by('name', false) }],
  [{ sort: '["pay_synced_at","DESC"]' }, { sort: by('pay_synced_at', true) }],
  [{ filter: '' }, {}],
  [{ filter: '{}' }, {}],
  [{ filter: '{"q":"a%"}' }, { filter: { q: 'a%' } }],
  [{ filter: `{"id":["${id.toUpperCase()}","${other}"]}` }, { filter: { id: [id, other] } }],
  [{ filter: '{"missing_pay":true,"name":"A"}' }, { filter: { missing_pay: true, name: ['A'] } }],
  [{ shop_id: id, missing_pay: 'false' }, { filter: { shop_id: [id], missing_pay: false } }],
  [{ shop_id: id, filter: `{"shop_id":["${id}","${other}"]}` }, { filter: { shop_id: [id] } }],
  [{ missing_pay: 'false', filter: '{"missing_pay":false}' }, { filter: { missing_pay: false } }]
]

t.test('what a query means', async t => {
  for (const [query, wanted] of readable) t.strictSame(accountQueryFrom(query), { ...all, ...wanted }, JSON.stringify(query))
})

const page = (name: string, min: number, max: number) => `${name} must be an integer from ${min} to ${max}`

const unreadable: ReadonlyArray<readonly [Record<string, unknown>, string, string]> = [
  [{ limit: '1001' }, 'limit', page('limit', 1, 1000)],
  [{ limit: '0' }, 'limit', page('limit', 1, 1000)],
  [{ limit: '' }, 'limit', page('limit', 1, 1000)],
  [{ limit: '1e2' }, 'limit', page('limit', 1, 1000)],
  [{ limit: ['1', '2'] }, 'limit', page('limit', 1, 1000)],
  [{ skip: '-1' }, 'skip', page('skip', 0, 1e9)],
  [{ skip: '1.5' }, 'skip', page('skip', 0, 1e9)],
  [{ range: '[0]' }, 'range', 'range must be [first, last]'],
  [{ range: '[{"toString":1},5]' }, 'range', 'range must be [first, last]'],
  [{ sort: '["name",{"toString":1}]' }, 'sort', 'sort must be ["field", "ASC" or "DESC"]'],
  [{ range: '0-24' }, 'range', 'range is not JSON'],
  [{ range: '[5,4]' }, 'range', page('range', 5, 1000001000)],
  [{ range: '[0,1000]' }, 'range', page('range', 1, 1000)],
  [{ sort: 'details' }, 'sort', 'sort names no field that can be sorted by'],
  [{ sort: '__proto__' }, 'sort', 'sort names no field that can be sorted by'],
  [{ sort: 'name; drop table accounts' }, 'sort', 'sort names no field that can be sorted by'],
  [{ sort: '["name"]' }, 'sort', 'sort must be ["field", "ASC" or "DESC"]'],
  [{ sort: '["name","asc; --"]' }, 'sort', 'sort must be ["field", "ASC" or "DESC"]'],
  [{ sort: ['name', 'id'] }, 'sort', 'sort must be given once'],
  [{ filter: '[]' }, 'filter', 'filter must be one JSON object'],
  [{ filter: 'null' }, 'filter', 'filter must be one JSON object'],
  [{ filter: '{' }, 'filter', 'filter is not JSON'],
  [{ filter: ['{}', '{}'] }, 'filter', 'filter must be one JSON object'],
  [{ filter: '{"details":{"a":1}}' }, 'filter/details', 'filter has no field "details"'],
  [{ filter: '{"__proto__":1}' }, 'filter/__proto__', 'filter has no field "__proto__"'],
  [{ filter: '{"name":{"a":1}}' }, 'filter/name', 'filter.name must be a string of at most 255 characters'],
  [{ filter: '{"name":1}' }, 'filter/name', 'filter.name must be a string of at most 255 characters'],
  [{ filter: '{"name":"\\u0000"}' }, 'filter/name', 'filter.name holds a character that cannot be stored'],
  [{ filter: '{"q":"\\ud800"}' }, 'filter/q', 'filter.q holds a character that cannot be stored'],
  [{ filter: '{"q":["a"]}' }, 'filter/q', 'filter.q must be a string of at most 255 characters'],
  [{ filter: '{"id":"1"}' }, 'filter/id', 'filter.id must be a UUID'],
  [{ filter: `{"id":"urn:uuid:${id}"}` }, 'filter/id', 'filter.id must be a UUID'],
  [{ filter: '{"missing_pay":"yes"}' }, 'filter/missing_pay', 'filter.missing_pay must be true or false'],
  [{ filter: `{"name":[${'"a",'.repeat(1000)}"a"]}` }, 'filter/name', 'filter.name has more than 1000 values'],
  [{ shop_id: 'x' }, 'shop_id', 'shop_id must be a UUID'],
  [{ shop_id: [id, id] }, 'shop_id', 'shop_id must be given once'],
  [{ missing_pay: '1' }, 'missing_pay', 'missing_pay must be true or false'],
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
  t.equal(contentRange('accounts', { skip: 0, limit: 100 }, 319), 'accounts 0-100/319')
  t.equal(contentRange('accounts', { skip: 500, limit: 100 }, 42), 'accounts 500-600/42')
  t.equal(contentRange('accounts', { skip: 0, limit: 100 }, 0), 'accounts 0-100/0')
  t.equal(contentRange('runs', { skip: 10, limit: 5 }, 11), 'runs 10-15/11')
})
