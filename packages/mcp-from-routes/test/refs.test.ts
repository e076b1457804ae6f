import t from 'tap'
import type { Definitions } from '../src/refs.ts'
import { refResolver } from '../src/refs.ts'

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

const cases: Array<{ title: string, schema: Record<string, unknown>, gives: unknown, defs?: Record<string, unknown> }> = [
  { title: 'a shared schema by its $id', schema: { $ref: 'Money#' }, gives: { type: 'integer', description: 'minor units' } },
  { title: 'annotations beside a $ref win', schema: { $ref: 'Money', description: 'the price' }, gives: { type: 'integer', description: 'the price' } },
  { title: 'constraints beside a $ref are added', schema: { $ref: 'Money', minimum: 1 }, gives: { type: 'integer', description: 'minor units', minimum: 1 } },
  { title: 'a constraint said twice holds twice', schema: { $ref: 'Money', type: 'number', title: 'T' }, gives: { title: 'T', allOf: [{ type: 'integer', description: 'minor units' }, { type: 'number' }] } },
  { title: 'a local definition', schema: { type: 'array', items: { $ref: '#/definitions/A' }, definitions: { A: { type: 'null' } } }, gives: { type: 'array', items: { type: 'null' } } },
  { title: 'a pointer into a shared schema, whose own references start from it', schema: { $ref: 'http://example.com/shapes.json#/definitions/Point' }, gives: { type: 'object', properties: { x: { type: 'number' }, y: { type: 'number' } } } },
  { title: 'an anchor in a shared schema', schema: { $ref: 'http://example.com/shapes.json#axis' }, gives: { type: 'number' } },
  { title: 'a relative reference', schema: { $id: 'http://example.com/mine.json', $ref: 'shapes.json#/definitions/Axis' }, gives: { type: 'number' } },
  { title: 'an escaped pointer', schema: { $ref: 'http://example.com/shapes.json#/definitions/a~1b~0c' }, gives: { type: 'boolean' } },
  { title: 'a property named $ref is not a reference', schema: { type: 'object', properties: { $ref: { type: 'string' } } }, gives: { type: 'object', properties: { $ref: { type: 'string' } } } },
  { title: 'data that looks like a reference is left alone', schema: { const: { $ref: 'x' }, default: { $ref: 'y' } }, gives: { const: { $ref: 'x' }, default: { $ref: 'y' } } },
  {
    title: 'a circle stays a reference, into $defs',
    schema: { $ref: 'Tree' },
    gives: { $ref: '#/$defs/Tree' },
    defs: { Tree: { type: 'object', properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/Tree' } } } } }
  },
  {
    title: 'a circle of two',
    schema: { type: 'object', properties: { a: { $ref: 'Even' } } },
    gives: { type: 'object', properties: { a: { $ref: '#/$defs/Even' } } },
    defs: { Even: { type: 'object', properties: { odd: { type: 'object', properties: { even: { $ref: '#/$defs/Even' } } } } } }
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
  { title: 'a missing place in a schema is named', schema: { $ref: 'Money#/definitions/x' }, gives: '$ref "Money#/definitions/x" leads nowhere. Check the path after #' }
]

for (const { title, schema, gives, defs = {} } of cases) {
  t.test(title, async (t) => {
    const before = JSON.stringify([shared, schema])
    const definitions: Definitions = new Map()
    t.strictSame(refResolver(shared).inline(schema, definitions), gives)
    t.strictSame(Object.fromEntries(definitions), defs)
    t.equal(JSON.stringify([shared, schema]), before, 'the schemas of the host are untouched')
  })
}

t.test('two schemas of one name get two definitions', async (t) => {
  const definitions: Definitions = new Map()
  const resolver = refResolver({})
  const list = (type: string): Record<string, unknown> => ({ definitions: { Node: { type: 'object', properties: { value: { type }, next: { $ref: '#/definitions/Node' } } } }, $ref: '#/definitions/Node' })
  t.strictSame(resolver.inline(list('string'), definitions), { $ref: '#/$defs/Node' })
  t.strictSame(resolver.inline(list('integer'), definitions), { $ref: '#/$defs/Node_2' })
  t.strictSame([...definitions.keys()], ['Node', 'Node_2'])
})

t.test('a shape that doubles at every level is kept once instead of growing', async (t) => {
  const levels = 40
  const definitions = Object.fromEntries(Array.from({ length: levels }, (_, n) => [`L${n}`, n === 0
    ? { type: 'string' }
    : { type: 'object', properties: { a: { $ref: `#/definitions/L${n - 1}` }, b: { $ref: `#/definitions/L${n - 1}` } } }]))
  const kept: Definitions = new Map()
  const schema = refResolver({}).inline({ definitions, $ref: `#/definitions/L${levels - 1}` }, kept)
  t.ok(JSON.stringify([schema, Object.fromEntries(kept)]).length < 10_000)
  t.ok(kept.has('L1'))
})
