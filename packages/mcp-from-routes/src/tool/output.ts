import { withoutMarked } from '../schema/marks.ts'
import { compact } from '../schema/compact.ts'
import { ANNOTATIONS, definitionsOf, referredTo, rewriteShared, type DefinitionMap } from '../schema/shared.ts'
import { besideRecord, withNamed, type Beside } from './beside.ts'
import { isReadable } from '../schema/dialect.ts'
import { isObject, mapSubschemas, type JsonSchema } from '../schema/json-schema.ts'
import type { SchemaReader } from '../schema/reader.ts'
import { isPortable } from '../schema/portable.ts'
import { resultForClients } from '../schema/spelling.ts'

/** The result of a successful call, as far as the route's response schemas promise it. */
export interface ToolOutput {
  /** An object: the answer itself, or `{ result: … }` around one that may be something else. */
  readonly schema: JsonSchema
  /** Whether `schema` is a wrapping. */
  readonly wrapped: boolean
  /** The fields that a result may have beside those of the route. */
  readonly beside: ReadonlySet<Beside>
  /** The media type that is written as the schema says, by status, those without their own under `2xx`. */
  readonly types: ReadonlyMap<number | '2xx', string>
  /** What the serializer makes sure of, and a hook that writes the response again may not. */
  readonly form: Form
}

/** Whether an answer may be a list or an object, and the properties that an object has. */
interface Form {
  readonly isList: boolean
  readonly isObject: boolean
  readonly required: readonly string[]
}

/** In `types`: a schema that stands for every media type. */
const ANY_TYPE = '*/*'

/** Kept by {@link relaxed}: what the serializer guarantees, and annotations. */
const GUARANTEED = new Set([
  '$ref',
  'additionalProperties',
  'allOf',
  'anyOf',
  'const',
  'default',
  'deprecated',
  'description',
  'examples',
  'items',
  'patternProperties',
  'prefixItems',
  'properties',
  'required',
  'title',
  'type'
])

/**
 * Derives the output schema from a route's `response` schemas.
 * @param trim - leaves out what the list of tools need not say
 * @param names - what results may say beside the route's own JSON
 * @returns undefined when a success may be something other than JSON: no 2xx schema, a 204 or 205, a media type that is
 * not JSON or that Fastify never matches, or a string, which Fastify sends as text/plain whatever its schema says
 */
export function outputFromRoute (
  response: unknown,
  reader: SchemaReader,
  trim = (schema: JsonSchema) => schema,
  names: readonly Beside[] = []
): ToolOutput | undefined {
  const successes = jsonSuccesses(response, reader)
  if (successes === undefined) return undefined
  const { written, types } = successes
  if (mayBeText(written, written.$defs)) return undefined
  const definitions = definitionsOf(written)
  const kept = rewriteShared(
    written,
    types.size > 1 ? ANSWERS : WHOLE | ALONE,
    (part, place, use) => relaxed(part, place, definitions, use)
  )
  // Trimming may have removed one of two uses of a definition.
  const schema = compact(trim(kept))
  const wrapped = schema.type !== 'object'
  const beside = wrapped ? names : besideRecord(written, names)
  const published = resultForClients(wrapped ? wrap(schema) : withNamed(schema, beside))
  const form = formOf(wrapped ? Object(published.properties).result : published)
  return { schema: published, wrapped, beside: new Set(beside), types, form }
}

/**
 * What a route's `response` schemas declare of a success, with all that the serializer does not guarantee: enums,
 * formats, lengths. Clients do not see it; a contract keeps it.
 * @param reader - one that changes nothing
 * @param output - what is published, if anything is
 * @returns undefined when a success may be something other than JSON
 */
export function declaredFromRoute (
  response: unknown,
  reader: SchemaReader,
  output: ToolOutput | undefined
): JsonSchema | undefined {
  const schema = jsonSuccesses(response, reader)?.written
  if (schema === undefined) return undefined
  return resultForClients(output?.wrapped ? wrap(schema) : withNamed(schema, [...output?.beside ?? []]))
}

/** What a success is where it is JSON; undefined if none of a route's `response` schemas is for JSON. */
export function jsonFromRoute (response: unknown, reader: SchemaReader): JsonSchema | undefined {
  return jsonSuccesses(response, reader, true)?.written
}

/** @returns undefined when there is no JSON, or also something else without `leaveOut` */
function jsonSuccesses (
  response: unknown,
  reader: SchemaReader,
  leaveOut = false
): { readonly written: JsonSchema, readonly types: ToolOutput['types'] } | undefined {
  const reads: JsonSchema[] = []
  const types = new Map<number | '2xx', string>()
  for (const [status, answer] of Object.entries(isObject(response) ? response : {})) {
    if (!/^2(\d\d|xx)$/i.test(status)) continue
    const json = status === '204' || status === '205' ? undefined : jsonAnswer(answer)
    if (json === undefined && !leaveOut) return undefined
    if (json === undefined) continue
    reads.push(reader.read(json.schema, `response ${status}`, 'output'))
    types.set(/xx$/i.test(status) ? '2xx' : Number(status), json.type)
  }
  const [first, ...others] = reads
  return first &&
    {
      written: compact(withoutMarked(reader.close(others.length === 0 ? first : { anyOf: reads }), 'writeOnly')),
      types
    }
}

