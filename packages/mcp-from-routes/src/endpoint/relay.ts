import type { FastifyReply, FastifyRequest } from 'fastify'
import { firstEvent } from './first-event.ts'
import { isObject } from '../tool/json-schema.ts'
import { rpcError, sendAnswer, sendChallenge } from './reply.ts'
import type { SdkHandler } from './sdk.ts'
import type { Stop } from '../call/stop.ts'
import { acceptedForm } from './wire.ts'

/**
 * Hands one message to the SDK and its answer to Fastify, whose hooks and headers stay in force. The SDK streams
 * even an answer that is all there is; the client gets that as it gets the answers that are not the SDK's.
 */
export async function relay (sdk: SdkHandler, request: FastifyRequest, reply: FastifyReply, body: unknown, stop: Stop): Promise<unknown> {
  const form = Array.isArray(body) ? undefined : acceptedForm(request.headers.accept)
  const { response, refused } = await sdk.fetch(request, body, stop, form !== undefined)
  const id = isObject(body) ? body.id : undefined
  const streamed = form !== undefined && isEventStream(response) ? await firstEvent(response.body) : undefined
  if (streamed && 'stream' in streamed) return reply.send(new Response(streamed.stream, response))
  const refusal = refused()
  if (refusal?.challenge !== undefined) return sendChallenge(reply, id, refusal, refusal.challenge)
  if (streamed === undefined || form === undefined) return reply.send(response)
  if ('answer' in streamed) return sendAnswer(reply, form, streamed.answer)
  return stop.reason === 'closing'
    ? reply.code(503).send(rpcError(-32000, 'The server is closing', id))
    : reply.code(500).send(rpcError(-32603, 'Internal error', id))
}

function isEventStream (response: Response): response is Response & { body: NonNullable<Response['body']> } {
  return response.body !== null && (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
}
