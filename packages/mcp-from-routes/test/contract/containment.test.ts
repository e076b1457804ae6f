import t from 'tap'
import { gapsBetween } from '../../src/contract/containment.ts'
import type { JsonSchema } from '../../src/index.ts'

const text = { type: 'string' }
const whole = { type: 'integer' }
const object = (more: object): JsonSchema => ({ type: 'object', ...more })
const closed = (properties: object, more: object = {}): JsonSchema => object({ properties, additionalProperties: false, ...more })
const ref = { $ref: '#/$defs/X' }
const unreadable = { properties: { a: text }, patternProperties: { '[': text } }
const tree = (more: object): JsonSchema => ({ ...ref, $defs: { X: object(more) } })
/** Where a value of one schema may be invalid for the other, by which keyword, with `?` if that is not certain. */
const gaps = (from: JsonSchema, to: JsonSchema, namedOnly?: boolean): readonly string[] => gapsBetween(from, to, namedOnly).map(({ path, keyword, certain }) => `${path} ${keyword}${certain ? '' : '?'}`.trim())

const rows: Array<[from: JsonSchema, to: JsonSchema, gaps: readonly string[]]> = [
  // names of properties
  [closed({ a: text, bc: text }), object({ propertyNames: { maxLength: 2 } }), []],
  [closed({ a: text, bc: text }), object({ propertyNames: { maxLength: 1 } }), ['propertyNames']],
  [closed({ a: text }, { patternProperties: { '^x': text } }), object({ propertyNames: { maxLength: 2 } }), ['propertyNames?']],
  [object({ properties: { a: text } }), object({ propertyNames: { maxLength: 2 } }), ['propertyNames']],
  [object({ properties: { a: text } }), object({ propertyNames: text }), []],
  [object({}), object({ propertyNames: { maxLength: 2 } }), ['propertyNames']],
  [object({}), object({ propertyNames: { not: { const: 'a' } } }), ['propertyNames?']],
  [object({}), object({ propertyNames: { maxLength: 2, not: { const: 'a' } } }), ['propertyNames?']],
  [object({ propertyNames: false }), object({ propertyNames: { maxLength: 2 } }), []],
  [object({ propertyNames: { maxLength: 2 } }), object({ propertyNames: { maxLength: 3 } }), []],
  // how many
  [object({ minProperties: 3, required: ['a'] }), object({ minProperties: 2 }), []],
  [object({ required: ['a', 'b'] }), object({ minProperties: 2 }), []],
  [object({ required: ['a'], allOf: [{ required: ['a'] }] }), object({ minProperties: 2 }), ['minProperties']],
  [object({ required: ['a', 'b'], minProperties: 1 }), object({ minProperties: 3 }), ['minProperties?']],
  [closed({ a: text, b: text }), object({ maxProperties: 2 }), []],
  [closed({ a: text, b: text }), object({ maxProperties: 1 }), ['maxProperties']],
  [object({ properties: { a: text } }), object({ maxProperties: 1 }), ['maxProperties']],
  [closed({ a: text }, { patternProperties: { '^x': text } }), object({ maxProperties: 1 }), ['maxProperties?']],
  [object({ maxProperties: 2 }), object({ maxProperties: 2, minProperties: 0 }), []],
  // what depends on others
  [closed({ b: text }), object({ dependentRequired: { a: ['b'] } }), []],
  [object({}), object({ dependentRequired: { a: ['b'] } }), ['a dependentRequired']],
  [object({ required: ['b'] }), object({ dependentRequired: { a: ['b'] } }), []],
  [object({ required: ['b'] }), object({ dependentRequired: { a: ['b', 'c'] } }), ['a dependentRequired']],
  [object({ dependentRequired: { a: ['b', 'c'] } }), object({ dependentRequired: { a: ['b'] } }), []],
  [object({ dependentRequired: { a: ['b'] } }), object({ dependentRequired: { a: ['c'] } }), ['a dependentRequired?']],
  [object({ dependentRequired: { b: ['c'] } }), object({ dependentRequired: { a: ['c'] } }), ['a dependentRequired?']],
  [object({ patternProperties: { '[': text } }), object({ dependentRequired: { a: ['b'] } }), ['a dependentRequired?']],
  [closed({ b: text }), object({ dependentSchemas: { a: { required: ['b'] } } }), []],
  [object({}), object({ dependentSchemas: { a: { required: ['b'] } } }), ['b required']],
  [object({}), object({ dependentSchemas: { a: { required: ['a'] } } }), []],
  [object({ patternProperties: { '[': text } }), object({ dependentSchemas: { a: { required: ['b'] } } }), ['b required?']],
  // objects in objects
  ...[{ properties: { x: ref } }, { additionalProperties: ref }, { patternProperties: { '^x': ref } }].map((inside): [JsonSchema, JsonSchema, readonly string[]] => [tree({ ...inside, minProperties: 1 }), tree(inside), []]),
  // what stays, whatever it means
  [object({ properties: { a: { unevaluatedItems: false }, b: text } }), object({ properties: { a: { unevaluatedItems: false }, b: whole } }), ['b type']],
  // a circle that leads to no smaller value
  [text, { ...ref, $defs: { X: { allOf: [ref] } } }, ['$ref?']],
  // what is forbidden
  [closed({ a: text }), closed({ a: whole }), ['a type']],
  [object({ properties: { a: { allOf: [text, whole] } } }), object({ properties: { a: false } }), []],
  [object({ properties: { a: text } }), object({ properties: { a: false } }), ['a false']],
  // patterns that are in every string, and one that is not in those of two lines
  ...['', '^', '$', '.*', '^.*', '.*$', '[\\s\\S]*', '^[\\s\\S]*$', '^[^]*$', '[^]*'].map((pattern): [JsonSchema, JsonSchema, readonly string[]] => [text, { ...text, pattern }, []]),
  [text, { ...text, pattern: '^.*$' }, ['pattern?']],
  // names that are no words
  ...['a b', '1a', 'a.b', ''].map((name): [JsonSchema, JsonSchema, readonly string[]] => [object({ properties: { [name]: { properties: { é: text } } } }), object({ properties: { [name]: { properties: { é: whole } } } }), [`[${JSON.stringify(name)}].é type`]]),
  ...['a-b', '$a', '_1', '名'].map((name): [JsonSchema, JsonSchema, readonly string[]] => [object({ properties: { [name]: text } }), object({ properties: { [name]: whole } }), [`${name} type`]]),
  // patterns of names
  [object({ additionalProperties: text }), object({ patternProperties: { '^x': text } }), []],
  [object({ additionalProperties: text }), object({ patternProperties: { '^x': whole } }), ['* type']],
  [object({}), object({ patternProperties: { '^x': text } }), ['* type']],
  [object({ patternProperties: { '^x': whole }, additionalProperties: text }), object({ patternProperties: { '^x': whole }, additionalProperties: text, minProperties: 0 }), []],
  [object({ patternProperties: { '^x': whole }, additionalProperties: text }), object({ additionalProperties: text }), ['* type?']],
  [object({ patternProperties: { '^x': text }, additionalProperties: text }), object({ additionalProperties: text }), []],
  [object({ patternProperties: { '^x': text, '^y': whole }, additionalProperties: text }), object({ patternProperties: { '^x': text }, additionalProperties: text }), ['* type?']],
  [object({ patternProperties: { '^x': text } }), object({ properties: { xa: text } }), []],
  [object({ patternProperties: { '^x': text } }), object({ properties: { xa: whole } }), ['xa type?']],
  [object({ patternProperties: { '^x': text }, properties: { xa: { maxLength: 3 } } }), object({ properties: { xa: { type: 'string', maxLength: 3 } } }), []],
  [object({ patternProperties: { '[': text }, properties: { a: text } }), object({ properties: { a: text } }), ['a type?']],
  [object({ properties: { a: text } }), object({ patternProperties: { '[': text }, properties: { a: text } }), ['a false', '* type']],
  // conditions
  [{ ...text, $defs: { X: { minLength: 9 } } }, { ...text, if: ref, then: { minLength: 5 }, $defs: { X: { maxLength: 1 } } }, ['if?']],
  [text, { if: { minLength: 5 }, then: { minLength: 3 } }, []],
  [whole, { if: ref, then: false, $defs: { X: text } }, []],
  [{ ...text, minLength: 5 }, { if: { minLength: 3 }, else: false }, []],
  [{ ...text, minLength: 2 }, { if: { minLength: 3 }, else: false }, ['if?']],
  // branches that differ at the same place
  ...[[{ properties: { a: whole } }, unreadable], [unreadable, { properties: { a: whole } }]].map((branches): [JsonSchema, JsonSchema, readonly string[]] => [object({ anyOf: branches }), object({ properties: { a: { type: 'null' } } }), ['a type']]),
  [object({ anyOf: [unreadable] }), object({ properties: { a: { type: 'null' } } }), ['a type?']],
  // what neither side describes
  [object({}), object({ unevaluatedProperties: true }), []],
  [object({}), object({ unevaluatedProperties: false }), ['unevaluatedProperties?']],
  [text, { unevaluatedProperties: false }, []],
  [{ type: 'array' }, { unevaluatedItems: true }, []],
  [{ type: 'array' }, { unevaluatedItems: false }, ['unevaluatedItems?']],
  [text, { unevaluatedItems: false }, []],
  [{ type: 'array' }, { unevaluatedProperties: false }, []],
  [object({}), { unevaluatedItems: false }, []]
]
for (const [from, to, wanted] of rows) t.test(`from ${JSON.stringify(from)} to ${JSON.stringify(to)}`, async (t) => t.strictSame(gaps(from, to), wanted))

