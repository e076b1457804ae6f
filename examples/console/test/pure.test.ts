import t from 'tap'
import { changesOf } from '../src/api/changes.ts'
import { callAs, readAll } from '../src/api/http.ts'
import { inTurn } from '../src/api/in-turn.ts'
import { merge } from '../src/api/merge.ts'
import { ApiError, saidIn } from '../src/api/problem.ts'
import { endedOf, endOf, endsSoon } from '../src/agents/key.ts'
import { callsByDay } from '../src/agents/key-use.ts'
import { toolFrom } from '../src/agents/tool.ts'
import { affectedText, byDay, changedFields, valueText } from '../src/activity/entry.ts'
import { whoFrom } from '../src/activity/who.ts'
import { workText } from '../src/activity/work.ts'
import { csvFrom } from '../src/catalog/csv.ts'
import { typeOfFile } from '../src/catalog/import.ts'
import { inForceAt, nextChange, stepsOf } from '../src/catalog/price-line.ts'
import { type Category, familyOf, movesTo, pathsOf } from '../src/catalog/tree.ts'
import { instantFrom, localFrom } from '../src/catalog/zoned.ts'
import { i18nProvider } from '../src/i18n.ts'
import {
  amountFrom,
  amountText,
  inCurrency,
  moneyText,
  numberFrom,
  numberText,
  priceText,
  wholeNumberFrom
} from '../src/money.ts'
import { remediesFor, whoOf } from '../src/reconcile/run.ts'
import { type Account, differencesOf, mailtoOf, nameOf, telOf } from '../src/sales/account.ts'
import { afterRest, type Hold, holdAfterPop, restOf } from '../src/layout/hold.ts'
import { isolated } from '../src/isolated.ts'
import { texts } from '../src/texts.ts'
import { agoText, countText, exactRangeText, riseText, timeText } from '../src/times.ts'
import { refuseHtml } from '../src/trusted-types.ts'
import { daysOf, reachedOf } from '../src/usage/usage.ts'

/** Of every script. */
const LOCALES = [
  ...['en', 'en-IN', 'en-ZA', 'de', 'de-AT', 'de-CH', 'fr', 'fr-CH', 'es', 'es-CR', 'pt-PT', 'pl', 'sv', 'bg', 'nb'],
  ...['ar', 'ar-EG', 'ar-KW', 'fa', 'fa-IR', 'ur', 'ckb', 'he', 'hi', 'hi-IN-u-nu-deva', 'bn', 'mr', 'ne', 'my'],
  ...['th-u-nu-thai', 'ja', 'ko', 'dz', 'ff-Adlm']
]

t.test('what people type is an amount in minor units, or none', async (t) => {
  for (
    const [text, currency, locale, amount] of [
      ['19.99', 'EUR', 'en', 1999],
      ['19,99', 'EUR', 'en', 1999],
      ['19,9', 'EUR', 'de', 1990],
      ['19', 'EUR', 'de', 1900],
      ['12.50', 'EUR', 'de-DE', 1250],
      ['12.50', 'EGP', 'ar-EG', 1250],
      ['12,50', 'USD', 'en-US', 1250],
      [' 1 999,50 ', 'EUR', 'fr', 199950],
      ["1'999.50", 'CHF', 'de-CH', 199950],
      ['1’999.50', 'CHF', 'de-CH', 199950],
      ['1.999,50', 'EUR', 'de', 199950],
      ['1,999.50', 'EUR', 'de', 199950],
      ['1.999,50', 'USD', 'en', 199950],
      ['1.999', 'EUR', 'de', 199900],
      ['1.999', 'EUR', 'en', undefined],
      ['1,999', 'EUR', 'en', 199900],
      ['1,999', 'EUR', 'de', undefined],
      ['1,999', 'CHF', 'de-CH', undefined],
      ['0,999', 'EUR', 'en', undefined],
      ['12 50', 'EUR', 'en', undefined],
      ['1999', 'JPY', 'ja-JP', 1999],
      ['1,999', 'JPY', 'ja-JP', 1999],
      ['１９９９円', 'JPY', 'ja-JP', undefined],
      ['￥１，９９９', 'JPY', 'ja-JP', 1999],
      ['1.5', 'JPY', 'en', undefined],
      ['1.234', 'KWD', 'en', 1234],
      ['١٫٢٣٤', 'KWD', 'ar-KW', 1234],
      ['1.234', 'KWD', 'ar-KW', 1234],
      ['١٢٫٥٠', 'EGP', 'ar-EG', 1250],
      ['۱٬۲۳۴', 'IRR', 'fa-IR', 1234],
      ['12,34,567.50', 'INR', 'hi', 123456750],
      ['१२.५०', 'INR', 'hi', 1250],
      ['12.50 EUR', 'EUR', 'en', 1250],
      ['', 'EUR', 'en', null],
      ['€', 'EUR', 'de', undefined],
      ['19.999,9.9', 'EUR', 'en', undefined],
      ['-1', 'EUR', 'en', undefined],
      ['1e3', 'EUR', 'en', undefined],
      ['abc', 'EUR', 'en', undefined],
      ['1.234.5', 'EUR', 'en', undefined],
      ['90071992547409.92', 'EUR', 'en', undefined]
    ] as const
  ) t.equal(amountFrom(text, currency, locale), amount, `${text} ${currency} ${locale}`)
})

