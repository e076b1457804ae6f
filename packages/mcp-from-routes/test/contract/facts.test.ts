import t from 'tap'
import { documentOf } from '../../src/contract/document.ts'
import { ANY_TYPE, exactly, factsOf, holds, matches, NUMBER, numbersIn, refuses, schemasIn, textsIn, TYPE, typeOfValue, typesOf, typesOfKeyword, unionsOf, valuesOf } from '../../src/contract/facts.ts'
import type { JsonSchema } from '../../src/tool/json-schema.ts'

const text = { type: 'string' }
const document = documentOf({ $defs: { text, never: false, loop: { $ref: '#/$defs/loop' } } })
const to = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` })

t.test('facts are the schemas with all that they lead to, unless nothing can be valid', async (t) => {
  for (const schema of [false, { not: {} }, { not: true }, to('never'), { allOf: [text, false] }, { allOf: [{ allOf: [to('never')] }] }, { ...to('text'), allOf: [false] }]) {
    t.equal(factsOf([schema], document), undefined, JSON.stringify(schema))
    t.equal(factsOf([text, schema], document), undefined, JSON.stringify(schema))
  }
  for (const [schema, more] of [
    [text, []], [{ not: false }, []], [{ not: text }, []], [to('text'), [text]], [to('gone'), []], [to('loop'), [to('loop')]], [{ $ref: 1 }, []],
    [{ allOf: [text, true, { minLength: 1 }] }, [text, { minLength: 1 }]], [{ allOf: text }, []], [{ ...to('text'), allOf: [{ allOf: [{ minLength: 1 }] }] }, [text, { allOf: [{ minLength: 1 }] }, { minLength: 1 }]]
  ] as const) t.strictSame(factsOf([schema], document), [schema, ...more], JSON.stringify(schema))
  t.strictSame(factsOf([true, 1, to('text'), to('text')], document), [to('text'), text, to('text')])
})

t.test('types are told apart', async (t) => {
  for (const [name, bit, values] of [
    ['null', TYPE.null, [null]], ['boolean', TYPE.boolean, [false, true]], ['object', TYPE.object, [{}]], ['array', TYPE.array, [[], [{}]]], ['string', TYPE.string, ['', 'null']], ['integer', TYPE.integer, [0, -7, 1e9]]
  ] as const) {
    t.equal(typesOfKeyword(name, 0), bit, name)
    for (const value of values) t.equal(typeOfValue(value), bit, JSON.stringify(value))
  }
  t.equal(typeOfValue(0.5), TYPE.fraction)
  t.equal(typeOfValue(undefined), ANY_TYPE)
  t.equal(typesOfKeyword('number', 0), TYPE.integer + TYPE.fraction)
  t.equal(typesOfKeyword(['number', 'null'], 0), NUMBER + TYPE.null)
  for (const name of ['text', undefined, 1, ['text']]) t.strictSame([0, 64].map((unknown) => typesOfKeyword(name, unknown)), [0, 64], JSON.stringify(name))
  t.equal(Object.values(TYPE).reduce<number>((sum, bit) => sum + bit, 0), ANY_TYPE)
})

t.test('the types that values with some facts may have', async (t) => {
  const nested = (levels: number): JsonSchema => levels === 0 ? text : { anyOf: [nested(levels - 1)] }
  for (const [schema, types] of [
    [{}, ANY_TYPE], [text, TYPE.string], [{ type: ['string', 'null'], enum: [1, null] }, TYPE.null], [{ const: 1 }, TYPE.integer], [{ const: undefined }, ANY_TYPE], [{ enum: [0.5, 'a'] }, TYPE.fraction + TYPE.string], [{ enum: [] }, 0], [{ enum: 'a' }, ANY_TYPE],
    [{ anyOf: [text, { type: 'null' }] }, TYPE.string + TYPE.null], [{ oneOf: [text, { type: 'null' }] }, TYPE.string + TYPE.null], [{ anyOf: [text, { type: 'null' }], oneOf: [text, { type: 'array' }] }, TYPE.string],
    [{ anyOf: [text, false] }, TYPE.string], [{ anyOf: [false] }, 0], [{ anyOf: [to('text')] }, TYPE.string], [nested(3), TYPE.string], [nested(4), ANY_TYPE]
  ] as const) t.equal(typesOf([schema], document), types, JSON.stringify(schema))
  t.equal(typesOf([{ type: ['string', 'null'] }, { type: ['null', 'array'] }], document), TYPE.null)
  t.strictSame(unionsOf({ anyOf: [1], oneOf: [2], allOf: [3] }), [[1], [2]])
  t.strictSame(unionsOf({ anyOf: text }), [])
})

t.test('values that can be listed', async (t) => {
  const whole = { type: 'integer' }
  const range = (minimum: number, maximum: number): JsonSchema => ({ ...whole, minimum, maximum })
  const all = (least: number, most: number): readonly number[] => Array.from({ length: most - least + 1 }, (_, index) => least + index)
  for (const [facts, values, unlisted = values] of [
    [[{ const: 1 }], [1]], [[{ const: null }], [null]], [[{ enum: [1, 'a'] }], [1, 'a']], [[{ enum: [1, 'a'] }, text], ['a']], [[{ enum: [1, 2, 3] }, { enum: [3, 2] }], [3, 2]], [[{ enum: [1, 2] }, { const: 2 }], [2]], [[{ enum: [1, 2], const: 3 }], []],
    [[{ type: 'null' }], [null]], [[{ type: 'boolean' }], [false, true]], [[{ type: ['boolean', 'null'] }], [null, false, true]], [[{ type: 'boolean', not: text }], [false, true]], [[{ type: 'boolean', enum: 'a' }], [false, true]],
    [[text], undefined], [[{}], undefined], [[whole], undefined], [[{ type: 'number', minimum: 1, maximum: 2 }], undefined], [[{ type: ['null', 'string'] }], undefined], [[{ type: ['null', 'array'] }], undefined], [[{ type: ['null', 'object'] }], undefined],
    [[range(2, 4)], [2, 3, 4], null], [[range(-3, -1)], [-3, -2, -1], null], [[range(0, 0)], [0], null], [[range(3, 2)], [], null], [[range(9, 1)], [], null], [[range(1.5, 3.5)], [2, 3], null],
    [[{ ...whole, exclusiveMinimum: 1, exclusiveMaximum: 4 }], [2, 3], null], [[range(0, 9), { multipleOf: 3 }], [0, 3, 6, 9], null], [[range(0, 9), { minimum: 7, maximum: 8 }], [7, 8], null], [[{ type: ['integer', 'null'], minimum: 1, maximum: 1 }], [null, 1], null],
    [[range(1, 200)], all(1, 200), null], [[range(1, 201)], undefined], [[{ ...whole, minimum: 1 }], undefined], [[{ ...whole, maximum: 1 }], undefined],
    // Beyond these, numbers are not exact.
    [[range(2 ** 53 - 2, 2 ** 53 - 1)], [2 ** 53 - 2, 2 ** 53 - 1], null], [[range(2 ** 53 - 2, 2 ** 53)], undefined], [[range(-(2 ** 53), 1 - 2 ** 53)], undefined], [[range(2 ** 53, 2 ** 53 + 2)], undefined]
  ] as const) {
    t.strictSame(valuesOf(facts, document), values, JSON.stringify(facts))
    t.strictSame(valuesOf(facts, document, false), unlisted ?? undefined, `${JSON.stringify(facts)}, without ranges`)
  }
})

t.test('a schema for one value takes its parts apart', async (t) => {
  t.strictSame(exactly('a'), { const: 'a' })
  t.strictSame(exactly(null), { const: null })
  t.strictSame(exactly([1, ['a']]), { type: 'array', prefixItems: [{ const: 1 }, { type: 'array', prefixItems: [{ const: 'a' }], items: false, minItems: 1, maxItems: 1 }], items: false, minItems: 2, maxItems: 2 })
  t.strictSame(exactly({ a: 1, b: {} }), { type: 'object', properties: { a: { const: 1 }, b: { type: 'object', properties: {}, required: [], additionalProperties: false } }, required: ['a', 'b'], additionalProperties: false })
})

t.test('which values keep to a keyword, up to its limit', async (t) => {
  for (const [keyword, limit, kept, broken] of [
    ['type', 'string', ['a'], [1, null]], ['type', ['integer', 'null'], [1, null], [0.5, 'a']], ['type', 'text', ['a', 1], []], ['const', { a: [1], b: 2 }, [{ b: 2, a: [1] }], [{ a: [1] }, null, { a: [2], b: 2 }]], ['enum', [1, { a: 1 }], [1, { a: 1 }], [2, '1', {}]],
    ['minimum', 2, [2, 3, '1', null], [1.9]], ['maximum', 2, [2, 1, '3', null], [2.1]], ['exclusiveMinimum', 2, [2.1, '1', null], [2, 1]], ['exclusiveMaximum', 2, [1.9, '3', null], [2, 3]], ['multipleOf', 3, [0, 6, -3, '4'], [4, 1.5]],
    ['minLength', 2, ['ab', 'abc', 1, ['a']], ['a', '\u{1f600}']], ['maxLength', 1, ['', 'a', '\u{1f600}', 12, ['a', 'b']], ['ab']], ['pattern', '^a.$', ['ab', 'a\u{1f600}', 1, ['b']], ['b', 'abc']],
    ['minItems', 1, [[1], [1, 2], '', {}], [[]]], ['maxItems', 1, [[], [1], 'ab', { a: 1, b: 2 }], [[1, 2]]], ['uniqueItems', true, [[], [1, '1'], [{}, []], 'aa'], [[1, 1], [{ a: 1, b: 2 }, { b: 2, a: 1 }]]], ['uniqueItems', false, [[1, 1]], []],
    ['minProperties', 1, [{ a: 1 }, { a: 1, b: 2 }, [], ''], [{}]], ['maxProperties', 1, [{}, { a: 1 }, [1, 2], 'ab'], [{ a: 1, b: 2 }]],
    ['required', ['a', 'b'], [{ a: 1, b: 2, c: 3 }, [], 'a'], [{ a: 1 }, { b: 2 }, {}]], ['required', 'a', [{}], []],
    ['dependentRequired', { a: ['b', 'c'] }, [{}, { b: 1 }, { a: 1, b: 2, c: 3 }, [], 'a'], [{ a: 1 }, { a: 1, b: 2 }, { a: 1, c: 2 }]], ['dependentRequired', { a: ['b'], c: ['d'] }, [{ a: 1, b: 2 }, { a: 1, b: 2, c: 3, d: 4 }], [{ a: 1, b: 2, c: 3 }, { c: 3, d: 4, a: 1 }]], ['dependentRequired', 1, [{ a: 1 }], []]
  ] as const) {
    for (const [values, is] of [[kept, true], [broken, false]] as const) {
      for (const value of values) {
        t.equal(holds(keyword, limit, value), is, JSON.stringify([keyword, limit, value]))
        t.equal(refuses({ title: 'T', [keyword]: limit }, value), !is, JSON.stringify([keyword, limit, value]))
      }
    }
  }
  for (const [keyword, limit, value] of [['enum', 'a', 'a'], ['pattern', '(', 'a'], ['properties', {}, {}], ['format', 'uuid', 'a'], ['', 1, 1]] as const) {
    t.equal(holds(keyword, limit, value), undefined, keyword)
    t.equal(refuses({ [keyword]: limit }, value), false, keyword)
  }
  t.equal(refuses({ minLength: 1, maxLength: 2 }, 'abc'), true)
  t.equal(refuses({ minLength: 1, maxLength: 2 }, 'ab'), false)
})

t.test('what keywords contain is read where it is of their kind', async (t) => {
  t.strictSame([matches('^\\p{L}$', '\u{e4}'), matches('^.$', '\u{1f600}'), matches('^a', 'ba'), matches('\\_', '_')], [true, true, false, undefined])
  t.strictSame(textsIn(['a', 1, 'b', null]), ['a', 'b'])
  t.strictSame(textsIn('a'), [])
  t.strictSame([...schemasIn({ a: text, b: true })], [['a', text], ['b', true]])
  for (const map of [undefined, null, [text], 'a']) t.equal(schemasIn(map).size, 0)
  const map = { a: text }
  t.equal(schemasIn(map), schemasIn(map), 'they are looked up once')
  t.strictSame(numbersIn([{ minimum: 1 }, { minimum: '2' }, {}, { minimum: 0, maximum: 3 }], 'minimum'), [1, 0])
})
