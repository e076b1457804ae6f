import type { FastifyInstance, FastifySchema, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import { attempt } from '../attempt.ts'
import { isObject, listIn, type JsonSchema } from '../schema/json-schema.ts'
import { alone, leafNamed, leavesOf, sampleOf, type Leaf } from '../schema/properties.ts'
import { standardConverts, standardValue } from './standard.ts'

/*
 * The compilers of the host are opaque, so each is tried on small schemas: properties of the route's own, since one
 * made for the schemas of a library may do something else, or throw, for others. Where those do not say, and for plain
 * JSON Schema, which is of no library, on a schema of ours.
 */

type Validator = FastifySchemaCompiler<FastifySchema>
type Serializer = FastifySerializerCompiler<FastifySchema>

/** Strings that stand for a value of each type, and such values. */
const STRINGS = { array: 'x', boolean: 'true', integer: '1', number: '1', object: '{"b":"x"}' } as const
const VALUES = { array: ['x'], boolean: true, integer: 1, number: 1, object: {} } as const

const TYPES = Object.keys(STRINGS) as ReadonlyArray<keyof typeof STRINGS>

/**
 * Whether a validator takes a string for a value of the type, and with `'false'`, whether that string stays false;
 * undefined when it is unknown.
 */
export type AcceptsString = (type: keyof typeof STRINGS | 'false') => boolean | undefined

/** The same for each argument in the URL of a route, or in its headers, by its name. */
export type UrlAcceptance = (name: string) => AcceptsString

/** The parts of a request that hold only strings, as validators know them. */
type UrlPart = 'params' | 'querystring' | 'headers'
type RequestPart = UrlPart | 'body'

/** What a validator makes of a body that is not as its schema says. */
export interface BodyTypes {
  /** Whether it converts a value of another type: null to '', 'x' to ['x'], true to 1. */
  readonly coerces: boolean
  /** Whether it drops properties that the schema does not allow. */
  readonly drops: boolean
}

type RequestSchemas = Readonly<Record<typeof REQUEST_PARTS[number], unknown>>

/** The behaviour of the host's compilers that tools depend on. */
export interface Probes {
  /**
   * Whether the validator fills in defaults before it looks for required properties, as Fastify's does unless
   * `useDefaults` is off.
   */
  readonly fillsDefaults: (schemas: RequestSchemas, validator: Validator | undefined) => boolean
  /** A Standard Schema validates itself, so it is asked itself. */
  readonly bodyTypes: (body: unknown, validator: Validator | undefined) => BodyTypes
  readonly urlAcceptance: (part: UrlPart, schema: unknown, validator: Validator | undefined) => UrlAcceptance
  /** Whether responses of routes in `scope` are written by Fastify's serializer, or by one that writes the same. */
  readonly keepsToSchema: (response: unknown, serializer: Serializer | undefined, scope: FastifyInstance) => boolean
}

export function probesOf (app: FastifyInstance): Probes {
  const fills = remembered(fillsIn)
  const writes = remembered(writesAsFastify)
  const writesLarge = remembered(writesLargeArrays)
  const acceptsIn = (part: UrlPart) =>
    remembered((validator: Validator) => new Map(TYPES.map((type) => [type, accepted(validator, part, type)])))
  const accepts = {
    params: acceptsIn('params'),
    querystring: acceptsIn('querystring'),
    headers: acceptsIn('headers')
  }
  const bodies = remembered(bodyTypesOf)
  const hasReplySerializer = replySerializers(app)
  const ask = inquirer()
  return {
    fillsDefaults (schemas, validator) {
      if (validator === undefined) return false
      const verdicts = REQUEST_PARTS.flatMap((part) => {
        const filled = leavesOf(schemas[part]).filter(isFilled)
        const read = (leaf: Leaf): boolean | undefined => fillsOwn(validator, part, leaf)
        const question = { about: `fills ${part}`, read, probe: () => fills(validator) }
        return filled.length === 0 ? [] : ask(validator, filled, question)
      })
      return verdicts.length === 0 ? fills(validator) : verdicts.every(Boolean)
    },
    bodyTypes (body, validator) {
      if (isStandard(body)) return { ...EXACT, coerces: standardConverts(body) }
      if (validator === undefined) return EXACT
      const leaves = leavesOf(body)
      const closed = leaves.filter(({ parent }) => parent.additionalProperties === false)
      const { coerces, drops } = bodies(validator)
      const readCoerces = (leaf: Leaf): boolean | undefined => coercesOwn(validator, leaf)
      const readDrops = (leaf: Leaf): boolean | undefined => dropsOwn(validator, leaf)
      const converting = ask(validator, leaves, { about: 'coerces', read: readCoerces, probe: () => coerces })
      const dropping = ask(validator, closed, { about: 'drops', read: readDrops, probe: () => drops })
      return {
        coerces: converting.length === 0 ? coerces : converting.includes(true),
        drops: dropping.length === 0 ? drops : dropping.includes(true)
      }
    },
    urlAcceptance: (part, schema, validator) => (name) => (type) => {
      const validate = standardValidator(schema)
      if (type === 'false') {
        return keepsFalse((value) =>
          validate === undefined
            ? valueIn(validator, part, leafNamed(schema, name), value)
            : standardValue(schema, name, value)?.value
        )
      }
      if (validate !== undefined) return standardAccepts(validate, name, type)
      if (validator === undefined) return undefined
      const probed = accepts[part](validator).get(type)
      const leaf = leafNamed(schema, name)
      if (leaf === undefined) return probed
      const read = (): boolean | undefined => acceptsOwn(validator, part, leaf, type)
      const [verdict] = ask(validator, [leaf], { about: `${part} ${type}`, read, probe: () => probed })
      return verdict ?? (leaf.marks === '' ? probed : undefined)
    },
    keepsToSchema (response, serializer, scope) {
      if (hasReplySerializer(scope)) return false
      // Fastify sets up its own for every route with a response schema.
      if (serializer === undefined) return true
      const leaves = Object.values(Object(response) as object).flatMap((answer) => leavesOf(answer))
      const read = (leaf: Leaf): boolean | undefined => writesOwn(serializer, leaf)
      const verdicts = ask(serializer, leaves, { about: 'writes', read, probe: () => writes(serializer) })
      return (verdicts.length === 0 ? writes(serializer) : verdicts.every(Boolean)) && writesLarge(serializer) !== false
    }
  }
}

const REQUEST_PARTS = ['params', 'querystring', 'body'] as const

/** Whether a compiler does something. */
interface Question {
  readonly about: string
  /** Whether it does with a property of the route; undefined if that does not say. */
  readonly read: (leaf: Leaf) => boolean | undefined
  /** Whether it does with a schema of ours, which is enough for plain JSON Schema if it is true. */
  readonly probe: () => boolean | undefined
}

/** Asks a compiler about properties of a route. @returns what those that say it say */
type Ask = (compiler: object, leaves: readonly Leaf[], question: Question) => readonly boolean[]

/** One that asks once about each kind of property that a library makes: compiling takes long. */
function inquirer (): Ask {
  const verdictsOf = remembered((_compiler: object) => new Map<string, boolean>())
  return (compiler, leaves, { about, read, probe }) => {
    if (leaves.every(({ marks }) => marks === '') && probe() === true) return [true]
    const known = verdictsOf(compiler)
    return leaves.flatMap((leaf) => {
      const kind = `${about} ${String(leaf.schema.type)} ${leaf.marks}`
      const verdict = known.get(kind) ?? read(leaf)
      if (verdict !== undefined) known.set(kind, verdict)
      return verdict ?? []
    })
  }
}

function remembered<K extends object, V> (read: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return (key) => {
    if (!known.has(key)) known.set(key, read(key))
    return known.get(key) as V
  }
}

/**
 * Tells the scopes whose responses no schema describes. Calls of `setReplySerializer` before the plugin are not seen.
 */
function replySerializers (app: FastifyInstance): (scope: FastifyInstance) => boolean {
  const key = Symbol('mcp-from-routes.replySerializer')
  const set = app.setReplySerializer
  app.setReplySerializer = function (serializer) {
    // Inner scopes inherit it, as they inherit the serializer.
    Reflect.set(this, key, true)
    return set.call(this, serializer)
  }
  return (scope) => Reflect.has(scope, key)
}

const FILLED = { type: 'object', properties: { a: { type: 'string', default: 'x' } }, required: ['a'] }

function fillsIn (compiler: Validator): boolean {
  const body: { a?: string } = {}
  attempt(() => compiler({ schema: FILLED as FastifySchema, method: 'POST', url: '/', httpPart: 'body' })(body))
  return body.a === 'x'
}

function isFilled ({ parent, name, schema }: Leaf): boolean {
  return schema.default !== undefined && listIn(parent.required).includes(name)
}

function fillsOwn (compiler: Validator, part: RequestPart, leaf: Leaf): boolean | undefined {
  const schema = alone(leaf, true)
  if (validated(compiler, part, schema, { [leaf.name]: leaf.schema.default }) === undefined) return undefined
  return validated(compiler, part, schema, {})?.[leaf.name] !== undefined
}

/** What a validator passes on of a value; undefined if it refuses it, or throws. */
function validated (compiler: Validator, part: RequestPart, schema: object, value: JsonObject): JsonObject | undefined {
  return attempt(() => {
    const result = resultOf(compiler, part, schema, value)
    if (isRefusal(result)) return undefined
    return isObject(result) && isObject(result.value) ? result.value : value
  })
}

type JsonObject = Readonly<Record<string, unknown>>

function resultOf (compiler: Validator, httpPart: RequestPart, schema: object, value: JsonObject): unknown {
  const method = httpPart === 'body' ? 'POST' : 'GET'
  return compiler({ schema: schema as FastifySchema, method, url: '/', httpPart })(value)
}

function isRefusal (result: unknown): boolean {
  return result === false || result instanceof Error || (isObject(result) && result.error !== undefined)
}

const EXACT: BodyTypes = { coerces: false, drops: false }
/** Values that are not of the type beside them, and that some validators convert. */
const WRONG = [
  ['integer', '1'],
  ['integer', true],
  ['integer', null],
  ['string', 1],
  ['string', null],
  ['array', 'x'],
  ['string', ['x']]
] as const
const CLOSED = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }

