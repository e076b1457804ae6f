import type { IncomingHttpHeaders } from 'node:http'
import { isObject } from './json-schema.ts'
import { pathFromParts } from './path.ts'
import type { Tool } from './tool.ts'

/** The inner request that a call becomes. */
export interface InnerRequest {
  readonly method: string
  /** Path and query string. */
  readonly url: string
  /** The path parameters that the router must find in `url`. */
  readonly params: ReadonlyMap<string, string>
  readonly headers: Record<string, string>
  readonly body: string | undefined
}

/** Why a call cannot become a request, in words for the model. */
export interface Refusal { readonly refusal: string }

/** What of the outer request the inner one takes over. */
export interface Caller {
  readonly headers: IncomingHttpHeaders
  /** Names of the headers to take over, in lower case. */
  readonly forwardHeaders: ReadonlySet<string>
  /** The longest path parameter the router takes, in characters. */
  readonly maxParamLength: number
}

const ACCEPT = 'application/json, */*;q=0.8'
/** With these a host that trusts its proxy, or reads them itself, sees the same client inside as outside. */
const IDENTITY = new Set(['forwarded', 'user-agent', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-proto', 'x-real-ip'])
const SURROGATE = /\p{Surrogate}/u

/**
 * Builds the request of one tool call. Types and constraints are the route's own validation to check; what is
 * refused here is what it would never see: names it does not know, and values that would change the path.
 */
export function requestFromCall (tool: Tool, args: Readonly<Record<string, unknown>>, caller: Caller): InnerRequest | Refusal {
  const { places } = tool.input
  for (const name in args) if (!places.has(name)) return { refusal: unknownArguments(args, places) }
  const params = new Map<string, string>()
  const query: string[] = []
  const fields: Record<string, unknown> = {}
  for (const [name, place] of places) {
    const value = args[name]
    if (value === undefined || !Object.hasOwn(args, name)) {
      if (place === 'path' && !isOptional(tool, name)) return { refusal: `${name} is missing` }
    } else if (place === 'path') {
      const text = pathValue(name, value, caller.maxParamLength)
      if (typeof text !== 'string') return text
      params.set(name, text)
    } else if (place === 'query') {
      const pairs = queryPairs(name, value, tool)
      if ('refusal' in pairs) return pairs
      query.push(...pairs)
    } else {
      fields[name] = value
    }
  }
  const body = tool.input.body === 'none' ? undefined : bodyText(tool.input.body === 'whole' ? fields.body : fields)
  if (typeof body === 'object') return body
  const path = pathFromParts(tool.path, params)
  return {
    method: tool.public.route.method,
    url: query.length === 0 ? path : `${path}?${query.join('&')}`,
    params,
    headers: headersFor(tool, caller, body !== undefined),
    body
  }
}

function unknownArguments (args: Readonly<Record<string, unknown>>, places: ReadonlyMap<string, unknown>): string {
  const unknown = Object.keys(args).filter((name) => !places.has(name))
  const names = unknown.map((name) => JSON.stringify(name.slice(0, 100))).join(', ')
  const takes = places.size === 0 ? 'This tool takes no arguments' : `This tool takes ${[...places.keys()].join(', ')}`
  return `Unknown argument${unknown.length > 1 ? 's' : ''} ${names}. ${takes}`
}

function isOptional (tool: Tool, name: string): boolean {
  return tool.path.some((part) => 'param' in part && part.param === name && part.optional)
}

/** A dot segment, encoded or not, would be folded away and lead to another route. */
function pathValue (name: string, value: unknown, maxLength: number): string | Refusal {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return { refusal: `${name} must be a string, a number or a boolean` }
  const text = String(value)
  if (text === '') return { refusal: `${name} must not be empty` }
  if (text === '.' || text === '..') return { refusal: `${name} must not be "${text}"` }
  if (text.length > maxLength) return { refusal: `${name} must not be longer than ${maxLength} characters` }
  if (SURROGATE.test(text)) return { refusal: `${name} is not valid Unicode` }
  return text
}

/**
 * Arrays repeat the name; objects, which a query string cannot hold, are sent as their JSON text; null is left out.
 * What an array would lose on the way is refused: a filter that arrives empty or shorter would ask for more than was
 * meant. One that is empty is left out where the route takes it to be empty then. An array where an object belongs is
 * JSON text too, for the route to refuse.
 */
function queryPairs (name: string, value: unknown, { input }: Tool): string[] | Refusal {
  const pairs: string[] = []
  const schema: unknown = Reflect.get(Object(input.schema.properties), name)
  const repeats = Array.isArray(value) && !isObjectSchema(schema)
  if (repeats && value.length === 0) return hasEmptyDefault(schema) ? pairs : { refusal: `${name} must not be an empty array, which a query string cannot hold. Leaving it out may mean something else` }
  if (repeats && value.includes(null)) return { refusal: `${name} must not hold null, which a query string cannot` }
  if (value === null) return pairs
  for (const item of repeats ? value : [value]) {
    const text = typeof item === 'object' ? jsonText(item) : String(item)
    if (text === undefined) return { refusal: `${name} is nested too deeply` }
    if (SURROGATE.test(text) || SURROGATE.test(name)) return { refusal: `${name} is not valid Unicode` }
    pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(text)}`)
  }
  return pairs
}

function hasEmptyDefault (schema: unknown): boolean {
  return isObject(schema) && Array.isArray(schema.default) && schema.default.length === 0
}

/** Whether a schema takes objects, or null, and nothing else. */
function isObjectSchema (schema: unknown): boolean {
  if (!isObject(schema)) return false
  const types = [schema.type ?? []].flat()
  if (types.length > 0) return types.includes('object') && types.every((type) => type === 'object' || type === 'null')
  if (Array.isArray(schema.allOf) && schema.allOf.some(isObjectSchema)) return true
  const members: unknown = schema.anyOf ?? schema.oneOf
  return Array.isArray(members) && members.some(isObjectSchema) && members.every((member) => isObjectSchema(member) || (isObject(member) && member.type === 'null'))
}

function bodyText (value: unknown): string | undefined | Refusal {
  if (value === undefined) return undefined
  return jsonText(value) ?? { refusal: 'The arguments are nested too deeply' }
}

/** JSON.stringify recurses, so a value nested some thousand levels deep, which JSON.parse takes, overflows the stack. */
function jsonText (value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

function headersFor (tool: Tool, { headers, forwardHeaders }: Caller, hasBody: boolean): Record<string, string> {
  const out: Record<string, string> = { accept: ACCEPT }
  const host = headers.host ?? headers[':authority']
  if (typeof host === 'string') out.host = host
  // There are fewer headers than names, so it is quicker to go through those.
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && (IDENTITY.has(name) || forwardHeaders.has(name))) out[name] = typeof value === 'string' ? value : value.join(', ')
  }
  if (tool.version !== undefined) out['accept-version'] = tool.version
  if (hasBody) out['content-type'] = 'application/json'
  return out
}

export function isRefusal (value: InnerRequest | Refusal): value is Refusal {
  return 'refusal' in value
}
