import type { IncomingHttpHeaders } from 'node:http'
import { excerpt } from './excerpt.ts'
import { IN_URL, isTyped, structureIn, takesNull, typedValue, type Reading } from './typed.ts'
import { addToQuery, jsonText, TOO_LARGE } from './query-string.ts'
import { FIELDS_ARGUMENT } from '../tool/fields.ts'
import type { Input } from '../tool/overrides.ts'
import { pathFromParts } from '../tool/path.ts'
import { ANYTHING, type Plan } from '../tool/plan.ts'
import type { Tool } from '../tool/tool.ts'

/** The inner request that a call becomes. */
export interface InnerRequest {
  readonly method: string
  /** Path and query string. */
  readonly url: string
  /** The path parameters that the router must find in `url`. */
  readonly params: ReadonlyMap<string, string>
  readonly headers: Record<string, string>
  readonly body: string | undefined
  /** What the body says, if the route's validator may make something else of it. */
  readonly sent?: unknown
}

/** Why a call cannot become a request, in words for the model. */
export interface Refusal { readonly refusal: string }

/** What the inner request takes from the outer one. */
export interface Caller {
  readonly headers: IncomingHttpHeaders
  /** Names of the headers to copy, in lower case. */
  readonly forwardHeaders: ReadonlySet<string>
  /** The longest path parameter the router takes, in characters. */
  readonly maxParamLength: number
}

