import type { JsonSchema } from '../../src/index.ts'
import type { Change } from './changes.ts'

type Bumps = readonly [input: Change['input'], output: Change['output']]

/** A change and its reverse, and the bumps of each as an input and as an output. */
interface Check {
  /**
   * What each comes from: the ids of oasdiff's checks, with what differs in braces, or, where oasdiff has none, the
   * keyword in JSON Schema. What is special about it follows in parentheses.
   */
  readonly names: readonly [there: string, back: string]
  readonly schemas: readonly [before: unknown, after: unknown]
  readonly there: Bumps
  readonly back: Bumps
}

const text = { type: 'string' }
const whole = { type: 'integer' }
const number = { type: 'number' }
const list = { type: 'array', items: text }
const map = { type: 'object' }
const record = (properties: Record<string, unknown>, more: object = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...more
})
const cat = record({ kind: { const: 'cat' }, lives: whole }, { required: ['kind'] })
const kind = (name: string): JsonSchema => record({ kind: { const: name }, name: text }, { required: ['kind'] })
const dog = record({ kind: { const: 'dog' }, breed: text }, { required: ['kind'] })

/** An input that takes less, and its reverse. */
const LESS = { there: ['major', 'minor'], back: ['minor', 'major'] } as const
/** Another meaning, both ways. */
const OTHER = { there: ['major', 'major'], back: ['major', 'major'] } as const
/** Only written differently. */
const SAME = { there: ['patch', 'patch'], back: ['patch', 'patch'] } as const
/** What names a limit that is set, unset, narrower and wider. */
const LIMITS = {
  maximum: [
    'request-{body,property,parameter}-max-set',
    'JSON Schema Validation §6.2.2 maximum, unset',
    'request-{body,property,parameter}-max-decreased',
    '{request,response}-{body,property}-max-increased request-parameter-max-increased'
  ],
  exclusiveMaximum: [
    'request-{body,property,parameter}-exclusive-max-set',
    'JSON Schema Validation §6.2.3 exclusiveMaximum, unset',
    'request-{body,property,parameter}-exclusive-max-decreased',
    '{request,response}-{body,property}-exclusive-max-increased request-parameter-exclusive-max-increased'
  ],
  minimum: [
    'request-{body,property,parameter}-min-set',
    'JSON Schema Validation §6.2.4 minimum, unset',
    'request-{body,property,parameter}-min-increased',
    '{request,response}-{body,property}-min-decreased request-parameter-min-decreased'
  ],
  exclusiveMinimum: [
    'request-{body,property,parameter}-exclusive-min-set',
    'JSON Schema Validation §6.2.5 exclusiveMinimum, unset',
    'request-{body,property,parameter}-exclusive-min-increased',
    '{request,response}-{body,property}-exclusive-min-decreased request-parameter-exclusive-min-decreased'
  ],
  maxLength: [
    'request-{body,property,parameter}-max-length-set',
    'response-{body,property}-max-length-unset',
    'request-{body,property,parameter}-max-length-decreased',
    '{request,response}-{body,property}-max-length-increased request-parameter-max-length-increased'
  ],
  minLength: [
    'JSON Schema Validation §6.3.2 minLength, set',
    'JSON Schema Validation §6.3.2 minLength, unset',
    'request-{body,property,parameter}-min-length-increased',
    '{request,response}-{body,property}-min-length-decreased request-parameter-min-length-decreased'
  ],
  maxItems: [
    'JSON Schema Validation §6.4.1 maxItems, set',
    'JSON Schema Validation §6.4.1 maxItems, unset',
    'request-parameter-max-items-decreased',
    'request-parameter-max-items-increased'
  ],
  minItems: [
    'request-{body,property,parameter}-min-items-set',
    'response-{body,property}-min-items-unset',
    'request-{body,property,parameter}-min-items-increased',
    'request-parameter-min-items-decreased response-{body,property}-min-items-decreased'
  ],
  maxProperties: [
    'JSON Schema Validation §6.5.1 maxProperties, set',
    'JSON Schema Validation §6.5.1 maxProperties, unset',
    'JSON Schema Validation §6.5.1 maxProperties, decreased',
    'JSON Schema Validation §6.5.1 maxProperties, increased'
  ],
  minProperties: [
    'JSON Schema Validation §6.5.2 minProperties, set',
    'JSON Schema Validation §6.5.2 minProperties, unset',
    'JSON Schema Validation §6.5.2 minProperties, increased',
    'JSON Schema Validation §6.5.2 minProperties, decreased'
  ]
} as const