t.test('properties that nobody was told of count as not being there, unless the object is a map', async (t) => {
  const to = object({ properties: { a: text, b: text } })
  t.strictSame(gaps(object({ properties: { a: text } }), to, true), [])
  t.strictSame(gaps(object({ properties: { a: text } }), to), ['b type'])
  t.strictSame(gaps(object({ properties: { a: text } }), object({ properties: { a: whole } }), true), ['a type'])
  t.strictSame(gaps(object({ not: to }), object({ not: object({ properties: { a: text } }) }), true), ['not?'], 'but not in what is ruled out')
  for (const from of [{}, { properties: {} }, { properties: { a: text }, patternProperties: { '^x': text } }, { properties: { a: text }, propertyNames: { maxLength: 9 } }, { properties: { a: text }, unevaluatedProperties: true }, { properties: { a: text }, additionalProperties: true }]) {
    t.match(gaps(object(from), to, true).join(), /\bb type/, JSON.stringify(from))
  }
})

/** Definitions that each use the next one twice, down to the given one. */
const chain = (length: number, last: JsonSchema): JsonSchema => {
  const next = (index: number): JsonSchema => ({ $ref: `#/$defs/D${index}` })
  const links = Array.from({ length }, (_, index) => [`D${index}`, object({ properties: { a: next(index + 1), b: next(index + 1) } })])
  return { ...next(0), $defs: { ...Object.fromEntries(links), [`D${length}`]: last } }
}

t.test('what is proved once is not compared again', async (t) => t.strictSame(gaps(chain(25, text), chain(25, {})), []))

t.test('what was proved under an assumption is compared again where nothing is assumed', async (t) => {
  const from = (c: JsonSchema): JsonSchema => object({
    properties: { x: { $ref: '#/$defs/A' }, y: { $ref: '#/$defs/B' } },
    $defs: { A: object({ properties: { b: { $ref: '#/$defs/B' }, c } }), B: object({ properties: { a: { $ref: '#/$defs/A' } } }) }
  })
  t.strictSame(gaps(from(text), from(whole)), ['x.c type', 'y.a.c type'])
})
