import t from 'tap'
import { diffContracts, nameOfFinding } from '../../src/contract/index.ts'
import type { Contract } from '../../src/contract/index.ts'
import type { JsonSchema } from '../../src/index.ts'

const of = (x: JsonSchema): Contract => new Map([['t', { inputSchema: { type: 'object', properties: { x }, additionalProperties: false } }]])
/** The bump of each finding, with a question mark if it is not certain, and its name. */
const lines = (before: JsonSchema, after: JsonSchema): readonly string[] => diffContracts(of(before), of(after)).findings.map((finding) => `${finding.bump}${finding.certain ? '' : '?'} ${nameOfFinding(finding)}`)

const text = { type: 'string' }
t.test('which limits of numbers are within others', async (t) => {
  const integer = { type: 'integer' }
  const number = { type: 'number' }
  for (const [type, before, after, is] of [
    [integer, { exclusiveMaximum: 5 }, { maximum: 4 }, true], [integer, { exclusiveMaximum: 5 }, { maximum: 3 }, false], [integer, { exclusiveMaximum: 4.5 }, { maximum: 4 }, true], [integer, { exclusiveMaximum: 4.5 }, { maximum: 3 }, false],
    [integer, { maximum: 4.5 }, { maximum: 4 }, true], [integer, { maximum: 4.5 }, { exclusiveMaximum: 5 }, true], [integer, { maximum: 4 }, { exclusiveMaximum: 4 }, false],
    [integer, { exclusiveMinimum: 5 }, { minimum: 6 }, true], [integer, { exclusiveMinimum: 5 }, { minimum: 7 }, false], [integer, { exclusiveMinimum: 4.5 }, { minimum: 5 }, true], [integer, { exclusiveMinimum: 4.5 }, { minimum: 6 }, false],
    [integer, { minimum: 4.5 }, { minimum: 5 }, true], [integer, { minimum: 4.5 }, { exclusiveMinimum: 4 }, true], [integer, { minimum: 4 }, { exclusiveMinimum: 4 }, false],
    [number, { exclusiveMaximum: 5 }, { maximum: 5 }, true], [number, { exclusiveMaximum: 5 }, { exclusiveMaximum: 5.5 }, true], [number, { maximum: 5 }, { exclusiveMaximum: 5 }, false], [number, { maximum: 4.5 }, { maximum: 4 }, false],
    [number, { exclusiveMinimum: 5 }, { minimum: 5 }, true], [number, { exclusiveMinimum: 5 }, { exclusiveMinimum: 4.5 }, true], [number, { minimum: 5 }, { exclusiveMinimum: 5 }, false], [number, { minimum: 4.5 }, { minimum: 5 }, false],
    [integer, {}, { multipleOf: 1 }, true], [integer, {}, { multipleOf: 2 }, false], [number, {}, { multipleOf: 1 }, false], [number, { multipleOf: 4 }, { multipleOf: 2 }, true], [number, { multipleOf: 4 }, { multipleOf: 3 }, false],
    [number, { multipleOf: 2.5 }, { multipleOf: 0.5 }, true], [number, { multipleOf: 0.5 }, { multipleOf: 2.5 }, false], [number, { multipleOf: 0.3 }, { multipleOf: 0.1 }, false], [number, { multipleOf: 0.1 }, { multipleOf: 0.1, minimum: 1 }, false]
  ] as const) t.equal(lines({ ...type, ...before }, { ...type, ...after }).some((line) => line.startsWith('major')), !is, JSON.stringify([type, before, after]))
})