const ACCEPT = 'application/json, */*;q=0.8'
/** Of a route that declares a stream: @fastify/sse wants its media type by name. */
const ACCEPT_STREAM = 'application/json, text/event-stream, */*;q=0.8'
/** With these, a host that trusts its proxy, or reads them itself, sees the same client in the inner request. */
const IDENTITY = new Set(['forwarded', 'user-agent', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-proto', 'x-real-ip'])
/** How many unknown arguments an error names. */
const MAX_NAMES = 10
const SURROGATE = /\p{Surrogate}/u

/**
 * Builds the request of one tool call. The route's own validation checks constraints, and types where it converts nothing.
 * Only what it would never see is rejected here: unknown names, values that would change the path, and values that would
 * arrive as others.
 */
export function requestFromCall (tool: Tool, args: Readonly<Record<string, unknown>>, caller: Caller): InnerRequest | Refusal {
  const { places, inputs } = tool.input
  for (const name in args) if (!places.has(name) && !tool.ignored.has(name)) return { refusal: unknownArguments(args, tool) }
  const params = new Map<string, string>()
  const query: string[] = []
  const fields: Record<string, unknown> = {}
  for (const { place, name, argument, value: fixed } of inputs) {
    // Errors name the argument; a fixed value has none.
    const label = argument ?? name
    const given = argument === undefined || !Object.hasOwn(args, argument) ? undefined : args[argument]
    const value = argument === undefined ? fixed : given === undefined ? undefined : argumentValue(tool, place, argument, given)
    if (value instanceof Unsendable) return { refusal: value.refusal }
    if (value === undefined) {
      if (place === 'path' && !isOptional(tool, name)) return { refusal: `${label} is missing` }
    } else if (place === 'path') {
      const text = pathValue(label, value, caller.maxParamLength)
      if (typeof text !== 'string') return text
      params.set(name, text)
    } else if (place === 'query') {
      const problem = addToQuery(query, name, value, tool.shapes.get(name), tool.queryParser)
      if (problem !== undefined) return { refusal: `${label} ${problem}` }
    } else {
      fields[name] = value
    }
  }
  const sent = tool.input.body === 'none' ? undefined : tool.input.body === 'whole' ? fields.body : fields
  const body = sent === undefined ? undefined : bodyText(sent)
  if (typeof body === 'object') return body
  const path = pathFromParts(tool.path, params)
  return {
    method: tool.public.route.method,
    url: query.length === 0 ? path : `${path}?${query.join('&')}`,
    params,
    headers: headersFor(tool, caller, body !== undefined),
    body,
    ...tool.hasUnions && { sent }
  }
}

/**
 * The arguments as the route gets them: those of the body as their schema has them, and without those that the client added
 * for itself. For a person who is asked about them.
 */
export function argumentsAsRead (tool: Tool, args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | Unsendable {
  const all: Array<readonly [string, unknown]> = []
  for (const [name, value] of Object.entries(args)) {
    const place = tool.input.places.get(name)
    const read = place === undefined ? value : argumentValue(tool, place, name, value)
    if (read instanceof Unsendable) return read
    if (read !== undefined && !tool.ignored.has(name)) all.push([name, read])
  }
  return Object.fromEntries(all)
}

/** In place of an argument that would arrive as another one. */
export class Unsendable implements Refusal {
  readonly refusal: string

  constructor (refusal: string) {
    this.refusal = refusal
  }
}

/** The value to send for an argument; undefined if that is none. */
function argumentValue (tool: Tool, place: Input['place'], argument: string, value: unknown): unknown {
  const plan = tool.plans.get(argument) ?? ANYTHING
  if (place === 'body') {
    if (isTyped(plan, value, tool.bodyReading)) return value
    if (value === null && tool.bodyReading.coerces && !tool.required.has(argument) && !takesNull(plan)) return undefined
    return typed(plan, value, argument, tool.bodyReading)
  }
  const read = place === 'query' && typeof value === 'string' ? structureIn(plan, value) ?? value : value
  return isTyped(plan, read, IN_URL) ? read : typed(plan, read, argument, IN_URL)
}

function typed (plan: Plan, value: unknown, argument: string, reading: Reading): unknown {
  const read = typedValue(plan, value, argument, reading)
  return 'problem' in read ? new Unsendable(read.problem) : read.value
}

function unknownArguments (args: Readonly<Record<string, unknown>>, { input: { places }, ignored, fields }: Tool): string {
  const unknown = Object.keys(args).filter((name) => !places.has(name) && !ignored.has(name))
  const names = [...unknown.slice(0, MAX_NAMES).map((name) => JSON.stringify(excerpt(name))), ...unknown.length > MAX_NAMES ? ['…'] : []].join(', ')
  const taken = [...places.keys(), ...fields === undefined ? [] : [FIELDS_ARGUMENT]]
  const takes = taken.length === 0 ? 'This tool takes no arguments' : `This tool takes ${taken.join(', ')}`
  return `Unknown argument${unknown.length > 1 ? 's' : ''} ${names}. ${takes}`
}

function isOptional (tool: Tool, name: string): boolean {
  return tool.path.some((part) => 'param' in part && part.param === name && part.optional)
}

/** URL parsers remove dot segments, encoded or not, which would lead to another route. */
function pathValue (name: string, value: unknown, maxLength: number): string | Refusal {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return { refusal: `${name} must be a string, a number or a boolean` }
  const text = String(value)
  if (text === '') return { refusal: `${name} must not be empty` }
  if (text === '.' || text === '..') return { refusal: `${name} must not be "${text}"` }
  if (text.length > maxLength) return { refusal: `${name} must not be longer than ${maxLength} characters` }
  if (SURROGATE.test(text)) return { refusal: `${name} is not valid Unicode` }
  return text
}

function bodyText (value: unknown): string | undefined | Refusal {
  if (value === undefined) return undefined
  return jsonText(value) ?? { refusal: `The arguments hold ${TOO_LARGE}` }
}

/** @param tool - the headers that its route needs beside the caller's own; undefined for a route that is not a tool */
export function headersFor (tool: Pick<Tool, 'headers' | 'streams' | 'version'> | undefined, { headers, forwardHeaders }: Pick<Caller, 'headers' | 'forwardHeaders'>, hasBody: boolean): Record<string, string> {
  const out: Record<string, string> = { accept: tool?.streams === true ? ACCEPT_STREAM : ACCEPT }
  const host = headers.host ?? headers[':authority']
  if (typeof host === 'string') out.host = host
  // A request has fewer headers than there are names, so iterate over the headers.
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && (IDENTITY.has(name) || forwardHeaders.has(name))) out[name] = typeof value === 'string' ? value : value.join(', ')
  }
  for (const name in tool?.headers) out[name] = tool.headers[name] as string
  if (tool?.version !== undefined) out['accept-version'] = tool.version
  if (hasBody) out['content-type'] = 'application/json'
  return out
}

export function isRefusal (value: InnerRequest | Refusal): value is Refusal {
  return 'refusal' in value
}