t.test('what a shop is shown can be typed there, in every script', async (t) => {
  for (const locale of LOCALES) {
    for (const currency of ['EUR', 'USD', 'JPY', 'KWD', 'EGP', 'IRR', 'CHF', 'INR']) {
      for (const amount of [0, 5, 1999, 123456789, Number.MAX_SAFE_INTEGER]) {
        const wrong = [amountText(amount, currency, locale), moneyText(amount, currency, locale)].filter((text) =>
          amountFrom(text, currency, locale) !== amount
        )
        t.strictSame(wrong, [], `${amount} ${currency} ${locale}`)
      }
    }
    for (const number of [0, 0.1, -5.25, 1234567.891]) {
      t.equal(numberFrom(numberText(number, locale), locale), number, `${number} ${locale}`)
    }
  }
  t.equal(numberFrom('2,5', 'de'), 2.5)
  t.equal(numberFrom('2.5', 'de'), 2.5)
  t.equal(numberFrom('', 'de'), undefined)
  t.strictSame(
    ['1000', '1.000', '1000,0', '-3', '', 'x', '12345678901234567'].map((text) => wholeNumberFrom(text, 'de')),
    [1000, 1000, undefined, -3, undefined, undefined, undefined]
  )
  t.strictSame(['1,000', '1.000', '1.0'].map((text) => wholeNumberFrom(text, 'en')), [1000, undefined, undefined])
})

t.test('the digits of an amount stay in another currency, or it is no amount there', async (t) => {
  for (
    const [amount, from, to, other] of [
      [1999, 'JPY', 'USD', 199900],
      [1999, 'USD', 'JPY', undefined],
      [2000, 'USD', 'JPY', 20],
      [1999, 'KWD', 'USD', undefined],
      [1990, 'KWD', 'USD', 199],
      [5, 'EUR', 'USD', 5],
      [null, 'USD', 'JPY', null]
    ] as const
  ) t.equal(inCurrency(amount, from, to), other, `${amount} ${from} in ${to}`)
})

t.test('amounts are written as people write them, whatever their size', async (t) => {
  t.equal(amountText(1999, 'EUR', 'de'), '19,99')
  t.equal(amountText(Number.MAX_SAFE_INTEGER, 'USD', 'en'), '90071992547409.91')
  t.equal(amountText(null, 'USD', 'en'), '')
  t.equal(moneyText(1999, 'JPY', 'en'), '¥1,999')
  t.strictSame(
    ['1.234 KWD', '1234.500 KWD', '1500 JPY', '0.05 EUR'].map((price) =>
      priceText(price, 'de').replaceAll('\u00a0', ' ')
    ),
    ['1,234 KWD', '1.234,500 KWD', '1.500 ¥', '0,05 €']
  )
  t.equal(moneyText(5, 'USD', 'no locale at all'), '$0.05')
})

t.test('times are in the zone of the shop, also those that are typed', async (t) => {
  t.equal(localFrom('2026-07-01T12:00:00Z', 'Europe/Zurich'), '2026-07-01T14:00')
  t.equal(instantFrom('2026-07-01T14:00', 'Europe/Zurich'), '2026-07-01T12:00:00.000Z')
  t.equal(instantFrom('2026-01-01T00:30', 'America/New_York'), '2026-01-01T05:30:00.000Z')
  t.equal(instantFrom('', 'UTC'), null)
  // Before, in and after the hours that a clock skips and repeats; what is read is what was typed, if there is such a
  // time.
  for (
    const [local, instant, shown = local] of [
      ['2026-03-29T01:30', '2026-03-29T00:30'],
      ['2026-03-29T02:30', '2026-03-29T01:30', '2026-03-29T03:30'],
      ['2026-03-29T03:30', '2026-03-29T01:30'],
      ['2026-10-25T01:30', '2026-10-24T23:30'],
      ['2026-10-25T02:30', '2026-10-25T01:30'],
      ['2026-10-25T03:30', '2026-10-25T02:30']
    ] as const
  ) {
    t.equal(instantFrom(local, 'Europe/Zurich'), `${instant}:00.000Z`, local)
    t.equal(localFrom(`${instant}:00Z`, 'Europe/Zurich'), shown, instant)
  }
  t.match(timeText('2026-01-01T00:30:00Z', { locale: 'en', timeZone: 'no zone' }), /12:30/)
  for (const locale of ['de-CH', 'ja-JP', 'ar-EG']) {
    t.match(
      timeText('2026-12-24T11:30:00Z', { locale, timeZone: 'UTC' }),
      /Dec/,
      `pages are in English, also in ${locale}`
    )
    t.equal(agoText('2026-01-01T00:00:00Z', { locale }, Date.parse('2026-01-03T01:00:00Z')), '2 days ago')
  }
  t.equal(agoText('2026-01-01T00:00:00Z', { locale: 'en' }, Date.parse('2026-01-03T01:00:00Z')), '2 days ago')
})

t.test('a PATCH has what differs', async (t) => {
  t.strictSame(
    changesOf({ a: 1, b: [1, { c: 2, d: 3 }], e: null, f: 1 }, { a: 1, b: [1, { d: 3, c: 2 }], e: 'x', f: undefined }),
    { e: 'x' }
  )
  t.strictSame(changesOf({ a: [1, 2] }, { a: [2, 1] }), { a: [2, 1] })
})

