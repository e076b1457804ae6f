import t from 'tap'
import { documentOf } from '../../src/contract/document.ts'
import { namedPairs, type Named } from '../../src/contract/names.ts'
import type { JsonSchema } from '../../src/index.ts'

const text = { type: 'string' }
const whole = { type: 'integer' }
const named = (properties: object, more: object = {}): JsonSchema => ({ type: 'object', properties, ...more })
/** In how many places something is said of it, with `!` if any of them requires it and `*` if all do. */
const shown = (named: Named | undefined): string =>
  named === undefined ? '-' : `${named.schemas.length}${named.required ? '!' : ''}${named.always ? '*' : ''}`
const pairs = (before: JsonSchema, after: JsonSchema) => namedPairs(documentOf(before), documentOf(after))
const lines = (before: JsonSchema, after: JsonSchema) =>
  pairs(before, after)?.map(({ kind, path, name, before, after }) =>
    `${kind} ${path}${name === '' ? '' : ` ${name}`}: ${shown(before)} → ${shown(after)}`
  )
const X = (schema: JsonSchema): JsonSchema => ({ $defs: { X: schema } })
const ref = { $ref: '#/$defs/X' }

const rows: Array<[title: string, before: JsonSchema, after: JsonSchema, lines: readonly string[]]> = [
  ['one that is gone, one that stays and one that is new', named({ a: text, b: text }), named({ b: text, c: text }), [
    'property a a: 1 → -',
    'property c c: - → 1'
  ]],
  ['one that has changed', named({ a: text }), named({ a: whole }), ['property a a: 1 → 1']],
  ['one that is forbidden now', named({ a: text }), named({ a: false }), ['property a a: 1 → -']],
  ['one that was forbidden and is not named now', named({ a: false }), named({}), []],
  ['one that is required', named({ a: text }), named({ a: whole }, { required: ['a'] }), ['property a a: 1 → 1!*']],
  ['one that a branch requires', { anyOf: [named({ a: text }, { required: ['a'] }), {}] }, {
    anyOf: [named({ a: whole }, { required: ['a'] }), {}]
  }, ['property a a: 1! → 1!']],
  [
    'one that is required of what cannot be',
    named({ a: text }, { required: ['a'], allOf: [false] }),
    named({ a: whole }),
    ['property a a: 1! → 1']
  ],
  [
    'one in a part, a branch, a condition and where it depends on another',
    {
      allOf: [named({ a: text })],
      anyOf: [named({ b: text })],
      then: named({ c: text }),
      else: named({ d: text }),
      dependentSchemas: { x: named({ e: text }) }
    },
    {},
    ['a', 'c', 'd', 'b', 'e'].map((name) => `property ${name} ${name}: 1 → -`)
  ],
  [
    'all that is said of one',
    named({ a: { ...text, allOf: [text, true] } }, { allOf: [named({ a: text })] }),
    named({ a: true }),
    ['property a a: 3 → 1']
  ],
  ['inside another', named({ a: named({ b: text }) }), named({ a: named({}) }), [
    'property a a: 1 → 1',
    'property a.b b: 1 → -'
  ]],
  ['in items', { items: named({ a: text }) }, { items: named({}) }, ['other []: 1 → 1', 'property [].a a: 1 → -']],
  ['in what a list contains', { contains: named({ a: text }) }, { contains: named({}) }, [
    'other []: 1 → 1',
    'property [].a a: 1 → -'
  ]],
  ['in items that could be anything', { items: true }, { items: named({ a: text }) }, [
    'other []: 1 → 1',
    'property [].a a: - → 1'
  ]],
  ['in items of which nothing was said', {}, { items: named({ a: text }) }, []],
  ['in items of which nothing is said any more', { items: named({ a: text }) }, {}, []],
  ['in a place of a list', { prefixItems: [text, named({ a: text })] }, { prefixItems: [text, named({})] }, [
    'tuple [0]: 1 → 1',
    'tuple [1]: 1 → 1',
    'property [1].a a: 1 → -'
  ]],
  ['in a place of a list that was one of the others', { prefixItems: [text], items: named({ a: text }) }, {
    prefixItems: [text, named({})],
    items: named({ a: text })
  }, ['other []: 1 → 1', 'tuple [0]: 1 → 1', 'tuple [1]: 1 → 1', 'property [1].a a: 1 → -']],
  ['in the values of a map', { additionalProperties: named({ a: text }) }, { additionalProperties: named({}) }, [
    'other *: 1 → 1',
    'property *.a a: 1 → -'
  ]],
  ['in values by the pattern of their names', { patternProperties: { '^x': named({ a: text }) } }, {
    patternProperties: { '^x': named({}) }
  }, ['other *: 1 → 1', 'property *.a a: 1 → -']],
  ['behind a reference of an argument', named({ x: ref }, X(named({ a: text }))), named({ x: ref }, X(named({}))), [
    'property x x: 2 → 2',
    'property x.a a: 1 → -'
  ]],
  ['behind a reference of items', { items: ref, ...X(named({ a: text })) }, { items: ref, ...X(named({})) }, [
    'other []: 2 → 2',
    'property [].a a: 1 → -'
  ]],
  ['in a tree', { ...ref, ...X(named({ a: text, x: ref })) }, { ...ref, ...X(named({ x: ref })) }, [
    'property a a: 1 → -',
    'property x x: 2 → 2',
    'property x.a a: 1 → -',
    'property x.x x: 2 → 2'
  ]],
  ['behind a reference to itself', { ...ref, ...X({ allOf: [ref, named({ a: text })] }) }, {
    ...ref,
    ...X({ allOf: [ref] })
  }, ['property a a: 1 → -']]
]
for (const [title, before, after, wanted] of rows) {
  t.test(`names of two schemas: ${title}`, async (t) => t.strictSame(lines(before, after), wanted))
}
