import type { IncomingHttpHeaders } from 'node:http'
import { isTooDeep } from '../depth.ts'
import { isObject } from '../schema/json-schema.ts'
import { PROTOCOL_VERSIONS, type Era } from '../types.ts'

/** Of a JSON object. */
type Members = Readonly<Record<string, unknown>>

interface Message {
  readonly era: Era
  readonly id: string | number
}
/** A `tools/list` request, fully checked. */
export interface ListMessage extends Message {
  readonly method: 'tools/list'
  readonly cursor: string | undefined
}
/** A `tools/call` request, fully checked. */
export interface CallMessage extends Message {
  readonly method: 'tools/call'
  readonly name: string
  readonly args: Members
  readonly progressToken: string | number | undefined
}
/** A request that can be answered without the SDK. */
export type DirectMessage = ListMessage | CallMessage

/** Whether the SDK accepts this `_meta` as that of the newest revision. */
export type IsEnvelope = (meta: Members) => boolean

export const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion'
const [NEWEST, ...older] = PROTOCOL_VERSIONS
const OLDER: ReadonlySet<string> = new Set(older)
/**
 * The prefix of the envelope's members. Other members of `_meta` are the client's own, and often differ with every
 * call.
 */
const ENVELOPE = 'io.modelcontextprotocol/'
const MESSAGE = new Set(['id', 'jsonrpc', 'method', 'params'])
const LIST_PARAMS = new Set(['_meta', 'cursor'])
const CALL_PARAMS = new Set(['_meta', 'arguments', 'name'])
const NOTHING = {}

/**
 * Reads a message that can be answered without the SDK.
 * @returns undefined for every other message, well formed or not: the SDK answers those
 */
export function directMessage (
  body: unknown,
  headers: IncomingHttpHeaders,
  isEnvelope: IsEnvelope
): DirectMessage | undefined {
  if (!isObject(body) || body.jsonrpc !== '2.0' || !onlyHas(body, MESSAGE) || !isJson(headers['content-type'])) {
    return undefined
  }
  const { id, method, params = NOTHING } = body
  if (!isId(id) || !isObject(params)) return undefined
  const { _meta: meta = NOTHING } = params
  if (!isObject(meta) || isTooDeep(meta) || (meta.progressToken !== undefined && !isId(meta.progressToken))) {
    return undefined
  }
  const era = eraOf(meta, headers, isEnvelope)
  if (era === undefined || (era === 'modern' && headers['mcp-method'] !== method)) return undefined
  if (method === 'tools/list') return listMessage(era, id, params)
  return method === 'tools/call' ? callMessage(era, id, params, meta, headers) : undefined
}

function isId (value: unknown): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

/** The era of a message whose `_meta` and version header agree. */
function eraOf (meta: Members, headers: IncomingHttpHeaders, isEnvelope: IsEnvelope): Era | undefined {
  const version = headers['mcp-protocol-version']
  if (version === NEWEST) return meta[PROTOCOL_VERSION] === NEWEST && isEnvelope(meta) ? 'modern' : undefined
  if (version !== undefined && !OLDER.has(String(version))) return undefined
  // Only this marks a message of the newest revision; clients and their tracers may add other keys.
  return PROTOCOL_VERSION in meta ? undefined : 'legacy'
}

function listMessage (era: Era, id: string | number, params: Members): ListMessage | undefined {
  const { cursor } = params
  return onlyHas(params, LIST_PARAMS) && (cursor === undefined || typeof cursor === 'string')
    ? { era, id, method: 'tools/list', cursor }
    : undefined
}

function callMessage (
  era: Era,
  id: string | number,
  params: Members,
  meta: Members,
  headers: IncomingHttpHeaders
): CallMessage | undefined {
  const { name, arguments: args = NOTHING } = params
  if (!onlyHas(params, CALL_PARAMS) || typeof name !== 'string' || !isObject(args)) return undefined
  if (era === 'modern' && headers['mcp-name'] !== name) return undefined
  return {
    era,
    id,
    method: 'tools/call',
    name,
    args,
    progressToken: meta.progressToken as string | number | undefined
  }
}

function onlyHas (object: Members, names: ReadonlySet<string>): boolean {
  for (const name in object) if (!names.has(name)) return false
  return true
}

/** Whether a content type is JSON. */
export function isJson (contentType: string | undefined): boolean {
  return contentType === 'application/json' || /^application\/json\s*(;|$)/i.test(contentType ?? '')
}

/**
 * Caches the results of an expensive check. Clients send the same envelope with every message, among members of `_meta`
 * that differ. The SDK decides what an envelope is; the check sees only the members that are part of the cache key.
 */
export function rememberedEnvelopes (check: IsEnvelope, capacity = 256): IsEnvelope {
  const known = new Map<string, boolean>()
  let last: { readonly envelope: Members, readonly answer: boolean } | undefined
  return (meta) => {
    const envelope = envelopeOf(meta)
    // Comparing takes a third of the time of making a key, and messages of one client come in a row.
    if (last !== undefined && isSame(envelope, last.envelope)) return last.answer
    const key = JSON.stringify(envelope)
    const answer = known.get(key) ?? check(envelope)
    // Do not cache a huge envelope: a client could fill the memory.
    if (key.length > 2048) return answer
    if (known.size >= capacity && !known.has(key)) known.clear()
    known.set(key, answer)
    last = { envelope, answer }
    return answer
  }
}

/** Whether two values that JSON.parse made are the same. */
function isSame (a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isObject(a) || !isObject(b)) return false
  for (const name in a) if (!Object.hasOwn(b, name) || !isSame(a[name], b[name])) return false
  for (const name in b) if (!Object.hasOwn(a, name)) return false
  return true
}

function envelopeOf (meta: Members): Members {
  const envelope: Record<string, unknown> = {}
  for (const name in meta) if (name.startsWith(ENVELOPE)) envelope[name] = meta[name]
  return envelope
}

/** The form that a client accepts, by its `Accept` header; JSON if it sends none. */
export function acceptedForm (accept: string | undefined): 'json' | 'stream' | undefined {
  if (accept === undefined || /(application\/(json|\*)|\*\/\*)/i.test(accept)) return 'json'
  return /text\/(event-stream|\*)/i.test(accept) ? 'stream' : undefined
}

/** Whether a client may get an event stream: it names that form, and may name JSON beside it. */
export function acceptsStream (accept: string | undefined): boolean {
  return accept !== undefined && /text\/event-stream/i.test(accept)
}

/** The revision that removed batches from the protocol. */
const WITHOUT_BATCHES = '2025-06-18'

/**
 * Why a batch is rejected. Hosts count and limit HTTP requests, so one request must not carry many tool calls.
 * @param version - the header `mcp-protocol-version`
 * @returns undefined when the SDK may answer it
 */
export function batchRefusal (messages: readonly unknown[], version: string | undefined): string | undefined {
  if (version !== undefined && version >= WITHOUT_BATCHES) {
    return `Invalid Request: revision ${WITHOUT_BATCHES} and later have no batches`
  }
  const calls = messages.filter((message) =>
    isObject(message) && typeof message.method === 'string' &&
    /^(?:tools|tasks|resources|skills)\//.test(message.method)
  )
  return calls.length > 1
    ? 'Invalid Request: a batch may hold one request for tools, tasks, resources or skills'
    : undefined
}
