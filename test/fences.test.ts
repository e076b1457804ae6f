import t from 'tap'
import { fencesOf, quotes } from './docs/fences.ts'

t.test('fences are found with their kind, their line and their text, in lists too', async (t) => {
  t.strictSame(fencesOf('A\n\n```sh\na\n\nb\n```\n\n1. x\n\n   ```yaml\n   - c\n     d\n   ```\n'), [
    { info: 'sh', line: 3, text: 'a\n\nb\n' },
    { info: 'yaml', line: 11, text: '- c\n  d\n' }
  ])
  t.throws(() => fencesOf('```sh\na\n'), { message: 'the fence of line 1 is not closed' })
})

const pairs = {
  quotes: [
    ['a\nb\n', 'a\nb\n'],
    ['a\nb\n', 'a\nb'],
    ['a…d\n', 'abcd\n'],
    ['…\nc\n', 'a\nb\nc\n'],
    ['…\nc\n', 'c\n'],
    ['a\n…\n', 'a\nb\nc\n']
  ],
  'does not quote': [['a\nb\n', 'a\nb\nc\n'], ['a\n', 'a b\n'], ['', 'a\n'], ['a.c\n', 'abc\n'], ['a…d\n', 'a\nd\n'], [
    'a…\n',
    'b\n'
  ], ['a\n…\nd\n', 'a\nb\nc\n']]
} as const
for (
  const [verb, [quotation, printed]] of Object.entries(pairs).flatMap(([verb, pairs]) =>
    pairs.map((pair) => [verb, pair] as const)
  )
) {
  t.test(`${JSON.stringify(quotation)} ${verb} ${JSON.stringify(printed)}`, async (t) => {
    t.equal(quotes(quotation, printed), verb === 'quotes')
  })
}
