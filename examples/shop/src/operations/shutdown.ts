import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { isInner } from '../http/inner-request.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Stops the server without interrupting calls. */
    readonly shutdown: Shutdown
  }
}

/** A graceful shutdown. */
export interface Shutdown {
  /**
   * `leaving`: calls are served, but `/readyz` returns 503. `closing`: no new connections are accepted, and open ones
   * close with their next response.
   */
  readonly stage: 'serving' | 'leaving' | 'closing'
  /**
   * Leaves, waits until load balancers have noticed, stops accepting connections, and waits for calls in flight and
   * idle connections. A proxy retries elsewhere if a connection is refused, but not if it breaks during a call. In the
   * end it breaks what is still open.
   *
   * @param delay - how long everything works as before, and how long after that idle connections may be used once more
   *   or closed by the client, in milliseconds
   * @param grace - for calls in flight after the first delay, and the limit for everything after it, in milliseconds
   */
  drain(delay: number, grace: number): Promise<void>
}

/** A shorter turn of the event loop, in milliseconds, had nothing to do. */
const EMPTY_TURN = 0.1

/** Maximum number of turns to wait for an empty one. */
const TURNS = 1000

/** A call in flight. */
interface Flight {
  readonly response: ServerResponse
  /** Its index in the list. */
  index: number
}

/** Tracks calls in flight and open connections. Register it before anything that may respond. */
export function drainable (app: FastifyInstance): void {
  let stage: Shutdown['stage'] = 'serving'
  let connections = 0
  // Unordered. A Set would keep ended calls in memory, in the tables that it outgrows.
  const inFlight: Flight[] = []
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
    const flight = { response: raw, index: inFlight.length }
    inFlight.push(flight)
    raw.once('close', () => {
      land(flight)
      ends.emit('end')
    })
    if (stage === 'closing') endConnection(raw)
  })

  function land ({ index }: Flight): void {
    const last = inFlight.pop()
    if (last === undefined || last.index === index) return
    last.index = index
    inFlight[index] = last
  }

  const until = async (done: () => boolean, latest: AbortSignal): Promise<void> => {
    while (!done() && !latest.aborted) await once(ends, 'end', { signal: latest }).catch(() => {})
  }

  app.decorate('shutdown', {
    get stage () {
      return stage
    },
    async drain (delay: number, grace: number) {
      stage = 'leaving'
      app.log.info(
        `The server is about to stop: /readyz returns 503, and everything else works for ${delay / 1000} s more`
      )
      await sleep(delay)
      stage = 'closing'
      app.log.info({ calls: inFlight.length, connections }, 'The server accepts no more connections')
      for (const { response } of inFlight) endConnection(response)
      await stopListening(app.server)
      const latest = AbortSignal.timeout(grace)
      await until(() => connections === 0, AbortSignal.any([AbortSignal.timeout(delay), latest]))
      await until(() => inFlight.length === 0, latest)
      if (inFlight.length > 0) {
        app.log.warn({ calls: inFlight.length }, 'Calls were not answered before the server stopped')
      }
      app.server.closeIdleConnections()
      await until(() => connections === 0, latest)
      // A body or headers that come slowly would keep the server from closing, and with it the database and traces.
      app.server.closeAllConnections()
    }
  })
}

/**
 * Makes the client open a new connection for its next call, which goes elsewhere. Only while closing: before that, open
 * connections make new ones rare.
 */
function endConnection (response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}

/**
 * Stops accepting connections, without closing open ones. The operating system resets connections that wait to be
 * accepted at that moment, with any call that a proxy has sent on them. So this waits for a turn of the event loop that
 * accepted all there were, and had nothing else to do.
 */
async function stopListening (server: FastifyInstance['server']): Promise<void> {
  await nextTurn()
  for (let turn = 0; turn < TURNS; turn++) {
    const begun = performance.now()
    await nextTurn()
    if (performance.now() - begun < EMPTY_TURN) break
  }
  // The HTTP server's own close() would also close idle connections, on which a call may be arriving.
  NetServer.prototype.close.call(server)
}
