import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { german } from '../src/german/texts.ts'
import { languageFrom, setLanguage } from '../src/language.ts'
import { amountFrom, amountText, moneyText } from '../src/money.ts'
import { texts as english } from '../src/texts.ts'
import { agoText, countText, inLanguage, numberLocale, timeText } from '../src/times.ts'
import { saidIn, saidInConsole } from './said.ts'

/** Each text of an object of texts, by its path. */
function textsIn (texts: unknown, path = ''): ReadonlyArray<readonly [path: string, text: unknown]> {
  if (typeof texts !== 'object' || texts === null) return [[path, texts]]
  return Object.entries(texts).flatMap(([key, value]) => textsIn(value, path === '' ? key : `${path}.${key}`))
}

const ENGLISH = new Map(textsIn(english))
const GERMAN = new Map(textsIn(german))

t.test('no text stands outside of texts', async (t) => {
  t.strictSame(saidInConsole(), [])
  t.strictSame(
    saidIn(
      'planted.tsx',
      `<Page title='Orders' aria-label={isOpen ? 'Hide it' : texts.show} key='Not seen' sx={{ color: 'red' }}>
        Nothing here {' · '} {count > 0 && \`\${count} left\`} {texts.of('a key')}
        <Chip label={names[0] ?? 'none'} /> {notify('It is done')}
      </Page>
      const columns = [{ label: 'Price' }]
      const why = 'Others have changed this since.'
      throw new Error('There is no shop here')`
    ).map(({ place, text }) => `${place} ${text}`),
    [
      'planted.tsx:1 Orders',
      'planted.tsx:1 Hide it',
      'planted.tsx:1 Not seen',
      'planted.tsx:2 Nothing here',
      'planted.tsx:2 left',
      'planted.tsx:3 none',
      'planted.tsx:3 It is done',
      'planted.tsx:5 Price',
      'planted.tsx:6 Others have changed this since.'
    ]
  )
})

t.test('no page shows the message of an error without saying what of it is English', async (t) => {
  const root = new URL('../src/', import.meta.url)
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tsx'))
  t.ok(files.length > 100)
  const shows = (source: string): boolean =>
    /[>=]\{[\w.?!]*\.message\}|notify\([\w.]*message|\.message\)\}?</.test(source)
  t.strictSame(
    [
      '<p>{error.message}</p>',
      '<Page text={failure.message} />',
      'notify(message, {})',
      '<p>{texts.why(error.message)}</p>',
      '<ErrorText error={error} text={texts.why(error.message)} />'
    ].map(shows),
    [true, true, true, true, false]
  )
  t.strictSame(
    files.filter((file) => shows(readFileSync(new URL(file, root), 'utf8'))).sort(),
    ['catalog/currency-input.tsx', 'catalog/money-input.tsx', 'catalog/pictures-input.tsx'],
    'only inputs of forms that react-admin checks'
  )
})

t.test('German has each text of English, and of the same kind', async (t) => {
  t.ok(ENGLISH.size > 700)
  for (const [path, text] of ENGLISH) t.equal(typeof GERMAN.get(path), typeof text, path)
  t.strictSame([...GERMAN.keys()].filter((path) => !ENGLISH.has(path) && !path.startsWith('activity.otherFields.')), [])
})

