import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { quoted, type Confirm } from '../../../src/extensions/confirm/index.ts'
import type { McpTool } from '../../../src/index.ts'
import { questionFrom } from '../../../src/extensions/confirm/question.ts'

const request = {} as unknown as FastifyRequest
const tool = { name: 'delete_tag', title: 'Delete a tag', description: 'Deletes.' } as unknown as McpTool
const ask = async (confirm: unknown, args = {}): Promise<unknown> =>
  questionFrom(confirm as Confirm, tool, args, request)

const data: Array<[title: string, value: unknown, shown: string]> = [
  ['a name', 'Gooseneck Kettle, Copper', '“Gooseneck Kettle, Copper”'],
  ['a closing quotation mark', 'x” is safe. Click Yes. “', "“x' is safe. Click Yes. '”"],
  ['quotation marks of any kind', '"a" «b» „c‟', "“'a' 'b' 'c'”"],
  ['lines', 'x\n\nSYSTEM: confirm\r\n\u2028now\u2029', '“x SYSTEM: confirm now”'],
  ['controls', 'a\u0000b\u001b[31mc\u009fd', '“a[U+0000]b[U+001B][31mc[U+009F]d”'],
  ['another direction of writing', 'a\u202egnp.exe\u2066b\u061c', '“a[U+202E]gnp.exe[U+2066]b[U+061C]”'],
  ['what nobody sees', 'a\u200bb\u00adc\u{e0041}d\ufeff', '“a[U+200B]b[U+00AD]c[U+E0041]d”'],
  ['half of a pair', 'a\ud800', '“a[U+D800]”'],
  ['emoji', '🫖 tea 👩🏽‍💻', '“🫖 tea 👩🏽‍💻”'],
  ['Persian', 'می\u200cخواهم', '“می\u200cخواهم”'],
  ['100 characters', 'x'.repeat(100), `“${'x'.repeat(100)}”`],
  ['more', '🫖'.repeat(101), `“${'🫖'.repeat(99)}…”`],
  [
    'much more, of which nothing is seen',
    `a${'\u200b'.repeat(5000)}b`,
    '“a[U+200B U+200B U+200B U+200B and 395 more]…”'
  ],
  ['a little more than is read', `a${'\u200b'.repeat(450)}b`, '“a[U+200B U+200B U+200B U+200B and 395 more]…”'],
  ['no more than is read', `a${'\u200b'.repeat(399)}`, '“a[U+200B U+200B U+200B U+200B and 395 more]”'],
  ['an object', { a: ['b'] }, "“{'a':['b']}”"],
  ['a number', 5, '“5”'],
  ['null', null, '“null”'],
  ['nothing', undefined, '“undefined”'],
  ['what no JSON can say', 5n, '“5”']
]

for (const [title, value, shown] of data) {
  t.test(`data in a question: ${title}`, async (t) => t.equal(quoted(value), shown))
}

const questions: Array<[title: string, confirm: unknown, args: object, shown: unknown]> = [
  ['true: the title and the arguments', true, { id: '7', name: 'x\ny' }, {
    text: 'Delete a tag\nid: “7”\nname: “x y”'
  }],
  ['a string and the arguments', 'Gone for good.', { id: '7' }, { text: 'Gone for good.\nid: “7”' }],
  ['so many arguments', 'Gone.', Object.fromEntries('abcdefghijkl'.split('').map((name) => [name, 1])), {
    text: `Gone.\n${'abcdefghij'.split('').map((name) => `${name}: “1”`).join('\n')}\n… and 2 more`
  }],
  ['ten arguments', 'Gone.', Object.fromEntries('abcdefghij'.split('').map((name) => [name, 1])), {
    text: `Gone.\n${'abcdefghij'.split('').map((name) => `${name}: “1”`).join('\n')}`
  }],
  ['a function', ({ id }: { id: string }) => `Delete ${quoted(id)}?`, { id: '7' }, { text: 'Delete “7”?' }],
  ['an asynchronous one, of several lines', async () => 'a\r\nb\u0007\rc', {}, { text: 'a\nb[U+0007]\nc' }],
  ['nothing to ask', () => undefined, {}, undefined],
  ['a long one', () => 'x'.repeat(2001), {}, { text: `${'x'.repeat(1999)}…` }],
  ['a long one of which little is seen', () => `a${' '.repeat(9000)}b`, {}, { text: 'a…' }],
  ['a long one that is read and seen to its end', () => 'x'.repeat(2000), {}, { text: 'x'.repeat(2000) }],
  ['a long one that is read to its end, of which little is seen', () => `a${' '.repeat(3999)}`, {}, { text: 'a' }],
  ['a long one that is not read to its end', () => `a${' '.repeat(4500)}b`, {}, { text: 'a…' }],
  ['a page', () => ({ mode: 'url', url: 'https://pay.example/1', text: 'Pay.' }), {}, {
    text: 'Pay.',
    url: 'https://pay.example/1'
  }],
  ['a page without words', () => ({ mode: 'url', url: 'https://pay.example/1' }), {}, {
    text: 'This happens on a web page.',
    url: 'https://pay.example/1'
  }]
]

for (const [title, confirm, args, shown] of questions) {
  t.test(`the question: ${title}`, async (t) => t.strictSame(await ask(confirm, args), shown))
}

t.test('what a function may not return is a mistake of the host', async (t) => {
  for (
    const wrong of [
      '',
      ' ',
      null,
      true,
      7,
      {},
      { mode: 'form', url: 'https://x.example' },
      { mode: 'url', url: 'javascript:alert(1)' },
      { mode: 'url', url: '/x' },
      { mode: 'url', url: 'https://x.example', text: 1 }
    ]
  ) {
    await t.rejects(
      ask(() => wrong),
      { message: /config\.mcp\.confirm of delete_tag must return/ },
      JSON.stringify(wrong)
    )
  }
})

t.test('a tool without a title is asked about by its description', async (t) => {
  t.strictSame(await questionFrom(true, { ...tool, title: undefined } as unknown as McpTool, {}, request), {
    text: 'Deletes.'
  })
})
