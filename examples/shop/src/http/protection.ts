import cors from '@fastify/cors'
import underPressure from '@fastify/under-pressure'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import helmet from 'helmet'
import { SHOP_OVERLOADED } from '../errors.ts'
import type { Settings } from '../settings/settings.ts'
import { ANY_PORT } from '../settings/mistakes.ts'
import { isInner } from './inner-request.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False: CORS_ORIGINS does not apply to the route. */
    cors?: false
  }
}

/** Seconds after which a client may retry when the server was overloaded. */
const RETRY_AFTER = '5'

/** How long the server is busy with itself after it starts to listen, in milliseconds. */
const SETTLE = 5000

/** Response headers that pages of other origins may read. */
const EXPOSED = [
  'content-range',
  'etag',
  'idempotent-replayed',
  'key-counts',
  'link',
  'location',
  'retry-after',
  'www-authenticate',
  'x-request-id',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset'
]

/**
 * Request headers that pages of other origins may send: what the server and its tools read. By default the response
 * would repeat all that a page names, whatever its length.
 */
const ALLOWED = [
  'accept',
  'authorization',
  'baggage',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-param-shop-id',
  'mcp-protocol-version',
  'mcp-session-id',
  'traceparent',
  'tracestate',
  'x-api-key',
  'x-request-id'
]

/**
 * What a browser may do with responses: nothing with JSON. HTML pages set their own policy.
 *
 * Uses helmet itself and not its plugin, which computes the headers for each request: a tool call is two requests.
 */
export function secureHeaders (
  app: FastifyInstance,
  { PUBLIC_BASE_URL: baseUrl }: Pick<Settings, 'PUBLIC_BASE_URL'>
): void {
  const isHttps = baseUrl.startsWith('https:')
  const setHeaders = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    // Without https a browser would remember it for localhost, and for other servers there.
    strictTransportSecurity: isHttps && { maxAge: 31_536_000 },
    xFrameOptions: { action: 'deny' }
  })
  app.addHook('onRequest', (request, reply, done) => {
    // No browser sees the response to an inner request.
    if (isInner(request)) done()
    else {
      setHeaders(request.raw, reply.raw, () => {
        done()
      })
    }
  })
}

/**
 * Keeps responses out of caches, unless a route sets `Cache-Control` itself. `Vary` tells caches that ignore it what a
 * response depends on.
 */
export function forbidCaching (app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply) => {
    if (isInner(request) || ![undefined, 'no-store'].includes(reply.getHeader('cache-control') as string | undefined)) {
      return
    }
    const vary = reply.getHeader('vary')
    reply.headers({
      'cache-control': 'no-store',
      vary: vary === undefined ? CREDENTIALS : `${String(vary)}, ${CREDENTIALS}`
    })
  })
}

/** The headers that carry credentials. */
const CREDENTIALS = 'Authorization, X-API-Key'

/**
 * Closes the connection if the response comes before a body that is too large, or of unknown length, was read: on a
 * connection that stays open, Node.js would read the rest of it. So it does if a file was read in part: nobody reads
 * the rest, and the next request would wait behind it.
 *
 * @param limit - the maximum size of a body, in bytes
 */
export function endLargeBodies (app: FastifyInstance, limit: number): void {
  app.addHook('onSend', async ({ raw: { complete, headers }, upload }, reply) => {
    if (
      !complete &&
      (upload != null || headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > limit)
    ) reply.header('connection', 'close')
  })
}

/** Lets pages of the listed origins call the server. The discovery documents allow all origins by themselves. */
export async function allowOrigins (
  app: FastifyInstance,
  { CORS_ORIGINS: origins }: Pick<Settings, 'CORS_ORIGINS'>
): Promise<void> {
  if (origins.length === 0) return
  await app.register(cors, {
    origin: origins.map(originFromSetting),
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ALLOWED,
    exposedHeaders: EXPOSED,
    maxAge: 600
  })
}

/** One origin, or a host with any port. */
function originFromSetting (text: string): string | RegExp {
  if (!text.endsWith(ANY_PORT)) return text
  const origin = text.slice(0, -ANY_PORT.length).replace(/[.[\]]/g, '\\$&')
  return new RegExp(`^${origin}(:\\d+)?$`)
}

/**
 * Responds with 503 to new calls while the event loop is so late that they would have to wait, so that accepted calls
 * can finish. Health checks, and inner requests of accepted tool calls, are exempt.
 *
 * @param maxDelay - in milliseconds; 0 disables this
 * @param settle - how long after it starts to listen the server accepts everything, in milliseconds
 */
export async function shedLoad (app: FastifyInstance, maxDelay: number, settle = SETTLE): Promise<void> {
  if (maxDelay === 0) return
  let settledAt = Infinity
  app.addHook('onListen', async () => {
    settledAt = performance.now() + settle
  })
  await app.register(underPressure, {
    maxEventLoopDelay: maxDelay,
    pressureHandler: async (request: FastifyRequest, reply: FastifyReply) => {
      if (isInner(request) || performance.now() < settledAt) return
      reply.header('retry-after', RETRY_AFTER)
      throw new SHOP_OVERLOADED()
    }
  })
}