t.test('an error about a field says so there, any other does not', async (t) => {
  const conflict = new ApiError(409, { field: 'attributes/0/value', message: 'must be a number' }, 'r1')
  t.strictSame(conflict.body, { errors: { attributes: { 0: { value: 'must be a number' } } } })
  for (
    const [field, message, sentence] of [
      [
        'price_amount',
        'price_amount must be a whole number, not text. In minor units',
        'Price must be a number such as 12.50'
      ],
      ['attributes/0/value', 'attributes/0/value must be a number', 'Value must be a number such as 12.50'],
      ['sku', 'sku is taken by another product', 'SKU is taken by another product'],
      ['min_quantity', 'min_quantity must be >= 1', 'From quantity must be >= 1'],
      ['time_zone', 'time_zone must be a time zone', 'Time zone must be a time zone'],
      ['name', 'Enter a name', 'Enter a name']
    ] as const
  ) t.equal(new ApiError(422, { field, message }, 'r1').atField, sentence)
  t.equal(new ApiError(500, { message: 'It failed.' }, 'r2').message, 'It failed (request r2)')
  t.match(
    new ApiError(404, { message: 'No product 7ac74c5a-8e90-47df-b4b5-739e28a4682b' }, 'r3').message,
    /^This product is not there any more: [^0-9]+$/
  )
  t.strictSame(new ApiError(403, { field: 'name', message: 'no' }).body, {})
})

t.test('a few at a time; after a failure nothing new starts', async (t) => {
  let running = 0
  let most = 0
  const done: number[] = []
  await inTurn([1, 2, 3, 4, 5], 2, async (item) => {
    most = Math.max(most, ++running)
    await null
    done.push(item)
    running--
  })
  t.strictSame([most, done], [2, [1, 2, 3, 4, 5]])
  const started: number[] = []
  const failing = inTurn([1, 2, 3, 4], 1, async (item) => {
    started.push(item)
    if (item === 2) throw new Error('two')
  })
  await t.rejects(failing, { message: 'two', done: [1], failures: [{ message: 'two' }] })
  t.strictSame(started, [1, 2])
})

