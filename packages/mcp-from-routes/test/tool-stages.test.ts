import t from 'tap'
import { annotationsOf } from '../src/tool/annotations.ts'
import { combine, definitionsOf, followed, referredTo } from '../src/tool/definitions.ts'
import { flatBody, flatObject } from '../src/tool/flatten.ts'
import { mapSubschemas } from '../src/tool/json-schema.ts'
import { policyRemark } from '../src/tool/key-policy.ts'
import { metaOf } from '../src/tool/meta.ts'
import { declaresStream, isDeclared, isStreamed, withoutPatterns, withoutUnknown } from '../src/tool/output.ts'
import { partsFromPath, pathFromParts } from '../src/tool/path.ts'
import { outputDetail, outputTrimmer } from '../src/tool/trim.ts'
import { definition, takesOnly, typesOf } from '../src/tool/types-of.ts'

const [text, number] = [{ type: 'string' }, { type: 'number' }]
const INVALID = { code: 'MCP_FROM_ROUTES_INVALID_CONFIG' }

t.test('a change reaches every subschema, and no data', async (t) => {
  const changed = (schema: Record<string, unknown>): unknown => mapSubschemas(schema, (_sub, keyword) => `in ${keyword}`)
  for (const keyword of ['additionalItems', 'additionalProperties', 'contains', 'contentSchema', 'else', 'if', 'items', 'not', 'propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties']) {
    for (const sub of [text, true, false]) t.strictSame(changed({ [keyword]: sub }), { [keyword]: `in ${keyword}` }, keyword)
    for (const data of [1, null]) t.strictSame(changed({ [keyword]: data }), { [keyword]: data }, keyword)
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']) {
    t.strictSame(changed({ [keyword]: [text, true] }), { [keyword]: [`in ${keyword}`, `in ${keyword}`] }, keyword)
  }
  for (const keyword of ['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties']) {
    t.strictSame(changed({ [keyword]: { a: text, b: false, c: ['d'] } }), { [keyword]: { a: `in ${keyword}`, b: `in ${keyword}`, c: ['d'] } }, keyword)
  }
  const data = { const: text, default: text, enum: [text], examples: [text], type: 'object', properties: [text], allOf: text }
  t.strictSame(changed(data), data)
})

const flat = (properties: object = {}, more: object = {}): object => ({ properties, required: [], dependentRequired: {}, minProperties: 0, ...more })
const ab = { a: text, b: number }

t.test('an object with a fixed list of properties can be merged, and nothing else', async (t) => {
  for (const [schema, wanted] of [
    [{ type: 'object' }, flat()],
    [{ properties: ab }, flat(ab)],
    [{}, undefined],
    [{ type: 'array' }, undefined],
    [{ type: ['object', 'null'], properties: ab }, undefined],
    [{ type: 'object', properties: ab, required: ['a', 5], dependentRequired: { a: ['b'] }, minProperties: 2 }, flat(ab, { required: ['a'], dependentRequired: { a: ['b'] }, minProperties: 2 })],
    [{ type: 'object', properties: [], required: 'a', dependentRequired: [], minProperties: '2', allOf: {} }, flat()],
    ...Object.entries({ additionalProperties: false, default: {}, deprecated: true, description: 'D', examples: [], readOnly: true, title: 'T', unevaluatedProperties: false, writeOnly: true }).map(([keyword, value]) => [{ type: 'object', [keyword]: value }, flat()]),
    ...Object.entries({ $ref: '#/$defs/A', anyOf: [text], if: {}, maxProperties: 1, not: {}, oneOf: [text], patternProperties: {}, propertyNames: {} }).map(([keyword, value]) => [{ type: 'object', properties: ab, [keyword]: value }, undefined]),
    ...['additionalProperties', 'unevaluatedProperties'].flatMap((keyword) => [true, {}].map((open) => [{ type: 'object', properties: ab, [keyword]: open }, undefined])),
    [{ allOf: [{ properties: { a: text }, required: ['a', 'b'], dependentRequired: { a: ['b'] }, minProperties: 3 }, { properties: { b: number }, required: ['b'], dependentRequired: { b: ['a'] }, minProperties: 1 }] }, flat(ab, { required: ['a', 'b'], dependentRequired: { a: ['b'], b: ['a'] }, minProperties: 3 })],
    [{ properties: { a: text }, allOf: [{ properties: { a: text } }] }, flat({ a: text })],
    [{ properties: { a: text }, allOf: [{ properties: { a: number } }] }, flat({ a: { allOf: [text, number] } })],
    [{ properties: ab, allOf: [{ properties: { toString: text } }] }, flat({ ...ab, toString: text })],
    [{ properties: ab, allOf: [true] }, undefined],
    [{ properties: ab, allOf: [{ not: {} }] }, undefined]
  ] as Array<[Record<string, unknown>, unknown]>) t.strictSame(flatObject(schema), wanted, JSON.stringify(schema))
})