const STREAMED = /^(text\/event-stream|application\/(x-ndjson|jsonl|x-jsonlines))\s*(;|$)/i

/** Whether a media type is one whose pieces are progress: server-sent events, or one JSON value per line. */
export function isStreamed (mediaType: unknown): boolean {
  return STREAMED.test(String(mediaType))
}

/** Whether a route declares a response that comes in pieces. */
export function declaresStream (response: unknown): boolean {
  if (!isObject(response)) return false
  return Object.values(response).some((answer) =>
    isObject(answer) && isObject(answer.content) && Object.keys(answer.content).some(isStreamed)
  )
}

/**
 * Drops `pattern`, which the serializer does not check. Patterns of property names stay if clients and the providers of
 * models can read them.
 */
export function withoutPatterns (schema: JsonSchema): JsonSchema {
  const { pattern, patternProperties, additionalProperties, ...rest } = schema
  const named = isObject(patternProperties) ? Object.entries(patternProperties) : []
  const readable = named.filter(([name]) => isReadable(name) && isPortable(name))
  const known = {
    ...rest,
    ...patternProperties !== undefined && { patternProperties: Object.fromEntries(readable) },
    // Without all the patterns it would also apply to properties that a dropped one matches.
    ...additionalProperties !== undefined && readable.length === named.length && { additionalProperties }
  }
  return mapSubschemas(known, (sub) => isObject(sub) ? withoutPatterns(sub) : sub)
}

/**
 * Drops the array keywords that Fastify's serializer ignores: `prefixItems` of draft 2020-12, where it applies `items`
 * to every element, and `items: false`. Tuples of earlier drafts (`items: [a, b]`) stay: the serializer knows them. Not
 * for a serializer that is trusted to know both.
 */
export function withoutUnknown (schema: JsonSchema): JsonSchema {
  const { prefixItems, items, ...rest } = schema
  const known = items === undefined || items === false ? rest : { ...rest, items }
  return mapSubschemas(known, (sub) => isObject(sub) ? withoutUnknown(sub) : sub)
}

/**
 * Whether Fastify serializes a response with a schema that is part of the output schema. A status or media type without
 * a 2xx response schema is sent unchanged or by the schema of `default`, so nothing is known of it.
 */
export function isDeclared ({ types }: ToolOutput, statusCode: number, mediaType: string): boolean {
  const type = types.get(statusCode) ?? types.get('2xx')
  return type === ANY_TYPE || type === mediaType
}

/**
 * Whether JSON is the list or the object that the output schema promises, with the properties that it requires. It may
 * not be if a hook or the handler wrote it after the serializer, or without one.
 */
export function isAsPromised ({ form }: ToolOutput, value: unknown): boolean {
  if (Array.isArray(value)) return form.isList
  if (!isObject(value)) return true
  if (!form.isObject) return false
  for (const name of form.required) if (!Object.hasOwn(value, name)) return false
  return true
}

/** Found at startup: in every call it would cost more than the check itself. */
function formOf (answer: unknown): Form {
  const { type, required } = Object(answer) as JsonSchema
  if (type === undefined) return { isList: true, isObject: true, required: [] }
  const types = [type].flat()
  return {
    isList: types.includes('array'),
    isObject: types.includes('object'),
    required: Array.isArray(required) ? required.map(String) : []
  }
}

/** The JSON schema of one status and the media type it is for, or undefined when its body may be something else. */
function jsonAnswer (answer: unknown): { readonly schema: unknown, readonly type: string } | undefined {
  if (!isObject(answer)) return answer === true ? { schema: {}, type: ANY_TYPE } : undefined
  if (answer.type === 'null') return undefined
  if (!isObject(answer.content)) return { schema: answer, type: ANY_TYPE }
  const types = Object.entries(answer.content)
  const [only] = types
  if (types.length !== 1 || only === undefined || !isObject(only[1]) || only[1].schema === undefined) return undefined
  // Fastify looks for the type in lower case and without parameters, so it finds no other.
  return /^[^A-Z;\s]+[/+]json$/.test(only[0]) ? { schema: only[1].schema, type: only[0] } : undefined
}

/** Keywords from which the serializer takes an object or an array where the schema has no type. */
const STRUCTURE = ['properties', 'required', 'additionalProperties', 'patternProperties', 'items', 'prefixItems']

/** Whether a string may fit the schema. */
function mayBeText (schema: unknown, definitions: unknown, seen: readonly string[] = []): boolean {
  if (!isObject(schema)) return true
  if (schema.type !== undefined) return [schema.type].flat().includes('string')
  if (STRUCTURE.some((keyword) => keyword in schema)) return false
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.slice('#/$defs/'.length)
    return seen.includes(name) || mayBeText(Reflect.get(Object(definitions), name), definitions, [...seen, name])
  }
  if (Array.isArray(schema.allOf) && !schema.allOf.every((member) => mayBeText(member, definitions, seen))) return false
  const members: unknown = schema.anyOf ?? schema.oneOf
  return !Array.isArray(members) || members.some((member) => mayBeText(member, definitions, seen))
}

