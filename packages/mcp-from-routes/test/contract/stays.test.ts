import t from 'tap'
import { diffContracts, nameOfFinding } from '../../src/contract/index.ts'
import type { Contract } from '../../src/contract/index.ts'
import type { JsonSchema } from '../../src/index.ts'

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
    [[1, 2], { uniqueItems: true }, { minItems: 3 }], [[1, 1], { uniqueItems: false }, { uniqueItems: true }], [4, { type: ['integer', 'boolean'] }, { type: ['string', 'boolean'] }],
    [{ a: 1, b: 2 }, { required: ['a', 'b'] }, { required: ['a', 'c'] }], [{ a: 1, b: 2 }, { dependentRequired: { a: ['b'], c: ['d'] } }, { dependentRequired: { a: ['b', 'c'] } }], [{ a: 1 }, { dependentRequired: { b: ['c'] } }, { dependentRequired: { a: ['c'] } }]
  ] as const) {
    const listed = { enum: [value, true] }
    const isMajor = (limit: object): boolean => lines(listed, { ...listed, ...limit }).some((line) => line.startsWith('major '))
    t.strictSame([isMajor(kept), isMajor(broken)], [false, true], JSON.stringify([value, kept, broken]))
    // One that a limit has always refused can be taken off the list.
    const isMissed = (limit: object): boolean => lines({ ...listed, ...limit }, { const: true }).some((line) => line.startsWith('major'))
    t.strictSame([isMissed(kept), isMissed(broken)], [true, false], JSON.stringify([value, kept, broken]))
  }
})

