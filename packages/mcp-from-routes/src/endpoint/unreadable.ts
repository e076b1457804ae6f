import type { Readable } from 'node:stream'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isUtf8 } from 'node:buffer'
import { EventEmitter } from 'node:events'
import { attempt } from '../attempt.ts'
import { excerpt } from '../call/excerpt.ts'
import { isObject } from '../schema/json-schema.ts'
import { rpcError, sendAnswer } from './answer.ts'
import type { Relay } from './relay.ts'
import { acceptedForm, isJson } from './wire.ts'

/** A body over the limit is read up to this many times the limit, to find the id of the request. */
const OVERSIZE = 16

/** The SDK rejects a body that Fastify could not read: it knows the protocol's error for it. */
export function unreadableBody (app: FastifyInstance, throughSdk: Relay) {
  return async (error: FastifyError, request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge(request, reply)
    const { 'content-encoding': encoding = 'identity' } = request.headers
    if (error.code === 'FST_ERR_CTP_INVALID_JSON_BODY' && encoding.toLowerCase() !== 'identity') {
      return reply.code(415).header('accept-encoding', 'identity').send(
        rpcError(-32000, `Content-Encoding ${excerpt(encoding)} is not supported: send messages without it`)
      )
    }
    // Other errors go to the host's error handler, which may have been set after this route.
    if (!/^FST_ERR_CTP_(INVALID_JSON_BODY|EMPTY_JSON_BODY|INVALID_MEDIA_TYPE)$/.test(error.code)) {
      return app.errorHandler(error, request, reply)
    }
    const isPoisoned = error.code === 'FST_ERR_CTP_INVALID_JSON_BODY' && bodyCheck.hasPrototype(request)
    if (isPoisoned) return refuseMessage(request, reply, POISONED)
    return isMisparsed(error, request)
      ? unreadMessage(request, reply)
      : throughSdk(request, reply, undefined).then(() => reply)
  }
}

/** Fastify does not tell the two apart. */
const POISONED = 'it is not JSON, or has an argument __proto__, or a constructor with a prototype. Rename that argument'

/** Whether the host has no parser for messages. */
function isMisparsed ({ code }: FastifyError, request: FastifyRequest): boolean {
  return code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' && isJson(request.headers['content-type'])
}

/** Whether a parser of the host made no JSON of a message. Where it left the bytes or the text, they are read here. */
export function isUnread (request: FastifyRequest): boolean {
  const { body, headers } = request
  // Nearly always it is a message that was parsed.
  if (isObject(body) && body.jsonrpc !== undefined) return false
  if (!isJson(headers['content-type'])) return false
  if (Buffer.isBuffer(body) || typeof body === 'string') {
    const read = attempt(() => JSON.parse(String(body)) as unknown)
    // JSON may be a string, which is no message.
    request.body = typeof body === 'string' ? read ?? body : read
    return false
  }
  const isEmpty = (headers['content-length'] ?? '0') === '0' && headers['transfer-encoding'] === undefined
  return (body === undefined && !isEmpty) || typeof Reflect.get(Object(body), 'pipe') === 'function'
}

/** Says to the client, and to the log of the host, that no message can be read. */
export function unreadMessage (request: FastifyRequest, reply: FastifyReply): unknown {
  request.log.error('the parser of the app for application/json makes no JSON of MCP messages, or there is none')
  return reply.code(500).send(rpcError(-32603, 'Internal error: this server does not parse application/json'))
}

async function tooLarge (request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { bodyLimit } = request.routeOptions
  // Without a content-length, Fastify has read the body up to the limit.
  const id = await idOfOversized(request.raw, request.headers['content-length'] !== undefined, OVERSIZE * bodyLimit)
  // All of the body was read, so there is no need to close the connection.
  if (id !== undefined) reply.removeHeader('connection')
  return refuse(request, reply, id, 413, `the message is larger than ${bodyLimit} bytes. Send less in one call`)
}

/** Refuses a message that was read but cannot be used. */
export function refuseMessage (request: FastifyRequest, reply: FastifyReply, why: string): unknown {
  const id: unknown = isObject(request.body) ? request.body.id : undefined
  return refuse(
    request,
    reply,
    typeof id === 'string' || Number.isSafeInteger(id) ? id as string | number : undefined,
    400,
    why
  )
}

