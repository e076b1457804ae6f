import { createHash } from 'node:crypto'
import rateLimit, { type RateLimitPluginOptions } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { SHOP_RATE_LIMITED } from '../errors.ts'
import { callerAddress } from '../http/caller-address.ts'
import { isInner } from '../http/inner-request.ts'
import type { Settings } from '../settings/settings.ts'
import { holderOf } from '../access/person.ts'
import { acceptedKeys } from './accepted-keys.ts'
import { sharedCounts } from './shared-counts.ts'
import type { Redis } from 'ioredis'

/** How many callers of each limit this process remembers without Redis. */
const CACHE = 20_000

/** How long the counter of a check is kept, in milliseconds: not until the next one, which must begin another. */
const CHECK_WINDOW = 100

/** How long checks use the same counter, in milliseconds: one that could not expire must not fail them for longer. */
const CHECK_COUNTER = 10_000

/** What a limiter reads of a request beside its key. */
const NO_REQUEST = { routeOptions: {} } as FastifyRequest

/** The limits before the authentication, and those after it. */
export interface RateLimits {
  /** Rejects calls before the credential is checked. */
  readonly before: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  /** Counts calls by the authenticated caller. */
  readonly behind: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  /** Checks whether Redis counts. @returns `ok`, or what is wrong; none without Redis */
  readonly condition: (() => Promise<string>) | undefined
}

type Limits = Pick<
  Settings,
  'RATE_LIMIT_MAX' | 'RATE_LIMIT_ANONYMOUS_MAX' | 'RATE_LIMIT_REFUSED_MAX' | 'RATE_LIMIT_WINDOW'
>

/**
 * Three limits, each with its own window for each caller. Calls without a credential are counted by IP address, calls
 * with an API key by key, and calls with a token by person or machine. A key is counted before it is verified, which is
 * the expensive part.
 *
 * After too many invalid credentials from an IP address, its API keys are rejected unchecked until the window ends:
 * guesses reach neither the database nor key hashing. Recently accepted keys still pass, and so do tokens, which are
 * verified without the database, so that nobody can lock out others behind the same address.
 *
 * The inner request of a tool call is not counted again. While Redis does not count, each server counts its own calls.
 */
export async function openRateLimits (app: FastifyInstance, config: Limits, redis?: Redis): Promise<RateLimits> {
  const { RATE_LIMIT_WINDOW: timeWindow } = config
  const accepted = acceptedKeys(redis)
  const alone = await limitersIn(app, { timeWindow })
  const together = redis && await limitersIn(app, { timeWindow, redis, nameSpace: 'shop:limit:' })
  const count = together?.({
    max: 1,
    timeWindow: CHECK_WINDOW,
    keyGenerator: () => `check:${Math.floor(Date.now() / CHECK_COUNTER)}`
  })
  const shared = redis && count && sharedCounts(app, redis, async () => {
    ending(await count(NO_REQUEST))
    await accepted.check()
  })
  const limiter = (kind: string, max: number, keyOf: (request: FastifyRequest) => string): Limiter => {
    const options = {
      max,
      timeWindow,
      cache: CACHE,
      keyGenerator: (request: FastifyRequest) => `${kind}:${keyOf(request)}`
    }
    const [own, common] = [alone(options), together?.(options)]
    return async (request, how) => {
      const found = common && await shared?.attempt(async () => {
        const verdict = await common(request, how)
        // One that is only read, and not there, has no end either.
        return how?.increment === false && !isUsedUp(verdict) ? verdict : ending(verdict)
      })
      return found ?? await own(request, how)
    }
  }
  const address = (request: FastifyRequest): string => rateLimit.normalizeIP(callerAddress(request))
  const anonymous = limiter('ip', config.RATE_LIMIT_ANONYMOUS_MAX, address)
  const refused = limiter('refused', config.RATE_LIMIT_REFUSED_MAX, address)
  const key = limiter('key', config.RATE_LIMIT_MAX, keyDigest)
  const subject = limiter('subject', config.RATE_LIMIT_MAX, (request) => holderOf(request)!)

  app.addHook('onError', async (request, _reply, error) => {
    if ((error as { code?: string }).code === 'DUAL_AUTH_CREDENTIAL_INVALID' && !isInner(request)) {
      await refused(request)
    }
  })

  /** Notes whose key it is, for the log. */
  async function noteHolder (request: FastifyRequest): Promise<void> {
    const { keyId, shopId } = await accepted.find(keyDigest(request)) ?? {}
    if (request.told && keyId !== undefined && shopId !== undefined) request.told.limited = { keyId, shopId }
  }

  return {
    condition: shared?.condition,
    before: async (request, reply) => {
      if (isExempt(request)) return
      const { kind } = request.presentedCredential()
      if (kind === 'none') return enforce(await anonymous(request), 'calls without a credential', reply)
      if (kind !== 'api-key') return
      const [guesses, calls] = await Promise.all([refused(request, { increment: false }), key(request)])
      // Only read, not counted: the last allowed one was rejected already.
      if (isUsedUp(guesses) && await accepted.find(keyDigest(request)) === undefined) {
        throw limited('invalid credentials', guesses.ttlInSeconds, reply)
      }
      if (!calls.isAllowed && calls.isExceeded) await noteHolder(request)
      enforce(calls, 'calls with this API key', reply)
    },
    behind: async (request, reply) => {
      if (isExempt(request)) return
      const { identity } = request
      if (identity?.kind === 'api-key') {
        accepted.remember(keyDigest(request), { keyId: identity.keyId, shopId: identity.ownerId })
      }
      const { kind } = request.presentedCredential()
      if (identity === null && kind !== 'none') enforce(await anonymous(request), 'calls', reply)
      else if (kind === 'token') enforce(await subject(request), 'calls', reply)
    }
  }
}

