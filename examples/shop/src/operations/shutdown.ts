import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { isInner } from '../http/inner-request.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** How the server leaves without breaking off what it has begun. */
    readonly shutdown: Shutdown
  }
}

/** The way out of service. */
export interface Shutdown {
  /**
   * `leaving`: calls are served, and `/readyz` asks for no more of them. `closing`: no connection is taken any more,
   * and those that are open end with their next answer.
   */
  readonly stage: 'serving' | 'leaving' | 'closing'
  /**
   * Leaves, waits until load balancers have seen it, takes no more connections, and waits for the calls in flight
   * and for the connections that are idle. To a proxy a connection that is refused is one to try elsewhere; one that
   * breaks under a call that it has sent is not.
   *
   * @param delay - in which everything is as ever, and after it the time in which whoever keeps an idle connection may
   *   use it once more or close it, in milliseconds
   * @param grace - for the calls in flight after the first delay, and at most for all that comes after it, in milliseconds
   */
  drain (delay: number, grace: number): Promise<void>
}

/** A turn of the event loop that is shorter, in milliseconds, had nothing to do. */
const EMPTY_TURN = 0.1

/** How many turns are looked at for an empty one. */
const TURNS = 1000

/** Knows the calls in flight and the open connections. Must be registered before whatever may answer a call. */
export function drainable (app: FastifyInstance): void {
  let stage: Shutdown['stage'] = 'serving'
  let connections = 0
  const inFlight = new Set<ServerResponse>()
  const ends = new EventEmitter()

  app.server.on('connection', (socket) => {
    connections += 1
    socket.once('close', () => {
      connections -= 1
      ends.emit('end')
    })
  })

  app.addHook('onRequest', async (request, { raw }) => {
    if (isInner(request)) return
    inFlight.add(raw)
    raw.once('close', () => {
      inFlight.delete(raw)
      ends.emit('end')
    })
    if (stage === 'closing') endConnection(raw)
  })

  const until = async (done: () => boolean, latest: AbortSignal): Promise<void> => {
    while (!done() && !latest.aborted) await once(ends, 'end', { signal: latest }).catch(() => {})
  }

  app.decorate('shutdown', {
    get stage () { return stage },
    async drain (delay: number, grace: number) {
      stage = 'leaving'
      await sleep(delay)
      stage = 'closing'
      for (const response of inFlight) endConnection(response)
      await stopListening(app.server)
      const latest = AbortSignal.timeout(grace)
      await until(() => connections === 0, AbortSignal.any([AbortSignal.timeout(delay), latest]))
      await until(() => inFlight.size === 0, latest)
    }
  })
}

/**
 * So that the client's next call comes by a new connection, which goes elsewhere. Not before the server closes: as
 * long as it takes connections, keeping them makes new ones rare.
 */
function endConnection (response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}

/**
 * Takes no more connections, and leaves alone those that are open. What waits to be accepted at that moment is reset
 * by the operating system, with the call that a proxy may have sent on it: so it comes right after a turn of the
 * event loop that accepted all there was, and had nothing else to do.
 */
async function stopListening (server: FastifyInstance['server']): Promise<void> {
  await nextTurn()
  for (let turn = 0; turn < TURNS; turn++) {
    const begun = performance.now()
    await nextTurn()
    if (performance.now() - begun < EMPTY_TURN) break
  }
  // That of HTTP would close the idle connections too, on which a call may be on its way.
  NetServer.prototype.close.call(server)
}
