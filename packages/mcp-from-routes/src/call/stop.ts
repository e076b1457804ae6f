import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Recurring } from '../recurring.ts'
import type { Era, StopReason } from '../types.ts'

/*
 * What ends a call before its route responds. `loopback.ts` then destroys the inner request, which fires the `signal`
 * of the route's request; a handler that does not look at it goes on, for nobody:
 *
 * - `toolTimeout` has passed, or a streamed response exceeds `maxResultBytes`. The caller gets an error.
 * - The client has gone. That ends a call of revision 2026-07-28; in earlier revisions it cancels nothing.
 * - The server closes. New messages get 503. Calls are answered first, within `toolTimeout`; only those that stream
 *   progress end at once, because a stream may go on for any time.
 */

/** Ends one call, or one message: an AbortController with a reason, for a tenth of its cost. */
export class Stop {
  reason: StopReason | undefined
  /** Nearly every call has one. */
  #listeners: Array<(reason: StopReason) => void> | undefined

  /**
   * Runs `listener` when the call is stopped, at once if it has been.
   * @returns a function that removes the listener, for one that ends before the call does
   */
  onStop (listener: (reason: StopReason) => void): () => void {
    if (this.reason !== undefined) listener(this.reason)
    else if (this.#listeners === undefined) this.#listeners = [listener]
    else this.#listeners.push(listener)
    return () => {
      this.#listeners = this.#listeners?.filter((other) => other !== listener)
    }
  }

  /** Stops the call. Only the first reason counts. */
  stop (reason: StopReason): void {
    if (this.reason !== undefined) return
    this.reason = reason
    for (const listener of this.#listeners ?? []) {
      try {
        listener(reason)
      } catch (error) {
        // A listener of the host on the aborted request may throw. That is uncaught, as over HTTP, and stops no other
        // listener.
        process.nextTick(() => {
          throw error
        })
      }
    }
  }
}

/** Stops calls that take too long. */
export class Deadlines extends Recurring<Stop> {
  /** @param limit - how long a call may take, in milliseconds */
  constructor (limit: number) {
    super(limit, (stop) => stop.stop('timeout'))
  }
}

/**
 * Why a call ended without a response, for the model.
 * @param open - what is said of a call that may have been carried out
 */
export function stoppedText ({ reason }: Stop, { id }: FastifyRequest, toolTimeout: number, open: string): string {
  if (reason === 'timeout') return `The route did not answer within ${toolTimeout} ms.${open} The request id is ${id}.`
  if (reason === 'closing') return `The server is shutting down and ended the call.${open}`
  if (reason === 'client gone') return `The call was cancelled.${open}`
  return `The route did not answer.${open} The request id is ${id}.`
}

/** The stop of a call that is answered directly. */
export function stopOfCall (era: Era, reply: FastifyReply): Stop {
  const stop = new Stop()
  if (era === 'modern') stopWhenGone(reply, stop)
  return stop
}

/** The stop of a call in a message that the SDK answers. */
export function stopWithinMessage (message: Stop, era: Era, isStream: boolean): Stop {
  const stop = new Stop()
  message.onStop((reason) => {
    if (reason === 'closing' ? isStream : era === 'modern') stop.stop(reason)
  })
  return stop
}

/** Aborts the SDK's work on a message, except that of a call when the server closes: that one is still answered. */
export function signalOf (message: Stop, mayCall: boolean): AbortSignal {
  const abort = new AbortController()
  message.onStop((reason) => {
    if (reason !== 'closing' || !mayCall) abort.abort()
  })
  return abort.signal
}

/** Whether the server closes, and what is open then. */
export interface Closing {
  readonly isClosing: () => boolean
  /** The stop of a message whose response may be a stream. */
  readonly track: (request: FastifyRequest, reply: FastifyReply) => Stop
  /** Tells the client not to keep its connection, which would keep the server from closing. */
  readonly endKeepAlive: (request: FastifyRequest, reply: FastifyReply) => void
  /** The same after a response whose headers are sent before the server knows that it will close. */
  readonly endWith: (request: FastifyRequest, reply: FastifyReply) => void
}

export function closingOf (app: FastifyInstance): Closing {
  let closing = false
  const open = new Set<Stop>()
  const keepsOpen = ({ raw }: FastifyRequest): boolean => closing && raw.httpVersionMajor === 1
  const endWith: Closing['endWith'] = (request, reply) => {
    reply.raw.once('close', () => {
      if (keepsOpen(request)) request.raw.socket.end?.()
    })
  }
  app.addHook('preClose', async () => {
    closing = true
    for (const stop of open) stop.stop('closing')
  })
  return {
    isClosing: () => closing,
    track (request, reply) {
      const stop = new Stop()
      stopWhenGone(reply, stop)
      if (reply.raw.destroyed) return stop
      open.add(stop)
      reply.raw.once('close', () => open.delete(stop))
      endWith(request, reply)
      return stop
    },
    endWith,
    endKeepAlive (request, reply) {
      if (keepsOpen(request)) reply.header('connection', 'close')
    }
  }
}

function stopWhenGone ({ raw }: FastifyReply, stop: Stop): void {
  // It went while its credential was checked: nothing will close.
  if (raw.destroyed) return stop.stop('client gone')
  // Not `writableFinished`, which is true of an HTTP/2 response that was broken off.
  raw.on('close', () => {
    if (!raw.writableEnded) stop.stop('client gone')
  })
}
