import type { JsonSchema } from '../../src/tool/json-schema.ts'
import type { Change } from './changes.ts'

type Bumps = readonly [input: Change['input'], output: Change['output']]

/** A change and its reverse, as oasdiff's checks name them, and the bumps of each as an input and as an output. */
interface Check {
  /** The ends of the check ids: `request-property-max-set`, `response-body-max-set`; both ways. */
  readonly ids: readonly [there: string, back: string]
  readonly schemas: readonly [before: unknown, after: unknown]
  readonly there: Bumps
  readonly back: Bumps
}

const text = { type: 'string' }
const whole = { type: 'integer' }
const number = { type: 'number' }
const list = { type: 'array', items: text }
const map = { type: 'object' }
const record = (properties: Record<string, unknown>, more: object = {}): JsonSchema => ({ type: 'object', properties, ...more })
const cat = record({ kind: { const: 'cat' }, lives: whole }, { required: ['kind'] })
const kind = (name: string): JsonSchema => record({ kind: { const: name }, name: text }, { required: ['kind'] })
const dog = record({ kind: { const: 'dog' }, breed: text }, { required: ['kind'] })

/** An input that takes less, and its reverse. */
const LESS = { there: ['major', 'minor'], back: ['minor', 'major'] } as const
/** Another meaning, both ways. */
const OTHER = { there: ['major', 'major'], back: ['major', 'major'] } as const
/** Only written differently. */
const SAME = { there: ['patch', 'patch'], back: ['patch', 'patch'] } as const
/** A limit that becomes narrower, and its reverse. */
const narrower = (keyword: string, set: string, from: unknown, before: unknown, after: unknown): readonly Check[] => [
  { ids: [`${set}-set`, `${set}-unset`], schemas: [from, { ...Object(from), [keyword]: before }], ...LESS },
  { ids: Number(after) > Number(before) ? [`${set}-increased`, `${set}-decreased`] : [`${set}-decreased`, `${set}-increased`], schemas: [{ ...Object(from), [keyword]: before }, { ...Object(from), [keyword]: after }], ...LESS }
]

/**
 * The checks of oasdiff 1.x that are about the schema of an argument or of a result, by their ids. Checks of paths, media
 * types, status codes, security, deprecation dates and `discriminator` have no counterpart in a tool.
 *
 * @see [checker/rules.go](https://github.com/oasdiff/oasdiff/blob/main/checker/rules.go)
 */
