import type { Writable } from 'node:stream'
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HEADER_MISMATCH } from '../call/mismatch.ts'
import { stopOfCall, type Closing } from '../call/stop.ts'
import type { Answer } from '../extension.ts'
import type { Outcome, ToolResult } from '../model.ts'
import { hostError } from './access.ts'
import type { Era } from '../types.ts'
import type { Alive } from './alive.ts'
import { answerWriter, eventOf, rpcError, sendAnswer, sendChallenge } from './answer.ts'
import type { Found } from './dispatch.ts'
import { definitionWriter, isWhole, writtenLists } from './list.ts'
import type { Relay } from './relay.ts'
import type { Served } from './sdk.ts'
import type { CallMessage, ListMessage } from './wire.ts'

type Form = 'json' | 'stream'

/** Answers messages that need no SDK, in the form that their client accepts, and passes the others on. */
export interface DirectAnswers {
  readonly list: (message: ListMessage, form: Form, request: FastifyRequest, reply: FastifyReply) => Promise<Answer>
  readonly call: (message: CallMessage, form: Form, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
}

export function directAnswers (
  { endpoint, settings, dispatch: { find, run } }: Pick<Served, 'endpoint' | 'settings' | 'dispatch'>,
  closing: Closing,
  alive: Alive | undefined,
  throughSdk: Relay
): DirectAnswers {
  const write = answerWriter(settings, definitionWriter())
  const lists = writtenLists(endpoint, write.list)

  function send (outcome: Outcome, { era, id }: CallMessage, form: Form, reply: FastifyReply): FastifyReply {
    if (outcome instanceof ProtocolError) {
      const error = rpcError(outcome.code, outcome.message, id)
      return outcome.code === HEADER_MISMATCH
        ? reply.code(400).send(error)
        : sendAnswer(reply, form, JSON.stringify(error))
    }
    if (outcome.challenge !== undefined) return sendChallenge(reply, id, outcome, outcome.challenge)
    return sendAnswer(reply, form, textOf(outcome, era, id))
  }

  function textOf (outcome: ToolResult, era: Era, id: string | number): string {
    return outcome.answer === undefined ? write.call(era, id, outcome) : write.answer(era, id, outcome.answer)
  }

  /** Ends a stream that has begun with 200: a challenge is a result like others then. */
  function end (stream: Writable, outcome: Outcome, { era, id }: CallMessage): void {
    stream.end(
      eventOf(
        outcome instanceof ProtocolError
          ? JSON.stringify(rpcError(outcome.code, outcome.message, id))
          : textOf(outcome, era, id)
      )
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
    const silent = alive?.start(request, reply)
    return run(found, more).then((outcome) => {
      const stream = silent && alive?.finish(silent)
      if (stream !== undefined) {
        end(stream, outcome, message)
        return reply
      }
      closing.endKeepAlive(request, reply)
      send(outcome, message, form, reply)
      // If the handler returns the reply, Fastify waits for the response, which costs time even if it has been sent.
      return reply.sent ? undefined : reply
    }, (error: unknown) => {
      const stream = silent && alive?.finish(silent)
      stream?.destroy()
      throw error
    })
  }

  return {
    async list ({ era, id, cursor }, form, request, reply) {
      if (!isWhole(cursor)) return await throughSdk(request, reply, request.body)
      let list
      try {
        list = await lists(era, request)
      } catch (thrown) {
        const { code, message } = hostError(request, thrown)
        const error = JSON.stringify(rpcError(code, message, id))
        sendAnswer(reply, form, error)
        return error
      }
      sendAnswer(reply, form, Buffer.concat([list.head, Buffer.from(JSON.stringify(id)), list.tail]))
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
