import t from 'tap'
import { leftBranches } from '../../src/contract/branches.ts'
import { documentOf } from '../../src/contract/document.ts'
import type { JsonSchema } from '../../src/tool/json-schema.ts'

const text = { type: 'string' }
const object = (properties: object, more: object = {}): JsonSchema => ({ type: 'object', properties, ...more })
const named = (...names: readonly string[]): JsonSchema => object(Object.fromEntries(names.map((name) => [name, text])))
const kind = (k: object, ...names: readonly string[]): JsonSchema => object({ k, ...Object.fromEntries(names.map((name) => [name, text])) })
const union = (...anyOf: readonly unknown[]): JsonSchema => ({ anyOf })
const many = (count: number, name = 'p'): readonly JsonSchema[] => Array.from({ length: count }, (_, n) => named(`${name}${n}`))
const left = (before: JsonSchema, after: JsonSchema): readonly string[] => leftBranches(documentOf(before), documentOf(after)).map(({ path }) => path)

const rows: Array<[title: string, before: JsonSchema, after: JsonSchema, left: readonly string[]]> = [
  ['an argument of items', union({ items: named('a', 'old') }), union({ items: named('a') }), ['[].old']],
  ['an argument of the values of a map', union({ additionalProperties: named('a', 'old') }), union({ additionalProperties: named('a') }), ['*.old']],
  ['items that may be anything now', union({ items: named('old') }), union({ items: true }), []],
  ['a map whose values may be anything now', union({ additionalProperties: named('old') }), union({ additionalProperties: true }), []],
  ['items where nothing was said of them', union({ type: 'array' }), union({ type: 'array', items: named('a') }), []],
  ['an argument under a condition', union({ then: named('a', 'old') }), union({ then: named('a') }), ['old']],
  ['an argument under the other side of a condition', union({ else: named('a', 'old') }), union({ else: named('a') }), ['old']],
  ['an argument that depends on another', union({ dependentSchemas: { b: named('a', 'old') } }), union({ dependentSchemas: { b: named('a') } }), ['old']],
  ['an argument that moved under a condition', union(named('a', 'b')), union({ ...named('a'), then: named('b') }), []],
  ['an argument of one of several parts', union({ allOf: [named('a'), named('old')] }), union({ allOf: [named('a'), {}] }), ['old']],
  ['a branch that lost what told it from others', union(kind({ const: 1 }, 'old')), union(named('k')), ['old']],
  ['kinds in a list of several', union(kind({ enum: [1, 2] }, 'old')), union(kind({ enum: [2, 1] })), ['old']],
  ['kinds that became a list of several', union(kind({ enum: [1] }, 'old')), union(kind({ enum: [2, 1] })), ['old']],
  ['the nearest of those behind it and of its type', union(text, object({ x: named('p', 'old') })), union(text, object({ x: named('p') }), object({ x: named('q') })), ['x.old']],
  ['the one that shares most of its names, not the one that has most', union(named('a', 'b', 'old')), union(named('p', 'q', 'r', 's'), named('a', 'b')), ['old']],
  ['200 branches', union(named('a', 'old'), ...many(199)), union(named('a'), ...many(199)), ['old']],
  ['201 branches', union(named('a', 'old'), ...many(200)), union(named('a'), ...many(200)), []],
  ['201 branches now', union(named('a', 'old')), union(named('a'), ...many(200)), []],
  ['two unions of 14 and 14 branches', { allOf: [union(named('a', 'old'), ...many(13)), union(...many(14, 'q'))] }, { allOf: [union(named('a'), ...many(13)), union(...many(14, 'q'))] }, ['old']],
  ['two unions of 14 and 15 branches', { allOf: [union(named('a', 'old'), ...many(13)), union(...many(15, 'q'))] }, { allOf: [union(named('a'), ...many(13)), union(...many(15, 'q'))] }, []],
  ['a branch with too many of its own beside another', union(union(...many(201)), named('a', 'old')), union(union(...many(201)), named('a')), []],
  ['a part with too many branches beside another', { allOf: [union(...many(201))], anyOf: [named('a', 'old')] }, { allOf: [union(...many(201))], anyOf: [named('a')] }, []],
  ['all that thousands of arguments lost, up to a limit', object(Object.fromEntries(Array.from({ length: 3100 }, (_, n) => [`p${n}`, named(`old${n}`)]))), object(Object.fromEntries(Array.from({ length: 3100 }, (_, n) => [`p${n}`, named()]))), Array.from({ length: 3000 }, (_, n) => `p${n}.old${n}`)],
  ['one of thousands of arguments', object({ ...Object.fromEntries(many(3100).map((one, n) => [`p${n}`, one])), x: named('a', 'old') }), object({ ...Object.fromEntries(many(3100).map((one, n) => [`p${n}`, one])), x: named('a') }), ['x.old']]
]
for (const [title, before, after, wanted] of rows) t.test(`what left a branch: ${title}`, async (t) => t.strictSame(left(before, after), wanted))

t.test('what left a branch behind references, which may lead in a circle', async (t) => {
  const at = (root: JsonSchema, X: JsonSchema): JsonSchema => ({ ...root, $defs: { X } })
  const ref = { $ref: '#/$defs/X' }
  for (const [title, root, before, after, wanted] of [
    ['in an object that says the same', object({ y: union(object({ x: ref })) }), named('a', 'old'), named('a'), ['y.x.old']],
    ['in a tree', ref, object({ x: ref, old: text }), object({ x: ref }), ['x.old', 'old']],
    ['through parts', ref, { allOf: [ref, named('a', 'old')] }, { allOf: [ref, named('a')] }, ['old']],
    ['through branches', ref, union(ref, named('a', 'old')), union(ref, named('a')), ['old']]
  ] as const) t.strictSame(left(at(root, before), at(root, after)), wanted, title)
})