function bodyTypesOf (compiler: Validator): BodyTypes {
  const closed = validated(compiler, 'body', CLOSED, { a: 'x', b: 1 })
  return {
    coerces: WRONG.some(([type, value]) => {
      const body = validated(compiler, 'body', { type: 'object', properties: { a: { type } } }, { a: value })
      return body !== undefined && body.a !== value
    }),
    drops: closed !== undefined && closed.b === undefined
  }
}

/** Values of another type than the sample. */
function wrongFor (type: unknown, sample: unknown): readonly unknown[] {
  if (type === 'string') return [1, null, [sample]]
  return Array.isArray(sample) ? [sample[0]] : [String(sample), true, null]
}

function coercesOwn (compiler: Validator, leaf: Leaf): boolean | undefined {
  const { name, schema: { type } } = leaf
  const sample = sampleOf(leaf.schema)
  const schema = alone(leaf)
  if (typeof type !== 'string' || type === 'object') return undefined
  if (validated(compiler, 'body', schema, { [name]: sample }) === undefined) return undefined
  return wrongFor(type, sample).some((value) => {
    const body = validated(compiler, 'body', schema, { [name]: value })
    return body !== undefined && body[name] !== value
  })
}

/** No property of a host. */
const FOREIGN = 'mcp-from-routes.foreign'

