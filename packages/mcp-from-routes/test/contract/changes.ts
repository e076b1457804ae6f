import type { JsonSchema } from '../../src/tool/json-schema.ts'

/** A change of one schema, and the bumps it asks for as a tool's input and as its output. */
export interface Change {
  /** What changed, and whose changelog tells of such a change. */
  readonly title: string
  readonly before: JsonSchema
  readonly after: JsonSchema
  readonly input: 'none' | 'patch' | 'minor' | 'major'
  readonly output: 'none' | 'patch' | 'minor' | 'major'
}

const object = (properties: Record<string, unknown>, more: Record<string, unknown> = {}): JsonSchema => ({ type: 'object', properties, ...more })
const closed = (properties: Record<string, unknown>, more: Record<string, unknown> = {}): JsonSchema => object(properties, { additionalProperties: false, ...more })
/** A schema as the one property of an object. */
const at = (schema: unknown): JsonSchema => object({ x: schema })
const text = { type: 'string' }
const whole = { type: 'integer' }
const address = object({ street: text, zip: { type: 'string', not: { const: '0' } } })
const tree = (more: Record<string, unknown> = {}): JsonSchema => ({
  $ref: '#/$defs/Node', $defs: { Node: object({ name: text, children: { type: 'array', items: { $ref: '#/$defs/Node' } } }, more) }
})