t.test('no cell of a CSV file is a formula', async (t) => {
  for (const text of ['=1+1', '+1', '-x', '@SUM(A1)', '\t=1', ' =1', '＝1', '\n=1', '\r=1', "'=1"]) {
    t.match(csvFrom(['a'], [{ a: text }]).split('\r\n')[1], /^"'/, text)
  }
  t.equal(
    csvFrom(['a', 'b'], [{ a: 'say "hi", twice', b: -5 }, { a: null, b: ['x'] }]),
    '"a","b"\r\n"say ""hi"", twice","-5"\r\n,"[""x""]"\r\n'
  )
})

const category = (id: string, parent: string | null, position: number): Category => ({
  id,
  name: id.toUpperCase(),
  slug: id,
  description: null,
  parent_id: parent,
  position,
  updated_at: '2026-01-01T00:00:00.000Z'
})
const tree = [
  category('a', null, 0),
  category('b', null, 1),
  category('c', null, 2),
  category('a1', 'a', 0),
  category('a2', 'a', 0),
  category('lost', 'gone', 0)
]

t.test('categories are a tree, and moving one names what changes', async (t) => {
  t.strictSame(pathsOf(tree).map(({ path }) => path), ['A', 'A › A1', 'A › A2', 'LOST', 'B', 'C'])
  t.strictSame([...familyOf(tree, 'a')].sort(), ['a', 'a1', 'a2'])
  t.strictSame([...familyOf([category('deep', 'a1', 0), ...tree.toReversed()], 'a')].sort(), ['a', 'a1', 'a2', 'deep'])
  t.strictSame(movesTo(tree, 'c', null, 0), [{ id: 'c', changes: { position: 0 } }, {
    id: 'a',
    changes: { position: 1 }
  }, { id: 'b', changes: { position: 2 } }])
  t.strictSame(movesTo(tree, 'b', 'a', Infinity), [
    { id: 'a2', changes: { position: 1 } },
    { id: 'b', changes: { parent_id: 'a', position: 2 } }
  ])
  t.strictSame(movesTo(tree, 'a', 'a1', 0), [], 'not below itself')
  t.strictSame(movesTo(tree, 'a', null, 0), [], 'it stands there')
})

t.test('the price of one piece is that in force which started last, or its own', async (t) => {
  const price = (amount: number, from: string | null, to: string | null, more: object = {}) => ({
    id: String(amount),
    amount,
    updated_at: '2026-01-01T00:00:00.000Z',
    currency: 'EUR',
    min_quantity: 1,
    valid_from: from,
    valid_to: to,
    ...more
  })
  const at = (day: number) => Date.UTC(2026, 0, day)
  const day = (day: number) => new Date(at(day)).toISOString()
  const prices = [
    price(900, null, day(20)),
    price(500, day(5), day(10)),
    price(1, day(5), null, { min_quantity: 10 }),
    price(2, day(5), null, { currency: 'USD' })
  ]
  t.strictSame(stepsOf(1000, 'EUR', prices, at(1), at(31)), [{ at: at(1), amount: 900 }, { at: at(5), amount: 500 }, {
    at: at(10),
    amount: 900
  }, { at: at(20), amount: 1000 }])
  t.strictSame(stepsOf(null, 'EUR', [], at(1), at(31)), [{ at: at(1), amount: null }])

  const inForce = (at: number) => inForceAt(prices, at).map(({ amount }) => amount)
  t.strictSame(inForce(at(5) - 1), [900])
  t.strictSame(inForce(at(5)), [500, 1, 2], 'the one that started first waits')
  t.strictSame(inForce(at(10)), [900, 1, 2])
  t.strictSame(inForce(at(20)), [1, 2], 'none of one piece in EUR')
  t.strictSame(
    inForceAt([price(900, day(1), null), price(800, day(3), null), price(700, null, null)], at(4)).map((
      { amount }
    ) => amount),
    [800]
  )
  t.equal(nextChange(prices, at(5)), at(10))
  t.equal(nextChange(prices, at(20)), undefined, 'open ends never come')
})

t.test('what of an account is another at the payment provider, and what is the same', async (t) => {
  const account: Account = {
    id: 'a',
    name: 'Ana Silva',
    hash_name: null,
    details: { email: 'ana@example.com', phone: 5 },
    created_at: '2026-01-01T00:00:00.000Z'
  }
  t.strictSame(differencesOf(account, { name: 'Ana Silva', email: 'ANA@example.com ', phone: null }), [])
  t.strictSame(differencesOf(account, { name: 'Ana Souza', email: null, phone: '+41 44 000 00 00' }), [
    { field: 'name', here: 'Ana Silva', there: 'Ana Souza' },
    { field: 'email', here: 'ana@example.com', there: undefined },
    { field: 'phone', here: undefined, there: '+41 44 000 00 00' }
  ])
  t.equal(nameOf(account), 'Ana Silva')
  t.equal(nameOf({ ...account, name: ' ' }), 'ana@example.com')
})

t.test('only what is an address or a number leads to a letter or a call', async (t) => {
  t.equal(mailtoOf('ana+1&x@example.com'), 'mailto:ana%2B1%26x@example.com')
  t.equal(mailtoOf('ask at the desk'), undefined)
  t.equal(telOf('+41 (0)44 000-00'), 'tel:+414400000')
  t.equal(telOf('ask at the desk'), undefined)
})

t.test('entries are grouped by their days in the zone of the shop', async (t) => {
  t.strictSame(byDay([{ at: '2026-01-02T23:30:00Z' }], 'Europe/Zurich').map(([day]) => day), ['2026-01-03'])
})

t.test('the calls of a key are counted by the days of the shop, also those without one', async (t) => {
  const now = Date.parse('2026-11-26T15:30:00Z')
  const hours = [
    { hour: '2026-11-12T15:00:00.000Z', calls: 9, errors: 9 },
    { hour: '2026-11-25T14:00:00.000Z', calls: 2, errors: 1 },
    { hour: '2026-11-25T15:00:00.000Z', calls: 3, errors: 0 },
    { hour: '2026-11-26T14:00:00.000Z', calls: 4, errors: 2 }
  ]
  for (
    const [zone, last] of [['UTC', [['2026-11-25', 5, 1], ['2026-11-26', 4, 2]]], ['Asia/Tokyo', [
      ['2026-11-26', 7, 2],
      ['2026-11-27', 0, 0]
    ]], ['Pacific/Honolulu', [['2026-11-25', 5, 1], ['2026-11-26', 4, 2]]]] as const
  ) {
    const days = callsByDay(hours, zone, now)
    t.equal(days.length, 14)
    t.strictSame(days.slice(-2).map(({ day, calls, errors }) => [day, calls, errors]), last, zone)
    t.equal(days.slice(0, -3).reduce((sum, { calls }) => sum + calls, 0), 0, 'without what is older')
  }
})

t.test('values of the history are text', async (t) => {
  t.equal(valueText('<b>'), '<b>')
  t.equal(valueText(null), '—')
  t.equal(valueText(['a', 'b']), 'a, b')
  t.equal(valueText({}), '—')
  t.equal(valueText({ a: 1 }), '{\n "a": 1\n}')
  const writing = {
    money: (amount: number) => `${amount} cents`,
    nameOf: (id: string) => ({ t1: 'Gift', a1: 'Volume' })[id],
    unitOf: () => 'L',
    manner: { locale: 'de', timeZone: 'Europe/Berlin' }
  }
  t.equal(valueText(1999, 'price_amount', writing), '1999 cents')
  t.equal(valueText(3.5, 'position', writing), '3,5')
  t.equal(
    valueText(['t1', '0f0e0d0c-0000-4000-8000-000000000000'], 'tag_ids', writing),
    'Gift, 0f0e0d0c',
    'names in place of ids, where there are any'
  )
  t.equal(valueText([{ attribute_id: 'a1', value: 1.5 }], 'attributes', writing), 'Volume: 1,5 L')
  t.equal(valueText(['/a,b', '/c'], 'image_urls', writing), '/a,b\n/c')
  t.equal(valueText('draft', 'status'), 'Draft')
  t.match(valueText('2026-01-01T00:00:00.000Z', 'valid_from', writing), /^1 Jan 2026, 1:00/)
  t.equal(
    changedFields({
      action: 'update',
      record_kind: 'product',
      changes: { price_amount: { before: 1, after: 2 }, some_field: { before: 1, after: 2 } }
    }),
    'Price, some field'
  )
})

t.test('a key has an end, and says when it is near', async (t) => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  t.equal(endOf('week', '', 'UTC', now), '2026-01-08T00:00:00.000Z')
  t.equal(
    endOf('date', '2026-12-31', 'America/Chicago', now),
    '2027-01-01T05:59:59.000Z',
    'the end of the day where the shop is'
  )
  for (
    const [date, zone, end] of [
      ['2026-03-29', 'Europe/Berlin', '2026-03-29T21:59:59.000Z'],
      ['2026-10-25', 'Europe/Berlin', '2026-10-25T22:59:59.000Z'],
      // Clocks that change at midnight: 23:59 comes twice, 00:00 does not come, 00:00 comes twice.
      ['2026-04-04', 'America/Santiago', '2026-04-05T03:59:59.000Z'],
      ['2026-09-05', 'America/Santiago', '2026-09-06T03:59:59.000Z'],
      ['2026-10-31', 'America/Havana', '2026-11-01T03:59:59.000Z']
    ] as const
  ) t.equal(endOf('date', date, zone, now), end, `the whole of ${date} in ${zone}`)
  t.equal(endOf('date', '', 'UTC', now), undefined)
  t.equal(endOf('never', '', 'UTC', now), null)
  t.ok(endsSoon({ status: 'active', expires_at: '2026-01-10T00:00:00Z' }, now))
  t.notOk(endsSoon({ status: 'revoked', expires_at: '2026-01-10T00:00:00Z' }, now))
  t.notOk(endsSoon({ status: 'active', expires_at: null }, now))
  t.notOk(endsSoon({ status: 'active', expires_at: '2026-03-01T00:00:00Z' }, now))
})

