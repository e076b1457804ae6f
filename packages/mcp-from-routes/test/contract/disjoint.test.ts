import t from 'tap'
import type { Comparison } from '../../src/contract/comparison.ts'
import { areDisjoint } from '../../src/contract/disjoint.ts'
import { documentOf } from '../../src/contract/document.ts'
import { factsOf } from '../../src/contract/facts.ts'
import type { JsonSchema } from '../../src/tool/json-schema.ts'

const is = (facts: readonly JsonSchema[], schema: unknown, { depth, left = 1000 }: { depth?: number, left?: number } = {}): boolean => {
  const [from, to] = [documentOf({}), documentOf({})]
  const comparison: Comparison = { from, to, depth: 0, begun: new Map(), proved: new Set(), budget: { left, assumed: 0 }, namedOnly: false, gapsIn: () => [] }
  return areDisjoint(factsOf(facts, from) ?? [], schema, comparison, depth)
}
const text = { type: 'string' }
const number = { type: 'number' }
const object = { type: 'object' }
const having = (schema: unknown, required = ['a']): JsonSchema => ({ ...object, properties: { a: schema }, required })
const one = { const: 1 }
const two = { const: 2 }
const three = { const: 3 }

t.test('which schemas surely share no value', async (t) => {
  for (const [facts, schema, expected] of [
    [[text], false, true], [[text], true, false], [[text], number, true], [[text], { type: ['string', 'null'] }, false], [[text], { allOf: [{ minLength: 1 }, number] }, true],
    [[{ enum: ['a', 'b'] }], { minLength: 2 }, true], [[{ enum: ['a', 'bc'] }], { minLength: 2 }, false], [[{ minLength: 2 }], { enum: ['a', 'b'] }, true], [[{ minLength: 2 }], { enum: ['a', 'bc'] }, false], [[text, { minLength: 2 }], { allOf: [text, { const: 'a' }] }, true],
    [[one], two, true], [[one], one, false], [[{ type: 'null' }], { type: 'null' }, false],
    ...(['maximum', 'exclusiveMaximum'] as const).flatMap((most) => (['minimum', 'exclusiveMinimum'] as const).flatMap((least) => [[1, true], [2, false], [3, false]].flatMap(([limit, expected]) => [
      [[{ ...number, [most]: limit }], { ...number, [least]: 2 }, expected], [[{ ...number, [least]: 2 }], { ...number, [most]: limit }, expected]
    ] as Array<[JsonSchema[], JsonSchema, boolean]>))),
    [[{ type: 'integer', maximum: 1 }], { minimum: 2 }, true], [[{ type: ['number', 'string'], maximum: 1 }], { minimum: 2 }, false], [[number, { maximum: 1 }], { allOf: [{ minimum: 0 }, { minimum: 2 }] }, true],
    [[having(one)], having(two), true], [[having(one)], having(one), false], [[having(one, [])], having(two, []), false], [[having(one, [])], having(two), true], [[having(one)], having(two, []), true], [[{ ...having(one), type: ['object', 'null'] }], having(two), false],
    [[having(false, [])], having(one), true], [[having(one)], having(false, []), true], [[having(one, ['b'])], having(two, ['c']), false], [[{ ...object, patternProperties: { '(': one }, required: ['a'] }], having(two), false], [[having(two)], { ...object, patternProperties: { '(': one } }, false],
    [[having(one, ['b', 'a'])], having(two, ['c']), true],
    [[{ ...object, required: ['a'] }, { properties: { a: one } }], { allOf: [object, { properties: { a: two } }] }, true],
    [[one], { anyOf: [two, three] }, true], [[one], { anyOf: [two, one] }, false], [[one], { oneOf: [two, three] }, true], [[one], { anyOf: [one], oneOf: [two] }, true], [[one], { anyOf: [one], allOf: [{ anyOf: [two] }] }, true],
    [[{ anyOf: [two, three] }], one, true], [[{ anyOf: [two, one] }], one, false], [[{ oneOf: [two, three] }], one, true], [[{ anyOf: [false, two] }], one, true], [[{ anyOf: [one] }, { anyOf: [two] }], one, true],
    [[{ ...object, properties: { a: one } }, { anyOf: [{ required: ['a'] }] }], { properties: { a: two } }, true], [[{ ...having(one, []), anyOf: [{ required: ['a'] }] }], having(two, []), false], [[{ ...object, properties: { a: one } }, { anyOf: [{ required: ['a'] }, {}] }], { properties: { a: two } }, false],
    [[{ anyOf: [having(one), having(two)] }], { anyOf: [having(three)] }, true], [[{ anyOf: [having(one), having(two)] }], { anyOf: [having(three), having(two)] }, false]
  ] as const) t.equal(is(facts, schema), expected, JSON.stringify([facts, schema]))
})

t.test('parts are looked at as deep as is asked, and types at any depth', async (t) => {
  for (const [facts, schema, depth] of [
    [[one], two, 1], [[one], { anyOf: [two, three] }, 2], [[{ anyOf: [two, three] }], one, 2], [[having(one)], having(two), 2], [[having(having(one))], having(having(two)), 3]
  ] as const) t.strictSame([depth - 1, depth].map((depth) => is(facts, schema, { depth })), [false, true], JSON.stringify([facts, schema]))
  t.equal(is([text], number, { depth: 0 }), true)
})

t.test('once the budget is spent nothing is sure', async (t) => {
  t.strictSame([0, 1].map((left) => is([text], number, { left })), [false, true])
  t.strictSame([1, 2].map((left) => is([having(one)], having(two), { left })), [false, true])
})
