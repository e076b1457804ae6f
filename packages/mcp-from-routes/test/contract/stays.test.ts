import t from 'tap'
import { diffContracts, nameOfFinding } from '../../src/contract/index.ts'
import type { Contract } from '../../src/contract/index.ts'
import { leftBranches } from '../../src/contract/branches.ts'
import type { Comparison } from '../../src/contract/comparison.ts'
import { areDisjoint } from '../../src/contract/disjoint.ts'
import { documentOf } from '../../src/contract/document.ts'
import { factsOf } from '../../src/contract/facts.ts'
import type { JsonSchema } from '../../src/tool/json-schema.ts'

const of = (x: JsonSchema): Contract => new Map([['t', { inputSchema: { type: 'object', properties: { x }, additionalProperties: false } }]])
/** The bump of each finding, with a question mark if it is not certain, and its name. */
const lines = (before: JsonSchema, after: JsonSchema): readonly string[] => diffContracts(of(before), of(after)).findings.map((finding) => `${finding.bump}${finding.certain ? '' : '?'} ${nameOfFinding(finding)}`)

const text = { type: 'string' }
/** Schemas that stay, each beside a limit of its type that changes. */
const stays = {
  number: [{ minimum: 1.5 }, { exclusiveMinimum: 1.5 }, { exclusiveMaximum: 200 }, { multipleOf: 2.5 }],
  string: [{ minLength: 2 }, { pattern: '^a' }, { contentEncoding: 'base64' }, { default: 'a' }],
  array: [{ items: text }, { prefixItems: [text] }, { minItems: 2 }, { uniqueItems: true }],
  object: [{ additionalProperties: text }, { minProperties: 2 }]
} as const
/** The same, where nobody shows that a value falls into the gap. */
const hidden = {
  number: [{ format: 'float' }, { format: 'double' }, { not: { const: 5 } }],
  string: [{ format: 'date' }, { format: 'ulid' }, { not: { const: 'a' } }],
  array: [{ contains: text }, { contains: text, minContains: 2 }, { contains: text, maxContains: 2 }, { contains: text, minContains: 0 }],
  object: [{ properties: { a: text } }, { properties: { a: text }, required: ['a'] }, { patternProperties: { '^a': text } }, { propertyNames: { maxLength: 5 } }, { dependentRequired: { a: ['b'] } }, { if: { required: ['a'] }, then: { required: ['b'] } }, { if: { required: ['a'] }, else: { required: ['b'] } },
    { not: { required: ['a'] } }, { allOf: [{ required: ['a'] }] }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }]
} as const
const limits = { number: 'maximum', string: 'maxLength', array: 'maxItems', object: 'maxProperties' } as const

for (const [type, limit] of Object.entries(limits) as Array<[keyof typeof limits, string]>) {
  for (const [schemas, sure] of [[stays, ''], [hidden, '?']] as const) {
    for (const schema of schemas[type]) {
      t.test(`what stays is not told of: ${JSON.stringify(schema)}`, async (t) => {
        const at = (most: number): JsonSchema => ({ type, ...schema, [limit]: most })
        t.strictSame(lines(at(100), at(90)), [`major${sure} t input.x: ${limit} 100 → 90`])
        t.strictSame(lines(at(90), at(100)), [`minor t input.x: ${limit} 90 → 100`])
      })
    }
  }
}

t.test('a maximum that stays', async (t) => {
  t.strictSame(lines({ type: 'number', maximum: 9.5, minimum: 1.5 }, { type: 'number', maximum: 9.5, minimum: 2.5 }), ['major t input.x: minimum 1.5 → 2.5'])
  t.strictSame(lines({ type: 'string', maxLength: 9, minLength: 1 }, { type: 'string', maxLength: 9, minLength: 2 }), ['major t input.x: minLength 1 → 2'])
  t.strictSame(lines({ type: 'array', maxItems: 9, minItems: 1 }, { type: 'array', maxItems: 9, minItems: 2 }), ['major t input.x: minItems 1 → 2'])
  t.strictSame(lines({ type: 'object', maxProperties: 9, minProperties: 1 }, { type: 'object', maxProperties: 9, minProperties: 2 }), ['major t input.x: minProperties 1 → 2'])
})

t.test('each format has an example that a limit refuses', async (t) => {
  for (const format of ['date', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'json-pointer', 'time', 'uri', 'uri-reference', 'uuid']) {
    t.strictSame(lines({ type: 'string', format }, { type: 'string', format, maxLength: 0 }), ['major t input.x: maxLength none → 0'], format)
  }
  for (const [format, is, above] of [['double', 0.5, 1.5], ['float', 0.5, 1.5], ['int32', 1, 2], ['int64', 1, 2]] as const) {
    for (const [limit, name] of [[{ exclusiveMaximum: is }, 'exclusiveMaximum'], [{ minimum: above }, 'minimum']] as const) {
      t.strictSame(lines({ type: 'number', format }, { type: 'number', format, ...limit }), [`major t input.x: ${name} none → ${String(Object.values(limit)[0])}`], format)
    }
  }
})