t.test('a tool is one that reads, writes or deletes', async (t) => {
  t.equal(toolFrom({ name: 'list_tags', annotations: { readOnlyHint: true } }).kind, 'reads')
  t.equal(toolFrom({ name: 'update_tag', annotations: { destructiveHint: true } }).kind, 'writes')
  t.equal(toolFrom({ name: 'delete_tag', annotations: { destructiveHint: true } }).kind, 'deletes')
})

t.test('what a run found says what can be done', async (t) => {
  const found = { differences: [], outcome: 'different', after: 'cus_1', candidates: [] }
  t.strictSame(remediesFor({ ...found, differences: ['differs'] }), ['sync'])
  t.strictSame(remediesFor({ ...found, differences: ['not_found'] }), ['unlink'])
  t.strictSame(remediesFor({ ...found, differences: ['missing'], after: null }), ['find'])
  const candidate = { pay_customer_id: 'cus_2', match: 'email', name: null, email: null, linked: false }
  t.strictSame(remediesFor({ ...found, outcome: 'suggested', after: null, candidates: [candidate] }), ['link'])
  t.strictSame(
    remediesFor({ ...found, outcome: 'suggested', after: null, candidates: [{ ...candidate, linked: true }] }),
    []
  )
})

t.test('no string becomes HTML', async (t) => {
  let rules: { createHTML: (text: string) => string } | undefined
  refuseHtml({
    trustedTypes: {
      createPolicy: (_name, given) => {
        rules = given
      }
    }
  })
  t.equal(rules!.createHTML('&#8203;'), '&#8203;')
  t.throws(() => rules!.createHTML('<img src=x onerror=alert(1)>'), TypeError)
  refuseHtml({})
})

t.test('a read that a busy server refuses is tried again; a write is not, and the refusal is shown', async (t) => {
  const asked: string[] = []
  const answers = [503, 200, 503]
  t.intercept(globalThis, 'fetch', {
    value: async (_url: string, { method }: RequestInit) => {
      asked.push(String(method))
      const body = '{"message":"busy","code":"SHOP_OVERLOADED"}'
      return new Response(body, { status: answers.shift()!, headers: { 'retry-after': '0.01' } })
    }
  })
  t.intercept(globalThis, 'navigator', { value: { onLine: true } })
  const call = callAs({ token: async () => 'token' } as never)
  t.equal((await call('/shops')).status, 200)
  await t.rejects(call('/shops', { method: 'POST', data: {} }), { status: 503, message: 'busy' })
  t.strictSame(asked, ['GET', 'GET', 'POST'])
})

