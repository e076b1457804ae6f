import { maxHeaderSize, type IncomingHttpHeaders } from 'node:http'
import { excerpt } from './excerpt.ts'
import { IN_URL, isTyped, structureIn, takesNull, typedValue, type Problem, type Reading } from './typed.ts'
import { addToQuery, jsonText, TOO_LARGE } from './query-string.ts'
import type { ToolInput } from '../tool/input.ts'
import type { Input } from '../tool/overrides.ts'
import { pathFromParts, REST } from '../tool/path.ts'
import { isPlainRest, NOT_PLAIN } from './rest.ts'
import { ANYTHING, type Plan } from '../schema/plan.ts'
import { choosingArguments } from '../tool/definition.ts'
import type { Tool } from '../model.ts'
import type { InnerRequest } from '../types.ts'

/** Why a call cannot become a request, in words for the model. */
export interface Refusal {
  readonly refusal: string
}

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
/** How many unknown arguments an error names. */
const MAX_NAMES = 10
const SURROGATE = /\p{Surrogate}/u

/**
 * Builds the request of one tool call. The route's own validation checks constraints, and types where it converts
 * nothing. Only what it would never see is rejected here: unknown names, values that would change the path, and values
 * that would arrive as others.
 */
export function requestFromCall (
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  caller: Caller
): InnerRequest | Refusal {
  const { places, inputs } = tool.request.input
  for (const name in args) if (!places.has(name) && !tool.request.ignored.has(name)) return refused(tool, args, caller)
  const params = new Map<string, string>()
  const query: string[] = []
  const fields: Record<string, unknown> = {}
  let lines: Record<string, string> | undefined
  for (const { place, name, argument, value: fixed } of inputs) {
    const given = argument === undefined || !Object.hasOwn(args, argument) ? undefined : args[argument]
    const own = given === undefined ? undefined : argumentValue(tool, place, argument!, given)
    const value = argument === undefined ? fixed : own
    if (value instanceof Unsendable) return refused(tool, args, caller)
    if (value === undefined) {
      if (place === 'path' && !isOptional(tool, name)) return refused(tool, args, caller)
    } else if (place === 'path') {
      const text = pathValue(name, value, caller.maxParamLength)
      if (typeof text !== 'string') return refused(tool, args, caller)
      params.set(name, text)
    } else if (place === 'query') {
      if (addToQuery(query, name, value, tool.request.shapes.get(name), tool.request.queryParser) !== undefined) {
        return refused(tool, args, caller)
      }
    } else if (place === 'body') {
      fields[name] = value
    } else if (value !== null || tool.request.required.has(argument!)) {
      const text = headerValue(value)
      if (typeof text !== 'string') return refused(tool, args, caller)
      lines = { ...lines, [name]: text }
    }
  }
  const sent = sentOf(tool.request.input, fields)
  const body = sent === undefined ? undefined : bodyText(sent)
  if (typeof body === 'object') return body
  const path = pathFromParts(tool.request.path, params)
  const headers = headersFor(tool, caller, body !== undefined)
  return {
    method: tool.public.route.method,
    url: query.length === 0 ? path : `${path}?${query.join('&')}`,
    params,
    headers: lines === undefined ? headers : Object.assign(headers, lines),
    body,
    sent: tool.request.hasUnions ? sent : undefined
  }
}

/** The body, before it is written. */
function sentOf ({ body }: ToolInput, fields: Readonly<Record<string, unknown>>): unknown {
  if (body === 'none') return undefined
  return body === 'whole' ? fields.body : fields
}

/**
 * The arguments as the route gets them: those of the body as their schema has them, and without those that the client
 * added for itself. For a person who is asked about them.
 */
export function argumentsAsRead (
  tool: Tool,
  args: Readonly<Record<string, unknown>>
): Readonly<Record<string, unknown>> | Unsendable {
  const all: Array<readonly [string, unknown]> = []
  for (const [name, value] of Object.entries(args)) {
    const place = tool.request.input.places.get(name)
    const read = place === undefined ? value : argumentValue(tool, place, name, value)
    if (read instanceof Unsendable) return read
    if (read !== undefined && !tool.request.ignored.has(name)) all.push([name, read])
  }
  return Object.fromEntries(all)
}

/**
 * All that is wrong with arguments before the route sees them, so that a model need not find one thing after another.
 * Also what is missing in the query string and the body: the route would say so, but no longer gets the call.
 */
export function problemsOf (
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  { maxParamLength }: Pick<Caller, 'maxParamLength'>
): readonly string[] {
  const problems = new Set<string>()
  const unknown = Object.keys(args).filter((name) =>
    !tool.request.input.places.has(name) && !tool.request.ignored.has(name)
  )
  if (unknown.length > 0) problems.add(unknownArguments(unknown, tool))
  for (const input of tool.request.input.inputs) {
    const problem = problemOf(tool, input, args, maxParamLength)
    if (problem !== undefined) problems.add(problem)
  }
  return [...problems]
}

function problemOf (
  tool: Tool,
  { place, name, argument, value: fixed }: Input,
  args: Readonly<Record<string, unknown>>,
  maxParamLength: number
): string | undefined {
  // Errors name the argument; a fixed value has none.
  const label = argument ?? name
  const given = argument === undefined || !Object.hasOwn(args, argument) ? undefined : args[argument]
  if (argument !== undefined && given === undefined) {
    return tool.request.required.has(argument)
      ? `${label} is missing`
      : undefined
  }
  const value = argument === undefined ? fixed : argumentValue(tool, place, argument, given)
  if (value instanceof Unsendable) return value.refusal
  if (place === 'body') return undefined
  if (place === 'header' && value === null && !tool.request.required.has(label)) return undefined
  const problem = place === 'query'
    ? addToQuery([], name, value, tool.request.shapes.get(name), tool.request.queryParser)
    : problemIn(place === 'path' ? pathValue(name, value, maxParamLength) : headerValue(value))
  return problem === undefined ? undefined : `${label} ${problem}`
}