const checks: readonly Check[] = [
  ...narrower('maximum', 'max', whole, 1000, 500),
  ...narrower('maximum', 'max', number, 10, 9.5),
  ...narrower('exclusiveMaximum', 'exclusive-max', number, 10, 9),
  ...narrower('minimum', 'min', whole, 0, 10),
  ...narrower('exclusiveMinimum', 'exclusive-min', number, 0, 0.5),
  ...narrower('maxLength', 'max-length', text, 100, 50),
  ...narrower('minLength', 'min-length', text, 1, 3),
  ...narrower('maxItems', 'max-items', list, 100, 50),
  ...narrower('minItems', 'min-items', list, 1, 2),
  ...narrower('maxProperties', 'max-properties', map, 100, 50),
  ...narrower('minProperties', 'min-properties', map, 1, 2),
  { ids: ['min-contains-increased', 'min-contains-decreased'], schemas: [{ ...list, contains: { const: 'a' }, minContains: 1 }, { ...list, contains: { const: 'a' }, minContains: 2 }], there: ['major', 'major'], back: ['major', 'major'] },
  { ids: ['contains-added', 'contains-removed'], schemas: [list, { ...list, contains: { const: 'a' } }], ...LESS },
  { ids: ['prefix-items-added', 'prefix-items-removed'], schemas: [{ type: 'array' }, { type: 'array', prefixItems: [text] }], ...LESS },
  { ids: ['unique-items-added', 'unique-items-removed'], schemas: [list, { ...list, uniqueItems: true }], ...LESS },
  // Types
  { ids: ['type-changed', 'type-changed'], schemas: [text, whole], ...OTHER },
  { ids: ['type-specialized', 'type-generalized'], schemas: [number, whole], ...LESS },
  { ids: ['type-specialized', 'type-generalized'], schemas: [{}, text], ...LESS },
  { ids: ['list-of-types-narrowed', 'list-of-types-widened'], schemas: [{ type: ['string', 'integer'] }, text], ...LESS },
  { ids: ['became-not-nullable', 'became-nullable'], schemas: [{ type: ['string', 'null'] }, text], ...LESS },
  { ids: ['became-not-nullable', 'became-nullable'], schemas: [{ anyOf: [cat, { type: 'null' }] }, cat], ...LESS },
  { ids: ['type-compatible', 'type-compatible'], schemas: [{ enum: ['a'] }, { type: 'string', enum: ['a'] }], ...SAME },
  { ids: ['type-changed (array to its item)', 'type-changed (item to array)'], schemas: [list, text], ...OTHER },
  { ids: ['type-changed (object to string)', 'type-changed (string to object)'], schemas: [cat, text], ...OTHER },
  { ids: ['type-changed (int64 to int32)', 'type-generalized (int32 to int64)'], schemas: [{ ...whole, format: 'int64' }, { ...whole, format: 'int32' }], ...LESS },
  { ids: ['type-changed (double to float)', 'type-generalized (float to double)'], schemas: [{ ...number, format: 'double' }, { ...number, format: 'float' }], ...LESS },
  { ids: ['type-changed (uri-reference to uri)', 'type-generalized (uri to uri-reference)'], schemas: [{ ...text, format: 'uri-reference' }, { ...text, format: 'uri' }], ...LESS },
  { ids: ['type-changed (idn-email to email)', 'type-generalized (email to idn-email)'], schemas: [{ ...text, format: 'idn-email' }, { ...text, format: 'email' }], ...LESS },
  { ids: ['type-changed (format set)', 'type-generalized (format removed)'], schemas: [text, { ...text, format: 'uuid' }], ...LESS },
  { ids: ['type-changed (another format)', 'type-changed (another format)'], schemas: [{ ...text, format: 'uuid' }, { ...text, format: 'ulid' }], ...OTHER },
  // Values
  { ids: ['became-enum', 'enum-removed'], schemas: [text, { ...text, enum: ['a', 'b'] }], ...LESS },
  { ids: ['enum-value-removed', 'enum-value-added'], schemas: [{ enum: ['a', 'b', 'c'] }, { enum: ['a', 'c'] }], ...LESS },
  { ids: ['enum-value-removed (null)', 'enum-value-added (null)'], schemas: [{ enum: ['a', null] }, { enum: ['a'] }], ...LESS },
  { ids: ['const-added', 'const-removed'], schemas: [text, { const: 'a' }], ...LESS },
  { ids: ['const-changed', 'const-changed'], schemas: [{ const: 'a' }, { const: 'b' }], ...OTHER },
  { ids: ['became-enum (the same integers)', 'enum-removed (the same integers)'], schemas: [{ ...whole, minimum: 1, maximum: 3 }, { enum: [1, 2, 3] }], ...SAME },
  { ids: ['became-enum (fewer integers)', 'enum-removed (more integers)'], schemas: [{ ...whole, minimum: 1, maximum: 4 }, { enum: [1, 2, 3] }], ...LESS },
  { ids: ['type-specialized (a constant of each type)', 'type-generalized (a list of them)'], schemas: [{ enum: ['a', 1] }, { anyOf: [{ const: 'a' }, { const: 1 }] }], ...SAME },
  // Patterns and steps
  { ids: ['pattern-added', 'pattern-removed'], schemas: [text, { ...text, pattern: '^[a-z]+$' }], ...LESS },
  { ids: ['pattern-changed', 'pattern-changed'], schemas: [{ ...text, pattern: '^[a-z]+$' }, { ...text, pattern: '^[a-z]{3}$' }], ...OTHER },
  { ids: ['pattern-changed (from all)', 'pattern-generalized'], schemas: [{ ...text, pattern: '.*' }, { ...text, pattern: '^a' }], ...LESS },
  { ids: ['pattern-changed (written differently)', 'pattern-changed (written differently)'], schemas: [{ ...text, pattern: '^[0-9]{1,}$' }, { ...text, pattern: '^\\d+$' }], ...SAME },
  { ids: ['pattern-changed (another order)', 'pattern-changed (another order)'], schemas: [{ ...text, pattern: '^[a-z0-9_]$' }, { ...text, pattern: '^[_\\da-z]$' }], ...SAME },
  { ids: ['pattern-changed (an escaped bracket)', 'pattern-changed (an escaped bracket)'], schemas: [{ ...text, pattern: '\\[0-9]' }, { ...text, pattern: '\\[\\d]' }], ...OTHER },
  { ids: ['pattern-added (any string)', 'pattern-removed (any string)'], schemas: [text, { ...text, pattern: '^.*' }], ...SAME },
  { ids: ['multiple-of-set', 'multiple-of-unset'], schemas: [number, { ...number, multipleOf: 0.5 }], ...LESS },
  { ids: ['multiple-of-changed (0.25 to 0.5)', 'multiple-of-changed (0.5 to 0.25)'], schemas: [{ ...number, multipleOf: 0.25 }, { ...number, multipleOf: 0.5 }], ...LESS },
  { ids: ['multiple-of-changed (2 to 6)', 'multiple-of-changed (6 to 2)'], schemas: [{ ...whole, multipleOf: 2 }, { ...whole, multipleOf: 6 }], ...LESS },
  { ids: ['multiple-of-changed (0.1 to 0.3, which rounding decides)', 'multiple-of-changed (0.3 to 0.1, which rounding decides)'], schemas: [{ ...number, multipleOf: 0.1 }, { ...number, multipleOf: 0.3 }], ...OTHER },
  // Objects
  { ids: ['property-names-added', 'property-names-removed'], schemas: [map, { ...map, propertyNames: { maxLength: 40 } }], ...LESS },
  { ids: ['pattern-property-added', 'pattern-property-removed'], schemas: [map, { ...map, patternProperties: { '^x-': text } }], ...LESS },
  { ids: ['additional-properties-typed', 'additional-properties-untyped'], schemas: [map, { ...map, additionalProperties: text }], ...LESS },
  { ids: ['additional-properties-closed', 'additional-properties-opened'], schemas: [record({ a: text }), record({ a: text }, { additionalProperties: false })], ...LESS },
  { ids: ['dependent-required-added', 'dependent-required-removed'], schemas: [record({ a: text, b: text }), record({ a: text, b: text }, { dependentRequired: { a: ['b'] } })], ...LESS },
  { ids: ['dependent-required-changed (more)', 'dependent-required-changed (less)'], schemas: [record({ a: text, b: text, c: text }, { dependentRequired: { a: ['b'] } }), record({ a: text, b: text, c: text }, { dependentRequired: { a: ['b', 'c'] } })], ...LESS },
  { ids: ['dependent-schema-added', 'dependent-schema-removed'], schemas: [record({ a: text, b: text }), record({ a: text, b: text }, { dependentSchemas: { a: { required: ['b'] } } })], ...LESS },
  { ids: ['if-added', 'if-removed'], schemas: [record({ a: text, b: text }), record({ a: text, b: text }, { if: { required: ['a'] }, then: { required: ['b'] } })], ...LESS },
  { ids: ['unevaluated-properties-added', 'unevaluated-properties-removed'], schemas: [record({ a: text }), record({ a: text }, { unevaluatedProperties: false })], ...LESS },
  { ids: ['unevaluated-items-added', 'unevaluated-items-removed'], schemas: [{ type: 'array', prefixItems: [text] }, { type: 'array', prefixItems: [text], unevaluatedItems: false }], ...LESS },
  { ids: ['became-required', 'became-optional'], schemas: [record({ a: text }), record({ a: text }, { required: ['a'] })], ...LESS },
  { ids: ['new-optional-request-property, response-optional-property-added', 'request-property-removed, response-optional-property-removed'], schemas: [record({ a: text }), record({ a: text, b: text })], there: ['minor', 'minor'], back: ['major', 'major'] },
  { ids: ['new-required-request-property, response-required-property-added', 'request-property-removed, response-required-property-removed'], schemas: [record({ a: text }), record({ a: text, b: text }, { required: ['b'] })], there: ['major', 'minor'], back: ['major', 'major'] },
  { ids: ['new-optional-request-property (in a map)', 'request-property-removed (from a map)'], schemas: [map, record({ b: text })], there: ['major', 'minor'], back: ['major', 'major'] },
  { ids: ['new-optional-request-property (in an object that says it is open)', 'request-property-removed (from such a one)'], schemas: [record({ a: text }, { additionalProperties: true }), record({ a: text, b: text }, { additionalProperties: true })], there: ['major', 'minor'], back: ['major', 'major'] },
  // Unions
  { ids: ['any-of-removed', 'any-of-added'], schemas: [{ anyOf: [text, whole] }, { anyOf: [text] }], ...LESS },
  { ids: ['one-of-removed', 'one-of-added'], schemas: [{ oneOf: [cat, dog] }, { oneOf: [cat] }], there: ['major', 'major'], back: ['minor', 'major'] },
  { ids: ['one-of-removed (of the same names)', 'one-of-added (of the same names)'], schemas: [{ oneOf: [kind('cat'), kind('dog')] }, { oneOf: [kind('cat')] }], ...LESS },
  { ids: ['all-of-added', 'all-of-removed'], schemas: [{ allOf: [text] }, { allOf: [text, { maxLength: 9 }] }], ...LESS },
  { ids: ['all-of-added-annotation-only', 'all-of-removed-annotation-only'], schemas: [{ allOf: [text] }, { allOf: [text, { description: 'D' }] }], ...SAME },
  { ids: ['wrapped-in-one-of', 'unwrapped-from-one-of'], schemas: [cat, { oneOf: [cat] }], ...SAME },
  { ids: ['request-property-removed (from one branch of an open union)', 'new-optional-request-property (in one branch of an open union)'], schemas: [{ anyOf: [record({ kind: { const: 'cat' }, name: text }, { required: ['kind'] }), record({ kind: { const: 'dog' }, name: text }, { required: ['kind'] })] }, { anyOf: [record({ kind: { const: 'cat' } }, { required: ['kind'] }), record({ kind: { const: 'dog' }, name: text }, { required: ['kind'] })] }], there: ['major', 'major'], back: ['minor', 'minor'] },
  { ids: ['one-of-changed (an argument leaves one of three)', 'one-of-changed (an argument joins one of three)'], schemas: [{ oneOf: ['cat', 'dog', 'cow'].map(kind) }, { oneOf: [kind('cat'), record({ kind: { const: 'dog' } }, { required: ['kind'] }), kind('cow')] }], there: ['major', 'major'], back: ['minor', 'minor'] },
  // What is meant
  { ids: ['default-value-added', 'default-value-removed'], schemas: [whole, { ...whole, default: 1 }], there: ['major', 'patch'], back: ['major', 'patch'] },
  { ids: ['default-value-changed', 'default-value-changed'], schemas: [{ ...whole, default: 1 }, { ...whole, default: 2 }], there: ['major', 'patch'], back: ['major', 'patch'] },
  { ids: ['default-value-changed (of a tuple\'s item)', 'default-value-changed (of a tuple\'s item)'], schemas: [{ type: 'array', prefixItems: [{ ...whole, default: 1 }] }, { type: 'array', prefixItems: [{ ...whole, default: 2 }] }], there: ['major', 'patch'], back: ['major', 'patch'] },
  { ids: ['default-value-added (to a required one)', 'default-value-removed (from a required one)'], schemas: [record({ a: whole }, { required: ['a'] }), record({ a: { ...whole, default: 1 } }, { required: ['a'] })], ...SAME },
  { ids: ['content-encoding-changed', 'content-encoding-changed'], schemas: [{ ...text, contentEncoding: 'base64' }, { ...text, contentEncoding: 'base16' }], ...OTHER },
  { ids: ['content-encoding-added', 'content-encoding-removed'], schemas: [text, { ...text, contentEncoding: 'base64' }], ...OTHER },
  { ids: ['content-media-type-changed', 'content-media-type-changed'], schemas: [{ ...text, contentMediaType: 'image/png' }, { ...text, contentMediaType: 'image/jpeg' }], ...OTHER },
  { ids: ['content-schema-added', 'content-schema-removed'], schemas: [{ ...text, contentMediaType: 'application/json' }, { ...text, contentMediaType: 'application/json', contentSchema: map }], ...OTHER },
  { ids: ['deprecated', 'reactivated'], schemas: [text, { ...text, deprecated: true }], ...SAME },
  { ids: ['became-read-only', 'became-not-read-only'], schemas: [text, { ...text, readOnly: true }], ...SAME },
  { ids: ['became-write-only', 'became-not-write-only'], schemas: [text, { ...text, writeOnly: true }], ...SAME }
]

/** Where a schema may stand: as `body`, which every call has, or as an argument that calls may leave out. */
const PLACES = {
  body: (schema: unknown): JsonSchema => record({ body: schema }, { required: ['body'], additionalProperties: false }),
  property: (schema: unknown): JsonSchema => record({ filter: record({ x: schema }) }, { additionalProperties: false })
} as const

/** Each check in each place, both ways. A default of what every call passes is none. */
export const checked: readonly Change[] = checks.flatMap(({ ids, schemas: [before, after], there, back }) => Object.entries(PLACES).flatMap(([place, at]): readonly Change[] => {
  const isPassed = place === 'body' && ids[0].startsWith('default-value-') && !ids[0].includes('(')
  const row = (id: string, was: unknown, is: unknown, [input, output]: Bumps): Change =>
    ({ title: `oasdiff request-${place}-${id}, response-${place}-${id}`, before: at(was), after: at(is), input: isPassed ? 'patch' : input, output })
  return [row(ids[0], before, after, there), row(ids[1], after, before, back)]
}))