function dropsOwn (compiler: Validator, leaf: Leaf): boolean | undefined {
  const sample = sampleOf(leaf.schema)
  const schema = alone(leaf)
  if (validated(compiler, 'body', schema, { [leaf.name]: sample }) === undefined) return undefined
  const body = validated(compiler, 'body', schema, { [leaf.name]: sample, [FOREIGN]: 1 })
  return body !== undefined && body[FOREIGN] === undefined
}

/** Also one of several media types. */
function isStandard (body: unknown): boolean {
  const content: unknown = Object(body).content
  return Object(body)['~standard'] !== undefined ||
    (isObject(content) && Object.values(content).some((one) => Object(Object(one).schema)['~standard'] !== undefined))
}

const WRITTEN = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['a'] }
const LIST = { type: 'array', items: { type: 'string' } }
/** By default, `largeArrayMechanism` concerns arrays of so many items. */
const LARGE = 20_000

function writesAsFastify (compiler: Serializer): boolean {
  // A response without a required property must fail.
  const isTyped = written(compiler, WRITTEN, { a: 1, b: '2', c: 3 }) === '{"a":"1","b":2}'
  return isTyped && written(compiler, WRITTEN, { b: 2 }) === undefined
}

/** @returns undefined if the serializer is for schemas of another kind */
function writesLargeArrays (compiler: Serializer): boolean | undefined {
  return written(compiler, LIST, Array(LARGE).fill(1))?.startsWith('["1"')
}

