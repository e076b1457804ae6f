import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { closingOf } from '../call/stop.ts'
import type { Access } from './access.ts'
import { rpcError } from './answer.ts'
import { directAnswers } from './direct.ts'
import { originCheck } from './origin.ts'
import { relayTo } from './relay.ts'
import { isEnvelope, sdkHandler } from './sdk.ts'
import { unreadableBody } from './unreadable.ts'
import { acceptedForm, batchRefusal, directMessage, rememberedEnvelopes } from './wire.ts'

/**
 * Registers the endpoint's routes, with and without a slash at the end, in the host's own scope, so that the
 * host's hooks apply to them even when they are added later.
 */
export function mountEndpoint (app: FastifyInstance, access: Access): void {
  const { settings } = access
  const sdk = sdkHandler(access, (error) => app.log.debug({ err: error }, 'the MCP endpoint refused a message'))
  const isKnownEnvelope = rememberedEnvelopes(isEnvelope)
  const closing = closingOf(app)
  const throughSdk = relayTo(sdk, closing)
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

  for (const url of urlsOf(app, settings.path)) {
    const common = { url, exposeHeadRoute: false, schema: { hide: true }, onRequest: [originCheck(settings), ...settings.onRequest] }
    app.route({ ...common, method: 'POST', handler: post, errorHandler: unreadableBody(app, throughSdk), ...settings.bodyLimit !== undefined && { bodyLimit: settings.bodyLimit } })
    app.route({ ...common, method: ['GET', 'DELETE'], handler: notAllowed })
  }
  // Not earlier: at onClose every call has been answered.
  app.addHook('onClose', () => sdk.close())
}

function urlsOf (app: FastifyInstance, path: string): readonly string[] {
  const { ignoreTrailingSlash, routerOptions } = app.initialConfig as { ignoreTrailingSlash?: boolean, routerOptions?: { ignoreTrailingSlash?: boolean } }
  return path === '/' || ignoreTrailingSlash || routerOptions?.ignoreTrailingSlash ? [path] : [path, `${path}/`]
}

async function notAllowed (_request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  return reply.code(405).header('allow', 'POST').send(rpcError(-32000, 'Method not allowed.'))
}
