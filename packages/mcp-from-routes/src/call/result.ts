import { isUtf8 } from 'node:buffer'
import { maxHeaderSize, STATUS_CODES } from 'node:http'
import { attempt } from '../attempt.ts'
import { withBeside } from './beside.ts'
import { inArgumentNames } from './spoken.ts'
import { statusText } from './status.ts'
import { isTooDeep } from '../depth.ts'
import { narrowingArguments } from '../tool/definition.ts'
import { isObject } from '../schema/json-schema.ts'
import { isAsPromised, isDeclared, isStreamed } from '../tool/output.ts'
import type { Content, Json, Tool, ToolResult } from '../model.ts'
import type { InnerResponse } from '../types.ts'

/** What a result needs to know of its call. */
export interface CallContext {
  /** The id of the outer request, given to the caller when the route fails. */
  readonly requestId: string
  /** The URL of the inner request, naming what a binary answer holds. */
  readonly url: () => string
  /** Names in lower case. */
  readonly resultHeaders: readonly string[]
  /** Bytes. */
  readonly maxResultBytes: number
  /** What is said of the call where it may or may not have been carried out. */
  readonly open: string
}

const MAX_ERROR_LENGTH = 4000
/**
 * The status of a route whose precondition does not hold. Its body may have the record as it is now, which the caller
 * needs whole.
 *
 * @see [RFC 9110 §15.5.13](https://www.rfc-editor.org/rfc/rfc9110#section-15.5.13)
 */
const CHANGED = 412
/** Fields of an error body that may repeat its message, and fields that may repeat the status. */
const SAYING = new Set(['code', 'detail', 'error', 'message', 'title'])
const STATUS = new Set(['status', 'statusCode'])

/** Turns the route's response into the result of the call. */
export function resultFromResponse (tool: Tool, response: InnerResponse, context: CallContext): ToolResult {
  const { statusCode } = response
  const headers = headersOf(response, context)
  if (statusCode >= 500) {
    return {
      ...errorResult(
        `The route failed with status ${statusText(statusCode)}.${context.open} The request id is ` +
          `${context.requestId}.`,
        headers
      ),
      statusCode
    }
  }
  if (statusCode >= 400) {
    const most = statusCode === CHANGED ? context.maxResultBytes : MAX_ERROR_LENGTH
    return { ...errorResult(clientError(tool, response), headers, most), statusCode, ...challengeOf(response) }
  }
  if (statusCode >= 300) return { ...errorResult(redirected(response, context), headers), statusCode }
  if (Buffer.byteLength(response.body) > context.maxResultBytes) return overLimit(tool, response, context)
  const json = tool.output === undefined || isDeclared(tool.output, statusCode, mediaType(response))
    ? jsonOf(response)
    : undefined
  const isBroken = json !== undefined && tool.output !== undefined && !isAsPromised(tool.output, json.value)
  if (json !== undefined && !isBroken) {
    return withHeaders({
      content: [{ type: 'text', text: json.text }],
      structured: structuredFrom(tool, json, headers),
      statusCode
    }, headers)
  }
  const content = contentOf(response, context)
  if (tool.output === undefined) return withHeaders({ content, statusCode }, headers)
  // Clients discard a success without the promised JSON, so it is sent as an error that says that the call succeeded.
  const what = response.body.length === 0 ? 'no body' : mediaType(response) || 'a body without a content type'
  const why = isBroken ? MISFIT : UNDECLARED
  const unpromised = `The call succeeded, so do not repeat it. The route answered ${
    statusText(statusCode)
  } with ${what}${why}`
  return withHeaders({
    content: [{ type: 'text', text: unpromised }, ...content],
    isError: true,
    isUnpromised: true,
    statusCode
  }, headers)
}

const MISFIT = ' that does not fit its response schema.'
const UNDECLARED = ', for which it has no 2xx response schema.'