function writesOwn (compiler: Serializer, leaf: Leaf): boolean | undefined {
  const { name, schema: { type, format, const: only } } = leaf
  if ((type !== 'string' && type !== 'integer') || format !== undefined || only !== undefined) return undefined
  const schema = alone(leaf, true)
  const [given, expected] = type === 'string' ? [1, '1'] : ['2', 2]
  if (written(compiler, schema, { [name]: expected }) === undefined) return undefined
  const isTyped = written(compiler, schema, { [name]: given }) === JSON.stringify({ [name]: expected })
  return isTyped && written(compiler, schema, {}) === undefined
}

function written (compiler: Serializer, schema: JsonSchema, response: unknown): string | undefined {
  const route = { schema: schema as FastifySchema, method: 'GET', url: '/', httpStatus: '200' }
  return attempt(() => compiler(route)(response))
}

function accepted (compiler: Validator, httpPart: UrlPart, type: keyof typeof STRINGS): boolean | undefined {
  const schema = { type: 'object', properties: { a: { type } } }
  return attempt(() => !isRefusal(resultOf(compiler, httpPart, schema, { a: STRINGS[type] })))
}

function acceptsOwn (compiler: Validator, part: UrlPart, leaf: Leaf, type: keyof typeof STRINGS): boolean | undefined {
  const schema = alone(leaf)
  const sample = sampleOf(leaf.schema, type)
  // A schema that refuses the right type as well says nothing about the type.
  if (validated(compiler, part, schema, { [leaf.name]: sample }) === undefined) return undefined
  const [first] = [sample].flat()
  const text = isObject(first) ? JSON.stringify(first) : String(first)
  return validated(compiler, part, schema, { [leaf.name]: text }) !== undefined
}

/** What a validator passes on of a text for a property of the route, or of one like it. */
function valueIn (compiler: Validator | undefined, part: UrlPart, leaf: Leaf | undefined, value: unknown): unknown {
  if (compiler === undefined) return undefined
  const schema = leaf === undefined ? { type: 'object', properties: { a: { type: 'boolean' } } } : alone(leaf)
  const { name } = leaf ?? { name: 'a' }
  return validated(compiler, part, schema, { [name]: value })?.[name]
}

/** Of any text, `Boolean(text)` makes true, as z.coerce.boolean() does. */
function keepsFalse (read: (value: unknown) => unknown): boolean {
  const list = read(['false'])
  return read('false') !== true && !(Array.isArray(list) && list[0] === true)
}

type StandardValidate = (value: unknown) => unknown

function standardValidator (schema: unknown): StandardValidate | undefined {
  const standard: unknown = Object(schema)['~standard']
  const validate: unknown = Object(standard).validate
  return typeof validate === 'function' ? (value) => validate.call(standard, value) as unknown : undefined
}

function standardAccepts (validate: StandardValidate, name: string, type: keyof typeof STRINGS): boolean | undefined {
  const shaped = refuses(validate, name, VALUES[type])
  // A schema that refuses the right type as well says nothing about the type.
  if (shaped !== false) return undefined
  const refused = refuses(validate, name, STRINGS[type])
  return refused === undefined ? undefined : !refused
}

/**
 * Whether a value is refused as a whole: not for one of its elements, nor for other arguments.
 * @see [Standard Schema](https://standardschema.dev/schema) for the issues
 */
function refuses (validate: StandardValidate, name: string, value: unknown): boolean | undefined {
  const result = attempt(() => validate({ [name]: value }))
  if (!isObject(result) || result instanceof Promise) return undefined
  const issues: unknown[] = Array.isArray(result.issues) ? result.issues : []
  return issues.some((issue) => {
    const path: unknown = Object(issue).path
    const [first] = Array.isArray(path) && path.length === 1 ? path : []
    return first === name || (isObject(first) && first.key === name)
  })
}