t.test('a body is its fields where every property has an argument', async (t) => {
  for (const [schema, wanted] of [
    [{ type: 'object' }, undefined],
    [{ type: 'array' }, undefined],
    [{ type: 'object', additionalProperties: false }, flat()],
    [{ type: 'object', unevaluatedProperties: false }, flat()],
    [{ properties: ab, required: ['b'] }, flat(ab, { required: ['b'] })],
    [{ properties: { a: text } }, flat({ a: text })],
    [{ properties: ab, required: ['a', 'c'] }, undefined]
  ] as Array<[Record<string, unknown>, unknown]>) t.strictSame(flatBody(schema), wanted, JSON.stringify(schema))
})

t.test('a reference is replaced at the top, unless it leads back to itself', async (t) => {
  t.strictSame([{ $ref: '#/$defs/A' }, { $ref: '#/definitions/A' }, { $ref: 5 }, {}].map(referredTo), ['A', undefined, undefined, undefined])
  t.strictSame(definitionsOf({ $defs: { A: text, B: true, C: false } }), new Map(Object.entries({ A: text, B: {}, C: { not: {} } })))
  for (const $defs of [undefined, [text]]) t.strictSame(definitionsOf({ $defs }), new Map())
  const [ref, circle] = [(name: string) => ({ $ref: `#/$defs/${name}` }), { properties: { next: { $ref: '#/$defs/Circle' } } }]
  const definitions = definitionsOf({ $defs: { Text: text, Alias: ref('Text'), Circle: circle, Holder: { items: ref('Circle') }, Ping: { anyOf: [ref('Pong')] }, Pong: { not: ref('Ping') } } })
  for (const [schema, wanted] of [
    [{ ...ref('Text'), description: 'D' }, { type: 'string', description: 'D' }],
    [ref('Alias'), text],
    [ref('Nobody'), ref('Nobody')],
    [ref('Circle'), ref('Circle')],
    [ref('Ping'), ref('Ping')],
    [ref('Holder'), { items: ref('Circle') }],
    [{ properties: { a: ref('Text') } }, { properties: { a: ref('Text') } }],
    ...['allOf', 'anyOf', 'oneOf'].map((union) => [{ title: 'T', [union]: [ref('Alias'), true, ref('Circle')] }, { title: 'T', [union]: [text, true, ref('Circle')] }]),
    [{ allOf: ref('Text') }, { allOf: ref('Text') }]
  ] as Array<[Record<string, unknown>, unknown]>) t.strictSame(followed(schema, definitions), wanted, JSON.stringify(schema))
})

t.test('what stands beside a reference holds as well as what it leads to', async (t) => {
  const apart = (target: object, beside: object): unknown[] => [target, beside, { ...beside, allOf: [target] }]
  const joined = (target: object, beside: object): unknown[] => [target, beside, { ...target, ...beside }]
  for (const [target, beside, wanted] of [
    joined(text, {}),
    joined(text, { minLength: 1 }),
    joined({ ...text, title: 'A' }, { title: 'B', minLength: 1 }),
    ...Object.entries({ default: 1, deprecated: true, description: 'D', examples: [], readOnly: true, title: 'T', writeOnly: true }).map(([keyword, value]) => joined({ [keyword]: 'other', unevaluatedProperties: false }, { [keyword]: value })),
    apart({ type: 'number' }, { type: 'integer' }),
    ...[['additionalProperties', 'patternProperties', 'properties'], ['items', 'prefixItems'], ['contains', 'maxContains', 'minContains'], ['else', 'if', 'then']]
      .flatMap((group) => group.flatMap((one) => group.filter((other) => other !== one).map((other) => apart({ [one]: {} }, { [other]: {} })))),
    joined({ items: {} }, { contains: {} }),
    apart({ unevaluatedItems: false }, { minItems: 1 }),
    apart({ unevaluatedProperties: false }, { minProperties: 1 }),
    [{ type: 'number' }, { type: 'integer', allOf: [{ minimum: 1 }] }, { type: 'integer', allOf: [{ type: 'number' }, { minimum: 1 }] }]
  ] as Array<[object, object, object]>) t.strictSame(combine(target as Record<string, unknown>, beside as Record<string, unknown>), wanted, JSON.stringify([target, beside]))
})

