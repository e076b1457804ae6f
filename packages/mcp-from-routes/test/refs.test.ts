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
  Tree: { $id: 'Tree', type: 'object', properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } } },
  Even: { $id: 'Even', type: 'object', properties: { odd: { $ref: 'Odd#' } } },
  Odd: { $id: 'Odd', type: 'object', properties: { even: { $ref: 'Even' } } }
}

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

t.test('a schema that two parts of a route refer to is one definition', async (t) => {
  const definitions: Definitions = { schemas: new Map(), names: new Map() }
  const resolver = refResolver(shared)
  t.strictSame(resolver.localize({ $ref: 'Money#' }, definitions), resolver.localize({ $ref: 'Money' }, definitions))
  t.strictSame([...definitions.schemas.keys()], ['Money'])
})