/** Whether the first text of a result says that the route's response was not as its schemas promise. */
export function saysUnpromised (text: string): boolean {
  return text.startsWith('The call succeeded') && (text.endsWith(MISFIT) || text.endsWith(UNDECLARED))
}

/**
 * A result that says what went wrong, for the model to act on.
 * @param most - characters of the text
 */
export function errorResult (text: string, headers?: Record<string, string>, most = MAX_ERROR_LENGTH): ToolResult {
  return withHeaders({ content: [{ type: 'text', text: cutOff(text, most) }], isError: true }, headers)
}

/** The error that a model reads in a result, at most about 4,000 characters of it; undefined if there is none. */
export function errorTextOf ({ isError, content: [first] }: ToolResult): string | undefined {
  return isError === true && first?.type === 'text' ? cutOff(first.text, MAX_ERROR_LENGTH + 1) : undefined
}

function cutOff (text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}

/** The result as a client reads it. */
export function resultFor (
  { structured, statusCode, isUnpromised, challenge, answer, ...result }: ToolResult
): Record<string, unknown> {
  return structured === undefined ? result : { ...result, structuredContent: structured.value }
}

/** Structured content is an object in every revision, so other JSON is wrapped. */
function structuredFrom (tool: Tool, json: Json, headers: Readonly<Record<string, string>> | undefined): Json {
  const structured = tool.output?.wrapped !== true && isObject(json.value)
    ? json
    : { text: `{"result":${json.text}}`, value: { result: json.value } }
  return headers === undefined ? structured : withBeside(structured, tool, 'headers', headers)
}

function withHeaders (result: ToolResult, headers: Record<string, string> | undefined): ToolResult {
  if (headers === undefined) return result
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return {
    ...result,
    content: [...result.content, { type: 'text', text: lines.join('\n') }],
    _meta: { 'mcp-from-routes/headers': headers }
  }
}

/** Whole, or not at all: a part of a URL or of an ETag is none. Node.js reads none that is longer from a network. */
function headersOf ({ headers }: InnerResponse, { resultHeaders }: CallContext): Record<string, string> | undefined {
  let kept: Record<string, string> | undefined
  for (const name of resultHeaders) {
    const value = headers[name]
    if (value === undefined) continue
    const text = Array.isArray(value) ? value.join(', ') : String(value)
    if (text.length <= maxHeaderSize && SENDABLE.test(text)) kept = { ...kept, [name]: text }
  }
  return kept
}

/**
 * What Node.js sends as the value of a header. An inner response never passes through its check, and a line break would
 * look like the next header.
 *
 * @see [RFC 9110 §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)
 */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/

/** The media type of a response in small letters, without parameters; empty if it has none. */
export function mediaType (response: Pick<InnerResponse, 'headers'>): string {
  return contentTypeOf(response).mediaType
}

interface ContentType {
  readonly header: unknown
  readonly mediaType: string
  readonly isJson: boolean
}

let last: ContentType = { header: '', mediaType: '', isJson: false }

/** Nearly all responses have the header of the one before, and a comparison costs a tenth of reading it. */
function contentTypeOf ({ headers }: Pick<InnerResponse, 'headers'>): ContentType {
  const header = headers['content-type'] ?? ''
  if (header === last.header) return last
  const mediaType = String(header).replace(/;.*/s, '').trim().toLowerCase()
  last = { header, mediaType, isJson: /[/+]json$/.test(mediaType) }
  return last
}

function challengeOf ({ statusCode, headers }: InnerResponse): Pick<ToolResult, 'challenge'> {
  const authenticate = String(headers['www-authenticate'] ?? '')
  // Any other 403 must not reach the client as HTTP status: it would sign in again in vain, and drop the server.
  const isChallenge = statusCode === 401
    ? authenticate !== ''
    : statusCode === 403 && /\berror="?insufficient_scope\b/.test(authenticate)
  return isChallenge ? { challenge: { statusCode, authenticate } } : {}
}