t.test('lists of which none has an item twice are unique', async (t) => {
  t.strictSame(lines({ enum: [[1, 2], [3]] }, { enum: [[1, 2], [3]], uniqueItems: true }), ['patch t input: written differently'])
  t.equal(lines({ enum: [[1, 1], [3]] }, { enum: [[1, 1], [3]], uniqueItems: true }).find((line) => line.startsWith('major ')), 'major t input.x: uniqueItems none → true')
})

t.test('a limit that all listed values keep to changes nothing, and one that any of them breaks is major', async (t) => {
  for (const [value, kept, broken] of [
    [4, { minimum: 4 }, { minimum: 5 }], [4, { maximum: 4 }, { maximum: 3 }], [4, { exclusiveMinimum: 3 }, { exclusiveMinimum: 4 }], [4, { exclusiveMaximum: 5 }, { exclusiveMaximum: 4 }],
    [4, { multipleOf: 2 }, { multipleOf: 3 }], ['ab', { minLength: 2 }, { minLength: 3 }], ['ab', { maxLength: 2 }, { maxLength: 1 }], ['\u{1f600}', { maxLength: 1 }, { minLength: 2 }], ['ab', { pattern: '^a' }, { pattern: '^b' }],
    [[1, 2], { minItems: 2 }, { minItems: 3 }], [[1, 2], { maxItems: 2 }, { maxItems: 1 }], [{ a: 1, b: 2 }, { minProperties: 2 }, { minProperties: 3 }], [{ a: 1, b: 2 }, { maxProperties: 2 }, { maxProperties: 1 }],
    [{ a: 1, b: 2 }, { required: ['a', 'b'] }, { required: ['a', 'c'] }], [{ a: 1, b: 2 }, { dependentRequired: { a: ['b'], c: ['d'] } }, { dependentRequired: { a: ['b', 'c'] } }], [{ a: 1 }, { dependentRequired: { b: ['c'] } }, { dependentRequired: { a: ['c'] } }]
  ] as const) {
    const listed = { enum: [value, true] }
    const isMajor = (limit: object): boolean => lines(listed, { ...listed, ...limit }).some((line) => line.startsWith('major '))
    t.strictSame([isMajor(kept), isMajor(broken)], [false, true], JSON.stringify([value, kept, broken]))
  }
})

t.test('what is forbidden, and what is not any more, is told so', async (t) => {
  const list = (items: unknown): JsonSchema => ({ type: 'array', items })
  t.strictSame(lines(list(text), list(false)), ['major t input.x[]: allowed → not allowed'])
  t.strictSame(lines(list(false), list(text)), ['minor t input.x[]: not allowed → allowed'])
})

t.test('that objects differ in what they require is seen three levels deep', async (t) => {
  const nested = (levels: number, value: number): JsonSchema => levels === 0 ? { const: value } : { type: 'object', properties: { a: nested(levels - 1, value) }, required: ['a'] }
  for (const [levels, is] of [[1, true], [3, true], [4, false]] as const) {
    const [from, to] = [documentOf(nested(levels, 1)), documentOf(nested(levels, 2))]
    const comparison: Comparison = { from, to, depth: 0, begun: new Map(), proved: new Set(), budget: { left: 1000, assumed: 0 }, namedOnly: false, gapsIn: () => [] }
    t.equal(areDisjoint(factsOf([from.root], from) ?? [], to.root, comparison), is, `${levels} levels`)
  }
})

t.test('a reference leads to what a schema has itself, or nowhere', async (t) => {
  const $defs = { A: { const: 1 }, 'a/b~c d': { const: 2 }, list: [{ const: 3 }], text: 'x' }
  const { resolve } = documentOf({ $defs })
  for (const [ref, found] of [['#', { $defs }], ['#/$defs/A', $defs.A], ['#/$defs/a~1b~0c%20d', $defs['a/b~c d']], ['#/$defs/list/0', $defs.list[0]], ['#/$defs/A/const', 1]] as const) t.strictSame(resolve(ref), found, ref)
  for (const ref of ['#/$defs/B', '#/$defs/constructor', '#/$defs/list/1', '#/$defs/list/at', '#/$defs/text/length', '#/$defs/text/0', '#/$defs/A/const/x', '#/$defs/%zz', '#A', '', 'x#/$defs/A']) t.equal(resolve(ref), undefined, ref)
  for (const keyword of ['$id', '$anchor', '$dynamicAnchor']) t.equal(documentOf({ $defs, [keyword]: 'x' }).resolve('#/$defs/A'), undefined, keyword)
})