t.test('which values two schemas share, to the last one', async (t) => {
  const integer = { type: 'integer' }
  const all = [text, { type: 'number' }, { type: 'boolean' }, { type: 'null' }, { type: 'array' }, { type: 'object' }]
  const range = (least: number, most: number): JsonSchema => ({ ...integer, minimum: least, maximum: most })
  const listed = (least: number, most: number): JsonSchema => ({ enum: Array.from({ length: most - least + 1 }, (_, n) => least + n) })
  const list = (more: object): JsonSchema => ({ type: 'array', ...more })
  for (const [before, after, is] of [
    [range(150, 160), listed(150, 160), true], [range(150, 160), listed(150, 159), false], [range(150, 160), listed(151, 160), false],
    [range(-10, 189), listed(-10, 189), true], [range(-10, 190), listed(-10, 190), false],
    [{ ...integer, exclusiveMinimum: 1, exclusiveMaximum: 3 }, listed(1, 3), true], [{ type: ['integer', 'null'], minimum: 1, maximum: 2 }, { enum: [1, 2, null] }, true],
    [range(1, 3), { anyOf: [{ const: 1 }, { enum: [2, 3] }] }, true], [range(1, 3), { anyOf: [{ const: 1 }, { const: 2 }] }, false],
    [range(1, 3), { allOf: [range(1, 3), { not: { const: 4 } }] }, true], [range(1, 3), { allOf: [range(1, 3), { not: { const: 3 } }] }, false],
    [{}, { anyOf: all }, true], ...all.map((one) => [{}, { anyOf: all.filter((other) => other !== one) }, false] as const),
    [{ maxLength: 5, allOf: [{ anyOf: [text, integer] }] }, { anyOf: [{ ...text, maxLength: 5 }, integer] }, true],
    [{ anyOf: [text, integer], allOf: [{ maxLength: 5 }] }, { anyOf: [{ ...text, maxLength: 5 }, integer] }, true],
    [{ anyOf: [text, integer], maxLength: 5 }, { anyOf: [{ ...text, maxLength: 5 }, integer] }, true],
    [list({ items: text, maxItems: 2 }), list({ prefixItems: [text, text, integer], items: integer, maxItems: 2 }), true],
    [list({ items: text, maxItems: 2 }), list({ prefixItems: [text, integer], items: text, maxItems: 2 }), false],
    [list({ items: text, maxItems: 3 }), list({ prefixItems: [text, text], items: integer, maxItems: 3 }), false],
    [list({ prefixItems: [text], items: integer }), list({ prefixItems: [text, integer], items: integer }), true],
    [list({ prefixItems: [text], items: integer }), list({ prefixItems: [text, text], items: integer }), false],
    [list({ items: text, maxItems: 1 }), list({ items: text, maxItems: 1, uniqueItems: true }), true], [list({ items: text, maxItems: 2 }), list({ items: text, maxItems: 2, uniqueItems: true }), false],
    [list({ prefixItems: [text], items: false }), list({ prefixItems: [text], maxItems: 1 }), true], [list({ prefixItems: [text, text], items: false }), list({ prefixItems: [text, text], maxItems: 1 }), false],
    [list({}), list({ minItems: 0 }), true], [list({ minItems: 2 }), list({ minItems: 2, maxItems: 2 }), false],
    [list({}), list({ contains: text, minContains: 0 }), true], [list({}), list({ contains: text, minContains: 0, maxContains: 2 }), false], [list({ contains: text }), list({ contains: integer }), false],
    [list({ items: integer, minItems: 1 }), list({ items: integer, minItems: 1, contains: text }), false], [list({ prefixItems: [integer], items: text, minItems: 1 }), list({ prefixItems: [integer], items: text, minItems: 1, contains: text }), false],
    ...([[{ minContains: 2 }, true], [{ minContains: 3 }, false], [{ maxContains: 3 }, true], [{ maxContains: 2 }, false]] as const).map(([more, is]) => [list({ items: text, minItems: 2, maxItems: 3 }), list({ items: text, minItems: 2, maxItems: 3, contains: text, ...more }), is] as const),
    [list({}), list({ unevaluatedItems: true }), true], [list({}), list({ unevaluatedItems: false }), false], [text, { ...text, unevaluatedItems: false }, true],
    [{ type: 'object' }, { type: 'object', unevaluatedProperties: true }, true], [{ type: 'object' }, { type: 'object', unevaluatedProperties: false }, false], [text, { ...text, unevaluatedProperties: false }, true],
    [{ ...text, pattern: '^(?:a)b' }, { ...text, pattern: '^(a)b' }, true], [{ ...text, pattern: '(?:a)b' }, { ...text, pattern: '(a)b' }, true], [{ ...text, pattern: ':(a)' }, { ...text, pattern: ':(?:a)' }, true],
    [{ ...text, pattern: '^[^ab]$' }, { ...text, pattern: '^[^ba]$' }, true], [{ ...text, pattern: '^[^ab]$' }, { ...text, pattern: '^[ab]$' }, false],
    [{ ...text, pattern: '^[0-9a-]$' }, { ...text, pattern: '^[a\\d-]$' }, true], [{ ...text, pattern: '^\\w{0,}b{1,}c{0,1}$' }, { ...text, pattern: '^[a-zA-Z_0-9]*b+c?$' }, true]
  ] as const) t.equal(lines(before, after).some((line) => line.startsWith('major')), !is, JSON.stringify([before, after]))
})
