import { ProtocolError } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { closingOf } from '../call/stop.ts'
import { isTooDeep, MAX_DEPTH } from '../depth.ts'
import type { Settings } from '../settings.ts'
import type { Answering } from '../extension.ts'
import { keptAlive } from './alive.ts'
import { rpcError } from './answer.ts'
import { isObject } from '../schema/json-schema.ts'
import { directAnswers } from './direct.ts'
import { relayTo } from './relay.ts'
import { bodyCheck, isUnread, refuseMessage, unreadableBody, unreadMessage } from './unreadable.ts'
import { isEnvelope, sdkHandler, type Served } from './sdk.ts'
import { acceptedForm, batchRefusal, directMessage, rememberedEnvelopes, type DirectMessage } from './wire.ts'

/**
 * Registers the endpoint's routes, with and without a slash at the end, in the host's own scope, so that the
 * host's hooks apply to them even when they are added later.
 */
export function mountEndpoint (app: FastifyInstance, served: Served): void {
  const { endpoint, settings, hooks } = served
  const sdk = sdkHandler(served, (error) => app.log.debug({ err: error }, 'the MCP endpoint refused a message'))
  const isKnownEnvelope = rememberedEnvelopes(isEnvelope)
  const closing = closingOf(app)
  const { keepAliveInterval } = settings
  const alive = keepAliveInterval === 0 ? undefined : keptAlive(keepAliveInterval, closing)
  const throughSdk = relayTo(sdk, closing, alive)
  const direct = directAnswers(served, closing, alive, throughSdk)
  const around = hooks.flatMap((hook) => hook.message ?? [])

  /** Answers a message that calls no tool. */
  async function message (request: FastifyRequest, reply: FastifyReply, answer: Answering): Promise<FastifyReply> {
    const seen = { body: request.body, outer: request, endpoint }
    try {
      await around.reduce<Answering>((run, hook) => async () => await hook(seen, run), answer)()
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      const { code, message, data } = error
      const id: unknown = Reflect.get(Object(request.body), 'id') ?? null
      reply.code(400).send({ jsonrpc: '2.0', id, error: { code, message, ...data !== undefined && { data } } })
    }
    return reply
  }

  function post (request: FastifyRequest, reply: FastifyReply): unknown {
    if (closing.isClosing()) return reply.code(503).send(rpcError(-32000, 'The server is closing'))
    if (isUnread(request)) return unreadMessage(request, reply)
    if (bodyCheck.isBroken(request)) return refuseMessage(request, reply, 'the message is not UTF-8')
    const form = acceptedForm(request.headers.accept)
    const one = form === undefined ? undefined : directMessage(request.body, request.raw.headers, isKnownEnvelope)
    if (one !== undefined && form !== undefined) return answerDirectly(one, form, request, reply)
    if (isMessageTooDeep(request.body)) {
      return refuseMessage(request, reply, `the message is nested more than ${MAX_DEPTH} levels deep`)
    }
    if (Array.isArray(request.body)) return batch(request, reply, request.body)
    return isCall(request.body)
      ? throughSdk(request, reply, request.body).then(() => reply)
      : message(request, reply, async () => await throughSdk(request, reply, request.body))
  }

  function answerDirectly (
    one: DirectMessage,
    form: 'json' | 'stream',
    request: FastifyRequest,
    reply: FastifyReply
  ): Promise<unknown> {
    return one.method === 'tools/call'
      ? direct.call(one, form, request, reply)
      : message(request, reply, async () => await direct.list(one, form, request, reply))
  }

  async function batch (request: FastifyRequest, reply: FastifyReply, messages: readonly unknown[]): Promise<unknown> {
    const refusal = batchRefusal(messages, request.raw.headers['mcp-protocol-version'] as string | undefined)
    return refusal === undefined
      ? throughSdk(request, reply, messages).then(() => reply)
      : reply.code(400).send(rpcError(-32600, refusal))
  }

  for (const url of urlsOf(app, endpoint.path)) {
    const onRequest = [originCheck(settings, bodyCheck.watch), ...settings.onRequest]
    const common = { url, exposeHeadRoute: false, schema: { hide: true }, onRequest }
    const limit = settings.bodyLimit !== undefined && { bodyLimit: settings.bodyLimit }
    const errorHandler = unreadableBody(app, throughSdk)
    app.route({ ...common, method: 'POST', handler: post, errorHandler, ...limit })
    app.route({
      ...common,
      method: ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'],
      onRequest: [...common.onRequest, notAllowed],
      handler: notAllowed
    })
  }
  // Not earlier: at onClose every call has been answered.
  app.addHook('onClose', () => sdk.close())
}

function isCall (body: unknown): boolean {
  return isObject(body) && body.method === 'tools/call'
}

/** The arguments of a call are left to the call, which says so in a result that the model reads. */
function isMessageTooDeep (body: unknown): boolean {
  if (!isObject(body) || body.method !== 'tools/call' || !isObject(body.params)) return isTooDeep(body)
  for (const name in body) if (name !== 'params' && isTooDeep(body[name])) return true
  for (const name in body.params) if (name !== 'arguments' && isTooDeep(body.params[name])) return true
  return false
}

function urlsOf (app: FastifyInstance, path: string): readonly string[] {
  const { ignoreTrailingSlash, routerOptions } = app.initialConfig as {
    ignoreTrailingSlash?: boolean,
    routerOptions?: { ignoreTrailingSlash?: boolean }
  }
  return path === '/' || ignoreTrailingSlash || routerOptions?.ignoreTrailingSlash ? [path] : [path, `${path}/`]
}

async function notAllowed (_request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  return reply.code(405).header('allow', 'POST').send(rpcError(-32000, 'Method not allowed.'))
}

/**
 * Keeps pages of other sites from calling the endpoint through a visitor's browser.
 * @param onAllowed - gets all other requests: a hook of its own would cost each of them more
 */
function originCheck ({ isAllowedOrigin }: Settings, onAllowed: (request: FastifyRequest) => void) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const { origin } = request.headers
    if (origin === undefined || isAllowedOrigin(origin)) {
      onAllowed(request)
      return done()
    }
    reply.code(403).send(rpcError(-32000, 'Origin not allowed'))
  }
}