t.test('a write that did not end well says whether it was done, and a read only why it failed', async (t) => {
  const broken = () =>
    new ReadableStream({
      start: (stream) => {
        stream.error(new TypeError('network error'))
      }
    })
  const cut = (status: number) => new Response(broken(), { status })
  const json = (status: number, body: object) => () => new Response(JSON.stringify(body), { status })
  const open = 'It may have been done all the same: look whether it was before you repeat it.'
  const late = 'It may still be under way: wait a little, then look whether it was done before you repeat it.'
  const done = 'It was done: do not repeat it, but load the page again to see it.'
  const unreadable = 'The server sent something unexpected, with status'
  let answer: () => Response = () => {
    throw new TypeError('Failed to fetch')
  }
  t.intercept(globalThis, 'fetch', { value: async () => answer() })
  t.intercept(globalThis, 'navigator', { value: { onLine: true } })
  let token = async () => 'token'
  const call = callAs({ token: async () => await token() } as never)
  const error = async (request: object) => {
    const made = call('/tags', { method: 'POST', data: {}, ...request })
    return await made.then(() => undefined, ({ message, outcome }) => [outcome, message])
  }
  const lost = 'The connection was lost before the server answered'
  for (
    const [name, given, outcome, message] of [
      ['no answer', answer, 'open', `${lost}. ${open}`],
      ['a body of success that is cut off', () => cut(201), 'done', `The answer of the server was cut off. ${done}`],
      ['a body of refusal that is cut off', () => cut(409), 'refused', `${unreadable} 409`],
      ['a page of the network', () => new Response('<p>Sign in to this Wi-Fi'), 'open', `${unreadable} 200. ${open}`],
      ['a mistake', json(422, { message: 'name is too long' }), 'refused', 'name is too long'],
      ['a busy server', json(503, { message: 'Overloaded', code: 'SHOP_OVERLOADED' }), 'refused', 'Overloaded'],
      ['a lost database', json(503, { message: 'No database.' }), 'open', `No database. ${open}`],
      ['a fault', json(500, { message: 'It failed' }), 'open', `It failed. ${open}`],
      ['a proxy that waited', () => new Response('<p>504', { status: 504 }), 'late', `${unreadable} 504. ${late}`]
    ] as const
  ) {
    answer = given
    t.strictSame(await error({}), [outcome, message], name)
  }
  answer = () => {
    throw new TypeError('Failed to fetch')
  }
  t.match(await error({ isRead: true }), ['refused', /^The server cannot be reached/], 'a preview')
  answer = json(500, { message: 'It failed' })
  t.strictSame(await error({ isRead: true }), ['refused', 'It failed'])
  token = async () => {
    throw new TypeError('Failed to fetch')
  }
  t.match(await error({}), ['not sent', /nothing was sent/], 'a token that cannot be renewed')
  t.intercept(globalThis, 'navigator', { value: { onLine: false } })
  token = async () => 'token'
  answer = json(201, {})
  t.match(await error({}), ['not sent', /nothing was sent/], 'a browser that is offline sends nothing')
})

t.test('a read names the version that it has, and is told when that is the same', async (t) => {
  t.intercept(globalThis, 'navigator', { value: { onLine: true } })
  const asked: Array<string | undefined> = []
  t.intercept(globalThis, 'fetch', {
    value: async (_url: string, { headers }: { headers: Record<string, string> }) => {
      const tag = headers['if-none-match']
      asked.push(tag)
      return tag === '"2"'
        ? new Response(null, { status: 304 })
        : new Response(JSON.stringify({ n: asked.length }), { headers: { etag: `"${asked.length}"` } })
    }
  })
  const call = callAs({ token: async () => 'token' } as never)
  t.strictSame([(await call('/a')).json, (await call('/a')).json, (await call('/a')).json], [
    { n: 1 },
    { n: 2 },
    { n: 2 }
  ])
  await call('/a', { method: 'DELETE' })
  for (let n = 0; n < 31; n++) await call(`/${n}`)
  t.strictSame((await call('/a')).json, { n: 36 }, 'and keeps the latest few')
  t.strictSame(asked.slice(0, 4), [undefined, '"1"', '"2"', undefined])
})

t.test('work is of a kind, a key, a person, or everybody', async (t) => {
  for (
    const [text, who] of [
      [null, {}],
      ['agents', { actor_kind: 'api-key' }],
      ['imports', { operation: 'import_products' }],
      ['user:7', { actor_kind: 'user', actor_id: '7' }],
      ['api-key:a:b', { actor_kind: 'api-key', actor_id: 'a:b' }],
      ['user:', {}],
      ['constructor', {}],
      ['shop:1', {}]
    ] as const
  ) t.strictSame(whoFrom(text), who, String(text))
  const work = {
    actor_kind: 'user',
    actor_id: '7',
    actor_name: 'Kim',
    by_tool: false,
    operation: null,
    started_at: '',
    ended_at: '',
    changes: 61,
    revertible: 61,
    records: [
      { action: 'update' as const, record_kind: 'product', count: 60, records: 50 },
      { action: 'create' as const, record_kind: 'tag', count: 1, records: 1 }
    ],
    prices: { count: 50, lowest: 5, highest: 5 }
  }
  t.equal(workText(work, 'en'), 'changed 50 products, created 1 tag, prices +5 %')
  t.equal(
    workText({ ...work, operation: 'import_products', prices: null }, 'en'),
    'imported a file: changed 50 products, created 1 tag'
  )
  const settings = { action: 'update' as const, record_kind: 'shop_config', count: 3, records: 1 }
  t.equal(
    workText({ ...work, records: [settings, { ...work.records[0]!, records: 12_345 }] }, 'ar-EG'),
    'changed the settings, changed 12,345 products, prices +5 %',
    'in one kind of digits'
  )
  t.equal(affectedText({ products: 1, categories: 2, orders: 0 }, 'ar-EG'), '1 product, 2 categories, 0 orders')
  t.strictSame(LOCALES.filter((locale) => !/^12\D?345$/.test(countText(12_345, locale))), [])
})

t.test('a token that ends early is renewed once, and a list is read over pages that end early', async (t) => {
  const pages = [[401, ''], [200, 'products 0-2/3', ['a', 'b']], [200, 'products 2-3/3', ['c']]] as const
  const asked: string[] = []
  t.intercept(globalThis, 'fetch', {
    value: async (url: string, { headers }: { headers: Record<string, string> }) => {
      const [status, range, rows] = pages[asked.push(`${url} ${headers['authorization']}`) - 1]!
      return new Response(JSON.stringify(rows ?? {}), { status, headers: { 'content-range': range } })
    }
  })
  let token = 'old'
  const call = callAs({
    token: async (refused: string | undefined) => {
      if (refused === token) token = 'new'
      return token
    }
  } as never)
  t.strictSame(await readAll(call, '/products'), { rows: ['a', 'b', 'c'], total: 3 })
  t.strictSame(asked, [
    '/products?skip=0&limit=200 Bearer old',
    '/products?skip=0&limit=200 Bearer new',
    '/products?skip=2&limit=200 Bearer new'
  ])
})

