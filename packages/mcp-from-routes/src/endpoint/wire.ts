import type { IncomingHttpHeaders } from 'node:http'
import { attempt } from '../attempt.ts'
import { isObject } from '../tool/json-schema.ts'
import type { Era } from '../types.ts'

/** A `tools/list` or `tools/call` request in which nothing is left to check. */
export type DirectMessage = { readonly era: Era, readonly id: string | number } & (
  | { readonly method: 'tools/list', readonly cursor: string | undefined }
  | { readonly method: 'tools/call', readonly name: string, readonly args: Readonly<Record<string, unknown>>, readonly progressToken: string | number | undefined }
)

/** Whether the SDK takes this `_meta` of a request for that of the newest revision. */
export type IsEnvelope = (meta: Readonly<Record<string, unknown>>) => boolean

export const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion'
const NEWEST = '2026-07-28'
const OLDER = new Set(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])
/** Of the `_meta` of a request, what does not belong to the envelope. */
const PER_REQUEST = new Set(['baggage', 'progressToken', 'traceparent', 'tracestate'])
const MESSAGE = new Set(['id', 'jsonrpc', 'method', 'params'])
const LIST_PARAMS = new Set(['_meta', 'cursor'])
const CALL_PARAMS = new Set(['_meta', 'arguments', 'name'])
const NO_META = {}
const NO_ARGUMENTS = {}

/**
 * Reads a message that can be answered without the SDK.
 * @returns undefined for every other message, well formed or not: the SDK knows what to say to it
 */
export function directMessage (body: unknown, headers: IncomingHttpHeaders, isEnvelope: IsEnvelope): DirectMessage | undefined {
  if (!isObject(body) || body.jsonrpc !== '2.0' || !onlyHas(body, MESSAGE) || !isJson(headers['content-type'])) return undefined
  const { id, method, params = NO_META } = body
  if ((typeof id !== 'string' && !Number.isSafeInteger(id)) || !isObject(params)) return undefined
  const meta = params._meta ?? NO_META
  if (!isObject(meta)) return undefined
  const era = eraOf(meta, headers, isEnvelope)
  if (era === undefined || (era === 'modern' && headers['mcp-method'] !== method)) return undefined
  if (method === 'tools/list') {
    const { cursor } = params
    if (!onlyHas(params, LIST_PARAMS) || (cursor !== undefined && typeof cursor !== 'string')) return undefined
    return { era, id: id as string | number, method, cursor }
  }
  if (method !== 'tools/call') return undefined
  const { name, arguments: args = NO_ARGUMENTS } = params
  const progressToken = meta.progressToken as string | number | undefined
  if (!onlyHas(params, CALL_PARAMS) || typeof name !== 'string' || !isObject(args)) return undefined
  if (era === 'modern' && headers['mcp-name'] !== name) return undefined
  return { era, id: id as string | number, method, name, args, progressToken }
}

/** The era of a message whose `_meta` and version header agree. */
function eraOf (meta: Readonly<Record<string, unknown>>, headers: IncomingHttpHeaders, isEnvelope: IsEnvelope): Era | undefined {
  const version = headers['mcp-protocol-version']
  const { progressToken } = meta
  if (progressToken !== undefined && typeof progressToken !== 'string' && !Number.isSafeInteger(progressToken)) return undefined
  if (version === NEWEST) return meta[PROTOCOL_VERSION] === NEWEST && isEnvelope(meta) ? 'modern' : undefined
  if (version !== undefined && !OLDER.has(String(version))) return undefined
  // Only this marks a message of the newest revision; clients and their tracers may add other keys.
  return PROTOCOL_VERSION in meta ? undefined : 'legacy'
}

function onlyHas (object: Readonly<Record<string, unknown>>, names: ReadonlySet<string>): boolean {
  for (const name in object) if (!names.has(name)) return false
  return true
}

function isJson (contentType: string | undefined): boolean {
  return contentType === 'application/json' || /^application\/json\s*(;|$)/i.test(contentType ?? '')
}

/**
 * Caches the results of an expensive check. Clients send the same envelope with every message. What an envelope is
 * remains for the SDK to decide.
 */
export function rememberedEnvelopes (check: IsEnvelope, capacity = 256): IsEnvelope {
  const known = new Map<string, boolean>()
  return (meta) => {
    const key = keyOf(meta)
    if (key === undefined) return false
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    const answer = check(meta)
    // A client that changes its envelope with every message, or sends a huge one, gains nothing and takes no memory.
    if (known.size >= capacity) known.clear()
    if (key.length <= 2048) known.set(key, answer)
    return answer
  }
}

/** Undefined for what is nested some thousand levels deep, which JSON.parse takes and JSON.stringify does not. */
function keyOf (meta: Readonly<Record<string, unknown>>): string | undefined {
  return attempt(() => JSON.stringify(Object.entries(meta).filter(([name]) => !PER_REQUEST.has(name))))
}

/** What a client accepts: `Accept` decides, and one that says nothing of either takes JSON. */
export function acceptedForm (accept: string | undefined): 'json' | 'stream' | undefined {
  if (accept === undefined || accept === 'application/json, text/event-stream') return 'json'
  if (/(application\/(json|\*)|\*\/\*)/i.test(accept)) return 'json'
  return /text\/(event-stream|\*)/i.test(accept) ? 'stream' : undefined
}

/** The revision that took batches out of the protocol. */
const WITHOUT_BATCHES = '2025-06-18'

/**
 * Why an array of messages is not answered. One request of HTTP, which is what a host counts and limits, must not be
 * many calls of tools.
 * @param version - the header `mcp-protocol-version`
 * @returns undefined when the SDK may answer it
 */
export function batchRefusal (messages: readonly unknown[], version: string | undefined): string | undefined {
  if (version !== undefined && version >= WITHOUT_BATCHES) return `Invalid Request: revision ${WITHOUT_BATCHES} and later have no batches`
  const tools = messages.filter((message) => isObject(message) && typeof message.method === 'string' && message.method.startsWith('tools/'))
  return tools.length > 1 ? 'Invalid Request: a batch may hold one request for tools' : undefined
}
