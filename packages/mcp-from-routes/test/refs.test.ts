import t from 'tap'
import type { Definitions } from '../src/tool/refs.ts'
import { refResolver } from '../src/tool/refs.ts'

const shared = {
  Money: { $id: 'Money', type: 'integer', description: 'minor units' },
  'http://example.com/shapes.json': {
    $id: 'http://example.com/shapes.json',
    definitions: {
      Point: { type: 'object', properties: { x: { $ref: '#/definitions/Axis' }, y: { $ref: '#axis' } } },
      Axis: { $id: '#axis', type: 'number' },
      'a/b~c': { type: 'boolean' }
    }
  },
  'http://example.com/outer.json': {
    $id: 'http://example.com/outer.json',
    items: { $id: 'nested.json', definitions: { A: { type: 'null' } }, items: { $ref: '#/definitions/A' }, properties: { default: { $ref: '#/definitions/A' } } }
  },
  Parts: { $id: 'Parts', items: { $anchor: 'here', type: 'null' }, not: { $id: '#part', type: 'boolean' } },
  Tree: { $id: 'Tree', type: 'object', properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } } },
  Even: { $id: 'Even', type: 'object', properties: { odd: { $ref: 'Odd#' } } },
  Odd: { $id: 'Odd', type: 'object', properties: { even: { $ref: 'Even' } } }
}

