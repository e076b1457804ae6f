import t from 'tap'
import type { Comparison } from '../../src/contract/comparison.ts'
import { documentOf } from '../../src/contract/document.ts'
import { typesOf } from '../../src/contract/facts.ts'
import { leafGap, LEAVES } from '../../src/contract/leaves.ts'
import type { JsonSchema } from '../../src/tool/json-schema.ts'

const document = documentOf({})
const comparison: Comparison = { from: document, to: document, depth: 0, begun: new Map(), proved: new Set(), budget: { left: 1000, assumed: 0 }, namedOnly: false, gapsIn: () => [] }
const text = { type: 'string' }
const number = { type: 'number' }
const integer = { type: 'integer' }

const gaps = (fact: JsonSchema, keyword: string, limit: unknown): ReturnType<typeof leafGap> => leafGap(keyword, limit, [fact], typesOf([fact], document), 'x', comparison)
const verdict = (fact: JsonSchema, keyword: string, limit: unknown): string => {
  const [gap] = gaps(fact, keyword, limit)
  return gap === undefined ? 'kept' : gap.certain ? 'broken' : 'unsure'
}

t.test('a keyword says nothing of other types', async (t) => {
  const about: Record<string, readonly string[]> = {
    string: ['maxLength', 'minLength', 'pattern', 'format'], number: ['exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum', 'multipleOf', 'format']
  }
  const limits: Record<string, unknown> = { pattern: '^b', format: 'x', maxLength: 0, minLength: 9, exclusiveMaximum: -9, maximum: -9, exclusiveMinimum: 9, minimum: 9, multipleOf: 7 }
  for (const type of ['string', 'number', 'array', 'object', 'null', 'boolean']) {
    for (const [keyword, limit] of Object.entries(limits)) t.equal(gaps({ type }, keyword, limit).length, about[type]?.includes(keyword) ? 1 : 0, `${keyword} of ${type}`)
    for (const keyword of ['const', 'enum']) t.equal(gaps({ type }, keyword, keyword === 'enum' ? [7] : 7).length, 1, `${keyword} of ${type}`)
  }
  t.strictSame([...LEAVES].sort(), [...Object.keys(limits), 'const', 'enum', 'type'].sort())
})