t.test('a file is a list of products by the end of its name', async (t) => {
  for (
    const [name, type] of [['PRODUCTS.CSV', 'text/csv'], ['a.b.jsonl', 'application/x-ndjson'], [
      'list.xlsx',
      undefined
    ], ['csv', undefined]] as const
  ) t.equal(typeOfFile(name), type, name)
})

t.test('a name within a sentence keeps its direction to itself', async (t) => {
  t.equal(isolated('Copper Kettle'), 'Copper Kettle')
  t.equal(isolated('Invoice \u202egnp.exe'), '\u2068Invoice \u202egnp.exe\u2069')
  t.equal(
    isolated('\u05e9\u05dc\u05d5\u05dd \u2069end'),
    '\u2068\u05e9\u05dc\u05d5\u05dd end\u2069',
    'and cannot end it itself'
  )
})

t.test('what was typed is merged with what others have changed', async (t) => {
  const before = {
    name: 'Mug',
    sku: 'M-1',
    tag_ids: ['a', 'b'],
    image_urls: ['/a', '/b'],
    price_amount: 100,
    currency: 'EUR'
  }
  for (
    const [mine, theirs, changes, clashing] of [
      [{ name: 'Cup' }, { sku: 'M-2' }, { name: 'Cup' }, []],
      [{ name: 'Cup' }, { name: 'Cup' }, {}, []],
      [{ name: 'Cup' }, { name: 'Beaker', sku: 'M-2' }, {}, [['name']]],
      [{ tag_ids: ['b', 'c'] }, { tag_ids: ['a', 'b', 'd'] }, { tag_ids: ['b', 'd', 'c'] }, []],
      [{ tag_ids: ['a'] }, { tag_ids: ['a'] }, {}, []],
      [{ image_urls: ['/b', '/a'] }, { image_urls: ['/a', '/b', '/c'] }, {}, [['image_urls']]],
      [{ price_amount: 200 }, { currency: 'JPY' }, {}, [['price_amount', 'currency']]],
      [{ price_amount: 200 }, { price_amount: 200 }, {}, []],
      [{ price_amount: 200, name: 'Cup' }, { sku: null }, { price_amount: 200, name: 'Cup' }, []]
    ] as const
  ) {
    const merged = merge(before, mine, { ...before, ...theirs })
    t.strictSame(
      [merged.changes, merged.clashes.map(({ fields }) => fields)],
      [changes, clashing],
      JSON.stringify([mine, theirs])
    )
  }
  t.match(merge(before, { price_amount: 200 }, { ...before, currency: 'JPY' }).clashes, [{
    mine: { price_amount: 200, currency: 'EUR' },
    theirs: { price_amount: 100, currency: 'JPY' }
  }])
})

t.test("react-admin's phrases are filled in, in the number that is meant", async (t) => {
  const { translate } = i18nProvider
  for (
    const [key, options, said] of [
      ['ra.action.save', {}, 'Save'],
      ['ra.notification.deleted', { smart_count: 1 }, 'Element deleted'],
      ['ra.notification.deleted', { smart_count: 3 }, '3 elements deleted'],
      ['ra.notification.deleted', { smart_count: 0 }, '0 elements deleted'],
      ['resources.products.fields.sku', {}, 'SKU'],
      ['resources.products.name', { smart_count: 2, _: 'none' }, texts.names.products.name.split(' |||| ')[1]!],
      ['no.such.phrase', { _: 'Otherwise %{a}', a: '$&' }, 'Otherwise $&'],
      ['A sentence. With %{b}', {}, 'A sentence. With %{b}'],
      ['ra.action', {}, 'ra.action'],
      ['', {}, '']
    ] as const
  ) t.equal(translate(key, options), said, key)
})

t.test('usage has today and the days with calls before it, and says what has reached its limit', async (t) => {
  const usage = {
    since: '2026-11-14',
    resets_at: '2026-11-28T00:00:00.000Z',
    limits: { calls_per_day: 5, writes_per_day: 3, imports_per_day: null, updated_at: '' },
    today: { calls: 5, writes: 2, imports: 9 }
  }
  const days = ['2026-11-20', '2026-11-26', '2026-11-27'].map((day) => ({ day, ...usage.today }))
  for (const known of [days, days.slice(0, 2)]) {
    t.strictSame(daysOf({ ...usage, days: known }).map(({ day }) => day), ['2026-11-27', '2026-11-26', '2026-11-20'])
  }
  t.strictSame(reachedOf({ ...usage, days }), ['calls'])
})

