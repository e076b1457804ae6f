import type { JsonSchema } from '../../src/index.ts'

/** A change of one schema, and the bumps it asks for as a tool's input and as its output. */
export interface Change {
  /** What changed. A company in parentheses has made such a change. */
  readonly title: string
  /** The checks of oasdiff that it comes from, by their ids; else the keyword in JSON Schema, or another rule. */
  readonly source: string
  readonly before: JsonSchema
  readonly after: JsonSchema
  readonly input: 'none' | 'patch' | 'minor' | 'major'
  readonly output: 'none' | 'patch' | 'minor' | 'major'
}

const object = (properties: Record<string, unknown>, more: Record<string, unknown> = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...more
})
const closed = (properties: Record<string, unknown>, more: Record<string, unknown> = {}): JsonSchema =>
  object(properties, { additionalProperties: false, ...more })
/** A schema as the one property of an object. */
const at = (schema: unknown): JsonSchema => object({ x: schema })
const text = { type: 'string' }
const whole = { type: 'integer' }
const address = object({ street: text, zip: { type: 'string', not: { const: '0' } } })
const tree = (more: Record<string, unknown> = {}): JsonSchema => ({
  $ref: '#/$defs/Node',
  $defs: { Node: object({ name: text, children: { type: 'array', items: { $ref: '#/$defs/Node' } } }, more) }
})

