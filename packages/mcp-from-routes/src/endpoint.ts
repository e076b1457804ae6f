import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { answerWriter } from './answer.ts'
import { batchRefusal } from './batch.ts'
import { definitionWriter } from './list.ts'
import type { Settings } from './options.ts'
import { writtenPages } from './pages.ts'
import type { ToolResult } from './result.ts'
import { isEnvelope, sdkHandler } from './sdk.ts'
import type { Served } from './served.ts'
import { Stop } from './stop.ts'
import { acceptedForm, directMessage, rememberedEnvelopes } from './wire.ts'
import type { DirectMessage } from './wire.ts'

/**
 * Registers the endpoint's routes, with and without a slash at the end, in the host's own scope, so that the
 * host's hooks apply to them even when they are added later.
 */
export function mountEndpoint (app: FastifyInstance, served: Served): void {
  const { settings } = served
  const sdk = sdkHandler(served, (error) => app.log.debug({ err: error }, 'the MCP endpoint refused a message'))
  const isKnownEnvelope = rememberedEnvelopes(isEnvelope)
  const answerDirectly = directAnswers(served)
  const open = new Set<Stop>()
  let closing = false

  async function post (request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    if (closing) return reply.code(503).send(rpcError(-32000, 'The server is closing'))
    if (Array.isArray(request.body)) return batch(request, reply, request.body)
    const form = acceptedForm(request.headers.accept)
    const message = form === undefined ? undefined : directMessage(request.body, request.raw.headers, isKnownEnvelope)
    if (message === undefined || form === undefined) return throughSdk(request, reply, request.body)
    const stop = new Stop()
    open.add(stop)
    try {
      // Before 2026-07-28 a client that goes away has not cancelled its call.
      if (message.era === 'modern') stopWhenGone(reply, stop)
      if (await answerDirectly(message, form, request, reply, stop)) return reply
    } finally {
      open.delete(stop)
    }
    return throughSdk(request, reply, request.body)
  }

  async function batch (request: FastifyRequest, reply: FastifyReply, messages: readonly unknown[]): Promise<unknown> {
    const refusal = batchRefusal(messages, request.raw.headers['mcp-protocol-version'] as string | undefined)
    return refusal === undefined ? throughSdk(request, reply, messages) : reply.code(400).send(rpcError(-32600, refusal))
  }

  /** Hands one message to the SDK and its answer to Fastify, whose hooks and headers stay in force. */
  async function throughSdk (request: FastifyRequest, reply: FastifyReply, body: unknown): Promise<unknown> {
    const stop = new Stop()
    open.add(stop)
    // The answer may be a stream, which lasts until the response is closed.
    reply.raw.once('close', () => open.delete(stop))
    stopWhenGone(reply, stop)
    return reply.send(await sdk.fetch(request, body, stop))
  }

  /** A body that Fastify could not read is the SDK's to refuse: it knows the protocol's words for it. */
  async function unreadable (error: FastifyError, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    // Other errors are for the host's handler, which it may have set after this route.
    if (!/^FST_ERR_CTP_(INVALID_JSON_BODY|EMPTY_JSON_BODY|INVALID_MEDIA_TYPE)$/.test(error.code)) return app.errorHandler(error, request, reply)
    return throughSdk(request, reply, undefined)
  }

  for (const url of urlsOf(app, settings.path)) {
    const common = { url, exposeHeadRoute: false, schema: { hide: true }, onRequest: [originCheck(settings), ...settings.onRequest] }
    app.route({ ...common, method: 'POST', handler: post, errorHandler: unreadable })
    app.route({ ...common, method: ['GET', 'DELETE'], handler: notAllowed })
  }
  app.addHook('preClose', async () => {
    closing = true
    for (const stop of open) stop.stop('closing')
    await sdk.close()
  })
}

type AnswerDirectly = (message: DirectMessage, form: 'json' | 'stream', request: FastifyRequest, reply: FastifyReply, stop: Stop) => Promise<boolean>

/** Sends what can be answered without the SDK. False means that nothing was done and the SDK has to say why not. */
function directAnswers (served: Served): AnswerDirectly {
  const { settings, toolFor, call } = served
  const write = answerWriter(settings, definitionWriter())
  const pages = writtenPages(served, write)

  return async (message, form, request, reply, stop) => {
    const { era, id } = message
    if (message.method === 'tools/list') {
      const page = await pages(era, message.cursor, request)
      if (page !== undefined) send(reply, form, Buffer.concat([page.head, Buffer.from(JSON.stringify(id)), page.tail]))
      return page !== undefined
    }
    const tool = await toolFor(message.name, request)
    // Progress is told on a stream, which is the SDK's craft.
    if (tool === undefined || (tool.streams && message.progressToken !== undefined)) return false
    const result = await call({ tool, args: message.args, outer: request, stop })
    if (result.challenge === undefined) send(reply, form, write.call(era, id, tool, result))
    else challenge(reply, id, result, result.challenge)
    return true
  }
}

function stopWhenGone ({ raw }: FastifyReply, stop: Stop): void {
  // Not `writableFinished`, which is true of a response over HTTP/2 that was broken off.
  raw.once('close', () => { if (!raw.writableEnded) stop.stop('client gone') })
}

function send (reply: FastifyReply, form: 'json' | 'stream', answer: string | Buffer): void {
  if (form === 'json') {
    reply.header('content-type', 'application/json; charset=utf-8').send(answer)
    return
  }
  reply.header('content-type', 'text/event-stream').header('cache-control', 'no-cache').header('x-accel-buffering', 'no')
  // A line end ends the data of an event; in JSON it can only stand between tokens.
  reply.send(`event: message\ndata: ${String(answer).replace(/[\r\n]+/g, ' ')}\n\n`)
}

/** The route's own 401 or 403 as that of the endpoint: clients log in again on the HTTP status, not on a tool error. */
function challenge (reply: FastifyReply, id: string | number, { content: [said] }: ToolResult, { statusCode, authenticate }: NonNullable<ToolResult['challenge']>): void {
  const message = said?.type === 'text' ? said.text : 'Unauthorized'
  reply.code(statusCode).header('www-authenticate', authenticate).send({ jsonrpc: '2.0', error: { code: -32000, message }, id })
}

function urlsOf (app: FastifyInstance, path: string): readonly string[] {
  const { ignoreTrailingSlash, routerOptions } = app.initialConfig as { ignoreTrailingSlash?: boolean, routerOptions?: { ignoreTrailingSlash?: boolean } }
  return path === '/' || ignoreTrailingSlash || routerOptions?.ignoreTrailingSlash ? [path] : [path, `${path}/`]
}

/** Stops pages of other sites from using a visitor's browser to reach the endpoint. */
function originCheck ({ isAllowedOrigin }: Settings) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { origin } = request.headers
    if (origin === undefined || isAllowedOrigin(origin)) return
    return reply.code(403).send(rpcError(-32000, 'Origin not allowed'))
  }
}

async function notAllowed (_request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  return reply.code(405).header('allow', 'POST').send(rpcError(-32000, 'Method not allowed.'))
}

function rpcError (code: number, message: string): object {
  return { jsonrpc: '2.0', error: { code, message }, id: null }
}
