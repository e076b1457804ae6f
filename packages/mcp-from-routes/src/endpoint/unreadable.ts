import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { excerpt } from '../call/excerpt.ts'
import { isObject } from '../tool/json-schema.ts'
import { rpcError, sendAnswer } from './answer.ts'
import { idOfOversized } from './oversized.ts'
import type { Relay } from './relay.ts'
import { acceptedForm } from './wire.ts'

/** A body over the limit is read up to this many times the limit, to find the id of the request. */
const OVERSIZE = 16

/** The SDK rejects a body that Fastify could not read: it knows the protocol's error for it. */
export function unreadableBody (app: FastifyInstance, throughSdk: Relay) {
  return async (error: FastifyError, request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge(request, reply)
    const { 'content-encoding': encoding = 'identity' } = request.headers
    if (error.code === 'FST_ERR_CTP_INVALID_JSON_BODY' && encoding.toLowerCase() !== 'identity') {
      return reply.code(415).header('accept-encoding', 'identity').send(rpcError(-32000, `Content-Encoding ${excerpt(encoding)} is not supported: send messages without it`))
    }
    // Other errors go to the host's error handler, which may have been set after this route.
    if (!/^FST_ERR_CTP_(INVALID_JSON_BODY|EMPTY_JSON_BODY|INVALID_MEDIA_TYPE)$/.test(error.code)) return app.errorHandler(error, request, reply)
    return throughSdk(request, reply, undefined)
  }
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
  return refuse(request, reply, typeof id === 'string' || Number.isSafeInteger(id) ? id as string | number : undefined, 400, why)
}

/**
 * A JSON-RPC error, because clients do not show HTTP errors to the model.
 * @param status - where the message has no id that the error could name
 */
function refuse (request: FastifyRequest, reply: FastifyReply, id: string | number | undefined, status: number, why: string): unknown {
  const answer = rpcError(-32600, `Invalid Request: ${why}`, id)
  if (id === undefined) return reply.code(status).send(answer)
  return sendAnswer(reply.code(200), acceptedForm(request.headers.accept) ?? 'json', JSON.stringify(answer))
}
