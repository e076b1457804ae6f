import t from 'tap'
import { isUnseen, visible } from '../shared/visible.ts'

t.test('what shows nothing, or turns the order of letters, is named', async (t) => {
  for (
    const [text, shown] of [
      ['', ''],
      ['Kettle “ü” 日本', 'Kettle “ü” 日本'],
      ['invoice\u202efdp.exe', 'invoice[U+202E]fdp.exe'],
      ['a\u2066b\u2069', 'a[U+2066]b[U+2069]'],
      ['a\u200bb\u00adc\ufeff', 'a[U+200B]b[U+00AD]c[U+FEFF]'],
      ['pay\u{e0064}\u{e0065}\u{e006c}\u{e0065}\u{e0074}\u{e0065}', 'pay[U+E0064 U+E0065 U+E006C U+E0065 and 2 more]'],
      ['a\u0000\u0007\u0085b', 'a[U+0000 U+0007 U+0085]b'],
      ['a\u2028b\u2029c', 'a[U+2028]b[U+2029]c'],
      ['a\u3164b\u2800c\u115f', 'a[U+3164]b[U+2800]c[U+115F]'],
      ['a\ud800b', 'a[U+D800]b'],
      ['a\u200cb\u200dc', 'a[U+200C]b[U+200D]c'],
      ['a\ufe01\ufe02\u{e0100}', 'a[U+FE01 U+FE02 U+E0100]'],
      ['😀\ufe01', '😀[U+FE01]'],
      ['😀\u200d', '😀[U+200D]'],
      ['🏴\u{e0061}\u{e0062}', '🏴[U+E0061 U+E0062]'],
      ['a\nb\tc', 'a[U+000A]b[U+0009]c'],
      ['می\u200c\u200cخواهم', 'می[U+200C U+200C]خواهم']
    ] as const
  ) t.equal(visible(text), shown, encodeURI(shown))
  t.equal(visible('a\r\nb\tc\u202e\n\u200b', { lines: true }), 'a[U+000D]\nb\tc[U+202E]\n[U+200B]')
})

t.test('what a language or a picture needs stays', async (t) => {
  for (
    const text of [
      'می\u200cخواهم',
      'क्\u200dष',
      'ශ්\u200dරී',
      '👨\u200d👩\u200d👧\u200d👦',
      '👩🏽\u200d💻',
      '❤️',
      '🏳️\u200d🌈',
      '1️⃣',
      '🇩🇪',
      '🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
      '葛\u{e0100}',
      'e\u0301',
      'שלום',
      '🧔🏻\u200d♂️'
    ]
  ) t.equal(visible(text), text, encodeURI(text))
})

t.test('a long text is read in a time that grows with its length', async (t) => {
  for (const text of ['\u200b', '👨\u200d', 'می\u200c', '\u{e0061}', '1\ufe0f']) {
    t.ok(visible(text.repeat(100_000)).length > 0)
  }
})

t.test('a text of which nothing is seen is known', async (t) => {
  for (const text of ['', ' \n', '\u200b \u2800', '\u{e0061}']) t.equal(isUnseen(text), true)
  for (const text of ['a', '\u200b.', '👨']) t.equal(isUnseen(text), false)
})