export const changes: readonly Change[] = [
  // Properties
  {
    title: 'an argument is gone (GitHub: a deprecated search parameter is taken away)',
    source: 'request-property-removed',
    before: closed({ q: text, sort: text }),
    after: closed({ q: text }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'an argument has another name (Slack: channel becomes channel_id)',
    source: 'request-property-removed',
    before: closed({ channel: text }),
    after: closed({ channel_id: text }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'a new optional argument (Stripe: a new filter of a list)',
    source: 'new-optional-request-property',
    before: closed({ limit: whole }),
    after: closed({ limit: whole, status: text }),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'a new required argument (Shopify: a location must be named)',
    source: 'new-required-request-property',
    before: closed({ id: text }, { required: ['id'] }),
    after: closed({ id: text, location_id: text }, { required: ['id', 'location_id'] }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'an optional argument is required now (GitHub: a parameter made required)',
    source: 'request-property-became-required',
    before: closed({ ref: text }),
    after: closed({ ref: text }, { required: ['ref'] }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'a required one is optional now (Stripe: an amount that is derived when left out)',
    source: 'request-property-became-optional response-property-became-optional',
    before: closed({ amount: whole }, { required: ['amount'] }),
    after: closed({ amount: whole }),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'a new field in an open object (Stripe: a field added to a resource)',
    source: 'response-optional-property-added',
    before: object({ id: text }),
    after: object({ id: text, phone: text }),
    input: 'minor',
    output: 'minor'
  },
  {
    title: 'a field is gone from an open object (Slack: a field dropped from a profile)',
    source: 'response-optional-property-removed',
    before: object({ id: text, skype: text }),
    after: object({ id: text }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'a nested field is gone (Stripe: card data moved elsewhere)',
    source: 'response-optional-property-removed',
    before: object({ card: object({ last4: text, fingerprint: text }) }),
    after: object({ card: object({ last4: text }) }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'a field of list items is gone (GitHub: a count dropped from a list)',
    source: 'response-optional-property-removed',
    before: { type: 'array', items: object({ id: whole, score: whole }) },
    after: { type: 'array', items: object({ id: whole }) },
    input: 'major',
    output: 'major'
  },
  {
    title: 'an open object is closed (Kubernetes: unknown fields pruned)',
    source: 'JSON Schema Core §10.3.2.3 additionalProperties',
    before: object({ a: text }),
    after: closed({ a: text }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'a closed object is opened (Kubernetes: preserve unknown fields)',
    source: 'JSON Schema Core §10.3.2.3 additionalProperties',
    before: closed({ a: text }),
    after: object({ a: text }),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'the values of a map get a type (Stripe: metadata values are strings)',
    source: 'JSON Schema Core §10.3.2.3 additionalProperties',
    before: at({ type: 'object' }),
    after: at({ type: 'object', additionalProperties: text }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'the values of a map get longer',
    source: 'request-property-max-length-increased response-property-max-length-increased',
    before: at({ type: 'object', additionalProperties: { type: 'string', maxLength: 500 } }),
    after: at({ type: 'object', additionalProperties: { type: 'string', maxLength: 1000 } }),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'a map takes fewer keys (Stripe: at most 50 metadata keys)',
    source: 'JSON Schema Validation §6.5.1 maxProperties',
    before: at({ type: 'object', maxProperties: 100 }),
    after: at({ type: 'object', maxProperties: 50 }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'a change must name something (GitHub: an empty update is refused)',
    source: 'JSON Schema Validation §6.5.2 minProperties',
    before: object({ a: text, b: text }),
    after: object({ a: text, b: text }, { minProperties: 1 }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'enough is required anyway',
    source: 'JSON Schema Validation §6.5.2 minProperties',
    before: object({ a: text }, { required: ['a'] }),
    after: object({ a: text }, { required: ['a'], minProperties: 1 }),
    input: 'patch',
    output: 'patch'
  },
  // Types
  {
    title: 'a number becomes a text (Stripe: an id that was a number)',
    source: 'request-property-type-changed response-property-type-changed',
    before: at(whole),
    after: at(text),
    input: 'major',
    output: 'major'
  },
  {
    title: 'integer becomes number (Shopify: quantities with fractions)',
    source: 'request-property-type-generalized response-property-type-generalized',
    before: at(whole),
    after: at({ type: 'number' }),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'number becomes integer',
    source: 'request-property-type-changed',
    before: at({ type: 'number' }),
    after: at(whole),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'a value may be null now (GitHub: a user that was deleted)',
    source: 'request-property-became-nullable response-property-became-nullable',
    before: at(text),
    after: at({ type: ['string', 'null'] }),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'a value is never null any more',
    source: 'request-property-became-not-nullable response-property-became-not-nullable',
    before: at({ type: ['string', 'null'] }),
    after: at(text),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'null written as a union',
    source: 'JSON Schema Validation §6.1.1 type',
    before: at({ type: ['string', 'null'] }),
    after: at({ anyOf: [text, { type: 'null' }] }),
    input: 'none',
    output: 'none'
  },
  {
    title: 'a list of types with limits, written as a union',
    source: 'JSON Schema Validation §6.1.1 type',
    before: at({ type: ['string', 'null'], maxLength: 9, description: 'D' }),
    after: at({ description: 'D', anyOf: [{ type: 'string', maxLength: 9 }, { type: 'null' }] }),
    input: 'none',
    output: 'none'
  },
  {
    title: 'such a union that is narrower as well',
    source: 'JSON Schema Validation §6.1.1 type',
    before: at({ type: ['string', 'null'], maxLength: 9 }),
    after: at({ anyOf: [{ type: 'string', maxLength: 5 }, { type: 'null' }] }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'an id that is expanded into an object (Stripe: expand)',
    source: 'request-property-any-of-added response-property-any-of-added',
    before: at(text),
    after: at({ anyOf: [text, object({ id: text })] }),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'one value becomes a list of them (Slack: one channel, then several)',
    source: 'request-property-type-changed response-property-type-changed',
    before: at(text),
    after: at({ type: 'array', items: text }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'a type where there was none',
    source: 'request-property-type-changed',
    before: at({}),
    after: at(text),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'a schema true instead of an empty one',
    source: 'JSON Schema Core §4.3.2 boolean schemas',
    before: at({}),
    after: at(true),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'a property that may not be there any more',
    source: 'JSON Schema Core §4.3.2 boolean schemas',
    before: object({ x: text, y: text }),
    after: object({ x: text, y: false }),
    input: 'major',
    output: 'major'
  },
  // Values
  {
    title: 'a new value (Stripe: a status more)',
    source: 'request-property-enum-value-added response-property-enum-value-added',
    before: at({ enum: ['open', 'paid'] }),
    after: at({ enum: ['open', 'paid', 'void'] }),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'a value less (Shopify: a weight unit dropped)',
    source: 'request-property-enum-value-removed response-property-enum-value-removed',
    before: at({ enum: ['g', 'kg', 'stone'] }),
    after: at({ enum: ['g', 'kg'] }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'the same values in another order',
    source: 'JSON Schema Validation §6.1.2 enum',
    before: at({ enum: ['a', 'b'] }),
    after: at({ enum: ['b', 'a'] }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'free text becomes a list of values (GitHub: a state with fixed values)',
    source: 'request-property-became-enum',
    before: at(text),
    after: at({ type: 'string', enum: ['a', 'b'] }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'a list of values becomes free text',
    source: 'JSON Schema Validation §6.1.2 enum',
    before: at({ enum: ['a', 'b'] }),
    after: at(text),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'one value instead of a list of one',
    source: 'JSON Schema Validation §6.1.3 const',
    before: at({ enum: ['a'] }),
    after: at({ const: 'a' }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'another constant (Stripe: the name of an object)',
    source: 'request-property-const-changed response-property-const-changed',
    before: at({ const: 'charge' }),
    after: at({ const: 'payment' }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'values that fit the new limit anyway',
    source: 'JSON Schema Validation §6.1.2 enum',
    before: at({ enum: ['ab', 'abc'] }),
    after: at({ enum: ['ab', 'abc'], maxLength: 3 }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'a boolean by its values',
    source: 'JSON Schema Validation §6.1.2 enum',
    before: at({ type: 'boolean' }),
    after: at({ enum: [true, false] }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'an object as a constant, described as well',
    source: 'JSON Schema Validation §6.1.3 const',
    before: at({ const: { a: 1 } }),
    after: at(closed({ a: whole }, { required: ['a'] })),
    input: 'minor',
    output: 'major'
  },
  // Texts
  {
    title: 'a shorter text (Stripe: a descriptor of 22 characters)',
    source: 'request-property-max-length-decreased',
    before: at({ type: 'string', maxLength: 30 }),
    after: at({ type: 'string', maxLength: 22 }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'a longer text (Slack: longer messages)',
    source: 'request-property-max-length-increased response-property-max-length-increased',
    before: at({ type: 'string', maxLength: 4000 }),
    after: at({ type: 'string', maxLength: 40_000 }),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'no empty text (GitHub: a title may not be empty)',
    source: 'JSON Schema Validation §6.3.2 minLength',
    before: at(text),
    after: at({ type: 'string', minLength: 1 }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'a least length of nothing',
    source: 'JSON Schema Validation §6.3.2 minLength',
    before: at(text),
    after: at({ type: 'string', minLength: 0 }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'a pattern (Kubernetes: names are DNS labels)',
    source: 'request-property-pattern-added',
    before: at(text),
    after: at({ type: 'string', pattern: '^[a-z]+$' }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'a pattern less',
    source: 'request-property-pattern-removed',
    before: at({ type: 'string', pattern: '^[a-z]+$' }),
    after: at(text),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'a wider pattern, which nobody can tell',
    source: 'request-property-pattern-changed',
    before: at({ type: 'string', pattern: '^[a-z]$' }),
    after: at({ type: 'string', pattern: '^[a-z]+$' }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'a format (GitHub: dates are checked)',
    source: 'request-property-type-changed',
    before: at(text),
    after: at({ type: 'string', format: 'date-time' }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'another format',
    source: 'request-property-type-changed response-property-type-changed',
    before: at({ type: 'string', format: 'date' }),
    after: at({ type: 'string', format: 'date-time' }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'a slash without its backslash',
    source: 'JSON Schema Validation §6.3.3 pattern',
    before: at({ type: 'string', pattern: '^\\/[\\/.]$' }),
    after: at({ type: 'string', pattern: '^/[\\./]$' }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'a group that is numbered no more',
    source: 'JSON Schema Validation §6.3.3 pattern',
    before: at({ type: 'string', pattern: '^(a|b)+(?:c)$' }),
    after: at({ type: 'string', pattern: '^(?:a|b)+(c)$' }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'a group that is numbered no more, and referred to',
    source: 'JSON Schema Validation §6.3.3 pattern',
    before: at({ type: 'string', pattern: '^(a|b)(c)\\1$' }),
    after: at({ type: 'string', pattern: '^(?:a|b)(c)\\1$' }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'a group that becomes a condition',
    source: 'JSON Schema Validation §6.3.3 pattern',
    before: at({ type: 'string', pattern: '^(ab)$' }),
    after: at({ type: 'string', pattern: '^(?=ab)$' }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'a colon behind a question mark',
    source: 'JSON Schema Validation §6.3.3 pattern',
    before: at({ type: 'string', pattern: '^(a?:b)$' }),
    after: at({ type: 'string', pattern: '^(ab)$' }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'a caret in a class',
    source: 'JSON Schema Validation §6.3.3 pattern',
    before: at({ type: 'string', pattern: '^[\\^a]$' }),
    after: at({ type: 'string', pattern: '^[^a]$' }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'an escaped caret, elsewhere in its class',
    source: 'JSON Schema Validation §6.3.3 pattern',
    before: at({ type: 'string', pattern: '^[\\^a]$' }),
    after: at({ type: 'string', pattern: '^[a^]$' }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'an extension, which is said to readers',
    source: 'JSON Schema Core §6.5 extensions',
    before: at(text),
    after: at({ ...text, 'x-order': 1 }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'a new optional argument beside an extension',
    source: 'JSON Schema Core §6.5 extensions',
    before: closed({ a: text }, { 'x-tags': ['a'] }),
    after: closed({ a: text, b: text }, { 'x-tags': ['a'] }),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'a class that is negated no more',
    source: 'JSON Schema Validation §6.3.3 pattern',
    before: at({ type: 'string', pattern: '^[^a]$' }),
    after: at({ type: 'string', pattern: '^[a^]$' }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'a range that becomes its ends and a hyphen',
    source: 'JSON Schema Validation §6.3.3 pattern',
    before: at({ type: 'string', pattern: '^[+-a]$' }),
    after: at({ type: 'string', pattern: '^[a+-]$' }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'a lazy quantifier that stands behind another one',
    source: 'JSON Schema Validation §6.3.3 pattern',
    before: at({ type: 'string', pattern: '^a?$' }),
    after: at({ type: 'string', pattern: '^a{1}?$' }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'a format that has the name of a method',
    source: 'JSON Schema Validation §7 format',
    before: at({ type: 'string', format: 'constructor' }),
    after: at({ type: 'string', format: 'date' }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'a limit of texts on a number',
    source: 'JSON Schema Validation §6.3 keywords for strings',
    before: at(whole),
    after: at({ type: 'integer', maxLength: 3, pattern: 'x' }),
    input: 'patch',
    output: 'patch'
  },
  // Numbers
  {
    title: 'a smaller page (GitHub: at most 100 a page)',
    source: 'request-property-max-decreased',
    before: at({ type: 'integer', maximum: 200 }),
    after: at({ type: 'integer', maximum: 100 }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'a larger page',
    source: 'request-property-max-increased response-property-max-increased',
    before: at({ type: 'integer', maximum: 100 }),
    after: at({ type: 'integer', maximum: 200 }),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'no zero',
    source: 'request-property-exclusive-min-set',
    before: at({ type: 'number', minimum: 0 }),
    after: at({ type: 'number', exclusiveMinimum: 0 }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'above zero is at least one, for whole numbers',
    source: 'JSON Schema Validation §6.2.5 exclusiveMinimum',
    before: at({ type: 'integer', exclusiveMinimum: 0 }),
    after: at({ type: 'integer', minimum: 1 }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'whole multiples',
    source: 'JSON Schema Validation §6.2.1 multipleOf',
    before: at({ type: 'integer', multipleOf: 10 }),
    after: at({ type: 'integer', multipleOf: 5 }),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'steps where there were none (Stripe: amounts without cents)',
    source: 'JSON Schema Validation §6.2.1 multipleOf',
    before: at(whole),
    after: at({ type: 'integer', multipleOf: 100 }),
    input: 'major',
    output: 'minor'
  },
  // Arrays
  {
    title: 'fewer items (Shopify: at most 250 ids)',
    source: 'request-parameter-max-items-decreased',
    before: at({ type: 'array', maxItems: 500 }),
    after: at({ type: 'array', maxItems: 250 }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'at least one item (Slack: users to invite)',
    source: 'request-property-min-items-set',
    before: at({ type: 'array' }),
    after: at({ type: 'array', minItems: 1 }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'no item twice',
    source: 'JSON Schema Validation §6.4.3 uniqueItems',
    before: at({ type: 'array', items: text }),
    after: at({ type: 'array', items: text, uniqueItems: true }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'items of another type (GitHub: labels as objects)',
    source: 'request-property-type-changed response-property-type-changed',
    before: at({ type: 'array', items: text }),
    after: at({ type: 'array', items: object({ name: text }) }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'items of one more type',
    source: 'request-property-any-of-added response-property-any-of-added',
    before: at({ type: 'array', items: text }),
    after: at({ type: 'array', items: { anyOf: [text, object({ name: text })] } }),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'a third coordinate',
    source: 'request-property-prefix-items-added response-property-prefix-items-added',
    before: at({ type: 'array', prefixItems: [whole, whole], items: false }),
    after: at({ type: 'array', prefixItems: [whole, whole, whole], items: false }),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'one item must be of a kind, which all are',
    source: 'request-property-contains-added',
    before: at({ type: 'array', items: whole, minItems: 1 }),
    after: at({ type: 'array', items: whole, minItems: 1, contains: whole }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'one item must be of a kind',
    source: 'request-property-contains-added response-property-contains-added',
    before: at({ type: 'array' }),
    after: at({ type: 'array', contains: whole }),
    input: 'major',
    output: 'minor'
  },
  // Unions and conditions
  {
    title: 'a branch less (Stripe: a source type dropped)',
    source: 'request-property-any-of-removed response-property-any-of-removed',
    before: at({ anyOf: [text, whole] }),
    after: at({ anyOf: [text] }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'kinds told apart by a constant, and a new one (Slack: a block type more)',
    source: 'request-property-one-of-added response-property-one-of-added',
    before: at({ oneOf: [object({ type: { const: 'a' } }, { required: ['type'] })] }),
    after: at({
      oneOf: [
        object({ type: { const: 'a' } }, { required: ['type'] }),
        object({ type: { const: 'b' } }, { required: ['type'] })
      ]
    }),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'kinds that overlap, of which only one may hold',
    source: 'JSON Schema Core §10.2.1.3 oneOf',
    before: at({ anyOf: [text] }),
    after: at({ oneOf: [text, { type: ['string', 'null'] }] }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'the branches in another order',
    source: 'JSON Schema Core §10.2.1.2 anyOf',
    before: at({ anyOf: [text, whole] }),
    after: at({ anyOf: [whole, text] }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'a limit in a branch of a branch',
    source: 'JSON Schema Core §10.2.1.2 anyOf',
    before: at({ anyOf: [{ anyOf: [{ type: 'string', maxLength: 9 }, whole] }] }),
    after: at({ anyOf: [{ anyOf: [{ type: 'string', maxLength: 5 }, whole] }] }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'one value, which the branches of another union take twice',
    source: 'JSON Schema Core §10.2.1.3 oneOf',
    before: at({ enum: ['a'], oneOf: [true, { allOf: [false] }] }),
    after: at({ enum: ['a'], oneOf: [true, {}] }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'a constant, whose union takes it no more',
    source: 'JSON Schema Core §10.2.1.2 anyOf',
    before: at({ const: 'a', anyOf: [text, whole] }),
    after: at({ const: 'a', anyOf: [whole, { maxLength: 0 }] }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'parts joined',
    source: 'JSON Schema Core §10.2.1.1 allOf',
    before: { allOf: [object({ a: text }), object({ b: whole })] },
    after: object({ a: text, b: whole }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'a part more',
    source: 'request-body-all-of-added',
    before: { allOf: [object({ a: text })] },
    after: { allOf: [object({ a: text }), { required: ['a'] }] },
    input: 'major',
    output: 'minor'
  },
  {
    title: 'something ruled out (Kubernetes: a reserved name)',
    source: 'JSON Schema Core §10.2.1.4 not',
    before: at(text),
    after: at({ type: 'string', not: { const: 'default' } }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'something ruled out that could not be',
    source: 'JSON Schema Core §10.2.1.4 not',
    before: at(text),
    after: at({ type: 'string', not: whole }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'more is ruled out',
    source: 'JSON Schema Core §10.2.1.4 not',
    before: at({ type: 'string', not: { const: 'a' } }),
    after: at({ type: 'string', not: { enum: ['a', 'b'] } }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'a condition (Stripe: a bank account needs a country)',
    source: 'request-body-if-added',
    before: object({ kind: text, country: text }),
    after: object({ kind: text, country: text }, {
      if: { properties: { kind: { const: 'bank' } }, required: ['kind'] },
      then: { required: ['country'] }
    }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'the same condition beside something new',
    source: 'JSON Schema Core §10.2.2.1 if',
    before: object({ a: text }, { if: { required: ['a'] }, then: { maxProperties: 3 } }),
    after: closed({ a: text, b: text }, { if: { required: ['a'] }, then: { maxProperties: 3 } }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'one argument needs another (GitHub: start_line needs line)',
    source: 'request-body-dependent-required-added',
    before: object({ line: whole, start_line: whole }),
    after: object({ line: whole, start_line: whole }, { dependentRequired: { start_line: ['line'] } }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'one argument needs another that is there anyway',
    source: 'JSON Schema Validation §6.5.4 dependentRequired',
    before: object({ line: whole, start_line: whole }, { required: ['line'] }),
    after: object({ line: whole, start_line: whole }, {
      required: ['line'],
      dependentRequired: { start_line: ['line'] }
    }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'keys with a pattern (Kubernetes: label keys)',
    source: 'request-property-property-names-added',
    before: at({ type: 'object', additionalProperties: text }),
    after: at({ type: 'object', additionalProperties: text, propertyNames: { pattern: '^[a-z]' } }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'shorter keys (Stripe: metadata keys of 40 characters)',
    source: 'JSON Schema Core §10.3.2.4 propertyNames',
    before: at({ type: 'object', propertyNames: { maxLength: 50 } }),
    after: at({ type: 'object', propertyNames: { maxLength: 40 } }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'properties by a pattern',
    source: 'JSON Schema Core §10.3.2.2 patternProperties',
    before: at({ type: 'object', patternProperties: { '^x-': text } }),
    after: at({ type: 'object', patternProperties: { '^x-': { type: 'string', maxLength: 9 } } }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'a named property that the pattern says nothing new of',
    source: 'JSON Schema Core §10.3.2.2 patternProperties',
    before: at({ type: 'object', properties: { 'x-a': text }, patternProperties: { '^x-': text } }),
    after: at({ type: 'object', patternProperties: { '^x-': text } }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'a pattern of names goes, and what it took with it',
    source: 'request-property-pattern-property-removed response-property-pattern-property-removed',
    before: at({ type: 'object', patternProperties: { '^x-': whole }, additionalProperties: text }),
    after: at({ type: 'object', additionalProperties: text }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'another pattern of names for the same values',
    source: 'JSON Schema Core §10.3.2.2 patternProperties',
    before: at({ type: 'object', patternProperties: { '^x-': whole }, additionalProperties: whole }),
    after: at({ type: 'object', additionalProperties: whole }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'a pattern of names that cannot be read, and may say more of a named property',
    source: 'JSON Schema Core §10.3.2.2 patternProperties',
    before: closed({ a: text }),
    after: closed({ a: text }, { patternProperties: { '[': whole } }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'kinds that only one branch may take, one of which grows',
    source: 'JSON Schema Core §10.2.1.3 oneOf',
    before: at({ oneOf: [{ type: 'integer', maximum: 3 }, { type: 'integer', minimum: 5 }] }),
    after: at({ oneOf: [{ type: 'integer', maximum: 7 }, { type: 'integer', minimum: 5 }] }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'what a part evaluated is refused now',
    source: 'JSON Schema Core §11.3 unevaluatedProperties',
    before: object({ a: text }, { unevaluatedProperties: false, anyOf: [{ patternProperties: { '^x-': text } }] }),
    after: object({ a: text }, { unevaluatedProperties: false }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'a keyword that nobody knows',
    source: 'JSON Schema Core §6.5 unknown keywords',
    before: at(text),
    after: at({ type: 'string', mood: 'good' }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'what was not evaluated is refused',
    source: 'request-body-unevaluated-properties-added',
    before: object({ a: text }),
    after: object({ a: text }, { unevaluatedProperties: false }),
    input: 'major',
    output: 'minor'
  },
  // References
  {
    title: 'a definition put in place',
    source: 'JSON Schema Core §8.2.4 $defs',
    before: { type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: text } },
    after: object({ a: text }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'a definition that narrows',
    source: 'JSON Schema Core §8.2.4 $defs',
    before: { type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: text } },
    after: { type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: { type: 'string', maxLength: 5 } } },
    input: 'major',
    output: 'minor'
  },
  {
    title: 'a schema that is shared now',
    source: 'JSON Schema Core §8.2.4 $defs',
    before: object({ a: address, b: address }),
    after: { ...object({ a: { $ref: '#/$defs/A' }, b: { $ref: '#/$defs/A' } }), $defs: { A: address } },
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'a shared condition, written out',
    source: 'JSON Schema Core §8.2.4 $defs',
    before: {
      ...object({ a: text }, { if: { $ref: '#/$defs/If' }, then: { required: ['b'] } }),
      $defs: { If: { required: ['a'] } }
    },
    after: object({ a: text }, { if: { required: ['a'] }, then: { required: ['b'] } }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'a shared schema that one of two uses says more of',
    source: 'JSON Schema Core §8.2.4 $defs',
    before: { ...object({ a: { $ref: '#/$defs/A' }, b: { $ref: '#/$defs/A' } }), $defs: { A: address } },
    after: object({ a: address, b: { ...address, required: ['zip'] } }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'a tree whose nodes must have a name (Kubernetes: a nested schema)',
    source: 'JSON Schema Core §8.2.3.1 $ref',
    before: tree(),
    after: tree({ required: ['name'] }),
    input: 'major',
    output: 'minor'
  },
  {
    title: 'a tree under another name',
    source: 'JSON Schema Core §8.2.3.1 $ref',
    before: tree(),
    after: JSON.parse(JSON.stringify(tree()).replaceAll('Node', 'Branch')),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'a tree whose first level stands apart',
    source: 'JSON Schema Core §8.2.3.1 $ref',
    before: tree(),
    after: {
      ...object({ name: text, children: { type: 'array', items: { $ref: '#/$defs/Node' } } }),
      $defs: tree().$defs
    },
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'a reference that leads nowhere',
    source: 'JSON Schema Core §8.2.3.1 $ref',
    before: at(text),
    after: at({ $ref: '#/$defs/None' }),
    input: 'major',
    output: 'major'
  },
  {
    title: 'a schema that is nothing but itself',
    source: 'JSON Schema Core §8.2.3.1 $ref',
    before: at(text),
    after: { ...at({ $ref: '#/$defs/Loop' }), $defs: { Loop: { $ref: '#/$defs/Loop' } } },
    input: 'major',
    output: 'major'
  },
  {
    title: 'a definition that is referred into, and changes there',
    source: 'JSON Schema Core §8.2.3.1 $ref',
    before: { ...at({ $ref: '#/$defs/A/properties/b' }), $defs: { A: object({ b: text }) } },
    after: { ...at({ $ref: '#/$defs/A/properties/b' }), $defs: { A: object({ b: whole }) } },
    input: 'major',
    output: 'major'
  },
  {
    title: 'a definition whose reference is encoded, and changes',
    source: 'JSON Schema Core §8.2.3.1 $ref',
    before: { ...at({ $ref: '#/%24defs/A' }), $defs: { A: text } },
    after: { ...at({ $ref: '#/%24defs/A' }), $defs: { A: whole } },
    input: 'major',
    output: 'major'
  },
  {
    title: 'a definition behind a dynamic reference changes',
    source: 'JSON Schema Core §8.2.3.2 $dynamicRef',
    before: { ...at({ $dynamicRef: '#/$defs/A' }), $defs: { A: text } },
    after: { ...at({ $dynamicRef: '#/$defs/A' }), $defs: { A: whole } },
    input: 'major',
    output: 'major'
  },
  {
    title: 'what a dynamic anchor stands for changes',
    source: 'JSON Schema Core §8.2.3.2 $dynamicRef',
    before: { ...at({ $dynamicRef: '#a' }), $defs: { A: { ...text, $dynamicAnchor: 'a' } } },
    after: { ...at({ $dynamicRef: '#a' }), $defs: { A: { ...whole, $dynamicAnchor: 'a' } } },
    input: 'major',
    output: 'major'
  },
  {
    title: 'a reference that cannot be decoded',
    source: 'JSON Schema Core §8.2.3.1 $ref',
    before: at(text),
    after: at({ $ref: '#/%zz' }),
    input: 'major',
    output: 'major'
  },
  // Texts and defaults
  {
    title: 'another default (GitHub: another page size)',
    source: 'request-property-default-value-changed',
    before: at({ type: 'integer', default: 30 }),
    after: at({ type: 'integer', default: 50 }),
    input: 'major',
    output: 'patch'
  },
  {
    title: 'a default where there was none',
    source: 'request-property-default-value-added',
    before: at(whole),
    after: at({ type: 'integer', default: 30 }),
    input: 'major',
    output: 'patch'
  },
  {
    title: 'a new argument with a default',
    source: 'new-optional-request-property',
    before: closed({}),
    after: closed({ x: { type: 'integer', default: 3 } }),
    input: 'minor',
    output: 'major'
  },
  {
    title: 'another description',
    source: 'JSON Schema Validation §9.1 description',
    before: at({ type: 'string', description: 'A name' }),
    after: at({ type: 'string', description: 'The name of it' }),
    input: 'patch',
    output: 'patch'
  },
  {
    title: 'keys in another order',
    source: 'RFC 8259 §4',
    before: { type: 'object', properties: { a: text, b: text } },
    after: { properties: { b: text, a: text }, type: 'object' },
    input: 'none',
    output: 'none'
  }
]