t.test('what is kept, what is broken, and what nobody can tell', async (t) => {
  for (const [fact, keyword, limit, expected] of [
    [text, 'type', 'string', 'kept'], [text, 'type', ['string', 'null'], 'kept'], [text, 'type', 'integer', 'broken'], [{ type: ['string', 'null'] }, 'type', 'string', 'broken'], [{ type: 'null' }, 'type', 'nothing', 'broken'], [integer, 'type', 'number', 'kept'], [number, 'type', 'integer', 'broken'], [{}, 'type', 'string', 'broken'],
    [text, 'format', 'date', 'broken'], [{ ...text, format: 'date' }, 'format', 'date', 'kept'], [{ ...text, format: 'date' }, 'format', 'time', 'unsure'], [{ ...text, pattern: '^a' }, 'format', 'date', 'unsure'], [{ ...text, maxLength: 9 }, 'format', 'date', 'broken'],
    ...[['email', 'idn-email'], ['float', 'double'], ['hostname', 'idn-hostname'], ['int32', 'int64'], ['iri', 'iri-reference'], ['uri', 'uri-reference'], ['uri', 'iri'], ['uri', 'iri-reference'], ['uri-reference', 'iri-reference']].flatMap(([narrow, wide]) => [
      [{ format: narrow }, 'format', wide, 'kept'], [{ format: wide }, 'format', narrow, 'unsure']
    ] as const),
    [{ enum: ['a', 'b'] }, 'maxLength', 1, 'kept'], [{ enum: ['a', 'bc'] }, 'maxLength', 1, 'broken'], [{ enum: ['ab', 'bc'] }, 'maxLength', 1, 'broken'], [{ enum: ['a'] }, 'pattern', '(', 'unsure'], [{ enum: ['a'] }, 'enum', ['b', 'a'], 'kept'], [{ enum: ['a', 'b'] }, 'const', 'a', 'broken'], [{ type: 'boolean' }, 'enum', [true, false], 'kept'], [{ type: 'boolean' }, 'const', true, 'broken'],
    [text, 'enum', ['a'], 'broken'], [text, 'const', 'a', 'broken'], [{ ...text, not: {} }, 'maxLength', 3, 'unsure'],
    ...['minLength', 'maxLength'].flatMap((keyword) => [[{ ...text, [keyword]: 2 }, keyword, 2, 'kept'], [{ ...text, [keyword]: 2 }, keyword, keyword === 'minLength' ? 1 : 3, 'kept'], [{ ...text, [keyword]: 2 }, keyword, keyword === 'minLength' ? 3 : 1, 'broken'], [text, keyword, 2, 'broken']] as const),
    [text, 'minLength', 0, 'kept'], [text, 'minLength', -1, 'kept'], [text, 'minLength', 1, 'broken'], [text, 'maxLength', 0, 'broken'],
    [text, 'pattern', '', 'kept'], [text, 'pattern', '^a', 'broken'], [{ ...text, pattern: '^a' }, 'pattern', '^b', 'broken'], [{ ...text, pattern: '^a' }, 'pattern', '^a', 'kept'], [{ ...text, pattern: '^[0-9]$' }, 'pattern', '^\\d$', 'kept'], [{ ...text, pattern: 7 }, 'pattern', '7', 'unsure'],
    ...([['minimum', 'exclusiveMinimum', 1], ['maximum', 'exclusiveMaximum', -1]] as const).flatMap(([at, past, more]) => [
      [{ ...number, [at]: 2 }, at, 2, 'kept'], [{ ...number, [at]: 2 }, at, 2 - more, 'kept'], [{ ...number, [at]: 2 }, at, 2 + more, 'broken'], [{ ...number, [at]: 2 }, past, 2, 'broken'], [{ ...number, [at]: 2 }, past, 2 - more, 'kept'],
      [{ ...number, [past]: 2 }, at, 2, 'kept'], [{ ...number, [past]: 2 }, at, 2 + more, 'broken'], [{ ...number, [past]: 2 }, past, 2, 'kept'], [{ ...number, [past]: 2 }, past, 2 - more, 'kept'], [{ ...number, [past]: 2 }, past, 2 + more, 'broken'],
      [{ ...integer, [past]: 2 }, at, 2 + more, 'kept'], [{ ...integer, [past]: 2 }, at, 2 + 2 * more, 'broken'], [{ ...integer, [past]: 2 }, past, 2, 'kept'], [{ ...integer, [past]: 2 }, past, 2 + more, 'broken'], [{ ...integer, [at]: 2 + more / 2 }, at, 2 + more, 'kept'], [{ ...integer, [at]: 2 }, past, 2, 'broken'], [number, at, 2, 'broken'], [number, past, 2, 'broken']
    ] as const),
    [integer, 'multipleOf', 1, 'kept'], [number, 'multipleOf', 1, 'broken'], [integer, 'multipleOf', 2, 'broken'], [{ ...number, multipleOf: 4 }, 'multipleOf', 2, 'kept'], [{ ...number, multipleOf: 2 }, 'multipleOf', 4, 'broken'], [{ ...number, multipleOf: 0.1 }, 'multipleOf', 0.1, 'kept'], [{ ...number, multipleOf: 0.5 }, 'multipleOf', 0.25, 'kept'],
    [{ ...number, multipleOf: 2 ** -10 * 3 }, 'multipleOf', 2 ** -10, 'kept'], [{ ...number, multipleOf: 2 ** -11 * 3 }, 'multipleOf', 2 ** -11, 'unsure'], [{ ...number, multipleOf: 1 }, 'multipleOf', 2 ** -11, 'unsure'], [{ ...number, multipleOf: 2 ** 50 }, 'multipleOf', 2, 'unsure'], [{ ...number, multipleOf: 0.2 }, 'multipleOf', 0.1, 'unsure'], [{ ...number, multipleOf: '4' }, 'multipleOf', 2, 'unsure']
  ] as const) t.equal(verdict(fact, keyword, limit), expected, JSON.stringify([fact, keyword, limit]))
})

t.test('what was said instead is told', async (t) => {
  const said = (fact: JsonSchema, keyword: string, limit: unknown): unknown => gaps(fact, keyword, limit)[0]?.from
  for (const [fact, keyword, limit, expected] of [
    [text, 'const', 'a', 'string'], [{ enum: ['a', 'b'] }, 'const', 'a', ['a', 'b']], [{ ...text, enum: ['a', 'b'] }, 'const', 'a', ['a', 'b']], [text, 'enum', ['a'], 'string'], [{ ...text, const: 'b' }, 'enum', ['a'], 'b'],
    [{ enum: ['a'] }, 'type', 'integer', ['a']], [{ const: 'a' }, 'type', 'integer', 'a'], [{ const: 'a', enum: ['a', 'b'] }, 'type', 'integer', ['a', 'b']],
    [{ ...number, exclusiveMinimum: 1 }, 'minimum', 5, 1], [{ ...number, exclusiveMaximum: 9 }, 'maximum', 5, 9], [{ ...number, minimum: 1 }, 'exclusiveMinimum', 5, 1], [{ ...number, maximum: 9 }, 'exclusiveMaximum', 5, 9],
    [{ ...number, exclusiveMinimum: 1, minimum: 2 }, 'minimum', 5, 2], [text, 'maxLength', 5, undefined], [{ ...text, minLength: 2 }, 'maxLength', 5, undefined]
  ] as const) t.strictSame(said(fact, keyword, limit), expected, JSON.stringify([fact, keyword, limit]))
  t.strictSame(gaps({ enum: ['a', 'bc', 'def'] }, 'maxLength', 1), [{ path: 'x', keyword: 'maxLength', from: undefined, to: 1, certain: true, lost: ['bc', 'def'] }])
  t.strictSame(gaps({ enum: ['a'] }, 'pattern', '('), [{ path: 'x', keyword: 'pattern', from: undefined, to: '(', certain: false, lost: ['a'] }])
  t.strictSame(gaps({ ...text, maxLength: 9 }, 'maxLength', 5), [{ path: 'x', keyword: 'maxLength', from: 9, to: 5, certain: true }])
})
