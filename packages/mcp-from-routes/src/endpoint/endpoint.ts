import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { closingOf } from '../call/stop.ts'
import { isTooDeep, MAX_DEPTH } from '../depth.ts'
import type { Settings } from '../settings.ts'
import type { Access } from './access.ts'
import { rpcError } from './answer.ts'
import { isObject } from '../schema/json-schema.ts'
import { directAnswers } from './direct.ts'
import { relayTo } from './relay.ts'
import { bodyCheck, isUnread, refuseMessage, unreadableBody, unreadMessage } from './unreadable.ts'
import { isEnvelope, sdkHandler } from './sdk.ts'
import { acceptedForm, batchRefusal, directMessage, rememberedEnvelopes } from './wire.ts'

/**
 * Registers the endpoint's routes, with and without a slash at the end, in the host's own scope, so that the
 * host's hooks apply to them even when they are added later.
 */
export function mountEndpoint (app: FastifyInstance, access: Access): void {
  const { settings } = access
  const sdk = sdkHandler(access, (error) => app.log.debug({ err: error }, 'the MCP endpoint refused a message'))
  const isKnownEnvelope = rememberedEnvelopes(isEnvelope)
  const check = bodyCheck()
  const closing = closingOf(app)
  const throughSdk = relayTo(sdk, closing)
  const answerDirectly = directAnswers(access, closing, throughSdk)

  function post (request: FastifyRequest, reply: FastifyReply): unknown {
    if (closing.isClosing()) return reply.code(503).send(rpcError(-32000, 'The server is closing'))
    if (isUnread(request)) return unreadMessage(request, reply)
    if (check.isBroken(request)) return refuseMessage(request, reply, 'the message is not UTF-8')
    const form = acceptedForm(request.headers.accept)
    const message = form === undefined ? undefined : directMessage(request.body, request.raw.headers, isKnownEnvelope)
    if (message !== undefined && form !== undefined) return answerDirectly(message, form, request, reply)
    if (isMessageTooDeep(request.body)) {
      return refuseMessage(request, reply, `the message is nested more than ${MAX_DEPTH} levels deep`)
    }
    if (Array.isArray(request.body)) return batch(request, reply, request.body)
    return access.observe(request, request.body, (seen) => throughSdk(request, reply, request.body, seen))
  }

  async function batch (request: FastifyRequest, reply: FastifyReply, messages: readonly unknown[]): Promise<unknown> {
    const refusal = batchRefusal(messages, request.raw.headers['mcp-protocol-version'] as string | undefined)
    return refusal === undefined
      ? throughSdk(request, reply, messages)
      : reply.code(400).send(rpcError(-32600, refusal))
  }

  for (const url of urlsOf(app, settings.path)) {
    const onRequest = [originCheck(settings, check.watch), ...settings.onRequest]
    const common = { url, exposeHeadRoute: false, schema: { hide: true }, onRequest }
    const limit = settings.bodyLimit !== undefined && { bodyLimit: settings.bodyLimit }
    const errorHandler = unreadableBody(app, throughSdk, check)
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