function isExempt (request: FastifyRequest): boolean {
  return request.routeOptions.config?.rateLimit === false || isInner(request)
}

type Limiter = ReturnType<FastifyInstance['createRateLimit']>
type Verdict = Awaited<ReturnType<Limiter>>

/** @returns makes limiters, with counters of their own. In a scope of their own, since the plugin decorates once */
async function limitersIn (
  app: FastifyInstance,
  options: RateLimitPluginOptions
): Promise<FastifyInstance['createRateLimit']> {
  let limiters: FastifyInstance['createRateLimit'] | undefined
  await app.register(async (scope) => {
    await scope.register(rateLimit, { ...options, global: false, skipOnError: false })
    limiters = scope.createRateLimit
  })
  return limiters!
}

/** Whether the next call is rejected. */
function isUsedUp (verdict: Verdict): verdict is Exclude<Verdict, { isAllowed: true }> {
  return !verdict.isAllowed && verdict.remaining === 0
}

/**
 * @throws for a counter that does not end: Redis may have counted, and then not let it expire. It would reject its
 * caller for ever
 */
function ending (verdict: Verdict): Verdict {
  if (!verdict.isAllowed && verdict.ttl <= 0) throw new Error('NOTTL a counter of Redis does not expire')
  return verdict
}

/** @throws {@link SHOP_RATE_LIMITED} */
function enforce (verdict: Verdict, what: string, reply: FastifyReply): void {
  if (verdict.isAllowed) return
  reply.headers({
    'ratelimit-limit': verdict.max,
    'ratelimit-remaining': verdict.remaining,
    'ratelimit-reset': verdict.ttlInSeconds
  })
  if (verdict.isExceeded) throw limited(what, verdict.ttlInSeconds, reply)
}

function limited (what: string, seconds: number, reply: FastifyReply): Error {
  const wait = Math.max(1, seconds)
  reply.header('retry-after', String(wait))
  return new SHOP_RATE_LIMITED(what, wait)
}

/** Identifies a key: the store may be shared, and must not contain keys. */
function keyDigest (request: FastifyRequest): string {
  const credential = request.presentedCredential()
  return createHash('sha256').update(credential.kind === 'none' ? '' : credential.value).digest('base64url')
}