/** A limit that is set, and one that becomes narrower, and the reverse of both. */
const narrower = (keyword: keyof typeof LIMITS, from: unknown, before: unknown, after: unknown): readonly Check[] => {
  const [set, unset, narrow, wide] = LIMITS[keyword]
  return [
    { names: [set, unset], schemas: [from, { ...Object(from), [keyword]: before }], ...LESS },
    {
      names: [narrow, wide],
      schemas: [{ ...Object(from), [keyword]: before }, { ...Object(from), [keyword]: after }],
      ...LESS
    }
  ]
}

/**
 * The checks of oasdiff, as of August 2026, that are about the schema of an argument or of a result, and the keywords
 * of JSON Schema beside them. Checks of paths, media types, status codes, headers, security, sunset dates, stability
 * and `discriminator` have no counterpart in a tool.
 *
 * @see [checker/rules.go](https://github.com/oasdiff/oasdiff/blob/main/checker/rules.go)
 */
const checks: readonly Check[] = [
  ...narrower('maximum', whole, 1000, 500),
  ...narrower('maximum', number, 10, 9.5),
  ...narrower('exclusiveMaximum', number, 10, 9),
  ...narrower('minimum', whole, 0, 10),
  ...narrower('exclusiveMinimum', number, 0, 0.5),
  ...narrower('maxLength', text, 100, 50),
  ...narrower('minLength', text, 1, 3),
  ...narrower('maxItems', list, 100, 50),
  ...narrower('minItems', list, 1, 2),
  ...narrower('maxProperties', map, 100, 50),
  ...narrower('minProperties', map, 1, 2),
  {
    names: [
      '{request,response}-{body,property}-min-contains-increased',
      '{request,response}-{body,property}-min-contains-decreased'
    ],
    schemas: [{ ...list, contains: { const: 'a' }, minContains: 1 }, {
      ...list,
      contains: { const: 'a' },
      minContains: 2
    }],
    there: ['major', 'major'],
    back: ['major', 'major']
  },
  {
    names: ['{request,response}-{body,property}-contains-added', '{request,response}-{body,property}-contains-removed'],
    schemas: [list, { ...list, contains: { const: 'a' } }],
    ...LESS
  },
  {
    names: [
      '{request,response}-{body,property}-prefix-items-added',
      '{request,response}-{body,property}-prefix-items-removed'
    ],
    schemas: [{ type: 'array' }, { type: 'array', prefixItems: [text] }],
    ...LESS
  },
  {
    names: ['JSON Schema Validation §6.4.3 uniqueItems, added', 'JSON Schema Validation §6.4.3 uniqueItems, removed'],
    schemas: [list, { ...list, uniqueItems: true }],
    ...LESS
  },
  // Types
  {
    names: [
      '{request,response}-{body,property}-type-changed request-{parameter,parameter-property}-type-changed',
      '{request,response}-{body,property}-type-changed request-{parameter,parameter-property}-type-changed'
    ],
    schemas: [text, whole],
    ...OTHER
  },
  {
    names: [
      'request-parameter-property-type-specialized response-{body,property}-type-specialized',
      '{request,response}-{body,property}-type-generalized request-{parameter,parameter-property}-type-generalized'
    ],
    schemas: [number, whole],
    ...LESS
  },
  {
    names: [
      'request-parameter-property-type-specialized response-{body,property}-type-specialized',
      '{request,response}-{body,property}-type-generalized request-{parameter,parameter-property}-type-generalized'
    ],
    schemas: [{}, text],
    ...LESS
  },
  {
    names: [
      '{request,response}-{body,property}-list-of-types-narrowed ' +
      'request-{parameter,parameter-property}-list-of-types-narrowed',
      '{request,response}-{body,property}-list-of-types-widened ' +
      'request-{parameter,parameter-property}-list-of-types-widened'
    ],
    schemas: [{ type: ['string', 'integer'] }, text],
    ...LESS
  },
  {
    names: [
      '{request,response}-{body,property}-became-not-nullable ' +
      'request-{parameter,parameter-property}-became-not-nullable',
      '{request,response}-{body,property}-became-nullable request-{parameter,parameter-property}-became-nullable'
    ],
    schemas: [{ type: ['string', 'null'] }, text],
    ...LESS
  },
  {
    names: [
      '{request,response}-{body,property}-became-not-nullable ' +
      'request-{parameter,parameter-property}-became-not-nullable',
      '{request,response}-{body,property}-became-nullable request-{parameter,parameter-property}-became-nullable'
    ],
    schemas: [{ anyOf: [cat, { type: 'null' }] }, cat],
    ...LESS
  },
  {
    names: ['{request,response}-{body,property}-type-compatible', '{request,response}-{body,property}-type-compatible'],
    schemas: [{ enum: ['a'] }, { type: 'string', enum: ['a'] }],
    ...SAME
  },
  {
    names: [
      '{request,response}-{body,property}-type-changed request-{parameter,parameter-property}-type-changed ' +
      '(array to its item)',
      '{request,response}-{body,property}-type-changed request-{parameter,parameter-property}-type-changed ' +
      '(item to array)'
    ],
    schemas: [list, text],
    ...OTHER
  },
  {
    names: [
      '{request,response}-{body,property}-type-changed request-{parameter,parameter-property}-type-changed ' +
      '(object to string)',
      '{request,response}-{body,property}-type-changed request-{parameter,parameter-property}-type-changed ' +
      '(string to object)'
    ],
    schemas: [cat, text],
    ...OTHER
  },
  {
    names: [
      '{request,response}-{body,property}-type-changed request-{parameter,parameter-property}-type-changed ' +
      '(int64 to int32)',
      '{request,response}-{body,property}-type-generalized ' +
      'request-{parameter,parameter-property}-type-generalized (int32 to int64)'
    ],
    schemas: [{ ...whole, format: 'int64' }, { ...whole, format: 'int32' }],
    ...LESS
  },
  {
    names: [
      '{request,response}-{body,property}-type-changed request-{parameter,parameter-property}-type-changed ' +
      '(double to float)',
      '{request,response}-{body,property}-type-generalized ' +
      'request-{parameter,parameter-property}-type-generalized (float to double)'
    ],
    schemas: [{ ...number, format: 'double' }, { ...number, format: 'float' }],
    ...LESS
  },
  {
    names: [
      '{request,response}-{body,property}-type-changed request-{parameter,parameter-property}-type-changed ' +
      '(uri-reference to uri)',
      '{request,response}-{body,property}-type-generalized ' +
      'request-{parameter,parameter-property}-type-generalized (uri to uri-reference)'
    ],
    schemas: [{ ...text, format: 'uri-reference' }, { ...text, format: 'uri' }],
    ...LESS
  },
  {
    names: [
      '{request,response}-{body,property}-type-changed request-{parameter,parameter-property}-type-changed ' +
      '(idn-email to email)',
      '{request,response}-{body,property}-type-generalized ' +
      'request-{parameter,parameter-property}-type-generalized (email to idn-email)'
    ],
    schemas: [{ ...text, format: 'idn-email' }, { ...text, format: 'email' }],
    ...LESS
  },
  {
    names: [
      '{request,response}-{body,property}-type-changed request-{parameter,parameter-property}-type-changed ' +
      '(format set)',
      '{request,response}-{body,property}-type-generalized ' +
      'request-{parameter,parameter-property}-type-generalized (format removed)'
    ],
    schemas: [text, { ...text, format: 'uuid' }],
    ...LESS
  },
  {
    names: [
      '{request,response}-{body,property}-type-changed request-{parameter,parameter-property}-type-changed ' +
      '(another format)',
      '{request,response}-{body,property}-type-changed request-{parameter,parameter-property}-type-changed ' +
      '(another format)'
    ],
    schemas: [{ ...text, format: 'uuid' }, { ...text, format: 'ulid' }],
    ...OTHER
  },
  // Values
  {
    names: ['request-{body,property,parameter}-became-enum', 'JSON Schema Validation §6.1.2 enum, removed'],
    schemas: [text, { ...text, enum: ['a', 'b'] }],
    ...LESS
  },
  {
    names: [
      '{request,response}-property-enum-value-removed request-{body,parameter,parameter-property}-enum-value-removed',
      '{request,response}-property-enum-value-added request-{parameter,parameter-property}-enum-value-added'
    ],
    schemas: [{ enum: ['a', 'b', 'c'] }, { enum: ['a', 'c'] }],
    ...LESS
  },
  {
    names: [
      '{request,response}-property-enum-value-removed ' +
      'request-{body,parameter,parameter-property}-enum-value-removed (null)',
      '{request,response}-property-enum-value-added request-{parameter,parameter-property}-enum-value-added (null)'
    ],
    schemas: [{ enum: ['a', null] }, { enum: ['a'] }],
    ...LESS
  },
  {
    names: ['{request,response}-{body,property}-const-added', '{request,response}-{body,property}-const-removed'],
    schemas: [text, { const: 'a' }],
    ...LESS
  },
  {
    names: ['{request,response}-{body,property}-const-changed', '{request,response}-{body,property}-const-changed'],
    schemas: [{ const: 'a' }, { const: 'b' }],
    ...OTHER
  },
  {
    names: [
      'request-{body,property,parameter}-became-enum (the same integers)',
      'JSON Schema Validation §6.1.2 enum, removed (the same integers)'
    ],
    schemas: [{ ...whole, minimum: 1, maximum: 3 }, { enum: [1, 2, 3] }],
    ...SAME
  },
  {
    names: [
      'request-{body,property,parameter}-became-enum (fewer integers)',
      'JSON Schema Validation §6.1.2 enum, removed (more integers)'
    ],
    schemas: [{ ...whole, minimum: 1, maximum: 4 }, { enum: [1, 2, 3] }],
    ...LESS
  },
  {
    names: [
      'request-parameter-property-type-specialized response-{body,property}-type-specialized (a constant of each type)',
      '{request,response}-{body,property}-type-generalized ' +
      'request-{parameter,parameter-property}-type-generalized (a list of them)'
    ],
    schemas: [{ enum: ['a', 1] }, { anyOf: [{ const: 'a' }, { const: 1 }] }],
    ...SAME
  },
  // Patterns and steps
  {
    names: [
      '{request,response}-property-pattern-added request-parameter-pattern-added',
      '{request,response}-property-pattern-removed request-parameter-pattern-removed'
    ],
    schemas: [text, { ...text, pattern: '^[a-z]+$' }],
    ...LESS
  },
  {
    names: [
      '{request,response}-property-pattern-changed request-parameter-pattern-changed',
      '{request,response}-property-pattern-changed request-parameter-pattern-changed'
    ],
    schemas: [{ ...text, pattern: '^[a-z]+$' }, { ...text, pattern: '^[a-z]{3}$' }],
    ...OTHER
  },
  {
    names: [
      '{request,response}-property-pattern-changed request-parameter-pattern-changed (from all)',
      'request-{property,parameter}-pattern-generalized'
    ],
    schemas: [{ ...text, pattern: '.*' }, { ...text, pattern: '^a' }],
    ...LESS
  },
  {
    names: [
      '{request,response}-property-pattern-changed request-parameter-pattern-changed (written differently)',
      '{request,response}-property-pattern-changed request-parameter-pattern-changed (written differently)'
    ],
    schemas: [{ ...text, pattern: '^[0-9]{1,}$' }, { ...text, pattern: '^\\d+$' }],
    ...SAME
  },
  {
    names: [
      '{request,response}-property-pattern-changed request-parameter-pattern-changed (another order)',
      '{request,response}-property-pattern-changed request-parameter-pattern-changed (another order)'
    ],
    schemas: [{ ...text, pattern: '^[a-z0-9_]$' }, { ...text, pattern: '^[_\\da-z]$' }],
    ...SAME
  },
  {
    names: [
      '{request,response}-property-pattern-changed request-parameter-pattern-changed (an escaped bracket)',
      '{request,response}-property-pattern-changed request-parameter-pattern-changed (an escaped bracket)'
    ],
    schemas: [{ ...text, pattern: '\\[0-9]' }, { ...text, pattern: '\\[\\d]' }],
    ...OTHER
  },
  {
    names: [
      '{request,response}-property-pattern-added request-parameter-pattern-added (any string)',
      '{request,response}-property-pattern-removed request-parameter-pattern-removed (any string)'
    ],
    schemas: [text, { ...text, pattern: '^.*' }],
    ...SAME
  },
  {
    names: ['JSON Schema Validation §6.2.1 multipleOf, set', 'JSON Schema Validation §6.2.1 multipleOf, unset'],
    schemas: [number, { ...number, multipleOf: 0.5 }],
    ...LESS
  },
  {
    names: [
      'JSON Schema Validation §6.2.1 multipleOf, changed (0.25 to 0.5)',
      'JSON Schema Validation §6.2.1 multipleOf, changed (0.5 to 0.25)'
    ],
    schemas: [{ ...number, multipleOf: 0.25 }, { ...number, multipleOf: 0.5 }],
    ...LESS
  },
  {
    names: [
      'JSON Schema Validation §6.2.1 multipleOf, changed (2 to 6)',
      'JSON Schema Validation §6.2.1 multipleOf, changed (6 to 2)'
    ],
    schemas: [{ ...whole, multipleOf: 2 }, { ...whole, multipleOf: 6 }],
    ...LESS
  },
  {
    names: [
      'JSON Schema Validation §6.2.1 multipleOf, changed (0.1 to 0.3, which rounding decides)',
      'JSON Schema Validation §6.2.1 multipleOf, changed (0.3 to 0.1, which rounding decides)'
    ],
    schemas: [{ ...number, multipleOf: 0.1 }, { ...number, multipleOf: 0.3 }],
    ...OTHER
  },
  // Objects
  {
    names: [
      '{request,response}-{body,property}-property-names-added',
      '{request,response}-{body,property}-property-names-removed'
    ],
    schemas: [map, { ...map, propertyNames: { maxLength: 40 } }],
    ...LESS
  },
  {
    names: [
      '{request,response}-{body,property}-pattern-property-added',
      '{request,response}-{body,property}-pattern-property-removed'
    ],
    schemas: [map, { ...map, patternProperties: { '^x-': text } }],
    ...LESS
  },
  {
    names: [
      'JSON Schema Core §10.3.2.3 additionalProperties, typed',
      'JSON Schema Core §10.3.2.3 additionalProperties, untyped'
    ],
    schemas: [map, { ...map, additionalProperties: text }],
    ...LESS
  },
  {
    names: [
      'JSON Schema Core §10.3.2.3 additionalProperties, closed',
      'JSON Schema Core §10.3.2.3 additionalProperties, opened'
    ],
    schemas: [record({ a: text }), record({ a: text }, { additionalProperties: false })],
    ...LESS
  },
  {
    names: [
      '{request,response}-{body,property}-dependent-required-added',
      '{request,response}-{body,property}-dependent-required-removed'
    ],
    schemas: [record({ a: text, b: text }), record({ a: text, b: text }, { dependentRequired: { a: ['b'] } })],
    ...LESS
  },
  {
    names: [
      '{request,response}-{body,property}-dependent-required-changed (more)',
      '{request,response}-{body,property}-dependent-required-changed (less)'
    ],
    schemas: [
      record({ a: text, b: text, c: text }, { dependentRequired: { a: ['b'] } }),
      record({ a: text, b: text, c: text }, { dependentRequired: { a: ['b', 'c'] } })
    ],
    ...LESS
  },
  {
    names: [
      '{request,response}-{body,property}-dependent-schema-added',
      '{request,response}-{body,property}-dependent-schema-removed'
    ],
    schemas: [
      record({ a: text, b: text }),
      record({ a: text, b: text }, { dependentSchemas: { a: { required: ['b'] } } })
    ],
    ...LESS
  },
  {
    names: ['{request,response}-{body,property}-if-added', '{request,response}-{body,property}-if-removed'],
    schemas: [
      record({ a: text, b: text }),
      record({ a: text, b: text }, { if: { required: ['a'] }, then: { required: ['b'] } })
    ],
    ...LESS
  },
  {
    names: [
      '{request,response}-{body,property}-unevaluated-properties-added',
      '{request,response}-{body,property}-unevaluated-properties-removed'
    ],
    schemas: [record({ a: text }), record({ a: text }, { unevaluatedProperties: false })],
    ...LESS
  },
  {
    names: [
      '{request,response}-{body,property}-unevaluated-items-added',
      '{request,response}-{body,property}-unevaluated-items-removed'
    ],
    schemas: [{ type: 'array', prefixItems: [text] }, { type: 'array', prefixItems: [text], unevaluatedItems: false }],
    ...LESS
  },
  {
    names: [
      '{request,response}-property-became-required request-{body,parameter}-became-required',
      '{request,response}-property-became-optional request-{body,parameter}-became-optional'
    ],
    schemas: [record({ a: text }), record({ a: text }, { required: ['a'] })],
    ...LESS
  },
  {
    names: [
      'new-optional-request-property response-optional-property-added',
      'request-property-removed response-optional-property-removed'
    ],
    schemas: [record({ a: text }), record({ a: text, b: text })],
    there: ['minor', 'minor'],
    back: ['major', 'major']
  },
  {
    names: [
      'new-required-request-property response-required-property-added',
      'request-property-removed response-required-property-removed'
    ],
    schemas: [record({ a: text }), record({ a: text, b: text }, { required: ['b'] })],
    there: ['major', 'minor'],
    back: ['major', 'major']
  },
  {
    names: ['new-optional-request-property (in a map)', 'request-property-removed (from a map)'],
    schemas: [map, record({ b: text })],
    there: ['major', 'minor'],
    back: ['major', 'major']
  },
  {
    names: [
      'new-optional-request-property (in an object that says it is open)',
      'request-property-removed (from such a one)'
    ],
    schemas: [
      record({ a: text }, { additionalProperties: true }),
      record({ a: text, b: text }, { additionalProperties: true })
    ],
    there: ['major', 'minor'],
    back: ['major', 'major']
  },
  // Unions
  {
    names: ['{request,response}-{body,property}-any-of-removed', '{request,response}-{body,property}-any-of-added'],
    schemas: [{ anyOf: [text, whole] }, { anyOf: [text] }],
    ...LESS
  },
  {
    names: ['{request,response}-{body,property}-one-of-removed', '{request,response}-{body,property}-one-of-added'],
    schemas: [{ oneOf: [cat, dog] }, { oneOf: [cat] }],
    there: ['major', 'major'],
    back: ['minor', 'major']
  },
  {
    names: [
      '{request,response}-{body,property}-one-of-removed (of the same names)',
      '{request,response}-{body,property}-one-of-added (of the same names)'
    ],
    schemas: [{ oneOf: [kind('cat'), kind('dog')] }, { oneOf: [kind('cat')] }],
    ...LESS
  },
  {
    names: ['{request,response}-{body,property}-all-of-added', '{request,response}-{body,property}-all-of-removed'],
    schemas: [{ allOf: [text] }, { allOf: [text, { maxLength: 9 }] }],
    ...LESS
  },
  {
    names: [
      '{request,response}-{body,property}-all-of-added-annotation-only',
      '{request,response}-{body,property}-all-of-removed-annotation-only'
    ],
    schemas: [{ allOf: [text] }, { allOf: [text, { description: 'D' }] }],
    ...SAME
  },
  {
    names: ['{request,response}-body-wrapped-in-one-of', 'JSON Schema Core §10.2.1.3 oneOf'],
    schemas: [cat, { oneOf: [cat] }],
    ...SAME
  },
  {
    names: [
      'request-property-removed (from one branch of an open union)',
      'new-optional-request-property (in one branch of an open union)'
    ],
    schemas: [{
      anyOf: [
        record({ kind: { const: 'cat' }, name: text }, { required: ['kind'] }),
        record({ kind: { const: 'dog' }, name: text }, { required: ['kind'] })
      ]
    }, {
      anyOf: [
        record({ kind: { const: 'cat' } }, { required: ['kind'] }),
        record({ kind: { const: 'dog' }, name: text }, { required: ['kind'] })
      ]
    }],
    there: ['major', 'major'],
    back: ['minor', 'minor']
  },
  {
    names: [
      'JSON Schema Core §10.2.1.3 oneOf, changed (an argument leaves one of three)',
      'JSON Schema Core §10.2.1.3 oneOf, changed (an argument joins one of three)'
    ],
    schemas: [{ oneOf: ['cat', 'dog', 'cow'].map(kind) }, {
      oneOf: [kind('cat'), record({ kind: { const: 'dog' } }, { required: ['kind'] }), kind('cow')]
    }],
    there: ['major', 'major'],
    back: ['minor', 'minor']
  },
  // What is meant
  {
    names: [
      '{request,response}-{body,property}-default-value-added request-parameter-default-value-added',
      '{request,response}-{body,property}-default-value-removed request-parameter-default-value-removed'
    ],
    schemas: [whole, { ...whole, default: 1 }],
    there: ['major', 'patch'],
    back: ['major', 'patch']
  },
  {
    names: [
      '{request,response}-{body,property}-default-value-changed request-parameter-default-value-changed',
      '{request,response}-{body,property}-default-value-changed request-parameter-default-value-changed'
    ],
    schemas: [{ ...whole, default: 1 }, { ...whole, default: 2 }],
    there: ['major', 'patch'],
    back: ['major', 'patch']
  },
  {
    names: [
      '{request,response}-{body,property}-default-value-changed request-parameter-default-value-changed (of a ' +
      "tuple's item)",
      '{request,response}-{body,property}-default-value-changed request-parameter-default-value-changed (of a ' +
      "tuple's item)"
    ],
    schemas: [{ type: 'array', prefixItems: [{ ...whole, default: 1 }] }, {
      type: 'array',
      prefixItems: [{ ...whole, default: 2 }]
    }],
    there: ['major', 'patch'],
    back: ['major', 'patch']
  },
  {
    names: [
      '{request,response}-{body,property}-default-value-added request-parameter-default-value-added (to a ' +
      'required one)',
      '{request,response}-{body,property}-default-value-removed request-parameter-default-value-removed (from a ' +
      'required one)'
    ],
    schemas: [record({ a: whole }, { required: ['a'] }), record({ a: { ...whole, default: 1 } }, { required: ['a'] })],
    ...SAME
  },
  {
    names: [
      '{request,response}-{body,property}-content-encoding-changed',
      '{request,response}-{body,property}-content-encoding-changed'
    ],
    schemas: [{ ...text, contentEncoding: 'base64' }, { ...text, contentEncoding: 'base16' }],
    ...OTHER
  },
  {
    names: [
      'JSON Schema Validation §8.3 contentEncoding, added',
      'JSON Schema Validation §8.3 contentEncoding, removed'
    ],
    schemas: [text, { ...text, contentEncoding: 'base64' }],
    ...OTHER
  },
  {
    names: [
      '{request,response}-{body,property}-content-media-type-changed',
      '{request,response}-{body,property}-content-media-type-changed'
    ],
    schemas: [{ ...text, contentMediaType: 'image/png' }, { ...text, contentMediaType: 'image/jpeg' }],
    ...OTHER
  },
  {
    names: [
      '{request,response}-{body,property}-content-schema-added',
      '{request,response}-{body,property}-content-schema-removed'
    ],
    schemas: [{ ...text, contentMediaType: 'application/json' }, {
      ...text,
      contentMediaType: 'application/json',
      contentSchema: map
    }],
    ...OTHER
  },
  {
    names: [
      '{request,response}-property-deprecated request-parameter-deprecated',
      '{request,response}-property-reactivated request-parameter-reactivated'
    ],
    schemas: [text, { ...text, deprecated: true }],
    ...SAME
  },
  {
    names: [
      '{request,response}-{optional,required}-property-became-read-only',
      '{request,response}-{optional,required}-property-became-not-read-only'
    ],
    schemas: [text, { ...text, readOnly: true }],
    ...SAME
  },
  {
    names: [
      '{request,response}-{optional,required}-property-became-write-only',
      '{request,response}-{optional,required}-property-became-not-write-only'
    ],
    schemas: [text, { ...text, writeOnly: true }],
    ...SAME
  },
  // Of parameters and bodies, which are arguments, and of one direction only
  {
    names: [
      '{request,response}-{body,property}-max-contains-decreased',
      '{request,response}-{body,property}-max-contains-increased'
    ],
    schemas: [{ ...list, contains: { const: 'a' }, maxContains: 3 }, {
      ...list,
      contains: { const: 'a' },
      maxContains: 2
    }],
    there: ['major', 'major'],
    back: ['major', 'major']
  },
  {
    names: ['{request,response}-{body,property}-then-added', '{request,response}-{body,property}-then-removed'],
    schemas: [
      record({ a: text, b: text }, { if: { required: ['a'] } }),
      record({ a: text, b: text }, { if: { required: ['a'] }, then: { required: ['b'] } })
    ],
    ...LESS
  },
  {
    names: ['{request,response}-{body,property}-else-added', '{request,response}-{body,property}-else-removed'],
    schemas: [
      record({ a: text, b: text }, { if: { required: ['a'] } }),
      record({ a: text, b: text }, { if: { required: ['a'] }, else: { required: ['b'] } })
    ],
    ...LESS
  },
  {
    names: ['request-property-became-required-with-default', 'request-property-became-optional (with a default)'],
    schemas: [record({ a: { ...text, default: 'x' } }), record({ a: { ...text, default: 'x' } }, { required: ['a'] })],
    ...LESS
  },
  {
    names: [
      'new-required-request-property-with-default new-required-request-default-parameter-to-existing-path',
      'request-property-removed (a required one with a default)'
    ],
    schemas: [record({ a: text }), record({ a: text, b: { ...text, default: 'x' } }, { required: ['b'] })],
    there: ['major', 'minor'],
    back: ['major', 'major']
  },
  {
    names: [
      'new-optional-request-parameter new-optional-request-default-parameter-to-existing-path',
      'request-parameter-removed request-parameter-removed-with-deprecation'
    ],
    schemas: [record({ a: text }), record({ a: text, b: { ...text, default: 'x' } })],
    there: ['minor', 'minor'],
    back: ['major', 'major']
  },
  {
    names: ['new-required-request-parameter new-request-path-parameter', 'request-parameter-removed (a required one)'],
    schemas: [record({ a: text }, { required: ['a'] }), record({ a: text, b: text }, { required: ['a', 'b'] })],
    there: ['major', 'minor'],
    back: ['major', 'major']
  },
  {
    names: ['request-body-added-optional', 'request-body-removed'],
    schemas: [record({ a: text }), record({ a: text, body: record({ b: text }) })],
    there: ['minor', 'minor'],
    back: ['major', 'major']
  },
  {
    names: ['request-body-added-required', 'request-body-removed (a required one)'],
    schemas: [record({ a: text }), record({ a: text, body: record({ b: text }) }, { required: ['body'] })],
    there: ['major', 'minor'],
    back: ['major', 'major']
  },
  {
    names: ['{request,response}-body-media-type-schema-added', '{request,response}-body-media-type-schema-removed'],
    schemas: [{}, record({ a: text })],
    there: ['major', 'minor'],
    back: ['major', 'major']
  },
  {
    names: [
      'request-{parameter,property}-x-extensible-enum-value-removed',
      'JSON Schema Core §6.5, an extension that lists values gets one'
    ],
    schemas: [{ ...text, 'x-extensible-enum': ['a', 'b'] }, { ...text, 'x-extensible-enum': ['a'] }],
    ...OTHER
  },
  {
    names: [
      'request-read-only-property-enum-value-removed response-mediatype-enum-value-removed',
      'response-write-only-property-enum-value-added'
    ],
    schemas: [{ enum: ['a', 'b'], readOnly: true, writeOnly: true }, { enum: ['a'], readOnly: true, writeOnly: true }],
    ...LESS
  },
  {
    names: [
      'request-read-only-property-{max,exclusive-max,max-length}-decreased',
      'JSON Schema Validation §9.4, a read-only number grows'
    ],
    schemas: [{ ...number, maximum: 9, exclusiveMaximum: 9, readOnly: true }, {
      ...number,
      maximum: 8,
      exclusiveMaximum: 8,
      readOnly: true
    }],
    ...LESS
  },
  {
    names: [
      'request-read-only-property-{min,exclusive-min}-increased',
      'JSON Schema Validation §9.4, a read-only number may be smaller'
    ],
    schemas: [{ ...number, minimum: 1, exclusiveMinimum: 1, readOnly: true }, {
      ...number,
      minimum: 2,
      exclusiveMinimum: 2,
      readOnly: true
    }],
    ...LESS
  },
  {
    names: ['response-write-only-property-became-required', 'response-write-only-property-became-optional'],
    schemas: [
      record({ a: { ...text, writeOnly: true } }),
      record({ a: { ...text, writeOnly: true } }, { required: ['a'] })
    ],
    ...LESS
  },
  {
    names: ['response-optional-write-only-property-added', 'response-optional-write-only-property-removed'],
    schemas: [record({ a: text }), record({ a: text, b: { ...text, writeOnly: true } })],
    there: ['minor', 'minor'],
    back: ['major', 'major']
  },
  {
    names: ['response-required-write-only-property-added', 'response-required-write-only-property-removed'],
    schemas: [record({ a: text }), record({ a: text, b: { ...text, writeOnly: true } }, { required: ['b'] })],
    there: ['major', 'minor'],
    back: ['major', 'major']
  }
]

/** Where a schema may stand: as `body`, which every call has, or as an argument that calls may leave out. */
const PLACES = {
  body: (schema: unknown): JsonSchema => record({ body: schema }, { required: ['body'], additionalProperties: false }),
  property: (schema: unknown): JsonSchema => record({ filter: record({ x: schema }) }, { additionalProperties: false })
} as const

/** Each check in each place, both ways. A default of what every call passes is none. */
export const checked: readonly Change[] = checks.flatMap(({ names, schemas: [before, after], there, back }) =>
  Object.entries(PLACES).flatMap(([place, at]): readonly Change[] => {
    const isPassed = place === 'body' && names[0].includes('-default-value-') && !names[0].includes('(')
    const row = (name: string, was: unknown, is: unknown, [input, output]: Bumps): Change => ({
      title: `as ${place}`,
      source: name,
      before: at(was),
      after: at(is),
      input: isPassed ? 'patch' : input,
      output
    })
    return [row(names[0], before, after, there), row(names[1], after, before, back)]
  })
)
