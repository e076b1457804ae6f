import t from 'tap'
import type { JsonSchema } from '../src/tool/json-schema.ts'
import { declaredFromRoute, outputFromRoute } from '../src/tool/output.ts'
import type { SchemaReader } from '../src/tool/schema.ts'

/** Reads every schema as it is, beside the definitions. */
function readerOf ($defs: Record<string, JsonSchema> = {}): SchemaReader {
  const definitions = new Map(Object.entries($defs))
  const read = (schema: unknown): JsonSchema => { if (schema === undefined) throw new Error('no schema'); return schema as JsonSchema }
  return { read, definitions: () => definitions, close: (schema) => definitions.size === 0 ? schema : { ...schema, $defs } }
}

const [text, number, nothing] = [{ type: 'string' }, { type: 'number' }, { type: 'null' }]
const ref = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` })
const closed = { type: 'object', properties: { a: text }, required: ['a'], additionalProperties: false }
const open = { type: 'object', properties: { a: text }, required: ['a'] }
const loose = { type: 'object', properties: { a: text } }
const object = (properties: object): JsonSchema => ({ type: 'object', properties })
const shut = { Shut: { ...object({ n: ref('Shut') }), additionalProperties: false } }
const wrapped = (schema: object): object => ({ type: 'object', properties: { result: schema }, required: ['result'] })

t.test('whether a route has an output schema', async (t) => {
  // A schema that says nothing may be a string, which Fastify sends as text.
  for (const [response, wanted] of [
    [undefined, false], [[], false], [{}, false], [{ 404: closed, default: closed, '3xx': closed }, false],
    [{ 200: closed }, [[200, '*/*']]], [{ 201: closed }, [[201, '*/*']]], [{ '2xx': closed }, [['2xx', '*/*']]], [{ '2XX': closed, 404: text }, [['2xx', '*/*']]],
    [{ 200: closed, 201: number }, [[200, '*/*'], [201, '*/*']]],
    [{ 200: closed, 204: closed }, false], [{ 200: closed, 205: closed }, false], [{ 204: { type: 'null' } }, false], [{ 200: nothing }, false],
    [{ 200: true }, false], [{ 200: false }, false], [{ 200: 'object' }, false],
    ...['application/json', 'application/problem+json', 'text/json'].map((type) => [{ 200: { content: { [type]: { schema: closed } } } }, [[200, type]]]),
    ...['application/JSON', 'application/json; charset=utf-8', 'json', 'text/plain', 'application/jsonl'].map((type) => [{ 200: { content: { [type]: { schema: closed } } } }, false]),
    [{ 200: { content: {} } }, false], [{ 200: { content: { 'application/json': {} } } }, false], [{ 200: { content: { 'application/json': true } } }, false],
    [{ 200: { content: { 'application/json': { schema: closed }, 'text/json': { schema: closed } } } }, false],
    [{ 200: text }, false], [{ 200: {} }, false], [{ 200: { type: ['string', 'null'] } }, false], [{ 200: { enum: [1] } }, false],
    [{ 200: { anyOf: [closed, text] } }, false], [{ 200: { oneOf: [closed, text] } }, false], [{ 200: { anyOf: [closed, number] } }, [[200, '*/*']]],
    [{ 200: { allOf: [text] } }, false], [{ 200: { allOf: [closed, {}] } }, [[200, '*/*']]], [{ 200: { allOf: [{}, {}] } }, false], [{ 200: { allOf: [{}], anyOf: [number] } }, [[200, '*/*']]],
    ...['properties', 'required', 'additionalProperties', 'patternProperties', 'items', 'prefixItems'].map((keyword) => [{ 200: { [keyword]: {} } }, [[200, '*/*']]]),
    [{ 200: ref('Text') }, false], [{ 200: ref('Closed') }, [[200, '*/*']]], [{ 200: ref('Again') }, false], [{ 200: ref('Nobody') }, false], [{ 200: ref('LoopAny') }, false], [{ 200: ref('LoopAll') }, false], [{ 200: ref('Either') }, [[200, '*/*']]]
  ] as Array<[unknown, unknown]>) {
    const $defs = { Text: text, Closed: closed, Again: ref('Again'), LoopAny: { anyOf: [number, ref('LoopAny')] }, LoopAll: { allOf: [ref('LoopAll')] }, Either: { anyOf: [number, closed] } }
    const output = outputFromRoute(response, readerOf($defs))
    t.strictSame(output === undefined ? false : [...output.types], wanted, JSON.stringify(response))
  }
})

t.test('an output schema keeps what the serializer guarantees', async (t) => {
  for (const [schema, wanted, $defs] of [
    [closed, closed],
    [{ type: 'array', items: closed }, wrapped({ type: 'array', items: closed })],
    [{ type: 'array', prefixItems: [closed, number], items: false }, wrapped({ type: 'array', prefixItems: [closed, number] })],
    [number, wrapped(number)],
    [{ type: ['object', 'null'], properties: { a: text }, required: ['a'] }, wrapped({ anyOf: [open, nothing] })],
    // A record that is missing in another is written as {}.
    [{ type: 'object', properties: { x: closed, y: { type: 'array', items: closed } }, required: ['x'], additionalProperties: open }, {
      type: 'object', properties: { x: { type: 'object', properties: { a: text }, additionalProperties: false }, y: { type: 'array', items: closed } }, required: ['x'], additionalProperties: loose
    }],
    [{ type: 'object', patternProperties: { '^x': open } }, { type: 'object', patternProperties: { '^x': loose } }],
    // The parts of a schema are joined: what one closes another may open.
    [{ anyOf: [closed, nothing] }, wrapped({ anyOf: [closed, nothing] })],
    [{ anyOf: [closed, nothing], title: 'T' }, wrapped({ anyOf: [closed, nothing], title: 'T' })],
    [{ anyOf: [nothing, closed] }, wrapped({ anyOf: [nothing, open] })],
    [{ anyOf: [closed, nothing, closed] }, wrapped({ anyOf: [open, nothing, open] })],
    [{ anyOf: [closed, nothing], maxProperties: 3 }, wrapped({ anyOf: [open, nothing] })],
    [{ anyOf: [closed, number] }, wrapped({ anyOf: [open, number] })],
    [{ oneOf: [closed, number] }, wrapped({ anyOf: [open, number] })],
    [{ ...closed, oneOf: [closed] }, { ...open, anyOf: [open] }],
    [{ ...closed, oneOf: [number], anyOf: [closed] }, { ...open, anyOf: [open] }],
    [{ ...closed, allOf: [closed] }, { ...open, allOf: [open] }],
    [{ ...closed, if: open }, open],
    // Nothing of the numbers, formats and lengths.
    [{ type: 'object', properties: { a: { type: 'integer', minimum: 1, enum: [1], format: 'int32', title: 'T', description: 'D', default: 1, deprecated: true, examples: [1], const: 1 } }, minProperties: 1, $comment: 'c' },
      { type: 'object', properties: { a: { type: 'integer', title: 'T', description: 'D', default: 1, deprecated: true, examples: [1], const: 1 } } }],
    // null, where it may be written.
    [{ type: 'object', properties: { a: { type: 'string', default: null, const: 'x' } } }, { type: 'object', properties: { a: { default: null, anyOf: [text, nothing] } } }],
    [{ type: 'object', properties: { a: { type: ['string', 'null'], const: 'x' } } }, { type: 'object', properties: { a: { anyOf: [text, nothing] } } }],
    [{ type: 'object', properties: { a: { allOf: [{ type: 'string', const: 'x' }, { type: 'null' }] } } }, { type: 'object', properties: { a: { allOf: [{ anyOf: [text, nothing] }, nothing] } } }],
    [ref('Node'), { ...wrapped(ref('Node')), $defs: { Node: { type: 'object', properties: { next: ref('Node'), a: text } } } }, { Node: { type: 'object', properties: { next: ref('Node'), a: text }, required: ['a'] } }],
    [object({ n: ref('Shut') }), { ...object({ n: ref('Shut') }), $defs: { Shut: { ...object({ n: ref('Shut') }), additionalProperties: false } } }, shut],
    [object({ n: { ...ref('Shut'), properties: { x: text }, additionalProperties: false } }), { ...object({ n: { ...ref('Shut'), properties: { x: text } } }), $defs: { Shut: object({ n: ref('Shut') }) } }, shut],
    [object({ n: { allOf: [ref('Maybe'), { ...text, const: 'x' }] } }), {
      ...object({ n: { allOf: [{ anyOf: [ref('Maybe'), nothing] }, { anyOf: [text, nothing] }] } }), $defs: { Maybe: { anyOf: [{ ...object({ m: ref('Maybe') }) }, nothing] } }
    }, { Maybe: { type: ['object', 'null'], properties: { m: ref('Maybe') } } }],
    [{ type: 'object', properties: { n: { ...ref('Node'), default: null } } }, {
      type: 'object', properties: { n: { default: null, anyOf: [ref('Node'), nothing] } }, $defs: { Node: { type: 'object', properties: { next: ref('Node') } } }
    }, { Node: { type: 'object', properties: { next: ref('Node') }, required: ['next'] } }],
    [{ type: 'object', properties: { n: { ...ref('Node'), default: null, anyOf: [open], allOf: [loose] } } }, {
      type: 'object', properties: { n: { default: null, anyOf: [loose, nothing], allOf: [{ anyOf: [loose, nothing] }, { anyOf: [ref('Node'), nothing] }] } }, $defs: { Node: { type: 'object', properties: { next: ref('Node') } } }
    }, { Node: { type: 'object', properties: { next: ref('Node') } } }]
  ] as Array<[object, object, Record<string, JsonSchema>?]>) t.strictSame(outputFromRoute({ 200: schema }, readerOf($defs))?.schema, wanted, JSON.stringify(schema))

  t.strictSame(outputFromRoute({ 200: closed, 201: { type: 'array', items: closed } }, readerOf()), {
    schema: wrapped({ anyOf: [closed, { type: 'array', items: closed }] }), wrapped: true, types: new Map([[200, '*/*'], [201, '*/*']])
  }, 'several answers are not joined')
  t.equal(outputFromRoute({ 200: closed }, readerOf())?.wrapped, false)
  t.strictSame(outputFromRoute({ 200: closed }, readerOf(), ({ required, ...rest }) => ({ ...rest, required: ['b'] }))?.schema, { ...closed, required: ['b'] })
})

t.test('what a route declares is kept whole for a contract', async (t) => {
  const strict = { type: 'object', properties: { a: { type: 'string', enum: ['x'], maxLength: 3 } }, required: ['a'], minProperties: 1 }
  const of = (response: object, isWrapped = false, $defs?: Record<string, JsonSchema>): unknown => declaredFromRoute(response, readerOf($defs), isWrapped)
  t.strictSame(of({ 200: strict, 404: text }), strict)
  t.strictSame(of({ 200: strict }, true), wrapped(strict))
  t.strictSame(of({ 200: strict, '2xx': number }), { anyOf: [strict, number] })
  t.strictSame(of({ 200: ref('Node') }, true, { Node: { type: 'object', properties: { next: ref('Node') } } }), { ...wrapped(ref('Node')), $defs: { Node: { type: 'object', properties: { next: ref('Node') } } } })
  t.strictSame(of({ 200: true }), {})
  t.strictSame(of({ 200: { type: ['object', 'null'] } }), { anyOf: [{ type: 'object' }, nothing] })
  for (const response of [{ 404: text }, { 200: strict, 204: strict }, { 200: strict, 205: strict }, { 200: nothing }, { 200: { content: { 'text/plain': { schema: text } } } }]) t.equal(of(response), undefined, JSON.stringify(response))
  for (const response of [undefined, [strict]]) t.equal(declaredFromRoute(response, readerOf(), false), undefined)
})