const twice = { $ref: '#/definitions/X' }
const inBoth = { $id: 'in.json', type: 'null' }
const money = { type: 'integer', description: 'minor units' }
const cases: Array<{ title: string, schema: Record<string, unknown>, gives: unknown, defs?: Record<string, unknown> }> = [
  { title: 'a shared schema by its $id', schema: { $ref: 'Money#' }, gives: { $ref: '#/$defs/Money' }, defs: { Money: money } },
  { title: 'what stands beside a $ref stays there', schema: { $ref: 'Money', description: 'the price', minimum: 1 }, gives: { $ref: '#/$defs/Money', description: 'the price', minimum: 1 }, defs: { Money: money } },
  { title: 'a schema that is used twice is there once', schema: { items: [{ $ref: 'Money#' }, { $ref: 'Money' }] }, gives: { items: [{ $ref: '#/$defs/Money' }, { $ref: '#/$defs/Money' }] }, defs: { Money: money } },
  { title: 'a local definition', schema: { type: 'array', items: { $ref: '#/definitions/A' }, definitions: { A: { type: 'null' } } }, gives: { type: 'array', items: { $ref: '#/$defs/A' } }, defs: { A: { type: 'null' } } },
  { title: 'a pointer into a shared schema, whose own references start from it', schema: { $ref: 'http://example.com/shapes.json#/definitions/Point' }, gives: { $ref: '#/$defs/Point' }, defs: { Point: { type: 'object', properties: { x: { $ref: '#/$defs/Axis' }, y: { $ref: '#/$defs/Axis' } } }, Axis: { type: 'number' } } },
  { title: 'an anchor in a shared schema', schema: { $ref: 'http://example.com/shapes.json#axis' }, gives: { $ref: '#/$defs/axis' }, defs: { axis: { type: 'number' } } },
  { title: 'a relative reference', schema: { $id: 'http://example.com/mine.json', $ref: 'shapes.json#/definitions/Axis' }, gives: { $ref: '#/$defs/Axis' }, defs: { Axis: { type: 'number' } } },
  { title: 'an escaped pointer', schema: { $ref: 'http://example.com/shapes.json#/definitions/a~1b~0c' }, gives: { $ref: '#/$defs/a_1b_0c' }, defs: { a_1b_0c: { type: 'boolean' } } },
  { title: 'a reference to a dynamic anchor', schema: { items: { $ref: '#node' }, $defs: { A: { $dynamicAnchor: 'node', type: 'null' } } }, gives: { items: { $ref: '#/$defs/node' } }, defs: { node: { $dynamicAnchor: 'node', type: 'null' } } },
  { title: 'boolean schemas', schema: { items: [{ $ref: '#/definitions/A' }, { $ref: '#/definitions/A' }, { $ref: '#/definitions/B' }], definitions: { A: true, B: false } }, gives: { items: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }] }, defs: { A: {}, B: { not: {} } } },
  { title: 'a property named $ref is not a reference', schema: { type: 'object', properties: { $ref: { type: 'string' } } }, gives: { type: 'object', properties: { $ref: { type: 'string' } } } },
  { title: 'data that looks like a reference is left alone', schema: { const: { $ref: 'x' }, default: { $ref: 'y' } }, gives: { const: { $ref: 'x' }, default: { $ref: 'y' } } },
  {
    title: 'a circle',
    schema: { $ref: 'Tree' },
    gives: { $ref: '#/$defs/Tree' },
    defs: { Tree: { type: 'object', properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/Tree' } } } } }
  },
  {
    title: 'a circle of two',
    schema: { type: 'object', properties: { a: { $ref: 'Even' } } },
    gives: { type: 'object', properties: { a: { $ref: '#/$defs/Even' } } },
    defs: { Even: { type: 'object', properties: { odd: { $ref: '#/$defs/Odd' } } }, Odd: { type: 'object', properties: { even: { $ref: '#/$defs/Even' } } } }
  },
  {
    title: 'a schema that is its own circle',
    schema: { type: 'object', properties: { next: { $ref: '#' } } },
    gives: { type: 'object', properties: { next: { $ref: '#/$defs/self' } } },
    defs: { self: { type: 'object', properties: { next: { $ref: '#/$defs/self' } } } }
  },
  {
    title: 'a recursive TypeBox schema, which names itself',
    schema: { $id: 'T0', type: 'object', properties: { next: { $ref: 'T0' } } },
    gives: { type: 'object', properties: { next: { $ref: '#/$defs/T0' } } },
    defs: { T0: { type: 'object', properties: { next: { $ref: '#/$defs/T0' } } } }
  },
  ...['const', 'default', 'enum', 'examples'].map((keyword) => ({ title: `what looks like a schema in ${keyword} is none`, schema: { items: { [keyword]: { in: { $id: 'Data' } } }, not: { $ref: 'Data' } }, gives: '$ref "Data" leads nowhere. Add that schema with addSchema before the route' })),
  { title: 'what only names a schema is left out', schema: { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'http://example.com/x.json', id: 'x', $anchor: 'y', $defs: { A: {} }, definitions: { B: {} }, type: 'null' }, gives: { type: 'null' } },
  { title: 'a schema in a list has an $id', schema: { allOf: [{ $id: 'In', type: 'null' }, { $ref: 'In' }, { $ref: 'In#' }] }, gives: { allOf: [{ type: 'null' }, { $ref: '#/$defs/In' }, { $ref: '#/$defs/In' }] }, defs: { In: { type: 'null' } } },
  { title: 'an anchor of draft 2020-12', schema: { items: { $ref: '#here' }, not: { $anchor: 'here', type: 'null' } }, gives: { items: { $ref: '#/$defs/here' }, not: { type: 'null' } }, defs: { here: { type: 'null' } } },
  { title: 'an $id that ends in #', schema: { items: { $id: 'Sub#', definitions: { A: { type: 'null' } }, items: { $ref: '#/definitions/A' } }, not: { $ref: 'Sub' } }, gives: { items: { items: { $ref: '#/$defs/A' } }, not: { $ref: '#/$defs/Sub' } }, defs: { A: { type: 'null' }, Sub: { items: { $ref: '#/$defs/A' } } } },
  { title: 'a relative $id is one beside that of the schema around it', schema: { $id: 'http://a.example/x.json', items: { $id: 'in.json', type: 'null' }, not: { $ref: 'http://a.example/in.json' } }, gives: { items: { type: 'null' }, not: { $ref: '#/$defs/in.json' } }, defs: { 'in.json': { type: 'null' } } },
  { title: 'a schema that stands in two others belongs to the first', schema: { allOf: [{ $id: 'http://a.example/x.json', items: inBoth }, { $id: 'http://b.example/x.json', items: inBoth }, { $ref: 'http://b.example/in.json' }] }, gives: '$ref "http://b.example/in.json" leads nowhere. Add that schema with addSchema before the route' },
  { title: 'and is found there', schema: { allOf: [{ $id: 'http://a.example/x.json', items: inBoth }, { $id: 'http://b.example/x.json', items: inBoth }, { $ref: 'http://a.example/in.json' }] }, gives: { allOf: [{ items: { type: 'null' } }, { items: { type: 'null' } }, { $ref: '#/$defs/in.json' }] }, defs: { 'in.json': { type: 'null' } } },
  { title: 'references in a property that has the name of data', schema: { items: { $id: 'http://a.example/x.json', definitions: { A: { type: 'null' } }, properties: { default: { $ref: '#/definitions/A' } } }, not: { $ref: 'http://a.example/x.json#/properties/default' } }, gives: { items: { properties: { default: { $ref: '#/$defs/A' } } }, not: { $ref: '#/$defs/default' } }, defs: { A: { type: 'null' }, default: { $ref: '#/$defs/A' } } },
  { title: 'a schema with an $id in a shared one has its own definitions', schema: { $ref: 'http://example.com/outer.json' }, gives: { $ref: '#/$defs/outer.json' }, defs: { 'outer.json': { items: { items: { $ref: '#/$defs/A' }, properties: { default: { $ref: '#/$defs/A' } } } }, A: { type: 'null' } } },
  { title: 'also for a pointer that leads into it', schema: { $ref: 'http://example.com/outer.json#/items/properties/default' }, gives: { $ref: '#/$defs/default' }, defs: { default: { $ref: '#/$defs/A' }, A: { type: 'null' } } },
  { title: 'a shared schema from one whose $id is a URL', schema: { $id: 'http://a.example/x.json', $ref: 'Money' }, gives: { $ref: '#/$defs/Money' }, defs: { Money: money } },
  { title: 'an anchor in it', schema: { $id: 'http://a.example/x.json', $ref: 'Parts#here' }, gives: { $ref: '#/$defs/here' }, defs: { here: { type: 'null' } } },
  { title: 'an anchor of draft-07 in it', schema: { $ref: 'Parts#part' }, gives: { $ref: '#/$defs/part' }, defs: { part: { type: 'boolean' } } },
  { title: 'a reference that stands in two schemas means the same in both', schema: { allOf: [{ $id: 'A', items: twice, definitions: { X: { type: 'null' } } }, { $id: 'B', items: twice, definitions: { X: { type: 'boolean' } } }] }, gives: { allOf: [{ items: { $ref: '#/$defs/X' } }, { items: { $ref: '#/$defs/X' } }] }, defs: { X: { type: 'null' } } },
  { title: 'a definition that refers to another of its name', schema: { $ref: '#/definitions/Node', definitions: { Node: { items: { $ref: '#/definitions/Other/definitions/Node' } }, Other: { definitions: { Node: { type: 'null' } } } } }, gives: { $ref: '#/$defs/Node' }, defs: { Node: { items: { $ref: '#/$defs/Node_2' } }, Node_2: { type: 'null' } } },
  { title: 'the last part of a URN names it', schema: { $ref: 'urn:example:thing', definitions: { A: { $id: 'urn:example:thing', type: 'null' } } }, gives: { $ref: '#/$defs/thing' }, defs: { thing: { type: 'null' } } },
  { title: 'what is no schema accepts nothing', schema: { allOf: [5, true, false] }, gives: { allOf: [{ not: {} }, true, false] } },
  { title: 'a pointer into a list', schema: { allOf: [{ type: 'null' }, { $ref: '#/allOf/0' }] }, gives: { allOf: [{ type: 'null' }, { $ref: '#/$defs/0' }] }, defs: { 0: { type: 'null' } } },
  { title: 'an encoded pointer', schema: { items: { $ref: '#/definitions/a%20b' }, definitions: { 'a b': { type: 'null' } } }, gives: { items: { $ref: '#/$defs/a_20b' } }, defs: { a_20b: { type: 'null' } } },
  { title: 'a pointer that cannot be decoded', schema: { items: { $ref: '#/definitions/100%' }, definitions: { '100%': { type: 'null' } } }, gives: { items: { $ref: '#/$defs/100_' } }, defs: { '100_': { type: 'null' } } },
  { title: 'the whole schema by its title', schema: { title: 'My tree', items: { $ref: '#' } }, gives: { title: 'My tree', items: { $ref: '#/$defs/My_tree' } }, defs: { My_tree: { title: 'My tree', items: { $ref: '#/$defs/My_tree' } } } },
  { title: 'a reference that is no text', schema: { $ref: 5, type: 'null' }, gives: { type: 'null' } },
  { title: 'a pointer to what is no schema', schema: { items: { $ref: '#/title' }, title: 'T' }, gives: '$ref "#/title" leads nowhere. Check the path after #' },
  { title: 'a pointer past the end', schema: { items: { $ref: '#/title/x' }, title: 'T' }, gives: '$ref "#/title/x" leads nowhere. Check the path after #' },
  { title: 'a missing schema is named', schema: { properties: { a: { $ref: 'Nope#' } } }, gives: '$ref "Nope#" leads nowhere. Add that schema with addSchema before the route' },
  { title: 'a missing place in a schema is named', schema: { $ref: 'Money#/definitions/x' }, gives: '$ref "Money#/definitions/x" leads nowhere. Check the path after #' },
  { title: 'a missing anchor, which no other schema can bring', schema: { $ref: '#nope' }, gives: '$ref "#nope" leads nowhere. No schema here has that $id or $anchor' },
  { title: 'a meta-schema, which cannot be added as the validator has it', schema: { $ref: 'http://json-schema.org/draft-07/schema#' }, gives: '$ref "http://json-schema.org/draft-07/schema#" is a meta-schema, which only the validator has. Describe what the route takes instead' }
]

for (const { title, schema, gives, defs = {} } of cases) {
  t.test(title, async (t) => {
    const before = JSON.stringify([shared, schema])
    const definitions: Definitions = { schemas: new Map(), names: new Map() }
    t.strictSame(refResolver(shared).localize(schema, definitions), gives)
    if (typeof gives !== 'string') t.strictSame(Object.fromEntries(definitions.schemas), defs)
    t.equal(JSON.stringify([shared, schema]), before, 'the schemas of the host are untouched')
  })
}

t.test('two schemas of one name get two definitions', async (t) => {
  const definitions: Definitions = { schemas: new Map(), names: new Map() }
  const resolver = refResolver(shared)
  const list = (type: string): Record<string, unknown> => ({ definitions: { Node: { type: 'object', properties: { value: { type }, next: { $ref: '#/definitions/Node' } } } }, $ref: '#/definitions/Node' })
  t.strictSame(resolver.localize(list('string'), definitions), { $ref: '#/$defs/Node' })
  t.strictSame(resolver.localize(list('integer'), definitions), { $ref: '#/$defs/Node_2' })
  t.strictSame([...definitions.schemas.keys()], ['Node', 'Node_2'])
})