t.test('a history that may not move is sent back from where it rests, and asks once it is there', async (t) => {
  // The form is at 5; a number is the entry that the browser comes to.
  for (
    const [title, events, expected] of [
      ['Back', [4, 'rest', 5, 'rest'], ['go 1', 'ask -1']],
      ['Forward', [6, 'rest', 5, 'rest'], ['go -1', 'ask 1']],
      ['Back twice at once', [4, 3, 'rest', 5, 'rest'], ['go 2', 'ask -2']],
      ['Back twice, the second while it is sent back', [4, 'rest', 3, 'rest', 5, 'rest'], ['go 1', 'go 2', 'ask -1']],
      ['the second before the answer to that', [4, 'rest', 3, 4, 'rest', 5, 'rest'], ['go 1', 'go 1', 'ask -1']],
      ['sent too far', [4, 'rest', 3, 6, 'rest', 5, 'rest'], ['go 1', 'go -1', 'ask -1']],
      ['a step that the browser dropped', [4, 'rest', 'rest', 5, 'rest'], ['go 1', 'go 1', 'ask -1']],
      ['Back and Forward at once', [4, 5, 'rest'], []]
    ] as const
  ) {
    let hold: Hold | undefined
    let at = 5
    const done: string[] = []
    for (const event of events) {
      if (event === 'rest') {
        const rest = afterRest(hold!, at)
        hold = rest.hold
        if (rest.go !== undefined) done.push(`go ${rest.go}`)
        if (rest.ask !== undefined) done.push(`ask ${rest.ask}`)
      } else hold = holdAfterPop(hold, 5, at = event)
    }
    t.strictSame([done, hold], [expected, undefined], title)
  }
  t.strictSame([0, 1, 2, 9].map((tries) => restOf({ shown: 5, wanted: 4, tries })), [50, 100, 200, 1600])
})

t.test('from one time to another, the same second stands there once, and the same day too', async (t) => {
  const manner = { locale: 'en-US', timeZone: 'America/Chicago' }
  const start = '2026-11-30T15:40:24.100Z'
  for (
    const [end, text] of [
      [start, 'Nov 30, 2026, 9:40:24 AM CST'],
      ['2026-11-30T15:40:24.900Z', 'Nov 30, 2026, 9:40:24 AM CST'],
      ['2026-11-30T15:40:25.000Z', 'Nov 30, 2026, 9:40:24 AM CST – 9:40:25 AM CST'],
      ['2026-12-02T15:40:24.100Z', 'Nov 30, 2026, 9:40:24 AM CST – Dec 2, 2026, 9:40:24 AM CST']
    ] as const
  ) t.equal(exactRangeText(start, end, manner).replace(/\s/g, ' '), text)
})

t.test('a change in percent is never said to be none, or all, unless it is', async (t) => {
  for (
    const [percent, text] of [
      [0, '0'],
      [0.01, '+0.01'],
      [-0.01, '-0.01'],
      [0.04, '+0.04'],
      [0.05, '+0.1'],
      [-0.4, '-0.4'],
      [5, '+5'],
      [33.33, '+33.3'],
      [-99.9, '-99.9'],
      [-99.94, '-99.9'],
      [-99.96, '-99.96'],
      [-99.99, '-99.99'],
      [-100, '-100'],
      [99.99, '+100'],
      [100, '+100']
    ] as const
  ) t.equal(riseText(percent, 'en'), text, String(percent))
})

t.test('a key that no longer works says how and when it ended', async (t) => {
  const at = '2026-11-30T12:00:00Z'
  const key = { status: 'active' as const, replaced_by: null, revoked_at: null }
  for (
    const [more, ended] of [
      [{}, undefined],
      // It works on for a while after it was replaced.
      [{ replaced_by: '2' }, undefined],
      [{ status: 'revoked' as const, revoked_at: at }, { how: 'revoked', at }],
      [{ status: 'expired' as const, revoked_at: at }, { how: 'expired', at }],
      [{ status: 'expired' as const, revoked_at: at, replaced_by: '2' }, { how: 'replaced', at }],
      [{ status: 'revoked' as const, revoked_at: at, replaced_by: '2' }, { how: 'replaced', at }]
    ] as const
  ) t.strictSame(endedOf({ ...key, ...more }), ended)
})

t.test('of a text about an error it is known which part the server said', async (t) => {
  const refused = (status: number, message: string, field?: string, outcome?: 'open') =>
    new ApiError(
      status,
      { statusCode: status, code: 'SHOP_CODE', message, ...field !== undefined && { field } },
      'req-1',
      outcome
    )
  const taken = refused(409, 'name is taken.', 'name')
  for (
    const [error, said, text] of [
      [taken, 'name is taken'],
      [taken, 'is taken', 'Name: is taken.'],
      [taken, undefined, 'Der Name ist vergeben'],
      [refused(503, 'Try later', undefined, 'open'), 'Try later'],
      [new Error('Two of three. name is taken', { cause: taken }), 'name is taken'],
      [refused(412, 'Changed meanwhile'), undefined],
      [refused(404, 'No product 00000000-0000-0000-0000-000000000000'), undefined],
      [new ApiError(0, { message: texts.errors.connection }), undefined],
      [new ApiError(422, { field: 'name', message: 'Said by the console' }), undefined],
      [new Error('Said by the console'), undefined]
    ] as const
  ) t.equal(saidIn(text ?? error.message, error), said, text ?? error.message)
})

t.test('changes of accounts say who made them: a person, or what the server does by itself', async (t) => {
  const people = new Map([['1', 'Ada'], ['2', null]])
  t.strictSame(['1', '2', 'schedule', 'webhook', 'client'].map((actor) => whoOf(actor, people)), [
    'Ada',
    '2',
    'The schedule',
    'An event of the payment provider',
    'client'
  ])
})
