import t from 'tap'
import { backoff, retryAfterFrom } from '../src/retry.ts'
import { fieldDifferences } from '../src/reconcile/differences.ts'

t.test('differences are paths with both values', async (t) => {
  for (
    const [stored, live, wanted] of [
      [{ a: { b: 1, c: [1] }, d: null }, { d: null, a: { c: [1], b: 1 } }, []],
      [{ a: { b: 1, c: 2 } }, { a: { b: 3, d: null } }, [
        { field: 'a.b', stored: 1, live: 3 },
        { field: 'a.c', stored: 2 }
      ]],
      [{ a: [1, 2] }, { a: [2, 1] }, [{ field: 'a', stored: [1, 2], live: [2, 1] }]],
      [{ a: {} }, { a: 5 }, [{ field: 'a', stored: {}, live: 5 }]],
      [{ a: 'x'.repeat(498) }, { a: ['x'.repeat(600)] }, [{
        field: 'a',
        stored: 'x'.repeat(498),
        live: `["${'x'.repeat(497)}…`
      }]],
      [JSON.parse('{"__proto__":{"a":1}}'), {}, [{ field: '__proto__', stored: { a: 1 } }]],
      [{ constructor: 'x' }, {}, [{ field: 'constructor', stored: 'x' }]],
      [{ ['k'.repeat(300)]: 1 }, {}, [{ field: `${'k'.repeat(199)}…`, stored: 1 }]]
    ]
  ) t.strictSame(fieldDifferences(stored, live), wanted, JSON.stringify(stored).slice(0, 40))
})

t.test('only the fields that count are compared', async (t) => {
  const method = (id: string | null) => ({ invoice_settings: { default_payment_method: id, footer: 'x' } })
  const fields = ['email', 'metadata', 'invoice_settings.default_payment_method']
  for (
    const [title, stored, live, wanted] of [
      ['a field of a new version', { email: 'a' }, { email: 'a', business_name: 'x', tax: { automatic: true } }, []],
      ['a field that is gone', { email: 'a', sources: { data: [] } }, { email: 'a' }, []],
      ['a new field that is null', { metadata: {} }, { metadata: { a: null }, email: null }, []],
      ['everything below a field', { metadata: { a: { b: 1 } } }, { metadata: { a: { b: 2 } } }, [{
        field: 'metadata.a.b',
        stored: 1,
        live: 2
      }]],
      ['one field inside another', method('pm_1'), {
        invoice_settings: { default_payment_method: 'pm_2', footer: 'y' }
      }, [{ field: 'invoice_settings.default_payment_method', stored: 'pm_1', live: 'pm_2' }]],
      ['a field inside one that is gone', method('pm_1'), { invoice_settings: null }, [{
        field: 'invoice_settings.default_payment_method',
        stored: 'pm_1'
      }]],
      ['null inside one that is gone', method(null), {}, []],
      ['a field whose name starts alike', { email_verified: 1 }, { email_verified: 2 }, []]
    ] as const
  ) t.strictSame(fieldDifferences(stored, live, fields), wanted, title)
})

t.test('Retry-After is seconds or a date', async (t) => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  for (
    const [value, ms] of [
      ['2', 2000],
      ['0.5', 500],
      ['0', 0],
      ['-1', 0],
      ['Thu, 01 Jan 2026 00:00:03 GMT', 3000],
      ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
      ['999999999', 3_600_000],
      ['soon', undefined],
      ['', undefined],
      [null, undefined]
    ] as const
  ) t.equal(retryAfterFrom(value, now), ms, String(value))
})

t.test('waits grow up to a minute, and half of each is random', async (t) => {
  for (
    const [waits, retryAfter, random, ms] of [
      [0, undefined, 0, 125],
      [0, undefined, 1, 250],
      [3, undefined, 0.5, 1500],
      [30, undefined, 0, 30_000],
      [3000, undefined, 1, 60_000],
      [0, 5000, 0, 5000],
      [0, 5000, 1, 5125],
      [4, 10, 0, 2000],
      [20, 3_600_000, 1, 3_630_000]
    ] as const
  ) t.equal(backoff(waits, retryAfter, { random }), ms, `${waits} waits`)
})
