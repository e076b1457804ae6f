import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
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
    // Other errors go to the host's error handler, which may have been set after this route.
    if (!/^FST_ERR_CTP_(INVALID_JSON_BODY|EMPTY_JSON_BODY|INVALID_MEDIA_TYPE)$/.test(error.code)) return app.errorHandler(error, request, reply)
    return throughSdk(request, reply, undefined)
  }
}

/** A JSON-RPC error, because clients do not show HTTP errors to the model. */
async function tooLarge (request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { bodyLimit } = request.routeOptions
  // Without a content-length, Fastify has read the body up to the limit.
  const id = await idOfOversized(request.raw, request.headers['content-length'] !== undefined, OVERSIZE * bodyLimit)
  const answer = rpcError(-32600, `Invalid Request: the message is larger than ${bodyLimit} bytes. Send less in one call`, id)
  if (id === undefined) return reply.code(413).send(answer)
  // All of the body was read, so there is no need to close the connection.
  return sendAnswer(reply.code(200).removeHeader('connection'), acceptedForm(request.headers.accept) ?? 'json', JSON.stringify(answer))
}