t.test('how much of an output schema is published', async (t) => {
  const whole = { isBrief: false, fields: undefined }
  for (const [own, option, wanted] of [
    [undefined, undefined, whole], [undefined, 'full', whole], [undefined, 'brief', { ...whole, isBrief: true }], [undefined, false, false],
    ['full', 'brief', whole], ['brief', 'full', { ...whole, isBrief: true }], ['full', false, whole], [false, 'full', false],
    [['a'], undefined, { isBrief: false, fields: ['a'] }], [['a'], 'brief', { isBrief: true, fields: ['a'] }], [['a'], false, { isBrief: true, fields: ['a'] }]
  ] as const) t.strictSame(outputDetail('GET /', own, option), wanted, JSON.stringify([own, option]))
  for (const own of [[], ['a', 5], 'short', {}, true, null]) t.throws(() => outputDetail('GET /', own as never), { ...INVALID, message: /^GET \/ .*output must be 'full', 'brief', false or an array of field names$/ }, JSON.stringify(own))
})

t.test('what is left of an output schema promises less', async (t) => {
  const field = { ...text, default: 'x', deprecated: true, description: 'D', examples: ['x'], title: 'T' }
  const record = { type: 'object', title: 'T', properties: { a: field, b: field }, required: ['a', 'b'], additionalProperties: false }
  const trimmed = { type: 'object', title: 'T', properties: { a: field }, required: ['a'] }
  const trim = (schema: object, fields: readonly string[] | undefined, isBrief = false): unknown => outputTrimmer('GET /', { isBrief, fields })(schema as Record<string, unknown>)
  const [node, closed] = [{ $ref: '#/$defs/Node' }, { type: 'object', additionalProperties: false }]
  t.strictSame(trim(record, undefined), record)
  t.strictSame(trim(record, undefined, true), { type: 'object', properties: { a: text, b: text }, additionalProperties: false })
  t.strictSame(trim(record, ['a'], true), { type: 'object', properties: { a: text } })
  for (const [schema, wanted] of [
    [record, trimmed],
    [{ type: 'array', items: record }, { type: 'array', items: trimmed }],
    [{ type: 'array', items: false, properties: { a: text } }, { type: 'array', items: false, properties: { a: text } }],
    [{ properties: { a: text, b: text }, required: true }, { properties: { a: text }, required: true }],
    ...['allOf', 'anyOf', 'oneOf'].map((union) => [{ [union]: [record, closed, true, false] }, { [union]: [trimmed, closed, true, false] }]),
    [{ $defs: { Node: record }, items: { ...node, minProperties: 1 } }, { $defs: { Node: record }, items: { ...trimmed, minProperties: 1 } }],
    [{ $defs: { Node: { ...record, items: node } }, ...node }, { $defs: { Node: { ...record, items: node } }, ...trimmed, items: node }],
    [{ items: node, properties: { a: text } }, { items: node, properties: { a: text } }]
  ] as Array<[object, object]>) t.strictSame(trim(schema, ['a']), wanted, JSON.stringify(schema))
  t.throws(() => trim(record, ['a', 'c', 'd']), { ...INVALID, message: /output names c, which is not a field of its result$/ })
})

