import t from 'tap'
import { insteadOf, to2020 } from '../src/schema/dialect.ts'

const cases: Array<{ title: string, from: Record<string, unknown>, to: unknown }> = [
  {
    title: 'constraints, descriptions, defaults, enums and nesting stay',
    from: {
      type: 'object',
      title: 'T',
      properties: {
        a: {
          type: 'string',
          enum: ['x'],
          default: 'x',
          description: 'd',
          format: 'email',
          minLength: 1,
          pattern: '^x'
        },
        b: { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1 }
      },
      required: ['a']
    },
    to: {
      type: 'object',
      title: 'T',
      properties: {
        a: {
          type: 'string',
          enum: ['x'],
          default: 'x',
          description: 'd',
          format: 'email',
          minLength: 1,
          pattern: '^x'
        },
        b: { type: 'array', items: { type: 'integer', minimum: 0 }, minItems: 1 }
      },
      required: ['a']
    }
  },
  { title: 'nullable becomes a union', from: { type: 'string', nullable: true }, to: { type: ['string', 'null'] } },
  {
    title: 'nullable with several types',
    from: { type: ['string', 'integer'], nullable: true },
    to: { type: ['string', 'integer', 'null'] }
  },
  {
    title: 'nullable without a type becomes an alternative',
    from: { anyOf: [{ type: 'string' }], nullable: true, description: 'd' },
    to: { description: 'd', anyOf: [{ anyOf: [{ type: 'string' }] }, { type: 'null' }] }
  },
  {
    title: 'nullable beside a reference becomes an alternative',
    from: { $ref: '#/$defs/A', nullable: true },
    to: { anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }] }
  },
  { title: 'nullable of anything says nothing', from: { nullable: true, description: 'd' }, to: { description: 'd' } },
  {
    title: 'a tuple',
    from: { type: 'array', items: [{ type: 'string' }, true], additionalItems: false },
    to: { type: 'array', prefixItems: [{ type: 'string' }, true], items: false }
  },
  {
    title: 'dependencies',
    from: { dependencies: { a: ['b'], c: { required: ['d'] } } },
    to: { dependentRequired: { a: ['b'] }, dependentSchemas: { c: { required: ['d'] } } }
  },
  {
    title: 'exclusive bounds of draft 4',
    from: { minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
    to: { exclusiveMinimum: 0, maximum: 9 }
  },
  { title: 'the example of OpenAPI', from: { type: 'string', example: 'x' }, to: { type: 'string', examples: ['x'] } },
  {
    title: 'examples say more than the one example beside them',
    from: { type: 'string', example: 'x', examples: ['y', 'z'] },
    to: { type: 'string', examples: ['y', 'z'] }
  },
  {
    title: 'the examples map of OpenAPI is dropped',
    from: { type: 'string', examples: { one: { value: 'x' } } },
    to: { type: 'string' }
  },
  {
    title: 'keywords of Fastify, OpenAPI and Ajv are dropped',
    from: {
      $id: 'A',
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      'x-internal': 1,
      discriminator: {},
      xml: {},
      externalDocs: {},
      errorMessage: '',
      instanceof: 'Date',
      $comment: 'c'
    },
    to: { type: 'object' }
  },
  {
    title: 'properties named like keywords stay',
    from: {
      properties: {
        'x-internal': { type: 'string' },
        nullable: { type: 'string' },
        $id: { type: 'string' },
        example: { type: 'string' }
      }
    },
    to: {
      properties: {
        'x-internal': { type: 'string' },
        nullable: { type: 'string' },
        $id: { type: 'string' },
        example: { type: 'string' }
      }
    }
  },
  {
    title: 'data is not touched',
    from: { const: { nullable: true, $id: 'x' }, enum: [{ example: 1 }] },
    to: { const: { nullable: true, $id: 'x' }, enum: [{ example: 1 }] }
  },
  {
    title: 'a property that may be anything is an object, for older clients',
    from: { properties: { a: true, b: false }, additionalProperties: false },
    to: { properties: { a: {}, b: { not: {} } }, additionalProperties: false }
  },
  {
    title: 'the required flag of a parameter is dropped',
    from: { type: 'object', properties: { a: { type: 'string', required: true } } },
    to: { type: 'object', properties: { a: { type: 'string' } } }
  },
  {
    title: 'a type that is none is refused',
    from: { properties: { a: { type: 'money' } } },
    to: 'type "money" is not a JSON Schema type'
  },
  {
    title: 'one that JSON lacks with what to write instead',
    from: { properties: { when: { type: 'Date' } } },
    to: 'type "Date" is not a JSON Schema type. JSON has no dates. Describe a string with the format date-time ' +
      'and convert it: in Zod z.iso.datetime().transform((text) => new Date(text)), in TypeBox Type.String({ ' +
      "format: 'date-time' })"
  },
  {
    title: 'a pattern that is invalid with the u flag is left out',
    from: { type: 'string', pattern: '^\\_', maxLength: 3 },
    to: { type: 'string', maxLength: 3 }
  },
  {
    title: 'one under a not is refused, as without it the rest would take less',
    from: { not: { properties: { a: { pattern: '^\\_' } } } },
    to: 'pattern "^\\\\_" is not a regular expression with the u flag'
  },
  {
    title: 'so is one in an alternative of which exactly one must hold',
    from: { oneOf: [{ pattern: '^\\_' }, { type: 'null' }] },
    to: 'pattern "^\\\\_" is not a regular expression with the u flag'
  },
  {
    title: 'so is one that names properties',
    from: { patternProperties: { '^{a}': {} } },
    to: 'pattern "^{a}" is not a regular expression with the u flag'
  },
  {
    title: 'dynamic references are refused',
    from: { anyOf: [{ $dynamicRef: '#a' }] },
    to: '$dynamicRef is not supported'
  },
  { title: 'so are recursive ones', from: { anyOf: [{ $recursiveRef: '#' }] }, to: '$recursiveRef is not supported' }
]

