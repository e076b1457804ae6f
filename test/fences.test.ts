import t from 'tap'
import { fencesOf, quotes } from './docs/fences.ts'

t.test('fences are found with their kind, their line and their text, in lists too', async (t) => {
  t.strictSame(fencesOf('A\n\n```sh\na\n\nb\n```\n\n1. x\n\n   ```yaml\n   - c\n     d\n   ```\n'), [
    { info: 'sh', line: 3, text: 'a\n\nb\n' },
    { info: 'yaml', line: 11, text: '- c\n  d\n' }
  ])
  t.throws(() => fencesOf('```sh\na\n'), { message: 'the fence of line 1 is not closed' })
})

for (const [quotation, printed, same] of [
  ['a\nb\n', 'a\nb\n', true],
  ['a\nb\n', 'a\nb', true],
  ['a\nb\n', 'a\nb\nc\n', false],
  ['a\n', 'a b\n', false],
  ['', 'a\n', false],
  ['a.c\n', 'abc\n', false],
  ['a…d\n', 'abcd\n', true],
  ['a…d\n', 'a\nd\n', false],
  ['a…\n', 'b\n', false],
  ['…\nc\n', 'a\nb\nc\n', true],
  ['…\nc\n', 'c\n', true],
  ['a\n…\n', 'a\nb\nc\n', true],
  ['a\n…\nd\n', 'a\nb\nc\n', false]
] as const) {
  t.test(`${JSON.stringify(quotation)} ${same ? 'quotes' : 'does not quote'} ${JSON.stringify(printed)}`, async (t) => {
    t.equal(quotes(quotation, printed), same)
  })
}