t.test('a path is its fixed pieces and its parameters', async (t) => {
  const param = (name: string, optional = false): object => ({ param: name, optional })
  for (const [path, parts] of [
    ['/', [{ text: '/' }]],
    ['/a/b', [{ text: '/a/b' }]],
    ['/:id', [{ text: '/' }, param('id')]],
    [':a', [param('a')]],
    ['/a/:b?', [{ text: '/a/' }, param('b', true)]],
    ['/:a-:b.:c', [{ text: '/' }, param('a'), { text: '-' }, param('b'), { text: '.' }, param('c')]],
    ['/a::b/:c', [{ text: '/a:b/' }, param('c')]],
    ['/:a(^\\d+$)/x', [{ text: '/' }, param('a'), { text: '/x' }]],
    ['/:a(^(x|\\))+$)?', [{ text: '/' }, param('a', true)]],
    ['/:a?/x', [{ text: '/' }, param('a', true), { text: '/x' }]],
    ['/:a(^x', [{ text: '/' }, param('a')]]
  ] as const) t.strictSame(partsFromPath(path), parts, path)
  for (const [path, problem] of [['/a/*', /wildcard/], ['/:', /without a name/], ['/:/a', /without a name/]] as const) t.match(partsFromPath(path), problem)
  for (const [path, value, url] of [['/a/:b?', undefined, '/a'], ['/:b?', undefined, '/'], ['/ü/:b', 'x/ü', '/%C3%BC/x%2F%C3%BC']] as const) {
    const parts = partsFromPath(path)
    t.equal(pathFromParts(typeof parts === 'string' ? [] : parts, new Map(value === undefined ? [] : [['b', value]])), url)
  }
  t.equal(pathFromParts([], new Map()), '/')
})

t.test('the types that a schema names', async (t) => {
  const root = { $defs: { Text: text, 'a/b~c': number, Circle: { $ref: '#/$defs/Circle' } } }
  for (const [schema, types] of [
    [true, undefined], [{}, undefined], [text, ['string']], [{ type: ['string', 'null'] }, ['string', 'null']],
    [{ $ref: '#/$defs/Text' }, ['string']], [{ $ref: '#/$defs/a~1b~0c' }, ['number']], [{ $ref: '#/$defs/Nobody' }, undefined], [{ $ref: '#/$defs/Circle' }, undefined],
    [{ anyOf: [text, number] }, ['string', 'number']], [{ anyOf: [text, {}] }, undefined], [{ oneOf: [text], anyOf: [number] }, ['string']],
    [{ oneOf: [{ $ref: '#/$defs/Text' }, { $ref: '#/$defs/Text' }] }, ['string']],
    [{ allOf: [{}, text, number] }, ['string']], [{ allOf: [{}] }, undefined], [{ anyOf: text, allOf: text }, undefined]
  ] as const) t.strictSame(typesOf(schema, root), types && new Set(types), JSON.stringify(schema))
  for (const ref of ['#/$defs/Text/type', '#/definitions/Text', 'x#/$defs/Text', 'toString']) t.equal(definition(ref, root), undefined, ref)
  for (const [types, only] of [[undefined, false], [['array'], true], [['null', 'array'], true], [['null'], false], [['array', 'string'], false]] as const) t.equal(takesOnly('array', types && new Set(types)), only)
})

t.test('the hints of a tool by the method of its route', async (t) => {
  for (const [method, readOnlyHint, destructiveHint, idempotentHint] of [
    ['GET', true, false, true], ['QUERY', true, false, true], ['POST', false, false, false], ['PUT', false, true, true], ['DELETE', false, true, true], ['PATCH', false, true, false]
  ] as const) t.strictSame(annotationsOf(method), { readOnlyHint, destructiveHint, idempotentHint, openWorldHint: false }, method)
  t.strictSame(annotationsOf('DELETE', { readOnlyHint: true, openWorldHint: true }), { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true })
  t.strictSame(annotationsOf('GET', { readOnlyHint: false }), { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false })
  t.strictSame(annotationsOf('POST', { destructiveHint: true }), { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false })
})

t.test('the hints of a tool', async (t) => {
  for (const [config, largest, wanted] of [
    [undefined, undefined, undefined],
    [{}, undefined, undefined],
    [{}, 10, { 'mcp-from-routes/large': true, 'anthropic/maxResultSizeChars': 10 }],
    [{}, 500_001, { 'mcp-from-routes/large': true, 'anthropic/maxResultSizeChars': 500_000 }],
    [{ searchHint: 'x' }, undefined, { 'anthropic/searchHint': 'x' }],
    [{ alwaysLoad: false }, undefined, { 'anthropic/alwaysLoad': false }]
  ] as const) t.strictSame(metaOf('GET /', config, largest), wanted)
  for (const searchHint of ['', ' ', 5, null]) t.throws(() => metaOf('GET /', { searchHint } as never, undefined), { ...INVALID, message: /searchHint must be a string$/ })
  for (const alwaysLoad of ['true', 1, null]) t.throws(() => metaOf('GET /', { alwaysLoad } as never, undefined), { ...INVALID, message: /alwaysLoad must be true or false$/ })
})