function problemIn (read: string | Problem): string | undefined {
  return typeof read === 'string' ? undefined : read.problem
}

function refused (tool: Tool, args: Readonly<Record<string, unknown>>, caller: Caller): Refusal {
  return { refusal: problemsOf(tool, args, caller).join('\n') }
}

/** In place of an argument that would arrive as another one. */
export class Unsendable implements Refusal {
  readonly refusal: string

  constructor (refusal: string) {
    this.refusal = refusal
  }
}

/** The value to send for an argument; undefined if that is none. */
function argumentValue ({ request }: Tool, place: Input['place'], argument: string, value: unknown): unknown {
  const { bodyReading } = request
  const plan = request.plans.get(argument) ?? ANYTHING
  if (place === 'body') {
    if (isTyped(plan, value, bodyReading)) return value
    if (value === null && bodyReading.coerces && !request.required.has(argument) && !takesNull(plan)) return undefined
    return typed(plan, value, argument, bodyReading)
  }
  const read = place === 'query' && typeof value === 'string' ? structureIn(plan, value) ?? value : value
  return isTyped(plan, read, IN_URL) ? read : typed(plan, read, argument, IN_URL)
}

function typed (plan: Plan, value: unknown, argument: string, reading: Reading): unknown {
  const read = typedValue(plan, value, argument, reading)
  return 'problem' in read ? new Unsendable(read.problem) : read.value
}

function unknownArguments (unknown: readonly string[], { request: { input: { places } }, part }: Tool): string {
  const names = [
    ...unknown.slice(0, MAX_NAMES).map((name) => JSON.stringify(excerpt(name))),
    ...unknown.length > MAX_NAMES ? ['…'] : []
  ].join(', ')
  const taken = [...places.keys(), ...choosingArguments(part)]
  const takes = taken.length === 0 ? 'This tool takes no arguments' : `This tool takes ${taken.join(', ')}`
  return `Unknown argument${unknown.length > 1 ? 's' : ''} ${names}. ${takes}`
}

function isOptional (tool: Tool, name: string): boolean {
  return tool.request.path.some((part) => 'param' in part && part.param === name && part.optional)
}

/**
 * URL parsers remove dot segments, encoded or not, which would lead to another route.
 *
 * @param maxLength - in characters; the router does not measure the rest of a path
 */
function pathValue (name: string, value: unknown, maxLength: number): string | Problem {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    return { problem: 'must be a string, a number or a boolean' }
  }
  const text = String(value)
  if (text === '') return { problem: 'must not be empty' }
  if (SURROGATE.test(text)) return { problem: 'is not valid Unicode' }
  if (name === REST) return isPlainRest(text) ? text : { problem: NOT_PLAIN }
  if (text === '.' || text === '..') return { problem: `must not be "${text}"` }
  if (text.length > maxLength) return { problem: `must not be longer than ${maxLength} characters` }
  return text
}

/** A value of a header, whose spaces at either end no recipient would see. */
const FIELD_VALUE = /^[\u0021-\u007e\u0080-\u00ff](?:[\t\u0020-\u007e\u0080-\u00ff]*[\u0021-\u007e\u0080-\u00ff])?$/

/**
 * The value as a header holds it. One with a line break would be several headers, and many routes take an empty one for
 * none, such as the condition of an If-Match.
 *
 * @see [RFC 9110 §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)
 */
function headerValue (value: unknown): string | Problem {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    return { problem: 'must be a string, a number or a boolean' }
  }
  const text = String(value)
  if (text === '') return { problem: 'must not be empty' }
  // A request from outside could not have a longer one.
  if (text.length > maxHeaderSize) return { problem: `must not be longer than ${maxHeaderSize} characters` }
  if (!FIELD_VALUE.test(text)) {
    return { problem: 'must be one line of Latin characters, without a space at either end: it is sent as a header' }
  }
  return text
}

function bodyText (value: unknown): string | undefined | Refusal {
  if (value === undefined) return undefined
  return jsonText(value) ?? { refusal: `The arguments hold ${TOO_LARGE}` }
}

type Headed = Pick<Tool, 'request' | 'streams'>

/** @param tool - the headers that its route needs beside the caller's own; undefined for a route that is not a tool */
export function headersFor (tool: Headed | undefined, caller: Omit<Caller, 'maxParamLength'>, hasBody: boolean) {
  const { headers, forwardHeaders } = caller
  const out: Record<string, string> = { accept: tool?.streams === true ? ACCEPT_STREAM : ACCEPT }
  const host = headers.host ?? headers[':authority']
  if (typeof host === 'string') out.host = host
  // A request has fewer headers than there are names, so iterate over the headers.
  for (const name in headers) {
    if (!forwardHeaders.has(name)) continue
    const value = headers[name]
    if (value !== undefined) out[name] = typeof value === 'string' ? value : value.join(', ')
  }
  for (const name in tool?.request.headers) out[name] = tool.request.headers[name] as string
  if (hasBody) out['content-type'] = 'application/json'
  return out
}

export function isRefusal (value: InnerRequest | Refusal): value is Refusal {
  return 'refusal' in value
}
