import t from 'tap'
import { arePlain, isShown } from '../../src/contract/certainty.ts'
import { documentOf } from '../../src/contract/document.ts'
import { typesOf } from '../../src/contract/facts.ts'
import type { JsonSchema } from '../../src/tool/json-schema.ts'

const document = documentOf({})
const number = { type: 'number' }
const text = { type: 'string' }

t.test('keywords that leave no doubt that there are values', async (t) => {
  const plain = ['$ref', 'additionalProperties', 'allOf', 'const', 'enum', 'exclusiveMaximum', 'exclusiveMinimum', 'format', 'items', 'maxItems', 'maxLength', 'maximum', 'minItems', 'minLength', 'minimum', 'multipleOf', 'pattern', 'prefixItems', 'properties', 'required', 'type',
    'title', 'x-order', 'maxProperties', 'minProperties', 'uniqueItems']
  for (const word of plain) t.equal(arePlain([{}, { [word]: 1 }]), true, word)
  for (const word of ['not', 'contains', 'patternProperties', 'if', 'anyOf', 'oneOf', 'x-extensible-enum', '']) t.equal(arePlain([{ type: 'object' }, { [word]: 1 }]), false, word)
  for (const [facts, is] of [
    [[{ properties: {} }, { minProperties: 1 }], false], [[{ required: [] }, { maxProperties: 1 }], false], [[{ additionalProperties: {} }, { maxProperties: 1 }], true],
    [[{ minItems: 1 }, { uniqueItems: true }], true], [[{ minItems: 2 }, { uniqueItems: true }], false], [[{ minItems: 2 }], true], [[{ minItems: -1, uniqueItems: true }], true]
  ] as const) t.equal(arePlain(facts), is, JSON.stringify(facts))
})

/** Whether an example is found that keeps to the schema and breaks the limit. */
const isFound = (schema: JsonSchema, limit: JsonSchema): boolean => Object.entries(limit).every(([keyword, value]) => isShown(keyword, value, [schema], typesOf([schema], document), document))

t.test('the one example that is close enough to a limit is found', async (t) => {
  const between = (exclusiveMinimum: number, exclusiveMaximum: number): JsonSchema => ({ ...number, exclusiveMinimum, exclusiveMaximum })
  const long = (type: string): JsonSchema => ({ type: ['string', type], minLength: 200_000 })
  for (const [schema, limit, is] of [
    [between(50.2, 50.9), { maximum: 50.6 }, true], [between(50.2, 50.9), { minimum: 50.45 }, true], [between(50.2, 51.5), { maximum: 51.05 }, true], [between(50.2, 51.5), { minimum: 50.55 }, true], [between(50.2, 50.4), { maximum: 50.3 }, false],
    [between(-50.9, -50.2), { maximum: -50.45 }, true], [between(-50.9, -50.2), { minimum: -50.6 }, true], [{ ...number, minimum: 50.2, maximum: 50.3 }, { exclusiveMinimum: 50.2 }, true], [{ ...number, minimum: 50.2, maximum: 50.3 }, { exclusiveMaximum: 50.3 }, true],
    ...[0, 1, -1, 0.5].map((one) => [between(one - 0.07, one + 0.09), { const: 'a' }, true] as const), [between(2.9, 3.1), { const: 'a' }, false],
    [{ ...between(30, 40), multipleOf: 7 }, { const: 'a' }, true], [{ ...between(27.7, 28.4), multipleOf: 7 }, { const: 'a' }, true], [{ ...between(30, 46), multipleOf: 7 }, { multipleOf: 6 }, true], [{ ...between(30, 46), multipleOf: 7 }, { multipleOf: 5 }, true], [{ type: 'integer' }, { multipleOf: 1 }, false], [{ ...between(30, 34), multipleOf: 7 }, { const: 'a' }, false],
    [{ ...text, pattern: '^a{7}$' }, { maxLength: 6 }, true], [{ ...text, pattern: '^a{5}$' }, { minLength: 6 }, true], [{ ...text, pattern: '^a{6}$', maxLength: 6 }, { pattern: '^b' }, true], [{ ...text, pattern: '^a{8}$' }, { maxLength: 6 }, false],
    [long('null'), { type: 'string' }, true], [long('boolean'), { const: true }, true], [long('boolean'), { const: false }, true], [long('integer'), { type: 'string' }, true], [long('number'), { type: 'string' }, true], [long('object'), { type: 'string' }, false],
    [{ type: ['array', 'string'] }, { type: 'array' }, true], [{ type: 'boolean' }, { const: true }, true], [{ enum: ['ab', 'xyz'] }, { maxLength: 2 }, true], [{ enum: ['ab', 'xyz'] }, { maxLength: 3 }, false],
    [text, { maxLength: 1.5 }, false], [text, { maxLength: -1 }, true], [{ ...text, title: 7 }, { maxLength: 5 }, true],
    [{ ...text, not: { const: 'a' } }, { maxLength: 1 }, false], [text, { pattern: '(' }, false], [{ ...text, pattern: '(' }, { maxLength: 1 }, false]
  ] as const) t.equal(isFound(schema, limit), is, JSON.stringify([schema, limit]))
})

t.test('an example keeps to each keyword beside the limit', async (t) => {
  for (const [schema, limit] of [
    [{ ...number, exclusiveMaximum: 5, minimum: 5 }, { const: 1 }], [{ ...number, exclusiveMinimum: 5, maximum: 5 }, { const: 1 }], [{ ...number, maximum: 4, minimum: 5 }, { const: 1 }], [{ ...text, minLength: 3, maxLength: 2 }, { pattern: '^b' }],
    [{ ...number, multipleOf: 7, exclusiveMinimum: 28, exclusiveMaximum: 35 }, { const: 1 }], [{ ...text, pattern: '^xy$' }, { maxLength: 1 }], [{ ...text, enum: [] }, { maxLength: 1 }], [{ const: 'a', pattern: '^b' }, { minLength: 5 }]
  ] as const) t.equal(isFound(schema, limit), false, JSON.stringify([schema, limit]))
  t.equal(isFound({ ...text, required: ['a'], properties: {} }, { maxLength: 5 }), true, 'what is about objects says nothing of texts')
})

t.test('each format has its example', async (t) => {
  for (const [format, sample] of Object.entries({
    date: '2026-01-31',
    'date-time': '2026-01-31T12:00:00Z',
    duration: 'P1D',
    email: 'a@example.com',
    hostname: 'example.com',
    ipv4: '192.0.2.1',
    ipv6: '2001:db8::1',
    'json-pointer': '/a',
    time: '12:00:00Z',
    uri: 'https://example.com/a',
    'uri-reference': 'a',
    uuid: '123e4567-e89b-12d3-a456-426614174000'
  })) {
    const { length } = sample
    t.strictSame([isFound({ ...text, format }, { maxLength: length - 1 }), isFound({ ...text, format }, { maxLength: length })], [true, false], format)
    t.equal(isFound({ ...text, format }, { minLength: length + 1 }), true, format)
  }
  t.strictSame(['double', 'float', 'int32', 'int64'].map((format) => isFound({ ...number, format }, { maximum: 0.4 })), [true, true, true, true])
  t.strictSame(['double', 'float', 'int32', 'int64'].map((format) => isFound({ ...number, format }, { maximum: 0.6 })), [false, false, true, true])
  t.strictSame(['int32', 'int64'].map((format) => isFound({ ...number, format }, { maximum: 1 })), [false, false])
  t.equal(isFound({ ...text, format: 'ulid' }, { maxLength: 1 }), false)
  t.equal(isFound({ ...text, format: 7 }, { maxLength: 1 }), false)
})