/**
 * A JSON-RPC error, because clients do not show HTTP errors to the model.
 * @param status - where the message has no id that the error could name
 */
function refuse (
  request: FastifyRequest,
  reply: FastifyReply,
  id: string | number | undefined,
  status: number,
  why: string
): unknown {
  const answer = rpcError(-32600, `Invalid Request: ${why}`, id)
  if (id === undefined) return reply.code(status).send(answer)
  return sendAnswer(reply.code(200), acceptedForm(request.headers.accept) ?? 'json', JSON.stringify(answer))
}

/** How many bytes at either end of a message are searched for its id. */
const WINDOW = 1024
const AT_START =
  /^\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,200}"\s*,\s*){0,2}"id"\s*:\s*(-?\d{1,16}|"(?:[^"\\]|\\.){0,200}")\s*[,}]/
const AT_END = /"id"\s*:\s*(-?\d{1,16}|"(?:[^"\\]|\\.){0,200}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/

/**
 * Reads what is left of a message that is too large to be parsed, keeps only its ends, and finds its id there: clients
 * write it before or after `params`. Without the id no client can tell which request failed, and until all is read
 * some do not listen for an answer.
 * @param isWhole - whether nothing of the body was read before
 * @param maxBytes - a body that is longer is not read to its end
 * @returns undefined for a message without an id that can be found
 */
async function idOfOversized (
  body: Readable,
  isWhole: boolean,
  maxBytes: number
): Promise<string | number | undefined> {
  let start = Buffer.alloc(0)
  let end = Buffer.alloc(0)
  let size = 0
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxBytes) return undefined
      if (start.length < WINDOW) start = Buffer.concat([start, chunk.subarray(0, WINDOW - start.length)])
      end = Buffer.concat([end, chunk.subarray(-WINDOW)]).subarray(-WINDOW)
    }
  } catch {
    // The client has gone.
    return undefined
  }
  const id = (isWhole ? AT_START.exec(start.toString()) : null) ?? AT_END.exec(end.toString())
  return attempt(() => JSON.parse(id?.[1] ?? '') as string | number)
}

/**
 * Finds bodies that are not UTF-8, as JSON has to be: decoding replaces the bytes that it cannot read, and a route
 * would store that.
 */
interface BodyCheck {
  /** Keeps the bytes of a body, before anything reads it. */
  readonly watch: (request: FastifyRequest) => void
  /** Whether the body, which has been read, was not UTF-8. Lets go of its bytes. */
  readonly isBroken: (request: FastifyRequest) => boolean
  /** Whether the body mentions a prototype, for which Fastify refuses it as if it were no JSON. */
  readonly hasPrototype: (request: FastifyRequest) => boolean
}

const PIECES = Symbol('mcp-from-routes.pieces')

interface Watched {
  [PIECES]?: Array<string | Buffer> | undefined
}

function keep (this: Watched, piece: unknown): void {
  if (typeof piece !== 'string' && !Buffer.isBuffer(piece)) return
  if (this[PIECES] === undefined) this[PIECES] = [piece]
  else this[PIECES].push(piece)
}

/** @see [RFC 8259 §8.1](https://www.rfc-editor.org/rfc/rfc8259#section-8.1) */
export const bodyCheck: BodyCheck = {
  watch ({ raw }) {
    // What a host decompresses is checked by nobody. A Readable would start to flow with a listener that it sees.
    const { 'content-encoding': encoding } = raw.headers
    if (encoding === undefined || encoding.toLowerCase() === 'identity') {
      EventEmitter.prototype.on.call(raw, 'data', keep)
    }
  },
  isBroken ({ raw }) {
    const watched = raw as object as Watched
    const pieces = watched[PIECES]
    if (pieces === undefined) return false
    watched[PIECES] = undefined
    const [first] = pieces
    if (pieces.length === 1 && typeof first === 'object') return !isUtf8(first)
    // Fastify before 5.12.6 decodes piece by piece: what it could not read is this character, and so is the character
    // itself.
    if (pieces.some((piece) => typeof piece === 'string' && piece.includes('\ufffd'))) return true
    return !isUtf8(Buffer.concat(pieces.filter((piece) => typeof piece === 'object')))
  },
  hasPrototype: ({ raw }) => (raw as object as Watched)[PIECES]?.some((piece) => piece.includes('proto')) === true
}