t.test('which limits of numbers are within others', async (t) => {
  const integer = { type: 'integer' }
  const number = { type: 'number' }
  for (const [type, before, after, is] of [
    [integer, { exclusiveMaximum: 5 }, { maximum: 4 }, true], [integer, { exclusiveMaximum: 5 }, { maximum: 3 }, false], [integer, { exclusiveMaximum: 4.5 }, { maximum: 4 }, true], [integer, { exclusiveMaximum: 4.5 }, { maximum: 3 }, false],
    [integer, { maximum: 4.5 }, { maximum: 4 }, true], [integer, { maximum: 4.5 }, { exclusiveMaximum: 5 }, true], [integer, { maximum: 4 }, { exclusiveMaximum: 4 }, false],
    [integer, { exclusiveMinimum: 5 }, { minimum: 6 }, true], [integer, { exclusiveMinimum: 5 }, { minimum: 7 }, false], [integer, { exclusiveMinimum: 4.5 }, { minimum: 5 }, true], [integer, { exclusiveMinimum: 4.5 }, { minimum: 6 }, false],
    [integer, { minimum: 4.5 }, { minimum: 5 }, true], [integer, { minimum: 4.5 }, { exclusiveMinimum: 4 }, true], [integer, { minimum: 4 }, { exclusiveMinimum: 4 }, false],
    [number, { exclusiveMaximum: 5 }, { maximum: 5 }, true], [number, { exclusiveMaximum: 5 }, { exclusiveMaximum: 5.5 }, true], [number, { maximum: 5 }, { exclusiveMaximum: 5 }, false], [number, { maximum: 4.5 }, { maximum: 4 }, false],
    [number, { exclusiveMinimum: 5 }, { minimum: 5 }, true], [number, { exclusiveMinimum: 5 }, { exclusiveMinimum: 4.5 }, true], [number, { minimum: 5 }, { exclusiveMinimum: 5 }, false], [number, { minimum: 4.5 }, { minimum: 5 }, false],
    [integer, {}, { multipleOf: 1 }, true], [integer, {}, { multipleOf: 2 }, false], [number, {}, { multipleOf: 1 }, false], [number, { multipleOf: 4 }, { multipleOf: 2 }, true], [number, { multipleOf: 4 }, { multipleOf: 3 }, false],
    [number, { multipleOf: 2.5 }, { multipleOf: 0.5 }, true], [number, { multipleOf: 0.5 }, { multipleOf: 2.5 }, false], [number, { multipleOf: 0.3 }, { multipleOf: 0.1 }, false], [number, { multipleOf: 0.1 }, { multipleOf: 0.1, minimum: 1 }, false]
  ] as const) t.equal(lines({ ...type, ...before }, { ...type, ...after }).some((line) => line.startsWith('major')), !is, JSON.stringify([type, before, after]))
})

t.test('what lists in lists contain is compared to the last one', async (t) => {
  const tree = (more: JsonSchema): JsonSchema => ({ $ref: '#/$defs/Tree', $defs: { Tree: { type: 'array', minItems: 1, ...more } } })
  const of = (inputSchema: JsonSchema): Contract => new Map([['t', { inputSchema }]])
  const inside = { $ref: '#/$defs/Tree' }
  t.equal(diffContracts(of(tree({ items: inside })), of(tree({ contains: inside }))).bump, 'minor')
  t.equal(diffContracts(of(tree({ items: inside })), of(tree({ contains: inside, minContains: 2 }))).bump, 'major')
})

t.test('a branch that forbids an argument names it no more, and one that takes anything for it does', async (t) => {
  const union = (x: unknown): JsonSchema => ({ anyOf: [{ type: 'object', properties: { kind: { const: 1 }, x } }, { type: 'object', properties: { kind: { const: 2 }, x: text } }] })
  const left = 'major t input.x.x: argument → removed from a branch of its union'
  t.ok(lines(union(text), union(false)).includes(left))
  t.notOk(lines(union(text), union(true)).includes(left))
  t.notOk(lines(union(false), union(text)).includes(left))
  t.ok(lines(union(true), union(false)).includes(left))
})

t.test('that an argument left a branch is certain if that branch has become one only', (t) => {
  const branch = (kind: unknown, ...names: readonly string[]): JsonSchema => ({ type: 'object', properties: { ...kind !== undefined && { kind: { const: kind } }, ...Object.fromEntries(names.map((name) => [name, text])) } })
  const before = { anyOf: [branch(1, 'old', 'a'), branch(2, 'old')] }
  for (const [title, after, certain] of [
    ['its kind is in one', { anyOf: [branch(1, 'a'), branch(2, 'old')] }, true],
    ['its kind is in two', { anyOf: [branch(1, 'a'), branch(1, 'b'), branch(2, 'old')] }, false],
    ['its kind is in one, and another has none', { anyOf: [branch(1, 'a'), branch(undefined, 'b'), branch(2, 'old')] }, true]
  ] as const) t.strictSame(leftBranches(documentOf(before), documentOf(after)), [{ path: 'old', certain }], title)
  t.end()
})
