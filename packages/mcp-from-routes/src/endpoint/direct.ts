import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HEADER_MISMATCH } from '../call/mismatch.ts'
import { stopOfCall, type Closing } from '../call/stop.ts'
import type { Answer } from '../extension.ts'
import type { Endpoint, Outcome } from '../model.ts'
import type { Settings } from '../settings.ts'
import { hostError } from './access.ts'
import { answerWriter, rpcError, sendAnswer, sendChallenge } from './answer.ts'
import type { Dispatch, Found } from './dispatch.ts'
import { definitionWriter, writtenPages } from './list.ts'
import type { Relay } from './relay.ts'
import type { CallMessage, ListMessage } from './wire.ts'

type Form = 'json' | 'stream'

/** Answers messages that need no SDK, in the form that their client accepts, and passes the others on. */
export interface DirectAnswers {
  readonly list: (message: ListMessage, form: Form, request: FastifyRequest, reply: FastifyReply) => Promise<Answer>
  readonly call: (message: CallMessage, form: Form, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
}

export function directAnswers (
  endpoint: Endpoint,
  settings: Settings,
  { find, run }: Dispatch,
  closing: Closing,
  throughSdk: Relay
): DirectAnswers {
  const write = answerWriter(settings, definitionWriter())
  const pages = writtenPages(endpoint, settings, write.list)

  function send (outcome: Outcome, { era, id }: CallMessage, form: Form, reply: FastifyReply): FastifyReply {
    if (outcome instanceof ProtocolError) {
      const error = rpcError(outcome.code, outcome.message, id)
      return outcome.code === HEADER_MISMATCH
        ? reply.code(400).send(error)
        : sendAnswer(reply, form, JSON.stringify(error))
    }
    if (outcome.challenge !== undefined) return sendChallenge(reply, id, outcome, outcome.challenge)
    return sendAnswer(
      reply,
      form,
      outcome.answer === undefined ? write.call(era, id, outcome) : write.answer(era, id, outcome.answer)
    )
  }

  function answer (
    found: Found,
    message: CallMessage,
    form: Form,
    request: FastifyRequest,
    reply: FastifyReply
  ): Promise<unknown> {
    const { era, progressToken } = message
    const { tool, outcome } = found
    // The SDK answers the rest: progress needs a stream, a question needs another round, and errors have their own
    // form.
    if (
      (tool !== undefined && (tool.part.asks || (tool.streams && progressToken !== undefined))) ||
      (outcome instanceof ProtocolError && outcome.code === ProtocolErrorCode.InvalidParams)
    ) return throughSdk(request, reply, request.body, found).then(() => reply)
    const more = {
      outer: request,
      era,
      meta: metaOf(request.body),
      task: undefined,
      stop: stopOfCall(era, reply),
      onChunk: undefined,
      round: undefined
    }
    return run(found, more).then((outcome) => {
      closing.endKeepAlive(request, reply)
      send(outcome, message, form, reply)
      // If the handler returns the reply, Fastify waits for the response, which costs time even if it has been sent.
      return reply.sent ? undefined : reply
    })
  }

  return {
    async list ({ era, id, cursor }, form, request, reply) {
      let page
      try {
        page = await pages(era, cursor, request)
      } catch (thrown) {
        const { code, message } = hostError(request, thrown)
        const error = JSON.stringify(rpcError(code, message, id))
        sendAnswer(reply, form, error)
        return error
      }
      if (page === undefined) return await throughSdk(request, reply, request.body)
      sendAnswer(reply, form, Buffer.concat([page.head, Buffer.from(JSON.stringify(id)), page.tail]))
      return undefined
    },
    // Promises are chained by hand for calls: an async function costs a tenth of one.
    call (message, form, request, reply) {
      const { name, args, era } = message
      const found = find({ name, args, outer: request, isOlder: era === 'legacy' })
      return found instanceof Promise
        ? found.then((one) => answer(one, message, form, request, reply))
        : answer(found, message, form, request, reply)
    }
  }
}

/** `_meta` of a message that has been checked. */
function metaOf (message: unknown): Readonly<Record<string, unknown>> | undefined {
  return (message as { readonly params?: { readonly _meta?: Record<string, unknown> } }).params?._meta
}