t.test('the endpoint and the routes of its tools accept the same, or somebody is told', async (t) => {
  const of = (auth?: string) => ({ config: { auth } }) as never
  const tools = (...all: readonly string[]) => all.map((auth, index) => ({ label: `${auth}-${index}`, route: of(auth) }))
  t.strictSame(policyRemark(of('dual'), tools('jwt', 'dual', 'none', 'jwt'), true), { level: 'info', tools: ['jwt-0', 'jwt-3'], message: 'API keys can call the MCP endpoint but not these tools, which accept tokens only' })
  t.match(policyRemark(of('dual'), tools('jwt'), false), { level: 'warn', tools: ['jwt-0'], message: /tokens only: set config\.auth of their routes to "dual", or hide them/ })
  t.match(policyRemark(of('jwt'), tools('jwt', 'dual'), true), { level: 'warn', tools: ['dual-1'], message: /not the MCP endpoint, which accepts tokens only: set its policy to "dual"$/ })
  for (const [endpoint, all] of [[of('dual'), ['dual', 'none']], [of('jwt'), ['jwt', 'none']], [of('none'), ['jwt', 'dual']], [of(), ['jwt', 'dual']], [undefined, ['jwt', 'dual']], [{} as never, ['jwt']]] as const) t.equal(policyRemark(endpoint, tools(...all), false), undefined)
})

t.test('which media types come in pieces', async (t) => {
  for (const type of ['text/event-stream', 'TEXT/Event-Stream; charset=utf-8', 'application/x-ndjson', 'application/jsonl ', 'application/x-jsonlines', 'application/json-seq']) {
    t.ok(isStreamed(type), type)
    t.ok(declaresStream({ 200: { content: { 'application/json': {}, [type]: {} } } }), type)
  }
  for (const type of ['application/json', 'text/event-streams', 'x text/event-stream', undefined, 5]) t.notOk(isStreamed(type))
  for (const response of [undefined, [], {}, { 200: true }, { 200: { content: 'text/event-stream' } }, { 200: { content: { 'application/json': {} } } }]) t.notOk(declaresStream(response))
})

t.test('what the serializer does not check or know is dropped, however deep', async (t) => {
  const pattern = { type: 'string', pattern: '^a' }
  for (const [schema, wanted] of [
    [{ properties: { pattern, b: { items: [pattern, true] } } }, { properties: { pattern: text, b: { items: [text, true] } } }],
    [{ patternProperties: { '^a': pattern }, additionalProperties: pattern }, { patternProperties: { '^a': text }, additionalProperties: text }],
    [{ patternProperties: { '^\\_': pattern, '^a': true }, additionalProperties: false }, { patternProperties: { '^a': true } }],
    [{ additionalProperties: false }, { additionalProperties: false }]
  ] as Array<[Record<string, unknown>, unknown]>) t.strictSame(withoutPatterns(schema), wanted, JSON.stringify(schema))
  for (const [schema, wanted] of [
    [{ properties: { a: { prefixItems: [text], items: text } } }, { properties: { a: { items: text } } }],
    [{ items: { prefixItems: [text], items: false } }, { items: {} }],
    [{ items: true }, { items: true }],
    [{ type: 'array', items: text }, { type: 'array', items: text }],
    [{ items: [text, { items: false }] }, { items: [text, {}] }],
    [{ type: 'array' }, { type: 'array' }]
  ] as Array<[Record<string, unknown>, unknown]>) t.strictSame(withoutUnknown(schema), wanted, JSON.stringify(schema))
})

t.test('which answers the output schema is for', async (t) => {
  const output = (types: ReadonlyArray<[number | '2xx', string]>) => ({ schema: {}, wrapped: false, types: new Map(types) })
  for (const [types, status, type, is] of [
    [[[200, '*/*']], 200, 'application/json', true],
    [[[200, 'application/json']], 200, 'application/json', true],
    [[[200, 'application/json']], 200, 'application/hal+json', false],
    [[[200, '*/*']], 201, 'application/json', false],
    [[['2xx', '*/*']], 201, 'application/json', true],
    [[[201, 'application/hal+json'], ['2xx', '*/*']], 201, 'application/json', false]
  ] as Array<[Array<[number | '2xx', string]>, number, string, boolean]>) t.equal(isDeclared(output(types), status, type), is)
})
