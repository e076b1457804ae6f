import { combine, definitionsOf, referredTo } from '../schema/shared.ts'
import { MCP_FROM_ROUTES_INVALID_CONFIG } from '../errors.ts'
import { isObject, mapSubschemas, type JsonSchema } from '../schema/json-schema.ts'

/**
 * How much of an output schema is published: all of it; names and types alone, without explanations and what is
 * required; or nothing.
 */
export type OutputDetail = 'full' | 'brief' | false

/** The same for one tool, which may also name the fields of its record, or of the records of its list. */
export type ToolOutputDetail = OutputDetail | readonly string[]

const DETAILS: readonly unknown[] = ['full', 'brief', false]

export function isOutputDetail (value: unknown): value is OutputDetail {
  return DETAILS.includes(value)
}

/** What is published of the output schema of one tool. */
export type Detail = false | { readonly isBrief: boolean, readonly fields: readonly string[] | undefined }

/**
 * @param route - the route as named in errors
 * @param own - what its `config.mcp.output` says
 * @param option - what the plugin's option says
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
 */
export function outputDetail (route: string, own: ToolOutputDetail | undefined, option: OutputDetail = 'full'): Detail {
  const isList = Array.isArray(own) && own.length > 0 && own.every((field) => typeof field === 'string')
  if (own !== undefined && !isList && !isOutputDetail(own)) {
    throw new MCP_FROM_ROUTES_INVALID_CONFIG(route, "output must be 'full', 'brief', false or an array of field names")
  }
  if (isList) return { isBrief: option !== 'full', fields: own as readonly string[] }
  const detail = own as OutputDetail | undefined ?? option
  return detail === false ? false : { isBrief: detail === 'brief', fields: undefined }
}

/**
 * Leaves out of an output schema what the list of tools need not say. What is left is a weaker promise of the same
 * result.
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG} when a field is in no record
 */
export function outputTrimmer (
  route: string,
  { isBrief, fields }: Exclude<Detail, false>
): (schema: JsonSchema) => JsonSchema {
  return (schema) => {
    const few = fields === undefined ? schema : withFields(route, schema, fields)
    return isBrief ? namesAndTypes(few) : few
  }
}

const LEFT_OUT = new Set(['default', 'deprecated', 'description', 'examples', 'required', 'title'])

function namesAndTypes (schema: JsonSchema): JsonSchema {
  const out = mapSubschemas(schema, (sub) => isObject(sub) ? namesAndTypes(sub) : sub)
  return Object.fromEntries(Object.entries(out).filter(([keyword]) => !LEFT_OUT.has(keyword)))
}

function withFields (route: string, schema: JsonSchema, fields: readonly string[]): JsonSchema {
  const definitions = definitionsOf(schema)
  const found = new Set<string>()

  function ofRecord (part: unknown, open: readonly string[]): unknown {
    if (!isObject(part)) return part
    const name = referredTo(part)
    const target = name === undefined ? undefined : definitions.get(name)
    if (name !== undefined && target !== undefined && !open.includes(name)) {
      const { $ref, ...beside } = part
      return ofRecord(combine(target, beside), [...open, name])
    }
    const { additionalProperties, ...out } = part
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
      if (Array.isArray(out[keyword])) out[keyword] = out[keyword].map((member) => ofRecord(member, open))
    }
    if (isObject(out.items)) out.items = ofRecord(out.items, open)
    if (!isObject(out.properties)) return additionalProperties === undefined ? out : { ...out, additionalProperties }
    const kept = Object.entries(out.properties).filter(([name]) => fields.includes(name))
    for (const [name] of kept) found.add(name)
    // A schema for additional properties would now apply to the properties left out.
    return {
      ...out,
      properties: Object.fromEntries(kept),
      ...Array.isArray(out.required) && { required: out.required.filter((name) => fields.includes(String(name))) }
    }
  }

  const trimmed = ofRecord(schema, []) as JsonSchema
  const missing = fields.find((field) => !found.has(field))
  if (missing !== undefined) {
    throw new MCP_FROM_ROUTES_INVALID_CONFIG(route, `output names ${missing}, which is not a field of its result`)
  }
  return trimmed
}
