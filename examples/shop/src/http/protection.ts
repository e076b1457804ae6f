import cors from '@fastify/cors'
import underPressure from '@fastify/under-pressure'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import helmet from 'helmet'
import { SHOP_OVERLOADED } from '../errors.ts'
import type { Config } from '../settings/config.ts'
import { ANY_PORT } from '../settings/mistakes.ts'
import { isInner } from './inner-request.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False: what pages of other origins may do with the route is not for the list of origins to say. */
    cors?: false
  }
}

/** Seconds after which a client may try again when the server had too much to do. */
const RETRY_AFTER = '5'

/** After it began to listen a server is busy with itself for a while, in milliseconds. */
const SETTLE = 5000

/** Response headers that pages of other origins may read. */
const EXPOSED = ['content-range', 'location', 'retry-after', 'www-authenticate', 'x-request-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']

/**
 * What a browser may do with the answers: nothing with JSON. The pages say for themselves what they need.
 *
 * helmet itself and not its plugin, which works the headers out anew for each request: a tool call is two of them.
 */
export function secureHeaders (app: FastifyInstance, { PUBLIC_BASE_URL: baseUrl }: Pick<Config, 'PUBLIC_BASE_URL'>): void {
  const isHttps = baseUrl.startsWith('https:')
  const setHeaders = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    // A browser would remember it for localhost, and for whatever runs there next.
    strictTransportSecurity: isHttps && { maxAge: 31_536_000 },
    xFrameOptions: { action: 'deny' }
  })
  app.addHook('onRequest', (request, reply, done) => {
    // No browser sees the answer to an inner request.
    if (isInner(request)) done()
    else setHeaders(request.raw, reply.raw, () => { done() })
  })
}

/**
 * Keeps answers out of caches, except those of routes that set `Cache-Control` themselves. A cache that ignores it learns
 * from `Vary` what an answer depends on.
 */
export function forbidCaching (app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply) => {
    if (isInner(request) || ![undefined, 'no-store'].includes(reply.getHeader('cache-control') as string | undefined)) return
    const vary = reply.getHeader('vary')
    reply.headers({ 'cache-control': 'no-store', vary: vary === undefined ? CREDENTIALS : `${String(vary)}, ${CREDENTIALS}` })
  })
}

/** The headers that credentials come in. */
const CREDENTIALS = 'Authorization, X-API-Key'

/**
 * Closes the connection with an answer that comes before a body that is too large, or of unknown length, was read: on one
 * that is kept, Node.js takes all that is still to come of it.
 *
 * @param limit - the largest body, in bytes
 */
export function endLargeBodies (app: FastifyInstance, limit: number): void {
  app.addHook('onSend', async ({ raw: { complete, headers } }, reply) => {
    if (!complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > limit)) reply.header('connection', 'close')
  })
}

/** Lets pages of the listed origins call the server. The discovery documents, which are for all origins, see to themselves. */
export async function allowOrigins (app: FastifyInstance, { CORS_ORIGINS: origins }: Pick<Config, 'CORS_ORIGINS'>): Promise<void> {
  if (origins.length === 0) return
  await app.register(cors, {
    origin: origins.map(originFromSetting),
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED,
    maxAge: 600
  })
}

/** One origin, or all ports of a host. */
function originFromSetting (text: string): string | RegExp {
  return text.endsWith(ANY_PORT) ? new RegExp(`^${text.slice(0, -ANY_PORT.length).replace(/[.[\]]/g, '\\$&')}(:\\d+)?$`) : text
}

/**
 * Answers 503 to new calls while the event loop is so late that they would wait anyway, so that those that were
 * taken can end. Health checks, and the inner requests of tool calls that were taken, are not concerned.
 *
 * @param maxDelay - in milliseconds; 0 never
 * @param settle - how long after it began to listen the server takes everything, in milliseconds
 */
export async function shedLoad (app: FastifyInstance, maxDelay: number, settle = SETTLE): Promise<void> {
  if (maxDelay === 0) return
  let settledAt = Infinity
  app.addHook('onListen', async () => { settledAt = performance.now() + settle })
  await app.register(underPressure, {
    maxEventLoopDelay: maxDelay,
    pressureHandler: async (request: FastifyRequest, reply: FastifyReply) => {
      if (isInner(request) || performance.now() < settledAt) return
      reply.header('retry-after', RETRY_AFTER)
      throw new SHOP_OVERLOADED()
    }
  })
}
