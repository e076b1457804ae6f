import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { PARENT_REQUEST } from 'mcp-from-routes'
import type { Settings } from '../settings/settings.ts'
import { SHOP_TOO_MANY_CONCURRENT_CALLS } from '../errors.ts'
import { holderOf } from '../access/person.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Whether the call has waited since its credential was checked: for its turn, or for its body, on which the inner
     * request of a tool call waits. What was read with the credential is old then.
     */
    hasWaited: boolean
  }
}

/** How many calls of a caller may wait for each one that may run, and for how long, in milliseconds. */
const WAITING_PER_CALL = 16
const MAX_WAIT = 10_000

/**
 * How long a call is counted after its client has gone, while its work goes on, in milliseconds: as long as a statement
 * of the database may run.
 */
const MAX_ABANDONED = 30_000

/**
 * While a large response is written, nobody else is served. So the places of a caller's large responses are freed one
 * after another, at this many bytes a millisecond for all of them. Small responses are not worth counting.
 */
const BYTES_PER_MILLISECOND = 1000
const SMALL = 32_768

/** Those whose calls are counted together. */
interface Caller {
  readonly name: string
  running: number
  /** When the last of its large answers leaves its place, by `performance.now()`. */
  leavesAt: number
  readonly waiting: Array<() => void>
}

/**
 * A call under way. It ends with its last part: the work and the answer of its request, and of the inner requests of
 * its tools.
 */
interface Call {
  readonly caller: Caller
  parts: number
  /** Of all answers. */
  bytes: number
}

/** A request of a call, whose work is done or not. */
interface Part {
  readonly call: Call
  isWorking: boolean
}

/**
 * Limits each caller's concurrent calls; further calls wait, so that no caller takes all connections to the database,
 * or the memory for many large responses. The API keys of a shop are one caller.
 *
 * A call counts until its answer is sent, and for a while longer if that was large; also when its client has gone, as
 * the work goes on without it. The inner request of a tool call is part of the call.
 *
 * @throws {@link SHOP_TOO_MANY_CONCURRENT_CALLS} when too many wait, or for too long
 */
export function limitConcurrency (
  app: FastifyInstance,
  { MAX_CONCURRENT_CALLS: max }: Pick<Settings, 'MAX_CONCURRENT_CALLS'>
): void {
  const callers = new Map<string, Caller>()
  const parts = new WeakMap<FastifyRequest, Part>()
  const maxWaiting = max * WAITING_PER_CALL

  function leave (call: Call): void {
    call.parts -= 1
    if (call.parts > 0) return
    const { caller, bytes } = call
    if (bytes <= SMALL) return end(caller)
    const now = performance.now()
    caller.leavesAt = Math.max(caller.leavesAt, now) + bytes / BYTES_PER_MILLISECOND
    setTimeout(end, caller.leavesAt - now, caller)
  }

  function end (caller: Caller): void {
    const next = caller.waiting.shift()
    if (next !== undefined) return next()
    caller.running -= 1
    if (caller.running === 0) callers.delete(caller.name)
  }

  function stopWorking (part: Part): void {
    if (!part.isWorking) return
    part.isWorking = false
    leave(part.call)
  }

  function follow (call: Call, request: FastifyRequest, reply: FastifyReply): void {
    const part = { call, isWorking: true }
    parts.set(request, part)
    call.parts += 2
    const endAnswer = (): void => {
      if (part.isWorking) setTimeout(stopWorking, MAX_ABANDONED, part).unref()
      leave(call)
    }
    // The client may have gone while its credential was checked, or while the call waited for its turn.
    if (reply.raw.destroyed) endAnswer()
    else reply.raw.once('close', endAnswer)
  }

  app.decorateRequest('hasWaited', false)
  app.addHook('onRequest', (request, reply, done) => {
    const outer = request.raw[PARENT_REQUEST]
    request.hasWaited = outer?.hasWaited ?? request.raw.complete === false
    const call = outer && parts.get(outer)?.call
    const name = callerOf(request)
    if (call !== undefined) follow(call, request, reply)
    if (outer !== undefined || name === undefined) return done()

    const caller = callers.get(name) ?? { name, running: 0, leavesAt: 0, waiting: [] }
    callers.set(name, caller)
    const run = (): void => {
      follow({ caller, parts: 0, bytes: 0 }, request, reply)
      done()
    }
    const refuse = (): void => {
      reply.header('retry-after', '1')
      done(new SHOP_TOO_MANY_CONCURRENT_CALLS(max, maxWaiting))
    }
    if (caller.running < max) {
      caller.running += 1
      return run()
    }
    if (caller.waiting.length >= maxWaiting) return refuse()
    const timer = setTimeout(() => {
      caller.waiting.splice(caller.waiting.indexOf(turn), 1)
      refuse()
    }, MAX_WAIT)
    const turn = (): void => {
      clearTimeout(timer)
      request.hasWaited = true
      run()
    }
    caller.waiting.push(turn)
  })

  app.addHook('onSend', (request, _reply, payload, done) => {
    const part = parts.get(request)
    if (part !== undefined) {
      if (typeof payload === 'string' || Buffer.isBuffer(payload)) part.call.bytes += payload.length
      stopWorking(part)
    }
    done(null, payload)
  })
}

function callerOf (request: FastifyRequest): string | undefined {
  return request.identity?.kind === 'api-key' ? `shop:${request.identity.ownerId}` : holderOf(request)
}
