import { createHash } from 'node:crypto'
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { SHOP_RATE_LIMITED } from '../errors.ts'
import { credentialKind } from './credential.ts'
import { isInner } from './inner.ts'
import type { Redis } from 'ioredis'

/** How many callers are remembered in this process, when there is no Redis. */
const CACHE = 20_000

/** The part of the limits that comes before the authentication, and the one that comes behind it. */
export interface RateLimits {
  /** Refuses before any work is done for the credential. */
  readonly before: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  /** Counts by who it was found to be. */
  readonly behind: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

type Limits = Pick<Config, 'API_KEY_MARKER' | 'RATE_LIMIT_MAX' | 'RATE_LIMIT_ANONYMOUS_MAX' | 'RATE_LIMIT_REFUSED_MAX' | 'RATE_LIMIT_WINDOW'>

/**
 * Three limits, each in a window of its own for each caller. Calls without a credential are counted by IP address,
 * calls with an API key by the key, with a token by its person or machine. And of each IP address only so many
 * refused credentials are looked at: beyond that whoever guesses gets no more database reads, nor key hashing,
 * until the window ends. A key is counted before it is verified, which is the costly part.
 *
 * The inner request of a tool call is part of the call, which was counted. When Redis does not answer, calls are
 * let through: no limits for a while are better than no service.
 */
export async function openRateLimits (app: FastifyInstance, config: Limits, redis?: Redis): Promise<RateLimits> {
  const { API_KEY_MARKER: marker, RATE_LIMIT_WINDOW: timeWindow } = config
  await app.register(rateLimit, { global: false, timeWindow, cache: CACHE, skipOnError: true, ...(redis && { redis, nameSpace: 'shop:limit:' }) })
  const limiter = (kind: string, max: number, keyOf: (request: FastifyRequest) => string) => {
    const options = { max, timeWindow, cache: CACHE, keyGenerator: (request: FastifyRequest) => `${kind}:${keyOf(request)}` }
    return app.createRateLimit(options)
  }
  const address = ({ ip }: FastifyRequest): string => rateLimit.normalizeIP(ip)
  const anonymous = limiter('ip', config.RATE_LIMIT_ANONYMOUS_MAX, address)
  const refused = limiter('refused', config.RATE_LIMIT_REFUSED_MAX, address)
  const key = limiter('key', config.RATE_LIMIT_MAX, ({ headers }) => digest(String(headers['x-api-key'] ?? headers.authorization)))
  const subject = limiter('subject', config.RATE_LIMIT_MAX, subjectOf)

  app.addHook('onError', async (request, _reply, error) => {
    if ((error as { code?: string }).code === 'DUAL_AUTH_CREDENTIAL_INVALID' && !isInner(request)) await refused(request)
  })

  return {
    before: async (request, reply) => {
      if (isExempt(request)) return
      const kind = credentialKind(request.headers, marker)
      if (kind === 'none') return enforce(await anonymous(request), 'calls without a credential', reply)
      const [guesses, calls] = await Promise.all([refused(request, { increment: false }), kind === 'api-key' ? key(request) : undefined])
      // Read, not counted: the last one that is allowed has been refused already.
      if (!guesses.isAllowed && guesses.ttl > 0 && guesses.remaining === 0) throw limited('refused credentials', guesses.ttlInSeconds, reply)
      if (calls !== undefined) enforce(calls, 'calls with this API key', reply)
    },
    behind: async (request, reply) => {
      if (isExempt(request)) return
      const kind = credentialKind(request.headers, marker)
      if (request.identity === null && kind !== 'none') enforce(await anonymous(request), 'calls', reply)
      else if (kind === 'token') enforce(await subject(request), 'calls', reply)
    }
  }
}

function isExempt (request: FastifyRequest): boolean {
  return request.routeOptions.config?.rateLimit === false || isInner(request)
}

function subjectOf ({ identity }: FastifyRequest): string {
  return identity?.kind === 'machine' ? `machine:${identity.clientId}` : `user:${(identity as { subject: string }).subject}`
}

type Verdict = Awaited<ReturnType<ReturnType<FastifyInstance['createRateLimit']>>>

/** @throws {@link SHOP_RATE_LIMITED} */
function enforce (verdict: Verdict, what: string, reply: FastifyReply): void {
  // Without a time to live the store did not answer.
  if (verdict.isAllowed || verdict.ttl === 0) return
  reply.headers({ 'ratelimit-limit': verdict.max, 'ratelimit-remaining': verdict.remaining, 'ratelimit-reset': verdict.ttlInSeconds })
  if (verdict.isExceeded) throw limited(what, verdict.ttlInSeconds, reply)
}

function limited (what: string, seconds: number, reply: FastifyReply): Error {
  const wait = Math.max(1, seconds)
  reply.header('retry-after', String(wait))
  return new SHOP_RATE_LIMITED(what, wait)
}

/** The store may be shared, and be seen by others: it shall not hold keys. */
function digest (credential: string): string {
  return createHash('sha256').update(credential.replace(/^bearer\s+/i, '')).digest('base64url')
}
