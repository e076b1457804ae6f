import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Knex } from 'knex'
import { callerOf } from '../access/caller.ts'
import { invalid, SHOP_IDEMPOTENCY_KEY_REUSED, SHOP_IDEMPOTENCY_KEY_UNDER_WAY } from '../errors.ts'
import { type Answer, findAnswer, idOf, type KeyedCall, lockKey, storeAnswer, type StoredAnswer } from './answers.ts'
import { fingerprintOf } from './fingerprint.ts'
import { HEADER, IdempotencyKey, keyFromHeader } from './key.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the handler itself calls {@link Repeats}, since it does more than it could in one transaction. */
    readonly repeats?: 'by its handler'
  }
  interface FastifyRequest {
    /**
     * Where the handler of a route with {@link IdempotencyKey} writes: a transaction that also stores its answer, if
     * the call has a key; else the pool.
     */
    readonly on: Knex
  }
}

/** What came of a call with a key. */
export const KEYED_OUTCOMES = ['first', 'repeat', 'under_way', 'reused'] as const
export type KeyedOutcome = typeof KEYED_OUTCOMES[number]

/** Marks an answer that was given before. Stripe calls it so, and those who do as Stripe does. */
const REPLAYED = 'idempotent-replayed'

/** In seconds: most calls take less. */
const RETRY_AFTER = '1'

/** For a handler that does not run in a transaction as a whole. */
export interface Repeats {
  /** Whether the call repeats one that was answered. */
  isAnswered(request: FastifyRequest): Promise<boolean>
  /**
   * The answer to the call that this one repeats, to be returned by the handler; undefined if there is none.
   *
   * @param digestOf - of what the call says beside its query and JSON
   * @throws {@link SHOP_IDEMPOTENCY_KEY_REUSED}
   */
  answered(
    request: FastifyRequest,
    reply: FastifyReply,
    digestOf: () => Promise<string> | string
  ): Promise<string | undefined>
  /**
   * Does work that no repeat does again: with a key, in a transaction that also stores its answer.
   *
   * @param digest - of what the call says beside its query and JSON
   * @returns what the handler returns
   * @throws {@link SHOP_IDEMPOTENCY_KEY_UNDER_WAY} | {@link SHOP_IDEMPOTENCY_KEY_REUSED}, and what the work throws
   */
  once<Body>(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (on: Knex) => Promise<Body>,
    digest?: string
  ): Promise<Body | string>
}

/**
 * Lets callers repeat what they do not know the outcome of, as a lost answer leaves it. Routes that declare the header
 * {@link IdempotencyKey} run their handler in a transaction that also stores the answer, so that neither exists without
 * the other, whenever the process dies. Their handlers return the answer, and write by `request.on`. A failure stores
 * nothing, as it has done nothing: the same key may be used again, also for something else.
 *
 * Other routes that take POST refuse the header, rather than ignore it, unless they are of others' protocols. Register
 * it before the routes.
 *
 * @param onOutcome - called for each call with a key
 */