export const changes: readonly Change[] = [
  // Properties
  { title: 'an argument is gone (GitHub: a deprecated search parameter is taken away)', before: closed({ q: text, sort: text }), after: closed({ q: text }), input: 'major', output: 'major' },
  { title: 'an argument has another name (Slack: channel becomes channel_id)', before: closed({ channel: text }), after: closed({ channel_id: text }), input: 'major', output: 'major' },
  { title: 'a new optional argument (Stripe: a new filter of a list)', before: closed({ limit: whole }), after: closed({ limit: whole, status: text }), input: 'minor', output: 'major' },
  { title: 'a new required argument (Shopify: a location must be named)', before: closed({ id: text }, { required: ['id'] }), after: closed({ id: text, location_id: text }, { required: ['id', 'location_id'] }), input: 'major', output: 'major' },
  { title: 'an optional argument is required now (GitHub: a parameter made required)', before: closed({ ref: text }), after: closed({ ref: text }, { required: ['ref'] }), input: 'major', output: 'minor' },
  { title: 'a required one is optional now (Stripe: an amount that is derived when left out)', before: closed({ amount: whole }, { required: ['amount'] }), after: closed({ amount: whole }), input: 'minor', output: 'major' },
  { title: 'a new field in an open object (Stripe: a field added to a resource)', before: object({ id: text }), after: object({ id: text, phone: text }), input: 'minor', output: 'minor' },
  { title: 'a field is gone from an open object (Slack: a field dropped from a profile)', before: object({ id: text, skype: text }), after: object({ id: text }), input: 'major', output: 'major' },
  { title: 'a nested field is gone (Stripe: card data moved elsewhere)', before: object({ card: object({ last4: text, fingerprint: text }) }), after: object({ card: object({ last4: text }) }), input: 'major', output: 'major' },
  { title: 'a field of list items is gone (GitHub: a count dropped from a list)', before: { type: 'array', items: object({ id: whole, score: whole }) }, after: { type: 'array', items: object({ id: whole }) }, input: 'major', output: 'major' },
  { title: 'an open object is closed (Kubernetes: unknown fields pruned)', before: object({ a: text }), after: closed({ a: text }), input: 'major', output: 'minor' },
  { title: 'a closed object is opened (Kubernetes: preserve unknown fields)', before: closed({ a: text }), after: object({ a: text }), input: 'minor', output: 'major' },
  { title: 'the values of a map get a type (Stripe: metadata values are strings)', before: at({ type: 'object' }), after: at({ type: 'object', additionalProperties: text }), input: 'major', output: 'minor' },
  { title: 'the values of a map get longer', before: at({ type: 'object', additionalProperties: { type: 'string', maxLength: 500 } }), after: at({ type: 'object', additionalProperties: { type: 'string', maxLength: 1000 } }), input: 'minor', output: 'major' },
  { title: 'a map takes fewer keys (Stripe: at most 50 metadata keys)', before: at({ type: 'object', maxProperties: 100 }), after: at({ type: 'object', maxProperties: 50 }), input: 'major', output: 'minor' },
  { title: 'a change must name something (GitHub: an empty update is refused)', before: object({ a: text, b: text }), after: object({ a: text, b: text }, { minProperties: 1 }), input: 'major', output: 'minor' },
  { title: 'enough is required anyway', before: object({ a: text }, { required: ['a'] }), after: object({ a: text }, { required: ['a'], minProperties: 1 }), input: 'patch', output: 'patch' },
  // Types
  { title: 'a number becomes a text (Stripe: an id that was a number)', before: at(whole), after: at(text), input: 'major', output: 'major' },
  { title: 'integer becomes number (Shopify: quantities with fractions)', before: at(whole), after: at({ type: 'number' }), input: 'minor', output: 'major' },
  { title: 'number becomes integer', before: at({ type: 'number' }), after: at(whole), input: 'major', output: 'minor' },
  { title: 'a value may be null now (GitHub: a user that was deleted)', before: at(text), after: at({ type: ['string', 'null'] }), input: 'minor', output: 'major' },
  { title: 'a value is never null any more', before: at({ type: ['string', 'null'] }), after: at(text), input: 'major', output: 'minor' },
  { title: 'null written as a union', before: at({ type: ['string', 'null'] }), after: at({ anyOf: [text, { type: 'null' }] }), input: 'none', output: 'none' },
  { title: 'a list of types with limits, written as a union', before: at({ type: ['string', 'null'], maxLength: 9, description: 'D' }), after: at({ description: 'D', anyOf: [{ type: 'string', maxLength: 9 }, { type: 'null' }] }), input: 'none', output: 'none' },
  { title: 'such a union that is narrower as well', before: at({ type: ['string', 'null'], maxLength: 9 }), after: at({ anyOf: [{ type: 'string', maxLength: 5 }, { type: 'null' }] }), input: 'major', output: 'minor' },
  { title: 'an id that is expanded into an object (Stripe: expand)', before: at(text), after: at({ anyOf: [text, object({ id: text })] }), input: 'minor', output: 'major' },
  { title: 'one value becomes a list of them (Slack: one channel, then several)', before: at(text), after: at({ type: 'array', items: text }), input: 'major', output: 'major' },
  { title: 'a type where there was none', before: at({}), after: at(text), input: 'major', output: 'minor' },
  { title: 'a schema true instead of an empty one', before: at({}), after: at(true), input: 'patch', output: 'patch' },
  { title: 'a property that may not be there any more', before: object({ x: text, y: text }), after: object({ x: text, y: false }), input: 'major', output: 'major' },
  // Values
  { title: 'a new value (Stripe: a status more)', before: at({ enum: ['open', 'paid'] }), after: at({ enum: ['open', 'paid', 'void'] }), input: 'minor', output: 'major' },
  { title: 'a value less (Shopify: a weight unit dropped)', before: at({ enum: ['g', 'kg', 'stone'] }), after: at({ enum: ['g', 'kg'] }), input: 'major', output: 'minor' },
  { title: 'the same values in another order', before: at({ enum: ['a', 'b'] }), after: at({ enum: ['b', 'a'] }), input: 'patch', output: 'patch' },
  { title: 'free text becomes a list of values (GitHub: a state with fixed values)', before: at(text), after: at({ type: 'string', enum: ['a', 'b'] }), input: 'major', output: 'minor' },
  { title: 'a list of values becomes free text', before: at({ enum: ['a', 'b'] }), after: at(text), input: 'minor', output: 'major' },
  { title: 'one value instead of a list of one', before: at({ enum: ['a'] }), after: at({ const: 'a' }), input: 'patch', output: 'patch' },
  { title: 'another constant (Stripe: the name of an object)', before: at({ const: 'charge' }), after: at({ const: 'payment' }), input: 'major', output: 'major' },
  { title: 'values that fit the new limit anyway', before: at({ enum: ['ab', 'abc'] }), after: at({ enum: ['ab', 'abc'], maxLength: 3 }), input: 'patch', output: 'patch' },
  { title: 'a boolean by its values', before: at({ type: 'boolean' }), after: at({ enum: [true, false] }), input: 'patch', output: 'patch' },
  { title: 'an object as a constant, described as well', before: at({ const: { a: 1 } }), after: at(closed({ a: whole }, { required: ['a'] })), input: 'minor', output: 'major' },
  // Texts
  { title: 'a shorter text (Stripe: a descriptor of 22 characters)', before: at({ type: 'string', maxLength: 30 }), after: at({ type: 'string', maxLength: 22 }), input: 'major', output: 'minor' },
  { title: 'a longer text (Slack: longer messages)', before: at({ type: 'string', maxLength: 4000 }), after: at({ type: 'string', maxLength: 40_000 }), input: 'minor', output: 'major' },
  { title: 'no empty text (GitHub: a title may not be empty)', before: at(text), after: at({ type: 'string', minLength: 1 }), input: 'major', output: 'minor' },
  { title: 'a least length of nothing', before: at(text), after: at({ type: 'string', minLength: 0 }), input: 'patch', output: 'patch' },
  { title: 'a pattern (Kubernetes: names are DNS labels)', before: at(text), after: at({ type: 'string', pattern: '^[a-z]+$' }), input: 'major', output: 'minor' },
  { title: 'a pattern less', before: at({ type: 'string', pattern: '^[a-z]+$' }), after: at(text), input: 'minor', output: 'major' },
  { title: 'a wider pattern, which nobody can tell', before: at({ type: 'string', pattern: '^[a-z]$' }), after: at({ type: 'string', pattern: '^[a-z]+$' }), input: 'major', output: 'major' },
  { title: 'a format (GitHub: dates are checked)', before: at(text), after: at({ type: 'string', format: 'date-time' }), input: 'major', output: 'minor' },
  { title: 'another format', before: at({ type: 'string', format: 'date' }), after: at({ type: 'string', format: 'date-time' }), input: 'major', output: 'major' },
  { title: 'a slash without its backslash', before: at({ type: 'string', pattern: '^\\/[\\/.]$' }), after: at({ type: 'string', pattern: '^/[\\./]$' }), input: 'patch', output: 'patch' },
  { title: 'a group that is numbered no more', before: at({ type: 'string', pattern: '^(a|b)+(?:c)$' }), after: at({ type: 'string', pattern: '^(?:a|b)+(c)$' }), input: 'patch', output: 'patch' },
  { title: 'a group that is numbered no more, and referred to', before: at({ type: 'string', pattern: '^(a|b)(c)\\1$' }), after: at({ type: 'string', pattern: '^(?:a|b)(c)\\1$' }), input: 'major', output: 'major' },
  { title: 'a group that becomes a condition', before: at({ type: 'string', pattern: '^(ab)$' }), after: at({ type: 'string', pattern: '^(?=ab)$' }), input: 'major', output: 'major' },
  { title: 'a colon behind a question mark', before: at({ type: 'string', pattern: '^(a?:b)$' }), after: at({ type: 'string', pattern: '^(ab)$' }), input: 'major', output: 'major' },
  { title: 'a caret in a class', before: at({ type: 'string', pattern: '^[\\^a]$' }), after: at({ type: 'string', pattern: '^[^a]$' }), input: 'major', output: 'major' },
  { title: 'an escaped caret, elsewhere in its class', before: at({ type: 'string', pattern: '^[\\^a]$' }), after: at({ type: 'string', pattern: '^[a^]$' }), input: 'patch', output: 'patch' },
  { title: 'an extension, which is said to readers', before: at(text), after: at({ ...text, 'x-order': 1 }), input: 'patch', output: 'patch' },
  { title: 'a new optional argument beside an extension', before: closed({ a: text }, { 'x-tags': ['a'] }), after: closed({ a: text, b: text }, { 'x-tags': ['a'] }), input: 'minor', output: 'major' },
  { title: 'a class that is negated no more', before: at({ type: 'string', pattern: '^[^a]$' }), after: at({ type: 'string', pattern: '^[a^]$' }), input: 'major', output: 'major' },
  { title: 'a range that becomes its ends and a hyphen', before: at({ type: 'string', pattern: '^[+-a]$' }), after: at({ type: 'string', pattern: '^[a+-]$' }), input: 'major', output: 'major' },
  { title: 'a lazy quantifier that stands behind another one', before: at({ type: 'string', pattern: '^a?$' }), after: at({ type: 'string', pattern: '^a{1}?$' }), input: 'major', output: 'major' },
  { title: 'a format that has the name of a method', before: at({ type: 'string', format: 'constructor' }), after: at({ type: 'string', format: 'date' }), input: 'major', output: 'major' },
  { title: 'a limit of texts on a number', before: at(whole), after: at({ type: 'integer', maxLength: 3, pattern: 'x' }), input: 'patch', output: 'patch' },
  // Numbers
  { title: 'a smaller page (GitHub: at most 100 a page)', before: at({ type: 'integer', maximum: 200 }), after: at({ type: 'integer', maximum: 100 }), input: 'major', output: 'minor' },
  { title: 'a larger page', before: at({ type: 'integer', maximum: 100 }), after: at({ type: 'integer', maximum: 200 }), input: 'minor', output: 'major' },
  { title: 'no zero', before: at({ type: 'number', minimum: 0 }), after: at({ type: 'number', exclusiveMinimum: 0 }), input: 'major', output: 'minor' },
  { title: 'above zero is at least one, for whole numbers', before: at({ type: 'integer', exclusiveMinimum: 0 }), after: at({ type: 'integer', minimum: 1 }), input: 'patch', output: 'patch' },
  { title: 'whole multiples', before: at({ type: 'integer', multipleOf: 10 }), after: at({ type: 'integer', multipleOf: 5 }), input: 'minor', output: 'major' },
  { title: 'steps where there were none (Stripe: amounts without cents)', before: at(whole), after: at({ type: 'integer', multipleOf: 100 }), input: 'major', output: 'minor' },
  // Arrays
  { title: 'fewer items (Shopify: at most 250 ids)', before: at({ type: 'array', maxItems: 500 }), after: at({ type: 'array', maxItems: 250 }), input: 'major', output: 'minor' },
  { title: 'at least one item (Slack: users to invite)', before: at({ type: 'array' }), after: at({ type: 'array', minItems: 1 }), input: 'major', output: 'minor' },
  { title: 'no item twice', before: at({ type: 'array', items: text }), after: at({ type: 'array', items: text, uniqueItems: true }), input: 'major', output: 'minor' },
  { title: 'items of another type (GitHub: labels as objects)', before: at({ type: 'array', items: text }), after: at({ type: 'array', items: object({ name: text }) }), input: 'major', output: 'major' },
  { title: 'items of one more type', before: at({ type: 'array', items: text }), after: at({ type: 'array', items: { anyOf: [text, object({ name: text })] } }), input: 'minor', output: 'major' },
  { title: 'a third coordinate', before: at({ type: 'array', prefixItems: [whole, whole], items: false }), after: at({ type: 'array', prefixItems: [whole, whole, whole], items: false }), input: 'minor', output: 'major' },
  { title: 'one item must be of a kind, which all are', before: at({ type: 'array', items: whole, minItems: 1 }), after: at({ type: 'array', items: whole, minItems: 1, contains: whole }), input: 'patch', output: 'patch' },
  { title: 'one item must be of a kind', before: at({ type: 'array' }), after: at({ type: 'array', contains: whole }), input: 'major', output: 'minor' },
  // Unions and conditions
  { title: 'a branch less (Stripe: a source type dropped)', before: at({ anyOf: [text, whole] }), after: at({ anyOf: [text] }), input: 'major', output: 'minor' },
  { title: 'kinds told apart by a constant, and a new one (Slack: a block type more)', before: at({ oneOf: [object({ type: { const: 'a' } }, { required: ['type'] })] }), after: at({ oneOf: [object({ type: { const: 'a' } }, { required: ['type'] }), object({ type: { const: 'b' } }, { required: ['type'] })] }), input: 'minor', output: 'major' },
  { title: 'kinds that overlap, of which only one may hold', before: at({ anyOf: [text] }), after: at({ oneOf: [text, { type: ['string', 'null'] }] }), input: 'major', output: 'major' },
  { title: 'the branches in another order', before: at({ anyOf: [text, whole] }), after: at({ anyOf: [whole, text] }), input: 'patch', output: 'patch' },
  { title: 'a limit in a branch of a branch', before: at({ anyOf: [{ anyOf: [{ type: 'string', maxLength: 9 }, whole] }] }), after: at({ anyOf: [{ anyOf: [{ type: 'string', maxLength: 5 }, whole] }] }), input: 'major', output: 'minor' },
  { title: 'one value, which the branches of another union take twice', before: at({ enum: ['a'], oneOf: [true, { allOf: [false] }] }), after: at({ enum: ['a'], oneOf: [true, {}] }), input: 'major', output: 'minor' },
  { title: 'a constant, whose union takes it no more', before: at({ const: 'a', anyOf: [text, whole] }), after: at({ const: 'a', anyOf: [whole, { maxLength: 0 }] }), input: 'major', output: 'minor' },
  { title: 'parts joined', before: { allOf: [object({ a: text }), object({ b: whole })] }, after: object({ a: text, b: whole }), input: 'patch', output: 'patch' },
  { title: 'a part more', before: { allOf: [object({ a: text })] }, after: { allOf: [object({ a: text }), { required: ['a'] }] }, input: 'major', output: 'minor' },
  { title: 'something ruled out (Kubernetes: a reserved name)', before: at(text), after: at({ type: 'string', not: { const: 'default' } }), input: 'major', output: 'minor' },
  { title: 'something ruled out that could not be', before: at(text), after: at({ type: 'string', not: whole }), input: 'patch', output: 'patch' },
  { title: 'more is ruled out', before: at({ type: 'string', not: { const: 'a' } }), after: at({ type: 'string', not: { enum: ['a', 'b'] } }), input: 'major', output: 'minor' },
  { title: 'a condition (Stripe: a bank account needs a country)', before: object({ kind: text, country: text }), after: object({ kind: text, country: text }, { if: { properties: { kind: { const: 'bank' } }, required: ['kind'] }, then: { required: ['country'] } }), input: 'major', output: 'minor' },
  { title: 'the same condition beside something new', before: object({ a: text }, { if: { required: ['a'] }, then: { maxProperties: 3 } }), after: closed({ a: text, b: text }, { if: { required: ['a'] }, then: { maxProperties: 3 } }), input: 'major', output: 'minor' },
  { title: 'one argument needs another (GitHub: start_line needs line)', before: object({ line: whole, start_line: whole }), after: object({ line: whole, start_line: whole }, { dependentRequired: { start_line: ['line'] } }), input: 'major', output: 'minor' },
  { title: 'one argument needs another that is there anyway', before: object({ line: whole, start_line: whole }, { required: ['line'] }), after: object({ line: whole, start_line: whole }, { required: ['line'], dependentRequired: { start_line: ['line'] } }), input: 'patch', output: 'patch' },
  { title: 'keys with a pattern (Kubernetes: label keys)', before: at({ type: 'object', additionalProperties: text }), after: at({ type: 'object', additionalProperties: text, propertyNames: { pattern: '^[a-z]' } }), input: 'major', output: 'minor' },
  { title: 'shorter keys (Stripe: metadata keys of 40 characters)', before: at({ type: 'object', propertyNames: { maxLength: 50 } }), after: at({ type: 'object', propertyNames: { maxLength: 40 } }), input: 'major', output: 'minor' },
  { title: 'properties by a pattern', before: at({ type: 'object', patternProperties: { '^x-': text } }), after: at({ type: 'object', patternProperties: { '^x-': { type: 'string', maxLength: 9 } } }), input: 'major', output: 'minor' },
  { title: 'a named property that the pattern says nothing new of', before: at({ type: 'object', properties: { 'x-a': text }, patternProperties: { '^x-': text } }), after: at({ type: 'object', patternProperties: { '^x-': text } }), input: 'major', output: 'major' },
  { title: 'a pattern of names goes, and what it took with it', before: at({ type: 'object', patternProperties: { '^x-': whole }, additionalProperties: text }), after: at({ type: 'object', additionalProperties: text }), input: 'major', output: 'major' },
  { title: 'another pattern of names for the same values', before: at({ type: 'object', patternProperties: { '^x-': whole }, additionalProperties: whole }), after: at({ type: 'object', additionalProperties: whole }), input: 'patch', output: 'patch' },
  { title: 'a pattern of names that cannot be read, and may say more of a named property', before: closed({ a: text }), after: closed({ a: text }, { patternProperties: { '[': whole } }), input: 'major', output: 'major' },
  { title: 'kinds that only one branch may take, one of which grows', before: at({ oneOf: [{ type: 'integer', maximum: 3 }, { type: 'integer', minimum: 5 }] }), after: at({ oneOf: [{ type: 'integer', maximum: 7 }, { type: 'integer', minimum: 5 }] }), input: 'major', output: 'major' },
  { title: 'what a part evaluated is refused now', before: object({ a: text }, { unevaluatedProperties: false, anyOf: [{ patternProperties: { '^x-': text } }] }), after: object({ a: text }, { unevaluatedProperties: false }), input: 'major', output: 'major' },
  { title: 'a keyword that nobody knows', before: at(text), after: at({ type: 'string', mood: 'good' }), input: 'major', output: 'minor' },
  { title: 'what was not evaluated is refused', before: object({ a: text }), after: object({ a: text }, { unevaluatedProperties: false }), input: 'major', output: 'minor' },
  // References
  { title: 'a definition put in place', before: { type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: text } }, after: object({ a: text }), input: 'patch', output: 'patch' },
  { title: 'a definition that narrows', before: { type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: text } }, after: { type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: { type: 'string', maxLength: 5 } } }, input: 'major', output: 'minor' },
  { title: 'a schema that is shared now', before: object({ a: address, b: address }), after: { ...object({ a: { $ref: '#/$defs/A' }, b: { $ref: '#/$defs/A' } }), $defs: { A: address } }, input: 'patch', output: 'patch' },
  { title: 'a shared condition, written out', before: { ...object({ a: text }, { if: { $ref: '#/$defs/If' }, then: { required: ['b'] } }), $defs: { If: { required: ['a'] } } }, after: object({ a: text }, { if: { required: ['a'] }, then: { required: ['b'] } }), input: 'patch', output: 'patch' },
  { title: 'a shared schema that one of two uses says more of', before: { ...object({ a: { $ref: '#/$defs/A' }, b: { $ref: '#/$defs/A' } }), $defs: { A: address } }, after: object({ a: address, b: { ...address, required: ['zip'] } }), input: 'major', output: 'minor' },
  { title: 'a tree whose nodes must have a name (Kubernetes: a nested schema)', before: tree(), after: tree({ required: ['name'] }), input: 'major', output: 'minor' },
  { title: 'a tree under another name', before: tree(), after: JSON.parse(JSON.stringify(tree()).replaceAll('Node', 'Branch')), input: 'patch', output: 'patch' },
  { title: 'a tree whose first level stands apart', before: tree(), after: { ...object({ name: text, children: { type: 'array', items: { $ref: '#/$defs/Node' } } }), $defs: tree().$defs }, input: 'patch', output: 'patch' },
  { title: 'a reference that leads nowhere', before: at(text), after: at({ $ref: '#/$defs/None' }), input: 'major', output: 'major' },
  { title: 'a schema that is nothing but itself', before: at(text), after: { ...at({ $ref: '#/$defs/Loop' }), $defs: { Loop: { $ref: '#/$defs/Loop' } } }, input: 'major', output: 'major' },
  { title: 'a definition that is referred into, and changes there', before: { ...at({ $ref: '#/$defs/A/properties/b' }), $defs: { A: object({ b: text }) } }, after: { ...at({ $ref: '#/$defs/A/properties/b' }), $defs: { A: object({ b: whole }) } }, input: 'major', output: 'major' },
  { title: 'a definition whose reference is encoded, and changes', before: { ...at({ $ref: '#/%24defs/A' }), $defs: { A: text } }, after: { ...at({ $ref: '#/%24defs/A' }), $defs: { A: whole } }, input: 'major', output: 'major' },
  { title: 'a definition behind a dynamic reference changes', before: { ...at({ $dynamicRef: '#/$defs/A' }), $defs: { A: text } }, after: { ...at({ $dynamicRef: '#/$defs/A' }), $defs: { A: whole } }, input: 'major', output: 'major' },
  { title: 'what a dynamic anchor stands for changes', before: { ...at({ $dynamicRef: '#a' }), $defs: { A: { ...text, $dynamicAnchor: 'a' } } }, after: { ...at({ $dynamicRef: '#a' }), $defs: { A: { ...whole, $dynamicAnchor: 'a' } } }, input: 'major', output: 'major' },
  { title: 'a reference that cannot be decoded', before: at(text), after: at({ $ref: '#/%zz' }), input: 'major', output: 'major' },
  // Texts and defaults
  { title: 'another default (GitHub: another page size)', before: at({ type: 'integer', default: 30 }), after: at({ type: 'integer', default: 50 }), input: 'major', output: 'patch' },
  { title: 'a default where there was none', before: at(whole), after: at({ type: 'integer', default: 30 }), input: 'major', output: 'patch' },
  { title: 'a new argument with a default', before: closed({}), after: closed({ x: { type: 'integer', default: 3 } }), input: 'minor', output: 'major' },
  { title: 'another description', before: at({ type: 'string', description: 'A name' }), after: at({ type: 'string', description: 'The name of it' }), input: 'patch', output: 'patch' },
  { title: 'keys in another order', before: { type: 'object', properties: { a: text, b: text } }, after: { properties: { b: text, a: text }, type: 'object' }, input: 'none', output: 'none' }
]
