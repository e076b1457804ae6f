// Limits for each API key: calls a minute, and calls under way at once.
import '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Call it after dual-auth is registered, on an app with `await app.register(rateLimit, { global: false })`. */
export function limitKeys (
  app: FastifyInstance,
  limits: { readonly perMinute: number, readonly atOnce: number }
): void {
  const count = app.createRateLimit({
    max: limits.perMinute,
    timeWindow: '1 minute',
    keyGenerator: (request) => `key:${keyOf(request)}`
  })
  const underWay = new Map<string, number>()

  app.addHook('onRequest', async (request, reply) => {
    const key = keyOf(request)
    if (key === undefined) return
    const calls = await count(request)
    if (!calls.isAllowed && calls.isExceeded) {
      throw tooMany(reply, `${limits.perMinute} calls a minute`, calls.ttlInSeconds)
    }
    // The client has gone away meanwhile: no response will close.
    if (reply.raw.destroyed) return
    const running = underWay.get(key) ?? 0
    if (running >= limits.atOnce) throw tooMany(reply, `${limits.atOnce} calls at once`, 1)
    underWay.set(key, running + 1)
    // Also when the client goes away before the response.
    reply.raw.once('close', () => {
      const left = underWay.get(key)! - 1
      if (left === 0) underWay.delete(key)
      else underWay.set(key, left)
    })
  })
}

/**
 * The key that a call counts for. A tool call counts once: its route is called inside the process, for the outer
 * request.
 */
function keyOf ({ identity, raw }: FastifyRequest): string | undefined {
  return identity?.kind === 'api-key' && !(Symbol.for('mcp-from-routes.parentRequest') in raw)
    ? identity.keyId
    : undefined
}

function tooMany (reply: FastifyReply, limit: string, seconds: number): Error {
  reply.header('retry-after', Math.max(1, seconds))
  return Object.assign(new Error(`This API key may make ${limit}`), { statusCode: 429, code: 'TOO_MANY_CALLS' })
}