export function repeatable (
  app: FastifyInstance,
  knex: Knex,
  onOutcome: (outcome: KeyedOutcome) => void = () => {}
): Repeats {
  const calls = new WeakMap<FastifyRequest, KeyedCall>()
  const transactions = new WeakMap<FastifyRequest, Knex.Transaction>()

  /** A hook after those that clean the body, and before validation, whose defaults differ from version to version. */
  async function noteCall (request: FastifyRequest): Promise<void> {
    const header = request.headers[HEADER]
    if (header === undefined) return
    calls.set(request, {
      caller: callerOf(request),
      shopId: request.shop?.id ?? null,
      key: keyFromHeader(String(header)),
      fingerprint: fingerprintOf(request.query, request.body)
    })
  }

  /** @throws {@link SHOP_IDEMPOTENCY_KEY_REUSED} */
  function replay (reply: FastifyReply, call: KeyedCall, stored: StoredAnswer): string {
    if (stored.fingerprint !== call.fingerprint) {
      onOutcome('reused')
      throw Object.assign(new SHOP_IDEMPOTENCY_KEY_REUSED(), { field: HEADER })
    }
    onOutcome('repeat')
    reply.code(stored.status).headers(stored.headers).header(REPLAYED, 'true')
    return stored.body
  }

  const repeats: Repeats = {
    async isAnswered (request) {
      const call = calls.get(request)
      return call !== undefined && await findAnswer(knex, idOf(call)) !== undefined
    },

    async answered (request, reply, digestOf) {
      const call = calls.get(request)
      const stored = call && await findAnswer(knex, idOf(call))
      return stored && replay(reply, withDigest(call, await digestOf()), stored)
    },

    async once (request, reply, work, digest = '') {
      const keyed = calls.get(request)
      if (keyed === undefined) return await work(knex)
      const call = withDigest(keyed, digest)
      const { stored, body } = await knex.transaction(async (trx) => {
        if (!await lockKey(trx, idOf(call))) {
          onOutcome('under_way')
          reply.header('retry-after', RETRY_AFTER)
          throw new SHOP_IDEMPOTENCY_KEY_UNDER_WAY()
        }
        // In a statement of its own, which sees what the last one with the lock has stored.
        const stored = await findAnswer(trx, idOf(call))
        if (stored !== undefined) return { stored, body: '' }
        const before = reply.getHeaders()
        const payload = await work(trx)
        reply.type('application/json; charset=utf-8')
        const answer = {
          status: reply.statusCode,
          headers: headersSince(reply, before),
          body: reply.serialize(payload)
        }
        await storeAnswer(trx, call, answer as Answer)
        return { stored, body: answer.body as string }
      })
      if (stored !== undefined) return replay(reply, call, stored)
      onOutcome('first')
      return body
    }
  }

  app.decorateRequest('on', {
    getter (this: FastifyRequest): Knex {
      return transactions.get(this) ?? knex
    }
  })
  app.addHook('onRoute', (route) => {
    if (route.schema?.headers === IdempotencyKey) {
      addHook(route, noteCall)
      if (route.config?.repeats === undefined) route.handler = runOnce(route.handler)
    } else if (route.method === 'POST' && route.config?.auth !== 'public' && route.schema?.hide !== true) {
      addHook(route, refuseKey)
    }
  })

  function runOnce (handler: RouteOptions['handler']): RouteOptions['handler'] {
    return async function (request, reply) {
      return await repeats.once(request, reply, async (on) => {
        if (on.isTransaction === true) transactions.set(request, on as Knex.Transaction)
        return await handler.call(this, request, reply)
      })
    }
  }

  return repeats
}

function addHook (route: RouteOptions, hook: (request: FastifyRequest) => Promise<void>): void {
  route.preValidation = [...[route.preValidation ?? []].flat(), hook]
}

/** @throws {@link SHOP_INVALID} */
async function refuseKey ({ headers }: FastifyRequest): Promise<void> {
  if (headers[HEADER] === undefined) return
  throw invalid(
    HEADER,
    `${HEADER} is not honoured here: a repeat may do its work again. Send the call without it, and before you repeat ` +
      'it, look whether it has done its work'
  )
}

function withDigest (call: KeyedCall, digest: string): KeyedCall {
  return digest === '' ? call : { ...call, fingerprint: `${call.fingerprint} ${digest}` }
}

/** Whether a reply has the answer to an earlier call: it has done nothing. */
export function isReplay (reply: FastifyReply): boolean {
  return reply.hasHeader(REPLAYED)
}

/** The headers that have been set since. */
function headersSince (reply: FastifyReply, before: Readonly<Record<string, unknown>>): Answer['headers'] {
  return Object.fromEntries(
    Object.entries(reply.getHeaders()).filter(([name, value]) => before[name] !== value).map(([name, value]) => [
      name,
      String(value)
    ])
  )
}
