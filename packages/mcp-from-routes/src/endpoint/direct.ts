import { ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { stopOfCall, type Closing } from '../call/stop.ts'
import type { Step } from '../extensions/search/search.ts'
import type { Seen } from '../extensions/telemetry/observer.ts'
import type { Tool } from '../tool/tool.ts'
import { hostError, type Access } from './access.ts'
import { HEADER_MISMATCH } from '../call/mismatch.ts'
import { answerWriter, rpcError, sendAnswer, sendChallenge } from './answer.ts'
import { definitionWriter, writtenPages } from './list.ts'
import type { Relay } from './relay.ts'
import type { CallMessage, DirectMessage, ListMessage } from './wire.ts'

/** Answers a message in the form that its client accepts. */
type AnswerDirectly = (
  message: DirectMessage,
  form: 'json' | 'stream',
  request: FastifyRequest,
  reply: FastifyReply
) => Promise<unknown>

type Form = 'json' | 'stream'

/** Answers messages that need no SDK, and passes the others on. */
export function directAnswers (access: Access, closing: Closing, throughSdk: Relay): AnswerDirectly {
  const { settings, toolFor, call, looked, mismatch, observe, refused, search, tasks } = access
  const write = answerWriter(settings, definitionWriter())
  const pages = writtenPages(access, write.list)

  async function list (
    { era, id, cursor }: ListMessage,
    form: 'json' | 'stream',
    request: FastifyRequest,
    reply: FastifyReply,
    seen: Seen
  ): Promise<unknown> {
    let page
    try {
      page = await pages(era, cursor, request)
    } catch (thrown) {
      const error = JSON.stringify(thrownError(thrown, id, request))
      seen(error)
      return sendAnswer(reply, form, error)
    }
    if (page === undefined) return throughSdk(request, reply, request.body, seen)
    return sendAnswer(reply, form, Buffer.concat([page.head, Buffer.from(JSON.stringify(id)), page.tail]))
  }

  function thrownError (thrown: unknown, id: ListMessage['id'], request: FastifyRequest): object {
    const { code, message } = hostError(request, thrown)
    return rpcError(code, message, id)
  }

  /** Answers a call of which the host could not say whether its client may make it. */
  function fail (
    thrown: unknown,
    { id }: CallMessage,
    form: 'json' | 'stream',
    request: FastifyRequest,
    reply: FastifyReply
  ): FastifyReply {
    refused(request, ProtocolErrorCode.InternalError)
    closing.endKeepAlive(request, reply)
    return sendAnswer(reply, form, JSON.stringify(thrownError(thrown, id, request)))
  }

  async function startWork (tool: Tool, message: CallMessage, form: Form, reply: FastifyReply): Promise<unknown> {
    const { request } = reply
    const { era, id, args, taskRequest } = message
    const result = await call({ tool, args, outer: request, meta: metaOf(request.body), stop: stopOfCall(era, reply) })
    const outcome = await tasks.outcome(tool, result, taskRequest, request)
    closing.endKeepAlive(request, reply)
    if ('task' in outcome) return sendAnswer(reply, form, write.task(era, id, outcome))
    return outcome.challenge === undefined
      ? sendAnswer(reply, form, write.call(era, id, outcome))
      : sendChallenge(reply, id, outcome, outcome.challenge)
  }

  function answer (
    tool: Tool | undefined,
    message: CallMessage,
    form: 'json' | 'stream',
    request: FastifyRequest,
    reply: FastifyReply,
    isFound?: boolean
  ): Promise<unknown> {
    const { era, id, args, progressToken, taskRequest } = message
    const wrong = tool === undefined ? undefined : mismatch(tool, args, request, isFound === true || era === 'legacy')
    if (wrong !== undefined) return Promise.resolve(reply.code(400).send(rpcError(HEADER_MISMATCH, wrong, id)))
    // The SDK answers the rest: progress needs a stream, a question needs another round, and errors have their own
    // form.
    if (
      tool === undefined || tool.confirm !== undefined || (tool.streams && progressToken !== undefined) ||
      (taskRequest === 'parameter' && tool.task === undefined)
    ) return throughSdk(request, reply, request.body)
    if (tool.task !== undefined) return startWork(tool, message, form, reply)
    return call({ tool, args, outer: request, meta: metaOf(request.body), stop: stopOfCall(era, reply) }).then(
      (result) => {
        closing.endKeepAlive(request, reply)
        if (result.challenge === undefined) sendAnswer(reply, form, write.call(era, id, result))
        else sendChallenge(reply, id, result, result.challenge)
        // If the handler returns the reply, Fastify waits for the response, which costs time even if it has been sent.
        return reply.sent ? undefined : reply
      }
    )
  }

  function take (
    step: Step,
    message: CallMessage,
    form: 'json' | 'stream',
    request: FastifyRequest,
    reply: FastifyReply,
    start: number
  ): Promise<unknown> | FastifyReply {
    if ('tool' in step) return answer(step.tool, { ...message, args: step.args }, form, request, reply, true)
    looked(request, message.name, start, step.result.isError === true)
    closing.endKeepAlive(request, reply)
    return sendAnswer(reply, form, write.call(message.era, message.id, step.result))
  }

  // Promises are chained by hand for calls: an async function costs a tenth of one.
  return (message, form, request, reply) => {
    if (message.method === 'tools/list') {
      return observe(request, request.body, (seen) => list(message, form, request, reply, seen))
    }
    if (search?.has(message.name) === true) {
      const start = performance.now()
      return search.step(message.name, message.args, request).then(
        (step) => take(step, message, form, request, reply, start),
        (thrown: unknown) => fail(thrown, message, form, request, reply)
      )
    }
    const tool = toolFor(message.name, request)
    return tool instanceof Promise
      ? tool.then(
        (found) => answer(found, message, form, request, reply),
        (thrown: unknown) => fail(thrown, message, form, request, reply)
      )
      : answer(tool, message, form, request, reply)
  }
}

/** `_meta` of a message that has been checked. */
function metaOf (message: unknown): Readonly<Record<string, unknown>> | undefined {
  return (message as { readonly params?: { readonly _meta?: Record<string, unknown> } }).params?._meta
}
