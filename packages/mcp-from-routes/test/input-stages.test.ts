import t from 'tap'
import { withoutFilled } from '../src/tool/defaults.ts'
import { inputFromRoute, mentionsFile, type RequestSchemas, type ToolInput } from '../src/tool/input.ts'
import type { JsonSchema } from '../src/tool/json-schema.ts'
import { type ArgumentOverrides, Overrides } from '../src/tool/overrides.ts'
import { partsFromPath, type PathPart } from '../src/tool/path.ts'
import type { SchemaReader } from '../src/tool/schema.ts'

const [text, number] = [{ type: 'string' }, { type: 'number' }]
const ref = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` })
const object = (properties: object, more: object = {}): JsonSchema => ({ type: 'object', properties, ...more })
const taken = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more, additionalProperties: false })

interface Rules { readonly $defs?: Record<string, JsonSchema>, readonly overrides?: ArgumentOverrides, readonly fillsDefaults?: boolean }

function inputOf (path: string, schemas: RequestSchemas, { $defs, overrides, fillsDefaults = false }: Rules = {}): ToolInput {
  const read = (schema: unknown): JsonSchema => { if (schema === undefined) throw new Error('no schema'); return schema as JsonSchema }
  const reader: SchemaReader = { read, definitions: () => new Map(), close: (schema) => $defs === undefined ? schema : { ...schema, $defs } }
  return inputFromRoute('PUT /', partsFromPath(path) as readonly PathPart[], schemas, reader, { overrides: new Overrides('PUT /', overrides), fillsDefaults })
}

t.test('what a tool takes', async (t) => {
  const filled = { limit: { ...number, default: 10 }, q: text }
  const table: ReadonlyArray<readonly [path: string, schemas: RequestSchemas, wanted: object, rules?: Rules]> = [
    ['/', {}, taken({})],
    // A path value is never empty: it would lead to another route.
    ['/:id', {}, taken({ id: { ...text, minLength: 1 } }, { required: ['id'] })],
    ['/:id?', {}, taken({ id: { ...text, minLength: 1 } })],
    ['/:id/:toString', { params: object({ id: number }) }, taken({ id: number, toString: { ...text, minLength: 1 } }, { required: ['id', 'toString'] })],
    ['/:id', { params: object({ id: { ...text, minLength: 3 } }) }, taken({ id: { ...text, minLength: 3 } }, { required: ['id'] })],
    ['/:id', { params: object({ id: { ...text, minLength: 0 } }) }, taken({ id: { ...text, minLength: 1 } }, { required: ['id'] })],
    ['/:id', { params: object({ id: { description: 'D' } }) }, taken({ id: { description: 'D', minLength: 1 } }, { required: ['id'] })],
    ...[{ enum: ['a'] }, { const: 'a' }, ...['date', 'date-time', 'duration', 'email', 'ipv4', 'ipv6', 'time', 'uri', 'uuid'].map((format) => ({ format }))]
      .map((own) => ['/:id', { params: object({ id: { ...text, ...own } }) }, taken({ id: { ...text, ...own } }, { required: ['id'] })] as const),
    ['/:id', { params: object({ id: { ...text, format: 'regex' } }) }, taken({ id: { ...text, format: 'regex', minLength: 1 } }, { required: ['id'] })],
    ['/:id', { params: object({ id: ref('Id') }) }, taken({ id: { ...text, minLength: 2 } }, { required: ['id'] }), { $defs: { Id: { ...text, minLength: 2 } } }],
    ['/:id', { params: object({ id: ref('Id') }) }, taken({ id: { ...text, minLength: 1 } }, { required: ['id'] }), { $defs: { Id: { ...text, minLength: 1 } } }],
    ['/', { querystring: object({ a: ref('List') }) }, taken({ a: { type: 'array', minItems: 1 } }), { $defs: { List: { type: 'array', minItems: 1 } } }],
    ['/:id', { params: ref('Params') }, taken({ id: number }, { required: ['id'] }), { $defs: { Params: object({ id: number }) } }],
    ['/:id', { params: object({ id: { type: ['array', 'string'] } }) }, taken({ id: { type: ['array', 'string'], minLength: 1 } }, { required: ['id'] })],
    // A query string holds no empty array.
    ['/', { querystring: object({ a: { type: 'array', items: text }, b: text }) }, taken({ a: { type: 'array', items: text, minItems: 1 }, b: text })],
    ['/', { querystring: object({ a: { type: 'array', default: [] } }) }, taken({ a: { type: 'array', default: [] } })],
    ['/', { query: object({ a: text }, { required: ['a'] }) }, taken({ a: text }, { required: ['a'] })],
    ['/', { querystring: object({ a: text }), query: object({ b: text }) }, taken({ a: text })],
    ...[{}, { additionalProperties: true }, { unevaluatedProperties: true }, { minProperties: 1 }].map((querystring) => ['/', { querystring }, taken({})] as const),
    ['/', { querystring: object({ a: text }, { additionalProperties: true, minProperties: 1 }) }, taken({ a: text })],
    // A body is its fields, or one argument.
    ['/', { body: object({ a: { type: 'array' }, b: text }, { required: ['a'], dependentRequired: { a: ['b'] } }) }, taken({ a: { type: 'array' }, b: text }, { required: ['a'], dependentRequired: { a: ['b'] } })],
    ['/', { querystring: object({ a: text, b: text }, { dependentRequired: { a: ['b'] } }), body: object({ c: text, d: text }, { dependentRequired: { c: ['d'] } }) }, taken({ a: text, b: text, c: text, d: text }, { dependentRequired: { a: ['b'], c: ['d'] } })],
    ['/', { body: { type: 'array' } }, taken({ body: { type: 'array' } }, { required: ['body'] })],
    ['/', { body: ref('Body') }, taken({ a: text }), { $defs: { Body: object({ a: text }) } }],
    ['/', { body: null }, taken({})],
    ['/', { body: { content: { 'text/plain': {}, 'application/json': { schema: object({ a: text }) } } } }, taken({ a: text })],
    ['/', { body: { content: { '*/*': { schema: object({ a: text }) } } }, consumes: ['text/plain', 'application/JSON; charset=utf-8'] }, taken({ a: text })],
    ['/', { body: object({ content: text }), consumes: ['application/*'] }, taken({ content: text })],
    ['/', { consumes: [] }, taken({})],
    // As many properties as all that are certain, and those of the body.
    ['/', { body: object({ a: text, b: text }, { minProperties: 1 }) }, taken({ a: text, b: text }, { minProperties: 1 })],
    ['/:id', { params: object({ id: number }), body: object({ a: text, b: text }, { minProperties: 1 }) }, taken({ id: number, a: text, b: text }, { required: ['id'], minProperties: 2 })],
    ['/:id?', { params: object({ id: number }), body: object({ a: text }, { minProperties: 1 }) }, taken({ id: number, a: text })],
    ['/', { body: object({ a: text, b: text }, { required: ['a'], minProperties: 1 }) }, taken({ a: text, b: text }, { required: ['a'] })],
    ['/:id', { params: object({ id: number }), body: object({ id: number, a: text, b: text }, { minProperties: 2 }) }, taken({ id: { type: 'number' }, a: text, b: text }, { required: ['id'], minProperties: 2 }), { overrides: { body: { id: { name: 'id' } } } }],
    // Two inputs of one chosen name are one argument, and both have their say.
    ['/:id', { params: object({ id: { ...number, minimum: 1 } }), body: object({ key: { ...number, maximum: 5 } }) }, taken({ id: { allOf: [{ ...number, minimum: 1 }, { ...number, maximum: 5 }] } }, { required: ['id'] }), { overrides: { body: { key: { name: 'id' } } } }],
    ['/', { querystring: object({ a: text, b: text }) }, taken({ b: text }), { overrides: { querystring: { a: { value: 'x' } } } }],
    // Where the route fills in defaults, nothing that has one is required.
    ['/', { querystring: object(filled, { required: ['limit', 'q'] }) }, taken(filled, { required: ['q'] }), { fillsDefaults: true }],
    ['/', { querystring: object(filled, { required: ['limit', 'q'] }) }, taken(filled, { required: ['limit', 'q'] })]
  ]
  for (const [path, schemas, wanted, rules] of table) t.strictSame(inputOf(path, schemas, rules).schema, wanted, `${path} ${JSON.stringify(schemas)}`)
})

t.test('where each argument goes', async (t) => {
  const { places, inputs, body } = inputOf('/:id', { querystring: object({ q: text, v: text }), body: object({ id: text, a: text }) }, { overrides: { querystring: { v: { value: '2' } }, body: { id: { name: 'id' } } } })
  t.strictSame(places, new Map([['id', 'path'], ['q', 'query'], ['a', 'body']]))
  t.strictSame(inputs, [
    { place: 'path', name: 'id', argument: 'id' }, { place: 'query', name: 'q', argument: 'q' }, { place: 'query', name: 'v', value: '2' },
    { place: 'body', name: 'id', argument: 'id' }, { place: 'body', name: 'a', argument: 'a' }
  ])
  t.equal(body, 'fields')
  t.equal(inputOf('/', { body: text }).body, 'whole')
  t.equal(inputOf('/', { querystring: object({ a: text }) }).body, 'none')
})

t.test('what the validator fills in is not required, wherever it fills in', async (t) => {
  const properties = { a: { ...text, default: 'x' }, b: { ...text, default: null }, c: text }
  const [given, left] = [object(properties, { required: ['a', 'b', 'c', 'toString'] }), object(properties, { required: ['c', 'toString'] })]
  for (const [schema, wanted] of [
    [given, left],
    [object(properties, { required: ['a', 'b'] }), object(properties)],
    [object(properties, { required: ['c'] }), object(properties, { required: ['c'] })],
    [{ required: ['a'] }, { required: ['a'] }],
    [{ items: ref('Nobody') }, { items: ref('Nobody') }],
    [object(properties, { required: 'a' }), object(properties, { required: 'a' })],
    [object({ inner: given }), object({ inner: left })],
    [{ type: 'array', items: given }, { type: 'array', items: left }],
    ...['allOf', 'prefixItems'].map((keyword) => [{ [keyword]: [given, true] }, { [keyword]: [left, true] }]),
    // There it only tries.
    ...['anyOf', 'oneOf'].map((keyword) => [{ [keyword]: [given, true] }, { [keyword]: [given, true] }]),
    ...['contains', 'if', 'not', 'propertyNames'].map((keyword) => [{ [keyword]: given }, { [keyword]: given }]),
    [{ not: object({ inner: given }) }, { not: object({ inner: given }) }],
    // What is shared is required where one of its places only tries.
    [{ ...object({ one: ref('A'), two: ref('A') }), $defs: { A: given } }, { ...object({ one: ref('A'), two: ref('A') }), $defs: { A: left } }],
    [{ ...object({ one: ref('A') }), not: ref('A'), $defs: { A: given } }, { ...object({ one: ref('A') }), not: ref('A'), $defs: { A: given } }]
  ] as Array<[JsonSchema, JsonSchema]>) t.strictSame(withoutFilled(schema), wanted, JSON.stringify(schema))
})

t.test('what no tool can take is refused', async (t) => {
  const [schema, clash, unsupported] = ['INVALID_SCHEMA', 'NAME_CLASH', 'UNSUPPORTED_BODY'].map((code) => `MCP_FROM_ROUTES_${code}`)
  for (const [path, schemas, code, message] of [
    ['/', { params: object({ id: text }) }, schema, /params describes id, which is not in the path/],
    ['/:a', { params: object({ a: text, id: text }) }, schema, /params describes id, which is not in the path/],
    ['/:id', { params: text }, schema, /params is not an object with a fixed list of properties/],
    ['/:id', { params: object({ id: { type: 'array' } }) }, schema, /the path parameter id is an array, which has no standard form in a URL/],
    ['/:id', { params: object({ id: { type: ['array', 'object'] } }) }, schema, /the path parameter id is an array or object,/],
    ['/', { querystring: object({ a: text }, { required: ['b'] }) }, schema, /querystring requires b, which is not among its properties/],
    ['/', { querystring: text }, schema, /querystring is not an object/],
    ['/:id', { querystring: object({ id: text }) }, clash, /two inputs named id \(path and query\)/],
    ['/', { querystring: object({ a: text }), body: object({ a: text }) }, clash, /two inputs named a \(query and body\)/],
    ['/', { querystring: object({ body: text }), body: text }, clash, /two inputs named body \(query and body\)/],
    ['/', { consumes: ['text/plain', 'text/css'] }, unsupported, /it takes text\/plain, text\/css/],
    ['/', { body: { content: { 'text/plain': {}, 'text/json': {} } } }, unsupported, /it takes text\/plain, text\/json/],
    ...['application/json-patch', 'xapplication/json', 'application/jsonl'].map((type) => ['/', { consumes: [type] }, unsupported, /it takes/])
  ] as Array<[string, RequestSchemas, string, RegExp]>) t.throws(() => inputOf(path, schemas), { code, message }, `${path} ${JSON.stringify(schemas)}`)
})

t.test('a file is found wherever a schema has one', async (t) => {
  for (const [schema, wanted] of [
    [{ isFile: true }, true], [object({ a: { isFile: true } }), true], [object({ a: text, b: { type: 'array', items: { isFile: true } }, c: text }), true],
    [object({ isFile: text }), false], [{ default: { isFile: true }, examples: [{ isFile: true }] }, false], [{ isFile: 'true' }, false]
  ] as Array<[JsonSchema, boolean]>) t.equal(mentionsFile(schema), wanted, JSON.stringify(schema))
})
