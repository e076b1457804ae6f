import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { closingOf, stopOfCall } from '../call/stop.ts'
import type { Closing } from '../call/stop.ts'
import type { Settings } from '../options.ts'
import type { Tool } from '../tool/tool.ts'
import type { Access } from './access.ts'
import { answerWriter, rpcError, sendAnswer, sendChallenge } from './answer.ts'
import { definitionWriter, writtenPages } from './list.ts'
import { idOfOversized } from './oversized.ts'
import { relay } from './relay.ts'
import { isEnvelope, sdkHandler } from './sdk.ts'
import { acceptedForm, batchRefusal, directMessage, rememberedEnvelopes } from './wire.ts'
import type { CallMessage, DirectMessage, ListMessage } from './wire.ts'

/** A body over the limit is read up to this many times the limit, to find the id of the request. */
const OVERSIZE = 16

/**
 * Registers the endpoint's routes, with and without a slash at the end, in the host's own scope, so that the
 * host's hooks apply to them even when they are added later.
 */
export function mountEndpoint (app: FastifyInstance, access: Access): void {
  const { settings } = access
  const sdk = sdkHandler(access, (error) => app.log.debug({ err: error }, 'the MCP endpoint refused a message'))
  const isKnownEnvelope = rememberedEnvelopes(isEnvelope)
  const closing = closingOf(app)
  const answerDirectly = directAnswers(access, closing, throughSdk)

  function post (request: FastifyRequest, reply: FastifyReply): unknown {
    if (closing.isClosing()) return reply.code(503).send(rpcError(-32000, 'The server is closing'))
    if (Array.isArray(request.body)) return batch(request, reply, request.body)
    const form = acceptedForm(request.headers.accept)
    const message = form === undefined ? undefined : directMessage(request.body, request.raw.headers, isKnownEnvelope)
    if (message === undefined || form === undefined) return throughSdk(request, reply, request.body)
    return answerDirectly(message, form, request, reply)
  }

  async function batch (request: FastifyRequest, reply: FastifyReply, messages: readonly unknown[]): Promise<unknown> {
    const refusal = batchRefusal(messages, request.raw.headers['mcp-protocol-version'] as string | undefined)
    return refusal === undefined ? throughSdk(request, reply, messages) : reply.code(400).send(rpcError(-32600, refusal))
  }

  async function throughSdk (request: FastifyRequest, reply: FastifyReply, body: unknown): Promise<unknown> {
    return relay(sdk, request, reply, body, closing.track(request, reply))
  }

  /** The SDK rejects a body that Fastify could not read: it knows the protocol's error for it. */
  async function unreadable (error: FastifyError, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge(request, reply)
    // Other errors go to the host's error handler, which may have been set after this route.
    if (!/^FST_ERR_CTP_(INVALID_JSON_BODY|EMPTY_JSON_BODY|INVALID_MEDIA_TYPE)$/.test(error.code)) return app.errorHandler(error, request, reply)
    return throughSdk(request, reply, undefined)
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

  for (const url of urlsOf(app, settings.path)) {
    const common = { url, exposeHeadRoute: false, schema: { hide: true }, onRequest: [originCheck(settings), ...settings.onRequest] }
    app.route({ ...common, method: 'POST', handler: post, errorHandler: unreadable, ...settings.bodyLimit !== undefined && { bodyLimit: settings.bodyLimit } })
    app.route({ ...common, method: ['GET', 'DELETE'], handler: notAllowed })
  }
  // Not earlier: at onClose every call has been answered.
  app.addHook('onClose', () => sdk.close())
}

type Answer = (request: FastifyRequest, reply: FastifyReply, body: unknown) => Promise<unknown>
type AnswerDirectly = (message: DirectMessage, form: 'json' | 'stream', request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** Answers messages that need no SDK, and passes the others on. */
function directAnswers (access: Access, closing: Closing, throughSdk: Answer): AnswerDirectly {
  const { settings, toolFor, call, tasks } = access
  const write = answerWriter(settings, definitionWriter())
  const pages = writtenPages(access, write.list)

  async function list ({ era, id, cursor }: ListMessage, form: 'json' | 'stream', request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const page = await pages(era, cursor, request)
    if (page === undefined) return throughSdk(request, reply, request.body)
    return sendAnswer(reply, form, Buffer.concat([page.head, Buffer.from(JSON.stringify(id)), page.tail]))
  }

  async function startWork (tool: Tool, { era, id, args, taskRequest }: CallMessage, form: 'json' | 'stream', request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const result = await call({ tool, args, outer: request, meta: metaOf(request.body), stop: stopOfCall(era, reply) })
    const outcome = await tasks.outcome(tool, result, taskRequest, request)
    closing.endKeepAlive(request, reply)
    if ('task' in outcome) return sendAnswer(reply, form, write.task(era, id, outcome))
    return outcome.challenge === undefined ? sendAnswer(reply, form, write.call(era, id, outcome)) : sendChallenge(reply, id, outcome, outcome.challenge)
  }

  function answer (tool: Tool | undefined, message: CallMessage, form: 'json' | 'stream', request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { era, id, args, progressToken, taskRequest } = message
    // The SDK answers the rest: progress needs a stream, a question needs another round, and errors have their own form.
    if (tool === undefined || tool.confirm !== undefined || (tool.streams && progressToken !== undefined) || (taskRequest === 'parameter' && tool.task === undefined)) return throughSdk(request, reply, request.body)
    if (tool.task !== undefined) return startWork(tool, message, form, request, reply)
    return call({ tool, args, outer: request, meta: metaOf(request.body), stop: stopOfCall(era, reply) }).then((result) => {
      closing.endKeepAlive(request, reply)
      if (result.challenge === undefined) sendAnswer(reply, form, write.call(era, id, result))
      else sendChallenge(reply, id, result, result.challenge)
      // If the handler returns the reply, Fastify waits for the response, which costs time even if it has been sent.
      return reply.sent ? undefined : reply
    })
  }

  // Promises are chained by hand for calls: an async function costs a tenth of one.
  return (message, form, request, reply) => {
    if (message.method === 'tools/list') return list(message, form, request, reply)
    const tool = toolFor(message.name, request)
    return tool instanceof Promise ? tool.then((found) => answer(found, message, form, request, reply)) : answer(tool, message, form, request, reply)
  }
}

/** `_meta` of a message that has been checked. */
function metaOf (message: unknown): Readonly<Record<string, unknown>> | undefined {
  return (message as { readonly params?: { readonly _meta?: Record<string, unknown> } }).params?._meta
}

function urlsOf (app: FastifyInstance, path: string): readonly string[] {
  const { ignoreTrailingSlash, routerOptions } = app.initialConfig as { ignoreTrailingSlash?: boolean, routerOptions?: { ignoreTrailingSlash?: boolean } }
  return path === '/' || ignoreTrailingSlash || routerOptions?.ignoreTrailingSlash ? [path] : [path, `${path}/`]
}

/** Keeps pages of other sites from calling the endpoint through a visitor's browser. */
function originCheck ({ isAllowedOrigin }: Settings) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const { origin } = request.headers
    if (origin === undefined || isAllowedOrigin(origin)) return done()
    reply.code(403).send(rpcError(-32000, 'Origin not allowed'))
  }
}

async function notAllowed (_request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  return reply.code(405).header('allow', 'POST').send(rpcError(-32000, 'Method not allowed.'))
}