const any = { type: 'string' }

t.test('what to describe instead of a type that JSON lacks', async (t) => {
  for (
    const [type, advice] of [
      ['date', /^JSON has no dates\./],
      ['BigInt', /^JSON has no big integers\./],
      ['Map', /^JSON has no maps\./],
      ['set', /^JSON has no sets\./],
      ['undefined', /^JSON has no undefined\./],
      ['Void', /^JSON has no undefined\./],
      ['NaN', /^JSON has no NaN\./],
      ['transform', /^Say what the transform returns:/],
      ['Transforms', /^Say what/],
      ...['Uint8Array', 'custom', 'symbol', 'Symbols', 'function', 'functions'].map((
        name
      ) => [name, /^Describe the JSON value that is sent in its place$/])
    ] as Array<[string, RegExp]>
  ) {
    t.match(insteadOf(`${type} cannot be represented`), /^\. \S/)
    t.match(insteadOf(`${type} cannot be represented`).slice(2), advice, type)
  }
  for (const name of ['money', 'update', 'bitmap', 'offset', 'devoid', 'nano', 'customer']) {
    t.equal(insteadOf(name), '', name)
  }
})

for (const { title, from, to } of cases) {
  t.test(title, async (t) => {
    const before = JSON.stringify(from)
    t.strictSame(to2020(from), to)
    t.equal(JSON.stringify(from), before, 'the schema of the host is untouched')
  })
}

t.test('what 2020-12 knows stays as it is', (t) => {
  for (
    const [keyword, value] of Object.entries({
      ...Object.fromEntries(
        [
          'exclusiveMaximum',
          'exclusiveMinimum',
          'maxContains',
          'maxItems',
          'maxLength',
          'maxProperties',
          'maximum',
          'minContains',
          'minItems',
          'minLength',
          'minProperties',
          'minimum'
        ].map((name) => [name, 1])
      ),
      ...Object.fromEntries(
        ['additionalProperties', 'contains', 'contentSchema', 'else', 'if', 'items', 'not', 'propertyNames', 'then']
          .map((name) => [name, any])
      ),
      $defs: { A: any },
      $ref: '#/$defs/A',
      allOf: [any],
      anyOf: [any],
      const: 'a',
      contentEncoding: 'base64',
      contentMediaType: 'text/csv',
      default: 'a',
      dependentRequired: { a: ['b'] },
      dependentSchemas: { a: any },
      deprecated: true,
      description: 'D',
      enum: ['a'],
      examples: ['a'],
      format: 'date',
      multipleOf: 2,
      oneOf: [any],
      pattern: '^a',
      patternProperties: { '^a': any },
      prefixItems: [any],
      properties: { a: any },
      readOnly: true,
      required: ['a'],
      title: 'T',
      type: 'object',
      unevaluatedItems: false,
      unevaluatedProperties: false,
      uniqueItems: true,
      writeOnly: true
    })
  ) t.strictSame(to2020({ [keyword]: value }), { [keyword]: value }, keyword)
  t.end()
})
