import t from 'tap'
import { table } from '../src/cli/tables.ts'
import { adminAccountFrom } from '../src/admin/account-routes.ts'
import { customerIdOf, syncedAtOf } from '../src/details.ts'
import type { Account } from '../src/types.ts'
import { backoff, retryAfterFrom } from '../src/provider/backoff.ts'
import { driftOf, linkItem } from '../src/reconcile/item.ts'
import { storable } from '../src/storable.ts'
import { formFrom } from '../src/testing/form.ts'

const account = (details: object): Account =>
  ({ id: 'a', shopId: 's', shopName: 'Shop', name: 'Ada', hashName: null, details: details as Account['details'] })
const found = (id: string, rest = {}) => ({ id, object: 'customer', ...rest })

t.test('details say which customer and when', async t => {
  t.equal(customerIdOf({ pay_customer_id: 'cus_1' }), 'cus_1')
  for (const value of ['', null, 5, {}, undefined]) t.equal(customerIdOf({ pay_customer_id: value }), null, JSON.stringify(value))
  t.equal(syncedAtOf({ pay_synced_at: '2026' }), '2026')
  t.strictSame(adminAccountFrom(account({ a: 1 })), {
    id: 'a', shop_id: 's', shop_name: 'Shop', name: 'Ada', hash_name: null, details: { a: 1 }, pay_customer_id: null, pay_synced_at: null
  })
})

t.test('JSON is made storable', async t => {
  for (const [value, stored] of [
    ['a\0b', 'ab'], ['\ud800', '\ufffd'], ['\u{1f600}', '\u{1f600}'], [1, 1], [null, null], [true, true],
    [['\0', { 'k\0': ['\udc00x'] }], ['', { k: ['\ufffdx'] }]]
  ]) t.strictSame(storable(value), stored, JSON.stringify(value))
  const own = storable(JSON.parse('{"__proto__":{"a":1}}'))
  t.strictSame(Object.keys(own as object), ['__proto__'], 'a key named __proto__ stays a key')
})

t.test('only metadata link; an e-mail address suggests', async t => {
  const none = { byAccount: [], byEmail: [], providerRequestId: null }
  for (const [title, matches, wanted] of [
    ['nothing found', {}, { outcome: 'unmatched' }],
    ['one by metadata', { byAccount: [found('cus_1')] }, { outcome: 'linked', before: null, after: 'cus_1', reason: 'metadata' }],
    ['one alive and one deleted', { byAccount: [found('cus_1', { deleted: true }), found('cus_2')] }, { outcome: 'linked', after: 'cus_2' }],
    ['two by metadata', { byAccount: [found('cus_1'), found('cus_2')] }, { outcome: 'ambiguous', after: null, candidates: ['cus_1', 'cus_2'] }],
    ['one by e-mail', { byEmail: [found('cus_1')] }, { outcome: 'suggested', after: null, reason: 'email', candidates: ['cus_1'] }]
  ] as const) t.match(linkItem(account({}), { ...none, ...matches }), wanted, title)
})

t.test('drift is named by kind and field', async t => {
  const snapshot = { id: 'cus_1', object: 'customer', name: 'A', metadata: { x: '1', y: '2' } }
  const linked = account({ pay_customer_id: 'cus_1', pay_customer: snapshot })
  for (const [title, scanned, live, drift, fields] of [
    ['nothing', linked, { metadata: { y: '2', x: '1' }, name: 'A', ...found('cus_1') }, [], []],
    ['a field', linked, { ...snapshot, name: 'B' }, ['differs'], ['name']],
    ['a field more and one less', linked, { ...found('cus_1'), metadata: snapshot.metadata, phone: '1' }, ['differs'], ['name', 'phone']],
    ['only what cannot be stored', linked, { ...snapshot, name: 'A\0' }, [], []],
    ['not there', linked, undefined, ['not_found'], []],
    ['never read', account({ pay_customer_id: 'cus_1' }), snapshot, ['never_synced'], []],
    ['deleted', linked, found('cus_1', { deleted: true }), ['deleted', 'differs'], ['deleted', 'metadata', 'name']]
  ] as const) t.strictSame(driftOf({ account: scanned, duplicate: false, changedByRun: false }, live), { drift, fields }, title)
  t.strictSame(driftOf({ account: linked, duplicate: true, changedByRun: false }, snapshot).drift, ['duplicate'])
})

t.test('Retry-After is seconds or a date', async t => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  for (const [value, ms] of [
    ['2', 2000], ['0.5', 500], ['0', 0], ['-1', 0], ['Thu, 01 Jan 2026 00:00:03 GMT', 3000], ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['999999999', 3_600_000], ['soon', undefined], ['', undefined], [null, undefined]
  ] as const) t.equal(retryAfterFrom(value, now), ms, String(value))
})

t.test('waits grow up to a minute, and half of each is random', async t => {
  for (const [waits, retryAfter, random, ms] of [
    [0, undefined, 0, 125], [0, undefined, 1, 250], [3, undefined, 0.5, 1500], [30, undefined, 0, 30_000], [3000, undefined, 1, 60_000],
    [0, 5000, 0, 5000], [0, 5000, 1, 5125], [4, 10, 0, 2000], [20, 3_600_000, 1, 3_630_000]
  ] as const) t.equal(backoff(waits, retryAfter, random), ms, `${waits} waits`)
})

t.test('a form becomes nested objects', async t => {
  t.strictSame(JSON.parse(JSON.stringify(formFrom('a=1&metadata[account_id]=x&items[0][price][amount]=5&items[1][q]=2&__proto__[x]=1'))), {
    a: '1', metadata: { account_id: 'x' }, items: { 0: { price: { amount: '5' } }, 1: { q: '2' } }, ['__proto__']: { x: '1' }
  })
})

t.test('a table may have any number of rows', async (t) => {
  const lines = table(['a'], Array(200_000).fill(['bb'])).split('\n')
  t.strictSame([lines.length, ...lines.slice(0, 3)], [200_002, 'a', '--', 'bb'])
})