/**
 * What holds of the place of a schema, as bits: its value cannot be missing; nothing else is joined with it; it is
 * several answers.
 */
const WHOLE = 1
const ALONE = 2
const ANSWERS = 4

type Use = (schema: JsonSchema, place: number) => void

/**
 * Leaves what Fastify's serializer makes true of every answer. It coerces types, fills defaults and drops other
 * properties, but it ignores enum, format, lengths and ranges; a client that checks them would reject good answers.
 * It fails without a required property, but writes null, given for an object, as `{}`: where a record is missing in
 * another, nothing in it is required. Items of a list are not missing, nor is the answer as a whole. It takes the first
 * matching alternative, so `oneOf` becomes `anyOf`. It joins the parts of a schema before it writes, so what one closes
 * another may open.
 */
function relaxed (schema: JsonSchema, place: number, definitions: DefinitionMap, use: Use): JsonSchema {
  const inside = (at: (keyword: string) => number) => (sub: unknown, keyword: string): unknown =>
    isObject(sub) ? relaxed(sub, at(keyword), definitions, use) : sub
  if (place & ANSWERS) return mapSubschemas(schema, inside(() => WHOLE | ALONE))
  const { oneOf, ...rest } = schema
  const inner = isJoined(schema) ? place & ~ALONE : place
  use(schema, inner)
  const out = mapSubschemas(
    Array.isArray(oneOf) && rest.anyOf === undefined ? { ...rest, anyOf: oneOf } : rest,
    inside((keyword) => {
      if (keyword === 'items' || keyword === 'prefixItems') return WHOLE | ALONE
      return keyword === 'allOf' || keyword === 'anyOf' ? inner : ALONE
    })
  )
  if (!(place & WHOLE)) delete out.required
  // The serializer ignores items beyond a tuple, and older clients would reject every item if none were allowed.
  if (out.prefixItems !== undefined) delete out.items
  keepNull(out, definitions)
  if (!(inner & ALONE)) delete out.additionalProperties
  for (const keyword of Object.keys(out)) if (!GUARANTEED.has(keyword)) delete out[keyword]
  return out
}

/** Whether the schema has several parts. A union with null alone is none. */
function isJoined (schema: JsonSchema): boolean {
  const keywords = Object.keys(schema).filter((keyword) => !ANNOTATIONS.has(keyword))
  const { allOf, anyOf, oneOf, if: condition, $ref } = schema
  if ($ref !== undefined || isNullUnion(anyOf)) return keywords.length > 1
  return [allOf, anyOf, oneOf, condition].some((part) => part !== undefined)
}

function isNullUnion (anyOf: unknown): boolean {
  const members = membersOf(anyOf)
  return members.length === 2 && members[1]?.type === 'null'
}

/** A default is written as it is, and null where it is allowed whatever the constant is. */
function keepNull (schema: Record<string, unknown>, definitions: DefinitionMap): void {
  const beside = [...membersOf(schema.allOf), ...membersOf(schema.anyOf)].map((part) =>
    definitions.get(referredTo(part) ?? '') ?? part
  )
  // Joined with the others, one part that may be null lets all be.
  if (schema.default === null || [schema, ...beside].some(isNullable)) allowNull(schema)
}

function isNullable (schema: JsonSchema): boolean {
  return ownTypes(schema).includes('null')
}

function ownTypes ({ type }: JsonSchema): readonly unknown[] {
  return [type ?? []].flat()
}

function membersOf (schemas: unknown): Array<Record<string, unknown>> {
  return Array.isArray(schemas) ? schemas.filter(isObject) : []
}

function allowNull (schema: Record<string, unknown>): void {
  const types = ownTypes(schema)
  if (types.length > 0) schema.type = [...new Set([...types, 'null'])]
  delete schema.const
  membersOf(schema.allOf).forEach(allowNull)
  if (Array.isArray(schema.anyOf) && !membersOf(schema.anyOf).some(isNullable)) {
    schema.anyOf = [...schema.anyOf as unknown[], { type: 'null' }]
  }
  if (schema.$ref === undefined) return
  const anyOf = [{ $ref: schema.$ref }, { type: 'null' }]
  delete schema.$ref
  if (schema.anyOf === undefined) schema.anyOf = anyOf
  else schema.allOf = [...Array.isArray(schema.allOf) ? schema.allOf as unknown[] : [], { anyOf }]
}

/** `{ result: schema }`, with the references in it moved along. */
function wrap (schema: JsonSchema): JsonSchema {
  const { $defs, ...natural } = schema
  return { type: 'object', properties: { result: natural }, required: ['result'], ...$defs !== undefined && { $defs } }
}
