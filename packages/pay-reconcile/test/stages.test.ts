import t from 'tap'
import { table } from '../src/cli/table.ts'
import { adminAccountFrom } from '../src/admin/account-routes.ts'
import { customerIdOf, syncedAtOf } from '../src/details.ts'
import type { Account } from '../src/types.ts'
import { backoff, retryAfterFrom } from '../src/provider/backoff.ts'
import { differencesBetween } from '../src/reconcile/differences.ts'
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
  const none = { byAccount: [], byEmail: [], searchRefused: false, providerRequestId: null }
  for (const [title, matches, wanted] of [
    ['nothing found', {}, { outcome: 'unmatched', reason: null }],
    ['nothing found, and not by a search', { searchRefused: true }, { outcome: 'unmatched', reason: 'search_refused' }],
    ['one by metadata', { byAccount: [found('cus_1')] }, { outcome: 'linked', before: null, after: 'cus_1', reason: 'metadata' }],
    ['two by metadata', { byAccount: [found('cus_1'), found('cus_2')] }, { outcome: 'ambiguous', after: null, candidates: [{ customerId: 'cus_1' }, { customerId: 'cus_2' }] }],
    ['one by metadata that another account has', { byAccount: [found('cus_taken')] },
      { outcome: 'ambiguous', after: null, reason: 'linked_to_another_account', candidates: [{ customerId: 'cus_taken', linked: true }] }],
    ['two by e-mail', { byEmail: [found('cus_1', { name: 'n'.repeat(300), email: 'a@example.org' }), found('cus_taken', { name: 5, email: '' })] }, {
      outcome: 'suggested',
      after: null,
      reason: 'email',
      candidates: [
        { customerId: 'cus_1', match: 'email', name: `${'n'.repeat(199)}…`, email: 'a@example.org', linked: false },
        { customerId: 'cus_taken', match: 'email', name: null, email: null, linked: true }
      ]
    }]
  ] as const) t.match(linkItem(account({}), { ...none, ...matches }, new Set(['cus_taken'])), wanted, title)
})

t.test('drift is named by kind and field', async t => {
  const snapshot = { id: 'cus_1', object: 'customer', name: 'A', metadata: { x: '1', y: '2' } }
  const linked = account({ pay_customer_id: 'cus_1', pay_customer: snapshot })
  for (const [title, scanned, live, drift, differences] of [
    ['nothing', linked, { metadata: { y: '2', x: '1' }, name: 'A', ...found('cus_1') }, [], []],
    ['a field', linked, { ...snapshot, name: 'B' }, ['differs'], [{ field: 'name', stored: 'A', live: 'B' }]],
    ['a field more and one less', linked, { ...found('cus_1'), metadata: snapshot.metadata, phone: '1' }, ['differs'], [{ field: 'name', stored: 'A' }, { field: 'phone', live: '1' }]],
    ['only what cannot be stored', linked, { ...snapshot, name: 'A\0' }, [], []],
    ['not there', linked, undefined, ['not_found'], []],
    ['never read', account({ pay_customer_id: 'cus_1' }), snapshot, ['never_synced'], []],
    ['deleted', linked, found('cus_1', { deleted: true }), ['deleted', 'differs'], [{ field: 'deleted', live: true }]],
    ['deleted, as stored', account({ pay_customer_id: 'cus_1', pay_customer: { ...found('cus_1'), deleted: true } }), found('cus_1', { deleted: true }), ['deleted'], []]
  ] as const) t.strictSame(driftOf({ account: scanned, duplicate: false, changedByRun: false }, live), { drift, differences }, title)
  t.strictSame(driftOf({ account: linked, duplicate: true, changedByRun: false }, snapshot).drift, ['duplicate'])
})

t.test('differences are paths with both values', async t => {
  for (const [stored, live, wanted] of [
    [{ a: { b: 1, c: [1] }, d: null }, { d: null, a: { c: [1], b: 1 } }, []],
    [{ a: { b: 1, c: 2 } }, { a: { b: 3, d: null } }, [{ field: 'a.b', stored: 1, live: 3 }, { field: 'a.c', stored: 2 }]],
    [{ a: [1, 2] }, { a: [2, 1] }, [{ field: 'a', stored: [1, 2], live: [2, 1] }]],
    [{ a: {} }, { a: 5 }, [{ field: 'a', stored: {}, live: 5 }]],
    [{ a: 'x'.repeat(498) }, { a: ['x'.repeat(600)] }, [{ field: 'a', stored: 'x'.repeat(498), live: `["${'x'.repeat(497)}…` }]],
    [JSON.parse('{"__proto__":{"a":1}}'), {}, [{ field: '__proto__', stored: { a: 1 } }]],
    [{ constructor: 'x' }, {}, [{ field: 'constructor', stored: 'x' }]],
    [{ ['k'.repeat(300)]: 1 }, {}, [{ field: `${'k'.repeat(199)}…`, stored: 1 }]]
  ]) t.strictSame(differencesBetween(stored, live), wanted, JSON.stringify(stored).slice(0, 40))
})

t.test('only the fields that count are drift', async t => {
  const method = (id: string | null) => ({ invoice_settings: { default_payment_method: id, footer: 'x' } })
  const fields = ['email', 'metadata', 'invoice_settings.default_payment_method']
  for (const [title, stored, live, wanted] of [
    ['a field of a new version', { email: 'a' }, { email: 'a', business_name: 'x', tax: { automatic: true } }, []],
    ['a field that is gone', { email: 'a', sources: { data: [] } }, { email: 'a' }, []],
    ['a new field that is null', { metadata: {} }, { metadata: { a: null }, email: null }, []],
    ['everything below a field', { metadata: { a: { b: 1 } } }, { metadata: { a: { b: 2 } } }, [{ field: 'metadata.a.b', stored: 1, live: 2 }]],
    ['one field inside another', method('pm_1'), { invoice_settings: { default_payment_method: 'pm_2', footer: 'y' } }, [{ field: 'invoice_settings.default_payment_method', stored: 'pm_1', live: 'pm_2' }]],
    ['a field inside one that is gone', method('pm_1'), { invoice_settings: null }, [{ field: 'invoice_settings.default_payment_method', stored: 'pm_1' }]],
    ['null inside one that is gone', method(null), {}, []],
    ['a field whose name starts alike', { email_verified: 1 }, { email_verified: 2 }, []]
  ] as const) t.strictSame(differencesBetween(stored, live, fields), wanted, title)
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