t.test('texts with counts speak of none, one, two and many', async (t) => {
  const parts: Readonly<Record<string, (count: number) => readonly unknown[]>> = {
    'imports.would': (count) => [
      { total: count, created: count, updated: count, unchanged: count, price_changes: count, failed: count }
    ],
    'imports.became': (count) => [{ created: count, updated: count, unchanged: count, failed: count }],
    'products.bulk.stopped': (count) => [{ changed: count, open: count, count }, 'why'],
    'orders.ask': (count) => ['Order 1', 'Paid', String(count)],
    'activity.work.prices': (count) => [Array.from({ length: Math.min(count, 2) }, () => '+5')]
  }
  for (const texts of [ENGLISH, GERMAN]) {
    for (const [path, text] of texts) {
      if (typeof text !== 'function') continue
      for (const count of [0, 1, 2, 12_345]) {
        const said: unknown = text(...parts[path]?.(count) ?? Array.from({ length: 5 }, () => count))
        for (const [, part] of textsIn(said)) {
          t.ok(['string', 'number'].includes(typeof part), path)
          t.notMatch(String(part), /undefined|NaN|\[object/, path)
        }
      }
    }
  }
  t.equal(german.products.bulk.askStatus(1, 'Aktiv'), 'Status von 1 Produkt auf „Aktiv“ setzen?')
  t.equal(german.products.bulk.askStatus(2, 'Aktiv'), 'Status von 2 Produkten auf „Aktiv“ setzen?')
  t.equal(german.activity.would(1), '1 Änderung wird rückgängig gemacht.')
  t.equal(german.activity.would(12), '12 Änderungen werden rückgängig gemacht.')
  t.equal(german.list.matches(1, 25, 30), '1 bis 25 von 30 Treffern')
  t.equal(german.list.matches(1, 0, 0), 'Keine Treffer')
  t.equal(german.imports.skip(3, 1), 'Die unbekannte Spalte und die 2 fehlerhaften Zeilen auslassen')
  t.equal(german.imports.skip(1, 0), 'Die fehlerhafte Zeile auslassen')
  t.equal(
    german.imports.became({ created: 2, updated: 0, unchanged: 1, failed: 1 }),
    '2 angelegt, 1 unverändert, 1 fehlgeschlagen'
  )
})

t.test('the language is the one that was chosen, else the first of the browser that there is', async (t) => {
  for (
    const [chosen, wanted, language] of [
      [null, ['de-DE', 'en'], 'de'],
      [null, ['de'], 'de'],
      [null, ['fr-FR', 'DE-at', 'en'], 'de'],
      [null, ['en-US', 'de'], 'en'],
      [null, ['fr'], 'en'],
      [null, [], 'en'],
      ['en', ['de-DE'], 'en'],
      ['de', ['en-US'], 'de'],
      ['xx', ['de'], 'de'],
      ['constructor', [], 'en']
    ] as const
  ) t.equal(languageFrom(chosen, wanted), language, `${chosen} ${wanted.join()}`)
})

t.test('German pages write dates, numbers and money in German, as in the region of the shop', async (t) => {
  setLanguage('de')
  t.teardown(() => setLanguage('en'))
  for (
    const [locale, number, money] of [
      ['en-US', 'de-US', '1.234,50 €'],
      ['de-DE', 'de-DE', '1.234,50 €'],
      ['de-CH', 'de-CH', "EUR 1'234.50"],
      ['fr', 'de-FR', '1.234,50 €'],
      ['nonsense-', 'de-US', '1.234,50 €']
    ] as const
  ) {
    t.equal(numberLocale(locale), number)
    t.equal(moneyText(123_450, 'EUR', number).replace(/\s/g, ' ').replace('’', "'"), money)
  }
  t.equal(countText(12_345, 'en-GB'), '12.345')
  t.match(timeText('2026-12-24T11:30:00Z', { locale: 'en-US', timeZone: 'Europe/Berlin' }), /24\. Dez\. 2026.*12:30/)
  t.equal(agoText('2026-01-01T00:00:00Z', { locale: 'en' }, Date.parse('2026-01-01T00:05:00Z')), 'vor 5 Minuten')
  setLanguage('en')
  t.equal(numberLocale('fr-FR'), 'fr-FR', 'English pages keep the locale of the shop for money')
  t.equal(inLanguage('de-CH'), 'en-CH')
})

t.test('a price is read back as German pages show it, and never as another one', async (t) => {
  for (const region of ['US', 'DE', 'AT', 'CH', 'FR', 'IN']) {
    const locale = numberLocale(`en-${region}`, 'de')
    for (const currency of ['EUR', 'USD', 'CHF', 'JPY', 'KWD']) {
      for (const amount of [0, 5, 50, 1990, 123_450, 1_234_567]) {
        t.equal(amountFrom(amountText(amount, currency, locale), currency, locale), amount, `${locale} ${currency}`)
        t.equal(amountFrom(moneyText(amount, currency, locale), currency, locale), amount, `${locale} ${currency}`)
      }
    }
  }
  for (
    const [typed, currency, amount] of [
      ['19,90', 'EUR', 1990],
      ['19.90', 'EUR', 1990],
      ['1.999,50', 'EUR', 199_950],
      ['1,999.50', 'EUR', 199_950],
      ['1.999', 'EUR', 199_900],
      ['1,999', 'EUR', undefined],
      ['1.999', 'JPY', 1999],
      ['1,5', 'JPY', undefined],
      ['1,999', 'KWD', 1999],
      ['19,9,0', 'EUR', undefined]
    ] as const
  ) t.equal(amountFrom(typed, currency, 'de-US'), amount, `${typed} ${currency}`)
})

t.test('what an import would do is said without what it would not do', async (t) => {
  const none = { total: 0, created: 0, updated: 0, unchanged: 0, price_changes: 0, failed: 0 }
  for (
    const [counts, inEnglish, inGerman] of [
      [{}, '0 products in the file.', '0 Produkte in der Datei.'],
      [
        { total: 12, created: 8, failed: 4 },
        '12 products in the file: 8 new, 4 wrong.',
        '12 Produkte in der Datei: 8 neu, 4 fehlerhaft.'
      ],
      [
        { total: 6, updated: 3, price_changes: 2, unchanged: 3 },
        '6 products in the file: 3 changed (2 of them in price), 3 as they are.',
        '6 Produkte in der Datei: 3 geändert (davon 2 im Preis), 3 unverändert.'
      ],
      [
        { total: 1, updated: 1 },
        '1 product in the file: 1 changed.',
        '1 Produkt in der Datei: 1 geändert.'
      ]
    ] as const
  ) {
    t.equal(english.imports.would({ ...none, ...counts }), inEnglish)
    t.equal(german.imports.would({ ...none, ...counts }), inGerman)
  }
})