/** The JSON of a response; undefined if it says that it is none, or is none. */
export function jsonOf (response: InnerResponse): Json | undefined {
  if (!contentTypeOf(response).isJson) return undefined
  const text = String(response.body)
  try {
    // Readers of JSON may ignore a byte order mark (RFC 8259 §8.1), but JSON.parse does not.
    return jsonIn(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch {
    return undefined
  }
}

function jsonIn (text: string): Json {
  return { text, value: JSON.parse(text) }
}

function contentOf (response: InnerResponse, { url }: CallContext): Content[] {
  const { statusCode, body } = response
  const mimeType = mediaType(response)
  const base64 = (): string => Buffer.from(body as string).toString('base64')
  if (body.length === 0) {
    return [{ type: 'text', text: `${statusText(statusCode)}: done, and there is nothing to return.` }]
  }
  if (mimeType.startsWith('image/') && mimeType !== 'image/svg+xml') {
    return [{ type: 'image', data: base64(), mimeType }]
  }
  if (mimeType.startsWith('audio/')) return [{ type: 'audio', data: base64(), mimeType }]
  const text = isTextual(mimeType) ? decoded(response) : undefined
  if (text !== undefined) return [{ type: 'text', text }]
  return [{
    type: 'resource',
    resource: { uri: url(), mimeType: mimeType || 'application/octet-stream', blob: base64() }
  }]
}

/**
 * The text of a response, in the encoding that its `Content-Type` names, or UTF-8. ASCII in two bytes a character would
 * pass for UTF-8 too.
 * @returns undefined if the bytes are no text in that encoding, or nobody knows it
 */
export function decoded ({ headers, body }: Pick<InnerResponse, 'headers' | 'body'>): string | undefined {
  if (typeof body === 'string') return body
  const charset = CHARSET.exec(String(headers['content-type'] ?? ''))?.[1]?.toLowerCase() ?? 'utf-8'
  if (charset === 'utf-8') return isUtf8(body) ? body.toString() : undefined
  const label = charset === 'utf-16' && body[0] === 0xfe && body[1] === 0xff ? 'utf-16be' : charset
  return attempt(() => new TextDecoder(label, { fatal: true }).decode(body))
}

/** @see [RFC 9110 §8.3.2](https://www.rfc-editor.org/rfc/rfc9110#section-8.3.2) */
const CHARSET = /;\s*charset="?([\w.:-]{1,40})/i

const TEXTUAL = /^text\/|[/+](json|xml|yaml|javascript)$|^application\/x-www-form-urlencoded$/

/** Whether a response of that media type is text; without a type it is. */
export function isTextual (mimeType: string): boolean {
  return mimeType === '' || TEXTUAL.test(mimeType) || isStreamed(mimeType)
}

function overLimit (tool: Tool, response: InnerResponse, context: CallContext): ToolResult {
  return { ...errorResult(tooLarge(tool, response, context)), statusCode: response.statusCode }
}

function tooLarge (
  tool: Tool,
  { body, cut, statusCode }: InnerResponse,
  { maxResultBytes, open }: CallContext
): string {
  const size =
    `The result has ${cut ? 'at least ' : ''}${Buffer.byteLength(body)} bytes, more than the ${maxResultBytes} ` +
    'that one call may return.'
  // A stream that was cut off may not have come to its end.
  if (open !== '') {
    return cut
      ? `${size}${open}`
      : `The call succeeded, so do not repeat it. The route answered ${statusText(statusCode)}. ${size}`
  }
  const names = narrowingArguments(tool)
  return `${size} ` +
    `${names.length === 0 ? 'This tool has no argument that narrows it.' : `Narrow it with ${names.join(', ')}.`}`
}

/** A redirect is an error: as a success it would look like the route's result. */
function redirected ({ statusCode, headers: { location } }: InnerResponse, { open }: CallContext): string {
  const where = location === undefined ? 'and nothing else' : `and points to ${String(location)}, which is not followed`
  return `The route answered ${statusText(statusCode)}${location === undefined ? ',' : ''} ${where}.${open}`
}

/** `422 Unprocessable Entity: name must be string`, and the rest of the route's error body. */
function clientError (tool: Tool, response: InnerResponse): string {
  const status = statusText(response.statusCode)
  const body = jsonOf(response)?.value
  const type = mediaType(response)
  // Pages are for people: their markup says little else.
  const text = isTextual(type) && type !== 'text/html' ? decoded(response) ?? '' : ''
  if (!isObject(body)) return spoken(tool, `${status}${text === '' ? unmet(tool, response) : `: ${text}`}`)
  const { sentence, more } = saidIn(body, response.statusCode)
  const rest = more === undefined ? '' : `\n${more}`
  // A record is shown as it is, and may have words like those of a validator.
  return response.statusCode === CHANGED
    ? spoken(tool, status + sentence) + rest
    : spoken(tool, status + sentence + rest)
}

function spoken ({ request }: Tool, said: string): string {
  // The end is cut off later, so it need not be processed.
  return inArgumentNames(request.input, said.slice(0, 2 * MAX_ERROR_LENGTH))
}

/** What a 412 without a body says of the arguments that are conditions. */
function unmet ({ request: { input } }: Tool, { statusCode }: InnerResponse): string {
  const conditions = input.inputs.flatMap(({ place, name, argument }) =>
    place === 'header' && name.startsWith('if-') ? argument ?? [] : []
  )
  return statusCode !== CHANGED || conditions.length === 0
    ? ''
    : `: ${conditions.join(' or ')} does not hold. Read the record again before you decide what to do`
}

/** `: taken (E_TAKEN)`, and the rest of the body. */
function saidIn (
  body: Record<string, unknown>,
  statusCode: number
): { readonly sentence: string, readonly more: string | undefined } {
  if (statusCode === CHANGED && ['detail', 'error', 'message'].every((name) => body[name] === undefined)) {
    // The record itself, whose title or code says nothing of an error.
    return { sentence: '', more: isTooDeep(body) ? undefined : JSON.stringify(body) }
  }
  const inner = isObject(body.error) ? body.error : {}
  const message = [body.message, body.detail, body.title, inner.message, inner.detail, inner.title, body.error].find((
    value
  ) => textsOf(value) !== undefined)
  const code = [body.code, inner.code].find((value) =>
    (typeof value === 'string' && value !== '') || typeof value === 'number'
  )
  const said = new Set([message, code, STATUS_CODES[statusCode]])
  const more = isTooDeep(body) ? undefined : JSON.stringify(unsaid(body, said, statusCode))
  const sentence = `${message === undefined ? '' : `: ${textsOf(message)}`}${code === undefined ? '' : ` (${code})`}`
  return { sentence, more }
}

/** A string, or several joined into one. */
function textsOf (value: unknown): string | undefined {
  const texts = [value].flat()
  return texts.length > 0 && texts.every((text) => typeof text === 'string' && text !== '')
    ? texts.join('; ')
    : undefined
}

/** The part of an error body that its message does not say; undefined if it says everything. */
function unsaid (
  body: Record<string, unknown>,
  said: ReadonlySet<unknown>,
  statusCode: number
): Record<string, unknown> | undefined {
  const more: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(body)) {
    const left = key === 'error' && isObject(value) ? unsaid(value, said, statusCode) : value
    const isSaid = left === undefined || (SAYING.has(key) && said.has(left)) ||
      (STATUS.has(key) && Number(left) === statusCode)
    // In RFC 9457, the type `about:blank` means nothing.
    if (!isSaid && !(key === 'type' && left === 'about:blank')) more[key] = left
  }
  return Object.keys(more).length === 0 ? undefined : more
}

export type { ToolResult } from '../model.ts'