t.test('what is forbidden, and what is not any more, is told so', async (t) => {
  const list = (items: unknown): JsonSchema => ({ type: 'array', items })
  t.strictSame(lines(list(text), list(false)), ['major t input.x[]: allowed → not allowed'])
  t.strictSame(lines(list(false), list(text)), ['minor t input.x[]: not allowed → allowed'])
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
  t.equal(diffContracts(of(tree({ items: inside, minItems: 2 })), of(tree({ items: inside }))).bump, 'minor')
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

t.test('which values two schemas share, to the last one', async (t) => {
  const integer = { type: 'integer' }
  const all = [text, { type: 'number' }, { type: 'boolean' }, { type: 'null' }, { type: 'array' }, { type: 'object' }]
  const range = (least: number, most: number): JsonSchema => ({ ...integer, minimum: least, maximum: most })
  const listed = (least: number, most: number): JsonSchema => ({ enum: Array.from({ length: most - least + 1 }, (_, n) => least + n) })
  const list = (more: object): JsonSchema => ({ type: 'array', ...more })
  for (const [before, after, is] of [
    [range(150, 160), listed(150, 160), true], [range(150, 160), listed(150, 159), false], [range(150, 160), listed(151, 160), false],
    [range(-10, 189), listed(-10, 189), true], [range(-10, 190), listed(-10, 190), false],
    [{ ...integer, exclusiveMinimum: 1, exclusiveMaximum: 3 }, listed(1, 3), true], [{ type: ['integer', 'null'], minimum: 1, maximum: 2 }, { enum: [1, 2, null] }, true],
    [range(1, 3), { anyOf: [{ const: 1 }, { enum: [2, 3] }] }, true], [range(1, 3), { anyOf: [{ const: 1 }, { const: 2 }] }, false],
    [range(1, 3), { allOf: [range(1, 3), { not: { const: 4 } }] }, true], [range(1, 3), { allOf: [range(1, 3), { not: { const: 3 } }] }, false],
    [{}, { anyOf: all }, true], ...all.map((one) => [{}, { anyOf: all.filter((other) => other !== one) }, false] as const),
    [{ maxLength: 5, allOf: [{ anyOf: [text, integer] }] }, { anyOf: [{ ...text, maxLength: 5 }, integer] }, true],
    [{ anyOf: [text, integer], allOf: [{ maxLength: 5 }] }, { anyOf: [{ ...text, maxLength: 5 }, integer] }, true],
    [{ anyOf: [text, integer], maxLength: 5 }, { anyOf: [{ ...text, maxLength: 5 }, integer] }, true],
    [list({ items: text, maxItems: 2 }), list({ prefixItems: [text, text, integer], items: integer, maxItems: 2 }), true],
    [list({ items: text, maxItems: 2 }), list({ prefixItems: [text, integer], items: text, maxItems: 2 }), false],
    [list({ items: text, maxItems: 3 }), list({ prefixItems: [text, text], items: integer, maxItems: 3 }), false],
    [list({ prefixItems: [text], items: integer }), list({ prefixItems: [text, integer], items: integer }), true],
    [list({ prefixItems: [text], items: integer }), list({ prefixItems: [text, text], items: integer }), false],
    [list({ items: text, maxItems: 1 }), list({ items: text, maxItems: 1, uniqueItems: true }), true], [list({ items: text, maxItems: 2 }), list({ items: text, maxItems: 2, uniqueItems: true }), false],
    [list({ prefixItems: [text], items: false }), list({ prefixItems: [text], maxItems: 1 }), true], [list({ prefixItems: [text, text], items: false }), list({ prefixItems: [text, text], maxItems: 1 }), false],
    [list({}), list({ minItems: 0 }), true], [list({ minItems: 2 }), list({ minItems: 2, maxItems: 2 }), false],
    [list({}), list({ contains: text, minContains: 0 }), true], [list({}), list({ contains: text, minContains: 0, maxContains: 2 }), false], [list({ contains: text }), list({ contains: integer }), false],
    [list({ items: integer, minItems: 1 }), list({ items: integer, minItems: 1, contains: text }), false], [list({ prefixItems: [integer], items: text, minItems: 1 }), list({ prefixItems: [integer], items: text, minItems: 1, contains: text }), false],
    ...([[{ minContains: 2 }, true], [{ minContains: 3 }, false], [{ maxContains: 3 }, true], [{ maxContains: 2 }, false]] as const).map(([more, is]) => [list({ items: text, minItems: 2, maxItems: 3 }), list({ items: text, minItems: 2, maxItems: 3, contains: text, ...more }), is] as const),
    [list({}), list({ unevaluatedItems: true }), true], [list({}), list({ unevaluatedItems: false }), false], [text, { ...text, unevaluatedItems: false }, true],
    [{ type: 'object' }, { type: 'object', unevaluatedProperties: true }, true], [{ type: 'object' }, { type: 'object', unevaluatedProperties: false }, false], [text, { ...text, unevaluatedProperties: false }, true],
    [{ ...text, pattern: '^(?:a)b' }, { ...text, pattern: '^(a)b' }, true], [{ ...text, pattern: '(?:a)b' }, { ...text, pattern: '(a)b' }, true], [{ ...text, pattern: ':(a)' }, { ...text, pattern: ':(?:a)' }, true],
    [{ ...text, pattern: '^[^ab]$' }, { ...text, pattern: '^[^ba]$' }, true], [{ ...text, pattern: '^[^ab]$' }, { ...text, pattern: '^[ab]$' }, false],
    [{ ...text, pattern: '^[0-9a-]$' }, { ...text, pattern: '^[a\\d-]$' }, true], [{ ...text, pattern: '^\\w{0,}b{1,}c{0,1}$' }, { ...text, pattern: '^[a-zA-Z_0-9]*b+c?$' }, true]
  ] as const) t.equal(lines(before, after).some((line) => line.startsWith('major')), !is, JSON.stringify([before, after]))
})

t.test('an example is found close to each limit', async (t) => {
  const both = { type: 'number', allOf: [{ multipleOf: 7 }, { multipleOf: 8 }] }
  const steps = { type: 'number', multipleOf: 7 }
  for (const [before, more, certain] of [
    [text, { maxLength: 99_999 }, true], [text, { maxLength: 100_000 }, false],
    [both, { maximum: 50 }, true], [both, { minimum: -50 }, true], [{ ...steps, maximum: 59 }, { maximum: 54 }, true],
    [{ type: 'integer' }, { maximum: 50 }, true], [{ type: 'integer' }, { minimum: -50 }, true],
    [{ type: 'number', minimum: 5 }, { type: 'integer' }, true], [{ type: 'number', maximum: -5 }, { type: 'integer' }, true], [{ type: 'number', minimum: 5 }, { exclusiveMinimum: 5 }, true],
    ...['a', 'A', '0', ' ', '-'].map((letter) => [{ ...text, pattern: `^${letter}+$` }, { maxLength: 3 }, true] as const),
    [{ ...text, pattern: '^$' }, { pattern: 'x' }, true], [{ ...text, pattern: '^a$' }, { pattern: '^b' }, true], [{ ...text, pattern: '^ab$' }, { pattern: '^c' }, false]
  ] as const) t.ok(lines(before, { ...before, ...more }).some((line) => line.startsWith(certain ? 'major ' : 'major? ')), JSON.stringify([before, more]))
})

t.test('a limit at the bottom of deep objects and lists is the one thing that is told', async (t) => {
  for (const around of [
    (inner: JsonSchema) => ({ type: 'object', properties: { a: inner }, additionalProperties: false }),
    (inner: JsonSchema) => ({ type: 'object', properties: { a: inner }, patternProperties: { '^x': text } }),
    (inner: JsonSchema) => ({ type: 'object', patternProperties: { '^x': inner }, additionalProperties: false }),
    (inner: JsonSchema) => ({ type: 'array', prefixItems: [inner], items: false })
  ]) {
    const nested = (most: number): JsonSchema => Array.from({ length: 18 }).reduce<JsonSchema>((inner) => around(inner), { ...text, maxLength: most })
    t.match(lines(nested(9), nested(5)).join('\n'), /^major\?? t [^ \n]*: maxLength 9 → 5$/)
  }
})

t.test('an argument of an item is gone where the item gets a schema of its own', async (t) => {
  const item = (...names: readonly string[]): JsonSchema => ({ type: 'object', properties: Object.fromEntries(names.map((name) => [name, text])) })
  const before = { type: 'array', prefixItems: [text], items: item('a', 'b') }
  t.strictSame(lines(before, { ...before, prefixItems: [text, item('a')] }), ['major t input.x[1].b: argument → removed'])
})
