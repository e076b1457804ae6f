import type { FastifyInstance, FastifySchema, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import { attempt } from '../attempt.ts'
import { isObject } from './json-schema.ts'

/*
 * The compilers of the host are opaque, so each is tried once on a small schema. One that throws is for
 * schemas of another kind.
 */

type Validator = FastifySchemaCompiler<FastifySchema>
type Serializer = FastifySerializerCompiler<FastifySchema>

/** Strings that stand for a value of each type, and such values. */
const STRINGS = { array: 'x', boolean: 'true', integer: '1', number: '1', object: '{"b":"x"}' } as const
const VALUES = { array: ['x'], boolean: true, integer: 1, number: 1, object: {} } as const

const TYPES = Object.keys(STRINGS) as ReadonlyArray<keyof typeof STRINGS>

/** Whether a validator takes a string for a value of the type; undefined when that is unknown. */
export type AcceptsString = (type: keyof typeof STRINGS) => boolean | undefined

/** The same for each argument in the URL of a route, by its name. */
export type UrlAcceptance = (name: string) => AcceptsString

/** The parts of a request in its URL, as validators know them. */
type UrlPart = 'params' | 'querystring'

/** What a validator makes of a body that is not as its schema says. */
export interface BodyTypes {
  /** Whether it converts a value of another type: null to '', 'x' to ['x'], true to 1. */
  readonly coerces: boolean
  /** Whether it drops properties that the schema does not allow. */
  readonly drops: boolean
}

/** The behaviour of the host's compilers that tools depend on. */
export interface Probes {
  /** Whether the validator fills in defaults before it looks for required properties, as Fastify's does unless `useDefaults` is off. */
  readonly fillsDefaults: (validator: Validator | undefined) => boolean
  /** A Standard Schema validates itself, and converts only where it says so. */
  readonly bodyTypes: (body: unknown, validator: Validator | undefined) => BodyTypes
  /** A Standard Schema is tried on the argument itself, any other validator on a schema of the same type. */
  readonly urlAcceptance: (part: UrlPart, schema: unknown, validator: Validator | undefined) => UrlAcceptance
  /** Whether responses of routes in `scope` are written by Fastify's serializer, or by one that writes the same. */
  readonly keepsToSchema: (serializer: Serializer | undefined, scope: FastifyInstance) => boolean
}

export function probesOf (app: FastifyInstance): Probes {
  const fills = remembered(fillsIn)
  const writes = remembered(writesAsFastify)
  const acceptsIn = (part: UrlPart) => remembered((validator: Validator) => new Map(TYPES.map((type) => [type, accepted(validator, part, type)])))
  const accepts = { params: acceptsIn('params'), querystring: acceptsIn('querystring') }
  const bodies = remembered(bodyTypesOf)
  const hasReplySerializer = replySerializers(app)
  return {
    fillsDefaults: (validator) => validator !== undefined && fills(validator),
    bodyTypes: (body, validator) => validator === undefined || isStandard(body) ? EXACT : bodies(validator),
    urlAcceptance: (part, schema, validator) => (name) => (type) => {
      const validate = standardValidator(schema)
      if (validate !== undefined) return standardAccepts(validate, name, type)
      return validator === undefined ? undefined : accepts[part](validator).get(type)
    },
    // Fastify sets up its own for every route with a response schema.
    keepsToSchema: (serializer, scope) => !hasReplySerializer(scope) && (serializer === undefined || writes(serializer))
  }
}

function remembered<K extends object, V> (read: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return (key) => {
    if (!known.has(key)) known.set(key, read(key))
    return known.get(key) as V
  }
}

/** Tells the scopes whose responses no schema describes. Calls of `setReplySerializer` before the plugin are not seen. */
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

const EXACT: BodyTypes = { coerces: false, drops: false }
/** Values that are not of the type beside them, and that some validators convert. */
const WRONG = [['integer', '1'], ['integer', true], ['integer', null], ['string', 1], ['string', null], ['array', 'x'], ['string', ['x']]] as const
const CLOSED = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }

function bodyTypesOf (compiler: Validator): BodyTypes {
  const validated = (schema: object, body: object): Readonly<Record<string, unknown>> | undefined => attempt(() => {
    const result: unknown = compiler({ schema: schema as FastifySchema, method: 'POST', url: '/', httpPart: 'body' })(body)
    if (result === false || result instanceof Error || (isObject(result) && result.error !== undefined)) return undefined
    return isObject(result) && isObject(result.value) ? result.value : body as Record<string, unknown>
  })
  return {
    coerces: WRONG.some(([type, value]) => {
      const body = validated({ type: 'object', properties: { a: { type } } }, { a: value })
      return body !== undefined && body.a !== value
    }),
    drops: validated(CLOSED, { a: 'x', b: 1 })?.b === undefined && validated(CLOSED, { a: 'x', b: 1 }) !== undefined
  }
}

/** Also one of several media types. */
function isStandard (body: unknown): boolean {
  const content: unknown = Object(body).content
  return Object(body)['~standard'] !== undefined || (isObject(content) && Object.values(content).some((one) => Object(Object(one).schema)['~standard'] !== undefined))
}

const WRITTEN = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['a'] }
const LIST = { type: 'array', items: { type: 'string' } }
/** By default, `largeArrayMechanism` concerns arrays of so many items. */
const LARGE = 20_000

function writesAsFastify (compiler: Serializer): boolean {
  const written = (schema: object, response: unknown): string | undefined =>
    attempt(() => compiler({ schema: schema as FastifySchema, method: 'GET', url: '/', httpStatus: '200' })(response))
  // A response without a required property must fail.
  return written(WRITTEN, { a: 1, b: '2', c: 3 }) === '{"a":"1","b":2}' && written(WRITTEN, { b: 2 }) === undefined &&
    written(LIST, Array(LARGE).fill(1))?.startsWith('["1"') === true
}

function accepted (compiler: Validator, httpPart: UrlPart, type: keyof typeof STRINGS): boolean | undefined {
  const schema = { type: 'object', properties: { a: { type } } }
  return attempt(() => {
    const result: unknown = compiler({ schema: schema as FastifySchema, method: 'GET', url: '/', httpPart })({ a: STRINGS[type] })
    return result !== false && !(result instanceof Error) && !(isObject(result) && result.error !== undefined)
  })
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
